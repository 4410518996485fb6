/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A node: one membership in one fabric, its ports' links, and the comms being created on it.
 */
#ifndef _TOR_CORE_NODE_H
#define _TOR_CORE_NODE_H

#include "env.h"
#include "link.h"
#include "torus.h"

#define TOR_HOP_LIMIT	255

/**
 * struct tor_node - core's part of a node
 * @torus: the fabric's shape
 * @key: the fabric's key; @tag, its hash, is in every frame
 * @self: own index
 * @epoch: this incarnation, never 0
 * @checksum_payload: payloads carry a CRC
 * @hello_ns: hello interval
 * @link: by port; see link.h
 * @joins: comms being created, struct tor_join; the surroundings' join lock covers it and all of them
 * @generation: comms created with this node as rank 0
 */
struct tor_node {
	struct tor_torus torus;
	u64 key;
	u32 tag;
	u32 self;
	u32 epoch;
	bool checksum_payload;
	u64 hello_ns;
	struct tor_link link[TOR_MAX_PORTS];
	struct list_head joins;
	u32 generation;
};

/**
 * tor_node_init - become a member of a fabric
 * @node: to fill
 * @torus: shape, copied
 * @key: of the fabric
 * @self: own index, below torus->nodes
 *
 * Return: 0 or -EINVAL.
 */
int tor_node_init(struct tor_node *node, const struct tor_torus *torus, u64 key, u32 self);

struct tor_hdr;

/* A header from this node to @dst with everything set that is the same in all frames of a type. */
void tor_node_header(const struct tor_node *node, struct tor_hdr *h, u8 type, u32 dst);

#endif
