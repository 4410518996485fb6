// SPDX-License-Identifier: GPL-2.0
/* Requests for surveys, and the reports that answer them. */
#include "survey/survey.h"

#include <linux/torcoll_netlink.h>

#include "netlink/gen.h"
#include "netlink/request.h"

int torcoll_nl_survey_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TORCOLL_A_SURVEY_ID) ||
	    GENL_REQ_ATTR_CHECK(info, TORCOLL_A_SURVEY_ROUND))
		return nl_refuse(info, -EINVAL, "a survey needs a number and a round", NULL);
	err = tor_survey_start(genl_info_net(info), nla_get_u64(info->attrs[TORCOLL_A_SURVEY_ID]),
			       get_u32(info, TORCOLL_A_SURVEY_ROUND),
			       info->attrs[TORCOLL_A_SURVEY_TEST], info->snd_portid);
	switch (err) {
	case -EEXIST:
		return nl_refuse(info, err, "another socket made the survey of that number",
				 info->attrs[TORCOLL_A_SURVEY_ID]);
	case -EINVAL:
		return nl_refuse(info, err, "the round is not higher than the one before",
				 info->attrs[TORCOLL_A_SURVEY_ROUND]);
	case -EBUSY:
		return nl_refuse(info, err,
				 "too many surveys are under way here: try again in a second", NULL);
	}
	return err;
}

void tor_netlink_survey_report(struct net *net, u32 socket, u64 id, const void *records, u32 len,
			       bool self, gfp_t gfp)
{
	struct sk_buff *msg = genlmsg_new(nla_total_size_64bit(sizeof(id)) + nla_total_size(len) +
					  nla_total_size(0), gfp);
	void *hdr;

	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &tor_netlink_family, 0, TORCOLL_CMD_SURVEY_REPORT);
	if (!hdr || nla_put_u64_64bit(msg, TORCOLL_A_SURVEY_ID, id, TORCOLL_A_SURVEY_PAD) ||
	    nla_put(msg, TORCOLL_A_SURVEY_REPORT, len, records) ||
	    (self && nla_put_flag(msg, TORCOLL_A_SURVEY_SELF))) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_unicast(net, msg, socket);
}
