/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtual torus: network namespaces <prefix>-<node>, of which /run/netns is the only record.
 */
#ifndef _NETNS_H
#define _NETNS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl.h"

#define NETNS_NAME_MAX	64

/* The prefix where none is given: $TORCOLL_PREFIX or "tor". */
const char *netns_prefix(void);

/* Is it fit to be part of a file's name? Return: 0, or CTL_USAGE after saying why not. */
int netns_check_prefix(const char *prefix);

/* "<prefix>-<node>", or @node itself if it is no number; static buffers. */
const char *netns_name(const char *prefix, uint32_t node);

/**
 * netns_list - the nodes that exist
 * @prefix: of their names
 * @node: out: their numbers, ascending; to be freed
 *
 * Return: how many.
 */
uint32_t netns_list(const char *prefix, uint32_t **node);

/* An open namespace, or -1 with errno. */
int netns_open(const char *name);

/* Make this thread a member. Return: 0 or -1 with errno. */
int netns_enter(int fd);

/* Create one, and enter it. Return: 0 or a negative errno. */
int netns_create(const char *name);

void netns_remove(const char *name);

/* /run/netns as iproute2 makes it. Return: 0 or a negative errno. */
int netns_prepare(void);

struct wire_end {
	int netns;
	const char *name;
};

/**
 * wire_veth - a cable between two namespaces
 * @c: rtnetlink
 * @a: an end, which is up
 * @b: an end, which is not
 * @mtu: of both
 *
 * Return: 0 or a negative errno with conn->text.
 */

int wire_veth(struct conn *c, const struct wire_end *a, const struct wire_end *b, uint32_t mtu);

/* Switch a device of the present namespace on. Return: 0 or a negative errno. */
int wire_up(const char *name);

int netns_up(struct args *a);
int netns_run(struct args *a);

#endif
