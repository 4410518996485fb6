/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Early calls: those of members that call before rank 0 does. Its node keeps
 * them for a while, so that the comm does not have to wait until they are
 * repeated. Each member repeats its call until it is answered: what does not
 * fit here is only later.
 *
 * Serialisation: the node's lock (node.h).
 */
#ifndef _TOR_CORE_EARLY_H
#define _TOR_CORE_EARLY_H

#include "core/link/node.h"

/**
 * tor_early_keep - keep a call that no join of this node is for
 * @node: this node
 * @now: monotonic time, ns
 * @until: when to forget it, ns
 * @h: header
 * @msg: its step is JOIN; replaces an earlier one of that member
 */
void tor_early_keep(struct tor_node *node, u64 now, u64 until, const struct tor_hdr *h,
		    const struct tor_comm_msg *msg);

/* Forget the call of a member that gives up. */
void tor_early_forget(struct tor_node *node, const struct tor_hdr *h,
		      const struct tor_comm_msg *msg);

/**
 * tor_early_take - take out a call that was kept
 * @node: this node
 * @now: monotonic time, ns
 * @name: hash of the comm's name
 * @i: where to look; in and out, begins at 0
 * @h: filled in: who called
 * @msg: filled in
 *
 * Return: false if there are no more of that name.
 */
bool tor_early_take(struct tor_node *node, u64 now, u64 name, u32 *i, struct tor_hdr *h,
		    struct tor_comm_msg *msg);

#endif
