// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * An input that stays where it is. See input.h.
 */
#include "core/engine/input.h"

#include "core/engine/chan.h"
#include "core/plan/family.h"

#define WORD	64		/* grains */

static u64 vector_bytes(const struct tor_op *op)
{
	return op->plan.call.count * op->elem;
}

bool tor_input_may_stay(const struct tor_op *op)
{
	const struct tor_plan *p = &op->plan;

	return p->call.collective == TORCOLL_ALLREDUCE && p->shape.rounds &&
	       op->call.redop != TORCOLL_PREMULSUM;
}

u64 tor_input_bytes(const struct tor_op *op)
{
	return (vector_bytes(op) / (WORD * TOR_INPUT_GRAIN) + 1 + op->plan.shape.channels) *
	       sizeof(u64);
}

/*
 * Return the word with a channel's bit of a grain: each channel's words are
 * shifted by one more than those of the channel before.
 */
static u64 *word_of(const struct tor_op *op, u32 channel, u64 grain)
{
	return &op->taken[grain / WORD + channel];
}

static bool is_taken(const struct tor_op *op, u32 channel, u64 grain)
{
	return *word_of(op, channel, grain) >> grain % WORD & 1;
}

/*
 * Count the grains from @grain on, within a word, with the same state; at least
 * 1.
 */
static u32 input_alike(const struct tor_op *op, u32 channel, u64 grain)
{
	u64 word = *word_of(op, channel, grain) >> grain % WORD;
	u32 left = WORD - grain % WORD;

	if (word & 1)
		word = ~word;
	return word ? min_t(u32, __ffs64(word), left) : left;
}

struct tor_mem *tor_input_find(const struct tor_op *op, u32 channel, u64 off, u64 *len)
{
	u64 grain = off / TOR_INPUT_GRAIN, end = off + *len;
	bool taken = is_taken(op, channel, grain);

	do {
		grain += input_alike(op, channel, grain);
	} while (grain * TOR_INPUT_GRAIN < end && is_taken(op, channel, grain) == taken);
	*len = min(grain * TOR_INPUT_GRAIN, end) - off;
	return taken ? op->data : op->input;
}

/* Mark [off, off + len) as held by the vector. */
static void set_taken(const struct tor_op *op, u32 channel, u64 off, u64 len)
{
	u64 grain = off / TOR_INPUT_GRAIN, end = (off + len - 1) / TOR_INPUT_GRAIN + 1;

	while (grain < end) {
		u32 from = grain % WORD, n = min_t(u64, WORD - from, end - grain);

		*word_of(op, channel, grain) |= (n < WORD ? BIT_ULL(n) - 1 : ~0ULL) << from;
		grain += n;
	}
}

static void take_grain(const struct tor_op *op, u32 channel, u64 off)
{
	u64 from = off - off % TOR_INPUT_GRAIN;
	u64 len = min_t(u64, TOR_INPUT_GRAIN, vector_bytes(op) - from);

	if (is_taken(op, channel, from / TOR_INPUT_GRAIN))
		return;
	tor_stream_between(op->input, from, op->data, from, len, 1, NULL);
	set_taken(op, channel, from, len);
}

/* Take the grains that [off, off + len) covers partly. */
static void take_edges(const struct tor_op *op, u32 channel, u64 off, u64 len)
{
	u64 end = off + len;

	if (off % TOR_INPUT_GRAIN)
		take_grain(op, channel, off);
	if (end % TOR_INPUT_GRAIN && end < vector_bytes(op))
		take_grain(op, channel, end);
}

void tor_input_begin(struct tor_op *op, struct tor_mem *input, u64 *taken)
{
	u32 ch;

	op->input = input;
	op->taken = taken;
	for (ch = 0; ch < op->plan.shape.channels; ch++) {
		struct tor_span s = tor_plan_slice(&op->plan, ch);

		if (s.n)
			take_edges(op, ch, s.off * op->elem, s.n * op->elem);
	}
}

void tor_input_reduce(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len)
{
	u64 at = off, end = off + len, run;

	take_edges(op, channel, off, len);
	for (; at < end; at += run) {
		const struct tor_mem *first;

		run = end - at;
		first = tor_input_find(op, channel, at, &run);
		tor_stream_reduce_onto(s, op->data, first, at, (u32)run / op->elem, op->elem,
				       op->reduce);
	}
	set_taken(op, channel, off, len);
}

void tor_input_copy(const struct tor_op *op, u32 channel, struct tor_stream *s, u64 off, u32 len)
{
	take_edges(op, channel, off, len);
	tor_stream_copy(s, op->data, off, len);
	set_taken(op, channel, off, len);
}
