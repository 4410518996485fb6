/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages that stay on a node: to oneself, or between two ranks of a team. The
 * ends are slots of two groups, or of one, and find each other here. The second
 * caller copies the bytes in its own time, with both channels locked: the
 * sender's first.
 */
#ifndef _TOR_MEET_H
#define _TOR_MEET_H

#include "op/series.h"

/*
 * An end of such a message has started in @slot: copy it if the other end is
 * there; fail if the other rank has left. Context: process.
 */
void tor_meet(struct tor_slot *slot);

/*
 * The rank of @left is leaving: end the ops of other local ranks that wait for
 * it.
 * Context: process, team->lock.
 */
void tor_meet_left(struct tor_team *team, struct tor_group *left);

#endif
