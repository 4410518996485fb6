/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A complete plan of all ranks, format torcoll-plan/1: made from the iterators
 * that the module executes, or read; then printed, checked, costed. All results
 * depend on the dump alone.
 */
#ifndef _TORCOLL_PLAN_DUMP_H
#define _TORCOLL_PLAN_DUMP_H

#include <stdio.h>

#include "core/plan/plan.h"

#define DUMP_BUFS	U16_MAX
#define DUMP_WHY	256

struct dump_piece {
	u32 t, ch;
	u32 src, dst;
	u16 sbuf, dbuf;			/* index of a name; 0 is "data" */
	u8 op;				/* enum tor_piece_op */
	u64 soff, doff, n;
};

struct dump {
	struct tor_torus torus;
	u32 ndim;			/* as given: with sides of 1 */
	u32 ranks;
	u32 *members;			/* or NULL */
	u32 collective;
	char algorithm[32];
	u32 root;
	u64 count;
	u64 *counts;			/* or NULL */
	u32 channels;
	u32 param[TORCOLL_PARAM_COUNT];
	char **bufs;
	u32 nbufs;
	struct dump_piece *piece;	/* sorted by t and channel */
	size_t pieces;
	size_t room;
};

/* Why a dump is invalid, as text. */
struct dump_error {
	char text[DUMP_WHY];
};

/* The cost of a dump on its torus. */
struct dump_cost {
	u32 rounds;
	u32 hops;			/* sum over rounds of the longest route */
	double sent_max, sent_mean;	/* elements per node */
	double busiest;			/* elements over the busiest link, all rounds */
	double w;			/* sum over rounds of the busiest link's elements / count */
	double factor;			/* w times the number of sides longer than 1 */
	double handled_max, handled_mean; /* messages sent, received, forwarded, per node */
	u64 messages;
};

/**
 * dump_make - make the dump of a plan
 * @d: zeroed; free with dump_free(), also after an error
 * @call: the request
 * @why: as tor_plan_init()
 *
 * Return: 0, or the error of tor_plan_init().
 */
int dump_make(struct dump *d, const struct tor_call *call, const char **why);

/* What `ring` does in the order of ranks, see core/plan/neighbour/chain.c. */
#define DUMP_CHAINED	(TOR_COLL(SCAN) | TOR_COLL(EXSCAN) | TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE))

/* Return whether several ranks of a call share a node, and it can be planned by nodes. */
bool dump_shares_nodes(const struct tor_call *call);

/* As dump_make(), which calls it, for such a call. */
int dump_make_team(struct dump *d, const struct tor_call *call, const char **why);

/**
 * dump_choose - choose the algorithm of a request as the module would
 * @call: the request, whose algorithm and parameters are set
 * @why: as tor_plan_init()
 *
 * Return: 0, or the error of tor_plan_init().
 */
int dump_choose(struct tor_call *call, const char **why);

/**
 * dump_read - read a dump
 * @d: zeroed; free with dump_free(), also after an error
 * @in: JSON lines
 * @cables: on sides of 2
 * @e: the error in it
 *
 * Return: true if it is valid.
 */
bool dump_read(struct dump *d, FILE *in, u32 cables, struct dump_error *e);

/* Check that it can be executed and costed: ranks, ranges, channels. */
bool dump_valid(const struct dump *d, struct dump_error *e);

/* Return the name of a parameter, or NULL. */
const char *dump_param_name(u32 param);

void dump_print(const struct dump *d, FILE *out);
void dump_free(struct dump *d);

/*
 * Fill in everything except pieces: from a request, and one rank's plan of it.
 */
void dump_begin(struct dump *d, const struct tor_call *call, const struct tor_plan *p);

/* Append a piece; its members are not set. */
struct dump_piece *dump_add(struct dump *d);
void dump_add_piece(struct dump *d, u32 ch, u32 t, const struct tor_piece *x);

/* Add a buffer. Return its number. */
u32 dump_add_buf(struct dump *d, const char *name);

/* Sort pieces by t and channel; the order within these is kept. */
void dump_sort(struct dump *d);

/*
 * Return the first element of @rank's block. @rank may be d->ranks: returns
 * count.
 */
u64 dump_block_start(const struct dump *d, u32 rank);

/**
 * dump_check - execute a dump symbolically
 * @d: the dump
 * @e: the error in it
 *
 * Return: whether it is right.
 */
bool dump_check(const struct dump *d, struct dump_error *e);

/*
 * Print as SVG: a picture for each round, or, @animated, one picture with a
 * round after the other.
 */
void dump_draw(const struct dump *d, bool animated, FILE *out);

void dump_cost(const struct dump *d, struct dump_cost *cost);

/* Print the algorithms, and the collectives that each supports. */
void list_algorithms(void);

/* Print the properties of an algorithm: shapes, rounds, bits. */
void list_about(u32 algorithm);

/*
 * Print all algorithms on the torus of @call: rounds, channels, temporaries,
 * bits; or the reason of a refusal.
 */
void list_plans(struct tor_call call);

/* Fill in @e. Return false. */
bool dump_fail(struct dump_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Allocate memory, or end the program. */
void *dump_alloc(size_t n, size_t size);
__attribute__((noreturn)) void dump_no_memory(void);

#endif
