// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Parts of vectors. See parts.h.
 */
#include "core/engine/parts.h"

#include "core/plan/family.h"

static struct tor_part own_block(const struct tor_op *op)
{
	const struct tor_call *call = &op->plan.call;
	u32 rank = op->plan.rank;
	struct tor_span own = tor_plan_block(call->count, call->counts, call->starts, call->ranks,
					     rank);

	return (struct tor_part){ .off = own.off * op->elem, .len = own.n * op->elem };
}

void tor_parts_find(const struct tor_op *op, struct tor_part *send, struct tor_part *recv)
{
	const struct tor_call *call = &op->plan.call;
	struct tor_part whole = { .len = call->count * op->elem };
	bool at_root = op->plan.rank == call->root;

	*send = whole;
	*recv = whole;
	switch (call->collective) {
	case TORCOLL_REDUCE_SCATTER:
		*recv = own_block(op);
		break;
	case TORCOLL_ALLGATHER:
		*send = own_block(op);
		break;
	case TORCOLL_BROADCAST:
		if (!at_root)
			send->len = 0;
		break;
	case TORCOLL_REDUCE:
		if (!at_root)
			recv->len = 0;
		break;
	case TORCOLL_GATHER:
		*send = own_block(op);
		if (!at_root)
			recv->len = 0;
		break;
	case TORCOLL_SCATTER:
		*recv = own_block(op);
		if (!at_root)
			send->len = 0;
		break;
	case TORCOLL_EXSCAN:
		/* no rank is before the first: its result is nothing */
		if (!op->plan.rank)
			recv->len = 0;
		break;
	}
	if (op->role == TOR_ROLE_SEND)
		recv->len = 0;
	else if (op->role)
		send->len = 0;
	/* the vector of a barrier belongs to no caller */
	if (op->call.collective == TORCOLL_BARRIER) {
		send->len = 0;
		recv->len = 0;
	}
}

u64 tor_parts_input(const struct tor_op *op)
{
	const struct tor_call *call = &op->plan.call;
	u64 sum = 0;
	u32 i;

	if (!call->from_counts)
		return call->count * op->elem;
	for (i = 0; i < call->ranks; i++)
		sum += call->counts[i];
	return sum * op->elem;
}

bool tor_parts_in_place(u64 send_addr, const struct tor_part *send, u64 recv_addr,
			const struct tor_part *recv)
{
	return send->len && recv->len && send_addr - send->off == recv_addr - recv->off;
}

bool tor_parts_overlap(u64 a, u64 alen, u64 b, u64 blen)
{
	return alen && blen && a < b + blen && b < a + alen;
}
