// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a fabric: settings and their values. Those that the module would
 * refuse are refused here, before anything is changed.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/torcoll_survey.h>
#include <math.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "amount.h"
#include "conf.h"
#include "core/wire/wire.h"

#define PS_MAX		10000000000000ULL	/* 10 s */
#define FS_MAX		10000000000ULL		/* 10 us */

/* Return where the value of a setting of the present section belongs. */
static void *place(struct conf_parse *p, const struct conf_setting *s)
{
	struct conf *conf = p->conf;

	if (p->section == CONF_NODE)
		return (char *)&conf->node[conf->nodes - 1] + s->offset;
	return (char *)conf + s->offset;
}

static int parse_number(struct conf_parse *p, const struct conf_setting *s, const char *value,
			uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(value, &end, value[0] == '0' && (value[1] | 0x20) == 'x' ? 16 : 10);
	if (*value < '0' || *value > '9' || *end)
		return conf_fail(p, p->line, "%s: \"%s\" is not a whole number", s->name, value);
	if (errno || *n < s->min || *n > s->max)
		return conf_fail(p, p->line, "%s: %s is not between %llu and %llu", s->name, value,
				 (unsigned long long)s->min, (unsigned long long)s->max);
	return 0;
}

static int set_u64(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	return parse_number(p, s, value, place(p, s));
}

static int set_u32(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	uint64_t n;
	int err = parse_number(p, s, value, &n);

	if (!err)
		*(uint32_t *)place(p, s) = n;
	return err;
}

static int set_index(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	p->conf->node[p->conf->nodes - 1].has_index = true;
	return set_u32(p, s, value);
}

/* The shape itself needs cables as well, and is made at the end. */
static int set_cables(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	uint64_t n;
	int err = parse_number(p, s, value, &n);

	if (!err)
		p->cables = n;
	return err;
}

static int set_dims(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	p->sides = host_shape_parse(value, p->side);
	if (p->sides)
		return 0;
	return conf_fail(p, p->line, "dims: \"%s\" is not 1 to %d numbers like 4x4; :line or :mesh behind one that is no ring; + and the step of chords behind a ring",
			 value, TOR_MAX_DIMS);
}

static int set_ethertype(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	int err = set_u32(p, s, value);

	if (err)
		return err;
	switch (p->conf->fabric.ethertype) {
	case ETH_P_IP:
	case ETH_P_IPV6:
	case ETH_P_ARP:
	case ETH_P_8021Q:
	case ETH_P_8021AD:
	case ETH_P_MACSEC:
	case TORCOLL_SURVEY_ETHERTYPE:
		return conf_fail(p, p->line, "ethertype: %s belongs to another protocol", value);
	}
	return 0;
}

static int set_hello(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	char *unit;
	double ms = strtod(value, &unit);

	if (*value < '0' || *value > '9' || !isfinite(ms) ||
	    (*unit && strcmp(unit, "ms") && strcmp(unit, "s")))
		return conf_fail(p, p->line, "hello: \"%s\" is not a time like 200ms or 1s", value);
	if (!strcmp(unit, "s"))
		ms *= 1000;
	if (ms < s->min || ms > s->max)
		return conf_fail(p, p->line, "hello: %s is not between %llums and %llus", value,
				 (unsigned long long)s->min, (unsigned long long)s->max / 1000);
	p->conf->fabric.hello_ms = ms;
	return 0;
}

static int set_checksum(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	bool header = !strcmp(value, "header");

	if (!header && strcmp(value, "full"))
		return conf_fail(p, p->line, "checksum: \"%s\" is neither full nor header", value);
	p->conf->fabric.checksum_header = header;
	return 0;
}

static int set_prefix(struct conf_parse *p, const struct conf_setting *s, const char *value,
		      int family)
{
	const char *why;

	p->conf->ip.on = true;
	if (!prefix_parse(place(p, s), family, value, &why))
		return conf_fail(p, p->line, "%s: \"%s\" %s", s->name, value, why);
	return 0;
}

static int set_ip(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	return set_prefix(p, s, value, AF_INET);
}

static int set_ip6(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	return set_prefix(p, s, value, AF_INET6);
}

static int set_ip_device(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	if (!conf_is_device_name(value))
		return conf_fail(p, p->line, "%s: \"%s\" is no name of a device: 1 to %d characters such as tor0",
				 s->name, value, IFNAMSIZ - 1);
	p->conf->ip.on = true;
	memcpy(place(p, s), value, strlen(value) + 1);
	return 0;
}

static int set_hosts(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	if (*value != '/' || strlen(value) >= CONF_PATH_SIZE)
		return conf_fail(p, p->line, "%s: \"%s\" is no absolute path of up to %d characters, such as /etc/hosts",
				 s->name, value, CONF_PATH_SIZE - 1);
	memcpy(place(p, s), value, strlen(value) + 1);
	return 0;
}

static int set_suffix(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	if (!conf_is_host_name(value))
		return conf_fail(p, p->line, "%s: \"%s\" is no end of a host name: letters, digits, dots, hyphens and underscores, as in -tor",
				 s->name, value);
	memcpy(place(p, s), value, strlen(value) + 1);
	return 0;
}

static int set_limit(struct conf_parse *p, const struct conf_setting *s, const char *value)
{
	uint64_t *limit = place(p, s);

	if (!strcmp(value, "none"))
		*limit = UINT64_MAX;
	else if (!parse_amount(value, limit))
		return conf_fail(p, p->line, "%s: \"%s\" is no amount such as 512, 16K, 2M, 1G, or none",
				 s->name, value);
	p->conf->limits |= 1U << (limit - p->conf->limit);
	return 0;
}

#define FABRIC(_member)	offsetof(struct conf, fabric._member)
#define RATE(_i)	offsetof(struct conf, rate[_i])
#define LIMIT(_i)	offsetof(struct conf, limit[_i])

static const struct conf_setting fabric_settings[] = {
	{ "key", set_u64, FABRIC(key), 0, UINT64_MAX },
	{ "dims", set_dims },
	{ "cables", set_cables, 0, 1, 2 },
	{ "ethertype", set_ethertype, FABRIC(ethertype), ETH_P_802_3_MIN, 0xffff },
	{ "hello", set_hello, 0, 10, 10000 },
	{ "checksum", set_checksum },
	{ "frame-size", set_u32, FABRIC(frame_size), TOR_WIRE_FRAME_MIN, 65535 },
	{ "mtu", set_u32, offsetof(struct conf, mtu), CONF_MTU_MIN, CONF_MTU_MAX },
	{ "ip", set_ip, offsetof(struct conf, ip.prefix[IP_4]) },
	{ "ip6", set_ip6, offsetof(struct conf, ip.prefix[IP_6]) },
	{ "ip-device", set_ip_device, offsetof(struct conf, ip.name) },
	{ "hosts", set_hosts, offsetof(struct conf, hosts) },
	{ "host-suffix", set_suffix, offsetof(struct conf, suffix) },
};

static const struct conf_setting node_settings[] = {
	{ "index", set_index, offsetof(struct conf_node, index), 0, TOR_MAX_NODES - 1 },
	{ "mtu", set_u32, offsetof(struct conf_node, mtu), CONF_MTU_MIN, CONF_MTU_MAX },
};

static const struct conf_setting rate_settings[CONF_RATES] = {
	{ "op-ps", set_u64, RATE(0), 0, PS_MAX },
	{ "round-ps", set_u64, RATE(1), 0, PS_MAX },
	{ "hop-ps", set_u64, RATE(2), 0, PS_MAX },
	{ "message-ps", set_u64, RATE(3), 0, PS_MAX },
	{ "link-fs", set_u64, RATE(4), 0, FS_MAX },
	{ "byte-fs", set_u64, RATE(5), 0, FS_MAX },
};

static const struct conf_setting limit_settings[CONF_LIMITS] = {
	{ "comms", set_limit, LIMIT(0) },
	{ "ops", set_limit, LIMIT(1) },
	{ "pinned", set_limit, LIMIT(2) },
	{ "kernel", set_limit, LIMIT(3) },
	{ "fabrics", set_limit, LIMIT(4) },
	{ "tables", set_limit, LIMIT(5) },
	{ "hellos", set_limit, LIMIT(6) },
};

#define TABLE(_table)	{ _table, sizeof(_table) / sizeof((_table)[0]) }

const struct conf_setting *conf_settings(enum conf_section section, size_t *n)
{
	static const struct {
		const struct conf_setting *list;
		size_t n;
	} tables[] = {
		[CONF_FABRIC] = TABLE(fabric_settings),
		[CONF_NODE] = TABLE(node_settings),
		[CONF_RATE] = TABLE(rate_settings),
		[CONF_LIMIT] = TABLE(limit_settings),
	};

	*n = tables[section].n;
	return tables[section].list;
}

/* --- ports --- */

/* Check "aa:bb:cc:dd:ee:ff", and make its letters small. */
static bool is_mac(char *mac)
{
	size_t i;

	for (i = 0; i < 17; i++) {
		if (mac[i] >= 'A' && mac[i] <= 'F')
			mac[i] |= 0x20;
		if (i % 3 == 2 ? mac[i] != ':' : !mac[i] || !strchr("0123456789abcdef", mac[i]))
			return false;
	}
	return !mac[i];
}

static bool is_device(char *device)
{
	if (!strncmp(device, "mac:", 4))
		return is_mac(device + 4);
	if (!strncmp(device, "path:", 5))
		return device[5] && !strpbrk(device, " \t");
	return conf_is_device_name(device);
}

static int parse_port(struct conf_parse *p, const char *word, struct conf_port *port)
{
	const char *at = word + 4;

	at += strspn(at, " \t");
	if (host_port_parse(at, &port->dim, &port->dir))
		return 0;
	return conf_fail(p, p->line, "\"%s\" names no port: a dimension from 0 to %d and + or -, such as \"port 0+\", or in a mesh + and a number of steps",
			 word, TOR_MAX_DIMS - 1);
}

/* Add a device of a line. */
static int add_device(struct conf_parse *p, const char *word, const struct conf_port *place,
		      uint32_t cable, const char *name, size_t len)
{
	struct conf *conf = p->conf;
	struct conf_port *port;

	/* as nodes */
	if (!(conf->ports & (conf->ports - 1))) {
		port = realloc(conf->port, (conf->ports ? 2 * conf->ports : 1) * sizeof(*port));
		if (!port) {
			conf_fail(p, p->line, "out of memory");
			return -ENOMEM;
		}
		conf->port = port;
	}
	port = &conf->port[conf->ports];
	*port = *place;
	port->cable = cable;
	if (len < sizeof(port->device))
		memcpy(port->device, name, len);
	if (!is_device(port->device))
		return conf_fail(p, p->line, "%s: \"%.*s\" is no device: a name of 1 to %d characters such as enp1s0, mac:aa:bb:cc:dd:ee:ff, or path:pci-0000:01:00.0",
				 word, (int)len, name, IFNAMSIZ - 1);
	conf->ports++;
	return 0;
}

int conf_set_port(struct conf_parse *p, const char *word, const char *value)
{
	struct conf_port place = { .line = p->line, .node = p->conf->nodes - 1 };
	int err = parse_port(p, word, &place);
	uint32_t cable = 0;

	do {
		size_t len = strcspn(value, " \t");

		if (!err && cable == TOR_LINK_CABLES)
			err = conf_fail(p, p->line, "%s: more than %d devices", word,
					TOR_LINK_CABLES);
		if (!err)
			err = add_device(p, word, &place, cable++, value, len);
		value += len;
		value += strspn(value, " \t");
	} while (!err && *value);
	return err;
}
