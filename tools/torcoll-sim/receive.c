// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reception of frames by a node: the checks and their order are those of
 * kmod/net/receive.c.
 */
#include <stdlib.h>

#include "core/wire/accept.h"
#include "core/counter.h"
#include "core/engine/pair.h"
#include "sim.h"

#define CPU_FRAME	800		/* ns to handle a frame */
#define CPU_BYTES	10		/* bytes of payload that cost one ns more */

static void drop(struct sim_node *node, enum tor_counter why)
{
	tor_env_count(&node->core, why, 1);
	sim_trace(node, "%s", tor_counter_name(why));
}

static void receive_hello(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			  const struct tor_hdr *h)
{
	struct tor_hello hello;

	if (tor_wire_crc(f->linear, h->length) != h->payload_crc)
		drop(node, TOR_C_DROP_PAYLOAD_CRC);
	else if (tor_wire_get_hello(f->linear, h->length, &hello))
		drop(node, TOR_C_DROP_SHORT);
	else
		tor_cable_hello(&ctx->core, &node->core, f->in_port, h, &hello);
}

/* Return whether the frame is on its way: else the caller keeps it. */
static bool forward(struct sim_node *node, struct sim_frame *f, const struct tor_intact *in)
{
	u32 port;

	port = sim_route(node, tor_intact_dst(in), tor_intact_tie(in), tor_cable_link(f->in_port));
	if (!tor_wire_hop(f->hdr)) {
		drop(node, TOR_C_DROP_HOP_LIMIT);
		sim_kind_ended(f->type, TOR_C_DROP_HOP_LIMIT);
	} else if (port == TOR_NO_PORT) {
		drop(node, TOR_C_DROP_NO_ROUTE);
		sim_kind_ended(f->type, TOR_C_DROP_NO_ROUTE);
	} else if (!sim_port_send(node, f, sim_shortest_cable(node, port))) {
		drop(node, TOR_C_DROP_FORWARD);
	} else {
		tor_env_count(&node->core, TOR_C_FORWARDED, 1);
		return true;
	}
	return false;
}

static void receive_join(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h)
{
	struct tor_comm_msg msg;
	struct sim_rank *r;

	if (tor_wire_crc(f->linear, h->length) != h->payload_crc) {
		drop(node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	if (tor_wire_get_comm(f->linear, h->length, &msg)) {
		drop(node, TOR_C_DROP_SHORT);
		return;
	}
	r = sim_rank_of(node, msg.tag);
	tor_join_rx(&ctx->core, &node->core, h, &msg, r && r->joined);
	sim_at(sim.now, node, sim_join_poll, node);
}

static struct sim_rank *admit(struct sim_node *node, const struct tor_hdr *h, u32 tag, u32 *rank)
{
	struct sim_rank *r = sim_rank_of(node, tag);
	enum tor_counter why = TOR_C_DROP_COMM;

	if (r && tor_comm_admit(&r->core, h, rank, &why))
		return r;
	drop(node, why);
	return NULL;
}

/*
 * Refuse frames for a join that this node has given up, from nodes that do not
 * know, as the module does: see kmod/net/receive.c.
 */
static void refuse(struct sim_ctx *ctx, struct sim_node *node, const struct tor_hdr *h, u32 tag)
{
	if (!sim_rank_of(node, tag))
		tor_comm_answer_gone(&ctx->core, &node->core, h, tag);
}

static void fail_if_closed(struct sim_ctx *ctx, struct sim_rank *r, u32 op)
{
	if (r->closed)
		tor_comm_fail(&ctx->core, &r->core, -ECONNABORTED, r->number, op);
}

static void receive_ack(struct sim_ctx *ctx, struct sim_rank *r, u32 rank, const struct tor_ack *ack)
{
	struct sim_chan *chan = sim_rank_chan(r, rank, ack->op, &ack->where, false);

	if (!chan && ack->where.role) {
		if (ack->digest)
			fail_if_closed(ctx, r, ack->op);
		tor_pair_absent(&ctx->core, &r->core, rank, ack);
	}
	if (!chan)
		return;
	if (!ack->where.role || ack->digest)
		sim_rank_tell_if_left(ctx, r, &chan->core, ack->op);
	tor_chan_ack(&ctx->core, &chan->core, rank, ack);
}

static void receive_acks(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h)
{
	enum tor_counter why;
	struct sim_rank *r;
	struct tor_ack ack;
	bool refused = false;
	u32 i, rank;

	for (i = 0; i < h->acks; i++) {
		if (!tor_wire_ack(f->hdr, i, &ack, &why)) {
			drop(node, why);
			continue;
		}
		r = admit(node, h, ack.comm, &rank);
		if (!r && !refused && ack.state != TORCOLL_ACK_DONE) {
			refuse(ctx, node, h, ack.comm);
			refused = true;
		}
		if (r)
			receive_ack(ctx, r, rank, &ack);
	}
}

/* Pass a payload to core, and check that it takes what was sent, and once. */
static void deliver(struct sim_ctx *ctx, struct sim_chan *chan, u32 rank, const struct sim_frame *f,
		    const struct tor_hdr *h)
{
	struct sim_node *node = ctx->node;
	u64 accepted = node->counters[TOR_C_RX_BYTES];
	u64 refused = node->counters[TOR_C_DROP_PAYLOAD_CRC];
	struct sim_op *op = container_of(chan->core.op, struct sim_op, core);
	bool given_up = f->given_up;
	struct tor_bytes *pieces;
	bool same;
	u32 n, i;

	for (i = 0; i < f->ranges; i++)
		given_up |= f->range[i].mem->given_up;
	pieces = sim_frame_pieces(f, &n);
	same = tor_wire_crc_bytes(pieces, n) == f->crc;
	tor_chan_data(&ctx->core, &chan->core, rank, h, pieces, n);
	free(pieces);
	accepted = node->counters[TOR_C_RX_BYTES] - accepted;
	refused = node->counters[TOR_C_DROP_PAYLOAD_CRC] - refused;
	if (accepted)
		sim_judge_accepted(op, rank, h);
	/*
	 * memory that is needed must not have changed; frames with changed
	 * memory must not be needed
	 */
	if (!same && !f->damaged && !given_up && (accepted || refused))
		sim_fail("op %u ch %u round %u, rank %u to %u: bytes [%llu, +%u) changed under way",
			 h->op, h->where.channel, h->where.round, rank, chan->rank->number,
			 (unsigned long long)h->offset, h->length);
	if (accepted && f->damaged && !same)
		sim_fail("a damaged payload is accepted");
}

static void receive_data(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			 const struct tor_hdr *h)
{
	struct sim_chan *chan;
	struct sim_rank *r;
	u32 rank;

	r = admit(node, h, h->comm, &rank);
	if (!r) {
		refuse(ctx, node, h, h->comm);
		return;
	}
	/*
	 * a node that still sends to a failed comm has not heard of the failure
	 */
	if (atomic_read(&r->core.failed)) {
		tor_comm_send_abort(&ctx->core, &r->core, rank);
		return;
	}
	chan = sim_rank_chan(r, rank, h->op, &h->where, false);
	if (!chan && h->where.role) {
		fail_if_closed(ctx, r, h->op);
		r->refused[rank] = true;
		tor_pair_refuse(&ctx->core, &r->core, rank, h);
		return;
	}
	if (!chan) {
		drop(node, TOR_C_DROP_RANGE);
		return;
	}
	sim_rank_tell_if_left(ctx, r, &chan->core, h->op);
	deliver(ctx, chan, rank, f, h);
}

static void receive_abort(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			  const struct tor_hdr *h)
{
	struct sim_rank *r;
	u32 rank;

	if (tor_wire_crc(f->linear, h->length) != h->payload_crc) {
		drop(node, TOR_C_DROP_PAYLOAD_CRC);
		return;
	}
	r = admit(node, h, h->comm, &rank);
	if (r)
		tor_comm_abort_rx(&ctx->core, &r->core, rank, f->linear, h->length);
}

static void receive_for_us(struct sim_ctx *ctx, struct sim_node *node, const struct sim_frame *f,
			   const struct tor_intact *in)
{
	enum tor_counter why;
	struct tor_hdr h;

	ctx->core.answered = false;
	if (tor_wire_read(in, &h, &why)) {
		drop(node, why);
		return;
	}
	if (h.type == TORCOLL_FRAME_HELLO) {
		receive_hello(ctx, node, f, &h);
		return;
	}
	if (h.dst_epoch && h.dst_epoch != node->core.epoch) {
		drop(node, TOR_C_DROP_EPOCH);
		return;
	}
	tor_env_count(&node->core, TOR_C_RX_FRAMES, 1);
	receive_acks(ctx, node, f, &h);
	switch (h.type) {
	case TORCOLL_FRAME_DATA:
		receive_data(ctx, node, f, &h);
		break;
	case TORCOLL_FRAME_ABORT:
		receive_abort(ctx, node, f, &h);
		break;
	case TORCOLL_FRAME_COMM:
		receive_join(ctx, node, f, &h);
		break;
	}
}

/* Return whether the frame went on to another node. */
static bool receive(struct sim_ctx *ctx, struct sim_node *node, struct sim_frame *f)
{
	const u32 nodes = node->core.torus.nodes;
	enum tor_counter why;
	struct tor_intact in;
	bool packet, to_all;
	u32 src, dst;

	if (tor_wire_check(f->hdr, f->hdr_len, f->hdr_len + sim_frame_payload(f), &in, &why)) {
		drop(node, why);
		if (why == TOR_C_DROP_VERSION)
			tor_cable_foreign(&ctx->core, &node->core, f->in_port, f->hdr[0]);
		return false;
	}
	src = tor_intact_src(&in);
	dst = tor_intact_dst(&in);
	packet = tor_intact_type(&in) == TORCOLL_FRAME_PACKET;
	to_all = packet && dst == TORCOLL_NODE_ALL;
	if (tor_intact_fabric(&in) != node->core.tag)
		drop(node, TOR_C_DROP_FABRIC);
	else if (tor_intact_type(&in) == TORCOLL_FRAME_HELLO)
		receive_for_us(ctx, node, f, &in);
	else if ((dst >= nodes && !to_all) || src >= nodes || src == node->core.self)
		drop(node, TOR_C_DROP_NODE);
	else if (!sim_port_up(node, f->in_port))
		drop(node, TOR_C_DROP_LINK);
	else if (packet)
		sim_packet_receive(node, f, &in);
	else if (dst == node->core.self)
		receive_for_us(ctx, node, f, &in);
	else
		return forward(node, f, &in);
	return false;
}

static void handle(void *arg)
{
	struct sim_frame *f = arg;
	struct sim_node *node = f->to;
	struct sim_ctx ctx;
	bool gone;

	sim_frame_trace(node, "recv", f);
	sim_enter(&ctx, node);
	gone = receive(&ctx, node, f);
	sim_leave(&ctx);
	if (!gone)
		sim_frame_free(f);
}

void sim_receive(void *arg)
{
	struct sim_frame *f = arg;
	struct sim_node *node = f->to;
	u64 cost = sim.scenario.swift ? 0 :
		   (CPU_FRAME + sim_frame_payload(f) / CPU_BYTES) * node->factor;

	/*
	 * wait for the node's processor; what waits when the node dies is freed
	 * at the end
	 */
	node->cpu_free = max(node->cpu_free, sim.now) + cost;
	sim_at(node->cpu_free, node, handle, f);
}
