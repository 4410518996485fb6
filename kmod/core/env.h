/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What core asks of its surroundings. Two parts: the vocabulary of types and helpers that differ by
 * world, the only test of __KERNEL__ in core; and the functions that the surroundings supply at
 * link time: kmod/ in the module, the simulator or selftests/unit/host_env.c on the host.
 *
 * Context: core's entry points run in softirq or with bottom halves off, so nothing here may
 * sleep. Core itself takes no lock and reads no clock: whoever calls it holds the lock that its
 * entry points name and hands in the time.
 */
#ifndef _TOR_CORE_ENV_H
#define _TOR_CORE_ENV_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#define tor_div64(n, d)		div64_u64(n, d)
#define tor_mul_div64(a, b, d)	mul_u64_u64_div_u64(a, b, d)
#define tor_assert(cond)	WARN_ON_ONCE(!(cond))

/* Let others have the processor; programs do anyway. */
void tor_env_breathe(void);

#else

#include "core/host.h"

#endif

#define TOR_WALK	1024	/* steps of a walk in process context, after which others may have the processor */

/* A walk has come to its step @i. Context: may sleep, no lock is held but mutexes. */
static inline void tor_env_walked(u32 i)
{
	if (!(i % TOR_WALK))
		tor_env_breathe();
}

struct tor_chan;
struct tor_comm;
struct tor_join;
struct tor_mem;
struct tor_node;
struct tor_op;
struct tor_shrink;

/**
 * struct tor_ctx - one entry into core
 * @now: monotonic time, ns
 * @moved: bytes that were copied or reduced here, without those of the frame at hand; @sent: data frames; both from 0
 *
 * The surroundings embed it in whatever they need to collect the frames that core sends.
 */
struct tor_ctx {
	u64 now;
	u32 moved;
	u32 sent;
};

/*
 * What core does in one entry at most: with bottom halves off and a lock held, nothing else runs on that processor. What is
 * left is gone on with in another one, see tor_env_chan_work(). 1 or more.
 */
struct tor_budget {
	u32 bytes;
	u32 frames;
	u32 steps;			/* of a walk over ranks or nodes */
};

#define TOR_BUDGET	((struct tor_budget){ .bytes = 64 << 10, .frames = 64, .steps = 1024 })

/* A run of bytes in kernel memory: of a received payload. May start and end anywhere. */
struct tor_bytes {
	const void *p;
	u32 len;
};

/* A run of bytes of an op's memory. */
struct tor_range {
	struct tor_mem *mem;
	u64 off;
	u64 len;
};

/* Why something was counted. Names: tor_counter_name(). */
enum tor_counter {
	TOR_C_TX_FRAMES,	/* frames sent by this node, all types but hellos */
	TOR_C_TX_BYTES,		/* payload bytes in them */
	TOR_C_TX_COPIED_BYTES,	/* of those, copied instead of referenced */
	TOR_C_TX_RETRANSMITS,	/* data frames sent again */
	TOR_C_TX_TIMEOUTS,	/* retransmission timers that expired */
	TOR_C_TX_PROBES,	/* probes of receivers that were not ready */
	TOR_C_TX_LOCAL_DROP,	/* frames that the own queue or device refused */
	TOR_C_TX_NO_MEMORY,	/* frames not built for want of memory */
	TOR_C_TX_NO_ROUTE,	/* frames without a live port */
	TOR_C_TX_ACKS,		/* acknowledgement frames sent */
	TOR_C_RX_FRAMES,	/* valid frames for this node, all types but hellos */
	TOR_C_RX_BYTES,		/* payload bytes in data frames accepted */
	TOR_C_RX_DUPLICATES,	/* data frames that had arrived before */
	TOR_C_RX_EARLY,		/* data frames kept until their round or op was reached */
	TOR_C_RX_NOT_READY,	/* data frames refused because too early to keep */
	TOR_C_RX_DEFERRED,	/* data frames kept because the FPU was not usable */
	TOR_C_RX_HELLOS,	/* valid hellos */
	TOR_C_FORWARDED,	/* frames passed on */
	TOR_C_DROP_SHORT,	/* shorter than its header says */
	TOR_C_DROP_VERSION,	/* unknown wire version */
	TOR_C_DROP_TYPE,	/* unknown frame type */
	TOR_C_DROP_FABRIC,	/* another fabric's tag */
	TOR_C_DROP_HEADER_CRC,	/* header damaged */
	TOR_C_DROP_PAYLOAD_CRC,	/* payload damaged */
	TOR_C_DROP_HOP_LIMIT,	/* hop limit used up */
	TOR_C_DROP_NODE,	/* no such node */
	TOR_C_DROP_EPOCH,	/* of an older incarnation */
	TOR_C_DROP_COMM,	/* no such comm here */
	TOR_C_DROP_RANGE,	/* channel, round, offset or length outside the plan */
	TOR_C_DROP_NO_ROUTE,	/* cannot be forwarded: no live port */
	TOR_C_DROP_FORWARD,	/* forwarding refused by the own queue or device */
	TOR_C_DROP_NOT_OURS,	/* addressed to another host's MAC */
	TOR_C_DROP_MEMORY,	/* no memory to handle it */
	TOR_C_DROP_LINK,	/* data on a link that is not up */
	TOR_C_OPS,		/* ops completed */
	TOR_C_OPS_FAILED,	/* ops ended by an error */
	TOR_C_LINK_DOWNS,	/* links of this node that went down */
	TOR_C_REROUTES,		/* changes of this node's routes */
	TOR_C_TX_ECHOES,	/* test frames of neighbours answered */
	TOR_C_RX_LATE,		/* frames that softirqs left to a process, having had the processor for long */
	TOR_C_COUNT
};

/* --- supplied by the surroundings --- */

/* Zeroed memory, or NULL. Never sleeps. */
void *tor_env_alloc(size_t n);
void tor_env_free(void *p);

/* For what a frame brings or takes, so up to its size: whatever was there before. Given back like the other. */
void *tor_env_frame_alloc(size_t n);

/* The same, of any size; may sleep, so called only where core says that it may. */
void *tor_env_table_alloc(size_t n);
void tor_env_table_free(void *p);

/*
 * Whoever pays for a comm pays for @bytes more of early frames. Return: whether it may. Never sleeps; tor_env_unkeep() when
 * they are freed.
 */
bool tor_env_keep(struct tor_comm *comm, u32 bytes);
void tor_env_unkeep(struct tor_comm *comm, u32 bytes);

/* CRC32C without initial or final inversion: start with ~0, invert the end. */
u32 tor_env_crc32c(u32 crc, const void *p, size_t n);

/* Keyed hash (SipHash) of @n bytes. */
u64 tor_env_hash(const void *p, size_t n, u64 key);

/* Not a secret, not repeated. */
u32 tor_env_random(void);

/**
 * tor_env_mem - where bytes of an op's memory are
 * @mem: the memory
 * @off: byte offset, inside @mem
 * @len: in: bytes wanted; out: bytes contiguous from there, at least 1, at most wanted
 *
 * Return: address, valid as long as the op's memory is.
 */
void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len);

/* May the FPU be used here? If true, tor_env_fpu_end() must follow. */
bool tor_env_fpu_begin(void);
void tor_env_fpu_end(void);

void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n);

/* The frame at hand is thrown away, for @why, a TOR_C_DROP_. Counts it, and tells whoever traces. */
void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why);

/**
 * struct tor_frame - a frame to send
 * @port: port to leave by; ~0: by the route to @dst
 * @dst: node, for routing
 * @tie: 0 or 1: which way if both are equally short
 * @hdr: header and acks, complete but for what struct tor_send_ref says
 * @hdr_len: bytes of it
 * @range: payload in an op's memory, in order
 * @ranges: number of them
 * @linear: or payload in kernel memory, always copied
 * @linear_len: bytes of it
 * @copy: the memory behind @range may change as soon as this returns: copy it
 * @data: a data frame, to be reported through tor_chan_dropped() if the own queue refuses it
 */
struct tor_frame {
	u32 port;
	u32 dst;
	u32 tie;
	const void *hdr;
	u32 hdr_len;
	const struct tor_range *range;
	u32 ranges;
	const void *linear;
	u32 linear_len;
	bool copy;
	bool data;
};

/**
 * tor_env_send - queue one frame; it leaves when the locks of this entry are dropped
 * @ctx: of this entry
 * @node: sender
 * @frame: what to send; nothing of it is kept
 *
 * A frame that the port's queue refuses later comes back through tor_chan_dropped().
 *
 * Return: 0, -ENOMEM, or -EHOSTUNREACH if no live port leads there.
 */
int tor_env_send(struct tor_ctx *ctx, struct tor_node *node, const struct tor_frame *frame);

/* Call tor_chan_timer() at or after @when (ns); replaces an earlier request. 0: none. */
void tor_env_chan_timer(struct tor_chan *chan, u64 when);

/* Those of the module are TOR_BUDGET. */
struct tor_budget tor_env_budget(void);

/* Call tor_chan_work() from a process, soon. May be asked for again before it has been called. */
void tor_env_chan_work(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * The op's result is in its memory, or it failed (op->status). Called once per op, with one of the
 * op's channel locks held. The memory may be given back; the slot is not free yet.
 */
void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *op);

/* Nothing of the op is outstanding any more: its slot serves op->seq again. */
void tor_env_op_retired(struct tor_ctx *ctx, struct tor_op *op);

/*
 * The comm failed for good (comm->error). Called once, in any context, perhaps under a channel lock:
 * what remains to be done (tor_chan_abort() for every channel, tor_comm_send_abort() to every
 * rank) must be done after that lock is dropped.
 */
void tor_env_comm_failed(struct tor_ctx *ctx, struct tor_comm *comm);

/* Another rank says that the comm failed, and tells everyone itself. */
void tor_env_comm_told(struct tor_comm *comm);

/*
 * The op slot that number @seq belongs to; perhaps it serves another now. With @role, see tor_op.role: that of messages to
 * or from @peer, NULL if there were none; and where nodes have several ranks, of @rank here.
 */
const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq);

/* Who reads why the comm failed, need not wait any longer: comm->explained. */
void tor_env_comm_explained(struct tor_comm *comm);

/* All members have come: make the comm known under join->tag before returning. */
int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join);

/* The join is over, join->error says how. Called once; core forgets @join before. */
void tor_env_join_done(struct tor_ctx *ctx, struct tor_join *join);

/* All who live have agreed: make the heir known under shrink->tag before returning. */
int tor_env_shrink_install(struct tor_ctx *ctx, struct tor_shrink *shrink);

/*
 * The call is over, shrink->error says how, and shrink->again whether to call again, with everything anew. Called
 * once; core forgets @shrink before.
 */
void tor_env_shrink_done(struct tor_ctx *ctx, struct tor_shrink *shrink);

/**
 * tor_env_heritage - does a process here have a comm of this lineage open?
 * @node: here
 * @lineage: comm->lineage
 * @asking: node that wants to know; @epoch: of it
 *
 * A comm that was shrunk counts no more, its heir does.
 *
 * Return: enum tor_heritage.
 */
int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch);

/* The state of a port's link changed (node->link[port].state). */
void tor_env_link_changed(struct tor_ctx *ctx, struct tor_node *node, u32 port);

/*
 * What is known of links or nodes (node->view) changed: build routes anew (tor_routes_build()), then look after
 * comms (tor_comm_watch()), and after those of which frames may be lost (tor_chan_rerouted()).
 */
void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *node);

#endif
