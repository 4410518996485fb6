// SPDX-License-Identifier: GPL-2.0
/*
 * Reception of frames other than data and acknowledgements: hellos, the
 * agreements that make comms, failures, tests of cables. Payloads of all but
 * the tests are short, made linear and checked here. See receive.h.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "core/agree/join.h"
#include "core/agree/shrink.h"
#include "core/link/echo.h"
#include "core/wire/accept.h"
#include "net/port.h"
#include "net/receive.h"
#include "op/group.h"

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

/*
 * Count what the cable lost up to a hello of the neighbour. Context:
 * fabric->lock.
 */
static void count_loss(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		       const struct tor_hello *hello)
{
	u64 interval = min_t(u64, (u64)hello->interval_ms * NSEC_PER_MSEC, TOR_HELLO_RAREST);

	if (hello->more)
		tor_loss_hello(&port->loss, entry->ctx.now,
			       max(interval, port->fabric->node.hello_ns), h->src_epoch,
			       hello->sent, tor_port_received(port));
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
	if (tor_cable_expects(&fabric->node, port->cable, h, &hello)) {
		WRITE_ONCE(port->neighbour, port->heard);
		count_loss(entry, port, h, &hello);
	}
	tor_cable_hello(&entry->ctx, &fabric->node, port->cable, h, &hello);
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

static void rx_abort(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		     const struct tor_hdr *h)
{
	const void *p = control_payload(entry, skb, h);
	struct tor_group *group;
	u32 rank;

	if (!p)
		return;
	group = tor_frame_group(entry, h, h->comm, &rank);
	if (group)
		tor_comm_abort_rx(&entry->ctx, &group->comm, rank, p, h->length);
}

static void rx_echo(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h)
{
	struct tor_bytes piece[MAX_SKB_FRAGS + 1];
	u32 n = tor_frame_payload(skb, h, piece);

	/* a test by torcollctl, past the neighbour's port */
	if (!h->src_epoch)
		atomic64_inc(&port->others);
	if (h->length && !n)
		tor_entry_drop(entry, TOR_C_DROP_MEMORY);
	else
		tor_echo_rx(&entry->ctx, &port->fabric->node, port->cable, h, piece, n);
}

void tor_control_rx(struct tor_entry *entry, struct tor_port *port, struct sk_buff *skb,
		    const struct tor_hdr *h)
{
	switch (h->type) {
	case TORCOLL_FRAME_HELLO:
		rx_hello(entry, port, skb, h);
		break;
	case TORCOLL_FRAME_COMM:
		rx_comm(entry, port, skb, h);
		break;
	case TORCOLL_FRAME_ABORT:
		rx_abort(entry, port, skb, h);
		break;
	case TORCOLL_FRAME_ECHO:
		rx_echo(entry, port, skb, h);
		break;
	}
}
