/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of an op: what its caller gives, and the vector that the plan works in.
 */
#ifndef _TOR_BUFFERS_H
#define _TOR_BUFFERS_H

#include <linux/torcoll.h>

#include "op/group.h"

/*
 * Plain buffers up to here are copied instead of pinned. Where the two cost the same under TCG, whose copies are dear:
 * docs/performance.md.
 */
#define TOR_COPY_MAX	4096
/* A slot's own memory, for short vectors and temporaries. */
#define TOR_SCRATCH	(2 * TOR_COPY_MAX)

/**
 * tor_buffers_counts - read the lengths of the ranks' blocks
 * @session: for regions and sentences
 * @comm: comm
 * @desc: descriptor
 * @counts: out: kvmalloc'd copy, or NULL if the split is even
 *
 * Context: process. Return: 0, or a negative errno with a sentence.
 */
int tor_buffers_counts(struct tor_session *session, const struct tor_comm *comm,
		       const struct torcoll_submit *desc, u64 **counts);

/**
 * tor_buffers_get - find, pin and allocate what an op works in
 * @session: for regions and sentences
 * @slot: of an op that was begun; its data and temporaries are set
 * @desc: descriptor
 *
 * Input that does not lie in the vector already is copied into it.
 *
 * Context: process. Return: 0, or a negative errno with a sentence; tor_buffers_put() is called in either case.
 */
int tor_buffers_get(struct tor_session *session, struct tor_slot *slot,
		    const struct torcoll_submit *desc);

/**
 * tor_buffers_get_own - memory of ours for an op
 * @session: who pays, and for a sentence
 * @slot: it is given back with its other memory
 * @which: place in slot->pages
 * @length: bytes, not 0
 * @mem: out
 *
 * Context: process. Return: 0, -EDQUOT or -ENOMEM.
 */
int tor_buffers_get_own(struct tor_session *session, struct tor_slot *slot, u32 which, u64 length,
			struct tor_mem *mem);

/*
 * The op is done: bring its result to where the caller wants it, if it is not there. Context: process. Return: 0, or -EFAULT
 * with a sentence.
 */
int tor_buffers_result(struct tor_session *session, struct tor_slot *slot);

/*
 * Is there anything that only a process can do: copy or divide the result, unpin? Where not, tor_buffers_put() may be
 * called in softirqs.
 */
static inline bool tor_buffers_need_process(const struct tor_slot *slot)
{
	return slot->copy_from.len || slot->mm || slot->pinned ||
	       (slot->op.redop == TORCOLL_AVG && slot->result.len);
}

/* Give everything back. No op runs in the slot. */
void tor_buffers_put(struct tor_slot *slot);

#endif
