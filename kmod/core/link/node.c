// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A node of a fabric. See node.h.
 */
#include "core/link/node.h"

#include "core/link/hello.h"
#include "core/wire/wire.h"

/* Key of the hash from a fabric's key to its tag; an arbitrary constant. */
#define FABRIC_HASH_KEY		0x746f72636f6c6c00ULL

int tor_node_init(struct tor_node *node, const struct tor_torus *torus, u64 key, u32 self)
{
	__be64 wire_key = cpu_to_be64(key);
	int err;

	if (self >= torus->nodes)
		return -EINVAL;
	err = tor_view_init(&node->view, torus->nodes);
	if (err)
		return err;
	node->early = tor_env_table_alloc(TOR_EARLY_CALLS * sizeof(*node->early));
	if (!node->early) {
		tor_view_destroy(&node->view);
		return -ENOMEM;
	}
	node->torus = *torus;
	node->key = key;
	node->tag = tor_env_hash(&wire_key, sizeof(wire_key), FABRIC_HASH_KEY);
	node->self = self;
	do {
		node->epoch = tor_env_random();
	} while (!node->epoch);
	node->checksum_payload = true;
	node->big_endian = (__force u16)cpu_to_be16(1) == 1;
	node->hello_ns = TOR_HELLO_INTERVAL;
	INIT_LIST_HEAD(&node->joins);
	INIT_LIST_HEAD(&node->shrinks);
	tor_link_init(node);
	return 0;
}

void tor_node_destroy(struct tor_node *node)
{
	tor_env_table_free(node->early);
	node->early = NULL;
	tor_view_destroy(&node->view);
}

bool tor_node_may_answer(struct tor_node *node, u64 now)
{
	const s64 ahead = (TOR_ANSWERS_AT_ONCE - 1) * (s64)TOR_ANSWER_EVERY;
	s64 paid, next;

	do {
		paid = atomic64_read(&node->answers);
		next = max_t(s64, paid, now);
		if (next > (s64)now + ahead)
			return false;
	} while (atomic64_cmpxchg(&node->answers, paid, next + TOR_ANSWER_EVERY) != paid);
	return true;
}

void tor_node_header(const struct tor_node *node, struct tor_hdr *h, u8 type, u32 dst)
{
	memset(h, 0, sizeof(*h));
	h->version = TORCOLL_WIRE_VERSION;
	h->type = type;
	h->hop_limit = TOR_HOP_LIMIT;
	h->fabric = node->tag;
	h->src = node->self;
	h->dst = dst;
	h->src_epoch = node->epoch;
}
