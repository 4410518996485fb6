// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What torcollctl makes of the reports of a survey: parts, rounds, text, both ends of cables. */
#include "host_env.h"

#include "../../tools/torcollctl/survey.c"

static u8 records[TOR_SURVEY_FRAME_MAX];
static u32 used;

static void begin(u64 id, const char *name, u32 round, u16 part, u16 parts)
{
	struct torcoll_survey_host host = {
		.host = cpu_to_be64(id), .round = cpu_to_be32(round), .part = cpu_to_be16(part),
		.parts = cpu_to_be16(parts), .version = "1.2.3",
	};

	memcpy(host.name, name, strnlen(name, sizeof(host.name)));
	used = tor_survey_put(records, TORCOLL_SURVEY_HOST, &host, sizeof(host));
}

static void add_port(const char *device, u16 flags, u64 peer, const char *peer_device)
{
	struct torcoll_survey_port port = { .flags = cpu_to_be16(flags), .peer.host = cpu_to_be64(peer) };

	memcpy(port.own.device, device, strnlen(device, sizeof(port.own.device)));
	memcpy(port.peer.device, peer_device, strnlen(peer_device, sizeof(port.peer.device)));
	used += tor_survey_put(records + used, TORCOLL_SURVEY_PORT, &port, sizeof(port));
}

static struct survey_host *add(struct survey *s)
{
	void *exact = malloc(used);	/* ASan watches its end */
	struct survey_host *host;

	memcpy(exact, records, used);
	host = survey_add_report(s, exact, used);
	free(exact);
	return host;
}

static void survey_add_report__parts_and_rounds(void **state)
{
	struct survey *s = survey_new();
	struct survey_host *host;
	u16 i;

	(void)state;
	begin(1, "a", 7, 0, 2);
	add_port("x", 3, 0, "");
	host = add(s);
	assert_non_null(host);
	assert_int_equal(survey_complete(s, 7), 0);
	begin(1, "a", 7, 1, 2);
	add_port("y", 0, 0, "");
	assert_ptr_equal(add(s), host);
	assert_int_equal(survey_complete(s, 7), 1);
	assert_int_equal(host->nports, 2);
	/* the next round brings news of the same port, the one before does not */
	begin(1, "a", 8, 0, 1);
	add_port("x", 0, 0, "");
	add(s);
	assert_int_equal(survey_complete(s, 7), 0);
	assert_int_equal(survey_complete(s, 8), 1);
	begin(1, "old", 7, 0, 2);
	add_port("x", 3, 0, "");
	add(s);
	assert_int_equal(survey_complete(s, 8), 1);
	assert_string_equal(host->name, "a");
	assert_string_equal(host->version, "1.2.3");
	assert_int_equal(host->nports, 2);
	assert_int_equal(survey_device(host, "x")->flags, 0);
	/* all of 64 */
	for (i = 0; i < 64; i++) {
		assert_int_equal(survey_complete(s, 9), 0);
		begin(1, "a", 9, i, 64);
		add(s);
	}
	assert_int_equal(survey_complete(s, 9), 1);
	survey_free(s);
}

/* Whoever made it up may report on and on. */
static void survey_add_report__bounded(void **state)
{
	struct survey *s = survey_new();
	struct survey_host *host = NULL;
	char device[17];
	unsigned int i;

	(void)state;
	for (i = 0; i <= SURVEY_PORTS_MAX; i++) {
		begin(1, "a", 7 + i, 0, 1);
		snprintf(device, sizeof(device), "p%u", i);
		add_port(device, 3, 0, "");
		host = add(s);
		assert_int_equal(host->overfull, i == SURVEY_PORTS_MAX);
	}
	assert_int_equal(host->nports, SURVEY_PORTS_MAX);
	/* those that are known go on */
	begin(1, "a", 7 + i, 0, 1);
	add_port("p0", 0, 0, "");
	add(s);
	assert_int_equal(survey_device(host, "p0")->flags, 0);
	survey_free(s);
}

/* What a report has no room for is counted in each round. */
static void survey_add_report__rest(void **state)
{
	struct torcoll_survey_rest rest = { .nodes = cpu_to_be32(2), .ports = cpu_to_be32(40) };
	struct survey *s = survey_new();
	struct survey_host *host;

	(void)state;
	begin(1, "a", 7, 0, 2);
	used += tor_survey_put(records + used, TORCOLL_SURVEY_REST, &rest, sizeof(rest));
	host = add(s);
	assert_int_equal(host->rest, 42);
	begin(1, "a", 7, 1, 2);
	add(s);
	assert_int_equal(host->rest, 42);
	begin(1, "a", 8, 0, 1);
	add(s);
	assert_int_equal(host->rest, 0);
	begin(1, "a", 9, 0, 1);
	used += tor_survey_put(records + used, TORCOLL_SURVEY_REST, &rest, 4);
	assert_null(add(s));
	survey_free(s);
}

static void survey_add_report__refuses(void **state)
{
	struct survey *s = survey_new();

	(void)state;
	begin(1, "a", 7, 0, 1);
	used--;
	assert_null(add(s));
	used = 0;
	assert_null(add(s));
	add_port("x", 0, 0, "");
	assert_null(add(s));
	begin(1, "a", 7, 2, 2);
	assert_null(add(s));
	assert_int_equal(s->nhosts, 0);
	survey_free(s);
}

/* Names fill their fields without an end, and have bytes that control terminals. */
static void survey_add_report__text(void **state)
{
	struct survey *s = survey_new();
	struct survey_host *host;
	char name[65];

	(void)state;
	memset(name, 'n', 64);
	name[64] = '\0';
	begin(1, name, 1, 0, 1);
	add_port("0123456789abcdef", 0, 0, "");
	host = add(s);
	assert_string_equal(host->name, name);
	assert_string_equal(host->ports[0].own.device, "0123456789abcdef");
	begin(1, "\x1b[2J\\ \x9b\x7f~", 2, 0, 1);
	add(s);
	assert_string_equal(host->name, "?[2J? ??~");
	survey_free(s);
}

static void survey_add_report__node(void **state)
{
	struct torcoll_survey_node node = {
		.key = cpu_to_be64(U64_MAX), .node = cpu_to_be32(3), .side = { cpu_to_be32(4), cpu_to_be32(2) },
		.ethertype = cpu_to_be16(0x88b5), .checksum = 1, .retransmits = cpu_to_be64(1ULL << 40),
	};
	struct survey *s = survey_new();
	const struct survey_node *got;
	struct survey_host *host;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin(1, "a", i, 0, 1);
		used += tor_survey_put(records + used, TORCOLL_SURVEY_NODE, &node, sizeof(node));
		host = add(s);
	}
	assert_int_equal(host->nnodes, 1);
	got = survey_node(host, U64_MAX);
	assert_int_equal(got->node, 3);
	assert_int_equal(got->ndim, 2);
	assert_int_equal(got->side[0], 4);
	assert_int_equal(got->ethertype, 0x88b5);
	assert_int_equal(got->checksum, 1);
	assert_true(got->retransmits == 1ULL << 40);
	assert_null(survey_node(host, 1));
	for (i = 0; i < 6; i++)
		node.side[i] = cpu_to_be32(1);
	begin(1, "a", 2, 0, 1);
	used += tor_survey_put(records + used, TORCOLL_SURVEY_NODE, &node, sizeof(node));
	assert_int_equal(add(s)->nodes[0].ndim, 6);
	survey_free(s);
}

static struct survey_port *port_of(struct survey *s, u64 id, const char *device)
{
	return survey_device(survey_find(s, id), device);
}

static void survey_link__both_ends(void **state)
{
	struct survey *s = survey_new();

	(void)state;
	begin(2, "b", 1, 0, 1);
	add_port("y", 3, 9, "z");		/* that host has not answered */
	add_port("x", 3, 1, "x");
	add_port("deaf", 3, 0, "");
	add_port("switch", 3 | TORCOLL_SURVEY_MANY, 1, "switch");
	add(s);
	begin(1, "b", 1, 0, 1);
	add_port("x", 3, 2, "x");
	add_port("heard", 3, 2, "deaf");
	add_port("switch", 3, 2, "switch");
	add(s);
	survey_link(s);
	/* of the same name: by number */
	assert_true(s->hosts[0]->id == 1 && s->hosts[1]->id == 2);
	assert_string_equal(s->hosts[1]->ports[0].own.device, "deaf");
	assert_string_equal(s->hosts[1]->ports[3].own.device, "y");
	assert_ptr_equal(port_of(s, 1, "x")->other, port_of(s, 2, "x"));
	assert_ptr_equal(port_of(s, 2, "x")->other, port_of(s, 1, "x"));
	assert_ptr_equal(port_of(s, 1, "x")->owner, s->hosts[0]);
	assert_ptr_equal(port_of(s, 1, "heard")->other, port_of(s, 2, "deaf"));
	assert_ptr_equal(port_of(s, 2, "deaf")->other, port_of(s, 1, "heard"));
	assert_null(port_of(s, 1, "switch")->other);
	assert_null(port_of(s, 2, "switch")->other);
	assert_null(port_of(s, 2, "y")->other);
	assert_null(port_of(s, 2, "none"));
	assert_null(survey_find(s, 9));
	survey_free(s);
}

static void survey_link__nobody(void **state)
{
	struct survey *s = survey_new();

	(void)state;
	survey_link(s);
	begin(1, "a", 1, 0, 1);
	add(s);
	survey_link(s);
	assert_int_equal(s->nhosts, 1);
	survey_free(s);
	survey_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survey_add_report__parts_and_rounds),
		cmocka_unit_test(survey_add_report__bounded),
		cmocka_unit_test(survey_add_report__rest),
		cmocka_unit_test(survey_add_report__refuses),
		cmocka_unit_test(survey_add_report__text),
		cmocka_unit_test(survey_add_report__node),
		cmocka_unit_test(survey_link__both_ends),
		cmocka_unit_test(survey_link__nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
