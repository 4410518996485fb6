// SPDX-License-Identifier: GPL-2.0
/* Do not edit directly, auto-generated from: */
/*	uapi/torcoll.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "gen.h"

#include <linux/torcoll_netlink.h>

/* TORCOLL_CMD_FABRIC_NEW - do */
const struct nla_policy torcoll_fabric_new_nl_policy[TORCOLL_A_FABRIC_KINDS + 1] = {
	[TORCOLL_A_FABRIC_KEY] = { .type = NLA_U64, },
	[TORCOLL_A_FABRIC_SIDES] = { .type = NLA_BINARY, },
	[TORCOLL_A_FABRIC_CABLES] = NLA_POLICY_RANGE(NLA_U32, 1, 2),
	[TORCOLL_A_FABRIC_NODE] = { .type = NLA_U32, },
	[TORCOLL_A_FABRIC_COORD] = { .type = NLA_BINARY, },
	[TORCOLL_A_FABRIC_ETHERTYPE] = { .type = NLA_U32, },
	[TORCOLL_A_FABRIC_HELLO_MS] = NLA_POLICY_RANGE(NLA_U32, 10, 10000),
	[TORCOLL_A_FABRIC_CHECKSUM] = NLA_POLICY_MAX(NLA_U32, 1),
	[TORCOLL_A_FABRIC_FRAME_SIZE] = NLA_POLICY_MIN(NLA_U32, 384),
	[TORCOLL_A_FABRIC_KINDS] = { .type = NLA_BINARY, },
};

/* TORCOLL_CMD_FABRIC_DEL - do */
const struct nla_policy torcoll_fabric_del_nl_policy[TORCOLL_A_FABRIC_FORCE + 1] = {
	[TORCOLL_A_FABRIC_KEY] = { .type = NLA_U64, },
	[TORCOLL_A_FABRIC_FORCE] = { .type = NLA_FLAG, },
};

/* TORCOLL_CMD_FABRIC_GET - do */
const struct nla_policy torcoll_fabric_get_nl_policy[TORCOLL_A_FABRIC_KEY + 1] = {
	[TORCOLL_A_FABRIC_KEY] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_PORT_NEW - do */
const struct nla_policy torcoll_port_new_nl_policy[TORCOLL_A_PORT_CABLE + 1] = {
	[TORCOLL_A_PORT_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_PORT_DIM] = NLA_POLICY_MAX(NLA_U32, 5),
	[TORCOLL_A_PORT_DIR] = NLA_POLICY_MAX(NLA_U32, 13),
	[TORCOLL_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[TORCOLL_A_PORT_CABLE] = NLA_POLICY_MAX(NLA_U32, 3),
};

/* TORCOLL_CMD_PORT_DEL - do */
const struct nla_policy torcoll_port_del_nl_policy[TORCOLL_A_PORT_CABLE + 1] = {
	[TORCOLL_A_PORT_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_PORT_DIM] = NLA_POLICY_MAX(NLA_U32, 5),
	[TORCOLL_A_PORT_DIR] = NLA_POLICY_MAX(NLA_U32, 13),
	[TORCOLL_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[TORCOLL_A_PORT_CABLE] = NLA_POLICY_MAX(NLA_U32, 3),
};

/* TORCOLL_CMD_PORT_GET - do */
const struct nla_policy torcoll_port_get_nl_policy[TORCOLL_A_PORT_CABLE + 1] = {
	[TORCOLL_A_PORT_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_PORT_DIM] = NLA_POLICY_MAX(NLA_U32, 5),
	[TORCOLL_A_PORT_DIR] = NLA_POLICY_MAX(NLA_U32, 13),
	[TORCOLL_A_PORT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[TORCOLL_A_PORT_CABLE] = NLA_POLICY_MAX(NLA_U32, 3),
};

/* TORCOLL_CMD_NODE_GET - do */
const struct nla_policy torcoll_node_get_nl_policy[TORCOLL_A_NODE_FABRIC + 1] = {
	[TORCOLL_A_NODE_FABRIC] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_COMM_GET - do */
const struct nla_policy torcoll_comm_get_nl_policy[TORCOLL_A_COMM_TAG + 1] = {
	[TORCOLL_A_COMM_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_COMM_TAG] = { .type = NLA_U32, },
};

/* TORCOLL_CMD_OP_GET - do */
const struct nla_policy torcoll_op_get_nl_policy[TORCOLL_A_OP_SEQ + 1] = {
	[TORCOLL_A_OP_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_OP_COMM] = { .type = NLA_U32, },
	[TORCOLL_A_OP_SEQ] = { .type = NLA_U32, },
};

/* TORCOLL_CMD_STATS_GET - do */
const struct nla_policy torcoll_stats_get_nl_policy[TORCOLL_A_STATS_FABRIC + 1] = {
	[TORCOLL_A_STATS_FABRIC] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_TUNE_SET - do */
const struct nla_policy torcoll_tune_set_nl_policy[TORCOLL_A_TUNE_OP_PS + 1] = {
	[TORCOLL_A_TUNE_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_ROUND_PS] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_HOP_PS] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_MESSAGE_PS] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_LINK_FS] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_BYTE_FS] = { .type = NLA_U64, },
	[TORCOLL_A_TUNE_OP_PS] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_TUNE_GET - do */
const struct nla_policy torcoll_tune_get_nl_policy[TORCOLL_A_TUNE_FABRIC + 1] = {
	[TORCOLL_A_TUNE_FABRIC] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_OBSERVED_GET - do */
const struct nla_policy torcoll_observed_get_nl_policy[TORCOLL_A_OBSERVED_SIZE_CLASS + 1] = {
	[TORCOLL_A_OBSERVED_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_OBSERVED_COLLECTIVE] = { .type = NLA_U32, },
	[TORCOLL_A_OBSERVED_ALGORITHM] = { .type = NLA_U32, },
	[TORCOLL_A_OBSERVED_SIZE_CLASS] = NLA_POLICY_MAX(NLA_U32, 63),
};

/* TORCOLL_CMD_LIMIT_SET - do */
const struct nla_policy torcoll_limit_set_nl_policy[TORCOLL_A_LIMIT_HELLOS + 1] = {
	[TORCOLL_A_LIMIT_COMMS] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_OPS] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_PINNED] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_KERNEL] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_FABRICS] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_TABLES] = { .type = NLA_U64, },
	[TORCOLL_A_LIMIT_HELLOS] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_LIMIT_GET - do */
const struct nla_policy torcoll_limit_get_nl_policy[TORCOLL_A_LIMIT_UNLIMITED + 1] = {
	[TORCOLL_A_LIMIT_USER] = { .type = NLA_U32, },
	[TORCOLL_A_LIMIT_UNLIMITED] = { .type = NLA_U32, },
};

/* TORCOLL_CMD_NAME_SET - do */
const struct nla_policy torcoll_name_set_nl_policy[TORCOLL_A_HOST_NAME + 1] = {
	[TORCOLL_A_HOST_NAME] = { .type = NLA_NUL_STRING, .len = 64, },
};

/* TORCOLL_CMD_NAME_GET - do */
const struct nla_policy torcoll_name_get_nl_policy[TORCOLL_A_HOST_PAD + 1] = {
};

/* TORCOLL_CMD_LOG_GET - do */
const struct nla_policy torcoll_log_get_nl_policy[TORCOLL_A_LOG_SEQ + 1] = {
	[TORCOLL_A_LOG_FABRIC] = { .type = NLA_U64, },
	[TORCOLL_A_LOG_SEQ] = { .type = NLA_U64, },
};

/* TORCOLL_CMD_SURVEY - do */
const struct nla_policy torcoll_survey_nl_policy[TORCOLL_A_SURVEY_TEST + 1] = {
	[TORCOLL_A_SURVEY_ID] = { .type = NLA_U64, },
	[TORCOLL_A_SURVEY_ROUND] = { .type = NLA_U32, },
	[TORCOLL_A_SURVEY_TEST] = { .type = NLA_FLAG, },
};

/* Ops table for torcoll */
const struct genl_ops torcoll_nl_ops[19] = {
	{
		.cmd		= TORCOLL_CMD_FABRIC_NEW,
		.doit		= torcoll_nl_fabric_new_doit,
		.policy		= torcoll_fabric_new_nl_policy,
		.maxattr	= TORCOLL_A_FABRIC_KINDS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_FABRIC_DEL,
		.doit		= torcoll_nl_fabric_del_doit,
		.policy		= torcoll_fabric_del_nl_policy,
		.maxattr	= TORCOLL_A_FABRIC_FORCE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_FABRIC_GET,
		.doit		= torcoll_nl_fabric_get_doit,
		.dumpit		= torcoll_nl_fabric_get_dumpit,
		.policy		= torcoll_fabric_get_nl_policy,
		.maxattr	= TORCOLL_A_FABRIC_KEY,
	},
	{
		.cmd		= TORCOLL_CMD_PORT_NEW,
		.doit		= torcoll_nl_port_new_doit,
		.policy		= torcoll_port_new_nl_policy,
		.maxattr	= TORCOLL_A_PORT_CABLE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_PORT_DEL,
		.doit		= torcoll_nl_port_del_doit,
		.policy		= torcoll_port_del_nl_policy,
		.maxattr	= TORCOLL_A_PORT_CABLE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_PORT_GET,
		.doit		= torcoll_nl_port_get_doit,
		.dumpit		= torcoll_nl_port_get_dumpit,
		.policy		= torcoll_port_get_nl_policy,
		.maxattr	= TORCOLL_A_PORT_CABLE,
	},
	{
		.cmd		= TORCOLL_CMD_NODE_GET,
		.doit		= torcoll_nl_node_get_doit,
		.dumpit		= torcoll_nl_node_get_dumpit,
		.policy		= torcoll_node_get_nl_policy,
		.maxattr	= TORCOLL_A_NODE_FABRIC,
	},
	{
		.cmd		= TORCOLL_CMD_COMM_GET,
		.doit		= torcoll_nl_comm_get_doit,
		.dumpit		= torcoll_nl_comm_get_dumpit,
		.policy		= torcoll_comm_get_nl_policy,
		.maxattr	= TORCOLL_A_COMM_TAG,
	},
	{
		.cmd		= TORCOLL_CMD_OP_GET,
		.doit		= torcoll_nl_op_get_doit,
		.dumpit		= torcoll_nl_op_get_dumpit,
		.policy		= torcoll_op_get_nl_policy,
		.maxattr	= TORCOLL_A_OP_SEQ,
	},
	{
		.cmd		= TORCOLL_CMD_STATS_GET,
		.doit		= torcoll_nl_stats_get_doit,
		.dumpit		= torcoll_nl_stats_get_dumpit,
		.policy		= torcoll_stats_get_nl_policy,
		.maxattr	= TORCOLL_A_STATS_FABRIC,
	},
	{
		.cmd		= TORCOLL_CMD_TUNE_SET,
		.doit		= torcoll_nl_tune_set_doit,
		.policy		= torcoll_tune_set_nl_policy,
		.maxattr	= TORCOLL_A_TUNE_OP_PS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_TUNE_GET,
		.doit		= torcoll_nl_tune_get_doit,
		.dumpit		= torcoll_nl_tune_get_dumpit,
		.policy		= torcoll_tune_get_nl_policy,
		.maxattr	= TORCOLL_A_TUNE_FABRIC,
	},
	{
		.cmd		= TORCOLL_CMD_OBSERVED_GET,
		.doit		= torcoll_nl_observed_get_doit,
		.dumpit		= torcoll_nl_observed_get_dumpit,
		.policy		= torcoll_observed_get_nl_policy,
		.maxattr	= TORCOLL_A_OBSERVED_SIZE_CLASS,
	},
	{
		.cmd		= TORCOLL_CMD_LIMIT_SET,
		.doit		= torcoll_nl_limit_set_doit,
		.policy		= torcoll_limit_set_nl_policy,
		.maxattr	= TORCOLL_A_LIMIT_HELLOS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_LIMIT_GET,
		.doit		= torcoll_nl_limit_get_doit,
		.dumpit		= torcoll_nl_limit_get_dumpit,
		.policy		= torcoll_limit_get_nl_policy,
		.maxattr	= TORCOLL_A_LIMIT_UNLIMITED,
	},
	{
		.cmd		= TORCOLL_CMD_NAME_SET,
		.doit		= torcoll_nl_name_set_doit,
		.policy		= torcoll_name_set_nl_policy,
		.maxattr	= TORCOLL_A_HOST_NAME,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= TORCOLL_CMD_NAME_GET,
		.doit		= torcoll_nl_name_get_doit,
		.policy		= torcoll_name_get_nl_policy,
		.maxattr	= TORCOLL_A_HOST_PAD,
	},
	{
		.cmd		= TORCOLL_CMD_LOG_GET,
		.doit		= torcoll_nl_log_get_doit,
		.dumpit		= torcoll_nl_log_get_dumpit,
		.policy		= torcoll_log_get_nl_policy,
		.maxattr	= TORCOLL_A_LOG_SEQ,
	},
	{
		.cmd		= TORCOLL_CMD_SURVEY,
		.doit		= torcoll_nl_survey_doit,
		.policy		= torcoll_survey_nl_policy,
		.maxattr	= TORCOLL_A_SURVEY_TEST,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};
