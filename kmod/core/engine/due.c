// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Acknowledgements that may be delayed. See chan.h.
 *
 * A message of one frame is copied when it is sent, so nobody waits for its
 * acknowledgement, and most ranks send something to the same rank soon
 * afterwards, if only in the next op. Such an acknowledgement is owed for a
 * while: it leaves with the next data frame to that rank that has room for it,
 * together with the next one that is owed to it or cannot be delayed, or alone
 * when its time is up. Frames with a full payload have no room.
 *
 * The acknowledgements owed to a rank are a few words in its path. All channels
 * of the comm add and take them, by exchange. A note in the comm says that there
 * may be some for a rank. While there are notes, a timer of the comm visits
 * these ranks: it marks the words that it meets for the first time, and sends
 * those that it has marked before. Nobody keeps their times. A rank has one
 * place for its note, and shares it with others in large comms: if it is taken,
 * the acknowledgement leaves at once. So a visit is short, however many ranks
 * there are.
 *
 * A word is written before the note is read, and the timer takes a note before
 * it reads words; exchanges are fully ordered. So either the timer reads the
 * word, or the note is made again. The bit of a note is set after it, and taken
 * before it.
 */
#include "core/engine/chan.h"

#define DUE_THERE	BIT_ULL(63)	/* the word is not 0 */
#define DUE_SEEN	BIT_ULL(62)	/* a visit has met it */

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

/*
 * Return the place of a rank's note: its own if they are few, and if they are
 * more, such that ranks at distances of powers of two hardly meet.
 */
static u32 note_place(u32 rank)
{
	return (rank + rank / TOR_NOTES * 11 + rank / (TOR_NOTES * TOR_NOTES) * 13) % TOR_NOTES;
}

/* Note a rank. False: the place is taken. */
static bool note_make(struct tor_comm *carrier, u32 rank)
{
	atomic_t *note = &carrier->note[note_place(rank)];
	u32 old = atomic_read(note);

	if (!old)
		old = atomic_cmpxchg(note, 0, rank + 1);
	return !old || old == rank + 1;
}

/* Have notes visited: bit per place. The first one starts the timer. */
static void note_visit(struct tor_ctx *ctx, struct tor_comm *carrier, u64 places)
{
	/* the common case costs no atomic operation */
	if (!(places & ~atomic64_read(&carrier->indebted)))
		return;
	if (!atomic64_fetch_or(places, &carrier->indebted))
		tor_env_comm_timer(carrier, ctx->now + TOR_ACK_DELAY);
}

static bool due_leave(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_comm *carrier = tor_comm_carrier(comm);
	struct tor_path *path = tor_comm_path(comm, rank);
	u32 i, place = tor_comm_place(comm, rank);

	/* of several ranks */
	if (path == &carrier->nobody)
		return false;
	for (i = 0; i < ARRAY_SIZE(path->due); i++)
		if (!atomic64_cmpxchg(&path->due[i], 0, due))
			break;
	if (i == ARRAY_SIZE(path->due))
		return false;
	if (note_make(carrier, place)) {
		note_visit(ctx, carrier, BIT_ULL(note_place(place)));
		return true;
	}
	/* if it is gone or marked, a frame or the timer sends it */
	return atomic64_cmpxchg(&path->due[i], due, 0) != (s64)due;
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

void tor_comm_send_ack(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
		       const struct tor_ack *ack)
{
	struct tor_ack acks[TOR_DUE_WORDS + 1] __uninitialized;

	acks[0] = *ack;
	tor_comm_send_acks(ctx, comm, rank, acks,
			   1 + tor_comm_take_due(comm, rank, acks + 1, TOR_DUE_WORDS));
}

static void due_send(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_ack ack __uninitialized;

	due_unpack(comm, due, &ack);
	tor_comm_send_ack(ctx, comm, rank, &ack);
}

void tor_comm_put_due(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
		      const struct tor_ack *acks, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!due_leave(ctx, comm, rank, due_pack(acks[i].op, &acks[i].where)))
			tor_comm_send_ack(ctx, comm, rank, &acks[i]);
}

void tor_chan_owe(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_where where = tor_chan_where(chan, round);
	u64 due = due_pack(seq, &where);

	if (!due_leave(ctx, comm, rank, due))
		due_send(ctx, comm, rank, due);
}

/* --- those who wait for them --- */

void tor_comm_be_eager(struct tor_comm *comm)
{
	u32 ops = READ_ONCE(comm->eager_ops);

	/* ops that began before */
	if (READ_ONCE(comm->eager) > 0)
		return;
	ops = ops ? min(4 * ops, TOR_EAGER_MOST * comm->depth) : TOR_EAGER_TURNS * comm->depth;
	WRITE_ONCE(comm->eager_ops, ops);
	WRITE_ONCE(comm->eager, ops);
}

void tor_comm_count_op(struct tor_comm *comm)
{
	s32 ops = READ_ONCE(comm->eager_ops), eager = READ_ONCE(comm->eager);

	/* any channel may write both meanwhile: what does not fit together ends as well */
	if (likely(!ops && eager <= 0))
		return;
	WRITE_ONCE(comm->eager, --eager);
	if (eager <= -ops)
		WRITE_ONCE(comm->eager_ops, 0);
}

/* --- the timer --- */

/* Visit a rank. Return whether something is still owed to it. */
static bool pay_rank(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank)
{
	/* made when the first one was owed */
	struct tor_path *path = tor_comm_known_path(comm, rank);
	bool owes = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(path->due); i++) {
		u64 due = atomic64_read(&path->due[i]);

		if (!due)
			continue;
		if (!(due & DUE_SEEN)) {
			/* in vain if a frame has just taken it */
			atomic64_cmpxchg(&path->due[i], due, due | DUE_SEEN);
			owes = true;
		} else if (atomic64_cmpxchg(&path->due[i], due, 0) == (s64)due) {
			due_send(ctx, comm, rank, due);
			return false;
		}
	}
	return owes;
}

/* Visit the rank that is noted at a place. Return whether it is noted again. */
static bool pay_note(struct tor_ctx *ctx, struct tor_comm *comm, u32 place)
{
	u32 noted = atomic_xchg(&comm->note[place], 0);
	struct tor_ack acks[TOR_DUE_WORDS] __uninitialized;
	u32 n;

	if (!noted || !pay_rank(ctx, comm, noted - 1))
		return false;
	if (note_make(comm, noted - 1))
		return true;
	/* another rank has taken the place */
	n = tor_comm_take_due(comm, noted - 1, acks, TOR_DUE_WORDS);
	if (n)
		tor_comm_send_acks(ctx, comm, noted - 1, acks, n);
	return false;
}

void tor_comm_pay(struct tor_ctx *ctx, struct tor_comm *comm)
{
	u64 places, again = 0;

	/* nobody waits, and no other visit follows */
	if (tor_comm_failed(comm))
		return;
	for (places = atomic64_xchg(&comm->indebted, 0); places; places &= places - 1)
		if (pay_note(ctx, comm, __ffs64(places)))
			again |= places & -places;
	note_visit(ctx, comm, again);
}
