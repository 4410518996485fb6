// SPDX-License-Identifier: GPL-2.0
/* Foreign MAC addresses, and the nodes that they are behind. See fdb.h. */
#include "packet/fdb.h"

#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <tor/fdb_dump.h>

#include "core/packet/mac.h"
#include "net/fabric.h"
#include "packet/device.h"

/* How often entries are looked at for their age. */
#define FDB_ROUND	(TOR_FDB_AGE / 10)

/* A lookup writes the time of its use at most that often. */
#define FDB_TOUCH	HZ

/*
 * An address. @node is the one that it is behind, @used the time in jiffies when a packet came
 * from there. Both are read and written without lock.
 */
struct tor_fdb_entry {
	struct hlist_node hash;
	u64 mac;
	u32 node;
	unsigned long used;
	struct rcu_head rcu;
};

static_assert(sizeof(struct tor_fdb_entry) * TOR_FDB_MAX <= TOR_FDB_MEMORY);

static struct hlist_head *fdb_bucket(struct tor_fdb *fdb, u64 mac)
{
	return &fdb->bucket[jhash_2words(mac, mac >> 32, fdb->secret) % TOR_FDB_BUCKETS];
}

static struct tor_fdb_entry *fdb_entry(struct tor_fdb *fdb, u64 mac)
{
	struct tor_fdb_entry *e;

	hlist_for_each_entry_rcu(e, fdb_bucket(fdb, mac), hash, lockdep_is_held(&fdb->lock))
		if (e->mac == mac)
			return e;
	return NULL;
}

static bool fdb_is_old(const struct tor_fdb_entry *e)
{
	return time_after(jiffies, READ_ONCE(e->used) + TOR_FDB_AGE);
}

static void fdb_remove(struct tor_fdb *fdb, struct tor_fdb_entry *e)
{
	hlist_del_rcu(&e->hash);
	fdb->entries--;
	kfree_rcu(e, rcu);
}

/* Remove the old entries of a bucket, or @all. */
static void fdb_clean(struct tor_fdb *fdb, u32 bucket, bool all)
{
	struct tor_fdb_entry *e;
	struct hlist_node *next;

	spin_lock_bh(&fdb->lock);
	hlist_for_each_entry_safe(e, next, &fdb->bucket[bucket], hash)
		if (all || fdb_is_old(e))
			fdb_remove(fdb, e);
	spin_unlock_bh(&fdb->lock);
}

static void fdb_age(struct work_struct *work)
{
	struct tor_fdb *fdb = container_of(to_delayed_work(work), struct tor_fdb, age_work);
	u32 bucket;

	for (bucket = 0; bucket < TOR_FDB_BUCKETS; bucket++)
		fdb_clean(fdb, bucket, false);
	spin_lock_bh(&fdb->lock);
	if (fdb->entries)
		schedule_delayed_work(&fdb->age_work, FDB_ROUND);
	spin_unlock_bh(&fdb->lock);
}

void tor_fdb_init(struct tor_fdb *fdb)
{
	spin_lock_init(&fdb->lock);
	fdb->secret = get_random_u32();
	INIT_DELAYED_WORK(&fdb->age_work, fdb_age);
}

void tor_fdb_destroy(struct tor_fdb *fdb)
{
	u32 bucket;

	cancel_delayed_work_sync(&fdb->age_work);
	for (bucket = 0; bucket < TOR_FDB_BUCKETS; bucket++)
		fdb_clean(fdb, bucket, true);
}

/* Add an entry, unless another CPU did or there is no room. */
static void fdb_add(struct tor_fdb *fdb, u64 mac, u32 node)
{
	struct tor_fdb_entry *e;

	spin_lock(&fdb->lock);
	if (fdb->entries >= TOR_FDB_MAX || fdb_entry(fdb, mac))
		goto unlock;
	e = kzalloc(sizeof(*e), GFP_ATOMIC | __GFP_NOWARN);
	if (!e)
		goto unlock;
	e->mac = mac;
	e->node = node;
	e->used = jiffies;
	hlist_add_head_rcu(&e->hash, fdb_bucket(fdb, mac));
	if (!fdb->entries++)
		schedule_delayed_work(&fdb->age_work, FDB_ROUND);
unlock:
	spin_unlock(&fdb->lock);
}

void tor_fdb_learn(struct tor_fdb *fdb, u64 mac, u32 node)
{
	struct tor_fdb_entry *e = fdb_entry(fdb, mac);

	if (!e) {
		fdb_add(fdb, mac, node);
		return;
	}
	/* it has moved: a virtual machine does */
	if (READ_ONCE(e->node) != node)
		WRITE_ONCE(e->node, node);
	if (time_after(jiffies, READ_ONCE(e->used) + FDB_TOUCH))
		WRITE_ONCE(e->used, jiffies);
}

u32 tor_fdb_find(struct tor_fdb *fdb, u64 mac)
{
	const struct tor_fdb_entry *e = fdb_entry(fdb, mac);

	return e && !fdb_is_old(e) ? READ_ONCE(e->node) : TOR_NO_NODE;
}

/* --- bridge fdb show --- */

/* The address of the node, if it has one of the prefix: as VXLAN shows its remote ends. */
static int fdb_fill_node(struct sk_buff *skb, const struct tor_packet_dev *packet, u32 node)
{
	const struct tor_packet_prefix *prefix = rcu_dereference(packet->prefix);
	struct in6_addr address;

	if (prefix && prefix->len4)
		return nla_put_be32(skb, NDA_DST, cpu_to_be32(prefix->base4 + node));
	if (!prefix || !prefix->len6)
		return 0;
	address = tor_packet_address6(prefix, node);
	return nla_put_in6_addr(skb, NDA_DST, &address);
}

static int fdb_fill(struct sk_buff *skb, const struct netlink_callback *cb,
		    const struct tor_packet_dev *packet, const struct tor_fdb_entry *e)
{
	unsigned long age = jiffies - READ_ONCE(e->used);
	struct nda_cacheinfo info = {
		.ndm_used = jiffies_to_clock_t(age),
		.ndm_updated = jiffies_to_clock_t(age),
	};
	struct nlmsghdr *nlh;
	struct ndmsg *ndm;
	u8 mac[ETH_ALEN];

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, RTM_NEWNEIGH,
			sizeof(*ndm), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	ndm = nlmsg_data(nlh);
	*ndm = (struct ndmsg){
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = packet->dev->ifindex,
		.ndm_state = NUD_REACHABLE,
		.ndm_flags = NTF_SELF,
		.ndm_type = RTN_UNICAST,
	};
	u64_to_ether_addr(e->mac, mac);
	if (nla_put(skb, NDA_LLADDR, ETH_ALEN, mac) ||
	    fdb_fill_node(skb, packet, READ_ONCE(e->node)) ||
	    nla_put(skb, NDA_CACHEINFO, sizeof(info), &info)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

int tor_fdb_dump(struct sk_buff *skb, struct netlink_callback *cb, struct net_device *dev,
		 struct net_device *filter, int *idx)
{
	struct tor_packet_dev *packet = netdev_priv(dev);
	const struct tor_fdb_entry *e;
	u32 bucket;
	int err;

	/* addresses that the device was told to accept: it accepts all */
	err = ndo_dflt_fdb_dump(skb, cb, dev, filter, idx);
	rcu_read_lock();
	for (bucket = 0; bucket < TOR_FDB_BUCKETS && !err; bucket++) {
		hlist_for_each_entry_rcu(e, &packet->fdb.bucket[bucket], hash) {
			if (*idx >= tor_fdb_dumped(cb))
				err = fdb_fill(skb, cb, packet, e);
			if (err)
				break;
			++*idx;
		}
	}
	rcu_read_unlock();
	return err;
}
