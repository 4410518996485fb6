/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink: configuration and views. The family is described by uapi/torcoll.yaml.
 */
#ifndef _TOR_NETLINK_H
#define _TOR_NETLINK_H

#include "fabric.h"

/* Tell listeners of a change. Context: RTNL. */
void tor_netlink_notify_fabric(const struct tor_fabric *fabric, bool added);
void tor_netlink_notify_port(const struct tor_fabric *fabric, u32 port);

#endif
