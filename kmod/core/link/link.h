/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Links: what hellos tell about the cable at each port.
 *
 * A port says hello every interval. A link is up while hellos come from the neighbour that the
 * shape expects there, from the port that it expects, and say that ours are heard; it is down when
 * TOR_HELLO_MISSES intervals pass without one or any other frame.
 *
 * What changes is told to everyone: a node whose link goes up or down says so in its record (view.h),
 * and says hello on all ports at once; whoever learns news from a hello does the same. At most
 * TOR_FLOODS such hellos follow each other, then TOR_FLOODS_PER_HELLO per interval, and not fewer than one per
 * TOR_FLOOD_EVERY; news beyond that wait for the next tick that has one left, or for a regular hello.
 *
 * A link that goes down is down at once. One that comes up again and again is up only as often as a damper (damper.h) lets
 * it, and TOR_LINK_FLAPPING in between. Another one says how often new neighbours are told all that is known.
 *
 * Serialisation: one lock per node around every call here; the same as for joins.
 */
#ifndef _TOR_CORE_LINK_H
#define _TOR_CORE_LINK_H

#include "core/link/damper.h"
#include "core/env.h"

#define TOR_HELLO_INTERVAL	(200 * NSEC_PER_MSEC)
#define TOR_HELLO_MISSES	3
#define TOR_HELLO_TICKS		4	/* per interval: how finely silence is measured, but */
#define TOR_TICK_MAX		(100 * NSEC_PER_MSEC)	/* at least so */

enum tor_link_state {
	TOR_LINK_ABSENT,	/* no port was added */
	TOR_LINK_NO_CARRIER,	/* the device is down or its cable out */
	TOR_LINK_WAITING,	/* nothing heard */
	TOR_LINK_VERSION,	/* the other side speaks another version */
	TOR_LINK_FABRIC,	/* the other side is of another shape */
	TOR_LINK_MISWIRED,	/* heard, but not who or where it should be */
	TOR_LINK_ONE_WAY,	/* heard, but we are not */
	TOR_LINK_TOO_SMALL,	/* frames are in use that it does not take */
	TOR_LINK_FLAPPING,	/* went up too often lately */
	TOR_LINK_UP,
	TOR_LINK_STATES
};

const char *tor_link_state_name(enum tor_link_state state);

/**
 * struct tor_link - one port's link
 * @state: enum tor_link_state; read without lock, so by READ_ONCE
 * @frame_size: bytes behind the MAC header that this port takes
 * @takes: those that the ports at both ends take; read without lock, so by READ_ONCE
 * @needed: TOR_LINK_TOO_SMALL: the frame that did not fit
 * @heard: time of the last hello or, while up, of the tick behind another frame, ns; 0: none
 * @busy: frames that are no hellos came since the last tick; without lock, so by WRITE_ONCE
 * @answered: time of the last hello of ours that answered one at once
 * @peer_node, @peer_port, @peer_epoch, @peer_frame_size: what it said
 * @peer_big_endian: payloads of its are
 * @peer_wire: its wire version, if that is not ours
 * @peer_version: the neighbour's module version, terminated
 * @ups: how often it goes up
 * @echoes: test frames that came in; see echo.h
 */
struct tor_link {
	enum tor_link_state state;
	u32 frame_size;
	u32 takes;
	u32 needed;
	u64 heard;
	bool busy;
	u64 answered;
	u32 peer_node;
	u32 peer_port;
	u32 peer_epoch;
	u32 peer_frame_size;
	bool peer_big_endian;
	u32 peer_wire;
	char peer_version[17];
	struct tor_damper ups;
	atomic_t echoes;
};

struct tor_hdr;
struct tor_hello;

/* Bit per cable that @node should have and that is not alive. */
u16 tor_link_dead(const struct tor_node *node);

/* For a new node: no link is alive. */
void tor_link_init(struct tor_node *node);

/* A device with carrier, taking @frame_size bytes, was added at @port, or takes another number now. */
void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 frame_size);

/* The device lost its carrier, or is gone (@absent). */
void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 port, bool absent);

/* Is the hello that came in at @port from the neighbour that belongs there? Then its address may be used. */
bool tor_link_expects(const struct tor_node *node, u32 port, const struct tor_hdr *h,
		      const struct tor_hello *hello);

/* A hello came in at @port. */
void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 port, const struct tor_hdr *h,
		    const struct tor_hello *hello);

/* A frame of another wire version, with @version, came in at @port. */
void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 version);

/* A frame of @len bytes should leave by @port, and is too large for it: the link counts as down. */
void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len);

/* A frame, but no hello, came from the neighbour. Needs neither lock nor clock: the next tick looks. */
void tor_link_alive(struct tor_node *node, u32 port);

/* Time has passed: give up neighbours that are silent, say hello. Call every tor_link_tick_ns(). */
void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node);
u64 tor_link_tick_ns(const struct tor_node *node);

#endif
