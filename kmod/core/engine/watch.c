// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reaction of a comm to links and nodes that come and go: it continues on
 * another route, or fails with the error that names the cause. See engine.h.
 */
#include "core/engine/engine.h"

/*
 * The news of a link that came back and of another that went down may arrive in
 * the wrong order, on different routes.
 */
u64 tor_watch_grace(const struct tor_node *node)
{
	return min_t(u64, 2 * node->hello_ns, TOR_WATCH_GRACE);
}

bool tor_comm_restarted(const struct tor_comm *comm, u32 rank)
{
	const struct tor_view *view = &comm->node->view;
	u32 there = tor_comm_node(comm, rank);

	/* earlier knowledge about the node does not concern the comm */
	return rank != comm->rank &&
	       tor_view_born_since(view, there, comm->births) &&
	       view->entry[there].epoch != tor_comm_agreed(comm, rank);
}

/*
 * Record that @rank is unreachable. Of several, the one reported is one whose
 * node all its neighbours have lost.
 */
static void note_lost(const struct tor_comm *comm, u32 rank, struct tor_watch *pass)
{
	const struct tor_node *node = comm->node;

	if (pass->error == -EHOSTDOWN)
		return;
	/* cut off from all nodes, this one cannot tell the cause */
	if (node->live && tor_view_is_cut_off(&node->view, &node->torus, tor_comm_node(comm, rank)))
		pass->error = -EHOSTDOWN;
	else if (!pass->error)
		pass->error = -EHOSTUNREACH;
	else
		return;
	pass->lost = rank;
}

/*
 * Record whether a rank is away, throughout since comm->lost_since if that time
 * runs. Return true if it is, and so counts; another one counts as soon as there
 * is a time of its own.
 */
static bool note_away(struct tor_comm *comm, u32 rank, bool away, struct tor_watch *pass)
{
	u32 *word = &comm->away[rank / 32], bit = 1U << rank % 32;

	if (!away) {
		*word &= ~bit;
		return false;
	}
	if (comm->lost_since && !(*word & bit)) {
		pass->others = true;
		return false;
	}
	*word |= bit;
	return true;
}

/*
 * Record whether the node of @rank restarted, or the rank is unreachable. A
 * restart counts like a node that all its neighbours have lost: that it was of
 * this life when the comm was made, and a record of its former one comes late, as
 * out of a part of the fabric that was cut off, is mended by the node itself.
 */
static void watch_look_at(struct tor_comm *comm, u32 rank, const struct tor_routes *routes,
			  struct tor_watch *pass)
{
	u32 there = tor_comm_node(comm, rank);
	bool restarted = tor_comm_restarted(comm, rank);

	if (!restarted && !routes)
		return;
	if (!note_away(comm, rank, restarted || (comm->joined && !tor_routes_reach(routes, there)),
		       pass))
		return;
	if (!restarted) {
		note_lost(comm, rank, pass);
	} else if (!pass->restarted) {
		pass->restarted = true;
		pass->error = -EHOSTDOWN;
		pass->lost = rank;
	}
}

/* Evaluate a complete pass. Return the time of the next, ns, or 0. */
static u64 conclude(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_watch *pass)
{
	u64 until;

	if (!pass->error) {
		comm->lost_since = 0;
		/* all who were away are back: for the others, time begins */
		return pass->others ? ctx->now : 0;
	}
	if (!comm->lost_since)
		comm->lost_since = ctx->now;
	until = comm->lost_since + tor_watch_grace(comm->node);
	if (ctx->now < until)
		return until;
	tor_comm_fail(ctx, comm, pass->error, pass->lost, 0);
	return 0;
}

bool tor_comm_watch(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_routes *routes,
		    struct tor_watch *pass)
{
	u32 steps = tor_env_budget().steps;

	pass->when = 0;
	if (tor_comm_failed(comm))
		return true;
	for (; pass->rank < comm->ranks; pass->rank++) {
		if (!steps--)
			return false;
		watch_look_at(comm, pass->rank, routes, pass);
	}
	if (routes || pass->restarted)
		pass->when = conclude(ctx, comm, pass);
	return true;
}

void tor_chan_rerouted(struct tor_ctx *ctx, struct tor_chan *chan)
{
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		tor_tx_rerouted(tx, ctx->now);
	tor_chan_timer(ctx, chan);
}
