// SPDX-License-Identifier: GPL-2.0
/* The network device of a fabric as it is, and as it is to be. Pure. */
#include <string.h>

#include "ipdev.h"

const char *const ip_words[IP_FAMILIES] = { "prefix", "prefix6" };

bool ipdev_differs(const struct ipdev *dev, const struct conf_ip *want)
{
	size_t i;

	if (!want->on)
		return false;
	if (!dev->ifindex || !dev->up || (*want->name && strcmp(want->name, dev->name)))
		return true;
	for (i = 0; i < IP_FAMILIES; i++)
		if (!prefix_equal(&dev->prefix[i], &want->prefix[i]) ||
		    (want->prefix[i].len && !dev->has[i]))
			return true;
	return false;
}
