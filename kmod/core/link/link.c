// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Neighbour discovery and link state. See link.h. */
#include "core/link/link.h"

#include "core/wire/accept.h"
#include "core/link/hello.h"
#include "core/link/node.h"

static const char *const state_names[TOR_LINK_STATES] = {
	[TOR_LINK_ABSENT] = "absent",
	[TOR_LINK_NO_CARRIER] = "no-carrier",
	[TOR_LINK_WAITING] = "waiting",
	[TOR_LINK_VERSION] = "version",
	[TOR_LINK_FABRIC] = "fabric",
	[TOR_LINK_MISWIRED] = "miswired",
	[TOR_LINK_ONE_WAY] = "one-way",
	[TOR_LINK_TOO_SMALL] = "too-small",
	[TOR_LINK_FLAPPING] = "flapping",
	[TOR_LINK_UP] = "up",
};

const char *tor_link_state_name(enum tor_link_state state)
{
	return state < TOR_LINK_STATES ? state_names[state] : "?";
}

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

/* Sum up the cables of a link. What it takes stays while none of them is up. */
static void link_sum(struct tor_node *node, u32 port)
{
	struct tor_link *link = &node->link[port];
	u32 takes = U32_MAX;
	u32 k, up = 0;

	for (k = 0; k < TOR_LINK_CABLES; k++) {
		const struct tor_cable *c = &node->cable[tor_cable(port, k)];

		if (c->state != TOR_LINK_UP)
			continue;
		up |= 1U << k;
		takes = min(takes, c->takes);
	}
	if (up)
		WRITE_ONCE(link->takes, takes);
	WRITE_ONCE(link->up, up);
	WRITE_ONCE(node->awaited, node->awaited & ~((u32)!!up << port));
	WRITE_ONCE(node->live, (node->live & ~(1U << port)) | (u32)!!up << port);
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

/* Update the record of the own links, if it has changed. */
static void link_say_links(struct tor_ctx *ctx, struct tor_node *node)
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

static void link_set_state(struct tor_ctx *ctx, struct tor_node *node, u32 cable,
			   enum tor_link_state state)
{
	struct tor_cable *c = &node->cable[cable];
	bool up = state == TOR_LINK_UP;
	u32 live = node->live;

	if (c->state != state) {
		node->tell_all |= up;
		tor_hello_tell_new(node, ctx->now);
		if (c->state == TOR_LINK_UP) {
			tor_env_count(node, TOR_C_LINK_DOWNS, 1);
			c->downs++;
		}
		c->was = c->state;
		c->since = ctx->now;
		WRITE_ONCE(c->state, state);
		link_sum(node, tor_cable_port(cable));
		tor_env_link_changed(ctx, node, cable);
	} else if (up) {
		/* the neighbour may take other frames than before */
		link_sum(node, tor_cable_port(cable));
	}
	link_say_links(ctx, node);
	if (node->live == live)
		return;
	/* also if the link was awaited, which is no news for others */
	WRITE_ONCE(node->view.changes, node->view.changes + 1);
	tor_env_view_changed(ctx, node);
}

static void link_forget_neighbour(struct tor_cable *c)
{
	c->heard = 0;
	c->peer_node = ~0U;
	c->peer_dim = 0;
	c->peer_dir = 0;
	c->peer_epoch = 0;
	c->peer_frame_size = 0;
	c->peer_big_endian = false;
	c->peer_unsummed = false;
	c->peer_wire = 0;
	c->peer_tag = 0;
	c->peer_ndim = 0;
	c->peer_cables = 0;
	c->peer_version[0] = '\0';
	c->peer_more = false;
	c->peer_name[0] = '\0';
	c->peer_rates = 0;
	c->peer_sent = 0;
}

/* Bytes that the devices at both ends of a cable take. */
static void link_agree_frame(struct tor_cable *c)
{
	u32 takes = c->frame_size;

	if (c->peer_frame_size)
		takes = min(takes, c->peer_frame_size);
	WRITE_ONCE(c->takes, takes);
}

void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 frame_size)
{
	struct tor_cable *c = &node->cable[cable];

	if (!node->patience)
		node->patience = ctx->now + TOR_HELLO_MISSES * node->hello_ns;
	if (c->frame_size != frame_size)
		WRITE_ONCE(node->news, c->state > TOR_LINK_NO_CARRIER);
	c->frame_size = frame_size;
	link_agree_frame(c);
	if (c->state <= TOR_LINK_NO_CARRIER) {
		link_forget_neighbour(c);
		link_agree_frame(c);
		WRITE_ONCE(node->news, true);
		link_set_state(ctx, node, cable, TOR_LINK_WAITING);
	} else if (c->state == TOR_LINK_TOO_SMALL && c->takes >= c->needed) {
		link_set_state(ctx, node, cable, TOR_LINK_ONE_WAY);
	}
	link_sum(node, tor_cable_port(cable));
	link_say_links(ctx, node);
	tor_hello_spread_news(ctx, node);
	/*
	 * both ends send a hello when a cable is plugged in; the first one
	 * received is answered nevertheless
	 */
	if (c->state == TOR_LINK_WAITING && !c->heard)
		c->answered = 0;
}

void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 cable, bool absent)
{
	link_forget_neighbour(&node->cable[cable]);
	link_set_state(ctx, node, cable, absent ? TOR_LINK_ABSENT : TOR_LINK_NO_CARRIER);
	tor_hello_spread_news(ctx, node);
}

/*
 * Return whether the other side counts the cables of a ring of 2 differently:
 * that matters if there is such a ring, and old modules do not say it.
 */
static bool link_other_cables(const struct tor_node *node, const struct tor_hello *hello)
{
	u32 dim;

	if (!hello->more || hello->cables == node->torus.cables)
		return false;
	for (dim = 0; dim < node->torus.ndim; dim++)
		if (node->torus.side[dim] == 2 && node->torus.kind[dim] == TORCOLL_KIND_RING)
			return true;
	return false;
}

static bool link_same_shape(const struct tor_node *node, const struct tor_hello *hello)
{
	return !link_other_cables(node, hello) &&
	       tor_torus_same_sides(&node->torus, hello->ndim, hello->side);
}

/* Take over what the neighbour knows of the links of all nodes. */
static void link_hear_records(struct tor_ctx *ctx, struct tor_node *node,
			      const struct tor_hello *hello)
{
	bool changed = false, nonsense = false;
	u32 i;

	for (i = 0; i < hello->records; i++) {
		enum tor_view_news news;
		struct tor_record r;

		if (!tor_wire_record(hello, i, node->torus.nodes, &r)) {
			nonsense = true;
			continue;
		}
		if (r.node == node->self)
			news = tor_view_contradict(&node->view, &r);
		else
			news = tor_view_learn(&node->view, &r);
		node->news |= news != TOR_VIEW_KNOWN;
		changed |= news == TOR_VIEW_NEW;
	}
	if (nonsense)
		tor_env_drop(ctx, node, TOR_C_DROP_RANGE);
	if (changed)
		tor_env_view_changed(ctx, node);
}

bool tor_link_expects(const struct tor_node *node, u32 cable, const struct tor_hdr *h,
		      const struct tor_hello *hello)
{
	const struct tor_torus *t = &node->torus;
	u32 port = tor_cable_port(cable);

	return link_same_shape(node, hello) &&
	       h->src == tor_torus_neighbour(t, node->self, port) &&
	       tor_torus_port(t, hello->dim, hello->way) == tor_torus_peer_port(t, port);
}

static enum tor_link_state link_judge(const struct tor_node *node, u32 cable,
				      const struct tor_hdr *h, const struct tor_hello *hello)
{
	const struct tor_cable *c = &node->cable[cable];

	if (!link_same_shape(node, hello))
		return TOR_LINK_FABRIC;
	if (!tor_link_expects(node, cable, h, hello))
		return TOR_LINK_MISWIRED;
	if (c->state == TOR_LINK_TOO_SMALL && c->takes < c->needed)
		return TOR_LINK_TOO_SMALL;
	if (!hello->hears || hello->heard_node != node->self ||
	    hello->heard_epoch != node->epoch)
		return TOR_LINK_ONE_WAY;
	return TOR_LINK_UP;
}

/* Take over what not every hello has. */
static void link_hear_more(struct tor_cable *c, const struct tor_hello *hello)
{
	static_assert(sizeof(c->peer_name) == sizeof(hello->name));
	c->peer_more = hello->more;
	memcpy(c->peer_name, hello->name, sizeof(c->peer_name));
	c->peer_rates = hello->rates;
	c->peer_sent = hello->sent;
	c->peer_cables = hello->cables;
}

void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		    const struct tor_hello *hello)
{
	struct tor_cable *c = &node->cable[cable];
	bool again = c->peer_epoch != h->src_epoch;
	bool first = !c->heard || again;
	enum tor_link_state state;

	if (c->state <= TOR_LINK_NO_CARRIER)
		return;
	tor_env_count(node, TOR_C_RX_HELLOS, 1);
	c->heard = ctx->now;
	c->peer_node = h->src;
	c->peer_epoch = h->src_epoch;
	c->peer_dim = hello->dim;
	c->peer_dir = tor_side_dir(hello->side[hello->dim], hello->way);
	c->peer_tag = 0;
	c->peer_ndim = hello->ndim;
	memcpy(c->peer_side, hello->side, sizeof(c->peer_side));
	c->peer_frame_size = hello->frame_size;
	c->peer_big_endian = h->flags & TORCOLL_FLAG_BIG_ENDIAN;
	c->peer_unsummed = h->flags & TORCOLL_FLAG_UNSUMMED;
	static_assert(sizeof(c->peer_version) == sizeof(hello->version));
	memcpy(c->peer_version, hello->version, sizeof(c->peer_version));
	if (hello->more || again)
		link_hear_more(c, hello);
	link_agree_frame(c);

	state = link_judge(node, cable, h, hello);
	if (state == TOR_LINK_UP && c->state != state && !tor_damper_may(&c->ups, ctx->now))
		state = TOR_LINK_FLAPPING;
	link_set_state(ctx, node, cable, state);
	if (state != TOR_LINK_FABRIC && state != TOR_LINK_MISWIRED)
		link_hear_records(ctx, node, hello);
	/*
	 * answer immediately, so that a new cable is up after one round trip
	 * instead of an interval
	 */
	if (!tor_hello_spread_news(ctx, node) && first)
		tor_hello_answer(ctx, node, cable);
}

void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 version)
{
	struct tor_cable *c = &node->cable[cable];

	if (c->state <= TOR_LINK_NO_CARRIER || c->state == TOR_LINK_UP)
		return;
	c->heard = ctx->now;
	c->peer_wire = version;
	link_set_state(ctx, node, cable, TOR_LINK_VERSION);
}

void tor_link_stranger(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 tag)
{
	struct tor_cable *c = &node->cable[cable];

	/*
	 * A node of this fabric that is heard there counts for more, and so does
	 * another version: on a hub with both, the state stays the same.
	 */
	if (c->state <= TOR_LINK_NO_CARRIER || c->state == TOR_LINK_VERSION ||
	    c->peer_node != ~0U)
		return;
	c->heard = ctx->now;
	c->peer_tag = tag;
	link_set_state(ctx, node, cable, TOR_LINK_FABRIC);
}

void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len)
{
	u32 k;

	for (k = 0; k < TOR_LINK_CABLES; k++) {
		u32 cable = tor_cable(port, k);
		struct tor_cable *c = &node->cable[cable];

		if (c->state != TOR_LINK_UP || c->takes >= len)
			continue;
		c->needed = len;
		link_set_state(ctx, node, cable, TOR_LINK_TOO_SMALL);
	}
	tor_hello_spread_news(ctx, node);
}

void tor_link_alive(struct tor_node *node, u32 cable)
{
	struct tor_cable *c = &node->cable[cable];

	/* avoid writing a cache line that all processors read */
	if (!READ_ONCE(c->busy))
		WRITE_ONCE(c->busy, true);
}

void tor_link_damaged(struct tor_node *node, u32 cable)
{
	atomic64_inc(&node->cable[cable].damaged);
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
	link_say_links(ctx, node);
}

void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node)
{
	u32 cable;

	link_forgive_lost_time(node, ctx->now);
	node->ticked = ctx->now;
	for (cable = 0; cable < TOR_MAX_CABLES; cable++) {
		struct tor_cable *c = &node->cable[cable];

		if (READ_ONCE(c->busy)) {
			WRITE_ONCE(c->busy, false);
			if (c->state == TOR_LINK_UP)
				c->heard = ctx->now;
		}
		if (c->state <= TOR_LINK_NO_CARRIER || !c->heard ||
		    ctx->now <= c->heard + TOR_HELLO_MISSES * node->hello_ns)
			continue;
		link_forget_neighbour(c);
		link_agree_frame(c);
		link_set_state(ctx, node, cable, TOR_LINK_WAITING);
	}
	link_end_patience(ctx, node);
	tor_hello_tick(ctx, node);
}
