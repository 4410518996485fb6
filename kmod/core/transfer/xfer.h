/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Transfers: one message of a plan from one rank to another, cut into frames of
 * equal payload (the comm's unit; the last may be shorter) and delivered
 * exactly once.
 *
 * The sender keeps at most TOR_WINDOW frames between the first unacknowledged
 * and the last sent, so that both sides record received frames in one number
 * and one 64-bit mask, whatever the length of the transfer. The receiver
 * accepts each frame once and acknowledges it. The sender resends frames that
 * are missing for longer than reordering explains, or that nobody acknowledges.
 *
 * This file does not access memory or the contents of frames. Callers serialise
 * access to a record.
 */
#ifndef _TOR_CORE_XFER_H
#define _TOR_CORE_XFER_H

#include "core/env.h"
#include "core/wire/wire.h"

#define TOR_WINDOW		64
/* frames, to a destination not heard of yet */
#define TOR_WINDOW_FIRST	8
#define TOR_WINDOW_MIN		2
/* frames between two requests before any loss */
#define TOR_ACK_EVERY		4
/* own frames in queues on the way: grow below */
#define TOR_QUEUE_LOW		4
#define TOR_QUEUE_HIGH		8			/* shrink above */
#define TOR_NO_FRAME		(~0U)
#define TOR_TX_SMALL		64	/* bytes that a record has room for */

/* before the first round trip is known */
#define TOR_RTO_FIRST		(200 * NSEC_PER_MSEC)
#define TOR_TAIL_MIN		(50 * NSEC_PER_MSEC)	/* before the last frame is repeated */
#define TOR_RTO_MIN		(200 * NSEC_PER_MSEC)	/* before all frames are repeated */
/* unless round trips are longer */
#define TOR_RTO_MAX		(1 * (s64)NSEC_PER_SEC)
#define TOR_RTT_MAX		(10 * (s64)NSEC_PER_SEC)
#define TOR_RTT_FINE		4096
#define TOR_PROBE_FIRST		(20 * NSEC_PER_MSEC)	/* doubled from probe to probe */
#define TOR_PROBE_MAX		(1 * (s64)NSEC_PER_SEC)
#define TOR_DUE_WORDS		TORCOLL_WIRE_PIGGYBACK	/* delayed acknowledgements, per rank */
/* an acknowledgement that nobody waits for is owed as long, or twice as long */
#define TOR_ACK_DELAY		(4 * NSEC_PER_MSEC)
#define TOR_DROP_RETRY		(NSEC_PER_MSEC / 2)	/* after the own queue was full */
/* who waits for a slot does so for that long before its op asks */
#define TOR_HURRY		(NSEC_PER_MSEC / 4)

/**
 * struct tor_path - state of the path to a rank, kept between transfers
 * @srtt: smoothed round trip, us; 0: unknown
 * @rttvar: its mean deviation, us
 * @rtt_min: the recent minimum, up to TOR_RTO_MAX: a round trip without queues
 *	of frames that are not the last of a few or repeated, in TOR_RTT_FINE parts of a us,
 *	so that it follows paths of some us, too; 0: unknown
 * @window: last good number of frames in flight
 * @due: delayed acknowledgements, see due.c; 0: none
 *
 * All but @due are hints, written by the last channel, read by any: all
 * accesses are READ_ONCE and WRITE_ONCE, and a torn pair of values costs a
 * slightly wrong timeout.
 */
struct tor_path {
	u32 srtt;
	u32 rttvar;
	u32 rtt_min;
	u32 window;
	atomic64_t due[TOR_DUE_WORDS];
};

/**
 * struct tor_tx - the sender's side
 * @spare: the next record that is not used
 * @base: all frames below are acknowledged
 * @next: the first frame never sent
 * @acked: bit i: frame @base + i is acknowledged
 * @lost: bit i: frame @base + i was sent, is taken for lost and will be resent
 * @window: frames that may be in flight
 * @threshold: window at which growth becomes linear
 * @grown: acknowledgements since the window last grew linearly
 * @asked: behind the last new frame that asked for an acknowledgement
 * @recover: the window was already reduced for losses below this frame
 * @hole: time since which frames behind a missing one are known to have
 *	arrived, ns; 0: no hole
 * @slowest: the node's longest recent round trip, us; a hint, as in @path
 * @since: when something was last sent or heard, ns
 * @timeout: when to act without an acknowledgement, ns; 0: nothing in flight
 * @retry: when to offer frames again that the own queue refused, or continue
 *	with others, ns; 0: none
 * @backoff: timeouts since the last acknowledgement, or doublings of the probe
 *	interval
 * @blocked: the receiver is not ready
 * @repairs: the next repair may leave though the window is full
 * @patient: one frame, whose acknowledgement nobody waits for
 * @hurried: it was, until somebody did
 * @last_again: the last frame was sent again
 * @split: frames take different ways, which may reorder them without limit:
 *	at the sender those of even and of odd index, at each forwarder those
 *	of either tie
 * @tied: of @split, bit i: the tie of frame @base + i, as tor_wire_tie()
 */
struct tor_tx {
	struct list_head list;
	struct tor_tx *spare;
	struct tor_path *path;
	u32 *slowest;
	u32 rank;
	u32 round;
	u32 frames;
	u32 base;
	u32 next;
	u32 window;
	u32 threshold;
	u32 grown;
	u32 asked;
	u32 recover;
	u32 backoff;
	u64 bytes;
	u64 acked;
	u64 lost;
	u64 tied;
	u64 hole;
	u64 since;
	u64 timeout;
	u64 retry;
	bool blocked;
	bool repairs;
	bool patient;
	bool hurried;
	bool last_again;

	/* the engine's: routing, and the place of the payload */
	bool split;
	bool single;			/* one range: @buf at byte @off */
	bool dense;			/* of more ranges than a frame refers to: gathered */
	bool own;			/* one of the channel's own, see record.c */
	bool paid;			/* its user is charged */
	u16 buf;
	u64 off;
	struct tor_walk *walk;		/* several: see chan.h */
	/* a copy of a transfer of one frame, if memory sufficed; @small or shared */
	void *copy;
	u8 small[TOR_TX_SMALL];		/* last: not cleared */
};

/**
 * tor_tx_init - start sending
 * @tx: to be filled in, except for the engine's part and @list
 * @path, @slowest: hints, kept up to date
 * @rank, @round: of the transfer
 * @bytes: length of the message, not 0
 * @unit: payload bytes per frame
 * @patient: if the message is one frame, nobody waits for the acknowledgement
 */
void tor_tx_init(struct tor_tx *tx, struct tor_path *path, u32 *slowest, u32 rank, u32 round,
		 u64 bytes, u32 unit, bool patient);

/**
 * tor_tx_next - choose the frame to send now
 * @tx: transfer
 * @now: ns
 * @flags: out: TORCOLL_FLAG_* for the frame
 *
 * Counts the frame as sent: call only to send it.
 *
 * Return: index, or TOR_NO_FRAME while window or receiver forbid more or all
 * are sent.
 */
u32 tor_tx_next(struct tor_tx *tx, u64 now, u8 *flags);

/* Note the tie of a frame that is sent: of a transfer that is @split. */
void tor_tx_tie(struct tor_tx *tx, u32 index, u32 tie);

/**
 * tor_tx_ack - handle an acknowledgement
 * @tx: transfer
 * @ack: of this transfer; any content is safe
 * @now: ns
 */
void tor_tx_ack(struct tor_tx *tx, const struct tor_ack *ack, u64 now);

/* Return whether every frame is acknowledged. */
static inline bool tor_tx_done(const struct tor_tx *tx)
{
	return tx->base >= tx->frames;
}

/*
 * Return whether there are frames that window and receiver allow and that are
 * not sent now. They then become due.
 */
bool tor_tx_stopped(struct tor_tx *tx, u64 now);

/*
 * Frame @index did not leave: the own queue refused it, or there was no memory or
 * route. Resend it soon, with a smaller window.
 */
void tor_tx_dropped(struct tor_tx *tx, u32 index, u64 now);

/*
 * Somebody waits for the acknowledgement of a frame that did not ask for one: if
 * it does not come within a round trip, send that frame again, to ask. If it has not
 * left yet, it asks when it does.
 */
void tor_tx_hurry(struct tor_tx *tx);

/*
 * The path of frames in flight may have been cut: reset the timeout and ask
 * soon. The answer says what is missing, so that frames which took another path
 * are not sent twice.
 */
void tor_tx_rerouted(struct tor_tx *tx, u64 now);

/* Result of tor_tx_timer(). */
enum tor_tx_event {
	TOR_TX_NOTHING,
	TOR_TX_REPEAT,		/* what is missing, or what the own queue refused */
	TOR_TX_TAIL,		/* the last frame: nothing was acknowledged for long */
	TOR_TX_TIMEOUT,		/* all frames: nothing was, again */
	TOR_TX_PROBE,		/* ask a receiver that was not ready, or by tor_tx_hurry() */
};

/**
 * tor_tx_timer - handle the passing of time
 * @tx: transfer
 * @now: ns
 *
 * If a deadline has passed, marks what must be resent; the caller then calls
 * tor_tx_next().
 *
 * Return: what happened.
 */
enum tor_tx_event tor_tx_timer(struct tor_tx *tx, u64 now);

/* Return when tor_tx_timer() next has work to do, ns; 0: never. */
u64 tor_tx_deadline(const struct tor_tx *tx);

/**
 * struct tor_rx - the receiver's side
 * @spare: the next record that is not used
 * @frames: of the transfer; 0: not known yet (its round has not been reached)
 * @base: all frames below have arrived
 * @mask: bit i: frame @base + i has arrived
 * @kept: frames that have arrived and wait to be applied, struct tor_kept, in
 *	order
 * @single, @buf, @off: the place of the payload, if it is one range
 * @op: enum tor_piece_op: REDUCE if any range is reduced
 * @last: waits for all earlier transfers of its round
 * @early: its round has not been entered
 * @after: frame i waits for frame i of that transfer, which writes the same
 *	elements
 * @walk: over several ranges: see chan.h
 */
struct tor_rx {
	struct list_head list;
	struct tor_rx *spare;
	struct list_head kept;
	u32 rank;
	u32 round;
	u32 digest;
	u32 frames;
	u32 base;
	u32 nkept;
	u64 mask;
	u64 bytes;

	/* the engine's */
	bool single;
	u16 buf;
	u8 op;
	bool last;
	bool early;
	bool own;			/* one of the channel's own, see record.c */
	bool paid;			/* its user is charged */
	u64 off;
	struct tor_walk *walk;
	struct tor_rx *after;
};

enum tor_rx_verdict { TOR_RX_NEW, TOR_RX_DUPLICATE, TOR_RX_BEYOND };

static inline enum tor_rx_verdict tor_rx_look(const struct tor_rx *rx, u32 index)
{
	if (index < rx->base)
		return TOR_RX_DUPLICATE;
	if (index - rx->base >= TOR_WINDOW)
		return TOR_RX_BEYOND;
	return rx->mask & BIT_ULL(index - rx->base) ? TOR_RX_DUPLICATE : TOR_RX_NEW;
}

/* Record that frame @index, which is new, has arrived. */
void tor_rx_mark(struct tor_rx *rx, u32 index);

/* Return whether every frame has arrived. */
static inline bool tor_rx_done(const struct tor_rx *rx)
{
	return rx->frames && rx->base >= rx->frames;
}

#endif
