/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Foreign MAC addresses, of containers, virtual machines and hosts behind
 * bridges, and the nodes that they are behind: learnt from the packets that come
 * from them, and forgotten after TOR_FDB_AGE. The addresses of the nodes
 * themselves are arithmetic (core/packet/mac.h) and not in it.
 *
 * Anyone behind a node can make up addresses: their number is bounded, and the
 * buckets are chosen by a secret.
 */
#ifndef _TOR_PACKET_FDB_H
#define _TOR_PACKET_FDB_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct net_device;
struct netlink_callback;
struct sk_buff;

#define TOR_FDB_BUCKETS	256
#define TOR_FDB_MAX	4096	/* entries of a device */
#define TOR_FDB_AGE	(300 * HZ)
#define TOR_FDB_MEMORY	(TOR_FDB_MAX * 64)	/* at most, with what the allocator adds */

/**
 * struct tor_fdb - the table of a device
 * @lock: of writers; leaf
 * @bucket: struct tor_fdb_entry; RCU
 * @entries: number of them; @lock
 * @secret: for the choice of buckets
 * @age_work: removes old entries, while there are any
 */
struct tor_fdb {
	spinlock_t lock;
	struct hlist_head bucket[TOR_FDB_BUCKETS];
	u32 entries;
	u32 secret;
	struct delayed_work age_work;
};

/* Context: any. */
void tor_fdb_init(struct tor_fdb *fdb);

/* Forget all; nobody learns any more. Context: process. */
void tor_fdb_destroy(struct tor_fdb *fdb);

/*
 * A packet from @mac came from @node: remember it if there is room. Context: BH,
 * RCU.
 */
void tor_fdb_learn(struct tor_fdb *fdb, u64 mac, u32 node);

/*
 * Return the node that @mac is behind, TOR_NO_NODE: unknown. Context: RCU.
 */
u32 tor_fdb_find(struct tor_fdb *fdb, u64 mac);

/* ndo_fdb_dump of the device. Context: RTNL or RCU. */
int tor_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb, struct net_device *dev,
		 struct net_device *filter, int *idx);

#endif
