/* SPDX-License-Identifier: GPL-2.0 */
/* The function of a timer was a member to be set by its user. */
#ifndef _TOR_COMPAT_HRTIMER_H
#define _TOR_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>
#include <tor/has.h>

#ifndef TOR_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
