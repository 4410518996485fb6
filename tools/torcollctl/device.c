// SPDX-License-Identifier: GPL-2.0
/* Network devices of this namespace, by rtnetlink. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "device.h"
#include "dump.h"

static void copy_mac(uint8_t mac[6], struct nlattr *attr)
{
	if (attr && nla_len(attr) == 6)
		memcpy(mac, nla_data(attr), 6);
}

static void add_device(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct devices *d = arg;
	struct ifinfomsg *ifi;
	struct device *device;

	if (nlh->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlh, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_IFNAME] ||
	    !tb[IFLA_MTU])
		return;
	device = realloc(d->list, (d->n + 1) * sizeof(*device));
	if (!device)
		return;
	d->list = device;
	device += d->n++;
	ifi = nlmsg_data(nlh);
	*device = (struct device){
		.ifindex = ifi->ifi_index,
		.mtu = nla_get_u32(tb[IFLA_MTU]),
		.up = ifi->ifi_flags & IFF_UP,
	};
	nla_strlcpy(device->name, tb[IFLA_IFNAME], sizeof(device->name));
	copy_mac(device->mac, tb[IFLA_ADDRESS]);
	copy_mac(device->permanent, tb[IFLA_PERM_ADDRESS]);
}

static struct nl_msg *request_devices(struct conn *c, void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg ifi = { 0 };

	if (msg) {
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	}
	return msg;
}

static void begin_devices(void *arg)
{
	devices_free(arg);
}

int devices_get(struct conn *c, struct devices *d)
{
	static const struct dump dump = { request_devices, begin_devices, add_device };
	int err;

	memset(d, 0, sizeof(*d));
	err = conn_dump(c, &dump, d);
	if (err)
		devices_free(d);
	return err;
}

void devices_free(struct devices *d)
{
	free(d->list);
	memset(d, 0, sizeof(*d));
}

int device_set(struct conn *c, uint32_t ifindex, uint32_t mtu)
{
	struct ifinfomsg ifi = {
		.ifi_index = ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);

	if (msg) {
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		if (mtu)
			nla_put_u32(msg, IFLA_MTU, mtu);
	}
	return conn_call(c, msg, NULL, NULL);
}
