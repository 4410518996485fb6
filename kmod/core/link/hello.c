// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Hellos that a node sends. See hello.h. */
#include "core/link/hello.h"

#include "core/link/node.h"
#include "core/version.h"
#include "core/wire/wire.h"

/* Choose the records of the next hellos: as many as fit all cables. */
static void hello_pick_records(struct tor_node *node, enum tor_view_turn turn)
{
	const u32 fixed = sizeof(struct torcoll_hdr) + sizeof(struct torcoll_hello);
	u32 max = TORCOLL_HELLO_RECORDS_MAX;
	u32 cable;

	for (cable = 0; cable < TOR_MAX_CABLES; cable++)
		if (node->cable[cable].state > TOR_CABLE_NO_CARRIER)
			max = min_t(u32, max, (node->cable[cable].frame_size - fixed) /
					      sizeof(struct torcoll_link_record));
	node->ntold = tor_view_pick(&node->view, node->told, max, turn);
}

/* Return whether the frame has room for more than the records: they go first. */
static bool hello_says_more(const struct tor_node *node, const struct tor_cable *c)
{
	return sizeof(struct torcoll_hdr) + sizeof(struct torcoll_hello) +
	       node->ntold * sizeof(struct torcoll_link_record) +
	       sizeof(struct torcoll_hello_more) <= c->frame_size;
}

static void hello_say(struct tor_ctx *ctx, struct tor_node *node, u32 cable)
{
	const struct tor_cable *c = &node->cable[cable];
	u8 hdr[sizeof(struct torcoll_hdr)];
	struct tor_frame frame = {
		.cable = cable,
		.dst = ~0U,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = node->said,
	};
	struct tor_hello hello = {
		.dim = tor_port_dim(&node->torus, tor_cable_link(cable)),
		.way = tor_port_way(&node->torus, tor_cable_link(cable)),
		.ndim = node->torus.ndim,
		.hears = c->heard && c->state != TOR_CABLE_TOO_SMALL,
		.frame_size = c->frame_size,
		.fabric_frame = tor_view_frame(&node->view),
		.heard_node = c->peer_node,
		.heard_epoch = c->peer_epoch,
		.interval_ms = tor_div64(node->hello_ns, NSEC_PER_MSEC),
		.view = node->view.digest,
		.records = node->ntold,
		.more = hello_says_more(node, c),
		.rates = READ_ONCE(node->rates),
		.sent = tor_env_cable_sent(node, cable) + 1,
		.cables = node->torus.cables,
	};
	struct tor_hdr h;
	u32 dim;

	for (dim = 0; dim < node->torus.ndim; dim++)
		hello.side[dim] = tor_torus_side(&node->torus, dim);
	memcpy(hello.version, TOR_VERSION, sizeof(TOR_VERSION));
	static_assert(sizeof(TOR_VERSION) <= sizeof(hello.version));
	tor_env_host_name(node, hello.name);
	tor_node_header(node, &h, TORCOLL_FRAME_HELLO, ~0U);
	h.hop_limit = 1;
	h.flags = (node->big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0) |
		  (node->checksum_payload ? 0 : TORCOLL_FLAG_UNSUMMED);
	h.length = tor_wire_hello_bytes(&hello);
	frame.linear_len = h.length;
	tor_wire_put_hello(node->said, &hello, node->told);
	h.payload_crc = tor_wire_crc(node->said, h.length);
	tor_wire_build(hdr, &h, NULL);
	tor_env_send(ctx, node, &frame);
}

/* Send hellos on all cables, with as much news as they take. */
static void hello_say_everywhere(struct tor_ctx *ctx, struct tor_node *node,
				 enum tor_view_turn turn)
{
	u32 cable;

	hello_pick_records(node, turn);
	WRITE_ONCE(node->news, !list_empty(&node->view.news));
	if (!node->news)
		node->told_downs = node->view.downs;
	for (cable = 0; cable < TOR_MAX_CABLES; cable++) {
		if (node->cable[cable].state <= TOR_CABLE_NO_CARRIER)
			continue;
		hello_say(ctx, node, cable);
	}
}

static void hello_earn_floods(struct tor_node *node, u64 now)
{
	u64 every = min_t(u64, tor_div64(node->hello_ns, TOR_FLOODS_PER_HELLO), TOR_FLOOD_EVERY);
	u64 earned;

	/* an entry on another processor may have begun later and come first */
	if (now <= node->flooded)
		return;
	earned = tor_div64(now - node->flooded, every);
	if (!earned)
		return;
	/* the rest of an interval counts, unless there are as many as there may be */
	if (node->floods + earned >= TOR_FLOODS)
		node->flooded = now;
	else
		node->flooded += earned * every;
	node->floods = min_t(u64, node->floods + earned, TOR_FLOODS);
}

bool tor_hello_spread_news(struct tor_ctx *ctx, struct tor_node *node)
{
	if (!node->news)
		return false;
	hello_earn_floods(node, ctx->now);
	if (node->floods <= (node->told_downs == node->view.downs ? TOR_FLOODS_URGENT : 0))
		return false;
	node->floods--;
	hello_say_everywhere(ctx, node, TOR_VIEW_NEWS);
	return true;
}

void tor_hello_tell_new(struct tor_node *node, u64 now)
{
	if (!node->tell_all || !tor_damper_may(&node->telling, now))
		return;
	node->tell_all = false;
	tor_view_tell_all(&node->view);
}

void tor_hello_answer(struct tor_ctx *ctx, struct tor_node *node, u32 cable)
{
	struct tor_cable *c = &node->cable[cable];

	/* with three devices on one wire all would answer all without end */
	if (c->answered && ctx->now < c->answered + tor_div64(node->hello_ns, 4))
		return;
	c->answered = ctx->now;
	hello_pick_records(node, TOR_VIEW_ANSWER);
	hello_say(ctx, node, cable);
}

void tor_hello_tick(struct tor_ctx *ctx, struct tor_node *node)
{
	u64 slack = tor_link_tick_ns(node) / 2;

	tor_hello_tell_new(node, ctx->now);
	tor_hello_spread_news(ctx, node);
	if (node->said_at && ctx->now + slack < node->said_at + node->hello_ns)
		return;
	node->said_at = ctx->now;
	hello_say_everywhere(ctx, node, TOR_VIEW_REGULAR);
}
