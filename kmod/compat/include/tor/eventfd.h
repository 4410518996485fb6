/* SPDX-License-Identifier: GPL-2.0 */
/* eventfd_signal() lost its argument for the amount. */
#ifndef _TOR_COMPAT_EVENTFD_H
#define _TOR_COMPAT_EVENTFD_H

#include <linux/eventfd.h>
#include <tor/has.h>

static inline void tor_eventfd_signal(struct eventfd_ctx *ctx)
{
#ifdef TOR_HAS_EVENTFD_SIGNAL_ONE
	eventfd_signal(ctx);
#else
	eventfd_signal(ctx, 1);
#endif
}

#endif
