// SPDX-License-Identifier: GPL-2.0
/*
 * Reading of dumps from JSON lines. The text is foreign: everything is checked.
 */
#include "dump.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "core/host_shape.h"

/* Get an unsigned number in @o, at most @most. */
static bool get_number(struct json_object *o, const char *key, u64 most, u64 *out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int))
		return false;
	if (json_object_get_int64(v) < 0 || json_object_get_uint64(v) > most)
		return false;
	*out = json_object_get_uint64(v);
	return true;
}

static bool get_u32(struct json_object *o, const char *key, u32 *out)
{
	u64 v;

	if (!get_number(o, key, U32_MAX, &v))
		return false;
	*out = v;
	return true;
}

static const char *get_string(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

/* Get the list at @key as numbers, or NULL; @n: its length. */
static u64 *get_list(struct json_object *o, const char *key, size_t *n)
{
	struct json_object *v;
	u64 *list;
	size_t i;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_array))
		return NULL;
	*n = json_object_array_length(v);
	list = dump_alloc(*n, sizeof(*list));
	for (i = 0; i < *n; i++) {
		struct json_object *x = json_object_array_get_idx(v, i);

		if (!json_object_is_type(x, json_type_int) || json_object_get_int64(x) < 0) {
			free(list);
			return NULL;
		}
		list[i] = json_object_get_uint64(x);
	}
	return list;
}

/* The kind of dimension @i: a word of "kinds", if there are. */
static u32 read_kind(struct json_object *o, u32 i)
{
	struct json_object *kinds;
	const char *name;
	u32 kind;

	if (!json_object_object_get_ex(o, "kinds", &kinds))
		return TORCOLL_KIND_RING;
	if (!json_object_is_type(kinds, json_type_array))
		return TORCOLL_KIND_COUNT;
	name = json_object_get_string(json_object_array_get_idx(kinds, i));
	for (kind = 0; kind < TORCOLL_KIND_COUNT; kind++)
		if (name && !strcmp(name, host_kind_names[kind]))
			break;
	return kind;
}

static bool read_dims(struct dump *d, struct json_object *o, u32 cables, struct dump_error *e)
{
	u32 side[TOR_MAX_DIMS], i;
	size_t n = 0;
	u64 *dims = get_list(o, "dims", &n);
	bool ok = dims && n >= 1 && n <= TOR_MAX_DIMS;

	for (i = 0; ok && i < n; i++) {
		ok = dims[i] <= TORCOLL_SIDE_NODES;
		side[i] = TORCOLL_SIDE(dims[i], read_kind(o, i));
	}
	free(dims);
	if (!ok || tor_torus_init(&d->torus, n, side, cables))
		return dump_fail(e, "line 1: no dims, or not those of a torus");
	d->ndim = n;
	return true;
}

static bool read_lists(struct dump *d, struct json_object *o, struct dump_error *e)
{
	struct json_object *v;
	size_t n = 0, i;
	u64 *list;

	if (json_object_object_get_ex(o, "counts", &v)) {
		d->counts = get_list(o, "counts", &n);
		if (!d->counts || n != d->ranks)
			return dump_fail(e, "line 1: counts are not one per rank");
	}
	if (!json_object_object_get_ex(o, "members", &v))
		return true;
	list = get_list(o, "members", &n);
	if (!list || n != d->ranks) {
		free(list);
		return dump_fail(e, "line 1: members are not one per rank");
	}
	d->members = dump_alloc(n, sizeof(u32));
	for (i = 0; i < n; i++)
		d->members[i] = min_t(u64, list[i], U32_MAX);
	free(list);
	return true;
}

static bool read_header(struct dump *d, struct json_object *o, u32 cables, struct dump_error *e)
{
	const char *format = get_string(o, "format"), *name = get_string(o, "collective");
	int collective = name ? tor_collective_parse(name) : -EINVAL;

	if (!format || strcmp(format, "torcoll-plan/1"))
		return dump_fail(e, "line 1: not of format torcoll-plan/1");
	if (collective < 0)
		return dump_fail(e, "line 1: no collective, or an unknown one");
	d->collective = collective;
	name = get_string(o, "algorithm");
	snprintf(d->algorithm, sizeof(d->algorithm), "%s", name ? name : "?");
	if (!read_dims(d, o, cables, e))
		return false;
	if (!get_u32(o, "nodes", &d->ranks) || !get_number(o, "count", INT64_MAX, &d->count) ||
	    !get_u32(o, "channels", &d->channels))
		return dump_fail(e, "line 1: nodes, count and channels are needed");
	if (d->ranks > TOR_MAX_NODES)
		return dump_fail(e, "line 1: too many nodes");
	if (json_object_object_get_ex(o, "root", NULL) && !get_u32(o, "root", &d->root))
		return dump_fail(e, "line 1: root is no number");
	return read_lists(d, o, e);
}

/* Return the number of a buffer's name; DUMP_BUFS if there are too many. */
static u32 find_buf(struct dump *d, const char *name)
{
	u32 i;

	for (i = 0; i < d->nbufs; i++)
		if (!strcmp(d->bufs[i], name))
			return i;
	if (i < DUMP_BUFS)
		dump_add_buf(d, name);
	return i;
}

static bool read_piece(struct dump *d, struct json_object *o, u32 line, struct dump_error *e)
{
	const char *sbuf = get_string(o, "sbuf"), *dbuf = get_string(o, "dbuf");
	const char *op = get_string(o, "op");
	struct dump_piece x;
	u32 s, t;

	if (!get_u32(o, "t", &x.t) || !get_u32(o, "ch", &x.ch) || !get_u32(o, "src", &x.src) ||
	    !get_u32(o, "dst", &x.dst) || !get_number(o, "soff", INT64_MAX, &x.soff) ||
	    !get_number(o, "doff", INT64_MAX, &x.doff) || !get_number(o, "n", INT64_MAX, &x.n) ||
	    !sbuf || !dbuf || !op)
		return dump_fail(e, "line %u: a member is missing or out of range", line);
	if (strcmp(op, "copy") && strcmp(op, "reduce"))
		return dump_fail(e, "line %u: op is neither copy nor reduce", line);
	s = find_buf(d, sbuf);
	t = find_buf(d, dbuf);
	if (s == DUMP_BUFS || t == DUMP_BUFS)
		return dump_fail(e, "line %u: too many buffers", line);
	x.sbuf = s;
	x.dbuf = t;
	x.op = strcmp(op, "copy") ? TOR_PIECE_REDUCE : TOR_PIECE_COPY;
	*dump_add(d) = x;
	return true;
}

static bool read_line(struct dump *d, const char *text, u32 line, u32 cables, struct dump_error *e)
{
	struct json_object *o = json_tokener_parse(text);
	bool ok;

	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return dump_fail(e, "line %u: no JSON object", line);
	}
	ok = line == 1 ? read_header(d, o, cables, e) : read_piece(d, o, line, e);
	json_object_put(o);
	return ok;
}

bool dump_read(struct dump *d, FILE *in, u32 cables, struct dump_error *e)
{
	char *text = NULL;
	size_t room = 0;
	bool ok = true;
	u32 line = 0;

	dump_add_buf(d, "data");
	while (ok && getline(&text, &room, in) > 0)
		if (text[strspn(text, " \t\r\n")])
			ok = read_line(d, text, ++line, cables, e);
	free(text);
	if (ok && !line)
		return dump_fail(e, "an empty dump");
	if (ok)
		dump_sort(d);
	return ok;
}
