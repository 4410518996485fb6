// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Chains of messages. A rank that has received what it waits for goes on to the
 * next round, whatever others do: where ways are of different lengths, a plan
 * takes as long as its longest chain of messages, which may be much less than
 * the longest message of every round. A ring of nodes that are near one another
 * in pairs, for example, passes a block on by short and long ways in turn.
 */
#include "model.h"

#include <stdlib.h>

void model_chain_begin(struct model_chain *c, const struct tor_torus *torus)
{
	*c = (struct model_chain){
		.torus = torus,
		.before = model_alloc(torus->nodes, sizeof(u32)),
		.after = model_alloc(torus->nodes, sizeof(u32)),
	};
}

/* End the messages of rounds that are alike. */
static void chain_finish(struct model_chain *c, u32 rounds)
{
	const struct model_link *m;
	u32 *swapped;

	for (; c->rounds < rounds; c->rounds++) {
		memcpy(c->after, c->before, c->torus->nodes * sizeof(u32));
		for (m = c->message; m < c->message + c->messages; m++)
			c->after[m->dst] = max(c->after[m->dst], c->before[m->src] + m->hops);
		swapped = c->before;
		c->before = c->after;
		c->after = swapped;
	}
	c->messages = 0;
}

static void chain_append(struct model_chain *c, u32 src, u32 dst, u32 hops)
{
	if (c->messages == c->room) {
		c->room = 2 * c->room + 64;
		c->message = realloc(c->message, c->room * sizeof(*c->message));
		if (!c->message) {
			fputs("torcoll-sim: out of memory\n", stderr);
			exit(2);
		}
	}
	c->message[c->messages++] = (struct model_link){ src, dst, hops };
}

/* Append the messages of all nodes of the class of @src, dimension by dimension. */
static void chain_append_alike(struct model_chain *c, const struct tor_tally *t, u32 dim, u32 src,
			       u32 dst, u32 hops)
{
	u32 by;

	if (dim == c->torus->ndim) {
		chain_append(c, src, dst, hops);
		return;
	}
	for (by = 0; by < c->torus->side[dim]; by += t->period[dim])
		chain_append_alike(c, t, dim + 1, tor_torus_shift(c->torus, src, dim, by),
				   tor_torus_shift(c->torus, dst, dim, by), hops);
}

void model_chain_add(struct model_chain *c, const struct tor_tally *t, u32 src, u32 dst, u32 hops)
{
	if (t->rounds != c->rounds)
		chain_finish(c, t->rounds);
	chain_append_alike(c, t, 0, src, dst, hops);
}

u32 model_chain_end(struct model_chain *c, const struct tor_tally *t)
{
	u32 node, most = 0;

	chain_finish(c, t->rounds);
	for (node = 0; node < c->torus->nodes; node++)
		most = max(most, c->before[node]);
	free(c->before);
	free(c->after);
	free(c->message);
	return most;
}
