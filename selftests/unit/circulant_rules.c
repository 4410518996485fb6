// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the paper proves of circulant schedules. See circulant_rules.h. */
#include "circulant_rules.h"

#include <stdio.h>
#include <stdlib.h>

struct schedule {
	s8 recv[TOR_CIRCULANT_ROUNDS], send[TOR_CIRCULANT_ROUNDS];
};

/* The round in which the first block comes. */
static s32 base_of(const struct tor_circulant *c, const s8 *recv)
{
	s32 b = c->q;
	u32 k;

	for (k = 0; k < c->q; k++)
		if (recv[k] >= 0)
			b = recv[k];
	return b;
}

/* What is sent in round @k came before, or q rounds earlier, or is the base block. */
static bool had_before(const struct tor_circulant *c, const struct schedule *s, u32 k, s32 b)
{
	s32 block = s->send[k];
	u32 i;

	for (i = 0; i < k; i++)
		if (s->recv[i] == block)
			return true;
	return block == b - (s32)c->q;
}

static const char *rank_rules(const struct tor_circulant *c, const struct schedule *s, u32 r)
{
	u32 k, to, from, seen = 0;
	s32 b = base_of(c, s[r].recv), block;

	for (k = 0; k < c->q; k++) {
		to = r + c->skip[k] < c->p ? r + c->skip[k] : r + c->skip[k] - c->p;
		from = r >= c->skip[k] ? r - c->skip[k] : r + c->p - c->skip[k];
		/* nothing goes to the root */
		if (to && s[r].send[k] != s[to].recv[k])
			return "what is sent is not what the receiver gets";
		if (r && s[r].recv[k] != s[from].send[k])
			return "what is got is not what the sender sends";
		block = s[r].recv[k];
		seen |= 1U << (block >= 0 ? block : block + (s32)c->q);
		if (block >= 0 && (!r || block != b))
			return "a block of these q rounds that is not the base block";
		if (r && to && !had_before(c, &s[r], k, b))
			return "a block is sent that is not there";
	}
	return seen == (1U << c->q) - 1 ? NULL : "not every block comes in q rounds";
}

const char *circulant_rules(u32 p)
{
	struct schedule *s = calloc(p, sizeof(*s));
	const char *why = s ? NULL : "no memory";
	struct tor_circulant c;
	u32 r;

	tor_circulant_init(&c, p);
	for (r = 0; r < p && !why; r++) {
		if (tor_circulant_recv(&c, r, s[r].recv) > CIRCULANT_MOST_CALLS(c.q))
			why = "too many recursive calls";
		if (tor_circulant_send(&c, r, s[r].send) > CIRCULANT_MOST_VIOLATIONS)
			why = "too many violations";
	}
	for (r = 0; r < p && !why; r++)
		why = rank_rules(&c, s, r);
	free(s);
	return why;
}

void circulant_send_slow(const struct tor_circulant *c, u32 r, s8 *block)
{
	s8 other[TOR_CIRCULANT_ROUNDS];
	u32 k;

	for (k = 0; k < c->q; k++) {
		tor_circulant_recv(c, (r + c->skip[k]) % c->p, other);
		block[k] = other[k];
	}
}
