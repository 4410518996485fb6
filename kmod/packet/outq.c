// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of a port for packets. See outq.h.
 *
 * Packets come in amounts that fill any queue: TCP sends until something is
 * dropped. In the queue of a device they would delay each frame of a collective
 * by whatever waits before it. So the device gets little of them, core's struct
 * tor_share says how much and who is next, and what waits here is passed on when
 * the device has sent something (held.h), by a tasklet: the device may report
 * that with its own locks held.
 *
 * As long as no packet waits, frames of collectives pass by without noticing:
 * @busy is all that they look at. A packet takes the lock once.
 *
 * A pair of devices in one kernel, such as veth, has no queue, so that it holds
 * nothing: it gets packets at once, and super frames as they are.
 *
 * A port whose device is full stops no other link's: each link has a transmit
 * queue of the network device. Cables of one link share it: a cable that is full
 * stops it, and the first to send what waited starts it again.
 */
#include "packet/outq.h"

#include <tor/gso.h>

#include "net/entry.h"
#include "net/port.h"
#include "net/send.h"
#include "net/xmit.h"
#include "packet/device.h"
#include "packet/held.h"

/* What a run of the tasklet passes on. */
#define BATCH	64

/* --- a packet leaves --- */

/* A packet is dropped, which the caller reports. Return -ENOBUFS. */
static int refuse(struct tor_port *port, struct sk_buff *skb, enum skb_drop_reason why)
{
	u32 frames = tor_port_frames(skb);

	atomic64_add(frames, &port->tx_frames);
	atomic64_add(frames, &port->refused);
	kfree_skb_reason(skb, why);
	return -ENOBUFS;
}

/* A packet that was accepted is dropped. */
static void count_drop(struct tor_port *port, enum tor_outq_class class)
{
	tor_fabric_count(port->fabric,
			 class == TOR_OUTQ_OWN ? TOR_C_TX_LOCAL_DROP : TOR_C_DROP_FORWARD, 1);
}

/*
 * Pass a packet to the device, which may refuse it; @charged: and may hold it.
 * Return 0 or -ENOBUFS. Context: BH, RCU, no locks.
 */
static int packet_leave(struct tor_port *port, struct sk_buff *skb, bool charged)
{
	u32 frames = tor_port_frames(skb);
	int ret;

	if (charged)
		tor_held_charge(port->outq.held, skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	atomic64_add(frames, &port->tx_frames);
	ret = tor_xmit(skb);
	if (likely(!net_xmit_eval(ret)))
		return 0;
	atomic64_add(frames, &port->refused);
	return -ENOBUFS;
}

/* --- a packet waits --- */

/* The transmit queue of the network device for the link of a port, or NULL. */
static struct netdev_queue *own_queue(const struct tor_port *port)
{
	const struct tor_packet_dev *packet = rcu_dereference(port->fabric->packet);

	return packet ? netdev_get_tx_queue(packet->dev, port->link) : NULL;
}

static void own_stop(const struct tor_port *port)
{
	struct netdev_queue *txq = own_queue(port);

	if (txq)
		netif_tx_stop_queue(txq);
}

/* The last own packet that waited was taken out. */
static void own_wake(const struct tor_port *port)
{
	struct netdev_queue *txq = own_queue(port);

	if (txq)
		netif_tx_wake_queue(txq);
}

static bool is_up(const struct tor_port *port)
{
	const struct tor_link *link = &port->fabric->node.link[port->link];

	return READ_ONCE(link->up) >> tor_cable_place(port->cable) & 1;
}

/*
 * Let a packet wait. False: it cannot, for want of room or of a link. Context:
 * outq->lock.
 */
static bool outq_wait(struct tor_port *port, struct sk_buff *skb, enum tor_outq_class class)
{
	struct tor_outq *outq = &port->outq;

	if (outq->closed || !is_up(port) || skb_queue_len(&outq->packet[class]) >= TOR_OUTQ_MAX)
		return false;
	__skb_queue_tail(&outq->packet[class], skb);
	if (class == TOR_OUTQ_OWN)
		own_stop(port);
	WRITE_ONCE(outq->busy, true);
	/*
	 * The device may have sent everything before it could see that. Pairs
	 * with the barrier in held_space(): either that sees @busy, or this the
	 * room.
	 */
	smp_mb();
	if (tor_share_has_room(&outq->share, tor_held(outq->held)))
		tasklet_schedule(&outq->drain);
	return true;
}

/*
 * Send a packet that is no longer than a frame, or that the pair of devices
 * takes; it has its MAC header.
 */
static int outq_add(struct tor_port *port, struct sk_buff *skb, enum tor_outq_class class)
{
	bool pair = tor_xmit_is_pair(port->dev);
	struct tor_outq *outq = &port->outq;
	bool waits;

	if (pair && !tor_outq_is_busy(outq))
		return packet_leave(port, skb, false);
	spin_lock(&outq->lock);
	if (!outq->busy && tor_share_has_room(&outq->share, tor_held(outq->held))) {
		tor_share_packet(&outq->share, class, skb->len, skb->truesize);
		spin_unlock(&outq->lock);
		return packet_leave(port, skb, true);
	}
	waits = outq_wait(port, skb, class);
	spin_unlock(&outq->lock);
	return waits ? 0 : refuse(port, skb, SKB_DROP_REASON_QDISC_DROP);
}

/* --- super frames --- */

/* Return whether the port takes a frame of @len bytes behind the MAC header. */
static bool fits(const struct tor_port *port, u32 len)
{
	return len <= READ_ONCE(port->fabric->node.cable[port->cable].takes);
}

/*
 * Return what a packet needs at least of a frame. Segments of a super frame have
 * headers of IP and of TCP or UDP, too; how long these are shows when it is cut.
 */
static u32 packet_needs(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? sizeof(struct torcoll_hdr) + ETH_HLEN + skb_shinfo(skb)->gso_size :
				 skb->len;
}

/* Cut a super frame, which has its MAC header, and send the pieces. */
static int outq_add_pieces(struct tor_port *port, struct sk_buff *skb, enum tor_outq_class class)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct sk_buff *pieces = skb_gso_segment(skb, features);
	struct sk_buff *piece, *next;
	int ret = -ENOBUFS;

	if (IS_ERR_OR_NULL(pieces))
		return refuse(port, skb, SKB_DROP_REASON_SKB_GSO_SEG);
	consume_skb(skb);
	skb_list_walk_safe(pieces, piece, next) {
		skb_mark_not_on_list(piece);
		if (!fits(port, piece->len - skb_network_offset(piece)))
			refuse(port, piece, SKB_DROP_REASON_PKT_TOO_BIG);
		else if (!outq_add(port, piece, class))
			ret = 0;
	}
	return ret;
}

/*
 * Compute the checksum that a packet has left to a device. A pair of devices brings
 * it to the other end as it is; of others some promise it at any place, and then
 * look for IP behind the MAC header. A super frame has found a pair; whoever cuts
 * it after all computes those of its pieces. False: no memory.
 */
static bool outq_sum(struct tor_port *port, struct sk_buff *skb)
{
	return skb->ip_summed != CHECKSUM_PARTIAL || skb_is_gso(skb) ||
	       tor_xmit_is_pair(port->dev) || !skb_checksum_help(skb);
}

int tor_outq_xmit(struct tor_port *port, struct sk_buff *skb, enum tor_outq_class class)
{
	skb_reset_network_header(skb);
	/* unlike for a frame of a collective, the link is not to blame */
	if (!fits(port, packet_needs(skb)))
		return refuse(port, skb, SKB_DROP_REASON_PKT_TOO_BIG);
	if (!tor_xmit_header(skb, port, READ_ONCE(port->neighbour)))
		return refuse(port, skb, SKB_DROP_REASON_DEV_HDR);
	tor_xmit_by_hash(skb);
	if (skb_is_gso(skb) && !tor_xmit_takes_super(skb))
		return outq_add_pieces(port, skb, class);
	if (!outq_sum(port, skb))
		return refuse(port, skb, SKB_DROP_REASON_NOMEM);
	return outq_add(port, skb, class);
}

/* --- frames of collectives --- */

int tor_outq_frame(struct tor_outq *outq, struct sk_buff *skb)
{
	int ret = -EAGAIN;

	spin_lock(&outq->lock);
	if (outq->busy && skb_queue_empty(&outq->frame) && tor_share_frame_first(&outq->share)) {
		tor_share_frame(&outq->share, skb->len);
	} else if (outq->busy && skb_queue_len(&outq->frame) >= TOR_OUTQ_MAX) {
		ret = -ENOBUFS;
	} else if (outq->busy) {
		__skb_queue_tail(&outq->frame, skb);
		ret = 0;
	}
	spin_unlock(&outq->lock);
	return ret;
}

/* --- what waits leaves --- */

/* Bit per class of which packets wait. */
static u32 outq_waits(const struct tor_outq *outq)
{
	u32 class, waits = 0;

	for (class = 0; class < TOR_OUTQ_CLASSES; class++)
		if (!skb_queue_empty(&outq->packet[class]))
			waits |= 1U << class;
	return waits;
}

static struct sk_buff *take_frame(struct tor_outq *outq, u32 waits)
{
	struct sk_buff *skb;

	if (waits && !tor_share_frame_first(&outq->share))
		return NULL;
	skb = __skb_dequeue(&outq->frame);
	if (skb && waits)
		tor_share_frame(&outq->share, skb->len);
	return skb;
}

static struct sk_buff *take_packet(struct tor_port *port, u32 waits, u32 *class)
{
	struct tor_outq *outq = &port->outq;
	struct sk_buff *skb;

	if (!waits || !tor_share_has_room(&outq->share, tor_held(outq->held)))
		return NULL;
	*class = tor_share_queue(&outq->share, waits);
	skb = __skb_dequeue(&outq->packet[*class]);
	tor_share_packet(&outq->share, *class, skb->len, skb->truesize);
	if (*class == TOR_OUTQ_OWN && skb_queue_empty(&outq->packet[*class]))
		own_wake(port);
	return skb;
}

/* Pass on the next one of those that wait. Return whether there was one. */
static bool drain_one(struct tor_entry *entry, struct tor_port *port)
{
	struct tor_outq *outq = &port->outq;
	struct sk_buff *frame, *packet = NULL;
	u32 waits, class;

	spin_lock(&outq->lock);
	waits = outq_waits(outq);
	frame = take_frame(outq, waits);
	if (!frame)
		packet = take_packet(port, waits, &class);
	/* what was taken before has left: others may pass by */
	if (!frame && !waits)
		WRITE_ONCE(outq->busy, false);
	spin_unlock(&outq->lock);
	if (frame)
		tor_send_frame(entry, frame);
	else if (packet && packet_leave(port, packet, true))
		count_drop(port, class);
	return frame || packet;
}

/* Take all packets that wait. Context: outq->lock. */
static void take_all(struct tor_port *port, struct sk_buff_head *list)
{
	struct tor_outq *outq = &port->outq;
	u32 class;

	if (!skb_queue_empty(&outq->packet[TOR_OUTQ_OWN]))
		own_wake(port);
	for (class = 0; class < TOR_OUTQ_CLASSES; class++) {
		while (!skb_queue_empty(&outq->packet[class])) {
			__skb_queue_tail(list, __skb_dequeue(&outq->packet[class]));
			count_drop(port, class);
		}
	}
}

/* Drop packets that were taken. */
static void drop_all(struct tor_port *port, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		refuse(port, skb, SKB_DROP_REASON_QDISC_DROP);
}

/*
 * The device has sent something, or a link is down, whose packets take another
 * way or are lost.
 */
static void drain_begin(struct tor_port *port, u64 now)
{
	struct tor_outq *outq = &port->outq;
	struct sk_buff_head lost;

	__skb_queue_head_init(&lost);
	spin_lock(&outq->lock);
	if (!is_up(port))
		take_all(port, &lost);
	else if (outq_waits(outq))
		tor_share_sent(&outq->share, tor_held(outq->held), now);
	spin_unlock(&outq->lock);
	drop_all(port, &lost);
}

static void outq_drain(struct tasklet_struct *drain)
{
	struct tor_outq *outq = from_tasklet(outq, drain, drain);
	struct tor_port *port = container_of(outq, struct tor_port, outq);
	struct tor_entry entry;
	u32 n = 0;

	rcu_read_lock();
	tor_entry_begin(&entry);
	drain_begin(port, entry.ctx.now);
	while (n < BATCH && drain_one(&entry, port))
		n++;
	if (n == BATCH)
		tasklet_schedule(&outq->drain);
	tor_entry_end(&entry);
	rcu_read_unlock();
}

/* --- lifetime --- */

int tor_outq_init(struct tor_outq *outq)
{
	u32 class;

	spin_lock_init(&outq->lock);
	tor_share_init(&outq->share, ktime_get_ns());
	for (class = 0; class < TOR_OUTQ_CLASSES; class++)
		__skb_queue_head_init(&outq->packet[class]);
	__skb_queue_head_init(&outq->frame);
	tasklet_setup(&outq->drain, outq_drain);
	outq->held = tor_held_open(outq);
	return outq->held ? 0 : -ENOMEM;
}

void tor_outq_close(struct tor_port *port)
{
	struct tor_outq *outq = &port->outq;
	struct sk_buff_head lost, frames;

	__skb_queue_head_init(&lost);
	__skb_queue_head_init(&frames);
	tor_held_close(outq->held);
	rcu_read_lock();
	spin_lock_bh(&outq->lock);
	outq->closed = true;
	take_all(port, &lost);
	/* as on a cable that is cut, they are sent again */
	skb_queue_splice_init(&outq->frame, &frames);
	WRITE_ONCE(outq->busy, false);
	spin_unlock_bh(&outq->lock);
	rcu_read_unlock();
	drop_all(port, &lost);
	__skb_queue_purge(&frames);
}

void tor_outq_destroy(struct tor_outq *outq)
{
	tasklet_kill(&outq->drain);
	tor_held_put(outq->held);
}
