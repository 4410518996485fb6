/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of links: the last changes of the states of a fabric's links, with
 * their times, for those who come after the fact; and lines about them in the
 * kernel's log.
 *
 * The kernel's log belongs to the machine: only fabrics of network namespaces
 * that belong to the initial user namespace write there, only what concerns
 * links in use or needs a remedy, and only LINKLOG_LINES lines per
 * LINKLOG_PAUSE. Further lines wait; if even more are due then, the oldest are
 * left out and their number is printed.
 */
#ifndef _TOR_LINKLOG_H
#define _TOR_LINKLOG_H

#include <linux/if.h>
#include <linux/workqueue.h>

#include "core/env.h"

struct tor_fabric;

#define TOR_LINKLOG		256	/* changes that are kept */
#define TOR_LINKLOG_REASON	96

/**
 * struct tor_change - a change of a link's state
 * @when: CLOCK_BOOTTIME, ns: the time of suspends counts, that of clocks being
 *	set does not
 * @heard_node: node whose hellos arrived, ~0: none
 * @heard_dim, @heard_dir: port that sent them, as tor_port_dir() names it
 * @dim, @dir: of this node's link, likewise; its cable is that of @dev
 * @from, @to: enum tor_cable_state
 * @dev: name that the device had then
 * @reason: why the link is not up, or empty
 */
struct tor_change {
	u64 when;
	u32 heard_node;
	u8 heard_dim;
	u8 heard_dir;
	u8 dim;
	u8 dir;
	u8 from;
	u8 to;
	char dev[IFNAMSIZ];
	char reason[TOR_LINKLOG_REASON];
};

struct tor_linklog;

/* Memory of the log of a fabric, bytes. */
size_t tor_linklog_memory(void);

/* Context: process, may sleep. Return: NULL: no memory. */
struct tor_linklog *tor_linklog_alloc(struct tor_fabric *fabric);

/* End what it does by itself. No link changes any more. Context: process. */
void tor_linklog_stop(struct tor_linklog *log);
void tor_linklog_free(struct tor_linklog *log);

/* A cable of the fabric has changed. Context: fabric->lock, RCU. */
void tor_linklog_add(struct tor_fabric *fabric, u32 cable);

/*
 * Numbers of the changes that are kept: from *@first, and below the returned
 * one, which is the number of all changes so far. Context: any.
 */
u64 tor_linklog_range(struct tor_fabric *fabric, u64 *first);

/* Copy a change. False: it is not kept, or has not occurred. Context: any. */
bool tor_linklog_get(struct tor_fabric *fabric, u64 seq, struct tor_change *change);

#endif
