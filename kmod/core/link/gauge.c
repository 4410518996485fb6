// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Gauges of cables. See gauge.h. */
#include "core/link/gauge.h"

void tor_gauge_init(struct tor_gauge *gauge)
{
	*gauge = (struct tor_gauge){ .cost = TOR_GAUGE_FIRST };
}

/* The measured cost counts for a quarter, or at once if it is the first one. */
static void gauge_learn(struct tor_gauge *gauge, u64 now, u64 took, u64 bytes)
{
	u64 cost = tor_div64(took << 10, max_t(u64, bytes, 1));

	cost = clamp_t(u64, cost, 1, TOR_GAUGE_MOST);
	if (gauge->known)
		cost = gauge->cost - gauge->cost / 4 + cost / 4;
	WRITE_ONCE(gauge->cost, max_t(u64, cost, 1));
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
	u64 took = now - gauge->since;
	s64 bytes = sent - gauge->sent;

	if (!held) {
		/* it has been idle, for how long is not known */
		gauge->since = 0;
	} else if (!gauge->since || bytes < 0) {
		/* the first one, or another processor has changed it meanwhile */
		gauge_begin(gauge, now, sent);
	} else if (bytes >= TOR_GAUGE_BYTES || took >= TOR_GAUGE_LONGEST) {
		gauge_learn(gauge, now, took, bytes);
		gauge_begin(gauge, now, sent);
	}
}

void tor_gauge_doubt(struct tor_gauge *gauge, u64 now)
{
	u32 cost = READ_ONCE(gauge->cost);

	if (!gauge->known || now - gauge->known < TOR_GAUGE_DOUBT)
		return;
	if (cost > TOR_GAUGE_FIRST)
		WRITE_ONCE(gauge->cost, max_t(u32, cost / 2, TOR_GAUGE_FIRST));
	gauge->known = now;
}
