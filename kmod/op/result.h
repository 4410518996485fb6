/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results of ops: they stay until they are asked for, even if the comm has
 * failed.
 */
#ifndef _TOR_RESULT_H
#define _TOR_RESULT_H

#include "op/group.h"

struct torcoll_wait;

/*
 * Wait for and take an op, or any. Return 0 with ->status, or a negative errno.
 */
int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait);

/*
 * The same for an op whose submission waits for it: the caller is counted as a
 * waiter, and no longer is afterwards.
 */
int tor_op_wait_counted(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait);

/*
 * Set the sentence for the error of a failed comm. Return the error. Context:
 * process.
 */
int tor_group_explain(struct tor_session *session, struct tor_group *group);

#endif
