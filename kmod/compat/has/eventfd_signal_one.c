// SPDX-License-Identifier: GPL-2.0
/* eventfd_signal() has no argument for the amount: it is one. */
#include <linux/eventfd.h>

static void __maybe_unused has(struct eventfd_ctx *ctx)
{
	eventfd_signal(ctx);
}
