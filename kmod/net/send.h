/* SPDX-License-Identifier: GPL-2.0 */
/* Sending: core's tor_env_send(), and the end of an entry. See send.c. */
#ifndef _TOR_SEND_H
#define _TOR_SEND_H

#include <linux/if_ether.h>

#include "net/entry.h"

/* The multicast address of hellos. */
extern const u8 tor_hello_group[ETH_ALEN];

/*
 * Pass the frames of an entry to their devices. Channels whose queue refuses one
 * are told, which may add frames. Context: BH, RCU, no lock held.
 */
void tor_send_queued(struct tor_entry *entry);

#endif
