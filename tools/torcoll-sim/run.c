// SPDX-License-Identifier: GPL-2.0 OR MIT
/* One scenario, from its start to its result. */
#include <stdarg.h>
#include <stdio.h>

#include "sim.h"

#define QUIET	(3 * (u64)NSEC_PER_SEC)	/* at the end, during which only hellos may be sent */

struct sim sim;

void sim_trace(const struct sim_node *node, const char *format, ...)
{
	va_list args;

	if (!sim_options.trace)
		return;
	printf("%12.3f us  node %-3zu ", (sim.now - NSEC_PER_SEC) / 1e3, node - sim.node);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(const char *format, ...)
{
	va_list args;
	int n;

	if (sim.failed)
		return;
	sim.failed = true;
	n = snprintf(sim.why, sizeof(sim.why), "at %.3f us: ", (sim.now - NSEC_PER_SEC) / 1e3);
	va_start(args, format);
	vsnprintf(sim.why + n, sizeof(sim.why) - n, format, args);
	va_end(args);
}

static void run_until_done(void)
{
	u64 start = sim.now;

	while (!sim.failed && !(sim_groups_finished() && sim.now >= sim.quiet_from)) {
		if (!sim_step() || sim.now - start > sim_options.limit) {
			sim_fail("stuck");
			if (sim_options.trace)
				sim_groups_describe();
		}
		sim_groups_leave();
	}
}

static void run_for(u64 time)
{
	u64 end = sim.now + time;

	while (!sim.failed && sim.now < end && sim_step())
		;
}

/*
 * Run until frames in flight have arrived and there is silence, except for
 * reports of comms that fail only now, or whose links do.
 */
static void run_quietly(void)
{
	u64 begun, frames;

	do {
		begun = sim.now;
		run_for(2 * QUIET / 3);
		frames = sim.frames;
		run_for(QUIET / 3);
	} while (!sim.failed && sim.telling >= begun);
	if (sim.frames != frames)
		sim_fail("%llu frames after the end", (unsigned long long)(sim.frames - frames));
}

/*
 * Check that survivors can make a comm after all incidents, and that it works.
 */
static void run_epilogue(void)
{
	struct sim_group_spec *g = &sim.epilogue;
	u32 i;

	run_for(4 * sim.scenario.hello + NSEC_PER_SEC);
	memset(g, 0, sizeof(*g));
	g->ranks = sim_survivors(g->member);
	if (sim.failed || g->ranks < 2)
		return;
	g->depth = 2;
	g->calls = 2;
	for (i = 0; i < g->calls; i++)
		g->call[i] = (struct sim_call){
			.collective = TORCOLL_ALLREDUCE,
			.algorithm = i ? TORCOLL_CIRCULANT : TORCOLL_TREE,
			.type = TORCOLL_I32,
			.redop = TORCOLL_SUM,
			.bits = TORCOLL_BITS_AGREE,
			.count = 500,
		};
	sim.totals.epilogues++;
	sim_group_start(g);
	run_until_done();
}

static void finish(void)
{
	u32 i;

	if (!sim.failed && sim.scenario.epilogue)
		run_epilogue();
	if (!sim.failed)
		run_quietly();
	if (!sim.failed)
		sim_judge_idle();
	if (!sim.failed)
		sim_judge_packets();
	if (!sim.failed)
		sim_judge_clean();
	sim.totals.virtual_time = sim.now - NSEC_PER_SEC;
	sim.totals.frames = sim.frames;
	sim.totals.seeds = 1;
	sim.totals.nodes = sim.scenario.torus.nodes;
	for (i = 0; i < SIM_CLASSES; i++)
		sim.totals.met[i] = sim.met >> i & 1;
	sim_groups_free();
	if (!sim.failed && sim.kept)
		sim_fail("%llu bytes of early frames are left", (unsigned long long)sim.kept);
	if (!sim.failed && sim.allocated)
		sim_fail("%llu allocations are left", (unsigned long long)sim.allocated);
	sim_packets_free();
	sim_nodes_free();
	sim.totals.passed = !sim.failed;
}

/* Record the shapes of groups, which are met by their presence. */
static void meet_shapes(void)
{
	u32 i;

	for (i = 0; i < sim.scenario.groups; i++) {
		const struct sim_group_spec *g = &sim.scenario.group[i];

		if (!g->whole)
			sim_meet(sim_group_is_box(&sim.scenario, g) ? SIM_SUB_TORUS : SIM_LIST);
	}
}

bool sim_run(void)
{
	u32 i;

	sim_clock_reset(sim.scenario.seed);
	sim.failed = false;
	sim.why[0] = '\0';
	sim.frames = 0;
	sim.allocated = 0;
	sim.kept = 0;
	sim.groups = 0;
	sim.met = 0;
	sim.whole = 0;
	sim.disturbed = 0;
	memset(&sim.totals, 0, sizeof(sim.totals));
	meet_shapes();
	sim_nodes_start();
	sim_incidents_start();
	for (i = 0; i < sim.scenario.groups; i++)
		sim_group_start(&sim.scenario.group[i]);
	sim_packets_start();
	sim_judge_start();
	run_until_done();
	finish();
	return !sim.failed;
}
