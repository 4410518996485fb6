// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Nodes: they start, send hellos, may crash and lose their state, and return
 * with a new epoch.
 */
#include <stdlib.h>

#include "sim.h"

static void tick(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;

	sim_enter(&ctx, node);
	tor_link_tick(&ctx.core, &node->core);
	sim_leave(&ctx);
	sim_at(sim.now + tor_link_tick_ns(&node->core), node, tick, node);
}

static void routes_build(struct sim_node *node)
{
	u16 *dead = calloc(node->core.torus.nodes, sizeof(*dead));

	node->changes = node->core.view.changes;
	tor_link_copy_dead(&node->core, dead, 0, node->core.torus.nodes);
	tor_env_table_free(node->routes);
	node->routes = tor_routes_build(&node->core.torus, node->core.self, dead);
	tor_tree_build(&node->tree, &node->core.torus, node->core.self, node->routes, dead);
	free(dead);
}

static void rerouted(struct sim_ctx *ctx, struct sim_rank *r)
{
	struct sim_op *op;
	u32 k;

	for (op = r->ops; op; op = op->other)
		for (k = 0; k < tor_op_channels(&op->core); k++)
			tor_chan_rerouted(&ctx->core, &op->chan[k].core);
}

/*
 * Search routes, no more often than the module does. Return when to try again,
 * 0: they are up to date.
 */
static u64 follow_view(struct sim_node *node, bool *downs)
{
	*downs = false;
	if (node->view_changed && node->changes == node->core.view.changes) {
		node->view_changed = false;
		sim_kind_look(node);
	}
	if (!node->view_changed)
		return 0;
	if (!tor_damper_may(&node->searches, sim.now))
		return tor_damper_due(&node->searches);
	*downs = node->downs != node->core.view.downs;
	node->downs = node->core.view.downs;
	node->view_changed = false;
	routes_build(node);
	if (*downs)
		node->turns = sim.now + TOR_ROUTES_TURN;
	sim_kind_look(node);
	return 0;
}

/* Do the module's work in process context: new routes, then comms. */
static void node_look(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;
	bool downs;
	u64 when;
	u32 g;

	node->look_due = 0;
	when = follow_view(node, &downs);
	for (g = 0; g < sim.groups; g++) {
		struct sim_rank *r = node->rank[g];
		struct tor_watch pass = {};

		if (!r || !r->installed)
			continue;
		sim_enter(&ctx, node);
		if (downs) {
			rerouted(&ctx, r);
			sim_rank_tell_again(r);
		}
		while (!tor_comm_watch(&ctx.core, &r->core,
				       node->view_changed ? NULL : node->routes, &pass))
			;
		sim_leave(&ctx);
		if (pass.when && (!when || pass.when < when))
			when = pass.when;
	}
	if (when && (!node->look_due || when < node->look_due)) {
		node->look_due = when;
		sim_at(when, node, node_look, node);
	}
}

void sim_node_look(struct sim_node *node)
{
	if (node->look_due == sim.now)
		return;
	node->look_due = sim.now;
	sim_at(sim.now, node, node_look, node);
}

void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *core)
{
	struct sim_node *node = container_of(core, struct sim_node, core);

	node->view_changed = true;
	sim_node_look(node);
}

static void open_ports(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;
	u32 port, k;

	sim_enter(&ctx, node);
	for (port = 0; port < node->core.torus.ports; port++)
		for (k = 0; k < sim.scenario.per_link; k++)
			if (tor_torus_has_port(&node->core.torus, node->core.self, port) &&
			    !node->port[tor_cable(port, k)].unplugged)
				tor_cable_open(&ctx.core, &node->core, tor_cable(port, k),
					       sim.scenario.frame_size);
	sim_leave(&ctx);
	sim_at(sim.now + tor_link_tick_ns(&node->core), node, tick, node);
}

static void boot(struct sim_node *node, u32 self)
{
	tor_node_destroy(&node->core);
	memset(&node->core, 0, sizeof(node->core));
	tor_node_init(&node->core, &sim.scenario.torus, 42, self);
	routes_build(node);
	tor_env_table_free(node->seen);
	node->seen = tor_seen_alloc(sim.scenario.torus.nodes);
	node->downs = 0;
	node->look_due = 0;
	node->turns = 0;
	node->view_changed = false;
	node->searches = (struct tor_damper){
		.first = tor_routes_pause(&sim.scenario.torus),
	};
	node->core.checksum_payload = !sim.scenario.no_checksum;
	node->core.hello_ns = sim.scenario.hello;
	node->alive = true;
	node->factor = 1;
	node->paused_until = 0;
	node->cpu_free = 0;
	node->join_due = 0;
}

void sim_nodes_start(void)
{
	const struct tor_torus *t = &sim.scenario.torus;
	u32 i;

	INIT_LIST_HEAD(&sim.all_frames);
	sim.node = calloc(t->nodes, sizeof(*sim.node));
	for (i = 0; i < t->nodes; i++) {
		struct sim_node *node = &sim.node[i];

		boot(node, i);
		sim_at(sim.now + sim_below(NSEC_PER_MSEC), node, open_ports, node);
	}
}

void sim_node_crash(struct sim_node *node)
{
	u32 g;

	if (!node->alive)
		return;
	sim_meet(SIM_CRASH);
	sim_trace(node, "crashes");
	node->alive = false;
	sim_kind_look(node);
	node->life++;
	node->crashed = sim.now;
	sim.disturbed = sim.now;
	sim_packets_disturbed();
	sim_packets_forget(node);
	for (g = 0; g < sim.groups; g++) {
		struct sim_group *group = &sim.group[g];

		if (!node->rank[g])
			continue;
		group->lost_host = true;
		/* its results are complete, or will never be */
		if (!group->doomed)
			group->doomed = sim.now;
		sim_rank_free(node->rank[g]);
		node->rank[g]->gone = true;
		node->rank[g] = NULL;
	}
	sim_judge_paths();
}

void sim_node_return(struct sim_node *node)
{
	u32 port;

	if (node->alive)
		return;
	sim_meet(SIM_RETURN);
	boot(node, node - sim.node);
	sim_trace(node, "is back");
	for (port = 0; port < TOR_MAX_CABLES; port++)
		node->port[port].held = 0;
	sim.disturbed = sim.now;
	sim_packets_disturbed();
	open_ports(node);
	sim_judge_paths();
}

void sim_nodes_free(void)
{
	u32 i, port, c;

	while (!list_empty(&sim.all_frames))
		sim_frame_free(list_first_entry(&sim.all_frames, struct sim_frame, all));
	for (i = 0; i < sim.scenario.torus.nodes; i++) {
		for (port = 0; port < TOR_MAX_CABLES; port++)
			free(sim.node[i].port[port].leaving);
		tor_node_destroy(&sim.node[i].core);
		tor_env_table_free(sim.node[i].routes);
		tor_env_table_free(sim.node[i].unhurt);
		tor_env_table_free(sim.node[i].seen);
		for (c = 0; c < TOR_C_COUNT; c++)
			sim.totals.counters[c] += sim.node[i].counters[c];
	}
	free(sim.node);
}
