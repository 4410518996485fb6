// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a fabric: what only the whole file shows. Settings that are
 * missing, places that the shape does not have, things that occur twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf.h"

#define HOPS_MAX	255	/* that a frame can cross */

/* Name a port in a sentence, of which @text is a part. */
static const char *port_name(char text[HOST_PORT_TEXT], const struct conf_port *port)
{
	return host_port_print(text, port->dim, port->dir);
}

/* Check that the settings of a section that must be there are. */
static int check_given(const struct conf_parse *p, enum conf_section section, const char *header,
		       size_t needed)
{
	const struct conf_setting *s;
	size_t i, n;

	s = conf_settings(section, &n);
	for (i = 0; i < needed; i++)
		if (!(p->given[section] & 1U << i))
			return conf_fail(p, p->header[section], "%s has no %s", header, s[i].name);
	return 0;
}

static int check_fabric(struct conf_parse *p)
{
	struct tor_torus *torus = &p->conf->fabric.torus;
	int err;

	if (!p->header[CONF_FABRIC])
		return conf_fail(p, 0, "there is no section [fabric], with key and dims");
	/* key and dims come first in the table */
	err = check_given(p, CONF_FABRIC, "[fabric]", 2);
	if (err)
		return err;
	err = tor_torus_init(torus, p->sides, p->side, p->cables);
	if (err && host_chords_rule(p->sides, p->side))
		return conf_fail(p, p->header[CONF_FABRIC], "dims: %s, as in 16+4",
				 host_chords_rule(p->sides, p->side));
	if (err)
		return conf_fail(p, p->header[CONF_FABRIC], "dims: a fabric has 1 to %u nodes, and a node at most %d ports",
				 TOR_MAX_NODES, TOR_MAX_PORTS);
	if (tor_torus_diameter(torus) > HOPS_MAX)
		return conf_fail(p, p->header[CONF_FABRIC], "dims: nodes are more than %d links apart, the limit of a frame's path",
				 HOPS_MAX);
	return 0;
}

static int check_ip(const struct conf_parse *p)
{
	static const char *const names[IP_FAMILIES] = { "ip", "ip6" };
	const struct conf *conf = p->conf;
	const struct prefix *prefix = conf->ip.prefix;
	char text[PREFIX_TEXT_SIZE];
	size_t i;

	for (i = 0; i < IP_FAMILIES; i++)
		if (prefix[i].len && !prefix_holds(&prefix[i], conf->fabric.torus.nodes))
			return conf_fail(p, p->header[CONF_FABRIC], "%s: %s has no addresses for %u nodes",
					 names[i], prefix_text(&prefix[i], text),
					 conf->fabric.torus.nodes);
	if (*conf->hosts && !prefix[IP_4].len && !prefix[IP_6].len)
		return conf_fail(p, p->header[CONF_FABRIC], "hosts: without ip or ip6 nodes have no addresses for %s",
				 conf->hosts);
	return 0;
}

static int check_rates(struct conf_parse *p)
{
	p->conf->has_rates = p->header[CONF_RATE];
	return p->conf->has_rates ? check_given(p, CONF_RATE, "[rates]", CONF_RATES) : 0;
}

static int check_nodes(const struct conf_parse *p)
{
	const struct conf *conf = p->conf;
	size_t i;

	for (i = 0; i < conf->nodes; i++) {
		const struct conf_node *node = &conf->node[i];

		if (!node->has_index)
			return conf_fail(p, node->line, "[node %s] has no index", node->name);
		if (node->index >= conf->fabric.torus.nodes)
			return conf_fail(p, node->line, "[node %s]: index %u is not below %u, the number of nodes that dims give",
					 node->name, node->index, conf->fabric.torus.nodes);
	}
	return 0;
}

/* Give ports their numbers, and the name that the shape gives them. */
static void resolve_ports(struct conf_parse *p)
{
	const struct tor_torus *torus = &p->conf->fabric.torus;
	size_t i;

	for (i = 0; i < p->conf->ports; i++) {
		struct conf_port *port = &p->conf->port[i];

		port->port = tor_port_find(torus, port->dim, port->dir);
		if (port->port < torus->ports)
			port->dir = tor_port_dir(torus, port->port);
	}
}

static int fail_port(const struct conf_parse *p, const struct conf_port *port)
{
	const struct tor_torus *torus = &p->conf->fabric.torus;
	char name[HOST_PORT_TEXT], other[HOST_PORT_TEXT];
	uint32_t node = p->conf->node[port->node].index;

	port_name(name, port);
	if (port->port >= torus->ports)
		return conf_fail(p, port->line, "port %s: the shape has no cable there", name);
	if (torus->kind[port->dim] == TORCOLL_KIND_LINE)
		return conf_fail(p, port->line, "port %s: node %u is the end of a line and has no cable there",
				 name, node);
	if (torus->side[port->dim] != 2)
		return conf_fail(p, port->line, "port %s: the shape has no cable there", name);
	host_port_print(other, port->dim, port->dir == TOR_PLUS ? TOR_MINUS : TOR_PLUS);
	return conf_fail(p, port->line, "port %s: with one cable on a side of 2, node %u has port %s only (or set cables = 2)",
			 name, node, other);
}

static int check_ports(const struct conf_parse *p)
{
	const struct tor_torus *torus = &p->conf->fabric.torus;
	size_t i;

	for (i = 0; i < p->conf->ports; i++) {
		const struct conf_port *port = &p->conf->port[i];

		if (!tor_torus_has_port(torus, p->conf->node[port->node].index, port->port))
			return fail_port(p, port);
	}
	return 0;
}

/* --- what occurs twice --- */

static int by_name(const void *a, const void *b)
{
	const struct conf_node *const *x = a, *const *y = b;

	return strcasecmp((*x)->name, (*y)->name);
}

static int by_index(const void *a, const void *b)
{
	const struct conf_node *const *x = a, *const *y = b;

	return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

static int by_place(const void *a, const void *b)
{
	const struct conf_port *const *x = a, *const *y = b;

	if ((*x)->node != (*y)->node)
		return (*x)->node < (*y)->node ? -1 : 1;
	if ((*x)->dim != (*y)->dim)
		return (*x)->dim < (*y)->dim ? -1 : 1;
	if ((*x)->dir != (*y)->dir)
		return (*x)->dir < (*y)->dir ? -1 : 1;
	return ((*x)->cable > (*y)->cable) - ((*x)->cable < (*y)->cable);
}

/* An address is one host's; a name or path may be another host's, too. */
static int by_device(const void *a, const void *b)
{
	const struct conf_port *const *x = a, *const *y = b;
	bool x_mac = !strncmp((*x)->device, "mac:", 4);
	bool y_mac = !strncmp((*y)->device, "mac:", 4);

	if (x_mac != y_mac)
		return x_mac ? -1 : 1;
	if (!x_mac && (*x)->node != (*y)->node)
		return (*x)->node < (*y)->node ? -1 : 1;
	return strcmp((*x)->device, (*y)->device);
}

/*
 * Look for two of @n things, @size bytes apart, that are the same. Return 1
 * with their pointers in the order of the file in @two; 0: there are none;
 * -ENOMEM.
 */
static int find_two(const void *things, size_t n, size_t size,
		    int (*compare)(const void *a, const void *b), const void *two[2])
{
	const void **list = malloc(n * sizeof(*list) + 1);
	size_t i;
	int found = 0;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		list[i] = (const char *)things + i * size;
	qsort(list, n, sizeof(*list), compare);
	for (i = 1; i < n && !found; i++) {
		found = !compare(&list[i - 1], &list[i]);
		two[0] = list[i - 1] < list[i] ? list[i - 1] : list[i];
		two[1] = list[i - 1] < list[i] ? list[i] : list[i - 1];
	}
	free(list);
	return found;
}

static int check_nodes_differ(const struct conf_parse *p)
{
	const struct conf *conf = p->conf;
	const struct conf_node *two[2];
	int ret;

	ret = find_two(conf->node, conf->nodes, sizeof(*conf->node), by_name, (const void **)two);
	if (ret > 0)
		return conf_fail(p, two[1]->line, "[node %s] is here for the second time: line %u has the first one",
				 two[1]->name, two[0]->line);
	if (!ret)
		ret = find_two(conf->node, conf->nodes, sizeof(*conf->node), by_index,
			       (const void **)two);
	if (ret > 0)
		return conf_fail(p, two[1]->line, "[node %s]: index %u is that of [node %s] in line %u, too",
				 two[1]->name, two[1]->index, two[0]->name, two[0]->line);
	return ret;
}

static int check_ports_differ(const struct conf_parse *p)
{
	const struct conf *conf = p->conf;
	const struct conf_port *two[2];
	char name[HOST_PORT_TEXT];
	int ret;

	ret = find_two(conf->port, conf->ports, sizeof(*conf->port), by_place, (const void **)two);
	if (ret > 0)
		return conf_fail(p, two[1]->line, "port %s is here for the second time: line %u has the first one (several devices of a port are in one line)",
				 port_name(name, two[1]), two[0]->line);
	if (!ret)
		ret = find_two(conf->port, conf->ports, sizeof(*conf->port), by_device,
			       (const void **)two);
	if (ret > 0)
		return conf_fail(p, two[1]->line, "device %s is that of port %s in line %u, too",
				 two[1]->device, port_name(name, two[0]), two[0]->line);
	return ret;
}

int conf_check(struct conf_parse *p)
{
	int err = check_fabric(p);

	if (!err)
		err = check_ip(p);
	if (!err)
		err = check_rates(p);
	if (!err)
		resolve_ports(p);
	if (!err)
		err = check_nodes(p);
	if (!err)
		err = check_nodes_differ(p);
	if (!err)
		err = check_ports_differ(p);
	if (!err)
		err = check_ports(p);
	if (err == -ENOMEM)
		conf_fail(p, 0, "out of memory");
	return err;
}
