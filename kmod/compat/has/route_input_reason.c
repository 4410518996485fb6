// SPDX-License-Identifier: GPL-2.0
/*
 * The lookup of a route says why it fails. The same release gave the type of
 * service, which it takes, a type of its own; only sparse can see that.
 */
#include <net/route.h>

static_assert(!__same_type(ip_route_input_noref(NULL, 0, 0, 0, NULL), int));
