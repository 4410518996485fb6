// SPDX-License-Identifier: GPL-2.0
/*
 * Groups. See group.h.
 */
#include "group.h"

#include <linux/log2.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "buffers.h"
#include "netlink.h"
#include "op.h"
#include "port.h"
#include "reroute.h"
#include "ring.h"
#include "series.h"
#include "session.h"
#include "tables.h"
#include "team.h"
#include "trace.h"

/* Failures and farewells; flushed before a fabric or the module goes. */
static struct workqueue_struct *works;

/* --- lanes: from core to timers and back --- */

static struct tor_lane *lane_of(struct tor_chan *chan)
{
	return container_of(chan, struct tor_lane, chan);
}

void tor_env_chan_timer(struct tor_chan *chan, u64 when)
{
	struct tor_lane *lane = lane_of(chan);

	lockdep_assert_held(&lane->lock);
	if (test_bit(TOR_GROUP_DEAD, &lane->slot->group->flags))
		return;
	/* one that is not wanted any more finds nothing to do */
	if (when)
		hrtimer_start(&lane->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart lane_timer(struct hrtimer *timer)
{
	struct tor_lane *lane = container_of(timer, struct tor_lane, timer);
	struct tor_entry entry;

	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&lane->lock);
	tor_chan_timer(&entry.ctx, &lane->chan);
	spin_unlock(&lane->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* The result goes into the ring; where no process is needed for anything else, that is all. */
static void post(struct tor_slot *slot)
{
	struct tor_group *group = slot->group;
	/* of a failure, the sentence is fetched as well */
	bool need_process = slot->status || tor_buffers_need_process(slot);
	struct torcoll_completion completion = {
		.op = tor_op_handle(slot),
		.user_data = slot->user_data,
		.comm = group->handle,
		.status = slot->status,
		.error_rank = slot->error_rank,
		.flags = need_process ? TORCOLL_COMPLETION_REAP : 0,
	};
	struct tor_session *session = READ_ONCE(group->session);

	if (!need_process)
		tor_buffers_put(slot);
	/* not if the comm was closed just as the op began: then nobody looks for it */
	if (session)
		tor_ring_post(session->ring, &completion);
	/* whoever waits in another way looks into the ring if there is no such op */
	smp_mb__before_atomic();
	if (!need_process)
		clear_bit(TOR_SLOT_UNREAPED, &slot->flags);
	clear_bit(TOR_SLOT_RING, &slot->flags);
}

bool tor_env_keep(struct tor_comm *comm, u32 bytes)
{
	return !tor_user_charge(tor_group_of(comm)->user, TOR_LIMIT_KERNEL, bytes);
}

void tor_env_unkeep(struct tor_comm *comm, u32 bytes)
{
	tor_user_uncharge(tor_group_of(comm)->user, TOR_LIMIT_KERNEL, bytes);
}

void tor_slot_done(struct tor_slot *slot, int status, u32 error_rank)
{
	struct tor_group *group = slot->group;

	slot->status = status;
	slot->error_rank = error_rank;
	atomic64_inc(&group->ops);
	if (test_bit(TOR_SLOT_RING, &slot->flags))
		post(slot);
	/* status before BUSY: tor_op_reap() reads them the other way round */
	smp_mb__before_atomic();
	clear_bit(TOR_SLOT_BUSY, &slot->flags);
	wake_up_all(&group->wait);
	tor_session_wake(READ_ONCE(group->session), EPOLLIN | EPOLLRDNORM);
}

void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *op)
{
	struct tor_slot *slot = container_of(op, struct tor_slot, op);
	struct tor_group *group = slot->group;
	struct tor_comm *comm = &group->comm;
	int status = op->aborted ? READ_ONCE(comm->error) : 0;

	tor_env_count(comm->node, op->aborted ? TOR_C_OPS_FAILED : TOR_C_OPS, 1);
	if (!op->aborted)
		tor_observe(&group->fabric->observed, op->collective,
			    op->plan.req.algorithm, op->plan.req.count * op->elem,
			    /* this entry may have begun before the op */
			    ctx->now > slot->submitted ? ctx->now - slot->submitted : 0);
	trace_torcoll_op_done(op, op->plan.req.count * op->elem, status);
	if (tor_team_is_of_nodes(group))
		tor_team_op_done(slot, status);
	else
		tor_slot_done(slot, status, op->aborted ? comm->error_rank : TOR_NO_RANK);
}

void tor_env_op_retired(struct tor_ctx *ctx, struct tor_op *op)
{
	struct tor_entry *entry = container_of(ctx, struct tor_entry, ctx);
	struct tor_slot *slot = container_of(op, struct tor_slot, op);

	slot->next_retired = entry->retired;
	entry->retired = slot;
}

void tor_slots_recycle(struct tor_entry *entry)
{
	struct tor_slot *slot = entry->retired;
	u32 i;

	entry->retired = slot->next_retired;
	for (i = 0; i < slot->series->channels; i++) {
		struct tor_lane *lane = &slot->lane[i];

		spin_lock(&lane->lock);
		tor_chan_recycle(&entry->ctx, &lane->chan, slot->op.seq + slot->group->comm.depth);
		spin_unlock(&lane->lock);
	}
	/* the lanes serve the next number before a submitter sees the slot free */
	smp_mb__before_atomic();
	clear_bit(TOR_SLOT_OPEN, &slot->flags);
	if (tor_team_is_of_nodes(slot->group))
		tor_team_op_retired(slot);
	else
		wake_up_all(&slot->group->wait);
}

/* --- frames --- */

struct tor_group *tor_group_find(struct tor_fabric *fabric, u32 tag)
{
	struct tor_group *group;

	hash_for_each_possible_rcu(fabric->group, group, hash, tag)
		if (group->comm.tag == tag)
			return group;
	return NULL;
}

/* The group that a frame is for, if its sender belongs to it. */
static struct tor_group *admit(struct tor_port *port, const struct tor_hdr *h, u32 tag, u32 *rank)
{
	struct tor_group *group = tor_group_find(port->fabric, tag);
	enum tor_counter why = TOR_C_DROP_COMM;

	if (group && tor_comm_admit(&group->comm, h, rank, &why))
		return group;
	tor_port_drop(port, why);
	return NULL;
}

/*
 * The process of a comm has left, and what lingered behind it is gone: whoever is still at an op would wait for
 * ever. While a comm is being created, all know it before any sends.
 */
static void refuse(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h, u32 tag)
{
	if (!tor_group_find(port->fabric, tag))
		tor_comm_refuse(&entry->ctx, &port->fabric->node, h, tag);
}

/* The series that @channel stands for in a frame between us and @rank; @own: in one of ours. NULL: there is none. */
static struct tor_series *find_series(struct tor_group *group, u32 rank, u32 channel, bool own)
{
	if (!tor_channel_is_role(channel))
		return channel < group->comm.channels ? &group->calls : NULL;
	return tor_series_find(group, tor_series_id(own ? channel : tor_role_opposite(channel), rank));
}

/*
 * A frame of a message among ranks that share nodes: make of the nodes' @group and of the other node's @rank those of the two
 * that it is about. False: there are none such.
 */
static bool find_ranks(struct tor_group **group, u32 *rank, u32 channel, u32 round, bool own)
{
	if (!(*group)->team || !tor_channel_is_role(channel))
		return true;
	*group = tor_team_whose((*group)->team, rank, round,
				    own == (channel == TORCOLL_CHANNEL_SEND));
	return *group;
}

static struct tor_lane *find_lane(const struct tor_series *series, u32 op, u32 channel)
{
	return &tor_series_slot(series, op)->lane[series->role ? 0 : channel];
}

/* Someone is at a message that no process here will ever send or receive. */
static void tell_that_left(struct tor_entry *entry, struct tor_group *group, u32 op)
{
	if (test_bit(TOR_GROUP_CLOSED, &group->flags))
		tor_comm_fail(&entry->ctx, &group->comm, -ECONNABORTED, group->comm.rank, op);
}

/* Someone is at an op that will never be called here: our process has left, or one of them. */
static void tell_if_left(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op)
{
	if (tor_team_is_of_nodes(group))
		tor_team_tell_if_left(entry, group->team, op);
	else if (test_bit(TOR_GROUP_CLOSED, &group->flags) && lane->chan.state == TOR_CHAN_IDLE &&
	    (s32)(op - lane->chan.seq) >= 0)
		tor_comm_fail(&entry->ctx, &group->comm, -ECONNABORTED, group->comm.rank, op);
}

void tor_group_data(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const struct tor_bytes *payload, u32 pieces)
{
	struct tor_series *series;
	struct tor_group *group;
	struct tor_lane *lane;
	u32 rank;

	group = admit(port, h, h->comm, &rank);
	if (!group) {
		refuse(entry, port, h, h->comm);
		return;
	}
	if (tor_comm_failed(&group->comm)) {
		/* whoever still sends has not heard */
		tor_comm_send_abort(&entry->ctx, &group->comm, rank);
		return;
	}
	if (!find_ranks(&group, &rank, h->channel, h->round, false)) {
		tor_port_drop(port, TOR_C_DROP_RANGE);
		return;
	}
	series = find_series(group, rank, h->channel, false);
	if (!series && h->channel == TORCOLL_CHANNEL_SEND)
		series = tor_series_missing(group, rank);
	if (!series && h->channel == TORCOLL_CHANNEL_SEND) {
		tell_that_left(entry, group, h->op);
		tor_pair_refuse(&entry->ctx, &group->comm, rank, h);
		return;
	}
	/* who receives a message sends nothing of it */
	if (!series || h->channel == TORCOLL_CHANNEL_RECV) {
		tor_port_drop(port, TOR_C_DROP_RANGE);
		return;
	}
	lane = find_lane(series, h->op, h->channel);
	spin_lock(&lane->lock);
	tell_if_left(entry, group, lane, h->op);
	tor_chan_data(&entry->ctx, &lane->chan, rank, h, payload, pieces);
	spin_unlock(&lane->lock);
}

static void take_ack(struct tor_entry *entry, struct tor_group *group, u32 rank,
		     const struct tor_ack *ack)
{
	struct tor_series *series;
	struct tor_lane *lane;

	if (!find_ranks(&group, &rank, ack->channel, ack->round, false))
		return;
	series = find_series(group, rank, ack->channel, false);
	if (!series) {
		if (!tor_channel_is_role(ack->channel))
			return;
		if (ack->digest)
			tell_that_left(entry, group, ack->op);
		tor_pair_absent(&entry->ctx, &group->comm, rank, ack);
		return;
	}
	lane = find_lane(series, ack->op, ack->channel);
	spin_lock(&lane->lock);
	/* messages are invited that perhaps nobody wants to send: see tor_pair_invite() */
	if (!series->role || ack->digest)
		tell_if_left(entry, group, lane, ack->op);
	tor_chan_ack(&entry->ctx, &lane->chan, rank, ack);
	spin_unlock(&lane->lock);
}

void tor_group_acks(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const void *frame)
{
	struct tor_group *group;
	struct tor_ack ack;
	bool refused = false;
	u32 rank, i;

	for (i = 0; i < h->acks; i++) {
		tor_wire_ack(frame, i, &ack);
		group = admit(port, h, ack.comm, &rank);
		/* whoever has got everything waits for nothing; one answer to a frame is enough */
		if (!group && !refused && ack.state != TORCOLL_ACK_DONE) {
			refuse(entry, port, h, ack.comm);
			refused = true;
		}
		if (group)
			take_ack(entry, group, rank, &ack);
	}
}

void tor_group_abort_rx(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
			const void *p)
{
	struct tor_group *group;
	u32 rank;

	group = admit(port, h, h->comm, &rank);
	if (!group)
		return;
	tor_comm_abort_rx(&entry->ctx, &group->comm, rank, p, h->length);
}

void tor_group_dropped(struct tor_entry *entry, struct tor_fabric *fabric,
		       const struct tor_hdr *h)
{
	struct tor_group *group = tor_group_find(fabric, h->comm);
	u32 rank = group ? tor_comm_rank(&group->comm, h->dst) : TOR_NO_RANK;
	struct tor_series *series;
	struct tor_lane *lane;

	if (rank == TOR_NO_RANK || !find_ranks(&group, &rank, h->channel, h->round, true))
		return;
	series = find_series(group, rank, h->channel, true);
	if (!series)
		return;
	lane = find_lane(series, h->op, h->channel);
	spin_lock(&lane->lock);
	tor_chan_dropped(&entry->ctx, &lane->chan, rank, h);
	spin_unlock(&lane->lock);
}

static void rerouted(struct tor_entry *entry, struct tor_group *group)
{
	struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series) {
		for (i = 0; i < tor_series_lanes(series); i++) {
			struct tor_lane *lane = &series->lanes[i];

			spin_lock(&lane->lock);
			tor_chan_rerouted(&entry->ctx, &lane->chan);
			spin_unlock(&lane->lock);
		}
	}
}

void tor_group_rerouted(struct tor_entry *entry, struct tor_group *group)
{
	u32 seat;

	rerouted(entry, group);
	for (seat = 0; group->team && seat < group->team->seats; seat++)
		rerouted(entry, group->team->seat[seat]);
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

	if (role && group->team)
		group = group->team->seat[tor_team_seat(&group->team->map, rank)];
	series = tor_series_find(group, tor_series_id(role, peer));
	return series ? &tor_series_slot(series, seq)->op : NULL;
}

void tor_env_comm_explained(struct tor_comm *comm)
{
	wake_up_all(&tor_group_of(comm)->wait);
}

void tor_env_comm_failed(struct tor_ctx *ctx, struct tor_comm *comm)
{
	struct tor_group *group = tor_group_of(comm);

	/* others may see the failure before this, and then 0 */
	WRITE_ONCE(group->failed_at, jiffies | 1);
	/* fails once; the work's own reference */
	refcount_inc(&group->refs);
	queue_delayed_work(works, &group->fail_work, 0);
}

static void abort_lanes_of(struct tor_series *series)
{
	struct tor_entry entry;
	u32 i;

	for (i = 0; i < tor_series_lanes(series); i++) {
		struct tor_lane *lane = &series->lanes[i];

		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		spin_lock(&lane->lock);
		tor_chan_abort(&entry.ctx, &lane->chan);
		spin_unlock(&lane->lock);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
}

static void abort_lanes(struct tor_group *group)
{
	struct tor_series *series;

	tor_group_each_series(group, series)
		abort_lanes_of(series);
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
				    tor_comm_told(&group->comm, group->fail_rounds, i));
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
}

/* Runs TOR_TELLINGS times: the first ends our ops, all of them tell the others. */
static void fail_work(struct work_struct *work)
{
	struct tor_group *group = container_of(to_delayed_work(work), struct tor_group, fail_work);

	if (!group->fail_rounds) {
		abort_lanes(group);
		if (group->team)
			tor_team_failed(group);
		wake_up_all(&group->wait);
		rcu_read_lock();
		tor_session_wake(READ_ONCE(group->session), EPOLLERR);
		rcu_read_unlock();
		if (!tor_team_has_seat(group))
			tor_netlink_notify_comm(group, false);
	}
	if (test_bit(TOR_GROUP_HASHED, &group->flags) && !test_bit(TOR_GROUP_TOLD, &group->flags)) {
		tell_everyone(group);
		/* refused when the group is being taken apart */
		if (++group->fail_rounds < TOR_TELLINGS &&
		    queue_delayed_work(works, &group->fail_work, nsecs_to_jiffies(TOR_TELL_AGAIN)))
			return;
	}
	tor_group_put(group);
}

void tor_group_abort(struct tor_group *group, int error)
{
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail(&entry.ctx, &group->comm, error, group->comm.rank, 0);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	/* whoever failed it, the first round of the work ends all ops */
	wait_event(group->wait, !tor_group_busy(group));
}

/* --- the end --- */

/* Without its chooser, and what comes and goes. */
static u64 memory_of_ranks(const struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;
	u64 bytes = sizeof(*group) + tor_series_memory(comm, comm->channels) +
		    BITS_TO_LONGS(comm->ranks) * sizeof(long);

	/* of a team's ranks their nodes' comm has the rest */
	if (tor_team_has_seat(group))
		return bytes;
	return bytes + (u64)comm->ranks *
		       (sizeof(*comm->path) + sizeof(*comm->epoch) + sizeof(*comm->seen));
}

/* Of those for messages, and scratch memory of all. */
static u64 memory_of_series(const struct tor_group *group)
{
	const struct tor_series *series;
	u64 bytes = 0;
	u32 i;

	tor_group_each_series(group, series) {
		if (series->role)
			bytes += sizeof(*series) + tor_series_memory(&group->comm, series->channels);
		for (i = 0; i < group->comm.depth; i++)
			if (READ_ONCE(series->slot[i].scratch))
				bytes += TOR_SCRATCH;
	}
	return bytes;
}

u64 tor_group_memory(const struct tor_group *group)
{
	return memory_of_ranks(group) + memory_of_series(group) + tor_tables_memory(group) +
	       atomic_read(&group->comm.kept) + READ_ONCE(group->spares.bytes);
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

/* It does not count among the user's comms any more. */
static void uncount(struct tor_group *group)
{
	if (test_and_clear_bit(TOR_GROUP_COUNTED, &group->flags))
		tor_user_uncharge(group->user, TOR_LIMIT_COMMS, 1);
}

static void group_free(struct tor_group *group)
{
	/* of ops that a call began just as the comm failed */
	tor_op_release_all(group);
	tor_series_free_pairs(group);
	tor_series_free(&group->calls);
	tor_spare_close(group);
	kvfree(group->refused);
	tor_tables_free(group);
	kvfree(group->member);
	kvfree(group->order);
	kvfree(group->comm.epoch);
	kvfree(group->comm.seen);
	kvfree(group->comm.path);
	kvfree(group->join.seen);
	kvfree(group->join.seen_nonce);
	kvfree(group->shrink.of);
	if (group->nodes)
		tor_group_put(group->nodes);
	if (group->team)
		tor_team_put(group->team);
	uncount(group);
	tor_user_uncharge(group->user, TOR_LIMIT_KERNEL, atomic64_read(&group->charged));
	tor_user_put(group->user);
	kfree(group);
}

void tor_group_put(struct tor_group *group)
{
	if (refcount_dec_and_test(&group->refs))
		group_free(group);
}

static void stop_lanes(struct tor_group *group)
{
	struct tor_series *series;
	u32 i;

	tor_group_each_series(group, series) {
		for (i = 0; i < tor_series_lanes(series); i++) {
			hrtimer_cancel(&series->lanes[i].timer);
			tor_chan_destroy(&series->lanes[i].chan);
		}
	}
}

/*
 * Take the group apart. Who may still use it, and how each is waited for:
 * - frames and dumps that found it in the table: unhashed, grace period; what finds a rank of a team finds it by its nodes'
 *   group, which is taken apart before;
 * - lanes' timers: DEAD keeps new ones from starting, then they are cancelled;
 * - the works: cancelled, this one excepted; those of a team are waited for;
 * - calls of the process: they hold references.
 */
void tor_group_end(struct tor_group *group)
{
	struct tor_fabric *fabric = group->fabric;

	if (test_and_set_bit(TOR_GROUP_ENDED, &group->flags))
		return;
	if (test_and_clear_bit(TOR_GROUP_HASHED, &group->flags)) {
		spin_lock_bh(&fabric->groups_lock);
		hash_del_rcu(&group->hash);
		spin_unlock_bh(&fabric->groups_lock);
	}
	set_bit(TOR_GROUP_DEAD, &group->flags);
	tor_series_settle(group);
	if (test_bit(TOR_GROUP_JOINED, &group->flags))
		tor_netlink_notify_comm(group, true);
	abort_lanes(group);
	if (!tor_team_has_seat(group))
		synchronize_rcu();
	if (cancel_delayed_work_sync(&group->fail_work))
		tor_group_put(group);
	stop_lanes(group);
	if (tor_team_is_of_nodes(group))
		tor_team_disband(group->team);
	tor_group_put(group);
}

/* Is there something that another rank has not got yet, and still can? Here, the last one has left. */
static bool series_owes(struct tor_series *series)
{
	u32 i;

	if (tor_op_stays(&series->slot->op))
		return false;
	for (i = 0; i < tor_series_lanes(series); i++) {
		struct tor_lane *lane = &series->lanes[i];
		bool open;

		spin_lock_bh(&lane->lock);
		open = lane->chan.state == TOR_CHAN_COMPLETE;
		spin_unlock_bh(&lane->lock);
		if (open)
			return true;
	}
	return false;
}

bool tor_group_owes(struct tor_group *group)
{
	struct tor_series *series;

	tor_group_each_series(group, series)
		if (series_owes(series))
			return true;
	return false;
}

/*
 * Ops may be done here before others have called: what was sent to them waits, and is sent again, for as long as they
 * live and do not leave. If they do, the comm fails.
 */
static void linger_work(struct work_struct *work)
{
	struct tor_group *group = container_of(to_delayed_work(work), struct tor_group,
					       linger_work);

	bool owes = tor_group_owes(group) || (group->team && tor_team_owes(group->team));

	if ((owes && !tor_comm_failed(&group->comm)) ||
	    (group->team && tor_team_in_use(group->team)))
		queue_delayed_work(works, &group->linger_work, TOR_LINGER);
	else
		tor_group_end(group);
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

struct tor_group *tor_group_new(struct tor_fabric *fabric, struct tor_user *user, const char *name,
				u32 depth)
{
	struct tor_group *group;
	struct tor_comm *comm;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->user = tor_user_get(user);
	comm = &group->comm;
	group->fabric = fabric;
	comm->node = &fabric->node;
	comm->error_rank = TOR_NO_RANK;
	comm->depth = roundup_pow_of_two(depth ? depth : TOR_DEPTH_DEFAULT);
	comm->channels = 2 * fabric->node.torus.ndim;
	refcount_set(&group->refs, 1);
	strscpy(group->name, name, sizeof(group->name));
	init_waitqueue_head(&group->wait);
	mutex_init(&group->reap);
	mutex_init(&group->pairs_lock);
	INIT_LIST_HEAD(&group->series);
	xa_init(&group->pairs);
	tor_spares_init(&group->spares);
	INIT_DELAYED_WORK(&group->fail_work, fail_work);
	INIT_DELAYED_WORK(&group->linger_work, linger_work);
	return group;
}

void tor_lane_init(struct tor_lane *lane, struct tor_slot *slot, u32 index, u32 seq)
{
	spin_lock_init(&lane->lock);
	hrtimer_init(&lane->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	lane->timer.function = lane_timer;
	lane->slot = slot;
	tor_chan_init(&lane->chan, &slot->op, index, seq);
}

static int alloc_ranks(struct tor_group *group)
{
	struct tor_comm *comm = &group->comm;

	comm->epoch = kvcalloc(comm->ranks, sizeof(*comm->epoch), GFP_KERNEL_ACCOUNT);
	comm->seen = kvcalloc(comm->ranks, sizeof(*comm->seen), GFP_KERNEL_ACCOUNT);
	comm->path = kvcalloc(comm->ranks, sizeof(*comm->path), GFP_KERNEL_ACCOUNT);
	return comm->epoch && comm->seen && comm->path ? 0 : -ENOMEM;
}

int tor_group_alloc(struct tor_group *group, const char **why)
{
	int err;

	err = tor_group_charge(group, memory_of_ranks(group), why);
	if (err)
		return err;
	group->refused = kvcalloc(BITS_TO_LONGS(group->comm.ranks), sizeof(long),
				  GFP_KERNEL_ACCOUNT);
	if (!group->refused)
		return -ENOMEM;
	if (!tor_team_has_seat(group))
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

	set_bit(TOR_GROUP_CLOSED, &group->flags);
	/* pairs with start() in op.c: it sees CLOSED, or we see BUSY */
	smp_mb__after_atomic();
	wake_up_all(&group->wait);
	if (tor_group_busy(group))
		tor_group_abort(group, -ECONNABORTED);
	tor_op_release_all(group);
	tor_spare_close(group);
	WRITE_ONCE(group->session, NULL);
	uncount(group);
	if (tor_team_has_seat(group)) {
		/* what lingers is the nodes' comm, behind the last of them, and takes this one along */
		tor_team_leave(group);
		tor_group_put(group);
	} else {
		queue_delayed_work(works, &group->linger_work, TOR_LINGER);
	}
	/* from here on the fabric may go, and ends us if it does */
	atomic_dec(&fabric->users);
}

void tor_group_end_all(struct tor_fabric *fabric)
{
	struct tor_group *group, *found;
	u32 bucket;

	do {
		found = NULL;
		spin_lock_bh(&fabric->groups_lock);
		hash_for_each(fabric->group, bucket, group, hash) {
			refcount_inc(&group->refs);
			found = group;
			break;
		}
		spin_unlock_bh(&fabric->groups_lock);
		if (!found)
			break;
		cancel_delayed_work_sync(&found->linger_work);
		tor_group_end(found);
		tor_group_put(found);
	} while (true);
	/* those that had left the table already, but not the fabric */
	flush_workqueue(works);
}

void tor_group_queue(struct work_struct *work)
{
	queue_work(works, work);
}

void tor_group_queue_at(struct delayed_work *work, u64 when)
{
	u64 now = ktime_get_ns();

	mod_delayed_work(works, work, when > now ? nsecs_to_jiffies(when - now) + 1 : 0);
}

int tor_group_init(void)
{
	works = alloc_workqueue("torcoll", WQ_UNBOUND, 0);
	return works ? 0 : -ENOMEM;
}

void tor_group_exit(void)
{
	destroy_workqueue(works);
}
