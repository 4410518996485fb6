/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Cables. A link, which joins a node with its neighbour in a dimension and
 * direction, consists of up to TOR_LINK_CABLES cables, each with a network device
 * at either end. Routes and views know links only; a cable is chosen by each hop
 * for each frame.
 *
 * Cable @k of the link at @port (torus.h) has the number k * TOR_MAX_PORTS +
 * port, so the first cable has its link's number. Nodes number their cables by
 * themselves, and no frame names one: that the second cable here is the first
 * one there makes no difference.
 *
 * A cable is up while hellos come from the neighbour and the link that the shape
 * expects there and report that hellos of this node are received. It is down
 * when TOR_HELLO_MISSES intervals pass without a hello or any other frame: of
 * the two ends the longer ones, since only their hellos say how often they come.
 * The other end's cable may be any of that link.
 *
 * A cable that goes down is down at once. A cable that comes up repeatedly is up
 * only as often as a damper (damper.h) allows, and TOR_CABLE_FLAPPING in
 * between.
 *
 * Locking: every call here, except tor_cable_alive() and tor_cable_damaged(), is
 * under the node's lock (node.h).
 */
#ifndef _TOR_CORE_CABLE_H
#define _TOR_CORE_CABLE_H

#include <linux/torcoll_wire.h>

#include "core/env.h"
#include "core/link/damper.h"
#include "core/torus.h"

#define TOR_LINK_CABLES		4
#define TOR_MAX_CABLES		(TOR_LINK_CABLES * TOR_MAX_PORTS)
#define TOR_HELLO_MISSES	3
#define TOR_HELLO_RAREST	(10 * (u64)NSEC_PER_SEC)	/* of what a neighbour's may say */

static inline u32 tor_cable(u32 port, u32 k)
{
	return k * TOR_MAX_PORTS + port;
}

/* Return the number of a cable's link, which is that of its port. */
static inline u32 tor_cable_link(u32 cable)
{
	return cable % TOR_MAX_PORTS;
}

/* Return which cable of its link it is. */
static inline u32 tor_cable_place(u32 cable)
{
	return cable / TOR_MAX_PORTS;
}

/* Time for which a cable is too small: doubled each time, up to 2^TOR_CABLE_SMALLS times */
#define TOR_CABLE_SMALL		(30 * (u64)NSEC_PER_SEC)
#define TOR_CABLE_SMALLS	5U

enum tor_cable_state {
	TOR_CABLE_ABSENT,	/* no port was added */
	TOR_CABLE_NO_CARRIER,	/* the device is down or has no carrier */
	TOR_CABLE_WAITING,	/* no hello received */
	TOR_CABLE_VERSION,	/* the other side has another wire version */
	TOR_CABLE_FABRIC,	/* the other side has another fabric, or another shape of it */
	TOR_CABLE_MISWIRED,	/* hellos from an unexpected node or port */
	TOR_CABLE_ONE_WAY,	/* the other side does not hear this one */
	TOR_CABLE_TOO_SMALL,	/* frames in use are larger than it takes */
	TOR_CABLE_FLAPPING,	/* went up too often lately */
	TOR_CABLE_UP,
	TOR_CABLE_STATES
};

const char *tor_cable_state_name(enum tor_cable_state state);

/**
 * struct tor_cable - a cable of a link
 * @state: enum tor_cable_state; read without lock, so by READ_ONCE
 * @frame_size: bytes behind the MAC header that the device here takes
 * @takes: bytes that the devices at both ends take; read without lock, so by
 *	READ_ONCE
 * @needed: TOR_CABLE_TOO_SMALL: the frame that did not fit
 * @small_until: TOR_CABLE_TOO_SMALL: when it is used again, ns, since nobody says
 *	when such frames are no longer sent
 * @smalls: times that a frame did not fit into what the cable takes
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
 * @peer_tag: TOR_CABLE_FABRIC: tag of the other side's fabric, 0: it is this one
 * @peer_ndim, @peer_side: the neighbour's shape of the fabric, sides with their
 *	kinds
 * @peer_version: the neighbour's module version, terminated
 * @peer_more: a hello of its present incarnation had the following four
 * @peer_name: its host's name, printable, terminated
 * @peer_rates: hash of its rates, as tor_node.rates
 * @peer_sent: frames that its device had sent, modulo 2^32, when it sent the last
 *	hello, that one included
 * @peer_cables: of the neighbour's rings of 2
 * @peer_interval: of its hellos, ns, up to TOR_HELLO_RAREST; kept until the
 *	device goes, since it says how long the neighbour was waited for
 * @was: the state before the last change, which was at @since, ns
 * @downs: times that it was up and went down
 * @ups: limits how often it goes up
 * @echoes: test frames received; see echo.h
 * @damaged: frames that this cable damaged: any with a wrong header, and with
 *	a wrong payload those that the neighbour itself made
 */
struct tor_cable {
	enum tor_cable_state state;
	enum tor_cable_state was;
	u64 since;
	u64 downs;
	u32 frame_size;
	u32 takes;
	u32 needed;
	u64 small_until;
	u32 smalls;
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
	u64 peer_interval;
	struct tor_damper ups;
	atomic_t echoes;
	atomic64_t damaged;
};

struct tor_hdr;
struct tor_hello;

/*
 * Return how long the other end of @cable may be silent before it counts as gone,
 * ns. Context: the node's lock held.
 */
u64 tor_cable_patience(const struct tor_node *node, u32 cable);

/**
 * tor_cable_open - a cable has a device with carrier
 * @ctx: of this entry
 * @node: node
 * @cable: its number, see tor_cable()
 * @frame_size: bytes behind the MAC header that it takes
 *
 * Also called when @frame_size changes.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_open(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 frame_size);

/**
 * tor_cable_close - the device of a cable lost its carrier, or is gone
 * @ctx: of this entry
 * @node: node
 * @cable: its number
 * @absent: the device is gone
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_close(struct tor_ctx *ctx, struct tor_node *node, u32 cable, bool absent);

/**
 * tor_cable_expects - is a hello from the neighbour that belongs at a cable
 * @node: receiver
 * @cable: by which it came in
 * @h: its header
 * @hello: its body
 *
 * Context: any; reads the shape only.
 * Return: true if it is; its MAC address may then be used.
 */
bool tor_cable_expects(const struct tor_node *node, u32 cable, const struct tor_hdr *h,
		       const struct tor_hello *hello);

/**
 * tor_cable_hello - handle a received hello
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @h: its header
 * @hello: its body
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_hello(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		     const struct tor_hello *hello);

/**
 * tor_cable_foreign - a frame of another wire version came in
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @version: of the frame
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_foreign(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 version);

/**
 * tor_cable_stranger - a hello of another fabric came in
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @tag: of its fabric
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_stranger(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 tag);

/**
 * tor_cable_small - a frame is to leave by a cable's link
 * @ctx: of this entry
 * @node: node
 * @cable: its number
 * @len: bytes of the frame behind the MAC header
 *
 * A cable that does not take it counts as down for a time, see @small_until.
 *
 * Context: bottom halves off, the node's lock held.
 */
void tor_cable_small(struct tor_ctx *ctx, struct tor_node *node, u32 cable, u32 len);

/**
 * tor_cable_alive - a frame other than a hello came from the neighbour
 * @node: receiver
 * @cable: by which it came in
 *
 * Context: softirq; needs neither lock nor clock, the next tick evaluates it.
 */
void tor_cable_alive(struct tor_node *node, u32 cable);

/**
 * tor_cable_damaged - a frame arrived damaged
 * @node: receiver
 * @cable: by which it came in, and which damaged it
 *
 * Context: softirq; needs no lock.
 */
void tor_cable_damaged(struct tor_node *node, u32 cable);

/* Give up a silent neighbour; of tor_link_tick(). Context: the node's lock held. */
void tor_cable_tick(struct tor_ctx *ctx, struct tor_node *node, u32 cable);

#endif
