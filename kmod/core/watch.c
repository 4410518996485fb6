// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What becomes of a comm when links and nodes come and go: it goes on by another way, or fails with the error that
 * tells what happened. See engine.h.
 */
#include "engine.h"

/* The news of a link that came back and of another that went down may arrive in the wrong order, by different ways. */
u64 tor_watch_grace(const struct tor_node *node)
{
	return min_t(u64, 2 * node->hello_ns, TOR_WATCH_GRACE);
}

/* The first look at a comm: what was known of nodes before it began is not about it. */
static void begin(struct tor_comm *comm)
{
	const struct tor_view *view = &comm->node->view;
	u32 rank;

	for (rank = 0; rank < comm->ranks; rank++)
		comm->seen[rank] = view->entry[tor_comm_node(comm, rank)].epoch;
	comm->watched = true;
}

bool tor_comm_restarted(const struct tor_comm *comm, u32 rank)
{
	u32 epoch = comm->node->view.entry[tor_comm_node(comm, rank)].epoch;

	return comm->watched && rank != comm->rank && epoch != comm->seen[rank] &&
	       epoch != comm->epoch[rank];
}

/* The first such rank, or TOR_NO_RANK. */
static u32 find_restarted(const struct tor_comm *comm)
{
	u32 rank;

	for (rank = 0; rank < comm->ranks; rank++)
		if (tor_comm_restarted(comm, rank))
			return rank;
	return TOR_NO_RANK;
}

/*
 * A rank that cannot be reached, or TOR_NO_RANK. Of several one whose node all its neighbours have lost, if there is
 * one: then @error is -EHOSTDOWN, otherwise -EHOSTUNREACH.
 */
static u32 find_lost(const struct tor_comm *comm, const struct tor_routes *routes, int *error)
{
	const struct tor_node *node = comm->node;
	u32 lost = TOR_NO_RANK;
	u32 rank;

	*error = -EHOSTUNREACH;
	for (rank = 0; rank < comm->ranks; rank++) {
		u32 there = tor_comm_node(comm, rank);

		if (tor_routes_reach(routes, there))
			continue;
		/* cut off from everyone, we cannot tell whose fault it is */
		if (node->live && tor_view_is_cut_off(&node->view, &node->torus, there)) {
			*error = -EHOSTDOWN;
			return rank;
		}
		if (lost == TOR_NO_RANK)
			lost = rank;
	}
	return lost;
}

u64 tor_comm_watch(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_routes *routes)
{
	u32 rank;
	int error;

	if (tor_comm_failed(comm))
		return 0;
	if (!comm->watched)
		begin(comm);
	rank = find_restarted(comm);
	if (rank != TOR_NO_RANK) {
		tor_comm_fail(ctx, comm, -EHOSTDOWN, rank, 0);
		return 0;
	}
	if (!routes)
		return 0;
	rank = comm->joined ? find_lost(comm, routes, &error) : TOR_NO_RANK;
	if (rank == TOR_NO_RANK) {
		comm->lost_since = 0;
		return 0;
	}
	if (!comm->lost_since)
		comm->lost_since = ctx->now;
	if (ctx->now < comm->lost_since + tor_watch_grace(comm->node))
		return comm->lost_since + tor_watch_grace(comm->node);
	tor_comm_fail(ctx, comm, error, rank, 0);
	return 0;
}

void tor_chan_rerouted(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		tor_tx_rerouted(tx, ctx->now);
	tor_chan_timer(ctx, chan);
}
