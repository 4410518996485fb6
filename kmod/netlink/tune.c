// SPDX-License-Identifier: GPL-2.0
/*
 * Requests about the speed of a fabric: the rates by which plans of new comms
 * are chosen, and measured durations of ops.
 */
#include <linux/rtnetlink.h>
#include <linux/torcoll_netlink.h>

#include "netlink/fill.h"
#include "netlink/gen.h"
#include "netlink/request.h"

/* Read a rate, if given. */
static int get_rate(struct genl_info *info, u32 attr, u64 most, u64 *rate, bool *any)
{
	const struct nlattr *value = info->attrs[attr];

	if (!value)
		return 0;
	if (nla_get_u64(value) > most)
		return nl_refuse(info, -ERANGE, "the rate exceeds 10 s, or 10 us per byte", value);
	*rate = nla_get_u64(value);
	*any = true;
	return 0;
}

static int get_rates(struct genl_info *info, struct tor_rates *rates)
{
	bool any = false;
	int err;

	err = get_rate(info, TORCOLL_A_TUNE_ROUND_PS, TORCOLL_WIRE_PS_MAX, &rates->e, &any);
	if (!err)
		err = get_rate(info, TORCOLL_A_TUNE_HOP_PS, TORCOLL_WIRE_PS_MAX, &rates->f, &any);
	if (!err)
		err = get_rate(info, TORCOLL_A_TUNE_MESSAGE_PS, TORCOLL_WIRE_PS_MAX, &rates->message, &any);
	if (!err)
		err = get_rate(info, TORCOLL_A_TUNE_LINK_FS, TORCOLL_WIRE_FS_MAX, &rates->link, &any);
	if (!err)
		err = get_rate(info, TORCOLL_A_TUNE_BYTE_FS, TORCOLL_WIRE_FS_MAX, &rates->byte, &any);
	if (!err)
		err = get_rate(info, TORCOLL_A_TUNE_OP_PS, TORCOLL_WIRE_PS_MAX, &rates->op, &any);
	if (!err && !any)
		*rates = tor_rates_default;
	return err;
}

int torcoll_nl_tune_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	struct tor_rates rates;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_TUNE_FABRIC, &err);
	if (fabric) {
		rates = fabric->rates;
		err = get_rates(info, &rates);
		if (!err)
			tor_fabric_set_rates(fabric, &rates);
	}
	rtnl_unlock();
	return err;
}

int torcoll_nl_tune_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tor_fabric *fabric;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_TUNE_FABRIC, &err);
	if (fabric)
		err = reply(info, TORCOLL_CMD_TUNE_GET, tor_fill_tune(msg, fabric));
	rtnl_unlock();
	return err;
}

int torcoll_nl_observed_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 collective = get_u32(info, TORCOLL_A_OBSERVED_COLLECTIVE);
	u32 algorithm = get_u32(info, TORCOLL_A_OBSERVED_ALGORITHM);
	u32 size_class = get_u32(info, TORCOLL_A_OBSERVED_SIZE_CLASS);
	struct tor_fabric *fabric;
	struct tor_observed o;
	int err = 0;

	rtnl_lock();
	fabric = find_fabric(skb, info, TORCOLL_A_OBSERVED_FABRIC, &err);
	if (fabric && (!tor_observed_get(&fabric->observed,
					 tor_observed_place(collective, algorithm, size_class),
					 &o) ||
		       o.collective != collective || o.algorithm != algorithm ||
		       o.size_class != size_class))
		err = nl_refuse(info, -ENOENT, "there are no measured times of such ops",
				info->attrs[TORCOLL_A_OBSERVED_ALGORITHM]);
	else if (fabric)
		err = reply(info, TORCOLL_CMD_OBSERVED_GET, tor_fill_observed(msg, fabric, &o));
	rtnl_unlock();
	return err;
}
