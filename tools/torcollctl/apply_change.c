// SPDX-License-Identifier: GPL-2.0
/* The changes of torcollctl apply: as commands to print, and as requests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "hosts.h"
#include "tune.h"

static const char *fabric_text(const struct apply *ap)
{
	const struct conf_fabric *f = &ap->conf.fabric;
	char dims[CHANGE_DIMS_SIZE];
	const char *text;

	text = fmt_str("torcollctl fabric add %llu dims %s node %u", (unsigned long long)f->key,
		       change_dims(&f->torus, dims), ap->conf.node[ap->node].index);
	if (f->torus.cables != 1)
		text = fmt_str("%s cables %u", text, f->torus.cables);
	if (f->ethertype != CONF_ETHERTYPE)
		text = fmt_str("%s ethertype 0x%04x", text, f->ethertype);
	if (f->hello_ms != CONF_HELLO_MS)
		text = fmt_str("%s hello %ums", text, f->hello_ms);
	if (f->checksum_header)
		text = fmt_str("%s checksum header", text);
	if (f->frame_size)
		text = fmt_str("%s frame %u", text, f->frame_size);
	return text;
}

static const char *rates_text(const struct apply *ap)
{
	const char *text = fmt_str("torcollctl tune set %llu",
				   (unsigned long long)ap->conf.fabric.key);
	size_t i;

	for (i = 0; i < RATES; i++)
		text = fmt_str("%s %s %llu", text, rates_table[i].name,
			       (unsigned long long)ap->conf.rate[i]);
	return text;
}

static const char *limits_text(const struct apply *ap, uint32_t which)
{
	const char *text = "torcollctl limit set";
	size_t i;

	for (i = 0; i < LIMITS; i++)
		if (which & 1U << i)
			text = fmt_str("%s %s", text, limit_word(i, ap->conf.limit[i]));
	return text;
}

static const char *port_text(const struct apply *ap, const char *verb, uint32_t port)
{
	const struct tor_torus *t = &ap->conf.fabric.torus;

	return fmt_str("torcollctl port %s %llu dim %u dir %s", verb,
		       (unsigned long long)ap->conf.fabric.key, tor_port_dim(t, port),
		       dir_name(tor_port_dir(t, port)));
}

static const char *ip_text(const struct apply *ap)
{
	const struct conf_ip *ip = &ap->conf.ip;
	const char *text = fmt_str("torcollctl fabric %llu ip on",
				   (unsigned long long)ap->conf.fabric.key);
	char prefix[PREFIX_TEXT_SIZE];
	size_t i;

	if (*ip->name)
		text = fmt_str("%s name %s", text, ip->name);
	for (i = 0; i < IP_FAMILIES; i++)
		if (ip->prefix[i].len)
			text = fmt_str("%s %s %s", text, ip_words[i],
				       prefix_text(&ip->prefix[i], prefix));
	return text;
}

static const char *change_text(const struct apply *ap, const struct change *change)
{
	switch (change->kind) {
	case CHANGE_LIMITS:
		return limits_text(ap, change->limits);
	case CHANGE_FABRIC_DEL:
		return fmt_str("torcollctl fabric del %llu%s",
			       (unsigned long long)ap->conf.fabric.key, ap->force ? " force" : "");
	case CHANGE_FABRIC_ADD:
		return fabric_text(ap);
	case CHANGE_RATES:
		return rates_text(ap);
	case CHANGE_PORT_DEL:
		return change->device ? fmt_str("torcollctl port del dev %s", change->device->name) :
					port_text(ap, "del", change->port);
	case CHANGE_PORT_ADD:
		return fmt_str("%s dev %s", port_text(ap, "add", change->port),
			       change->device->name);
	case CHANGE_DEVICE:
		return fmt_str("ip link set %s%s up", change->device->name,
			       change->mtu ? fmt_str(" mtu %u", change->mtu) : "");
	case CHANGE_IP:
		return ip_text(ap);
	case CHANGE_NAMES:
		return fmt_str("torcollctl hosts %s %s %s", ap->file,
			       ap->remove ? "remove" : "write", ap->conf.hosts);
	}
	return "";
}

/* --- making them --- */

static int set_fabric(struct apply *ap)
{
	const struct conf_fabric *f = &ap->conf.fabric;
	struct fabric_spec spec = {
		.key = f->key,
		.node = ap->conf.node[ap->node].index,
		.ethertype = f->ethertype,
		.hello_ms = f->hello_ms,
		.frame_size = f->frame_size,
		.checksum_header = f->checksum_header,
	};

	shape_from_torus(&spec.shape, &f->torus);
	return fabric_new(&ap->c, &spec);
}

static int set_rates(struct apply *ap)
{
	struct tor_rates rates;
	size_t i;

	for (i = 0; i < RATES; i++)
		*rate_at(&rates, i) = ap->conf.rate[i];
	return rates_send(&ap->c, ap->conf.fabric.key, &rates);
}

/* Return whether a change is one by rtnetlink. */
static bool is_of_route(const struct change *change)
{
	return change->kind == CHANGE_DEVICE || change->kind == CHANGE_IP;
}

/*
 * Return 0, or else the text of the connection says why. CHANGE_NAMES has printed the
 * reason.
 */
static int change_make(struct apply *ap, const struct change *change)
{
	const struct tor_torus *t = &ap->conf.fabric.torus;
	uint64_t key = ap->conf.fabric.key;

	switch (change->kind) {
	case CHANGE_LIMITS:
		return limits_set(&ap->c, ap->conf.limit, change->limits);
	case CHANGE_FABRIC_DEL:
		return fabric_delete(&ap->c, key, ap->force);
	case CHANGE_FABRIC_ADD:
		return set_fabric(ap);
	case CHANGE_RATES:
		return set_rates(ap);
	case CHANGE_PORT_DEL:
		return port_delete(&ap->c, key, tor_port_dim(t, change->port),
				   tor_port_dir(t, change->port),
				   change->device ? change->device->ifindex : 0);
	case CHANGE_PORT_ADD:
		return port_new(&ap->c, key, tor_port_dim(t, change->port),
				tor_port_dir(t, change->port), change->device->ifindex);
	case CHANGE_DEVICE:
		return device_set(&ap->route, change->device->ifindex, change->mtu);
	case CHANGE_IP:
		return ipdev_set(&ap->route, key, &ap->conf.ip);
	case CHANGE_NAMES:
		return hosts_update(&ap->conf, ap->conf.hosts, ap->remove, false) < 0;
	}
	return -EINVAL;
}

bool apply_change(struct apply *ap, const struct change *change)
{
	const char *text = change_text(ap, change);
	const struct conn *c = is_of_route(change) ? &ap->route : &ap->c;

	if (!ap->dry && change_make(ap, change)) {
		if (change->kind != CHANGE_NAMES)
			other_error("%s: %s", text, c->text);
		ap->ret = CTL_REFUSED;
		return change->kind != CHANGE_FABRIC_DEL && change->kind != CHANGE_FABRIC_ADD;
	}
	if (!opt.json)
		puts(fmt_plain(text));
	json_object_array_add(ap->commands, json_object_new_string(text));
	return true;
}
