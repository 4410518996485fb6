// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Layers of a ring with chords. See layers.h. */
#include "core/layers.h"

/* Add @from, moved up by @by nodes, to @to. What is moved beyond the last word is lost. */
static void layer_add_up(u64 *to, const u64 *from, u32 words, u32 by)
{
	u32 whole = by / 64, bits = by % 64, i;

	for (i = whole; i < words; i++) {
		to[i] |= from[i - whole] << bits;
		if (bits && i > whole)
			to[i] |= from[i - whole - 1] >> (64 - bits);
	}
}

static void layer_add_down(u64 *to, const u64 *from, u32 words, u32 by)
{
	u32 whole = by / 64, bits = by % 64, i;

	for (i = 0; i + whole < words; i++) {
		to[i] |= from[i + whole] >> bits;
		if (bits && i + whole + 1 < words)
			to[i] |= from[i + whole + 1] << (64 - bits);
	}
}

void tor_layer_add_moved(const struct tor_torus *t, u64 *to, const u64 *from, u32 port)
{
	u32 n = t->side[0], step = t->step[port / 2], by = port % 2 ? n - step : step;
	u32 words = tor_layer_words(t);

	/* the usual case */
	if (words == 1) {
		*to |= (*from << by | *from >> (n - by)) & ~0ULL >> (64 - n);
		return;
	}
	layer_add_up(to, from, words, by);
	layer_add_down(to, from, words, n - by);
	if (n % 64)
		to[words - 1] &= (1ULL << n % 64) - 1;
}

void tor_layers_begin(struct tor_layers *l, const struct tor_torus *t)
{
	memset(l, 0, sizeof(*l));
	l->t = t;
	l->words = tor_layer_words(t);
	l->at[0] = 1;
	l->seen[0] = 1;
}

bool tor_layers_next(struct tor_layers *l)
{
	u64 any = 0;
	u32 i;

	memcpy(l->before, l->at, l->words * sizeof(*l->at));
	memset(l->at, 0, l->words * sizeof(*l->at));
	for (i = 0; i < l->t->ports; i++)
		tor_layer_add_moved(l->t, l->at, l->before, i);
	for (i = 0; i < l->words; i++) {
		l->at[i] &= ~l->seen[i];
		l->seen[i] |= l->at[i];
		any |= l->at[i];
	}
	l->hops++;
	return any;
}

u32 tor_layers_ports(const struct tor_layers *l, u32 node)
{
	u32 port, ports = 0;

	for (port = 0; port < l->t->ports; port++)
		if (tor_layer_has(l->before, tor_layers_back(l->t, node, port)))
			ports |= 1U << port;
	return ports;
}

/* Go on to the layer of @node. */
static void layers_find(struct tor_layers *l, const struct tor_torus *t, u32 node)
{
	tor_layers_begin(l, t);
	while (!tor_layer_has(l->seen, node) && tor_layers_next(l))
		;
}

u32 tor_layers_first_ports(const struct tor_torus *t, u32 node)
{
	struct tor_layers l;

	layers_find(&l, t, node);
	return tor_layers_ports(&l, node);
}

u32 tor_layers_hops(const struct tor_torus *t, u32 node)
{
	struct tor_layers l;

	layers_find(&l, t, node);
	return l.hops;
}

u32 tor_layers_depth(const struct tor_torus *t)
{
	struct tor_layers l;

	tor_layers_begin(&l, t);
	while (tor_layers_next(&l))
		;
	return l.hops - 1;
}
