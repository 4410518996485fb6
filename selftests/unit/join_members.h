/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Nodes of a ring that create a comm: their calls, messages between them that are lost or arrive at once, time in steps. */
#ifndef _JOIN_MEMBERS_H
#define _JOIN_MEMBERS_H

#include "host_env.h"

#include "core/agree/join.h"

#define NODES	5

static struct tor_ctx ctx;

/* A node, its call, and what became of it. */
static struct member {
	struct tor_node node;
	struct tor_join join;
	u8 seen[NODES];
	u32 nonce[NODES];
	u32 epoch[NODES];
	u32 installed;			/* tag */
	struct tor_rates agreed;	/* when it was installed */
	bool failed;			/* what it has installed */
	bool done;
	bool ended;			/* the tag is known to the node after the join */
} member[NODES];

static int install_error;		/* what installing gives at rank 2 */
static u32 delivered;			/* frames of host.sent that were handed on */
static u32 loss;			/* one in so many messages is lost; 0: none */
static u32 deaf;			/* a node that hears nothing */
static u32 deaf_to;			/* or only messages of other steps than that */
static u64 seed;

int tor_env_join_install(struct tor_ctx *c, struct tor_join *join)
{
	struct member *m = container_of(join, struct member, join);

	assert_int_not_equal(join->a.tag, 0);
	if (install_error && join->rank == 2)
		return install_error;
	m->installed = join->a.tag;
	m->agreed = join->rates;
	return 0;
}

bool tor_env_join_failed(const struct tor_join *join)
{
	return container_of(join, struct member, join)->failed;
}

void tor_env_join_done(struct tor_ctx *c, struct tor_join *join)
{
	struct member *m = container_of(join, struct member, join);

	assert_false(m->done);
	m->done = true;
	m->ended = !join->a.error;
}

static void hand_on(const struct host_frame *f)
{
	enum tor_counter why;
	struct tor_comm_msg msg;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_COMM);
	assert_true(h.dst < NODES);
	assert_int_equal(tor_wire_get_comm(f->bytes + 64, h.length, &msg), 0);
	if (h.dst == deaf && (!deaf_to || msg.step == deaf_to))
		return;
	tor_join_rx(&ctx, &member[h.dst].node, &h, &msg,
		    member[h.dst].ended && member[h.dst].installed == msg.tag);
}

/* Until nothing is under way. */
static void settle(void)
{
	struct host_frame f;

	while (delivered < host.nsent) {
		f = host.sent[delivered++];
		if (!loss || host_rand(&seed) % loss)
			hand_on(&f);
	}
}

/* Let time pass in steps, with all the repetitions. */
static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	for (; ctx.now < end; ctx.now += 10 * NSEC_PER_MSEC) {
		for (i = 0; i < NODES; i++)
			tor_join_timer(&ctx, &member[i].node);
		settle();
	}
}

static void call_as(u32 rank, u32 ranks, const u32 *nodes, const char *secret)
{
	struct member *m = &member[nodes ? nodes[rank] : rank];

	m->join.a.node = &m->node;
	m->join.rank = rank;
	m->join.a.ranks = ranks;
	m->join.member = nodes;
	m->join.a.unit = 1436 - 60 * rank;
	m->join.a.epoch = m->epoch;
	m->join.seen = m->seen;
	m->join.seen_nonce = m->nonce;
	tor_join_prepare(&m->join, "name", 4, secret, strlen(secret));
	assert_int_equal(tor_join_start(&ctx, &m->join), 0);
	settle();
}

static int setup(void **state)
{
	static const u32 side[] = { NODES };
	struct tor_torus t;
	u32 i;

	/* some tests begin again */
	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	host_reset();
	memset(member, 0, sizeof(member));
	tor_torus_init(&t, 1, side, 1);
	for (i = 0; i < NODES; i++)
		tor_node_init(&member[i].node, &t, 1, i);
	ctx.now = NSEC_PER_SEC;
	delivered = 0;
	install_error = 0;
	loss = 0;
	deaf = NODES;
	deaf_to = 0;
	seed = 12;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	host_check_idle();
	host_forget_sent();
	for (i = 0; i < NODES; i++)
		if (!list_empty(&member[i].node.joins))
			return -1;
	return 0;
}

static void call_again(u32 node)
{
	memset(&member[node].join, 0, sizeof(member[node].join));
	memset(member[node].seen, 0, sizeof(member[node].seen));
	member[node].done = false;
	call_as(node, NODES, NULL, "secret");
}

static void assert_all_joined(u32 ranks, const u32 *nodes)
{
	u32 i, tag = member[nodes ? nodes[0] : 0].join.a.tag;

	for (i = 0; i < ranks; i++) {
		const struct member *m = &member[nodes ? nodes[i] : i];

		assert_true(m->done);
		assert_int_equal(m->join.a.error, 0);
		assert_int_equal(m->installed, tag);
		assert_int_equal(m->join.a.tag, tag);
		/* the smallest that was offered */
		assert_int_equal(m->join.a.unit, 1436 - 60 * (ranks - 1));
	}
}

#endif
