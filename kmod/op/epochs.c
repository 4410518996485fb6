// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of epochs that comms share. See epochs.h.
 */
#include "op/epochs.h"

#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "net/fabric.h"

#define HASHED_AT_ONCE	4096		/* ranks */

struct tor_epochs *tor_epochs_alloc(u32 ranks)
{
	struct tor_epochs *epochs;

	epochs = kvzalloc(struct_size(epochs, epoch, ranks), GFP_KERNEL_ACCOUNT);
	if (!epochs)
		return NULL;
	INIT_LIST_HEAD(&epochs->list);
	refcount_set(&epochs->refs, 1);
	epochs->ranks = ranks;
	return epochs;
}

static u32 epochs_hash(const u32 *epoch, u32 ranks)
{
	u32 hash = ranks, first, n;

	for (first = 0; first < ranks; first += n) {
		n = min_t(u32, ranks - first, HASHED_AT_ONCE);
		hash = jhash2(epoch + first, n, hash);
		cond_resched();
	}
	return hash;
}

/* Return the list with the hash of @own, with a reference; NULL: @own is the first. */
static struct tor_epochs *epochs_find(struct tor_fabric *fabric, struct tor_epochs *own)
{
	struct tor_epochs *e;

	spin_lock(&fabric->epochs_lock);
	list_for_each_entry(e, &fabric->epochs, list) {
		if (e->ranks == own->ranks && e->hash == own->hash &&
		    refcount_inc_not_zero(&e->refs))
			goto unlock;
	}
	list_add(&own->list, &fabric->epochs);
	e = NULL;
unlock:
	spin_unlock(&fabric->epochs_lock);
	return e;
}

/* Return a list of the first @ranks epochs: @own, or a copy, or NULL: no memory. */
static struct tor_epochs *epochs_fit(struct tor_epochs *own, u32 ranks)
{
	struct tor_epochs *fit;

	if (own->ranks == ranks)
		return own;
	fit = tor_epochs_alloc(ranks);
	if (fit)
		memcpy(fit->epoch, own->epoch, ranks * sizeof(*own->epoch));
	return fit;
}

struct tor_epochs *tor_epochs_share(struct tor_fabric *fabric, struct tor_epochs *own, u32 ranks)
{
	struct tor_epochs *fit = epochs_fit(own, ranks), *other;

	if (!fit)
		return own;
	fit->hash = epochs_hash(fit->epoch, ranks);
	other = epochs_find(fabric, fit);
	if (!other)
		return fit;
	if (memcmp(other->epoch, fit->epoch, ranks * sizeof(*fit->epoch))) {
		/* another list with this hash: this one stays the comm's own */
		tor_epochs_put(fabric, other);
		return fit;
	}
	/* nobody has seen it */
	if (fit != own)
		kvfree(fit);
	return other;
}

void tor_epochs_put(struct tor_fabric *fabric, struct tor_epochs *epochs)
{
	if (!refcount_dec_and_test(&epochs->refs))
		return;
	spin_lock(&fabric->epochs_lock);
	list_del(&epochs->list);
	spin_unlock(&fabric->epochs_lock);
	kvfree_rcu(epochs, rcu);
}

u64 tor_epochs_saved(const struct tor_epochs *epochs)
{
	u64 bytes = tor_epochs_bytes(epochs->ranks);
	/* 0: the comm has just given it up, for an equal one */
	u32 refs = refcount_read(&epochs->refs) ?: 1;

	return bytes - div_u64(bytes, refs);
}
