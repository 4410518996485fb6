// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of all cables of a host. See test.h. */
#include "core/survey/test.h"

/*
 * The time since which a test is wanted of every cable, ns: the last beginning
 * of a survey that wants one; 0: none does.
 */
static u64 test_wanted_since(const struct tor_surveys *s, u64 now)
{
	u64 since = 0;
	u32 i;

	for (i = 0; i < TOR_SURVEYS; i++) {
		const struct tor_survey_known *k = &s->known[i];

		if (tor_survey_lives(k, now) && k->test)
			since = max(since, k->begun);
	}
	return since;
}

bool tor_test_wanted(const struct tor_surveys *s, u64 now)
{
	return test_wanted_since(s, now);
}

/* A cable between two hosts: what is behind a switch is not known. */
static bool is_testable(const struct tor_survey_cable *cable, u64 now)
{
	return now - cable->heard <= TOR_SURVEY_HEARD &&
	       (!cable->crowded || now - cable->crowded > TOR_SURVEY_HEARD);
}

/* Whether a survey wants the cable tested that has not been since. */
static bool lacks_test(const struct tor_survey_cable *cable, u64 since, u64 now)
{
	return since && is_testable(cable, now) && cable->tested < since;
}

static bool is_any_untested(const struct tor_surveys *s, u64 now)
{
	u64 since = test_wanted_since(s, now);
	u32 i;

	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++)
		if (lacks_test(s->cable[i], since, now))
			return true;
	return false;
}

/*
 * Begin a test of the cables that lack one, if there are any. An ask may be
 * lost, or late, so that a cable is known in a later round only.
 */
static bool test_begin(struct tor_surveys *s, u64 now)
{
	u64 since = test_wanted_since(s, now);
	u32 i, trials = 0;

	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++) {
		struct tor_survey_cable *cable = s->cable[i];

		if (!lacks_test(cable, since, now))
			continue;
		cable->trial = tor_env_alloc(sizeof(*cable->trial));
		if (!cable->trial)
			continue;
		cable->trial->begun = now;
		trials++;
	}
	if (!trials)
		return false;
	s->phase = TOR_TEST_PINGS;
	s->next = 0;
	s->begun = now;
	s->test = (u64)tor_env_random() << 32 | tor_env_random();
	return true;
}

static void test_ping(struct tor_surveys *s, struct tor_test_step *step)
{
	struct tor_survey_cable *cable;
	u32 i;

	step->action = TOR_TEST_SEND_PINGS;
	step->first = s->next;
	step->count = min_t(u32, TOR_TEST_BURST, TOR_TRIAL_PINGS - s->next);
	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++) {
		cable = s->cable[i];
		if (!cable->trial)
			continue;
		cable->trial->sent = step->first + step->count;
		step->ifindex[step->devices++] = cable->ifindex;
	}
	s->next += step->count;
	if (s->next < TOR_TRIAL_PINGS)
		return;
	s->phase = TOR_TEST_TRAINS;
	s->next = 0;
	s->steps = 0;
}

/* Whether the train before has passed, or is taken for lost. */
static bool may_send_train(const struct tor_trial *trial, u64 now)
{
	return trial->trains < TOR_TRAINS &&
	       (trial->passed == trial->trains || now - trial->train_at >= TOR_TEST_TRAIN_LOST);
}

/* The cables take turns, so that what delays one train does not delay all of a cable. */
static void test_train(struct tor_surveys *s, u64 now, struct tor_test_step *step)
{
	bool time_is_up = s->steps++ >= TOR_TEST_TRAIN_STEPS;
	u32 i, left = 0, cables = 0;

	while (cables < TOR_SURVEY_CABLES && s->cable[cables])
		cables++;
	for (i = 0; i < cables && !time_is_up; i++) {
		struct tor_survey_cable *cable = s->cable[(s->next + i) % cables];

		if (!cable->trial || cable->trial->trains == TOR_TRAINS)
			continue;
		left++;
		if (!may_send_train(cable->trial, now))
			continue;
		step->action = TOR_TEST_SEND_TRAIN;
		step->train[step->devices] = ++cable->trial->trains;
		step->ifindex[step->devices++] = cable->ifindex;
		cable->trial->train_at = now;
		s->next = (s->next + i + 1) % cables;
		return;
	}
	step->action = TOR_TEST_WAIT;
	if (left)
		return;
	s->phase = TOR_TEST_ANSWERS;
	s->since = now;
	step->wait = 0;
}

void tor_test_unsent(struct tor_surveys *s, u64 test, u32 ifindex)
{
	struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);

	if (cable && cable->trial && s->test == test && cable->trial->trains)
		cable->trial->trains--;
}

static void cable_conclude(struct tor_survey_cable *cable, u64 now)
{
	struct tor_trial *trial = cable->trial;

	cable->tested = now;
	cable->pings = trial->sent;
	cable->pongs = trial->returned;
	cable->rtt_min = trial->returned ? trial->rtt[0] : 0;
	cable->rtt_median = tor_trial_median(trial);
	cable->arrived = cable->arrivals;
	cable->trial = NULL;
	tor_env_free(trial);
}

/* Whether nothing of this test is under way any more, in either direction. */
static bool is_over(const struct tor_survey_cable *cable)
{
	return cable->trial->over && cable->arrivals.ended >= cable->trial->begun;
}

/* Conclude the tests that are over. Say again of the others that nothing follows. */
static void test_conclude(struct tor_surveys *s, u64 now, struct tor_test_step *step)
{
	bool late = now - s->since >= TOR_TEST_PATIENCE;
	bool left = false;
	u32 i;

	step->action = TOR_TEST_WAIT;
	step->wait = TOR_TEST_AGAIN;
	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++) {
		struct tor_survey_cable *cable = s->cable[i];

		if (!cable->trial)
			continue;
		if (late || is_over(cable)) {
			cable_conclude(cable, now);
			continue;
		}
		left = true;
		if (cable->trial->over)
			continue;
		step->action = TOR_TEST_SEND_LAST;
		step->train[step->devices] = cable->trial->trains;
		step->ifindex[step->devices++] = cable->ifindex;
	}
	if (left)
		return;
	s->phase = TOR_TEST_IDLE;
	step->action = TOR_TEST_DONE;
}

/* Begin a test if it is wanted: at once, or when the one before is long enough ago. */
static bool test_may_begin(struct tor_surveys *s, u64 now, struct tor_test_step *step)
{
	if (!s->begun || now - s->begun >= TOR_TEST_EVERY)
		return test_begin(s, now);
	if (is_any_untested(s, now)) {
		step->action = TOR_TEST_WAIT;
		step->wait = s->begun + TOR_TEST_EVERY - now;
	}
	return false;
}

void tor_test_next(struct tor_surveys *s, u64 now, struct tor_test_step *step)
{
	*step = (struct tor_test_step){ .action = TOR_TEST_DONE, .wait = TOR_TEST_PACE };
	if (s->phase == TOR_TEST_IDLE && !test_may_begin(s, now, step))
		return;
	step->test = s->test;
	if (s->phase == TOR_TEST_PINGS)
		test_ping(s, step);
	else if (s->phase == TOR_TEST_TRAINS)
		test_train(s, now, step);
	else
		test_conclude(s, now, step);
}

static void heard_train(struct tor_arrivals *a, u64 now, const struct tor_survey_frame *f, u32 len)
{
	struct tor_survey_train train;

	tor_survey_get_train(f, &train);
	tor_arrivals_train(a, f->survey, &(struct tor_train){
		.train = train.train,
		.frames = train.frames,
		.number = f->round,
		.len = len,
		.sent = f->stamp,
		.now = now,
	});
}

static void heard_mark(struct tor_arrivals *a, u64 now, const struct tor_survey_frame *f)
{
	struct tor_survey_train train;

	tor_survey_get_train(f, &train);
	tor_arrivals_mark(a, f->survey, train.train, train.frames, f->flags & TORCOLL_SURVEY_LAST, now);
}

/* An answer to this host came. */
static void heard_answer(struct tor_trial *trial, u64 now, const struct tor_survey_frame *f)
{
	if (f->type == TORCOLL_SURVEY_PONG)
		tor_trial_pong(trial, f->round, f->stamp, now);
	else
		tor_trial_marked(trial, f->round, f->flags & TORCOLL_SURVEY_LAST);
}

void tor_test_heard(struct tor_surveys *s, u64 now, u32 ifindex, const struct tor_survey_frame *f,
		    u32 len)
{
	struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);

	if (!cable)
		return;
	if (f->type == TORCOLL_SURVEY_PING)
		tor_arrivals_ping(&cable->arrivals, f->survey);
	else if (f->type == TORCOLL_SURVEY_TRAIN)
		heard_train(&cable->arrivals, now, f, len);
	else if (f->type == TORCOLL_SURVEY_MARK)
		heard_mark(&cable->arrivals, now, f);
	else if (cable->trial && f->survey == s->test)
		heard_answer(cable->trial, now, f);
}

void tor_test_damaged(struct tor_surveys *s, u32 ifindex)
{
	struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);

	if (cable)
		cable->arrivals.bad++;
}
