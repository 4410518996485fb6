// SPDX-License-Identifier: GPL-2.0
/*
 * Requests about limits: those of every user, and the present charges. They
 * concern no fabric and no network namespace. See user.h.
 */
#include <linux/torcoll_netlink.h>
#include <linux/user_namespace.h>
#include <net/sock.h>

#include "cdev/user.h"
#include "netlink/gen.h"
#include "netlink/request.h"

/* The attributes of amounts are in the order of enum tor_limit. */
#define ATTR_OF(_limit)	(TORCOLL_A_LIMIT_COMMS + (_limit))

static_assert(ATTR_OF(TOR_LIMIT_OPS) == TORCOLL_A_LIMIT_OPS);
static_assert(ATTR_OF(TOR_LIMIT_PINNED) == TORCOLL_A_LIMIT_PINNED);
static_assert(ATTR_OF(TOR_LIMIT_KERNEL) == TORCOLL_A_LIMIT_KERNEL);
static_assert(ATTR_OF(TOR_LIMIT_FABRICS) == TORCOLL_A_LIMIT_FABRICS);
static_assert(ATTR_OF(TOR_LIMIT_TABLES) == TORCOLL_A_LIMIT_TABLES);
static_assert(ATTR_OF(TOR_LIMIT_HELLOS) == TORCOLL_A_LIMIT_HELLOS);

/*
 * Fill in the limits, or with @user the charges of a user; @uid is its number
 * for the reader.
 */
static int fill(struct sk_buff *msg, const struct tor_user *user, u32 uid)
{
	u32 i;

	if (user && (nla_put_u32(msg, TORCOLL_A_LIMIT_USER, uid) ||
		     nla_put_u32(msg, TORCOLL_A_LIMIT_UNLIMITED, user->unlimited)))
		return -EMSGSIZE;
	for (i = 0; i < TOR_LIMIT_COUNT; i++)
		if (nla_put_u64_64bit(msg, ATTR_OF(i),
				      user ? atomic64_read(&user->used[i]) : tor_limit_get(i),
				      TORCOLL_A_LIMIT_PAD))
			return -EMSGSIZE;
	return 0;
}

int torcoll_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 i;

	for (i = 0; i < TOR_LIMIT_COUNT; i++)
		if (info->attrs[ATTR_OF(i)])
			tor_limit_set(i, nla_get_u64(info->attrs[ATTR_OF(i)]));
	return 0;
}

int torcoll_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *uid = info->attrs[TORCOLL_A_LIMIT_USER];
	struct tor_user *user;
	int err;

	if (!uid)
		return reply(info, TORCOLL_CMD_LIMIT_GET, fill(msg, NULL, 0));
	user = tor_user_find(make_kuid(sk_user_ns(NETLINK_CB(skb).sk), nla_get_u32(uid)),
			     get_u32(info, TORCOLL_A_LIMIT_UNLIMITED));
	if (!user)
		return nl_refuse(info, -ENOENT, "that user has neither an open file nor a fabric",
				 uid);
	err = reply(info, TORCOLL_CMD_LIMIT_GET, fill(msg, user, nla_get_u32(uid)));
	tor_user_put(user);
	return err;
}

/*
 * Fill one message of a dump: first the limits, then each user with a number
 * for the reader.
 */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb, const struct tor_user *user)
{
	u32 uid = 0;
	void *hdr;

	if (user) {
		uid = from_kuid(sk_user_ns(NETLINK_CB(cb->skb).sk), user->uid);
		if (uid == (uid_t)-1)
			return 0;
	}
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &tor_netlink_family,
			  NLM_F_MULTI, TORCOLL_CMD_LIMIT_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	if (fill(skb, user, uid)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* cb->args[0] counts the messages sent, the limits first. */
int torcoll_nl_limit_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct tor_user *user = NULL;
	int err;

	do {
		if (cb->args[0]) {
			user = tor_user_at(cb->args[0] - 1, &cb->seq);
			if (!user)
				break;
		}
		err = dump_one(skb, cb, user);
		if (user)
			tor_user_put(user);
		if (err)
			return skb->len ? skb->len : err;
		cb->args[0]++;
	} while (true);
	return skb->len;
}
