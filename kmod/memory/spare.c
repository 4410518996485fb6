// SPDX-License-Identifier: GPL-2.0
/*
 * Spare temporaries. See spare.h.
 */
#include "memory/spare.h"

#include <linux/workqueue.h>

#include "op/group.h"

#define KEPT	HZ	/* minimum time; the maximum is twice that */

static LIST_HEAD(all);	/* in the order in which they were added */
static DEFINE_SPINLOCK(lock);

/*
 * Pages to be freed, by in_all: an op ends in a softirq, which must not free
 * thousands of pages.
 */
static LIST_HEAD(gone);

/*
 * Users that give up their oldest spares, as many as tor_user.given_up says. They
 * are taken out one at a time: ops that end in softirqs want the lock, too.
 */
static LIST_HEAD(givers);

/* Spares that are taken out before others may have the lock. */
#define PORTION	256

static void free_gone(struct work_struct *work);
static DECLARE_WORK(freeing, free_gone);

static void expire(struct work_struct *work);
static DECLARE_DELAYED_WORK(expiry, expire);

static u64 bytes_of(const struct tor_pages *pages)
{
	return (u64)pages->pages << PAGE_SHIFT;
}

/* Remove pages from the spares. Context: lock. */
static void spare_unlink(struct tor_pages *pages)
{
	struct tor_user *user = pages->user;

	pages->spare_of->bytes -= bytes_of(pages);
	list_del(&pages->in_comm);
	list_del(&pages->in_all);
	list_del(&pages->in_user);
	user->given_up = min(user->given_up, --user->spare);
	if (!user->given_up)
		list_del_init(&user->giving);
}

/* Move pages to @list, to be freed without the lock. */
static void spare_unlink_to(struct tor_pages *pages, struct list_head *list)
{
	spare_unlink(pages);
	list_add(&pages->in_all, list);
}

static void free_list(struct list_head *list)
{
	struct tor_pages *pages, *next;

	list_for_each_entry_safe(pages, next, list, in_all) {
		tor_pages_put(pages);
		cond_resched();
	}
}

/* Return a spare that its user has given up, or NULL. Context: lock. */
static struct tor_pages *take_given(void)
{
	struct tor_user *user = list_first_entry_or_null(&givers, struct tor_user, giving);
	struct tor_pages *pages;

	if (!user)
		return NULL;
	pages = list_first_entry(&user->spares, struct tor_pages, in_user);
	user->given_up--;
	spare_unlink(pages);
	return pages;
}

static struct tor_pages *take_gone(void)
{
	struct tor_pages *pages;

	spin_lock_bh(&lock);
	pages = list_first_entry_or_null(&gone, struct tor_pages, in_all);
	if (pages)
		list_del(&pages->in_all);
	else
		pages = take_given();
	spin_unlock_bh(&lock);
	return pages;
}

static void free_gone(struct work_struct *work)
{
	struct tor_pages *pages;

	while ((pages = take_gone())) {
		tor_pages_put(pages);
		cond_resched();
	}
}

static void free_soon(void)
{
	queue_work(system_unbound_wq, &freeing);
}

static bool fits(const struct tor_pages *pages, u64 length)
{
	return length <= bytes_of(pages) && bytes_of(pages) <= 2 * PAGE_ALIGN(length);
}

struct tor_pages *tor_spare_take(struct tor_group *group, u64 length)
{
	struct tor_pages *pages, *found = NULL;

	spin_lock_bh(&lock);
	list_for_each_entry_reverse(pages, &group->spares.list, in_comm) {
		if (!fits(pages, length))
			continue;
		spare_unlink(pages);
		found = pages;
		break;
	}
	spin_unlock_bh(&lock);
	return found;
}

void tor_spare_put(struct tor_group *group, struct tor_pages *pages)
{
	struct tor_spares *spares = &group->spares;
	bool any;

	spin_lock_bh(&lock);
	if (bytes_of(pages) > TOR_SPARE_MAX || spares->closed) {
		list_add(&pages->in_all, &gone);
	} else {
		pages->spare_of = spares;
		pages->spare_since = jiffies;
		spares->bytes += bytes_of(pages);
		list_add_tail(&pages->in_comm, &spares->list);
		list_add_tail(&pages->in_all, &all);
		list_add_tail(&pages->in_user, &pages->user->spares);
		pages->user->spare++;
	}
	while (spares->bytes > TOR_SPARE_MAX)
		spare_unlink_to(list_first_entry(&spares->list, struct tor_pages, in_comm), &gone);
	any = !list_empty(&gone);
	spin_unlock_bh(&lock);
	if (any)
		free_soon();
	schedule_delayed_work(&expiry, KEPT);
}

void tor_spare_close(struct tor_group *group)
{
	struct list_head *spares = &group->spares.list;
	u32 n;

	do {
		LIST_HEAD(old);

		spin_lock_bh(&lock);
		group->spares.closed = true;
		for (n = 0; n < PORTION && !list_empty(spares); n++)
			spare_unlink_to(list_first_entry(spares, struct tor_pages, in_comm), &old);
		spin_unlock_bh(&lock);
		free_list(&old);
	} while (n == PORTION);
	/* for its ops too */
	flush_work(&freeing);
}

void tor_spare_give_up(struct tor_user *user)
{
	spin_lock_bh(&lock);
	user->given_up = user->spare;
	if (user->given_up && list_empty(&user->giving))
		list_add_tail(&user->giving, &givers);
	spin_unlock_bh(&lock);
	free_soon();
}

void tor_spare_reclaim(struct tor_user *user)
{
	tor_spare_give_up(user);
	flush_work(&freeing);
}

/* Take out up to PORTION spares that are old. Return how many. Context: lock. */
static u32 take_old(struct list_head *old)
{
	struct tor_pages *pages, *next;
	u32 n = 0;

	list_for_each_entry_safe(pages, next, &all, in_all) {
		if (n == PORTION || time_before(jiffies, pages->spare_since + KEPT))
			break;
		spare_unlink_to(pages, old);
		n++;
	}
	return n;
}

static void expire(struct work_struct *work)
{
	bool left;
	u32 n;

	do {
		LIST_HEAD(old);

		spin_lock_bh(&lock);
		n = take_old(&old);
		left = !list_empty(&all);
		spin_unlock_bh(&lock);
		free_list(&old);
	} while (n == PORTION);
	if (left)
		schedule_delayed_work(&expiry, KEPT);
}

void tor_spare_exit(void)
{
	/* groups are gone, and their spares with them */
	cancel_delayed_work_sync(&expiry);
	flush_work(&freeing);
}
