// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of attributes to JSON by tables, and of dumps to arrays. Text
 * output is printed from the JSON, so both always agree.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

static const char *const state_names[] = {
	[TORCOLL_LINK_STATE_ABSENT] = "absent",
	[TORCOLL_LINK_STATE_NO_CARRIER] = "no-carrier",
	[TORCOLL_LINK_STATE_WAITING] = "waiting",
	[TORCOLL_LINK_STATE_VERSION] = "version",
	[TORCOLL_LINK_STATE_FABRIC] = "fabric",
	[TORCOLL_LINK_STATE_MISWIRED] = "miswired",
	[TORCOLL_LINK_STATE_ONE_WAY] = "one-way",
	[TORCOLL_LINK_STATE_TOO_SMALL] = "too-small",
	[TORCOLL_LINK_STATE_FLAPPING] = "flapping",
	[TORCOLL_LINK_STATE_UP] = "up",
};

const char *link_state_name(uint32_t state)
{
	return state < ARRAY_SIZE(state_names) ? state_names[state] : fmt_str("?%u", state);
}

static struct json_object *parse_nest(const struct field *fields, size_t n, struct nlattr *head,
				      int len);

static struct json_object *parse_name(const struct field *f, uint32_t value)
{
	const char *const *names = f->names;
	size_t n = f->n;

	if (f->kind == FIELD_DIR) {
		names = dir_names;
		n = ARRAY_SIZE(dir_names);
	} else if (f->kind == FIELD_STATE) {
		names = state_names;
		n = ARRAY_SIZE(state_names);
	}
	if (value < n && names[value])
		return json_object_new_string(names[value]);
	return json_object_new_string(fmt_str("?%u", value));
}

/* Numbers, or the names of such. */
static struct json_object *parse_u32s(const struct field *f, struct nlattr *attr)
{
	struct json_object *array = json_object_new_array();
	const char *p = nla_data(attr);
	int i;

	for (i = 0; i + 4 <= nla_len(attr); i += 4) {
		uint32_t value;

		memcpy(&value, p + i, sizeof(value));
		json_object_array_add(array, f->names ? parse_name(f, value) :
							json_object_new_int64(value));
	}
	return array;
}

static struct json_object *parse_mac(struct nlattr *attr)
{
	const uint8_t *m = nla_data(attr);

	return json_object_new_string(fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2],
					      m[3], m[4], m[5]));
}

/* Return the minimum length of an attribute. */
static int least_len(const struct field *f)
{
	switch (f->kind) {
	case FIELD_U64:
		return 8;
	case FIELD_MAC:
		return 6;
	case FIELD_STRING:
		return 1;
	case FIELD_U32:
	case FIELD_NAME:
	case FIELD_DIR:
	case FIELD_STATE:
	case FIELD_LIST_U32:
		return 4;
	default:
		return 0;
	}
}

static struct json_object *parse_value(const struct field *f, struct nlattr *attr)
{
	switch (f->kind) {
	case FIELD_U32:
	case FIELD_LIST_U32:
		return json_object_new_int64(nla_get_u32(attr));
	case FIELD_U64:
		return json_object_new_uint64(nla_get_u64(attr));
	case FIELD_STRING:
		return json_object_new_string_len(nla_data(attr),
						  strnlen(nla_data(attr), nla_len(attr)));
	case FIELD_NAME:
	case FIELD_DIR:
	case FIELD_STATE:
		return parse_name(f, nla_get_u32(attr));
	case FIELD_MAC:
		return parse_mac(attr);
	case FIELD_U32S:
		return parse_u32s(f, attr);
	case FIELD_LIST:
	case FIELD_NEST:
		return parse_nest(f->names, f->n, nla_data(attr), nla_len(attr));
	}
	return NULL;
}

static void add_value(struct json_object *o, const struct field *f, struct nlattr *attr)
{
	struct json_object *value, *array;

	if (nla_len(attr) < least_len(f))
		return;
	value = parse_value(f, attr);
	if (f->kind != FIELD_LIST && f->kind != FIELD_LIST_U32) {
		json_object_object_add(o, f->name, value);
		return;
	}
	if (!json_object_object_get_ex(o, f->name, &array)) {
		array = json_object_new_array();
		json_object_object_add(o, f->name, array);
	}
	json_object_array_add(array, value);
}

static struct json_object *parse_nest(const struct field *fields, size_t n, struct nlattr *head,
				      int len)
{
	struct json_object *o = json_object_new_object();
	struct nlattr *attr;
	size_t i;
	int rest;

	/* in the order of the table, not the kernel's */
	for (i = 0; i < n; i++)
		nla_for_each_attr(attr, head, len, rest)
			if (nla_type(attr) == fields[i].attr)
				add_value(o, &fields[i], attr);
	return o;
}

struct json_object *view_parse(const struct view *view, struct nlmsghdr *nlh)
{
	struct genlmsghdr *gnlh = nlmsg_data(nlh);

	return parse_nest(view->fields, view->n, genlmsg_attrdata(gnlh, 0), genlmsg_attrlen(gnlh, 0));
}

/*
 * Return whether the object belongs to the fabric: fabrics have no filtered
 * dump.
 */
static bool is_of_fabric(const struct view *view, struct json_object *o, uint64_t key)
{
	return js_u64(o, view == &fabric_view ? "key" : "fabric") == key;
}

static void keep_fabric(const struct view *view, struct json_object *list, uint64_t key)
{
	size_t i = json_object_array_length(list);

	while (i--)
		if (!is_of_fabric(view, json_object_array_get_idx(list, i), key))
			json_object_array_del_idx(list, i, 1);
}

/* Check that the fabric exists; the kernel's own sentence says if not. */
static int check_key(struct conn *c, uint64_t key)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_FABRIC_GET, 0);

	if (msg)
		nla_put_u64(msg, TORCOLL_A_FABRIC_KEY, key);
	return conn_call(c, msg, NULL, NULL);
}

int view_load(struct args *a, const struct view *view, struct json_object **list)
{
	const char *word = arg_next(a);
	uint64_t key = 0;
	struct conn c;
	int err;

	if (word && parse_u64(word, "key", UINT64_MAX, &key))
		return CTL_USAGE;
	if (arg_end(a) || conn_need(&c))
		return CTL_USAGE;
	err = word ? check_key(&c, key) : 0;
	if (!err)
		err = view_dump(&c, view, word ? &key : NULL, list);
	if (err)
		conn_refused(&c);
	else if (word)
		keep_fabric(view, *list, key);
	conn_close(&c);
	return err ? CTL_REFUSED : CTL_OK;
}

int view_show(struct args *a, const struct view *view, void (*text)(struct json_object *list))
{
	struct json_object *list;
	int ret = view_load(a, view, &list);

	if (ret)
		return ret;
	if (opt.json)
		js_print(list);
	else
		text(list);
	json_object_put(list);
	return CTL_OK;
}
