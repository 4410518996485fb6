/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What auto stands for: the fastest plan by a comm's tables, see choose.h, or where these know nothing
 * (collectives that they do not cover, long lists of nodes that nobody has walked through) a plain choice that
 * serves any shape and any list.
 */
#ifndef _TOR_CORE_AUTO_H
#define _TOR_CORE_AUTO_H

#include "core/choose/choose.h"

/**
 * tor_auto_prepare - make the tables that tor_auto_plan() needs for a collective, unless they are there
 * @chooser: tables of the comm
 * @collective: enum torcoll_collective
 *
 * Context: may wait for memory; one at a time.
 * Return: as tor_chooser_make().
 */
int tor_auto_prepare(struct tor_chooser *chooser, u32 collective);

/* Are they there? */
bool tor_auto_is_prepared(const struct tor_chooser *chooser, u32 collective);

/* Nobody will ask for them. */
void tor_auto_forget(struct tor_chooser *chooser, u32 collective);

/**
 * tor_auto_plan - choose an algorithm and its parameters, and make the plan
 * @p: to fill; p->req says what was chosen
 * @chooser: tables of the comm, prepared for this collective, or NULL
 * @req: the request; its algorithm is not looked at. Parameters that are given stand; TORCOLL_PARAM_EXCLUDE is
 *	obeyed, and does not get into p->req
 * @level: what the result must be
 * @elem: bytes of an element
 * @rank: whose view; every rank with such a chooser chooses the same
 * @why: out: static reason of a refusal
 *
 * Return: as tor_plan_init().
 */
int tor_auto_plan(struct tor_plan *p, const struct tor_chooser *chooser,
		  const struct tor_plan_req *req, enum tor_level level, u32 elem, u32 rank,
		  const char **why);

#endif
