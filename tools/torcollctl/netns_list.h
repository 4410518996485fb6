/* SPDX-License-Identifier: GPL-2.0 */
/* The nodes of a virtual torus; shared with torcollrun. */
#ifndef _NETNS_LIST_H
#define _NETNS_LIST_H

#include <stdint.h>

#define NETNS_DIR	"/run/netns"

/**
 * netns_list - list the existing nodes
 * @prefix: of their names
 * @node: out: their numbers, ascending; to be freed
 *
 * Return: their number.
 */
uint32_t netns_list(const char *prefix, uint32_t **node);

#endif
