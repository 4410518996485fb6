/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trains: the rate of a cable, by how frames arrive that the other side sends
 * back to back, in several trains.
 *
 * A cable of a given rate delivers the frames of a train along a straight line,
 * and no earlier. The receiver sees each of them when its softirq runs: on time,
 * or too late, by the milliseconds for which the CPU did something else; then
 * those that have queued up come at once. The rate within one train is too low
 * if the CPU was late at its end, and too high if it was late at its beginning,
 * so neither the fastest of several trains is right, nor the slowest, nor their
 * mean. But no frame is ever early. So of all trains the least delay is taken,
 * since the train was sent, of a frame behind its first quarter, and likewise of
 * one near its end. The rate is that between these two: it is wrong only if all trains
 * were late at the same frame, and a cable looks slow only if it is in all of
 * them.
 *
 * The delays contain the difference of both hosts' clocks, which cancels out.
 * That the clocks drift in the meantime, or that a train left late, makes less
 * use of the trains, but no other result than one that they can have together:
 * it lies between the times that single trains have taken.
 *
 * Locking: the caller serialises calls on an object.
 */
#ifndef _TOR_CORE_TRAIN_H
#define _TOR_CORE_TRAIN_H

#include "core/env.h"

/*
 * Trains of a test. On a host so busy that every third train is disturbed, all
 * are on one of 10,000 cables.
 */
#define TOR_TRAINS		8
#define TOR_TRAINS_MAX		64	/* the most that are believed */

/*
 * Bytes of a train, and its fewest frames. A shaper may let 32 KiB pass at once
 * at any time, half of the first quarter.
 */
#define TOR_TRAIN_BYTES		256000
#define TOR_TRAIN_FRAMES_MIN	48
#define TOR_TRAIN_FRAMES_MAX	4096	/* the longest train that is believed */

/* Bytes of a frame on a cable that are not behind its MAC header. */
#define TOR_TRAIN_OVERHEAD	38

/**
 * struct tor_train - a frame of a train
 * @train: its number, from 1
 * @frames: of the train
 * @number: of this one, from 0
 * @len: bytes behind the MAC header
 * @sent: of the first one, the sender's clock, ns
 * @now: time of arrival, ns
 */
struct tor_train {
	u32 train;
	u32 frames;
	u32 number;
	u32 len;
	u64 sent;
	u64 now;
};

/**
 * struct tor_trains - what has arrived of the trains of a test
 * @frames: of each train
 * @sent: trains that the other side has sent, as far as is known
 * @arrived: frames of all trains
 * @train: number of the present one
 * @came: frames of it
 * @has_begun: its first frame has arrived, and as the first one
 * @began: when that was sent, by the other side's clock
 * @start: delay of the frame behind its first quarter
 * @timed: trains that arrived well enough to be measured by
 * @least_start: the least delay of frames there
 * @least_end: the same near the end
 * @len: bytes of such a frame on the cable
 *
 * Delays are differences of two clocks, modulo 2^64 ns.
 */
struct tor_trains {
	u32 frames;
	u32 sent;
	u32 arrived;
	u32 train;
	u32 came;
	bool has_begun;
	u64 began;
	u64 start;
	u32 timed;
	u64 least_start;
	u64 least_end;
	u32 len;
};

/* Frames of a train to a device with that MTU. */
static inline u32 tor_trains_frames(u32 mtu)
{
	return max_t(u32, TOR_TRAIN_FRAMES_MIN, TOR_TRAIN_BYTES / mtu);
}

/* A frame has arrived. */
void tor_trains_frame(struct tor_trains *t, const struct tor_train *frame);

/* The other side says that it has sent @sent trains of @frames frames. */
void tor_trains_mark(struct tor_trains *t, u32 sent, u32 frames);

/* Frames that the other side has sent, as far as is known. */
static inline u32 tor_trains_sent(const struct tor_trains *t)
{
	return t->sent * t->frames;
}

/* The rate at which the trains have arrived, Mbit/s on the cable; 0: not known. */
u32 tor_trains_rate(const struct tor_trains *t);

#endif
