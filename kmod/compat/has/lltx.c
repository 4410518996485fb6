// SPDX-License-Identifier: GPL-2.0
/* That a device needs no lock to transmit is a member of it. */
#include <linux/netdevice.h>

static void __maybe_unused has(struct net_device *dev)
{
	dev->lltx = true;
}
