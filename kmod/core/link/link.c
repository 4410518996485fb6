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
	tor_view_say(&node->view, node->self, node->epoch, tor_link_dead(node), 0);
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
	u16 frame = link_common_frame(node);
	u16 dead = tor_link_dead(node);

	if (own->dead == dead && own->frame == frame)
		return;
	tor_view_say(&node->view, node->self, node->epoch, dead, frame);
	node->news = true;
	tor_env_view_changed(ctx, node);
}

static void link_set_state(struct tor_ctx *ctx, struct tor_node *node, u32 port,
			   enum tor_link_state state)
{
	struct tor_link *link = &node->link[port];
	bool up = state == TOR_LINK_UP;

	if (link->state != state) {
		node->tell_all |= up;
		tor_hello_tell_new(node, ctx->now);
		if (link->state == TOR_LINK_UP) {
			tor_env_count(node, TOR_C_LINK_DOWNS, 1);
			link->downs++;
		}
		link->was = link->state;
		link->since = ctx->now;
		WRITE_ONCE(link->state, state);
		WRITE_ONCE(node->live, (node->live & ~(1U << port)) | (u32)up << port);
		tor_env_link_changed(ctx, node, port);
	}
	link_say_links(ctx, node);
}

static void link_forget_neighbour(struct tor_link *link)
{
	link->heard = 0;
	link->peer_node = ~0U;
	link->peer_dim = 0;
	link->peer_dir = 0;
	link->peer_epoch = 0;
	link->peer_frame_size = 0;
	link->peer_big_endian = false;
	link->peer_unsummed = false;
	link->peer_wire = 0;
	link->peer_tag = 0;
	link->peer_ndim = 0;
	link->peer_cables = 0;
	link->peer_version[0] = '\0';
	link->peer_more = false;
	link->peer_name[0] = '\0';
	link->peer_rates = 0;
	link->peer_sent = 0;
}

/* Bytes that the ports at both ends take. */
static void link_agree_frame(struct tor_link *link)
{
	u32 takes = link->frame_size;

	if (link->peer_frame_size)
		takes = min(takes, link->peer_frame_size);
	WRITE_ONCE(link->takes, takes);
}

void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 frame_size)
{
	struct tor_link *link = &node->link[port];

	if (link->frame_size != frame_size)
		node->news = link->state > TOR_LINK_NO_CARRIER;
	link->frame_size = frame_size;
	link_agree_frame(link);
	if (link->state <= TOR_LINK_NO_CARRIER) {
		link_forget_neighbour(link);
		link_agree_frame(link);
		node->news = true;
		link_set_state(ctx, node, port, TOR_LINK_WAITING);
	} else if (link->state == TOR_LINK_TOO_SMALL && link->takes >= link->needed) {
		link_set_state(ctx, node, port, TOR_LINK_ONE_WAY);
	}
	link_say_links(ctx, node);
	tor_hello_spread_news(ctx, node);
	/*
	 * both ends send a hello when a cable is plugged in; the first one
	 * received is answered nevertheless
	 */
	if (link->state == TOR_LINK_WAITING && !link->heard)
		link->answered = 0;
}

void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 port, bool absent)
{
	link_forget_neighbour(&node->link[port]);
	link_set_state(ctx, node, port, absent ? TOR_LINK_ABSENT : TOR_LINK_NO_CARRIER);
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

bool tor_link_expects(const struct tor_node *node, u32 port, const struct tor_hdr *h,
		      const struct tor_hello *hello)
{
	const struct tor_torus *t = &node->torus;

	return link_same_shape(node, hello) &&
	       h->src == tor_torus_neighbour(t, node->self, port) &&
	       tor_torus_port(t, hello->dim, hello->way) == tor_torus_peer_port(t, port);
}

static enum tor_link_state link_judge(const struct tor_node *node, u32 port,
				      const struct tor_hdr *h, const struct tor_hello *hello)
{
	const struct tor_link *link = &node->link[port];

	if (!link_same_shape(node, hello))
		return TOR_LINK_FABRIC;
	if (!tor_link_expects(node, port, h, hello))
		return TOR_LINK_MISWIRED;
	if (link->state == TOR_LINK_TOO_SMALL && link->takes < link->needed)
		return TOR_LINK_TOO_SMALL;
	if (!hello->hears || hello->heard_node != node->self ||
	    hello->heard_epoch != node->epoch)
		return TOR_LINK_ONE_WAY;
	return TOR_LINK_UP;
}

/* Take over what not every hello has. */
static void link_hear_more(struct tor_link *link, const struct tor_hello *hello)
{
	static_assert(sizeof(link->peer_name) == sizeof(hello->name));
	link->peer_more = hello->more;
	memcpy(link->peer_name, hello->name, sizeof(link->peer_name));
	link->peer_rates = hello->rates;
	link->peer_sent = hello->sent;
	link->peer_cables = hello->cables;
}

void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 port, const struct tor_hdr *h,
		    const struct tor_hello *hello)
{
	struct tor_link *link = &node->link[port];
	bool again = link->peer_epoch != h->src_epoch;
	bool first = !link->heard || again;
	enum tor_link_state state;

	if (link->state <= TOR_LINK_NO_CARRIER)
		return;
	tor_env_count(node, TOR_C_RX_HELLOS, 1);
	link->heard = ctx->now;
	link->peer_node = h->src;
	link->peer_epoch = h->src_epoch;
	link->peer_dim = hello->dim;
	link->peer_dir = tor_side_dir(hello->side[hello->dim], hello->way);
	link->peer_tag = 0;
	link->peer_ndim = hello->ndim;
	memcpy(link->peer_side, hello->side, sizeof(link->peer_side));
	link->peer_frame_size = hello->frame_size;
	link->peer_big_endian = h->flags & TORCOLL_FLAG_BIG_ENDIAN;
	link->peer_unsummed = h->flags & TORCOLL_FLAG_UNSUMMED;
	static_assert(sizeof(link->peer_version) == sizeof(hello->version));
	memcpy(link->peer_version, hello->version, sizeof(link->peer_version));
	if (hello->more || again)
		link_hear_more(link, hello);
	link_agree_frame(link);

	state = link_judge(node, port, h, hello);
	if (state == TOR_LINK_UP && link->state != state && !tor_damper_may(&link->ups, ctx->now))
		state = TOR_LINK_FLAPPING;
	link_set_state(ctx, node, port, state);
	if (state != TOR_LINK_FABRIC && state != TOR_LINK_MISWIRED)
		link_hear_records(ctx, node, hello);
	/*
	 * answer immediately, so that a new cable is up after one round trip
	 * instead of an interval
	 */
	if (!tor_hello_spread_news(ctx, node) && first)
		tor_hello_answer(ctx, node, port);
}

void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 version)
{
	struct tor_link *link = &node->link[port];

	if (link->state <= TOR_LINK_NO_CARRIER || link->state == TOR_LINK_UP)
		return;
	link->heard = ctx->now;
	link->peer_wire = version;
	link_set_state(ctx, node, port, TOR_LINK_VERSION);
}

void tor_link_stranger(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 tag)
{
	struct tor_link *link = &node->link[port];

	/*
	 * A node of this fabric that is heard there counts for more, and so does
	 * another version: on a hub with both, the state stays the same.
	 */
	if (link->state <= TOR_LINK_NO_CARRIER || link->state == TOR_LINK_VERSION ||
	    link->peer_node != ~0U)
		return;
	link->heard = ctx->now;
	link->peer_tag = tag;
	link_set_state(ctx, node, port, TOR_LINK_FABRIC);
}

void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len)
{
	struct tor_link *link = &node->link[port];

	if (link->state != TOR_LINK_UP || link->takes >= len)
		return;
	link->needed = len;
	link_set_state(ctx, node, port, TOR_LINK_TOO_SMALL);
	tor_hello_spread_news(ctx, node);
}

void tor_link_alive(struct tor_node *node, u32 port)
{
	struct tor_link *link = &node->link[port];

	/* avoid writing a cache line that all processors read */
	if (!READ_ONCE(link->busy))
		WRITE_ONCE(link->busy, true);
}

void tor_link_damaged(struct tor_node *node, u32 port)
{
	atomic64_inc(&node->link[port].damaged);
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
	u32 port;

	if (!node->ticked || now <= due || lost <= tor_link_tick_ns(node))
		return;
	for (port = 0; port < TOR_MAX_PORTS; port++) {
		struct tor_link *link = &node->link[port];

		if (link->heard && now > link->heard)
			link->heard += min(lost, now - link->heard);
	}
}

void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node)
{
	u32 port;

	link_forgive_lost_time(node, ctx->now);
	node->ticked = ctx->now;
	for (port = 0; port < TOR_MAX_PORTS; port++) {
		struct tor_link *link = &node->link[port];

		if (READ_ONCE(link->busy)) {
			WRITE_ONCE(link->busy, false);
			if (link->state == TOR_LINK_UP)
				link->heard = ctx->now;
		}
		if (link->state <= TOR_LINK_NO_CARRIER || !link->heard ||
		    ctx->now <= link->heard + TOR_HELLO_MISSES * node->hello_ns)
			continue;
		link_forget_neighbour(link);
		link_agree_frame(link);
		link_set_state(ctx, node, port, TOR_LINK_WAITING);
	}
	tor_hello_tick(ctx, node);
}
