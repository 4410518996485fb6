// SPDX-License-Identifier: GPL-2.0
/* Requests about changes of links. */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>

#include "net/linklog.h"
#include "netlink/fill.h"
#include "netlink/gen.h"
#include "netlink/put.h"
#include "netlink/request.h"

static int fill_change_heard(struct sk_buff *msg, const struct tor_change *change)
{
	if (change->heard_node == ~0U)
		return 0;
	return nla_put_u32(msg, TORCOLL_A_LOG_HEARD_NODE, change->heard_node) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_HEARD_DIM, change->heard_dim) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_HEARD_DIR, change->heard_dir) ?
		       -EMSGSIZE : 0;
}

int tor_fill_change(struct sk_buff *msg, const struct tor_fabric *fabric, u64 seq,
		    const struct tor_change *change)
{
	return nl_put_u64(msg, TORCOLL_A_LOG_FABRIC, fabric->node.key) ||
	       nl_put_u64(msg, TORCOLL_A_LOG_SEQ, seq) ||
	       nl_put_u64(msg, TORCOLL_A_LOG_AGO_NS, ktime_get_boottime_ns() - change->when) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_DIM, change->dim) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_DIR, change->dir) ||
	       nla_put_string(msg, TORCOLL_A_LOG_IFNAME, change->dev) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_FROM, change->from) ||
	       nla_put_u32(msg, TORCOLL_A_LOG_TO, change->to) ||
	       (*change->reason &&
		nla_put_string(msg, TORCOLL_A_LOG_REASON, change->reason)) ||
	       fill_change_heard(msg, change) ? -EMSGSIZE : 0;
}

int torcoll_nl_log_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *seq = info->attrs[TORCOLL_A_LOG_SEQ];
	struct tor_fabric *fabric;
	struct tor_change change;
	int err = 0;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_LOG_SEQ))
		return nl_refuse(info, -EINVAL, "the number of the change is missing", NULL);
	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_LOG_FABRIC, &err);
	if (fabric && !tor_linklog_get(fabric, nla_get_u64(seq), &change))
		err = nl_refuse(info, -ENOENT, "no change of that number is kept", seq);
	else if (fabric)
		err = reply(info, TORCOLL_CMD_LOG_GET,
			    tor_fill_change(msg, fabric, nla_get_u64(seq), &change));
	rtnl_unlock();
	return err;
}
