/* SPDX-License-Identifier: GPL-2.0 */
/* That a device needs no lock to transmit is a member of it since 6.12, and was a feature. */
#ifndef _TOR_COMPAT_LLTX_H
#define _TOR_COMPAT_LLTX_H

#include <linux/netdevice.h>
#include <tor/has.h>

static inline void tor_lltx(struct net_device *dev)
{
#ifdef TOR_HAS_LLTX
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

#endif
