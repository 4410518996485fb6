/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Past calls: those of which their members have said that they do not call any
 * more. A call was perhaps repeated just before that, and overtaken on the way:
 * on another processor's queue, or another cable. Rank 0 must not take it for a
 * call of the next join of that name, whose answer its member would not know.
 *
 * The last ones are remembered, for as long as an early call is kept. With more
 * members than that, a join can still fail for a call that comes so late.
 *
 * Serialisation: the node's lock (node.h).
 */
#ifndef _TOR_CORE_PAST_H
#define _TOR_CORE_PAST_H

#include "core/link/node.h"

/* Remember until @until, ns, that the member that has sent @msg calls no more by its nonce. */
void tor_past_note(struct tor_node *node, u64 until, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg);

/* Return whether a call is known to be over. */
bool tor_past_has(const struct tor_node *node, u64 now, const struct tor_hdr *h,
		  const struct tor_comm_msg *msg);

#endif
