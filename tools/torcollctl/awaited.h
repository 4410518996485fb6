/* SPDX-License-Identifier: GPL-2.0 */
/* Who is waited for, while a call of the library joins a comm of all nodes. */
#ifndef _CTL_AWAITED_H
#define _CTL_AWAITED_H

#include <stdbool.h>
#include <stdint.h>

struct tor_torus;
struct awaited;

/**
 * awaited_begin - say from now on who is waited for, on stderr
 * @key: of the fabric
 * @torus: its shape
 * @name: of the comm that is being joined, whose rank is the node
 *
 * A line that changes on a terminal, otherwise a line for each node.
 *
 * Return: to be ended; NULL: nothing will be said, for lack of a thread.
 */
struct awaited *awaited_begin(uint64_t key, const struct tor_torus *torus, const char *name);

/* The call is over. @a may be NULL. */
void awaited_end(struct awaited *a);

#endif
