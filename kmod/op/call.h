/* SPDX-License-Identifier: GPL-2.0 */
/* Text descriptions of calls for error reports. */
#ifndef _TOR_CALL_H
#define _TOR_CALL_H

#include "core/engine/engine.h"

#define TOR_EXPLANATION_MAX	224

/**
 * tor_call_explain - describe the calls of the ranks that disagree
 * @comm: failed with -EPROTO
 * @text: @size bytes, TOR_EXPLANATION_MAX are enough; terminated
 * @size: bytes of @text
 *
 * "rank 0 called allreduce f32 sum count 100 by ring, rank 3 allreduce f32 sum
 * count 200 by ring"
 */
void tor_call_explain(const struct tor_comm *comm, char *text, size_t size);

/*
 * Describe why a call was refused by a rank's own node, if that is why the comm
 * failed: "allreduce f32 sum count 100 by ring: memory cannot be read or
 * written". Context and @text as above.
 */
void tor_call_explain_refusal(const struct tor_comm *comm, char *text, size_t size);

#endif
