/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Gauges of cables: by which cable of a link a frame is at the other end first.
 *
 * What a device holds it sends before the next frame. How long that takes
 * depends on its rate, which devices do not say truly: a qdisc or a switch in
 * between may be slower, a virtual device has none. So the rate is measured:
 * as long as the device holds something whenever it gets a frame, it was never
 * idle in between, and the difference between what it got and what it holds is
 * what it has sent.
 *
 * A cable's frames are behind those that wait there already. A slow cable next
 * to a fast one therefore gets a frame only when the fast one is busy for as
 * long as the slow one needs for it. One that has not been measured counts as
 * fast as the others of its link. A measurement becomes doubtful with time: a
 * cable that is not used any more since it seemed slow is tried again.
 *
 * Gauges take no lock: several processors may use one at the same time, which
 * costs a measurement, and the measured rate is read by READ_ONCE.
 */
#ifndef _TOR_CORE_GAUGE_H
#define _TOR_CORE_GAUGE_H

#include "core/link/cable.h"

/*
 * A measurement is of so much, which is many frames: devices release whole
 * ones. Or of this time.
 */
#define TOR_GAUGE_BYTES		131072
#define TOR_GAUGE_LONGEST	(25 * NSEC_PER_MSEC)
#define TOR_GAUGE_DOUBT		(5 * NSEC_PER_SEC)	/* half as slow after this time */
#define TOR_GAUGE_FAST		1024			/* ns per KiB that are not doubted */
#define TOR_GAUGE_MOST		(100 * NSEC_PER_MSEC)	/* ns per KiB */

/**
 * struct tor_gauge - gauge of a cable; all zero: nothing is known
 * @cost: time that a KiB takes, ns; 0: it has not been measured
 * @known: when @cost was measured or last put in doubt, ns
 * @since: when the present measurement began, ns; 0: there is none
 * @sent: bytes that had been sent then
 */
struct tor_gauge {
	u32 cost;
	u64 known;
	u64 since;
	u64 sent;
};

/**
 * tor_gauge_pick - choose the cable by which a frame is at the other end first
 * @gauge: of the link's cables; NULL: that one is not to be used
 * @held: bytes that their devices hold
 * @first: which one to prefer among equals
 * @bytes: of the frame
 * @now: monotonic time, ns
 *
 * Context: any.
 * Return: which cable, or TOR_LINK_CABLES if there is none.
 */
u32 tor_gauge_pick(struct tor_gauge *const gauge[TOR_LINK_CABLES],
		   const u32 held[TOR_LINK_CABLES], u32 first, u32 bytes, u64 now);

/**
 * tor_gauge_take - a cable's device is about to get a frame
 * @gauge: of the cable
 * @now: monotonic time, ns
 * @got: bytes that it got before, in all
 * @held: bytes of them that it still holds
 *
 * Context: any.
 */
void tor_gauge_take(struct tor_gauge *gauge, u64 now, u64 got, u32 held);

#endif
