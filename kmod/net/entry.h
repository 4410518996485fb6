/* SPDX-License-Identifier: GPL-2.0 */
/* Entries into core. */
#ifndef _TOR_ENTRY_H
#define _TOR_ENTRY_H

#include "net/fabric.h"

struct tor_port;
struct tor_slot;

/**
 * struct tor_entry - one entry into core, and its results
 * @ctx: for core
 * @late: softirqs have had the processor for long: work is left to a process
 *	where possible
 * @works: the caller calls tor_chan_work() itself
 * @port: on which the current frame came in, or NULL
 * @direct: the node at the other end of the cable made that frame: if its
 *	payload is damaged, this cable did it
 * @drop: why that frame, or a part of it, was discarded; for the kernel's tools
 *	only
 * @frames: to be sent when all locks are released
 * @retired: op slots that core no longer uses, linked by ->next_retired
 *
 * Begin, take a lock, call core, release it, any number of times; end. All of
 * it inside one rcu_read_lock() section with bottom halves off.
 */
struct tor_entry {
	struct tor_ctx ctx;
	bool late;
	bool works;
	struct tor_port *port;
	bool direct;
	enum skb_drop_reason drop;
	struct sk_buff_head frames;
	struct tor_slot *retired;
};

void tor_entry_begin(struct tor_entry *entry);
void tor_entry_end(struct tor_entry *entry);

/*
 * Count and trace a discarded frame that came in by @port. The caller keeps the
 * skb and frees it with the returned reason.
 */
enum skb_drop_reason tor_port_drop(struct tor_port *port, enum tor_counter why);

/*
 * The same for the current frame of an entry, or a part of it, which came in by
 * entry->port. The caller of the entry frees its skb.
 */
void tor_entry_drop(struct tor_entry *entry, enum tor_counter why);

#endif
