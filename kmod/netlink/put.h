/* SPDX-License-Identifier: GPL-2.0 */
/* How attributes of all kinds of objects are put into a message. */
#ifndef _TOR_NETLINK_PUT_H
#define _TOR_NETLINK_PUT_H

#include <linux/torcoll_netlink.h>
#include <net/netlink.h>

/**
 * nl_put_u64 - put an attribute of 64 bits into a message
 * @msg: message
 * @attr: its number, in any set
 * @value: of the attribute
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if it does not fit.
 */
static inline int nl_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	/* the pad attribute is number 1 in every set */
	return nla_put_u64_64bit(msg, attr, value, TORCOLL_A_FABRIC_PAD);
}

#endif
