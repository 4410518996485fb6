/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trials: what a test of a cable finds, from the test frames of surveys.
 *
 * Each side sends pings, which the other one answers, and then a train: frames
 * of the largest size, back to back. A side knows the loss and the time of the
 * round trip by its own pings, and the loss and the rate towards itself by what
 * arrives of the other side's.
 *
 * Locking: the caller serialises calls on an object.
 */
#ifndef _TOR_CORE_TRIAL_H
#define _TOR_CORE_TRIAL_H

#include "core/env.h"

#define TOR_TRIAL_PINGS		500	/* shows 1 % of loss with a probability of 99.3 % */

/*
 * Bytes of a train, and its fewest frames. A shaper may let 32 KiB pass at once
 * at any time, a sixth of the half that is measured.
 */
#define TOR_TRIAL_TRAIN_BYTES	384000
#define TOR_TRIAL_TRAIN_MIN	64
#define TOR_TRIAL_TRAIN_MAX	4096	/* the longest train that is believed */

/* The largest test frame, behind the MAC header: what is large on Ethernet. */
#define TOR_TRIAL_FRAME_MAX	9216

/* Bytes of a frame on a cable that are not behind its MAC header. */
#define TOR_TRIAL_OVERHEAD	38

/**
 * struct tor_trial - own pings under way
 * @begun: ns
 * @sent: number of pings sent
 * @returned: of them answered
 * @answered: bit per ping
 * @rtt: of the @returned, ascending, ns
 */
struct tor_trial {
	u64 begun;
	u32 sent;
	u32 returned;
	u64 answered[DIV_ROUND_UP(TOR_TRIAL_PINGS, 64)];
	u32 rtt[TOR_TRIAL_PINGS];
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

/* The median of the round trips, ns; 0 if none returned. */
u32 tor_trial_median(const struct tor_trial *t);

/**
 * struct tor_arrivals - what arrived of the other side's test
 * @test: its number
 * @pinged: pings
 * @train: frames of its train
 * @trains: frames that it has, as they say
 * @bytes: on the cable, of those behind the first one of the second half
 * @half: time of that one, ns
 * @last: time of the last one, ns
 * @bad: frames that were damaged, since the test began
 */
struct tor_arrivals {
	u64 test;
	u32 pinged;
	u32 train;
	u32 trains;
	u64 bytes;
	u64 half;
	u64 last;
	u32 bad;
};

/* Frames of the train to a device with that MTU. */
static inline u32 tor_trial_train(u32 mtu)
{
	return max_t(u32, TOR_TRIAL_TRAIN_MIN, TOR_TRIAL_TRAIN_BYTES / mtu);
}

void tor_arrivals_ping(struct tor_arrivals *a, u64 test);

/**
 * tor_arrivals_train - a frame of a train came
 * @a: arrivals
 * @test: number of the test
 * @number: of the frame in the train
 * @trains: frames of the train, as the frame says
 * @len: bytes of the frame behind the MAC header
 * @now: ns
 */
void tor_arrivals_train(struct tor_arrivals *a, u64 test, u32 number, u64 trains, u32 len, u64 now);

/*
 * The rate at which the second half of the train arrived, Mbit/s on the cable:
 * shapers and queues let a burst pass, which the first half uses up. 0: not
 * known.
 */
u32 tor_arrivals_rate(const struct tor_arrivals *a);

#endif
