/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which algorithm auto stands for: one for every collective that is served, on any shape and any list of nodes.
 */
#ifndef _TOR_CORE_AUTO_H
#define _TOR_CORE_AUTO_H

#include "plan.h"

/**
 * tor_auto_plan - choose an algorithm and make its plan
 * @p: to fill; p->req.algorithm says what was chosen
 * @req: the request; its algorithm is not looked at
 * @elem: bytes of an element
 * @rank: whose view; every rank chooses the same
 * @why: out: static reason of a refusal
 *
 * Return: as tor_plan_init().
 */
int tor_auto_plan(struct tor_plan *p, const struct tor_plan_req *req, u32 elem, u32 rank,
		  const char **why);

#endif
