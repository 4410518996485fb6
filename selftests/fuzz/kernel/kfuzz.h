/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the fuzzers of the module share. They run in a guest, whose module reports what it executes (KCOV); libFuzzer is given
 * that as its counters, so the program itself is not instrumented.
 *
 * An input is a list of records of one size. Each is an event for one of the workers, processes that were forked beforehand, or
 * for the fuzzer itself. A worker may block in an event: others then go on, and who wants it next waits. Behind the last event
 * every worker puts back what it changed, so that an input means the same wherever it stands.
 */
#ifndef _KFUZZ_H
#define _KFUZZ_H

#include "fuzz.h"

#define KFUZZ_RECORD_MAX	64
#define KFUZZ_WORKERS		3

/* Whose an event is, if it is no single worker's. */
#define KFUZZ_FUZZER		(-1)
#define KFUZZ_ALL		(-2)

/**
 * struct kfuzz_target - what is fuzzed
 * @record: bytes of an event
 * @workers: processes that carry them out, at most KFUZZ_WORKERS
 * @init: once, in the fuzzer, before workers are forked
 * @setup: in a worker when it begins
 * @whose: the worker for an event, or KFUZZ_FUZZER, or KFUZZ_ALL: every worker
 * @event: carry one out, in worker @w, or -1 in the fuzzer; false: the worker is to be killed
 * @wait: in the fuzzer: until @fd can be read, or at most that long; return: it can be. NULL: nothing is to be done meanwhile
 * @reset: behind every input, in worker @w, or -1 in the fuzzer, last
 */
struct kfuzz_target {
	size_t record;
	int workers;
	void (*init)(void);
	void (*setup)(int w);
	int (*whose)(const u8 *record);
	bool (*event)(int w, struct fuzz_in *in);
	bool (*wait)(int fd, int ms);
	void (*reset)(int w);
};

extern const struct kfuzz_target kfuzz_target;

/* What a fuzzer itself needs: without it, nothing makes sense. */
#define kfuzz_need(met, what)						\
	do {								\
		if (!(met))						\
			kfuzz_die(what);				\
	} while (0)

void kfuzz_die(const char *what) __attribute__((__noreturn__));

/* A command of the shell that must succeed. */
void kfuzz_sh(const char *command);

/* The errno of a call, positive, or 0. */
int kfuzz_ioctl(int fd, unsigned long cmd, void *arg);

u64 kfuzz_now(void);

#endif
