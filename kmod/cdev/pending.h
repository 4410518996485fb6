/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pending calls: calls to create or to shrink a comm that a signal interrupted,
 * and those to shrink whose deadline passed when this rank had accepted the
 * heir. As after connect(2), what they began goes on: no other rank notices, and
 * the next call with the same values, or to shrink the same comm, waits for it.
 *
 * A comm that is shrunk has its handle as long as such a call is pending: that
 * is given up before the comm is closed.
 *
 * The groups are in session->pending, with their handles reserved, under
 * session->lock.
 */
#ifndef _TOR_PENDING_H
#define _TOR_PENDING_H

#include "cdev/session.h"

struct torcoll_comm_add;

/* Return a number that stands for the values of a call to create a comm. Context: process. */
u64 tor_pending_join(const struct torcoll_comm_add *add, const struct tor_group_config *cfg);

/*
 * Return the group of a pending call, to create a comm with these values or to
 * shrink @from, which is no longer pending, or NULL.
 */
struct tor_group *tor_pending_take_join(struct tor_session *session, u64 call);
struct tor_group *tor_pending_take_shrink(struct tor_session *session,
					  const struct tor_group *from);

/*
 * Keep the group of a call that goes on. @call: of one to create a comm. @cfg: its
 * name and rank, which may be TORCOLL_RANK_SELF. Return 0, or an error and the call is
 * given up: -ECONNABORTED if the process that owns the session has ended, -ENOENT
 * if the comm to shrink has been closed.
 */
int tor_pending_keep(struct tor_session *session, struct tor_group *group, u64 call,
		     const struct tor_group_config *cfg);

/*
 * Give up the pending calls to create a comm that a new one would meet: of its
 * fabric and name, and of the rank that it wants. Others are left alone: another
 * thread may be in such a call, which ends now and then (torcoll_comm_add.wait_ns)
 * and goes on. Context: process, may wait until other ranks are told.
 */
void tor_pending_end_joins(struct tor_session *session, const struct torcoll_comm_add *add,
			   const struct tor_group_config *cfg);

/*
 * Give up a pending call to shrink @from, which no longer has its handle, and is
 * not closed yet. Context as before.
 */
void tor_pending_end_shrink(struct tor_session *session, const struct tor_group *from);

/*
 * Give up all pending calls. Comms that were made meanwhile are left, or
 * @fail. Context as before.
 */
void tor_pending_end_all(struct tor_session *session, bool fail);

#endif
