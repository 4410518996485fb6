// SPDX-License-Identifier: GPL-2.0
/*
 * Ops. See op.h.
 */
#include "op.h"

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/torcoll.h>

#include "session.h"
#include "trace.h"

/* Handles of ops are their numbers, marked so that none is 0. */
#define OP_HANDLE	(1ULL << 32)


u64 tor_op_collectives(void)
{
	return BIT_ULL(TORCOLL_ALLREDUCE);
}

u64 tor_op_types(void)
{
	u64 bits = 0;
	u32 type, redop;

	for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
		for (redop = 0; redop < TORCOLL_REDOP_COUNT; redop++)
			if (tor_reduce_kernel(type, redop))
				bits |= BIT_ULL(type);
	return bits;
}

u64 tor_op_redops(void)
{
	u64 bits = 0;
	u32 type, redop;

	for (redop = 0; redop < TORCOLL_REDOP_COUNT; redop++)
		for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
			if (tor_reduce_kernel(type, redop))
				bits |= BIT_ULL(redop);
	return bits;
}

u64 tor_op_algorithms(void)
{
	u64 bits = BIT_ULL(TORCOLL_ALGO_AUTO);
	u32 i;

	for (i = TORCOLL_ALGO_AUTO + 1; i < TORCOLL_ALGO_COUNT; i++)
		if (tor_algorithm_serves(i) & BIT(TORCOLL_ALLREDUCE))
			bits |= BIT_ULL(i);
	return bits;
}

bool tor_group_busy(const struct tor_group *group)
{
	u32 i;

	for (i = 0; i < group->comm.depth; i++)
		if (test_bit(TOR_SLOT_BUSY, &group->slot[i].flags))
			return true;
	return false;
}

static bool has_result(const struct tor_slot *slot)
{
	return test_bit(TOR_SLOT_UNREAPED, &slot->flags) &&
	       !test_bit(TOR_SLOT_BUSY, &slot->flags);
}

bool tor_group_has_results(const struct tor_group *group)
{
	u32 i;

	for (i = 0; i < group->comm.depth; i++)
		if (has_result(&group->slot[i]))
			return true;
	return false;
}

static void give_back(struct tor_slot *slot)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slot->pages); i++) {
		if (!slot->pages[i])
			continue;
		tor_pages_put(slot->pages[i]);
		slot->pages[i] = NULL;
	}
}

void tor_op_release_all(struct tor_group *group)
{
	u32 i;

	/* not against a thread that reaps; what is BUSY ends later, and then with the group */
	mutex_lock(&group->reap);
	for (i = 0; i < group->comm.depth; i++) {
		struct tor_slot *slot = &group->slot[i];

		if (has_result(slot) && test_and_clear_bit(TOR_SLOT_UNREAPED, &slot->flags))
			give_back(slot);
	}
	mutex_unlock(&group->reap);
	wake_up_all(&group->wait);
}

/* --- submit --- */

static int check_desc(struct tor_session *session, const struct tor_group *group,
		      const struct torcoll_submit *desc)
{
	u32 i;

	if (desc->flags & ~TORCOLL_OP_FLAGS)
		return tor_refuse(session, -EINVAL, "unknown flags %#x", desc->flags);
	if (desc->__reserved || desc->peer || desc->scalar)
		return tor_refuse(session, -EINVAL, "a reserved or unused member is not zero");
	if (!desc->collective || desc->collective >= TORCOLL_COLL_COUNT)
		return tor_refuse(session, -EINVAL, "unknown collective %u", desc->collective);
	if (!desc->type || desc->type >= TORCOLL_TYPE_COUNT)
		return tor_refuse(session, -EINVAL, "unknown type %u", desc->type);
	if (!desc->redop || desc->redop >= TORCOLL_REDOP_COUNT)
		return tor_refuse(session, -EINVAL, "unknown operator %u", desc->redop);
	if (desc->algorithm >= TORCOLL_ALGO_COUNT)
		return tor_refuse(session, -EINVAL, "unknown algorithm %u", desc->algorithm);
	if (desc->bits >= TORCOLL_BITS_COUNT)
		return tor_refuse(session, -EINVAL, "unknown bit level %u", desc->bits);
	if (desc->root >= group->comm.ranks)
		return tor_refuse(session, -EINVAL, "root %u of %u ranks", desc->root,
				  group->comm.ranks);
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (desc->param[i] > U16_MAX)
			return tor_refuse(session, -EINVAL, "parameter %u is out of range", i);
	if (!(tor_op_collectives() & BIT_ULL(desc->collective)))
		return tor_refuse(session, -EOPNOTSUPP, "%s is not served yet",
				  tor_collective_name(desc->collective));
	if (desc->counts)
		return tor_refuse(session, -EINVAL, "counts mean nothing here");
	if (desc->bits == TORCOLL_BITS_ORDERED)
		return tor_refuse(session, -EOPNOTSUPP, "ordered results are not served yet");
	if (desc->count > S64_MAX / 16)
		return tor_refuse(session, -EINVAL, "%llu elements are too many", desc->count);
	return 0;
}

/* Bytes up to which the fewest messages win; beyond, the least bytes per cable do. */
#define FEW_MESSAGES_MAX	(32 << 10)

/* Without a word from the caller: of what serves every shape, the better one for the size. */
static u32 choose_algorithm(const struct torcoll_submit *desc)
{
	if (desc->algorithm != TORCOLL_ALGO_AUTO)
		return desc->algorithm;
	return desc->count * tor_type_size(desc->type) <= FEW_MESSAGES_MAX ? TORCOLL_TREE :
									     TORCOLL_BIBUCKET;
}

/* Find or pin one buffer, and note it in the slot. */
static int get_buffer(struct tor_session *session, struct tor_slot *slot, u32 which, u32 region,
		      u64 addr, u64 length, struct tor_mem *mem)
{
	struct tor_pages *pages;

	if (region) {
		pages = tor_session_region(session, region, addr, length);
		if (IS_ERR(pages))
			return PTR_ERR(pages);
	} else {
		pages = tor_pages_pin(addr, length);
		if (IS_ERR(pages))
			return tor_refuse(session, PTR_ERR(pages),
					  PTR_ERR(pages) == -EDQUOT ?
					  "RLIMIT_MEMLOCK does not allow %llu bytes at %#llx" :
					  "cannot pin %llu bytes at %#llx for writing", length, addr);
	}
	slot->pages[which] = pages;
	mem->pages = pages;
	mem->off = addr - pages->addr;
	mem->len = length;
	return 0;
}

/*
 * The op works in the receive buffer: what is to be sent goes there first. Its own memory, so that the
 * caller's send buffer is never written.
 */
static int get_memory(struct tor_session *session, struct tor_slot *slot,
		      const struct torcoll_submit *desc)
{
	u64 length = desc->count * tor_type_size(desc->type);
	bool in_place = desc->send_addr == desc->recv_addr;
	struct tor_mem send;
	int err;

	if (!length)
		return 0;
	if (!in_place && desc->send_addr < desc->recv_addr + length &&
	    desc->recv_addr < desc->send_addr + length)
		return tor_refuse(session, -EINVAL,
				  "the buffers overlap without being the same (in place)");
	err = get_buffer(session, slot, TOR_PAGES_RECV, desc->recv_region, desc->recv_addr, length,
			 &slot->data);
	if (err || in_place)
		return err;
	err = get_buffer(session, slot, TOR_PAGES_SEND, desc->send_region, desc->send_addr, length,
			 &send);
	if (!err)
		tor_mem_copy(&slot->data, &send);
	return err;
}

/* The plan's temporaries, one behind the other, each as large as the vector. */
static int get_temporaries(struct tor_session *session, struct tor_slot *slot, u64 length)
{
	u32 n = slot->op.plan.shape.bufs - 1;
	struct tor_pages *pages = ERR_PTR(-ENOMEM);
	u64 bytes;

	if (!n || !length)
		return 0;
	if (!check_mul_overflow((u64)n, length, &bytes))
		pages = tor_pages_alloc(bytes);
	if (IS_ERR(pages))
		return tor_refuse(session, PTR_ERR(pages),
				  "no memory for %u temporaries of %llu bytes", n, length);
	slot->pages[TOR_PAGES_TEMP] = pages;
	slot->temp.pages = pages;
	slot->temp.off = 0;
	slot->temp.len = bytes;
	return 0;
}

static int begin(struct tor_session *session, struct tor_slot *slot,
		 const struct torcoll_submit *desc)
{
	struct tor_comm *comm = slot->op.comm;
	struct tor_plan_req req = {
		.torus = &comm->node->torus,
		.members = comm->member,
		.ranks = comm->ranks,
		.collective = desc->collective,
		.algorithm = choose_algorithm(desc),
		.root = desc->root,
		.count = desc->count,
	};
	const char *why = "the plan cannot be made";
	int err;

	memcpy(req.param, desc->param, sizeof(req.param));
	err = tor_op_begin(&slot->op, slot->group->next_seq, &req, desc->type, desc->redop,
			   desc->bits, &why);
	if (err)
		return tor_refuse(session, err, "%s: %s", tor_algorithm_name(req.algorithm), why);
	err = get_memory(session, slot, desc);
	if (!err)
		err = get_temporaries(session, slot, desc->count * slot->op.elem);
	if (err)
		return err;
	slot->op.data = &slot->data;
	slot->op.temp = &slot->temp;
	slot->op.deadline = desc->deadline_ns;
	slot->user_data = desc->user_data;
	return 0;
}

/* From here on the op belongs to the softirqs; its first frames leave with the caller. */
static void start(struct tor_slot *slot)
{
	struct tor_group *group = slot->group;
	struct tor_entry entry;
	u32 i;

	slot->submitted = ktime_get_ns();
	slot->status = 0;
	/* the slot is ours alone until its lanes start, each under its lock */
	WRITE_ONCE(slot->flags, BIT(TOR_SLOT_BUSY) | BIT(TOR_SLOT_UNREAPED) | BIT(TOR_SLOT_OPEN));
	/* pairs with tor_group_close(): it sees BUSY, or we see CLOSED */
	smp_mb();
	if (test_bit(TOR_GROUP_CLOSED, &group->flags)) {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		tor_comm_fail(&entry.ctx, &group->comm, -ECONNABORTED, group->comm.rank,
			      slot->op.seq);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
	trace_torcoll_op_submit(&group->comm, slot->op.seq,
				slot->op.plan.req.count * slot->op.elem, 0);
	for (i = 0; i < group->comm.channels; i++) {
		struct tor_lane *lane = &slot->lane[i];

		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		spin_lock(&lane->lock);
		tor_chan_start(&entry.ctx, &lane->chan);
		spin_unlock(&lane->lock);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
	}
}

static int comm_error(struct tor_session *session, const struct tor_group *group)
{
	const struct tor_comm *comm = &group->comm;

	if (comm->error_rank == TOR_NO_RANK)
		return tor_refuse(session, comm->error, "the comm %s has failed", group->name);
	return tor_refuse(session, comm->error, "the comm %s has failed: caused by rank %u (node %u)",
			  group->name, comm->error_rank, comm->error_node);
}

static bool slot_usable(const struct tor_slot *slot)
{
	return !READ_ONCE(slot->flags) || atomic_read(&slot->op.comm->failed) ||
	       test_bit(TOR_GROUP_CLOSED, &slot->group->flags);
}

/* Wait for the slot of the next op. Context: group->submit held. */
static int get_slot(struct tor_session *session, struct tor_group *group,
		    const struct torcoll_submit *desc, struct tor_slot **out)
{
	struct tor_slot *slot = tor_group_slot(group, group->next_seq);
	int err;

	*out = slot;
	if (!slot_usable(slot)) {
		if (has_result(slot))
			return tor_refuse(session, -EBUSY,
					  "%u results of the comm wait to be reaped", group->comm.depth);
		if (desc->flags & TORCOLL_OP_NOWAIT)
			return tor_refuse(session, -EBUSY, "%u ops are in flight",
					  group->comm.depth);
		err = tor_wait_until(&group->wait, slot_usable(slot) || has_result(slot),
				     desc->deadline_ns);
		if (err)
			return tor_refuse(session, err, "no op slot became free");
		if (!slot_usable(slot))
			return tor_refuse(session, -EBUSY,
					  "%u results of the comm wait to be reaped", group->comm.depth);
	}
	if (atomic_read(&group->comm.failed))
		return comm_error(session, group);
	if (test_bit(TOR_GROUP_CLOSED, &group->flags))
		return tor_refuse(session, -ENOENT, "the comm was closed meanwhile");
	return 0;
}

int tor_op_submit(struct tor_session *session, struct tor_group *group,
		  struct torcoll_submit *desc)
{
	struct torcoll_wait wait = { .size = sizeof(wait), .deadline_ns = desc->deadline_ns };
	struct tor_slot *slot;
	int err;

	err = check_desc(session, group, desc);
	if (err)
		return err;
	if (desc->flags & TORCOLL_OP_NOWAIT) {
		if (!mutex_trylock(&group->submit))
			return tor_refuse(session, -EBUSY, "another thread is submitting");
	} else if (mutex_lock_interruptible(&group->submit)) {
		return -EINTR;
	}
	err = get_slot(session, group, desc, &slot);
	if (!err) {
		err = begin(session, slot, desc);
		if (err)
			give_back(slot);
	}
	if (err) {
		mutex_unlock(&group->submit);
		return err;
	}
	desc->op = OP_HANDLE | group->next_seq++;
	start(slot);
	mutex_unlock(&group->submit);

	if (!(desc->flags & TORCOLL_OP_WAIT))
		return 0;
	wait.op = desc->op;
	/* the op itself fails at the deadline */
	wait.deadline_ns = 0;
	err = tor_op_wait(session, group, &wait);
	desc->status = wait.status;
	return err;
}

/* --- wait --- */

/* The slot of an op that can be reaped now, or NULL. */
static struct tor_slot *find_result(struct tor_group *group, u64 handle)
{
	struct tor_slot *slot, *first = NULL;
	u32 i;

	if (handle) {
		slot = tor_group_slot(group, (u32)handle);
		return has_result(slot) && slot->op.seq == (u32)handle ? slot : NULL;
	}
	for (i = 0; i < group->comm.depth; i++) {
		slot = &group->slot[i];
		if (has_result(slot) && (!first || (s32)(slot->op.seq - first->op.seq) < 0))
			first = slot;
	}
	return first;
}

/* Is there anything that could be waited for? */
static bool is_pending(struct tor_group *group, u64 handle)
{
	struct tor_slot *slot;
	u32 i;

	if (handle) {
		slot = tor_group_slot(group, (u32)handle);
		return (handle & ~(u64)U32_MAX) == OP_HANDLE && slot->op.seq == (u32)handle &&
		       test_bit(TOR_SLOT_UNREAPED, &slot->flags);
	}
	for (i = 0; i < group->comm.depth; i++)
		if (test_bit(TOR_SLOT_UNREAPED, &group->slot[i].flags))
			return true;
	return false;
}

static int reap(struct tor_session *session, struct tor_group *group, struct tor_slot *slot,
		struct torcoll_wait *wait)
{
	u64 op = OP_HANDLE | slot->op.seq;
	int status;

	/* after BUSY was seen clear: pairs with tor_env_op_done() */
	smp_rmb();
	status = slot->status;
	wait->error_rank = slot->error_rank;
	wait->user_data = slot->user_data;
	/* the memory goes back before the slot does */
	give_back(slot);
	clear_bit_unlock(TOR_SLOT_UNREAPED, &slot->flags);
	wake_up_all(&group->wait);
	wait->op = op;
	wait->status = status;
	if (status)
		comm_error(session, group);
	return 0;
}

int tor_op_wait(struct tor_session *session, struct tor_group *group, struct torcoll_wait *wait)
{
	struct tor_slot *slot;
	int err;

	do {
		if (!is_pending(group, wait->op))
			return tor_refuse(session, -ENOENT, "no such op is waiting to be reaped");
		if (wait->flags & TORCOLL_WAIT_NOHANG) {
			if (!find_result(group, wait->op))
				return -EAGAIN;
		} else {
			err = tor_wait_until(&group->wait,
					     find_result(group, wait->op) ||
					     !is_pending(group, wait->op), wait->deadline_ns);
			if (err)
				return tor_refuse(session, err, "the op is still running");
		}
		/* several threads may wait for any op: one of them gets each */
		mutex_lock(&group->reap);
		slot = find_result(group, wait->op);
		err = slot ? reap(session, group, slot, wait) : -EAGAIN;
		mutex_unlock(&group->reap);
	} while (err == -EAGAIN);
	return err;
}
