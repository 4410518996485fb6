// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Ops and the states of their channels: begin, run as far as possible, end. See engine.h.
 */
#include "core/choose/auto.h"
#include "core/engine/chan.h"
#include "core/engine/scale.h"

#define DIGEST_HASH_KEY		0x6469676573740000ULL

static u64 counts_digest(const struct tor_plan_req *req)
{
	__be64 word[2] = {};
	u32 i;

	/* in an alltoall every rank has its own: see tor_op_transfer_digest() */
	for (i = 0; req->counts && !req->from_counts && i < req->ranks; i++) {
		word[0] = cpu_to_be64(req->counts[i]);
		word[1] = cpu_to_be64(tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY));
	}
	return be64_to_cpu(word[1]);
}

u32 tor_op_digest(const struct tor_plan_req *req, u32 type, u32 redop, u32 bits)
{
	u64 word[6 + TORCOLL_PARAM_COUNT];
	u32 i, digest;

	word[0] = (u64)req->collective << 32 | req->algorithm;
	word[1] = (u64)type << 32 | redop;
	word[2] = (u64)bits << 32 | req->root;
	word[3] = req->from_counts ? ~0ULL : req->count;
	word[4] = counts_digest(req);
	word[5] = req->ranks;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		word[6 + i] = req->param[i];
	/* hosts of either endianness meet on a cable */
	for (i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = (__force u64)cpu_to_be64(word[i]);
	digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	return digest ? digest : 1;
}

static int make_plan(struct tor_op *op, const struct tor_plan_req *called, u32 type, u32 redop,
		     u32 bits, const char **why)
{
	if (op->role)
		return tor_plan_message(&op->plan, called, op->comm->rank, why);
	if (called->algorithm != TORCOLL_ALGO_AUTO)
		return tor_plan_init(&op->plan, called, op->comm->rank, why);
	return tor_auto_plan(&op->plan, op->comm->chooser, called,
			     tor_level_of(called->collective, type, redop, bits), op->elem,
			     op->comm->rank, why);
}

static bool is_reduction(u32 collective)
{
	return collective == TORCOLL_BARRIER || tor_collective_reduces(collective);
}

/* What is reduced, and how. */
static int find_reduction(struct tor_op *op, u32 collective, u32 type, u32 redop, const char **why)
{
	bool scans = collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN;
	bool reduces = is_reduction(collective);

	op->elem = tor_type_size(type);
	op->reduce = reduces ? tor_reduce_kernel(type, redop) : NULL;
	if (!op->elem || (reduces && !op->reduce)) {
		*why = "this module does not reduce that type with that operator";
		return -EOPNOTSUPP;
	}
	if (redop == TORCOLL_AVG && (scans || !tor_scale_divides(type, op->comm->ranks))) {
		*why = "there is no average over so many ranks of that type, nor of a scan";
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Is it a plan that this comm, and these bits, can have? */
static int check_plan(const struct tor_op *op, u32 collective, u32 type, u32 redop, u32 bits,
		      const char **why)
{
	const struct tor_plan_shape *shape = &op->plan.shape;

	if (shape->channels > tor_op_channels(op))
		*why = "the plan has more channels than the comm";
	else if (shape->rounds > U16_MAX)
		*why = "the plan has more rounds than a frame can name";
	/* elsewhere one rank alone has the result of an element */
	else if (collective == TORCOLL_ALLREDUCE && !tor_reduce_exact(type, redop) &&
		 bits != TORCOLL_BITS_RELAXED && !shape->agrees)
		*why = "this algorithm cannot give the same float bits on every rank";
	else if (is_reduction(collective) && !tor_reduce_exact(type, redop) &&
		 bits == TORCOLL_BITS_ORDERED && !shape->sequential)
		*why = "this algorithm does not reduce in the order of ranks";
	else
		return 0;
	return -EOPNOTSUPP;
}

/* All but plan and digest, of what @req says; its algorithm is what was chosen. */
static void set_call(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		     u32 bits)
{
	bool reduces = is_reduction(req->collective);

	op->own_lengths = req->from_counts;
	op->lengths = NULL;
	op->input = NULL;
	op->is_float = reduces && tor_type_is_float(type);
	op->ordered = reduces && !tor_reduce_exact(type, redop);
	/* callers may be looking for the op before */
	WRITE_ONCE(op->seq, seq);
	op->type = type;
	op->redop = redop;
	op->collective = req->collective;
	op->call = (struct tor_call){
		.count = req->count,
		.rank = op->comm->rank,
		.root = op->role ? op->peer : req->root,
		.collective = req->collective,
		.type = type,
		.redop = redop,
		.bits = bits,
		.algorithm = op->plan.req.algorithm,
	};
	op->aborted = false;
	op->late = TOR_NO_RANK;
	atomic_set(&op->busy, tor_op_channels(op));
	atomic_set(&op->open, tor_op_channels(op));
}

/* As it is carried out: a barrier is an allreduce of one byte. */
static void make_barrier(struct tor_plan_req *called, u32 *type, u32 *redop)
{
	called->count = 1;
	*type = TORCOLL_U8;
	*redop = TORCOLL_BOR;
}

int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		 u32 bits, const char **why)
{
	struct tor_plan_req called = *req;
	int err;

	/* both ends of a message have called the same */
	if (op->role)
		called.collective = TORCOLL_SEND;
	if (req->collective == TORCOLL_BARRIER)
		make_barrier(&called, &type, &redop);
	err = find_reduction(op, req->collective, type, redop, why);
	if (!err)
		err = make_plan(op, &called, type, redop, bits, why);
	if (!err)
		err = check_plan(op, req->collective, type, redop, bits, why);
	if (err)
		return err;
	/* where buffers alternate, ranks send each other what both then reduce */
	if (op->reduce && op->plan.shape.alternates)
		op->reduce = tor_reduce_commuting(type, redop);
	set_call(op, seq, req, type, redop, bits);
	called.algorithm = op->plan.req.algorithm;
	memcpy(called.param, op->plan.req.param, sizeof(called.param));
	op->digest = tor_op_digest(&called, type, redop, bits);
	return 0;
}

int tor_op_describe(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		    u32 bits, const char **why)
{
	struct tor_plan_req called = *req;
	int err;

	if (req->collective == TORCOLL_BARRIER)
		make_barrier(&called, &type, &redop);
	err = find_reduction(op, req->collective, type, redop, why);
	if (err)
		return err;
	op->plan = (struct tor_plan){
		.req = called,
		.rank = op->comm->rank,
		.shape = {
			.bufs = 1,
			.input = req->collective == TORCOLL_ALLTOALL ||
				 req->collective == TORCOLL_HALO,
		},
	};
	set_call(op, seq, req, type, redop, bits);
	op->digest = tor_op_digest(&called, type, redop, bits);
	return 0;
}

void tor_op_stand_for(struct tor_op *op, const struct tor_op *called)
{
	__be32 word[2] = { cpu_to_be32(called->digest), cpu_to_be32(op->digest) };
	u8 algorithm = op->call.algorithm;

	op->digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	if (!op->digest)
		op->digest = 1;
	op->call = called->call;
	op->call.rank = tor_comm_first(op->comm, op->comm->rank);
	op->call.algorithm = algorithm;
}

u32 tor_op_transfer_digest(const struct tor_op *op, u32 rank, bool sends, u64 bytes)
{
	__be64 word = cpu_to_be64(bytes);
	u64 parts = 0;
	u32 digest;

	if (!op->own_lengths)
		return op->digest;
	if (op->lengths)
		parts = op->lengths[sends ? rank : op->plan.req.ranks + rank];
	digest = op->digest ^ (u32)tor_env_hash(&word, sizeof(word), DIGEST_HASH_KEY ^ parts);
	return digest ? digest : 1;
}

u64 tor_op_temp_bytes(const struct tor_op *op)
{
	const struct tor_plan *p = &op->plan;
	u64 bytes = p->temp.n * op->elem;
	u32 temps = p->shape.bufs - 1;

	if (p->shape.input || !temps)
		return 0;
	return bytes > ~0ULL / temps ? ~0ULL : bytes * temps;
}

void tor_chan_init(struct tor_chan *chan, struct tor_op *op, u32 index, u32 seq)
{
	memset(chan, 0, sizeof(*chan));
	chan->op = op;
	chan->index = index;
	chan->seq = seq;
	chan->state = TOR_CHAN_IDLE;
	INIT_LIST_HEAD(&chan->rx);
	INIT_LIST_HEAD(&chan->tx);
	INIT_LIST_HEAD(&chan->spare_rx);
	INIT_LIST_HEAD(&chan->spare_tx);
}

void tor_chan_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 digest)
{
	struct tor_op *op = chan->op;

	tor_comm_mismatch(ctx, op->comm, chan->seq, &op->call, op->digest, rank, digest);
}

bool tor_chan_past_mismatch(struct tor_ctx *ctx, struct tor_chan *chan, u32 rank, u32 seq,
			    u32 digest)
{
	struct tor_op *op = chan->op;

	if (!chan->past || seq != chan->seq - op->comm->depth || digest == chan->past)
		return false;
	tor_comm_mismatch(ctx, op->comm, seq, &op->past, chan->past, rank, digest);
	return true;
}

static void settle(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;

	if (chan->state == TOR_CHAN_RUNNING && chan->round >= chan->rounds &&
	    tor_chan_copy_sends(chan)) {
		chan->state = TOR_CHAN_COMPLETE;
		if (atomic_dec_and_test(&op->busy))
			tor_env_op_done(ctx, op);
	}
	if (chan->state == TOR_CHAN_COMPLETE && list_empty(&chan->tx) && !chan->held) {
		chan->state = TOR_CHAN_CLOSED;
		if (atomic_dec_and_test(&op->open))
			tor_env_op_retired(ctx, op);
	}
}

static u64 earlier(u64 a, u64 b)
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
	/* what a process is about to send has no timer: at once, again and again, nothing else would have the processor */
	if (!chan->works)
		list_for_each_entry(tx, &chan->tx, list)
			when = earlier(when, tor_tx_deadline(tx));
	if (chan->state == TOR_CHAN_RUNNING) {
		when = earlier(when, chan->give_up ? chan->give_up : op->deadline);
		when = earlier(when, chan->nudge);
	}
	when = earlier(when, chan->due_at);
	if (when)
		when = max(when, chan->timed);
	/* a timer that comes too soon finds nothing and is set again: cheaper than moving it */
	if (when == chan->armed || (chan->armed && when > chan->armed))
		return;
	chan->armed = when;
	tor_env_chan_timer(chan, when);
}

void tor_chan_put_off(struct tor_ctx *ctx, struct tor_chan *chan)
{
	chan->works = true;
	tor_env_chan_work(ctx, chan);
}

void tor_chan_run(struct tor_ctx *ctx, struct tor_chan *chan)
{
	/* what a process has been asked to do is not done by whoever comes by */
	while (!chan->works && chan->state == TOR_CHAN_RUNNING && chan->round < chan->rounds) {
		if (!chan->entered && !tor_chan_enter(ctx, chan))
			break;
		tor_chan_release(ctx, chan);
		if (!tor_chan_round_done(chan))
			break;
		tor_chan_finish_round(chan);
	}
	if (chan->ntold)
		tor_chan_invite(ctx, chan);
	settle(ctx, chan);
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

/* Frames of another call may have come before this one was made, which perhaps looks at none. */
static void check_early(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_rx *rx;

	/* transfers that have digests of their own are looked at in their rounds */
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->digest != chan->op->digest &&
		    (!chan->op->own_lengths || rx->round >= chan->rounds))
			tor_chan_mismatch(ctx, chan, rx->rank, rx->digest);
}

void tor_chan_start(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_op *op = chan->op;
	bool used = chan->index < op->plan.shape.channels;

	chan->state = TOR_CHAN_RUNNING;
	chan->round = op->pair;
	chan->rounds = op->pair + (used ? tor_plan_rounds(&op->plan, chan->index) : 0);
	chan->entered = false;
	chan->retry = 0;
	chan->works = false;
	chan->give_up = 0;
	chan->asked = 0;
	chan->nudge = ctx->now + TOR_NUDGE;
	chan->met = 0;
	check_early(ctx, chan);
	/* whoever fails the comm aborts its channels afterwards, or is seen here */
	if (tor_comm_failed(op->comm))
		tor_chan_abort(ctx, chan);
	else
		tor_chan_run(ctx, chan);
}

/*
 * Nothing new has come for a while. Whoever sends repeats what is not acknowledged, so either a sender has
 * not come so far, or it has given up and its abort was lost: then the answer is another one. An
 * acknowledgement of what has arrived does for a question, and for an invitation that was lost. It says what was
 * called here: whoever called something else, and so will never send, finds out.
 */
static void nudge(struct tor_ctx *ctx, struct tor_chan *chan)
{
	const struct tor_rx *rx;

	chan->nudge = ctx->now + TOR_NUDGE;
	if (!chan->entered)
		return;
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == chan->round && !tor_rx_done(rx))
			tor_chan_ask(ctx, chan, rx);
}

/* Who keeps us waiting: one that has not called, or else whoever we wait for ourselves. */
static u32 late_rank(const struct tor_chan *chan)
{
	const struct tor_rx *rx;

	if (chan->op->late != TOR_NO_RANK)
		return chan->op->late;
	list_for_each_entry(rx, &chan->rx, list)
		if (rx->round == chan->round && !tor_rx_done(rx))
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
	if (chan->due_at && ctx->now >= chan->due_at)
		tor_chan_pay(ctx, chan);
	if (chan->state == TOR_CHAN_IDLE || chan->state == TOR_CHAN_CLOSED) {
		tor_chan_arm(chan);
		return;
	}
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
	chan->ntold = 0;
	chan->ndue = 0;
	chan->due_at = 0;
	chan->retry = 0;
	chan->armed = 0;
	tor_env_chan_timer(chan, 0);
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

void tor_chan_recycle(struct tor_ctx *ctx, struct tor_chan *chan, u32 seq)
{
	struct tor_op *op = chan->op;
	u32 i = 0;

	tor_chan_clear(chan, false);
	/* every channel writes the same */
	op->past = op->call;
	chan->past = op->digest;
	chan->past_own_lengths = op->own_lengths;
	chan->seq = seq;
	chan->state = TOR_CHAN_IDLE;
	chan->round = 0;
	chan->entered = false;
	/* their frames can be kept from now on */
	while (i < chan->ntold) {
		u32 rank = chan->told[i].rank;
		u32 round = chan->told[i].round;

		if ((s32)(chan->told[i].op - seq) < 0) {
			chan->told[i] = chan->told[--chan->ntold];
			continue;
		}
		if (chan->told[i].op != seq) {
			i++;
			continue;
		}
		chan->told[i] = chan->told[--chan->ntold];
		tor_chan_send_ack(ctx, chan, rank, seq, round, NULL, TORCOLL_ACK_OK, 0);
	}
}
