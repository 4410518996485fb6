// SPDX-License-Identifier: GPL-2.0
/*
 * Cables of a virtual torus: veth pairs, made by one request each with both
 * ends in their namespaces.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"

static void put_end(struct nl_msg *msg, const struct wire_end *end, uint32_t mtu)
{
	nla_put_string(msg, IFLA_IFNAME, end->name);
	nla_put_u32(msg, IFLA_MTU, mtu);
	nla_put_u32(msg, IFLA_NET_NS_FD, end->netns);
}

int wire_veth(struct conn *c, const struct wire_end *a, const struct wire_end *b, uint32_t mtu)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	/* the peer is created first, and cannot be up alone */
	struct ifinfomsg up = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct ifinfomsg down = { 0 };
	struct nlattr *info, *data, *peer;

	if (!msg)
		return conn_call(c, NULL, NULL, NULL);
	nlmsg_append(msg, &up, sizeof(up), NLMSG_ALIGNTO);
	put_end(msg, a, mtu);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, "veth");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	peer = nla_nest_start(msg, VETH_INFO_PEER);
	nlmsg_append(msg, &down, sizeof(down), NLMSG_ALIGNTO);
	put_end(msg, b, mtu);
	nla_nest_end(msg, peer);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return conn_call(c, msg, NULL, NULL);
}

int wire_up(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { 0 };
	int err = 0;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &ifr))
		err = -errno;
	ifr.ifr_flags |= IFF_UP;
	if (!err && ioctl(fd, SIOCSIFFLAGS, &ifr))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}
