// SPDX-License-Identifier: GPL-2.0
/* The parsed attributes of a dump are in its genl_info. */
#include <net/genetlink.h>

static struct nlattr **__maybe_unused has(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->info.attrs;
}
