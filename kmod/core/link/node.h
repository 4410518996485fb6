/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A node: one membership in one fabric, its ports' links, and the comms being created on it.
 */
#ifndef _TOR_CORE_NODE_H
#define _TOR_CORE_NODE_H

#include "core/env.h"
#include "core/link/link.h"
#include "core/link/route.h"
#include "core/link/view.h"
#include "core/wire/wire.h"

#define TOR_FLOODS		8	/* hellos said at once in a row */
#define TOR_FLOODS_PER_HELLO	8	/* and how many of them per hello interval, */
#define TOR_FLOOD_EVERY		(25 * NSEC_PER_MSEC)	/* or so often, if that is more */

/**
 * struct tor_node - core's part of a node
 * @torus: the fabric's shape
 * @key: the fabric's key; @tag, its hash, is in every frame
 * @self: own index
 * @epoch: this incarnation, never 0
 * @checksum_payload: payloads carry a CRC
 * @big_endian: payloads, which lie on the cable as in memory, are
 * @hello_ns: hello interval; @ticked: when tor_link_tick() was called last, ns
 * @link: by port; see link.h
 * @live: bit per port whose link is up; read without lock, so by READ_ONCE
 * @view: what is known of everyone's links
 * @frame: bytes that all links take, as told to everyone
 * @news: there is something to be told at once
 * @said_at: time of the last regular hello, ns
 * @floods: how often news may be passed on at once; @flooded: as of when, ns
 * @tell_all: a neighbour is new; @telling: how often neighbours that are have all told that is known
 * @told: the records that hellos carry just now, @ntold of them; @said: the body of one
 * @joins: comms being created, struct tor_join; @shrinks: being shrunk, struct tor_shrink; the surroundings' join
 *	lock covers them all
 * @answers: until when answers to strangers are paid for, ns; see tor_node_may_answer()
 * @generation: comms created with this node as rank 0
 * @slowest: the longest round trip of a transfer lately, us; a hint, see xfer.h. Written by whoever gets
 *	acknowledgements, so it lies among what frames do not look at
 */
struct tor_node {
	struct tor_torus torus;
	u64 key;
	u32 tag;
	u32 self;
	u32 epoch;
	bool checksum_payload;
	bool big_endian;
	u64 hello_ns;
	u64 ticked;
	struct tor_link link[TOR_MAX_PORTS];
	u32 live;
	struct tor_view view;
	u16 frame;
	bool news;
	u64 said_at;
	u32 floods;
	u64 flooded;
	bool tell_all;
	struct tor_damper telling;
	struct tor_record told[TORCOLL_HELLO_RECORDS_MAX];
	u32 ntold;
	u8 said[sizeof(struct torcoll_hello) +
		TORCOLL_HELLO_RECORDS_MAX * sizeof(struct torcoll_link_record)];
	struct list_head joins;
	struct list_head shrinks;
	atomic64_t answers;
	u32 generation;
	u32 slowest;
};

/**
 * tor_node_init - become a member of a fabric
 * @node: to fill
 * @torus: shape, copied
 * @key: of the fabric
 * @self: own index, below torus->nodes
 *
 * Context: may sleep. Return: 0, -EINVAL or -ENOMEM.
 */
int tor_node_init(struct tor_node *node, const struct tor_torus *torus, u64 key, u32 self);
void tor_node_destroy(struct tor_node *node);

/* Answers to frames that name no comm or call of this node: so many at once, and then one per so much time. */
#define TOR_ANSWERS_AT_ONCE	256
#define TOR_ANSWER_EVERY	(NSEC_PER_MSEC / 2)

/*
 * May a frame that names nothing here be answered now? Anyone can say anything, and name anyone as its sender; who is really
 * concerned asks again. Context: any.
 */
bool tor_node_may_answer(struct tor_node *node, u64 now);

struct tor_hdr;

/* A header from this node to @dst with everything set that is the same in all frames of a type. */
void tor_node_header(const struct tor_node *node, struct tor_hdr *h, u8 type, u32 dst);

#endif
