/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Nodes of a ring that shrink a comm: their calls, messages that are lost, deaths in the middle of it, time in steps. */
#ifndef _SHRINK_MEMBERS_H
#define _SHRINK_MEMBERS_H

#include "host_env.h"

#include "core/order.h"
#include "core/agree/shrink.h"

#define NODES	6
#define MAX_TAG	64

static struct tor_ctx ctx;

/* What a process has: the comm it shrinks, the call, and the heir it got. */
static struct member {
	struct tor_node node;
	struct tor_comm from;
	u32 from_member[NODES], from_order[NODES], from_epoch[NODES];
	struct tor_shrink shrink;
	struct tor_shrink_rank of[NODES];
	u32 list[NODES], order[NODES], epoch[NODES];
	u32 installed;			/* tag */
	u32 heir_ranks, heir[NODES];	/* once done */
	u32 again;			/* agreements that broke */
	bool calling;
	bool shrunk;
	bool away;			/* it does not wait in its call, see interrupt() and expire() */
	bool left;			/* the process is dead, or has closed it */
	bool down;			/* the node is: it hears and says nothing */
} member[NODES];

static struct tor_routes *routes;	/* everyone sees the same */
static u32 delivered;			/* frames of host.sent that were handed on */
static u32 loss;			/* one in so many messages is lost; 0: none */
static u32 killed_at;			/* after so many messages ... */
static u32 killed;			/* ... this node is down; NODES: none is */
static bool only_process;		/* or rather just its process */
static u32 interrupted_at;		/* after so many messages ... */
static u32 interrupted;			/* ... a signal interrupts this node's call; NODES: none */
static bool by_deadline;		/* or rather its deadline passes */
static u64 seed;
static struct tor_budget budget;	/* of an entry; all 0: the module's */

static void begin(struct member *m);

int tor_env_shrink_install(struct tor_ctx *c, struct tor_shrink *s)
{
	struct member *m = container_of(s, struct member, shrink);
	u32 i;

	assert_int_not_equal(s->a.tag, 0);
	if (s->a.ranks > NODES)
		return 0;	/* a crowd's */
	assert_in_range(s->a.ranks, 1, NODES);
	assert_int_equal(s->member[s->rank], m->node.self);
	for (i = 1; i < s->a.ranks; i++)
		assert_true(s->member[s->order[i - 1]] < s->member[s->order[i]]);
	m->installed = s->a.tag;
	return 0;
}

void tor_env_shrink_done(struct tor_ctx *c, struct tor_shrink *s)
{
	struct member *m = container_of(s, struct member, shrink);

	assert_true(m->calling);
	m->calling = false;
	if (s->a.error)
		m->installed = 0;
	if (s->again) {
		assert_true(++m->again < 50);
		return;
	}
	m->shrunk = !s->a.error;
	m->heir_ranks = s->a.ranks;
	memcpy(m->heir, m->list, sizeof(m->heir));
}

static bool is_in(const u32 *list, u32 n, u32 node)
{
	while (n--)
		if (*list++ == node)
			return true;
	return false;
}

int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch)
{
	const struct member *m = container_of(node, struct member, node);

	if (lineage != m->from.lineage || m->left)
		return TOR_HERITAGE_NONE;
	if (m->shrunk && !is_in(m->heir, m->heir_ranks, asking))
		return TOR_HERITAGE_WITHOUT;
	return tor_comm_rank(&m->from, asking) != TOR_NO_RANK && epoch == member[asking].node.epoch ?
	       TOR_HERITAGE_COMMON : TOR_HERITAGE_WITHOUT;
}

static void node_dies(u32 node)
{
	struct member *m = &member[node];

	m->down = true;
	m->left = true;
	if (m->calling)
		tor_shrink_cancel(&ctx, &m->shrink, -EINTR);
	routes->ports[node] = 0;
}

static void process_dies(u32 node)
{
	struct member *m = &member[node];

	m->left = true;
	if (m->calling)
		tor_shrink_cancel(&ctx, &m->shrink, -EINTR);
}

/*
 * A signal interrupts the call: the module keeps what it began, see kmod/cdev/pending.h. An agreement that breaks
 * meanwhile is begun again by the next call.
 */
static void interrupt(u32 node)
{
	member[node].away = true;
}

/* The deadline of the call passes. */
static void expire(u32 node)
{
	struct member *m = &member[node];
	bool over = !m->calling || tor_shrink_expire(&ctx, &m->shrink);

	assert_int_equal(over, !m->calling);
	m->away = true;
}

static void call_again(u32 node)
{
	struct member *m = &member[node];

	m->away = false;
	if (!m->calling && !m->shrunk && m->shrink.a.error == -ETIMEDOUT)
		begin(m);
	/* the rest is begin_again()'s */
	assert_true(m->calling || m->shrunk || m->shrink.again);
}

/* Calls whose agreements broke. */
static void begin_again(void)
{
	u32 i;

	for (i = 0; i < NODES; i++) {
		const struct member *m = &member[i];

		if (m->shrink.again && !m->calling && !m->left && !m->away)
			begin(&member[i]);
	}
}

/* What one entry says: no more than its budget, and an answer. */
static void assert_little_since(u32 sent)
{
	assert_in_range(host.nsent - sent, 0, tor_env_budget().frames + 1);
}

static void hand_on(const struct host_frame *f)
{
	u32 sent = host.nsent;
	enum tor_counter why;
	struct tor_comm_msg msg;
	struct member *m;
	struct tor_hdr h;

	assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
	assert_int_equal(h.type, TORCOLL_FRAME_COMM);
	assert_true(h.dst < NODES);
	assert_int_equal(tor_wire_get_comm(f->bytes + 64, h.length, &msg), 0);
	m = &member[h.dst];
	if (!m->down && !member[h.src].down)
		tor_shrink_rx(&ctx, &m->node, &h, &msg, m->shrunk && m->installed == msg.tag);
	assert_little_since(sent);
}

static void settle(void)
{
	struct host_frame f;

	while (delivered < host.nsent) {
		f = host.sent[delivered++];
		if (!loss || host_rand(&seed) % loss)
			hand_on(&f);
		if (delivered == killed_at && killed < NODES) {
			if (only_process)
				process_dies(killed);
			else
				node_dies(killed);
		}
		if (delivered == interrupted_at && interrupted < NODES)
			by_deadline ? expire(interrupted) : interrupt(interrupted);
		begin_again();
	}
}

/* In an entry of its own. */
static u64 run_timer(struct tor_node *node, const struct tor_routes *ways)
{
	ctx.said = 0;
	return tor_shrink_timer(&ctx, node, ways);
}

static void pass(u64 ns)
{
	u64 end = ctx.now + ns;
	u32 i;

	for (; ctx.now < end; ctx.now += 10 * NSEC_PER_MSEC) {
		for (i = 0; i < NODES; i++) {
			u32 sent = host.nsent;

			if (!member[i].down)
				run_timer(&member[i].node, routes);
			assert_little_since(sent);
		}
		begin_again();
		settle();
	}
}

static void begin(struct member *m)
{
	memset(&m->shrink, 0, sizeof(m->shrink));
	memset(m->of, 0, sizeof(m->of));
	memset(m->epoch, 0, sizeof(m->epoch));
	m->shrink.a.node = &m->node;
	m->shrink.from = &m->from;
	m->shrink.of = m->of;
	m->shrink.a.room = NODES;
	m->shrink.member = m->list;
	m->shrink.order = m->order;
	m->shrink.a.epoch = m->epoch;
	m->shrink.a.unit = 1344 - 64 * m->node.self;
	m->calling = true;
	assert_int_equal(tor_shrink_start(&ctx, &m->shrink, routes), 0);
}

static void call_on(u32 node)
{
	begin(&member[node]);
	settle();
}

static void call_everywhere(void)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		if (!member[(i + 3) % NODES].left && !member[(i + 3) % NODES].calling)
			call_on((i + 3) % NODES);
}

/* Everyone's comm: @ranks members, rank i on node @nodes[i]. */
static void make_comm(u32 node, u32 ranks, const u32 *nodes)
{
	struct member *m = &member[node];
	u32 i;

	m->from.node = &m->node;
	m->from.lineage = 0x1234;
	m->from.ranks = ranks;
	memcpy(m->from_member, nodes, ranks * sizeof(*nodes));
	tor_order_sort(m->from_order, m->from_member, ranks);
	m->from.member = m->from_member;
	m->from.order = m->from_order;
	m->from.epoch = m->from_epoch;
	tor_comm_note_births(&m->from);
	m->from.rank = tor_comm_rank(&m->from, node);
	for (i = 0; i < ranks; i++)
		m->from_epoch[i] = member[nodes[i]].node.epoch;
}

/* Ranks are not in the order of nodes. */
static const u32 all[NODES] = { 2, 0, 5, 1, 4, 3 };

static int setup(void **state)
{
	static const u32 side[] = { NODES };
	struct tor_torus t;
	u32 i;

	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	tor_env_table_free(routes);
	host_reset();
	host.budget = budget;
	memset(member, 0, sizeof(member));
	tor_torus_init(&t, 1, side, 1);
	for (i = 0; i < NODES; i++) {
		tor_node_init(&member[i].node, &t, 1, i);
		member[i].node.live = 3;
	}
	for (i = 0; i < NODES; i++)
		make_comm(i, NODES, all);
	routes = tor_routes_build(&t, 0, NULL);
	routes->self = ~0U;
	for (i = 0; i < NODES; i++)
		routes->ports[i] = 1;
	ctx.now = NSEC_PER_SEC;
	delivered = 0;
	loss = 0;
	killed = NODES;
	killed_at = 0;
	interrupted = NODES;
	interrupted_at = 0;
	by_deadline = false;
	only_process = false;
	seed = 12;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		if (member[i].calling)
			tor_shrink_cancel(&ctx, &member[i].shrink, -EINTR);
	for (i = 0; i < NODES; i++)
		if (!list_empty(&member[i].node.shrinks))
			return -1;
	for (i = 0; i < NODES; i++)
		tor_node_destroy(&member[i].node);
	tor_env_table_free(routes);
	routes = NULL;
	memset(member, 0, sizeof(member));
	host_check_idle();
	host_forget_sent();
	return 0;
}

/* All who live have the same heir, of all who live, in the old order. */
static void assert_shrunk(void)
{
	u32 i, k, n, tag = 0, generation = 0, unit = 0;

	for (i = 0; i < NODES; i++) {
		const struct member *m = &member[i];

		if (m->left)
			continue;
		assert_true(m->shrunk);
		if (!tag) {
			tag = m->installed;
			generation = m->shrink.a.generation;
			unit = m->shrink.a.unit;
		}
		assert_int_equal(m->installed, tag);
		assert_int_equal(m->shrink.a.tag, tag);
		assert_int_equal(m->shrink.a.generation, generation);
		assert_int_equal(m->shrink.a.unit, unit);
		for (k = n = 0; k < NODES; k++) {
			if (member[all[k]].left)
				continue;
			assert_int_equal(m->heir[n], all[k]);
			assert_int_equal(m->epoch[n], member[all[k]].node.epoch);
			n++;
		}
		assert_int_equal(m->heir_ranks, n);
		assert_int_equal(m->heir[m->shrink.rank], i);
	}
}

#endif
