// SPDX-License-Identifier: GPL-2.0
/* What runs on this host, as the file of a fabric would say it. */
#include <string.h>

#include "change.h"
#include "tune.h"

_Static_assert(CONF_RATES == RATES && CONF_LIMITS == LIMITS, "a file has all of them");

static void read_fabric(struct running *now, struct json_object *fabric)
{
	struct conf_fabric *f = &now->fabric;
	uint32_t word[MAX_DIMS];
	struct shape shape;

	if (!shape_from_json(fabric, &shape))
		return;
	shape_sides(&shape, word);
	if (tor_torus_init(&f->torus, shape.ndim, word, shape.cables))
		return;
	now->exists = true;
	now->node = js_u64(fabric, "node");
	now->comms = js_u64(fabric, "comms");
	f->ethertype = js_u64(fabric, "ethertype");
	f->hello_ms = js_u64(fabric, "hello_ms");
	f->frame_size = js_u64(fabric, "frame_size");
	f->checksum_header = !strcmp(js_str(fabric, "checksum"), "header");
}

static int find_fabric(struct conn *c, struct running *now)
{
	struct json_object *list;
	size_t i;

	if (view_dump(c, &fabric_view, NULL, &list))
		return conn_refused(c);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *fabric = json_object_array_get_idx(list, i);

		if (js_u64(fabric, "key") == now->fabric.key)
			read_fabric(now, fabric);
	}
	json_object_put(list);
	return CTL_OK;
}

static int find_ports(struct conn *c, struct running *now)
{
	struct json_object *list;
	size_t i;

	if (view_dump(c, &port_view, &now->fabric.key, &list))
		return conn_refused(c);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *port = json_object_array_get_idx(list, i);
		uint32_t at = tor_port_find(&now->fabric.torus, js_u64(port, "dim"),
					    dir_parse(js_str(port, "dir")));
		uint64_t cable = js_has(port, "cable") ? js_u64(port, "cable") : 0;

		if (at < now->fabric.torus.ports && cable < TOR_LINK_CABLES &&
		    js_u64(port, "fabric") == now->fabric.key)
			now->port[tor_cable(at, cable)] = js_u64(port, "ifindex");
	}
	json_object_put(list);
	return CTL_OK;
}

static int find_rates(struct conn *c, struct running *now)
{
	struct tor_rates rates = { 0 };
	int ret = rates_get(c, now->fabric.key, &rates);
	size_t i;

	for (i = 0; i < RATES; i++)
		now->rate[i] = *rate_at(&rates, i);
	return ret;
}

int running_get(struct conn *c, struct conn *route, uint64_t key, struct running *now)
{
	int ret;

	memset(now, 0, sizeof(*now));
	now->fabric.key = key;
	if (limits_get(c, now->limit))
		return conn_refused(c);
	if (devices_get(route, &now->devices))
		return conn_refused(route);
	ret = find_fabric(c, now);
	if (!ret && now->exists)
		ret = find_ports(c, now);
	if (!ret && now->exists)
		ret = find_rates(c, now);
	if (!ret && now->exists && ipdev_get(route, key, &now->ip))
		ret = conn_refused(route);
	return ret;
}

void running_free(struct running *now)
{
	devices_free(&now->devices);
}
