// SPDX-License-Identifier: GPL-2.0
/* Measured durations of ops. See observe.h. */
#include "op/observe.h"

#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/minmax.h>

void tor_observe_init(struct tor_observations *o)
{
	spin_lock_init(&o->lock);
}

u32 tor_observed_place(u32 collective, u32 algorithm, u32 size_class)
{
	return hash_32(collective << 16 | algorithm << 8 | size_class, ilog2(TOR_OBSERVED));
}

static u32 class_of(u64 bytes)
{
	return bytes > 1 ? ilog2(bytes - 1) + 1 : 0;
}

void tor_observe(struct tor_observations *o, u32 collective, u32 algorithm, u64 bytes, u64 ns)
{
	u32 size_class = class_of(bytes);
	struct tor_observed *p = &o->place[tor_observed_place(collective, algorithm, size_class)];

	spin_lock_bh(&o->lock);
	if (p->collective != collective || p->algorithm != algorithm ||
	    p->size_class != size_class)
		*p = (struct tor_observed){
			.collective = collective,
			.algorithm = algorithm,
			.size_class = size_class,
			.best = U64_MAX,
		};
	p->count++;
	p->bytes += bytes;
	p->ns += ns;
	p->best = min(p->best, ns);
	spin_unlock_bh(&o->lock);
}

bool tor_observed_get(struct tor_observations *o, u32 i, struct tor_observed *out)
{
	spin_lock_bh(&o->lock);
	*out = o->place[i];
	spin_unlock_bh(&o->lock);
	return out->count;
}
