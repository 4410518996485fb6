// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Links: what their cables are together. See link.h. */
#include "core/link/link.h"

#include "core/link/hello.h"
#include "core/link/node.h"

u16 tor_link_dead(const struct tor_node *node)
{
	u16 dead = 0;
	u32 port;

	for (port = 0; port < node->torus.ports; port++)
		if (tor_torus_has_port(&node->torus, node->self, port))
			dead |= 1U << port;
	return dead & ~node->live;
}

void tor_link_init(struct tor_node *node)
{
	node->floods = TOR_FLOODS;
	node->awaited = tor_link_dead(node);
	tor_view_say(&node->view, node->self, node->epoch, 0, 0);
}

bool tor_link_is_ready(const struct tor_node *node)
{
	return READ_ONCE(node->live) && !READ_ONCE(node->awaited);
}

u32 tor_link_count_dead(const struct tor_node *node)
{
	return READ_ONCE(node->view.dead) + hweight64((u64)READ_ONCE(node->awaited));
}

void tor_link_copy_dead(const struct tor_node *node, u16 *dead, u32 first, u32 n)
{
	tor_view_copy_dead(&node->view, dead, first, n);
	if (node->self - first < n)
		dead[node->self] = tor_link_dead(node);
}

/* What a link takes stays while no cable of it is up. */
void tor_link_sum(struct tor_node *node, u32 port)
{
	struct tor_link *link = &node->link[port];
	u32 takes = U32_MAX;
	u32 k, up = 0;

	for (k = 0; k < TOR_LINK_CABLES; k++) {
		const struct tor_cable *c = &node->cable[tor_cable(port, k)];

		if (c->state != TOR_CABLE_UP)
			continue;
		up |= 1U << k;
		takes = min(takes, c->takes);
	}
	if (up)
		WRITE_ONCE(link->takes, takes);
	WRITE_ONCE(node->awaited, node->awaited & ~((u32)!!up << port));
	/*
	 * who sees that it is up sees what it takes, and the address that its
	 * frames go to: pairs with tor_xmit_port()
	 */
	smp_store_release(&link->up, up);
	/* likewise: who chooses this link finds a cable up */
	smp_store_release(&node->live, (node->live & ~(1U << port)) | (u32)!!up << port);
}

/* The largest frame that all live links take; 0 without live links. */
static u16 link_common_frame(const struct tor_node *node)
{
	u32 frame = U16_MAX;
	u32 port;

	if (!node->live)
		return 0;
	for (port = 0; port < TOR_MAX_PORTS; port++)
		if (node->live >> port & 1)
			frame = min(frame, node->link[port].takes);
	return frame;
}

void tor_link_say(struct tor_ctx *ctx, struct tor_node *node)
{
	const struct tor_view_entry *own = &node->view.entry[node->self];
	u16 dead = tor_link_dead(node) & ~node->awaited;
	u16 frame = link_common_frame(node);

	if (own->dead == dead && own->frame == frame)
		return;
	tor_view_say(&node->view, node->self, node->epoch, dead, frame);
	WRITE_ONCE(node->news, true);
	tor_env_view_changed(ctx, node);
}

void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len)
{
	u32 k;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		tor_cable_small(ctx, node, tor_cable(port, k), len);
	tor_hello_spread_news(ctx, node);
}

u64 tor_link_tick_ns(const struct tor_node *node)
{
	return min_t(u64, node->hello_ns / TOR_HELLO_TICKS, TOR_TICK_MAX);
}

/*
 * Late ticks mean that this processor had no time to receive either: hellos may
 * be in its queues. Do not count the lost time against neighbours.
 */
static void link_forgive_lost_time(struct tor_node *node, u64 now)
{
	u64 due = node->ticked + tor_link_tick_ns(node);
	u64 lost = now - due;
	u32 cable;

	if (!node->ticked || now <= due || lost <= tor_link_tick_ns(node))
		return;
	for (cable = 0; cable < TOR_MAX_CABLES; cable++) {
		struct tor_cable *c = &node->cable[cable];

		if (c->heard && now > c->heard)
			c->heard += min(lost, now - c->heard);
	}
}

/* Tell others of the links that have not come up. */
static void link_end_patience(struct tor_ctx *ctx, struct tor_node *node)
{
	if (!node->awaited || !node->patience || ctx->now < node->patience)
		return;
	WRITE_ONCE(node->awaited, 0);
	tor_link_say(ctx, node);
}

void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node)
{
	u32 cable;

	link_forgive_lost_time(node, ctx->now);
	node->ticked = ctx->now;
	for (cable = 0; cable < TOR_MAX_CABLES; cable++)
		tor_cable_tick(ctx, node, cable);
	link_end_patience(ctx, node);
	tor_hello_tick(ctx, node);
}
