// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The network: ports with queues, cables with faults, and what a node does with a frame that comes
 * in. A frame sent without a copy refers to its sender's memory. Whether the payload is read when the
 * frame leaves, as by a network card, or when it arrives, as over veth, is drawn per frame.
 */
#include <stdio.h>
#include <stdlib.h>

#include "counter.h"
#include "sim.h"

#define MAC_OVERHEAD	38		/* bytes of a cable's time: preamble, MAC header, FCS, gap */
#define CPU_FRAME	800		/* ns to handle a frame */
#define CPU_BYTE	0.1		/* and each byte of its payload for us */

static u32 payload_len(const struct sim_frame *f)
{
	u32 len = f->linear_len;
	u32 i;

	for (i = 0; i < f->ranges; i++)
		len += f->range[i].len;
	return len;
}

static struct sim_frame *frame_new(void)
{
	struct sim_frame *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	list_add_tail(&f->all, &sim.all_frames);
	return f;
}

static void frame_drop_ranges(struct sim_frame *f)
{
	u32 i;

	for (i = 0; i < f->ranges; i++)
		sim_mem_put(f->range[i].mem);
	f->ranges = 0;
}

static void frame_free(struct sim_frame *f)
{
	frame_drop_ranges(f);
	free(f->linear);
	list_del(&f->all);
	free(f);
}

/* Read the payload now. */
static void frame_copy(struct sim_frame *f)
{
	u8 *to;
	u32 i;

	if (f->linear || !f->ranges)
		return;
	to = malloc(payload_len(f));
	f->linear = to;
	for (i = 0; i < f->ranges; i++) {
		memcpy(to + f->linear_len, f->range[i].mem->data + f->range[i].off,
		       f->range[i].len);
		f->linear_len += f->range[i].len;
	}
	frame_drop_ranges(f);
}

static struct sim_frame *frame_clone(const struct sim_frame *f)
{
	struct sim_frame *clone = frame_new();
	struct list_head all = clone->all;
	u32 i;

	*clone = *f;
	clone->all = all;
	for (i = 0; i < f->ranges; i++)
		sim_mem_get(f->range[i].mem);
	if (f->linear) {
		clone->linear = malloc(f->linear_len);
		memcpy(clone->linear, f->linear, f->linear_len);
	}
	return clone;
}

static const char *type_name(u32 type)
{
	static const char *const names[] = { "?", "hello", "data", "ack", "abort", "comm" };

	return names[type < ARRAY_SIZE(names) ? type : 0];
}

static void trace_frame(const struct sim_node *node, const char *what, const struct sim_frame *f)
{
	static const char *const states[] = { "ok", "not-ready", "done", "?" };
	enum tor_counter why;
	char acks[512] = "";
	struct tor_hdr h;
	struct tor_ack a;
	u32 i, n = 0;

	if (!sim_options.trace || tor_wire_parse(f->hdr, f->hdr_len, f->hdr_len + payload_len(f),
						 &h, &why))
		return;
	if (h.type == TORCOLL_FRAME_HELLO)
		return;
	for (i = 0; i < h.acks && n < sizeof(acks); i++) {
		tor_wire_ack(f->hdr, i, &a);
		n += snprintf(acks + n, sizeof(acks) - n, " [op %u ch %u round %u %s base %u mask %llx]",
			      a.op, a.channel, a.round, states[min(a.state, (u8)3)], a.base,
			      (unsigned long long)a.mask);
	}
	if (h.type == TORCOLL_FRAME_DATA)
		sim_trace(node, "%s %u->%u op %u ch %u round %u [%llu, +%u)%s%s%s%s", what, h.src, h.dst,
			  h.op, h.channel, h.round, (unsigned long long)h.offset, h.length,
			  h.flags & TORCOLL_FLAG_ACK ? " ack!" : "",
			  h.flags & TORCOLL_FLAG_RETRANSMIT ? " again" : "",
			  h.flags & TORCOLL_FLAG_PROBE ? " probe" : "", acks);
	else
		sim_trace(node, "%s %u->%u %s%s", what, h.src, h.dst, type_name(h.type), acks);
}

/* --- sending --- */

static void arrive(void *arg);

static bool port_up(const struct sim_node *node, u32 port)
{
	return port < TOR_MAX_PORTS && node->core.link[port].state == TOR_LINK_UP;
}

int tor_env_send(struct tor_ctx *core, struct tor_node *core_node, const struct tor_frame *frame)
{
	struct sim_node *node = container_of(core_node, struct sim_node, core);
	struct sim_ctx *ctx = container_of(core, struct sim_ctx, core);
	u32 port = frame->port;
	struct sim_frame *f;
	u32 i;

	if (port == ~0U) {
		port = tor_route_port(&core_node->torus, core_node->self, frame->dst, frame->tie);
		if (!port_up(node, port)) {
			tor_env_count(core_node, TOR_C_TX_NO_ROUTE, 1);
			return -EHOSTUNREACH;
		}
	}
	if (sim_chance(sim.scenario.no_memory)) {
		tor_env_count(core_node, TOR_C_TX_NO_MEMORY, 1);
		return -ENOMEM;
	}
	f = frame_new();
	f->from = node;
	f->out_port = port;
	f->data = frame->data;
	f->hdr_len = frame->hdr_len;
	memcpy(f->hdr, frame->hdr, frame->hdr_len);
	if (frame->linear_len) {
		f->linear = malloc(frame->linear_len);
		memcpy(f->linear, frame->linear, frame->linear_len);
		f->linear_len = frame->linear_len;
	}
	f->ranges = frame->ranges;
	for (i = 0; i < frame->ranges; i++) {
		f->range[i] = frame->range[i];
		sim_mem_get(f->range[i].mem);
		if (f->range[i].off + f->range[i].len > f->range[i].mem->len)
			sim_fail("a frame of [%llu, +%llu) of memory of %llu",
				 (unsigned long long)f->range[i].off,
				 (unsigned long long)f->range[i].len,
				 (unsigned long long)f->range[i].mem->len);
	}
	if (frame->copy)
		frame_copy(f);
	f->late = sim_chance(sim.scenario.late_payload);
	*ctx->last_frame = f;
	ctx->last_frame = &f->next;
	return 0;
}

/* A place in the port's queue and the time when the frame has left, or 0 if the queue is full. */
static u64 port_take(struct sim_port *p, u32 bytes)
{
	u32 room = sim.scenario.queue;

	while (p->held && p->leaving[p->first] <= sim.now) {
		p->first = (p->first + 1) % room;
		p->held--;
	}
	if (p->held == room)
		return 0;
	p->busy_until = max(p->busy_until, sim.now) + (bytes + MAC_OVERHEAD) / sim.scenario.rate;
	p->leaving[(p->first + p->held++) % room] = p->busy_until;
	return p->busy_until;
}

static void flip_bit(struct sim_frame *f)
{
	u32 bit;

	frame_copy(f);
	bit = sim_below((f->hdr_len + f->linear_len) * 8);
	if (bit / 8 < f->hdr_len)
		f->hdr[bit / 8] ^= 1 << bit % 8;
	else
		f->linear[bit / 8 - f->hdr_len] ^= 1 << bit % 8;
}

/* A frame has left its port and reaches the other end, or does not, or twice. */
static void cross(struct sim_frame *f, u64 left)
{
	const struct sim_scenario *s = &sim.scenario;
	u64 when = left + s->delay;
	struct sim_frame *clone;

	if (!f->late)
		frame_copy(f);
	if (sim_chance(s->loss)) {
		trace_frame(f->from, "lost", f);
		sim.totals.lost++;
		frame_free(f);
		return;
	}
	if (sim_chance(s->duplicate)) {
		clone = frame_clone(f);
		sim_at(when + sim_below(20 * s->delay), arrive, clone);
	}
	if (sim_chance(s->reorder))
		when += sim_below(10 * s->delay);
	if (sim_chance(s->corrupt))
		flip_bit(f);
	sim_at(when, arrive, f);
}

/* Into the queue of a port. False: it is full, and the frame still the caller's. */
static bool send(struct sim_node *node, struct sim_frame *f, u32 port)
{
	const struct tor_torus *t = &node->core.torus;
	u64 left = port_take(&node->port[port], f->hdr_len + payload_len(f));

	if (!left)
		return false;
	f->to = &sim.node[tor_torus_neighbour(t, node->core.self, port)];
	f->in_port = tor_torus_peer_port(port);
	cross(f, left);
	return true;
}

void sim_frames_send(struct sim_ctx *ctx)
{
	struct sim_node *node = ctx->node;
	struct sim_frame *f;
	struct tor_hdr h;
	enum tor_counter why;

	while ((f = ctx->frames)) {
		ctx->frames = f->next;
		if (!ctx->frames)
			ctx->last_frame = &ctx->frames;
		f->next = NULL;
		if (tor_wire_parse(f->hdr, f->hdr_len, f->hdr_len + payload_len(f), &h, &why))
			sim_fail("node %u built a frame that is dropped as %s", node->core.self,
				 tor_counter_name(why));
		trace_frame(node, "send", f);
		if (h.type != TORCOLL_FRAME_HELLO) {
			sim.frames++;
			tor_env_count(&node->core, TOR_C_TX_FRAMES, 1);
			tor_env_count(&node->core, TOR_C_TX_BYTES, h.length);
		}
		if (send(node, f, f->out_port))
			continue;
		tor_env_count(&node->core, TOR_C_TX_LOCAL_DROP, 1);
		trace_frame(node, "queue full", f);
		if (f->data) {
			struct sim_chan *chan = sim_rank_chan(node->rank, h.op, h.channel);

			tor_chan_dropped(&ctx->core, &chan->core,
					 tor_comm_rank(&node->rank->core, h.dst), &h);
		}
		frame_free(f);
	}
}

/* --- receiving --- */

static void drop(struct sim_node *node, const struct sim_frame *f, enum tor_counter why)
{
	tor_env_count(&node->core, why, 1);
	sim_trace(node, "%s", tor_counter_name(why));
}

/* The payload as the module would see it: a list of pieces that may end anywhere. */
static struct tor_bytes *payload_pieces(const struct sim_frame *f, u32 *n)
{
	struct tor_bytes *b = malloc((payload_len(f) + 1) * sizeof(*b));
	u64 at, run;
	u32 i, len;

	*n = 0;
	for (i = 0; i < f->ranges; i++) {
		for (at = 0; at < f->range[i].len; at += len) {
			len = f->range[i].len - at;
			b[*n].p = tor_env_mem(f->range[i].mem, f->range[i].off + at, &len);
			b[(*n)++].len = len;
		}
	}
	for (at = 0; at < f->linear_len; at += run) {
		run = f->linear_len - at;
		if (sim.scenario.shatter)
			run = min_t(u64, run, sim_below(200));
		b[*n].p = f->linear + at;
		b[(*n)++].len = run;
		/* an empty piece now and then, but not for ever */
		if (!run)
			b[*n - 1].len = run = 1;
	}
	return b;
}

static void receive_hello(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			  const struct tor_hdr *h)
{
	struct tor_hello hello;

	if (tor_wire_crc(f->linear, h->length) != h->payload_crc)
		drop(node, f, TOR_C_DROP_PAYLOAD_CRC);
	else if (tor_wire_get_hello(f->linear, h->length, &hello))
		drop(node, f, TOR_C_DROP_SHORT);
	else
		tor_link_hello(&ctx->core, &node->core, f->in_port, h, &hello);
}

static void forward(struct sim_node *node, struct sim_frame *f, const struct tor_hdr *h)
{
	const struct tor_torus *t = &node->core.torus;
	struct sim_frame *on;
	u32 port;

	if (h->dst >= t->nodes) {
		drop(node, f, TOR_C_DROP_NODE);
		return;
	}
	on = frame_clone(f);
	port = tor_route_port(t, node->core.self, h->dst, h->channel & 1);
	if (!tor_wire_hop(on->hdr)) {
		drop(node, f, TOR_C_DROP_HOP_LIMIT);
	} else if (!port_up(node, port)) {
		drop(node, f, TOR_C_DROP_NO_ROUTE);
	} else if (!send(node, on, port)) {
		drop(node, f, TOR_C_DROP_FORWARD);
	} else {
		tor_env_count(&node->core, TOR_C_FORWARDED, 1);
		return;
	}
	frame_free(on);
}

static void receive_join(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h)
{
	struct tor_comm_msg msg;
	bool known;

	if (tor_wire_crc(f->linear, h->length) != h->payload_crc) {
		drop(node, f, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	if (tor_wire_get_comm(f->linear, h->length, &msg)) {
		drop(node, f, TOR_C_DROP_SHORT);
		return;
	}
	known = node->rank && node->rank->joined && node->rank->core.tag == msg.tag;
	tor_join_rx(&ctx->core, &node->core, h, &msg, known);
	sim_at(sim.now, sim_join_poll, node);
}

static void receive_acks(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h, u32 rank)
{
	struct sim_chan *chan;
	struct tor_ack ack;
	u32 i;

	for (i = 0; i < h->acks; i++) {
		tor_wire_ack(f->hdr, i, &ack);
		chan = sim_rank_chan(node->rank, ack.op, ack.channel);
		if (ack.comm != node->rank->core.tag || !chan)
			drop(node, f, TOR_C_DROP_RANGE);
		else
			tor_chan_ack(&ctx->core, &chan->core, rank, &ack);
	}
}

static void receive_data(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h, u32 rank)
{
	struct sim_chan *chan = sim_rank_chan(node->rank, h->op, h->channel);
	struct tor_bytes *pieces;
	u32 n;

	if (!chan) {
		drop(node, f, TOR_C_DROP_RANGE);
		return;
	}
	pieces = payload_pieces(f, &n);
	tor_chan_data(&ctx->core, &chan->core, rank, h, pieces, n);
	free(pieces);
}

static void receive_comm(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h)
{
	enum tor_counter why = TOR_C_DROP_COMM;
	u32 rank;

	if (!node->rank || node->rank->core.tag != h->comm ||
	    !tor_comm_admit(&node->rank->core, h, &rank, &why)) {
		drop(node, f, why);
		return;
	}
	receive_acks(ctx, node, f, h, rank);
	if (h->type == TORCOLL_FRAME_DATA) {
		/* whoever still sends to a failed comm has not heard */
		if (atomic_read(&node->rank->core.failed))
			tor_comm_send_abort(&ctx->core, &node->rank->core, rank);
		else
			receive_data(ctx, node, f, h, rank);
	} else if (h->type == TORCOLL_FRAME_ABORT) {
		if (tor_wire_crc(f->linear, h->length) != h->payload_crc) {
			drop(node, f, TOR_C_DROP_PAYLOAD_CRC);
			return;
		}
		if (!atomic_read(&node->rank->core.failed))
			node->rank->told = true;
		tor_comm_abort_rx(&ctx->core, &node->rank->core, rank, f->linear, h->length);
	}
}

static void receive(struct sim_ctx *ctx, struct sim_node *node, struct sim_frame *f)
{
	u32 len = f->hdr_len + payload_len(f);
	enum tor_counter why;
	struct tor_hdr h;

	if (tor_wire_parse(f->hdr, f->hdr_len, len, &h, &why)) {
		drop(node, f, why);
		if (why == TOR_C_DROP_VERSION)
			tor_link_foreign(&ctx->core, &node->core, f->in_port, h.version);
	} else if (h.fabric != node->core.tag) {
		drop(node, f, TOR_C_DROP_FABRIC);
	} else if (h.type == TORCOLL_FRAME_HELLO) {
		receive_hello(ctx, node, f, &h);
	} else if (!port_up(node, f->in_port)) {
		drop(node, f, TOR_C_DROP_LINK);
	} else if (h.dst != node->core.self) {
		forward(node, f, &h);
	} else if (h.src >= node->core.torus.nodes || h.src == node->core.self) {
		drop(node, f, TOR_C_DROP_NODE);
	} else if (h.dst_epoch && h.dst_epoch != node->core.epoch) {
		drop(node, f, TOR_C_DROP_EPOCH);
	} else {
		tor_env_count(&node->core, TOR_C_RX_FRAMES, 1);
		if (h.type == TORCOLL_FRAME_COMM)
			receive_join(ctx, node, f, &h);
		else
			receive_comm(ctx, node, f, &h);
	}
}

static void handle(void *arg)
{
	struct sim_frame *f = arg;
	struct sim_ctx ctx;

	trace_frame(f->to, "recv", f);
	sim_enter(&ctx, f->to);
	receive(&ctx, f->to, f);
	sim_leave(&ctx);
	frame_free(f);
}

/* At the node's port: wait for its processor. */
static void arrive(void *arg)
{
	struct sim_frame *f = arg;
	struct sim_node *node = f->to;

	node->cpu_free = max(node->cpu_free, sim.now) + CPU_FRAME + payload_len(f) * CPU_BYTE;
	sim_at(node->cpu_free, handle, f);
}

/* --- the fabric as such --- */

static void tick(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;
	u32 port;

	sim_enter(&ctx, node);
	for (port = 0; port < TOR_MAX_PORTS; port++)
		tor_link_tick(&ctx.core, &node->core, port);
	sim_leave(&ctx);
	sim_at(sim.now + node->core.hello_ns, tick, node);
}

static void open_ports(void *arg)
{
	struct sim_node *node = arg;
	struct sim_ctx ctx;
	u32 port;

	sim_enter(&ctx, node);
	for (port = 0; port < 2U * node->core.torus.ndim; port++)
		if (tor_torus_has_port(&node->core.torus, node->core.self, port))
			tor_link_open(&ctx.core, &node->core, port, sim.scenario.frame_size);
	sim_leave(&ctx);
	sim_at(sim.now + node->core.hello_ns, tick, node);
}

void sim_fabric_start(void)
{
	const struct tor_torus *t = &sim.scenario.torus;
	u32 i, port;

	INIT_LIST_HEAD(&sim.all_frames);
	sim.node = calloc(t->nodes, sizeof(*sim.node));
	for (i = 0; i < t->nodes; i++) {
		tor_node_init(&sim.node[i].core, t, 42, i);
		sim.node[i].core.checksum_payload = !sim.scenario.no_checksum;
		for (port = 0; port < TOR_MAX_PORTS; port++)
			sim.node[i].port[port].leaving = calloc(sim.scenario.queue, sizeof(u64));
		sim_at(sim.now + sim_below(NSEC_PER_MSEC), open_ports, &sim.node[i]);
	}
}

void sim_fabric_free(void)
{
	u32 i, port, c;

	while (!list_empty(&sim.all_frames))
		frame_free(list_first_entry(&sim.all_frames, struct sim_frame, all));
	for (i = 0; i < sim.scenario.torus.nodes; i++) {
		for (port = 0; port < TOR_MAX_PORTS; port++)
			free(sim.node[i].port[port].leaving);
		for (c = 0; c < TOR_C_COUNT; c++)
			sim.totals.counters[c] += sim.node[i].counters[c];
	}
	free(sim.node);
}
