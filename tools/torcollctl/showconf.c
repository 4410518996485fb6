// SPDX-License-Identifier: GPL-2.0
/* torcollctl showconf: what runs on this host, as a file of a fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "tune.h"

static const char help[] =
	"Usage: torcollctl showconf [KEY] [as NAME]\n"
	"\n"
	"Prints a fabric of this host in the form of torcoll.conf(5), for apply.\n"
	"\n"
	"as        the section's name, instead of this host's\n";

/* Fill in a cable of a link. Return whether it has a device. */
static bool fill_port(struct conf *conf, const struct running *now, uint32_t port, uint32_t k,
		      uint32_t cable)
{
	const struct device *device = devices_at(&now->devices, now->port[tor_cable(port, k)]);
	struct conf_port *to = &conf->port[conf->ports];
	uint32_t mtu = device && device->up ? device->mtu : 0;

	if (!device)
		return false;
	conf->node->mtu = !conf->ports || conf->node->mtu == mtu ? mtu : 0;
	to->dim = tor_port_dim(&now->fabric.torus, port);
	to->dir = tor_port_dir(&now->fabric.torus, port);
	to->cable = cable;
	conf_name_device(to->device, device->name, device->mac);
	conf->ports++;
	return true;
}

/* Fill in ports, and the MTU if all devices have the same one. */
static void fill_ports(struct conf *conf, const struct running *now)
{
	uint32_t port, k;

	for (port = 0; port < now->fabric.torus.ports; port++) {
		uint32_t cable = 0;

		for (k = 0; k < TOR_LINK_CABLES; k++)
			cable += fill_port(conf, now, port, k, cable);
	}
}

static struct conf_ip ip_of(const struct ipdev *dev)
{
	struct conf_ip ip = { .on = dev->ifindex };

	memcpy(ip.name, dev->name, sizeof(ip.name));
	memcpy(ip.prefix, dev->prefix, sizeof(ip.prefix));
	return ip;
}

static void print_running(const char *host, const struct running *now)
{
	struct conf_port port[TOR_MAX_CABLES] = { 0 };
	struct conf_node node = { .index = now->node };
	struct conf conf = {
		.fabric = now->fabric, .ip = ip_of(&now->ip), .node = &node, .nodes = 1, .port = port, .has_rates = true,
	};

	snprintf(node.name, sizeof(node.name), "%s", host);
	memcpy(conf.rate, now->rate, sizeof(conf.rate));
	fill_ports(&conf, now);
	conf_print(stdout, &conf);
}

static int show(struct conn *c, const char *key, const char *host)
{
	struct running now;
	struct place place;
	struct conn route;
	int ret = place_find(c, key, &place);

	if (ret)
		return ret;
	if (conn_open_route(&route))
		return conn_refused(&route);
	ret = running_get(c, &route, place.key, &now);
	if (!ret && !now.exists)
		ret = other_error("the fabric is gone");
	if (!ret)
		print_running(host, &now);
	running_free(&now);
	conn_close(&route);
	return ret;
}

static int parse(struct args *a, const char **key, const char **name)
{
	if (a->argc && *a->argv[0] >= '0' && *a->argv[0] <= '9')
		*key = arg_next(a);
	if (arg_is(a, "as")) {
		*name = arg_need(a, "the section's name");
		if (!*name)
			return CTL_USAGE;
	}
	if (arg_end(a))
		return CTL_USAGE;
	if (opt.json)
		return usage_error("showconf prints torcoll.conf(5)'s form only; \"torcollctl -j fabric show\" has JSON");
	return CTL_OK;
}

int showconf_main(struct args *a)
{
	const char *key = NULL, *name = NULL;
	char host[CONF_NAME_SIZE];
	struct conn c;
	int ret;

	if (a->argc && (!strcmp(a->argv[0], "help") || !strcmp(a->argv[0], "--help") ||
			!strcmp(a->argv[0], "-h"))) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (parse(a, &key, &name) || conn_need(&c))
		return CTL_USAGE;
	if (!name && !host_name_get(&c, host, sizeof(host)))
		name = host;
	if (!name)
		ret = conn_refused(&c);
	else if (!conf_is_host_name(name))
		ret = usage_error("\"%s\" cannot be the name of a section: give one with \"as NAME\"", name);
	else
		ret = show(&c, key, name);
	conn_close(&c);
	return ret;
}
