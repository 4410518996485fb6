/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which parts of the vector that a plan works in are in the caller's buffers.
 */
#ifndef _TOR_CORE_PARTS_H
#define _TOR_CORE_PARTS_H

#include "core/engine/engine.h"

/* A part of the vector, bytes. */
struct tor_part {
	u64 off;
	u64 len;
};

/**
 * tor_parts_find - which parts of the vector the caller's buffers are
 * @op: begun; its plan has no input of its own
 * @send: out: what its input is; without length: this rank has none
 * @recv: out: what its result is
 */
void tor_parts_find(const struct tor_op *op, struct tor_part *send, struct tor_part *recv);

/* Bytes of the input, where that is another vector than the result. */
u64 tor_parts_input(const struct tor_op *op);

/* Do buffers at these addresses lie where their parts lie in one vector? */
bool tor_parts_in_place(u64 send_addr, const struct tor_part *send, u64 recv_addr,
			const struct tor_part *recv);

/* Have two buffers a byte in common? None of them goes beyond the last address: that is the caller's to see to. */
bool tor_parts_overlap(u64 a, u64 alen, u64 b, u64 blen);

#endif
