/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A node: one membership in one fabric, its ports' links, and the comms being
 * created on it.
 *
 * The node's lock, which headers of core mention, is the surroundings', one per
 * node; in the module, fabric->lock.
 */
#ifndef _TOR_CORE_NODE_H
#define _TOR_CORE_NODE_H

#include "core/env.h"
#include "core/link/link.h"
#include "core/link/route.h"
#include "core/link/view.h"
#include "core/wire/wire.h"

#define TOR_REFUSALS		8	/* of comms, remembered */
#define TOR_EARLY_CALLS		64	/* kept until rank 0 calls */
#define TOR_PAST_CALLS		64	/* remembered, should they come late */

/**
 * struct tor_refusal - a comm was refused to all its ranks; see agree/terms.h
 * @name, @proof: of the comm
 * @until: when it is forgotten, ns; 0: free
 * @said: by this node; else to it
 * @terms: why, and its number
 */
struct tor_refusal {
	u64 name;
	u64 proof;
	u64 until;
	bool said;
	struct tor_comm_terms terms;
};

/**
 * struct tor_early - a member's call came before that of rank 0, which is of
 * this node; see agree/early.h
 * @until: when it is forgotten, ns; 0: free
 * @src, @src_epoch: the node that sent it
 * @msg: the call
 */
struct tor_early {
	u64 until;
	u32 src;
	u32 src_epoch;
	struct tor_comm_msg msg;
};

/**
 * struct tor_past - a member's call that is over; see agree/past.h
 * @until: when it is forgotten, ns
 * @name, @nonce, @rank: of the call
 * @src: the node that sent it
 */
struct tor_past {
	u64 until;
	u64 name;
	u64 nonce;
	u32 src;
	u32 rank;
};

/**
 * struct tor_node - core's part of a node
 * @torus: the fabric's shape
 * @key: the fabric's key; @tag, its hash, is in every frame
 * @self: own index
 * @epoch: this incarnation, never 0
 * @checksum_payload: payloads carry a CRC
 * @big_endian: byte order of payloads, which are sent as they are in memory
 * @rates: hash of the rates of the fabric, 0: those of the default; hellos
 *	carry it. Written and read without lock, so by WRITE_ONCE, READ_ONCE
 * @hello_ns: hello interval; @ticked: time of the last tor_link_tick(), ns
 * @cable: by number, see cable.h; @link: by port; see link.h
 * @live: bit per port whose link has a cable that is up; read without lock, so by READ_ONCE
 * @awaited: bit per port whose link was never up, as long as others are not
 *	told; read without lock, so by READ_ONCE
 * @patience: until when links are awaited, ns; 0: no port was opened
 * @view: what is known of the links of all nodes
 * @news: there are changes to send immediately; read without lock, so by
 *	READ_ONCE
 * @said_at: time of the last regular hello, ns
 * @told_downs: value of view.downs when all news was last sent on all cables
 * @floods: immediate hellos left; @flooded: time of the last replenishment, ns
 * @tell_all: a neighbour is new; @telling: limits how often new neighbours are
 *	sent the whole view
 * @told: the records of the current hellos, @ntold of them; @said: the body of
 *	one
 * @joins: comms being created, struct tor_join; @shrinks: being shrunk, struct
 *	tor_shrink; the node's lock covers both
 * @refusal: refusals of comms, @refusals so far; the node's lock
 * @early: early calls, TOR_EARLY_CALLS of them, of which @earlies had to make
 *	room; the node's lock
 * @past: the last calls that are over, @pasts so far; the node's lock
 * @answers: time up to which answers to unknown senders are charged, ns; see
 *	tor_node_may_answer()
 * @packets: group frames of the network device sent so far: their numbers,
 *	which are those of the incarnation and outlive the device
 * @generation: comms created with this node as rank 0
 * @slowest: the longest recent round trip of a transfer, us; a hint, see
 *	xfer.h. Written on acknowledgements, so it is placed apart from the
 *	members that the frame path reads
 */
struct tor_node {
	struct tor_torus torus;
	u64 key;
	u32 tag;
	u32 self;
	u32 epoch;
	bool checksum_payload;
	bool big_endian;
	u32 rates;
	u64 hello_ns;
	u64 ticked;
	struct tor_cable cable[TOR_MAX_CABLES];
	struct tor_link link[TOR_MAX_PORTS];
	u32 live;
	u32 awaited;
	u64 patience;
	struct tor_view view;
	bool news;
	u64 said_at;
	u32 told_downs;
	u32 floods;
	u64 flooded;
	bool tell_all;
	struct tor_damper telling;
	struct tor_record told[TORCOLL_HELLO_RECORDS_MAX];
	u32 ntold;
	u8 said[TOR_WIRE_HELLO_MAX];
	struct list_head joins;
	struct list_head shrinks;
	struct tor_refusal refusal[TOR_REFUSALS];
	u32 refusals;
	struct tor_early *early;
	u32 earlies;
	struct tor_past past[TOR_PAST_CALLS];
	u32 pasts;
	atomic64_t answers;
	atomic_t packets;
	u32 generation;
	u32 slowest;
};

/**
 * tor_node_init - become a member of a fabric
 * @node: filled in; must be zeroed
 * @torus: shape, copied
 * @key: of the fabric
 * @self: own index, below torus->nodes
 *
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int tor_node_init(struct tor_node *node, const struct tor_torus *torus, u64 key, u32 self);
void tor_node_destroy(struct tor_node *node);

/*
 * Limit for answers to frames that name no comm or call of this node: a burst,
 * then one per interval.
 */
#define TOR_ANSWERS_AT_ONCE	256
#define TOR_ANSWER_EVERY	(NSEC_PER_MSEC / 2)

/**
 * tor_node_may_answer - rate limit for answers to unknown senders
 * @node: node
 * @now: monotonic time, ns
 *
 * Anyone can send such frames, with any sender address. A genuine sender asks
 * again.
 *
 * Context: any; takes no lock.
 * Return: true if the frame may be answered; the answer is then charged.
 */
bool tor_node_may_answer(struct tor_node *node, u64 now);

struct tor_hdr;

/*
 * Fill in a header from this node to @dst: all fields that are the same in all
 * frames of a type. Context: any.
 */
void tor_node_header(const struct tor_node *node, struct tor_hdr *h, u8 type, u32 dst);

#endif
