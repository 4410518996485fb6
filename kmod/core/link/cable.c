// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The state of a cable, from the hellos that come by it. See cable.h. */
#include "core/link/cable.h"

#include "core/link/hello.h"
#include "core/link/node.h"
#include "core/wire/accept.h"

static const char *const state_names[TOR_CABLE_STATES] = {
	[TOR_CABLE_ABSENT] = "absent",
	[TOR_CABLE_NO_CARRIER] = "no-carrier",
	[TOR_CABLE_WAITING] = "waiting",
	[TOR_CABLE_VERSION] = "version",
	[TOR_CABLE_FABRIC] = "fabric",
	[TOR_CABLE_MISWIRED] = "miswired",
	[TOR_CABLE_ONE_WAY] = "one-way",
	[TOR_CABLE_TOO_SMALL] = "too-small",
	[TOR_CABLE_FLAPPING] = "flapping",
	[TOR_CABLE_UP] = "up",
};

const char *tor_cable_state_name(enum tor_cable_state state)
{
	return state < TOR_CABLE_STATES ? state_names[state] : "?";
}

static void cable_set_state(struct tor_ctx *ctx, struct tor_node *node, u32 cable,
			    enum tor_cable_state state)
{
	struct tor_cable *c = &node->cable[cable];
	bool up = state == TOR_CABLE_UP;
	u32 live = node->live;

	if (c->state != state) {
		node->tell_all |= up;
		tor_hello_tell_new(node, ctx->now);
		if (c->state == TOR_CABLE_UP) {
			tor_env_count(node, TOR_C_LINK_DOWNS, 1);
			c->downs++;
		}
		c->was = c->state;
		c->since = ctx->now;
		WRITE_ONCE(c->state, state);
		tor_link_sum(node, tor_cable_link(cable));
		tor_env_link_changed(ctx, node, cable);
	} else if (up) {
		/* the neighbour may take other frames than before */
		tor_link_sum(node, tor_cable_link(cable));
	}
	tor_link_say(ctx, node);
	if (node->live == live)
		return;
	/* also if the link was awaited, which is no news for others */
	WRITE_ONCE(node->view.changes, node->view.changes + 1);
	tor_env_view_changed(ctx, node);
}

static void cable_forget_neighbour(struct tor_cable *c)
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
static void cable_agree_frame(struct tor_cable *c)
{
	u32 takes = c->frame_size;

	if (c->peer_frame_size)
		takes = min(takes, c->peer_frame_size);
	if (c->takes != takes)
		c->smalls = 0;
	WRITE_ONCE(c->takes, takes);
}

u64 tor_cable_patience(const struct tor_node *node, u32 cable)
{
	return TOR_HELLO_MISSES * max_t(u64, node->hello_ns, node->cable[cable].peer_interval);
}

void tor_cable_open(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 frame_size)
{
	struct tor_cable *c = &node->cable[cable];

	if (!node->patience)
		node->patience = ctx->now + TOR_HELLO_MISSES * node->hello_ns;
	if (c->frame_size != frame_size)
		WRITE_ONCE(node->news, true);
	c->frame_size = frame_size;
	cable_agree_frame(c);
	if (c->state <= TOR_CABLE_NO_CARRIER) {
		cable_forget_neighbour(c);
		cable_agree_frame(c);
		WRITE_ONCE(node->news, true);
		cable_set_state(ctx, node, cable, TOR_CABLE_WAITING);
	} else if (c->state == TOR_CABLE_TOO_SMALL && c->takes >= c->needed) {
		cable_set_state(ctx, node, cable, TOR_CABLE_ONE_WAY);
	}
	tor_link_sum(node, tor_cable_link(cable));
	tor_link_say(ctx, node);
	tor_hello_spread_news(ctx, node);
	/*
	 * both ends send a hello when a cable is plugged in; the first one
	 * received is answered nevertheless
	 */
	if (c->state == TOR_CABLE_WAITING && !c->heard)
		c->answered = 0;
}

void tor_cable_close(struct tor_ctx *ctx, struct tor_node *node, u32 cable, bool absent)
{
	cable_forget_neighbour(&node->cable[cable]);
	/* another device or neighbour may come */
	node->cable[cable].peer_interval = 0;
	WRITE_ONCE(node->cable[cable].takes, 0);
	cable_set_state(ctx, node, cable, absent ? TOR_CABLE_ABSENT : TOR_CABLE_NO_CARRIER);
	tor_hello_spread_news(ctx, node);
}

/*
 * Return whether the other side counts the cables of a ring of 2 differently:
 * that matters if there is such a ring, and old modules do not say it.
 */
static bool cable_other_rings(const struct tor_node *node, const struct tor_hello *hello)
{
	u32 dim;

	if (!hello->more || hello->cables == node->torus.cables)
		return false;
	for (dim = 0; dim < node->torus.ndim; dim++)
		if (node->torus.side[dim] == 2 && node->torus.kind[dim] == TORCOLL_KIND_RING)
			return true;
	return false;
}

static bool cable_same_shape(const struct tor_node *node, const struct tor_hello *hello)
{
	return !cable_other_rings(node, hello) &&
	       tor_torus_same_sides(&node->torus, hello->ndim, hello->side);
}

/* Take over what the neighbour knows of the links of all nodes. */
static void cable_hear_records(struct tor_ctx *ctx, struct tor_node *node,
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

bool tor_cable_expects(const struct tor_node *node, u32 cable, const struct tor_hdr *h,
		       const struct tor_hello *hello)
{
	const struct tor_torus *t = &node->torus;
	u32 port = tor_cable_link(cable);

	return cable_same_shape(node, hello) &&
	       h->src == tor_torus_neighbour(t, node->self, port) &&
	       tor_torus_port(t, hello->dim, hello->way) == tor_torus_peer_port(t, port);
}

static enum tor_cable_state cable_judge(const struct tor_node *node, u32 cable, u64 now,
					const struct tor_hdr *h, const struct tor_hello *hello)
{
	const struct tor_cable *c = &node->cable[cable];

	if (!cable_same_shape(node, hello))
		return TOR_CABLE_FABRIC;
	if (!tor_cable_expects(node, cable, h, hello))
		return TOR_CABLE_MISWIRED;
	if (c->state == TOR_CABLE_TOO_SMALL && c->takes < c->needed && now < c->small_until)
		return TOR_CABLE_TOO_SMALL;
	if (!hello->hears || hello->heard_node != node->self ||
	    hello->heard_epoch != node->epoch)
		return TOR_CABLE_ONE_WAY;
	return TOR_CABLE_UP;
}

/* Take over what not every hello has. */
static void cable_hear_more(struct tor_cable *c, const struct tor_hello *hello)
{
	static_assert(sizeof(c->peer_name) == sizeof(hello->name));
	c->peer_more = hello->more;
	memcpy(c->peer_name, hello->name, sizeof(c->peer_name));
	c->peer_rates = hello->rates;
	c->peer_sent = hello->sent;
	c->peer_cables = hello->cables;
}

void tor_cable_hello(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		     const struct tor_hello *hello)
{
	struct tor_cable *c = &node->cable[cable];
	bool again = c->peer_epoch != h->src_epoch;
	bool first = !c->heard || again;
	enum tor_cable_state state;

	if (c->state <= TOR_CABLE_NO_CARRIER)
		return;
	tor_env_count(node, TOR_C_RX_HELLOS, 1);
	c->heard = ctx->now;
	c->peer_node = h->src;
	c->peer_epoch = h->src_epoch;
	c->peer_dim = hello->dim;
	c->peer_dir = tor_side_dir(hello->side[hello->dim], hello->way);
	c->peer_tag = 0;
	c->peer_wire = 0;
	c->peer_ndim = hello->ndim;
	memcpy(c->peer_side, hello->side, sizeof(c->peer_side));
	c->peer_frame_size = hello->frame_size;
	c->peer_interval = min_t(u64, (u64)hello->interval_ms * NSEC_PER_MSEC, TOR_HELLO_RAREST);
	c->peer_big_endian = h->flags & TORCOLL_FLAG_BIG_ENDIAN;
	c->peer_unsummed = h->flags & TORCOLL_FLAG_UNSUMMED;
	static_assert(sizeof(c->peer_version) == sizeof(hello->version));
	memcpy(c->peer_version, hello->version, sizeof(c->peer_version));
	if (hello->more || again)
		cable_hear_more(c, hello);
	cable_agree_frame(c);

	state = cable_judge(node, cable, ctx->now, h, hello);
	if (state == TOR_CABLE_UP && c->state != state && !tor_damper_may(&c->ups, ctx->now))
		state = TOR_CABLE_FLAPPING;
	/* it restarted between two hellos: all that it lost is what it knew */
	node->tell_all |= again && state == TOR_CABLE_UP && c->state == state;
	cable_set_state(ctx, node, cable, state);
	if (state != TOR_CABLE_FABRIC && state != TOR_CABLE_MISWIRED)
		cable_hear_records(ctx, node, hello);
	/*
	 * answer immediately, so that a new cable is up after one round trip
	 * instead of an interval
	 */
	if (!tor_hello_spread_news(ctx, node) && first)
		tor_hello_answer(ctx, node, cable);
}

void tor_cable_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 version)
{
	struct tor_cable *c = &node->cable[cable];

	if (c->state <= TOR_CABLE_NO_CARRIER || c->state == TOR_CABLE_UP)
		return;
	c->heard = ctx->now;
	c->peer_wire = version;
	cable_set_state(ctx, node, cable, TOR_CABLE_VERSION);
}

void tor_cable_stranger(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 tag)
{
	struct tor_cable *c = &node->cable[cable];

	/*
	 * A node of this fabric that is heard there counts for more, and so does
	 * another version: on a hub with both, the state stays the same.
	 */
	if (c->state <= TOR_CABLE_NO_CARRIER || c->state == TOR_CABLE_VERSION ||
	    c->peer_node != ~0U)
		return;
	c->heard = ctx->now;
	c->peer_tag = tag;
	cable_set_state(ctx, node, cable, TOR_CABLE_FABRIC);
}

void tor_cable_small(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 len)
{
	struct tor_cable *c = &node->cable[cable];

	if (c->state != TOR_CABLE_UP || c->takes >= len)
		return;
	c->needed = len;
	c->small_until = ctx->now + (TOR_CABLE_SMALL << min(c->smalls++, TOR_CABLE_SMALLS));
	cable_set_state(ctx, node, cable, TOR_CABLE_TOO_SMALL);
}

void tor_cable_alive(struct tor_node *node, u32 cable)
{
	struct tor_cable *c = &node->cable[cable];

	/* avoid writing a cache line that all processors read */
	if (!READ_ONCE(c->busy))
		WRITE_ONCE(c->busy, true);
}

void tor_cable_damaged(struct tor_node *node, u32 cable)
{
	atomic64_inc(&node->cable[cable].damaged);
}

void tor_cable_tick(struct tor_ctx *ctx, struct tor_node *node, u32 cable)
{
	struct tor_cable *c = &node->cable[cable];

	if (READ_ONCE(c->busy)) {
		WRITE_ONCE(c->busy, false);
		if (c->state == TOR_CABLE_UP)
			c->heard = ctx->now;
	}
	if (c->state <= TOR_CABLE_NO_CARRIER || !c->heard ||
	    ctx->now <= c->heard + tor_cable_patience(node, cable))
		return;
	cable_forget_neighbour(c);
	cable_agree_frame(c);
	cable_set_state(ctx, node, cable, TOR_CABLE_WAITING);
}
