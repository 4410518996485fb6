// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A message from one rank to another: one transfer of the whole vector, over as
 * many hops as that takes. See tor_plan_message().
 */
#include "core/plan/family.h"

static u32 message_rounds(const struct tor_plan *p, u32 channel)
{
	return 1;
}

/* Between ranks of the same node, or from a rank to itself. */
static bool message_stays(const struct tor_call *call)
{
	return call->members ? call->members[call->root] == call->members[call->peer] :
			      call->root == call->peer;
}

static bool message_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	c->src = p->call.root;
	c->dst = p->call.peer;
	c->op = TOR_PIECE_COPY;
	*(bool *)c->family = false;
	return !c->transfer && !message_stays(&p->call);
}

static bool message_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	bool *is_over = (bool *)c->family;

	if (*is_over)
		return false;
	*is_over = true;
	tor_piece_in_place(out, tor_plan_slice(p, 0));
	return true;
}

static const struct tor_family family_message = {
	.rounds = message_rounds,
	.transfer = message_transfer,
	.piece = message_piece,
};

int tor_plan_message(struct tor_plan *p, const struct tor_call *call, u32 rank, const char **why)
{
	u32 i;

	*p = (struct tor_plan){
		.call = *call,
		.ops = &family_message,
		.rank = rank,
		.shape = { .channels = 1, .peers = 1, .vectors = 1, .bufs = 1, .agrees = true,
			   .sequential = true },
		.temp = { 0, call->count },
	};
	if (call->root >= call->ranks || call->peer >= call->ranks) {
		*why = "no such rank";
		return -EINVAL;
	}
	if (call->algorithm != TORCOLL_ALGO_AUTO && call->algorithm != TORCOLL_DIRECT) {
		*why = "a message goes to its receiver directly";
		return -EOPNOTSUPP;
	}
	p->call.algorithm = TORCOLL_DIRECT;
	/* belongs to auto, which has only one candidate here */
	p->call.param[TORCOLL_PARAM_EXCLUDE] = 0;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++) {
		if (p->call.param[i]) {
			*why = "a message has no parameters";
			return -EOPNOTSUPP;
		}
	}
	p->shape.rounds = tor_plan_rounds(p, 0);
	return 0;
}
