/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue of a port for packets, the frames of the network device: the port's
 * device gets as much of them as keeps it busy, the rest waits here, and frames
 * of collectives go before it. See outq.c.
 */
#ifndef _TOR_PACKET_OUTQ_H
#define _TOR_PACKET_OUTQ_H

#include <linux/interrupt.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "core/packet/share.h"

struct sock;
struct tor_port;

/**
 * enum tor_outq_class - where a packet comes from
 * @TOR_OUTQ_OWN: this host's network device; while some wait, its transmit
 *	queue of the link's number is stopped
 * @TOR_OUTQ_TRANSIT: another node; those that find the queue full are dropped
 */
enum tor_outq_class {
	TOR_OUTQ_OWN,
	TOR_OUTQ_TRANSIT,
	TOR_OUTQ_CLASSES
};

/* Of each class, and of collectives' frames; the kernel's own queues are as long. */
#define TOR_OUTQ_MAX		1000

/**
 * struct tor_outq - a port's queue
 * @busy: something waits, or has just been taken from the queue: nothing may
 *	overtake it
 * @closed: the port is being removed
 * @lock: protects the following members and writes to the previous ones; a leaf.
 *	On another cache line than @busy, which all frames read
 * @share: who is next
 * @packet: packets that wait, by class
 * @frame: frames of collectives that wait
 * @held: owner of the packets in the device
 * @drain: passes on what waits
 */
struct tor_outq {
	bool busy;
	bool closed;
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct tor_share share;
	struct sk_buff_head packet[TOR_OUTQ_CLASSES];
	struct sk_buff_head frame;
	struct sock *held;
	struct tasklet_struct drain;
};

/* Context: process. Return: 0 or -ENOMEM. */
int tor_outq_init(struct tor_outq *outq);

/*
 * Drop what waits, and let nothing wait any more: the port is being removed.
 * What the device holds stays there. Context: process.
 */
void tor_outq_close(struct tor_port *port);

/* A grace period after that nobody uses the queue. Context: process. */
void tor_outq_destroy(struct tor_outq *outq);

/**
 * tor_outq_xmit - send a packet by a port
 * @port: that leads to its destination, or that the tree has
 * @skb: not shared, torcoll's header at skb->data and writable, in front of it
 *	LL_RESERVED_SPACE() of the port's device; consumed. A super frame is cut
 *	where the device would not bring it unchanged to the other end
 * @class: see there
 *
 * Packets of one class leave in the order of the calls. Of a super frame, the
 * loss of a part is not reported.
 *
 * Context: BH, RCU, no spinlock held.
 * Return: 0, or -ENOBUFS: it was dropped, which the port's @refused counts.
 */
int tor_outq_xmit(struct tor_port *port, struct sk_buff *skb, enum tor_outq_class class);

/*
 * Return whether frames of collectives must ask tor_outq_frame() before they
 * leave. Context: any.
 */
static inline bool tor_outq_is_busy(const struct tor_outq *outq)
{
	return unlikely(READ_ONCE(outq->busy));
}

/**
 * tor_outq_frame - a frame of a collective leaves by a port with a busy queue
 * @outq: of the port
 * @skb: with its MAC header, and with its struct tor_frame_cb
 *
 * Context: BH, RCU, no spinlock held.
 * Return: 0: it waits here. -EAGAIN: the caller passes it to the device now.
 * -ENOBUFS: the queue is full.
 */
int tor_outq_frame(struct tor_outq *outq, struct sk_buff *skb);

/* The device has sent packets. Context: any. */
static inline void tor_outq_sent(struct tor_outq *outq)
{
	if (tor_outq_is_busy(outq))
		tasklet_schedule(&outq->drain);
}

/*
 * The port's link has changed its state: if it is down, packets do not wait for
 * it. Context: any, any lock held.
 */
static inline void tor_outq_link_changed(struct tor_outq *outq)
{
	tasklet_schedule(&outq->drain);
}

#endif
