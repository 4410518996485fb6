// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Acknowledgements that may be delayed. See chan.h.
 *
 * A message of one frame is copied when it is sent, so nobody waits for its
 * acknowledgement, and most ranks send something to the same rank soon
 * afterwards, if only in the next op. Such an acknowledgement is owed for a
 * while: it leaves with the next data frame to that rank that has room for it,
 * together with the next one that is owed to it, or alone when its time is up.
 * Frames with a full payload have no room.
 *
 * The acknowledgements owed to a rank are a few words in its path. All channels
 * of the comm add and take them, by exchange. comm->indebted notes to which
 * ranks there may be some. While it is not 0, a timer of the comm visits their
 * paths: it marks the words that it meets for the first time, and sends those
 * that it has marked before. Nobody keeps their times.
 *
 * A word is written before its note, and the timer takes all notes before it
 * reads words. So either it reads the word, or it finds the note next time.
 */
#include "core/engine/chan.h"

#define DUE_THERE	BIT_ULL(63)	/* the word is not 0 */
#define DUE_SEEN	BIT_ULL(62)	/* a visit has met it */
#define DUE_NOTES	64		/* bits of comm->indebted */

static u64 due_pack(u32 seq, const struct tor_where *where)
{
	return DUE_THERE | (u64)seq << 26 | where->role << 24 | where->channel << 16 |
	       tor_where_round(where);
}

static void due_unpack(const struct tor_comm *comm, u64 due, struct tor_ack *ack)
{
	memset(ack, 0, sizeof(*ack));
	ack->comm = comm->tag;
	ack->op = (u32)(due >> 26);
	ack->where.role = due >> 24 & 3;
	ack->where.channel = due >> 16 & U8_MAX;
	if (ack->where.role)
		ack->where.pair = due & U16_MAX;
	else
		ack->where.round = due & U16_MAX;
	ack->state = TORCOLL_ACK_DONE;
}

/* Make notes. The first one starts the timer. */
static void due_note(struct tor_ctx *ctx, struct tor_comm *carrier, u64 notes, u64 delay)
{
	/* the common case costs no atomic operation */
	if (!(notes & ~atomic64_read(&carrier->indebted)))
		return;
	if (!atomic64_fetch_or(notes, &carrier->indebted))
		tor_env_comm_timer(carrier, ctx->now + delay);
}

static bool due_leave(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_comm *carrier = tor_comm_carrier(comm);
	struct tor_path *path = tor_comm_path(comm, rank);
	u32 i;

	/* of several ranks */
	if (path == &carrier->nobody)
		return false;
	for (i = 0; i < ARRAY_SIZE(path->due); i++)
		if (!atomic64_cmpxchg(&path->due[i], 0, due)) {
			due_note(ctx, carrier, BIT_ULL(tor_comm_place(comm, rank) % DUE_NOTES),
				 TOR_ACK_DELAY);
			return true;
		}
	return false;
}

u32 tor_comm_take_due(struct tor_comm *comm, u32 rank, struct tor_ack *acks, u32 most)
{
	struct tor_path *path = tor_comm_known_path(comm, rank);
	u32 i, n = 0;

	for (i = 0; path && i < ARRAY_SIZE(path->due) && n < most; i++) {
		u64 due = 0;

		/* the common case costs no atomic operation */
		if (atomic64_read(&path->due[i]))
			due = atomic64_xchg(&path->due[i], 0);
		if (due)
			due_unpack(comm, due, &acks[n++]);
	}
	return n;
}

void tor_comm_put_due(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
		      const struct tor_ack *acks, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		due_leave(ctx, comm, rank, due_pack(acks[i].op, &acks[i].where));
}

/* Send @due together with everything else that is owed to @rank. */
static void due_send(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_ack acks[TOR_DUE_WORDS + 1] __uninitialized;

	due_unpack(comm, due, &acks[0]);
	tor_comm_send_acks(ctx, comm, rank, acks,
			   1 + tor_comm_take_due(comm, rank, acks + 1, TOR_DUE_WORDS));
}

void tor_chan_owe(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_where where = tor_chan_where(chan, round);
	u64 due = due_pack(seq, &where);

	if (!due_leave(ctx, comm, rank, due))
		due_send(ctx, comm, rank, due);
}

/* --- the timer --- */

/* Visit a path. Return whether the next visit has to. */
static bool pay_path(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, struct tor_path *path,
		     struct tor_budget *left)
{
	bool again = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(path->due); i++) {
		u64 due = atomic64_read(&path->due[i]);

		if (!due)
			continue;
		if (due & DUE_SEEN && left->frames) {
			if (atomic64_cmpxchg(&path->due[i], due, 0) != (s64)due)
				continue;
			left->frames--;
			due_send(ctx, comm, rank, due);
			return false;
		}
		/* in vain if a frame has just taken it */
		atomic64_cmpxchg(&path->due[i], due, due | DUE_SEEN);
		again = true;
	}
	return again;
}

/* Visit the paths of a note. Return whether it must be made again. */
static bool pay_note(struct tor_ctx *ctx, struct tor_comm *comm, u32 note, struct tor_budget *left)
{
	bool again = false;
	u32 rank;

	for (rank = note; rank < comm->ranks; rank += DUE_NOTES) {
		struct tor_path *path = tor_comm_known_path(comm, rank);

		if (path)
			again |= pay_path(ctx, comm, rank, path, left);
		left->steps -= !!left->steps;
	}
	return again;
}

void tor_comm_pay(struct tor_ctx *ctx, struct tor_comm *comm)
{
	struct tor_budget left = tor_env_budget();
	u64 notes, again = 0;

	/* nobody waits, and no other visit follows */
	if (tor_comm_failed(comm))
		return;
	notes = atomic64_xchg(&comm->indebted, 0);
	while (notes && left.steps) {
		/* the next one after the last, so that each has its turn */
		u64 later = notes & (~0ULL << comm->next_note);
		u32 note = __ffs64(later ?: notes);

		if (pay_note(ctx, comm, note, &left))
			again |= BIT_ULL(note);
		notes &= ~BIT_ULL(note);
		comm->next_note = (note + 1) % DUE_NOTES;
	}
	due_note(ctx, comm, notes | again, notes || !left.frames ? TOR_RETRY : TOR_ACK_DELAY);
}
