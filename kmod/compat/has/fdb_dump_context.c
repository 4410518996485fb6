// SPDX-License-Identifier: GPL-2.0
/* Where a dump of forwarding entries goes on is in a struct of its own. */
#include <linux/rtnetlink.h>

static int __maybe_unused has(const struct ndo_fdb_dump_context *ctx)
{
	return ctx->fdb_idx;
}
