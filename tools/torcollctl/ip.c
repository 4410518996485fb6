// SPDX-License-Identifier: GPL-2.0
/* torcollctl fabric KEY ip: the network device of a fabric. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl.h"
#include "ip.h"
#include "ipdev.h"

static int parse_prefix(struct args *a, struct conf_ip *want, size_t family)
{
	const char *text = arg_need(a, ip_words[family]), *why;

	if (!text)
		return CTL_USAGE;
	if (!prefix_parse(&want->prefix[family], family == IP_4 ? AF_INET : AF_INET6, text, &why))
		return usage_error("%s: \"%s\" %s", ip_words[family], text, why);
	return CTL_OK;
}

static int parse_name(struct args *a, struct conf_ip *want)
{
	const char *name = arg_need(a, "the name of the device");

	if (!name)
		return CTL_USAGE;
	if (!conf_is_device_name(name))
		return usage_error("name: \"%s\" is no name of a device: 1 to %d characters such as tor0",
				   name, IFNAMSIZ - 1);
	memcpy(want->name, name, strlen(name) + 1);
	return CTL_OK;
}

static int parse_on(struct args *a, struct conf_ip *want)
{
	int ret = CTL_OK;

	while (!ret && a->argc) {
		if (arg_is(a, "name"))
			ret = parse_name(a, want);
		else if (arg_is(a, "prefix"))
			ret = parse_prefix(a, want, IP_4);
		else if (arg_is(a, "prefix6"))
			ret = parse_prefix(a, want, IP_6);
		else
			ret = arg_end(a);
	}
	return ret;
}

static int ip_on(struct args *a, struct conn *route, uint64_t key)
{
	struct conf_ip want = { .on = true };

	if (parse_on(a, &want))
		return CTL_USAGE;
	return ipdev_set(route, key, &want) ? conn_refused(route) : CTL_OK;
}

static int ip_off(struct args *a, struct conn *route, uint64_t key)
{
	struct ipdev dev;

	if (arg_end(a))
		return CTL_USAGE;
	if (ipdev_get(route, key, &dev) || (dev.ifindex && ipdev_delete(route, &dev)))
		return conn_refused(route);
	return CTL_OK;
}

/* --- showing --- */

static const char *mac_text(const struct ipdev *dev)
{
	const uint8_t *m = dev->mac;

	return fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void show_json(const struct ipdev *dev, uint64_t key)
{
	static const char *const own[IP_FAMILIES] = { "address", "address6" };
	struct json_object *list = json_object_new_array(), *o = json_object_new_object();
	char text[PREFIX_TEXT_SIZE];
	size_t i;

	json_object_object_add(o, "fabric", json_object_new_uint64(key));
	json_object_object_add(o, "ifname", json_object_new_string(dev->name));
	json_object_object_add(o, "ifindex", json_object_new_int64(dev->ifindex));
	json_object_object_add(o, "node", json_object_new_int64(dev->node));
	json_object_object_add(o, "up", json_object_new_boolean(dev->up));
	json_object_object_add(o, "mtu", json_object_new_int64(dev->mtu));
	json_object_object_add(o, "mac", json_object_new_string(mac_text(dev)));
	for (i = 0; i < IP_FAMILIES; i++) {
		if (!dev->prefix[i].len)
			continue;
		json_object_object_add(o, ip_words[i],
				       json_object_new_string(prefix_text(&dev->prefix[i], text)));
		if (dev->has[i])
			json_object_object_add(o, own[i], json_object_new_string(
				prefix_address_text(&dev->prefix[i], dev->node, text)));
	}
	if (dev->ifindex)
		json_object_array_add(list, json_object_get(o));
	json_object_put(o);
	js_print(list);
	json_object_put(list);
}

static void show_text(const struct ipdev *dev, uint64_t key)
{
	char prefix[PREFIX_TEXT_SIZE], own[PREFIX_TEXT_SIZE];
	size_t i;

	if (!dev->ifindex) {
		fprintf(stderr, "Fabric %llu has no network device in this network namespace: \"torcollctl fabric %llu ip on\" makes one.\n",
			(unsigned long long)key, (unsigned long long)key);
		return;
	}
	printf("%s: fabric %llu, node %u, %s, mtu %u, mac %s\n", fmt_plain(dev->name),
	       (unsigned long long)key, dev->node, dev->up ? "up" : "down", dev->mtu,
	       mac_text(dev));
	for (i = 0; i < IP_FAMILIES; i++) {
		const struct prefix *p = &dev->prefix[i];

		if (p->len)
			printf("    %s %s, here %s%s\n", ip_words[i], prefix_text(p, prefix),
			       prefix_address_text(p, dev->node, own),
			       dev->has[i] ? "" : ", which the device does not have");
	}
}

static int ip_show(struct args *a, struct conn *route, uint64_t key)
{
	struct ipdev dev;

	if (arg_end(a))
		return CTL_USAGE;
	if (ipdev_get(route, key, &dev))
		return conn_refused(route);
	if (opt.json)
		show_json(&dev, key);
	else
		show_text(&dev, key);
	return CTL_OK;
}

/* --- words --- */

struct verb {
	const char *name;
	int (*run)(struct args *a, struct conn *route, uint64_t key);
};

static const struct verb verbs[] = {
	{ "show", ip_show }, { "on", ip_on }, { "off", ip_off },
};

/* What the fabric itself says if there is none of that key is clearer. */
static int check_fabric(uint64_t key)
{
	struct nl_msg *msg;
	struct conn c;
	int ret = conn_need(&c);

	if (ret)
		return ret;
	msg = conn_request(&c, TORCOLL_CMD_FABRIC_GET, 0);
	if (msg)
		nla_put_u64(msg, TORCOLL_A_FABRIC_KEY, key);
	if (conn_call(&c, msg, NULL, NULL))
		ret = conn_refused(&c);
	conn_close(&c);
	return ret;
}

int ip_main(struct args *a, uint64_t key)
{
	const char *word = arg_next(a);
	struct conn route;
	int i, ret;

	i = word ? word_find(word, verbs, ARRAY_SIZE(verbs), sizeof(*verbs),
			     "command of ip (show, on or off)") : 0;
	if (i < 0)
		return CTL_USAGE;
	ret = check_fabric(key);
	if (ret)
		return ret;
	if (conn_open_route(&route))
		return conn_refused(&route);
	ret = verbs[i].run(a, &route, key);
	conn_close(&route);
	return ret;
}
