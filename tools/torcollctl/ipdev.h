/* SPDX-License-Identifier: GPL-2.0 */
/* The network device of a fabric on this host, and this node's addresses on it. */
#ifndef _CTL_IPDEV_H
#define _CTL_IPDEV_H

#include "conf.h"

struct conn;

/**
 * struct ipdev - the network device of a fabric as it is
 * @ifindex: its number; 0: there is none, and all else is zero
 * @node: this one
 * @mtu: of it
 * @up: it is switched on
 * @mac: its address
 * @name: its name
 * @prefix: of the nodes' addresses, by enum ip_family
 * @has: it has the address that this node has of the prefix
 */
struct ipdev {
	uint32_t ifindex;
	uint32_t node;
	uint32_t mtu;
	bool up;
	uint8_t mac[6];
	char name[IFNAMSIZ];
	struct prefix prefix[IP_FAMILIES];
	bool has[IP_FAMILIES];
};

/* Words of commands for the prefixes of both families. */
extern const char *const ip_words[IP_FAMILIES];

/**
 * ipdev_get - find the device
 * @route: rtnetlink
 * @key: of the fabric
 * @dev: filled in
 *
 * Return: 0 or a negative errno with @route->text.
 */
int ipdev_get(struct conn *route, uint64_t key, struct ipdev *dev);

/* Return whether something has to change for the device to be as @want says. */
bool ipdev_differs(const struct ipdev *dev, const struct conf_ip *want);

/**
 * ipdev_set - make the device as it is to be
 * @route: rtnetlink
 * @key: of the fabric
 * @want: how; what is so is not touched
 *
 * Addresses that this node has of former prefixes are removed, all others stay.
 *
 * Return: 0 or a negative errno with @route->text.
 */
int ipdev_set(struct conn *route, uint64_t key, const struct conf_ip *want);

/* Delete the device. Return as ipdev_set(). */
int ipdev_delete(struct conn *route, const struct ipdev *dev);

#endif
