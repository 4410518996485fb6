// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What has to change for a host to be as the file says: exactly what differs, and nothing if nothing does. */
#include <errno.h>
#include <string.h>

#include "host_env.h"

#include "../../tools/torcollctl/amount.c"
#include "../../tools/torcollctl/change.c"
#include "../../tools/torcollctl/conf.c"
#include "../../tools/torcollctl/conf_check.c"
#include "../../tools/torcollctl/device_find.c"
#include "../../tools/torcollctl/conf_name.c"
#include "../../tools/torcollctl/conf_value.c"
#include "../../tools/torcollctl/ipdev_diff.c"
#include "../../tools/torcollctl/prefix.c"

static const char text[] =
	"[fabric]\nkey = 1\ndims = 4x2\nmtu = 9000\n"
	"[node a]\nindex = 0\nport 0+ = eth0\nport 0- = mac:02:00:00:00:00:01\nport 1+ = eth2\n"
	"[node b]\nindex = 1\nport 0+ = eth0\n"
	"[rates]\nop-ps = 1\nround-ps = 2\nhop-ps = 3\nmessage-ps = 4\nlink-fs = 5\nbyte-fs = 6\n"
	"[limits]\ncomms = 5\npinned = none\n";

static struct device devices[] = {
	{ 1, "lo", 65536, true },
	{ 2, "eth0", 9000, true, { 2, 0, 0, 0, 0, 0 } },
	{ 3, "eth1", 9000, true, { 2, 0, 0, 0, 0, 9 }, { 2, 0, 0, 0, 0, 1 } },
	{ 4, "eth2", 9000, true, { 2, 0, 0, 0, 0, 2 } },
	{ 5, "eth1.7", 9000, true, { 2, 0, 0, 0, 0, 1 } },
};

/* The file, and a host that is as it says. */
static int setup(struct conf *conf, struct running *now)
{
	char error[256];

	assert_int_equal(conf_parse(conf, "-", text, strlen(text), error, sizeof(error)), 0);
	*now = (struct running){
		.exists = true, .fabric = conf->fabric, .node = 0,
		.port = { 2, 3, 4 }, .rate = { 1, 2, 3, 4, 5, 6 },
		.limit = { 5, 100, UINT64_MAX, 100, 100, 100, 100 },
		.devices = { devices, ARRAY_SIZE(devices) },
	};
	return 0;
}

/* "kind kind kind" of what is to change. */
static void expect(const struct changes *changes, const char *want)
{
	static const char *const names[] = {
		"limits", "del", "add", "rates", "-port", "device", "+port", "ip", "names",
	};
	char got[256] = "";
	size_t i, at = 0;

	for (i = 0; i < changes->n; i++)
		at += snprintf(got + at, sizeof(got) - at, "%s%s", i ? " " : "",
			       names[changes->list[i].kind]);
	assert_string_equal(got, want);
}

static void swap_ports(struct running *now, uint32_t a, uint32_t b)
{
	uint32_t port = now->port[a];

	now->port[a] = now->port[b];
	now->port[b] = port;
}

static void changes__none(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	assert_int_equal(changes.lost, 0);
	conf_free(&conf);
}

static void changes__all(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	now.exists = false;
	memset(now.limit, 0, sizeof(now.limit));
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "limits add rates +port +port +port");
	assert_int_equal(changes.list[0].limits, 1 << 0 | 1 << 2);
	/* a change of what cannot change takes all with it */
	now.exists = true;
	now.fabric.hello_ms = 100;
	memcpy(now.limit, (uint64_t []){ 5, 0, UINT64_MAX }, 3 * sizeof(now.limit[0]));
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "del add rates +port +port +port");
	conf_free(&conf);
}

static void changes__ports(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	/* two are exchanged, one is not in the file */
	now.port[0] = 3;
	now.port[1] = 2;
	now.port[3] = 5;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "-port -port -port +port +port");
	assert_int_equal(changes.list[2].port, 3);
	assert_int_equal(changes.list[3].port, 0);
	assert_int_equal(changes.list[3].device->ifindex, 2);
	conf_free(&conf);
}

/* The devices of a link are a set: which is the first one does not matter. */
static void changes__several_devices_of_a_link(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	conf.port[2].port = 1;
	conf.port[2].cable = 1;
	now.port[2] = 0;
	now.port[tor_cable(1, 1)] = 4;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	swap_ports(&now, 1, tor_cable(1, 1));
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	/* another one is there, and one of both is not */
	now.port[tor_cable(1, 1)] = 5;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "-port +port");
	assert_int_equal(changes.list[0].port, 1);
	assert_int_equal(changes.list[0].device->ifindex, 5);
	assert_int_equal(changes.list[1].port, 1);
	assert_int_equal(changes.list[1].device->ifindex, 3);
	/* of one port the place says enough */
	now.port[1] = 0;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "-port +port +port");
	assert_null(changes.list[0].device);
	conf_free(&conf);
}

static void changes__devices(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	devices[1].mtu = 1500;
	devices[3].up = false;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "device device");
	assert_int_equal(changes.list[0].mtu, 9000);
	assert_int_equal(changes.list[1].mtu, 0);
	conf.mtu = 0;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	devices[1].mtu = 9000;
	devices[3].up = true;
	conf_free(&conf);
}

static void changes__missing(void **state)
{
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	strcpy(devices[3].name, "eth9");
	/* the hardware's address is gone, that of two devices is no name */
	memset(devices[2].permanent, 0, 6);
	memcpy(devices[2].mac, devices[4].mac, 6);
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "-port -port");
	assert_int_equal(changes.lost, 2);
	assert_string_equal(changes.missing[0].port->device, "mac:02:00:00:00:00:01");
	assert_string_equal(changes.missing[0].why, "it is both eth1 and eth1.7: name one of them");
	assert_string_equal(changes.missing[1].why,
			    "there is no such device in this network namespace (yet)");
	conf_free(&conf);
}

/* What may differ of the network device, and that it is left alone if the file does not speak of it. */
static void changes__ip(void **state)
{
	const char *why;
	struct changes changes;
	struct running now;
	struct conf conf;

	setup(&conf, &now);
	assert_true(prefix_parse(&conf.ip.prefix[IP_4], AF_INET, "10.7.0.0/24", &why));
	now.ip = (struct ipdev){ .ifindex = 9, .name = "tor1", .up = true, .has = { true } };
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	conf.ip.on = true;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "ip");
	now.ip.prefix[IP_4] = conf.ip.prefix[IP_4];
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "");
	now.ip.has[IP_4] = false;
	assert_true(ipdev_differs(&now.ip, &conf.ip));
	now.ip.has[IP_4] = true;
	now.ip.up = false;
	assert_true(ipdev_differs(&now.ip, &conf.ip));
	now.ip.up = true;
	strcpy(conf.ip.name, "tor0");
	assert_true(ipdev_differs(&now.ip, &conf.ip));
	strcpy(now.ip.name, "tor0");
	assert_false(ipdev_differs(&now.ip, &conf.ip));
	now.ip.prefix[IP_6] = (struct prefix){ AF_INET6, 64 };
	assert_true(ipdev_differs(&now.ip, &conf.ip));
	now.ip.ifindex = 0;
	assert_true(ipdev_differs(&now.ip, &conf.ip));
	/* it goes with the fabric */
	now.ip.ifindex = 9;
	now.fabric.hello_ms = 100;
	now.names_stale = true;
	changes_find(&changes, &conf, 0, &now);
	expect(&changes, "del add rates +port +port +port ip names");
	conf_free(&conf);
}

static void differs__names_both(void **state)
{
	struct running now;
	struct conf conf;
	char why[160];

	setup(&conf, &now);
	assert_false(change_fabric_differs(&now, &conf.fabric, 0, why, sizeof(why)));
	assert_true(change_fabric_differs(&now, &conf.fabric, 1, why, sizeof(why)));
	assert_string_equal(why, "index: 0 runs, 1 is in the file");
	conf.fabric.checksum_header = true;
	assert_true(change_fabric_differs(&now, &conf.fabric, 0, why, sizeof(why)));
	assert_string_equal(why, "checksum: full runs, header is in the file");
	conf.fabric.torus.side[1] = 3;
	assert_true(change_fabric_differs(&now, &conf.fabric, 0, why, sizeof(why)));
	assert_string_equal(why, "dims: 4x2 runs, 4x3 is in the file");
	conf_free(&conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes__none),
		cmocka_unit_test(changes__all),
		cmocka_unit_test(changes__ports),
		cmocka_unit_test(changes__several_devices_of_a_link),
		cmocka_unit_test(changes__devices),
		cmocka_unit_test(changes__ip),
		cmocka_unit_test(changes__missing),
		cmocka_unit_test(differs__names_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
