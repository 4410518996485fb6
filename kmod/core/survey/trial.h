/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trials: what a test of a cable finds, from the test frames of surveys.
 *
 * Each side sends pings, which the other one answers, and then trains, each with
 * a mark behind it, which is answered as well. A side knows the loss and the
 * time of the round trip by its own pings, and the loss and the rate towards
 * itself by what arrives of the other side's.
 *
 * Nothing overtakes a mark. The last one says that no more follows: when it has
 * come, all has arrived that ever will, and when its answer has come, so have
 * all answers. What is counted then is lost, and not late.
 *
 * Locking: the caller serialises calls on an object.
 */
#ifndef _TOR_CORE_TRIAL_H
#define _TOR_CORE_TRIAL_H

#include "core/env.h"
#include "core/survey/train.h"

#define TOR_TRIAL_PINGS		500	/* shows 1 % of loss with a probability of 99.3 % */

/* The largest test frame, behind the MAC header: what is large on Ethernet. */
#define TOR_TRIAL_FRAME_MAX	9216

/**
 * struct tor_trial - own test under way
 * @begun: ns
 * @sent: number of pings sent
 * @returned: of them answered
 * @answered: bit per ping
 * @rtt: of the @returned, ascending, ns
 * @trains: number of trains sent
 * @passed: of them arrived, as answers to their marks say
 * @train_at: time of the last train, ns
 * @over: the last mark was answered
 */
struct tor_trial {
	u64 begun;
	u32 sent;
	u32 returned;
	u64 answered[DIV_ROUND_UP(TOR_TRIAL_PINGS, 64)];
	u32 rtt[TOR_TRIAL_PINGS];
	u32 trains;
	u32 passed;
	u64 train_at;
	bool over;
};

/**
 * tor_trial_pong - a ping was answered
 * @t: trial
 * @number: of the ping
 * @stamp: time when it was sent, as the answer says, ns
 * @now: ns
 *
 * Return: false if the answer is to no ping of this trial, or not the first.
 */
bool tor_trial_pong(struct tor_trial *t, u32 number, u64 stamp, u64 now);

/* The mark behind that many trains was answered; @last: no more follow it. */
void tor_trial_marked(struct tor_trial *t, u32 trains, bool last);

/* The median of the round trips, ns; 0 if none returned. */
u32 tor_trial_median(const struct tor_trial *t);

/**
 * struct tor_arrivals - what arrived of the other side's test
 * @test: its number
 * @pinged: pings
 * @trains: frames of trains
 * @ended: when its last mark came, ns; 0: it goes on
 * @bad: frames that were damaged, since the test began
 */
struct tor_arrivals {
	u64 test;
	u32 pinged;
	struct tor_trains trains;
	u64 ended;
	u32 bad;
};

void tor_arrivals_ping(struct tor_arrivals *a, u64 test);
void tor_arrivals_train(struct tor_arrivals *a, u64 test, const struct tor_train *frame);

/**
 * tor_arrivals_mark - a mark came
 * @a: arrivals
 * @test: number of the test
 * @trains: that have been sent so far
 * @frames: of each
 * @last: the test is over
 * @now: ns
 */
void tor_arrivals_mark(struct tor_arrivals *a, u64 test, u32 trains, u32 frames, bool last,
		       u64 now);

#endif
