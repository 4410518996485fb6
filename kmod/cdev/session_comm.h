/* SPDX-License-Identifier: GPL-2.0 */
/* Comms with a handle in a session: join, shrink and leave. */
#ifndef _TOR_SESSION_COMM_H
#define _TOR_SESSION_COMM_H

#include <linux/types.h>

struct tor_group;
struct tor_session;
struct torcoll_comm_add;
struct torcoll_comm_info;
struct torcoll_comm_shrink;

/*
 * Find a comm by handle, referenced together with its fabric, or return an
 * ERR_PTR with a sentence.
 */
struct tor_group *tor_session_group(struct tor_session *session, u32 handle);
void tor_session_group_put(struct tor_group *group);

/*
 * The calls, see linux/torcoll.h. Context: process. Return 0 or a negative
 * errno, with a sentence.
 */
int tor_session_comm_add(struct tor_session *session, struct torcoll_comm_add *add);
int tor_session_comm_shrink(struct tor_session *session, struct torcoll_comm_shrink *shrink);
int tor_session_comm_del(struct tor_session *session, u32 handle);
int tor_session_comm_info(struct tor_session *session, struct torcoll_comm_info *info);

#endif
