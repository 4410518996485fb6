// SPDX-License-Identifier: GPL-2.0
/*
 * The network device of a fabric, by rtnetlink. It keeps the prefixes of the
 * nodes' addresses; this node's addresses are set here, as those of any other
 * device.
 */
#include <errno.h>
#include <linux/if_addr.h>
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
#include "ipdev.h"
#include "linux/torcoll_netdev.h"

/* --- asking --- */

static void read_prefix(struct prefix *p, int family, struct nlattr *attr)
{
	/* both structs begin with the address, behind which is the length */
	size_t bytes = prefix_bytes(family);

	if (!attr || nla_len(attr) < (int)bytes + 1)
		return;
	p->family = family;
	memcpy(p->base, nla_data(attr), bytes);
	p->len = ((uint8_t *)nla_data(attr))[bytes];
}

struct search {
	uint64_t key;
	struct ipdev *dev;
};

/* Return the attributes of a link of our kind and of the fabric's key in @data. */
static bool is_device_of(uint64_t key, struct nlattr *info, struct nlattr **data)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	return info && nla_parse_nested(tb, IFLA_INFO_MAX, info, NULL) >= 0 &&
	       tb[IFLA_INFO_KIND] && !nla_strcmp(tb[IFLA_INFO_KIND], TORCOLL_NETDEV_KIND) &&
	       tb[IFLA_INFO_DATA] &&
	       nla_parse_nested(data, IFLA_TORCOLL_MAX, tb[IFLA_INFO_DATA], NULL) >= 0 &&
	       data[IFLA_TORCOLL_FABRIC] && nla_get_u64(data[IFLA_TORCOLL_FABRIC]) == key;
}

/* It has come from another namespace, where its fabric is: one of that key here is another. */
static bool is_moved(struct nlattr **tb)
{
	return tb[IFLA_LINK_NETNSID];
}

static void read_link(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *data[IFLA_TORCOLL_MAX + 1];
	struct search *search = arg;
	struct ipdev *dev = search->dev;
	struct ifinfomsg *ifi;

	if (nlh->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(nlh, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_IFNAME] ||
	    !tb[IFLA_MTU] || is_moved(tb) || !is_device_of(search->key, tb[IFLA_LINKINFO], data))
		return;
	ifi = nlmsg_data(nlh);
	dev->ifindex = ifi->ifi_index;
	dev->up = ifi->ifi_flags & IFF_UP;
	dev->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (data[IFLA_TORCOLL_NODE])
		dev->node = nla_get_u32(data[IFLA_TORCOLL_NODE]);
	nla_strlcpy(dev->name, tb[IFLA_IFNAME], sizeof(dev->name));
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == sizeof(dev->mac))
		memcpy(dev->mac, nla_data(tb[IFLA_ADDRESS]), sizeof(dev->mac));
	read_prefix(&dev->prefix[IP_4], AF_INET, data[IFLA_TORCOLL_PREFIX4]);
	read_prefix(&dev->prefix[IP_6], AF_INET6, data[IFLA_TORCOLL_PREFIX6]);
}

static struct nl_msg *request_link(struct conn *route, void *arg)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg ifi = { 0 };
	struct nlattr *info;

	if (msg) {
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
		info = nla_nest_start(msg, IFLA_LINKINFO);
		nla_put_string(msg, IFLA_INFO_KIND, TORCOLL_NETDEV_KIND);
		nla_nest_end(msg, info);
	}
	return msg;
}

static void begin_link(void *arg)
{
	struct search *search = arg;

	memset(search->dev, 0, sizeof(*search->dev));
}

static void read_address(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[IFA_MAX + 1], *attr;
	struct search *search = arg;
	struct ipdev *dev = search->dev;
	struct ifaddrmsg *ifa;
	uint8_t own[16];
	size_t i;

	if (nlh->nlmsg_type != RTM_NEWADDR ||
	    nlmsg_parse(nlh, sizeof(*ifa), tb, IFA_MAX, NULL) < 0)
		return;
	ifa = nlmsg_data(nlh);
	attr = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	for (i = 0; attr && i < IP_FAMILIES; i++) {
		const struct prefix *p = &dev->prefix[i];
		size_t bytes = prefix_bytes(p->family);

		if (!p->len || ifa->ifa_family != p->family || ifa->ifa_index != dev->ifindex ||
		    ifa->ifa_prefixlen != p->len || nla_len(attr) != (int)bytes)
			continue;
		prefix_address(p, dev->node, own);
		dev->has[i] |= !memcmp(own, nla_data(attr), bytes);
	}
}

static struct nl_msg *request_addresses_of(const struct ipdev *dev)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_DUMP);
	struct ifaddrmsg ifa = { .ifa_index = dev->ifindex };

	if (msg)
		nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO);
	return msg;
}

static struct nl_msg *request_addresses(struct conn *route, void *arg)
{
	const struct search *search = arg;

	return request_addresses_of(search->dev);
}

static void begin_addresses(void *arg)
{
	struct search *search = arg;

	memset(search->dev->has, 0, sizeof(search->dev->has));
}

int ipdev_get(struct conn *route, uint64_t key, struct ipdev *dev)
{
	static const struct dump link = { request_link, begin_link, read_link };
	static const struct dump addresses = { request_addresses, begin_addresses, read_address };
	struct search search = { key, dev };
	int err = conn_dump(route, &link, &search);

	if (err || !dev->ifindex)
		return err;
	return conn_dump(route, &addresses, &search);
}

/* --- changing --- */

static void put_prefix(struct nl_msg *msg, int attr, size_t family, const struct prefix *p)
{
	struct torcoll_prefix4 v4 = { .len = p->len };
	struct torcoll_prefix6 v6 = { .len = p->len };

	if (family == IP_4) {
		memcpy(&v4.base, p->base, sizeof(v4.base));
		nla_put(msg, attr, sizeof(v4), &v4);
	} else {
		memcpy(v6.base, p->base, sizeof(v6.base));
		nla_put(msg, attr, sizeof(v6), &v6);
	}
}

/* Make the device, or, with an ifindex, give it other prefixes. */
static int send_link(struct conn *route, uint32_t ifindex, const uint64_t *key,
		     const struct conf_ip *want)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, ifindex ? 0 :
						NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info, *data;

	if (msg) {
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		if (!ifindex)
			nla_put_string(msg, IFLA_IFNAME, *want->name ? want->name : "tor%d");
		info = nla_nest_start(msg, IFLA_LINKINFO);
		nla_put_string(msg, IFLA_INFO_KIND, TORCOLL_NETDEV_KIND);
		data = nla_nest_start(msg, IFLA_INFO_DATA);
		if (!ifindex)
			nla_put_u64(msg, IFLA_TORCOLL_FABRIC, *key);
		put_prefix(msg, IFLA_TORCOLL_PREFIX4, IP_4, &want->prefix[IP_4]);
		put_prefix(msg, IFLA_TORCOLL_PREFIX6, IP_6, &want->prefix[IP_6]);
		nla_nest_end(msg, data);
		nla_nest_end(msg, info);
	}
	return conn_call(route, msg, NULL, NULL);
}

static int switch_off(struct conn *route, uint32_t ifindex)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex, .ifi_change = IFF_UP };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);

	if (msg)
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	return conn_call(route, msg, NULL, NULL);
}

static int send_name(struct conn *route, uint32_t ifindex, const char *name)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);

	if (msg) {
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		nla_put_string(msg, IFLA_IFNAME, name);
	}
	return conn_call(route, msg, NULL, NULL);
}

/* The same to a device that has to be off for it. */
static int send_name_off(struct conn *route, struct ipdev *dev, const char *name)
{
	char why[sizeof(route->text)];
	int err = switch_off(route, dev->ifindex);

	if (err)
		return err;
	dev->up = false;
	/* IPv6 addresses went with that */
	dev->has[IP_6] = false;
	err = send_name(route, dev->ifindex, name);
	if (err) {
		memcpy(why, route->text, sizeof(why));
		device_set(route, dev->ifindex, 0);
		memcpy(route->text, why, sizeof(why));
	}
	return err;
}

/* Before Linux 6.2 a device that is switched on has a fixed name. */
static int rename_device(struct conn *route, struct ipdev *dev, const char *name)
{
	int err = send_name(route, dev->ifindex, name);

	if (err == -EBUSY)
		err = if_nametoindex(name) ? -EEXIST : send_name_off(route, dev, name);
	if (err == -EEXIST)
		snprintf(route->text, sizeof(route->text), "a device of the name %s exists already",
			 name);
	return err;
}

/* Nodes have different numbers, so that no other host is asked for the address. */
static int send_address(struct conn *route, int type, int flags, const struct ipdev *dev,
			const struct prefix *p)
{
	struct ifaddrmsg ifa = {
		.ifa_family = p->family, .ifa_prefixlen = p->len, .ifa_index = dev->ifindex,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);
	uint8_t address[16];

	prefix_address(p, dev->node, address);
	if (msg) {
		nlmsg_append(msg, &ifa, sizeof(ifa), NLMSG_ALIGNTO);
		nla_put(msg, IFA_LOCAL, prefix_bytes(p->family), address);
		nla_put(msg, IFA_ADDRESS, prefix_bytes(p->family), address);
		if (p->family == AF_INET6)
			nla_put_u32(msg, IFA_FLAGS, IFA_F_NODAD);
	}
	return conn_call(route, msg, NULL, NULL);
}

static int delete_address(struct conn *route, const struct ipdev *dev, size_t family)
{
	return send_address(route, RTM_DELADDR, 0, dev, &dev->prefix[family]);
}

static int add_address(struct conn *route, const struct ipdev *dev, const struct prefix *p)
{
	int err = send_address(route, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, dev, p);

	if (err == -EACCES && p->family == AF_INET6)
		snprintf(route->text, sizeof(route->text),
			 "IPv6 is switched off on %s: \"sysctl net.ipv6.conf.%s.disable_ipv6=0\" switches it on",
			 dev->name, dev->name);
	return err;
}

/* What others have added beside this node's IPv4 address, as messages. */
struct others {
	const struct ipdev *dev;
	struct nl_msg **msg;
	size_t n;
	bool lost;
};

static bool is_other(const struct ipdev *dev, struct nlmsghdr *nlh)
{
	const struct prefix *p = &dev->prefix[IP_4];
	struct nlattr *tb[IFA_MAX + 1];
	struct ifaddrmsg *ifa;
	uint8_t own[16];

	if (nlh->nlmsg_type != RTM_NEWADDR ||
	    nlmsg_parse(nlh, sizeof(*ifa), tb, IFA_MAX, NULL) < 0 || !tb[IFA_LOCAL])
		return false;
	ifa = nlmsg_data(nlh);
	prefix_address(p, dev->node, own);
	return ifa->ifa_family == AF_INET && ifa->ifa_index == dev->ifindex &&
	       ifa->ifa_prefixlen == p->len && nla_len(tb[IFA_LOCAL]) == 4 &&
	       memcmp(own, nla_data(tb[IFA_LOCAL]), 4);
}

static void take_other(struct nlmsghdr *nlh, void *arg)
{
	struct others *others = arg;
	struct nl_msg **more;

	if (!is_other(others->dev, nlh))
		return;
	more = realloc(others->msg, (others->n + 1) * sizeof(*more));
	if (more)
		others->msg = more;
	if (more)
		more[others->n] = nlmsg_convert(nlh);
	if (more && more[others->n])
		others->n++;
	else
		others->lost = true;
}

static struct nl_msg *request_others(struct conn *route, void *arg)
{
	const struct others *others = arg;

	return request_addresses_of(others->dev);
}

static void forget_others(void *arg)
{
	struct others *others = arg;

	while (others->n)
		nlmsg_free(others->msg[--others->n]);
	free(others->msg);
	others->msg = NULL;
}

/* Add it again as the kernel has told of it, unless it is there. */
static int return_other(struct conn *route, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	int err;

	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	nlh->nlmsg_seq = NL_AUTO_SEQ;
	nlh->nlmsg_pid = NL_AUTO_PORT;
	nlmsg_get(msg);
	err = conn_call(route, msg, NULL, NULL);
	return err == -EEXIST ? 0 : err;
}

/*
 * Delete this node's address. Of IPv4 the kernel deletes all others of that
 * network with it, unless promote_secondaries is set.
 */
static int delete_alone(struct conn *route, const struct ipdev *dev, size_t family)
{
	static const struct dump dump = { request_others, forget_others, take_other };
	struct others others = { .dev = dev };
	int err = family == IP_4 ? conn_dump(route, &dump, &others) : 0;
	size_t i;

	if (!err && others.lost) {
		snprintf(route->text, sizeof(route->text), "out of memory");
		err = -ENOMEM;
	}
	if (!err)
		err = delete_address(route, dev, family);
	for (i = 0; !err && i < others.n; i++)
		err = return_other(route, others.msg[i]);
	forget_others(&others);
	return err;
}

/*
 * Give the device the prefixes, and take former addresses away: in that order,
 * as the kernel may refuse the prefixes.
 */
static int set_prefixes(struct conn *route, struct ipdev *dev, const struct conf_ip *want)
{
	bool differ = false;
	int err = 0;
	size_t i;

	for (i = 0; i < IP_FAMILIES; i++)
		differ |= !prefix_equal(&dev->prefix[i], &want->prefix[i]);
	if (differ)
		err = send_link(route, dev->ifindex, NULL, want);
	for (i = 0; !err && i < IP_FAMILIES; i++) {
		if (prefix_equal(&dev->prefix[i], &want->prefix[i]))
			continue;
		if (dev->has[i])
			err = delete_alone(route, dev, i);
		dev->has[i] = false;
	}
	return err;
}

static int set_addresses(struct conn *route, const struct ipdev *dev, const struct conf_ip *want)
{
	int err = 0;
	size_t i;

	for (i = 0; !err && i < IP_FAMILIES; i++)
		if (want->prefix[i].len && !dev->has[i])
			err = add_address(route, dev, &want->prefix[i]);
	return err;
}

int ipdev_set(struct conn *route, uint64_t key, const struct conf_ip *want)
{
	struct ipdev dev;
	int err = ipdev_get(route, key, &dev);

	if (!err && !dev.ifindex) {
		err = send_link(route, 0, &key, want);
		if (!err)
			err = ipdev_get(route, key, &dev);
	}
	if (!err && *want->name && strcmp(want->name, dev.name))
		err = rename_device(route, &dev, want->name);
	if (!err)
		err = set_prefixes(route, &dev, want);
	if (!err && !dev.up)
		err = device_set(route, dev.ifindex, 0);
	return err ? err : set_addresses(route, &dev, want);
}

int ipdev_delete(struct conn *route, const struct ipdev *dev)
{
	struct ifinfomsg ifi = { .ifi_index = dev->ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELLINK, 0);

	if (msg)
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	return conn_call(route, msg, NULL, NULL);
}
