/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The conformance program: many collective calls of random kinds, each compared with what a sequential
 * program computes. All ranks draw the same cases from the same seed, and know all ranks' inputs.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <torcoll.h>

#include "core/local/fold.h"

#define RANKS_MAX	64
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- random numbers ---- */

/* SplitMix64: a random number for every x. */
static inline uint64_t hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static inline uint64_t draw(uint64_t *state)
{
	return hash((*state)++);
}

/* ---- cases ---- */

enum size_class {
	SIZE_ZERO,
	SIZE_ONE,
	SIZE_TWO,
	SIZE_PRIME,	/* a small prime */
	SIZE_FRAME,	/* about a multiple of a frame's payload */
	SIZE_PAGE,	/* about a multiple of a page */
	SIZE_THOUSANDS,
	SIZE_LARGE,	/* to a million elements and one */
	SIZE_CLASSES
};

/* How it is called. */
enum way {
	WAY_RUN,	/* and waited for */
	WAY_STARTED,	/* among others that are in flight */
	WAY_PREPARED,	/* and started twice, unless it is in place */
	WAY_BATCH,	/* started together with others */
	WAYS
};

enum refusal {
	SERVED,
	REFUSED,	/* by the plan family: shape, collective, bits */
};

struct test_case {
	uint64_t seed;		/* of its inputs */
	struct torcoll_op op;	/* without buffers */
	enum size_class size;
	uint32_t ahead;		/* messages: rank r sends to rank r + ahead */
	bool uneven;		/* blocks have op.counts elements, which is: */
	uint64_t counts[RANKS_MAX];
	uint64_t recv_counts[RANKS_MAX];	/* alltoall */
	uint64_t pair_count;	/* the most in it */
	bool inexact;		/* sums of its values are rounded */
	bool in_place;
	bool registered;	/* or memory of the module's: see main.c */
	enum way way;
	uint32_t offset;	/* which of several offsets, that is: */
	uint32_t misalign;	/* bytes that buffers start behind a page's start */
	enum refusal expect;
};

/* Elements that rank @from sends rank @to in an uneven alltoall. */
uint64_t pair_count(const struct test_case *t, uint32_t from, uint32_t to);

/* What cases are drawn for. */
struct world {
	struct torcoll_comm_info info;
	uint64_t collectives, types, redops, algorithms;	/* bits that the module serves */
	bool shared;		/* several ranks are on one node */
	struct tor_team_map map;
	uint32_t node;		/* the own one's number there */
	uint32_t member[RANKS_MAX];	/* nodes, by that */
};

/* Again when @t has been copied: its op refers to itself. */
void case_moved(struct test_case *t);

/* What the plans say of a request: torcoll must serve it if they do. */
enum refusal ask_plans(const struct world *w, const struct torcoll_op *op);

/* ---- coverage ---- */

/* What cases differ in. */
enum axis {
	AXIS_COLLECTIVE,
	AXIS_TYPE,
	AXIS_REDOP,
	AXIS_ALGORITHM,
	AXIS_SIZE,
	AXIS_BITS,
	AXIS_ROOT,
	AXIS_PLACE,
	AXIS_UNEVEN,
	AXIS_REGISTERED,
	AXIS_WAY,
	AXIS_OFFSET,
	AXES
};

/* On AXIS_BITS: ordered, with sums that are rounded, so that it shows. On AXIS_ROOT: where it is. */
#define BITS_ROUNDED	TORCOLL_BITS_COUNT
enum { ROOT_NONE, ROOT_FIRST, ROOT_LAST, ROOT_OTHER };
#define OFFSETS		6

/* A pair of properties that a case is to have. */
struct wish {
	enum axis axis[2];
	uint32_t value[2];
};

/* Draw a case, with what is wished for if there is such a case, and @wish is not NULL. */
void case_draw(const struct world *w, uint64_t *state, const struct wish *wish, struct test_case *t);

/* How often pairs of properties were met, over all cases drawn so far. */
struct coverage;

/* @all: of any two axes; otherwise of those in the tables that coverage_print() names. */
struct coverage *coverage_new(const struct world *w, bool all);

/* Draw the next case: of several, that which meets most pairs not met so far. */
void coverage_draw(const struct world *w, struct coverage *c, uint64_t *state, struct test_case *t);

/* Has every pair been met that can be? */
bool coverage_is_complete(const struct coverage *c);

/* Lines "# (collective, type): 65 of 85 pairs". */
void coverage_print(const struct coverage *c);

/* A line for each pair that exists: "pair (collective, type): allreduce i8: 3", how often it was met, or 0. */
void coverage_list(const struct coverage *c, const struct world *w);

/* ---- kinds ---- */

bool type_has_redop(uint32_t type, uint32_t redop);
/* Does the bits' order of reduction show? */
bool rounds(const struct torcoll_op *op);

bool reduces(uint32_t collective);
bool has_root(uint32_t collective);
bool has_blocks(uint32_t collective);
/* Every rank sends one and receives one; the one that names the case is started, and the other one waited for, first. */
bool is_message(uint32_t collective);

/* One line that tells a case, for people. Static. */
const char *case_text(const struct test_case *t);

/* ---- values ---- */

/*
 * Elements of the vector that rank @rank puts in, and gets, and where in the whole vector they start; and its block.
 */
struct part {
	uint64_t start, count;
};

struct part part_own(const struct test_case *t, uint32_t ranks, uint32_t rank);
struct part part_sent(const struct test_case *t, uint32_t ranks, uint32_t rank);
struct part part_received(const struct test_case *t, uint32_t ranks, uint32_t rank);

/* The factor of a sum of multiples, as an element of the case's type. */
void values_factor(const struct test_case *t, uint32_t rank, void *to);

/* Where the block of each rank starts, if lengths are @counts; NULL: an even split. */
uint64_t block_start(uint64_t count, const uint64_t *counts, uint32_t ranks, uint32_t rank);

/* Write elements start .. start + count of rank @rank's vector to @buf, at any address. */
void values_fill(const struct test_case *t, uint32_t rank, struct part part, void *buf);

/*
 * Compare elements part.start + first, + first + step, ... of what this rank got with the reference. Return how
 * many are wrong; the first of them is told in @text.
 */
uint64_t values_check(const struct test_case *t, const struct world *w, struct part got, uint64_t first,
		      uint64_t step, const void *buf, char *text, size_t text_bytes);

/* The rank that block @way of a halo comes from, and the number of blocks. */
uint32_t halo_neighbour(const struct world *w, uint32_t way);
uint32_t halo_ways(const struct world *w);

#endif
