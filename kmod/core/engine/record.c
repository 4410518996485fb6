// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Records of a channel: transfers that are received or sent, and early frames.
 * Released records are kept for the next round, so that an op in steady state
 * allocates nothing. See chan.h.
 */
#include "core/engine/chan.h"

/* Records of either kind that any channel has for nothing, and keeps. */
#define OWN_RECORDS	16

/* With its walk, which it has if it is of several frames. */
#define RX_SIZE		((u32)(sizeof(struct tor_rx) + sizeof(struct tor_walk)))
#define TX_SIZE		((u32)(sizeof(struct tor_tx) + sizeof(struct tor_walk)))

/*
 * Return how many that is with the present plan: enough for any round of it, so
 * that an op goes on where its user is at the limit. More, of a root that is
 * ahead of thousands of ranks, are paid for, and freed when they are not needed.
 */
static u32 own_records(const struct tor_chan *chan)
{
	return max_t(u32, OWN_RECORDS, chan->op->plan.shape.peers);
}

static void rx_free(struct tor_chan *chan, struct tor_rx *rx)
{
	chan->nrx -= rx->own;
	if (rx->paid)
		tor_env_unkeep(chan->op->comm, RX_SIZE);
	tor_env_free(rx->walk);
	tor_env_free(rx);
}

static void tx_free(struct tor_chan *chan, struct tor_tx *tx)
{
	chan->ntx -= tx->own;
	if (tx->paid)
		tor_env_unkeep(chan->op->comm, TX_SIZE);
	tor_env_free(tx->walk);
	tor_env_free(tx);
}

/* Allocate a record of @size; one that is not the channel's own costs @price. */
static void *record_alloc(const struct tor_chan *chan, size_t size, bool own, u32 price)
{
	struct tor_comm *comm = chan->op->comm;
	void *record;

	if (!own && !tor_env_keep(comm, price))
		return NULL;
	record = tor_env_alloc(size);
	if (!record && !own)
		tor_env_unkeep(comm, price);
	return record;
}

static struct tor_rx *rx_alloc(struct tor_chan *chan)
{
	/* those of early frames are none for the present round */
	bool own = chan->nrx - chan->early_own < own_records(chan);
	struct tor_rx *rx = record_alloc(chan, sizeof(*rx), own, RX_SIZE);

	if (!rx)
		return NULL;
	rx->own = own;
	rx->paid = !own;
	chan->nrx += own;
	return rx;
}

static struct tor_tx *tx_alloc(struct tor_chan *chan)
{
	bool own = chan->ntx < own_records(chan);
	struct tor_tx *tx = record_alloc(chan, sizeof(*tx), own, TX_SIZE);

	if (!tx)
		return NULL;
	tx->own = own;
	tx->paid = !own;
	chan->ntx += own;
	return tx;
}

/* Return what a spare record has allocated for the next transfer. */
static struct tor_walk *walk_reuse(struct tor_walk *walk)
{
	if (walk)
		walk->begun = false;
	return walk;
}

/* Take a spare record, if there is one. */
static struct tor_rx *rx_reuse(struct tor_chan *chan)
{
	struct tor_rx *rx = chan->spare_rx;
	struct tor_walk *walk;

	if (!rx)
		return NULL;
	chan->spare_rx = rx->spare;
	walk = walk_reuse(rx->walk);
	memset(rx, 0, sizeof(*rx));
	rx->walk = walk;
	rx->own = true;
	return rx;
}

static void rx_begin(struct tor_rx *rx, u32 rank, u32 round)
{
	INIT_LIST_HEAD(&rx->kept);
	rx->rank = rank;
	rx->round = round;
}

struct tor_rx *tor_chan_rx_get(struct tor_chan *chan, u32 rank)
{
	struct tor_rx *rx = rx_reuse(chan) ?: rx_alloc(chan);

	if (!rx)
		return NULL;
	rx_begin(rx, rank, chan->round);
	list_add_tail(&rx->list, &chan->rx);
	return rx;
}

struct tor_rx *tor_chan_early_get(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_rx *rx;

	if (chan->nearly == TOR_EARLY_MAX)
		return NULL;
	/* a new one is no record of the channel's own: its frame pays for it, see tor_kept_size() */
	rx = rx_reuse(chan) ?: tor_env_alloc(sizeof(*rx));
	if (!rx)
		return NULL;
	rx_begin(rx, rank, round);
	chan->early_own += rx->own;
	rx->early = true;
	chan->nearly++;
	list_add_tail(&rx->list, &chan->early);
	return rx;
}

void tor_chan_early_take(struct tor_chan *chan)
{
	struct tor_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &chan->early, list) {
		if (rx->round != chan->round)
			continue;
		rx->early = false;
		chan->nearly--;
		chan->early_own -= rx->own;
		list_del(&rx->list);
		list_add_tail(&rx->list, &chan->rx);
	}
}

static bool kept_charge(struct tor_comm *comm, u32 size)
{
	if (atomic_add_return(size, &comm->kept) <= TOR_KEPT_MAX && tor_env_keep(comm, size))
		return true;
	atomic_sub(size, &comm->kept);
	return false;
}

static void kept_uncharge(struct tor_comm *comm, u32 size)
{
	tor_env_unkeep(comm, size);
	atomic_sub(size, &comm->kept);
}

struct tor_kept *tor_chan_kept_get(struct tor_chan *chan, u32 len)
{
	struct tor_comm *comm = chan->op->comm;
	struct tor_kept *kept;

	if (!kept_charge(comm, tor_kept_size(len)))
		return NULL;
	kept = tor_env_frame_alloc(sizeof(*kept) + len);
	if (kept)
		kept->len = len;
	else
		kept_uncharge(comm, tor_kept_size(len));
	return kept;
}

void tor_chan_kept_put(struct tor_chan *chan, struct tor_kept *kept)
{
	kept_uncharge(chan->op->comm, tor_kept_size(kept->len));
	tor_env_frame_free(kept, sizeof(*kept) + kept->len);
}

void tor_chan_kept_add(struct tor_rx *rx, struct tor_kept *kept)
{
	struct list_head *at = rx->kept.prev;

	/* most come in order */
	while (at != &rx->kept && list_entry(at, struct tor_kept, list)->index > kept->index)
		at = at->prev;
	list_add(&kept->list, at);
	rx->nkept++;
}

void tor_chan_kept_free(struct tor_chan *chan, struct tor_rx *rx, struct tor_kept *kept)
{
	list_del(&kept->list);
	rx->nkept--;
	tor_chan_kept_put(chan, kept);
}

void tor_chan_rx_put(struct tor_chan *chan, struct tor_rx *rx)
{
	struct tor_kept *kept, *next;

	list_for_each_entry_safe(kept, next, &rx->kept, list)
		tor_chan_kept_free(chan, rx, kept);
	list_del(&rx->list);
	if (rx->early) {
		chan->nearly--;
		chan->early_own -= rx->own;
	}
	/* kept are neither others' than the channel's own nor those of a round that was not entered */
	if (!rx->own || !rx->frames || chan->nrx > own_records(chan)) {
		rx_free(chan, rx);
		return;
	}
	rx->spare = chan->spare_rx;
	chan->spare_rx = rx;
}

void tor_chan_let_go(struct tor_chan *chan)
{
	if (chan->held)
		tor_chan_kept_put(chan, chan->held);
	chan->held = NULL;
}

void tor_chan_crcs_get(struct tor_chan *chan, u32 frames)
{
	struct tor_comm *comm = chan->op->comm;

	if (!tor_env_keep(comm, TOR_CRCS_MEMORY))
		return;
	/* those of one round are sent on while those of the next come in */
	chan->crcs = tor_crcs_new(tor_op_unit(chan->op), 2 * min_t(u32, frames, TOR_CRCS_MAX));
	if (!chan->crcs)
		tor_env_unkeep(comm, TOR_CRCS_MEMORY);
}

static void crcs_put(struct tor_chan *chan)
{
	if (!chan->crcs)
		return;
	tor_env_unkeep(chan->op->comm, TOR_CRCS_MEMORY);
	tor_env_free(chan->crcs);
	chan->crcs = NULL;
}

bool tor_chan_local_get(struct tor_chan *chan)
{
	chan->local = tor_env_alloc(sizeof(*chan->local));
	return chan->local;
}

void tor_chan_local_put(struct tor_chan *chan)
{
	tor_env_free(chan->local);
	chan->local = NULL;
}

struct tor_rx *tor_chan_rx_find(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_rx *rx;

	if (round == chan->round)
		list_for_each_entry(rx, &chan->rx, list)
			if (rx->rank == rank)
				return rx;
	/* there are none of a round that was entered */
	if (round == chan->round && chan->entered)
		return NULL;
	list_for_each_entry(rx, &chan->early, list)
		if (rx->rank == rank && rx->round == round)
			return rx;
	return NULL;
}

struct tor_tx *tor_chan_tx_get(struct tor_chan *chan)
{
	struct tor_walk *walk;
	struct tor_tx *tx;

	tx = chan->spare_tx;
	if (!tx) {
		tx = tx_alloc(chan);
		if (!tx)
			return NULL;
	} else {
		chan->spare_tx = tx->spare;
		walk = walk_reuse(tx->walk);
		memset(tx, 0, offsetof(struct tor_tx, small));
		tx->walk = walk;
		tx->own = true;
	}
	list_add_tail(&tx->list, &chan->tx);
	chan->nopen++;
	return tx;
}

void *tor_chan_copy_get(struct tor_chan *chan, u32 bytes)
{
	struct tor_comm *comm = chan->op->comm;
	void *copy;

	if (!tor_env_keep(comm, tor_env_shared_size(bytes)))
		return NULL;
	copy = tor_env_shared_alloc(bytes);
	if (!copy)
		tor_env_unkeep(comm, tor_env_shared_size(bytes));
	return copy;
}

static void copy_put(struct tor_chan *chan, void *copy, u32 bytes)
{
	tor_env_shared_free(copy, bytes);
	tor_env_unkeep(chan->op->comm, tor_env_shared_size(bytes));
}

void tor_chan_tx_put(struct tor_chan *chan, struct tor_tx *tx)
{
	if (tx->copy && tx->copy != tx->small)
		copy_put(chan, tx->copy, tx->bytes);
	list_del(&tx->list);
	chan->nopen--;
	if (!tx->own || chan->ntx > own_records(chan)) {
		tx_free(chan, tx);
		return;
	}
	tx->spare = chan->spare_tx;
	chan->spare_tx = tx;
}

struct tor_tx *tor_chan_tx_find(struct tor_chan *chan, u32 rank, u32 round)
{
	struct tor_tx *tx;

	list_for_each_entry(tx, &chan->tx, list)
		if (tx->rank == rank && tx->round == round)
			return tx;
	return NULL;
}

void tor_chan_clear(struct tor_chan *chan, bool records)
{
	struct tor_rx *rx, *next_rx;
	struct tor_tx *tx, *next_tx;

	list_for_each_entry_safe(rx, next_rx, &chan->rx, list)
		tor_chan_rx_put(chan, rx);
	list_for_each_entry_safe(rx, next_rx, &chan->early, list)
		tor_chan_rx_put(chan, rx);
	list_for_each_entry_safe(tx, next_tx, &chan->tx, list)
		tor_chan_tx_put(chan, tx);
	tor_chan_let_go(chan);
	crcs_put(chan);
	if (chan->local)
		tor_chan_local_put(chan);
	if (!records)
		return;
	while ((rx = chan->spare_rx)) {
		chan->spare_rx = rx->spare;
		rx_free(chan, rx);
	}
	while ((tx = chan->spare_tx)) {
		chan->spare_tx = tx->spare;
		tx_free(chan, tx);
	}
}

void tor_chan_destroy(struct tor_chan *chan)
{
	tor_chan_clear(chan, true);
	tor_env_free(chan->script);
	chan->script = NULL;
}
