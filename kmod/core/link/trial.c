// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Trials of cables. See trial.h. */
#include "core/link/trial.h"

bool tor_trial_pong(struct tor_trial *t, u32 number, u64 stamp, u64 now)
{
	u32 rtt, i;

	/* anyone may claim any stamp */
	if (number >= t->sent || t->answered[number / 64] & BIT_ULL(number % 64) ||
	    stamp < t->begun || stamp > now)
		return false;
	t->answered[number / 64] |= BIT_ULL(number % 64);
	rtt = min_t(u64, now - stamp, U32_MAX);
	for (i = t->returned++; i && t->rtt[i - 1] > rtt; i--)
		t->rtt[i] = t->rtt[i - 1];
	t->rtt[i] = rtt;
	return true;
}

u32 tor_trial_median(const struct tor_trial *t)
{
	return t->returned ? t->rtt[t->returned / 2] : 0;
}

static void arrivals_follow(struct tor_arrivals *a, u64 test)
{
	if (a->test != test)
		*a = (struct tor_arrivals){ .test = test };
}

void tor_arrivals_ping(struct tor_arrivals *a, u64 test)
{
	arrivals_follow(a, test);
	a->pinged++;
}

void tor_arrivals_train(struct tor_arrivals *a, u64 test, u32 number, u64 trains, u32 len, u64 now)
{
	if (!trains || trains > TOR_TRIAL_TRAIN_MAX || number >= trains)
		return;
	arrivals_follow(a, test);
	a->trains = trains;
	if (a->train >= trains)
		return;
	a->train++;
	if (number < trains / 2)
		return;
	a->last = now;
	if (a->half)
		a->bytes += len + TOR_TRIAL_OVERHEAD;
	else
		a->half = now;
}

u32 tor_arrivals_rate(const struct tor_arrivals *a)
{
	u64 ns = max_t(u64, a->last - a->half, 1);

	return min_t(u64, tor_div64(a->bytes * 8 * 1000, ns), U32_MAX);
}
