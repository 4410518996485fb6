/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Nodes that say hello to each other over cables, frame by frame. */
#ifndef _LINK_NODES_H
#define _LINK_NODES_H

#include "host_env.h"

#include "core/link/hello.h"
#include "core/link/link.h"
#include "core/link/node.h"

static struct tor_ctx ctx;

/* What nodes hold of memory: they come and go on the stack. */
static struct tor_node nodes[64];
static u32 nnodes;

/* Every frame is its sender's, so that tests can pass them on. */
static void node_up(struct tor_node *node, u32 ndim, const u32 *side, u64 key, u32 self)
{
	struct tor_torus t;

	memset(node, 0, sizeof(*node));
	assert_int_equal(tor_torus_init(&t, ndim, side, 1), 0);
	assert_int_equal(tor_node_init(node, &t, key, self), 0);
	nodes[nnodes++] = *node;
}

/* Hand the last frame that was sent to @to at @port, as a receiver would. */
static void deliver(const struct host_frame *f, struct tor_node *to, u32 port)
{
	enum tor_counter why;
	struct tor_hello hello;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_HELLO);
	assert_int_equal(h.hop_limit, 1);
	assert_int_equal(tor_wire_crc(f->bytes + 64, h.length), h.payload_crc);
	assert_int_equal(tor_wire_get_hello(f->bytes + 64, h.length, &hello), 0);
	tor_cable_hello(&ctx, to, port, &h, &hello);
}

static struct host_frame *last_sent(void)
{
	assert_true(host.nsent > 0);
	return &host.sent[host.nsent - 1];
}

static int setup(void **state)
{
	host_reset();
	ctx.now = NSEC_PER_SEC;
	return 0;
}

static int teardown(void **state)
{
	while (nnodes)
		tor_node_destroy(&nodes[--nnodes]);
	host_check_idle();
	host_forget_sent();
	return 0;
}

static const u32 ring[] = { 4 };

/* Nodes 0 and 1 of a ring of 4, up. */
static void pair_up(struct tor_node *a, struct tor_node *b)
{
	host_forget_sent();
	node_up(a, 1, ring, 1, 0);
	node_up(b, 1, ring, 1, 1);
	tor_cable_open(&ctx, a, 0, 1500);
	tor_cable_open(&ctx, b, 1, 9000);
	deliver(&host.sent[0], b, 1);
	assert_int_equal(b->cable[1].state, TOR_CABLE_ONE_WAY);
	/* the answer comes at once, and so does the answer to it */
	deliver(last_sent(), a, 0);
	assert_int_equal(a->cable[0].state, TOR_CABLE_UP);
	deliver(last_sent(), b, 1);
	assert_int_equal(b->cable[1].state, TOR_CABLE_UP);
}

#define LINK_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
