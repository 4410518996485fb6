/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Echoes: a neighbour's test frames are answered, by the cable that they came by. Who qualifies a cable (torcollctl
 * qualify) learns from the answers what was lost, in which direction, and how long it took.
 */
#ifndef _TOR_CORE_ECHO_H
#define _TOR_CORE_ECHO_H

#include "core/env.h"
#include "core/wire/wire.h"

/**
 * tor_echo_rx - a test frame came in
 * @ctx: of this entry
 * @node: receiver
 * @port: by which it came
 * @h: its header
 * @payload: @pieces of it
 *
 * One with a damaged payload is dropped, whatever the fabric says of checksums: it is the cable that is tested. Needs
 * no lock. What it costs is bounded by what the cable carries: a short answer to each frame.
 */
void tor_echo_rx(struct tor_ctx *ctx, struct tor_node *node, u32 port, const struct tor_hdr *h,
		 const struct tor_bytes *payload, u32 pieces);

#endif
