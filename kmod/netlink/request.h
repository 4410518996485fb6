/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of request handlers: refusals, the fabric concerned, answers. */
#ifndef _TOR_NETLINK_REQUEST_H
#define _TOR_NETLINK_REQUEST_H

#include <net/genetlink.h>

#include "net/fabric.h"
#include "net/net.h"
#include "netlink/netlink.h"

/* Refuse with a sentence that is chosen at run time; it must be static. */
static inline int nl_refuse(struct genl_info *info, int err, const char *why,
			    const struct nlattr *attr)
{
	if (why)
		info->extack->_msg = why;
	if (attr)
		NL_SET_BAD_ATTR(info->extack, attr);
	return err;
}

/* Find the fabric that attribute @attr names. Context: RTNL. */
static inline struct tor_fabric *find_fabric(struct sk_buff *skb, struct genl_info *info, u32 attr,
					     int *err)
{
	struct tor_fabric *fabric;

	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		*err = nl_refuse(info, -EINVAL, "the fabric's key is missing", NULL);
		return NULL;
	}
	fabric = tor_fabric_find(tor_net(genl_info_net(info)), nla_get_u64(info->attrs[attr]));
	if (!fabric)
		*err = nl_refuse(info, -ENOENT, "this namespace has no fabric of that key",
				      info->attrs[attr]);
	return fabric;
}

static inline u32 get_u32(struct genl_info *info, u32 attr)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : 0;
}

/*
 * Send a message with the family's header that @fill fills in, or return its
 * error.
 */
#define reply(_info, _cmd, _fill)							\
({											\
	struct sk_buff *__msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);			\
	void *__hdr = __msg ? genlmsg_put_reply(__msg, _info, &tor_netlink_family, 0, _cmd) : NULL;	\
	struct sk_buff *msg = __msg;							\
	int __err = __hdr ? (_fill) : -ENOMEM;						\
											\
	if (__err) {									\
		nlmsg_free(__msg);							\
	} else {									\
		genlmsg_end(__msg, __hdr);						\
		__err = genlmsg_reply(__msg, _info);					\
	}										\
	__err;										\
})

#endif
