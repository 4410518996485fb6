/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.5, linux/netdevice.h declared what cuts super frames. */
#ifndef _TOR_COMPAT_GSO_H
#define _TOR_COMPAT_GSO_H

#include <tor/has.h>

#ifdef TOR_HAS_GSO_HEADER
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif
