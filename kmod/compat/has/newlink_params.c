// SPDX-License-Identifier: GPL-2.0
/* The arguments of rtnl_link_ops.newlink are in a struct. */
#include <net/rtnetlink.h>

static struct nlattr **__maybe_unused has(const struct rtnl_newlink_params *params)
{
	return params->tb;
}
