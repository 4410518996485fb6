// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Search for a smaller scenario that still fails: remove fault classes,
 * incidents, comms, calls, nodes and sizes, one after the other, and keep each
 * change with which it still fails, until nothing more can be removed. Values
 * drawn during a run then differ, so a few seeds are tried for each.
 */
#include <ctype.h>
#include <stdio.h>

#include "sim.h"

#define SEEDS	12			/* tried before a part counts as necessary */

static char why[sizeof(sim.why)];	/* of the last attempt */
static char kept[sizeof(sim.why)];	/* of the last that failed */
static u64 tries;

static bool calls_are_served(const struct sim_scenario *s)
{
	const char *reason;
	u32 g, i;

	for (g = 0; g < s->groups; g++)
		for (i = 0; i < s->group[g].calls; i++)
			if (!sim_call_is_served(s, &s->group[g], &s->group[g].call[i], &reason))
				return false;
	return true;
}

/*
 * Return whether two sentences are equal except for their numbers. A smaller
 * scenario with another failure does not count.
 */
static bool alike(const char *a, const char *b)
{
	for (;;) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* Replace @s by @next if that fails in the same way with some seed. */
static bool keep(struct sim_scenario *s, struct sim_scenario *next)
{
	u64 seed = s->seed;
	u32 i;

	if (!calls_are_served(next))
		return false;
	for (i = 0; i < SEEDS; i++) {
		next->seed = i ? i : seed;
		tries++;
		if (sim_worker_try(next, why) || !alike(why, kept))
			continue;
		*s = *next;
		memcpy(kept, why, sizeof(kept));
		fprintf(stderr, "%4llu tries: %llu comms, %llu incidents, %s: %s\n",
			(unsigned long long)tries, (unsigned long long)s->groups,
			(unsigned long long)s->incidents, s->dims, why);
		return true;
	}
	return false;
}

static bool drop_classes(struct sim_scenario *s)
{
	static struct sim_scenario next;
	bool any = false;
	u32 i;

	for (i = 0; i < SIM_CLASSES; i++) {
		next = *s;
		if (sim_scenario_drop(&next, i))
			any |= keep(s, &next);
	}
	return any;
}

static bool drop_incidents(struct sim_scenario *s)
{
	static struct sim_scenario next;
	bool any = false;
	u32 i, k;

	for (i = 0; i < s->incidents;) {
		next = *s;
		next.incidents--;
		for (k = i; k < next.incidents; k++)
			next.incident[k] = next.incident[k + 1];
		if (keep(s, &next))
			any = true;
		else
			i++;
	}
	return any;
}

/* Remove group @g and its incidents. */
static void drop_group(struct sim_scenario *s, u32 g)
{
	u32 i, k;

	for (i = g; i + 1 < s->groups; i++)
		s->group[i] = s->group[i + 1];
	s->groups--;
	for (i = 0, k = 0; i < s->incidents; i++) {
		struct sim_incident *at = &s->incident[i];
		bool of_call = at->kind >= SIM_INCIDENT_CANCEL;

		if (of_call && at->group == g)
			continue;
		if (of_call && at->group > g)
			at->group--;
		s->incident[k++] = *at;
	}
	s->incidents = k;
}

static bool drop_groups(struct sim_scenario *s)
{
	static struct sim_scenario next;
	bool any = false;
	u32 g;

	for (g = 0; g < s->groups && s->groups > 1;) {
		next = *s;
		drop_group(&next, g);
		if (keep(s, &next))
			any = true;
		else
			g++;
	}
	return any;
}

static void drop_call(struct sim_scenario *s, u32 g, u32 call)
{
	u32 i;

	s->group[g].calls--;
	for (i = call; i < s->group[g].calls; i++)
		s->group[g].call[i] = s->group[g].call[i + 1];
	for (i = 0; i < s->incidents; i++) {
		struct sim_incident *at = &s->incident[i];

		/* calls are numbered from 1 */
		if (at->kind >= SIM_INCIDENT_CANCEL && at->group == g && at->call > call + 1)
			at->call--;
	}
}

static bool drop_calls(struct sim_scenario *s)
{
	static struct sim_scenario next;
	bool any = false;
	u32 g, i;

	for (g = 0; g < s->groups; g++) {
		for (i = 0; i < s->group[g].calls && s->group[g].calls > 1;) {
			next = *s;
			drop_call(&next, g, i);
			if (keep(s, &next))
				any = true;
			else
				i++;
		}
	}
	return any;
}

/* Halve a number as long as the scenario fails. */
static bool shrink(struct sim_scenario *s, u64 *(*number)(struct sim_scenario *s, u32 i), u32 i,
		   u64 least)
{
	static struct sim_scenario next;
	bool any = false;

	while (*number(s, i) > least) {
		next = *s;
		*number(&next, i) = max(*number(s, i) / 2, least);
		if (!keep(s, &next))
			break;
		any = true;
	}
	return any;
}

static u64 *count_of(struct sim_scenario *s, u32 i)
{
	return &s->group[i / SIM_CALLS_MAX].call[i % SIM_CALLS_MAX].count;
}

static u64 *depth_of(struct sim_scenario *s, u32 i)
{
	return &s->group[i].depth;
}

static u64 *pace_of(struct sim_scenario *s, u32 i)
{
	return &s->group[i].pace;
}

static u64 *knob_of(struct sim_scenario *s, u32 i)
{
	u64 *const knobs[] = { &s->skew, &s->timer_slack, &s->shatter, &s->epilogue,
			       &s->no_checksum, &s->budget_bytes, &s->budget_frames,
			       &s->packets };

	return i < ARRAY_SIZE(knobs) ? knobs[i] : NULL;
}

static bool shrink_numbers(struct sim_scenario *s)
{
	bool any = false;
	u32 g, i;

	for (g = 0; g < s->groups; g++) {
		for (i = 0; i < s->group[g].calls; i++)
			any |= shrink(s, count_of, g * SIM_CALLS_MAX + i, 1);
		any |= shrink(s, depth_of, g, 1);
		any |= shrink(s, pace_of, g, 0);
	}
	for (i = 0; knob_of(s, i); i++)
		any |= shrink(s, knob_of, i, 0);
	return any;
}

/* Use a smaller torus, which is possible only if all comms span all of it. */
static bool shrink_shape(struct sim_scenario *s)
{
	static const char *const smaller[] = { "2", "3", "4", "2x2", "3x2", "2x4", "3x3" };
	static struct sim_scenario next;
	u32 i, g, k;

	for (i = 0; i < ARRAY_SIZE(smaller); i++) {
		next = *s;
		snprintf(next.dims, sizeof(next.dims), "%s", smaller[i]);
		if (!sim_scenario_shape(&next) || next.torus.nodes >= s->torus.nodes)
			continue;
		for (g = 0; g < next.groups && next.group[g].whole; g++) {
			next.group[g].ranks = next.torus.nodes;
			for (k = 0; k < next.group[g].calls; k++)
				next.group[g].call[k].root %= next.torus.nodes;
		}
		for (k = 0; k < next.incidents; k++) {
			next.incident[k].node %= next.torus.nodes;
			next.incident[k].rank %= next.torus.nodes;
			next.incident[k].port = tor_cable_link(next.incident[k].port) %
						next.torus.ports;
			/* every node of these shapes has a port */
			while (!tor_torus_has_port(&next.torus, next.incident[k].node,
						   next.incident[k].port))
				next.incident[k].port = (next.incident[k].port + 1) %
							next.torus.ports;
		}
		if (g == next.groups && keep(s, &next))
			return true;
	}
	return false;
}

bool sim_minimise(struct sim_scenario *s)
{
	bool any;

	if (sim_worker_try(s, why))
		return false;
	memcpy(kept, why, sizeof(kept));
	do {
		any = drop_groups(s);
		any |= drop_classes(s);
		any |= drop_incidents(s);
		any |= drop_calls(s);
		any |= shrink_shape(s);
		any |= shrink_numbers(s);
	} while (any);
	printf("# %s\n", kept);
	return true;
}
