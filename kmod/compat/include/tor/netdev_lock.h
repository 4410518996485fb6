/* SPDX-License-Identifier: GPL-2.0 */
/* netdev_lockdep_set_classes() was in linux/netdevice.h. */
#ifndef _TOR_COMPAT_NETDEV_LOCK_H
#define _TOR_COMPAT_NETDEV_LOCK_H

#include <linux/netdevice.h>
#include <tor/has.h>

#ifdef TOR_HAS_NETDEV_LOCK
#include <net/netdev_lock.h>
#endif

#endif
