/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of an op: the caller's buffers, and the vector of its plan. */
#ifndef _TOR_BUFFERS_H
#define _TOR_BUFFERS_H

#include <linux/torcoll.h>

#include "op/group.h"

/*
 * Unregistered buffers up to this size are copied instead of pinned. Both cost
 * the same here under TCG, where copies are expensive: docs/performance.md.
 */
#define TOR_COPY_MAX	4096
/* A slot's own memory, for short vectors and temporaries. */
#define TOR_SCRATCH	(2 * TOR_COPY_MAX)

/**
 * tor_buffers_counts - read the lengths of the ranks' blocks
 * @session: for sentences
 * @group: whose user is charged for them
 * @desc: descriptor
 * @counts: out: kvmalloc'd copy with where each block begins behind it, then the
 *	same of the receive counts, each with an entry per rank; or NULL if the
 *	split is even
 *
 * They are passed on to tor_buffers_keep_counts() or tor_buffers_drop_counts(),
 * with the same @desc.
 *
 * Context: process.
 * Return: 0, or a negative errno with a sentence.
 */
int tor_buffers_counts(struct tor_session *session, struct tor_group *group,
		       const struct torcoll_submit *desc, u64 **counts);

/* Give counts to a slot, which releases them with its other memory. */
void tor_buffers_keep_counts(struct tor_slot *slot, const struct torcoll_submit *desc, u64 *counts);
void tor_buffers_drop_counts(struct tor_group *group, const struct torcoll_submit *desc,
			     u64 *counts);

/**
 * tor_buffers_get - find, pin and allocate the memory of an op
 * @session: for regions and sentences
 * @slot: of an op that was begun; its data and temporaries are set
 * @desc: descriptor
 *
 * Input outside the vector is copied into it.
 *
 * Context: process.
 * Return: 0, or a negative errno with a sentence; the caller calls
 * tor_buffers_put() in either case.
 */
int tor_buffers_get(struct tor_session *session, struct tor_slot *slot,
		    const struct torcoll_submit *desc);

/**
 * tor_buffers_get_own - allocate kernel memory for an op
 * @session: pays, and for a sentence
 * @slot: the memory is released with its other memory
 * @which: place in slot->pages
 * @length: bytes, not 0
 * @mem: out
 *
 * Context: process.
 * Return: 0, -EDQUOT or -ENOMEM.
 */
int tor_buffers_get_own(struct tor_session *session, struct tor_slot *slot, u32 which, u64 length,
			struct tor_mem *mem);

/*
 * Multiply the input by the rank's factor, if the op has one. Where nothing can
 * refuse the call any more, and before anything is sent: in place this changes
 * the user's vector, and a call that was refused may be repeated. Context:
 * process.
 */
void tor_buffers_premultiply(struct tor_slot *slot);

/*
 * The op is done: copy its result to the caller's buffer unless it is there.
 * Context: process. Return 0, or -EFAULT with a sentence.
 */
int tor_buffers_result(struct tor_session *session, struct tor_slot *slot);

/*
 * Return whether a process is required: to copy or divide the result, or to
 * unpin. If not, tor_buffers_put() may be called in softirqs.
 */
static inline bool tor_buffers_need_process(const struct tor_slot *slot)
{
	return slot->copy_from.len || slot->mm || slot->pinned ||
	       (slot->op.call.redop == TORCOLL_AVG && slot->result.len);
}

/* Release everything. No op runs in the slot. */
void tor_buffers_put(struct tor_slot *slot);

#endif
