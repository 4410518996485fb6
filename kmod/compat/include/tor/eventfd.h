/* SPDX-License-Identifier: GPL-2.0 */
/* Since 6.8 eventfd_signal() has no argument for the amount. */
#ifndef _TOR_COMPAT_EVENTFD_H
#define _TOR_COMPAT_EVENTFD_H

#include <linux/eventfd.h>
#include <linux/version.h>

static inline void tor_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

#endif
