/* SPDX-License-Identifier: GPL-2.0 */
/* The nodes of ranks, as TORCOLL_MEMBERS lists them. */
#ifndef _JOB_MEMBERS_H
#define _JOB_MEMBERS_H

#include <stdint.h>

/**
 * members_text - list the node of each rank
 * @node: of each
 * @ranks: number
 *
 * "0,0,1,1" as long as a variable has room for that; else "0-1*2", which
 * programs of a former library do not understand, where nodes have several ranks.
 *
 * Return: to be freed; NULL with errno: ENOMEM, or E2BIG as no variable is so long.
 */
char *members_text(const uint32_t *node, uint32_t ranks);

#endif
