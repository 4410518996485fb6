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
 * The acknowledgements owed to a rank are a few words in its path. Any channel
 * of the comm may take them, by exchange. The channel that owes one remembers
 * the word and its time, and its timer takes the word back if it is still
 * there.
 */
#include "core/engine/chan.h"

#define DUE_THERE	BIT_ULL(63)	/* the word is not 0 */

static u64 due_pack(u32 seq, const struct tor_where *where)
{
	return DUE_THERE | (u64)seq << 26 | where->role << 24 | where->channel << 16 |
	       tor_where_round(where);
}

static void due_unpack(const struct tor_comm *comm, u64 due, struct tor_ack *ack)
{
	memset(ack, 0, sizeof(*ack));
	ack->comm = comm->tag;
	ack->op = due >> 26;
	ack->where.role = due >> 24 & 3;
	ack->where.channel = due >> 16 & U8_MAX;
	if (ack->where.role)
		ack->where.pair = due & U16_MAX;
	else
		ack->where.round = due & U16_MAX;
	ack->state = TORCOLL_ACK_DONE;
}

static bool due_leave(struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_path *path = tor_comm_path(comm, rank);
	u32 i;

	/* of several ranks */
	if (path == &tor_comm_carrier(comm)->nobody)
		return false;
	for (i = 0; i < ARRAY_SIZE(path->due); i++)
		if (!atomic64_cmpxchg(&path->due[i], 0, due))
			return true;
	return false;
}

static bool due_take_back(struct tor_path *path, u64 due)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(path->due); i++)
		if (atomic64_cmpxchg(&path->due[i], due, 0) == (s64)due)
			return true;
	return false;
}

static bool due_is_there(const struct tor_path *path, u64 due)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(path->due); i++)
		if ((u64)atomic64_read(&path->due[i]) == due)
			return true;
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

void tor_comm_put_due(struct tor_comm *comm, u32 rank, const struct tor_ack *acks, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		due_leave(comm, rank, due_pack(acks[i].op, &acks[i].where));
}

/* Send @due together with everything else that is owed to @rank. */
static void due_send(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, u64 due)
{
	struct tor_ack acks[TOR_DUE_WORDS + 1] __uninitialized;

	due_unpack(comm, due, &acks[0]);
	tor_comm_send_acks(ctx, comm, rank, acks,
			   1 + tor_comm_take_due(comm, rank, acks + 1, TOR_DUE_WORDS));
}

/*
 * Forget acknowledgements that a frame carried, and send those due by @now.
 * Those not due yet most likely leave with the next op; sending them early
 * would cost a frame.
 */
static void due_pay(struct tor_ctx *ctx, struct tor_chan *chan, u64 now)
{
	struct tor_comm *comm = chan->op->comm;
	u32 i, left = 0;

	for (i = 0; i < chan->ndue; i++) {
		/* made when it was owed */
		struct tor_path *path = tor_comm_known_path(comm, chan->due[i].rank);

		if (!due_is_there(path, chan->due[i].due))
			continue;
		if (chan->due[i].until > now)
			chan->due[left++] = chan->due[i];
		else if (due_take_back(path, chan->due[i].due))
			due_send(ctx, comm, chan->due[i].rank, chan->due[i].due);
	}
	chan->ndue = left;
	chan->due_at = left ? chan->due[0].until : 0;
}

void tor_chan_owe(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq, u32 round)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_where where = tor_chan_where(chan, round);
	u64 due = due_pack(seq, &where);

	if (chan->ndue == TOR_DUE_MAX)
		due_pay(ctx, chan, 0);
	if (chan->ndue == TOR_DUE_MAX || !due_leave(comm, rank, due)) {
		due_send(ctx, comm, rank, due);
		return;
	}
	chan->due[chan->ndue].rank = rank;
	chan->due[chan->ndue].due = due;
	chan->due[chan->ndue].until = ctx->now + TOR_ACK_DELAY;
	if (!chan->ndue++)
		chan->due_at = ctx->now + TOR_ACK_DELAY;
}

void tor_chan_pay(struct tor_ctx *ctx, struct tor_chan *chan)
{
	due_pay(ctx, chan, ctx->now);
}
