/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results of ops: they stay until somebody asks for them, be it that the comm has failed.
 */
#ifndef _TOR_RESULT_H
#define _TOR_RESULT_H

#include "op/group.h"

struct torcoll_wait;

/* Wait for and reap an op, or any. Return: 0 with ->status, or a negative errno. */
int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait);

/* The same, of an op whose submission waits for it: the caller is counted, and waits no longer after this. */
int tor_op_wait_counted(struct tor_session *session, struct tor_group *group,
			struct torcoll_wait *wait);

/* A sentence about what the comm, which has failed, has failed with. Context: process. Return: that. */
int tor_group_explain(struct tor_session *session, struct tor_group *group);

#endif
