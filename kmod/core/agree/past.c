// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls that are over, and may still come. See past.h. */
#include "core/agree/past.h"

static bool past_is_of(const struct tor_past *p, const struct tor_hdr *h,
		       const struct tor_comm_msg *msg)
{
	return p->nonce == msg->nonce && p->name == msg->name && p->rank == msg->rank &&
	       p->src == h->src;
}

void tor_past_note(struct tor_node *node, u64 until, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg)
{
	struct tor_past *p;

	for (p = node->past; p < node->past + TOR_PAST_CALLS; p++)
		if (past_is_of(p, h, msg))
			break;
	if (p == node->past + TOR_PAST_CALLS)
		p = &node->past[node->pasts++ % TOR_PAST_CALLS];
	*p = (struct tor_past){
		.until = until,
		.name = msg->name,
		.nonce = msg->nonce,
		.src = h->src,
		.rank = msg->rank,
	};
}

bool tor_past_has(const struct tor_node *node, u64 now, const struct tor_hdr *h,
		  const struct tor_comm_msg *msg)
{
	const struct tor_past *p;

	for (p = node->past; p < node->past + TOR_PAST_CALLS; p++)
		if (now < p->until && past_is_of(p, h, msg))
			return true;
	return false;
}
