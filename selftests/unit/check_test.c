// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What torcollctl fabric check says of links and cables, and how: one line for each cause. */
#include "check_findings.h"

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

	assert_null(check_new(s, NULL, NULL, 2));
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

/* A second cable between the hosts of two ports, whose other end @q may be no port. */
static void second_cable(struct survey_port *p, bool q)
{
	struct survey_port *port[2] = { p, p->other };
	int i;

	for (i = 0; i <= q; i++) {
		struct survey_host *host = port[i]->owner;
		struct survey_port *second = &host->ports[host->nports++];

		*second = *port[i];
		strcat(second->own.device, "2");
		second->other = NULL;
		second->flags &= ~TORCOLL_SURVEY_CARRIER;
		set_state(second, TORCOLL_LINK_STATE_NO_CARRIER);
	}
}

static void down__one_of_two(void **state)
{
	struct survey *s = torus_survey("4");

	second_cable(torus_port(s, 1, "d0p"), true);
	finds(s, "down: the link c1:d0p2 (node 1) - c2:d0m2 (node 2) is down: no carrier\n");
	torus_free(s);
}

static void port__one_of_two_is_gone(void **state)
{
	struct survey *s = torus_survey("4");

	second_cable(torus_port(s, 1, "d0p"), false);
	finds(s, "port: c1:d0p2 (node 1) is no-carrier, and c2 (node 2) has no port for its other end\n");
	advises(s, "is its device there still, with its cable? Then on c2: torcollctl apply FILE");
	torus_free(s);
	/* at the end of a link that is listed second */
	s = torus_survey("4");
	second_cable(torus_port(s, 2, "d0m"), false);
	finds(s, "port: c2:d0m2 (node 2) is no-carrier, and c1 (node 1) has no port for its other end\n");
	torus_free(s);
}

/* One cause, one sentence. */
static void port__both_are_gone(void **state)
{
	struct survey *s = torus_survey("4");
	struct survey_port *p = torus_port(s, 1, "d0p"), *q = p->other;

	second_cable(p, false);
	set_state(p, TORCOLL_LINK_STATE_NO_CARRIER);
	torus_pull(p);
	q->flags &= ~TORCOLL_SURVEY_MEMBER;
	finds(s, "port: c2 (node 2) has no port for dim 0 minus\n");
	/* nor does the host answer at all */
	torus_kill(s, 2);
	finds(s, "dead: node 2 (2) does not answer; its neighbours' c3:d0m, c1:d0p hear nothing\n");
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

/* 94 Mbit/s beside 9000: whatever the ends know of their speed. */
static void slow__speed_is_not_known(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *q = p->other, *other;
#define SLOW	"slow: c5:d0p (node 5) -> c6:d0m (node 6): 94 Mbit/s, the other cables 9000 Mbit/s\n" \
		"slow: c6:d0m (node 6) -> c5:d0p (node 5): 94 Mbit/s, the other cables 9000 Mbit/s\n"

	p->rate = q->rate = 94;
	p->speed = 0;
	finds(s, SLOW);
	q->speed = 0;
	finds(s, SLOW);
	/* one that runs at less, or is not measured, is no measure either */
	other = torus_port(s, 9, "d1p");
	other->speed = other->other->speed = 1000;
	other->rate = other->other->rate = 0;
	finds(s, SLOW "speed: c9:d1p (node 9) - c13:d1m (node 13) runs at 1000 Mbit/s, the other cables of dim 1 at 10000 Mbit/s\n");
	other->speed = other->other->speed = 10000;
	other->rate = other->other->rate = 9000;
	p->speed = 100;
	finds(s, "speed: c5:d0p (node 5) - c6:d0m (node 6) runs at 100 Mbit/s, the other cables of dim 0 at 10000 Mbit/s\n");
	torus_free(s);
}

static void set_dim(struct survey *s, uint32_t dim, uint32_t speed, uint32_t rate)
{
	uint32_t i, j;

	for (i = 0; i < s->nhosts; i++)
		for (j = 0; j < s->hosts[i]->nports; j++)
			if (s->hosts[i]->ports[j].dim == dim) {
				s->hosts[i]->ports[j].speed = speed;
				s->hosts[i]->ports[j].rate = rate;
			}
}

/* As adapters that do not tell their speed, or carry less than it says: no cable of them is worse than the others. */
static void slow__not_of_many_that_agree(void **state)
{
	struct survey *s = torus_survey("4x4");

	set_dim(s, 0, 0, 3000);
	finds(s, "");
	set_dim(s, 0, 10000, 3100);
	set_dim(s, 1, 5000, 4700);
	finds(s, "");
	/* media that differ by dimension */
	set_dim(s, 0, 0, 9400);
	set_dim(s, 1, 0, 940);
	finds(s, "");
	torus_free(s);
}

/* Two of the only three cables of their speed carry less than slower ones. */
static void slow__of_few_that_do_not_agree(void **state)
{
	struct survey *s = torus_survey("4x4");
	static const uint32_t rates[] = { 1000, 1000, 23500 };
	struct survey_port *p;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		p = torus_port(s, 4 * i, "d0p");
		p->speed = p->other->speed = 25000;
		p->rate = p->other->rate = rates[i];
	}
	finds(s,
	      "slow: c0:d0p (node 0) -> c1:d0m (node 1): 1000 Mbit/s, the other cables 9000 Mbit/s\n"
	      "slow: c1:d0m (node 1) -> c0:d0p (node 0): 1000 Mbit/s, the other cables 9000 Mbit/s\n"
	      "slow: c4:d0p (node 4) -> c5:d0m (node 5): 1000 Mbit/s, the other cables 9000 Mbit/s\n"
	      "slow: c5:d0m (node 5) -> c4:d0p (node 4): 1000 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_free(s);
}

/* The only cable of its speed carries no less than slower ones do. */
static void slow__of_a_faster_device(void **state)
{
	struct survey *s = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p");

	p->speed = p->other->speed = 25000;
	p->rate = p->other->rate = 9500;
	finds(s, "");
	p->rate = p->other->rate = 900;
	finds(s,
	      "slow: c5:d0p (node 5) -> c6:d0m (node 6): 900 Mbit/s, the other cables 9000 Mbit/s\n"
	      "slow: c6:d0m (node 6) -> c5:d0p (node 5): 900 Mbit/s, the other cables 9000 Mbit/s\n");
	torus_free(s);
}

/* Many hosts that make up speeds, each its own, come before those that do not. */
static void slow__beside_many_speeds(void **state)
{
	struct survey *s = torus_survey("16x16");
	struct survey_port *p, *q;
	uint32_t i;

	for (i = 0; i < 80; i++) {
		p = torus_port(s, i, "d0p");
		q = torus_port(s, i, "d1p");
		p->speed = p->other->speed = 10001 + i;
		q->speed = q->other->speed = 20001 + i;
	}
	torus_port(s, 200, "d0m")->rate = 4500;
	finds(s, "slow: c199:d0p (node 199) -> c200:d0m (node 200): 4500 Mbit/s, the other cables 9000 Mbit/s\n");
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

/* A test of long ago says nothing about the cable now. */
static void loss__of_an_old_test(void **state)
{
	struct survey *s = torus_survey("4x4");

	torus_port(s, 6, "d0m")->train = 30;
	torus_port(s, 6, "d0m")->tested_ms = SURVEY_TEST_MS - 1;
	finds(s, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 12.9 % of 264 frames are lost\n");
	torus_port(s, 6, "d0m")->tested_ms = SURVEY_TEST_MS;
	finds(s, "");
	torus_free(s);
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
	c = check_new(s, NULL, NULL, TORUS_KEY);
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
static void confirms_since(const struct survey *s, const struct survey *earlier,
			   const struct survey *before, const char *expected)
{
	struct check *c = check_new(s, before, before ? earlier : NULL, TORUS_KEY);
	struct check *e = check_new(earlier, before, before, TORUS_KEY);
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

static void confirms(const struct survey *s, const struct survey *earlier, const char *expected)
{
	confirms_since(s, earlier, NULL, expected);
}

/* What ops lost during the first test is in the counters of the second, and is not found again. */
static void confirm__not_by_its_own_counter(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4"), *before = torus_survey("4x4");

	torus_port(earlier, 6, "d0m")->lost += 10;
	torus_port(earlier, 6, "d0m")->rx_frames += 3000;
	torus_port(s, 6, "d0m")->lost += 10;
	torus_port(s, 6, "d0m")->rx_frames += 4000;
	finds_since(earlier, before, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 0.3 % of 3274 frames are lost\n");
	confirms_since(s, earlier, before, "");
	torus_port(s, 6, "d0m")->lost += 10;
	confirms_since(s, earlier, before, "loss: c5:d0p (node 5) -> c6:d0m (node 6): 0.8 % of 1274 frames are lost\n");
	torus_free(s);
	torus_free(earlier);
	torus_free(before);
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

/* Both tests found the cable bad, each by another rule. */
static void confirm__another_rule(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4");
	struct survey_port *p = torus_port(s, 5, "d0p"), *e = torus_port(earlier, 5, "d0p");

	p->rtt_min_ns = p->other->rtt_min_ns = 10000000;
	/* another cable of the same host */
	torus_port(earlier, 5, "d0m")->train = 60;
	confirms(s, earlier, "");
	e->pongs -= 4;
	e->other->pinged -= 4;
	confirms(s, earlier, "delay: c5:d0p (node 5) - c6:d0m (node 6): a round trip takes 10.0 ms, of the other cables 50.0 us\n");
	torus_free(s);
	torus_free(earlier);
}

/* What a busy host lost one way says nothing of what came late the other way. */
static void confirm__not_the_other_way(void **state)
{
	struct survey *s = torus_survey("4x4"), *earlier = torus_survey("4x4");

	torus_port(earlier, 5, "d0p")->other->train = 60;
	torus_port(s, 5, "d0p")->rate = 5000;
	confirms(s, earlier, "");
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
		cmocka_unit_test(down__one_of_two),
		cmocka_unit_test(port__one_of_two_is_gone),
		cmocka_unit_test(port__both_are_gone),
		cmocka_unit_test(flapping__by_state),
		cmocka_unit_test(flapping__by_its_past),
		cmocka_unit_test(flapping__while_it_is_checked),
		cmocka_unit_test(slow__one_direction),
		cmocka_unit_test(slow__beside_its_other_direction),
		cmocka_unit_test(slow__not_of_slow_devices),
		cmocka_unit_test(slow__speed_is_not_known),
		cmocka_unit_test(slow__not_of_many_that_agree),
		cmocka_unit_test(slow__of_few_that_do_not_agree),
		cmocka_unit_test(slow__beside_many_speeds),
		cmocka_unit_test(slow__of_a_faster_device),
		cmocka_unit_test(speed__agreed_upon_too_little),
		cmocka_unit_test(delay__beside_the_others),
		cmocka_unit_test(delay__of_slow_hosts),
		cmocka_unit_test(loss__of_pings),
		cmocka_unit_test(loss__of_large_frames_only),
		cmocka_unit_test(loss__not_of_one_frame),
		cmocka_unit_test(loss__counted_by_ports),
		cmocka_unit_test(loss__of_an_old_test),
		cmocka_unit_test(damage__of_test_frames),
		cmocka_unit_test(damage__counted_by_ports),
		cmocka_unit_test(mtu__at_one_end),
		cmocka_unit_test(reach__of_a_node),
		cmocka_unit_test(check__several_faults),
		cmocka_unit_test(check__prints_plain_text),
		cmocka_unit_test(check__as_json),
		cmocka_unit_test(map__key_that_is_meant),
		cmocka_unit_test(confirm__loss),
		cmocka_unit_test(confirm__rates),
		cmocka_unit_test(confirm__not_by_its_own_counter),
		cmocka_unit_test(confirm__another_rule),
		cmocka_unit_test(confirm__not_the_other_way),
		cmocka_unit_test(confirm__damage_and_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
