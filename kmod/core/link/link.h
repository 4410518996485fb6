/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Links: the state of each of their cables (cable.h), from the hellos that come
 * in. Those that are sent, and how changes get to all nodes: hello.h.
 *
 * A cable is up while hellos come from the neighbour and the link that the shape
 * expects there and report that hellos of this node are received. It is down
 * when TOR_HELLO_MISSES intervals pass without a hello or any other frame. The
 * other end's cable may be any of that link. A link is dead when all its cables
 * are down; other nodes do not hear of less.
 *
 * A cable that goes down is down at once. A cable that comes up repeatedly is up
 * only as often as a damper (damper.h) allows, and TOR_LINK_FLAPPING in
 * between.
 *
 * A node that begins has no link yet, and most of them are up a round trip
 * later. It does not tell others that the rest is dead before
 * TOR_HELLO_MISSES intervals have passed, the time after which a silent
 * neighbour counts as gone: otherwise the start of a fabric without faults would
 * be news of many cuts and mends of each link, and nodes that have heard
 * different parts of it would send frames in circles. Its own routes avoid such
 * links from the beginning.
 *
 * Locking: every call here, except tor_link_alive() and tor_link_damaged(), is
 * under the node's lock (node.h).
 */
#ifndef _TOR_CORE_LINK_H
#define _TOR_CORE_LINK_H

#include <linux/torcoll_wire.h>

#include "core/link/cable.h"
#include "core/link/damper.h"
#include "core/env.h"
#include "core/torus.h"

#define TOR_HELLO_MISSES	3
#define TOR_HELLO_TICKS		4	/* resolution of silence, per interval, but */
#define TOR_TICK_MAX		(100 * NSEC_PER_MSEC)	/* at most this long */

enum tor_link_state {
	TOR_LINK_ABSENT,	/* no port was added */
	TOR_LINK_NO_CARRIER,	/* the device is down or has no carrier */
	TOR_LINK_WAITING,	/* no hello received */
	TOR_LINK_VERSION,	/* the other side has another wire version */
	TOR_LINK_FABRIC,	/* the other side has another fabric, or another shape of it */
	TOR_LINK_MISWIRED,	/* hellos from an unexpected node or port */
	TOR_LINK_ONE_WAY,	/* the other side does not hear this one */
	TOR_LINK_TOO_SMALL,	/* frames in use are larger than it takes */
	TOR_LINK_FLAPPING,	/* went up too often lately */
	TOR_LINK_UP,
	TOR_LINK_STATES
};

const char *tor_link_state_name(enum tor_link_state state);

/**
 * struct tor_link - a link, as senders see it: read without lock, so by READ_ONCE
 * @takes: bytes behind the MAC header that all its live cables take
 * @up: bit k: its cable k is up
 */
struct tor_link {
	u32 takes;
	u8 up;
};

/**
 * struct tor_cable - a cable of a link
 * @state: enum tor_link_state; read without lock, so by READ_ONCE
 * @frame_size: bytes behind the MAC header that the device here takes
 * @takes: bytes that the devices at both ends take; read without lock, so by
 *	READ_ONCE
 * @needed: TOR_LINK_TOO_SMALL: the frame that did not fit
 * @heard: time of the last hello or, while up, of the tick after another frame,
 *	ns; 0: none
 * @busy: frames other than hellos came since the last tick; without lock, so by
 *	WRITE_ONCE
 * @answered: time of the last hello that was an immediate answer, ns
 * @peer_node, @peer_epoch, @peer_frame_size: from its hello
 * @peer_dim, @peer_dir: the neighbour's name of its port, as tor_port_dir()
 * @peer_big_endian: byte order of its payloads
 * @peer_unsummed: its data frames carry no checksum of their payloads
 * @peer_wire: its wire version, if different from this node's
 * @peer_tag: TOR_LINK_FABRIC: tag of the other side's fabric, 0: it is this one
 * @peer_ndim, @peer_side: the neighbour's shape of the fabric, sides with their
 *	kinds
 * @peer_version: the neighbour's module version, terminated
 * @peer_more: a hello of its present incarnation had the following four
 * @peer_name: its host's name, printable, terminated
 * @peer_rates: hash of its rates, as tor_node.rates
 * @peer_sent: frames that its device had sent, modulo 2^32, when it sent the last
 *	hello, that one included
 * @was: the state before the last change, which was at @since, ns
 * @downs: times that it was up and went down
 * @peer_cables: of the neighbour's rings of 2
 * @ups: limits how often it goes up
 * @echoes: test frames received; see echo.h
 * @damaged: frames that this cable damaged: any with a wrong header, and with
 *	a wrong payload those that the neighbour itself made
 */
struct tor_cable {
	enum tor_link_state state;
	enum tor_link_state was;
	u64 since;
	u64 downs;
	u32 frame_size;
	u32 takes;
	u32 needed;
	u64 heard;
	bool busy;
	u64 answered;
	u32 peer_node;
	u8 peer_dim;
	u8 peer_dir;
	u32 peer_epoch;
	u32 peer_frame_size;
	bool peer_big_endian;
	bool peer_unsummed;
	u32 peer_wire;
	u32 peer_tag;
	u32 peer_ndim;
	u32 peer_side[TOR_MAX_DIMS];
	char peer_version[TORCOLL_HELLO_VERSION + 1];
	bool peer_more;
	char peer_name[TORCOLL_HOST_NAME + 1];
	u32 peer_rates;
	u32 peer_sent;
	u8 peer_cables;
	struct tor_damper ups;
	atomic_t echoes;
	atomic64_t damaged;
};

struct tor_hdr;
struct tor_hello;

/* Bit per link of @node that should be there and of which no cable is up. */
u16 tor_link_dead(const struct tor_node *node);

/* Set up the links of a new node: no cable is up, all are awaited. */
void tor_link_init(struct tor_node *node);

/*
 * True once packets may be sent: a link is up, and others know those that are
 * not. Context: any; takes no lock.
 */
bool tor_link_is_ready(const struct tor_node *node);

/*
 * Number of links' ends that are dead as far as @node knows, those that it
 * awaits included. Context: any; takes no lock.
 */
u32 tor_link_count_dead(const struct tor_node *node);

/*
 * Copy what @node knows of the dead links of nodes @first to @first + @n - 1, for
 * tor_routes_build(), to @dead, which has an entry for each node. Context: the
 * node's lock.
 */
void tor_link_copy_dead(const struct tor_node *node, u16 *dead, u32 first, u32 n);

/**
 * tor_link_open - a cable has a device with carrier
 * @ctx: of this entry
 * @node: node
 * @cable: its number, see tor_cable()
 * @frame_size: bytes behind the MAC header that it takes
 *
 * Also called when @frame_size changes.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_open(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 frame_size);

/**
 * tor_link_close - the device of a cable lost its carrier, or is gone
 * @ctx: of this entry
 * @node: node
 * @cable: its number
 * @absent: the device is gone
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_close(struct tor_ctx *ctx, struct tor_node *node, u32 cable, bool absent);

/**
 * tor_link_expects - is a hello from the neighbour that belongs at a cable
 * @node: receiver
 * @cable: by which it came in
 * @h: its header
 * @hello: its body
 *
 * Context: any; reads the shape only.
 * Return: true if it is; its MAC address may then be used.
 */
bool tor_link_expects(const struct tor_node *node, u32 cable, const struct tor_hdr *h,
		      const struct tor_hello *hello);

/**
 * tor_link_hello - handle a received hello
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @h: its header
 * @hello: its body
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_hello(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		    const struct tor_hello *hello);

/**
 * tor_link_foreign - a frame of another wire version came in
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @version: of the frame
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 version);

/**
 * tor_link_stranger - a hello of another fabric came in
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @tag: of its fabric
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_stranger(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 tag);

/**
 * tor_link_too_small - a frame is too large for the link on its route
 * @ctx: of this entry
 * @node: node
 * @port: number of the link
 * @len: bytes of the frame behind the MAC header
 *
 * Its cables that do not take the frame count as down from now on.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_too_small(struct tor_ctx *ctx, struct tor_node *node, u32 port, u32 len);

/**
 * tor_link_alive - a frame other than a hello came from the neighbour
 * @node: receiver
 * @cable: by which it came in
 *
 * Context: softirq; needs neither lock nor clock, the next tick evaluates it.
 */
void tor_link_alive(struct tor_node *node, u32 cable);

/**
 * tor_link_damaged - a frame arrived damaged
 * @node: receiver
 * @cable: by which it came in, and which damaged it
 *
 * Context: softirq; needs no lock.
 */
void tor_link_damaged(struct tor_node *node, u32 cable);

/**
 * tor_link_tick - periodic work: give up silent neighbours, send hellos
 * @ctx: of this entry
 * @node: node
 *
 * To be called every tor_link_tick_ns().
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_link_tick(struct tor_ctx *ctx, struct tor_node *node);
u64 tor_link_tick_ns(const struct tor_node *node);

#endif
