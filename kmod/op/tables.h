/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables by which auto chooses the plans of a comm's ops (core/choose.h): made when a collective is first
 * called, and paid for by the comm's user.
 */
#ifndef _TOR_TABLES_H
#define _TOR_TABLES_H

#include "op/group.h"

/**
 * tor_tables_init - what a comm's tables are to be made of
 * @group: its members are known
 * @rates: of the fabric when the comm began; they stay
 * @why: out: static reason of a refusal
 *
 * Context: may sleep; once per group.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int tor_tables_init(struct tor_group *group, const struct tor_rates *rates, const char **why);
void tor_tables_free(struct tor_group *group);

/**
 * tor_tables_make - make those of a collective, unless they are there
 * @group: comm
 * @collective: enum torcoll_collective
 * @why: out: static reason of a refusal
 *
 * Context: may sleep; submit mutex of the group's collectives held, or, of nodes with several ranks, team->lock.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int tor_tables_make(struct tor_group *group, u32 collective, const char **why);

/* Bytes. Context: any. */
u64 tor_tables_memory(const struct tor_group *group);

#endif
