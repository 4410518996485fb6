/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Descriptors: checks of a call by its numbers alone, before anything behind
 * its addresses is read. See TORCOLL_IOC_SUBMIT.
 */
#ifndef _TOR_CORE_DESC_H
#define _TOR_CORE_DESC_H

#include "core/plan/plan.h"

/* Bytes of a sentence, terminator included. */
#define TOR_DESC_TEXT	96

/**
 * tor_desc_check - check the numbers of a descriptor; unused fields must be 0
 * @desc: the process's, copied
 * @ranks: of its comm
 * @ring: the file has a completion ring
 * @why: out: the reason of a refusal, TOR_DESC_TEXT bytes; unchanged otherwise
 *
 * tor_desc_counts_fit() checks the counts, tor_plan_init() what plans support.
 *
 * Return: 0 or -EINVAL.
 */
int tor_desc_check(const struct torcoll_submit *desc, u32 ranks, bool ring, char *why);

/* Return whether the sum of @ranks counts is at most TOR_COUNT_MAX. */
bool tor_desc_counts_fit(const u64 *counts, u32 ranks);

/*
 * Return the role of a message at this rank, TOR_ROLE_SEND or
 * TOR_ROLE_RECV; 0 for a collective.
 */
u8 tor_desc_role(const struct torcoll_submit *desc);

#endif
