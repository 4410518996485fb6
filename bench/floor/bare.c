// SPDX-License-Identifier: GPL-2.0
/*
 * The least that an allreduce in the kernel can be: the tree that torcoll takes for short vectors, with one ioctl per call
 * and nothing else: no checksums, acknowledgements, routes, recovery or checks of what comes. What torcoll's calls are
 * measured against; see bench/floor/guest.sh.
 *
 * A file is a rank. Frames of a rank's next call may come before it has made it; they wait in @early.
 */
#include <linux/etherdevice.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "floor.h"

#define ETHERTYPE	0x88B6		/* IEEE 802: local experimental 2 */

struct floor_hdr {
	__be32 op;
	__be32 down;			/* the result, from the parent */
};

struct rank;

struct port {
	struct packet_type type;
	struct net_device *dev;
	struct rank *rank;
};

struct rank {
	spinlock_t lock;		/* all below, but for the ports */
	struct wait_queue_head wait;
	struct sk_buff_head early;
	u32 op;
	u32 bytes;
	u32 missing;			/* children that have not sent */
	bool done;
	u32 sum[FLOOR_BYTES / sizeof(u32)];
	u32 children;
	struct port parent;
	struct port child[FLOOR_PORTS - 1];
};

static void floor_send(const struct rank *rank, const struct port *port, bool down)
{
	const u32 room = LL_RESERVED_SPACE(port->dev);
	struct floor_hdr *h;
	struct sk_buff *skb;

	skb = alloc_skb(room + sizeof(*h) + rank->bytes, GFP_ATOMIC);
	if (!skb)
		return;
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	h = skb_put(skb, sizeof(*h));
	h->op = cpu_to_be32(rank->op);
	h->down = cpu_to_be32(down);
	skb_put_data(skb, rank->sum, rank->bytes);
	skb->dev = port->dev;
	skb->protocol = htons(ETHERTYPE);
	dev_hard_header(skb, port->dev, ETHERTYPE, port->dev->broadcast, port->dev->dev_addr, skb->len);
	dev_queue_xmit(skb);
}

static void finish(struct rank *rank)
{
	u32 i;

	for (i = 0; i < rank->children; i++)
		floor_send(rank, &rank->child[i], true);
	rank->done = true;
	wake_up(&rank->wait);
}

static void sum_is_complete(struct rank *rank)
{
	if (rank->parent.dev)
		floor_send(rank, &rank->parent, false);
	else
		finish(rank);
}

static void take(struct rank *rank, const struct sk_buff *skb)
{
	const struct floor_hdr *h = (const void *)skb->data;
	const u32 *data = (const void *)(h + 1);
	u32 i;

	if (h->down) {
		memcpy(rank->sum, data, rank->bytes);
		finish(rank);
		return;
	}
	for (i = 0; i < rank->bytes / sizeof(u32); i++)
		rank->sum[i] += data[i];
	if (!--rank->missing)
		sum_is_complete(rank);
}

static int floor_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		    struct net_device *orig)
{
	struct rank *rank = container_of(type, struct port, type)->rank;
	const struct floor_hdr *h = (const void *)skb->data;

	spin_lock(&rank->lock);
	if (be32_to_cpu(h->op) == rank->op) {
		take(rank, skb);
		consume_skb(skb);
	} else {
		__skb_queue_tail(&rank->early, skb);
	}
	spin_unlock(&rank->lock);
	return NET_RX_SUCCESS;
}

static int rank_run(struct rank *rank, const struct floor_run *run)
{
	struct sk_buff *skb;
	u32 n;

	if (run->bytes > FLOOR_BYTES)
		return -EINVAL;
	if (copy_from_user(rank->sum, u64_to_user_ptr(run->in), run->bytes))
		return -EFAULT;
	spin_lock_bh(&rank->lock);
	rank->op++;
	rank->bytes = run->bytes;
	rank->missing = rank->children;
	rank->done = false;
	if (!rank->children)
		sum_is_complete(rank);
	for (n = skb_queue_len(&rank->early); n; n--) {
		skb = __skb_dequeue(&rank->early);
		take(rank, skb);
		consume_skb(skb);
	}
	spin_unlock_bh(&rank->lock);
	if (wait_event_interruptible(rank->wait, READ_ONCE(rank->done)))
		return -EINTR;
	return copy_to_user(u64_to_user_ptr(run->out), rank->sum, run->bytes) ? -EFAULT : 0;
}

static int port_open(struct rank *rank, struct port *port, const char *name)
{
	port->dev = dev_get_by_name(current->nsproxy->net_ns, name);
	if (!port->dev)
		return -ENODEV;
	port->rank = rank;
	port->type.type = htons(ETHERTYPE);
	port->type.dev = port->dev;
	port->type.func = floor_rx;
	dev_add_pack(&port->type);
	return 0;
}

static void port_close(struct port *port)
{
	if (!port->dev)
		return;
	dev_remove_pack(&port->type);
	dev_put(port->dev);
}

static int rank_setup(struct rank *rank, struct floor_setup *setup)
{
	u32 i;
	int err = 0;

	if (rank->children || rank->parent.dev)
		return -EBUSY;
	for (i = 0; i < FLOOR_PORTS && !err; i++) {
		setup->port[i][IFNAMSIZ - 1] = '\0';
		if (!setup->port[i][0])
			continue;
		err = port_open(rank, i ? &rank->child[rank->children] : &rank->parent,
				setup->port[i]);
		if (!err && i)
			rank->children++;
	}
	return err;
}

static long floor_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct rank *rank = file->private_data;
	struct floor_setup setup;
	struct floor_run run;

	switch (cmd) {
	case FLOOR_SETUP:
		if (copy_from_user(&setup, (void __user *)arg, sizeof(setup)))
			return -EFAULT;
		return rank_setup(rank, &setup);
	case FLOOR_RUN:
		if (copy_from_user(&run, (void __user *)arg, sizeof(run)))
			return -EFAULT;
		return rank_run(rank, &run);
	}
	return -ENOTTY;
}

static int floor_open(struct inode *inode, struct file *file)
{
	struct rank *rank = kzalloc(sizeof(*rank), GFP_KERNEL);

	if (!rank)
		return -ENOMEM;
	spin_lock_init(&rank->lock);
	init_waitqueue_head(&rank->wait);
	__skb_queue_head_init(&rank->early);
	file->private_data = rank;
	return 0;
}

static int floor_release(struct inode *inode, struct file *file)
{
	struct rank *rank = file->private_data;
	u32 i;

	port_close(&rank->parent);
	for (i = 0; i < rank->children; i++)
		port_close(&rank->child[i]);
	__skb_queue_purge(&rank->early);
	kfree(rank);
	return 0;
}

static const struct file_operations floor_ops = {
	.owner = THIS_MODULE,
	.open = floor_open,
	.release = floor_release,
	.unlocked_ioctl = floor_ioctl,
};

static struct miscdevice floor_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "torcoll-floor",
	.fops = &floor_ops,
};

module_misc_device(floor_device);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("An allreduce that is a tree and nothing else, to measure against");
