// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * All algorithms and collectives on every shape: plans are served where they must be, give the right result
 * when executed symbolically as torcoll-plan --check does, and to 64 nodes keep the rules of plan.h.
 *
 * Rings with chords as well: all with one step, small ones with two and three.
 *
 * Usage: sweep [NODES [SAMPLES [ALGORITHM]]]: every shape of up to NODES, 64, and SAMPLES, 40, larger ones.
 */
#include "common/jobs.h"
#include "plan_cases.h"
#include "plan_rules.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLED_NODES	1024
#define SEED		2024

/* A shape, or a list on it, with one collective. */
struct item {
	struct tor_torus torus;
	u32 *members;
	u32 ranks;
	u32 collective;
	bool thorough;
	bool listed;
};

static struct item *items;
static size_t count, room;

/* --- what there is to do --- */

static struct item *new_item(void)
{
	if (count == room) {
		room = room ? 2 * room : 4096;
		items = realloc(items, room * sizeof(*items));
		if (!items)
			abort();
	}
	return &items[count++];
}

static void add_items(struct item x)
{
	for (x.collective = TORCOLL_ALLREDUCE; x.collective < TORCOLL_COLL_COUNT; x.collective++)
		*new_item() = x;
}

static void add_shape(const struct tor_torus *t, void *arg)
{
	add_items((struct item){ .torus = *t, .ranks = t->nodes, .thorough = *(bool *)arg });
}

/* Lists in an order that is no torus', with nodes that occur twice for every other one. */
static void add_list(const struct tor_torus *t, void *arg)
{
	struct item x = { .torus = *t, .thorough = true, .listed = true };
	u32 i;

	if (t->nodes < 5)
		return;
	x.ranks = t->nodes - 2;
	x.members = calloc(x.ranks, sizeof(u32));
	for (i = 0; i < x.ranks; i++)
		x.members[i] = t->nodes % 2 ? (u64)i * i % t->nodes : t->nodes - 1 - i;
	/* not 1, 0, which a side of two makes of 0, 1 */
	swap(x.members[0], x.members[2]);
	add_items(x);
}

/* --- doing it --- */

static void check(const struct tor_call *call, void *arg)
{
	const struct item *x = arg;
	bool served = plan_is_served(call, x->listed);
	struct dump_error e = {};
	int ret;

	/* of large ones the result alone: the other rules take longer than it */
	ret = call->ranks > 64 ? plan_right(call, &e) : plan_rules(call, call->ranks <= 16, &e);
	if (ret == (served ? 1 : -EOPNOTSUPP))
		jobs_passed(1);
	else
		jobs_failed("%s: %s%s", plan_request_name(call),
			    ret == 1 ? "served, but must not be" : e.text, ret < 0 ? " (refused)" : "");
}

static u32 algorithm;

static void sweep_item(size_t i)
{
	struct item *x = &items[i];
	struct tor_call call;

	call = plan_request(&x->torus, algorithm, x->collective, 0);
	call.members = x->members;
	call.ranks = x->ranks;
	call.count = (3ULL * x->ranks + 2) * plan_granule(&call);
	if (x->ranks <= 64)
		plan_vary(&call, x->thorough, check, x);
	else
		check(&call, x);
}

int main(int argc, char **argv)
{
	u32 nodes = argc > 1 ? atoi(argv[1]) : 64, samples = argc > 2 ? atoi(argv[2]) : 40;
	int only = argc > 3 ? tor_algorithm_parse(argv[3]) : 0, code = 0;
	bool thorough = nodes >= 64, sampled = false;

	if (only < 0) {
		fprintf(stderr, "sweep: no algorithm: %s\n", argv[3]);
		return 2;
	}
	/* what a case frees the next one takes: clean pages cost a tenth of all time */
	mallopt(M_MMAP_THRESHOLD, INT_MAX);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	/* the longest ones first */
	plan_sampled_shapes(samples, 64, SAMPLED_NODES, SEED, add_shape, &sampled);
	plan_every_shape(nodes, add_shape, &thorough);
	plan_every_chord(5, nodes, 1, add_shape, &sampled);
	plan_every_chord(7, min(nodes, 18U), 2, add_shape, &sampled);
	plan_every_chord(9, min(nodes, 13U), 3, add_shape, &sampled);
	plan_every_shape(min(nodes, 24U), add_list, NULL);
	for (algorithm = TORCOLL_SWING_BW; algorithm < TORCOLL_ALGO_COUNT; algorithm++)
		if (!only || only == (int)algorithm) {
			printf("%s\n", tor_algorithm_name(algorithm));
			code |= jobs_run(count, "combinations", sweep_item);
		}
	return code;
}
