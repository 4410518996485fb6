// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Packets of network devices: nodes send them at random, to one node or to all,
 * and pass them on by core's routes and tree, as kmod/packet does.
 *
 * Nothing repairs a loss. What must hold is that none goes further than its hop
 * limit, none arrives twice or at a node that it is not for, and none to all
 * nodes crosses a link twice in one direction. And those sent while all nodes
 * had the same view of the links, and that is right, arrive, if there is a way;
 * to all nodes by one link to each. Unless a fault took them, or a link or a node
 * went or came before they were there.
 */
#include <stdlib.h>

#include "core/counter.h"
#include "core/packet/header.h"
#include "core/wire/accept.h"
#include "sim.h"

#define FLOWS		8		/* of a node */
#define ALL_PERCENT	25		/* of packets are to all nodes */
#define SHORT_PERCENT	15		/* have a hop limit that may be too small */
#define PATIENCE	NSEC_PER_SEC	/* longer than any is under way */

/**
 * struct sim_packet - what has become of a packet
 * @src: node
 * @dst: node, or TORCOLL_NODE_ALL
 * @flow: hash of its flow
 * @hop_limit: hops that it may take
 * @due: it must arrive, as far as known
 * @sent: time, ns
 * @wanted: by node: it must get there, if it is due
 * @arrived: by node: it did
 * @crossed: by node: ports by which the node has sent it
 */
struct sim_packet {
	u32 src;
	u32 dst;
	u32 flow;
	u8 hop_limit;
	bool due;
	u64 sent;
	bool *wanted;
	bool *arrived;
	u16 *crossed;
};

static u32 packets;			/* sent so far; numbers start from 1 */
static u32 settled;			/* up to this one, none is due any more */

static bool is_to_all(const struct sim_packet *p)
{
	return p->dst == TORCOLL_NODE_ALL;
}

/* --- what must arrive --- */

/* Return whether the ends of a cable agree, and one that is up works. */
static bool cable_is_settled(const struct sim_node *node, u32 port)
{
	u32 back = sim_cable_back(port);
	const struct sim_node *peer;

	peer = &sim.node[tor_torus_neighbour(&sim.scenario.torus, node->core.self,
					     tor_cable_link(port))];
	if (!sim_port_up(node, port))
		return !peer->alive || !sim_port_up(peer, back);
	return peer->alive && sim_port_up(peer, back) && !node->port[port].cuts &&
	       !peer->port[back].cuts;
}

static bool link_is_settled(const struct sim_node *node, u32 port)
{
	u32 k;

	for (k = 0; k < sim.scenario.per_link; k++)
		if (!cable_is_settled(node, tor_cable(port, k)))
			return false;
	return true;
}

/*
 * Return whether all living nodes have the same view of the links, have routes
 * by it, and are right.
 */
static bool fabric_is_settled(void)
{
	const struct tor_torus *t = &sim.scenario.torus;
	const struct sim_node *node, *first = NULL;
	u32 port;

	for (node = sim.node; node < sim.node + t->nodes; node++) {
		if (!node->alive)
			continue;
		if (!first)
			first = node;
		if (node->core.awaited || node->view_changed ||
		    node->core.view.digest != first->core.view.digest)
			return false;
		for (port = 0; port < t->ports; port++)
			if (tor_torus_has_port(t, node->core.self, port) &&
			    !link_is_settled(node, port))
				return false;
	}
	return true;
}

/* Note the nodes that a packet must come to, over links that are up. */
static void find_wanted(struct sim_packet *p)
{
	const struct tor_torus *t = &sim.scenario.torus;
	u32 *queue = calloc(t->nodes, sizeof(*queue));
	u32 *hops = calloc(t->nodes, sizeof(*hops));
	u32 head, tail = 0, port, peer;

	queue[tail++] = p->src;
	for (head = 0; head < tail; head++) {
		for (port = 0; port < t->ports; port++) {
			if (!(sim.node[queue[head]].core.live >> port & 1))
				continue;
			peer = tor_torus_neighbour(t, queue[head], port);
			if (peer == p->src || hops[peer])
				continue;
			hops[peer] = hops[queue[head]] + 1;
			queue[tail++] = peer;
			p->wanted[peer] = hops[peer] <= p->hop_limit &&
					  (is_to_all(p) || peer == p->dst);
		}
	}
	free(queue);
	free(hops);
}

/* Check that it has come to all, and to each by one link. */
static void check_arrival(u32 number, const struct sim_packet *p)
{
	u32 node, wanted = 0, crossed = 0;

	for (node = 0; node < sim.scenario.torus.nodes; node++) {
		wanted += p->wanted[node];
		crossed += hweight64(p->crossed[node]);
		if (p->wanted[node] && !p->arrived[node])
			sim_fail("packet %u of node %u has not come to node %u", number, p->src,
				 node);
	}
	if (is_to_all(p) && crossed != wanted)
		sim_fail("packet %u of node %u has crossed %u links to %u nodes", number, p->src,
			 crossed, wanted);
	sim.totals.due += wanted;
}

/* Check those that must have arrived by now. Nothing more is expected of any. */
static void settle(u64 patience)
{
	u32 number;

	for (number = settled + 1; number <= packets; number++) {
		struct sim_packet *p = &sim.packet[number];

		if (!p->due || sim.now < p->sent + patience)
			continue;
		check_arrival(number, p);
	}
	settled = packets;
}

void sim_packets_disturbed(void)
{
	settle(PATIENCE);
}

void sim_judge_packets(void)
{
	settle(0);
}

void sim_packet_excuse(const struct sim_frame *f)
{
	struct sim_packet *p = &sim.packet[f->packet];

	/* to one node, the original is awaited, and not what a cable makes of it */
	if (f->packet && (!f->again || is_to_all(p)))
		p->due = false;
}

void sim_packets_forget(const struct sim_node *node)
{
	u32 number;

	for (number = 1; number <= packets; number++) {
		sim.packet[number].arrived[node->core.self] = false;
		sim.packet[number].crossed[node->core.self] = 0;
	}
}

/* --- on their way --- */

static void packet_drop(struct sim_node *node, const struct sim_frame *f, enum tor_counter why)
{
	tor_env_count(&node->core, why, 1);
	/* a drawn limit is to end packets */
	if (why != TOR_C_DROP_HOP_LIMIT || sim.packet[f->packet].hop_limit == TOR_HOP_LIMIT)
		sim_kind_ended(f->type, why);
	sim_trace(node, "packet %u %s", f->packet, tor_counter_name(why));
}

/* Send a packet over a cable. Consumes @f. */
static void packet_send(struct sim_node *node, struct sim_frame *f, u32 port, u32 flow)
{
	struct sim_packet *p = &sim.packet[f->packet];

	f->hops++;
	/* a hop limit that a cable damages goes unnoticed */
	if (f->hops > p->hop_limit && !f->damaged)
		sim_fail("packet %u of node %u goes %u hops, with a hop limit of %u", f->packet,
			 p->src, f->hops, p->hop_limit);
	if (is_to_all(p) && p->crossed[node->core.self] >> port & 1)
		sim_fail("packet %u of node %u leaves node %u twice by port %u", f->packet, p->src,
			 node->core.self, port);
	p->crossed[node->core.self] |= 1U << port;
	sim_trace(node, "packet %u leaves by port %u", f->packet, port);
	if (sim_port_send(node, f, sim_flow_cable(node, port, flow)))
		return;
	packet_drop(node, f, f->hops == 1 ? TOR_C_TX_LOCAL_DROP : TOR_C_DROP_FORWARD);
	sim_frame_free(f);
}

static void packet_send_all(struct sim_node *node, const struct sim_frame *f, u32 from, u32 flow)
{
	u32 ports = tor_packet_group_ports(&node->tree, node->core.live, from);

	for (; ports; ports &= ports - 1)
		packet_send(node, sim_frame_clone(f), __ffs64(ports), flow);
}

static void packet_relay(struct sim_node *node, const struct sim_frame *f,
			 const struct tor_packet *h)
{
	bool to_all = h->dst == TORCOLL_NODE_ALL;
	struct sim_frame *on;
	u32 port = TOR_NO_PORT;

	if (!to_all)
		port = tor_routes_spread(&node->core.torus, node->routes, h->dst, h->flow,
					 node->core.live, tor_cable_link(f->in_port));
	if (!to_all && port == TOR_NO_PORT && sim_may_turn(node))
		port = tor_routes_spread(&node->core.torus, node->routes, h->dst, h->flow,
					 node->core.live, TOR_NO_PORT);
	if (!to_all && port == TOR_NO_PORT) {
		packet_drop(node, f, TOR_C_DROP_NO_ROUTE);
		return;
	}
	on = sim_frame_clone(f);
	if (!tor_wire_hop(on->hdr)) {
		packet_drop(node, f, TOR_C_DROP_HOP_LIMIT);
		sim_frame_free(on);
		return;
	}
	tor_env_count(&node->core, TOR_C_FORWARDED, 1);
	if (!to_all) {
		packet_send(node, on, port, h->flow);
		return;
	}
	packet_send_all(node, on, tor_cable_link(f->in_port), h->flow);
	sim_frame_free(on);
}

static void packet_arrive(struct sim_node *node, const struct sim_frame *f)
{
	struct sim_packet *p = &sim.packet[f->packet];
	u32 self = node->core.self;

	sim_trace(node, "packet %u arrives", f->packet);
	tor_env_count(&node->core, TOR_C_RX_FRAMES, 1);
	if (p->dst != self && !is_to_all(p))
		sim_fail("packet %u of node %u to %u arrives at %u", f->packet, p->src, p->dst,
			 self);
	/* nobody notices that a cable repeats a packet to one node */
	if (f->again && !is_to_all(p))
		return;
	if (p->arrived[self])
		sim_fail("packet %u of node %u arrives twice at node %u", f->packet, p->src, self);
	p->arrived[self] = true;
	sim.totals.arrivals++;
}

void sim_packet_receive(struct sim_node *node, struct sim_frame *f, const struct tor_intact *in)
{
	enum tor_counter why;
	struct tor_packet h;

	if (tor_wire_packet(in, &h, &why)) {
		sim_fail("packet %u is dropped as %s", f->packet, tor_counter_name(why));
		return;
	}
	if (h.dst != TORCOLL_NODE_ALL) {
		if (h.dst == node->core.self)
			packet_arrive(node, f);
		else
			packet_relay(node, f, &h);
		return;
	}
	if (!tor_seen_first(node->seen, h.src, h.src_epoch, h.number)) {
		sim_meet(SIM_PACKET_AGAIN);
		packet_drop(node, f, TOR_C_DROP_AGAIN);
		return;
	}
	packet_arrive(node, f);
	packet_relay(node, f, &h);
}

/* --- their source --- */

static struct sim_frame *packet_build(struct sim_node *node, u32 number)
{
	const struct sim_packet *p = &sim.packet[number];
	u32 room = sim.scenario.frame_size - sizeof(struct torcoll_hdr) - TORCOLL_PACKET_MIN;
	u32 length = TORCOLL_PACKET_MIN + sim_below(sim_below(3) ? 100 : room + 1);
	u8 hdr[sizeof(struct torcoll_hdr)];
	struct tor_frame frame = {
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = calloc(1, length),
		.linear_len = length,
	};
	struct sim_frame *f;

	tor_packet_header(&node->core, hdr, p->dst, p->flow,
			  is_to_all(p) ? tor_packet_number(&node->core) : 0, p->hop_limit, length);
	f = sim_frame_new(node, &frame);
	free((void *)frame.linear);
	f->packet = number;
	return f;
}

/* Send packet @number from @node. */
static void packet_begin(struct sim_node *node, u32 number)
{
	const struct tor_torus *t = &node->core.torus;
	struct sim_packet *p = &sim.packet[number];
	struct sim_frame *f;
	u32 port;

	p->src = node->core.self;
	p->sent = sim.now;
	p->flow = sim_below(FLOWS);
	p->hop_limit = TOR_HOP_LIMIT;
	if (sim_below(100) < ALL_PERCENT) {
		p->dst = TORCOLL_NODE_ALL;
	} else {
		p->dst = (p->src + 1 + sim_below(t->nodes - 1)) % t->nodes;
		if (sim_below(100) < SHORT_PERCENT)
			p->hop_limit = 1 + sim_below(tor_torus_diameter(t));
	}
	p->due = fabric_is_settled();
	if (p->due)
		find_wanted(p);
	f = packet_build(node, number);
	if (is_to_all(p)) {
		packet_send_all(node, f, TOR_NO_PORT, p->flow);
		sim_frame_free(f);
		return;
	}
	port = tor_routes_spread(t, node->routes, p->dst, p->flow, node->core.live, TOR_NO_PORT);
	if (port != TOR_NO_PORT) {
		packet_send(node, f, port, p->flow);
		return;
	}
	packet_drop(node, f, TOR_C_TX_NO_ROUTE);
	sim_frame_free(f);
}

static void packet_next(void *arg)
{
	const struct sim_scenario *s = &sim.scenario;
	struct sim_node *node = &sim.node[sim_below(s->torus.nodes)];
	struct sim_packet *p = &sim.packet[++packets];

	p->wanted = calloc(s->torus.nodes, sizeof(*p->wanted));
	p->arrived = calloc(s->torus.nodes, sizeof(*p->arrived));
	p->crossed = calloc(s->torus.nodes, sizeof(*p->crossed));
	if (node->alive && node->paused_until <= sim.now && tor_link_is_ready(&node->core)) {
		sim_meet(SIM_PACKET);
		sim.totals.packets++;
		packet_begin(node, packets);
	}
	if (packets < s->packets)
		sim_at(sim.now + s->packet_gap / 2 + sim_below(s->packet_gap), NULL, packet_next, arg);
}

void sim_packets_start(void)
{
	const struct sim_scenario *s = &sim.scenario;
	u64 longest = s->packets * (s->packet_gap + s->packet_gap / 2);

	packets = 0;
	settled = 0;
	sim.packet = calloc(s->packets + 1, sizeof(*sim.packet));
	if (!s->packets || s->torus.nodes == 1)
		return;
	sim_at(sim.now + sim_below(NSEC_PER_SEC), NULL, packet_next, NULL);
	sim.quiet_from = max(sim.quiet_from, sim.now + NSEC_PER_SEC + longest);
}

void sim_packets_free(void)
{
	u32 i;

	for (i = 1; i <= packets; i++) {
		free(sim.packet[i].wanted);
		free(sim.packet[i].arrived);
		free(sim.packet[i].crossed);
	}
	free(sim.packet);
}
