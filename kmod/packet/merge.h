/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of a flow for this node are merged where their device's driver polls it
 * (GRO), before anything else is done with them: reception, torcoll's and that of
 * the network device, then takes a super frame instead of each.
 *
 * Those for other nodes are left alone: they would be cut again at the next
 * port, which costs as much as to relay them one by one.
 */
#ifndef _TOR_PACKET_MERGE_H
#define _TOR_PACKET_MERGE_H

struct list_head;
struct sk_buff;

/*
 * Merge @skb, with torcoll's EtherType, with one of the skbs in @head; the
 * gro_receive of a packet_offload. Context: NAPI, RCU. Return: as these.
 */
struct sk_buff *tor_merge_receive(struct list_head *head, struct sk_buff *skb);

/*
 * Write the headers of @skb, in which others were merged, for all of it;
 * torcoll's is at @offset. Context: NAPI, RCU. Return: 0 or a negative errno.
 */
int tor_merge_complete(struct sk_buff *skb, int offset);

#endif
