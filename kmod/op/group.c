// SPDX-License-Identifier: GPL-2.0
/*
 * Groups. See group.h.
 */
#include "op/group.h"

#include <linux/log2.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "cdev/session.h"
#include "memory/buffers.h"
#include "netlink/netlink.h"
#include "op/endpoint.h"
#include "op/epochs.h"
#include "op/series.h"
#include "op/slot.h"
#include "op/tables.h"

/*
 * Work after failures and closing; flushed before a fabric or the module goes.
 * The end of a group takes grace periods, for hundreds of groups at a time, and
 * that of a fabric takes one: work that continues ops must not wait behind it.
 */
static struct workqueue_struct *works, *endings, *releases;

bool tor_env_keep(struct tor_comm *comm, u32 bytes)
{
	return tor_user_charge_now(tor_group_of(comm)->user, bytes);
}

void tor_env_unkeep(struct tor_comm *comm, u32 bytes)
{
	tor_user_uncharge(tor_group_of(comm)->user, TOR_LIMIT_KERNEL, bytes);
}

struct tor_group *tor_group_find(struct tor_fabric *fabric, u32 tag)
{
	struct tor_group *group;

	hash_for_each_possible_rcu(fabric->group, group, hash, tag)
		if (group->comm.tag == tag)
			return group;
	return NULL;
}

/* --- failure --- */

void tor_env_comm_told(struct tor_comm *comm)
{
	if (!atomic_read(&comm->claimed))
		set_bit(TOR_GROUP_TOLD, &tor_group_of(comm)->flags);
}

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq)
{
	struct tor_group *group = tor_group_of(comm);
	struct tor_series *series;

	if (role)
		group = group->kind->of_rank(group, rank);
	series = tor_series_find(group, tor_series_id(role, peer));
	return series ? &tor_series_slot(series, seq)->op : NULL;
}

void tor_env_comm_explained(struct tor_comm *comm)
{
	wake_up_all(&tor_group_of(comm)->wait);
}

/* With the work's own reference. Context: RCU, or a reference. */
static void queue_fail_work(struct tor_group *group)
{
	refcount_inc(&group->refs);
	/*
	 * Refused if it is queued, and while the group is being taken apart, by who
	 * has another reference, and has aborted all ops.
	 */
	if (!queue_delayed_work(works, &group->fail_work, 0))
		refcount_dec(&group->refs);
}

void tor_env_comm_failed(struct tor_ctx *ctx, struct tor_comm *comm)
{
	struct tor_group *group = tor_group_of(comm);

	/* others may see the failure before this, and then 0 */
	WRITE_ONCE(group->failed_at, jiffies | 1);
	queue_fail_work(group);
}

void tor_group_tell_again(struct tor_group *group)
{
	/* before its first run the work is queued, or soon will be */
	if (tor_comm_failed(&group->comm) && READ_ONCE(group->fail_rounds) < TOR_TELLINGS_MOST &&
	    !test_bit(TOR_GROUP_TOLD, &group->flags))
		queue_fail_work(group);
}

static void tell_everyone(struct tor_group *group)
{
	struct tor_entry entry;
	u32 i;

	for (i = 0; i < group->comm.ranks; i++) {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		tor_comm_send_abort(&entry.ctx, &group->comm,
				    tor_comm_to_tell(&group->comm, group->fail_rounds, i));
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	}
}

/*
 * The first run ends the local ops. It and up to TOR_TELLINGS - 1 more tell the
 * other ranks, unless one of them has told this one. So do those after links went
 * down.
 */
static void fail_work(struct work_struct *work)
{
	struct tor_group *group = container_of(to_delayed_work(work), struct tor_group, fail_work);

	if (!group->fail_rounds) {
		tor_lanes_abort(group);
		group->kind->failed(group);
		tor_group_wake(group);
		rcu_read_lock();
		tor_session_wake(READ_ONCE(group->session), EPOLLOUT | EPOLLWRNORM);
		rcu_read_unlock();
		/* pairs with publish_group(): it sees the failure, or this sees ANNOUNCED */
		smp_mb();
		if (test_bit(TOR_GROUP_ANNOUNCED, &group->flags) &&
		    !test_bit(TOR_GROUP_ENDED, &group->flags))
			tor_netlink_notify_comm(group, false);
	}
	if (test_bit(TOR_GROUP_HASHED, &group->flags) && !test_bit(TOR_GROUP_TOLD, &group->flags)) {
		tell_everyone(group);
		/* refused while the group is being taken apart */
		WRITE_ONCE(group->fail_rounds, group->fail_rounds + 1);
		if (group->fail_rounds < TOR_TELLINGS &&
		    queue_delayed_work(works, &group->fail_work, nsecs_to_jiffies(TOR_TELL_AGAIN)))
			return;
	}
	tor_group_put(group);
}

static void fail(struct tor_group *group, int error)
{
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail(&entry.ctx, &group->comm, error, group->comm.rank, 0);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

void tor_group_abort(struct tor_group *group, int error)
{
	fail(group, error);
	/* whatever the cause, the first round of the work ends all ops */
	wait_event(group->wait, !tor_group_busy(group));
}

/* --- the end --- */

/*
 * Return the memory of lists of members, and of what an agreement notes of each.
 */
static u64 memory_of_lists(const struct tor_group *group)
{
	const struct tor_join *join = &group->join;
	u64 bytes = group->member ? sizeof(*group->member) + sizeof(*group->order) : 0;

	if (group->shrink.of)
		bytes += sizeof(*group->shrink.of);
	else if (!group->comm.rank)
		bytes += sizeof(*join->seen) + sizeof(*join->seen_nonce);
	return group->room * bytes;
}

/* Return the memory without the chooser and varying parts. */
static u64 memory_of_ranks(const struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;
	u64 bytes = sizeof(*group) + tor_series_memory(comm, comm->channels) +
		    BITS_TO_LONGS(comm->ranks) * sizeof(long) +
		    (u64)comm->depth * comm->channels * tor_chan_script_bytes();

	/* epochs and paths are in the group on the wire */
	if (!group->kind->on_wire)
		return bytes;
	return bytes + tor_epochs_bytes(comm->ranks) +
	       tor_comm_away_words(comm->ranks) * sizeof(*comm->away) +
	       memory_of_lists(group) + tor_path_groups(comm->ranks) * sizeof(*comm->path);
}

/* Return the memory of paths to all ranks. */
static u64 memory_of_paths(const struct tor_group *group)
{
	return group->kind->on_wire ? (u64)tor_path_groups(group->room) * TOR_PATH_GROUP *
				      sizeof(struct tor_path) : 0;
}

/* Return the memory of its epochs that other groups account for. */
static u64 memory_shared(const struct tor_group *group)
{
	const struct tor_epochs *epochs;
	u64 bytes;

	rcu_read_lock();
	epochs = READ_ONCE(group->epochs);
	bytes = epochs ? tor_epochs_saved(epochs) : 0;
	rcu_read_unlock();
	return bytes;
}

u64 tor_group_memory(const struct tor_group *group)
{
	u64 made = (u64)atomic_read(&group->comm.path_groups) * TOR_PATH_GROUP * sizeof(struct tor_path);

	return atomic64_read(&group->charged) - memory_of_paths(group) + made - memory_shared(group) +
	       atomic_read(&group->comm.kept) + READ_ONCE(group->spares.bytes) +
	       (u64)atomic_read(&group->scratches) * TOR_SCRATCH;
}

int tor_group_charge(struct tor_group *group, u64 bytes, const char **why)
{
	int err = tor_user_charge(group->user, TOR_LIMIT_KERNEL, bytes);

	if (err)
		*why = tor_limit_sentence(TOR_LIMIT_KERNEL);
	else
		atomic64_add(bytes, &group->charged);
	return err;
}

void tor_group_uncharge(struct tor_group *group, u64 bytes)
{
	tor_user_uncharge(group->user, TOR_LIMIT_KERNEL, bytes);
	atomic64_sub(bytes, &group->charged);
}

/* Stop counting the group as one of the user's comms. */
static void group_uncount(struct tor_group *group)
{
	if (test_and_clear_bit(TOR_GROUP_COUNTED, &group->flags))
		tor_user_uncharge(group->user, TOR_LIMIT_COMMS, 1);
}

static void group_free(struct tor_group *group)
{
	/* of ops that a call began just as the comm failed */
	tor_slot_release_all(group);
	tor_series_free_pairs(group);
	tor_series_free(&group->calls);
	tor_spare_close(group);
	kvfree(group->refused);
	tor_tables_free(group);
	kvfree(group->member);
	kvfree(group->order);
	if (group->epochs)
		tor_epochs_put(group->fabric, group->epochs);
	kvfree(group->comm.away);
	tor_comm_paths_free(&group->comm);
	kvfree(group->comm.path);
	kvfree(group->join.seen);
	kvfree(group->join.seen_nonce);
	kvfree(group->shrink.of);
	group->kind->release(group);
	group_uncount(group);
	tor_user_uncharge(group->user, TOR_LIMIT_KERNEL, atomic64_read(&group->charged));
	tor_user_put(group->user);
	tor_fabric_put(group->fabric);
	kfree(group);
}

void tor_group_put(struct tor_group *group)
{
	if (refcount_dec_and_test(&group->refs))
		group_free(group);
}

/*
 * Unlink the group, to take it apart. These contexts may still use it, and are
 * waited for as follows:
 * - frames and dumps that found it in the table: unhashed, then a grace period;
 *   a group that is not on the wire is found by one that is, which is taken
 *   apart before;
 * - timers of lanes and of the group: DEAD keeps new ones from starting, then
 *   they are cancelled. Who starts the group's may have read DEAD before it was
 *   set, but is in RCU;
 * - the works: cancelled, except this one; kind->stop() waits for others;
 * - calls of the process: they hold references.
 *
 * Return: false if that has already begun. If true, group_stop() is due, a
 * grace period later.
 */
static bool group_unlink(struct tor_group *group)
{
	struct tor_fabric *fabric = group->fabric;

	if (test_and_set_bit(TOR_GROUP_ENDED, &group->flags))
		return false;
	if (test_and_clear_bit(TOR_GROUP_HASHED, &group->flags)) {
		spin_lock_bh(&fabric->groups_lock);
		hash_del_rcu(&group->hash);
		spin_unlock_bh(&fabric->groups_lock);
		tor_fabric_touch(fabric);
	}
	set_bit(TOR_GROUP_DEAD, &group->flags);
	tor_series_settle(group);
	if (test_bit(TOR_GROUP_ANNOUNCED, &group->flags))
		tor_netlink_notify_comm(group, true);
	tor_lanes_abort(group);
	return true;
}

static void group_stop(struct tor_group *group)
{
	if (cancel_delayed_work_sync(&group->fail_work))
		tor_group_put(group);
	tor_lanes_stop(group);
	group->kind->stop(group);
}

void tor_group_end(struct tor_group *group)
{
	if (group_unlink(group)) {
		if (group->kind->on_wire)
			synchronize_rcu();
		group_stop(group);
	}
	tor_group_put(group);
}

/*
 * Return how long a closed group answers: longer where its round trips are long,
 * since peers repeat what they got no answer to only after such a time.
 */
static unsigned long linger(const struct tor_group *group)
{
	u64 slowest = min_t(u64, tor_comm_slowest(&group->comm), TOR_RTT_MAX / NSEC_PER_USEC);

	return max_t(unsigned long, TOR_LINGER, usecs_to_jiffies(3 * slowest));
}

static void linger_work(struct work_struct *work)
{
	struct tor_group *group = container_of(to_delayed_work(work), struct tor_group,
					       linger_work);

	/* a join that was given up is still telling other ranks */
	wait_event(group->wait, test_bit_acquire(TOR_GROUP_JOINED, &group->flags));
	/* refused while tor_group_end_all() waits for this */
	if (group->kind->is_needed(group) &&
	    queue_delayed_work(endings, &group->linger_work, linger(group)))
		return;
	tor_group_end(group);
}

void tor_group_linger(struct tor_group *group)
{
	/* the caller's passes to the work, which may be done with it at once */
	refcount_inc(&group->refs);
	queue_delayed_work(endings, &group->linger_work, linger(group));
	set_bit(TOR_GROUP_LINGERS, &group->flags);
	tor_group_put(group);
}

void tor_group_end_later(struct tor_group *group)
{
	queue_delayed_work(endings, &group->linger_work, 0);
}

/* --- the beginning --- */

int tor_group_count(struct tor_group *group, const char **why)
{
	int err = tor_user_charge(group->user, TOR_LIMIT_COMMS, 1);

	if (err)
		*why = tor_limit_sentence(TOR_LIMIT_COMMS);
	else
		set_bit(TOR_GROUP_COUNTED, &group->flags);
	return err;
}

struct tor_group *tor_group_new(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				struct tor_user *user, const char *name, u32 depth)
{
	struct tor_group *group;
	struct tor_comm *comm;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->kind = kind;
	group->user = tor_user_get(user);
	comm = &group->comm;
	tor_fabric_get(fabric);
	group->fabric = fabric;
	comm->node = &fabric->node;
	comm->error_rank = TOR_NO_RANK;
	comm->depth = roundup_pow_of_two(depth ? depth : TOR_DEPTH_DEFAULT);
	comm->channels = tor_plan_most_channels(&fabric->node.torus);
	refcount_set(&group->refs, 1);
	strscpy(group->name, name, sizeof(group->name));
	init_waitqueue_head(&group->wait);
	init_waitqueue_head(&group->submitters);
	spin_lock_init(&group->results);
	mutex_init(&group->pairs_lock);
	INIT_LIST_HEAD(&group->series);
	INIT_LIST_HEAD(&group->tables);
	INIT_LIST_HEAD(&group->pending);
	xa_init(&group->pairs);
	tor_spares_init(&group->spares);
	tor_pay_timer_init(group);
	INIT_DELAYED_WORK(&group->fail_work, fail_work);
	INIT_DELAYED_WORK(&group->linger_work, linger_work);
	return group;
}

static int alloc_ranks(struct tor_group *group)
{
	struct tor_comm *comm = &group->comm;

	group->epochs = tor_epochs_alloc(comm->ranks);
	if (!group->epochs)
		return -ENOMEM;
	comm->epoch = group->epochs->epoch;
	comm->away = kvcalloc(tor_comm_away_words(comm->ranks), sizeof(*comm->away),
			      GFP_KERNEL_ACCOUNT);
	comm->path = kvcalloc(tor_path_groups(comm->ranks), sizeof(*comm->path),
			      GFP_KERNEL_ACCOUNT);
	return comm->away && comm->path ? 0 : -ENOMEM;
}

void tor_group_share_epochs(struct tor_group *group)
{
	struct tor_epochs *own = group->epochs, *shared;

	group->join.a.epoch = NULL;
	group->shrink.a.epoch = NULL;
	shared = tor_epochs_share(group->fabric, own, group->comm.ranks);
	if (shared == own)
		return;
	/* only its number of references is read by others */
	WRITE_ONCE(group->epochs, shared);
	/* its contents before it: readers go by the pointer, under RCU */
	smp_store_release(&group->comm.epoch, shared->epoch);
	/* an heir had room for all ranks before */
	tor_group_uncharge(group, tor_epochs_bytes(own->ranks) - tor_epochs_bytes(shared->ranks));
	tor_epochs_put(group->fabric, own);
}

int tor_group_alloc(struct tor_group *group, const char **why)
{
	int err;

	/* paths, too, that may never be made: in a softirq nothing can be refused */
	err = tor_group_charge(group, memory_of_ranks(group) + memory_of_paths(group), why);
	if (err)
		return err;
	group->refused = kvcalloc(BITS_TO_LONGS(group->comm.ranks), sizeof(long),
				  GFP_KERNEL_ACCOUNT);
	if (!group->refused)
		return -ENOMEM;
	if (group->kind->on_wire)
		err = alloc_ranks(group);
	if (!err)
		err = tor_series_init(&group->calls, group, 0, TOR_NO_RANK);
	if (err)
		return err;
	list_add_rcu(&group->calls.list, &group->series);
	return 0;
}

void tor_group_close(struct tor_group *group)
{
	struct tor_fabric *fabric = group->fabric;

	/* after what may be the last reference of the group */
	tor_fabric_get(fabric);
	set_bit(TOR_GROUP_CLOSED, &group->flags);
	/*
	 * pairs with tor_op_mark(): it sees CLOSED, or this sees that it runs
	 */
	smp_mb__after_atomic();
	tor_group_wake(group);
	if (tor_group_busy(group))
		tor_group_abort(group, -ECONNABORTED);
	tor_slot_release_all(group);
	tor_spare_close(group);
	WRITE_ONCE(group->session, NULL);
	group_uncount(group);
	group->kind->left(group);
	/* from here on the fabric may go, which ends the group */
	atomic_dec(&fabric->users);
	tor_fabric_put(fabric);
}

/*
 * Collect the groups of the table that only linger, or all others, with a
 * reference each.
 */
static void group_collect(struct tor_fabric *fabric, bool lingering, struct list_head *list)
{
	struct tor_group *group;
	u32 bucket;

	spin_lock_bh(&fabric->groups_lock);
	hash_for_each(fabric->group, bucket, group, hash) {
		if (test_bit(TOR_GROUP_LINGERS, &group->flags) != lingering ||
		    test_bit(TOR_GROUP_ENDED, &group->flags))
			continue;
		refcount_inc(&group->refs);
		list_add_tail(&group->ending, list);
	}
	spin_unlock_bh(&fabric->groups_lock);
}

void tor_group_fail_all(struct tor_fabric *fabric, int error)
{
	struct tor_group *group, *next;
	LIST_HEAD(failing);

	group_collect(fabric, false, &failing);
	list_for_each_entry(group, &failing, ending) {
		fail(group, error);
		cond_resched();
	}
	list_for_each_entry_safe(group, next, &failing, ending) {
		flush_delayed_work(&group->fail_work);
		tor_group_put(group);
	}
}

void tor_group_end_all(struct tor_fabric *fabric)
{
	struct tor_group *group, *next;
	LIST_HEAD(ending);

	group_collect(fabric, true, &ending);
	list_for_each_entry_safe(group, next, &ending, ending) {
		/*
		 * unless the work is running, its reference passes to this
		 * function
		 */
		if (cancel_delayed_work_sync(&group->linger_work))
			tor_group_put(group);
		if (group_unlink(group))
			continue;
		list_del(&group->ending);
		tor_group_put(group);
	}
	if (list_empty(&ending))
		return;
	/* one for all of them */
	synchronize_rcu();
	list_for_each_entry_safe(group, next, &ending, ending) {
		group_stop(group);
		tor_group_put(group);
		cond_resched();
	}
}

void tor_group_queue(struct work_struct *work)
{
	queue_work(works, work);
}

void tor_group_queue_ending(struct work_struct *work)
{
	queue_work(endings, work);
}

void tor_group_queue_at(struct delayed_work *work, u64 when)
{
	u64 now = ktime_get_ns();

	mod_delayed_work(works, work, when > now ? nsecs_to_jiffies(when - now) + 1 : 0);
}

void tor_group_queue_release(struct work_struct *work)
{
	queue_work(releases, work);
}

int tor_group_init(void)
{
	works = alloc_workqueue("torcoll", WQ_UNBOUND, 0);
	if (!works)
		return -ENOMEM;
	endings = alloc_workqueue("torcoll_endings", WQ_UNBOUND, 0);
	if (!endings)
		goto err_works;
	releases = alloc_workqueue("torcoll_releases", WQ_UNBOUND, 0);
	if (!releases)
		goto err_endings;
	return 0;
err_endings:
	destroy_workqueue(endings);
err_works:
	destroy_workqueue(works);
	return -ENOMEM;
}

void tor_group_exit(void)
{
	/*
	 * the last reference of a fabric goes in one of these, which queues its
	 * release
	 */
	destroy_workqueue(endings);
	destroy_workqueue(works);
	destroy_workqueue(releases);
}
