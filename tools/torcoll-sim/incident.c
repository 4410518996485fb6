// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Incidents of a fabric, at their times: cables are cut and mended, nodes
 * crash, pause and slow down, processes die and give up. Incidents of calls are
 * looked up when the call is made.
 */
#include "sim.h"

static struct sim_node *neighbour(const struct sim_node *node, u32 port)
{
	return &sim.node[tor_torus_neighbour(&sim.scenario.torus, node - sim.node,
					     tor_cable_link(port))];
}

static void set_cable(const struct sim_incident *i, bool cut)
{
	struct sim_node *node = &sim.node[i->node];
	struct sim_node *peer = neighbour(node, i->port);
	const struct tor_torus *t = &sim.scenario.torus;
	u32 port = tor_cable_link(i->port);
	char name[HOST_PORT_TEXT];

	sim_trace(node, "cable %u of link %s %s%s", tor_cable_place(i->port),
		  host_port_print(name, tor_port_dim(t, port), tor_port_dir(t, port)),
		  cut ? "cut" : "mended", i->one_way ? ", one way" : "");
	if (cut) {
		sim_meet(i->one_way ? SIM_ONE_WAY_CUT : SIM_CUT);
		if (i->kind == SIM_INCIDENT_FLAP)
			sim_meet(SIM_FLAPPING);
	}
	sim_cable_cut(node, i->port, cut);
	if (!i->one_way)
		sim_cable_cut(peer, sim_cable_back(i->port), cut);
	if (i->carrier) {
		sim_cable_unplug(node, i->port, cut);
		sim_cable_unplug(peer, sim_cable_back(i->port), cut);
	}
	sim_judge_paths();
}

static void mend(void *arg)
{
	set_cable(arg, false);
}

static void cut(void *arg)
{
	const struct sim_incident *i = arg;

	set_cable(i, true);
	if (i->until)
		sim_at(i->until, NULL, mend, arg);
}

static void flap(void *arg)
{
	const struct sim_incident *i = arg;

	if (sim.now >= i->until)
		return;
	set_cable(i, true);
	sim_at(sim.now + i->down, NULL, mend, arg);
	sim_at(sim.now + i->period, NULL, flap, arg);
}

static void come_back(void *arg)
{
	const struct sim_incident *i = arg;

	sim_node_return(&sim.node[i->node]);
}

static void crash(void *arg)
{
	const struct sim_incident *i = arg;

	sim_node_crash(&sim.node[i->node]);
	if (i->until)
		sim_at(i->until, NULL, come_back, arg);
}

static void pause_node(void *arg)
{
	const struct sim_incident *i = arg;
	struct sim_node *node = &sim.node[i->node];

	if (!node->alive)
		return;
	sim_meet(SIM_SLOW_NODE);
	sim_trace(node, "pauses");
	node->paused_until = max(node->paused_until, i->until);
}

static void speed_up(void *arg)
{
	const struct sim_incident *i = arg;

	sim.node[i->node].factor = 1;
}

static void slow_down(void *arg)
{
	const struct sim_incident *i = arg;
	struct sim_node *node = &sim.node[i->node];

	if (!node->alive)
		return;
	sim_meet(SIM_SLOW_NODE);
	sim_trace(node, "becomes slow");
	node->factor = i->factor;
	sim_at(i->until, NULL, speed_up, arg);
}

static void kill_process(void *arg)
{
	const struct sim_incident *i = arg;
	struct sim_node *node = &sim.node[i->node];
	u32 g;

	for (g = 0; g < sim.groups && node->alive; g++)
		if (node->rank[g])
			sim_rank_kill(node->rank[g]);
}

static void cancel(void *arg)
{
	const struct sim_incident *i = arg;

	sim_rank_cancel(&sim.group[i->group].rank[i->rank]);
}

static const sim_event_fn happen[SIM_INCIDENT_KINDS] = {
	[SIM_INCIDENT_CUT] = cut,
	[SIM_INCIDENT_FLAP] = flap,
	[SIM_INCIDENT_CRASH] = crash,
	[SIM_INCIDENT_PAUSE] = pause_node,
	[SIM_INCIDENT_SLOW] = slow_down,
	[SIM_INCIDENT_KILL] = kill_process,
	[SIM_INCIDENT_CANCEL] = cancel,
};

void sim_incidents_start(void)
{
	struct sim_scenario *s = &sim.scenario;
	u32 k;

	sim.quiet_from = sim.now;
	for (k = 0; k < s->incidents; k++) {
		struct sim_incident *i = &s->incident[k];

		if (!happen[i->kind])
			continue;
		/* times of a scenario count from the start of the run */
		i->at += sim.now;
		if (i->until)
			i->until += sim.now;
		sim_at(i->at, NULL, happen[i->kind], i);
		sim.quiet_from = max(sim.quiet_from, max(i->at, i->until + i->period));
	}
}

const struct sim_incident *sim_incident_at(enum sim_incident_kind kind, const struct sim_rank *r,
					   u32 call)
{
	const struct sim_scenario *s = &sim.scenario;
	u32 k;

	for (k = 0; k < s->incidents; k++) {
		const struct sim_incident *i = &s->incident[k];

		if (i->kind == kind && i->group == r->group->number && i->rank == r->number &&
		    i->call == call)
			return i;
	}
	return NULL;
}

u64 sim_patience(const struct sim_group *g, u32 call)
{
	const struct sim_scenario *s = &sim.scenario;
	u32 k;

	for (k = 0; k < s->incidents; k++) {
		const struct sim_incident *i = &s->incident[k];

		/* a rank that omits a call makes none after it */
		if (i->kind == SIM_INCIDENT_ABSENT && i->group == g->number && i->call <= call)
			return i->patience;
	}
	return 0;
}
