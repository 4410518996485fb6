// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a seed stands for. Values that the command line gives are taken; the others are drawn, always
 * all of them and in the same order, so that giving one does not change the rest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

static const char *const shapes[] = {
	"1", "2", "3", "4", "5", "8", "16", "2x2", "3x2", "4x4", "5x3", "2x4", "1x4", "2x2x2", "3x3x3",
	"4x2x2", "3x1x2", "2x3x2",
};

static const u32 algorithms[] = { TORCOLL_SWING_BW, TORCOLL_BIBUCKET };

static const struct {
	const char *name;
	u32 type;
} types[] = {
	{ "i8", TORCOLL_I8 },
	{ "i16", TORCOLL_I16 },
	{ "i32", TORCOLL_I32 },
	{ "i64", TORCOLL_I64 },
	{ "u8", TORCOLL_U8 },
	{ "u16", TORCOLL_U16 },
	{ "u32", TORCOLL_U32 },
	{ "u64", TORCOLL_U64 },
	{ "f32", TORCOLL_F32 },
	{ "f64", TORCOLL_F64 },
};

static const struct {
	const char *name;
	u32 redop;
} redops[] = {
	{ "sum", TORCOLL_SUM },
	{ "min", TORCOLL_MIN },
	{ "max", TORCOLL_MAX },
};

static const char *const misdeeds[SIM_MISDEEDS] = {
	[SIM_NO_MISDEED] = "none",
	[SIM_CANCEL] = "cancel",
	[SIM_MISMATCH] = "mismatch",
	[SIM_ABSENT] = "absent",
};

int sim_misdeed_parse(const char *name)
{
	u32 i;

	for (i = 0; i < SIM_MISDEEDS; i++)
		if (!strcmp(misdeeds[i], name))
			return i;
	return -EINVAL;
}

int sim_type_parse(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return types[i].type;
	return -EINVAL;
}

int sim_redop_parse(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(redops); i++)
		if (!strcmp(redops[i].name, name))
			return redops[i].redop;
	return -EINVAL;
}

const char *sim_type_name(u32 type)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return types[i].name;
	return "?";
}

const char *sim_redop_name(u32 redop)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(redops); i++)
		if (redops[i].redop == redop)
			return redops[i].name;
	return "?";
}

static bool parse_dims(const char *dims, u32 cables, struct tor_torus *t)
{
	u32 side[TOR_MAX_DIMS], n = 0;
	char *end;

	for (;; dims = end + 1) {
		if (n == TOR_MAX_DIMS)
			return false;
		side[n++] = strtoul(dims, &end, 10);
		if (end == dims || (*end && *end != 'x'))
			return false;
		if (!*end)
			return !tor_torus_init(t, n, side, cables);
	}
}

static bool serves(const struct sim_scenario *s, u32 algorithm, const char **why)
{
	struct tor_plan_req req = {
		.torus = &s->torus,
		.ranks = s->torus.nodes,
		.collective = TORCOLL_ALLREDUCE,
		.algorithm = algorithm,
		.count = s->count,
	};
	struct tor_plan plan;

	return !tor_plan_init(&plan, &req, 0, why);
}

static u64 draw_count(void)
{
	static const u16 edges[] = { 1, 2, 3, 7, 16, 17, 64, 255, 1000 };

	switch (sim_below(4)) {
	case 0:
		return edges[sim_below(ARRAY_SIZE(edges))];
	case 1:
		return 1 + sim_below(40000);
	default:
		return 1 + sim_below(4000);
	}
}

/* Half of all runs are without a given fault. */
static double draw_rate(double given, double most)
{
	bool none = sim_below(2);
	double rate = (double)sim_below(1000) / 1000 * most;

	if (given >= 0)
		return given;
	return none || !sim_options.faults ? 0 : rate;
}

static bool draw_algorithm(struct sim_scenario *s)
{
	u32 start = sim_below(ARRAY_SIZE(algorithms));
	const char *why = "no algorithm serves this shape";
	u32 i;

	if (sim_options.algorithm > 0) {
		s->algorithm = sim_options.algorithm;
		if (serves(s, s->algorithm, &why))
			return true;
	} else {
		for (i = 0; i < ARRAY_SIZE(algorithms); i++) {
			s->algorithm = algorithms[(start + i) % ARRAY_SIZE(algorithms)];
			if (serves(s, s->algorithm, &why))
				return true;
		}
	}
	fprintf(stderr, "torcoll-sim: %s, count %llu: %s\n", s->dims,
		(unsigned long long)s->count, why);
	return false;
}

static void draw_cables(struct sim_scenario *s)
{
	static const u64 skews[] = { 0, 20 * NSEC_PER_USEC, 5 * NSEC_PER_MSEC,
				     600 * NSEC_PER_MSEC };
	static const u32 frame_sizes[] = { 384, 600, 1500, 1500, 4000, 9000 };

	s->frame_size = frame_sizes[sim_below(ARRAY_SIZE(frame_sizes))];
	if (sim_options.frame_size > 0)
		s->frame_size = sim_options.frame_size;
	s->delay = 500 + sim_below(20000);
	s->rate = 0.125 * (1 + sim_below(100));
	s->queue = sim_below(3) ? 1000 : 2 + sim_below(30);
	s->skew = skews[sim_below(ARRAY_SIZE(skews))];
	s->timer_slack = sim_below(2) ? 0 : sim_below(2 * NSEC_PER_MSEC);
}

static void draw_faults(struct sim_scenario *s)
{
	s->loss = draw_rate(sim_options.loss, 0.05);
	s->duplicate = draw_rate(sim_options.duplicate, 0.1);
	s->reorder = draw_rate(sim_options.reorder, 0.2);
	s->corrupt = draw_rate(sim_options.corrupt, 0.03);
	s->no_fpu = draw_rate(sim_options.no_fpu, 0.5);
	s->no_memory = draw_rate(sim_options.no_memory, 0.05);
	s->late_payload = draw_rate(sim_options.late_payload, 1);
	/* without a checksum damage goes unnoticed, as it should not when nothing is damaged */
	s->no_checksum = sim_below(4) == 0 && s->corrupt == 0;
	s->shatter = sim_below(3) == 0;
}

static void draw_misdeed(struct sim_scenario *s)
{
	u32 drawn = sim_below(4) ? SIM_NO_MISDEED : sim_below(SIM_MISDEEDS);

	s->culprit = sim_below(s->torus.nodes);
	s->bad_op = 1 + sim_below(s->ops);
	s->patience = sim_below(2) ? sim_below(NSEC_PER_MSEC) : sim_below(NSEC_PER_SEC);
	/* alone there is nobody to disagree with */
	if (s->torus.nodes == 1)
		return;
	if (sim_options.misdeed >= 0)
		s->misdeed = sim_options.misdeed;
	else if (sim_options.faults)
		s->misdeed = drawn;
	if (!s->misdeed)
		return;
	/*
	 * Who gives up gets its memory back while frames may still refer to it. Without a checksum
	 * another rank may take what it then reads for data, and finish before it hears of the end.
	 */
	s->no_checksum = false;
}

bool sim_scenario_draw(struct sim_scenario *s, u64 seed)
{
	const char *shape;
	u32 cables;

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	shape = shapes[sim_below(ARRAY_SIZE(shapes))];
	cables = 1 + sim_below(2);
	if (sim_options.dims)
		shape = sim_options.dims;
	if (sim_options.cables > 0)
		cables = sim_options.cables;
	if (!parse_dims(shape, cables, &s->torus)) {
		fprintf(stderr, "torcoll-sim: %s with %u cables is no shape\n", shape, cables);
		return false;
	}
	snprintf(s->dims, sizeof(s->dims), "%s", shape);
	s->type = types[sim_below(ARRAY_SIZE(types))].type;
	if (sim_options.type > 0)
		s->type = sim_options.type;
	s->redop = redops[sim_below(ARRAY_SIZE(redops))].redop;
	if (sim_options.redop > 0)
		s->redop = sim_options.redop;
	s->count = draw_count();
	if (sim_options.count >= 0)
		s->count = sim_options.count;
	s->ops = 1 + sim_below(5);
	if (sim_options.ops > 0)
		s->ops = sim_options.ops;
	s->depth = 1 + sim_below(4);
	if (sim_options.depth > 0)
		s->depth = sim_options.depth;
	s->exact = sim_below(3);
	draw_cables(s);
	draw_faults(s);
	draw_misdeed(s);
	return draw_algorithm(s);
}

bool sim_scenario_is_calm(const struct sim_scenario *s)
{
	return s->queue >= 1000 && !s->misdeed && s->no_memory == 0 &&
	       s->loss + s->duplicate + s->reorder + s->corrupt == 0;
}

void sim_scenario_print(const struct sim_scenario *s)
{
	printf("seed %llu: %s (%u cables on sides of 2) %s %s %s count %llu, %u ops, depth %u\n",
	       (unsigned long long)s->seed, s->dims, s->torus.cables,
	       tor_algorithm_name(s->algorithm), sim_type_name(s->type), sim_redop_name(s->redop),
	       (unsigned long long)s->count, s->ops, s->depth);
	printf("  frames of %u, cables %.1f us and %.1f Gb/s, queues of %u, skew %.0f us\n",
	       s->frame_size, s->delay / 1e3, s->rate * 8, s->queue, s->skew / 1e3);
	printf("  loss %.3f duplicate %.3f reorder %.3f corrupt %.3f no-fpu %.3f no-memory %.3f late-payload %.3f%s%s%s\n",
	       s->loss, s->duplicate, s->reorder, s->corrupt, s->no_fpu, s->no_memory,
	       s->late_payload, s->shatter ? " shatter" : "", s->no_checksum ? " no-checksum" : "",
	       s->exact ? " exact" : "");
	if (s->misdeed)
		printf("  rank %u: %s, op %u, %.0f us\n", s->culprit, misdeeds[s->misdeed], s->bad_op,
		       s->patience / 1e3);
}
