/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parsed attributes of a dump moved in 6.7, from genl_dumpit_info into its
 * genl_info.
 */
#ifndef _TOR_COMPAT_DUMP_ATTRS_H
#define _TOR_COMPAT_DUMP_ATTRS_H

#include <linux/version.h>
#include <net/genetlink.h>

static inline struct nlattr **tor_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
