// SPDX-License-Identifier: GPL-2.0
/*
 * The "tc" egress hooks of a device are its member tcx_egress. Configured out,
 * neither that nor the older member is there, and there are no hooks.
 */
#include <linux/netdevice.h>

static void *__maybe_unused has(const struct net_device *dev)
{
	return dev->tcx_egress;
}
