// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Dampers. See damper.h. */
#include "core/link/damper.h"

u64 tor_damper_due(const struct tor_damper *damper)
{
	u64 first = damper->first ?: TOR_DAMPER_FIRST;

	if (damper->count < TOR_DAMPER_FREE)
		return damper->last;
	return damper->last + (first << (damper->count - TOR_DAMPER_FREE));
}

bool tor_damper_may(struct tor_damper *damper, u64 now)
{
	u64 due = tor_damper_due(damper);

	if (now < due)
		return false;
	damper->count >>= min_t(u64, tor_div64(now - due, TOR_DAMPER_HALF), 31);
	damper->count = min_t(u32, damper->count + 1, TOR_DAMPER_FREE + TOR_DAMPER_DOUBLINGS);
	damper->last = now;
	return true;
}
