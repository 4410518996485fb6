// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Series: ops that a rank numbers consecutively, with their slots, as in
 * kmod/op/series.c. Its collectives are one; messages to each rank are one, and
 * messages from each rank, made when the rank first calls for it.
 */
#include <stdlib.h>

#include "core/engine/pair.h"
#include "sim.h"

struct sim_series *sim_series_make(struct sim_rank *r, u8 role, u32 peer)
{
	struct sim_series *series = calloc(1, sizeof(*series));
	u32 depth = r->core.depth;
	u32 i, k, channels;

	series->rank = r;
	series->role = role;
	series->peer = peer;
	series->slot = calloc(depth, sizeof(*series->slot));
	for (i = depth; i-- > 0;) {
		struct sim_op *op = &series->slot[i];

		op->rank = r;
		op->core.comm = &r->core;
		op->core.role = role;
		op->core.peer = peer;
		channels = tor_op_channels(&op->core);
		op->chan = calloc(channels, sizeof(*op->chan));
		for (k = 0; k < channels; k++) {
			op->chan[k].rank = r;
			/* ops are numbered from 1 */
			tor_chan_init(&op->chan[k].core, &op->core, k, i ? i : depth);
		}
		op->other = r->ops;
		r->ops = op;
	}
	series->next = r->series;
	r->series = series;
	return series;
}

struct sim_series *sim_series_find(const struct sim_rank *r, u8 role, u32 peer)
{
	struct sim_series *series;

	for (series = r->series; series; series = series->next)
		if (series->role == role && (!role || series->peer == peer))
			return series;
	return NULL;
}

/* Invite a sender that has waited since before its messages had slots. */
static void invite(struct sim_series *series)
{
	struct sim_rank *r = series->rank;
	struct sim_ctx ctx;
	u32 i;

	for (i = 0; i < r->core.depth; i++) {
		sim_enter(&ctx, r->node);
		tor_pair_invite(&ctx.core, &series->slot[i].chan[0].core);
		sim_leave(&ctx);
	}
}

struct sim_series *sim_series_of(struct sim_rank *r, const struct sim_call *call)
{
	u8 role = call->collective != TORCOLL_SEND ? TOR_ROLE_NONE :
		  call->root == r->number ? TOR_ROLE_SEND : TOR_ROLE_RECV;
	u32 peer = role == TOR_ROLE_SEND ? call->peer : call->root;
	struct sim_series *series = sim_series_find(r, role, peer);

	if (series)
		return series;
	series = sim_series_make(r, role, peer);
	if (role == TOR_ROLE_RECV && r->refused[peer])
		invite(series);
	return series;
}

struct sim_chan *sim_rank_chan(struct sim_rank *r, u32 rank, u32 op, const struct tor_where *where,
			       bool own)
{
	u8 role = where->role && !own ? tor_role_opposite(where->role) : where->role;
	const struct sim_series *series = sim_series_find(r, role, rank);

	if (!series || where->channel >= (role ? 1 : r->core.channels) || (role && where->pair))
		return NULL;
	return &sim_slot(series, op)->chan[where->channel];
}

void sim_series_free(struct sim_rank *r)
{
	struct sim_series *series, *next;
	struct sim_op *op;
	u32 k;

	for (op = r->ops; op; op = op->other) {
		for (k = 0; k < tor_op_channels(&op->core); k++)
			tor_chan_destroy(&op->chan[k].core);
		sim_op_free(op);
	}
	for (series = r->series; series; series = next) {
		next = series->next;
		free(series->slot);
		free(series);
	}
	free(r->refused);
	r->ops = NULL;
	r->series = NULL;
	r->refused = NULL;
}
