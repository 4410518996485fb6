// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Comms: ranks join, call, and learn of failures, as in kmod/op/group.c. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define CHANNELS	TOR_MAX_CHANNELS
#define JOIN_DEADLINE	(10 * (u64)NSEC_PER_SEC)
/* softirqs run in between and empty the queues */
#define TELL_NEXT	(5 * NSEC_PER_USEC)

struct sim_rank *sim_rank_of(struct sim_node *node, u32 tag)
{
	struct sim_rank *r;
	u32 g;

	for (g = 0; g < sim.groups; g++) {
		r = node->rank[g];
		if (r && r->installed && r->core.tag == tag)
			return r;
	}
	return NULL;
}

/* --- failure --- */

/* A rank that was told does not tell others. */
static void tell_everyone(void *arg)
{
	struct sim_rank *r = arg;
	u64 pause = TELL_NEXT;
	struct sim_ctx ctx;

	sim_enter(&ctx, r->node);
	tor_comm_send_abort(&ctx.core, &r->core, tor_comm_to_tell(&r->core, r->tellings, r->told_now));
	sim_leave(&ctx);
	if (++r->told_now == r->core.ranks) {
		r->told_now = 0;
		r->tellings++;
		pause = TOR_TELL_AGAIN;
	}
	r->telling = r->told_now || r->tellings < TOR_TELLINGS;
	if (r->telling)
		sim_at(sim.now + pause, r->node, tell_everyone, r);
}

static void begin_telling(struct sim_rank *r)
{
	r->telling = true;
	sim.telling = sim.now;
	sim_at(sim.now, r->node, tell_everyone, r);
}

void sim_rank_tell_again(struct sim_rank *r)
{
	if (r->failed && !r->told && !r->telling && r->tellings < TOR_TELLINGS_MOST)
		begin_telling(r);
}

void sim_rank_failed(struct sim_ctx *ctx, struct sim_rank *r)
{
	struct sim_op *op;
	u32 k;

	sim_trace(r->node, "comm %08x failed: %s (rank %d, node %d, op %u)", r->core.tag,
		  strerror(-r->core.error), (int)r->core.error_rank, (int)r->core.error_node,
		  r->core.error_op);
	r->failed = true;
	if (!r->group->failed)
		r->group->failed = sim.now;
	if (r->core.error == -ETIMEDOUT) {
		r->deeds |= SIM_DID_TIME_OUT;
		sim_meet(SIM_DEADLINE);
	}
	sim_judge_error(r);
	for (op = r->ops; op; op = op->other)
		for (k = 0; k < tor_op_channels(&op->core); k++)
			tor_chan_abort(&ctx->core, &op->chan[k].core);
	if (!r->told)
		begin_telling(r);
}

static void fail(struct sim_rank *r, int error)
{
	struct sim_ctx ctx;

	if (!r->group->doomed)
		r->group->doomed = sim.now;
	sim_enter(&ctx, r->node);
	tor_comm_fail(&ctx.core, &r->core, error, r->number, r->submitted);
	sim_leave(&ctx);
}

static void leave_join(struct sim_rank *r, int error)
{
	struct sim_ctx ctx;

	sim_enter(&ctx, r->node);
	tor_join_cancel(&ctx.core, &r->join, error);
	sim_leave(&ctx);
	/* the rest of telling the others */
	sim_at(sim.now, r->node, sim_join_poll, r->node);
}

void sim_rank_cancel(struct sim_rank *r)
{
	if (r->gone || r->closed || r->failed || !r->joined)
		return;
	sim_trace(r->node, "rank %u cancels", r->number);
	sim_meet(SIM_CANCEL);
	r->deeds |= SIM_DID_CANCEL;
	fail(r, -ECANCELED);
}

void sim_rank_kill(struct sim_rank *r)
{
	if (r->gone || r->closed)
		return;
	sim_trace(r->node, "rank %u's process dies", r->number);
	sim_meet(SIM_PROCESS_ABORT);
	r->closed = true;
	r->deeds |= SIM_DID_DIE;
	if (r->joining)
		leave_join(r, -EINTR);
	else if (r->joined && r->retired < r->submitted)
		fail(r, -ECONNABORTED);
}

void sim_rank_tell_if_left(struct sim_ctx *ctx, struct sim_rank *r, struct tor_chan *chan, u32 op)
{
	if (!r->closed)
		return;
	tor_chan_follow(&ctx->core, chan);
	if (chan->state == TOR_CHAN_IDLE && (s32)(op - chan->seq) >= 0)
		tor_comm_fail(&ctx->core, &r->core, -ECONNABORTED, r->number, op);
}

/* --- joining --- */

int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join)
{
	struct sim_rank *r = container_of(join, struct sim_rank, join);

	r->core.tag = join->a.tag;
	r->core.generation = join->a.generation;
	r->core.ranks = join->a.ranks;
	r->core.rank = join->rank;
	r->core.member = join->member;
	r->core.order = r->group->order;
	r->core.unit = join->a.unit;
	r->core.depth = r->group->spec->depth;
	r->core.channels = CHANNELS;
	r->core.epoch = join->a.epoch;
	r->core.away = calloc(tor_comm_away_words(join->a.ranks), sizeof(u32));
	r->core.path = calloc(tor_path_groups(join->a.ranks), sizeof(*r->core.path));
	r->refused = calloc(join->a.ranks, sizeof(*r->refused));
	sim_series_make(r, TOR_ROLE_NONE, TOR_NO_RANK);
	r->installed = true;
	sim_node_look(r->node);
	return 0;
}

void sim_rank_joined(struct sim_rank *r)
{
	r->joining = false;
	if (r->join.a.error) {
		sim_trace(r->node, "rank %u cannot join: %s", r->number, strerror(-r->join.a.error));
		/*
		 * others may have been told to go: a rank that they call tells
		 * them
		 */
		r->installed = false;
		sim_judge_join(r);
		r->deeds |= SIM_DID_NOT_JOIN;
		return;
	}
	sim_trace(r->node, "joined comm %08x as rank %u, %u bytes a frame", r->core.tag, r->number,
		  r->core.unit);
	r->joined = true;
	r->core.joined = true;
	/* what all members agreed on went by links that joined them */
	r->group->connected = true;
	sim_judge_paths();
	sim_node_look(r->node);
	sim_rank_next_call(r);
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
	sim_at(node->join_due, node, sim_join_poll, node);
}

static void join_deadline(void *arg)
{
	struct sim_rank *r = arg;

	if (r->joining)
		leave_join(r, -ETIMEDOUT);
}

static void call_join(void *arg)
{
	struct sim_rank *r = arg;
	char name[16];
	struct sim_ctx ctx;
	int len = snprintf(name, sizeof(name), "comm %u", r->group->number);

	if (r->closed)
		return;
	r->joining = true;
	sim_enter(&ctx, r->node);
	r->core.node = &r->node->core;
	tor_comm_note_births(&r->core);
	tor_join_prepare(&r->join, name, len, "secret", 6);
	if (tor_join_start(&ctx.core, &r->join))
		sim_fail("rank %u cannot start to join", r->number);
	sim_leave(&ctx);
	sim_at(sim.now + JOIN_DEADLINE, r->node, join_deadline, r);
	sim_join_poll(r->node);
}

/* --- the group --- */

static u32 node_of(const struct sim_group_spec *spec, u32 rank)
{
	return spec->whole ? rank : spec->member[rank];
}

static void sort_ranks(struct sim_group *g)
{
	u32 n = g->spec->ranks;
	u32 i, k, rank;

	if (g->spec->whole)
		return;
	g->order = calloc(n, sizeof(u32));
	for (i = 0; i < n; i++) {
		for (k = i, rank = i;
		     k && g->spec->member[g->order[k - 1]] > g->spec->member[rank]; k--)
			g->order[k] = g->order[k - 1];
		g->order[k] = rank;
	}
}

/*
 * Return the time for links to come up. Comms may be made before that; but a
 * fabric is clean only when all links are up.
 */
static u64 settling(void)
{
	return sim_options.clean ? 4 * sim.scenario.hello : 2 * NSEC_PER_MSEC;
}

static void rank_start(struct sim_group *g, u32 i)
{
	const struct sim_group_spec *spec = g->spec;
	struct sim_rank *r = &g->rank[i];

	r->group = g;
	r->number = i;
	r->node = &sim.node[node_of(spec, i)];
	r->node->rank[g->number] = r;
	r->join.a.node = &r->node->core;
	r->join.rank = i;
	r->join.a.ranks = spec->ranks;
	r->join.member = spec->whole ? NULL : spec->member;
	r->join.a.unit = tor_wire_unit(sim.scenario.frame_size);
	r->join.a.epoch = calloc(spec->ranks, sizeof(*r->join.a.epoch));
	if (!i) {
		r->join.seen = calloc(spec->ranks, sizeof(*r->join.seen));
		r->join.seen_nonce = calloc(spec->ranks, sizeof(*r->join.seen_nonce));
	}
	sim_at(sim.now + settling() + sim_below(sim.scenario.skew), r->node, call_join, r);
}

void sim_group_start(const struct sim_group_spec *spec)
{
	struct sim_group *g = &sim.group[sim.groups];
	u32 i;

	memset(g, 0, sizeof(*g));
	g->number = sim.groups++;
	g->spec = spec;
	g->started = sim.now;
	g->rank = calloc(spec->ranks, sizeof(*g->rank));
	sort_ranks(g);
	for (i = 0; i < spec->ranks; i++)
		rank_start(g, i);
	sim_judge_paths();
}

static bool is_absent(const struct sim_rank *r)
{
	return r->joined && sim_incident_at(SIM_INCIDENT_ABSENT, r, r->submitted + 1);
}

/*
 * Return whether the rank has nothing left to do. A rank without an op need not
 * have learnt that the comm failed.
 */
static bool rank_finished(const struct sim_rank *r)
{
	if (r->gone)
		return true;
	if (!r->joined)
		return r->join.a.error || r->closed;
	return r->retired == r->submitted &&
	       (r->submitted == r->group->spec->calls || r->failed || r->closed || is_absent(r));
}

/*
 * Return whether @what holds for all ranks. It is asked after every event: the
 * rank in @hint, for which it did not hold the last time, comes first.
 */
static bool all_ranks(bool (*what)(const struct sim_rank *r), struct sim_hint *hint)
{
	u32 g, i;

	if (hint->group < sim.groups && hint->rank < sim.group[hint->group].spec->ranks &&
	    !what(&sim.group[hint->group].rank[hint->rank]))
		return false;
	for (g = 0; g < sim.groups; g++) {
		for (i = 0; i < sim.group[g].spec->ranks; i++) {
			if (what(&sim.group[g].rank[i]))
				continue;
			hint->group = g;
			hint->rank = i;
			return false;
		}
	}
	return true;
}

bool sim_groups_finished(void)
{
	return all_ranks(rank_finished, &sim.unfinished);
}

/*
 * Return whether the rank has all its results. It may still hold data for a
 * rank that never calls, and therefore have no free slot for its next call.
 */
static bool rank_served(const struct sim_rank *r)
{
	return rank_finished(r) ||
	       (r->joined && r->done == r->submitted &&
		(r->submitted == r->group->spec->calls || r->waits || is_absent(r)));
}

/*
 * End processes that make no further call, once only that call is waited for.
 */
void sim_groups_leave(void)
{
	u32 g, i;

	if (sim_groups_finished() || !all_ranks(rank_served, &sim.unserved))
		return;
	for (g = 0; g < sim.groups; g++)
		for (i = 0; i < sim.group[g].spec->ranks; i++)
			if (is_absent(&sim.group[g].rank[i]))
				sim_rank_kill(&sim.group[g].rank[i]);
}

/* --- to look at --- */

static void print_rx(const struct tor_rx *rx)
{
	printf("      from %u round %u: base %u of %u, mask %llx, %u kept\n", rx->rank, rx->round,
	       rx->base, rx->frames, (unsigned long long)rx->mask, rx->nkept);
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
		print_rx(rx);
	list_for_each_entry(rx, &c->early, list)
		print_rx(rx);
}

static bool interesting(const struct tor_chan *c)
{
	return c->state == TOR_CHAN_RUNNING || c->state == TOR_CHAN_COMPLETE ||
	       !list_empty(&c->rx) || !list_empty(&c->early) || !list_empty(&c->tx);
}

static void describe_rank(const struct sim_rank *r)
{
	const struct sim_op *op;
	u32 k;

	if (rank_finished(r))
		return;
	printf("  comm %u rank %u on node %zu: %s, %u ops submitted, %u done, %u retired\n",
	       r->group->number, r->number, r->node - sim.node,
	       r->joined ? "joined" : "not joined", r->submitted, r->done, r->retired);
	for (op = r->ops; op; op = op->other)
		for (k = 0; k < tor_op_channels(&op->core); k++)
			if (interesting(&op->chan[k].core))
				describe_chan(&op->chan[k]);
}

void sim_groups_describe(void)
{
	u32 g, i;

	for (g = 0; g < sim.groups; g++)
		for (i = 0; i < sim.group[g].spec->ranks; i++)
			describe_rank(&sim.group[g].rank[i]);
}

/* --- end --- */

void sim_rank_free(struct sim_rank *r)
{
	sim_series_free(r);
	r->pays = 0;
	free(r->join.a.epoch);
	free(r->core.away);
	tor_comm_paths_free(&r->core);
	free(r->core.path);
	free(r->join.seen);
	free(r->join.seen_nonce);
	r->core.epoch = NULL;
	r->join.a.epoch = NULL;
	r->core.away = NULL;
	r->core.path = NULL;
	r->join.seen = NULL;
	r->join.seen_nonce = NULL;
}

void sim_groups_free(void)
{
	struct sim_group *g;
	u32 i;

	for (g = sim.group; g < sim.group + sim.groups; g++) {
		for (i = 0; i < g->spec->ranks; i++)
			sim_rank_free(&g->rank[i]);
		sim_values_free(g);
		free(g->rank);
		free(g->order);
	}
}
