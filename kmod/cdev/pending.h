/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pending calls: calls to create a comm that a signal interrupted. As after
 * connect(2), the join goes on: no other rank notices, and the next call with
 * the same values waits for what the first one began.
 *
 * The groups are in session->pending, with their handles reserved, under
 * session->lock.
 */
#ifndef _TOR_PENDING_H
#define _TOR_PENDING_H

#include "cdev/session.h"

struct torcoll_comm_add;

/* Return a number that stands for the values of a call. Context: process. */
u64 tor_pending_call(const struct torcoll_comm_add *add, const struct tor_group_config *cfg);

/* Return the group of a pending call, which is no longer pending, or NULL. */
struct tor_group *tor_pending_take(struct tor_session *session, u64 call);

/*
 * Keep the group of an interrupted call for @rank, which may be
 * TORCOLL_RANK_SELF. Return -EINTR; -ECONNABORTED if the process that owns the
 * session has ended: the join is given up.
 */
int tor_pending_keep(struct tor_session *session, struct tor_group *group, u64 call, u32 rank);

/*
 * Give up the pending calls that a new one would meet: of its fabric and name,
 * unless both name their ranks, which differ. Context: process, may wait until
 * other ranks are told.
 */
void tor_pending_end(struct tor_session *session, const struct torcoll_comm_add *add,
		     const char *name);

/*
 * Give up all pending calls. Comms that were joined meanwhile are left, or
 * @fail. Context as before.
 */
void tor_pending_end_all(struct tor_session *session, bool fail);

#endif
