// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of all cables of a host. See test.h. */
#include "core/link/test.h"

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

/*
 * Begin a test of the cables that lack one, if there are any. An ask may be
 * lost, or late, so that a cable is known in a later round only.
 */
static bool test_begin(struct tor_surveys *s, u64 now)
{
	u64 since = test_wanted_since(s, now);
	struct tor_survey_cable *cable;
	u32 i, trials = 0;

	for (i = 0; since && i < TOR_SURVEY_CABLES && s->cable[i]; i++) {
		cable = s->cable[i];
		if (!is_testable(cable, now) || cable->tested >= since)
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
}

static void test_train(struct tor_surveys *s, struct tor_test_step *step)
{
	while (s->next < TOR_SURVEY_CABLES && s->cable[s->next]) {
		const struct tor_survey_cable *cable = s->cable[s->next++];

		if (!cable->trial)
			continue;
		step->action = TOR_TEST_SEND_TRAIN;
		step->ifindex[step->devices++] = cable->ifindex;
		return;
	}
	s->phase = TOR_TEST_ANSWERS;
	step->action = TOR_TEST_WAIT;
	step->wait = TOR_TEST_REST;
}

static void cable_conclude(struct tor_survey_cable *cable, u64 now)
{
	struct tor_trial *trial = cable->trial;

	cable->tested = now;
	cable->pings = trial->sent;
	cable->pongs = trial->returned;
	cable->rtt_min = trial->returned ? trial->rtt[0] : 0;
	cable->rtt_median = tor_trial_median(trial);
	cable->trial = NULL;
	tor_env_free(trial);
}

static void test_conclude(struct tor_surveys *s, u64 now)
{
	u32 i;

	for (i = 0; i < TOR_SURVEY_CABLES && s->cable[i]; i++)
		if (s->cable[i]->trial)
			cable_conclude(s->cable[i], now);
	s->phase = TOR_TEST_IDLE;
}

void tor_test_next(struct tor_surveys *s, u64 now, struct tor_test_step *step)
{
	*step = (struct tor_test_step){ .action = TOR_TEST_DONE, .wait = TOR_TEST_PACE };
	if (s->phase == TOR_TEST_IDLE) {
		if ((s->begun && now - s->begun < TOR_TEST_EVERY) || !test_begin(s, now))
			return;
	}
	step->test = s->test;
	if (s->phase == TOR_TEST_PINGS)
		test_ping(s, step);
	else if (s->phase == TOR_TEST_TRAINS)
		test_train(s, step);
	else
		test_conclude(s, now);
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
		tor_arrivals_train(&cable->arrivals, f->survey, f->round, f->stamp, len, now);
	else if (cable->trial && f->survey == s->test)
		tor_trial_pong(cable->trial, f->round, f->stamp, now);
}

void tor_test_damaged(struct tor_surveys *s, u32 ifindex)
{
	struct tor_survey_cable *cable = tor_survey_cable(s, ifindex);

	if (cable)
		cable->arrivals.bad++;
}
