// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of algorithms: the collectives and shapes that each supports, its
 * rounds, and its guarantees for float bits. On a given torus the plans
 * themselves are queried.
 */
#include "dump.h"

/*
 * Rounds of an allreduce, or a remark. p ranks, n a side, D sides, d the torus'
 * diameter, log2 and log3 rounded up.
 */
static const struct {
	const char *shapes;
	const char *rounds;
	const char *bits;
} about[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_SWING_BW] = {
		"any torus", "2 sum log2 n; an odd side takes as many as the even one below it",
		"same on all ranks",
	},
	[TORCOLL_SWING_LAT] = {
		"sides that are powers of two", "sum log2 n", "same on all ranks if no side is above 4",
	},
	[TORCOLL_TRIVANCE_BW] = { "any torus", "2 sum log3 n", "same on all ranks" },
	[TORCOLL_TRIVANCE_LAT] = {
		"sides of powers of three, and to 72 but for 25, 26, 65, 70 and 71", "sum log3 n",
		"differ, but on sides of 2",
	},
	[TORCOLL_CIRCULANT] = {
		"any list", "blocks - 1 + log2 p, an allreduce twice that", "same on all ranks",
	},
	[TORCOLL_GENERAL] = {
		"any list; XOR group: powers of two", "2 log2 p - r",
		"same on all ranks if r is 0 or p a power of two",
	},
	[TORCOLL_RING] = {
		"any list", "2 (p - 1); broadcast and reduce: p / 2 + blocks - 1", "same on all ranks",
	},
	[TORCOLL_HAMILTONIAN] = {
		"2D, r = c k and gcd(r, c - 1) = 1", "2 (p - 1)", "same on all ranks",
	},
	[TORCOLL_BUCKET] = { "any torus", "2 sum (n - 1)", "same on all ranks" },
	[TORCOLL_BIBUCKET] = { "any torus", "2 d", "same on all ranks" },
	[TORCOLL_RECDOUB_LAT] = {
		"any list", "floor(log2 p), and 2 if p is no power of two", "same on all ranks",
	},
	[TORCOLL_RECDOUB_BW] = {
		"any list", "2 sum floor(log2 n), and 4 for each side that is no power of two",
		"same on all ranks",
	},
	[TORCOLL_RECDOUB_BW_MIRRORED] = {
		"sides that are powers of two", "2 sum log2 n", "same on all ranks",
	},
	[TORCOLL_BRUCK_LAT] = { "sides that are powers of three", "sum log3 n", "differ" },
	[TORCOLL_BRUCK_BW] = { "any torus", "2 sum log3 n", "same on all ranks" },
	[TORCOLL_WINDOW] = { "any torus", "d", "differ, but on sides of 2" },
	[TORCOLL_FLOOD] = { "any list", "d", "the sequential sum in the order of ranks" },
	[TORCOLL_TREE] = {
		"any list", "2 d; lists: 2 log2 p; with a root half of it", "same on all ranks",
	},
	[TORCOLL_MOORE] = {
		"as trivance-lat", "log3 of the longest side", "differ, but between 2 ranks",
	},
	[TORCOLL_ALLPORT] = {
		"sides that are powers of 2D + 1", "sum log n to the base 2D + 1", "differ",
	},
	[TORCOLL_DIRECT] = {
		"any list", "p / 8, a reduction twice that", "the sequential sum in the order of ranks",
	},
	[TORCOLL_LAYERS] = { "rings with chords", "2 d", "same on all ranks" },
};

static void list_algorithm(u32 a)
{
	u32 c;

	printf("%-20s", tor_algorithm_name(a));
	for (c = 0; c < TORCOLL_COLL_COUNT; c++)
		if (tor_algorithm_serves(a) & (1U << c))
			printf(" %s", tor_collective_name(c));
	printf("\n");
}

void list_about(u32 algorithm)
{
	if (!tor_algorithm_serves(algorithm))
		return;
	list_algorithm(algorithm);
	printf("shapes      %s\nrounds      %s\nfloat bits  %s\n", about[algorithm].shapes,
	       about[algorithm].rounds, about[algorithm].bits);
}

void list_algorithms(void)
{
	u32 a;

	for (a = TORCOLL_ALGO_AUTO + 1; a < TORCOLL_ALGO_COUNT; a++)
		if (tor_algorithm_serves(a))
			list_algorithm(a);
}

/*
 * Return the rounds in which something is sent; others only move data locally.
 */
static u32 sending_rounds(const struct dump *d)
{
	u32 rounds = 0;
	u64 last = ~0ULL;
	size_t i;

	for (i = 0; i < d->pieces; i++) {
		if (d->piece[i].src == d->piece[i].dst || d->piece[i].t == last)
			continue;
		last = d->piece[i].t;
		rounds++;
	}
	return rounds;
}

static const char *bits_of(const struct tor_plan_shape *s)
{
	if (s->sequential)
		return "sequential";
	return s->agrees ? "agree" : "differ";
}

static void list_plan(const struct tor_call *call)
{
	const char *why = "no reason";
	struct dump d = { 0 };
	struct tor_plan p;

	printf("%-20s %-15s", tor_algorithm_name(call->algorithm), tor_collective_name(call->collective));
	if (tor_plan_init(&p, call, 0, &why)) {
		printf(" %s\n", why);
		return;
	}
	if (!dump_make(&d, call, NULL))
		printf(" %6u %8u %11u  %s\n", sending_rounds(&d), p.shape.channels, p.shape.bufs - 1,
		       bits_of(&p.shape));
	dump_free(&d);
}

void list_plans(struct tor_call call)
{
	printf("%-20s %-15s %6s %8s %11s  %s\n", "algorithm", "collective", "rounds", "channels",
	       "temporaries", "float bits");
	for (call.algorithm = TORCOLL_ALGO_AUTO + 1; call.algorithm < TORCOLL_ALGO_COUNT; call.algorithm++)
		for (call.collective = 0; call.collective < TORCOLL_COLL_COUNT; call.collective++)
			if (tor_algorithm_serves(call.algorithm) & (1U << call.collective))
				list_plan(&call);
}
