// SPDX-License-Identifier: GPL-2.0
/* The file of a fabric: writing one. */
#include "conf.h"

/* Devices may have one that is none for a fabric. */
static void print_mtu(FILE *out, uint32_t mtu)
{
	if (mtu >= CONF_MTU_MIN && mtu <= CONF_MTU_MAX)
		fprintf(out, "mtu = %u\n", mtu);
}

static void print_fabric(FILE *out, const struct conf *conf)
{
	const struct conf_fabric *f = &conf->fabric;
	char dims[HOST_SHAPE_TEXT];

	fprintf(out, "[fabric]\nkey = %llu\ndims = %s\n", (unsigned long long)f->key,
		host_torus_print(dims, &f->torus));
	if (f->torus.cables != 1)
		fprintf(out, "cables = %u\n", f->torus.cables);
	if (f->ethertype != CONF_ETHERTYPE)
		fprintf(out, "ethertype = 0x%04x\n", f->ethertype);
	if (f->hello_ms != CONF_HELLO_MS)
		fprintf(out, "hello = %ums\n", f->hello_ms);
	if (f->checksum_header)
		fputs("checksum = header\n", out);
	if (f->frame_size)
		fprintf(out, "frame-size = %u\n", f->frame_size);
	print_mtu(out, conf->mtu);
}

static void print_ip(FILE *out, const struct conf *conf)
{
	const struct conf_ip *ip = &conf->ip;
	char text[PREFIX_TEXT_SIZE];

	if (ip->prefix[IP_4].len)
		fprintf(out, "ip = %s\n", prefix_text(&ip->prefix[IP_4], text));
	if (ip->prefix[IP_6].len)
		fprintf(out, "ip6 = %s\n", prefix_text(&ip->prefix[IP_6], text));
	if (conf_is_plain_device(ip->name))
		fprintf(out, "ip-device = %s\n", ip->name);
	if (*conf->hosts)
		fprintf(out, "hosts = %s\n", conf->hosts);
	if (*conf->suffix)
		fprintf(out, "host-suffix = %s\n", conf->suffix);
}

/* The devices of a port follow each other. */
static void print_device(FILE *out, const struct conf *conf, size_t i)
{
	const struct conf_port *port = &conf->port[i];
	const struct conf_port *next = i + 1 < conf->ports ? port + 1 : NULL;
	char name[HOST_PORT_TEXT];

	if (!port->cable)
		fprintf(out, "port %s =", host_port_print(name, port->dim, port->dir));
	fprintf(out, " %s", port->device);
	if (!next || next->node != port->node || !next->cable)
		fputc('\n', out);
}

static void print_node(FILE *out, const struct conf *conf, size_t place)
{
	const struct conf_node *node = &conf->node[place];
	size_t i;

	fprintf(out, "\n[node %s]\nindex = %u\n", node->name, node->index);
	print_mtu(out, node->mtu);
	for (i = 0; i < conf->ports; i++)
		if (conf->port[i].node == place)
			print_device(out, conf, i);
}

void conf_print_rates(FILE *out, const uint64_t rate[CONF_RATES])
{
	const struct conf_setting *s;
	size_t i, n;

	fputs("[rates]\n", out);
	s = conf_settings(CONF_RATE, &n);
	for (i = 0; i < n; i++)
		fprintf(out, "%s = %llu\n", s[i].name, (unsigned long long)rate[i]);
}

static void print_limits(FILE *out, const struct conf *conf)
{
	const struct conf_setting *s;
	size_t i, n;

	fputs("\n[limits]\n", out);
	s = conf_settings(CONF_LIMIT, &n);
	for (i = 0; i < n; i++) {
		if (!(conf->limits & 1U << i))
			continue;
		if (conf->limit[i] == UINT64_MAX)
			fprintf(out, "%s = none\n", s[i].name);
		else
			fprintf(out, "%s = %llu\n", s[i].name, (unsigned long long)conf->limit[i]);
	}
}

void conf_print(FILE *out, const struct conf *conf)
{
	size_t i;

	print_fabric(out, conf);
	print_ip(out, conf);
	for (i = 0; i < conf->nodes; i++)
		print_node(out, conf, i);
	if (conf->has_rates) {
		fputc('\n', out);
		conf_print_rates(out, conf->rate);
	}
	if (conf->limits)
		print_limits(out, conf);
}
