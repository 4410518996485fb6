/* SPDX-License-Identifier: GPL-2.0 */
/* Where a dump of forwarding entries goes on has a struct of its own since 6.14. */
#ifndef _TOR_COMPAT_FDB_DUMP_H
#define _TOR_COMPAT_FDB_DUMP_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <tor/has.h>

/* The number of entries of a device that earlier messages of a dump had. */
static inline int tor_fdb_dumped(const struct netlink_callback *cb)
{
#ifdef TOR_HAS_FDB_DUMP_CONTEXT
	const struct ndo_fdb_dump_context *ctx = (const void *)cb->ctx;

	return ctx->fdb_idx;
#else
	return cb->args[2];
#endif
}

#endif
