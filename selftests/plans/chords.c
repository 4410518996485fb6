// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Rings with chords, every one of up to 64 nodes and six ports: `layers`,
 * `flood` and `tree` give the right result when executed symbolically as
 * torcoll-plan --check does, in as many rounds as the graph is wide; and the
 * busiest cables carry as few bytes of an allgather by `layers` as they can.
 *
 * The diameter and the least load are found here by a breadth-first search of
 * the graph, apart from core. In round t of a schedule of shortest ways, what is
 * t hops away comes in by the ports that lead there. Where few ports lead to
 * much of it, no division among all of them is even.
 *
 * Usage: chords [NODES [PORTS]]: 64, 6.
 */
#include "common/jobs.h"
#include "plan_cases.h"
#include "plan_rules.h"

#include "core/choose/cost.h"
#include "core/host_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NODES_MOST	64
#define PORTS_MOST	6
#define WITHIN		1.02
#define ROUNDING	0.002		/* ports get whole parts of a block */

/*
 * struct graph - what a breadth-first search from node 0 finds
 * @hops: by node
 * @ports: by node: those by which a shortest way comes in
 */
struct graph {
	u32 diameter;
	u32 hops[NODES_MOST];
	u32 ports[NODES_MOST];
};

/* What was found of a shape: in memory that all processes share. */
struct found {
	u32 diameter;
	float factor;			/* of an allgather; 1: all cables carry the same */
};

static const struct {
	u32 algorithm, collective;
	u32 times;			/* rounds, in diameters */
} cases[] = {
	{ TORCOLL_LAYERS, TORCOLL_ALLGATHER, 1 },
	{ TORCOLL_LAYERS, TORCOLL_REDUCE_SCATTER, 1 },
	{ TORCOLL_LAYERS, TORCOLL_ALLREDUCE, 2 },
	{ TORCOLL_FLOOD, TORCOLL_ALLGATHER, 1 },
	{ TORCOLL_FLOOD, TORCOLL_ALLREDUCE, 1 },
	{ TORCOLL_FLOOD, TORCOLL_BROADCAST, 1 },
	{ TORCOLL_TREE, TORCOLL_REDUCE, 1 },
	{ TORCOLL_TREE, TORCOLL_BROADCAST, 1 },
	{ TORCOLL_TREE, TORCOLL_ALLREDUCE, 2 },
};

static struct tor_torus *shapes;
static size_t count, room;
static struct found *found;

static void add_shape(const struct tor_torus *t, void *arg)
{
	if (count == room) {
		room = room ? 2 * room : 4096;
		shapes = realloc(shapes, room * sizeof(*shapes));
		if (!shapes)
			abort();
	}
	shapes[count++] = *t;
}

/* --- the graph --- */

static void graph_find(struct graph *g, const struct tor_torus *t)
{
	u32 n = t->nodes, queue[NODES_MOST], head = 0, tail = 1, node, next, port, step;

	memset(g, 0, sizeof(*g));
	queue[0] = 0;
	while (head < tail) {
		node = queue[head++];
		g->diameter = g->hops[node];
		for (port = 0; port < 2 * t->ndim; port++) {
			step = t->step[port / 2];
			next = (node + (port % 2 ? n - step : step)) % n;
			if (next && !g->hops[next]) {
				g->hops[next] = g->hops[node] + 1;
				queue[tail++] = next;
			}
			if (next && g->hops[next] == g->hops[node] + 1)
				g->ports[next] |= 1U << port;
		}
	}
}

/* The share of a vector that the busiest cables must carry, all rounds. */
static double graph_bound(const struct graph *g, const struct tor_torus *t)
{
	u32 hops, set, node, inside;
	double sum = 0, most;

	for (hops = 1; hops <= g->diameter; hops++) {
		for (set = 1, most = 0; set < 1U << 2 * t->ndim; set++) {
			for (node = 1, inside = 0; node < t->nodes; node++)
				inside += g->hops[node] == hops && !(g->ports[node] & ~set);
			most = fmax(most, (double)inside / __builtin_popcount(set));
		}
		sum += most / t->nodes;
	}
	return sum;
}

/* --- checks --- */

static void check_rounds(const struct tor_call *call, const struct graph *g, u32 times)
{
	struct tor_cost cost;

	if (tor_cost_plan(call, &cost, NULL))
		jobs_failed("%s: no cost", plan_request_name(call));
	else if (cost.rounds != times * g->diameter || cost.hops != cost.rounds)
		jobs_failed("%s: %u rounds, %u hops, and the diameter is %u", plan_request_name(call),
			    cost.rounds, cost.hops, g->diameter);
	else
		jobs_passed(1);
}

static void check_result(const struct tor_call *call)
{
	struct dump_error e = {};

	if (plan_rules(call, false, &e) == 1)
		jobs_passed(1);
	else
		jobs_failed("%s: %s", plan_request_name(call), e.text);
}

static void check_load(const struct tor_torus *t, const struct graph *g, struct found *f)
{
	struct tor_call call = plan_request(t, TORCOLL_LAYERS, TORCOLL_ALLGATHER, t->nodes);
	double bound = graph_bound(g, t), w;
	struct tor_cost cost;

	if (tor_cost_plan(&call, &cost, NULL)) {
		jobs_failed("%s: no cost", plan_request_name(&call));
		return;
	}
	w = cost.w / (double)TOR_COST_ONE;
	f->diameter = g->diameter;
	f->factor = w * t->ports * t->nodes / (t->nodes - 1);
	if (fabs(w - bound) > ROUNDING * bound)
		jobs_failed("%s: the busiest cables carry %.5f of the vector, and %.5f is enough",
			    plan_request_name(&call), w, bound);
	else
		jobs_passed(1);
}

static void check_shape(size_t i)
{
	const struct tor_torus *t = &shapes[i];
	struct tor_call call;
	struct graph g;
	u32 k;

	graph_find(&g, t);
	for (k = 0; k < ARRAY_SIZE(cases); k++) {
		/* uneven blocks, and a root that is not the first */
		call = plan_request(t, cases[k].algorithm, cases[k].collective, 3ULL * t->nodes + 2);
		call.root = tor_collective_has_root(call.collective) ? t->nodes / 3 : 0;
		check_rounds(&call, &g, cases[k].times);
		check_result(&call);
	}
	check_load(t, &g, &found[i]);
}

/* --- how even the load is --- */

/*
 * Of one number of ports: all shapes, and for each number of nodes the best of
 * those with the least diameter.
 */
static void print_ports(u32 ports)
{
	struct found best[NODES_MOST + 1] = {};
	size_t i, all = 0, even = 0, sizes = 0, even_sizes = 0, worst = 0;
	char name[HOST_SHAPE_TEXT];
	float most = 0;
	u32 n;

	for (i = 0; i < count; i++) {
		struct found *b = &best[shapes[i].nodes];

		if (shapes[i].ports != ports)
			continue;
		all++;
		even += found[i].factor <= WITHIN;
		if (found[i].factor > found[worst].factor || shapes[worst].ports != ports)
			worst = i;
		if (!b->diameter || found[i].diameter < b->diameter ||
		    (found[i].diameter == b->diameter && found[i].factor < b->factor))
			*b = found[i];
	}
	for (n = 0; n <= NODES_MOST; n++) {
		sizes += best[n].diameter > 0;
		even_sizes += best[n].diameter > 0 && best[n].factor <= WITHIN;
		most = fmaxf(most, best[n].factor);
	}
	if (!all)
		return;
	printf("%u ports: %zu of %zu shapes within 2 %% of ideal; the worst, %s, %.2f times: ",
	       ports, even, all, host_torus_print(name, &shapes[worst]), found[worst].factor);
	puts("shortest ways allow no less");
	printf("%u ports, the best of the least diameter: %zu of %zu numbers of nodes within 2 %%;",
	       ports, even_sizes, sizes);
	printf(" the worst %.3f times\n", most);
}

int main(int argc, char **argv)
{
	u32 nodes = argc > 1 ? atoi(argv[1]) : NODES_MOST, most = argc > 2 ? atoi(argv[2]) : PORTS_MOST;
	u32 ports;
	int code;

	if (nodes < 5 || nodes > NODES_MOST || most < 4 || most > PORTS_MOST) {
		fprintf(stderr, "usage: chords [NODES [PORTS]]: 5 to %u, 4 to %u\n", NODES_MOST, PORTS_MOST);
		return 2;
	}
	/* the largest first: they take longest */
	for (ports = most; ports >= 4; ports -= 2)
		plan_every_chord(5, nodes, ports / 2 - 1, add_shape, NULL);
	found = mmap(NULL, count * sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (found == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	code = jobs_run(count, "shapes", check_shape);
	for (ports = 4; ports <= most; ports += 2)
		print_ports(ports);
	return code;
}
