/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shapes and ports as programs read and print them: 4x3:line, 0+, 1+2. Not part
 * of core.
 */
#ifndef _TOR_CORE_HOST_SHAPE_H
#define _TOR_CORE_HOST_SHAPE_H

#include <stdlib.h>

#include "core/torus.h"

#define HOST_SHAPE_TEXT	(TOR_MAX_DIMS * 16)
#define HOST_PORT_TEXT	16

static const char *const host_kind_names[TORCOLL_KIND_COUNT] = {
	[TORCOLL_KIND_RING] = "ring", [TORCOLL_KIND_LINE] = "line", [TORCOLL_KIND_MESH] = "mesh",
};

/* Read ":KIND" at @s, if it is there. Return: behind it; NULL: another word. */
static inline const char *host_kind_parse(const char *s, u32 *kind)
{
	size_t len;

	*kind = TORCOLL_KIND_RING;
	if (*s != ':')
		return s;
	for (*kind = 0; *kind < TORCOLL_KIND_COUNT; (*kind)++) {
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

/**
 * host_shape_parse - read the sides of a fabric
 * @s: numbers with an optional kind, separated by x: 4x4, 3:line, 4:mesh x 4
 * @side: room for TOR_MAX_DIMS: words as TORCOLL_SIDE() makes them
 *
 * Return: their number, 0 if @s is not of that form.
 */
static inline u32 host_shape_parse(const char *s, u32 *side)
{
	unsigned long nodes;
	u32 n = 0, kind;
	char *end;

	for (; n < TOR_MAX_DIMS; s = host_blanks(s + 1)) {
		if (*s < '0' || *s > '9')
			return 0;
		nodes = strtoul(s, &end, 10);
		s = host_kind_parse(end, &kind);
		if (!s || nodes > TORCOLL_SIDE_NODES)
			return 0;
		side[n++] = TORCOLL_SIDE(nodes, kind);
		s = host_blanks(s);
		if (!*s)
			return n;
		if (*s != 'x')
			return 0;
	}
	return 0;
}

/* The opposite; rings have no suffix. Return: @text. */
static inline const char *host_shape_print(char text[HOST_SHAPE_TEXT], u32 ndim, const u32 *side)
{
	size_t at = 0;
	u32 d, kind;

	*text = '\0';
	for (d = 0; d < ndim && at < HOST_SHAPE_TEXT; d++) {
		kind = tor_side_kind(side[d]);
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
