/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the fuzzers share: reading an input bit by bit, and a mutator for inputs that are lists of
 * records. A fuzzer is a file NAME_fuzz.c with LLVMFuzzerTestOneInput(); with libFuzzer it searches, with
 * replay.c it runs the inputs that are committed. What must hold is asserted: any abort is a finding.
 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include "host_env.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed);
/* libFuzzer's; replay.c has none, and never mutates. */
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max) __attribute__((__weak__));

/* Unlike assert(), also where NDEBUG is defined; unlike cmocka's, outside of its tests. */
#define must(cond)								\
	do {									\
		if (!(cond))							\
			fuzz_fail(__FILE__, __LINE__, #cond);			\
	} while (0)

void fuzz_fail(const char *file, int line, const char *what) __attribute__((__noreturn__));

/* An input that is read from its beginning; behind its end there are zeros. */
struct fuzz_in {
	const u8 *p;
	size_t left;
};

u8 fuzz_u8(struct fuzz_in *in);
u16 fuzz_u16(struct fuzz_in *in);
u32 fuzz_u32(struct fuzz_in *in);
u64 fuzz_u64(struct fuzz_in *in);

/* 0 to @n - 1. */
u32 fuzz_below(struct fuzz_in *in, u32 n);

/* A shape of a few nodes. */
void fuzz_torus(struct fuzz_in *in, struct tor_torus *torus);

/**
 * fuzz_mutate_records - change a list of records
 * @data: input: @head bytes of its own, then records of @record bytes
 * @size: of it
 * @max: at most so much
 * @seed: of this mutation
 *
 * Records are repeated, moved, removed, exchanged as a whole, or one of them, or the head, is changed inside,
 * so that what the others mean stays.
 *
 * Return: the new size.
 */
size_t fuzz_mutate_records(u8 *data, size_t size, size_t max, unsigned int seed, size_t head,
			   size_t record);

#endif
