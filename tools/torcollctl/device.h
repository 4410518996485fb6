/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices of this namespace, and how the file of a fabric names them. */
#ifndef _CTL_DEVICE_H
#define _CTL_DEVICE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;

/**
 * struct device - a network device
 * @ifindex: its number
 * @name: its present name
 * @mtu: its MTU
 * @up: it is switched on
 * @mac: its address; zero: it has none of Ethernet's length
 * @permanent: the address of the hardware; zero: not known
 */
struct device {
	uint32_t ifindex;
	char name[IFNAMSIZ];
	uint32_t mtu;
	bool up;
	uint8_t mac[6];
	uint8_t permanent[6];
};

struct devices {
	struct device *list;
	size_t n;
};

/**
 * devices_get - list all devices
 * @c: rtnetlink
 * @d: filled in; to be freed with devices_free()
 *
 * Return: 0 or a negative errno with conn->text.
 */
int devices_get(struct conn *c, struct devices *d);
void devices_free(struct devices *d);

/* Switch a device on; with @mtu, set its MTU before. Return as devices_get(). */
int device_set(struct conn *c, uint32_t ifindex, uint32_t mtu);

const struct device *devices_at(const struct devices *d, uint32_t ifindex);

/**
 * devices_find - find the device that a file names
 * @d: devices
 * @word: a name, mac:aa:bb:cc:dd:ee:ff, or path: and udev's ID_PATH
 * @why: out: why there is none, a sentence's end
 * @size: of @why
 *
 * An address of hardware comes before one that is set: a VLAN has that of the
 * device below it.
 *
 * Return: the device, or NULL.
 */
const struct device *devices_find(const struct devices *d, const char *word, char *why,
				  size_t size);

#endif
