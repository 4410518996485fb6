/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole fabric of core instances in one process, on a virtual clock. Everything that happens follows
 * from the scenario and its seed, so that what went wrong once goes wrong again under a debugger.
 *
 *	clock.c     events in order of virtual time, random numbers
 *	scenario.c  what to simulate: given on the command line, the rest drawn from the seed
 *	env.c       core's surroundings that need no network: memory, CRC, FPU, timers
 *	wire.c      frames, cables and their faults, receiving and forwarding
 *	rank.c      comms, ops, their inputs and the check of their results
 *	main.c      options, seeds, report
 */
#ifndef _SIM_H
#define _SIM_H

#include "engine.h"
#include "join.h"
#include "plan.h"
#include "route.h"
#include "torus.h"

/* --- clock.c --- */

typedef void (*sim_event_fn)(void *arg);

void sim_at(u64 when, sim_event_fn fn, void *arg);

/* Run the next event. False: there is none. */
bool sim_step(void);
void sim_clock_reset(u64 seed);

u64 sim_random(void);
/* Below @n; 0 if @n is 0. */
u64 sim_below(u64 n);
/* True with @probability. */
bool sim_chance(double probability);

/* --- scenario.c --- */

/* What one rank does wrong. */
enum sim_misdeed {
	SIM_NO_MISDEED,
	SIM_CANCEL,			/* it gives up at some time */
	SIM_MISMATCH,			/* it calls an op with another count */
	SIM_ABSENT,			/* it never calls an op that others have a deadline for */
	SIM_MISDEEDS
};

struct sim_scenario {
	u64 seed;
	struct tor_torus torus;
	char dims[32];
	u32 algorithm;
	u32 type;
	u32 redop;
	u64 count;
	u32 ops;			/* one after the other, at most @depth at a time */
	u32 depth;
	u32 frame_size;			/* behind the MAC header */
	bool exact;			/* inputs whose sums are exact in any order */

	u64 delay;			/* of a cable, ns */
	double rate;			/* of a cable, bytes per ns */
	u32 queue;			/* frames that a port holds */
	u64 skew;			/* ranks call up to so much later than they could, ns */
	u64 timer_slack;		/* timers are up to so late, ns */

	double loss;
	double duplicate;
	double reorder;			/* a frame takes up to ten delays longer */
	double corrupt;			/* one bit, anywhere in the frame */
	double no_fpu;
	double no_memory;
	double late_payload;		/* payload is read from the sender's memory on arrival, not on leaving */
	bool shatter;			/* memory and payloads come in small pieces of odd lengths */
	bool no_checksum;		/* payloads carry no CRC */

	enum sim_misdeed misdeed;
	u32 culprit;			/* rank */
	u32 bad_op;			/* number of the op that it gets wrong */
	u64 patience;			/* how long others wait, or it does before it gives up, ns */
};

/* Values of the command line; what is negative or 0 (dims: empty) is drawn. */
struct sim_options {
	u64 first;
	u64 seeds;
	const char *dims;
	int algorithm;
	int type;
	int redop;
	s64 count;
	int ops;
	int depth;
	int frame_size;
	int cables;
	double loss, duplicate, reorder, corrupt, no_fpu, no_memory, late_payload;
	int misdeed;
	bool faults;			/* draw faults that are not given */
	bool trace;
	u64 limit;			/* virtual time until a run counts as stuck, ns */
};

extern struct sim_options sim_options;

/* False: the options exclude each other; says why on stderr. */
bool sim_scenario_draw(struct sim_scenario *s, u64 seed);
/* No faults, and queues that hold a lot? */
bool sim_scenario_is_calm(const struct sim_scenario *s);
void sim_scenario_print(const struct sim_scenario *s);

int sim_type_parse(const char *name);
int sim_redop_parse(const char *name);
const char *sim_type_name(u32 type);
const char *sim_redop_name(u32 redop);
int sim_misdeed_parse(const char *name);

/* --- the fabric --- */

struct tor_mem {
	u8 *data;
	u64 len;
	u32 phase;			/* where runs end: as if the memory began so far into a page */
	u32 refs;			/* the op, and every frame that refers to it */
};

/* One frame, as it travels. */
struct sim_frame {
	u32 hdr_len;
	u8 hdr[TOR_WIRE_HEADER_MAX];
	u8 *linear;			/* payload, or */
	u32 linear_len;
	struct tor_range range[TOR_FRAME_RANGES];	/* where it still is */
	u32 ranges;
	/* how it left: for a local drop */
	struct sim_node *from;
	u32 out_port;
	bool data;
	bool late;
	/* where it is going */
	struct sim_node *to;
	u32 in_port;
	struct sim_frame *next;		/* of the same entry */
	struct list_head all;
};

struct sim_port {
	u64 busy_until;
	u64 *leaving;			/* ring: when the frames in the queue will have left */
	u32 first, held;
};

struct sim_node {
	struct tor_node core;
	struct sim_port port[TOR_MAX_PORTS];
	u64 cpu_free;
	u64 join_due;
	u64 counters[TOR_C_COUNT];
	struct sim_rank *rank;		/* the comm on this node, once its tag is installed */
};

struct sim_chan {
	struct tor_chan core;
	struct sim_rank *rank;
	u64 when;
};

struct sim_op {
	struct tor_op core;
	struct sim_rank *rank;
	struct sim_chan *chan;
	struct tor_mem *data, *temp;
	bool running;
	struct sim_op *next;		/* retired in the same entry */
};

struct sim_rank {
	struct tor_comm core;
	struct tor_join join;
	struct sim_node *node;
	struct sim_op *slot;
	bool joined;
	bool waits;			/* for a slot */
	bool told;			/* that the comm failed, by another rank */
	u32 tellings;			/* rounds of telling the others */
	u32 submitted;			/* number of the last op */
	u32 done;			/* ops */
	u32 retired;
};

/* What core asks for during one entry and gets when it is over. */
struct sim_ctx {
	struct tor_ctx core;
	struct sim_node *node;
	struct sim_frame *frames, **last_frame;
	struct sim_rank *failed;
	struct sim_rank *joined;
	struct sim_op *retired;
};

struct sim_totals {
	u64 counters[TOR_C_COUNT];
	u64 ops;
	u64 slowest;			/* op, from the last rank's call on, ns */
	u64 slowest_seed;
	u64 slowest_failure;		/* from the first rank to the last that has an op, ns */
	u64 slowest_failure_seed;
	u64 lost;			/* frames, by the cables */
	u64 virtual_time;
};

extern struct sim {
	u64 now;
	struct sim_scenario scenario;
	struct sim_node *node;
	struct sim_rank *rank;
	u32 unit;
	u64 allocated;			/* by core, not freed */
	bool failed;
	struct list_head all_frames;
	u64 frames;			/* but hellos, given to ports */
	struct sim_totals totals;
} sim;

/* Note a failure of this run; the first is printed. */
#ifndef __printf
#define __printf(a, b)	__attribute__((__format__(__printf__, a, b)))
#endif
__printf(1, 2) void sim_fail(const char *format, ...);
__printf(2, 3) void sim_trace(const struct sim_node *node, const char *format, ...);

/* --- env.c --- */

struct tor_mem *sim_mem_new(u64 len);
void sim_mem_get(struct tor_mem *mem);
void sim_mem_put(struct tor_mem *mem);

/* Every call of core stands between these two. */
void sim_enter(struct sim_ctx *ctx, struct sim_node *node);
void sim_leave(struct sim_ctx *ctx);

/* --- wire.c --- */

/* Frames that core built in this entry go to their ports. */
void sim_frames_send(struct sim_ctx *ctx);
void sim_fabric_start(void);
void sim_fabric_free(void);

/* --- rank.c --- */

void sim_ranks_start(void);
bool sim_ranks_finished(void);
void sim_ranks_check_idle(void);
void sim_ranks_free(void);
void sim_ranks_describe(void);
struct sim_chan *sim_rank_chan(struct sim_rank *r, u32 op, u32 channel);
/* What is left to do when an entry is over. */
void sim_rank_failed(struct sim_ctx *ctx, struct sim_rank *r);
void sim_rank_joined(struct sim_rank *r);
void sim_op_recycle(struct sim_ctx *ctx, struct sim_op *op);
/* Repeat unanswered messages of a join, now and as long as needed. */
void sim_join_poll(void *node);

#endif
