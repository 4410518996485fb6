/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parsed attributes of a dump moved from genl_dumpit_info into its
 * genl_info.
 */
#ifndef _TOR_COMPAT_DUMP_ATTRS_H
#define _TOR_COMPAT_DUMP_ATTRS_H

#include <net/genetlink.h>
#include <tor/has.h>

static inline struct nlattr **tor_dump_attrs(struct netlink_callback *cb)
{
#ifdef TOR_HAS_DUMP_INFO
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
