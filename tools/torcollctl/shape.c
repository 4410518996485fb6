// SPDX-License-Identifier: GPL-2.0
/* The shape of a fabric: its notation, and its cables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

const char *const dir_names[DIR_NAMES] = {
	"plus", "minus", "+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "+9", "+10", "+11", "+12",
};

uint32_t dir_parse(const char *name)
{
	uint32_t dir;

	for (dir = 0; dir < DIR_NAMES; dir++)
		if (!strcmp(name, dir_names[dir]))
			break;
	return dir;
}

/*
 * Parse numbers of 32 bits separated by @between. Return how many, 0 if @s is invalid.
 */
static uint32_t parse_numbers(const char *s, char between, uint32_t *value)
{
	uint32_t n = 0;

	for (;; s++) {
		unsigned long long one;
		char *end;

		if (*s < '0' || *s > '9' || n == MAX_DIMS)
			return 0;
		one = strtoull(s, &end, 10);
		if (one > UINT32_MAX)
			return 0;
		value[n++] = one;
		s = end;
		if (!*s)
			return n;
		if (*s != between)
			return 0;
	}
}

void shape_sides(const struct shape *shape, uint32_t *word)
{
	uint32_t i;

	for (i = 0; i < shape->ndim; i++)
		word[i] = TORCOLL_SIDE(shape->kind[i] == TORCOLL_KIND_CHORD ? shape->step[i] :
				       shape->side[i], shape->kind[i]);
}

uint32_t shape_axes(const struct shape *shape)
{
	uint32_t n = shape->ndim;

	while (n && shape->kind[n - 1] == TORCOLL_KIND_CHORD)
		n--;
	return n;
}

bool shape_has_chords(const struct shape *shape)
{
	return shape_axes(shape) < shape->ndim;
}

/* As core has it. Return whether there is such a shape. */
static bool shape_torus(const struct shape *shape, struct tor_torus *t)
{
	uint32_t word[MAX_DIMS];

	shape_sides(shape, word);
	return !tor_torus_init(t, shape->ndim, word, shape->cables);
}

void shape_from_torus(struct shape *shape, const struct tor_torus *t)
{
	uint32_t i;

	memset(shape, 0, sizeof(*shape));
	shape->ndim = t->ndim;
	shape->cables = t->cables;
	shape->nodes = t->nodes;
	for (i = 0; i < t->ndim; i++) {
		shape->side[i] = t->side[i];
		shape->step[i] = t->step[i];
		shape->kind[i] = t->kind[i];
	}
}

/* Set all but cables, from sides with their kinds. */
static bool set_sides(struct shape *shape, uint32_t ndim, const uint32_t *word)
{
	uint32_t cables = shape->cables;
	struct tor_torus t;

	if (tor_torus_init(&t, ndim, word, 1))
		return false;
	shape_from_torus(shape, &t);
	shape->cables = cables;
	return true;
}

int shape_parse(const char *s, struct shape *shape)
{
	uint32_t word[MAX_DIMS], n = host_shape_parse(s, word);

	if (!n)
		return usage_error("dims: \"%s\" is not 1 to 6 numbers like 4x4; :line or :mesh behind one that is no ring; + and the step of chords behind a ring",
				   s);
	if (!set_sides(shape, n, word) && host_chords_rule(n, word))
		return usage_error("dims: %s: %s, as in 16+4", s, host_chords_rule(n, word));
	if (!set_sides(shape, n, word))
		return usage_error("dims: %s has no nodes, more than %u of them, or more than %u ports at a node",
				   s, TOR_MAX_NODES, TOR_MAX_PORTS);
	if (!shape->cables)
		shape->cables = 1;
	return 0;
}

bool shape_from_sides(const uint32_t *side, uint32_t cables, struct shape *shape)
{
	uint32_t n = 0;

	memset(shape, 0, sizeof(*shape));
	while (n < MAX_DIMS && side[n])
		n++;
	shape->cables = cables == 2 ? 2 : 1;
	return set_sides(shape, n, side);
}

uint32_t shape_words(struct json_object *o, const char *sides, const char *kinds, uint32_t *word)
{
	struct json_object *list = js_get(o, sides), *names = js_get(o, kinds);
	size_t i, n = js_length(o, sides), named = js_length(o, kinds);
	uint32_t kind;

	for (i = 0; i < n && i < MAX_DIMS; i++) {
		const char *name = i < named ?
			json_object_get_string(json_object_array_get_idx(names, i)) : NULL;

		for (kind = 0; name && kind < TORCOLL_KIND_COUNT; kind++)
			if (!strcmp(name, host_kind_names[kind]))
				break;
		word[i] = TORCOLL_SIDE(json_object_get_int64(json_object_array_get_idx(list, i)),
				       name ? kind : TORCOLL_KIND_RING);
	}
	return i;
}

bool shape_from_json(struct json_object *fabric, struct shape *shape)
{
	uint32_t word[MAX_DIMS];

	memset(shape, 0, sizeof(*shape));
	shape->cables = js_has(fabric, "cables") ? js_u64(fabric, "cables") : 1;
	return set_sides(shape, shape_words(fabric, "sides", "kinds", word), word);
}

void shape_to_json(struct json_object *o, uint32_t ndim, const uint32_t *word)
{
	struct json_object *sides = json_object_new_array(), *kinds = json_object_new_array();
	bool others = false;
	uint32_t i;

	for (i = 0; i < ndim; i++) {
		uint32_t kind = tor_side_kind(word[i]);

		others |= kind != TORCOLL_KIND_RING;
		json_object_array_add(sides, json_object_new_int64(tor_side_nodes(word[i])));
		json_object_array_add(kinds, json_object_new_string(kind < TORCOLL_KIND_COUNT ?
								    host_kind_names[kind] : "?"));
	}
	json_object_object_add(o, "sides", sides);
	if (others)
		json_object_object_add(o, "kinds", kinds);
	else
		json_object_put(kinds);
}

const char *fmt_dims(struct json_object *o, const char *sides, const char *kinds)
{
	uint32_t word[MAX_DIMS], n = shape_words(o, sides, kinds, word);
	char text[HOST_SHAPE_TEXT];

	return fmt_str("%s", host_shape_print(text, n, word));
}

const char *shape_dims(const struct shape *shape)
{
	char text[HOST_SHAPE_TEXT];
	uint32_t word[MAX_DIMS];

	shape_sides(shape, word);
	return fmt_str("%s", host_shape_print(text, shape->ndim, word));
}

const char *shape_noun(const struct shape *shape)
{
	static const char *const one[] = { "ring", "line", "full mesh" };
	uint32_t i;

	if (shape->ndim == 1)
		return one[shape->kind[0]];
	for (i = 0; i < shape->ndim; i++)
		if (shape->kind[i] == TORCOLL_KIND_CHORD)
			return fmt_str("ring with chords %s", shape_dims(shape));
		else if (shape->kind[i] != TORCOLL_KIND_RING)
			return fmt_str("%s grid", shape_dims(shape));
	return fmt_str("%s torus", shape_dims(shape));
}

int shape_parse_coord(const struct shape *shape, const char *s, uint32_t *node)
{
	uint32_t coord[MAX_DIMS];
	uint32_t n = parse_numbers(s, ',', coord);

	if (n != shape_axes(shape))
		return usage_error("coord: \"%s\" is not %u numbers like 1,2 of nodes of a side",
				   s, shape_axes(shape));
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

uint32_t shape_ports(const struct shape *shape)
{
	struct tor_torus t;

	return shape_torus(shape, &t) ? t.ports : 0;
}

struct shape_port shape_port(const struct shape *shape, uint32_t port)
{
	struct tor_torus t;

	shape_torus(shape, &t);
	return (struct shape_port){ tor_port_dim(&t, port), tor_port_dir(&t, port) };
}

uint32_t shape_find_port(const struct shape *shape, uint32_t dim, uint32_t dir)
{
	struct tor_torus t;

	if (!shape_torus(shape, &t))
		return MAX_PORTS;
	dir = tor_port_find(&t, dim, dir);
	return dir < t.ports ? dir : MAX_PORTS;
}

bool shape_has_port(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir)
{
	struct tor_torus t;

	return shape_torus(shape, &t) && tor_torus_has_port(&t, node, tor_port_find(&t, dim, dir));
}

uint32_t shape_neighbour(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir)
{
	struct tor_torus t;

	shape_torus(shape, &t);
	return tor_torus_neighbour(&t, node, tor_port_find(&t, dim, dir));
}

uint32_t shape_back(const struct shape *shape, uint32_t dim, uint32_t dir)
{
	struct tor_torus t;

	shape_torus(shape, &t);
	return tor_port_dir(&t, tor_torus_peer_port(&t, tor_port_find(&t, dim, dir)));
}

bool shape_leads(const struct shape *shape, uint32_t node, uint32_t dim, uint32_t dir)
{
	if (!shape_has_port(shape, node, dim, dir))
		return false;
	if (shape->kind[dim] == TORCOLL_KIND_MESH)
		return node < shape_neighbour(shape, node, dim, dir);
	return dir == TOR_PLUS;
}

const char *shape_place(const struct shape *shape, uint32_t node)
{
	char s[MAX_DIMS * 9];
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < shape_axes(shape); i++)
		at += snprintf(s + at, sizeof(s) - at, "%s%u", i ? "," : "",
			       shape_coord(shape, node, i));
	return fmt_str("%s", s);
}
