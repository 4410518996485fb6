// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Neighbour discovery and link state. See link.h.
 */
#include "link.h"

#include "node.h"
#include "version.h"
#include "wire.h"

static const char *const state_names[TOR_LINK_STATES] = {
	[TOR_LINK_ABSENT] = "absent",
	[TOR_LINK_NO_CARRIER] = "no-carrier",
	[TOR_LINK_WAITING] = "waiting",
	[TOR_LINK_VERSION] = "version",
	[TOR_LINK_FABRIC] = "fabric",
	[TOR_LINK_MISWIRED] = "miswired",
	[TOR_LINK_ONE_WAY] = "one-way",
	[TOR_LINK_UP] = "up",
};

const char *tor_link_state_name(enum tor_link_state state)
{
	return state < TOR_LINK_STATES ? state_names[state] : "?";
}

static void set_state(struct tor_ctx *ctx, struct tor_node *node, u32 port,
		      enum tor_link_state state)
{
	if (node->link[port].state == state)
		return;
	WRITE_ONCE(node->link[port].state, state);
	tor_env_link_changed(ctx, node, port);
}

static void forget_neighbour(struct tor_link *link)
{
	link->heard = 0;
	link->peer_node = ~0U;
	link->peer_port = ~0U;
	link->peer_epoch = 0;
	link->peer_frame_size = 0;
	link->peer_wire = 0;
	link->peer_version[0] = '\0';
}

static void say_hello(struct tor_ctx *ctx, struct tor_node *node, u32 port)
{
	const struct tor_link *link = &node->link[port];
	u8 hdr[sizeof(struct torcoll_hdr)], body[sizeof(struct torcoll_hello)];
	struct tor_frame frame = {
		.port = port,
		.dst = ~0U,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = body,
		.linear_len = sizeof(body),
	};
	struct tor_hello hello = {
		.dim = tor_port_dim(port),
		.dir = tor_port_dir(port),
		.ndim = node->torus.ndim,
		.hears = !!link->heard,
		.frame_size = link->frame_size,
		.heard_node = link->peer_node,
		.heard_epoch = link->peer_epoch,
		.interval_ms = tor_div64(node->hello_ns, NSEC_PER_MSEC),
	};
	struct tor_hdr h;

	memcpy(hello.side, node->torus.side, sizeof(hello.side));
	memcpy(hello.version, TOR_VERSION, sizeof(TOR_VERSION));
	static_assert(sizeof(TOR_VERSION) <= sizeof(hello.version));
	tor_node_header(node, &h, TORCOLL_FRAME_HELLO, ~0U);
	h.hop_limit = 1;
	h.length = sizeof(body);
	tor_wire_put_hello(body, &hello);
	h.payload_crc = tor_wire_crc(body, sizeof(body));
	tor_wire_build(hdr, &h, NULL);
	tor_env_send(ctx, node, &frame);
}

void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 frame_size)
{
	struct tor_link *link = &node->link[port];

	link->frame_size = frame_size;
	if (link->state > TOR_LINK_NO_CARRIER)
		return;
	forget_neighbour(link);
	set_state(ctx, node, port, TOR_LINK_WAITING);
	say_hello(ctx, node, port);
}

void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 port, bool absent)
{
	forget_neighbour(&node->link[port]);
	set_state(ctx, node, port, absent ? TOR_LINK_ABSENT : TOR_LINK_NO_CARRIER);
}

static bool same_shape(const struct tor_node *node, const struct tor_hello *hello)
{
	return hello->ndim == node->torus.ndim &&
	       !memcmp(hello->side, node->torus.side, node->torus.ndim * sizeof(hello->side[0]));
}

void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 port, const struct tor_hdr *h,
		    const struct tor_hello *hello)
{
	struct tor_link *link = &node->link[port];
	bool first = !link->heard || link->peer_epoch != h->src_epoch;
	enum tor_link_state state;

	if (link->state <= TOR_LINK_NO_CARRIER)
		return;
	tor_env_count(node, TOR_C_RX_HELLOS, 1);
	link->heard = ctx->now;
	link->peer_node = h->src;
	link->peer_epoch = h->src_epoch;
	link->peer_port = tor_port(hello->dim, hello->dir ? TOR_MINUS : TOR_PLUS);
	link->peer_frame_size = hello->frame_size;
	memcpy(link->peer_version, hello->version, sizeof(link->peer_version) - 1);
	link->peer_version[sizeof(link->peer_version) - 1] = '\0';

	if (!same_shape(node, hello))
		state = TOR_LINK_FABRIC;
	else if (h->src != tor_torus_neighbour(&node->torus, node->self, port) ||
		 link->peer_port != tor_torus_peer_port(port))
		state = TOR_LINK_MISWIRED;
	else if (!hello->hears || hello->heard_node != node->self ||
		 hello->heard_epoch != node->epoch)
		state = TOR_LINK_ONE_WAY;
	else
		state = TOR_LINK_UP;
	set_state(ctx, node, port, state);
	/* answer at once, so that a new cable is up after one round trip instead of an interval */
	if (first && (!link->answered || ctx->now - link->answered >= node->hello_ns / 4)) {
		/* not more often: with three ports on one wire all would answer all for ever */
		link->answered = ctx->now;
		say_hello(ctx, node, port);
	}
}

void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 version)
{
	struct tor_link *link = &node->link[port];

	if (link->state <= TOR_LINK_NO_CARRIER || link->state == TOR_LINK_UP)
		return;
	link->heard = ctx->now;
	link->peer_wire = version;
	set_state(ctx, node, port, TOR_LINK_VERSION);
}

void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node, u32 port)
{
	struct tor_link *link = &node->link[port];

	if (link->state <= TOR_LINK_NO_CARRIER)
		return;
	if (link->heard && ctx->now - link->heard > TOR_HELLO_MISSES * node->hello_ns) {
		forget_neighbour(link);
		set_state(ctx, node, port, TOR_LINK_WAITING);
	}
	say_hello(ctx, node, port);
}
