// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Trials of cables. See trial.h. */
#include "core/survey/trial.h"

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

void tor_trial_marked(struct tor_trial *t, u32 trains, bool last)
{
	if (trains > t->trains)
		return;
	t->passed = max(t->passed, trains);
	t->over |= last;
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

void tor_arrivals_train(struct tor_arrivals *a, u64 test, const struct tor_train *frame)
{
	arrivals_follow(a, test);
	tor_trains_frame(&a->trains, frame);
}

void tor_arrivals_mark(struct tor_arrivals *a, u64 test, u32 trains, u32 frames, bool last, u64 now)
{
	arrivals_follow(a, test);
	tor_trains_mark(&a->trains, trains, frames);
	/* it is repeated until its answer has come */
	if (last && !a->ended)
		a->ended = now;
}
