// SPDX-License-Identifier: GPL-2.0
/* The lookup of a route takes the type of service as a type of its own. */
#include <net/ip.h>

static dscp_t __maybe_unused has(const struct iphdr *ip)
{
	return ip4h_dscp(ip);
}
