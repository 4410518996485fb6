/* SPDX-License-Identifier: GPL-2.0 */
/* Since 6.15 the arguments of rtnl_link_ops.newlink are in a struct. */
#ifndef _TOR_COMPAT_NEWLINK_H
#define _TOR_COMPAT_NEWLINK_H

#include <net/rtnetlink.h>
#include <tor/has.h>

/*
 * What the file that includes this defines: create a device; @net: the namespace
 * that its attributes are about.
 */
static int tor_newlink(struct net *net, struct net_device *dev, struct nlattr *tb[],
		       struct nlattr *data[], struct netlink_ext_ack *extack);

/* For rtnl_link_ops.newlink. */
#ifdef TOR_HAS_NEWLINK_PARAMS
static inline int tor_compat_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
				     struct netlink_ext_ack *extack)
{
	return tor_newlink(rtnl_newlink_link_net(params), dev, params->tb, params->data, extack);
}
#else
static inline int tor_compat_newlink(struct net *net, struct net_device *dev, struct nlattr *tb[],
				     struct nlattr *data[], struct netlink_ext_ack *extack)
{
	return tor_newlink(net, dev, tb, data, extack);
}
#endif

#endif
