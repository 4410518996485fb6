// SPDX-License-Identifier: GPL-2.0
/*
 * Requests about the host: the name by which hellos and surveys of a network
 * namespace call it.
 */
#include <linux/torcoll_netlink.h>

#include "net/net.h"
#include "netlink/gen.h"
#include "netlink/request.h"

/* Return whether text can be shown as it is: peers replace what cannot. */
static bool is_printable(const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

int torcoll_nl_name_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[TORCOLL_A_HOST_NAME];
	const char *name = attr ? nla_data(attr) : "";
	u32 len = strlen(name);

	if (attr && (!len || !is_printable(name, len)))
		return nl_refuse(info, -EINVAL,
				 "a host's name is 1 to 64 printable ASCII characters", attr);
	tor_net_set_name(tor_net(genl_info_net(info)), name, len);
	return 0;
}

static int fill_name(struct sk_buff *msg, struct tor_net *tn)
{
	char name[TORCOLL_HOST_NAME + 1];

	tor_net_name(tn, name);
	return nla_put_string(msg, TORCOLL_A_HOST_NAME, name) ? -EMSGSIZE : 0;
}

int torcoll_nl_name_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply(info, TORCOLL_CMD_NAME_GET,
		     fill_name(msg, tor_net(genl_info_net(info))));
}
