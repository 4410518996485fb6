// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps. A dump walks over all objects in a fixed order and counts them;
 * cb->args[0] is the number reported so far. Changes meanwhile modify the
 * namespace's sequence, and the reader is told.
 *
 * Ops come and go by the thousand, and must not write to memory that all
 * processors share. Their set, and that of joins, is therefore hashed before and
 * after each part of a dump. Places for ops are counted even if empty, so that permanent objects
 * are reported exactly once, also if the reader ignores a change.
 */
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include <tor/dump_attrs.h>

#include "local/team.h"
#include "net/linklog.h"
#include "net/net.h"
#include "net/port.h"
#include "netlink/fill.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "op/endpoint.h"
#include "op/slot.h"

struct walk {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u8 cmd;
	long at;
};

/* Begin a message if this object is to be reported now. */
static void *walk_begin(struct walk *w)
{
	void *hdr;

	if (w->at++ < w->cb->args[0])
		return NULL;
	hdr = genlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq, &tor_netlink_family,
			  NLM_F_MULTI, w->cmd);
	if (!hdr)
		return ERR_PTR(-EMSGSIZE);
	genl_dump_check_consistent(w->cb, hdr);
	return hdr;
}

static int walk_end(struct walk *w, void *hdr, int err)
{
	if (err) {
		genlmsg_cancel(w->skb, hdr);
		return err;
	}
	genlmsg_end(w->skb, hdr);
	w->cb->args[0] = w->at;
	return 0;
}

static int walk_ports(struct walk *w, struct tor_fabric *fabric)
{
	u32 i;

	for (i = 0; i < TOR_MAX_CABLES; i++) {
		void *hdr;
		int err;

		if (!rtnl_dereference(fabric->port[i]))
			continue;
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, tor_fill_port(w->skb, fabric, i));
		if (err)
			return err;
	}
	return 0;
}

static int walk_observed(struct walk *w, struct tor_fabric *fabric)
{
	struct tor_observed o;
	u32 i;

	for (i = 0; i < TOR_OBSERVED; i++) {
		void *hdr;
		int err;

		if (!tor_observed_get(&fabric->observed, i, &o))
			continue;
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, tor_fill_observed(w->skb, fabric, &o));
		if (err)
			return err;
	}
	return 0;
}

static int walk_changes(struct walk *w, struct tor_fabric *fabric)
{
	struct tor_change change;
	u64 seq, next;

	next = tor_linklog_range(fabric, &seq);
	for (; seq < next; seq++) {
		void *hdr = walk_begin(w);
		int err;

		if (!hdr)
			continue;
		/* one that has just been replaced: the reader is told of a change */
		if (!IS_ERR(hdr) && !tor_linklog_get(fabric, seq, &change)) {
			genlmsg_cancel(w->skb, hdr);
			continue;
		}
		err = IS_ERR(hdr) ? PTR_ERR(hdr) :
				    walk_end(w, hdr, tor_fill_change(w->skb, fabric, seq, &change));
		if (err)
			return err;
	}
	return 0;
}

/* Return whether neither results nor core use a slot of a series of messages. */
static bool is_idle(const struct tor_series *series)
{
	return tor_series_is_free(series) && !atomic_read(&series->opens);
}

static int walk_series(struct walk *w, struct tor_series *series)
{
	u32 i;

	if (is_idle(series)) {
		w->at += series->group->comm.depth;
		return 0;
	}
	for (i = 0; i < series->group->comm.depth; i++) {
		struct tor_slot *slot = &series->slot[i];
		void *hdr;
		int err;

		if (!tor_slot_in_use(slot)) {
			w->at++;
			continue;
		}
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, tor_fill_op(w->skb, slot));
		if (err)
			return err;
	}
	return 0;
}

/*
 * Report ops that do not run yet, since some ranks of this node have not
 * called.
 */
static int walk_waiting(struct walk *w, const struct tor_group *group)
{
	u32 i;

	for (i = 0; i < group->comm.depth; i++) {
		struct tor_slot *slot = group->kind->waiting(group, i);
		void *hdr;
		int err;

		if (!slot) {
			w->at++;
			continue;
		}
		hdr = walk_begin(w);
		if (!hdr)
			continue;
		err = IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, tor_fill_waiting(w->skb, slot));
		if (err)
			return err;
	}
	return 0;
}

/* Report messages of this node's ranks, if these are groups of their own. */
static int walk_messages(struct walk *w, const struct tor_group *group)
{
	struct tor_series *series;
	struct tor_group *rank;
	u32 i;
	int err;

	for (i = 0; (rank = group->kind->rank(group, i)); i++) {
		tor_group_each_series(rank, series) {
			err = series->role ? walk_series(w, series) : 0;
			if (err)
				return err;
		}
	}
	return 0;
}

static int walk_ops(struct walk *w, struct tor_group *group)
{
	struct tor_series *series;
	int err;

	tor_group_each_series(group, series) {
		err = walk_series(w, series);
		if (err)
			return err;
	}
	err = walk_waiting(w, group);
	return err ? err : walk_messages(w, group);
}

static int walk_comm(struct walk *w, const struct tor_group *group)
{
	void *hdr = walk_begin(w);

	if (!hdr)
		return 0;
	return IS_ERR(hdr) ? PTR_ERR(hdr) : walk_end(w, hdr, tor_fill_comm(w->skb, group));
}

/* Report comms, or the ops of comms. */
static int walk_groups(struct walk *w, struct tor_fabric *fabric)
{
	struct tor_group *group;
	int err = 0;
	u32 bucket;

	rcu_read_lock();
	hash_for_each_rcu(fabric->group, bucket, group, hash) {
		err = w->cmd == TORCOLL_CMD_OP_GET ? walk_ops(w, group) : walk_comm(w, group);
		if (err)
			break;
	}
	rcu_read_unlock();
	return err;
}

static const struct tor_group *joiner(const struct tor_join *join)
{
	return container_of(join, struct tor_group, join);
}

/* Return whether only the list of joins has it: nobody has told its tag yet. */
static bool is_tagless(const struct tor_join *join)
{
	return !test_bit(TOR_GROUP_HASHED, &joiner(join)->flags);
}

/*
 * Report comms that are being joined. As many as fit into a message are filled in
 * under the lock that frames need.
 */
static int walk_joins(struct walk *w, struct tor_fabric *fabric)
{
	const struct tor_join *join;
	int err = 0;

	spin_lock_bh(&fabric->lock);
	list_for_each_entry(join, &fabric->node.joins, a.list) {
		if (is_tagless(join))
			err = walk_comm(w, joiner(join));
		if (err)
			break;
	}
	spin_unlock_bh(&fabric->lock);
	return err;
}

static int walk_seat(void *arg, const struct tor_group *seat, u32 missing)
{
	struct walk *w = arg;
	void *hdr = walk_begin(w);

	if (!hdr)
		return 0;
	return IS_ERR(hdr) ? PTR_ERR(hdr) :
			     walk_end(w, hdr, tor_fill_seat(w->skb, seat, missing));
}

/* Those that no node but this one waits for yet come last. */
static int walk_comms(struct walk *w, struct tor_fabric *fabric)
{
	int err = walk_groups(w, fabric);

	if (!err)
		err = walk_joins(w, fabric);
	return err ? err : tor_team_each_waiting(fabric, walk_seat, w);
}

static int walk_fabric(struct walk *w, struct tor_fabric *fabric)
{
	void *hdr;

	switch (w->cmd) {
	case TORCOLL_CMD_PORT_GET:
		return walk_ports(w, fabric);
	case TORCOLL_CMD_COMM_GET:
		return walk_comms(w, fabric);
	case TORCOLL_CMD_OP_GET:
		return walk_groups(w, fabric);
	case TORCOLL_CMD_OBSERVED_GET:
		return walk_observed(w, fabric);
	case TORCOLL_CMD_LOG_GET:
		return walk_changes(w, fabric);
	}
	hdr = walk_begin(w);
	if (!hdr)
		return 0;
	if (IS_ERR(hdr))
		return PTR_ERR(hdr);
	if (w->cmd == TORCOLL_CMD_STATS_GET)
		return walk_end(w, hdr, tor_fill_stats(w->skb, fabric));
	if (w->cmd == TORCOLL_CMD_TUNE_GET)
		return walk_end(w, hdr, tor_fill_tune(w->skb, fabric));
	if (w->cmd == TORCOLL_CMD_NODE_GET)
		return walk_end(w, hdr, tor_fill_node(w->skb, fabric));
	return walk_end(w, hdr, tor_fill_fabric(w->skb, fabric));
}

/* --- the sets of ops and of joins --- */

static u32 series_print(const struct tor_series *series, u32 print)
{
	u32 i;

	/* places of a new series move those behind them */
	print = jhash_2words(series->group->comm.tag, tor_series_id(series->role, series->peer),
			     print);
	for (i = 0; !is_idle(series) && i < series->group->comm.depth; i++)
		if (tor_slot_in_use(&series->slot[i]))
			print = jhash_1word(tor_slot_seq(&series->slot[i]), print);
	return print;
}

static u32 group_print(const struct tor_group *group, u32 print)
{
	const struct tor_series *series;

	tor_group_each_series(group, series)
		print = series_print(series, print);
	return print;
}

/* Hash all ops that a dump would report. */
static u32 ops_print(struct tor_fabric *fabric, u32 print)
{
	struct tor_group *group, *rank;
	u32 bucket, i;

	rcu_read_lock();
	hash_for_each_rcu(fabric->group, bucket, group, hash) {
		print = group_print(group, print);
		for (i = 0; i < group->comm.depth; i++)
			print = jhash_1word(!!group->kind->waiting(group, i), print);
		for (i = 0; (rank = group->kind->rank(group, i)); i++)
			print = group_print(rank, print);
	}
	rcu_read_unlock();
	return print;
}

/* Hash all joins that a dump would report. */
static u32 joins_print(struct tor_fabric *fabric, u32 print)
{
	const struct tor_join *join;

	spin_lock_bh(&fabric->lock);
	list_for_each_entry(join, &fabric->node.joins, a.list)
		if (is_tagless(join))
			print = jhash_1word(join->nonce, print);
	spin_unlock_bh(&fabric->lock);
	return print;
}

/*
 * Return a hash that two parts of a dump share if nothing changed between them;
 * not 0.
 * Context: RTNL.
 */
static u32 dump_moment(struct tor_net *tn, u8 cmd)
{
	u32 print = atomic_read(&tn->sequence);
	struct tor_fabric *fabric;
	u64 first;

	list_for_each_entry(fabric, &tn->fabrics, list) {
		if (cmd == TORCOLL_CMD_OP_GET)
			print = ops_print(fabric, print);
		else if (cmd == TORCOLL_CMD_COMM_GET)
			print = joins_print(fabric, print);
		else if (cmd == TORCOLL_CMD_LOG_GET)
			print = jhash_1word(tor_linklog_range(fabric, &first), print);
	}
	return print ?: 1;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, u32 key_attr)
{
	struct nlattr **attrs = tor_dump_attrs(cb);
	struct nlattr *key = attrs ? attrs[key_attr] : NULL;
	struct walk w = { .skb = skb, .cb = cb, .cmd = cmd };
	struct tor_net *tn = tor_net(sock_net(cb->skb->sk));
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	cb->seq = dump_moment(tn, cmd);
	list_for_each_entry(fabric, &tn->fabrics, list) {
		if (key && nla_get_u64(key) != fabric->node.key)
			continue;
		err = walk_fabric(&w, fabric);
		if (err)
			break;
	}
	/* the end of the dump is compared with this */
	cb->seq = dump_moment(tn, cmd);
	rtnl_unlock();
	/*
	 * a message that does not fit behind others goes into the next part;
	 * one that fits nowhere is an error
	 */
	return skb->len ? skb->len : err;
}

int torcoll_nl_fabric_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_FABRIC_GET, TORCOLL_A_FABRIC_KEY);
}

int torcoll_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_PORT_GET, TORCOLL_A_PORT_FABRIC);
}

int torcoll_nl_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_NODE_GET, TORCOLL_A_NODE_FABRIC);
}

int torcoll_nl_comm_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_COMM_GET, TORCOLL_A_COMM_FABRIC);
}

int torcoll_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_OP_GET, TORCOLL_A_OP_FABRIC);
}

int torcoll_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_STATS_GET, TORCOLL_A_STATS_FABRIC);
}

int torcoll_nl_tune_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_TUNE_GET, TORCOLL_A_TUNE_FABRIC);
}

int torcoll_nl_observed_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_OBSERVED_GET, TORCOLL_A_OBSERVED_FABRIC);
}

int torcoll_nl_log_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, TORCOLL_CMD_LOG_GET, TORCOLL_A_LOG_FABRIC);
}
