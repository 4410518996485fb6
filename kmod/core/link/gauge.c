// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Gauges of cables. See gauge.h. */
#include "core/link/gauge.h"

/* Doubt a measurement that is old. */
static void gauge_doubt(struct tor_gauge *gauge, u64 now)
{
	u32 cost = READ_ONCE(gauge->cost);

	/* another processor may have measured it since this one looked at the clock */
	if (cost <= TOR_GAUGE_FAST || (s64)(now - gauge->known) < (s64)TOR_GAUGE_DOUBT)
		return;
	WRITE_ONCE(gauge->cost, max_t(u32, cost / 2, TOR_GAUGE_FAST));
	gauge->known = now;
}

/* The cost of cables that have not been measured: that of the slowest other one. */
static u32 gauge_usual(struct tor_gauge *const gauge[TOR_LINK_CABLES])
{
	u32 k, usual = 1;

	for (k = 0; k < TOR_LINK_CABLES; k++)
		if (gauge[k])
			usual = max(usual, READ_ONCE(gauge[k]->cost));
	return usual;
}

u32 tor_gauge_pick(struct tor_gauge *const gauge[TOR_LINK_CABLES],
		   const u32 held[TOR_LINK_CABLES], u32 first, u32 bytes, u64 now)
{
	u32 i, cost, usual = gauge_usual(gauge), best = TOR_LINK_CABLES;
	u64 wait, least = 0;

	for (i = 0; i < TOR_LINK_CABLES; i++) {
		u32 k = (first + i) % TOR_LINK_CABLES;

		if (!gauge[k])
			continue;
		gauge_doubt(gauge[k], now);
		cost = READ_ONCE(gauge[k]->cost);
		wait = ((u64)held[k] + bytes) * (cost ? cost : usual);
		if (best < TOR_LINK_CABLES && wait >= least)
			continue;
		best = k;
		least = wait;
	}
	return best;
}

/* What is measured counts for a quarter, or, if it is the first, at once. */
static void gauge_learn(struct tor_gauge *gauge, u64 now, u64 took, u64 bytes)
{
	u64 cost = tor_div64(took << 10, max_t(u64, bytes, 1));

	cost = clamp_t(u64, cost, 1, TOR_GAUGE_MOST);
	if (gauge->cost)
		cost = max_t(u64, gauge->cost - gauge->cost / 4 + cost / 4, 1);
	WRITE_ONCE(gauge->cost, cost);
	gauge->known = now;
}

static void gauge_begin(struct tor_gauge *gauge, u64 now, u64 sent)
{
	gauge->since = now;
	gauge->sent = sent;
}

void tor_gauge_take(struct tor_gauge *gauge, u64 now, u64 got, u32 held)
{
	u64 sent = got - held;
	s64 took = now - gauge->since;
	s64 bytes = sent - gauge->sent;

	if (!held) {
		/* it has been idle, for how long is not known */
		gauge->since = 0;
	} else if (!gauge->since) {
		gauge_begin(gauge, now, sent);
	} else if (took < 0) {
		/* another processor began one after this one looked at the clock */
	} else if (bytes < 0) {
		/* it has changed what this one looked at */
		gauge_begin(gauge, now, sent);
	} else if (bytes >= TOR_GAUGE_BYTES || took >= (s64)TOR_GAUGE_LONGEST) {
		gauge_learn(gauge, now, took, bytes);
		gauge_begin(gauge, now, sent);
	}
}
