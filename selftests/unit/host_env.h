/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What unit tests have for core's surroundings: env.h in a form that can be told to fail, and that
 * remembers what was asked of it. Every function is weak: a test may bring its own. Call
 * host_reset() before each test and host_check_idle() behind it.
 */
#ifndef _HOST_ENV_H
#define _HOST_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/engine/engine.h"
#include "core/env.h"
#include "core/counter.h"
#include "core/wire/accept.h"

/* cmocka.h wants the four headers above before it, and defines its own fail(). */
#include <cmocka.h>

/**
 * struct tor_mem - an op's memory that comes in runs
 * @data: the bytes
 * @len: of them
 * @run: a run ends before every offset that is @phase modulo @run; 0: not so
 * @odds: and a run ends before one in @odds offsets, at random by @seed; 0: not so
 */
struct tor_mem {
	u8 *data;
	u64 len;
	u32 run;
	u32 phase;
	u32 odds;
	u32 seed;
};

/* A frame given to tor_env_send(), @bytes as it would travel. */
struct host_frame {
	u32 port;
	u32 dst;
	u32 tie;
	bool copy;
	u32 len;
	u8 *bytes;
};

/* A turn of a slot of which only @chan matters begins, or ends, though it may not have begun. */
static inline void host_start(struct tor_ctx *ctx, struct tor_chan *chan)
{
	tor_turn_begin(chan->op);
	tor_chan_start(ctx, chan);
}

static inline void host_recycle(struct tor_ctx *ctx, struct tor_chan *chan)
{
	if (!(atomic_read(&chan->op->turn.number) & 1))
		tor_turn_begin(chan->op);
	tor_turn_end(chan->op);
	tor_chan_recycle(ctx, chan);
}

struct host {
	u64 counters[TOR_C_COUNT];

	struct tor_budget budget;	/* of an entry; 0: TOR_BUDGET */
	u32 works_asked;		/* calls of tor_env_chan_work() */

	u32 allocs;			/* made since host_reset() */
	u32 outstanding;		/* not yet freed */
	u64 kept;			/* bytes that tor_env_keep() has allowed */
	u64 keep_most;			/* and allows at most */
	u32 table_allocs;		/* those that might have slept */
	u64 table_bytes;		/* of these */
	u32 fail_after;			/* allocations that succeed, then all fail; ~0: never */
	u64 fail_mask;			/* bit i: allocation i (of the first 64) fails */

	u32 looks;			/* calls of tor_env_killed() */
	u32 killed_after;		/* of which so many say no; ~0: all */

	bool no_fpu;			/* tor_env_fpu_begin() says no */
	u32 fpu_sections;		/* begun and not ended */

	int send_error;			/* what tor_env_send() returns instead of sending */
	struct host_frame *sent;
	u32 nsent;

	struct tor_chan *timer_chan;	/* last call of tor_env_chan_timer() */
	u64 timer_when;
	struct tor_comm *pay_comm;	/* last call of tor_env_comm_timer() */
	u64 pay_when;
	u32 ops_done;
	u32 ops_retired;
	u32 comms_failed;
	u32 comms_told;
	u32 joins_done;
	u32 links_changed;
	u32 views_changed;
	const char *name;		/* of the host; NULL: "" */
	u32 port_sent;			/* what tor_env_cable_sent() returns */
	u64 random;
};

extern struct host host;

void host_reset(void);

/* Nothing allocated, no FPU section open. */
void host_check_idle(void);

/* Forget the frames sent so far. */
void host_forget_sent(void);

/* Random numbers of the test's own, repeatable: same seed, same numbers. */
u64 host_rand(u64 *state);
void host_fill(void *p, size_t n, u64 *state);

/**
 * host_guarded - memory whose last byte is followed by a page that faults
 * @n: bytes
 *
 * ASan does not see what asm or the kernel's habits read; the MMU does. host_guarded_free() with the same @n.
 */
void *host_guarded(size_t n);
void host_guarded_free(void *p, size_t n);

#endif
