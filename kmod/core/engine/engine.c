// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The states of an op's channels: start, run as far as possible, end. See
 * engine.h.
 */
#include "core/engine/chan.h"

/* early records that take as long as a step of a budget */
#define EARLY_PER_STEP	16

void tor_chan_init(struct tor_chan *chan, struct tor_op *op, u32 index, u32 seq)
{
	memset(chan, 0, sizeof(*chan));
	chan->op = op;
	chan->index = index;
	chan->seq = seq;
	chan->state = TOR_CHAN_IDLE;
	INIT_LIST_HEAD(&chan->rx);
	INIT_LIST_HEAD(&chan->early);
	INIT_LIST_HEAD(&chan->tx);
}

void tor_chan_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 digest)
{
	struct tor_op *op = chan->op;

	tor_comm_mismatch(ctx, op->comm, chan->seq, &op->stated, op->digest, rank, digest);
}

bool tor_chan_past_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq,
			    u32 digest)
{
	struct tor_comm *comm = chan->op->comm;

	if (!chan->past || seq != chan->seq - comm->depth || digest == chan->past)
		return false;
	tor_comm_mismatch(ctx, comm, seq, tor_chan_past_call(chan), chan->past, rank, digest);
	return true;
}

static void chan_settle(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;

	if (chan->state == TOR_CHAN_RUNNING && chan->round >= chan->rounds &&
	    tor_chan_copy_sends(chan)) {
		chan->state = TOR_CHAN_COMPLETE;
		tor_script_end(chan);
		if (atomic_dec_and_test(&op->busy))
			tor_env_op_done(ctx, op);
	}
	if (chan->state == TOR_CHAN_COMPLETE && list_empty(&chan->tx) && !chan->held) {
		chan->state = TOR_CHAN_CLOSED;
		if (atomic_dec_and_test(&op->open))
			tor_env_op_retired(ctx, op);
	}
}

static u64 chan_earlier(u64 a, u64 b)
{
	if (!a || !b)
		return a ? a : b;
	return min(a, b);
}

void tor_chan_arm(struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	struct tor_tx *tx;
	u64 when = chan->retry;

	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED)
		when = 0;
	/*
	 * a process that is about to send needs no timer: one that expires
	 * immediately and repeatedly would keep everything else off the
	 * processor
	 */
	if (!chan->works)
		list_for_each_entry(tx, &chan->tx, list)
			when = chan_earlier(when, tor_tx_deadline(tx));
	if (chan->state == TOR_CHAN_RUNNING) {
		when = chan_earlier(when, chan->give_up ? chan->give_up : op->deadline);
		when = chan_earlier(when, chan->nudge);
	}
	if (when)
		when = max(when, chan->timed);
	/*
	 * a timer that comes too soon, or for nothing, finds that out and is
	 * set again when there is a reason: cheaper than moving it
	 */
	if (!when || (chan->armed && chan->armed <= when))
		return;
	chan->armed = when;
	tor_env_chan_timer(chan, when);
}

void tor_chan_put_off(struct tor_ctx *ctx, struct tor_chan *chan)
{
	chan->works = true;
	tor_env_chan_work(ctx, chan);
}

u32 tor_chan_next_round(const struct tor_chan *chan, u32 from)
{
	u64 rest;

	if (from >= TOR_EMPTY_MAX)
		return from;
	rest = ~(chan->empty >> from);
	return min(from + (rest ? __ffs64(rest) : TOR_EMPTY_MAX), chan->rounds);
}

/*
 * Skip rounds known to be empty here, from an earlier run of the same plan. An
 * early frame for one of them is invalid; entering that round detects it.
 */
static void skip_empty(struct tor_chan *chan)
{
	const struct tor_rx *rx;
	u32 to = tor_chan_next_round(chan, chan->round);

	if (to == chan->round)
		return;
	list_for_each_entry(rx, &chan->early, list)
		to = min(to, max(rx->round, chan->round));
	chan->round = to;
}

void tor_chan_run(struct tor_ctx *ctx, struct tor_chan *chan)
{
	u32 left = tor_env_budget().steps;

	/* work that is deferred to a process is not done in other contexts */
	while (!chan->works && chan->state == TOR_CHAN_RUNNING && chan->round < chan->rounds) {
		/*
		 * plans may have tens of thousands of rounds in which nothing is
		 * done here, or each walks over thousands of early records
		 */
		if (!left) {
			tor_chan_put_off(ctx, chan);
			break;
		}
		left -= min(left, 1 + chan->nearly / EARLY_PER_STEP);
		if (!chan->entered) {
			if (!tor_chan_enter(ctx, chan))
				break;
			if (unlikely(chan->forgotten))
				tor_chan_invite_forgotten(ctx, chan);
		}
		/* half of the rounds of a tree only send */
		if (!list_empty(&chan->rx))
			tor_chan_release(ctx, chan);
		if (!tor_chan_round_done(chan))
			break;
		tor_chan_finish_round(chan);
		skip_empty(chan);
	}
	if (chan->nwaiting)
		tor_chan_invite(ctx, chan);
	chan_settle(ctx, chan);
	tor_chan_arm(chan);
}

bool tor_chan_work(struct tor_ctx *ctx, struct tor_chan *chan)
{
	if (!chan->works)
		return false;
	chan->works = false;
	if (!tor_comm_failed(chan->op->comm)) {
		tor_chan_tx_due(ctx, chan);
		tor_chan_run(ctx, chan);
	}
	return chan->works;
}

/*
 * Check frames that came before this op was called, which may need none: they
 * may be of another call.
 */
static void check_early(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_rx *rx;

	/* transfers with digests of their own are checked in their rounds */
	list_for_each_entry(rx, &chan->early, list)
		if (rx->digest != chan->op->digest &&
		    (!chan->op->own_lengths || rx->round >= chan->rounds))
			tor_chan_mismatch(ctx, chan, rx->rank, rx->digest);
}

void tor_chan_start_unused(struct tor_ctx *ctx, struct tor_chan *chan)
{
	chan->state = TOR_CHAN_CLOSED;
	chan->rounds = 0;
	chan->works = false;
	chan->give_up = 0;
	check_early(ctx, chan);
}

void tor_chan_start(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;

	tor_chan_keep_up(ctx, chan);
	if (chan->index >= op->plan.shape.channels)
		return;
	chan->turn = atomic_read(&op->turn.number);
	chan->state = TOR_CHAN_RUNNING;
	chan->round = 0;
	chan->rounds = tor_plan_rounds(&op->plan, chan->index);
	/* one of a comm that has failed may have been taken apart before, for good */
	if (!tor_comm_failed(op->comm))
		tor_script_start(chan, chan->plans == op->plans);
	if (chan->plans != op->plans) {
		chan->plans = op->plans;
		chan->empty = 0;
	}
	skip_empty(chan);
	chan->entered = false;
	chan->hurried = false;
	if (!chan->index)
		tor_comm_count_op(op->comm);
	chan->retry = 0;
	chan->works = false;
	chan->give_up = 0;
	chan->asked = 0;
	chan->nudge = ctx->now + TOR_NUDGE;
	chan->met = 0;
	check_early(ctx, chan);
	/*
	 * a concurrent failure of the comm either aborts the channel later or
	 * is seen here
	 */
	if (tor_comm_failed(op->comm))
		tor_chan_abort(ctx, chan);
	else
		tor_chan_run(ctx, chan);
}

void tor_chan_hurry(struct tor_chan *chan)
{
	struct tor_tx *tx;

	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED || chan->hurried)
		return;
	chan->hurried = true;
	list_for_each_entry(tx, &chan->tx, list)
		tor_tx_hurry(tx);
	tor_chan_arm(chan);
}

/*
 * Nothing new has come for a while. Senders repeat unacknowledged data, so a
 * sender has either not come so far, or it has failed and its abort was lost;
 * its answer tells which. An acknowledgement of the received data serves as the
 * question, and as an invitation in place of a lost one. It carries the digest
 * of the local call: a sender that called something else, and so will never
 * send, detects that.
 */
static void nudge(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_rx *rx;

	chan->nudge = ctx->now + TOR_NUDGE;
	if (!chan->entered)
		return;
	list_for_each_entry(rx, &chan->rx, list)
		if (!tor_rx_done(rx))
			tor_chan_ask(ctx, chan, rx);
}

/*
 * Return the rank that causes the wait: one that has not called, or else one
 * whose data this rank waits for.
 */
static u32 late_rank(const struct tor_chan *chan)
{
	const struct tor_rx *rx;

	if (chan->op->late != TOR_NO_RANK)
		return chan->op->late;
	list_for_each_entry(rx, &chan->rx, list)
		if (!tor_rx_done(rx))
			return rx->rank;
	return chan->op->role ? chan->op->peer : TOR_NO_RANK;
}

void tor_chan_timer(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;

	chan->armed = 0;
	chan->timed = ctx->now;
	if (tor_comm_failed(op->comm))
		return;
	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED)
		return;
	if (chan->retry && ctx->now >= chan->retry)
		chan->retry = 0;
	if (chan->state == TOR_CHAN_RUNNING && op->deadline && ctx->now >= op->deadline) {
		if (ctx->now >= chan->give_up && chan->asked < op->comm->ranks) {
			chan->give_up = ctx->now + (tor_chan_ask_some(ctx, chan) ? TOR_LATE_WAIT :
										   TOR_LATE_PACE);
		} else if (ctx->now >= chan->give_up) {
			tor_comm_fail(ctx, op->comm, -ETIMEDOUT, late_rank(chan), chan->seq);
			return;
		}
	}
	if (chan->state == TOR_CHAN_RUNNING && ctx->now >= chan->nudge)
		nudge(ctx, chan);
	tor_chan_tx_due(ctx, chan);
	tor_chan_run(ctx, chan);
}

void tor_chan_abort(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	enum tor_chan_state state = chan->state;

	tor_chan_clear(chan, false);
	chan->nwaiting = 0;
	chan->forgotten = 0;
	chan->retry = 0;
	if (state == TOR_CHAN_IDLE || state == TOR_CHAN_CLOSED)
		return;
	if (state == TOR_CHAN_RUNNING) {
		op->aborted = true;
		if (atomic_dec_and_test(&op->busy))
			tor_env_op_done(ctx, op);
	}
	chan->state = TOR_CHAN_CLOSED;
	if (atomic_dec_and_test(&op->open))
		tor_env_op_retired(ctx, op);
}

void tor_chan_invite_early(struct tor_ctx *ctx, struct tor_chan *chan)
{
	u32 i = 0;

	while (i < chan->nwaiting) {
		u32 rank = chan->waiting[i].rank;
		u32 round = chan->waiting[i].round;

		if ((s32)(chan->waiting[i].op - chan->seq) < 0) {
			chan->waiting[i] = chan->waiting[--chan->nwaiting];
			continue;
		}
		if (chan->waiting[i].op != chan->seq) {
			i++;
			continue;
		}
		chan->waiting[i] = chan->waiting[--chan->nwaiting];
		tor_chan_send_ack(ctx, chan, rank, chan->seq, round, NULL, TORCOLL_ACK_OK, 0);
	}
}
