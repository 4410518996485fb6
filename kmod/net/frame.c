// SPDX-License-Identifier: GPL-2.0
/*
 * Frames between skbs and core: receive and send.
 *
 * The header of a received skb is checked once. The skb is then forwarded
 * unchanged (forward.c), or passed to core as a header and a list of pieces of
 * memory. A frame from core becomes an skb whose payload consists of the user's
 * pages themselves: one reference per fragment, SKBFL_SHARED_FRAG, no
 * destructor, no ubuf_info. Frames in queues and taps therefore refer to
 * nothing of this module, and outlive op, process and module.
 */
#include "net/frame.h"

#include <linux/etherdevice.h>
#include <linux/kcov.h>
#include <linux/skbuff.h>

#include "core/wire/accept.h"
#include "core/link/echo.h"
#include "net/forward.h"
#include "op/group.h"
#include "core/agree/join.h"
#include "memory/memory.h"
#include "net/port.h"
#include "core/agree/shrink.h"
#include "trace.h"
#include "net/xmit.h"

static const u8 hello_group[ETH_ALEN] = TORCOLL_HELLO_GROUP;

/*
 * Identification of an own data frame, from its header, in case its queue
 * refuses it.
 */
struct frame_cb {
	struct tor_fabric *fabric;
	bool data;
	struct tor_wire_note note;
};

static struct frame_cb *frame_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct frame_cb) > sizeof(skb->cb));
	return (struct frame_cb *)skb->cb;
}

/* --- sending --- */

/*
 * A period of softirqs without a pause. Ranks and neighbours on one processor
 * raise each other's softirqs, since each frame has an answer, and the kernel
 * continues for ten rounds or some ticks, even if it has interrupted a task of
 * higher priority.
 *
 * @task: interrupted by all of it, only for comparison @begun: ns @last: the
 * latest entry, ns
 */
struct streak {
	const struct task_struct *task;
	u64 begun;
	u64 last;
};

#define STREAK_PAUSE	(100 * NSEC_PER_USEC)
#define STREAK_MAX	(500 * NSEC_PER_USEC)

static DEFINE_PER_CPU(struct streak, streaks);

/*
 * Return whether other tasks must run: only softirqs that enter core have had
 * the processor for long.
 */
static bool is_long_streak(u64 now)
{
	struct streak *s = this_cpu_ptr(&streaks);

	if (s->task != current || now - s->last > STREAK_PAUSE || !in_serving_softirq() ||
	    (is_idle_task(current) && !need_resched())) {
		s->task = current;
		s->begun = now;
	}
	s->last = now;
	return now - s->begun > STREAK_MAX;
}

void tor_entry_begin(struct tor_entry *entry)
{
	entry->ctx = (struct tor_ctx){ .now = ktime_get_ns() };
	entry->late = is_long_streak(entry->ctx.now);
	/* a process sends the frames: it waits for its turn */
	if (entry->late)
		entry->ctx.sent = TOR_BUDGET.frames;
	entry->works = false;
	entry->port = NULL;
	entry->drop = SKB_NOT_DROPPED_YET;
	__skb_queue_head_init(&entry->frames);
	entry->retired = NULL;
}

/*
 * A queue refused an own data frame: its channel sends it again, with a smaller
 * window.
 */
static void report_drop(struct tor_entry *entry, const struct frame_cb *cb)
{
	struct tor_hdr h = tor_wire_noted(&cb->note);

	tor_group_dropped(entry, cb->fabric, &h);
}

static void xmit(struct tor_entry *entry, struct sk_buff *skb)
{
	struct frame_cb cb = *frame_cb(skb);
	int ret;

	/* the queueing disciplines expect it zeroed */
	memset(skb->cb, 0, sizeof(skb->cb));
	ret = tor_xmit(skb);
	if (likely(!net_xmit_eval(ret)))
		return;
	tor_env_count(&cb.fabric->node, TOR_C_TX_LOCAL_DROP, 1);
	if (cb.data)
		report_drop(entry, &cb);
}

void tor_entry_end(struct tor_entry *entry)
{
	struct sk_buff *skb;

	for (;;) {
		while ((skb = __skb_dequeue(&entry->frames)))
			xmit(entry, skb);
		if (!entry->retired)
			return;
		/* may make waiting senders continue */
		tor_slots_recycle(entry);
	}
}

/*
 * Add the pages of @frame's ranges; false: more fragments than an skb can have.
 */
static bool attach_pages(struct sk_buff *skb, const struct tor_frame *frame)
{
	u32 frags = 0;
	u32 i;

	for (i = 0; i < frame->ranges; i++) {
		const struct tor_range *r = &frame->range[i];
		u64 done = 0;

		while (done < r->len) {
			u32 in_page;
			struct page *page = tor_mem_page(r->mem, r->off + done, &in_page);
			u32 run = min_t(u64, r->len - done, PAGE_SIZE - in_page);

			if (frags == MAX_SKB_FRAGS)
				return false;
			get_page(page);
			skb_fill_page_desc_noacc(skb, frags++, page, in_page, run);
			skb->len += run;
			skb->data_len += run;
			skb->truesize += PAGE_SIZE;
			done += run;
		}
	}
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return true;
}

static void copy_ranges(struct sk_buff *skb, const struct tor_frame *frame)
{
	u32 i;

	for (i = 0; i < frame->ranges; i++) {
		const struct tor_range *r = &frame->range[i];
		u64 done = 0;

		while (done < r->len) {
			u32 run = min_t(u64, r->len - done, U32_MAX);
			void *p = tor_env_mem(r->mem, r->off + done, &run);

			skb_put_data(skb, p, run);
			done += run;
		}
	}
}

static u32 ranges_len(const struct tor_frame *frame)
{
	u32 len = 0;
	u32 i;

	for (i = 0; i < frame->ranges; i++)
		len += frame->range[i].len;
	return len;
}

static struct sk_buff *frame_build(struct tor_fabric *fabric, const struct tor_port *port,
				   const struct tor_frame *frame, bool copy)
{
	struct net_device *dev = port->dev;
	u32 len = ranges_len(frame);
	u32 linear = frame->hdr_len + frame->linear_len + (copy ? len : 0);
	struct sk_buff *skb;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + linear + dev->needed_tailroom,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	skb->dev = dev;
	skb_put_data(skb, frame->hdr, frame->hdr_len);
	if (frame->linear_len)
		skb_put_data(skb, frame->linear, frame->linear_len);
	if (copy) {
		copy_ranges(skb, frame);
	} else if (!attach_pages(skb, frame)) {
		/* nothing is lost: it leaves as a copy */
		consume_skb(skb);
		return frame_build(fabric, port, frame, true);
	}
	if (copy && frame->data)
		tor_env_count(&fabric->node, TOR_C_TX_COPIED_BYTES, len);
	else if (frame->data)
		tor_env_count(&fabric->node, TOR_C_TX_COPIED_BYTES, frame->linear_len);
	return skb;
}

static void remember(struct sk_buff *skb, struct tor_fabric *fabric, const struct tor_frame *frame)
{
	*frame_cb(skb) = (struct frame_cb){
		.fabric = fabric,
		.data = frame->data,
		.note = tor_wire_note(skb_network_header(skb)),
	};
}

int tor_env_send(struct tor_ctx *ctx, struct tor_node *node, const struct tor_frame *frame)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);
	struct tor_fabric *fabric = tor_fabric_of(node);
	bool chosen = frame->port != ~0U;
	bool hello = chosen && frame->dst == ~0U;
	struct tor_port *port;
	enum skb_drop_reason why;
	struct sk_buff *skb;
	u64 mac;

	if (chosen)
		port = rcu_dereference(fabric->port[frame->port]);
	else
		port = tor_xmit_port(fabric, frame->dst, frame->tie, TOR_NO_PORT);
	if (!port) {
		if (!chosen)
			tor_env_count(node, TOR_C_TX_NO_ROUTE, 1);
		return -EHOSTUNREACH;
	}
	skb = frame_build(fabric, port, frame, frame->copy || tor_port_copies(port));
	if (!skb) {
		tor_env_count(node, TOR_C_TX_NO_MEMORY, 1);
		return -ENOMEM;
	}
	mac = hello ? ether_addr_to_u64(hello_group) : READ_ONCE(port->neighbour);
	why = SKB_DROP_REASON_PKT_TOO_BIG;
	if (!hello && !tor_xmit_fits(fabric, port, skb))
		goto drop;
	why = SKB_DROP_REASON_DEV_HDR;
	if (!tor_xmit_header(skb, port, mac))
		goto drop;
	remember(skb, fabric, frame);
	atomic64_inc(&port->tx_frames);
	if (!hello) {
		tor_env_count(node, TOR_C_TX_FRAMES, 1);
		tor_env_count(node, TOR_C_TX_BYTES, ranges_len(frame) + frame->linear_len);
	}
	trace_torcoll_tx(node, port->index, frame, skb->len);
	__skb_queue_tail(&entry->frames, skb);
	return 0;
drop:
	kfree_skb_reason(skb, why);
	tor_env_count(node, TOR_C_TX_NO_ROUTE, 1);
	return -EHOSTUNREACH;
}

/* --- receiving --- */

/*
 * Return the drop reason for the kernel's own tools. Own reasons require an
 * entry in the kernel's list of subsystems, so it is the nearest of the common
 * ones, or none; the tracepoint torcoll_drop has the exact counter.
 */
static enum skb_drop_reason drop_reason(enum tor_counter why)
{
	switch (why) {
	case TOR_C_DROP_SHORT:
		return SKB_DROP_REASON_PKT_TOO_SMALL;
	case TOR_C_DROP_VERSION:
	case TOR_C_DROP_TYPE:
		return SKB_DROP_REASON_UNHANDLED_PROTO;
	case TOR_C_DROP_HEADER_CRC:
	case TOR_C_DROP_PAYLOAD_CRC:
		return SKB_DROP_REASON_SKB_CSUM;
	case TOR_C_DROP_FABRIC:
	case TOR_C_DROP_NOT_OURS:
		return SKB_DROP_REASON_OTHERHOST;
	case TOR_C_DROP_COMM:
		return SKB_DROP_REASON_NO_SOCKET;
	case TOR_C_DROP_NO_ROUTE:
		return SKB_DROP_REASON_IP_OUTNOROUTES;
	case TOR_C_DROP_FORWARD:
		return SKB_DROP_REASON_PKT_TOO_BIG;
	case TOR_C_DROP_MEMORY:
		return SKB_DROP_REASON_NOMEM;
	case TOR_C_DROP_LINK:
		return SKB_DROP_REASON_DEV_READY;
	default:
		return SKB_DROP_REASON_NOT_SPECIFIED;
	}
}

enum skb_drop_reason tor_port_drop(struct tor_port *port, enum tor_counter why)
{
	struct tor_node *node = &port->fabric->node;

	tor_env_count(node, why, 1);
	trace_torcoll_drop(node, port->index, why);
	atomic64_inc(&port->drops);
	return drop_reason(why);
}

void tor_entry_drop(struct tor_entry *entry, enum tor_counter why)
{
	entry->drop = tor_port_drop(entry->port, why);
}

void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);

	if (entry->port) {
		tor_entry_drop(entry, why);
		return;
	}
	/* a frame that was kept and is evaluated later */
	tor_env_count(node, why, 1);
	trace_torcoll_drop(node, ~0U, why);
}

/*
 * Describe the payload as pieces of memory. Return their number, 0 if it is not
 * accessible.
 */
static u32 payload_pieces(struct sk_buff *skb, const struct tor_hdr *h, struct tor_bytes *piece)
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
		piece[n].len = min_t(u32, skb_frag_size(frag), left);
		left -= piece[n++].len;
	}
	return left ? 0 : n;
}

/*
 * Return the whole payload of a control frame in linear memory, checked; NULL:
 * the frame is dropped.
 */
static const void *control_payload(struct tor_entry *entry, struct sk_buff *skb,
				   const struct tor_hdr *h)
{
	u32 skip = tor_wire_header_bytes(h);

	if (!pskb_may_pull(skb, skip + h->length)) {
		tor_entry_drop(entry, TOR_C_DROP_SHORT);
		return NULL;
	}
	if (tor_wire_crc(skb->data + skip, h->length) != h->payload_crc) {
		tor_entry_drop(entry, TOR_C_DROP_PAYLOAD_CRC);
		return NULL;
	}
	return skb->data + skip;
}

static void rx_hello(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		     const struct tor_hdr *h)
{
	struct tor_fabric *fabric = port->fabric;
	const void *p = control_payload(entry, skb, h);
	struct tor_hello hello;

	if (!p)
		return;
	if (tor_wire_get_hello(p, h->length, &hello)) {
		tor_entry_drop(entry, TOR_C_DROP_SHORT);
		return;
	}
	spin_lock(&fabric->lock);
	if (!tor_port_is_current(port))
		goto out;
	WRITE_ONCE(port->heard, ether_addr_to_u64(eth_hdr(skb)->h_source));
	/* before the link is up and frames use the address */
	if (tor_link_expects(&fabric->node, port->index, h, &hello))
		WRITE_ONCE(port->neighbour, port->heard);
	tor_link_hello(&entry->ctx, &fabric->node, port->index, h, &hello);
out:
	spin_unlock(&fabric->lock);
}

/*
 * Return whether a comm of this tag has been, or is about to be, created here.
 */
static bool is_known(struct tor_fabric *fabric, u32 tag)
{
	const struct tor_group *group = tor_group_find(fabric, tag);

	return group && !group->join.a.error && !group->shrink.a.error;
}

static void rx_comm(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h)
{
	struct tor_fabric *fabric = port->fabric;
	const void *p = control_payload(entry, skb, h);
	struct tor_comm_msg msg;
	u64 due;

	if (!p)
		return;
	if (tor_wire_get_comm(p, h->length, &msg)) {
		tor_entry_drop(entry, TOR_C_DROP_SHORT);
		return;
	}
	spin_lock(&fabric->lock);
	if (msg.step < TORCOLL_COMM_SHRINK_CALL) {
		tor_join_rx(&entry->ctx, &fabric->node, h, &msg, is_known(fabric, msg.tag));
		due = tor_join_due(&fabric->node);
	} else {
		tor_shrink_rx(&entry->ctx, &fabric->node, h, &msg, is_known(fabric, msg.tag));
		due = tor_shrink_due(&fabric->node);
	}
	if (due)
		tor_fabric_join_timer(fabric, due);
	spin_unlock(&fabric->lock);
}

static void rx_data(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h)
{
	struct tor_bytes piece[MAX_SKB_FRAGS + 1];
	u32 n = payload_pieces(skb, h, piece);

	if (!n)
		tor_entry_drop(entry, TOR_C_DROP_MEMORY);
	else
		tor_group_data(entry, port, h, piece, n);
}

static void rx_abort(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		     const struct tor_hdr *h)
{
	const void *p = control_payload(entry, skb, h);

	if (p)
		tor_group_abort_rx(entry, port, h, p);
}

static void rx_echo(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h)
{
	struct tor_bytes piece[MAX_SKB_FRAGS + 1];
	u32 n = payload_pieces(skb, h, piece);

	if (h->length && !n)
		tor_entry_drop(entry, TOR_C_DROP_MEMORY);
	else
		tor_echo_rx(&entry->ctx, &port->fabric->node, port->index, h, piece, n);
}

/* Deliver a frame to this node. Consumes @skb. */
static void frame_deliver(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
			  const struct tor_intact *in)
{
	struct tor_node *node = &port->fabric->node;
	enum tor_counter why;
	struct tor_hdr h;

	entry->drop = SKB_NOT_DROPPED_YET;
	if (tor_wire_read(in, &h, &why)) {
		tor_entry_drop(entry, why);
		goto done;
	}
	if (h.type == TORCOLL_FRAME_HELLO) {
		rx_hello(entry, port, skb, &h);
		goto done;
	}
	if (h.dst_epoch && h.dst_epoch != node->epoch) {
		tor_entry_drop(entry, TOR_C_DROP_EPOCH);
		goto done;
	}
	tor_env_count(node, TOR_C_RX_FRAMES, 1);
	trace_torcoll_rx(node, port->index, &h);
	if (h.acks)
		tor_group_acks(entry, port, &h, skb->data);
	switch (h.type) {
	case TORCOLL_FRAME_DATA:
		rx_data(entry, port, skb, &h);
		break;
	case TORCOLL_FRAME_COMM:
		rx_comm(entry, port, skb, &h);
		break;
	case TORCOLL_FRAME_ABORT:
		rx_abort(entry, port, skb, &h);
		break;
	case TORCOLL_FRAME_ECHO:
		rx_echo(entry, port, skb, &h);
		break;
	}
done:
	if (unlikely(entry->drop))
		kfree_skb_reason(skb, entry->drop);
	else
		consume_skb(skb);
}

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
	tor_link_foreign(&ctx, &port->fabric->node, port->index, version);
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
		ether_addr_equal(eth_hdr(skb)->h_dest, hello_group));
}

/* Remove bytes behind the frame: the next link may not accept them. */
static bool frame_trim(struct sk_buff *skb, const struct tor_intact *in)
{
	u32 len = tor_intact_bytes(in);

	return skb->len <= len || !pskb_trim(skb, len);
}

/*
 * Check that the frame is addressed to this port and valid. Fills @in, or
 * returns why not.
 */
static enum skb_drop_reason frame_accept(struct tor_port *port, struct sk_buff *skb,
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
		goto drop;
	}
	why = TOR_C_DROP_NOT_OURS;
	if (skb->pkt_type != PACKET_HOST && tor_intact_type(in) != TORCOLL_FRAME_HELLO)
		goto drop;
	why = TOR_C_DROP_FABRIC;
	if (tor_intact_fabric(in) != port->fabric->node.tag)
		goto drop;
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
	switch (READ_ONCE(port->fabric->node.link[port->index].state)) {
	case TOR_LINK_UP:
	case TOR_LINK_ONE_WAY:
	case TOR_LINK_FLAPPING:
	case TOR_LINK_WAITING:
	case TOR_LINK_TOO_SMALL:
		return true;
	default:
		return false;
	}
}

/*
 * Check that a frame other than a hello may come in by this port, from @src,
 * for @dst.
 */
static enum skb_drop_reason plausible(struct tor_port *port, u32 src, u32 dst)
{
	const struct tor_node *node = &port->fabric->node;

	if (dst >= node->torus.nodes || src >= node->torus.nodes || src == node->self)
		return tor_port_drop(port, TOR_C_DROP_NODE);
	if (!link_fit(port))
		return tor_port_drop(port, TOR_C_DROP_LINK);
	return SKB_NOT_DROPPED_YET;
}

/*
 * Check a frame, and forward it if it is for another node. Consumes @skb unless
 * it returns one, which is for this node, with its header in @in.
 */
static struct sk_buff *frame_admit(struct tor_port *port, struct sk_buff *skb,
				   struct tor_intact *in)
{
	struct tor_node *node = &port->fabric->node;
	enum skb_drop_reason why;
	u32 dst;

	atomic64_inc(&port->rx_frames);
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		tor_port_drop(port, TOR_C_DROP_MEMORY);
		return NULL;
	}
	why = frame_accept(port, skb, in);
	if (why)
		goto free;
	if (tor_intact_type(in) == TORCOLL_FRAME_HELLO)
		return skb;
	dst = tor_intact_dst(in);
	why = plausible(port, tor_intact_src(in), dst);
	if (why)
		goto free;
	tor_link_alive(node, port->index);
	if (dst == node->self)
		return skb;
	tor_forward(port, skb, in);
	return NULL;
free:
	kfree_skb_reason(skb, why);
	return NULL;
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
 * Receive a frame that was admitted. Hellos keep links up and are never queued.
 * Consumes @skb.
 */
static void frame_receive(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
			  const struct tor_intact *in)
{
	bool late = entry->late || tor_backlog_is_busy(&port->backlog);

	if (likely(!late) || tor_intact_type(in) == TORCOLL_FRAME_HELLO)
		frame_deliver(entry, port, skb, in);
	else if (tor_backlog_add(&port->backlog, skb))
		tor_env_count(&port->fabric->node, TOR_C_RX_LATE, 1);
	else
		kfree_skb_reason(skb, tor_port_drop(port, TOR_C_DROP_MEMORY));
}

void tor_frame_late(struct tor_port *port, struct sk_buff *skb)
{
	struct tor_intact in = tor_wire_checked(skb->data);
	struct tor_entry entry;

	tor_entry_begin(&entry);
	entry.port = port;
	frame_deliver(&entry, port, skb, &in);
	tor_entry_end(&entry);
}

int tor_frame_rx(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		 struct net_device *orig)
{
	struct tor_port *port = container_of(type, struct tor_port, type);
	struct tor_intact in;
	struct tor_entry entry;

	cover_begin(skb);
	skb = frame_admit(port, skb, &in);
	if (skb) {
		tor_entry_begin(&entry);
		entry.port = port;
		frame_receive(&entry, port, skb, &in);
		tor_entry_end(&entry);
	}
	cover_end();
	return NET_RX_SUCCESS;
}

void tor_frame_rx_list(struct list_head *list, struct packet_type *type, struct net_device *orig)
{
	struct tor_port *port = container_of(type, struct tor_port, type);
	struct sk_buff *skb, *next;
	struct tor_intact in;
	struct tor_entry entry;

	tor_entry_begin(&entry);
	entry.port = port;
	list_for_each_entry_safe(skb, next, list, list) {
		skb_list_del_init(skb);
		cover_begin(skb);
		skb = frame_admit(port, skb, &in);
		if (skb)
			frame_receive(&entry, port, skb, &in);
		cover_end();
	}
	tor_entry_end(&entry);
}
