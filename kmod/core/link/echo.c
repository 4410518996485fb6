// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Echoes. See echo.h.
 */
#include "core/link/echo.h"

#include "core/link/node.h"

static void echo_answer(struct tor_ctx *ctx, struct tor_node *node, u32 cable,
			const struct tor_hdr *h)
{
	u8 hdr[sizeof(struct torcoll_hdr)];
	const struct tor_frame frame = {
		.cable = cable,
		.dst = h->src,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
	};
	struct tor_hdr reply;

	tor_node_header(node, &reply, TORCOLL_FRAME_ECHO, h->src);
	reply.hop_limit = 1;
	reply.dst_epoch = h->src_epoch;
	reply.flags = TORCOLL_FLAG_REPLY;
	reply.op = h->op;
	reply.stamp = h->stamp;
	reply.digest = atomic_add_return(1, &node->cable[cable].echoes);
	/* 0 is left for modules that do not count them */
	reply.offset = atomic64_read(&node->cable[cable].damaged) + 1;
	tor_wire_build(hdr, &reply, NULL);
	tor_env_count(node, TOR_C_TX_ECHOES, 1);
	tor_env_send(ctx, node, &frame);
}

void tor_echo_rx(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		 const struct tor_bytes *payload, u32 pieces)
{
	/* for a process on this host that listens on the device */
	if (h->flags & TORCOLL_FLAG_REPLY)
		return;
	if (h->src != tor_torus_neighbour(&node->torus, node->self, tor_cable_link(cable))) {
		tor_env_drop(ctx, node, TOR_C_DROP_NODE);
	} else if (tor_wire_crc_bytes(payload, pieces) != h->payload_crc) {
		tor_cable_damaged(node, cable);
		tor_env_drop(ctx, node, TOR_C_DROP_PAYLOAD_CRC);
	} else {
		echo_answer(ctx, node, cable, h);
	}
}
