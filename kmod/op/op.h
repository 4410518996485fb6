/* SPDX-License-Identifier: GPL-2.0 */
/* Ops: from a descriptor to core. See result.h for the opposite direction. */
#ifndef _TOR_OP_H
#define _TOR_OP_H

#include "op/series.h"

struct torcoll_submit;

/*
 * Return the handle of an op: its number and the id of its series. No handle is
 * 0.
 */
static inline u64 tor_op_handle(const struct tor_slot *slot)
{
	const struct tor_series *series = slot->series;

	return (1ULL + tor_series_id(series->role, series->peer)) << 32 | slot->op.seq;
}

/**
 * tor_op_submit - start an op
 * @session: for regions and sentences
 * @group: comm, referenced by the caller
 * @desc: descriptor; ->op and ->status are set
 *
 * Return: 0 or a negative errno with a sentence; -EINTR with ->op set: the op
 * runs, wait for it.
 */
int tor_op_submit(struct tor_session *session, struct tor_group *group,
		  struct torcoll_submit *desc);

/* For a lone rank, and for messages: see tor_endpoint_ops.plan and .start. */
int tor_op_plan(struct tor_slot *slot, const struct tor_call *call, const char **why);
int tor_op_launch(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest);

/*
 * Mark the prepared op in @slot as in flight, with the destination of its
 * result; start it. Context: process.
 */
void tor_op_mark(struct tor_slot *slot, enum tor_slot_dest dest);
void tor_op_start(struct tor_slot *slot);

/* Capabilities of this module, for TORCOLL_IOC_INFO: bits 1 << enum. */
u64 tor_op_collectives(void);
u64 tor_op_types(void);
u64 tor_op_redops(void);
u64 tor_op_algorithms(void);

#endif
