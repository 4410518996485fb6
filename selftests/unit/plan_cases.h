/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Requests to test plans with: every shape, algorithm and collective, with what may vary. And, said
 * once more apart from the plans, which of them must be served.
 */
#ifndef _PLAN_CASES_H
#define _PLAN_CASES_H

#include "core/plan/plan.h"

typedef void (*plan_shape_fn)(const struct tor_torus *t, void *arg);
typedef void (*plan_case_fn)(const struct tor_call *call, void *arg);

/* A single node, and every shape of up to @most nodes in up to four dimensions. */
void plan_every_shape(u32 most, plan_shape_fn fn, void *arg);

/* Every ring of @least to @most nodes with that many steps of chords. */
void plan_every_chord(u32 least, u32 most, u32 chords, plan_shape_fn fn, void *arg);

/*
 * @n shapes of more than @least and up to @most nodes in up to six dimensions, the same for a @seed; as
 * many small ones as large ones.
 */
void plan_sampled_shapes(u32 n, u32 least, u32 most, u64 seed, plan_shape_fn fn, void *arg);

/* For humans; until the next call. */
const char *plan_request_name(const struct tor_call *call);

/* What the count of a request must be a multiple of. */
u32 plan_granule(const struct tor_call *call);

/* A request with nothing special; @count: in granules. */
struct tor_call plan_request(const struct tor_torus *t, u32 algorithm, u32 collective,
				 u64 count);

/**
 * plan_vary - all that may vary on one shape
 * @base: request with nothing special
 * @thorough: take every value, not only some
 * @fn: called for each
 * @arg: for it
 *
 * Counts, even and irregular, with zeros; roots; channels; r and group; blocks; variants.
 */
void plan_vary(const struct tor_call *base, bool thorough, plan_case_fn fn, void *arg);

/* Must the plan be served? Of requests without mistakes. @listed: the members form no torus. */
bool plan_is_served(const struct tor_call *call, bool listed);

#endif
