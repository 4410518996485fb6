/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Echoes: a node answers test frames of a neighbour by the cable on which they
 * came. From the answers `torcollctl qualify` computes the loss and the damage
 * in each direction and the round trip times of a cable: they carry the number
 * of tests that came, and of frames that came damaged.
 */
#ifndef _TOR_CORE_ECHO_H
#define _TOR_CORE_ECHO_H

#include "core/env.h"
#include "core/wire/wire.h"

/**
 * tor_echo_rx - handle a received test frame
 * @ctx: of this entry
 * @node: receiver
 * @cable: by which it came in
 * @h: its header
 * @payload: @pieces of it
 * @pieces: number of pieces
 *
 * Drops a frame with a damaged payload even if the fabric does not use payload
 * checksums: the cable is what is tested. The cost is bounded by the rate of
 * the cable: one short answer per frame.
 *
 * Context: softirq; needs no lock.
 */
void tor_echo_rx(struct tor_ctx *ctx, struct tor_node *node, u32 cable, const struct tor_hdr *h,
		 const struct tor_bytes *payload, u32 pieces);

#endif
