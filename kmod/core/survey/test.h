/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tests of all cables of a host at a time, step by step: pings in bursts, then
 * the trains, one cable after the other in turns, then the last marks, until
 * both sides know that nothing is under way any more. What they find: trial.h.
 *
 * A train is sent when the one before has passed, so that a slow cable has no
 * more of them in its queue than one, and gets fewer: it needs fewer.
 *
 * Locking: as in survey.h.
 */
#ifndef _TOR_CORE_TEST_H
#define _TOR_CORE_TEST_H

#include "core/survey/survey.h"

/*
 * A test begins so long after the ask, when the ends of the cables are known,
 * and so long after the one before.
 */
#define TOR_TEST_DELAY		(150 * NSEC_PER_MSEC)
#define TOR_TEST_EVERY		(2 * NSEC_PER_SEC)
#define TOR_TEST_BURST		5	/* pings at a time, */
#define TOR_TEST_PACE		(8 * NSEC_PER_MSEC)	/* and between bursts */
/*
 * Steps in which trains are sent, 1 s; a busy host takes longer for them, and
 * needs no fewer trains.
 */
#define TOR_TEST_TRAIN_STEPS	120
#define TOR_TEST_TRAIN_LOST	(400 * NSEC_PER_MSEC)	/* more than one takes at 10 Mbit/s */
#define TOR_TEST_AGAIN		(50 * NSEC_PER_MSEC)	/* between last marks, until one is answered */
/*
 * For the last answers, and the end of the other side's test: it began at about
 * the same time, but its host may be busy, or wait as TOR_TEST_EVERY says.
 */
#define TOR_TEST_PATIENCE	(2500 * NSEC_PER_MSEC)

enum tor_test_action {
	TOR_TEST_DONE,
	TOR_TEST_SEND_PINGS,	/* @count of them, from @first, to each device */
	TOR_TEST_SEND_TRAIN,	/* to the device, and its mark */
	TOR_TEST_SEND_LAST,	/* marks, to each device */
	TOR_TEST_WAIT,
};

/**
 * struct tor_test_step - what a test does next
 * @action: which of these
 * @test: its number
 * @first: number of the first ping
 * @count: pings
 * @ifindex: devices
 * @train: of each device the number of the train, or the last one's for its mark
 * @devices: number of devices
 * @wait: time until the next step, ns
 */
struct tor_test_step {
	enum tor_test_action action;
	u64 test;
	u32 first;
	u32 count;
	u32 ifindex[TOR_SURVEY_CABLES];
	u32 train[TOR_SURVEY_CABLES];
	u32 devices;
	u64 wait;
};

/* Whether a survey wants cables tested. */
bool tor_test_wanted(const struct tor_surveys *s, u64 now);

/**
 * tor_test_next - continue the test, or begin one that is wanted
 * @s: surveys
 * @now: ns
 * @step: filled in: what is to be sent, and when to call again
 */
void tor_test_next(struct tor_surveys *s, u64 now, struct tor_test_step *step);

/* The train of the last step was not sent, for lack of memory or a device. */
void tor_test_unsent(struct tor_surveys *s, u64 test, u32 ifindex);

/* A test frame came in by @ifindex, of @len bytes behind the MAC header. */
void tor_test_heard(struct tor_surveys *s, u64 now, u32 ifindex, const struct tor_survey_frame *f,
		    u32 len);
/* A damaged frame came in. */
void tor_test_damaged(struct tor_surveys *s, u32 ifindex);

#endif
