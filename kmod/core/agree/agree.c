// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Common parts of joining and shrinking. See agree.h. */
#include "core/agree/agree.h"

#include "core/wire/accept.h"

/* What is in a message beside the list. */
#define AGREE_REST	(sizeof(struct torcoll_comm_msg) + sizeof(struct torcoll_comm_terms))

void tor_agree_say(struct tor_ctx *ctx, struct tor_node *node, u32 dst,
		   const struct tor_comm_msg *msg, const u32 *word)
{
	u8 body[sizeof(struct torcoll_comm_msg) + TOR_AGREE_WORDS * sizeof(__be32) +
		sizeof(struct torcoll_comm_terms)];
	u8 hdr[sizeof(struct torcoll_hdr)];
	struct tor_frame frame = {
		.cable = ~0U,
		.dst = dst,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = body,
		.linear_len = tor_wire_comm_bytes(msg),
	};
	struct tor_hdr h;

	tor_node_header(node, &h, TORCOLL_FRAME_COMM, dst);
	h.length = frame.linear_len;
	tor_wire_put_comm(body, msg, word);
	h.payload_crc = tor_wire_crc(body, h.length);
	tor_wire_build(hdr, &h, NULL);
	ctx->said++;
	tor_env_send(ctx, node, &frame);
}

void tor_agree_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		      const struct tor_comm_msg *reply)
{
	if (tor_node_may_answer(node, ctx->now))
		tor_agree_say(ctx, node, h->src, reply, NULL);
}

void tor_agree_begin(struct tor_ctx *ctx, struct tor_agree *a, struct list_head *list)
{
	a->state = TOR_AGREE_CALLING;
	a->error = 0;
	a->turn = a->told;
	tor_agree_hurry(ctx, a);
	list_add_tail(&a->list, list);
}

void tor_agree_finish(struct tor_ctx *ctx, struct tor_agree *a, int error)
{
	a->state = TOR_AGREE_DONE;
	a->error = error;
	list_del(&a->list);
	a->policy->done(ctx, a);
}

void tor_agree_hurry(struct tor_ctx *ctx, struct tor_agree *a)
{
	a->interval = TOR_AGREE_REPEAT;
	a->repeat = ctx->now + a->interval;
}

void tor_agree_back_off(struct tor_agree *a, u64 most)
{
	a->interval = min_t(u64, a->interval * 2, most);
}

u32 tor_agree_entries(const struct tor_agree *a)
{
	static_assert(AGREE_REST < TOR_WIRE_UNIT_MIN);

	u32 bytes = a->policy->words * sizeof(__be32);

	return min_t(u32, (a->unit - AGREE_REST) / bytes, TOR_AGREE_WORDS / a->policy->words);
}

/*
 * Send the current message to the rank whose turn it is, if it needs it. False:
 * @left frames were not enough.
 */
static bool agree_say_in_turn(struct tor_ctx *ctx, struct tor_agree *a, u32 *left)
{
	u32 parts = a->state == TOR_AGREE_ACCEPTING ? a->ranks : 1;

	/* or no longer, in the middle of a list */
	if (!a->policy->concerns(a, a->turn))
		parts = 0;
	for (; a->part < parts; a->part += tor_agree_entries(a)) {
		if (!*left)
			return false;
		--*left;
		a->policy->say(ctx, a, a->turn, a->part);
	}
	a->part = 0;
	return true;
}

void tor_agree_tell(struct tor_ctx *ctx, struct tor_agree *a, u32 *left)
{
	u32 steps = tor_env_budget().steps;

	for (; tor_agree_is_telling(a); a->turn++) {
		if (steps-- && agree_say_in_turn(ctx, a, left))
			continue;
		a->repeat = ctx->now + TOR_AGREE_PACE;
		return;
	}
	if (a->state > TOR_AGREE_ACCEPTING) {
		tor_agree_finish(ctx, a, a->error);
		return;
	}
	a->repeat = ctx->now + a->interval;
	tor_agree_back_off(a, a->seldom);
}

void tor_agree_tell_all(struct tor_ctx *ctx, struct tor_agree *a, enum tor_agree_state state,
			u32 *left)
{
	a->state = state;
	a->turn = 0;
	a->part = 0;
	tor_agree_tell(ctx, a, left);
}

bool tor_agree_take(struct tor_agree *a, const struct tor_comm_msg *msg, u32 *member)
{
	u32 words = a->policy->words, i;

	if (a->tag != msg->tag || a->ranks != msg->ranks) {
		memset(a->epoch, 0, a->room * sizeof(*a->epoch));
		a->tag = msg->tag;
		a->ranks = msg->ranks;
		a->filled = 0;
	}
	for (i = 0; i < msg->epochs / words; i++) {
		u32 rank = msg->missing + i;
		u32 epoch = tor_wire_epoch(msg, words * i + words - 1);

		a->filled += !!epoch - !!a->epoch[rank];
		a->epoch[rank] = epoch;
		if (member)
			member[rank] = tor_wire_epoch(msg, words * i);
	}
	return a->filled == a->ranks;
}

u64 tor_agree_due(const struct list_head *list)
{
	const struct tor_agree *a;
	u64 when = 0;

	list_for_each_entry(a, list, list)
		if (!when || a->repeat < when)
			when = a->repeat;
	return when;
}
