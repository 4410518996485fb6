/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What core needs from its surroundings, in two parts. First, the types and
 * helpers that differ between module and host; this is the only test of
 * __KERNEL__ in core. Second, the functions that the surroundings supply at
 * link time: kmod/ in the module, the simulator or selftests/unit/host_env.c on
 * the host.
 *
 * Context: core's entry points run in softirq or with bottom halves off, so
 * functions here must not sleep unless they say so. Core itself takes no lock
 * and reads no clock: its callers hold the lock that the entry point names, and
 * pass in the time.
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
#define tor_assert(cond)	WARN_ON_ONCE(!(cond))
#define tor_env_budget()	TOR_BUDGET

/* Yield the processor (cond_resched()); a no-op in programs. Context: may sleep. */
void tor_env_breathe(void);

/* memcpy() for payloads. Context: any. */
void tor_env_copy(void *to, const void *from, size_t n);

#else

#include "core/host.h"

#endif

/* True if the calling process is being killed. Context: may sleep. */
bool tor_env_killed(void);

#define TOR_WALK	1024	/* steps of a walk in process context between yields */

/* Called at step @i of a walk. Context: may sleep; no lock is held but mutexes. */
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
 * @moved: bytes copied or reduced in this entry, without those of the current
 *	frame; starts from 0
 * @sent: data frames sent in this entry; starts from 0
 * @said: messages of agreements sent in this entry; starts from 0
 * @answered: the received frame at hand has been answered; the surroundings
 *	clear it before each
 *
 * The surroundings embed it in a struct of their own that collects the frames
 * that core sends.
 */
struct tor_ctx {
	u64 now;
	u32 moved;
	u32 sent;
	u32 said;
	bool answered;
};

/*
 * Return whether what a frame says may be answered by a frame. One is enough
 * for all that it says, and nobody can multiply frames.
 */
static inline bool tor_ctx_may_answer(struct tor_ctx *ctx)
{
	bool may = !ctx->answered;

	ctx->answered = true;
	return may;
}

/*
 * The most work that core does in one entry: bottom halves are off and a lock
 * is held, so nothing else runs on that processor. The rest is continued in
 * another entry, see tor_env_chan_work(). All 1 or more. tor_env_budget()
 * returns it: TOR_BUDGET in the module, and less in tests. Frames that are
 * forwarded do not enter core and have no budget: see kmod/net/forward.c.
 */
struct tor_budget {
	u32 bytes;
	u32 frames;
	u32 steps;			/* of a walk over ranks or nodes */
};

#define TOR_BUDGET	((struct tor_budget){ .bytes = 64 << 10, .frames = 64, .steps = 1024 })

/*
 * A run of bytes in kernel memory, part of a received payload. May start and
 * end at any address.
 */
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

/* Counters of a node. Names: tor_counter_name(). */
enum tor_counter {
	TOR_C_TX_FRAMES,	/* frames sent by this node, all types but hellos */
	TOR_C_TX_BYTES,		/* payload bytes in them */
	TOR_C_TX_COPIED_BYTES,	/* of those, copied instead of referenced */
	TOR_C_TX_RETRANSMITS,	/* data frames sent again */
	TOR_C_TX_TIMEOUTS,	/* retransmission timers that expired */
	TOR_C_TX_PROBES,	/* see tor_tx_hurry(), and of receivers that were not ready */
	TOR_C_TX_LOCAL_DROP,	/* frames refused by the own queue or device */
	TOR_C_TX_NO_MEMORY,	/* frames not built: out of memory */
	TOR_C_TX_NO_ROUTE,	/* frames without a live port */
	TOR_C_TX_ACKS,		/* acknowledgement frames sent */
	TOR_C_RX_FRAMES,	/* valid frames for this node, all types but hellos */
	TOR_C_RX_BYTES,		/* payload bytes in data frames accepted */
	TOR_C_RX_DUPLICATES,	/* data frames that had arrived before */
	TOR_C_RX_EARLY,		/* data frames kept until their round or op was reached */
	TOR_C_RX_NOT_READY,	/* data frames refused: too early to keep */
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
	TOR_C_DROP_RANGE,	/* channel, round, offset, length or digest not the plan's */
	TOR_C_DROP_NO_ROUTE,	/* cannot be forwarded: no live port */
	TOR_C_DROP_FORWARD,	/* too large to forward, or refused by queue or device */
	TOR_C_DROP_NOT_OURS,	/* addressed to another host's MAC */
	TOR_C_DROP_MEMORY,	/* no memory to handle it */
	TOR_C_DROP_LINK,	/* not hellos, on a link that may not carry them */
	TOR_C_OPS,		/* ops completed */
	TOR_C_OPS_FAILED,	/* ops ended by an error */
	TOR_C_LINK_DOWNS,	/* cables of this node that went down */
	TOR_C_REROUTES,		/* changes of this node's routes */
	TOR_C_TX_ECHOES,	/* test frames of neighbours answered */
	/* frames that softirqs left to a process after using the processor for long */
	TOR_C_RX_LATE,
	TOR_C_DROP_AGAIN,	/* packets to all nodes that had come before */
	TOR_C_COUNT
};

/* --- supplied by the surroundings --- */

/* Zeroed memory, or NULL. Never sleeps. Context: any. */
void *tor_env_alloc(size_t n);
void tor_env_free(void *p);

/*
 * Uninitialised memory of up to the size of a frame, or NULL. Never sleeps.
 * Context: any. tor_env_frame_free() is given the same @n, or NULL.
 */
void *tor_env_frame_alloc(size_t n);
void tor_env_frame_free(void *p, size_t n);

/*
 * The same, for payloads that frames may refer to instead of copying them: see
 * struct tor_frame. Such a frame keeps its contents after the memory was freed
 * here, and until then they must not change.
 */
#define TOR_SHARE_MIN	512	/* what is not longer is copied nevertheless */
void *tor_env_shared_alloc(size_t n);
void tor_env_shared_free(void *p, size_t n);

/* Return the bytes that memory of @n bytes takes. */
u32 tor_env_shared_size(size_t n);

/*
 * Zeroed memory of any size, or NULL. May sleep; called only where core's
 * documentation says that it may.
 */
void *tor_env_table_alloc(size_t n);
void tor_env_table_free(void *p);

/**
 * tor_env_keep - charge the owner of a comm for memory of frames
 * @comm: comm
 * @bytes: of an early frame, of checksums, or of a copy that waits for its
 *	acknowledgement; tor_env_unkeep() when it is freed
 *
 * Context: never sleeps.
 * Return: false if the owner is at its limit.
 */
bool tor_env_keep(struct tor_comm *comm, u32 bytes);
void tor_env_unkeep(struct tor_comm *comm, u32 bytes);

/*
 * CRC32C without initial or final inversion: start with ~0, invert the result.
 * Context: any.
 */
u32 tor_env_crc32c(u32 crc, const void *p, size_t n);

/* Keyed hash (SipHash) of @n bytes. Context: any. */
u64 tor_env_hash(const void *p, size_t n, u64 key);

/* A random number that does not repeat; not for secrets. Context: any. */
u32 tor_env_random(void);

/**
 * tor_env_mem - map bytes of an op's memory
 * @mem: the memory
 * @off: byte offset, inside @mem
 * @len: in: bytes wanted; out: bytes contiguous from there, at least 1, at most
 *	those wanted
 *
 * Context: softirq; never sleeps.
 * Return: address, valid as long as the op's memory is.
 */
void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len);

/*
 * True if the FPU may be used here; tor_env_fpu_end() must then follow.
 * Context: any.
 */
bool tor_env_fpu_begin(void);
void tor_env_fpu_end(void);

/* Add @n to a counter. Context: any. */
void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n);

/* Drop the current frame for reason @why, a TOR_C_DROP_*: counts and traces it. */
void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why);

/**
 * struct tor_frame - a frame to send
 * @cable: number of the cable to leave by, see link/cable.h; ~0: by the route to
 *	@dst
 * @dst: node, for routing
 * @tie: 0 or 1: direction if both are equally short
 * @hdr: header and acks, complete
 * @hdr_len: bytes of it
 * @range: payload in an op's memory, in order
 * @ranges: number of them
 * @linear: or payload in kernel memory
 * @linear_len: bytes of it
 * @shared: @linear comes from tor_env_shared_alloc(); else it is copied
 * @copy: copy the payload: the memory behind @range may change as soon as
 *	tor_env_send() returns
 * @data: a data frame, reported through tor_chan_dropped() if the own queue
 *	refuses it
 */
struct tor_frame {
	u32 cable;
	u32 dst;
	u32 tie;
	const void *hdr;
	u32 hdr_len;
	const struct tor_range *range;
	u32 ranges;
	const void *linear;
	u32 linear_len;
	bool shared;
	bool copy;
	bool data;
};

/**
 * tor_env_send - queue one frame; it is sent when the locks of this entry are
 * dropped
 * @ctx: of this entry
 * @node: sender
 * @frame: frame to send; no reference to it is kept
 *
 * A frame that the port's queue refuses later is reported through
 * tor_chan_dropped().
 *
 * Context: softirq or bottom halves off; never sleeps.
 * Return: 0, -ENOMEM, or -EHOSTUNREACH if no live port leads there.
 */
int tor_env_send(struct tor_ctx *ctx, struct tor_node *node, const struct tor_frame *frame);

/* Call tor_chan_timer() at or after @when (ns); replaces an earlier request. */
void tor_env_chan_timer(struct tor_chan *chan, u64 when);

/*
 * Call tor_comm_pay() at or after @when (ns), once. Not requested again before
 * that call. @comm is a carrier. Context: any.
 */
void tor_env_comm_timer(struct tor_comm *comm, u64 when);

/*
 * Call tor_chan_work() from process context soon. May be requested again before
 * that call.
 */
void tor_env_chan_work(struct tor_ctx *ctx, struct tor_chan *chan);

/*
 * The op's result is in its memory, or the op failed (op->aborted). Called once
 * per op, with one of the op's channel locks held. The memory may be released;
 * the slot is not free yet.
 */
void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *op);

/* Nothing of the op is outstanding: its slot can serve the op that is a depth of the comm later. */
void tor_env_op_retired(struct tor_ctx *ctx, struct tor_op *op);

/*
 * The comm failed permanently (comm->error). Called once, in any context,
 * possibly under a channel lock. The remaining work (tor_chan_abort() for every
 * channel, tor_comm_send_abort() to every rank) must be done after that lock is
 * dropped.
 */
void tor_env_comm_failed(struct tor_ctx *ctx, struct tor_comm *comm);

/* Another rank reported that the comm failed, and notifies all ranks itself. */
void tor_env_comm_told(struct tor_comm *comm);

/*
 * The op slot of number @seq, which may serve another op now. With @role (see
 * tor_op.role): the slot of messages to or from @peer, NULL if there were none;
 * if nodes have several ranks, of @rank here.
 */
const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq);

/*
 * The reason of the failure is complete (comm->explained): wake those who wait
 * for it.
 */
void tor_env_comm_explained(struct tor_comm *comm);

/*
 * All members have joined: register the comm under join->a.tag before returning.
 * Return: 0 or an error.
 */
int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join);

/* Return whether the comm that was registered for @join has failed. */
bool tor_env_join_failed(const struct tor_join *join);

/*
 * The join is finished with join->a.error. Called once; core drops its references
 * to @join before.
 */
void tor_env_join_done(struct tor_ctx *ctx, struct tor_join *join);

/*
 * All survivors have agreed: register the heir under shrink->a.tag before
 * returning. Return: 0 or an error.
 */
int tor_env_shrink_install(struct tor_ctx *ctx, struct tor_shrink *shrink);

/*
 * The call is finished with shrink->a.error; shrink->again says whether to call
 * again with fresh state. Called once; core drops its references to @shrink
 * before.
 */
void tor_env_shrink_done(struct tor_ctx *ctx, struct tor_shrink *shrink);

/**
 * tor_env_heritage - whether a process here has a comm of a lineage open, or is
 *	about to: it has accepted it
 * @node: this node
 * @lineage: comm->lineage
 * @asking: node that asks
 * @epoch: its epoch
 *
 * A comm that was shrunk does not count; its heir does.
 *
 * Return: enum tor_heritage.
 */
int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch);

/*
 * Copy the name of this node's host to @name, of TORCOLL_HOST_NAME + 1 bytes,
 * terminated. Context: any.
 */
void tor_env_host_name(const struct tor_node *node, char *name);

/*
 * Return the number of frames that left by a cable so far, of all types and also
 * those of other nodes, modulo 2^32. Context: any.
 */
u32 tor_env_cable_sent(const struct tor_node *node, u32 cable);

/* The state of a cable changed (node->cable[cable].state, from .was). */
void tor_env_link_changed(struct tor_ctx *ctx, struct tor_node *node, u32 cable);

/*
 * The view of links or nodes (node->view) changed. Rebuild routes
 * (tor_routes_build()), then check comms (tor_comm_watch()), and those whose
 * frames may be lost (tor_chan_rerouted()).
 */
void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *node);

#endif
