/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The epochs that ranks' nodes had when a comm was made. Comms of one fabric that
 * agreed on the same share one list of them, as all comms of all nodes do until a
 * node restarts: of 16,384 ranks it has 64 KiB.
 */
#ifndef TOR_EPOCHS_H
#define TOR_EPOCHS_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct tor_fabric;

/**
 * struct tor_epochs - a list of epochs
 * @list: of tor_fabric.epochs, once others may share it
 * @ranks: number of entries; one that others may share has no more than were
 *	agreed, or it would take memory that only its first comm was charged for
 * @hash: of the entries, once others may share it
 * @epoch: by rank; constant once others may share it
 */
struct tor_epochs {
	struct list_head list;
	refcount_t refs;
	struct rcu_head rcu;
	u32 ranks;
	u32 hash;
	u32 epoch[];
};

/* Return a list for an agreement to fill in, zeroed, or NULL. Context: may sleep. */
struct tor_epochs *tor_epochs_alloc(u32 ranks);

/**
 * tor_epochs_share - share what was agreed
 * @fabric: of the comm
 * @own: from tor_epochs_alloc(); the first @ranks entries were agreed
 * @ranks: number of ranks
 *
 * Context: may sleep.
 * Return: @own, or another list of @ranks entries with a reference, for which the
 * caller gives up @own: that of an equal comm, or a copy of what was agreed. Without
 * memory for such a copy @own is not shared.
 */
struct tor_epochs *tor_epochs_share(struct tor_fabric *fabric, struct tor_epochs *own, u32 ranks);

/* Give up a reference; frames may read the list for an RCU grace period. */
void tor_epochs_put(struct tor_fabric *fabric, struct tor_epochs *epochs);

static inline u64 tor_epochs_bytes(u32 ranks)
{
	return sizeof(struct tor_epochs) + (u64)ranks * sizeof(u32);
}

/* Return how much memory less the list takes because others have it too. */
u64 tor_epochs_saved(const struct tor_epochs *epochs);

#endif
