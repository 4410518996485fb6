/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * The network device of a fabric: attributes in IFLA_INFO_DATA of a link of kind "torcoll".
 *
 * Its frames travel on the shortest ways of the torus. The MAC address of node n follows from n
 * and cannot be changed. The device is deleted with its fabric.
 */
#ifndef _UAPI_LINUX_TORCOLL_NETDEV_H
#define _UAPI_LINUX_TORCOLL_NETDEV_H

#include <linux/types.h>

#define TORCOLL_NETDEV_KIND	"torcoll"

enum {
	IFLA_TORCOLL_UNSPEC,
	IFLA_TORCOLL_PAD,
	/*
	 * u64, key of the fabric, in the namespace that the request came from, or that of its
	 * IFLA_LINK_NETNSID. Only when a device is created; left out, the namespace's only fabric
	 */
	IFLA_TORCOLL_FABRIC,
	IFLA_TORCOLL_NODE,	/* u32, own index; only in replies */
	IFLA_TORCOLL_PREFIX4,	/* struct torcoll_prefix4; may be changed */
	IFLA_TORCOLL_PREFIX6,	/* struct torcoll_prefix6; may be changed */
	__IFLA_TORCOLL_MAX
};

#define IFLA_TORCOLL_MAX	(__IFLA_TORCOLL_MAX - 1)

/*
 * Prefixes of which every node has an address: node n has @base + n, in the network of the first
 * @len bits of @base. All nodes fit into the network, without its first address and, IPv4, its
 * last one. Requests for the MAC address of such an address are answered by the device itself. A
 * @len of 0 removes the prefix.
 */
struct torcoll_prefix4 {
	__be32	base;		/* address of node 0 */
	__u8	len;
	__u8	__reserved[3];
};

struct torcoll_prefix6 {
	__u8	base[16];	/* address of node 0 */
	__u8	len;
	__u8	__reserved[3];
};

#endif /* _UAPI_LINUX_TORCOLL_NETDEV_H */
