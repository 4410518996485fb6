// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Surveys: rounds and their ways, cables, tests of these. */
#include "host_env.h"

#include "core/survey/test.h"
#include "survey_frames.h"

#define OTHER	0x2122232425262728ULL
#define MS	NSEC_PER_MSEC
#define SEC	NSEC_PER_SEC

/* --- rounds --- */

static struct tor_surveys *s;

static int setup(void **state)
{
	host_reset();
	s = calloc(1, sizeof(*s));
	tor_surveys_init(s, HOST);
	return 0;
}

static int teardown(void **state)
{
	tor_surveys_destroy(s);
	free(s);
	s = NULL;
	host_check_idle();
	return 0;
}

/* An ask from @host comes in. */
static bool heard(u64 now, u32 ifindex, u64 survey, u32 round, u64 host)
{
	struct tor_survey_frame f = ask_frame(survey, round, host), got;
	u32 len = put_ask(&f, (u8)host);

	assert_int_equal(tor_survey_read(frame, len, &got), 0);
	return tor_survey_heard(s, now, ifindex, &got);
}

static struct torcoll_survey_port describe(u64 now, u32 ifindex)
{
	struct torcoll_survey_port port = { 0 };

	tor_survey_describe(s, now, ifindex, &port);
	return port;
}

static void tor_survey_heard__each_round_once(void **state)
{
	u64 now = SEC;

	assert_true(heard(now, 1, 7, 5, OTHER));
	assert_false(heard(now, 2, 7, 5, OTHER + 1));
	assert_false(heard(now, 1, 7, 4, OTHER));
	assert_true(heard(now, 2, 7, 6, OTHER + 1));
	/* rounds wrap */
	assert_true(heard(now, 2, 8, ~0U, OTHER + 1));
	assert_true(heard(now, 2, 8, 0, OTHER + 1));
	/* by the way of the last round */
	assert_int_equal(tor_survey_way(s, now, 7, 1)->parent, 2);
	assert_null(tor_survey_way(s, now, 7, 2));
	assert_null(tor_survey_way(s, now, 6, 1));
	assert_null(tor_survey_way(s, now + TOR_SURVEY_LIFE + 1, 7, 1));
}

static void tor_survey_heard__room(void **state)
{
	u64 now = SEC;
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++)
		assert_true(heard(now + i, 1, 100 + i, 1, OTHER));
	/* none of them is forgotten at once: its asks may still be under way */
	assert_false(heard(now + TOR_SURVEY_STAY, 1, 200, 1, OTHER));
	assert_true(heard(now + TOR_SURVEY_STAY + 1, 1, 200, 1, OTHER));
	assert_null(tor_survey_way(s, now + TOR_SURVEY_STAY + 1, 100, 2));
	assert_non_null(tor_survey_way(s, now + TOR_SURVEY_STAY + 1, 101, 2));
}

static void tor_survey_heard__rate(void **state)
{
	u64 now = SEC;
	u32 i, passed = 0;

	for (i = 1; i <= 1000; i++)
		passed += heard(now, 1, 7, i, OTHER);
	assert_int_equal(passed, TOR_SURVEY_ROUNDS);
	for (; i <= 1000 + 10000; i++)
		passed += heard(now += MS, 1, 7, i, OTHER);
	assert_in_range(passed, TOR_SURVEY_ROUNDS + 10 * 32 - 1, TOR_SURVEY_ROUNDS + 10 * 32);
}

static void tor_survey_way__rate(void **state)
{
	u32 i, passed = 0;

	assert_true(heard(SEC, 1, 7, 1, OTHER));
	for (i = 0; i < 10000; i++)
		passed += !!tor_survey_way(s, SEC, 7, 2);
	assert_int_equal(passed, TOR_SURVEY_REPORTS);
	assert_non_null(tor_survey_way(s, SEC + TOR_SURVEY_REPORT_EVERY, 7, 2));
	assert_null(tor_survey_way(s, SEC + TOR_SURVEY_REPORT_EVERY, 7, 2));
}

/* --- hosts on a ring, whose cables may be deaf in one direction --- */

#define RING_MOST	8
#define PLUS		1
#define MINUS		2

struct asked {
	u32 host, ifindex, from, round;
	u8 flags;
};

static struct ring {
	struct tor_surveys *host[RING_MOST];
	u32 n;
	bool deaf[RING_MOST][3];	/* by device: what comes there is not heard */
	bool old[RING_MOST];		/* its module does not know of sure ways */
	struct asked under_way[256];
	u32 nasked, passed_on, round;
	u64 now;
	u32 seed;
} ring;

static u32 ring_draw(u32 n)
{
	ring.seed = ring.seed * 1103515245 + 12345;
	return (ring.seed >> 16) % n;
}

static u32 ring_other(u32 host, u32 ifindex)
{
	return (host + (ifindex == PLUS ? 1 : ring.n - 1)) % ring.n;
}

static void ring_ask(u32 host, u32 round)
{
	u32 ifindex;

	for (ifindex = PLUS; ifindex <= MINUS; ifindex++) {
		u32 to = ring_other(host, ifindex);

		if (ring.deaf[to][3 - ifindex])
			continue;
		assert_true(ring.nasked < ARRAY_SIZE(ring.under_way));
		ring.under_way[ring.nasked++] = (struct asked){
			.host = to, .ifindex = 3 - ifindex, .from = host, .round = round,
			.flags = !ring.old[host] && tor_survey_sure(ring.host[host], ring.now, 7, ifindex) ?
				 TORCOLL_SURVEY_SURE : 0,
		};
	}
}

/* A round that host 0 asks for; asks arrive in any order. */
static void ring_round(u32 round)
{
	ring.now += 200 * MS;
	assert_int_equal(tor_survey_begin(ring.host[0], ring.now, 7, round, false, 99), 0);
	ring.passed_on = 0;
	ring.round = round;
	ring_ask(0, round);
	while (ring.nasked) {
		u32 i = ring_draw(ring.nasked);
		struct asked a = ring.under_way[i];
		struct tor_survey_frame f = ask_frame(7, a.round, 1000 + a.from), got;
		u32 len;

		ring.under_way[i] = ring.under_way[--ring.nasked];
		f.flags = ring.old[a.host] ? 0 : a.flags;
		len = put_ask(&f, a.from);
		assert_int_equal(tor_survey_read(frame, len, &got), 0);
		ring.now += MS / 100;
		if (!tor_survey_heard(ring.host[a.host], ring.now, a.ifindex, &got))
			continue;
		ring.passed_on++;
		ring_ask(a.host, a.round);
	}
}

/* Return whether the reports of @host get to host 0, and do not go in circles. */
static bool ring_reports(u32 host)
{
	const struct tor_survey_known *way = &ring.host[host]->known[0];
	u32 hops;

	for (hops = 0; way && host; hops++) {
		u32 by = way->parent, to = ring_other(host, by);

		assert_in_range(hops, 0, ring.n);
		/* of a host that this round has not reached, nothing is due */
		if (way->round != ring.round || ring.deaf[to][3 - by])
			return false;
		host = to;
		way = tor_survey_way(ring.host[host], ring.now, 7, 3 - by);
	}
	return way;
}

static u32 ring_count(void)
{
	u32 i, n = 0;

	for (i = 1; i < ring.n; i++)
		n += ring_reports(i);
	return n;
}

static void ring_begin(u32 n, u32 seed)
{
	u32 i;

	memset(&ring, 0, sizeof(ring));
	ring.n = n;
	ring.now = SEC;
	ring.seed = seed;
	for (i = 0; i < n; i++) {
		ring.host[i] = calloc(1, sizeof(*ring.host[i]));
		tor_surveys_init(ring.host[i], 1000 + i);
	}
}

static void ring_end(void)
{
	u32 i;

	for (i = 0; i < ring.n; i++) {
		tor_surveys_destroy(ring.host[i]);
		free(ring.host[i]);
	}
}

/* One direction of one cable: the other way round every host answers from the second round on. */
static void tor_survey_heard__round_a_deaf_cable(void **state)
{
	u32 n, host, ifindex, seed, round;

	for (n = 3; n <= RING_MOST; n++) {
		for (seed = 0; seed < 20; seed++) {
			for (host = 0; host < n; host++) {
				for (ifindex = PLUS; ifindex <= MINUS; ifindex++) {
					ring_begin(n, seed);
					ring.deaf[host][ifindex] = true;
					ring_round(1);
					for (round = 2; round <= 4; round++) {
						ring_round(round);
						assert_int_equal(ring_count(), n - 1);
						assert_in_range(ring.passed_on, n - 1, 2 * (n - 1));
					}
					ring_end();
				}
			}
		}
	}
}

/* Where all cables are sound, no ask is passed on twice. */
static void tor_survey_heard__sure_of_all(void **state)
{
	u32 round;

	ring_begin(RING_MOST, 1);
	for (round = 1; round <= 20; round++) {
		ring_round(round);
		assert_int_equal(ring.passed_on, RING_MOST - 1);
		assert_int_equal(ring_count(), RING_MOST - 1);
	}
	ring_end();
}

/* Whatever is deaf, and with modules of another release: no report goes in circles, asks are passed on twice at most. */
static void tor_survey_heard__any_deaf_cables(void **state)
{
	u32 seed, round, i;

	for (seed = 0; seed < 2000; seed++) {
		ring_begin(RING_MOST, seed);
		for (round = 1; round <= 4; round++) {
			/* others each time */
			memset(ring.deaf, 0, sizeof(ring.deaf));
			for (i = 0; i < RING_MOST; i++)
				ring.old[i] = seed % 2 && !ring_draw(3);
			for (i = 0; i < 3; i++)
				ring.deaf[ring_draw(RING_MOST)][1 + ring_draw(2)] = true;
			ring_round(round);
			ring_count();
			assert_in_range(ring.passed_on, 0, 2 * (RING_MOST - 1));
		}
		ring_end();
	}
}

static void tor_survey_begin__own_surveys(void **state)
{
	u64 now = SEC;
	u32 i;

	assert_int_equal(tor_survey_begin(s, now, 7, 1, false, 50), 0);
	assert_int_equal(tor_survey_begin(s, now, 7, 1, false, 50), -EINVAL);
	assert_int_equal(tor_survey_begin(s, now, 7, 2, false, 51), -EEXIST);
	assert_int_equal(tor_survey_begin(s, now, 7, 2, false, 50), 0);
	/* it comes back, by a cable that is learned from it */
	assert_false(heard(now, 3, 7, 2, OTHER));
	assert_int_equal(tor_survey_way(s, now, 7, 3)->socket, 50);
	/* and nobody else goes on with it */
	assert_false(heard(now, 3, 7, 3, OTHER));
	assert_int_equal(tor_survey_way(s, now, 7, 3)->socket, 50);
	assert_true(heard(now, 3, 8, 1, OTHER));
	assert_int_equal(tor_survey_begin(s, now, 8, 2, false, 50), -EEXIST);
	for (i = 2; i < TOR_SURVEYS; i++)
		assert_int_equal(tor_survey_begin(s, now, 100 + i, 1, false, 100 + i), 0);
	assert_int_equal(tor_survey_begin(s, now, 200, 1, false, 200), -EBUSY);
	/* strangers' surveys make room, those that a socket waits for do not */
	now += TOR_SURVEY_STAY + 1;
	assert_int_equal(tor_survey_begin(s, now, 200, 1, false, 200), 0);
	assert_int_equal(tor_survey_begin(s, now, 201, 1, false, 201), -EBUSY);
	assert_false(heard(now, 3, 9, 1, OTHER));
	tor_survey_closed(s, 50);
	assert_null(tor_survey_way(s, now, 7, 3));
	assert_true(heard(now, 3, 9, 1, OTHER));
}

/* Who watches asks again and again: what it asked before takes no room from others. */
static void tor_survey_begin__one_of_a_socket_stays(void **state)
{
	u64 now = SEC;
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++)
		assert_int_equal(tor_survey_begin(s, now, 100 + i, 1, false, 50 + i % 5), 0);
	/* they have just begun */
	assert_int_equal(tor_survey_begin(s, now, 200, 1, false, 60), -EBUSY);
	assert_false(heard(now, 3, 9, 1, OTHER));
	now += TOR_SURVEY_STAY + 1;
	for (i = 0; i < TOR_SURVEYS - 5; i++)
		assert_true(heard(now, 3, 300 + i, 1, OTHER));
	assert_false(heard(now, 3, 400, 1, OTHER));
	assert_int_equal(tor_survey_begin(s, now, 200, 1, false, 60), -EBUSY);
	/* the last ones of each are there, and go on */
	for (i = TOR_SURVEYS - 5; i < TOR_SURVEYS; i++) {
		assert_int_equal(tor_survey_way(s, now, 100 + i, 3)->socket, 50 + i % 5);
		assert_int_equal(tor_survey_begin(s, now, 100 + i, 2, false, 50 + i % 5), 0);
	}
}

/* By turns, it goes on with both. */
static void tor_survey_begin__two_of_a_socket(void **state)
{
	u64 now = SEC;
	u32 round;

	for (round = 1; round < 9; round++) {
		assert_int_equal(tor_survey_begin(s, now, 7, round, false, 50), 0);
		assert_int_equal(tor_survey_begin(s, now, 8, round, false, 50), 0);
		assert_int_equal(tor_survey_way(s, now, 7, 3)->socket, 50);
		assert_int_equal(tor_survey_way(s, now, 8, 3)->socket, 50);
		now += SEC;
	}
}

static void tor_survey_take_due__reports_later(void **state)
{
	struct tor_survey_known known;
	u64 now = SEC;

	assert_int_equal(tor_survey_due(s), 0);
	heard(now, 1, 7, 1, OTHER);
	heard(now + MS, 1, 8, 1, OTHER);
	assert_true(tor_survey_due(s) == now + TOR_SURVEY_DELAY);
	assert_false(tor_survey_take_due(s, now + TOR_SURVEY_DELAY - 1, &known));
	assert_true(tor_survey_take_due(s, now + TOR_SURVEY_DELAY, &known));
	assert_true(known.id == 7);
	assert_false(tor_survey_take_due(s, now + TOR_SURVEY_DELAY, &known));
	assert_true(tor_survey_due(s) == now + MS + TOR_SURVEY_DELAY);
}

/* --- cables --- */

static void tor_survey_describe__peer(void **state)
{
	struct torcoll_survey_port port;
	u64 now = SEC;

	port = describe(now, 1);
	assert_true(!port.peer.host);
	assert_false(tor_survey_hears(s, now, 1));
	heard(now, 1, 7, 1, OTHER);
	assert_true(tor_survey_hears(s, now + TOR_SURVEY_HEARD, 1));
	assert_false(tor_survey_hears(s, now + TOR_SURVEY_HEARD + 1, 1));
	port = describe(now + TOR_SURVEY_HEARD, 1);
	assert_true(be64_to_cpu(port.peer.host) == OTHER);
	assert_string_equal((char *)port.peer.device, "d0p");
	assert_int_equal(port.flags, 0);
	port = describe(now + TOR_SURVEY_HEARD + 1, 1);
	assert_true(!port.peer.host);
	tor_survey_gone(s, 1);
	port = describe(now, 1);
	assert_true(!port.peer.host);
}

static void tor_survey_describe__many(void **state)
{
	u64 now = SEC;

	/* the cable was put elsewhere */
	heard(now, 1, 7, 1, OTHER);
	heard(now += TOR_SURVEY_CROWD + 1, 1, 7, 2, OTHER + 1);
	assert_int_equal(describe(now, 1).flags, 0);
	/* two on one cable */
	heard(now += MS, 1, 7, 2, OTHER);
	assert_int_equal(be16_to_cpu(describe(now, 1).flags), TORCOLL_SURVEY_MANY);
	assert_int_equal(describe(now + TOR_SURVEY_HEARD + 1, 1).flags, 0);
}

static void tor_survey_cable__bounded(void **state)
{
	u32 i;

	for (i = 1; i <= TOR_SURVEY_CABLES + 1; i++)
		heard(SEC, i, 7, 1, OTHER);
	assert_non_null(tor_survey_cable(s, TOR_SURVEY_CABLES));
	assert_null(tor_survey_cable(s, TOR_SURVEY_CABLES + 1));
	tor_survey_gone(s, 1);
	assert_null(tor_survey_cable(s, 1));
	assert_non_null(tor_survey_cable(s, TOR_SURVEY_CABLES));
	heard(SEC, i - 1, 7, 2, OTHER);
	assert_non_null(tor_survey_cable(s, TOR_SURVEY_CABLES + 1));
}

static void tor_survey_heard__no_memory(void **state)
{
	host.fail_after = 0;
	assert_true(heard(SEC, 1, 7, 1, OTHER));
	host.fail_after = ~0U;
	assert_null(tor_survey_cable(s, 1));
}

/* --- tests of cables --- */

static void tor_trial_pong__only_answers(void **state)
{
	struct tor_trial t = { .begun = 100, .sent = 3 };

	assert_false(tor_trial_pong(&t, 3, 100, 200));
	assert_false(tor_trial_pong(&t, 0, 99, 200));
	assert_false(tor_trial_pong(&t, 0, 201, 200));
	assert_true(tor_trial_pong(&t, 0, 100, 200));
	assert_false(tor_trial_pong(&t, 0, 100, 200));
	assert_true(tor_trial_pong(&t, 2, 150, 160));
	assert_true(tor_trial_pong(&t, 1, 150, 1150));
	assert_int_equal(t.returned, 3);
	assert_int_equal(t.rtt[0], 10);
	assert_int_equal(tor_trial_median(&t), 100);
	assert_int_equal(t.rtt[2], 1000);
	assert_true(tor_trial_pong(&(struct tor_trial){ .sent = 1 }, 0, 0, ~0ULL));
}

static void tor_arrivals__of_one_test(void **state)
{
	struct tor_train frame = { .train = 1, .frames = 64, .len = 1500 };
	struct tor_arrivals a = { 0 };

	tor_arrivals_train(&a, 5, &frame);
	tor_arrivals_ping(&a, 5);
	tor_arrivals_ping(&a, 5);
	tor_arrivals_mark(&a, 5, 2, 64, false, 100);
	assert_int_equal(a.pinged, 2);
	assert_int_equal(a.trains.arrived, 1);
	assert_int_equal(tor_trains_sent(&a.trains), 128);
	assert_int_equal(a.ended, 0);
	tor_arrivals_mark(&a, 5, 2, 64, true, 200);
	tor_arrivals_mark(&a, 5, 2, 64, true, 300);
	assert_int_equal(a.ended, 200);
	/* another test */
	tor_arrivals_ping(&a, 6);
	assert_int_equal(a.pinged, 1);
	assert_int_equal(a.trains.arrived, 0);
	assert_int_equal(a.ended, 0);
}

/* Mark of the other side, or with @type its answer to one; the last one. */
static void last_mark(u64 now, u32 ifindex, u8 type, u64 test, u32 trains)
{
	struct torcoll_survey_train train = {
		.train = cpu_to_be32(trains), .frames = cpu_to_be32(64),
	};
	struct tor_survey_frame f = {
		.type = type, .flags = TORCOLL_SURVEY_LAST, .survey = test, .round = trains, .host = OTHER,
		.length = sizeof(train), .records = &train,
	};

	tor_test_heard(s, now, ifindex, &f, 60);
}

static void passed(u64 now, u32 ifindex, u64 test, u32 trains)
{
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_MARKED, .survey = test, .round = trains, .host = OTHER,
	};

	tor_test_heard(s, now, ifindex, &f, 60);
}

/* Both sides are done. */
static void test_over(u64 now, const struct tor_test_step *step)
{
	u32 i;

	for (i = 0; step->action == TOR_TEST_SEND_LAST && i < step->devices; i++) {
		last_mark(now, step->ifindex[i], TORCOLL_SURVEY_MARK, 99, 8);
		last_mark(now, step->ifindex[i], TORCOLL_SURVEY_MARKED, step->test, step->train[i]);
	}
}

static void answer(u64 now, u32 ifindex, u64 test, u32 number, u64 stamp)
{
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_PONG, .survey = test, .round = number, .stamp = stamp, .host = OTHER,
	};

	tor_test_heard(s, now, ifindex, &f, 60);
}

static void tor_test_next__pings_then_trains(void **state)
{
	struct tor_test_step step;
	struct torcoll_survey_port port;
	u32 pings = 0, trains = 0, i;
	u64 now = SEC, begun;

	tor_test_next(s, now, &step);
	assert_int_equal(step.action, TOR_TEST_DONE);
	heard(now, 1, 7, 1, OTHER);
	heard(now, 2, 7, 1, OTHER + 1);
	assert_true(tor_test_wanted(s, now));
	for (;;) {
		tor_test_next(s, now, &step);
		if (step.action == TOR_TEST_DONE)
			break;
		if (step.action == TOR_TEST_SEND_PINGS) {
			assert_int_equal(step.devices, 2);
			assert_int_equal(step.first, pings);
			/* the first cable loses every fifth, the second all */
			for (i = 1; i < step.count; i++)
				answer(now + 1000 + i, 1, step.test, step.first + i, now);
			/* of another test */
			answer(now + 1, 2, step.test + 1, step.first, now);
			pings += step.count;
		}
		if (step.action == TOR_TEST_SEND_TRAIN) {
			assert_int_equal(step.devices, 1);
			/* in turns */
			assert_int_equal(step.ifindex[0], trains % 2 + 1);
			assert_int_equal(step.train[0], trains / 2 + 1);
			passed(now + 1, step.ifindex[0], step.test, step.train[0]);
			trains++;
		}
		test_over(now, &step);
		now += step.wait;
	}
	assert_int_equal(pings, TOR_TRIAL_PINGS);
	assert_int_equal(trains, 2 * TOR_TRAINS);
	port = describe(now + 5 * MS, 1);
	assert_int_equal(be16_to_cpu(port.flags), TORCOLL_SURVEY_TESTED);
	assert_int_equal(be32_to_cpu(port.pings), 500);
	assert_int_equal(be32_to_cpu(port.pongs), 400);
	assert_int_equal(be32_to_cpu(port.rtt_min_ns), 1001);
	assert_int_equal(be32_to_cpu(port.rtt_median_ns), 1003);
	assert_int_equal(be32_to_cpu(port.tested_ms), 5);
	assert_int_equal(be32_to_cpu(describe(now, 2).pongs), 0);
	assert_int_equal(be32_to_cpu(describe(now, 2).rtt_median_ns), 0);
	/* once in a survey */
	heard(now += TOR_TEST_EVERY, 1, 7, 2, OTHER);
	heard(now, 2, 7, 2, OTHER + 1);
	tor_test_next(s, now, &step);
	assert_int_equal(step.action, TOR_TEST_DONE);
	/* but a cable that is new to it */
	heard(now, 3, 7, 2, OTHER + 2);
	tor_test_next(s, now, &step);
	assert_int_equal(step.action, TOR_TEST_SEND_PINGS);
	assert_int_equal(step.devices, 1);
	assert_int_equal(step.ifindex[0], 3);
	for (begun = now; step.action != TOR_TEST_DONE; now += step.wait) {
		tor_test_next(s, now, &step);
		if (step.action == TOR_TEST_SEND_TRAIN)
			passed(now, 3, step.test, step.train[0]);
		test_over(now, &step);
	}
	/* not more often than every two seconds */
	heard(now, 1, 8, 1, OTHER);
	tor_test_next(s, begun + TOR_TEST_EVERY - 1, &step);
	assert_int_equal(step.action, TOR_TEST_WAIT);
	assert_int_equal(step.wait, 1);
	tor_test_next(s, begun + TOR_TEST_EVERY, &step);
	assert_int_equal(step.action, TOR_TEST_SEND_PINGS);
	assert_int_equal(step.devices, 3);
	now = begun + TOR_TEST_EVERY;
	/* another peer: the results are not of this cable any more */
	heard(now + TOR_SURVEY_CROWD + 1, 1, 8, 2, OTHER + 5);
	assert_int_equal(describe(now + TOR_SURVEY_CROWD + 1, 1).flags, 0);
}

/* Begin a test of cables and walk through it up to the trains. */
static u64 pings_done(u64 now, struct tor_test_step *step)
{
	do {
		tor_test_next(s, now, step);
		assert_int_equal(step->action, TOR_TEST_SEND_PINGS);
		now += step->wait;
	} while (s->phase == TOR_TEST_PINGS);
	return now;
}

/* A slow cable gets the next train when the one before has passed, the other one as many as there are. */
static void tor_test_next__slow_cable(void **state)
{
	struct tor_test_step step;
	u32 trains[2] = { 0 };
	u64 now, begun;

	heard(SEC, 1, 7, 1, OTHER);
	heard(SEC, 2, 7, 1, OTHER + 1);
	begun = now = pings_done(SEC, &step);
	for (; tor_test_next(s, now, &step), step.action != TOR_TEST_SEND_LAST; now += step.wait) {
		assert_true(now <= begun + TOR_TEST_TRAIN_STEPS * TOR_TEST_PACE);
		if (step.action != TOR_TEST_SEND_TRAIN)
			continue;
		trains[step.ifindex[0] - 1]++;
		if (step.ifindex[0] == 2)
			passed(now, 2, step.test, step.train[0]);
	}
	assert_int_equal(trains[0], 3);
	assert_int_equal(trains[1], TOR_TRAINS);
	assert_int_equal(step.devices, 2);
	assert_int_equal(step.train[0], trains[0]);
}

/* What is not sent is not said to be. */
static void tor_test_unsent__is_not_counted(void **state)
{
	struct tor_test_step step;
	u64 now;

	heard(SEC, 1, 7, 1, OTHER);
	now = pings_done(SEC, &step);
	for (; tor_test_next(s, now, &step), step.action != TOR_TEST_SEND_LAST; now += step.wait)
		if (step.action == TOR_TEST_SEND_TRAIN)
			tor_test_unsent(s, step.test, 1);
	assert_int_equal(step.train[0], 0);
}

/* A test is concluded when its answers have come, and the other side's test is over; or at last. */
static void tor_test_next__waits_for_both_sides(void **state)
{
	struct tor_test_step step;
	u64 now, since;
	u32 i, lasts = 0;

	for (i = 1; i <= 4; i++)
		heard(SEC, i, 7, 1, OTHER + i);
	/* of a test before this one */
	last_mark(SEC - 1, 4, TORCOLL_SURVEY_MARK, 98, 8);
	now = pings_done(SEC, &step);
	do {
		tor_test_next(s, now, &step);
		now += step.wait;
	} while (step.action != TOR_TEST_SEND_LAST);
	since = now;
	assert_int_equal(step.devices, 4);
	for (i = 1; i <= 4; i++)
		if (i != 3)
			last_mark(now, i, TORCOLL_SURVEY_MARKED, step.test, step.train[i - 1]);
	last_mark(now, 1, TORCOLL_SURVEY_MARK, 99, 8);
	last_mark(now, 3, TORCOLL_SURVEY_MARK, 99, 8);
	for (; tor_test_next(s, now, &step), step.action != TOR_TEST_DONE; now += step.wait) {
		/* the first is over, of the third the mark is repeated, of the others none is needed */
		assert_int_equal(step.action, TOR_TEST_SEND_LAST);
		assert_int_equal(step.devices, 1);
		assert_int_equal(step.ifindex[0], 3);
		lasts++;
		for (i = 1; i <= 4; i++)
			assert_int_equal(!!(be16_to_cpu(describe(now, i).flags) & TORCOLL_SURVEY_TESTED), i == 1);
	}
	assert_in_range(now - since, TOR_TEST_PATIENCE - TOR_TEST_AGAIN, TOR_TEST_PATIENCE);
	assert_in_range(lasts, 48, 50);
	for (i = 1; i <= 4; i++)
		assert_true(be16_to_cpu(describe(now, i).flags) & TORCOLL_SURVEY_TESTED);
	/* the other side's next test does not change what this one has found */
	last_mark(now, 1, TORCOLL_SURVEY_MARK, 100, 1);
	assert_int_equal(be32_to_cpu(describe(now, 1).trains), 8 * 64);
}

static void tor_test_next__nothing_to_test(void **state)
{
	struct tor_test_step step;

	tor_survey_begin(s, SEC, 7, 1, true, 50);
	tor_test_next(s, SEC, &step);
	assert_int_equal(step.action, TOR_TEST_DONE);
	assert_true(tor_test_wanted(s, SEC));
	assert_false(tor_test_wanted(s, SEC + TOR_SURVEY_LIFE + 1));
	heard(SEC, 1, 7, 1, OTHER);
	host.fail_after = 0;
	tor_test_next(s, SEC, &step);
	host.fail_after = ~0U;
	assert_int_equal(step.action, TOR_TEST_DONE);
	/* behind a switch */
	heard(SEC, 1, 7, 1, OTHER + 1);
	tor_test_next(s, SEC, &step);
	assert_int_equal(step.action, TOR_TEST_DONE);
}

static void tor_test_heard__of_the_other_side(void **state)
{
	struct torcoll_survey_train train = { .train = cpu_to_be32(1), .frames = cpu_to_be32(64) };
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_PING, .survey = 3, .host = OTHER, .records = &train,
		.length = sizeof(train),
	};
	struct torcoll_survey_port port;
	struct tor_test_step step;
	u64 now = SEC;

	/* nobody is known there */
	tor_test_heard(s, now, 1, &f, 60);
	tor_test_damaged(s, 1);
	heard(now, 1, 7, 1, OTHER);
	tor_test_heard(s, now, 1, &f, 60);
	f.type = TORCOLL_SURVEY_TRAIN;
	tor_test_heard(s, now, 1, &f, 1500);
	tor_test_damaged(s, 1);
	do {
		tor_test_next(s, now, &step);
		now += step.wait;
	} while (step.action != TOR_TEST_DONE);
	port = describe(now, 1);
	assert_int_equal(be32_to_cpu(port.pinged), 1);
	assert_int_equal(be32_to_cpu(port.train), 1);
	assert_int_equal(be32_to_cpu(port.trains), 64);
	assert_int_equal(be32_to_cpu(port.bad), 1);
	assert_int_equal(be32_to_cpu(port.rate), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_survey_heard__each_round_once, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__room, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__rate, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_way__rate, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__round_a_deaf_cable, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__sure_of_all, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__any_deaf_cables, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_begin__own_surveys, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_begin__one_of_a_socket_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_begin__two_of_a_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_take_due__reports_later, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_describe__peer, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_describe__many, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_cable__bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_survey_heard__no_memory, setup, teardown),
		cmocka_unit_test(tor_trial_pong__only_answers),
		cmocka_unit_test(tor_arrivals__of_one_test),
		cmocka_unit_test_setup_teardown(tor_test_next__pings_then_trains, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_test_next__slow_cable, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_test_unsent__is_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_test_next__waits_for_both_sides, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_test_next__nothing_to_test, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_test_heard__of_the_other_side, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
