/* SPDX-License-Identifier: GPL-2.0 */
/* 6.13 has the type of service of a route as a type of its own. */
#ifndef _TOR_COMPAT_ROUTE_INPUT_H
#define _TOR_COMPAT_ROUTE_INPUT_H

#include <net/ip.h>
#include <net/route.h>
#include <tor/has.h>

/*
 * Look up the route of a received IPv4 packet; it is in @skb then. Context:
 * RCU, until the route is not used any more. Return 0 if there is one.
 */
static inline int tor_route_input(struct sk_buff *skb, const struct iphdr *ip)
{
#ifdef TOR_HAS_ROUTE_INPUT_REASON
	return ip_route_input_noref(skb, ip->daddr, ip->saddr, ip4h_dscp(ip), skb->dev);
#else
	return ip_route_input_noref(skb, ip->daddr, ip->saddr, ip->tos, skb->dev);
#endif
}

#endif
