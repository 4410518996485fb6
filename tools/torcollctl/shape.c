// SPDX-License-Identifier: GPL-2.0
/* The shape of a torus: its notation, and its cables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define MAX_NODES	(1U << 20)

/*
 * Parse numbers separated by @between. Return their number, 0 if @s is invalid.
 */
static uint32_t parse_numbers(const char *s, char between, uint32_t *value)
{
	uint32_t n = 0;

	for (;; s++) {
		char *end;

		if (*s < '0' || *s > '9' || n == MAX_DIMS)
			return 0;
		value[n++] = strtoul(s, &end, 10);
		s = end;
		if (!*s)
			return n;
		if (*s != between)
			return 0;
	}
}

static int count_nodes(struct shape *shape)
{
	uint64_t nodes = 1;
	uint32_t i;

	for (i = 0; i < shape->ndim; i++) {
		nodes *= shape->side[i];
		if (!nodes || nodes > MAX_NODES)
			return -1;
	}
	shape->nodes = nodes;
	return 0;
}

int shape_parse(const char *s, struct shape *shape)
{
	shape->ndim = parse_numbers(s, 'x', shape->side);
	if (!shape->ndim)
		return usage_error("dims: \"%s\" is not 1 to 6 numbers like 4x4", s);
	if (count_nodes(shape))
		return usage_error("dims: %s has no nodes, or more than %u nodes", s, MAX_NODES);
	if (!shape->cables)
		shape->cables = 1;
	return 0;
}

bool shape_from_sides(const uint32_t *side, uint32_t cables, struct shape *shape)
{
	memset(shape, 0, sizeof(*shape));
	while (shape->ndim < MAX_DIMS && side[shape->ndim]) {
		shape->side[shape->ndim] = side[shape->ndim];
		shape->ndim++;
	}
	shape->cables = cables == 2 ? 2 : 1;
	return shape->ndim && !count_nodes(shape);
}

bool shape_from_json(struct json_object *fabric, struct shape *shape)
{
	struct json_object *sides = js_get(fabric, "sides");
	size_t i, n = sides ? json_object_array_length(sides) : 0;

	if (!n || n > MAX_DIMS)
		return false;
	memset(shape, 0, sizeof(*shape));
	shape->ndim = n;
	for (i = 0; i < n; i++)
		shape->side[i] = json_object_get_int64(json_object_array_get_idx(sides, i));
	shape->cables = js_has(fabric, "cables") ? js_u64(fabric, "cables") : 1;
	return !count_nodes(shape);
}

int shape_parse_coord(const struct shape *shape, const char *s, uint32_t *node)
{
	uint32_t coord[MAX_DIMS];
	uint32_t n = parse_numbers(s, ',', coord);

	if (n != shape->ndim)
		return usage_error("coord: \"%s\" is not %u numbers like 1,2", s, shape->ndim);
	*node = 0;
	while (n--) {
		if (coord[n] >= shape->side[n])
			return usage_error("coord: %u is not below %u, the side of dimension %u",
					   coord[n], shape->side[n], n);
		*node = *node * shape->side[n] + coord[n];
	}
	return 0;
}

/* Return the index distance of a step along @dim. */
static uint32_t stride(const struct shape *shape, uint32_t dim)
{
	uint32_t step = 1;

	while (dim--)
		step *= shape->side[dim];
	return step;
}

uint32_t shape_coord(const struct shape *shape, uint32_t node, uint32_t dim)
{
	return node / stride(shape, dim) % shape->side[dim];
}

/*
 * Return whether the port exists. A side of 2 has one cable: from plus of 0 to
 * minus of 1.
 */
bool shape_has_port(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir)
{
	if (dim >= shape->ndim || shape->side[dim] == 1)
		return false;
	if (shape->side[dim] > 2 || shape->cables == 2)
		return true;
	return shape_coord(shape, node, dim) == dir;
}

uint32_t shape_neighbour(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir)
{
	uint32_t side = shape->side[dim];
	uint32_t at = shape_coord(shape, node, dim);
	uint32_t to = (at + (dir ? side - 1 : 1)) % side;

	return node + (to - at) * stride(shape, dim);
}

const char *shape_place(const struct shape *shape, uint32_t node)
{
	char s[MAX_DIMS * 9];
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < shape->ndim; i++)
		at += snprintf(s + at, sizeof(s) - at, "%s%u", i ? "," : "",
			       shape_coord(shape, node, i));
	return fmt_str("%s", s);
}
