/* SPDX-License-Identifier: GPL-2.0 */
/* Sending: core's tor_env_send(), and the end of an entry. See send.c. */
#ifndef _TOR_SEND_H
#define _TOR_SEND_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "core/wire/accept.h"
#include "net/entry.h"

/* The multicast address of hellos. */
extern const u8 tor_hello_group[ETH_ALEN];

/**
 * struct tor_frame_cb - skb->cb of a frame of a collective until its device has
 *	it: what to do if that refuses it
 * @port: by which it leaves
 * @in: number of the cable by which it came in, TOR_NO_PORT for own frames
 * @hello: it waits for nothing
 * @data: its channel is told
 * @note: of own data frames
 */
struct tor_frame_cb {
	struct tor_port *port;
	u32 in;
	bool hello;
	bool data;
	struct tor_wire_note note;
};

static inline struct tor_frame_cb *tor_frame_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tor_frame_cb) > sizeof(skb->cb));
	return (struct tor_frame_cb *)skb->cb;
}

/**
 * tor_send_frame - pass a frame of a collective, whose turn it is, to its device
 * @entry: gets what follows from a refusal
 * @skb: with its struct tor_frame_cb; consumed
 *
 * Context: BH, RCU, no lock held.
 */
void tor_send_frame(struct tor_entry *entry, struct sk_buff *skb);

/*
 * Pass the frames of an entry to their devices. Channels whose queue refuses one
 * are told, which may add frames. Context: BH, RCU, no lock held.
 */
void tor_send_queued(struct tor_entry *entry);

#endif
