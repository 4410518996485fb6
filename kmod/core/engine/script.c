// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a channel does in its rounds, kept from one run of a plan to the next.
 * See chan.h.
 *
 * A short call takes part in few rounds, with a piece or two in each, but finding
 * them takes the plan longer than sending them: `tree` looks at three peers in
 * each of its rounds. The second run of the same plan writes down the pieces that
 * the plan yields, later ones read them.
 */
#include "core/engine/chan.h"

u32 tor_chan_script_bytes(void)
{
	return sizeof(struct tor_script);
}

void tor_script_start(struct tor_chan *chan, bool same)
{
	chan->step = 0;
	if (!same) {
		if (chan->script)
			chan->script->state = TOR_SCRIPT_UNUSED;
		return;
	}
	/* a message has one round and one piece */
	if (chan->op->role)
		return;
	/* without memory, the plan is asked again */
	if (!chan->script)
		chan->script = tor_env_alloc(sizeof(*chan->script));
	if (!chan->script || chan->script->state > TOR_SCRIPT_BEGUN)
		return;
	chan->script->state = TOR_SCRIPT_BEGUN;
	chan->script->rounds = 0;
	chan->script->n = 0;
	chan->script->noted = 0;
}

void tor_script_note(struct tor_chan *chan, const struct tor_piece *piece)
{
	struct tor_script *s = chan->script;

	/* a round that is entered again was noted before */
	if (!s || s->state != TOR_SCRIPT_BEGUN || chan->round < s->rounds)
		return;
	if (s->noted == TOR_SCRIPT_MAX) {
		s->state = TOR_SCRIPT_TOO_LONG;
		return;
	}
	s->step[s->noted].round = chan->round;
	s->step[s->noted++].piece = *piece;
}

void tor_script_round(struct tor_chan *chan, bool entered)
{
	struct tor_script *s = chan->script;

	if (!s || s->state != TOR_SCRIPT_BEGUN || chan->round < s->rounds)
		return;
	if (entered) {
		s->n = s->noted;
		s->rounds = chan->round + 1;
	}
	s->noted = s->n;
}

void tor_script_end(struct tor_chan *chan)
{
	if (chan->script && chan->script->state == TOR_SCRIPT_BEGUN)
		chan->script->state = TOR_SCRIPT_WHOLE;
}
