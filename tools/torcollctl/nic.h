/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices: what they count, and how fast they are. */
#ifndef _CTL_NIC_H
#define _CTL_NIC_H

#include <linux/if_link.h>
#include <stdint.h>

#include "ctl.h"

/*
 * Read the counters of a device. Return 0 or a negative errno with
 * @route->text.
 */
int nic_stats(struct conn *route, uint32_t ifindex, struct rtnl_link_stats64 *stats);

/* Return by how much each error counter has grown: a JSON object, to be put. */
struct json_object *nic_errors(const struct rtnl_link_stats64 *before,
				  const struct rtnl_link_stats64 *after);

/*
 * Return whether an error counter of that name tells of the cable or the
 * device: not of a host that is too slow, or of frames that nobody wants.
 */
bool nic_error_is_bad(const char *name);

/*
 * Return the speed of a device's link in bit/s; 0: not known, or made up, as
 * veth does.
 */
uint64_t nic_speed(const char *name);

#endif
