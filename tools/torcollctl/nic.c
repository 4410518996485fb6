// SPDX-License-Identifier: GPL-2.0
/* Network devices. See nic.h. */
#include "nic.h"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- error counters --- */

#define ERROR(_name, _bad)	{ #_name, offsetof(struct rtnl_link_stats64, _name), _bad }

static const struct {
	const char *name;
	size_t at;
	bool bad;
} errors[] = {
	ERROR(rx_errors, true), ERROR(tx_errors, true), ERROR(rx_dropped, false),
	ERROR(tx_dropped, false), ERROR(rx_crc_errors, true), ERROR(rx_frame_errors, true),
	ERROR(rx_length_errors, true), ERROR(rx_fifo_errors, false), ERROR(rx_missed_errors, false),
	ERROR(rx_over_errors, false), ERROR(tx_carrier_errors, true), ERROR(tx_fifo_errors, false),
	ERROR(tx_aborted_errors, true), ERROR(collisions, true),
};

static uint64_t error_of(const struct rtnl_link_stats64 *stats, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + errors[i].at, sizeof(value));
	return value;
}

static void on_link(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *attr = nlmsg_find_attr(nlh, sizeof(struct ifinfomsg), IFLA_STATS64);

	if (attr)
		nla_memcpy(arg, attr, sizeof(struct rtnl_link_stats64));
}

int nic_stats(struct conn *route, uint32_t ifindex, struct rtnl_link_stats64 *stats)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, 0);

	memset(stats, 0, sizeof(*stats));
	if (msg && nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return conn_call(route, msg, on_link, stats);
}

struct json_object *nic_errors(const struct rtnl_link_stats64 *before,
				  const struct rtnl_link_stats64 *after)
{
	struct json_object *counts = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (error_of(after, i) > error_of(before, i))
			json_object_object_add(counts, errors[i].name,
					       json_object_new_uint64(error_of(after, i) -
								      error_of(before, i)));
	return counts;
}

bool nic_error_is_bad(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].bad;
	return true;
}

/* --- speed --- */

static int ethtool(int fd, const char *name, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	return ioctl(fd, SIOCETHTOOL, &ifr);
}

/* Return whether the device has no speed, but says that it has. */
static bool speed_is_fiction(int fd, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	return !ethtool(fd, name, &info) &&
	       (!strcmp(info.driver, "veth") || !strcmp(info.driver, "tun"));
}

/* Return Mbit/s, or 0. */
static uint32_t read_speed(int fd, const char *name)
{
	struct ethtool_link_settings probe = { .cmd = ETHTOOL_GLINKSETTINGS }, *settings;
	uint32_t speed = 0;

	/* the first call returns, negated, how many words the masks have */
	if (ethtool(fd, name, &probe) || probe.link_mode_masks_nwords >= 0)
		return 0;
	probe.link_mode_masks_nwords = -probe.link_mode_masks_nwords;
	settings = calloc(1, sizeof(*settings) + 3 * sizeof(uint32_t) * probe.link_mode_masks_nwords);
	if (!settings)
		return 0;
	settings->cmd = ETHTOOL_GLINKSETTINGS;
	settings->link_mode_masks_nwords = probe.link_mode_masks_nwords;
	if (!ethtool(fd, name, settings) && settings->speed != (uint32_t)SPEED_UNKNOWN)
		speed = settings->speed;
	free(settings);
	return speed;
}

uint64_t nic_speed(const char *name)
{
	/* of any family: the request is about the device */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t mbps = 0;

	if (fd < 0)
		return 0;
	if (!speed_is_fiction(fd, name))
		mbps = read_speed(fd, name);
	close(fd);
	return mbps * 1000000;
}
