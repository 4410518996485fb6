// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Invariants after every event, and permitted failures: of which comm, with
 * which error, and until when.
 *
 * A comm may fail only after an event for which its users are promised an
 * error, and each rank then gets one of the errors promised for the events so
 * far. A fact is known everywhere within three hellos and a second: a rank that
 * still runs an op after that has not been told, which is a failure of the run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/counter.h"
#include "sim.h"

#define LOOK		(50 * NSEC_PER_MSEC)	/* between two checks of who knows */
#define SLACK		(60 * NSEC_PER_MSEC)	/* for timers, processors and queues */

/* --- exactly once --- */

/*
 * The frames that an op has accepted: a hash table of their ids, which are
 * never 0.
 */
struct sim_ledger {
	u32 used, room;
	u64 *name;
};

static bool ledger_insert(struct sim_ledger *l, u64 name)
{
	u32 i = (name * 0x9e3779b97f4a7c15ULL >> 32) & (l->room - 1);

	for (; l->name[i]; i = (i + 1) & (l->room - 1))
		if (l->name[i] == name)
			return false;
	l->name[i] = name;
	l->used++;
	return true;
}

static void ledger_grow(struct sim_ledger *l)
{
	struct sim_ledger larger = { .room = l->room ? 2 * l->room : 256 };
	u32 i;

	larger.name = calloc(larger.room, sizeof(u64));
	for (i = 0; i < l->room; i++)
		if (l->name[i])
			ledger_insert(&larger, l->name[i]);
	free(l->name);
	*l = larger;
}

void sim_ledger_free(struct sim_op *op)
{
	if (op->ledger)
		free(op->ledger->name);
	free(op->ledger);
	op->ledger = NULL;
}

void sim_judge_accepted(struct sim_op *op, u32 rank, const struct tor_hdr *h)
{
	u64 index = tor_div64(h->offset, op->rank->core.unit);
	u64 name = (u64)(h->where.channel + 1) << 58 | (u64)rank << 46 | (u64)h->where.round << 30 | index;

	if (!op->ledger)
		op->ledger = calloc(1, sizeof(*op->ledger));
	if (2 * op->ledger->used >= op->ledger->room)
		ledger_grow(op->ledger);
	if (!ledger_insert(op->ledger, name))
		sim_fail("op %u ch %u round %u, rank %u to %u: frame %llu is accepted twice", h->op,
			 h->where.channel, h->where.round, rank, op->rank->number, (unsigned long long)index);
}

/* --- after every event --- */

static void check_tx(const struct sim_rank *r, const struct tor_chan *c, const struct tor_tx *tx)
{
	if (tx->frames && (tx->base > tx->next || tx->next > tx->frames ||
			   tx->next - tx->base > TOR_WINDOW || tx->window < TOR_WINDOW_MIN ||
			   tx->window > TOR_WINDOW))
		sim_fail("rank %u op %u ch %u to %u: base %u, next %u of %u, window %u", r->number,
			 c->seq, c->index, tx->rank, tx->base, tx->next, tx->frames, tx->window);
}

static bool has_records(const struct tor_chan *c)
{
	return !list_empty(&c->rx) || !list_empty(&c->early) || c->nearly || !list_empty(&c->tx);
}

/* Return the number of frames kept for a later round or op. */
static u32 check_chan(const struct sim_rank *r, const struct sim_chan *chan)
{
	const struct tor_chan *c = &chan->core;
	const struct tor_tx *tx;
	const struct tor_rx *rx;
	u32 sends = 0, kept = 0, early = 0;

	list_for_each_entry(tx, &c->tx, list) {
		check_tx(r, c, tx);
		sends++;
	}
	if (sends > c->rounds * c->op->plan.shape.peers)
		sim_fail("rank %u op %u ch %u has %u transfers open", r->number, c->seq, c->index,
			 sends);
	list_for_each_entry(rx, &c->rx, list) {
		kept += rx->nkept;
		if (rx->frames && rx->base > rx->frames)
			sim_fail("rank %u op %u ch %u from %u: %u frames of %u", r->number, c->seq,
				 c->index, rx->rank, rx->base, rx->frames);
	}
	list_for_each_entry(rx, &c->early, list) {
		kept += rx->nkept;
		early++;
		if (!rx->early)
			sim_fail("rank %u op %u ch %u: what is early does not say so", r->number,
				 c->seq, c->index);
	}
	if (early != c->nearly)
		sim_fail("rank %u op %u ch %u has %u early records, not %u", r->number, c->seq,
			 c->index, early, c->nearly);
	if (c->nwaiting > TOR_WAITING_MAX)
		sim_fail("rank %u op %u ch %u remembers %u senders", r->number, c->seq, c->index,
			 c->nwaiting);
	if (c->state == TOR_CHAN_CLOSED && !list_empty(&c->tx))
		sim_fail("rank %u op %u ch %u is closed and sends", r->number, c->seq, c->index);
	return kept;
}

static void check_rank(const struct sim_rank *r)
{
	const struct sim_op *op;
	u32 k, kept = 0;
	int bytes;

	if (!r || !r->ops)
		return;
	for (op = r->ops; op; op = op->other)
		for (k = 0; k < tor_op_channels(&op->core); k++)
			kept += check_chan(r, &op->chan[k]);
	bytes = atomic_read(&r->core.kept);
	if (bytes < 0 || bytes > TOR_KEPT_MAX || !bytes != !kept)
		sim_fail("rank %u keeps %u early frames and counts %d bytes", r->number, kept, bytes);
}

void sim_judge_event(const struct sim_node *node)
{
	u32 n, g;

	if (sim.failed)
		return;
	for (g = 0; g < sim.groups; g++) {
		if (!sim_options.check_all)
			check_rank(node->rank[g]);
		for (n = 0; sim_options.check_all && n < sim.scenario.torus.nodes; n++)
			check_rank(sim.node[n].rank[g]);
	}
}

void sim_judge_retired(const struct sim_op *op)
{
	u32 k;

	for (k = 0; k < tor_op_channels(&op->core); k++) {
		const struct tor_chan *c = &op->chan[k].core;
		bool used = k < op->core.plan.shape.channels;

		/* others may not have followed: see core/engine/turn.c */
		if ((c->state != TOR_CHAN_CLOSED && (used || c->state != TOR_CHAN_IDLE)) ||
		    has_records(c))
			sim_fail("op %u of rank %u, channel %u leaves something behind", c->seq,
				 op->rank->number, k);
	}
}

/* --- permitted failures --- */

static u32 deeds_of_others(const struct sim_rank *r, u32 named)
{
	const struct sim_group *g = r->group;
	u32 i, deeds = 0;

	if (named < g->spec->ranks)
		return named == r->number ? 0 : g->rank[named].deeds;
	for (i = 0; i < g->spec->ranks; i++)
		deeds |= i == r->number ? 0 : g->rank[i].deeds;
	return deeds;
}

static bool may_be_down(const struct sim_group *g, u32 node)
{
	if (node >= sim.scenario.torus.nodes)
		return false;
	/*
	 * or it lives with all its cables cut, which others cannot distinguish
	 */
	return sim.node[node].crashed > g->started || g->was_parted || g->parted;
}

static bool is_right_error(const struct sim_rank *r)
{
	const struct sim_group *g = r->group;

	switch (-r->core.error) {
	case ECANCELED:
		return r->deeds & SIM_DID_CANCEL;
	case ECONNABORTED:
		return r->deeds & SIM_DID_DIE ||
		       deeds_of_others(r, r->core.error_rank) &
		       (SIM_DID_CANCEL | SIM_DID_DIE | SIM_DID_TIME_OUT | SIM_DID_NOT_JOIN);
	case EPROTO:
		return g->mismatched;
	case ETIMEDOUT:
		return sim_patience(g, r->core.error_op);
	case EHOSTDOWN:
		return may_be_down(g, r->core.error_node);
	case EHOSTUNREACH:
		/*
		 * a node without a live link, or one that lost two hosts at
		 * once, cannot distinguish a crash from a cut
		 */
		return g->was_parted || g->parted || g->lost_host;
	default:
		return false;
	}
}

void sim_judge_error(struct sim_rank *r)
{
	u32 error = -r->core.error;

	if (!is_right_error(r))
		sim_fail("comm %u, rank %u failed: %s (rank %d, node %d, op %u)", r->group->number,
			 r->number, strerror(error), (int)r->core.error_rank,
			 (int)r->core.error_node, r->core.error_op);
	if (error < SIM_ERRNO_MAX)
		sim.totals.errors[error]++;
}

void sim_judge_join(struct sim_rank *r)
{
	const struct sim_group *g = r->group;
	u32 i, deeds = 0;

	for (i = 0; i < g->spec->ranks; i++)
		deeds |= g->rank[i].deeds;
	sim.totals.refused++;
	if (!deeds && !g->lost_host && !g->was_parted && !g->parted)
		sim_fail("comm %u, rank %u cannot join: %s", g->number, r->number,
			 strerror(-r->join.a.error));
}

/* --- reachability --- */

/* Return how long core may count a link as dead after it was. */
static u64 settling(void)
{
	return 4 * sim.scenario.hello;
}

static bool sees_link(const struct sim_node *node, u32 port)
{
	const struct sim_port *p = &node->port[port];

	return sim_port_up(node, port) && (!p->fell || p->fell + settling() < sim.now);
}

static bool works(const struct sim_node *node, u32 port)
{
	return !node->port[port].cuts && !node->port[port].unplugged;
}

/* Return whether any cable of a link does, as reach() says. */
static bool joins(const struct sim_node *node, u32 port, const struct sim_node *peer, bool seen)
{
	u32 k;

	for (k = 0; k < sim.scenario.per_link && node->alive && peer->alive; k++) {
		u32 cable = tor_cable(port, k), back = sim_cable_back(cable);

		if (seen ? sees_link(node, cable) && sees_link(peer, back) :
			   works(node, cable) && works(peer, back))
			return true;
	}
	return false;
}

/*
 * Mark the nodes reachable from @from over working links, or over links that
 * core has @seen to work.
 */
static void reach(u32 from, bool seen, bool *reached)
{
	const struct tor_torus *t = &sim.scenario.torus;
	u32 *todo = calloc(t->nodes, sizeof(u32));
	u32 port, to, n = 0;

	memset(reached, 0, t->nodes * sizeof(*reached));
	reached[from] = true;
	for (todo[n++] = from; n;) {
		u32 at = todo[--n];

		for (port = 0; port < t->ports; port++) {
			if (!tor_torus_has_port(t, at, port))
				continue;
			to = tor_torus_neighbour(t, at, port);
			if (reached[to] || !joins(&sim.node[at], port, &sim.node[to], seen))
				continue;
			reached[to] = true;
			todo[n++] = to;
		}
	}
	free(todo);
}

static bool is_whole(const struct sim_group *g, const bool *reached)
{
	u32 i;

	for (i = 0; i < g->spec->ranks; i++)
		if (!g->rank[i].gone && !reached[g->rank[i].node - sim.node])
			return false;
	return true;
}

static const struct sim_rank *first_living(const struct sim_group *g)
{
	u32 i;

	for (i = 0; i < g->spec->ranks; i++)
		if (!g->rank[i].gone)
			return &g->rank[i];
	return NULL;
}

static void judge_group(struct sim_group *g, bool *reached)
{
	const struct sim_rank *r = first_living(g);
	bool whole;

	if (!r)
		return;
	reach(r->node - sim.node, false, reached);
	whole = is_whole(g, reached);
	if (whole)
		g->parted = 0;
	else if (!g->parted)
		g->parted = sim.now;
	reach(r->node - sim.node, true, reached);
	if (is_whole(g, reached) && whole)
		g->connected = true;
	else if (g->connected)
		g->was_parted = true;
}

void sim_judge_paths(void)
{
	bool *reached;
	u32 g;

	/* nothing parts a clean fabric, and no comm of it may fail */
	if (sim_options.clean)
		return;
	reached = calloc(sim.scenario.torus.nodes, sizeof(*reached));
	for (g = 0; g < sim.groups; g++)
		judge_group(&sim.group[g], reached);
	free(reached);
}

u32 sim_survivors(u32 *member)
{
	bool *reached = calloc(sim.scenario.torus.nodes, sizeof(*reached));
	u32 i, first, n = 0;

	for (first = 0; first < sim.scenario.torus.nodes && !sim.node[first].alive; first++)
		;
	if (first < sim.scenario.torus.nodes)
		reach(first, false, reached);
	for (i = 0; i < sim.scenario.torus.nodes; i++)
		if (reached[i])
			member[n++] = i;
	free(reached);
	return n;
}

/* --- time limits --- */

static bool cables_lose(const struct sim_scenario *s)
{
	return s->loss || s->corrupt_header || s->corrupt_payload || s->no_memory ||
	       s->queue < 64 || s->spike;
}

/*
 * Return whether most frames are lost on the longest way, which cuts may leave
 * as the only one: a second request is then as likely lost as the first.
 */
static bool loses_most(const struct sim_scenario *s)
{
	u32 hops = 0;
	u32 i;

	for (i = 0; i < s->torus.ndim; i++)
		hops += s->torus.side[i] - 1;
	return (u64)hops * (s->loss + s->corrupt_header) > SIM_MILLION / 2;
}

/* Return whether faults exceed the range in which time limits hold. */
static bool is_excessive(const struct sim_scenario *s)
{
	return s->loss > SIM_MILLION / 20 || s->corrupt_header > SIM_MILLION / 20 ||
	       s->corrupt_payload > SIM_MILLION / 20 || s->no_memory > SIM_MILLION / 20 ||
	       loses_most(s);
}

/*
 * Return how long a fact may take to become known. If frames may be lost, a
 * second request is included.
 */
static u64 bound(void)
{
	u64 b = 3 * sim.scenario.hello + NSEC_PER_SEC + SLACK;

	if (is_excessive(&sim.scenario))
		return sim_options.limit;
	return cables_lose(&sim.scenario) ? b + TOR_NUDGE : b;
}

/* Return the time from which the group must fail, or 0. */
static u64 doom(const struct sim_group *g)
{
	u64 since = g->doomed;

	if (g->failed && (!since || g->failed < since))
		since = g->failed;
	if (g->parted && (!since || g->parted < since))
		since = g->parted;
	return since;
}

/*
 * Return whether the group had to fail while a cable was cut and nobody knew:
 * what was sent over it then is lost.
 */
static bool fails_unnoticed(const struct sim_group *g)
{
	return sim.disturbed && doom(g) > sim.disturbed && doom(g) < sim.disturbed + settling();
}

static void note_failure(const struct sim_group *g, u64 submitted)
{
	u64 since = max(max(doom(g), submitted), sim.disturbed);

	if (doom(g) && sim.now > since && sim.now - since > sim.totals.slowest_failure) {
		sim.totals.slowest_failure = sim.now - since;
		sim.totals.slowest_failure_seed = sim.scenario.seed;
	}
}

void sim_judge_aborted(const struct sim_op *op)
{
	note_failure(op->rank->group, op->submitted);
}

static void check_heard(const struct sim_rank *r)
{
	u64 since = max(doom(r->group), sim.disturbed);
	u64 patience = bound() + (fails_unnoticed(r->group) ? TOR_NUDGE : 0);
	const struct sim_op *op;

	for (op = r->ops; op; op = op->other) {
		if (!op->running || op->done)
			continue;
		if (sim.now > max(since, op->submitted) + patience)
			sim_fail("comm %u, rank %u still runs op %u, %.3f s after it had to fail",
				 r->group->number, r->number, op->core.seq,
				 (sim.now - max(since, op->submitted)) / 1e9);
	}
}

static void look(void *arg)
{
	struct sim_group *g;
	u32 i;

	(void)arg;
	for (g = sim.group; g < sim.group + sim.groups; g++) {
		for (i = 0; doom(g) && i < g->spec->ranks; i++) {
			const struct sim_rank *r = &g->rank[i];

			if (r->ops && !r->failed && r->node->paused_until < sim.now)
				check_heard(r);
		}
	}
	sim_at(sim.now + LOOK, NULL, look, NULL);
}

void sim_judge_start(void)
{
	sim_at(sim.now + LOOK, NULL, look, NULL);
}

/* --- end --- */

static void check_chan_idle(const struct sim_rank *r, const struct sim_chan *chan)
{
	const struct tor_chan *c = &chan->core;

	if (c->state != TOR_CHAN_IDLE || has_records(c))
		sim_fail("rank %u, slot of op %u, channel %u is not idle", r->number, c->seq,
			 c->index);
}

/* All acknowledgements have left, by frames of their own if by no other. */
static void check_owes_nothing(struct sim_rank *r)
{
	u32 i, k;

	for (i = 0; i < r->core.ranks; i++) {
		const struct tor_path *path = tor_comm_known_path(&r->core, i);

		for (k = 0; path && k < TOR_DUE_WORDS; k++)
			if (atomic64_read(&path->due[k]))
				sim_fail("rank %u still owes an acknowledgement to rank %u",
					 r->number, i);
	}
	if (atomic64_read(&r->core.indebted) || r->pays)
		sim_fail("rank %u still visits those to whom it owes nothing", r->number);
}

static void check_rank_idle(struct sim_rank *r)
{
	const struct sim_op *op;
	u32 k;

	/* not told yet, or not at the op yet: it may keep early frames */
	if (!r->ops || (r->submitted < r->group->spec->calls && !r->failed))
		return;
	if (!r->failed)
		check_owes_nothing(r);
	if (atomic_read(&r->core.kept))
		sim_fail("rank %u keeps %d bytes", r->number, atomic_read(&r->core.kept));
	for (op = r->ops; op; op = op->other)
		for (k = 0; k < tor_op_channels(&op->core); k++)
			check_chan_idle(r, &op->chan[k]);
}

void sim_judge_idle(void)
{
	u32 g, i;

	for (g = 0; g < sim.groups; g++)
		for (i = 0; i < sim.group[g].spec->ranks; i++)
			check_rank_idle(&sim.group[g].rank[i]);
}

static u64 counted(enum tor_counter what)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < sim.scenario.torus.nodes; i++)
		n += sim.node[i].counters[what];
	return n;
}

/*
 * If cables and hosts have no faults, nothing is lost and nothing is sent
 * twice. A sender that was told to wait may ask, by a new frame: any other
 * would be a duplicate.
 */
void sim_judge_clean(void)
{
	static const enum tor_counter never[] = {
		TOR_C_TX_TIMEOUTS, TOR_C_TX_LOCAL_DROP, TOR_C_TX_RETRANSMITS,
		TOR_C_RX_DUPLICATES, TOR_C_RX_NOT_READY, TOR_C_DROP_HEADER_CRC,
		TOR_C_DROP_PAYLOAD_CRC, TOR_C_DROP_RANGE,
	};
	u32 i;

	if (!sim_options.clean)
		return;
	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (counted(never[i]))
			sim_fail("%llu %s although nothing went wrong",
				 (unsigned long long)counted(never[i]), tor_counter_name(never[i]));
}
