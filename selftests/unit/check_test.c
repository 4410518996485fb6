// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What torcollctl fabric check says of a survey: one line for each cause. */
#include "host_env.h"
#include "survey_torus.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/shape.c"
#include "../../tools/torcollctl/map.c"
#include "../../tools/torcollctl/check.c"
#include "../../tools/torcollctl/check_hosts.c"
#include "../../tools/torcollctl/check_settings.c"
#include "../../tools/torcollctl/check_wiring.c"
#include "../../tools/torcollctl/check_links.c"
#include "../../tools/torcollctl/check_cables.c"

struct options opt;
const char *const dir_names[2] = { "plus", "minus" };

const char *link_state_name(uint32_t state)
{
	return state == TORCOLL_LINK_STATE_VERSION ? "version" : "?";
}

/* Check @s, and compare with "RULE: WHAT" of all that was found. */
static void finds_since(const struct survey *s, const struct survey *before, const char *expected)
{
	struct check *c = check_new(s, before, TORUS_KEY);
	char text[4096] = "";
	uint32_t i;

	assert_non_null(c);
	for (i = 0; i < c->nfindings; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s\n",
			 c->finding[i].rule, c->finding[i].what);
	assert_string_equal(text, expected);
	check_free(c);
}

static void finds(const struct survey *s, const char *expected)
{
	finds_since(s, NULL, expected);
}

/* The remedy of the only finding. */
static void advises(const struct survey *s, const char *expected)
{
	struct check *c = check_new(s, NULL, TORUS_KEY);

	assert_int_equal(c->nfindings, 1);
	assert_string_equal(c->finding[0].remedy, expected);
	check_free(c);
}

static void set_state(struct survey_port *p, uint8_t state)
{
	p->state = state;
	p->since_ms = 60000;
	p->downs++;
	p->flags &= ~TORCOLL_SURVEY_TESTED;
}

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

static void check__nothing_of_healthy_ones(void **state)
{
	static const char *const shapes[] = { "4x4", "2x2x2", "2", "3", "5x1x2", "3x3x3" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct survey *s = torus_survey(shapes[i]);

		finds(s, "");
		finds_since(s, s, "");
		torus_free(s);
	}
}

static void check__nothing_of_other_keys(void **state)
{
	struct survey *s = torus_survey("4x4");

	assert_null(check_new(s, NULL, 2));
	torus_free(s);
}

static void down__device_is_off(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *q = p->other;

	p->flags &= ~(TORCOLL_SURVEY_UP | TORCOLL_SURVEY_CARRIER);
	q->flags &= ~TORCOLL_SURVEY_CARRIER;
	set_state(p, TORCOLL_LINK_STATE_NO_CARRIER);
	set_state(q, TORCOLL_LINK_STATE_NO_CARRIER);
	torus_pull(p);
	finds(s, "down: the link c5:d0p (node 5) - c6:d0m (node 6) is down: the device d0p of c5 (node 5) is switched off\n");
	advises(s, "on c5: ip link set d0p up");
	torus_free(s);
}

static void down__no_carrier(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *q = p->other;

	p->flags &= ~TORCOLL_SURVEY_CARRIER;
	q->flags &= ~TORCOLL_SURVEY_CARRIER;
	set_state(p, TORCOLL_LINK_STATE_NO_CARRIER);
	set_state(q, TORCOLL_LINK_STATE_NO_CARRIER);
	torus_pull(p);
	finds(s, "down: the link c5:d0p (node 5) - c6:d0m (node 6) is down: no carrier\n");
	torus_free(s);
}

static void down__one_way(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *q = p->other;

	set_state(p, TORCOLL_LINK_STATE_ONE_WAY);
	set_state(q, TORCOLL_LINK_STATE_WAITING);
	torus_pull(p);
	finds(s, "one-way: the link c5:d0p (node 5) - c6:d0m (node 6) is down: what c5:d0p (node 5) sends does not arrive at c6:d0m (node 6)\n");
	torus_free(s);
}

static void down__silent(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d1p"), *q = p->other;

	set_state(p, TORCOLL_LINK_STATE_WAITING);
	set_state(q, TORCOLL_LINK_STATE_WAITING);
	torus_pull(p);
	finds(s, "down: the link c5:d1p (node 5) - c9:d1m (node 9) is down: neither end hears the other\n");
	torus_free(s);
}

static void down__other_states(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d1p");

	set_state(p, TORCOLL_LINK_STATE_VERSION);
	set_state(p->other, TORCOLL_LINK_STATE_VERSION);
	finds(s, "down: the link c5:d1p (node 5) - c9:d1m (node 9) is down: version at the first, version at the second end\n");
	torus_free(s);
}

static void flapping__by_state(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 6, "d1p");

	p->downs = 7;
	set_state(p, TORCOLL_LINK_STATE_FLAPPING);
	finds(s, "flapping: the link c6:d1p (node 6) - c10:d1m (node 10) goes up and down, 8 times so far\n");
	torus_free(s);
}

static void flapping__by_its_past(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 6, "d1p");

	p->downs = 3;
	p->since_ms = 10000;
	finds(s, "flapping: the link c6:d1p (node 6) - c10:d1m (node 10) goes up and down, 3 times so far\n");
	/* long ago, or an accident */
	p->since_ms = 31000;
	finds(s, "");
	p->since_ms = 10000;
	p->downs = 2;
	finds(s, "");
	torus_free(s);
}

static void flapping__while_it_is_checked(void **state)
{
	struct survey *s = torus_survey("4x4"), *before = torus_survey("4x4");

	torus_port(s, 6, "d1p")->downs = 1;
	finds_since(s, before, "flapping: the link c6:d1p (node 6) - c10:d1m (node 10) goes up and down, 1 times so far\n");
	torus_free(s);
	torus_free(before);
}

static void slow__one_direction(void **state)
{
	struct survey *s = torus_survey("4x4");

	torus_port(s, 6, "d0m")->rate = 4500;
	finds(s, "slow: c5:d0p (node 5) -> c6:d0m (node 6): 4500 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_port(s, 6, "d0m")->rate = 6500;
	finds(s, "");
	/* not measured */
	torus_port(s, 6, "d0m")->rate = 0;
	finds(s, "");
	torus_free(s);
}

static void slow__beside_its_other_direction(void **state)
{
	struct survey *s = torus_survey("2");

	torus_port(s, 1, "d0m")->rate = 4500;
	finds(s, "slow: c0:d0p (node 0) -> c1:d0m (node 1): 4500 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_free(s);
}

/* Of slow devices the rate is compared with that of other slow ones; they are told by their dimension. */
static void slow__not_of_slow_devices(void **state)
{
	struct survey *s = torus_survey("4x4");
	uint32_t i, j;

	for (i = 0; i < s->nhosts; i++)
		for (j = 0; j < s->hosts[i]->nports; j++)
			if (s->hosts[i]->ports[j].dim == 1) {
				s->hosts[i]->ports[j].speed = 1000;
				s->hosts[i]->ports[j].rate = 900;
			}
	finds(s, "");
	torus_port(s, 3, "d1p")->rate = 450;
	finds(s, "slow: c7:d1m (node 7) -> c3:d1p (node 3): 450 Mbit/s, the other cables 900 Mbit/s\n");
	torus_free(s);
}

static void speed__agreed_upon_too_little(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p");

	p->speed = 1000;
	p->other->speed = 1000;
	p->rate = 900;
	p->other->rate = 900;
	finds(s, "speed: c5:d0p (node 5) - c6:d0m (node 6) runs at 1000 Mbit/s, the other cables of dim 0 at 10000 Mbit/s\n");
	torus_free(s);
}

static void delay__beside_the_others(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p");

	p->rtt_min_ns = 20050000;
	p->other->rtt_min_ns = 20060000;
	finds(s, "delay: c5:d0p (node 5) - c6:d0m (node 6): a round trip takes 20.1 ms, of the other cables 50.0 us\n");
	/* ten times as long, and more than a millisecond */
	p->rtt_min_ns = 1100000;
	finds(s, "delay: c5:d0p (node 5) - c6:d0m (node 6): a round trip takes 1.1 ms, of the other cables 50.0 us\n");
	p->rtt_min_ns = 900000;
	finds(s, "");
	torus_free(s);
}

/* Where all round trips are long, five milliseconds more count. */
static void delay__of_slow_hosts(void **state)
{
	struct survey *s = torus_survey("4x4");
	uint32_t i, j;

	for (i = 0; i < s->nhosts; i++)
		for (j = 0; j < s->hosts[i]->nports; j++)
			s->hosts[i]->ports[j].rtt_min_ns = 1000000;
	torus_port(s, 5, "d0p")->rtt_min_ns = torus_port(s, 6, "d0m")->rtt_min_ns = 5900000;
	finds(s, "");
	torus_port(s, 5, "d0p")->rtt_min_ns = torus_port(s, 6, "d0m")->rtt_min_ns = 6100000;
	finds(s, "delay: c5:d0p (node 5) - c6:d0m (node 6): a round trip takes 6.1 ms, of the other cables 1.0 ms\n");
	torus_free(s);
}

static void loss__of_pings(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *q = p->other;

	/* two pings from 5 did not arrive, nor one answer of its */
	q->pinged = 98;
	p->pongs = 98;
	q->pongs = 99;
	finds(s, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 1.1 % of 264 frames are lost\n");
	torus_free(s);
}

static void loss__of_large_frames_only(void **state)
{
	struct survey *s = torus_survey("4x4");

	torus_port(s, 6, "d0m")->train = 60;
	finds(s, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 1.5 % of 264 frames are lost\n");
	/* what a shaper drops of a train is of its rate */
	torus_port(s, 6, "d0m")->rate = 2000;
	finds(s, "slow: c5:d0p (node 5) -> c6:d0m (node 6): 2000 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_free(s);
}

static void loss__not_of_one_frame(void **state)
{
	struct survey *s = torus_survey("4x4");

	torus_port(s, 6, "d0m")->train = 63;
	finds(s, "");
	torus_free(s);
}

static void loss__counted_by_ports(void **state)
{
	struct survey *s = torus_survey("4x4"), *before = torus_survey("4x4");
	struct survey_port *q = torus_port(s, 6, "d0m");

	/* of long ago */
	q->lost = 5000;
	torus_port(before, 6, "d0m")->lost = 5000;
	finds(s, "");
	finds_since(s, before, "");
	q->lost += 30;
	q->rx_frames += 970;
	finds_since(s, before, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 2.4 % of 1264 frames are lost\n");
	torus_free(s);
	torus_free(before);
}

static void damage__of_test_frames(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *q = torus_port(s, 6, "d0m");

	q->bad = 3;
	q->train = 61;
	finds(s, "damage: c5:d0p (node 5) -> c6:d0m (node 6): 3 of 264 frames arrive damaged\n");
	torus_free(s);
}

static void damage__counted_by_ports(void **state)
{
	struct survey *s = torus_survey("4x4"), *before = torus_survey("4x4");

	torus_port(s, 6, "d0m")->damaged = 9;
	finds(s, "");
	finds_since(s, before, "damage: c5:d0p (node 5) -> c6:d0m (node 6): 9 of 264 frames arrive damaged\n");
	torus_free(s);
	torus_free(before);
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
	c = check_new(s, NULL, TORUS_KEY);
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

static void dead__host_without_power(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_host *host = s->hosts[9];
	unsigned int i;

	set_states(host, TORCOLL_LINK_STATE_NO_CARRIER);
	for (i = 0; i < host->nports; i++)
		host->ports[i].other->flags &= ~TORCOLL_SURVEY_CARRIER;
	torus_kill(s, 9);
	finds(s, "dead: node 9 (1,2) does not answer; its neighbours' c10:d0m, c8:d0p, c13:d1m, c5:d1p have no carrier\n");
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

static void mtu__at_one_end(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p");

	p->own.mtu = 1500;
	p->trains = 64;
	p->train = 0;
	finds(s, "mtu: c5:d0p (node 5) has MTU 1500, c6:d0m (node 6) at the other end 9000\n");
	advises(s, "on c5: ip link set d0p mtu 9000");
	torus_free(s);
}

static void reach__of_a_node(void **state)
{
	struct survey *s = torus_survey("4x4");

	s->hosts[5]->nodes[0].reached = 12;
	finds(s, "reach: c5 (node 5) reaches 12 of 16 nodes\n");
	/* that follows from what is named */
	torus_port(s, 6, "d1p")->state = TORCOLL_LINK_STATE_FLAPPING;
	finds(s, "flapping: the link c6:d1p (node 6) - c10:d1m (node 10) goes up and down, 0 times so far\n");
	torus_free(s);
}

static void check__several_faults(void **state)
{
	struct survey *s = torus_survey("2x2x2");
	struct survey_port *p = torus_port(s, 0, "d2p");

	torus_port(s, 1, "d0m")->bad = 1;
	p->own.mtu = 1500;
	s->hosts[7]->nodes[0].checksum = 1;
	finds(s,
	      "checksum: c7 (node 7) has checksum header, 7 others have checksum full\n"
	      "mtu: c0:d2p (node 0) has MTU 1500, c4:d2m (node 4) at the other end 9000\n"
	      "damage: c0:d0p (node 0) -> c1:d0m (node 1): 1 of 264 frames arrive damaged\n");
	torus_free(s);
}

/* Names come from other hosts. */
static void check__prints_plain_text(void **state)
{
	struct survey *s = torus_survey("4x4");

	strcpy(s->hosts[5]->name, "\033[2Jx");
	s->hosts[5]->nodes[0].checksum = 1;
	finds(s, "checksum: \\x1b[2Jx (node 5) has checksum header, 15 others have checksum full\n");
	torus_free(s);
}

static void check__as_json(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct json_object *list;
	struct check *c;

	torus_port(s, 6, "d0m")->bad = 1;
	c = check_new(s, NULL, TORUS_KEY);
	list = check_json(c);
	assert_string_equal(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
		"[{\"rule\":\"damage\",\"hint\":false,\"ends\":["
		"{\"host\":\"c5\",\"device\":\"d0p\",\"node\":5},"
		"{\"host\":\"c6\",\"device\":\"d0m\",\"node\":6}],"
		"\"what\":\"c5:d0p (node 5) -> c6:d0m (node 6): 1 of 264 frames arrive damaged\","
		"\"do\":\"replace the cable, then the device at its first end\"}]");
	json_object_put(list);
	check_free(c);
	torus_free(s);
}

static void map__key_that_is_meant(void **state)
{
	struct survey *s = torus_survey("3");
	uint64_t key = 0;

	assert_int_equal(map_key(s, &key), 0);
	assert_int_equal(key, TORUS_KEY);
	s->hosts[2]->nodes[0].key = 2;
	assert_int_equal(map_key(s, &key), 0);
	assert_int_equal(key, TORUS_KEY);
	s->hosts[2]->nodes[0].key = TORUS_KEY;
	/* where this host is the only one of another fabric, that is the fault */
	s->self->nodes[0].key = 2;
	assert_int_equal(map_key(s, &key), 0);
	assert_int_equal(key, TORUS_KEY);
	torus_kill(s, 2);
	assert_int_equal(map_key(s, &key), 0);
	assert_int_equal(key, 2);
	s->self->nnodes = s->hosts[1]->nnodes = 0;
	assert_int_equal(map_key(s, &key), CTL_USAGE);
	torus_free(s);
}

/* Compare the findings of two tests, the later one first. */
static void confirms(const struct survey *s, const struct survey *earlier, const char *expected)
{
	struct check *c = check_new(s, NULL, TORUS_KEY), *e = check_new(earlier, NULL, TORUS_KEY);
	char text[1024] = "";
	uint32_t i;

	check_confirm(c, e);
	check_free(e);
	for (i = 0; i < c->nfindings; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s\n",
			 c->finding[i].rule, c->finding[i].what);
	assert_string_equal(text, expected);
	assert_int_equal(json_object_put(check_json(c)), 1);
	check_free(c);
}

static void confirm__loss(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4");

	torus_port(s, 6, "d0m")->train = 60;
	confirms(s, earlier, "");
	torus_port(earlier, 5, "d0p")->train = 60;
	confirms(s, earlier, "");
	torus_port(earlier, 6, "d0m")->train = 50;
	confirms(s, earlier, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 1.5 % of 264 frames are lost\n");
	torus_free(s);
	torus_free(earlier);
}

static void confirm__rates(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4");

	torus_port(s, 6, "d0m")->rate = 4500;
	torus_port(earlier, 6, "d0m")->rate = 4000;
	/* of a busy host */
	torus_port(s, 9, "d0m")->rate = 2700;
	torus_port(earlier, 10, "d0m")->rate = 800;
	confirms(s, earlier, "slow: c5:d0p (node 5) -> c6:d0m (node 6): 4500 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_free(s);
	torus_free(earlier);
}

static void confirm__damage_and_hosts(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4");

	/* damage is certain once it was seen, other faults may be gone */
	torus_port(earlier, 6, "d0m")->bad = 1;
	earlier->hosts[3]->nodes[0].checksum = 1;
	s->hosts[4]->nodes[0].checksum = 1;
	confirms(s, earlier,
		 "checksum: c4 (node 4) has checksum header, 15 others have checksum full\n"
		 "damage: c5:d0p (node 5) -> c6:d0m (node 6): 1 of 264 frames arrive damaged\n");
	torus_free(s);
	torus_free(earlier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check__nothing_of_healthy_ones),
		cmocka_unit_test(check__nothing_of_other_keys),
		cmocka_unit_test(down__device_is_off),
		cmocka_unit_test(down__no_carrier),
		cmocka_unit_test(down__one_way),
		cmocka_unit_test(down__silent),
		cmocka_unit_test(down__other_states),
		cmocka_unit_test(flapping__by_state),
		cmocka_unit_test(flapping__by_its_past),
		cmocka_unit_test(flapping__while_it_is_checked),
		cmocka_unit_test(slow__one_direction),
		cmocka_unit_test(slow__beside_its_other_direction),
		cmocka_unit_test(slow__not_of_slow_devices),
		cmocka_unit_test(speed__agreed_upon_too_little),
		cmocka_unit_test(delay__beside_the_others),
		cmocka_unit_test(delay__of_slow_hosts),
		cmocka_unit_test(loss__of_pings),
		cmocka_unit_test(loss__of_large_frames_only),
		cmocka_unit_test(loss__not_of_one_frame),
		cmocka_unit_test(loss__counted_by_ports),
		cmocka_unit_test(damage__of_test_frames),
		cmocka_unit_test(damage__counted_by_ports),
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
		cmocka_unit_test(shape__of_a_host),
		cmocka_unit_test(shape__of_cables),
		cmocka_unit_test(shape__of_no_torus),
		cmocka_unit_test(dead__host),
		cmocka_unit_test(dead__host_without_power),
		cmocka_unit_test(dead__host_with_its_cables),
		cmocka_unit_test(dead__others_behind),
		cmocka_unit_test(port__missing),
		cmocka_unit_test(wiring__crossed_at_a_host),
		cmocka_unit_test(wiring__crossed_between_hosts),
		cmocka_unit_test(wiring__directions_exchanged),
		cmocka_unit_test(wiring__one_cable),
		cmocka_unit_test(wiring__into_no_port),
		cmocka_unit_test(wiring__a_switch),
		cmocka_unit_test(mtu__at_one_end),
		cmocka_unit_test(reach__of_a_node),
		cmocka_unit_test(check__several_faults),
		cmocka_unit_test(check__prints_plain_text),
		cmocka_unit_test(check__as_json),
		cmocka_unit_test(map__key_that_is_meant),
		cmocka_unit_test(confirm__loss),
		cmocka_unit_test(confirm__rates),
		cmocka_unit_test(confirm__damage_and_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
