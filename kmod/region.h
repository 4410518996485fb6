/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions: memory that a session has by handles, pinned from the process.
 */
#ifndef _TOR_REGION_H
#define _TOR_REGION_H

#include <linux/types.h>

struct tor_session;
struct torcoll_region_add;

/* The calls, see linux/torcoll.h. Context: process. Return: 0 or a negative errno, with a sentence. */
int tor_region_add(struct tor_session *session, struct torcoll_region_add *add);
int tor_region_del(struct tor_session *session, u32 handle);

#endif
