// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Scenarios of seeds. The command line determines some values; all others are
 * drawn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define CALL_FRAMES	2500		/* approximate maximum for the vectors of a call */
#define CALL_MEMORY	(32U << 20)	/* maximum for the buffers of all ranks */

static const char *const shapes[] = {
	"2", "3", "4", "5", "8", "16", "2x2", "3x2", "3x3", "4x4", "5x3", "2x4", "1x4", "2x2x2", "3x3x3",
	"4x2x2", "3x1x2", "2x3x2", "4x4x2",
	"3:line", "4:mesh", "3:mesh", "5x3:line", "4:meshx4", "2:linex3", "4:linex3:mesh",
	"5+2", "8+3", "13+5", "16+4", "18+3+8",
};

static const u32 collectives[] = {
	TORCOLL_ALLREDUCE, TORCOLL_ALLREDUCE, TORCOLL_ALLREDUCE, TORCOLL_REDUCE_SCATTER,
	TORCOLL_ALLGATHER, TORCOLL_BROADCAST, TORCOLL_REDUCE, TORCOLL_GATHER, TORCOLL_SCATTER,
};

static const u32 types[] = {
	TORCOLL_I8, TORCOLL_I16, TORCOLL_I32, TORCOLL_I64, TORCOLL_U8, TORCOLL_U16, TORCOLL_U32,
	TORCOLL_U64, TORCOLL_F16, TORCOLL_BF16, TORCOLL_F32, TORCOLL_F32, TORCOLL_F32, TORCOLL_F64,
};

static const u32 redops[] = {
	TORCOLL_SUM, TORCOLL_SUM, TORCOLL_SUM, TORCOLL_PROD, TORCOLL_MIN, TORCOLL_MAX, TORCOLL_BAND,
	TORCOLL_BOR, TORCOLL_BXOR, TORCOLL_LAND, TORCOLL_LOR, TORCOLL_LXOR,
};

/* --- shape --- */

static u64 draw_log(u64 least, u64 most)
{
	u64 n = least;

	while (n < most && sim_below(8))
		n += n / 2 + 1;
	return least + sim_below(min(n, most) - least + 1);
}

static bool percent(u32 n)
{
	return sim_below(100) < n;
}

bool sim_scenario_shape(struct sim_scenario *s)
{
	u32 side[TOR_MAX_DIMS], n = host_shape_parse(s->dims, side);

	return !tor_torus_init(&s->torus, n, side, s->cables) && s->torus.nodes <= SIM_NODES_MAX;
}

bool sim_group_is_box(const struct sim_scenario *s, const struct sim_group_spec *g)
{
	struct tor_call call = {
		.torus = &s->torus,
		.members = g->whole ? NULL : g->member,
		.ranks = g->ranks,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = TORCOLL_BIBUCKET,
		.count = 1,
	};
	struct tor_plan plan;

	/* this algorithm requires a torus, and takes no list of members */
	return !tor_plan_init(&plan, &call, 0, NULL);
}

/* --- calls --- */

void sim_call_counts(const struct sim_call *call, u64 ranks, u64 *counts)
{
	u64 left = call->count;
	u32 i;

	/*
	 * halves of the rest, so that some blocks are empty, and the remainder
	 * to one of the first
	 */
	for (i = 0; i < ranks; i++) {
		counts[i] = (left + i) / 2 % (left + 1);
		left -= counts[i];
	}
	counts[call->input % ranks] += left;
}

void sim_call_params(const struct sim_call *call, u32 *param)
{
	param[TORCOLL_PARAM_CHANNELS] = call->channels;
	param[TORCOLL_PARAM_R] = call->r;
	param[TORCOLL_PARAM_BLOCKS] = call->blocks;
	param[TORCOLL_PARAM_VARIANT] = call->variant;
	param[TORCOLL_PARAM_CHUNKS] = call->chunks;
}

static bool make_plan(const struct sim_scenario *s, const struct sim_group_spec *g,
		      const struct sim_call *call, struct tor_plan *plan, const char **why)
{
	u64 counts[SIM_NODES_MAX];
	struct tor_call made = {
		.torus = &s->torus,
		.members = g->whole ? NULL : g->member,
		.ranks = g->ranks,
		.collective = call->collective,
		.algorithm = call->algorithm,
		.root = call->root,
		.peer = call->peer,
		.count = call->count,
	};

	sim_call_params(call, made.param);
	if (call->uneven) {
		sim_call_counts(call, g->ranks, counts);
		made.counts = counts;
	}
	if (call->collective == TORCOLL_SEND)
		return !tor_plan_message(plan, &made, call->root, why);
	return !tor_plan_init(plan, &made, 0, why);
}

static bool call_reduces(const struct sim_call *call)
{
	switch (call->collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_BROADCAST:
	case TORCOLL_GATHER:
	case TORCOLL_SCATTER:
	case TORCOLL_ALLTOALL:
	case TORCOLL_HALO:
	case TORCOLL_SEND:
		return false;
	}
	return true;
}

bool sim_call_is_served(const struct sim_scenario *s, const struct sim_group_spec *g,
			const struct sim_call *call, const char **why)
{
	struct tor_plan plan;

	*why = "no kernel reduces so";
	if (call_reduces(call) && !tor_reduce_kernel(call->type, call->redop))
		return false;
	if (!make_plan(s, g, call, &plan, why))
		return false;
	*why = "the bits would not agree";
	return !call_reduces(call) || call->bits == TORCOLL_BITS_RELAXED || plan.shape.agrees ||
	       tor_reduce_exact(call->type, call->redop);
}

/*
 * Draw a number of chunks if the algorithm has them and the user did not choose
 * it.
 */
static void draw_chunks(const struct sim_scenario *s, const struct sim_group_spec *g,
			struct sim_call *call)
{
	const char *why;

	call->chunks = sim_options.algorithm <= 0 && percent(30) ? 2 + sim_below(3) : 0;
	if (!sim_call_is_served(s, g, call, &why))
		call->chunks = 0;
}

static bool draw_algorithm(const struct sim_scenario *s, const struct sim_group_spec *g,
			   struct sim_call *call)
{
	u32 start = sim_below(TORCOLL_ALGO_COUNT);
	const char *why = "no algorithm serves this";
	u32 i;

	for (i = 0; i < TORCOLL_ALGO_COUNT; i++) {
		call->algorithm = (start + i) % TORCOLL_ALGO_COUNT;
		if (sim_options.algorithm > 0)
			call->algorithm = sim_options.algorithm;
		for (call->bits = TORCOLL_BITS_AGREE; call->bits <= TORCOLL_BITS_RELAXED;
		     call->bits += TORCOLL_BITS_RELAXED - TORCOLL_BITS_AGREE)
			if (sim_call_is_served(s, g, call, &why))
				return true;
	}
	if (sim_options.algorithm > 0 || sim_options.collective > 0)
		fprintf(stderr, "torcoll-sim: %s, %llu ranks, count %llu: %s\n", s->dims,
			(unsigned long long)g->ranks, (unsigned long long)call->count, why);
	return false;
}

static u64 draw_count(const struct sim_scenario *s, const struct sim_group_spec *g, u32 elem)
{
	static const u16 edges[] = { 1, 2, 3, 7, 16, 17, 64, 255, 1000 };
	u64 most = CALL_FRAMES * (u64)tor_wire_unit(s->frame_size) / g->ranks / elem;

	if (sim_options.count >= 0)
		return sim_options.count;
	if (percent(15))
		return edges[sim_below(ARRAY_SIZE(edges))];
	most = max_t(u64, min_t(u64, most, 200000), 1);
	return percent(40) ? 1 + sim_below(most) : draw_log(1, most);
}

u64 sim_call_blocks(const struct sim_group_spec *g, const struct sim_call *call)
{
	switch (call->collective) {
	case TORCOLL_ALLTOALL:
		return g->ranks;
	case TORCOLL_HALO:
		/* on grids of up to 6 dimensions */
		return 2 * 2 * 3 * 5;
	}
	return 1;
}

/* Make the count one of whole blocks. */
static void fit_blocks(const struct sim_group_spec *g, struct sim_call *call)
{
	u64 blocks = sim_call_blocks(g, call);

	call->count = (call->count + blocks - 1) / blocks * blocks;
}

/* Reduce a call whose plan has many temporaries. */
static void fit_memory(const struct sim_scenario *s, const struct sim_group_spec *g,
		       struct sim_call *call)
{
	struct tor_plan plan;
	const char *why;
	u64 bytes;

	if (!make_plan(s, g, call, &plan, &why))
		return;
	bytes = call->count * tor_type_size(call->type) * plan.shape.bufs * g->ranks;
	if (bytes > CALL_MEMORY && sim_options.count < 0)
		call->count = max_t(u64, call->count * CALL_MEMORY / bytes, 1);
	fit_blocks(g, call);
}

static bool has_root(const struct sim_call *call)
{
	switch (call->collective) {
	case TORCOLL_BROADCAST:
	case TORCOLL_REDUCE:
	case TORCOLL_GATHER:
	case TORCOLL_SCATTER:
		return true;
	}
	return false;
}

/* Return whether the vector is made of blocks, one per rank. */
static bool has_blocks(const struct sim_call *call)
{
	switch (call->collective) {
	case TORCOLL_ALLGATHER:
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_GATHER:
	case TORCOLL_SCATTER:
		return true;
	}
	return false;
}

static bool draw_call(const struct sim_scenario *s, const struct sim_group_spec *g,
		      struct sim_call *call)
{
	call->collective = sim_options.collective > 0 ? (u32)sim_options.collective :
				   collectives[sim_below(ARRAY_SIZE(collectives))];
	do {
		call->type = sim_options.type > 0 ? (u32)sim_options.type :
						    types[sim_below(ARRAY_SIZE(types))];
		call->redop = sim_options.redop > 0 ? (u32)sim_options.redop :
						      redops[sim_below(ARRAY_SIZE(redops))];
	} while (!tor_reduce_kernel(call->type, call->redop) && sim_options.redop <= 0);
	call->count = draw_count(s, g, tor_type_size(call->type));
	fit_blocks(g, call);
	if (has_root(call))
		call->root = sim_below(g->ranks);
	if (has_blocks(call))
		call->uneven = percent(30);
	call->rounds = percent(40) && call->redop == TORCOLL_SUM && call_reduces(call) &&
		       (call->type == TORCOLL_F32 || call->type == TORCOLL_F64);
	if (!draw_algorithm(s, g, call))
		return false;
	draw_chunks(s, g, call);
	fit_memory(s, g, call);
	return true;
}

static bool draw_calls(struct sim_scenario *s, struct sim_group_spec *g)
{
	static const u64 paces[] = { 0, 0, NSEC_PER_MSEC, 20 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC };
	u32 i;

	g->depth = sim_options.depth > 0 ? (u64)sim_options.depth : 1 + sim_below(4);
	g->pace = paces[sim_below(ARRAY_SIZE(paces))];
	g->calls = sim_options.calls > 0 ? (u64)sim_options.calls : 1 + sim_below(10);
	for (i = 0; i < g->calls; i++) {
		if (i % 2)
			g->call[i] = g->call[i - 1];
		else if (!draw_call(s, g, &g->call[i]))
			return false;
		g->call[i].input = i / 2;
	}
	return true;
}

/* --- groups --- */

static void draw_box(const struct sim_scenario *s, struct sim_group_spec *g)
{
	const struct tor_torus *t = &s->torus;
	u32 base = sim_below(t->nodes), extent[TOR_MAX_DIMS];
	u32 i, d;

	g->ranks = 1;
	for (d = 0; d < t->ndim; d++) {
		extent[d] = 1 + sim_below(t->side[d]);
		g->ranks *= extent[d];
	}
	for (i = 0; i < g->ranks; i++) {
		u32 rest = i;

		g->member[i] = base;
		for (d = 0; d < t->ndim; d++) {
			g->member[i] = tor_torus_shift(t, g->member[i], d, rest % extent[d]);
			rest /= extent[d];
		}
	}
}

static void draw_list(const struct sim_scenario *s, struct sim_group_spec *g)
{
	u32 n = s->torus.nodes;
	u32 all[SIM_NODES_MAX];
	u32 i, k;

	for (i = 0; i < n; i++)
		all[i] = i;
	g->ranks = 2 + sim_below(n - 1);
	for (i = 0; i < g->ranks; i++) {
		k = i + sim_below(n - i);
		swap(all[i], all[k]);
		g->member[i] = all[i];
	}
}

static bool draw_group(struct sim_scenario *s, u32 number)
{
	struct sim_group_spec *g = &s->group[number];
	u32 kind = number ? sim_below(5) : 4 * percent(70);

	if (kind == 4 || sim_options.algorithm > 0) {
		g->whole = true;
		g->ranks = s->torus.nodes;
	} else if (kind % 2) {
		draw_box(s, g);
	} else {
		draw_list(s, g);
	}
	return draw_calls(s, g);
}

static bool draw_groups(struct sim_scenario *s)
{
	u32 i;

	s->groups = s->torus.nodes > 2 ? 1 + sim_below(SIM_GROUPS_MAX) : 1 + sim_below(2);
	/* a requested algorithm may support only the whole torus */
	if (sim_options.algorithm > 0)
		s->groups = 1;
	for (i = 0; i < s->groups; i++)
		if (!draw_group(s, i))
			return false;
	return true;
}

/* --- cables and rates --- */

static void draw_cables(struct sim_scenario *s)
{
	static const u64 skews[] = { 0, 20 * NSEC_PER_USEC, 5 * NSEC_PER_MSEC,
				     300 * NSEC_PER_MSEC };
	static const u32 frame_sizes[] = { 384, 600, 1500, 1500, 4000, 9000 };

	s->frame_size = frame_sizes[sim_below(ARRAY_SIZE(frame_sizes))];
	if (sim_options.frame_size > 0)
		s->frame_size = sim_options.frame_size;
	s->delay = 500 + sim_below(20000);
	s->rate = 1000 * (1 + sim_below(100));
	s->queue = sim_below(3) ? 1000 : 2 + sim_below(30);
	s->hello = sim_below(3) ? 200 * NSEC_PER_MSEC : 50 * NSEC_PER_MSEC;
	s->skew = skews[sim_below(ARRAY_SIZE(skews))];
	s->timer_slack = sim_below(2) ? 0 : sim_below(2 * NSEC_PER_MSEC);
}

/* Draw a rate. Many runs are without a given fault. */
static u64 draw_rate(s64 given, u64 most)
{
	u64 rate = 1 + sim_below(most);

	if (given >= 0)
		return given;
	return percent(35) ? rate : 0;
}

/* Draw a budget: the minimum, a small one, or the module's. */
static u64 draw_budget(u64 little)
{
	if (percent(30))
		return 1;
	return percent(30) ? 1 + sim_below(little) : 0;
}

static void draw_rates(struct sim_scenario *s)
{
	s->loss = draw_rate(sim_options.loss, 50000);
	s->duplicate = draw_rate(sim_options.duplicate, 100000);
	s->reorder = draw_rate(sim_options.reorder, 200000);
	s->corrupt_header = draw_rate(sim_options.corrupt, 15000);
	s->corrupt_payload = draw_rate(sim_options.corrupt, 15000);
	s->spike = draw_rate(-1, 10000);
	s->no_fpu = draw_rate(sim_options.no_fpu, 500000);
	s->no_memory = draw_rate(sim_options.no_memory, 50000);
	s->late_payload = draw_rate(sim_options.late_payload, 1000000);
	s->shatter = percent(33);
	s->budget_bytes = draw_budget(4096);
	s->budget_frames = draw_budget(8);
}

/* --- incidents --- */

static struct sim_incident *add(struct sim_scenario *s, u32 kind, u64 horizon)
{
	struct sim_incident *i;

	if (s->incidents == SIM_INCIDENTS_MAX)
		return NULL;
	i = &s->incident[s->incidents++];
	memset(i, 0, sizeof(*i));
	i->kind = kind;
	i->at = 3 * NSEC_PER_MSEC + sim_below(horizon);
	return i;
}

static u64 draw_port(const struct sim_scenario *s, u64 node)
{
	u32 port;

	do {
		port = sim_below(s->torus.ports);
	} while (!tor_torus_has_port(&s->torus, node, port));
	return port;
}

static u64 draw_time(void)
{
	return draw_log(NSEC_PER_MSEC, 3 * NSEC_PER_SEC);
}

static void draw_cut(struct sim_scenario *s, u64 horizon, bool one_way)
{
	struct sim_incident *i = add(s, SIM_INCIDENT_CUT, horizon);

	if (!i)
		return;
	i->node = sim_below(s->torus.nodes);
	i->port = draw_port(s, i->node);
	i->one_way = one_way;
	i->carrier = !one_way && percent(50);
	if (percent(65))
		i->until = i->at + draw_time();
}

static void draw_flap(struct sim_scenario *s, u64 horizon)
{
	struct sim_incident *i = add(s, SIM_INCIDENT_FLAP, horizon);

	if (!i)
		return;
	i->node = sim_below(s->torus.nodes);
	i->port = draw_port(s, i->node);
	i->period = draw_log(20 * NSEC_PER_MSEC, 3 * NSEC_PER_SEC);
	i->down = 1 + i->period / (2 + sim_below(4));
	i->carrier = percent(50);
	i->until = i->at + i->period * (2 + sim_below(5));
}

static void draw_crash(struct sim_scenario *s, u64 horizon)
{
	struct sim_incident *i = add(s, SIM_INCIDENT_CRASH, horizon);

	if (!i)
		return;
	i->node = sim_below(s->torus.nodes);
	if (percent(65))
		i->until = i->at + draw_time();
}

static void draw_slow(struct sim_scenario *s, u64 horizon)
{
	bool pause = percent(50);
	struct sim_incident *i = add(s, pause ? SIM_INCIDENT_PAUSE : SIM_INCIDENT_SLOW, horizon);

	if (!i)
		return;
	i->node = sim_below(s->torus.nodes);
	/* no longer than a node may be silent without being lost */
	i->until = i->at + (pause ? sim_below(3 * s->hello / 2) : draw_time());
	i->factor = pause ? 0 : 2 + sim_below(30);
}

static void draw_deed(struct sim_scenario *s, u64 horizon, u32 kind)
{
	struct sim_incident *i = add(s, kind, horizon);
	const struct sim_group_spec *g;

	if (!i)
		return;
	i->group = sim_below(s->groups);
	g = &s->group[i->group];
	i->rank = sim_below(g->ranks);
	i->call = 1 + sim_below(g->calls);
	i->patience = kind == SIM_INCIDENT_LATE ? draw_time() : draw_log(NSEC_PER_MSEC, NSEC_PER_SEC);
	if (kind == SIM_INCIDENT_KILL) {
		i->node = sim_below(s->torus.nodes);
		i->group = 0;
		i->rank = 0;
	}
	if (kind == SIM_INCIDENT_KILL || kind == SIM_INCIDENT_CANCEL) {
		i->call = 0;
		i->patience = 0;
	} else {
		i->at = 0;
	}
	/* a single rank has no other to disagree with or to wait */
	if (g->ranks == 1 && kind != SIM_INCIDENT_CANCEL && kind != SIM_INCIDENT_KILL)
		s->incidents--;
}

static u64 horizon(const struct sim_scenario *s)
{
	u64 longest = 0;
	u32 i;

	for (i = 0; i < s->groups; i++)
		longest = max(longest, s->group[i].pace * s->group[i].calls);
	return longest + s->skew + (percent(50) ? NSEC_PER_MSEC : 20 * NSEC_PER_MSEC);
}

static bool wanted(u32 class, u32 chance)
{
	return percent(chance) && !(sim_options.without & 1U << class);
}

static void draw_incidents(struct sim_scenario *s)
{
	u64 h = horizon(s);

	if (s->torus.nodes > 1) {
		if (wanted(SIM_CUT, 22))
			draw_cut(s, h, false);
		if (wanted(SIM_CUT, 8))
			draw_cut(s, h, false);
		if (wanted(SIM_ONE_WAY_CUT, 20))
			draw_cut(s, h, true);
		if (wanted(SIM_FLAPPING, 20))
			draw_flap(s, h);
	}
	if (wanted(SIM_CRASH, 25))
		draw_crash(s, h);
	if (wanted(SIM_SLOW_NODE, 25))
		draw_slow(s, h);
	if (wanted(SIM_PROCESS_ABORT, 18))
		draw_deed(s, h, SIM_INCIDENT_KILL);
	if (wanted(SIM_CANCEL, 34))
		draw_deed(s, h, SIM_INCIDENT_CANCEL);
	if (wanted(SIM_MISMATCH, 22))
		draw_deed(s, h, SIM_INCIDENT_MISMATCH);
	if (wanted(SIM_DEADLINE, 22))
		draw_deed(s, h, SIM_INCIDENT_ABSENT);
	if (wanted(SIM_LATE_RANK, 25))
		draw_deed(s, h, SIM_INCIDENT_LATE);
}

/* Return whether an incident ends ops before they are complete. */
bool sim_incident_breaks(const struct sim_incident *i)
{
	switch (i->kind) {
	case SIM_INCIDENT_PAUSE:
	case SIM_INCIDENT_SLOW:
	case SIM_INCIDENT_LATE:
		return false;
	default:
		return true;
	}
}

/*
 * Return whether payloads may be without a checksum. Damage then goes
 * unnoticed, so nothing must be damaged. And a rank that gives up gets its
 * memory back while frames may still refer to it: another rank might read
 * changed data, and finish before it hears of the end.
 */
static bool may_be_without_checksum(const struct sim_scenario *s)
{
	u32 i;

	for (i = 0; i < s->incidents; i++)
		if (sim_incident_breaks(&s->incident[i]))
			return false;
	return !s->corrupt_header && !s->corrupt_payload;
}

/* --- packets --- */

/* Draw packets, and cuts while they are under way. */
static void draw_packets(struct sim_scenario *s)
{
	u32 cuts;

	if (sim_options.packets >= 0)
		s->packets = sim_options.packets;
	else if (percent(60))
		s->packets = draw_log(1, 2000);
	if (!s->packets || s->torus.nodes == 1)
		return;
	s->packet_gap = draw_log(10 * NSEC_PER_USEC, 2 * NSEC_PER_MSEC);
	for (cuts = sim_options.clean ? 0 : 1 + sim_below(4); cuts; cuts--)
		draw_cut(s, s->packets * s->packet_gap, percent(20));
}

static void make_clean(struct sim_scenario *s)
{
	s->skew = 0;
	s->timer_slack = 0;
	s->queue = 1 << 16;
	s->budget_bytes = 0;
	s->budget_frames = 0;
	s->lockstep = true;
}

/* Draw how many cables a link has, and which of them are cut. */
static void draw_per_link(struct sim_scenario *s)
{
	u32 i;

	s->per_link = sim_options.clean || percent(60) ? 1 : 2 + sim_below(TOR_LINK_CABLES - 1);
	if (sim_options.per_link > 0)
		s->per_link = sim_options.per_link;
	for (i = 0; i < s->incidents; i++)
		s->incident[i].port = tor_cable(s->incident[i].port, sim_below(s->per_link));
}

bool sim_scenario_draw(struct sim_scenario *s, u64 seed)
{
	u32 i;

	sim_clock_reset(seed);
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	snprintf(s->dims, sizeof(s->dims), "%s", shapes[sim_below(ARRAY_SIZE(shapes))]);
	s->cables = 1 + sim_below(2);
	if (sim_options.dims)
		snprintf(s->dims, sizeof(s->dims), "%s", sim_options.dims);
	if (sim_options.cables > 0)
		s->cables = sim_options.cables;
	if (!sim_scenario_shape(s)) {
		fprintf(stderr, "torcoll-sim: %s with %llu cables is no shape\n", s->dims,
			(unsigned long long)s->cables);
		return false;
	}
	draw_cables(s);
	if (!draw_groups(s))
		return false;
	if (!sim_options.clean) {
		draw_rates(s);
		draw_incidents(s);
		s->no_checksum = percent(25) && may_be_without_checksum(s);
		s->epilogue = percent(60);
	} else {
		make_clean(s);
	}
	draw_packets(s);
	draw_per_link(s);
	s->acks_first = !sim_options.clean && percent(50);
	for (i = 0; i < SIM_CLASSES; i++)
		if (sim_options.without & 1U << i)
			sim_scenario_drop(s, i);
	return true;
}

/* --- removal of classes --- */

static bool drop_incidents(struct sim_scenario *s, u32 kind, s64 one_way)
{
	u32 i, k = 0, before = s->incidents;

	for (i = 0; i < before; i++)
		if (s->incident[i].kind != kind ||
		    (one_way >= 0 && s->incident[i].one_way != (u64)one_way))
			s->incident[k++] = s->incident[i];
	s->incidents = k;
	return k < before;
}

static bool drop_rate(u64 *rate)
{
	bool was = *rate;

	*rate = 0;
	return was;
}

bool sim_scenario_drop(struct sim_scenario *s, enum sim_class class)
{
	bool any;

	switch (class) {
	case SIM_LOSS:
		return drop_rate(&s->loss);
	case SIM_DUPLICATION:
		return drop_rate(&s->duplicate);
	case SIM_REORDERING:
		return drop_rate(&s->reorder);
	case SIM_HEADER_CORRUPTION:
		return drop_rate(&s->corrupt_header);
	case SIM_PAYLOAD_CORRUPTION:
		return drop_rate(&s->corrupt_payload);
	case SIM_DELAY:
		return drop_rate(&s->spike);
	case SIM_FULL_QUEUE:
		any = s->queue < 1000;
		s->queue = max_t(u64, s->queue, 1000);
		return any;
	case SIM_NO_MEMORY:
		return drop_rate(&s->no_memory);
	case SIM_NO_FPU:
		return drop_rate(&s->no_fpu);
	case SIM_LATE_PAYLOAD:
		return drop_rate(&s->late_payload);
	case SIM_BUDGET:
		any = drop_rate(&s->budget_bytes);
		return drop_rate(&s->budget_frames) || any;
	case SIM_PACKET:
		return drop_rate(&s->packets);
	case SIM_CUT:
		return drop_incidents(s, SIM_INCIDENT_CUT, 0);
	case SIM_ONE_WAY_CUT:
		return drop_incidents(s, SIM_INCIDENT_CUT, 1);
	case SIM_FLAPPING:
		return drop_incidents(s, SIM_INCIDENT_FLAP, -1);
	case SIM_CRASH:
		return drop_incidents(s, SIM_INCIDENT_CRASH, -1);
	case SIM_SLOW_NODE:
		any = drop_incidents(s, SIM_INCIDENT_PAUSE, -1);
		return drop_incidents(s, SIM_INCIDENT_SLOW, -1) || any;
	case SIM_LATE_RANK:
		return drop_incidents(s, SIM_INCIDENT_LATE, -1);
	case SIM_PROCESS_ABORT:
		return drop_incidents(s, SIM_INCIDENT_KILL, -1);
	case SIM_CANCEL:
		return drop_incidents(s, SIM_INCIDENT_CANCEL, -1);
	case SIM_MISMATCH:
		return drop_incidents(s, SIM_INCIDENT_MISMATCH, -1);
	case SIM_DEADLINE:
		return drop_incidents(s, SIM_INCIDENT_ABSENT, -1);
	default:
		return false;
	}
}
