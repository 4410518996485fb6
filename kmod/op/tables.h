/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables by which AUTO chooses the plans of a comm's ops: see
 * core/choose/choose.h. They are made when a collective is first called, and
 * charged to the comm's user. That takes milliseconds, as all plans are walked,
 * and seconds where few nodes are alike, unless the process is killed; so a comm
 * copies them from another one of the fabric with the same ranks, if there is
 * one.
 *
 * Locking: the list of groups that have some, and which of a group others may
 * copy, are covered by fabric->tables_lock, a mutex that is taken last. Making
 * them, which takes long, holds no lock that other groups need.
 */
#ifndef _TOR_TABLES_H
#define _TOR_TABLES_H

#include "op/group.h"

/**
 * tor_tables_alloc - allocate what makes a comm's tables
 * @group: comm
 * @why: out: static reason of a refusal
 *
 * Before ranks agree: whoever cannot have it afterwards is missing in a comm that
 * all others have.
 *
 * Context: may sleep; once per group.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int tor_tables_alloc(struct tor_group *group, const char **why);

/**
 * tor_tables_init - set the input of a comm's tables
 * @group: its members are known
 * @rates: of the fabric when the comm began; they stay
 *
 * Context: any; once per group.
 */
void tor_tables_init(struct tor_group *group, const struct tor_rates *rates);
void tor_tables_free(struct tor_group *group);

/**
 * tor_tables_make - make the tables of a collective unless they exist
 * @group: comm
 * @collective: enum torcoll_collective
 * @why: out: static reason of a refusal
 *
 * Context: may sleep; submit mutex of the group's collectives held, or, of
 * nodes with several ranks, team->tables.
 * Return: 0, -ENOMEM, -EINTR if the process is killed, or -EDQUOT.
 */
int tor_tables_make(struct tor_group *group, u32 collective, const char **why);

/*
 * Return whether the tables of a collective are made and stay, or it needs none.
 * Context: any, also while others are being made.
 */
bool tor_tables_are_made(const struct tor_group *group, u32 collective);

#endif
