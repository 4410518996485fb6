/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink: configuration and views. The family is described by
 * uapi/torcoll.yaml.
 */
#ifndef _TOR_NETLINK_H
#define _TOR_NETLINK_H

#include "net/fabric.h"

struct genl_family;
struct tor_group;

extern struct genl_family tor_netlink_family;

/* Notify listeners of a change. Context: RTNL. */
void tor_netlink_notify_fabric(struct tor_fabric *fabric, bool added);
void tor_netlink_notify_port(struct tor_fabric *fabric, u32 cable);

/* A comm was made or failed, or is @gone. Context: process. */
void tor_netlink_notify_comm(struct tor_group *group, bool gone);

/**
 * tor_netlink_survey_report - pass a report on to the socket that asked
 * @net: namespace of the socket
 * @socket: its netlink port
 * @id: of the survey
 * @records: of the report
 * @len: bytes of them
 * @self: it is this host's
 * @gfp: flags
 *
 * A socket that is full misses it, and is told so.
 *
 * Context: any that @gfp allows.
 */
void tor_netlink_survey_report(struct net *net, u32 socket, u64 id, const void *records, u32 len,
			       bool self, gfp_t gfp);

#endif
