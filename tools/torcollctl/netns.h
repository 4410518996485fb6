/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtual torus: network namespaces <prefix>-<node>; /run/netns is the only
 * record of them.
 */
#ifndef _NETNS_H
#define _NETNS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl.h"
#include "netns_list.h"

#define NETNS_NAME_MAX	64

/* Return the default prefix: $TORCOLL_PREFIX or "tor". */
const char *netns_prefix(void);

/*
 * Check that the prefix can be part of a file name. Return 0, or CTL_USAGE
 * after printing the reason.
 */
int netns_check_prefix(const char *prefix);

/*
 * Return "<prefix>-<node>", or @node itself if it is no number; static buffers.
 */
const char *netns_name(const char *prefix, uint32_t node);

/* Open a namespace; return -1 with errno on failure. */
int netns_open(const char *name);

/* Move this thread into a namespace. Return 0 or -1 with errno. */
int netns_enter(int fd);

/* Open the namespace that this process is in, to enter it again; -1: it could not. */
int netns_home(void);

/* Create a namespace and enter it. Return 0 or a negative errno. */
int netns_create(const char *name);

/* Return an exit code, after printing the reason. */
int netns_remove(const char *name);

/* Prepare /run/netns as iproute2 does. Return 0 or a negative errno. */
int netns_prepare(void);

struct wire_end {
	int netns;
	const char *name;
};

/**
 * wire_veth - make a cable between two namespaces
 * @c: rtnetlink
 * @a: an end, which is up
 * @b: an end, which is not
 * @mtu: of both
 *
 * Return: 0 or a negative errno with conn->text.
 */

int wire_veth(struct conn *c, const struct wire_end *a, const struct wire_end *b, uint32_t mtu);

/* Set a device of the present namespace up. Return 0 or a negative errno. */
int wire_up(const char *name);

int netns_up(struct args *a);
int netns_run(struct args *a);

#endif
