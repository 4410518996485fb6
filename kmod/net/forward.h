/* SPDX-License-Identifier: GPL-2.0 */
/* Forwarding of frames for other nodes. */
#ifndef _TOR_FORWARD_H
#define _TOR_FORWARD_H

#include "core/wire/accept.h"
#include "net/port.h"

/**
 * tor_forward - forward a frame; only its hop limit changes
 * @in: port that it came in by
 * @skb: not shared, header linear at skb->data; consumed
 * @h: its header
 *
 * Neither reads nor copies data behind the header. Context: softirq, RCU.
 */
void tor_forward(struct tor_port *in, struct sk_buff *skb, const struct tor_intact *h);

#endif
