// SPDX-License-Identifier: GPL-2.0
/*
 * Completion rings. See ring.h.
 */
#include "cdev/ring.h"

#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <tor/eventfd.h>
#include <tor/vm_flags.h>

static struct torcoll_completion *entry_at(struct tor_ring *ring, u32 i)
{
	struct torcoll_completion *entry = (struct torcoll_completion *)(ring->shared + 1);

	return &entry[i & (ring->entries - 1)];
}

static int alloc_shared(struct tor_ring *ring)
{
	int err = tor_user_charge(ring->user, TOR_LIMIT_KERNEL, ring->bytes);

	if (err)
		return err;
	ring->shared = __vmalloc(ring->bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (ring->shared)
		return 0;
	tor_user_uncharge(ring->user, TOR_LIMIT_KERNEL, ring->bytes);
	return -ENOMEM;
}

struct tor_ring *tor_ring_new(struct tor_user *user, u32 entries, int eventfd)
{
	struct tor_ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	int err;

	if (!ring)
		return ERR_PTR(-ENOMEM);
	if (eventfd >= 0) {
		ring->eventfd = eventfd_ctx_fdget(eventfd);
		if (IS_ERR(ring->eventfd)) {
			err = PTR_ERR(ring->eventfd);
			goto err_ring;
		}
	}
	spin_lock_init(&ring->lock);
	ring->entries = roundup_pow_of_two(entries);
	ring->bytes = PAGE_ALIGN(sizeof(*ring->shared) +
				 ring->entries * sizeof(struct torcoll_completion));
	ring->user = tor_user_get(user);
	err = alloc_shared(ring);
	if (!err)
		return ring;
	tor_user_put(ring->user);
	if (ring->eventfd)
		eventfd_ctx_put(ring->eventfd);
err_ring:
	kfree(ring);
	return ERR_PTR(err);
}

static void free_rcu_ring(struct rcu_head *rcu)
{
	struct tor_ring *ring = container_of(rcu, struct tor_ring, rcu);

	vfree(ring->shared);
	if (ring->eventfd)
		eventfd_ctx_put(ring->eventfd);
	kfree(ring);
}

void tor_ring_free(struct tor_ring *ring)
{
	tor_user_uncharge(ring->user, TOR_LIMIT_KERNEL, ring->bytes);
	tor_user_put(ring->user);
	call_rcu(&ring->rcu, free_rcu_ring);
}

bool tor_ring_take(struct tor_ring *ring)
{
	bool room;

	spin_lock_bh(&ring->lock);
	room = ring->taken - READ_ONCE(ring->shared->head) < ring->entries;
	ring->taken += room;
	spin_unlock_bh(&ring->lock);
	return room;
}

void tor_ring_give_back(struct tor_ring *ring)
{
	spin_lock_bh(&ring->lock);
	ring->taken--;
	spin_unlock_bh(&ring->lock);
}

void tor_ring_post(struct tor_ring *ring, const struct torcoll_completion *completion)
{
	spin_lock(&ring->lock);
	*entry_at(ring, ring->tail) = *completion;
	/* the entry before the tail: pairs with an acquire of the process */
	smp_store_release(&ring->shared->tail, ++ring->tail);
	spin_unlock(&ring->lock);
	if (ring->eventfd)
		tor_eventfd_signal(ring->eventfd);
}

bool tor_ring_readable(const struct tor_ring *ring)
{
	return READ_ONCE(ring->tail) != READ_ONCE(ring->shared->head);
}

int tor_ring_mmap(struct tor_ring *ring, struct vm_area_struct *vma)
{
	unsigned long at;
	int err = 0;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_end - vma->vm_start != ring->bytes)
		return -EINVAL;
	/* a child's would keep the file, and both would move the head */
	tor_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	for (at = 0; at < ring->bytes && !err; at += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + at,
				     vmalloc_to_page((void *)ring->shared + at));
	return err;
}
