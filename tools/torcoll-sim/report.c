// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Totals of many runs: counters, and the table of fault classes. */
#include <stdio.h>

#include "core/counter.h"
#include "sim.h"

#define MET_PERCENT	8		/* of seeds must meet each class */
#define CUTS		(1U << SIM_CUT | 1U << SIM_ONE_WAY_CUT | 1U << SIM_FLAPPING | 1U << SIM_CRASH)
#define MEAN_FRAMES	5000		/* minimum mean per seed */

void sim_totals_add(struct sim_totals *to, const struct sim_totals *t)
{
	u64 *sum = (u64 *)to;
	const u64 *add = (const u64 *)t;
	struct sim_totals before = *to;
	u32 i;

	static_assert(sizeof(*to) % sizeof(u64) == 0);
	for (i = 0; i < sizeof(*to) / sizeof(u64); i++)
		sum[i] += add[i];
	/* a maximum instead of a sum */
	to->slowest = max(before.slowest, t->slowest);
	to->slowest_seed = t->slowest > before.slowest ? t->slowest_seed : before.slowest_seed;
	to->slowest_failure = max(before.slowest_failure, t->slowest_failure);
	to->slowest_failure_seed = t->slowest_failure > before.slowest_failure ?
				   t->slowest_failure_seed : before.slowest_failure_seed;
}

static void line(const char *name, u64 n)
{
	printf("%-24s %14llu\n", name, (unsigned long long)n);
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

void sim_report(const struct sim_totals *t)
{
	u64 n = t->seeds ? t->seeds : 1;
	u32 i;

	for (i = 0; i < TOR_C_COUNT; i++)
		if (t->counters[i])
			line(tor_counter_name(i), t->counters[i]);
	line("lost by cables", t->lost);
	line("allocations", t->allocations);
	line("FPU sections", t->fpu_sections);
	line("bytes summed", t->summed);
	printf("%-24s %14.3f s\n", "virtual time", t->virtual_time / 1e9);
	printf("%-24s %14.3f ms (seed %llu)\n", "slowest op", t->slowest / 1e6,
	       (unsigned long long)t->slowest_seed);
	printf("%-24s %14.3f ms (seed %llu)\n", "slowest failure", t->slowest_failure / 1e6,
	       (unsigned long long)t->slowest_failure_seed);
	sim_kind_report(t);
	printf("\n%-24s %14s %8s\n", "met by seeds", "seeds", "%");
	for (i = 0; i < SIM_CLASSES; i++)
		printf("%-24s %14llu %8.1f\n", sim_class_names[i], (unsigned long long)t->met[i],
		       percent(t->met[i], n));
	putchar('\n');
	line("ops", t->ops);
	line("frames", t->frames);
	line("mean frames per seed", t->frames / n);
	line("frames rerouted", t->rerouted);
	line("cuts of cables", t->cuts);
	line("packets", t->packets);
	line("arrivals of packets", t->arrivals);
	line("arrivals checked", t->due);
	line("ops aborted", t->aborted);
	line("joins refused", t->refused);
	line("comms of survivors", t->epilogues);
	for (i = 0; i < SIM_ERRNO_MAX; i++)
		if (t->errors[i])
			printf("comms failed: %-34s %8llu\n", strerror(i),
			       (unsigned long long)t->errors[i]);
}

u32 sim_report_cover(const struct sim_totals *t)
{
	u32 left_out = sim_options.without;
	u32 i, bad = 0;

	/* without crashes no node returns, and without cuts no route changes */
	if (left_out & 1U << SIM_CRASH)
		left_out |= 1U << SIM_RETURN;
	if ((left_out & CUTS) == CUTS)
		left_out |= 1U << SIM_REROUTE;
	for (i = 0; i < SIM_CLASSES; i++) {
		if (left_out & 1U << i) {
			printf("left out: %s\n", sim_class_names[i]);
			continue;
		}
		if (percent(t->met[i], t->seeds) >= MET_PERCENT)
			continue;
		printf("too few seeds met \"%s\": %.1f %%\n", sim_class_names[i],
		       percent(t->met[i], t->seeds));
		bad++;
	}
	if (t->seeds && t->frames / t->seeds < MEAN_FRAMES) {
		printf("too few frames: %llu per seed\n", (unsigned long long)(t->frames / t->seeds));
		bad++;
	}
	return bad;
}

u32 sim_report_asked(const struct sim_totals *t)
{
	const struct sim_options *o = &sim_options;
	const struct {
		s64 rate;
		u64 met;
		const char *option;
	} asked[] = {
		{ o->loss, t->met[SIM_LOSS], "loss" },
		{ o->duplicate, t->met[SIM_DUPLICATION], "duplicate" },
		{ o->reorder, t->met[SIM_REORDERING], "reorder" },
		{ o->corrupt, t->met[SIM_HEADER_CORRUPTION] + t->met[SIM_PAYLOAD_CORRUPTION], "corrupt" },
		{ o->no_fpu, t->met[SIM_NO_FPU], "no-fpu" },
		{ o->no_memory, t->met[SIM_NO_MEMORY], "no-memory" },
		{ o->late_payload, t->met[SIM_LATE_PAYLOAD], "late-payload" },
	};
	u32 i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		if (asked[i].rate <= 0 || asked[i].met)
			continue;
		printf("never happened in %llu seeds, though asked for: --%s\n",
		       (unsigned long long)t->seeds, asked[i].option);
		bad++;
	}
	return bad;
}
