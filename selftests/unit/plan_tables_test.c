// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The tables of kmod/core/plan/tables.c, made again by exhaustive search and compared. With --print:
 * prints the file.
 */
#include "host_env.h"
#include "core/plan/tables.h"

#define MOST	64

/* How far the test searches: a longer way with an argument. */
static u32 search_to = 36;

/* Distances of a candidate schedule for trivance-bw. */
struct candidate {
	u32 d[4];
	u32 give[4];			/* blocks given in the busier direction, times hops on a link */
	u32 live[5];			/* size of the live sets */
	u32 hops;
};

static u64 rotate(u64 set, u32 n, u32 by)
{
	u64 all = n == 64 ? ~0ULL : (1ULL << n) - 1;

	by %= n;
	return by ? ((set << by) | (set >> (n - by))) & all : set;
}

/* Twice the blocks given upwards: those that can only go that way, and one side of those that can both. */
static u32 twice_up(u64 given, u64 up, u64 down, u32 n)
{
	u32 o, twice = 0;

	for (o = 0; o < n; o++) {
		if (!(given >> o & 1) || !(up >> o & 1))
			continue;
		if (!(down >> o & 1) || 2 * o < n)
			twice += 2;
		else if (2 * o == n)
			twice++;
	}
	return twice;
}

/* Live sets and loads of the distances; false if some node is left out. */
static bool evaluate(struct candidate *c, u32 n, u32 steps)
{
	u64 live = 1, next, up, down;
	u32 k;

	c->hops = 0;
	c->live[steps] = 1;
	for (k = steps; k-- > 0; live = next) {
		up = rotate(live, n, c->d[k]);
		down = rotate(live, n, n - c->d[k]);
		next = live | up | down;
		/* both are one peer where 2d = n, and half of the frames go either way */
		c->give[k] = 2 * c->d[k] == n ? c->d[k] * hweight64(next & ~live) :
						c->d[k] * twice_up(next & ~live, up, down, n);
		c->live[k] = hweight64(next);
		c->hops += c->d[k];
	}
	return c->live[0] == n;
}

/* Load of the busiest link on a square torus, of D channels in rotation; in unspecified units. */
static u64 load(const struct candidate *c, u32 steps, u32 dims)
{
	u64 sum = 0, others;
	u32 k, i, j;

	for (k = 0; k < steps; k++)
		for (i = 0; i < dims; i++) {
			others = 1;
			for (j = 0; j < dims; j++)
				others *= j == i ? 1 : c->live[j < i ? k + 1 : k];
			sum += c->give[k] * others;
		}
	return sum;
}

/* Better than the best: by bytes in so many dimensions, then hops; or (4) by hops, then bytes in two. */
static bool better(const struct candidate *a, const struct candidate *b, u32 steps, u32 variant)
{
	u32 dims = variant == 4 ? 2 : variant;
	u64 x = load(a, steps, dims), y = load(b, steps, dims);

	if (variant == 4 && a->hops != b->hops)
		return a->hops < b->hops;
	return x != y ? x < y : a->hops < b->hops;
}

/* The best distances for a side in every variant: of equals the first in lexicographic order. */
static u32 search(u32 n, struct candidate *best)
{
	struct candidate c = { .d = { 1, 1, 1, 1 } };
	bool have = false;
	u32 k, v, steps = 0, power;

	for (power = 1; power < n; power *= 3)
		steps++;
	for (;;) {
		if (evaluate(&c, n, steps)) {
			for (v = 1; v <= 4; v++)
				if (!have || better(&c, &best[v - 1], steps, v))
					best[v - 1] = c;
			have = true;
		}
		for (k = steps; k > 0 && c.d[k - 1] == n / 2; k--)
			c.d[k - 1] = 1;
		if (!k)
			return steps;
		c.d[k - 1]++;
	}
}

static void tables__trivance_distances(void **state)
{
	struct candidate best[4];
	u32 n, v, k, steps;

	for (n = 2; n <= search_to; n++) {
		steps = search(n, best);
		for (v = 0; v < 4; v++)
			for (k = 0; k < 4; k++)
				assert_int_equal(tor_trivance_distances[n][v][k],
						 k < steps ? best[v].d[k] : 0);
	}
}

static void print_distances(void)
{
	struct candidate best[4];
	u32 n, v, k, steps;

	printf("const u8 tor_trivance_distances[TOR_TRIVANCE_DISTANCES][4][4] = {\n");
	for (n = 2; n <= MOST; n++) {
		steps = search(n, best);
		printf("\t[%u] = {", n);
		for (v = 0; v < 4; v++) {
			printf(" {");
			for (k = 0; k < steps; k++)
				printf(" %u%s", best[v].d[k], k + 1 < steps ? "," : "");
			printf(" }%s", v < 3 ? "," : "");
		}
		printf(" },\n");
	}
	printf("};\n");
}

/* --- interval schedules of trivance-lat --- */

#define INTERVAL_MOST	80

/*
 * What a node knows: its own value and, apart, what came from either side in each round. A message is a sum
 * of neighbouring parts of what its sender knows.
 */
struct intervals {
	u8 w[2][4], d[2][4];		/* nodes and distance; right, left */
	u32 reach[2][5];		/* nodes known to either side before a round */
	u32 links, hops;		/* sums of the longer, and of both distances */
};

static struct intervals best_intervals[INTERVAL_MOST + 1];
static bool have_intervals[INTERVAL_MOST + 1];

static u32 log3_up(u32 n)
{
	u32 k, power = 1;

	for (k = 0; power < n; k++)
		power *= 3;
	return k;
}

static void keep_best(const struct intervals *x, u32 steps)
{
	u32 n = x->reach[0][steps] + x->reach[1][steps] + 1;
	struct intervals *best = &best_intervals[n <= INTERVAL_MOST ? n : 0];

	if (n > INTERVAL_MOST || n < 2 || log3_up(n) != steps)
		return;
	if (have_intervals[n] && (x->links > best->links ||
				  (x->links == best->links && x->hops >= best->hops)))
		return;
	*best = *x;
	have_intervals[n] = true;
}

/*
 * Every message of step @k to one side: from boundary @from to @to of what its sender knows, as offsets
 * from the sender. Boundaries lie behind every part.
 */
static u32 list_messages(const struct intervals *x, u32 k, u32 side, u8 (*message)[2])
{
	s32 edge[10];
	u32 edges = 0, i, j, n = 0, other = 1 - side;

	/* from the far end of the other side to that of this side; nodes counted towards this side */
	for (i = k + 1; i-- > 0;)
		edge[edges++] = -(s32)x->reach[other][i];
	for (i = 0; i <= k; i++)
		edge[edges++] = (s32)x->reach[side][i] + 1;
	message[n][0] = 0;
	message[n++][1] = 0;
	for (i = 0; i < edges; i++)
		for (j = i + 1; j < edges; j++) {
			s32 d = (s32)x->reach[side][k] + 1 - edge[i];

			if (edge[j] <= edge[i] || d < 1 || d > INTERVAL_MOST)
				continue;
			message[n][0] = edge[j] - edge[i];
			message[n++][1] = d;
		}
	return n;
}

static void search_intervals(struct intervals *x, u32 k, u32 steps)
{
	u8 right[64][2], left[64][2];
	u32 rights, lefts, i, j, links = x->links, hops = x->hops;

	if (k == steps) {
		keep_best(x, steps);
		return;
	}
	rights = list_messages(x, k, 0, right);
	lefts = list_messages(x, k, 1, left);
	for (i = 0; i < rights; i++)
		for (j = 0; j < lefts; j++) {
			x->w[0][k] = right[i][0];
			x->d[0][k] = right[i][1];
			x->w[1][k] = left[j][0];
			x->d[1][k] = left[j][1];
			x->reach[0][k + 1] = x->reach[0][k] + right[i][0];
			x->reach[1][k + 1] = x->reach[1][k] + left[j][0];
			x->links = links + max(right[i][1], left[j][1]);
			x->hops = hops + right[i][1] + left[j][1];
			search_intervals(x, k + 1, steps);
		}
	x->links = links;
	x->hops = hops;
}

static void find_intervals(u32 most)
{
	u32 steps;

	for (steps = 1; steps <= most; steps++) {
		struct intervals x = { .links = 0 };

		search_intervals(&x, 0, steps);
	}
}

static void print_intervals(void)
{
	u32 n, side, k;

	find_intervals(4);
	printf("const u8 tor_trivance_intervals[TOR_TRIVANCE_INTERVALS][2][4][2] = {\n");
	for (n = 2; n <= INTERVAL_MOST; n++) {
		if (!have_intervals[n])
			continue;
		printf("\t[%u] = {", n);
		for (side = 0; side < 2; side++) {
			printf(" {");
			for (k = 0; k < log3_up(n); k++)
				printf(" { %u, %u }%s", best_intervals[n].w[side][k],
				       best_intervals[n].d[side][k], k + 1 < log3_up(n) ? "," : "");
			printf(" }%s", side ? "" : ",");
		}
		printf(" },\n");
	}
	printf("};\n");
}

static void tables__trivance_intervals(void **state)
{
	u32 n, side, k, steps = search_to < MOST ? 3 : 4;

	find_intervals(steps);
	for (n = ARRAY_SIZE(tor_trivance_intervals); n <= INTERVAL_MOST; n++)
		assert_false(have_intervals[n]);
	for (n = 2; n < ARRAY_SIZE(tor_trivance_intervals) && log3_up(n) <= steps; n++)
		for (side = 0; side < 2; side++)
			for (k = 0; k < 4; k++) {
				assert_int_equal(tor_trivance_intervals[n][side][k][0],
						 best_intervals[n].w[side][k]);
				assert_int_equal(tor_trivance_intervals[n][side][k][1],
						 best_intervals[n].d[side][k]);
			}
}

static void print_file(void)
{
	printf("// %s: GPL-2.0 OR MIT\n", "SPDX-License-Identifier");
	printf("/* Made by selftests/unit/plan_tables_test --print. See plan/tables.h. */\n");
	printf("#include \"plan/tables.h\"\n\n");
	print_distances();
	printf("\n");
	print_intervals();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables__trivance_distances),
		cmocka_unit_test(tables__trivance_intervals),
	};

	if (argc > 1 && !strcmp(argv[1], "--print")) {
		print_file();
		return 0;
	}
	if (argc > 1)
		search_to = min(atoi(argv[1]), MOST);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
