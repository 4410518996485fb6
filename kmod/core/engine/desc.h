/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Descriptors: what of a call can be judged by its numbers alone, before anything behind its addresses is looked at. See
 * TORCOLL_IOC_SUBMIT.
 */
#ifndef _TOR_CORE_DESC_H
#define _TOR_CORE_DESC_H

#include "core/plan/plan.h"

/* Bytes of a sentence, with its end. */
#define TOR_DESC_TEXT	96

/**
 * tor_desc_check - do its numbers make sense, and is what it has no use for 0?
 * @desc: the process's, copied
 * @ranks: of its comm
 * @ring: the file has a completion ring
 * @why: out: what is wrong with it, TOR_DESC_TEXT bytes; unchanged if nothing is
 *
 * Counts are another matter, see tor_desc_counts_fit(), and so is what plans serve, see tor_plan_init().
 *
 * Return: 0 or -EINVAL.
 */
int tor_desc_check(const struct torcoll_submit *desc, u32 ranks, bool ring, char *why);

/* Is the sum of @ranks counts at most TOR_COUNT_MAX? */
bool tor_desc_counts_fit(const u64 *counts, u32 ranks);

/* What a message is at this rank: TORCOLL_CHANNEL_SEND or TORCOLL_CHANNEL_RECV. 0: it is a collective. */
u8 tor_desc_role(const struct torcoll_submit *desc);

#endif
