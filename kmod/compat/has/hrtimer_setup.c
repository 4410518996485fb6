// SPDX-License-Identifier: GPL-2.0
/* A timer gets its function when it is initialised. */
#include <linux/hrtimer.h>

static void __maybe_unused has(struct hrtimer *timer,
			       enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
