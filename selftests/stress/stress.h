/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random calls of /dev/torcoll, by many processes, for some time. Some lanes run at once; each makes one comm after
 * the other among random nodes tor-0, tor-1, ..., with one or several ranks on each, in which every rank submits the
 * same random ops, waits for them in one way or another, by one thread or several, and checks the results. In half of
 * the comms someone misbehaves: kills itself, aborts, closes the comm or the file in another thread, comes late, calls
 * something else, reaps what others wait for. There any error is right that the interface has for it, but a result that
 * is said to be right must be; and who is left may shrink the comm and go on, where nothing may fail.
 */
#ifndef STRESS_H
#define STRESS_H

#include <linux/torcoll.h>
#include <stdbool.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define RANKS_MAX	64
#define OPS_MAX		12
#define DEPTH		3		/* numbers in flight, each of which is at most two ops */
#define THREADS_MAX	3		/* of a rank, that call and wait */
#define COUNT_MAX	60000		/* elements of 4 bytes */
#define PLACE_BYTES	(COUNT_MAX * 4 + 64)

enum misdeed {
	NONE,
	DIE,
	ABORT,
	CLOSE_COMM,
	CLOSE_FILE,
	LATE,
	MISMATCH,
	REAP,
	MISDEEDS
};

/* What all ranks of a comm know. */
struct plot {
	uint64_t seed;
	uint64_t key;
	char name[32];
	uint32_t member[RANKS_MAX];	/* the node of each rank */
	uint32_t ranks;
	bool shared;			/* some nodes have several */
	uint32_t ops;
	enum misdeed misdeed;
	uint32_t culprit;
	bool shrinks;			/* who is left goes on */
	bool shaky;			/* links come and go */
};

/* What memory its ops have. */
enum memory {
	PLAIN,		/* registered for half of them */
	WATCHED,	/* likewise */
	ALLOCATED,	/* the module's */
	MEMORIES
};

struct rank {
	const struct plot *plot;
	uint32_t rank;
	uint64_t seed;
	uint64_t algorithms;		/* bits: those that the module has */
	uint64_t features;		/* of the module in this kernel */
	int fd;
	uint32_t threads;
	uint32_t comm;
	uint32_t region;
	enum memory kind;
	char *memory;
	struct torcoll_ring *ring;	/* or NULL: results are waited for */
	struct torcoll_ring_setup layout;
	uint32_t epoch;			/* comms before this one */
	volatile bool stop;
};

/* What all processes have done. */
struct tally {
	uint64_t comms;
	uint64_t shrunk;
	uint64_t ops;			/* of each rank, that ended well */
	uint64_t failed;		/* lanes */
};

extern struct tally *tally;

static inline void count(uint64_t *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

/* ---- numbers and times ---- */

uint64_t rnd(uint64_t *state);
uint64_t now_ns(void);
/* A time so far from now, or as much farther as the kernel is slow. */
uint64_t in_ms(uint64_t ms);

/* When what a rank calls is to have ended. Where links go it may fail so, and a short test must not wait long for that. */
uint64_t deadline(const struct rank *r);

/* ---- calls ---- */

/* 0 or a negative errno. */
int call(const struct rank *r, unsigned long nr, void *arg);

void complain(const struct rank *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* May a call of this rank's end so, as the plot is? */
bool has_reason(const struct rank *r, int err);
/* A call that ends so ends the test. */
void wrong(const struct rank *r, const char *what, int err) __attribute__((noreturn));
/* So does this, unless the plot has a reason for it: then it is the end of this rank's part in the comm. */
void leave(struct rank *r, const char *what, int err) __attribute__((noreturn));

/* ---- ops ---- */

/* One of the plot's ops, the same on every rank. TORCOLL_SEND: everybody sends, and receives, one message. */
struct op {
	uint32_t number;
	uint32_t collective;
	uint32_t algorithm;
	uint32_t type;
	uint32_t redop;
	uint32_t bits;
	uint32_t root;
	uint32_t ahead;			/* messages go to so many ranks farther */
	uint32_t count;
	bool uneven;
	uint64_t counts[RANKS_MAX];
};

/* @algorithms: bits of which one may be named */
struct op op_draw(const struct plot *plot, uint64_t algorithms, uint32_t number);

/* The parts of an op's vector, elements, that a rank sends and gets. */
struct span {
	uint32_t start, count;
};

struct span op_sent(const struct op *op, uint32_t ranks, uint32_t rank);
struct span op_received(const struct op *op, uint32_t ranks, uint32_t rank);
void op_fill(const struct op *op, uint32_t ranks, uint32_t rank, void *to);
/* False: @text says which element is wrong. */
bool op_check(const struct op *op, uint32_t ranks, uint32_t rank, const void *got, char *text, uint32_t bytes);
/* For complaints. Static. */
const char *op_text(const struct op *op);

/* Call and check all ops of the plot. */
void run_ops(struct rank *r);

/* ---- ranks ---- */

/* A process of its own: does not return. */
void rank_main(const struct plot *plot, uint32_t rank) __attribute__((noreturn));

#endif
