/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cost of a pipeline of very many ranks, without a walk.
 *
 * In a broadcast or reduce in blocks by `ring` or `circulant` no two ranks do the
 * same, so a walk visits each of them in each round. But nearly all the time
 * all ranks are busy, and then every rank sends a block the same number of ranks
 * further: on a torus whose ranks follow its nodes that is nearly the same way
 * from everywhere, and the load of links a matter of arithmetic.
 *
 * All rounds are taken for full, as those of many blocks are but for the first
 * and the last ones. Of few blocks hops and the busiest link are overestimated,
 * up to several times, and plans of few blocks are those of short vectors.
 */
#ifndef _TOR_CORE_PIPE_H
#define _TOR_CORE_PIPE_H

#include "core/choose/cost.h"

/**
 * tor_pipe_cost - compute the cost of a pipeline
 * @call: as for tor_cost_plan()
 * @cost: filled in
 *
 * Context: any; takes O(log ranks).
 * Return: 0, an error of tor_plan_init(), or -EOPNOTSUPP: it is no pipeline, or
 * not one of all nodes in their order.
 */
int tor_pipe_cost(const struct tor_call *call, struct tor_cost *cost);

#endif
