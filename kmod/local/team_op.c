// SPDX-License-Identifier: GPL-2.0
/*
 * Ops of a team: from the calls of its seats to the op of their nodes, and
 * back. See team.h.
 *
 * The last caller combines the contributions of the seats, in its own time,
 * directly between their pages. A work item copies results to the seats: the op
 * ends in a softirq that is receiving frames, and copying megabytes per seat
 * would delay them. Only short results are copied in the softirq, which costs
 * less than waking a worker. Until its results are copied, no seat's op is
 * over, so all of their memory stays.
 */
#include "local/team.h"

#include <linux/slab.h>
#include <linux/torcoll.h>

#include "cdev/session.h"
#include "core/choose/auto.h"
#include "core/transfer/stream.h"
#include "memory/buffers.h"
#include "op/op.h"
#include "op/slot.h"
#include "op/tables.h"

#define CHUNK	(64 << 10)		/* bytes that are moved before others may run */

/* --- memory --- */

static void bring_work(struct work_struct *work);
static void late_work(struct work_struct *work);

static u64 words_bytes(const struct tor_team *team)
{
	return TOR_FOLD_WORDS((u64)team->map.nodes, team->seats) * sizeof(u64);
}

u64 tor_team_op_memory(const struct tor_team *team)
{
	return team->depth * (sizeof(*team->op) +
			      team->seats * (sizeof(*team->requests) + sizeof(*team->vectors))) +
	       words_bytes(team);
}

static void put_words(struct tor_team_op *op)
{
	kvfree(op->words);
	op->words = NULL;
	tor_user_uncharge(op->team->user, TOR_LIMIT_KERNEL, words_bytes(op->team));
}

int tor_team_op_alloc(struct tor_team *team)
{
	u32 i;

	team->words = kvmalloc(words_bytes(team), GFP_KERNEL_ACCOUNT);
	team->requests = kvcalloc(size_mul(team->depth, team->seats), sizeof(*team->requests),
				  GFP_KERNEL_ACCOUNT);
	team->vectors = kvcalloc(size_mul(team->depth, team->seats), sizeof(*team->vectors),
				 GFP_KERNEL_ACCOUNT);
	team->op = kvcalloc(team->depth, sizeof(*team->op), GFP_KERNEL_ACCOUNT);
	if (!team->words || !team->requests || !team->vectors || !team->op) {
		tor_team_op_free(team);
		return -ENOMEM;
	}
	for (i = 0; i < team->depth; i++) {
		struct tor_team_op *op = &team->op[i];

		op->team = team;
		op->called = team->requests + i * team->seats;
		op->vector = team->vectors + i * team->seats;
		INIT_WORK(&op->work, bring_work);
	}
	INIT_DELAYED_WORK(&team->late, late_work);
	return 0;
}

void tor_team_op_free(struct tor_team *team)
{
	u32 i;

	/* an op may not have been retired when its comm ended */
	for (i = 0; team->op && i < team->depth; i++)
		if (team->op[i].words)
			put_words(&team->op[i]);
	kvfree(team->op);
	kvfree(team->requests);
	kvfree(team->vectors);
	kvfree(team->words);
	team->op = NULL;
	team->requests = NULL;
	team->vectors = NULL;
	team->words = NULL;
}

void tor_team_op_init(struct tor_team *team, struct tor_group *nodes)
{
	u32 i;

	for (i = 0; i < team->depth; i++)
		team->op[i].slot = &nodes->calls.slot[i];
	team->trial.comm = &nodes->comm;
}

void tor_team_op_stop(struct tor_team *team)
{
	u32 i;

	if (!team->op)
		return;
	cancel_delayed_work_sync(&team->late);
	for (i = 0; i < team->depth; i++)
		flush_work(&team->op[i].work);
}

static struct tor_slot *slot_of(const struct tor_team_op *op, u32 seat)
{
	return tor_series_slot(&op->team->seat[seat]->calls, op->seq);
}

/* Return whether a seat has called the op. */
static bool has_called(const struct tor_team_op *op, u32 seat)
{
	return tor_team_has_called(op->team, seat, op->seq);
}

/* Return the first seat that has not called, or their number. */
static u32 team_find_missing(const struct tor_team_op *op)
{
	u32 seat = 0;

	while (seat < op->team->seats && has_called(op, seat))
		seat++;
	return seat;
}

/* --- the call of the nodes --- */

static int check_fold(struct tor_team *team, struct tor_fold *fold, const struct tor_op *called,
		      u64 *words, const char **why)
{
	const struct tor_comm *nodes = &team->nodes->comm;
	bool ordered = called->reduce && !tor_reduce_exact(called->call.type, called->call.redop) &&
		       called->call.bits == TORCOLL_BITS_ORDERED;
	bool chains = tor_auto_chains(&team->nodes->chooser->rates, &team->map, &called->plan.call,
				      called->elem);

	fold->map = &team->map;
	fold->node = team->node;
	fold->seats = team->seats;
	return tor_fold_check(fold, &called->plan.call, ordered, chains, &nodes->node->torus,
			      nodes->member, words, why);
}

/*
 * Plan a call for the nodes. @lacking: out: the collective whose tables have to
 * be made first, or TORCOLL_COLL_NONE.
 */
static int team_try(struct tor_slot *slot, u32 *lacking, const char **why)
{
	struct tor_team *team = slot->group->team;
	const struct tor_op *called = &slot->op;
	struct tor_fold fold = {};
	int err;

	*lacking = TORCOLL_COLL_NONE;
	mutex_lock(&team->lock);
	err = check_fold(team, &fold, called, team->words, why);
	if (!err && fold.call.algorithm == TORCOLL_ALGO_AUTO &&
	    !tor_tables_are_made(team->nodes, fold.call.collective))
		*lacking = fold.call.collective;
	else if (!err)
		err = tor_op_begin(&team->trial, called->seq, &fold.call, why);
	/* as far as it is known before the other local ranks have called */
	if (!err && !*lacking)
		slot->op.stated.algorithm = team->trial.plan.call.algorithm;
	mutex_unlock(&team->lock);
	return err;
}

/* Other ranks, and what ends the comm, need team->lock meanwhile. */
static int make_tables(struct tor_team *team, u32 collective, const char **why)
{
	int err = mutex_lock_killable(&team->tables);

	if (err) {
		*why = "interrupted";
		return err;
	}
	err = tor_tables_make(team->nodes, collective, why);
	mutex_unlock(&team->tables);
	return err;
}

/*
 * Check that the nodes support this call; the same result for every seat with
 * the same call.
 */
static int team_check(struct tor_slot *slot, const char **why)
{
	u32 lacking;
	int err = team_try(slot, &lacking, why);

	if (err || !lacking)
		return err;
	err = make_tables(slot->group->team, lacking, why);
	/* what is made stays */
	return err ? err : team_try(slot, &lacking, why);
}

int tor_team_plan(struct tor_slot *slot, const struct tor_call *call, const char **why)
{
	const struct tor_series *series = slot->series;
	int err;

	lockdep_assert_held(&series->submit);
	err = tor_op_describe(&slot->op, series->next_seq, call, why);
	return err ? err : team_check(slot, why);
}

/* Return the earliest deadline of all, 0: none. */
static u64 soonest_deadline(const struct tor_team_op *op)
{
	u64 deadline = 0, d;
	u32 seat;

	for (seat = 0; seat < op->team->seats; seat++) {
		d = slot_of(op, seat)->op.deadline;
		if (d && (!deadline || d < deadline))
			deadline = d;
	}
	return deadline;
}

static int get_own(struct tor_session *session, struct tor_slot *slot, u32 which, u64 bytes,
		   struct tor_mem *mem)
{
	*mem = (struct tor_mem){};
	return bytes ? tor_buffers_get_own(session, slot, which, bytes, mem) : 0;
}

/* Allocate the vectors of the nodes' op. */
static int get_memory(struct tor_session *session, struct tor_team_op *op)
{
	const struct tor_fold *fold = &op->fold;
	struct tor_slot *slot = op->slot;
	u64 elem = slot->op.elem;
	u32 seat;
	int err = 0;

	slot->result.len = 0;
	slot->copy_from.len = 0;
	slot->pinned = false;
	if (fold->has_own)
		err = get_own(session, slot, TOR_PAGES_VECTOR, fold->own * elem, &slot->data);
	else
		slot->data = slot_of(op, fold->call.team ? 0 : fold->leader)->data;
	for (seat = 0; fold->call.team && seat < op->team->seats; seat++)
		op->vector[seat] = &slot_of(op, seat)->data;
	if (!err)
		err = get_own(session, slot, TOR_PAGES_TEMP,
			      fold->input ? fold->input * elem : tor_op_temp_bytes(&slot->op),
			      &slot->temp);
	slot->op.data = &slot->data;
	slot->op.vector = op->vector;
	slot->op.temp = &slot->temp;
	return err;
}

static int get_words(struct tor_session *session, struct tor_team_op *op)
{
	u64 bytes = words_bytes(op->team);
	int err = tor_user_charge(op->team->user, TOR_LIMIT_KERNEL, bytes);

	if (err)
		return tor_refuse(session, err, "%s", tor_limit_sentence(TOR_LIMIT_KERNEL));
	op->words = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (op->words)
		return 0;
	tor_user_uncharge(op->team->user, TOR_LIMIT_KERNEL, bytes);
	return tor_refuse(session, -ENOMEM, "no memory for %llu bytes of counts", bytes);
}

/*
 * All have called, @slot last: prepare the nodes' op. -EPROTO: the calls of the
 * seats in op->odd contradict each other.
 */
static int team_prepare(struct tor_session *session, struct tor_team_op *op, struct tor_slot *slot)
{
	struct tor_team *team = op->team;
	const struct tor_op *called = &slot->op;
	const char *why = "the plan cannot be made";
	u32 seat;
	int err;

	err = get_words(session, op);
	if (err)
		return err;
	op->fold.called = op->called;
	for (seat = 0; seat < team->seats; seat++)
		op->called[seat] = &slot_of(op, seat)->op.plan.call;
	err = check_fold(team, &op->fold, called, op->words, &why);
	if (!err) {
		tor_fold_init(&op->fold);
		if (!tor_fold_agrees(&op->fold, &op->odd[0], &op->odd[1])) {
			put_words(op);
			return -EPROTO;
		}
		err = tor_op_begin(&op->slot->op, op->seq, &op->fold.call, &why);
	}
	if (err)
		tor_refuse(session, err, "%s", why);
	else
		err = get_memory(session, op);
	if (err) {
		tor_buffers_put(op->slot);
		put_words(op);
		return err;
	}
	op->slot->op.lengths = tor_fold_lengths(&op->fold);
	tor_op_stand_for(&op->slot->op, called);
	op->slot->op.deadline = soonest_deadline(op);
	atomic_set(&op->open, 2);
	return 0;
}

/* --- moves --- */

static struct tor_mem *vector_of(struct tor_team_op *op, u32 seat, bool input)
{
	struct tor_slot *slot = seat == TOR_FOLD_OWN ? op->slot : slot_of(op, seat);

	return input ? &slot->temp : &slot->data;
}

/* Execute a move in chunks; @fn: it reduces. */
static void move_bytes(struct tor_team_op *op, const struct tor_move *m, tor_reduce_fn fn, bool fpu)
{
	const struct tor_mem *from = vector_of(op, m->from, m->from_input);
	struct tor_mem *to = vector_of(op, m->to, m->to_input);
	u32 elem = op->slot->op.elem;
	u64 done, len, bytes = m->n * elem;

	if (WARN_ON_ONCE(m->soff * elem + bytes > from->len || m->doff * elem + bytes > to->len))
		return;
	for (done = 0; done < bytes; done += len) {
		len = min_t(u64, bytes - done, CHUNK / elem * elem);
		if (fpu)
			WARN_ON_ONCE(!tor_env_fpu_begin());
		tor_stream_between(from, m->soff * elem + done, to, m->doff * elem + done, len,
				   elem, fn);
		if (fpu)
			tor_env_fpu_end();
		if (bytes > CHUNK)
			cond_resched();
	}
}

static void move(struct tor_team_op *op, const struct tor_move *m)
{
	const struct tor_op *called = &slot_of(op, 0)->op;

	move_bytes(op, m, m->reduce ? called->reduce : NULL, m->reduce && called->is_float);
}

/*
 * Inputs are multiplied here, not as their seats call: that would be under the
 * lock of the team, for once a call is recorded another may begin the op, and
 * before that it could be refused.
 */
static void combine(struct tor_team_op *op)
{
	struct tor_fold_cursor c = {};
	struct tor_move m;
	u32 seat;

	for (seat = 0; seat < op->team->seats; seat++)
		tor_buffers_premultiply(slot_of(op, seat));
	while (tor_fold_before(&op->fold, &c, &m)) {
		move(op, &m);
		cond_resched();
	}
}

static void team_bring(struct tor_team_op *op, bool soft)
{
	struct tor_fold_cursor c = {};
	struct tor_move m;

	while (tor_fold_after(&op->fold, &c, &m)) {
		move(op, &m);
		if (!soft)
			cond_resched();
	}
}

/* Return whether the results are short, few, and only copied. */
static bool is_soft(const struct tor_team_op *op)
{
	return op->fold.kind == TOR_FOLD_SHARED && op->team->seats <= TOR_TEAM_SOFT_SEATS &&
	       !op->called[0]->counts &&
	       op->fold.call.count * op->slot->op.elem * op->team->seats <= TOR_TEAM_SOFT;
}

/* --- submit --- */

static void seat_done(struct tor_slot *slot, int status, u32 error_rank)
{
	local_bh_disable();
	rcu_read_lock();
	tor_slot_done(slot, status, error_rank);
	rcu_read_unlock();
	local_bh_enable();
}

/*
 * Return the error of a seat's op. A context that is making the comm fail may
 * not have recorded the cause yet.
 */
static int seat_error(const struct tor_comm *comm, u32 *rank)
{
	bool known = tor_comm_failed(comm);

	*rank = known ? comm->error_rank : comm->rank;
	return known ? comm->error : -ECONNABORTED;
}

static void seat_fails(struct tor_slot *slot)
{
	u32 rank;
	int err = seat_error(&slot->group->comm, &rank);

	seat_done(slot, err, rank);
}

static void fail_nodes(struct tor_team *team, int error, u32 seat, u32 op)
{
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail_user_rank(&entry.ctx, &team->nodes->comm, error, tor_team_rank(team, seat), op);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

/* Two seats have made different calls. */
static void team_mismatch(struct tor_team_op *op, u32 seat, const struct tor_slot *slot)
{
	const struct tor_op *first = &slot_of(op, seat)->op, *second = &slot->op;
	const struct tor_wire_call *const call[2] = { &first->stated, &second->stated };
	const u32 digest[2] = { first->digest, second->digest };
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_mismatch_here(&entry.ctx, &op->team->nodes->comm, op->seq, call, digest);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

/*
 * Return whether two seats have made the same call. The calls themselves are
 * compared: digests can be made to collide, and each call determines where the
 * other's vector is read and written. Core compares lengths that differ by
 * rank.
 */
static bool same_call(const struct tor_op *a, const struct tor_op *b)
{
	const struct tor_call *p = &a->plan.call, *q = &b->plan.call;

	if (a->digest != b->digest || p->type != q->type || p->redop != q->redop ||
	    a->elem != b->elem || p->bits != q->bits || p->collective != q->collective ||
	    p->algorithm != q->algorithm || p->root != q->root ||
	    memcmp(p->param, q->param, sizeof(p->param)) || !p->counts != !q->counts ||
	    !p->from_counts != !q->from_counts)
		return false;
	if (p->from_counts)
		return true;
	return p->count == q->count &&
	       (!p->counts || !memcmp(p->counts, q->counts, p->ranks * sizeof(*p->counts)));
}

/* Return a seat with a different call; their number: there is none. */
static u32 find_other(const struct tor_team_op *op, const struct tor_slot *slot)
{
	u32 seat = 0;

	while (seat < op->team->seats &&
	       (!has_called(op, seat) || same_call(&slot_of(op, seat)->op, &slot->op)))
		seat++;
	return seat;
}

void tor_team_op_miss(struct tor_team *team)
{
	u32 i, seat;

	lockdep_assert_held(&team->lock);
	for (i = 0; i < team->depth; i++) {
		struct tor_team_op *op = &team->op[i];

		for (seat = 0; op->arrived && !op->begun && seat < team->seats; seat++)
			if (!has_called(op, seat) &&
			    test_bit(TOR_GROUP_CLOSED, &team->seat[seat]->flags))
				fail_nodes(team, -ECONNABORTED, seat, op->seq);
	}
}

void tor_team_op_fail_all(struct tor_team *team)
{
	u32 i, seat;

	lockdep_assert_held(&team->lock);
	for (i = 0; i < team->depth; i++) {
		struct tor_team_op *op = &team->op[i];

		for (seat = 0; op->arrived && !op->begun && seat < team->seats; seat++)
			if (has_called(op, seat))
				seat_fails(slot_of(op, seat));
		if (!op->begun)
			WRITE_ONCE(op->arrived, 0);
	}
}

/* Record the seat's call; handle it as far as possible without the others'. */
static void team_arrive(struct tor_team_op *op, struct tor_slot *slot, enum tor_slot_dest dest)
{
	struct tor_team *team = op->team;
	u32 seat = slot->group->seat, other;

	lockdep_assert_held(&team->lock);
	/* ops that have failed have no lists of lengths any more */
	other = team->failed ? team->seats : find_other(op, slot);
	tor_op_mark(slot, dest);
	WRITE_ONCE(team->called[seat], op->seq);
	WRITE_ONCE(op->arrived, op->arrived + 1);
	if (team->failed) {
		WRITE_ONCE(op->arrived, 0);
		seat_fails(slot);
	} else if (other < team->seats) {
		team_mismatch(op, other, slot);
	} else {
		/*
		 * seats that left may be missed, and deadlines may have passed
		 */
		tor_team_op_miss(team);
		if (slot->op.deadline && !op->begun)
			tor_group_queue_at(&team->late, 0);
	}
}

/*
 * Return the op in its place, which is free: seats' slots stay open until then.
 */
static struct tor_team_op *team_get_op(struct tor_team *team, u32 seq)
{
	struct tor_team_op *op = tor_team_op_at(team, seq);

	lockdep_assert_held(&team->lock);
	if (op->seq != seq) {
		WRITE_ONCE(op->seq, seq);
		WRITE_ONCE(op->arrived, 0);
		WRITE_ONCE(op->begun, false);
	}
	return op;
}

/* Return whether this call makes the op complete. */
static bool completes(const struct tor_team_op *op, const struct tor_slot *slot)
{
	return op->arrived + 1 == op->team->seats && !op->team->failed &&
	       find_other(op, slot) == op->team->seats;
}

int tor_team_submit(struct tor_session *session, struct tor_slot *slot, enum tor_slot_dest dest)
{
	struct tor_team *team = slot->group->team;
	struct tor_team_op *op;
	bool complete;
	int err = 0;

	lockdep_assert_held(&slot->series->submit);
	mutex_lock(&team->lock);
	if (test_bit(TOR_GROUP_CLOSED, &slot->group->flags)) {
		mutex_unlock(&team->lock);
		return tor_refuse(session, -ENOENT, "the comm was closed meanwhile");
	}
	op = team_get_op(team, slot->op.seq);
	complete = completes(op, slot);
	if (complete)
		err = team_prepare(session, op, slot);
	if (err && err != -EPROTO) {
		mutex_unlock(&team->lock);
		return err;
	}
	WRITE_ONCE(op->begun, complete && !err);
	team_arrive(op, slot, dest);
	if (err)
		team_mismatch(op, op->odd[0], slot_of(op, op->odd[1]));
	complete = op->begun;
	/* uncontended: with nodes_stop(), ops do not begin any more */
	if (complete)
		down_read(&team->starting);
	mutex_unlock(&team->lock);
	if (complete) {
		combine(op);
		tor_op_mark(op->slot, TOR_DEST_NOBODY);
		tor_op_start(op->slot);
		up_read(&team->starting);
	}
	return 0;
}

/* --- deadlines --- */

static void seat_too_late(struct tor_team_op *op, struct tor_slot *slot)
{
	struct tor_team *team = op->team;
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	tor_comm_fail(&entry.ctx, &slot->group->comm, -ETIMEDOUT,
		      tor_team_rank(team, team_find_missing(op)), op->seq);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

/* Return when to check an op that waits for seats again, ns; 0: never. */
static u64 check_late(struct tor_team_op *op, u64 now)
{
	u64 deadline, next = 0;
	u32 seat;

	/* all are there: they have failed, or are about to begin */
	if (team_find_missing(op) == op->team->seats)
		return 0;
	for (seat = 0; op->arrived && !op->begun && seat < op->team->seats; seat++) {
		deadline = has_called(op, seat) ? slot_of(op, seat)->op.deadline : 0;
		if (deadline && deadline <= now)
			seat_too_late(op, slot_of(op, seat));
		else if (deadline && (!next || deadline < next))
			next = deadline;
	}
	return next;
}

/* In jiffies: deadlines of waits need no more precision. */
static void late_work(struct work_struct *work)
{
	struct tor_team *team = container_of(to_delayed_work(work), struct tor_team, late);
	u64 now = ktime_get_ns(), next = 0, when;
	u32 i;

	mutex_lock(&team->lock);
	for (i = 0; !team->failed && i < team->depth; i++) {
		when = check_late(&team->op[i], now);
		if (when && (!next || when < next))
			next = when;
	}
	if (next)
		tor_group_queue_at(&team->late, next);
	mutex_unlock(&team->lock);
}

/* --- the end of an op --- */

/*
 * Release the seats' slots when nothing needs them any more: resent frames use
 * the fold's lists.
 */
static void team_close_op(struct tor_team_op *op)
{
	u32 seat;

	if (!atomic_dec_and_test(&op->open))
		return;
	put_words(op);
	for (seat = 0; seat < op->team->seats; seat++)
		tor_slot_retired(slot_of(op, seat));
}

/*
 * End an op: release its memory, and give each seat its result. Context: BH
 * off, RCU.
 */
static void team_end(struct tor_team_op *op, int status)
{
	u32 seat, rank = TOR_NO_RANK;
	int err = 0;

	/* the last to leave may wait for it: see tor_group_abort() */
	tor_slot_done(op->slot, status, rank);
	for (seat = 0; seat < op->team->seats; seat++) {
		struct tor_slot *slot = slot_of(op, seat);

		if (status)
			err = seat_error(&slot->group->comm, &rank);
		tor_slot_done(slot, err, rank);
	}
	team_close_op(op);
}

static void bring_work(struct work_struct *work)
{
	struct tor_team_op *op = container_of(work, struct tor_team_op, work);
	int status = op->slot->status;

	/* the errors of seats, before they can be asked for */
	if (status)
		tor_team_failed(op->team->nodes);
	else
		team_bring(op, false);
	local_bh_disable();
	rcu_read_lock();
	team_end(op, status);
	rcu_read_unlock();
	local_bh_enable();
}

void tor_team_op_done(struct tor_slot *slot, int status, u32 error_rank)
{
	struct tor_team_op *op = tor_team_op_at(slot->group->team, slot->op.seq);

	slot->status = status;
	if (status || !is_soft(op)) {
		tor_group_queue(&op->work);
		return;
	}
	team_bring(op, true);
	team_end(op, 0);
}

void tor_team_op_retired(struct tor_slot *slot)
{
	tor_slot_retired(slot);
	team_close_op(&slot->group->team->op[slot - slot->group->calls.slot]);
}
