/* SPDX-License-Identifier: GPL-2.0 */
/* Do not edit directly, auto-generated from: */
/*	uapi/torcoll.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_TORCOLL_GEN_H
#define _LINUX_TORCOLL_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <linux/torcoll_netlink.h>

extern const struct nla_policy torcoll_fabric_new_nl_policy[TORCOLL_A_FABRIC_KINDS + 1];

extern const struct nla_policy torcoll_fabric_del_nl_policy[TORCOLL_A_FABRIC_FORCE + 1];

extern const struct nla_policy torcoll_fabric_get_nl_policy[TORCOLL_A_FABRIC_KEY + 1];

extern const struct nla_policy torcoll_port_new_nl_policy[TORCOLL_A_PORT_CABLE + 1];

extern const struct nla_policy torcoll_port_del_nl_policy[TORCOLL_A_PORT_CABLE + 1];

extern const struct nla_policy torcoll_port_get_nl_policy[TORCOLL_A_PORT_CABLE + 1];

extern const struct nla_policy torcoll_node_get_nl_policy[TORCOLL_A_NODE_FABRIC + 1];

extern const struct nla_policy torcoll_comm_get_nl_policy[TORCOLL_A_COMM_TAG + 1];

extern const struct nla_policy torcoll_op_get_nl_policy[TORCOLL_A_OP_SEQ + 1];

extern const struct nla_policy torcoll_stats_get_nl_policy[TORCOLL_A_STATS_FABRIC + 1];

extern const struct nla_policy torcoll_tune_set_nl_policy[TORCOLL_A_TUNE_OP_PS + 1];

extern const struct nla_policy torcoll_tune_get_nl_policy[TORCOLL_A_TUNE_FABRIC + 1];

extern const struct nla_policy torcoll_observed_get_nl_policy[TORCOLL_A_OBSERVED_SIZE_CLASS + 1];

extern const struct nla_policy torcoll_limit_set_nl_policy[TORCOLL_A_LIMIT_HELLOS + 1];

extern const struct nla_policy torcoll_limit_get_nl_policy[TORCOLL_A_LIMIT_UNLIMITED + 1];

extern const struct nla_policy torcoll_name_set_nl_policy[TORCOLL_A_HOST_NAME + 1];

extern const struct nla_policy torcoll_name_get_nl_policy[TORCOLL_A_HOST_PAD + 1];

extern const struct nla_policy torcoll_log_get_nl_policy[TORCOLL_A_LOG_SEQ + 1];

extern const struct nla_policy torcoll_survey_nl_policy[TORCOLL_A_SURVEY_TEST + 1];

/* Ops table for torcoll */
extern const struct genl_ops torcoll_nl_ops[19];

int torcoll_nl_fabric_new_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_fabric_del_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_fabric_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_fabric_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int torcoll_nl_port_new_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_port_del_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_port_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int torcoll_nl_node_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_node_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int torcoll_nl_comm_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_comm_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int torcoll_nl_op_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int torcoll_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_stats_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int torcoll_nl_tune_set_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_tune_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_tune_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int torcoll_nl_observed_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_observed_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int torcoll_nl_limit_set_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_limit_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_limit_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int torcoll_nl_name_set_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_name_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_log_get_doit(struct sk_buff *skb, struct genl_info *info);
int torcoll_nl_log_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int torcoll_nl_survey_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	TORCOLL_NLGRP_EVENTS,
};

#endif /* _LINUX_TORCOLL_GEN_H */
