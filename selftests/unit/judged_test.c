// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Verdicts on the cables of surveys that exist in memory only. */
#include "host_env.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/shape.c"
#include "../../tools/torcollctl/survey.c"
#include "../../tools/torcollctl/judged.c"
#include "../../tools/torcollctl/verdict.c"

#define HOSTS	9
#define RATE	9000		/* Mbit/s */
#define RTT	50000

static struct survey_host member[HOSTS];
static struct survey_host *hosts[HOSTS];
static struct survey_port port[HOSTS][3];
static struct survey_node node[HOSTS];
static struct survey survey;

const char *link_state_name(uint32_t state)
{
	return state == TORCOLL_LINK_STATE_WAITING ? "waiting" : "no-carrier";
}

struct options opt;

static void set_port(unsigned int h, unsigned int p)
{
	struct survey_port *at = &port[h][p];

	*at = (struct survey_port){
		.owner = &member[h],
		.own.host = h + 1,
		.flags = TORCOLL_SURVEY_UP | TORCOLL_SURVEY_CARRIER | TORCOLL_SURVEY_MEMBER |
			 TORCOLL_SURVEY_TESTED,
		.state = TORCOLL_LINK_STATE_UP,
		.dir = p,
		.key = 1,
		.speed = 10000,
		.expected = p ? (h + HOSTS - 1) % HOSTS : (h + 1) % HOSTS,
		.pings = 500, .pongs = 500, .pinged = 500, .train = 64, .trains = 64,
		.rtt_min_ns = RTT / 2, .rtt_median_ns = RTT, .rate = RATE,
	};
	snprintf(at->own.device, sizeof(at->own.device), "eth%u", p);
}

/* A ring, plus at eth0, minus at eth1; eth2 of each host is in no fabric and has no cable. */
static int setup(void **state)
{
	unsigned int h;

	(void)state;
	survey = (struct survey){ .hosts = hosts, .nhosts = HOSTS };
	for (h = 0; h < HOSTS; h++) {
		node[h] = (struct survey_node){ .key = 1, .node = h, .ndim = 1, .side = { HOSTS } };
		member[h] = (struct survey_host){
			.id = h + 1, .nodes = &node[h], .nnodes = 1, .ports = port[h], .nports = 3,
		};
		snprintf(member[h].name, sizeof(member[h].name), "c%u", h);
		hosts[h] = &member[h];
		set_port(h, 0);
		set_port(h, 1);
		port[h][2] = (struct survey_port){ .owner = &member[h], .own.host = h + 1 };
	}
	for (h = 0; h < HOSTS; h++) {
		struct survey_port *plus = &port[h][0], *minus = &port[(h + 1) % HOSTS][1];

		plus->other = minus;
		minus->other = plus;
		plus->peer = minus->own;
		minus->peer = plus->own;
	}
	return 0;
}

static struct judgement judge_all(size_t bad, size_t slow)
{
	struct judgement j;

	assert_int_equal(judgement_make(&j, &survey), 0);
	assert_int_equal(judgement_count(&j, VERDICT_BAD), bad);
	assert_int_equal(judgement_count(&j, VERDICT_SLOW), slow);
	return j;
}

/* The worst cable is that one, and says so; as many as that are not good. */
static void worst(size_t bad, size_t slow, const char *from, const char *to, const char *reason)
{
	struct judgement j = judge_all(bad, slow);
	const struct judged *first = &j.cable[0];
	unsigned int i;

	assert_string_equal(first->name[0], from);
	assert_string_equal(first->name[1], to);
	for (i = 0; i < first->verdict.reasons; i++)
		if (strstr(first->verdict.reason[i], reason))
			break;
	if (i == first->verdict.reasons)
		fail_msg("no reason says \"%s\", but \"%s\"", reason, first->verdict.reason[0]);
	judgement_free(&j);
}

static void judgement_make__good(void **state)
{
	struct judgement j = judge_all(0, 0);

	(void)state;
	/* each cable once, and no device without one */
	assert_int_equal(j.n, HOSTS);
	assert_true(judgement_is_tested(&j));
	assert_int_equal(j.host_limit, 0);
	assert_int_equal(j.cable[0].cable.way[0].sent, 500 + 500 + 64);
	assert_int_equal(j.cable[0].cable.way[0].usual_bps, RATE * 1000000ULL);
	judgement_free(&j);
}

static void judgement_make__empty(void **state)
{
	struct judgement j;

	(void)state;
	survey.nhosts = 0;
	j = judge_all(0, 0);
	assert_int_equal(j.n, 0);
	assert_false(judgement_is_tested(&j));
	judgement_free(&j);
}

static void judgement_make__rate(void **state)
{
	(void)state;
	port[3][1].rate = RATE / 2;
	worst(0, 1, "c2:eth0", "c3:eth1", "4.50 Gb/s to c3:eth1, 50 % of its siblings' 9.00 Gb/s");
	port[3][1].rate = RATE / 10;
	worst(1, 0, "c2:eth0", "c3:eth1", "900.0 Mb/s to c3:eth1");
	/* the other direction of the same cable */
	port[3][1].rate = RATE;
	port[2][0].rate = RATE / 1000;
	worst(1, 0, "c2:eth0", "c3:eth1", "9.0 Mb/s to c2:eth0");
}

static void judgement_make__lost(void **state)
{
	(void)state;
	/* five pings and the answers to three others */
	port[3][1].pinged = 495;
	port[2][0].pongs = 492;
	worst(1, 0, "c2:eth0", "c3:eth1", "5 of 1064 frames to c3:eth1 were lost");
	worst(1, 0, "c2:eth0", "c3:eth1", "3 of 1059 frames to c2:eth0 were lost");
}

static void judgement_make__damaged(void **state)
{
	struct judgement j;

	(void)state;
	port[0][0].bad = 7;
	port[0][0].train = 57;
	worst(1, 0, "c0:eth0", "c1:eth1", "7 of 1064 frames to c0:eth0 arrived damaged");
	/* they are not lost as well */
	j = judge_all(1, 0);
	assert_int_equal(j.cable[0].verdict.reasons, 1);
	assert_int_equal(j.cable[0].cable.way[1].lost, 0);
	judgement_free(&j);
}

static void judgement_make__late(void **state)
{
	(void)state;
	port[4][0].rtt_median_ns = 20000000;
	/* that end may have been busy: the other one was not */
	judgement_free(&(struct judgement){ judge_all(0, 0).cable });
	port[5][1].rtt_median_ns = 20100000;
	worst(1, 0, "c4:eth0", "c5:eth1", "a round trip takes 20.0 ms");
}

static void judgement_make__down(void **state)
{
	(void)state;
	port[2][0].state = TORCOLL_LINK_STATE_WAITING;
	port[3][1].state = TORCOLL_LINK_STATE_NO_CARRIER;
	worst(1, 0, "c2:eth0", "c3:eth1", "the link of c2:eth0 is waiting, c3:eth1 is no-carrier");
	/* neither hears the other: the shape tells where the cable leads */
	port[2][0].other = port[3][1].other = NULL;
	port[2][0].peer.host = port[3][1].peer.host = 0;
	worst(1, 0, "c2:eth0", "c3:eth1", "the link of c2:eth0 is waiting, c3:eth1 is no-carrier");
	/* the port there has another cable, or does not exist */
	port[3][1].other = &port[6][2];
	port[3][1].state = TORCOLL_LINK_STATE_UP;
	worst(1, 0, "c2:eth0", "node 3", "the link of c2:eth0 is waiting");
	port[3][1].flags &= ~TORCOLL_SURVEY_MEMBER;
	worst(1, 0, "c2:eth0", "node 3", "the link of c2:eth0 is waiting");
}

static void judgement_make__one_way(void **state)
{
	(void)state;
	port[3][1].peer.host = 0;
	port[3][1].pinged = port[3][1].train = port[3][1].pongs = 0;
	port[2][0].pongs = port[2][0].pinged = 0;
	port[2][0].train = port[2][0].trains = 64;
	port[2][0].pinged = 500;
	worst(1, 0, "c2:eth0", "c3:eth1", "frames to c3:eth1 were lost");
	port[2][0].pinged = port[2][0].train = 0;
	worst(1, 0, "c2:eth0", "c3:eth1", "no test frame to c3:eth1 was answered");
}

/* The other end names another cable: both are shown. */
static void judgement_make__ends_disagree(void **state)
{
	struct judgement j;

	(void)state;
	port[2][0].other = NULL;
	port[2][0].peer.host = 99;
	j = judge_all(1, 0);
	assert_int_equal(j.n, HOSTS + 1);
	judgement_free(&j);
}

/* A cable between two ports of one host. */
static void judgement_make__own_cable(void **state)
{
	struct judgement j;

	(void)state;
	survey.nhosts = 1;
	port[0][0].other = &port[0][1];
	port[0][1].other = &port[0][0];
	j = judge_all(0, 0);
	assert_int_equal(j.n, 1);
	assert_string_equal(j.cable[0].name[0], "c0:eth0");
	assert_string_equal(j.cable[0].name[1], "c0:eth1");
	judgement_free(&j);
}

/* Both ends of the middle cable of a mesh of two have one direction; so have several cables of a link. */
static void judgement_make__dead_cables_of_a_mesh(void **state)
{
	struct judgement j;
	unsigned int h, p;

	(void)state;
	survey.nhosts = 2;
	for (h = 0; h < 2; h++) {
		node[h].side[0] = TORCOLL_SIDE(2, TORCOLL_KIND_MESH);
		for (p = 0; p < 2; p++) {
			port[h][p].dir = TOR_DIR_STEPS + 1;
			port[h][p].expected = 1 - h;
			port[h][p].other = NULL;
			port[h][p].state = TORCOLL_LINK_STATE_WAITING;
		}
	}
	j = judge_all(2, 0);
	judgement_free(&j);
	/* a report of a shape that the fabric does not have */
	port[0][0].dim = 7;
	j = judge_all(3, 0);
	judgement_free(&j);
}

static void judgement_make__dead_host(void **state)
{
	(void)state;
	/* c8 does not answer; its neighbours still name it */
	survey.nhosts = HOSTS - 1;
	port[0][1].other = port[HOSTS - 2][0].other = NULL;
	worst(2, 0, "c0:eth1", "node 8", "node 8 has not answered the survey");
}

static void judgement_make__switch(void **state)
{
	(void)state;
	port[0][1].other = port[HOSTS - 1][0].other = NULL;
	port[0][1].flags |= TORCOLL_SURVEY_MANY;
	port[HOSTS - 1][0].flags |= TORCOLL_SURVEY_MANY;
	worst(2, 0, "c0:eth1", "node 8", "several hosts are heard at c0:eth1");
}

static void judgement_make__untested(void **state)
{
	struct judgement j;

	(void)state;
	port[0][0].flags &= ~TORCOLL_SURVEY_TESTED;
	port[1][1].flags &= ~TORCOLL_SURVEY_TESTED;
	worst(1, 0, "c0:eth0", "c1:eth1", "neither end has tested it");
	/* nor lately */
	port[0][0].flags |= TORCOLL_SURVEY_TESTED;
	port[0][0].tested_ms = SURVEY_TEST_MS;
	worst(1, 0, "c0:eth0", "c1:eth1", "neither end has tested it");
	/* one end is enough to know its own direction */
	port[0][0].tested_ms = SURVEY_TEST_MS - 1;
	port[0][0].flags |= TORCOLL_SURVEY_TESTED;
	j = judge_all(0, 0);
	judgement_free(&j);
}

/* Hosts that are slower than their devices: no cable is blamed. */
static void judgement_make__host_limit(void **state)
{
	struct judgement j;
	unsigned int h;

	(void)state;
	for (h = 0; h < HOSTS; h++)
		port[h][0].rate = port[h][1].rate = 400;
	j = judge_all(0, 0);
	assert_int_equal(j.host_limit, 4);
	judgement_free(&j);
	port[0][0].rate = 40;
	worst(1, 0, "c0:eth0", "c1:eth1", "40.0 Mb/s to c0:eth0, 10 % of its siblings'");
}

static void judgement_make__link_speed(void **state)
{
	(void)state;
	port[0][0].speed = port[1][1].speed = 1000;
	port[0][0].rate = port[1][1].rate = 940;
	worst(0, 1, "c0:eth0", "c1:eth1", "all that its link speed allows, 1.00 Gb/s");
}

/* Cables of a dimension are compared with each other, if there are enough of them. */
static void judgement_make__dimensions(void **state)
{
	unsigned int h;

	(void)state;
	for (h = 0; h < 4; h++) {
		port[h][0].dim = port[h + 1][1].dim = 1;
		port[h][0].rate = port[h + 1][1].rate = RATE / 10;
		port[h][0].speed = port[h + 1][1].speed = 1000;
	}
	judgement_free(&(struct judgement){ judge_all(0, 0).cable });
}

static void judgement_make__names(void **state)
{
	struct judgement j;
	unsigned int h;

	(void)state;
	for (h = 0; h < HOSTS; h++)
		strcpy(member[h].name, "lab");
	port[2][0].state = TORCOLL_LINK_STATE_WAITING;
	worst(1, 0, "node 2:eth0", "node 3:eth1", "the link of node 2:eth0 is waiting");
	for (h = 0; h < HOSTS; h++)
		member[h] = (struct survey_host){ .id = h + 1, .ports = port[h], .nports = 3 };
	j = judge_all(1, 0);
	assert_string_equal(j.cable[0].name[0], "0000000000000003:eth0");
	judgement_free(&j);
}

/* Hosts that share a name, of which one is also in another fabric: its number is that of the cable's. */
static void judgement_make__names_in_two_fabrics(void **state)
{
	struct survey_node both[2];

	(void)state;
	strcpy(member[2].name, "lab");
	strcpy(member[5].name, "lab");
	/* by name */
	hosts[3] = &member[5];
	hosts[5] = &member[3];
	both[0] = (struct survey_node){ .key = 7, .node = 40, .ndim = 1, .side = { 64 } };
	both[1] = node[2];
	member[2].nodes = both;
	member[2].nnodes = 2;
	port[2][0].state = TORCOLL_LINK_STATE_WAITING;
	worst(1, 0, "node 2:eth0", "c3:eth1", "the link of node 2:eth0 is waiting");
}

static void judgement_make__worst_first(void **state)
{
	struct judgement j;

	(void)state;
	port[1][0].rate = RATE / 2;
	port[2][0].pongs = 400;
	port[3][0].pongs = 300;
	port[4][0].state = TORCOLL_LINK_STATE_WAITING;
	j = judge_all(3, 1);
	assert_string_equal(j.cable[0].name[0], "c4:eth0");
	assert_string_equal(j.cable[1].name[0], "c3:eth0");
	assert_string_equal(j.cable[2].name[0], "c2:eth0");
	assert_string_equal(j.cable[3].name[0], "c1:eth0");
	assert_string_equal(j.cable[4].name[0], "c0:eth0");
	/* texts moved with their cables */
	assert_ptr_equal(j.cable[0].cable.down, j.cable[0].down);
	assert_ptr_equal(j.cable[1].cable.way[0].to, j.cable[1].name[1]);
	judgement_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(judgement_make__good, setup),
		cmocka_unit_test_setup(judgement_make__empty, setup),
		cmocka_unit_test_setup(judgement_make__rate, setup),
		cmocka_unit_test_setup(judgement_make__lost, setup),
		cmocka_unit_test_setup(judgement_make__damaged, setup),
		cmocka_unit_test_setup(judgement_make__late, setup),
		cmocka_unit_test_setup(judgement_make__down, setup),
		cmocka_unit_test_setup(judgement_make__one_way, setup),
		cmocka_unit_test_setup(judgement_make__ends_disagree, setup),
		cmocka_unit_test_setup(judgement_make__own_cable, setup),
		cmocka_unit_test_setup(judgement_make__dead_cables_of_a_mesh, setup),
		cmocka_unit_test_setup(judgement_make__dead_host, setup),
		cmocka_unit_test_setup(judgement_make__switch, setup),
		cmocka_unit_test_setup(judgement_make__untested, setup),
		cmocka_unit_test_setup(judgement_make__host_limit, setup),
		cmocka_unit_test_setup(judgement_make__link_speed, setup),
		cmocka_unit_test_setup(judgement_make__dimensions, setup),
		cmocka_unit_test_setup(judgement_make__names, setup),
		cmocka_unit_test_setup(judgement_make__names_in_two_fabrics, setup),
		cmocka_unit_test_setup(judgement_make__worst_first, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
