/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What runs on this host, and what has to change for it to be as the file of a
 * fabric says. Comparing is pure.
 */
#ifndef _CTL_CHANGE_H
#define _CTL_CHANGE_H

#include "conf.h"
#include "device.h"
#include "ipdev.h"

/**
 * struct running - what runs
 * @exists: this host is a node of the file's fabric; else only @limit and
 *	@devices are set
 * @fabric: its settings
 * @node: index of this node
 * @comms: communicators that processes have on it
 * @port: by number of the cable (tor_cable()): device by its ifindex, 0: none
 * @rate: of the fabric
 * @limit: of this machine's users
 * @devices: of this network namespace
 * @ip: the network device of the fabric
 * @names_stale: the hosts file that the file names is not as it says
 */
struct running {
	bool exists;
	struct conf_fabric fabric;
	uint32_t node;
	uint32_t comms;
	uint32_t port[TOR_MAX_CABLES];
	uint64_t rate[CONF_RATES];
	uint64_t limit[CONF_LIMITS];
	struct devices devices;
	struct ipdev ip;
	bool names_stale;
};

/**
 * running_get - find out what runs
 * @c: torcoll's family
 * @route: rtnetlink
 * @key: of the fabric
 * @now: filled in; to be freed with running_free()
 *
 * Only asks; nothing is changed.
 *
 * Return: an exit code.
 */
int running_get(struct conn *c, struct conn *route, uint64_t key, struct running *now);
void running_free(struct running *now);

/* In this order: a device may go from one port to another. */
enum change_kind {
	CHANGE_LIMITS,
	CHANGE_FABRIC_DEL,
	CHANGE_FABRIC_ADD,
	CHANGE_RATES,
	CHANGE_PORT_DEL,
	CHANGE_DEVICE,
	CHANGE_PORT_ADD,
	CHANGE_IP,
	CHANGE_NAMES,
};

/**
 * struct change - a request to the kernel
 * @kind: which
 * @limits: bits of the limits that CHANGE_LIMITS sets
 * @port: number of the link, of CHANGE_PORT_*
 * @device: of CHANGE_PORT_ADD, and of CHANGE_DEVICE, which switches it on; of
 *	CHANGE_PORT_DEL, if the link has several
 * @mtu: of CHANGE_DEVICE; 0: it has the right one
 */
struct change {
	enum change_kind kind;
	uint32_t limits;
	uint32_t port;
	const struct device *device;
	uint32_t mtu;
};

/* A port without its device. */
struct missing {
	const struct conf_port *port;
	char why[128];
};

#define CHANGES_MAX	(6 + 3 * TOR_MAX_CABLES)

struct changes {
	struct change list[CHANGES_MAX];
	size_t n;
	struct missing missing[TOR_MAX_CABLES];
	size_t lost;
};

/**
 * changes_find - compare what runs with the file
 * @changes: filled in; refers to @conf and @now
 * @conf: file
 * @node: place of this host's section
 * @now: what runs
 */
void changes_find(struct changes *changes, const struct conf *conf, size_t node,
		  const struct running *now);

/*
 * Describe the first setting that cannot change while a fabric exists and
 * differs: "dims: 4 runs, 4x4 is in the file". Return whether there is one.
 */
bool change_fabric_differs(const struct running *now, const struct conf_fabric *want,
			   uint32_t node, char *text, size_t size);

/* "4x4"; @text holds 6 numbers of 10 digits */
#define CHANGE_DIMS_SIZE	HOST_SHAPE_TEXT
const char *change_dims(const struct tor_torus *torus, char text[CHANGE_DIMS_SIZE]);

#endif
