/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes of a fabric: the routing table, built again when link states change,
 * and the consequences for comms.
 */
#ifndef _TOR_REROUTE_H
#define _TOR_REROUTE_H

#include "net/fabric.h"

/* Context: process. Return: 0 or -ENOMEM. */
int tor_reroute_init(struct tor_fabric *fabric);

/*
 * Stop all updates: no port and no timer is left. Context: process, without
 * RTNL.
 */
void tor_reroute_stop(struct tor_fabric *fabric);

/* Free the tables: no reader is left. Context: any. */
void tor_reroute_free(struct tor_fabric *fabric);

/*
 * A frame of @len bytes did not fit @port: count the link as down. Context:
 * any, any lock held.
 */
void tor_reroute_too_small(struct tor_fabric *fabric, u32 port, u32 len);

/*
 * Return whether a frame without another way may go back to the neighbour that
 * it came from: see core/link/route.h. Context: any.
 */
bool tor_reroute_may_turn(const struct tor_fabric *fabric);

/* A comm was installed, or joined: check its routes soon. Context: any. */
void tor_reroute_check(struct tor_fabric *fabric);

#endif
