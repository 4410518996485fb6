// SPDX-License-Identifier: GPL-2.0
/* What has to change for a host to be as the file of a fabric says. */
#include <stdio.h>
#include <string.h>

#include "change.h"

const char *change_dims(const struct tor_torus *torus, char text[CHANGE_DIMS_SIZE])
{
	return host_torus_print(text, torus);
}

static bool differ(const char *what, uint32_t now, uint32_t want, const char *unit, char *text,
		   size_t size)
{
	if (now == want)
		return false;
	snprintf(text, size, "%s: %u%s runs, %u%s is in the file", what, now, unit, want, unit);
	return true;
}

static bool ethertypes_differ(uint32_t now, uint32_t want, char *text, size_t size)
{
	if (now == want)
		return false;
	snprintf(text, size, "ethertype: 0x%04x runs, 0x%04x is in the file", now, want);
	return true;
}

static bool dims_differ(const struct tor_torus *now, const struct tor_torus *want, char *text,
			size_t size)
{
	char a[CHANGE_DIMS_SIZE], b[CHANGE_DIMS_SIZE];

	if (!strcmp(change_dims(now, a), change_dims(want, b)))
		return false;
	snprintf(text, size, "dims: %s runs, %s is in the file", a, b);
	return true;
}

static bool checksums_differ(bool now, bool want, char *text, size_t size)
{
	if (now == want)
		return false;
	snprintf(text, size, "checksum: %s runs, %s is in the file", now ? "header" : "full",
		 want ? "header" : "full");
	return true;
}

bool change_fabric_differs(const struct running *now, const struct conf_fabric *want,
			   uint32_t node, char *text, size_t size)
{
	const struct conf_fabric *f = &now->fabric;

	return dims_differ(&f->torus, &want->torus, text, size) ||
	       differ("cables", f->torus.cables, want->torus.cables, "", text, size) ||
	       differ("index", now->node, node, "", text, size) ||
	       ethertypes_differ(f->ethertype, want->ethertype, text, size) ||
	       differ("hello", f->hello_ms, want->hello_ms, "ms", text, size) ||
	       differ("frame-size", f->frame_size, want->frame_size, "", text, size) ||
	       checksums_differ(f->checksum_header, want->checksum_header, text, size);
}

static struct change *add(struct changes *changes, enum change_kind kind)
{
	struct change *change = &changes->list[changes->n++];

	*change = (struct change){ .kind = kind };
	return change;
}

static void find_limits(struct changes *changes, const struct conf *conf,
			const struct running *now)
{
	uint32_t differ = 0, i;

	for (i = 0; i < CONF_LIMITS; i++)
		if (conf->limits & 1U << i && conf->limit[i] != now->limit[i])
			differ |= 1U << i;
	if (differ)
		add(changes, CHANGE_LIMITS)->limits = differ;
}

/* Return whether ports that exist stay. */
static bool find_fabric(struct changes *changes, const struct conf *conf, size_t node,
			const struct running *now)
{
	char text[160];
	bool stays = now->exists && !change_fabric_differs(now, &conf->fabric,
							   conf->node[node].index, text,
							   sizeof(text));

	if (!stays) {
		if (now->exists)
			add(changes, CHANGE_FABRIC_DEL);
		add(changes, CHANGE_FABRIC_ADD);
	}
	if (conf->has_rates &&
	    (!stays || memcmp(now->rate, conf->rate, sizeof(conf->rate))))
		add(changes, CHANGE_RATES);
	return stays;
}

static void find_devices(const struct device *want[TOR_MAX_PORTS], struct changes *changes,
			 const struct conf *conf, size_t node, const struct running *now)
{
	size_t i;

	for (i = 0; i < conf->ports; i++) {
		struct missing *missing = &changes->missing[changes->lost];
		const struct conf_port *port = &conf->port[i];

		if (port->node != node)
			continue;
		want[port->port] = devices_find(&now->devices, port->device, missing->why,
						sizeof(missing->why));
		if (!want[port->port]) {
			missing->port = port;
			changes->lost++;
		}
	}
}

static void find_device_settings(struct changes *changes, const struct device *device,
				 uint32_t mtu)
{
	struct change *change;

	if (!mtu || (device->up && device->mtu == mtu))
		return;
	change = add(changes, CHANGE_DEVICE);
	change->device = device;
	change->mtu = device->mtu == mtu ? 0 : mtu;
}

static void find_port(struct changes *changes, enum change_kind kind, uint32_t port,
		      const struct device *device)
{
	struct change *change = add(changes, kind);

	change->port = port;
	change->device = device;
}

/* The network device goes with its fabric. */
static void find_ip(struct changes *changes, const struct conf *conf, const struct running *now,
		    bool stays)
{
	if (conf->ip.on && (!stays || ipdev_differs(&now->ip, &conf->ip)))
		add(changes, CHANGE_IP);
	if (now->names_stale)
		add(changes, CHANGE_NAMES);
}

void changes_find(struct changes *changes, const struct conf *conf, size_t node,
		  const struct running *now)
{
	const struct device *want[TOR_MAX_PORTS] = { NULL };
	uint32_t have[TOR_MAX_PORTS] = { 0 };
	uint32_t i;
	bool stays;

	changes->n = 0;
	changes->lost = 0;
	find_limits(changes, conf, now);
	stays = find_fabric(changes, conf, node, now);
	if (stays)
		memcpy(have, now->port, sizeof(have));
	find_devices(want, changes, conf, node, now);
	for (i = 0; i < TOR_MAX_PORTS; i++)
		if (have[i] && (!want[i] || want[i]->ifindex != have[i]))
			find_port(changes, CHANGE_PORT_DEL, i, NULL);
	for (i = 0; i < TOR_MAX_PORTS; i++)
		if (want[i])
			find_device_settings(changes, want[i], conf_mtu(conf, node));
	for (i = 0; i < TOR_MAX_PORTS; i++)
		if (want[i] && want[i]->ifindex != have[i])
			find_port(changes, CHANGE_PORT_ADD, i, want[i]);
	find_ip(changes, conf, now, stays);
}
