/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.5, linux/netdevice.h has the declarations of this header. */
#ifndef _TOR_COMPAT_NET_GSO_H
#define _TOR_COMPAT_NET_GSO_H

#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include_next <net/gso.h>
#endif

#endif
