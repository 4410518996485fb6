/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shapes and ports as programs read and print them: 4x3:line, 16+4, 0+, 1+2.
 * Not part of core.
 */
#ifndef _TOR_CORE_HOST_SHAPE_H
#define _TOR_CORE_HOST_SHAPE_H

#include <stdlib.h>

#include "core/torus.h"

#define HOST_SHAPE_TEXT	(TOR_MAX_DIMS * 16)
#define HOST_PORT_TEXT	16

static const char *const host_kind_names[TORCOLL_KIND_COUNT] = {
	[TORCOLL_KIND_RING] = "ring", [TORCOLL_KIND_LINE] = "line", [TORCOLL_KIND_MESH] = "mesh",
	[TORCOLL_KIND_CHORD] = "chord",
};

/*
 * Read ":KIND" at @s, if it is there; chords are written otherwise. Return:
 * behind it; NULL: another word.
 */
static inline const char *host_kind_parse(const char *s, u32 *kind)
{
	size_t len;

	*kind = TORCOLL_KIND_RING;
	if (*s != ':')
		return s;
	for (*kind = 0; *kind < TORCOLL_KIND_CHORD; (*kind)++) {
		len = strlen(host_kind_names[*kind]);
		if (!strncmp(s + 1, host_kind_names[*kind], len))
			return s + 1 + len;
	}
	return NULL;
}

static inline const char *host_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/*
 * Read a number at @s, in which it is taken to have @kind unless it names one.
 * Return: behind it; NULL: none.
 */
static inline const char *host_side_parse(const char *s, u32 kind, u32 *side)
{
	unsigned long nodes;
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	nodes = strtoul(s, &end, 10);
	s = kind == TORCOLL_KIND_CHORD ? end : host_kind_parse(end, &kind);
	if (!s || nodes > TORCOLL_SIDE_NODES)
		return NULL;
	*side = TORCOLL_SIDE(nodes, kind);
	return host_blanks(s);
}

/**
 * host_shape_parse - read the sides of a fabric
 * @s: numbers with an optional kind, separated by x: 4x4, 3:line, 4:mesh x 4;
 *	or a ring and the steps of its chords: 16+4
 * @side: room for TOR_MAX_DIMS: words as TORCOLL_SIDE() makes them
 *
 * Return: their number, 0 if @s is not of that form.
 */
static inline u32 host_shape_parse(const char *s, u32 *side)
{
	u32 n = 0, kind = TORCOLL_KIND_RING;

	for (; n < TOR_MAX_DIMS; s = host_blanks(s + 1)) {
		s = host_side_parse(s, kind, &side[n]);
		if (!s)
			return 0;
		n++;
		if (!*s)
			return n;
		if (*s != 'x' && *s != '+')
			return 0;
		kind = *s == '+' ? TORCOLL_KIND_CHORD : TORCOLL_KIND_RING;
	}
	return 0;
}

/* Why there is no fabric of these sides if they have chords; NULL: they have none. */
static inline const char *host_chords_rule(u32 ndim, const u32 *side)
{
	static_assert(TOR_MAX_CHORDS == 3 && TOR_CHORD_NODES == 1024);
	while (ndim--)
		if (tor_side_kind(side[ndim]) == TORCOLL_KIND_CHORD)
			return "chords are up to 3 steps behind one ring of 5 to 1024 nodes, ascending from 2 and below half of the nodes";
	return NULL;
}

/* The opposite; rings have no suffix. Return: @text. */
static inline const char *host_shape_print(char text[HOST_SHAPE_TEXT], u32 ndim, const u32 *side)
{
	size_t at = 0;
	u32 d, kind;

	*text = '\0';
	for (d = 0; d < ndim && at < HOST_SHAPE_TEXT; d++) {
		kind = tor_side_kind(side[d]);
		if (kind == TORCOLL_KIND_CHORD) {
			at += snprintf(text + at, HOST_SHAPE_TEXT - at, "+%u",
				       tor_side_nodes(side[d]));
			continue;
		}
		at += snprintf(text + at, HOST_SHAPE_TEXT - at, "%s%u%s%s", d ? "x" : "",
			       tor_side_nodes(side[d]), kind ? ":" : "",
			       kind && kind < TORCOLL_KIND_COUNT ? host_kind_names[kind] : "");
	}
	return text;
}

static inline const char *host_torus_print(char text[HOST_SHAPE_TEXT], const struct tor_torus *t)
{
	u32 side[TOR_MAX_DIMS], d;

	for (d = 0; d < t->ndim; d++)
		side[d] = tor_torus_side(t, d);
	return host_shape_print(text, t->ndim, side);
}

/* Read what host_port_print() writes. False: @s is no such name. */
static inline bool host_port_parse(const char *s, u32 *dim, u32 *dir)
{
	unsigned long steps;
	char *end;

	if (*s < '0' || *s >= '0' + TOR_MAX_DIMS || (s[1] != '+' && s[1] != '-'))
		return false;
	*dim = *s - '0';
	*dir = s[1] == '-' ? TOR_MINUS : TOR_PLUS;
	if (!s[2])
		return true;
	steps = strtoul(s + 2, &end, 10);
	*dir = TOR_DIR_STEPS + steps;
	return s[1] == '+' && s[2] >= '1' && s[2] <= '9' && !*end && steps <= TOR_MAX_PORTS;
}

/* A port by its dimension and tor_port_dir(): 0+, 0-, and in meshes 0+1, 0+2. */
static inline const char *host_port_print(char text[HOST_PORT_TEXT], u32 dim, u32 dir)
{
	if (dir <= TOR_MINUS)
		snprintf(text, HOST_PORT_TEXT, "%u%c", dim, "+-"[dir]);
	else
		snprintf(text, HOST_PORT_TEXT, "%u+%u", dim, dir - TOR_DIR_STEPS);
	return text;
}

#endif
