// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls that come before rank 0's own. See early.h. */
#include "core/agree/early.h"

static bool early_is_of(const struct tor_early *e, const struct tor_hdr *h,
			const struct tor_comm_msg *msg)
{
	return e->until && e->msg.name == msg->name && e->msg.rank == msg->rank &&
	       e->src == h->src;
}

/* The place of that member's call; else a free one, or one in turn. */
static struct tor_early *early_place(struct tor_node *node, u64 now, const struct tor_hdr *h,
				     const struct tor_comm_msg *msg)
{
	struct tor_early *e, *unused = NULL;

	for (e = node->early; e < node->early + TOR_EARLY_CALLS; e++) {
		if (early_is_of(e, h, msg))
			return e;
		if (now >= e->until)
			unused = e;
	}
	return unused ?: &node->early[node->earlies++ % TOR_EARLY_CALLS];
}

void tor_early_keep(struct tor_node *node, u64 now, u64 until, const struct tor_hdr *h,
		    const struct tor_comm_msg *msg)
{
	struct tor_early *e = early_place(node, now, h, msg);

	*e = (struct tor_early){
		.until = until,
		.src = h->src,
		.src_epoch = h->src_epoch,
		.msg = *msg,
	};
	/* a call has none, and the payload is gone soon */
	e->msg.epochs = 0;
	e->msg.epoch = NULL;
}

void tor_early_forget(struct tor_node *node, const struct tor_hdr *h,
		      const struct tor_comm_msg *msg)
{
	struct tor_early *e;

	for (e = node->early; e < node->early + TOR_EARLY_CALLS; e++)
		if (early_is_of(e, h, msg) && e->msg.nonce == msg->nonce)
			e->until = 0;
}

bool tor_early_take(struct tor_node *node, u64 now, u64 name, u32 *i, struct tor_hdr *h,
		    struct tor_comm_msg *msg)
{
	struct tor_early *e;

	while (*i < TOR_EARLY_CALLS) {
		e = &node->early[(*i)++];
		if (now >= e->until || e->msg.name != name)
			continue;
		*h = (struct tor_hdr){ .src = e->src, .src_epoch = e->src_epoch };
		*msg = e->msg;
		e->until = 0;
		return true;
	}
	return false;
}
