// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Requests to test plans with. See plan_cases.h. */
#include "plan_cases.h"

#include "../../tools/torcoll-plan/dump.h"
#include "core/host_shape.h"

#include <stdlib.h>

#define AR	(1U << TORCOLL_ALLREDUCE)
#define RS	(1U << TORCOLL_REDUCE_SCATTER)
#define AG	(1U << TORCOLL_ALLGATHER)
#define B	(1U << TORCOLL_BROADCAST)
#define R	(1U << TORCOLL_REDUCE)
#define G	(1U << TORCOLL_GATHER)
#define S	(1U << TORCOLL_SCATTER)
#define AA	(1U << TORCOLL_ALLTOALL)
#define SCAN	(1U << TORCOLL_SCAN | 1U << TORCOLL_EXSCAN)
#define HALO	(1U << TORCOLL_HALO)

/* --- shapes --- */

static void shapes_from(u32 *side, u32 ndim, u32 nodes, u32 most, plan_shape_fn fn, void *arg)
{
	struct tor_torus t;
	u32 n;

	if (ndim && !tor_torus_init(&t, ndim, side, 2))
		fn(&t, arg);
	for (n = 2; ndim < 4 && nodes * n <= most; n++) {
		side[ndim] = n;
		shapes_from(side, ndim + 1, nodes * n, most, fn, arg);
	}
}

void plan_every_shape(u32 most, plan_shape_fn fn, void *arg)
{
	u32 side[TOR_MAX_DIMS] = { 1 };
	struct tor_torus t;

	tor_torus_init(&t, 1, side, 1);
	fn(&t, arg);
	shapes_from(side, 0, 1, most, fn, arg);
}

/* With @chords steps from @step on, behind the ring in @side. */
static void chords_from(u32 *side, u32 ndim, u32 step, u32 chords, plan_shape_fn fn, void *arg)
{
	struct tor_torus t;

	if (!chords) {
		if (!tor_torus_init(&t, ndim, side, 1))
			fn(&t, arg);
		return;
	}
	for (; 2 * step < side[0]; step++) {
		side[ndim] = TORCOLL_SIDE(step, TORCOLL_KIND_CHORD);
		chords_from(side, ndim + 1, step + 1, chords - 1, fn, arg);
	}
}

void plan_every_chord(u32 least, u32 most, u32 chords, plan_shape_fn fn, void *arg)
{
	u32 side[TOR_MAX_DIMS] = { 0 };

	for (side[0] = least; side[0] <= most; side[0]++)
		chords_from(side, 1, 2, chords, fn, arg);
}

static u32 below(u64 *seed, u32 n)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return (*seed >> 33) % n;
}

static bool sample_shape(u64 *seed, u32 least, u32 most, struct tor_torus *t)
{
	u32 side[TOR_MAX_DIMS], ndim = 1 + below(seed, TOR_MAX_DIMS), d, nodes = 1;

	/* as many to each power of two */
	most = max(most >> below(seed, fls(most / least)), least + 1);
	for (d = 0; d < ndim; d++) {
		/* the first sides may be long; sides of 1 are allowed */
		side[d] = 1 + below(seed, d ? min(most / nodes, 12U) : most / (1 << (ndim - 1)));
		nodes *= side[d];
		/* plans do not depend on it */
		if (side[d] <= 3)
			side[d] = TORCOLL_SIDE(side[d], below(seed, TORCOLL_KIND_CHORD));
	}
	return nodes > least && nodes <= most && !tor_torus_init(t, ndim, side, 1 + below(seed, 2));
}

void plan_sampled_shapes(u32 n, u32 least, u32 most, u64 seed, plan_shape_fn fn, void *arg)
{
	struct tor_torus t;

	while (n)
		if (sample_shape(&seed, least, most, &t)) {
			fn(&t, arg);
			n--;
		}
}

/* --- requests --- */

struct tor_call plan_request(const struct tor_torus *t, u32 algorithm, u32 collective, u64 count)
{
	struct tor_call call = {
		.torus = t,
		.ranks = t->nodes,
		.algorithm = algorithm,
		.collective = collective,
		.count = count,
	};

	call.count *= plan_granule(&call);
	return call;
}

const char *plan_request_name(const struct tor_call *call)
{
	char shape[HOST_SHAPE_TEXT];
	static char text[512];
	u32 i, n;

	n = snprintf(text, sizeof(text), "%s %s", tor_algorithm_name(call->algorithm),
		     tor_collective_name(call->collective));
	n += snprintf(text + n, sizeof(text) - n, " %s", host_torus_print(shape, call->torus));
	n += snprintf(text + n, sizeof(text) - n, " ranks %u root %u count %llu%s%s", call->ranks,
		      call->root, (unsigned long long)call->count, call->counts ? " irregular" : "",
		      call->members ? " listed" : "");
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (call->param[i])
			n += snprintf(text + n, sizeof(text) - n, " %s %u", dump_param_name(i),
				      call->param[i]);
	return text;
}

u32 plan_granule(const struct tor_call *call)
{
	u32 d, ways = 0;

	if (call->collective == TORCOLL_ALLTOALL)
		return call->ranks;
	for (d = 0; d < call->torus->ndim; d++)
		ways += call->torus->side[d] > 1 ? 2 : 0;
	return call->collective != TORCOLL_HALO ? 1 : call->members || !ways ? 2 : ways;
}

static bool is_rooted(u32 collective)
{
	return tor_collective_has_root(collective);
}

static void vary_count(struct tor_call call, plan_case_fn fn, void *arg)
{
	u64 counts[] = { 0, 1, call.ranks / 2, call.ranks, 2 * call.ranks + 1 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		call.count = counts[i] * plan_granule(&call);
		fn(&call, arg);
	}
}

/* Blocks of all sizes, many of them empty; @kind 0, 1: one rank has all. */
static u64 odd_counts(u64 *counts, u32 ranks, u32 kind)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ranks; i++) {
		if (kind < 2)
			counts[i] = i == (kind ? ranks - 1 : ranks / 2) ? 9 : 0;
		else
			counts[i] = (i * 7 + kind) % 5 * (i % 3);
		sum += counts[i];
	}
	return sum;
}

static void vary_counts(struct tor_call call, u32 kinds, plan_case_fn fn, void *arg)
{
	u64 *counts = calloc(call.ranks, sizeof(*counts));
	u32 kind;

	for (kind = 0; kind < kinds; kind++) {
		call.counts = counts;
		call.count = odd_counts(counts, call.ranks, kind);
		fn(&call, arg);
	}
	free(counts);
}

static void vary_root(struct tor_call call, plan_case_fn fn, void *arg)
{
	u32 ranks = call.ranks;

	for (call.root = 1; call.root < ranks; call.root++)
		if (ranks <= 17 || call.root == ranks / 3 || call.root == ranks - 1)
			fn(&call, arg);
}

/* Values from @from to @to of one parameter; where not all, ever fewer. */
static void vary_param(struct tor_call call, u32 param, u32 from, u32 to, bool all,
		       plan_case_fn fn, void *arg)
{
	u32 v;

	for (v = from; v <= to; v += all ? 1 : 1 + v / 3) {
		call.param[param] = v;
		if (is_rooted(call.collective))
			call.root = v % call.ranks;
		fn(&call, arg);
	}
}

static u32 log2_up(u32 n)
{
	u32 k;

	for (k = 0; 1ULL << k < n; k++)
		;
	return k;
}

static void vary_general(struct tor_call call, bool all, plan_case_fn fn, void *arg)
{
	u32 steps = call.collective == TORCOLL_ALLREDUCE ? log2_up(call.ranks) : 0;

	for (call.param[TORCOLL_PARAM_GROUP] = 1; call.param[TORCOLL_PARAM_GROUP] <= 2;
	     call.param[TORCOLL_PARAM_GROUP]++)
		vary_param(call, TORCOLL_PARAM_R, 1, steps + 1, all, fn, arg);
}

/* Channels or chunks that the plan has at most: beyond, it is a mistake. */
static u32 most_of(const struct tor_call *call, u32 param)
{
	struct tor_call x = *call;
	struct tor_plan p;

	for (x.param[param] = TOR_MAX_CHANNELS; x.param[param]; x.param[param]--)
		if (!tor_plan_init(&p, &x, 0, NULL))
			break;
	return x.param[param];
}

void plan_vary(const struct tor_call *base, bool thorough, plan_case_fn fn, void *arg)
{
	struct tor_call call = *base;

	fn(&call, arg);
	vary_count(call, fn, arg);
	if (tor_collective_has_blocks(call.collective))
		vary_counts(call, thorough ? 6 : 3, fn, arg);
	if (is_rooted(call.collective))
		vary_root(call, fn, arg);
	vary_param(call, TORCOLL_PARAM_CHANNELS, 1, most_of(&call, TORCOLL_PARAM_CHANNELS), thorough, fn, arg);
	vary_param(call, TORCOLL_PARAM_CHUNKS, 1, most_of(&call, TORCOLL_PARAM_CHUNKS), true, fn, arg);
	if (call.algorithm == TORCOLL_TRIVANCE_BW)
		vary_param(call, TORCOLL_PARAM_VARIANT, 1, 4, true, fn, arg);
	/* what follows depends on no shape */
	if (call.torus->ndim > 1)
		return;
	if (call.algorithm == TORCOLL_GENERAL)
		vary_general(call, true, fn, arg);
	if (call.algorithm == TORCOLL_CIRCULANT ||
	    (call.algorithm == TORCOLL_RING && (is_rooted(call.collective) ||
					       SCAN >> call.collective & 1)))
		vary_param(call, TORCOLL_PARAM_BLOCKS, 1, 40, thorough, fn, arg);
}

/* --- what must be served --- */

static bool is_power(u32 n, u32 base)
{
	while (n % base == 0)
		n /= base;
	return n == 1;
}

/* Is there a schedule in ceil(log3 n) rounds? */
static bool has_intervals(u32 n)
{
	return is_power(n, 3) || (n <= 72 && n != 25 && n != 26 && n != 65 && n != 70 && n != 71);
}

static u32 gcd(u32 a, u32 b)
{
	return b ? gcd(b, a % b) : a;
}

static bool has_cycles(u32 r, u32 c)
{
	return r % c == 0 && gcd(r, c - 1) == 1;
}

static bool shape_fits(u32 algorithm, const u32 *side, u32 ndim, bool chords)
{
	bool fits = true;
	u32 d;

	if (algorithm == TORCOLL_LAYERS)
		return chords;
	if (algorithm == TORCOLL_HAMILTONIAN)
		return ndim == 2 && (has_cycles(side[0], side[1]) || has_cycles(side[1], side[0]));
	for (d = 0; d < ndim; d++)
		switch (algorithm) {
		case TORCOLL_SWING_LAT:
		case TORCOLL_RECDOUB_BW_MIRRORED:
			fits &= is_power(side[d], 2);
			break;
		case TORCOLL_TRIVANCE_LAT:
		case TORCOLL_MOORE:
			fits &= has_intervals(side[d]);
			break;
		case TORCOLL_BRUCK_LAT:
			fits &= is_power(side[d], 3);
			break;
		case TORCOLL_ALLPORT:
			fits &= is_power(side[d], 2 * ndim + 1);
			break;
		default:
			break;
		}
	return fits;
}

static const struct {
	u32 serves;
	bool lists;
} table[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_SWING_BW] = { AR | RS | AG },
	[TORCOLL_SWING_LAT] = { AR | B | R },
	[TORCOLL_TRIVANCE_BW] = { AR | RS | AG },
	[TORCOLL_TRIVANCE_LAT] = { AR | AG | B | R },
	[TORCOLL_CIRCULANT] = { AR | RS | AG | B | R, true },
	[TORCOLL_GENERAL] = { AR | RS | AG, true },
	[TORCOLL_RING] = { AR | RS | AG | B | R | SCAN, true },
	[TORCOLL_HAMILTONIAN] = { AR | RS | AG },
	[TORCOLL_BUCKET] = { AR | RS | AG },
	[TORCOLL_BIBUCKET] = { AR | RS | AG },
	[TORCOLL_RECDOUB_LAT] = { AR, true },
	[TORCOLL_RECDOUB_BW] = { AR | RS | AG, true },
	[TORCOLL_RECDOUB_BW_MIRRORED] = { AR | RS | AG },
	[TORCOLL_BRUCK_LAT] = { AR },
	[TORCOLL_BRUCK_BW] = { AR | RS | AG },
	[TORCOLL_WINDOW] = { AR },
	[TORCOLL_FLOOD] = { AR | AG | B | R, true },
	[TORCOLL_TREE] = { AR | B | R | G | S, true },
	[TORCOLL_MOORE] = { AR },
	[TORCOLL_ALLPORT] = { AR },
	[TORCOLL_DIRECT] = { AR | RS | AG | R | G | S | AA | HALO, true },
	[TORCOLL_LAYERS] = { AR | RS | AG },
};

bool plan_is_served(const struct tor_call *call, bool listed)
{
	u32 side[TOR_MAX_DIMS], ndim = 0, d;

	if (!(table[call->algorithm].serves & (call->collective == TORCOLL_BARRIER ? AR : 1U << call->collective)))
		return false;
	if (listed && !table[call->algorithm].lists)
		return false;
	/* with nothing to do, nothing is impossible */
	if (call->ranks == 1 || !call->count)
		return true;
	if (call->algorithm == TORCOLL_GENERAL && call->param[TORCOLL_PARAM_GROUP] == 2)
		return is_power(call->ranks, 2);
	for (d = 0; !listed && d < call->torus->ndim; d++)
		if (call->torus->side[d] > 1)
			side[ndim++] = call->torus->side[d];
	return shape_fits(call->algorithm, side, ndim, tor_torus_has_chords(call->torus));
}
