// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Ops: ranks call the same ones in the same order and check their results. The
 * memory of an op is overwritten as soon as it is done, as a user may do.
 */
#include <stdlib.h>

#include "core/engine/input.h"
#include "sim.h"

#define GARBAGE		0xd5

static const struct sim_call *call_of(const struct sim_rank *r, u32 number)
{
	return &r->group->spec->call[number - 1];
}

/* Return whether the rank makes the call, too. */
static bool has_part(const struct sim_rank *r, const struct sim_call *call)
{
	return call->collective != TORCOLL_SEND || call->root == r->number || call->peer == r->number;
}

static void give_memory(struct sim_op *op)
{
	u64 bytes = op->core.plan.call.count * op->core.elem;
	u64 temp = tor_op_temp_bytes(&op->core);
	struct sim_rank *r = op->rank;

	/* of a plan with an input, that is in the place of temporaries */
	if (op->core.plan.shape.input)
		temp = bytes;
	op->data = sim_mem_new(bytes);
	op->temp = sim_mem_new(temp);
	op->core.data = op->data;
	op->core.temp = op->temp;
	memset(op->temp->data, 0xe1, temp);
	memset(op->data->data, 0xe2, bytes);
	/* every other input stays in place, if permitted */
	if (op->core.plan.shape.input) {
		sim_value_fill(r->group, call_of(r, op->call), r->number, op->temp->data);
	} else if (tor_input_may_stay(&op->core) && (op->call ^ r->number) & 1) {
		op->input = sim_mem_new(bytes);
		op->taken = calloc(1, tor_input_bytes(&op->core));
		/* a call that differs may be longer */
		memset(op->input->data, 0, bytes);
		sim_value_fill(r->group, call_of(r, op->call), r->number, op->input->data);
		tor_input_begin(&op->core, op->input, op->taken);
	} else {
		sim_value_fill(r->group, call_of(r, op->call), r->number, op->data->data);
	}
}

/* The op is over: check that it has not written to its input. */
static void take_input(struct sim_op *op)
{
	struct sim_rank *r = op->rank;
	u8 *same;

	if (!op->input)
		return;
	same = calloc(1, op->input->len + 1);
	sim_value_fill(r->group, call_of(r, op->call), r->number, same);
	if (memcmp(same, op->input->data, op->input->len))
		sim_fail("call %u, rank %u: the input was written to", op->call, r->number);
	free(same);
	op->input->given_up = op->core.aborted;
	memset(op->input->data, GARBAGE, op->input->len);
	sim_mem_put(op->input);
	free(op->taken);
	op->input = NULL;
	op->taken = NULL;
	op->core.input = NULL;
}

/* The user has the memory again: a later read gets garbage. */
static void take_memory(struct sim_op *op)
{
	op->data->given_up = op->core.aborted;
	op->temp->given_up = op->core.aborted;
	memset(op->data->data, GARBAGE, op->data->len);
	memset(op->temp->data, GARBAGE, op->temp->len);
	sim_mem_put(op->data);
	sim_mem_put(op->temp);
	op->data = NULL;
	op->temp = NULL;
	op->core.data = NULL;
	op->core.temp = NULL;
	take_input(op);
}

void sim_op_free(struct sim_op *op)
{
	if (op->data)
		sim_mem_put(op->data);
	if (op->temp)
		sim_mem_put(op->temp);
	if (op->input)
		sim_mem_put(op->input);
	free(op->taken);
	sim_ledger_free(op);
	free(op->counts);
	free(op->chan);
}

static int plan_op(struct sim_op *op, u32 seq)
{
	struct sim_rank *r = op->rank;
	const struct sim_call *call = call_of(r, op->call);
	struct tor_call made = {
		.torus = &r->node->core.torus,
		.members = r->join.member,
		.ranks = r->core.ranks,
		.collective = call->collective,
		.algorithm = call->algorithm,
		.type = call->type,
		.redop = call->redop,
		.bits = call->bits,
		.root = call->root,
		.peer = call->peer,
		.count = call->count,
	};
	const char *why = "";
	int err;

	if (op->core.role == TOR_ROLE_RECV)
		made.collective = TORCOLL_RECV;
	sim_call_params(call, made.param);
	if (sim_incident_at(SIM_INCIDENT_MISMATCH, r, op->call)) {
		sim_trace(r->node, "rank %u makes another call", r->number);
		sim_meet(SIM_MISMATCH);
		r->deeds |= SIM_DID_MISMATCH;
		r->group->mismatched = true;
		made.count += sim_call_blocks(r->group->spec, call);
	} else if (call->uneven) {
		op->counts = malloc(2 * made.ranks * sizeof(u64));
		sim_call_counts(call, made.ranks, op->counts);
		made.counts = op->counts;
		/* with and without must be the same */
		if (op->call & 1) {
			made.starts = op->counts + made.ranks;
			tor_plan_starts(made.counts, made.ranks, op->counts + made.ranks);
		}
	}
	err = tor_op_begin(&op->core, seq, &made, &why);
	if (err)
		sim_fail("call %u, rank %u is refused: %s (%s)", op->call, r->number, strerror(-err), why);
	return err;
}

/* Return whether another comm on this node has an op in progress. */
static bool overlaps(const struct sim_rank *r)
{
	u32 g;

	for (g = 0; g < sim.groups; g++)
		if (r->node->rank[g] && r->node->rank[g] != r &&
		    r->node->rank[g]->retired < r->node->rank[g]->submitted)
			return true;
	return false;
}

/* Return the slot of the next call. */
static struct sim_op *next_op(struct sim_rank *r)
{
	struct sim_series *series = sim_series_of(r, call_of(r, r->submitted + 1));

	return sim_slot(series, series->submitted + 1);
}

static void begin_op(struct sim_rank *r)
{
	u32 call = r->submitted + 1;
	struct sim_series *series = sim_series_of(r, call_of(r, call));
	struct sim_op *op = next_op(r);
	u64 patience = sim_patience(r->group, call);
	struct sim_ctx ctx;
	u32 i, visited;

	op->call = call;
	if (plan_op(op, series->submitted + 1))
		return;
	give_memory(op);
	op->core.deadline = patience ? sim.now + patience : 0;
	op->submitted = sim.now;
	op->running = true;
	op->done = false;
	r->group->called[call] = sim.now;
	r->submitted = call;
	series->submitted++;
	if (overlaps(r))
		sim_meet(SIM_OVERLAP);
	if (sim_incident_at(SIM_INCIDENT_LATE, r, call))
		sim_meet(SIM_LATE_RANK);
	sim_trace(r->node, "rank %u of comm %08x submits op %u", r->number, r->core.tag, call);
	sim_enter(&ctx, r->node);
	visited = tor_turn_begin(&op->core);
	for (i = 0; i < tor_op_channels(&op->core); i++)
		if (visited & 1U << i)
			tor_chan_start(&ctx.core, &op->chan[i].core);
	sim_leave(&ctx);
}

/* In lockstep no rank is so far ahead that others must refuse its frames. */
static bool others_are_behind(struct sim_rank *r)
{
	u32 seq = r->submitted + 1;
	u32 i;

	for (i = 0; sim.scenario.lockstep && i < r->core.ranks; i++) {
		struct sim_rank *other = &r->group->rank[i];

		/* its slot serves this op already, or is free for it */
		if (other->submitted < seq &&
		    (!other->series || other->submitted + r->core.depth < seq ||
		     sim_slot(other->series, seq)->running))
			return true;
	}
	return false;
}

/* The call has waited for long. In lockstep nobody is in a hurry, so that nothing is sent twice. */
static void hurry(void *arg)
{
	struct sim_rank *r = arg;
	struct sim_ctx ctx;
	struct sim_op *op;
	u32 i;

	if (sim.failed || r->closed || !r->waits || sim.now < r->waits_since + TOR_HURRY ||
	    sim.scenario.lockstep)
		return;
	op = next_op(r);
	if (!op->running)
		return;
	sim_enter(&ctx, r->node);
	for (i = 0; i < tor_op_channels(&op->core); i++)
		tor_chan_hurry(&op->chan[i].core);
	sim_leave(&ctx);
}

/* Messages between others. */
static void skip_calls(struct sim_rank *r)
{
	const struct sim_group_spec *spec = r->group->spec;

	while (r->submitted < spec->calls && !has_part(r, call_of(r, r->submitted + 1))) {
		r->submitted++;
		r->done++;
		r->retired++;
	}
}

void sim_rank_call(void *arg)
{
	struct sim_rank *r = arg;

	if (sim.failed || r->closed)
		return;
	skip_calls(r);
	if (r->submitted == r->group->spec->calls ||
	    sim_incident_at(SIM_INCIDENT_ABSENT, r, r->submitted + 1))
		return;
	/* the failure may be noticed here, or only by the op that is begun */
	if (atomic_read(&r->core.failed) && r->number % 2)
		return;
	if (r->group->spec->blocking && r->done < r->submitted) {
		r->waits = true;
		r->waits_since = U64_MAX;
		return;
	}
	if (next_op(r)->running || others_are_behind(r)) {
		r->waits = true;
		r->waits_since = sim.now;
		sim_at(sim.now + TOR_HURRY, r->node, hurry, r);
		return;
	}
	begin_op(r);
	sim_rank_next_call(r);
}

void sim_rank_next_call(struct sim_rank *r)
{
	const struct sim_group_spec *spec = r->group->spec;
	const struct sim_incident *late = sim_incident_at(SIM_INCIDENT_LATE, r, r->submitted + 1);
	u64 when = max(sim.now, r->group->started + r->submitted * spec->pace);

	if (late)
		when += late->patience;
	sim_at(when + sim_below(sim.scenario.skew), r->node, sim_rank_call, r);
}

static void wake(struct sim_rank *r)
{
	if (!r->waits)
		return;
	r->waits = false;
	sim_at(sim.now + sim_below(sim.scenario.skew), r->node, sim_rank_call, r);
}

void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *core)
{
	struct sim_op *op = container_of(core, struct sim_op, core);
	struct sim_rank *r = op->rank;
	u64 took = sim.now - r->group->called[op->call];

	sim_trace(r->node, "op %u of comm %08x is %s", op->call, r->core.tag,
		  core->aborted ? "aborted" : "done");
	if (op->done)
		sim_fail("call %u, rank %u is done twice", op->call, r->number);
	op->done = true;
	if (!core->aborted)
		sim_value_check(r->group, op, r->number);
	else if (!r->core.error)
		sim_fail("call %u, rank %u failed without an error", op->call, r->number);
	if (core->aborted)
		sim_judge_aborted(op);
	if (!sim.failed)
		take_memory(op);
	sim.took = took;
	r->done++;
	if (r->group == sim.group)
		sim_kind_served(op->call);
	sim.totals.ops++;
	sim.totals.aborted += core->aborted;
	if (!core->aborted && took > sim.totals.slowest) {
		sim.totals.slowest = took;
		sim.totals.slowest_seed = sim.scenario.seed;
	}
	if (r->group->spec->blocking)
		wake(r);
}

void sim_op_recycle(struct sim_ctx *ctx, struct sim_op *op)
{
	struct sim_rank *r = op->rank;
	u32 i, visited;

	sim_trace(r->node, "op %u of comm %08x is retired", op->call, r->core.tag);
	sim_judge_retired(op);
	r->retired++;
	op->running = false;
	sim_ledger_free(op);
	free(op->counts);
	op->counts = NULL;
	visited = tor_turn_end(&op->core);
	for (i = 0; i < tor_op_channels(&op->core); i++)
		if (visited & 1U << i)
			tor_chan_recycle(&ctx->core, &op->chan[i].core);
	for (i = 0; sim.scenario.lockstep && i < r->core.ranks; i++)
		wake(&r->group->rank[i]);
	wake(r);
}
