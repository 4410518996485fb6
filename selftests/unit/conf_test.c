// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The file of a fabric: what is understood, what is refused and where, and that no bytes do harm. */
#include <errno.h>
#include <string.h>

#include "host_env.h"

#include "../../tools/torcollctl/amount.c"
#include "../../tools/torcollctl/conf.c"
#include "../../tools/torcollctl/conf_check.c"
#include "../../tools/torcollctl/conf_edit.c"
#include "../../tools/torcollctl/conf_name.c"
#include "../../tools/torcollctl/conf_print.c"
#include "../../tools/torcollctl/conf_value.c"
#include "../../tools/torcollctl/prefix.c"

static const char lab[] =
	"# a torus of four\n"
	"[fabric]\n"
	"key = 0x10\n"
	"  dims=2x2  # two rings\n"
	"cables = 2\n"
	"ethertype = 0x88b7\n"
	"hello = 1s\n"
	"checksum = header\n"
	"frame-size = 4096\n"
	"mtu = 9000\r\n"
	"ip = 10.7.0.0/24\n"
	"ip6 = fd00:7::10/64\n"
	"ip-device = lab\n"
	"hosts = /etc/hosts\n"
	"host-suffix = -tor\n"
	"\n"
	"[ node lab0.example.org ]\n"
	"index = 0\n"
	"port 0+ = enp1s0\n"
	"port 0- = mac:AA:bb:cc:00:11:22\n"
	"port 1+ = path:pci-0000:01:00.0\n"
	"[node lab1]\n"
	"index = 1\n"
	"mtu = 1500\n"
	"port  1-\t= enp1s0\n"
	"[rates]\n"
	"op-ps = 1\nround-ps = 2\nhop-ps = 3\nmessage-ps = 4\nlink-fs = 5\nbyte-fs = 6\n"
	"[limits]\n"
	"pinned = 2G\n"
	"comms = none";

#define HEAD	"[fabric]\nkey = 1\ndims = 4x2x1\n"

static char error[512];

static int parse(struct conf *conf, const char *text, size_t len)
{
	return conf_parse(conf, "lab.conf", text, len, error, sizeof(error));
}

/* The text is refused with a sentence that begins so. */
static void refused(const char *text, const char *sentence)
{
	struct conf conf;

	error[0] = '\0';
	assert_int_equal(parse(&conf, text, strlen(text)), -EINVAL);
	if (strncmp(error, sentence, strlen(sentence)))
		fail_msg("\"%s\" instead of \"%s\"", error, sentence);
	conf_free(&conf);
}

static void conf__all_settings(void **state)
{
	struct conf conf;

	assert_int_equal(parse(&conf, lab, strlen(lab)), 0);
	assert_int_equal(conf.fabric.key, 16);
	assert_int_equal(conf.fabric.torus.ndim, 2);
	assert_int_equal(conf.fabric.torus.nodes, 4);
	assert_int_equal(conf.fabric.torus.cables, 2);
	assert_int_equal(conf.fabric.ethertype, 0x88b7);
	assert_int_equal(conf.fabric.hello_ms, 1000);
	assert_true(conf.fabric.checksum_header);
	assert_int_equal(conf.fabric.frame_size, 4096);
	assert_true(conf.ip.on);
	assert_int_equal(conf.ip.prefix[IP_4].len, 24);
	assert_memory_equal(conf.ip.prefix[IP_4].base, "\x0a\x07\x00\x01", 4);
	assert_int_equal(conf.ip.prefix[IP_6].len, 64);
	assert_int_equal(conf.ip.prefix[IP_6].base[15], 0x10);
	assert_string_equal(conf.ip.name, "lab");
	assert_string_equal(conf.hosts, "/etc/hosts");
	assert_string_equal(conf.suffix, "-tor");
	assert_int_equal(conf.nodes, 2);
	assert_string_equal(conf.node[0].name, "lab0.example.org");
	assert_int_equal(conf_mtu(&conf, 0), 9000);
	assert_int_equal(conf_mtu(&conf, 1), 1500);
	assert_int_equal(conf.ports, 4);
	assert_string_equal(conf.port[1].device, "mac:aa:bb:cc:00:11:22");
	assert_int_equal(conf.port[1].port, 1);
	assert_int_equal(conf.port[3].node, 1);
	assert_int_equal(conf.port[3].port, 3);
	assert_true(conf.has_rates);
	assert_int_equal(conf.rate[5], 6);
	assert_int_equal(conf.limits, 1 << 0 | 1 << 2);
	assert_int_equal(conf.limit[2], 2ULL << 30);
	assert_true(conf.limit[0] == UINT64_MAX);
	conf_free(&conf);
}

static void conf__defaults(void **state)
{
	struct conf conf;

	assert_int_equal(parse(&conf, HEAD, strlen(HEAD)), 0);
	assert_int_equal(conf.fabric.torus.cables, 1);
	assert_int_equal(conf.fabric.ethertype, CONF_ETHERTYPE);
	assert_int_equal(conf.fabric.hello_ms, CONF_HELLO_MS);
	assert_int_equal(conf.fabric.frame_size, 0);
	assert_false(conf.fabric.checksum_header || conf.has_rates || conf.limits || conf.mtu);
	assert_false(conf.ip.on || *conf.ip.name || *conf.hosts || *conf.suffix);
	conf_free(&conf);
}

static void conf__finds_the_host(void **state)
{
	static const char text[] = HEAD "[node a]\nindex=0\n[node A.example.org]\nindex=3\n";
	struct conf conf;

	assert_int_equal(parse(&conf, text, strlen(text)), 0);
	assert_int_equal(conf_node_of(&conf, "a"), 0);
	assert_int_equal(conf_node_of(&conf, "a.example.org"), 1);
	assert_int_equal(conf_node_of(&conf, "A.example.com"), 0);
	assert_int_equal(conf_node_of(&conf, "b"), -1);
	assert_int_equal(conf_node_of(&conf, "ab"), -1);
	assert_int_equal(conf_node_of(&conf, ""), -1);
	assert_int_equal(conf_node_at(&conf, 3), 1);
	assert_int_equal(conf_node_at(&conf, 1), -1);
	conf_free(&conf);
}

static void refuses__lines(void **state)
{
	refused("fabric add 1 dims 4\n", "lab.conf:1: \"fabric add 1 dims 4\" stands before any section");
	refused("\n\nkey = 1\n", "lab.conf:3: \"key = 1\" stands before any section");
	refused("[fabric\n", "lab.conf:1: \"[fabric\" does not end with ]");
	refused("[]\n", "lab.conf:1: [] is no section: [fabric], [node NAME], [rates] or [limits] is expected");
	refused("[fabric 1]\n", "lab.conf:1: [fabric 1] is no section");
	refused("[node]\n", "lab.conf:1: \"\" is no host name");
	refused("[node a b]\n", "lab.conf:1: \"a b\" is no host name");
	refused("[fabric]\nkey\n", "lab.conf:2: \"key\" is neither a section nor a setting");
	refused("[fabric]\nkey =\n", "lab.conf:2: key has no value");
	refused("[fabric]\n= 5\n", "lab.conf:2: nothing stands before the =");
	refused("[fabric]\nmut = 5\n",
		"lab.conf:2: [fabric] has no setting \"mut\": it may have key, dims, cables, ethertype, hello, checksum, frame-size, mtu");
	refused("[node a]\nport0+ = b\n",
		"lab.conf:2: [node] has no setting \"port0+\": it may have index, mtu, and ports such as \"port 0+\"");
	refused("[fabric]\nkey = 1\nkey = 1\n", "lab.conf:3: key is here for the second time");
	refused(HEAD "[fabric]\n", "lab.conf:4: [fabric] is here for the second time: line 1");
	refused("[fabric]\nkey = \x1b[2J\n", "lab.conf:2: byte 0x1b is not printable ASCII");
}

static void refuses__values(void **state)
{
	refused("[fabric]\nkey = one\n", "lab.conf:2: key: \"one\" is not a whole number");
	refused("[fabric]\nkey = -1\n", "lab.conf:2: key: \"-1\" is not a whole number");
	refused("[fabric]\nkey = 18446744073709551616\n",
		"lab.conf:2: key: 18446744073709551616 is not between 0 and 18446744073709551615");
	refused("[fabric]\ndims = 4 4\n", "lab.conf:2: dims: \"4 4\" is not 1 to 6 numbers");
	refused("[fabric]\ndims = 8++2\n", "lab.conf:2: dims: \"8++2\" is not 1 to 6 numbers like 4x4; "
		":line or :mesh behind one that is no ring; + and the step of chords behind a ring");
	refused("[fabric]\ndims = 1x1x1x1x1x1x1\n", "lab.conf:2: dims:");
	refused("[fabric]\ndims = 4x\n", "lab.conf:2: dims:");
	refused("[fabric]\ndims = 4+\n", "lab.conf:2: dims:");
	refused("[fabric]\ndims = 16+4:mesh\n", "lab.conf:2: dims:");
	refused("[fabric]\ncables = 3\n", "lab.conf:2: cables: 3 is not between 1 and 2");
	refused("[fabric]\nethertype = 0x5ff\n", "lab.conf:2: ethertype: 0x5ff is not between 1536");
	refused("[fabric]\nethertype = 0x0800\n", "lab.conf:2: ethertype: 0x0800 belongs to another");
	refused("[fabric]\nethertype = 0x88b6\n", "lab.conf:2: ethertype: 0x88b6 belongs to another");
	refused("[fabric]\nhello = 5m\n", "lab.conf:2: hello: \"5m\" is not a time");
	refused("[fabric]\nhello = nan\n", "lab.conf:2: hello: \"nan\" is not a time");
	refused("[fabric]\nhello = 5ms\n", "lab.conf:2: hello: 5ms is not between 10ms and 10s");
	refused("[fabric]\nchecksum = none\n", "lab.conf:2: checksum: \"none\" is neither full nor");
	refused("[fabric]\nframe-size = 383\n", "lab.conf:2: frame-size: 383 is not between 384 and 65535");
	refused("[fabric]\nmtu = 383\n", "lab.conf:2: mtu: 383 is not between 384 and 65535");
	refused("[fabric]\nip = 10.7.0.0\n", "lab.conf:2: ip: \"10.7.0.0\" is no IPv4 prefix");
	refused("[fabric]\nip = fd00::/64\n", "lab.conf:2: ip: \"fd00::/64\" is no IPv4 prefix");
	refused("[fabric]\nip6 = fe80::/64\n", "lab.conf:2: ip6: \"fe80::/64\" is link-local");
	refused("[fabric]\nip-device = a/b\n", "lab.conf:2: ip-device: \"a/b\" is no name of a device");
	refused("[fabric]\nhosts = hosts\n", "lab.conf:2: hosts: \"hosts\" is no absolute path");
	refused("[fabric]\nhost-suffix = *\n", "lab.conf:2: host-suffix: \"*\" is no end of a host name");
	refused("[rates]\nlink-fs = 10000000001\n", "lab.conf:2: link-fs: 10000000001 is not between");
	refused("[limits]\npinned = 2T\n", "lab.conf:2: pinned: \"2T\" is no amount");
	refused("[limits]\npinned = 17179869184G\n", "lab.conf:2: pinned: \"17179869184G\" is no amount");
}

static void refuses__amounts(void **state)
{
	static const char *const good[] = { "5", "5K", "5k", "5M", "5G", "5g" };
	static const unsigned int shift[] = { 0, 10, 10, 20, 30, 30 };
	static const char *const bad[] = { "", "5 ", "5\v", "5T", "5KK", "5K ", " 5", "-5", "5\xcb" };
	uint64_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(parse_amount(good[i], &n));
		assert_int_equal(n, 5ULL << shift[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(parse_amount(bad[i], &n));
}

static void refuses__ports(void **state)
{
	static const char *const names[] = {
		"abcdefghijklmnop", "a/b", "a:b", "a%d", ".", "..", "mac:", "mac:aa:bb:cc:dd:ee",
		"mac:aa:bb:cc:dd:ee:ff:", "mac:aa:bb:cc:dd:ee:fg", "path:", "a b/c", "a b:c d", "a\tmac:",
	};
	char text[128];
	size_t i;

	refused("[node a]\nport 6+ = x\n", "lab.conf:2: \"port 6+\" names no port");
	refused("[node a]\nport 0* = x\n", "lab.conf:2: \"port 0*\" names no port");
	refused("[node a]\nport = x\n", "lab.conf:2: \"port\" names no port");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text, sizeof(text), "[node a]\nport 0+ = %s\n", names[i]);
		refused(text, "lab.conf:2: port 0+: ");
	}
	refused("[node a]\nport 0+ = a b c d e\n", "lab.conf:2: port 0+: more than 4 devices");
	refused("[node a]\nport 0+ = a b/c\n", "lab.conf:2: port 0+: \"b/c\" is no device");
}

/* Several devices of a port are in one line, with any space between them. */
static void port__several_devices(void **state)
{
	const char *text = HEAD "[node a]\nindex = 0\nport 0+ = eth0 \t mac:00:00:00:00:00:0A\n"
			   "port 0- = path:x y z eth1\n";
	char *printed = NULL;
	struct conf conf;
	size_t size;
	FILE *out;

	assert_int_equal(parse(&conf, text, strlen(text)), 0);
	assert_int_equal(conf.ports, 6);
	assert_string_equal(conf.port[0].device, "eth0");
	assert_int_equal(conf.port[0].cable, 0);
	assert_string_equal(conf.port[1].device, "mac:00:00:00:00:00:0a");
	assert_int_equal(conf.port[1].cable, 1);
	assert_int_equal(conf.port[1].port, 0);
	assert_string_equal(conf.port[5].device, "eth1");
	assert_int_equal(conf.port[5].cable, 3);
	assert_int_equal(conf.port[5].port, 1);
	out = open_memstream(&printed, &size);
	assert_non_null(out);
	conf_print(out, &conf);
	fclose(out);
	assert_non_null(strstr(printed, "port 0+ = eth0 mac:00:00:00:00:00:0a\n"));
	assert_non_null(strstr(printed, "port 0- = path:x y z eth1\n"));
	free(printed);
	conf_free(&conf);
	refused(HEAD "[node a]\nindex = 0\nport 0+ = x y\nport 0- = z y\n",
		"lab.conf:7: device y is that of port 0+ in line 6, too");
	refused(HEAD "[node a]\nindex = 0\nport 0+ = x x\n",
		"lab.conf:6: device x is that of port 0+ in line 6, too");
}

static void refuses__what_is_missing(void **state)
{
	refused("", "lab.conf: there is no section [fabric]");
	refused("[fabric]\nkey = 1\n", "lab.conf:1: [fabric] has no dims");
	refused("[fabric]\ndims = 4\n", "lab.conf:1: [fabric] has no key");
	refused("[fabric]\nkey = 1\ndims = 0\n", "lab.conf:1: dims: a fabric has 1 to");
	refused("[fabric]\nkey = 1\ndims = 8+4\n", "lab.conf:1: dims: chords are up to 3 steps behind one ring");
	refused("[fabric]\nkey = 1\ndims = 16+4x2\n", "lab.conf:1: dims: chords are up to 3 steps behind one ring");
	refused("[fabric]\nkey = 1\ndims = 512\n", "lab.conf:1: dims: nodes are more than 255 links");
	refused(HEAD "[node a]\n", "lab.conf:4: [node a] has no index");
	refused(HEAD "[rates]\nop-ps = 1\n", "lab.conf:4: [rates] has no round-ps");
}

static void refuses__what_does_not_fit(void **state)
{
	refused(HEAD "ip = 10.7.0.0/29\n", "lab.conf:1: ip: 10.7.0.0/29 has no addresses for 8 nodes");
	refused(HEAD "ip = 10.7.0.248/24\n", "lab.conf:1: ip: 10.7.0.248/24 has no addresses for 8");
	refused(HEAD "ip-device = tor0\nhosts = /etc/hosts\n",
		"lab.conf:1: hosts: without ip or ip6 nodes have no addresses for /etc/hosts");
	refused(HEAD "[node a]\nindex = 8\n", "lab.conf:4: [node a]: index 8 is not below 8");
	refused(HEAD "[node a]\nindex = 0\nport 3+ = b\n", "lab.conf:6: port 3+: the shape has no cable");
	refused(HEAD "[node a]\nindex = 0\nport 2+ = b\n", "lab.conf:6: port 2+: the shape has no cable");
	refused(HEAD "[node a]\nindex = 0\nport 1- = b\n",
		"lab.conf:6: port 1-: with one cable on a side of 2, node 0 has port 1+ only");
	refused(HEAD "[node a]\nindex = 0\n[node A]\nindex = 1\n",
		"lab.conf:6: [node A] is here for the second time: line 4");
	refused(HEAD "[node a]\nindex = 1\n[node b]\nindex = 1\n",
		"lab.conf:6: [node b]: index 1 is that of [node a] in line 4, too");
	refused(HEAD "[node a]\nindex = 0\nport 0+ = x\nport 0+ = y\n",
		"lab.conf:7: port 0+ is here for the second time: line 6");
	refused(HEAD "[node a]\nindex = 0\nport 0+ = x\nport 0- = x\n",
		"lab.conf:7: device x is that of port 0+ in line 6, too");
	refused(HEAD "[node a]\nindex = 0\nport 0+ = mac:00:00:00:00:00:0A\n"
		     "[node b]\nindex = 1\nport 0+ = zz\nport 0- = mac:00:00:00:00:00:0a\n",
		"lab.conf:10: device mac:00:00:00:00:00:0a is that of port 0+ in line 6, too");
}

/* What is printed is what was read. */
static void print__reads_the_same(void **state)
{
	char *text[2] = { NULL };
	struct conf conf;
	size_t size[2];
	FILE *out;
	int i;

	assert_int_equal(parse(&conf, lab, strlen(lab)), 0);
	for (i = 0; i < 2; i++) {
		out = open_memstream(&text[i], &size[i]);
		assert_non_null(out);
		conf_print(out, &conf);
		fclose(out);
		conf_free(&conf);
		assert_int_equal(parse(&conf, text[i], size[i]), 0);
	}
	conf_free(&conf);
	assert_string_equal(text[0], text[1]);
	assert_non_null(strstr(text[0], "port 0- = mac:aa:bb:cc:00:11:22\n"));
	assert_non_null(strstr(text[0], "comms = none\n"));
	free(text[0]);
	free(text[1]);
}

/* A file with this name of the network device and this MTU has the text or not, and can be read. */
static void shows(const char *device, uint32_t mtu, const char *text, bool is_there)
{
	struct conf conf, back;
	char *shown = NULL;
	size_t size;
	FILE *out;

	assert_int_equal(parse(&conf, lab, strlen(lab)), 0);
	snprintf(conf.ip.name, sizeof(conf.ip.name), "%s", device);
	conf.node[1].mtu = mtu;
	out = open_memstream(&shown, &size);
	assert_non_null(out);
	conf_print(out, &conf);
	fclose(out);
	assert_int_equal(!!strstr(shown, text), is_there);
	if (parse(&back, shown, size))
		fail_msg("%s", error);
	conf_free(&back);
	conf_free(&conf);
	free(shown);
}

/* What the kernel allows and a file cannot have is left out. */
static void print__can_be_read(void **state)
{
	shows("lab", 1500, "ip-device = lab\n", true);
	shows("#lab", 1500, "ip-device", false);
	shows("t\xc3\xb6r", 1500, "ip-device", false);
	shows("tor\x1b[31m", 1500, "ip-device", false);
	shows("lab", 384, "mtu = 384\n", true);
	shows("lab", 383, "mtu = 383\n", false);
	shows("lab", 65535, "mtu = 65535\n", true);
	shows("lab", 65536, "mtu = 65536\n", false);
}

static const uint64_t new_rates[CONF_RATES] = { 10, 20, 30, 40, 50, 60 };

#define NEW_RATES \
	"[rates]\nop-ps = 10\nround-ps = 20\nhop-ps = 30\nmessage-ps = 40\nlink-fs = 50\nbyte-fs = 60\n"

static void edits(const char *text, const char *want)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	assert_non_null(out);
	conf_with_rates(out, text, strlen(text), new_rates);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void edit__rates_only(void **state)
{
	edits(HEAD, HEAD "\n" NEW_RATES);
	edits("[fabric]", "[fabric]\n\n" NEW_RATES);
	edits("[rates]\n", NEW_RATES);
	edits(" [ rates ]\nop-ps = 1 # x\n# y\n\n[node a] #[rates]\nindex = 0",
	      NEW_RATES "# y\n\n[node a] #[rates]\nindex = 0");
	edits("# [rates]\n[node a]\nindex = 0\n", "# [rates]\n[node a]\nindex = 0\n\n" NEW_RATES);
	assert_true(conf_is_fabric(HEAD, strlen(HEAD)));
	assert_true(conf_is_fabric(" [ fabric ]", 11));
	assert_false(conf_is_fabric("[fabric", 7));
	assert_false(conf_is_fabric("# [fabric]\nop-ps 5\n[", 21));
}

/* Nothing is written to: there is no byte behind the text, either. */
static FILE *nowhere;

static int parse_exactly(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	struct conf conf;
	int err;

	assert_non_null(copy);
	memcpy(copy, text, len);
	error[0] = '\0';
	err = parse(&conf, copy, len);
	conf_free(&conf);
	conf_is_fabric(copy, len);
	conf_with_rates(nowhere, copy, len, new_rates);
	rewind(nowhere);
	free(copy);
	assert_true(err == 0 || err == -EINVAL);
	assert_int_equal(!err, !error[0]);
	return err;
}

/* The good file with some bytes changed, taken away or doubled; and noise. */
static void survives__any_bytes(void **state)
{
	static const char alphabet[] = "[]=#\n \t\r+-:x01459\0gs\xff";
	char text[2 * sizeof(lab)];
	static char written[4 * sizeof(lab)];
	unsigned int good = 0;
	u64 seed = 25;
	int run;

	nowhere = fmemopen(written, sizeof(written), "w");
	assert_non_null(nowhere);

	for (run = 0; run < 100000; run++) {
		size_t len = strlen(lab);
		unsigned int edits = 1 + host_rand(&seed) % 4;

		memcpy(text, lab, len);
		while (edits--) {
			size_t at = host_rand(&seed) % len;
			size_t n = host_rand(&seed) % 20;

			if (n > len - at)
				n = len - at;
			switch (host_rand(&seed) % 3) {
			case 0:
				text[at] = alphabet[host_rand(&seed) % sizeof(alphabet)];
				break;
			case 1:
				memmove(text + at, text + at + n, len - at - n);
				len -= n;
				break;
			case 2:
				memmove(text + at + n, text + at, len - at);
				len += n;
				break;
			}
			if (!len)
				break;
		}
		good += !parse_exactly(text, len);
	}
	/* some changes are of comments, of space, of values */
	assert_in_range(good, 1000, 90000);
	for (run = 0; run < 10000; run++) {
		size_t len = host_rand(&seed) % 64, i;

		for (i = 0; i < len; i++)
			text[i] = alphabet[host_rand(&seed) % sizeof(alphabet)];
		parse_exactly(text, len);
	}
	fclose(nowhere);
}

/* Many sections take no square of time. */
static void survives__many_nodes(void **state)
{
	size_t size = 8 << 20, at;
	char *text = malloc(size);
	struct conf conf;
	unsigned int i;

	assert_non_null(text);
	at = snprintf(text, size, "[fabric]\nkey = 1\ndims = 32x32x64\n");
	for (i = 0; i < 1 << 16; i++)
		at += snprintf(text + at, size - at, "[node n%u]\nindex = %u\nport 0+ = a\nport 0- = b\n",
			       i, i);
	assert_int_equal(parse(&conf, text, at), 0);
	assert_int_equal(conf.ports, 2 << 16);
	conf_free(&conf);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conf__all_settings),
		cmocka_unit_test(conf__defaults),
		cmocka_unit_test(conf__finds_the_host),
		cmocka_unit_test(refuses__lines),
		cmocka_unit_test(refuses__values),
		cmocka_unit_test(refuses__amounts),
		cmocka_unit_test(refuses__ports),
		cmocka_unit_test(port__several_devices),
		cmocka_unit_test(refuses__what_is_missing),
		cmocka_unit_test(refuses__what_does_not_fit),
		cmocka_unit_test(print__reads_the_same),
		cmocka_unit_test(print__can_be_read),
		cmocka_unit_test(edit__rates_only),
		cmocka_unit_test(survives__any_bytes),
		cmocka_unit_test(survives__many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
