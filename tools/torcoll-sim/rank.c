// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Ranks: they join a comm, call the same ops in the same order, and look at what they get. Ops 2k and
 * 2k + 1 have the same inputs, so their results must have the same bits, whatever happened to their
 * frames. As soon as an op is done its memory is overwritten, as a user may do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define CHANNELS	TOR_MAX_CHANNELS
#define QUARTER		(1ULL << 62)

static u8 **expected;			/* by pair of ops; NULL: not known yet */
static u64 *called;			/* by op: when the last rank so far called */
static u64 failed_since;		/* when the comm failed at the first rank; 0: it did not */

static u64 vector_bytes(void)
{
	return sim.scenario.count * tor_type_size(sim.scenario.type);
}

/* Do sums of these inputs depend on the order? Then the first result seen is what all must be. */
static bool rounds(void)
{
	return tor_type_is_float(sim.scenario.type) && sim.scenario.redop == TORCOLL_SUM &&
	       !sim.scenario.exact;
}

/* --- inputs and results --- */

/* An input is a function of (seed, pair, rank, index), not of when it is asked for. */
static u64 input_bits(u32 pair, u32 rank, u64 i)
{
	u64 x = (sim.scenario.seed * 0x9e3779b97f4a7c15ULL + pair) * 0xbf58476d1ce4e5b9ULL +
		(rank + 1) * 0x94d049bb133111ebULL + i * 0xd6e8feb86659fd93ULL;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL;
	return x ^ x >> 32;
}

/* Small integers, both zeros among them; or numbers of all bits around 1. */
static double input_float(u64 bits)
{
	double v = (double)((s64)(bits % 2001) - 1000);

	if (rounds())
		return (double)(s64)bits / (double)QUARTER;
	return v == 0 && bits & QUARTER ? -0.0 : v;
}

static void fill_input(u8 *to, u32 pair, u32 rank)
{
	u32 elem = tor_type_size(sim.scenario.type);
	u64 i, bits;
	double f64;
	float f32;

	for (i = 0; i < sim.scenario.count; i++, to += elem) {
		bits = input_bits(pair, rank, i);
		f64 = input_float(bits);
		f32 = f64;
		if (sim.scenario.type == TORCOLL_F64)
			memcpy(to, &f64, elem);
		else if (sim.scenario.type == TORCOLL_F32)
			memcpy(to, &f32, elem);
		else
			memcpy(to, &bits, elem);
	}
}

/* One rank after the other; the kernels have tests of their own. */
static u8 *sequential(u32 pair)
{
	tor_reduce_fn fn = tor_reduce_kernel(sim.scenario.type, sim.scenario.redop);
	u8 *result = malloc(vector_bytes() + 1);
	u8 *input = malloc(vector_bytes() + 1);
	u32 rank;

	fill_input(result, pair, 0);
	for (rank = 1; rank < sim.scenario.torus.nodes; rank++) {
		fill_input(input, pair, rank);
		fn(result, input, sim.scenario.count);
	}
	free(input);
	return result;
}

static double value(const u8 *p, u64 i)
{
	double f64;
	float f32;

	if (sim.scenario.type == TORCOLL_F64) {
		memcpy(&f64, p + i * sizeof(f64), sizeof(f64));
		return f64;
	}
	memcpy(&f32, p + i * sizeof(f32), sizeof(f32));
	return f32;
}

/* Whatever the order, rounding errors are bounded: every summand is below 2. */
static bool close_enough(const u8 *a, const u8 *b)
{
	double bound = 2.0 * sim.scenario.torus.nodes * sim.scenario.torus.nodes *
		       (sim.scenario.type == TORCOLL_F64 ? 0x1p-52 : 0x1p-23);
	double error;
	u64 i;

	for (i = 0; i < sim.scenario.count; i++) {
		error = value(a, i) - value(b, i);
		if (!(error <= bound && error >= -bound))
			return false;
	}
	return true;
}

static void check_result(const struct sim_op *op, u32 rank)
{
	const u8 *got = op->data->data;
	u32 elem = tor_type_size(sim.scenario.type);
	u32 pair = (op->core.seq - 1) / 2;
	u64 i;

	if (!expected[pair]) {
		expected[pair] = sequential(pair);
		if (rounds()) {
			if (!close_enough(got, expected[pair]))
				sim_fail("op %u, rank %u: the sum is wrong", op->core.seq, rank);
			memcpy(expected[pair], got, vector_bytes());
		}
	}
	for (i = 0; i < vector_bytes(); i++) {
		if (got[i] == expected[pair][i])
			continue;
		sim_fail("op %u, rank %u: element %llu of %llu is wrong", op->core.seq, rank,
			 (unsigned long long)i / elem, (unsigned long long)sim.scenario.count);
		return;
	}
}

/* --- ops --- */

static void try_submit(void *arg);

static struct sim_op *slot_of(struct sim_rank *r, u32 seq)
{
	return &r->slot[seq % sim.scenario.depth];
}

struct sim_chan *sim_rank_chan(struct sim_rank *r, u32 op, u32 channel)
{
	return channel < CHANNELS ? &slot_of(r, op)->chan[channel] : NULL;
}

static void give_memory(struct sim_op *op, u32 rank)
{
	u64 bytes = op->core.plan.req.count * op->core.elem;
	u64 temp = (op->core.plan.shape.bufs - 1) * bytes;

	op->data = sim_mem_new(bytes);
	op->temp = sim_mem_new(temp);
	op->core.data = op->data;
	op->core.temp = op->temp;
	memset(op->temp->data, 0xe1, temp);
	fill_input(op->data->data, (op->core.seq - 1) / 2, rank);
}

/* The user has it back: whoever still reads it, reads nonsense. */
static void take_memory(struct sim_op *op)
{
	memset(op->data->data, 0xd5, op->data->len);
	memset(op->temp->data, 0xd5, op->temp->len);
	sim_mem_put(op->data);
	sim_mem_put(op->temp);
	op->data = NULL;
	op->temp = NULL;
	op->core.data = NULL;
	op->core.temp = NULL;
}

/* Is this the rank that does wrong, with this op? */
static bool does_wrong(const struct sim_rank *r, enum sim_misdeed what, u32 seq)
{
	return sim.scenario.misdeed == what && r->core.rank == sim.scenario.culprit &&
	       seq == sim.scenario.bad_op;
}

static void begin_op(struct sim_rank *r, u32 seq)
{
	struct tor_plan_req req = {
		.torus = &r->node->core.torus,
		.ranks = r->core.ranks,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = sim.scenario.algorithm,
		.count = sim.scenario.count,
	};
	struct sim_op *op = slot_of(r, seq);
	const char *why = "";
	struct sim_ctx ctx;
	u32 i;
	int err;

	if (does_wrong(r, SIM_MISMATCH, seq))
		req.count++;
	err = tor_op_begin(&op->core, seq, &req, sim.scenario.type, sim.scenario.redop,
			   TORCOLL_BITS_AGREE, &why);
	if (err) {
		sim_fail("op %u, rank %u is refused: %s (%s)", seq, r->core.rank, strerror(-err),
			 why);
		return;
	}
	give_memory(op, r->core.rank);
	op->core.deadline = 0;
	if (sim.scenario.misdeed == SIM_ABSENT && seq == sim.scenario.bad_op)
		op->core.deadline = sim.now + sim.scenario.patience;
	called[seq] = sim.now;
	op->running = true;
	r->submitted = seq;
	sim_trace(r->node, "submit op %u", seq);
	sim_enter(&ctx, r->node);
	for (i = 0; i < CHANNELS; i++)
		tor_chan_start(&ctx.core, &op->chan[i].core);
	sim_leave(&ctx);
}

static void try_submit(void *arg)
{
	struct sim_rank *r = arg;

	if (sim.failed || r->submitted == sim.scenario.ops ||
	    does_wrong(r, SIM_ABSENT, r->submitted + 1))
		return;
	/* the failure may be noticed here, or only by the op that is begun */
	if (atomic_read(&r->core.failed) && r->core.rank % 2)
		return;
	if (slot_of(r, r->submitted + 1)->running) {
		r->waits = true;
		return;
	}
	begin_op(r, r->submitted + 1);
	sim_at(sim.now + sim_below(sim.scenario.skew), try_submit, r);
}

void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *core)
{
	struct sim_op *op = container_of(core, struct sim_op, core);
	struct sim_rank *r = op->rank;
	u64 took = sim.now - called[core->seq];

	sim_trace(r->node, "op %u is done", core->seq);
	if (!core->aborted)
		check_result(op, r->core.rank);
	else if (!r->core.error)
		sim_fail("op %u, rank %u failed without an error", core->seq, r->core.rank);
	take_memory(op);
	r->done++;
	sim.totals.ops++;
	if (!core->aborted && took > sim.totals.slowest) {
		sim.totals.slowest = took;
		sim.totals.slowest_seed = sim.scenario.seed;
	}
}

void sim_op_recycle(struct sim_ctx *ctx, struct sim_op *op)
{
	struct sim_rank *r = op->rank;
	u32 i;

	sim_trace(r->node, "op %u is retired", op->core.seq);
	r->retired++;
	op->running = false;
	for (i = 0; i < CHANNELS; i++)
		tor_chan_recycle(&ctx->core, &op->chan[i].core, op->core.seq + sim.scenario.depth);
	if (r->waits) {
		r->waits = false;
		sim_at(sim.now + sim_below(sim.scenario.skew), try_submit, r);
	}
}

/* --- failure --- */

/* Three times, in case frames are lost; whoever was told does not tell. */
static void tell_everyone(void *arg)
{
	struct sim_rank *r = arg;
	struct sim_ctx ctx;
	u32 i;

	sim_enter(&ctx, r->node);
	for (i = 0; i < r->core.ranks; i++)
		tor_comm_send_abort(&ctx.core, &r->core, i);
	sim_leave(&ctx);
	if (++r->tellings < 3)
		sim_at(sim.now + 50 * NSEC_PER_MSEC, tell_everyone, r);
}

/* What callers get, by what was done and who did it. */
static bool is_right_error(const struct sim_rank *r)
{
	bool culprit = r->core.rank == sim.scenario.culprit;

	switch (sim.scenario.misdeed) {
	case SIM_CANCEL:
		return culprit ? r->core.error == -ECANCELED :
				 r->core.error == -ECONNABORTED &&
				 r->core.error_rank == sim.scenario.culprit;
	case SIM_MISMATCH:
		return r->core.error == -EPROTO;
	case SIM_ABSENT:
		/* whoever's deadline comes first tells the others */
		return r->core.error == -ECONNABORTED || (!culprit && r->core.error == -ETIMEDOUT);
	default:
		return false;
	}
}

void sim_rank_failed(struct sim_ctx *ctx, struct sim_rank *r)
{
	u32 i, k;

	sim_trace(r->node, "the comm failed: %s (rank %u, op %u)", strerror(-r->core.error),
		  r->core.error_rank, r->core.error_op);
	if (!failed_since)
		failed_since = sim.now;
	if (!is_right_error(r))
		sim_fail("rank %u: the comm failed: %s (rank %u, op %u)", r->core.rank,
			 strerror(-r->core.error), r->core.error_rank, r->core.error_op);
	for (i = 0; i < sim.scenario.depth; i++)
		for (k = 0; k < CHANNELS; k++)
			tor_chan_abort(&ctx->core, &r->slot[i].chan[k].core);
	if (!r->told)
		sim_at(sim.now, tell_everyone, r);
}

static void cancel(void *arg)
{
	struct sim_rank *r = arg;
	struct sim_ctx ctx;

	sim_enter(&ctx, r->node);
	tor_comm_fail(&ctx.core, &r->core, -ECANCELED, r->core.rank, r->submitted);
	sim_leave(&ctx);
}

/* --- joining --- */

int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join)
{
	struct sim_rank *r = container_of(join, struct sim_rank, join);
	struct sim_op *op;
	u32 i, k;

	r->core.node = &r->node->core;
	r->core.tag = join->tag;
	r->core.generation = join->generation;
	r->core.ranks = join->ranks;
	r->core.rank = join->rank;
	r->core.unit = join->unit;
	r->core.depth = sim.scenario.depth;
	r->core.channels = CHANNELS;
	r->core.epoch = calloc(join->ranks, sizeof(u32));
	r->core.path = calloc(join->ranks, sizeof(struct tor_path));
	r->slot = calloc(r->core.depth, sizeof(*r->slot));
	for (i = 0; i < r->core.depth; i++) {
		op = &r->slot[i];
		op->rank = r;
		op->core.comm = &r->core;
		op->chan = calloc(CHANNELS, sizeof(*op->chan));
		for (k = 0; k < CHANNELS; k++) {
			op->chan[k].rank = r;
			/* ops are numbered from 1 */
			tor_chan_init(&op->chan[k].core, &op->core, k, i ? i : r->core.depth);
		}
	}
	r->node->rank = r;
	return 0;
}

void sim_rank_joined(struct sim_rank *r)
{
	if (r->join.error) {
		sim_fail("rank %u cannot join: %s", r->join.rank, strerror(-r->join.error));
		return;
	}
	sim_trace(r->node, "joined as rank %u, %u bytes a frame", r->core.rank, r->core.unit);
	r->joined = true;
	sim_at(sim.now + sim_below(sim.scenario.skew), try_submit, r);
	if (sim.scenario.misdeed == SIM_CANCEL && r->core.rank == sim.scenario.culprit)
		sim_at(sim.now + sim.scenario.patience, cancel, r);
}

void sim_join_poll(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;
	u64 when;

	sim_enter(&ctx, node);
	when = tor_join_timer(&ctx.core, &node->core);
	sim_leave(&ctx);
	if (!when || (node->join_due > sim.now && node->join_due <= when))
		return;
	node->join_due = max(when, sim.now + 1);
	sim_at(node->join_due, sim_join_poll, node);
}

static void call_join(void *arg)
{
	struct sim_rank *r = arg;
	struct sim_ctx ctx;

	sim_enter(&ctx, r->node);
	if (tor_join_start(&ctx.core, &r->join, "sim", 3, "secret", 6))
		sim_fail("rank %u cannot start to join", r->join.rank);
	sim_leave(&ctx);
	sim_join_poll(r->node);
}

void sim_ranks_start(void)
{
	u32 n = sim.scenario.torus.nodes;
	u32 i;

	failed_since = 0;
	expected = calloc(sim.scenario.ops, sizeof(*expected));
	called = calloc(sim.scenario.ops + 1, sizeof(*called));
	sim.rank = calloc(n, sizeof(*sim.rank));
	for (i = 0; i < n; i++) {
		struct sim_rank *r = &sim.rank[i];

		r->node = &sim.node[i];
		r->join.node = &r->node->core;
		r->join.rank = i;
		r->join.ranks = n;
		r->join.unit = tor_wire_unit(sim.scenario.frame_size);
		if (!i) {
			r->join.seen = calloc(n, sizeof(*r->join.seen));
			r->join.seen_nonce = calloc(n, sizeof(*r->join.seen_nonce));
		}
		sim_at(sim.now + NSEC_PER_MSEC + sim_below(sim.scenario.skew), call_join, r);
	}
}

/* --- the end --- */

/* Has it nothing left to do? A rank without an op need not have heard that the comm failed. */
static bool finished(const struct sim_rank *r)
{
	return r->joined && r->retired == r->submitted &&
	       (r->submitted == sim.scenario.ops || atomic_read(&r->core.failed) ||
		does_wrong(r, SIM_ABSENT, r->submitted + 1));
}

bool sim_ranks_finished(void)
{
	u32 i;

	for (i = 0; i < sim.scenario.torus.nodes; i++)
		if (!finished(&sim.rank[i]))
			return false;
	if (!sim.scenario.misdeed)
		return true;
	if (!failed_since)
		return false;
	if (sim.now - failed_since > sim.totals.slowest_failure) {
		sim.totals.slowest_failure = sim.now - failed_since;
		sim.totals.slowest_failure_seed = sim.scenario.seed;
	}
	return true;
}

static void check_chan_idle(const struct sim_chan *chan)
{
	const struct tor_chan *c = &chan->core;
	u32 rank = chan->rank->core.rank;

	if (c->state != TOR_CHAN_IDLE || !list_empty(&c->rx) || !list_empty(&c->tx))
		sim_fail("rank %u, slot of op %u, channel %u is not idle", rank, c->seq, c->index);
	if (chan->when)
		sim_fail("rank %u, slot of op %u, channel %u still has a timer", rank, c->seq,
			 c->index);
}

void sim_ranks_check_idle(void)
{
	struct sim_rank *r;
	u32 i, s, k;

	for (i = 0; i < sim.scenario.torus.nodes; i++) {
		r = &sim.rank[i];
		/* not yet told, so it may keep what came early */
		if (sim.scenario.misdeed && !atomic_read(&r->core.failed))
			continue;
		if (atomic_read(&r->core.kept))
			sim_fail("rank %u keeps %d bytes", i, atomic_read(&r->core.kept));
		for (s = 0; s < r->core.depth; s++)
			for (k = 0; k < CHANNELS; k++)
				check_chan_idle(&r->slot[s].chan[k]);
	}
}

static void describe_chan(const struct sim_chan *chan)
{
	static const char *const states[] = { "idle", "running", "complete", "closed" };
	const struct tor_chan *c = &chan->core;
	const struct tor_tx *tx;
	const struct tor_rx *rx;

	printf("    op %u ch %u: %s, round %u of %u%s, ", c->seq, c->index, states[c->state],
	       c->round, c->rounds, c->entered ? "" : " (not entered)");
	if (chan->when)
		printf("timer in %.3f us\n", ((double)chan->when - sim.now) / 1e3);
	else
		printf("no timer\n");
	list_for_each_entry(tx, &c->tx, list)
		printf("      to %u round %u: base %u next %u of %u, window %u, acked %llx lost %llx%s\n",
		       tx->rank, tx->round, tx->base, tx->next, tx->frames, tx->window,
		       (unsigned long long)tx->acked, (unsigned long long)tx->lost,
		       tx->blocked ? ", told to wait" : "");
	list_for_each_entry(rx, &c->rx, list)
		printf("      from %u round %u: base %u of %u, mask %llx, %u kept\n", rx->rank,
		       rx->round, rx->base, rx->frames, (unsigned long long)rx->mask, rx->nkept);
}

static bool interesting(const struct tor_chan *c)
{
	return c->state == TOR_CHAN_RUNNING || c->state == TOR_CHAN_COMPLETE ||
	       !list_empty(&c->rx) || !list_empty(&c->tx);
}

void sim_ranks_describe(void)
{
	struct sim_rank *r;
	u32 i, s, k;

	for (i = 0; i < sim.scenario.torus.nodes; i++) {
		r = &sim.rank[i];
		printf("  rank %u: %s, %u ops submitted, %u done, %u retired\n", i,
		       r->joined ? "joined" : "not joined", r->submitted, r->done, r->retired);
		for (s = 0; r->slot && s < r->core.depth; s++)
			for (k = 0; k < CHANNELS; k++)
				if (interesting(&r->slot[s].chan[k].core))
					describe_chan(&r->slot[s].chan[k]);
	}
}

void sim_ranks_free(void)
{
	struct sim_rank *r;
	u32 i, s, k;

	for (i = 0; i < sim.scenario.torus.nodes; i++) {
		r = &sim.rank[i];
		for (s = 0; r->slot && s < r->core.depth; s++) {
			for (k = 0; k < CHANNELS; k++)
				tor_chan_destroy(&r->slot[s].chan[k].core);
			if (r->slot[s].data)
				sim_mem_put(r->slot[s].data);
			if (r->slot[s].temp)
				sim_mem_put(r->slot[s].temp);
			free(r->slot[s].chan);
		}
		free(r->slot);
		free(r->core.epoch);
		free(r->core.path);
		free(r->join.seen);
		free(r->join.seen_nonce);
	}
	free(sim.rank);
	for (i = 0; i < sim.scenario.ops; i++)
		free(expected[i]);
	free(expected);
	free(called);
}
