// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Ports with queues, and cables. Cables lose, repeat, delay and damage frames,
 * or carry none for a while.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/wire/accept.h"
#include "core/counter.h"
#include "sim.h"

/* bytes of time on a cable: preamble, MAC header, FCS, gap */
#define MAC_OVERHEAD	38
/* maximum extra delay of a frame, in delays of a cable */
#define SPIKE		200

/* --- state of the cable --- */

void sim_cable_cut(struct sim_node *node, u32 port, bool cut)
{
	struct sim_port *p = &node->port[port];

	p->cuts += cut ? 1 : -1;
	sim.totals.cuts += cut;
	sim.disturbed = sim.now;
	sim_packets_disturbed();
}

void sim_cable_unplug(struct sim_node *node, u32 port, bool out)
{
	struct sim_port *p = &node->port[port];
	struct sim_ctx ctx;
	u32 before = p->unplugged;

	p->unplugged += out ? 1 : -1;
	if (!node->alive || (before && p->unplugged))
		return;
	sim_enter(&ctx, node);
	if (out)
		tor_cable_close(&ctx.core, &node->core, port, false);
	else
		tor_cable_open(&ctx.core, &node->core, port, sim.scenario.frame_size);
	sim_leave(&ctx);
}

bool sim_port_up(const struct sim_node *node, u32 port)
{
	return port < TOR_MAX_CABLES && node->core.cable[port].state == TOR_CABLE_UP;
}

u32 sim_cable_back(u32 cable)
{
	return tor_cable(tor_torus_peer_port(&sim.scenario.torus, tor_cable_link(cable)),
			 sim.scenario.per_link - 1 - tor_cable_place(cable));
}

u32 sim_flow_cable(const struct sim_node *node, u32 link, u32 flow)
{
	return tor_cable(link, tor_routes_cable(node->routes, flow, node->core.link[link].up));
}

u32 sim_shortest_cable(const struct sim_node *node, u32 link)
{
	u32 k, best = TOR_NO_PORT;

	for (k = 0; k < TOR_LINK_CABLES; k++) {
		u32 cable = tor_cable(link, k);

		if (node->core.link[link].up >> k & 1 &&
		    (best == TOR_NO_PORT ||
		     max(node->port[cable].busy_until, sim.now) <
		     max(node->port[best].busy_until, sim.now)))
			best = cable;
	}
	return best;
}

bool sim_may_turn(const struct sim_node *node)
{
	return sim.now < node->turns && !node->core.news &&
	       node->changes == node->core.view.changes;
}

u32 sim_route(struct sim_node *node, u32 dst, u32 tie, u32 from)
{
	const struct tor_torus *t = &node->core.torus;
	u32 port = tor_routes_port(t, node->routes, dst, tie, node->core.live, from);

	if (port == TOR_NO_PORT && sim_may_turn(node))
		port = tor_routes_port(t, node->routes, dst, tie, node->core.live, TOR_NO_PORT);
	if (!sim.disturbed || port == TOR_NO_PORT)
		return port;
	if (!node->unhurt)
		node->unhurt = tor_routes_build(t, node->core.self, NULL);
	if (port != tor_routes_port(t, node->unhurt, dst, tie, ~0U, from)) {
		sim.totals.rerouted++;
		sim_meet(SIM_REROUTE);
	}
	return port;
}

/* --- sending --- */

int tor_env_send(struct tor_ctx *core, struct tor_node *core_node, const struct tor_frame *frame)
{
	struct sim_node *node = container_of(core_node, struct sim_node, core);
	struct sim_ctx *ctx = container_of(core, struct sim_ctx, core);
	u32 port = frame->cable;
	struct sim_frame *f;

	if (port == ~0U) {
		port = sim_route(node, frame->dst, frame->tie, TOR_NO_PORT);
		if (port == TOR_NO_PORT) {
			tor_env_count(core_node, TOR_C_TX_NO_ROUTE, 1);
			sim_kind_ended(((const u8 *)frame->hdr)[1], TOR_C_TX_NO_ROUTE);
			return -EHOSTUNREACH;
		}
	}
	if (sim_chance(sim.scenario.no_memory)) {
		sim_meet(SIM_NO_MEMORY);
		tor_env_count(core_node, TOR_C_TX_NO_MEMORY, 1);
		return -ENOMEM;
	}
	f = sim_frame_new(node, frame);
	f->out_port = port;
	f->spread = frame->cable == ~0U;
	*ctx->last_frame = f;
	ctx->last_frame = &f->next;
	return 0;
}

static void port_grow(struct sim_port *p)
{
	u32 i, room = p->room ? 2 * p->room : 16;
	u64 *leaving = calloc(room, sizeof(*leaving));

	if (!leaving)
		abort();
	for (i = 0; i < p->held; i++)
		leaving[i] = p->leaving[(p->first + i) % p->room];
	free(p->leaving);
	p->leaving = leaving;
	p->first = 0;
	p->room = room;
}

/*
 * Take a place in the port's queue. Return the time when the frame has left, or
 * 0 if the queue is full. An urgent one waits for the frame that is leaving only;
 * the time that it takes delays frames that are still to come, not those that it
 * overtakes.
 */
static u64 port_take(struct sim_port *p, u32 bytes, bool urgent)
{
	u64 takes = (bytes + MAC_OVERHEAD) * 8000ULL / sim.scenario.rate;

	while (p->held && p->leaving[p->first] <= sim.now) {
		p->first = (p->first + 1) % p->room;
		p->held--;
	}
	if (urgent && p->held) {
		p->busy_until += takes;
		return p->leaving[p->first] + takes;
	}
	if (p->held == sim.scenario.queue)
		return 0;
	if (p->held == p->room)
		port_grow(p);
	p->busy_until = max(p->busy_until, sim.now) + takes;
	p->leaving[(p->first + p->held++) % p->room] = p->busy_until;
	return p->busy_until;
}

static void flip_bit(u8 *bytes, u32 len)
{
	u32 bit = sim_below(len * 8);

	bytes[bit / 8] ^= 1 << bit % 8;
}

static void damage(struct sim_frame *f)
{
	if (sim_chance(sim.scenario.corrupt_header)) {
		flip_bit(f->hdr, f->hdr_len);
		f->damaged = true;
		sim_packet_excuse(f);
		sim_meet(SIM_HEADER_CORRUPTION);
	}
	if (!sim_frame_payload(f) || !sim_chance(sim.scenario.corrupt_payload))
		return;
	sim_frame_copy(f);
	flip_bit(f->linear, f->linear_len);
	f->damaged = true;
	sim_meet(SIM_PAYLOAD_CORRUPTION);
}

/* Return the extra delay of a frame. */
static u64 detour(void)
{
	const struct sim_scenario *s = &sim.scenario;
	u64 more = 0;

	if (sim_chance(s->reorder)) {
		more += sim_below(10 * s->delay);
		sim_meet(SIM_REORDERING);
	}
	if (sim_chance(s->spike)) {
		more += sim_below(SPIKE * s->delay);
		sim_meet(SIM_DELAY);
	}
	return more;
}

static void lose(struct sim_frame *f, const char *how)
{
	sim_frame_trace(f->from, how, f);
	sim_packet_excuse(f);
	sim.totals.lost++;
	sim_frame_free(f);
}

/*
 * Deliver a frame, unless the cable was cut meanwhile, or the sender died
 * before the frame had left.
 */
static void cable_arrive(void *arg)
{
	struct sim_frame *f = arg;

	if (f->from->port[f->out_port].cuts)
		lose(f, "cut off");
	else if (f->from->life != f->from_life && f->left > f->from->crashed)
		lose(f, "never left");
	else if (!f->to->alive || f->to->port[f->in_port].unplugged)
		lose(f, "nobody hears");
	else
		sim_receive(f);
}

/* Send a queued frame over the cable: it arrives, is lost, or arrives twice. */
static void cross(struct sim_frame *f)
{
	const struct sim_scenario *s = &sim.scenario;
	u64 when = f->left + s->delay;

	if (!f->late)
		sim_frame_copy(f);
	else if (f->ranges)
		sim_meet(SIM_LATE_PAYLOAD);
	if (sim_chance(s->loss)) {
		sim_meet(SIM_LOSS);
		lose(f, "lost");
		return;
	}
	if (sim_chance(s->duplicate)) {
		struct sim_frame *clone = sim_frame_clone(f);

		clone->again = true;
		sim_meet(SIM_DUPLICATION);
		sim_at(when + sim_below(20 * s->delay), NULL, cable_arrive, clone);
	}
	damage(f);
	sim_at(when + detour(), NULL, cable_arrive, f);
}

bool sim_port_send(struct sim_node *node, struct sim_frame *f, u32 port)
{
	u32 bytes = f->hdr_len + sim_frame_payload(f);
	bool urgent = sim.scenario.acks_first && !sim_frame_payload(f);
	u64 left;

	if (bytes > sim.scenario.frame_size)
		sim_fail("node %u: a frame of %u bytes, and ports take %llu", node->core.self, bytes,
			 (unsigned long long)sim.scenario.frame_size);
	left = port == TOR_NO_PORT ? 0 : port_take(&node->port[port], bytes, urgent);
	if (!left) {
		sim_meet(SIM_FULL_QUEUE);
		sim_packet_excuse(f);
		return false;
	}
	node->port[port].sent++;
	sim_kind_crossed(f);
	f->from = node;
	f->from_life = node->life;
	f->out_port = port;
	f->left = left;
	f->to = &sim.node[tor_torus_neighbour(&node->core.torus, node->core.self,
						tor_cable_link(port))];
	f->in_port = sim_cable_back(port);
	cross(f);
	return true;
}

static void count_sent(struct sim_node *node, const struct sim_frame *f, const struct tor_hdr *h)
{
	if (f->hello)
		return;
	sim.frames++;
	tor_env_count(&node->core, TOR_C_TX_FRAMES, 1);
	tor_env_count(&node->core, TOR_C_TX_BYTES, h->length);
}

/* Handle a full own queue. */
static void dropped(struct sim_ctx *ctx, struct sim_frame *f, const struct tor_hdr *h)
{
	struct sim_node *node = ctx->node;
	struct sim_rank *r;
	struct sim_chan *chan;
	u32 rank;

	tor_env_count(&node->core, TOR_C_TX_LOCAL_DROP, 1);
	sim_frame_trace(node, "queue full", f);
	if (!f->data)
		return;
	r = sim_rank_of(node, h->comm);
	if (!r)
		return;
	rank = tor_comm_rank(&r->core, h->dst);
	chan = sim_rank_chan(r, rank, h->op, &h->where, true);
	if (chan)
		tor_chan_dropped(&ctx->core, &chan->core, rank, h);
}

void sim_frames_send(struct sim_ctx *ctx)
{
	struct sim_node *node = ctx->node;
	struct sim_frame *f;
	enum tor_counter why;
	struct tor_hdr h;

	while ((f = ctx->frames)) {
		ctx->frames = f->next;
		if (!ctx->frames)
			ctx->last_frame = &ctx->frames;
		f->next = NULL;
		if (tor_wire_parse(f->hdr, f->hdr_len, f->hdr_len + sim_frame_payload(f), &h, &why)) {
			sim_fail("node %u built a frame that is dropped as %s", node->core.self,
				 tor_counter_name(why));
			sim_frame_free(f);
			continue;
		}
		f->hello = h.type == TORCOLL_FRAME_HELLO;
		sim_frame_trace(node, "send", f);
		count_sent(node, f, &h);
		/* here, where the frames before it are in the queues */
		if (f->spread)
			f->out_port = sim_shortest_cable(node, f->out_port);
		if (sim_port_send(node, f, f->out_port))
			continue;
		dropped(ctx, f, &h);
		sim_frame_free(f);
	}
}
