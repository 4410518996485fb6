/* SPDX-License-Identifier: GPL-2.0 */
/* The member of a device with its "tc" egress hooks was renamed. */
#ifndef _TOR_COMPAT_EGRESS_H
#define _TOR_COMPAT_EGRESS_H

#include <linux/netdevice.h>
#include <tor/has.h>

/* Return whether tc, BPF or netfilter sees frames that leave by @dev. */
static inline bool tor_egress_watched(const struct net_device *dev)
{
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(dev->nf_hooks_egress))
		return true;
#endif
#ifdef TOR_HAS_TCX_EGRESS
	if (rcu_access_pointer(dev->tcx_egress))
		return true;
#elif defined(CONFIG_NET_CLS_ACT) && !defined(CONFIG_NET_XGRESS)
	if (rcu_access_pointer(dev->miniq_egress))
		return true;
#endif
	return false;
}

#endif
