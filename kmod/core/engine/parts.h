/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Parts of a plan's vector that the caller's buffers hold. */
#ifndef _TOR_CORE_PARTS_H
#define _TOR_CORE_PARTS_H

#include "core/engine/engine.h"

/* A part of the vector, bytes. */
struct tor_part {
	u64 off;
	u64 len;
};

/**
 * tor_parts_find - find the parts of the vector that the caller's buffers are
 * @op: begun; its plan has no input of its own
 * @send: out: its input; length 0: this rank has none
 * @recv: out: its result
 */
void tor_parts_find(const struct tor_op *op, struct tor_part *send, struct tor_part *recv);

/* Return the bytes of the input if it is another vector than the result. */
u64 tor_parts_input(const struct tor_op *op);

/*
 * Return whether buffers at these addresses have the same distance as their
 * parts in one vector.
 */
bool tor_parts_in_place(u64 send_addr, const struct tor_part *send, u64 recv_addr,
			const struct tor_part *recv);

/*
 * Return whether two buffers share a byte. The caller ensures that neither
 * exceeds the last address.
 */
bool tor_parts_overlap(u64 a, u64 alen, u64 b, u64 blen);

#endif
