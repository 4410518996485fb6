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
void tor_netlink_notify_port(struct tor_fabric *fabric, u32 port);

/* A comm was made or failed, or is @gone. Context: process. */
void tor_netlink_notify_comm(struct tor_group *group, bool gone);

#endif
