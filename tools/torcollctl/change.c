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

static void find_devices(const struct device *want[TOR_MAX_CABLES], struct changes *changes,
			 const struct conf *conf, size_t node, const struct running *now)
{
	size_t i;

	for (i = 0; i < conf->ports; i++) {
		struct missing *missing = &changes->missing[changes->lost];
		const struct conf_port *port = &conf->port[i];
		const struct device **device = &want[tor_cable(port->port, port->cable)];

		if (port->node != node)
			continue;
		*device = devices_find(&now->devices, port->device, missing->why,
				       sizeof(missing->why));
		if (!*device) {
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

/* Return whether a link has a device, or is to have it: its cables are alike. */
static bool link_has(const uint32_t have[TOR_MAX_CABLES], uint32_t port, uint32_t ifindex)
{
	uint32_t k;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		if (have[tor_cable(port, k)] == ifindex)
			return true;
	return false;
}

static bool link_wants(const struct device *const want[TOR_MAX_CABLES], uint32_t port,
		       uint32_t ifindex)
{
	uint32_t k;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		if (want[tor_cable(port, k)] && want[tor_cable(port, k)]->ifindex == ifindex)
			return true;
	return false;
}

/* Return the device by which a port must be named, since its link has several. */
static const struct device *name_of(const struct running *now, uint32_t cable)
{
	uint32_t k, n = 0;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		n += !!now->port[tor_cable(tor_cable_link(cable), k)];
	return n > 1 ? devices_at(&now->devices, now->port[cable]) : NULL;
}

/* Link by link, so that a file's devices are added in their order. */
static void find_ports(struct changes *changes, const struct running *now,
		       const uint32_t have[TOR_MAX_CABLES],
		       const struct device *const want[TOR_MAX_CABLES], uint32_t mtu)
{
	uint32_t port, k;

	for (port = 0; port < TOR_MAX_PORTS; port++)
		for (k = 0; k < TOR_LINK_CABLES; k++) {
			uint32_t at = tor_cable(port, k);

			if (have[at] && !link_wants(want, port, have[at]))
				find_port(changes, CHANGE_PORT_DEL, port, name_of(now, at));
		}
	for (port = 0; port < TOR_MAX_PORTS; port++)
		for (k = 0; k < TOR_LINK_CABLES; k++)
			if (want[tor_cable(port, k)])
				find_device_settings(changes, want[tor_cable(port, k)], mtu);
	for (port = 0; port < TOR_MAX_PORTS; port++)
		for (k = 0; k < TOR_LINK_CABLES; k++) {
			const struct device *device = want[tor_cable(port, k)];

			if (device && !link_has(have, port, device->ifindex))
				find_port(changes, CHANGE_PORT_ADD, port, device);
		}
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
	const struct device *want[TOR_MAX_CABLES] = { NULL };
	uint32_t have[TOR_MAX_CABLES] = { 0 };
	bool stays;

	changes->n = 0;
	changes->lost = 0;
	find_limits(changes, conf, now);
	stays = find_fabric(changes, conf, node, now);
	if (stays)
		memcpy(have, now->port, sizeof(have));
	find_devices(want, changes, conf, node, now);
	find_ports(changes, now, have, want, conf_mtu(conf, node));
	find_ip(changes, conf, now, stays);
}
