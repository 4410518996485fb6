// SPDX-License-Identifier: GPL-2.0
/*
 * Reception: the road of a frame from a device to core, or through this node.
 *
 * Read it from the bottom:
 *
 *	tor_frame_rx()		from the device, or a batch of tor_frame_rx_list()
 *	  frame_admit()		checks the header, once
 *	    tor_packet_rx()	of the network device, for this node
 *	    tor_packet_relay()	of the network device, for another node or all
 *	    tor_forward()	for another node: only its hop limit changes
 *	  frame_receive()
 *	    tor_backlog_add()	softirqs have had the processor for long
 *	    frame_deliver()	to core, as a header and pieces of memory
 *	      frame_acks()	each to its lane: tor_chan_ack()
 *	      frame_data()	to its lane: tor_chan_data()
 *	      tor_control_rx()	all other types
 *
 * The lane of a frame is found by the tag of its comm, the series and slot of
 * its op, and its channel.
 */
#include "net/receive.h"

#include <linux/etherdevice.h>
#include <linux/kcov.h>
#include <linux/skbuff.h>

#include "core/engine/pair.h"
#include "core/wire/accept.h"
#include "net/forward.h"
#include "net/port.h"
#include "net/send.h"
#include "op/endpoint.h"
#include "op/series.h"
#include "packet/device.h"
#include "packet/relay.h"
#include "trace.h"

/* --- the lane of a frame --- */

struct tor_group *tor_frame_group(struct tor_entry *entry, const struct tor_hdr *h, u32 tag,
				  u32 *rank)
{
	struct tor_group *group = tor_group_find(entry->port->fabric, tag);
	enum tor_counter why = TOR_C_DROP_COMM;

	if (group && tor_comm_admit(&group->comm, h, rank, &why))
		return group;
	tor_entry_drop(entry, why);
	return NULL;
}

/* Where the parts of a frame go: the group of @tag, and the rank that sent them. */
struct addressee {
	u32 tag;
	struct tor_group *group;
	u32 rank;
};

/*
 * The same for a part of a frame: usually all are of one comm, which is looked
 * up once. @to: of the part before, with no group at first.
 */
static struct tor_group *part_group(struct tor_entry *entry, const struct tor_hdr *h, u32 tag,
				    struct addressee *to, u32 *rank)
{
	if (!to->group || to->tag != tag) {
		to->tag = tag;
		to->group = tor_frame_group(entry, h, tag, &to->rank);
	}
	*rank = to->rank;
	return to->group;
}

/*
 * Find the series of a frame between this node and @rank; @own: the frame is
 * this node's. NULL: there is none.
 */
static struct tor_series *find_series(struct tor_group *group, u32 rank,
				      const struct tor_where *where, bool own)
{
	u8 role = where->role;

	if (!role)
		return where->channel < group->comm.channels ? &group->calls : NULL;
	return tor_series_find(group, tor_series_id(own ? role : tor_role_opposite(role), rank));
}

/*
 * Translate a frame of a message between nodes with several ranks: replace the
 * nodes' @group and the other node's @rank by the two that it is about. False:
 * there are none.
 */
static bool find_ranks(struct tor_group **group, u32 *rank, const struct tor_where *where, bool own)
{
	const struct tor_endpoint_ops *kind;

	if (!where->role)
		return true;
	kind = (*group)->kind;
	if (!kind->whose)
		return !where->pair;
	*group = kind->whose(*group, rank, where->pair, own == (where->role == TOR_ROLE_SEND));
	return *group;
}

/* Messages have one channel, 0. */
static struct tor_lane *find_lane(const struct tor_series *series, u32 op,
				  const struct tor_where *where)
{
	return &tor_series_slot(series, op)->lane[where->channel];
}

/* --- answers to a frame that finds no op --- */

/*
 * Report that the process has left the comm of a frame and its group is gone: a
 * rank that is still in an op would wait for ever. While a comm is being
 * created, all nodes know it before any sends. The group is looked up again: a
 * frame that an existing one does not admit is not answered.
 */
static void tell_if_gone(struct tor_entry *entry, const struct tor_hdr *h, u32 tag)
{
	struct tor_fabric *fabric = entry->port->fabric;

	if (!tor_group_find(fabric, tag))
		tor_comm_answer_gone(&entry->ctx, &fabric->node, h, tag);
}

/* Report to a rank that the process will never send or receive its message. */
static void fail_if_closed(struct tor_entry *entry, struct tor_group *group, u32 op)
{
	if (test_bit(TOR_GROUP_CLOSED, &group->flags))
		tor_comm_fail(&entry->ctx, &group->comm, -ECONNABORTED, group->comm.rank, op);
}

/*
 * Report to a rank if its op may never be called here: the process has left, or
 * one of several.
 */
static void fail_if_missed(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			   u32 op)
{
	if (likely(!(READ_ONCE(group->flags) & TOR_GROUP_MISSED)))
		return;
	tor_chan_follow(&entry->ctx, &lane->chan);
	group->kind->missed(entry, group, lane, op);
}

/* There is no slot for a frame: its message is not called, or it is invalid. */
static void answer_without_slot(struct tor_entry *entry, struct tor_group *group, u32 rank,
			   const struct tor_hdr *h)
{
	if (!h->where.role) {
		tor_entry_drop(entry, TOR_C_DROP_RANGE);
		return;
	}
	fail_if_closed(entry, group, h->op);
	tor_pair_refuse(&entry->ctx, &group->comm, rank, h);
}

/* --- delivery to core --- */

u32 tor_frame_payload(struct sk_buff *skb, const struct tor_hdr *h, struct tor_bytes *piece)
{
	u32 skip = tor_wire_header_bytes(h);
	u32 left = h->length;
	u32 n = 0;
	int i;

	if (skb_has_frag_list(skb) && skb_linearize(skb))
		return 0;
	if (skb_headlen(skb) > skip) {
		piece[n].p = skb->data + skip;
		piece[n].len = min(skb_headlen(skb) - skip, left);
		left -= piece[n++].len;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags && left; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		piece[n].p = skb_frag_address(frag);
		/* of a device's own memory, where the queue is bound to that */
		if (!piece[n].p)
			return 0;
		piece[n].len = min_t(u32, skb_frag_size(frag), left);
		left -= piece[n++].len;
	}
	return left ? 0 : n;
}

/*
 * Find the lane of a frame with data, its group and the rank that sent it. NULL:
 * there is none, and its sender was told if that helps it.
 */
static struct tor_lane *data_lane(struct tor_entry *entry, const struct tor_hdr *h,
				  struct addressee *to, struct tor_group **group, u32 *rank)
{
	struct tor_series *series;

	*group = part_group(entry, h, h->comm, to, rank);
	if (!*group) {
		tell_if_gone(entry, h, h->comm);
		return NULL;
	}
	if (tor_comm_failed(&(*group)->comm)) {
		/* a rank that still sends has not heard of the failure */
		tor_comm_send_abort(&entry->ctx, &(*group)->comm, *rank);
		return NULL;
	}
	if (!find_ranks(group, rank, &h->where, false)) {
		tor_entry_drop(entry, TOR_C_DROP_RANGE);
		return NULL;
	}
	series = find_series(*group, *rank, &h->where, false);
	if (!series && h->where.role)
		series = tor_series_missing(*group, *rank);
	if (series)
		return find_lane(series, h->op, &h->where);
	answer_without_slot(entry, *group, *rank, h);
	return NULL;
}

static void frame_data(struct tor_entry *entry, struct sk_buff *skb, const struct tor_hdr *h,
		       struct addressee *to)
{
	struct tor_bytes piece[MAX_SKB_FRAGS + 1] __uninitialized;
	struct tor_group *group;
	struct tor_lane *lane;
	u32 rank, pieces;

	lane = data_lane(entry, h, to, &group, &rank);
	if (!lane)
		return;
	pieces = tor_frame_payload(skb, h, piece);
	if (!pieces) {
		tor_entry_drop(entry, TOR_C_DROP_MEMORY);
		return;
	}
	spin_lock(&lane->lock);
	fail_if_missed(entry, group, lane, h->op);
	tor_chan_data(&entry->ctx, &lane->chan, rank, h, piece, pieces);
	spin_unlock(&lane->lock);
}

static void frame_ack(struct tor_entry *entry, struct tor_group *group, u32 rank,
		      const struct tor_ack *ack)
{
	struct tor_series *series;
	struct tor_lane *lane;

	if (!find_ranks(&group, &rank, &ack->where, false))
		return;
	series = find_series(group, rank, &ack->where, false);
	if (!series) {
		/* ignored and not counted, unlike data: see docs/wire.md */
		if (!ack->where.role)
			return;
		if (ack->digest)
			fail_if_closed(entry, group, ack->op);
		tor_pair_absent(&entry->ctx, &group->comm, rank, ack);
		return;
	}
	lane = find_lane(series, ack->op, &ack->where);
	spin_lock(&lane->lock);
	/*
	 * an invitation, which has no digest, may be about a message that its
	 * receiver never gets: no reason to report that this rank has left. See
	 * tor_pair_invite().
	 */
	if (!series->role || ack->digest)
		fail_if_missed(entry, group, lane, ack->op);
	tor_chan_ack(&entry->ctx, &lane->chan, rank, ack);
	spin_unlock(&lane->lock);
}

static void frame_acks(struct tor_entry *entry, const struct tor_hdr *h, const void *frame,
		       struct addressee *to)
{
	struct tor_ack ack __uninitialized;
	struct tor_group *group;
	enum tor_counter why;
	bool refused = false;
	u32 rank, i;

	for (i = 0; i < h->acks; i++) {
		if (!tor_wire_ack(frame, i, &ack, &why)) {
			tor_entry_drop(entry, why);
			continue;
		}
		group = part_group(entry, h, ack.comm, to, &rank);
		/*
		 * a rank that has everything waits for nothing; one answer per
		 * frame is enough
		 */
		if (!group && !refused && ack.state != TORCOLL_ACK_DONE) {
			tell_if_gone(entry, h, ack.comm);
			refused = true;
		}
		if (group)
			frame_ack(entry, group, rank, &ack);
	}
}

/* Deliver a frame to this node. Consumes @skb. */
static void frame_deliver(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
			  const struct tor_intact *in)
{
	struct tor_node *node = &port->fabric->node;
	struct addressee to = { .group = NULL };
	struct tor_hdr h __uninitialized;
	enum tor_counter why;

	entry->drop = SKB_NOT_DROPPED_YET;
	entry->ctx.answered = false;
	if (tor_wire_read(in, &h, &why)) {
		tor_entry_drop(entry, why);
		goto done;
	}
	entry->direct = h.hop_limit == TOR_HOP_LIMIT || h.type == TORCOLL_FRAME_HELLO;
	if (h.type == TORCOLL_FRAME_HELLO) {
		tor_control_rx(entry, port, skb, &h);
		goto done;
	}
	if (h.dst_epoch && h.dst_epoch != node->epoch) {
		tor_entry_drop(entry, TOR_C_DROP_EPOCH);
		goto done;
	}
	tor_fabric_count(port->fabric, TOR_C_RX_FRAMES, 1);
	trace_torcoll_rx(node, port->cable, &h);
	if (h.acks)
		frame_acks(entry, &h, skb->data, &to);
	if (h.type == TORCOLL_FRAME_DATA)
		frame_data(entry, skb, &h, &to);
	else if (h.type != TORCOLL_FRAME_ACK)
		tor_control_rx(entry, port, skb, &h);
done:
	if (unlikely(entry->drop))
		kfree_skb_reason(skb, entry->drop);
	else
		napi_consume_skb(skb, 1);
}

/* --- admission --- */

/* Make header and acks linear, not the payload. False: no memory. */
static bool pull_header(struct sk_buff *skb)
{
	const u32 len = sizeof(struct torcoll_hdr);

	if (unlikely(skb->len < len))
		return pskb_may_pull(skb, skb->len);
	return pskb_may_pull(skb, len) &&
	       pskb_may_pull(skb, min(skb->len, tor_wire_wants(skb->data)));
}

/* Report that the neighbour uses another wire version. */
static void heard_foreign(struct tor_port *port, u8 version)
{
	struct tor_ctx ctx = { .now = ktime_get_ns() };

	spin_lock(&port->fabric->lock);
	if (tor_port_is_current(port))
		tor_cable_foreign(&ctx, &port->fabric->node, port->cable, version);
	spin_unlock(&port->fabric->lock);
}

/* Report that the neighbour belongs to another fabric. */
static void heard_stranger(struct tor_port *port, u32 tag)
{
	struct tor_ctx ctx = { .now = ktime_get_ns() };

	spin_lock(&port->fabric->lock);
	if (tor_port_is_current(port))
		tor_cable_stranger(&ctx, &port->fabric->node, port->cable, tag);
	spin_unlock(&port->fabric->lock);
}

/*
 * Return whether a frame is addressed to this port or to the multicast group of
 * hellos: broadcasts and other groups are not used.
 */
static bool is_addressed(const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST ||
	       (skb->pkt_type == PACKET_MULTICAST &&
		ether_addr_equal(eth_hdr(skb)->h_dest, tor_hello_group));
}

/* Remove bytes behind the frame: the next link may not accept them. */
static bool frame_trim(struct sk_buff *skb, const struct tor_intact *in)
{
	u32 len = tor_intact_bytes(in);

	return skb->len <= len || !pskb_trim_rcsum(skb, len);
}

/*
 * Check that the frame is addressed to this port and valid. Fills @in, or
 * returns why not.
 */
static enum skb_drop_reason frame_check(struct tor_port *port, struct sk_buff *skb,
					 struct tor_intact *in)
{
	enum tor_counter why = TOR_C_DROP_NOT_OURS;

	if (!is_addressed(skb))
		goto drop;
	why = TOR_C_DROP_MEMORY;
	if (!pull_header(skb))
		goto drop;
	if (tor_wire_check(skb->data, skb_headlen(skb), skb->len, in, &why)) {
		if (why == TOR_C_DROP_VERSION)
			heard_foreign(port, skb->data[0]);
		if (why == TOR_C_DROP_HEADER_CRC)
			tor_cable_damaged(&port->fabric->node, port->cable);
		goto drop;
	}
	why = TOR_C_DROP_NOT_OURS;
	if (skb->pkt_type != PACKET_HOST && tor_intact_type(in) != TORCOLL_FRAME_HELLO)
		goto drop;
	why = TOR_C_DROP_FABRIC;
	if (tor_intact_fabric(in) != port->fabric->node.tag) {
		if (tor_intact_type(in) == TORCOLL_FRAME_HELLO)
			heard_stranger(port, tor_intact_fabric(in));
		goto drop;
	}
	why = TOR_C_DROP_MEMORY;
	if (!frame_trim(skb, in))
		goto drop;
	return SKB_NOT_DROPPED_YET;
drop:
	return tor_port_drop(port, why);
}

/* Return whether the link may carry other frames than hellos. */
static bool link_fit(const struct tor_port *port)
{
	switch (READ_ONCE(port->fabric->node.cable[port->cable].state)) {
	case TOR_CABLE_UP:
	case TOR_CABLE_ONE_WAY:
	case TOR_CABLE_FLAPPING:
	case TOR_CABLE_WAITING:
	case TOR_CABLE_TOO_SMALL:
		return true;
	default:
		return false;
	}
}

/*
 * Check that a frame other than a hello may come in by this port, from @src,
 * for @dst.
 */
static enum skb_drop_reason plausible(struct tor_port *port, u8 type, u32 src, u32 dst)
{
	const struct tor_node *node = &port->fabric->node;
	bool to_all = type == TORCOLL_FRAME_PACKET && dst == TORCOLL_NODE_ALL;

	if ((dst >= node->torus.nodes && !to_all) || src >= node->torus.nodes || src == node->self)
		return tor_port_drop(port, TOR_C_DROP_NODE);
	if (!link_fit(port))
		return tor_port_drop(port, TOR_C_DROP_LINK);
	return SKB_NOT_DROPPED_YET;
}

/*
 * Check a frame and decide: forward it, or return it for this node, with its
 * header in @in. Consumes @skb unless it returns one.
 */
static struct sk_buff *frame_admit(struct tor_port *port, struct sk_buff *skb,
				   struct tor_intact *in)
{
	struct tor_node *node = &port->fabric->node;
	enum skb_drop_reason why;
	u32 dst;

	atomic64_add(tor_port_frames(skb), &port->rx_frames);
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		tor_port_drop(port, TOR_C_DROP_MEMORY);
		return NULL;
	}
	/* its sender's device has sent it, if that is of this kernel: see packet/held.h */
	skb_orphan(skb);
	why = frame_check(port, skb, in);
	if (why)
		goto free;
	if (tor_intact_type(in) == TORCOLL_FRAME_HELLO)
		return skb;
	dst = tor_intact_dst(in);
	why = plausible(port, tor_intact_type(in), tor_intact_src(in), dst);
	if (why)
		goto free;
	tor_cable_alive(node, port->cable);
	if (tor_intact_type(in) == TORCOLL_FRAME_PACKET) {
		if (dst == node->self)
			tor_packet_rx(port, skb, in);
		else
			tor_packet_relay(port, skb, in);
		return NULL;
	}
	if (dst == node->self)
		return skb;
	tor_forward(port, skb, in);
	return NULL;
free:
	kfree_skb_reason(skb, why);
	return NULL;
}

/* --- from the device --- */

/*
 * Return whether a frame belongs to the port's device. What is for a VLAN or
 * macvlan on top of it is passed on to that one, which may be a port of its own,
 * and then comes here as well, since it came in by this device. But hellos, to a
 * group, are of a macvlan and of the device below.
 */
static bool is_of_port(const struct tor_port *port, const struct sk_buff *skb)
{
	return likely(skb->dev == port->dev);
}

/*
 * Attribute the coverage of the following code to the fuzzer that sent the
 * frame, if any. Tasks have coverage of their own.
 */
static void cover_begin(struct sk_buff *skb)
{
	if (IS_ENABLED(CONFIG_KCOV) && in_serving_softirq())
		kcov_remote_start_common(skb_get_kcov_handle(skb));
}

static void cover_end(void)
{
	if (IS_ENABLED(CONFIG_KCOV) && in_serving_softirq())
		kcov_remote_stop();
}

/*
 * Return the backlog of a port's link, that of its first port: what came by one
 * cable must not overtake all that waits of the others.
 */
static struct tor_backlog *link_backlog(struct tor_port *port)
{
	struct tor_port *first = NULL;
	u32 k;

	if (likely(!READ_ONCE(port->several)))
		return &port->backlog;
	for (k = 0; k < TOR_LINK_CABLES && !first; k++)
		first = rcu_dereference(port->fabric->port[tor_cable(port->link, k)]);
	return first ? &first->backlog : &port->backlog;
}

/*
 * Receive a frame that was admitted. Hellos keep links up and are never queued.
 * Consumes @skb.
 */
static void frame_receive(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
			  const struct tor_intact *in)
{
	struct tor_backlog *backlog = link_backlog(port);
	bool late = entry->late || tor_backlog_is_busy(backlog);

	if (likely(!late) || tor_intact_type(in) == TORCOLL_FRAME_HELLO) {
		frame_deliver(entry, port, skb, in);
		return;
	}
	*(u32 *)skb->cb = port->cable;
	if (tor_backlog_add(backlog, skb))
		tor_fabric_count(port->fabric, TOR_C_RX_LATE, 1);
	else
		kfree_skb_reason(skb, tor_port_drop(port, TOR_C_DROP_MEMORY));
}

void tor_frame_late(struct tor_fabric *fabric, struct sk_buff *skb)
{
	struct tor_port *port = rcu_dereference(fabric->port[*(u32 *)skb->cb]);
	struct tor_intact in = tor_wire_checked(skb->data);
	struct tor_entry entry;

	/* it has been removed; the backlog is another one's */
	if (!port) {
		kfree_skb(skb);
		return;
	}

	tor_entry_begin(&entry);
	entry.port = port;
	frame_deliver(&entry, port, skb, &in);
	tor_entry_end(&entry);
}

/*
 * Receive a frame that came alone, for this node. Others do not pay for the
 * entry: kernels may clear what is on the stack.
 */
static noinline void frame_receive_alone(struct tor_port *port, struct sk_buff *skb,
					 const struct tor_intact *in)
{
	struct tor_entry entry __uninitialized;

	tor_entry_begin(&entry);
	entry.port = port;
	frame_receive(&entry, port, skb, in);
	tor_entry_end(&entry);
}

int tor_frame_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		 struct net_device *orig)
{
	struct tor_port *port = container_of(type, struct tor_port, type);
	struct tor_intact in __uninitialized;

	if (!is_of_port(port, skb)) {
		consume_skb(skb);
		return NET_RX_SUCCESS;
	}
	cover_begin(skb);
	skb = frame_admit(port, skb, &in);
	if (skb)
		frame_receive_alone(port, skb, &in);
	cover_end();
	return NET_RX_SUCCESS;
}

void tor_frame_rx_list(struct list_head *list, struct packet_type *type, struct net_device *orig)
{
	struct tor_port *port = container_of(type, struct tor_port, type);
	struct sk_buff *skb, *next;
	struct tor_intact in __uninitialized;
	struct tor_entry entry __uninitialized;

	tor_entry_begin(&entry);
	entry.port = port;
	list_for_each_entry_safe(skb, next, list, list) {
		skb_list_del_init(skb);
		if (!is_of_port(port, skb)) {
			consume_skb(skb);
			continue;
		}
		cover_begin(skb);
		skb = frame_admit(port, skb, &in);
		if (skb)
			frame_receive(&entry, port, skb, &in);
		cover_end();
	}
	tor_entry_end(&entry);
}

/* --- own frames that a queue refused --- */

void tor_frame_refused(struct tor_entry *entry, struct tor_fabric *fabric,
		       const struct tor_hdr *h)
{
	struct tor_group *group = tor_group_find(fabric, h->comm);
	u32 rank = group ? tor_comm_rank(&group->comm, h->dst) : TOR_NO_RANK;
	struct tor_series *series;
	struct tor_lane *lane;

	if (rank == TOR_NO_RANK || !find_ranks(&group, &rank, &h->where, true))
		return;
	series = find_series(group, rank, &h->where, true);
	if (!series)
		return;
	lane = find_lane(series, h->op, &h->where);
	spin_lock(&lane->lock);
	tor_chan_dropped(&entry->ctx, &lane->chan, rank, h);
	spin_unlock(&lane->lock);
}
