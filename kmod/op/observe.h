/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measured durations of ops, which `torcollctl explain` shows beside the
 * predictions.
 *
 * A small table by collective, algorithm and size class; a new kind of op
 * replaces the one in its place. The context that completes an op writes it,
 * dumps read it.
 */
#ifndef _TOR_OBSERVE_H
#define _TOR_OBSERVE_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define TOR_OBSERVED	256		/* a power of two */

/*
 * Ops of more than 2^(@size_class - 1), at most 2^@size_class bytes. @count 0:
 * a free place.
 */
struct tor_observed {
	u16 collective;
	u16 algorithm;
	u32 size_class;
	u64 count;
	u64 bytes;
	u64 ns;
	u64 best;
};

struct tor_observations {
	spinlock_t lock;
	struct tor_observed place[TOR_OBSERVED];
};

void tor_observe_init(struct tor_observations *o);

/* Record an op that succeeded after @ns. Context: any but hard interrupts. */
void tor_observe(struct tor_observations *o, u32 collective, u32 algorithm, u64 bytes, u64 ns);

/**
 * tor_observed_get - copy a place
 * @o: table
 * @i: place
 * @out: to be filled in
 *
 * Return: false if the place is free.
 */
bool tor_observed_get(struct tor_observations *o, u32 i, struct tor_observed *out);

/* Return the place of a kind of ops in the table. */
u32 tor_observed_place(u32 collective, u32 algorithm, u32 size_class);

#endif
