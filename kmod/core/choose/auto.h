/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The algorithm `auto`: the fastest plan by the tables of a comm (see choose.h)
 * or, where there are none (collectives that they do not cover, long lists of
 * nodes whose plans are not walked), a fixed choice that serves any shape and
 * any list.
 *
 * All ranks must choose the same. Tables depend on shape, members and rates
 * only, and all ranks take the rates of rank 0 when they join. The list of
 * algorithms and the code of their costs are those of the module: between two
 * versions they may differ, and since the digest of a call includes the choice,
 * such a call ends with EPROTO.
 */
#ifndef _TOR_CORE_AUTO_H
#define _TOR_CORE_AUTO_H

#include "core/choose/choose.h"
#include "core/seats.h"

/* Return the collective as which one is planned: a barrier is an allreduce of nothing. */
u32 tor_auto_planned_as(u32 collective);

/**
 * tor_auto_prepare - make the tables that tor_auto_plan() needs for a
 * collective
 * @chooser: tables of the comm
 * @collective: enum torcoll_collective
 *
 * Does nothing if they exist.
 *
 * Context: may sleep to allocate; calls must be serialised.
 * Return: as tor_chooser_make().
 */
int tor_auto_prepare(struct tor_chooser *chooser, u32 collective);

/* The same by copying them from a chooser like it that has them: as tor_chooser_copy(). */
int tor_auto_copy(struct tor_chooser *chooser, const struct tor_chooser *from, u32 collective);

/* True if the tables of the collective are made. Context: any. */
bool tor_auto_is_prepared(const struct tor_chooser *chooser, u32 collective);

/**
 * tor_auto_forget - free the tables of a collective
 * @chooser: tables of the comm
 * @collective: enum torcoll_collective
 *
 * Context: may sleep; serialised with tor_auto_prepare() and tor_auto_plan().
 */
void tor_auto_forget(struct tor_chooser *chooser, u32 collective);

/**
 * tor_auto_plan - choose an algorithm and its parameters, and make the plan
 * @p: filled in; p->call has the choice
 * @chooser: tables of the comm, prepared for this collective, or NULL
 * @call: the request; its algorithm is ignored. Parameters that are set are
 *	kept; TORCOLL_PARAM_EXCLUDE is obeyed and not passed on to p->call
 * @level: requirement on the bits of the result
 * @elem: bytes of an element
 * @rank: rank whose view is planned; every rank with an equal chooser makes the
 *	same choice
 * @why: out: static reason of a refusal
 *
 * Context: any; @chooser must not change meanwhile.
 * Return: as tor_plan_init(); -ENOMEM if @chooser is not prepared.
 */
int tor_auto_plan(struct tor_plan *p, const struct tor_chooser *chooser,
		  const struct tor_call *call, enum tor_level level, u32 elem, u32 rank,
		  const char **why);

/**
 * tor_auto_chains - choose between two ways to keep the order of ranks, if nodes
 * have several
 * @rates: of the comm
 * @team: its ranks
 * @call: their call, whose sums need that order
 * @elem: bytes of an element
 *
 * Sums can go from rank to rank, or every node that needs one adds up by itself
 * what it gathers: few rounds, but as many vectors as there are ranks, in bytes
 * and in memory. The first is chosen if it is faster, or if all vectors are
 * longer than TOR_GATHERED_MAX together.
 *
 * Context: any. The same on every rank.
 * Return: true if sums go from rank to rank.
 */
bool tor_auto_chains(const struct tor_rates *rates, const struct tor_team_map *team,
		     const struct tor_call *call, u32 elem);

#define TOR_GATHERED_MAX	(16 << 20)

#endif
