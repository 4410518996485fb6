// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: the road of a frame from core to a device. tor_env_send() makes an
 * skb of it and queues that in the entry; at its end, without locks,
 * tor_send_queued() passes all of them to the devices (xmit.c).
 *
 * The payload of the skb consists of the user's pages themselves: one reference
 * per fragment, SKBFL_SHARED_FRAG, no destructor, no ubuf_info. Frames in queues
 * and taps therefore refer to nothing of this module, and outlive op, process
 * and module.
 */
#include "net/send.h"

#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "core/wire/accept.h"
#include "memory/memory.h"
#include "net/port.h"
#include "net/receive.h"
#include "net/xmit.h"
#include "trace.h"

const u8 tor_hello_group[ETH_ALEN] = TORCOLL_HELLO_GROUP;

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
			u32 run = min_t(u64, r->len - done, U32_MAX);
			u32 in_page;
			struct page *page = tor_mem_run(r->mem, r->off + done, &in_page, &run);

			if (frags == MAX_SKB_FRAGS)
				return false;
			get_page(page);
			skb_fill_page_desc_noacc(skb, frags++, page, in_page, run);
			skb->len += run;
			skb->data_len += run;
			skb->truesize += run;
			done += run;
		}
	}
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return true;
}

/* Add the shared memory of @frame, which takes one fragment. */
static void attach_shared(struct sk_buff *skb, const struct tor_frame *frame)
{
	struct page *page = virt_to_head_page(frame->linear);

	get_page(page);
	skb_fill_page_desc_noacc(skb, 0, page, frame->linear - page_address(page),
				 frame->linear_len);
	skb->len += frame->linear_len;
	skb->data_len += frame->linear_len;
	skb->truesize += frame->linear_len;
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
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

			tor_env_copy(skb_put(skb, run), p, run);
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

/*
 * Return an skb with room for @size bytes, taken where drivers take those that
 * they receive: from the processor's page and from its skbs that were consumed.
 * The slab allocator would have to be asked twice, and clears what it gives
 * where the kernel is hardened. Context: BH, which protects what a processor has.
 */
static struct sk_buff *frame_alloc(u32 size)
{
	u32 head = SKB_DATA_ALIGN(size) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	void *data = head <= PAGE_SIZE ? napi_alloc_frag(head) : NULL;
	struct sk_buff *skb;

	/* the slab allocator may have room where there is no page */
	if (!data)
		return alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
	skb = napi_build_skb(data, head);
	if (!skb)
		skb_free_frag(data);
	return skb;
}

/* A header, for which the length is known, and acknowledgements behind it. */
static void put_header(struct sk_buff *skb, const struct tor_frame *frame)
{
	const u32 fixed = sizeof(struct torcoll_hdr);

	skb_put_data(skb, frame->hdr, fixed);
	if (frame->hdr_len > fixed)
		skb_put_data(skb, frame->hdr + fixed, frame->hdr_len - fixed);
}

static struct sk_buff *frame_build(struct tor_fabric *fabric, const struct tor_port *port,
				   const struct tor_frame *frame, bool copy)
{
	struct net_device *dev = port->dev;
	u32 len = ranges_len(frame);
	bool shared = frame->shared && !copy && frame->linear_len > TOR_SHARE_MIN;
	u32 linear = frame->hdr_len + (shared ? 0 : frame->linear_len) + (copy ? len : 0);
	/* once: a bridge at the other end of a veth may change it */
	u32 headroom = LL_RESERVED_SPACE(dev);
	struct sk_buff *skb;

	skb = frame_alloc(headroom + linear + READ_ONCE(dev->needed_tailroom));
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_reset_network_header(skb);
	skb->dev = dev;
	put_header(skb, frame);
	if (shared)
		attach_shared(skb, frame);
	else if (frame->linear_len)
		tor_env_copy(skb_put(skb, frame->linear_len), frame->linear, frame->linear_len);
	if (copy) {
		copy_ranges(skb, frame);
	} else if (!attach_pages(skb, frame)) {
		/* nothing is lost: it leaves as a copy */
		consume_skb(skb);
		return frame_build(fabric, port, frame, true);
	}
	if (copy && frame->data)
		tor_fabric_count(fabric, TOR_C_TX_COPIED_BYTES, len);
	else if (frame->data)
		tor_fabric_count(fabric, TOR_C_TX_COPIED_BYTES, frame->linear_len);
	return skb;
}

static void remember(struct sk_buff *skb, struct tor_port *port, const struct tor_frame *frame,
		     bool hello)
{
	*tor_frame_cb(skb) = (struct tor_frame_cb){
		.port = port,
		.in = TOR_NO_PORT,
		.hello = hello,
		.data = frame->data,
		.note = tor_wire_note(skb_network_header(skb)),
	};
}

int tor_env_send(struct tor_ctx *ctx, struct tor_node *node, const struct tor_frame *frame)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);
	struct tor_fabric *fabric = tor_fabric_of(node);
	bool chosen = frame->cable != ~0U;
	bool hello = chosen && frame->dst == ~0U;
	struct tor_port *port;
	enum skb_drop_reason why;
	struct sk_buff *skb;
	u64 mac;

	if (chosen)
		port = rcu_dereference(fabric->port[frame->cable]);
	else
		port = tor_xmit_port(fabric, frame->dst, frame->tie, TOR_NO_PORT,
				     frame->hdr_len + frame->linear_len + ranges_len(frame));
	if (!port) {
		if (!chosen)
			tor_fabric_count(fabric, TOR_C_TX_NO_ROUTE, 1);
		return -EHOSTUNREACH;
	}
	skb = frame_build(fabric, port, frame, frame->copy || tor_port_copies(port));
	if (!skb) {
		tor_fabric_count(fabric, TOR_C_TX_NO_MEMORY, 1);
		return -ENOMEM;
	}
	mac = hello ? ether_addr_to_u64(tor_hello_group) : READ_ONCE(port->neighbour);
	why = SKB_DROP_REASON_PKT_TOO_BIG;
	if (!chosen && !tor_xmit_fits(fabric, port, skb))
		goto drop;
	why = SKB_DROP_REASON_DEV_HDR;
	if (!tor_xmit_header(skb, port, mac))
		goto drop;
	tor_xmit_charge(port, skb);
	if (tor_wire_hint_type(frame->hdr) == TORCOLL_FRAME_ACK)
		tor_xmit_ahead(skb);
	remember(skb, port, frame, hello);
	if (frame->data && tor_wire_is_again(frame->hdr))
		atomic64_inc(&port->resent);
	if (!hello) {
		tor_fabric_count(fabric, TOR_C_TX_FRAMES, 1);
		tor_fabric_count(fabric, TOR_C_TX_BYTES, ranges_len(frame) + frame->linear_len);
	}
	trace_torcoll_tx(node, port->cable, frame, skb->len);
	__skb_queue_tail(&entry->frames, skb);
	return 0;
drop:
	kfree_skb_reason(skb, why);
	tor_fabric_count(fabric, TOR_C_TX_NO_ROUTE, 1);
	return -EHOSTUNREACH;
}

/*
 * A queue refused an own data frame: its channel sends it again, with a smaller
 * window.
 */
static void report_drop(struct tor_entry *entry, const struct tor_frame_cb *cb)
{
	struct tor_hdr h = tor_wire_noted(&cb->note);

	tor_frame_refused(entry, cb->port->fabric, &h);
}

/* Count a forwarded frame that was refused. */
static void forward_drop(const struct tor_frame_cb *cb)
{
	struct tor_port *in = rcu_dereference(cb->port->fabric->port[cb->in]);

	if (in)
		tor_port_drop(in, TOR_C_DROP_FORWARD);
	else
		tor_fabric_count(cb->port->fabric, TOR_C_DROP_FORWARD, 1);
}

static void refused(struct tor_entry *entry, const struct tor_frame_cb *cb)
{
	atomic64_inc(&cb->port->refused);
	if (cb->in != TOR_NO_PORT) {
		forward_drop(cb);
		return;
	}
	tor_fabric_count(cb->port->fabric, TOR_C_TX_LOCAL_DROP, 1);
	if (cb->data)
		report_drop(entry, cb);
}

void tor_send_frame(struct tor_entry *entry, struct sk_buff *skb)
{
	struct tor_frame_cb cb = *tor_frame_cb(skb);
	int ret;

	/* the queueing disciplines expect it zeroed */
	memset(skb->cb, 0, sizeof(skb->cb));
	/* here, not where it was queued: hellos say how many have left */
	atomic64_inc(&cb.port->tx_frames);
	ret = tor_xmit(skb);
	if (unlikely(net_xmit_eval(ret)))
		refused(entry, &cb);
	else if (cb.in != TOR_NO_PORT)
		tor_fabric_count(cb.port->fabric, TOR_C_FORWARDED, 1);
}

/* Packets wait at the port of a frame, which may have to wait, too. */
static void send_busy(struct tor_entry *entry, struct sk_buff *skb)
{
	struct tor_frame_cb cb = *tor_frame_cb(skb);

	switch (cb.hello ? -EAGAIN : tor_outq_frame(&cb.port->outq, skb)) {
	case -EAGAIN:
		tor_send_frame(entry, skb);
		break;
	case -ENOBUFS:
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		atomic64_inc(&cb.port->tx_frames);
		refused(entry, &cb);
		break;
	}
}

void tor_send_queued(struct tor_entry *entry)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&entry->frames))) {
		if (unlikely(tor_outq_is_busy(&tor_frame_cb(skb)->port->outq)))
			send_busy(entry, skb);
		else
			tor_send_frame(entry, skb);
	}
}
