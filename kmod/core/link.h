/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Links: what hellos tell about the cable at each port.
 *
 * A port says hello every interval. A link is up while hellos come from the neighbour that the
 * shape expects there, from the port that it expects, and say that ours are heard; it is down when
 * TOR_HELLO_MISSES intervals pass without one.
 */
#ifndef _TOR_CORE_LINK_H
#define _TOR_CORE_LINK_H

#include "env.h"

#define TOR_HELLO_INTERVAL	(200 * NSEC_PER_MSEC)
#define TOR_HELLO_MISSES	3

enum tor_link_state {
	TOR_LINK_ABSENT,	/* no port was added */
	TOR_LINK_NO_CARRIER,	/* the device is down or its cable out */
	TOR_LINK_WAITING,	/* nothing heard */
	TOR_LINK_VERSION,	/* the other side speaks another version */
	TOR_LINK_FABRIC,	/* the other side is of another shape */
	TOR_LINK_MISWIRED,	/* heard, but not who or where it should be */
	TOR_LINK_ONE_WAY,	/* heard, but we are not */
	TOR_LINK_UP,
	TOR_LINK_STATES
};

const char *tor_link_state_name(enum tor_link_state state);

/**
 * struct tor_link - one port's link
 * @state: enum tor_link_state; read without lock, so by READ_ONCE
 * @frame_size: bytes behind the MAC header that this port takes
 * @heard: time of the last hello, ns; 0: none
 * @answered: time of the last hello of ours that answered one at once
 * @peer_node, @peer_port, @peer_epoch, @peer_frame_size: what it said
 * @peer_wire: its wire version, if that is not ours
 * @peer_version: the neighbour's module version, terminated
 */
struct tor_link {
	enum tor_link_state state;
	u32 frame_size;
	u64 heard;
	u64 answered;
	u32 peer_node;
	u32 peer_port;
	u32 peer_epoch;
	u32 peer_frame_size;
	u32 peer_wire;
	char peer_version[17];
};

struct tor_hdr;
struct tor_hello;

/* A device with carrier, taking @frame_size bytes, was added at @port. */
void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 frame_size);

/* The device lost its carrier, or is gone (@absent). */
void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 port, bool absent);

/* A hello came in at @port. */
void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 port, const struct tor_hdr *h,
		    const struct tor_hello *hello);

/* A frame of another wire version, with @version, came in at @port. */
void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 version);

/* Time has passed: give up a neighbour that is silent, say hello. Call every node->hello_ns. */
void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node, u32 port);

#endif
