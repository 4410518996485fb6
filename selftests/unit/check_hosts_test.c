// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What torcollctl fabric check says of hosts that differ, and of cables that lead elsewhere. */
#include "check_findings.h"

/* All links of a host are in that state, at both ends. */
static void set_states(struct survey_host *host, uint8_t state)
{
	unsigned int i;

	for (i = 0; i < host->nports; i++) {
		set_state(&host->ports[i], state);
		if (host->ports[i].other)
			set_state(host->ports[i].other, state);
	}
}

static void key__of_a_host(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[5];
	unsigned int i;

	host->nodes[0].key = 2;
	for (i = 0; i < host->nports; i++)
		host->ports[i].key = 2;
	set_states(host, TORCOLL_LINK_STATE_WAITING);
	finds(s, "key: c5 is in fabric 2, but its cables say node 5 of fabric 1\n");
	advises(s, "on c5: torcollctl apply FILE, with index = 5 for it (by hand: fabric add 1 dims 4x4 node 5)");
	torus_free(s);
}

static void key__of_a_port(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[5];
	struct survey_port *p = torus_port(s, 5, "d0p");

	host->nodes = realloc(host->nodes, 2 * sizeof(*host->nodes));
	host->nodes[1] = host->nodes[0];
	host->nodes[1].key = 2;
	host->nnodes = 2;
	p->key = 2;
	set_state(p, TORCOLL_LINK_STATE_WAITING);
	set_state(p->other, TORCOLL_LINK_STATE_WAITING);
	finds(s, "port: c5 (node 5) has no port for dim 0 plus\n");
	advises(s, "there: torcollctl apply FILE (by hand: port add 1 dim 0 dir plus dev d0p)");
	torus_free(s);
}

static void unconfigured__host(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[9];
	unsigned int i;

	host->nnodes = 0;
	for (i = 0; i < host->nports; i++)
		host->ports[i].flags &= ~(TORCOLL_SURVEY_MEMBER | TORCOLL_SURVEY_TESTED);
	set_states(host, TORCOLL_LINK_STATE_WAITING);
	finds(s, "unconfigured: c9 is in no fabric, but its cables say node 9 of fabric 1\n");
	torus_free(s);
}

static void checksum__of_a_host(void **state)
{
	struct survey *s = torus_survey("4x4");

	s->hosts[3]->nodes[0].checksum = 1;
	finds(s, "checksum: c3 (node 3) has checksum header, 15 others have checksum full\n");
	advises(s, "there: torcollctl apply FILE, the others' (by hand: fabric del, then fabric add with checksum full)");
	/* and the links are down for that reason */
	set_states(s->hosts[3], TORCOLL_LINK_STATE_FABRIC);
	finds(s, "checksum: c3 (node 3) has checksum header, 15 others have checksum full\n");
	torus_free(s);
}

static void checksum__of_one_of_two(void **state)
{
	struct survey *s = torus_survey("2");

	s->hosts[1]->nodes[0].checksum = 1;
	finds(s, "checksum: c1 (node 1) has checksum header, c0 (node 0) has checksum full\n");
	torus_free(s);
}

static void rates__of_a_host(void **state)
{
	struct survey *s = torus_survey("4x4");
	uint32_t i;

	for (i = 0; i < s->nhosts; i++)
		s->hosts[i]->nodes[0].rates = 0x1234;
	s->hosts[7]->nodes[0].rates = 0;
	finds(s, "rates: c7 (node 7) has the default rates, 15 others have rates 00001234\n");
	torus_free(s);
}

static void order__of_a_host(void **state)
{
	struct survey *s = torus_survey("3");

	s->hosts[2]->nodes[0].byte_order = 1;
	finds(s, "order: c2 (node 2) has the byte order big-endian, 2 others have the byte order little-endian\n");
	torus_free(s);
}

static void ethertype__of_a_host(void **state)
{
	struct survey *s = torus_survey("3");

	s->hosts[2]->nodes[0].ethertype = 0x88b7;
	set_states(s->hosts[2], TORCOLL_LINK_STATE_WAITING);
	finds(s, "ethertype: c2 (node 2) has ethertype 0x88b7, 2 others have ethertype 0x88b5\n");
	torus_free(s);
}

static void version__is_a_hint(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct check *c;

	strcpy(s->hosts[4]->version, "1.1");
	c = check_new(s, NULL, NULL, TORUS_KEY);
	assert_int_equal(c->nfindings, 1);
	assert_true(c->finding[0].hint);
	assert_int_equal(check_faults(c), 0);
	assert_string_equal(c->finding[0].what, "c4 (node 4) has module 1.1, 15 others have module 1.0");
	check_free(c);
	torus_free(s);
}

static void node__wrong_number(void **state)
{
	struct survey *s = torus_survey("4x4");

	s->hosts[9]->nodes[0].node = 5;
	set_states(s->hosts[9], TORCOLL_LINK_STATE_MISWIRED);
	finds(s, "node: c9 says that it is node 5, its cables say node 9\n");
	advises(s, "on c9: torcollctl apply FILE, with index = 9 for it (by hand: fabric add 1 dims 4x4 node 9)");
	torus_free(s);
}

static void node__two_exchanged(void **state)
{
	struct survey *s = torus_survey("4x4");

	s->hosts[5]->nodes[0].node = 6;
	s->hosts[6]->nodes[0].node = 5;
	set_states(s->hosts[5], TORCOLL_LINK_STATE_MISWIRED);
	set_states(s->hosts[6], TORCOLL_LINK_STATE_MISWIRED);
	finds(s,
	      "node: c5 says that it is node 6, its cables say node 5\n"
	      "node: c6 says that it is node 5, its cables say node 6\n");
	torus_free(s);
}

static void node__one_cable_is_no_proof(void **state)
{
	struct survey *s = torus_survey("2x2");
	struct survey_port *p = torus_port(s, 0, "d0p"), *q = torus_port(s, 2, "d0p");
	struct survey_port *other = torus_port(s, 0, "d1p");

	torus_pull(q);
	torus_pull(p);
	set_state(other, TORCOLL_LINK_STATE_WAITING);
	set_state(other->other, TORCOLL_LINK_STATE_WAITING);
	torus_pull(other);
	/* as if it were node 3 */
	torus_cable(p, q);
	finds(s,
	      "miswired: the cable from c0:d0p (node 0) leads to c2:d0p (node 2) instead of c1:d0m (node 1)\n"
	      "down: the link c0:d1p (node 0) - c2:d1m (node 2) is down: neither end hears the other\n");
	torus_free(s);
}

static void node__twice(void **state)
{
	struct survey *s = torus_survey("4x4");
	unsigned int i;

	/* nobody knows where the cables of either lead */
	s->hosts[9]->nodes[0].node = 5;
	for (i = 0; i < 4; i++) {
		torus_pull(&s->hosts[9]->ports[i]);
		torus_pull(&s->hosts[5]->ports[i]);
	}
	finds(s,
	      "node: c5 and c9 are both node 5\n"
	      "dead: node 9 (1,2) does not answer; its neighbours' c10:d0m, c8:d0p, c13:d1m, c5:d1p hear nothing\n");
	torus_free(s);
}

/* Numbers that the shape has not. */
static void node__too_large(void **state)
{
	static const uint32_t numbers[] = { 4, 9, UINT32_MAX - 1, UINT32_MAX };
	struct survey *s = torus_survey("4");
	char text[120];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		s->hosts[3]->nodes[0].node = numbers[i];
		snprintf(text, sizeof(text),
			 "node: c3 says that it is node %u, its cables say node 3\n", numbers[i]);
		finds(s, text);
	}
	/* nor do cables say which one it is */
	for (i = 0; i < 2; i++)
		torus_pull(&s->hosts[3]->ports[i]);
	finds(s,
	      "node: c3 says that it is node 4294967295, but 4 has nodes 0 to 3\n"
	      "dead: node 3 (3) does not answer; its neighbours' c0:d0m, c2:d0p hear nothing\n");
	torus_free(s);
}

static void shape__of_a_host(void **state)
{
	struct survey *s = torus_survey("4x4");

	s->hosts[9]->nodes[0].side[0] = 2;
	s->hosts[9]->nodes[0].side[1] = 8;
	set_states(s->hosts[9], TORCOLL_LINK_STATE_FABRIC);
	finds(s, "shape: c9 has dims 2x8, most hosts 4x4\n");
	torus_free(s);
}

static void shape__of_cables(void **state)
{
	struct survey *s = torus_survey("2x2x2");

	s->hosts[3]->nodes[0].cables = 2;
	set_states(s->hosts[3], TORCOLL_LINK_STATE_FABRIC);
	finds(s, "shape: c3 has dims 2x2x2 cables 2, most hosts 2x2x2\n");
	torus_free(s);
}

static void shape__of_no_torus(void **state)
{
	struct survey *s = torus_survey("4x4");

	memset(s->hosts[9]->nodes[0].side, 0xff, sizeof(s->hosts[9]->nodes[0].side));
	finds(s, "shape: c9 has dims of no torus, most hosts 4x4\n");
	torus_free(s);
}

static void dead__host(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[9];

	set_states(host, TORCOLL_LINK_STATE_WAITING);
	torus_kill(s, 9);
	finds(s, "dead: node 9 (1,2) does not answer; its neighbours' c10:d0m, c8:d0p, c13:d1m, c5:d1p hear nothing\n");
	torus_free(s);
}

/* A host without carrier that is silent, and @flags that the other ends of its cables lack. */
static struct survey *survey_without(uint32_t flags)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[9];
	unsigned int i;

	set_states(host, TORCOLL_LINK_STATE_NO_CARRIER);
	for (i = 0; i < host->nports; i++)
		host->ports[i].other->flags &= ~flags;
	torus_kill(s, 9);
	return s;
}

static void dead__host_without_power(void **state)
{
	struct survey *s = survey_without(TORCOLL_SURVEY_CARRIER);

	finds(s, "dead: node 9 (1,2) does not answer; its neighbours' c10:d0m, c8:d0p, c13:d1m, c5:d1p have no carrier\n");
	torus_free(s);
}

static void dead__neighbours_are_switched_off(void **state)
{
	struct survey *s = survey_without(TORCOLL_SURVEY_CARRIER | TORCOLL_SURVEY_UP);

	finds(s, "dead: node 9 (1,2) does not answer; its neighbours' c10:d0m, c8:d0p, c13:d1m, c5:d1p are switched off\n");
	advises(s, "ip link set DEV up for these, then check again");
	torus_free(s);
}

/* Devices go with their host where these are virtual; ports go with the devices. */
static void dead__host_with_its_cables(void **state)
{
	struct survey *s = torus_survey("4x4");
	unsigned int i;

	for (i = 0; i < 4; i++)
		s->hosts[9]->ports[i].other->flags &= ~TORCOLL_SURVEY_MEMBER;
	torus_kill(s, 9);
	finds(s, "dead: node 9 (1,2) does not answer; its neighbours have no port for it\n");
	torus_free(s);
}

/* Of a ring that is cut at two hosts, those behind are not known. */
static void dead__others_behind(void **state)
{
	struct survey *s = torus_survey("8");
	uint32_t node;

	for (node = 2; node <= 6; node++)
		torus_kill(s, node);
	finds(s,
	      "dead: node 2 (2) does not answer; its neighbours' c1:d0p hear nothing\n"
	      "dead: node 6 (6) does not answer; its neighbours' c7:d0m hear nothing\n"
	      "dead: 3 more nodes do not answer, nor does any of their neighbours\n");
	torus_free(s);
}

/* What a bridge has taken is not reported, as where the port is not there. */
static void port__of_a_bridge(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d1m");

	set_state(p->other, TORCOLL_LINK_STATE_WAITING);
	p->flags &= ~TORCOLL_SURVEY_MEMBER;
	p->other->other = NULL;
	p->other = NULL;
	finds(s, "port: c5 (node 5) has no port for dim 1 minus\n");
	advises(s, "there: torcollctl apply FILE (by hand: port add 1 dim 1 dir minus dev NAME); if port show has it, take its device out of the bridge or bond: ip link set NAME nomaster");
	torus_free(s);
}

static void port__missing(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d1m");

	set_state(p->other, TORCOLL_LINK_STATE_WAITING);
	p->flags &= ~TORCOLL_SURVEY_MEMBER;
	finds(s, "port: c5 (node 5) has no port for dim 1 minus\n");
	advises(s, "there: torcollctl apply FILE (by hand: port add 1 dim 1 dir minus dev d1m)");
	torus_free(s);
}

static void wiring__crossed_at_a_host(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *a = torus_port(s, 5, "d0p"), *b = torus_port(s, 5, "d1p");
	struct survey_port *x = a->other, *y = b->other;

	torus_cable(a, y);
	torus_cable(b, x);
	set_states(s->hosts[5], TORCOLL_LINK_STATE_MISWIRED);
	torus_port(s, 5, "d0m")->state = torus_port(s, 5, "d0m")->other->state = TORCOLL_LINK_STATE_UP;
	torus_port(s, 5, "d1m")->state = torus_port(s, 5, "d1m")->other->state = TORCOLL_LINK_STATE_UP;
	finds(s, "crossed: two cables are crossed: c5:d0p (node 5) leads to c9:d1m (node 9), and c5:d1p (node 5) to c6:d0m (node 6)\n");
	advises(s, "swap the plugs in c5:d0p (node 5) and c5:d1p (node 5)");
	torus_free(s);
}

static void wiring__crossed_between_hosts(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *a = torus_port(s, 0, "d0p"), *b = torus_port(s, 8, "d0p");
	struct survey_port *x = a->other, *y = b->other;

	torus_cable(a, y);
	torus_cable(b, x);
	finds(s, "crossed: two cables are crossed: c0:d0p (node 0) leads to c9:d0m (node 9), and c8:d0p (node 8) to c1:d0m (node 1)\n");
	advises(s, "swap the plugs in c9:d0m (node 9) and c1:d0m (node 1)");
	torus_free(s);
}

static void wiring__directions_exchanged(void **state)
{
	struct survey *s = torus_survey("4");
	struct survey_port *a = torus_port(s, 1, "d0p"), *b = torus_port(s, 1, "d0m");
	struct survey_port *x = a->other, *y = b->other;

	torus_cable(a, y);
	torus_cable(b, x);
	finds(s, "crossed: two cables are crossed: c0:d0p (node 0) leads to c1:d0p (node 1), and c2:d0m (node 2) to c1:d0m (node 1)\n");
	advises(s, "swap the plugs in c1:d0p (node 1) and c1:d0m (node 1)");
	torus_free(s);
}

static void wiring__one_cable(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *a = torus_port(s, 0, "d0p"), *wrong = torus_port(s, 10, "d1m");

	/* which has none of its own */
	torus_pull(wrong);
	torus_pull(a);
	torus_cable(a, wrong);
	finds(s, "miswired: the cable from c0:d0p (node 0) leads to c10:d1m (node 10) instead of c1:d0m (node 1)\n");
	advises(s, "plug its end at c10:d1m (node 10) into c1:d0m (node 1)");
	torus_free(s);
}

static void wiring__into_no_port(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *a = torus_port(s, 0, "d0p"), *spare;
	struct survey_host *host = s->hosts[1];

	spare = &host->ports[host->nports++];
	spare->owner = host;
	strcpy(spare->own.device, "eth9");
	torus_pull(a);
	torus_cable(a, spare);
	finds(s, "wiring: the cable from c0:d0p (node 0) ends at c1:eth9 (node 1), which is no port of the fabric\n");
	advises(s, "plug that end into c1:d0m (node 1)");
	torus_free(s);
}

static void wiring__a_switch(void **state)
{
	struct survey *s = torus_survey("4x4");

	torus_port(s, 0, "d0p")->flags |= TORCOLL_SURVEY_MANY;
	finds(s, "many: c0:d0p (node 0) hears several hosts: that is a switch or a bridge, not a cable\n");
	torus_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key__of_a_host),
		cmocka_unit_test(key__of_a_port),
		cmocka_unit_test(unconfigured__host),
		cmocka_unit_test(checksum__of_a_host),
		cmocka_unit_test(checksum__of_one_of_two),
		cmocka_unit_test(rates__of_a_host),
		cmocka_unit_test(order__of_a_host),
		cmocka_unit_test(ethertype__of_a_host),
		cmocka_unit_test(version__is_a_hint),
		cmocka_unit_test(node__wrong_number),
		cmocka_unit_test(node__two_exchanged),
		cmocka_unit_test(node__one_cable_is_no_proof),
		cmocka_unit_test(node__twice),
		cmocka_unit_test(node__too_large),
		cmocka_unit_test(shape__of_a_host),
		cmocka_unit_test(shape__of_cables),
		cmocka_unit_test(shape__of_no_torus),
		cmocka_unit_test(dead__host),
		cmocka_unit_test(dead__host_without_power),
		cmocka_unit_test(dead__neighbours_are_switched_off),
		cmocka_unit_test(dead__host_with_its_cables),
		cmocka_unit_test(dead__others_behind),
		cmocka_unit_test(port__missing),
		cmocka_unit_test(port__of_a_bridge),
		cmocka_unit_test(wiring__crossed_at_a_host),
		cmocka_unit_test(wiring__crossed_between_hosts),
		cmocka_unit_test(wiring__directions_exchanged),
		cmocka_unit_test(wiring__one_cable),
		cmocka_unit_test(wiring__into_no_port),
		cmocka_unit_test(wiring__a_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
