// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers. See buffers.h.
 *
 * A plan works in one vector of count elements, for every collective. If the
 * caller's receive buffer is that long, it is the vector. If not, as in a
 * reduce-scatter, and at ranks other than the root in a reduce or gather, the
 * vector is memory of the module, so that a send buffer is never written,
 * unless the addresses in the call make the op in place. The send buffer of a
 * scatter's root is the vector itself, since nothing is written there.
 *
 * An input outside the vector is copied there, or stays in its region: see
 * core/engine/input.h.
 *
 * Memory that is copied in any case is not pinned: any other input outside the
 * vector, and a result that was not made in the caller's memory. Short buffers
 * are always copied, which costs less than pinning: their vector is the
 * module's. The process that fetches such a result writes it.
 */
#include "memory/buffers.h"

#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/torcoll.h>
#include <linux/uaccess.h>

#include "cdev/session.h"
#include "core/engine/desc.h"
#include "core/engine/input.h"
#include "core/engine/parts.h"
#include "core/engine/scale.h"

/* What a list of counts takes, with where each block begins behind it. */
static size_t list_entries(u32 ranks)
{
	return size_mul(2, ranks);
}

static int read_counts(struct tor_session *session, u64 *to, u64 from, u32 ranks)
{
	if (copy_from_user(to, u64_to_user_ptr(from), array_size(ranks, sizeof(*to))))
		return tor_refuse(session, -EFAULT, "the counts cannot be read");
	if (!tor_desc_counts_fit(to, ranks))
		return tor_refuse(session, -EINVAL, "the counts' sum is too large");
	tor_plan_starts(to, ranks, to + ranks);
	return 0;
}

static u64 counts_bytes(const struct tor_group *group, const struct torcoll_submit *desc)
{
	u32 lists = !!desc->counts + !!desc->recv_counts;

	return array3_size(lists, list_entries(group->comm.ranks), sizeof(u64));
}

int tor_buffers_counts(struct tor_session *session, struct tor_group *group,
		       const struct torcoll_submit *desc, u64 **counts)
{
	u64 bytes = counts_bytes(group, desc);
	u32 ranks = group->comm.ranks;
	int err;

	*counts = NULL;
	if (!bytes)
		return 0;
	/* before it is allocated: this may wait for other threads that submit */
	if (tor_user_charge(group->user, TOR_LIMIT_KERNEL, bytes))
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_KERNEL));
	*counts = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!*counts) {
		tor_user_uncharge(group->user, TOR_LIMIT_KERNEL, bytes);
		return tor_refuse(session, -ENOMEM, "no memory for %u counts", ranks);
	}
	err = read_counts(session, *counts, desc->counts, ranks);
	if (!err && desc->recv_counts)
		err = read_counts(session, *counts + list_entries(ranks), desc->recv_counts, ranks);
	if (err)
		tor_buffers_drop_counts(group, desc, *counts);
	return err;
}

void tor_buffers_keep_counts(struct tor_slot *slot, const struct torcoll_submit *desc, u64 *counts)
{
	slot->counts = counts;
	slot->counts_bytes = counts_bytes(slot->group, desc);
}

void tor_buffers_drop_counts(struct tor_group *group, const struct torcoll_submit *desc,
			     u64 *counts)
{
	if (!counts)
		return;
	kvfree(counts);
	tor_user_uncharge(group->user, TOR_LIMIT_KERNEL, counts_bytes(group, desc));
}

/* A buffer of a descriptor, and its place in the slot. */
struct given {
	u32 which;
	u32 region;
	u64 addr;
};

static struct given sent(const struct torcoll_submit *desc)
{
	return (struct given){ TOR_PAGES_SEND, desc->send_region, desc->send_addr };
}

static struct given received(const struct torcoll_submit *desc)
{
	return (struct given){ TOR_PAGES_RECV, desc->recv_region, desc->recv_addr };
}

static bool is_copied(const struct given *given, u64 length)
{
	return !given->region && length <= TOR_COPY_MAX;
}

/* Programs with tagged pointers give the same memory by several addresses. */
static u64 given_off(const struct given *given, const struct tor_pages *pages)
{
	return untagged_addr(given->addr) - pages->addr;
}

/* Find or pin one buffer, and record it in the slot. */
static int buffers_get_one(struct tor_session *session, struct tor_slot *slot,
			   const struct given *given, u64 length, struct tor_mem *mem)
{
	struct tor_pages *pages;

	if (given->region) {
		pages = tor_session_region(session, given->region, given->addr, length);
		if (IS_ERR(pages))
			return PTR_ERR(pages);
	} else {
		pages = tor_session_pin(session, given->addr, length, false);
		if (IS_ERR(pages))
			return PTR_ERR(pages);
		slot->pinned = true;
	}
	slot->pages[given->which] = pages;
	*mem = (struct tor_mem){ .pages = pages, .off = given_off(given, pages), .len = length };
	return 0;
}

static int no_own(struct tor_session *session, int err, u64 length)
{
	if (err == -EDQUOT)
		return tor_refuse(session, err, "%llu bytes of temporaries: %s", length,
				  tor_limit_sentence(TOR_LIMIT_KERNEL));
	return tor_refuse(session, err, "no memory for %llu bytes of temporaries", length);
}

/*
 * Return a piece of the slot's own memory; only the first short op allocates
 * it.
 */
static int buffers_get_scratch(struct tor_session *session, struct tor_slot *slot, u64 length,
			       struct tor_mem *mem)
{
	struct tor_pages *pages = slot->scratch;

	if (!pages) {
		/* a process may see more of it than the op has written */
		pages = tor_pages_alloc(session->user, TOR_SCRATCH, __GFP_ZERO);
		if (IS_ERR(pages))
			return no_own(session, PTR_ERR(pages), length);
		slot->scratch = pages;
		atomic_inc(&slot->group->scratches);
	}
	*mem = (struct tor_mem){ .pages = pages, .off = slot->scratch_used, .len = length };
	slot->scratch_used += ALIGN(length, SMP_CACHE_BYTES);
	return 0;
}

static struct tor_pages *get_pages(struct tor_user *user, struct tor_group *group, u64 length)
{
	struct tor_pages *pages = tor_spare_take(group, length);

	if (pages)
		return pages;
	pages = tor_pages_alloc(user, length, 0);
	/* a memory cgroup may have room when spares are freed */
	if (pages == ERR_PTR(-ENOMEM)) {
		tor_spare_reclaim(user);
		pages = tor_pages_alloc(user, length, 0);
	}
	return pages;
}

int tor_buffers_get_own(struct tor_session *session, struct tor_slot *slot, u32 which, u64 length,
			struct tor_mem *mem)
{
	struct tor_pages *pages;

	/* copied buffers come first, and always find room here */
	BUILD_BUG_ON(TOR_SCRATCH < TOR_COPY_MAX);
	if (length <= TOR_SCRATCH - slot->scratch_used)
		return buffers_get_scratch(session, slot, length, mem);
	pages = get_pages(session->user, slot->group, length);
	if (IS_ERR(pages))
		return no_own(session, PTR_ERR(pages), length);
	slot->pages[which] = pages;
	slot->own |= BIT(which);
	*mem = (struct tor_mem){ .pages = pages, .len = length };
	return 0;
}

static struct tor_mem mem_part(const struct tor_mem *mem, struct tor_part part)
{
	return (struct tor_mem){ .pages = mem->pages, .off = mem->off + part.off, .len = part.len };
}

/* Fill @to from the caller's buffer. */
static int copy_in(struct tor_session *session, const struct given *from, const struct tor_mem *to)
{
	struct tor_pages *pages;
	struct tor_mem mem;

	if (!from->region)
		return !tor_mem_from_user(to, u64_to_user_ptr(from->addr)) ? 0 :
		       tor_refuse(session, -EFAULT, "cannot read %llu bytes at %#llx", to->len,
				  from->addr);
	pages = tor_session_region(session, from->region, from->addr, to->len);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	mem = (struct tor_mem){ .pages = pages, .off = given_off(from, pages), .len = to->len };
	tor_mem_copy(to, &mem);
	tor_pages_put(pages);
	return 0;
}

/*
 * Return whether the result can be written to the caller's memory. Called
 * before anything is sent; these bytes belong to the op alone.
 */
static bool is_writable(u64 addr, u64 length)
{
	u64 at = addr, end = addr + length;
	u8 byte;

	if (end < addr)
		return false;
	while (at < end) {
		if (get_user(byte, (u8 __user *)u64_to_user_ptr(at)) ||
		    put_user(byte, (u8 __user *)u64_to_user_ptr(at)))
			return false;
		at = (at & PAGE_MASK) + PAGE_SIZE;
		cond_resched();
	}
	return true;
}

/*
 * The result is at @from when the op is done: arrange its copy to the caller's
 * buffer.
 */
static int buffers_get_result(struct tor_session *session, struct tor_slot *slot,
			      const struct given *to, struct tor_mem from)
{
	slot->result = from;
	if (to->region) {
		slot->copy_from = from;
		return buffers_get_one(session, slot, to, from.len, &slot->result);
	}
	if (!is_writable(to->addr, from.len))
		return tor_refuse(session, -EFAULT, "cannot write %llu bytes at %#llx", from.len,
				  to->addr);
	slot->copy_to = to->addr;
	slot->mm = current->mm;
	/* to distinguish it from others, even after its end */
	mmgrab(slot->mm);
	return 0;
}

/* Get a buffer that is only sent, if possible without a copy. */
static int buffers_get_input(struct tor_session *session, struct tor_slot *slot,
			     const struct given *from, u64 length, struct tor_mem *mem)
{
	int err;

	if (!is_copied(from, length)) {
		err = buffers_get_one(session, slot, from, length, mem);
		/* some memory can be read but not pinned */
		if (err != -EFAULT || from->region)
			return err;
		tor_refuse_nothing(session);
	}
	err = tor_buffers_get_own(session, slot, from->which, length, mem);
	return err ? err : copy_in(session, from, mem);
}

/* The buffers of an op whose input and result are parts of one vector. */
struct layout {
	struct given from, to;
	struct tor_part send, recv;
	u64 length;
	bool in_place;
	bool input;	/* the vector is the input, and not written */
};

/* Return whether a rank that sends the whole vector never writes it. */
static bool is_input(u32 collective)
{
	return collective == TORCOLL_SCATTER || collective == TORCOLL_SEND ||
	       collective == TORCOLL_BROADCAST;
}

static int find_layout(struct tor_session *session, const struct tor_slot *slot,
		       const struct torcoll_submit *desc, struct layout *l)
{
	l->from = sent(desc);
	l->to = received(desc);
	l->length = slot->op.plan.call.count * slot->op.elem;
	tor_parts_find(&slot->op, &l->send, &l->recv);
	l->in_place = tor_parts_in_place(untagged_addr(l->from.addr), &l->send,
					 untagged_addr(l->to.addr), &l->recv);
	if (!l->in_place && tor_parts_overlap(untagged_addr(l->from.addr), l->send.len,
					      untagged_addr(l->to.addr), l->recv.len))
		return tor_refuse(session, -EINVAL, "the buffers overlap without being in place");
	/*
	 * a root has already what it would get from itself, in memory that it
	 * may not be able to write
	 */
	if (l->in_place && (desc->collective == TORCOLL_BROADCAST ||
			    desc->collective == TORCOLL_SCATTER)) {
		l->recv.len = 0;
		l->in_place = false;
	}
	l->input = l->send.len && !l->in_place && is_input(desc->collective);
	return 0;
}

/*
 * Return the caller's buffer that is the whole vector, if the plan can work in
 * it.
 */
static const struct given *whole_vector(const struct layout *l)
{
	const struct given *whole = NULL;

	if (l->in_place && l->send.len > l->recv.len)
		whole = &l->from;
	else if (l->recv.len == l->length && !l->input)
		whole = &l->to;
	return whole && !is_copied(whole, l->length) ? whole : NULL;
}

static bool buffers_may_stay(const struct tor_slot *slot, const struct layout *l)
{
	return l->from.region && l->send.len == l->length && l->length > TOR_COPY_MAX &&
	       tor_input_may_stay(&slot->op);
}

static void give_back_taken(struct tor_slot *slot)
{
	kvfree(slot->taken);
	slot->taken = NULL;
	tor_user_uncharge(slot->group->user, TOR_LIMIT_KERNEL, slot->taken_bytes);
	slot->taken_bytes = 0;
}

/* Allocate the bitmap of the input; false: no memory. */
static bool buffers_get_taken(struct tor_slot *slot)
{
	u64 bytes = tor_input_bytes(&slot->op);

	if (tor_user_charge(slot->group->user, TOR_LIMIT_KERNEL, bytes))
		return false;
	slot->taken_bytes = bytes;
	slot->taken = kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!slot->taken)
		give_back_taken(slot);
	return slot->taken;
}

/* Fill the vector with the input, unless the input can stay in place. */
static int buffers_get_first(struct tor_session *session, struct tor_slot *slot,
			     const struct layout *l)
{
	struct tor_mem part = mem_part(&slot->data, l->send);
	int err;

	if (!buffers_may_stay(slot, l) || !buffers_get_taken(slot))
		return copy_in(session, &l->from, &part);
	err = buffers_get_one(session, slot, &l->from, l->length, &slot->input);
	if (err)
		return err;
	slot->op.data = &slot->data;
	tor_input_begin(&slot->op, &slot->input, slot->taken);
	return 0;
}

static int get_vector(struct tor_session *session, struct tor_slot *slot, const struct layout *l)
{
	const struct given *whole = whole_vector(l);
	int err;

	if (l->input)
		return buffers_get_input(session, slot, &l->from, l->length, &slot->data);
	err = whole ? buffers_get_one(session, slot, whole, l->length, &slot->data) :
		      tor_buffers_get_own(session, slot, TOR_PAGES_VECTOR, l->length, &slot->data);
	if (err || !l->send.len || (whole && l->in_place))
		return err;
	return buffers_get_first(session, slot, l);
}

static int get_parts(struct tor_session *session, struct tor_slot *slot,
		     const struct torcoll_submit *desc)
{
	struct layout l __uninitialized;
	struct tor_mem result;
	int err;

	err = find_layout(session, slot, desc, &l);
	if (!err)
		err = get_vector(session, slot, &l);
	if (err || !l.recv.len)
		return err;
	result = mem_part(&slot->data, l.recv);
	if (!whole_vector(&l))
		return buffers_get_result(session, slot, &l.to, result);
	slot->result = result;
	return 0;
}

#define CHUNK	(64 << 10)	/* bytes that are scaled before others may run */

static void average(const struct tor_op *op, const struct tor_mem *mem)
{
	struct tor_part part;

	for (part.off = 0; part.off < mem->len; part.off += part.len) {
		struct tor_mem chunk;

		part.len = min_t(u64, mem->len - part.off, CHUNK);
		chunk = mem_part(mem, part);
		tor_scale_average(op, &chunk, part.len);
		cond_resched();
	}
}

static void multiply(const struct tor_op *op, const struct tor_mem *mem, const void *factor)
{
	struct tor_part part;

	for (part.off = 0; part.off < mem->len; part.off += part.len) {
		struct tor_mem chunk;

		part.len = min_t(u64, mem->len - part.off, CHUNK);
		chunk = mem_part(mem, part);
		tor_scale_multiply(op, &chunk, part.len, factor);
		cond_resched();
	}
}

static int buffers_get_factor(struct tor_session *session, struct tor_slot *slot,
			      const struct torcoll_submit *desc)
{
	if (copy_from_user(slot->factor, u64_to_user_ptr(desc->scalar), slot->op.elem))
		return tor_refuse(session, -EFAULT, "the factor cannot be read");
	slot->multiplies = true;
	return 0;
}

void tor_buffers_premultiply(struct tor_slot *slot)
{
	if (slot->multiplies)
		multiply(&slot->op, &slot->data, slot->factor);
	slot->multiplies = false;
}

/*
 * Get the buffers of a plan with an input: input and result are vectors of
 * their own, the user's if they are long; in place, the input is a copy.
 */
static int buffers_get_exchanged(struct tor_session *session, struct tor_slot *slot,
				 const struct torcoll_submit *desc)
{
	u64 bytes = tor_parts_input(&slot->op), length = slot->op.plan.call.count * slot->op.elem;
	u64 send_addr = untagged_addr(desc->send_addr), recv_addr = untagged_addr(desc->recv_addr);
	bool in_place = bytes && length && send_addr == recv_addr;
	struct given from = sent(desc), to = received(desc);
	int err = 0;

	if (!in_place && tor_parts_overlap(send_addr, bytes, recv_addr, length))
		return tor_refuse(session, -EINVAL,
				  "the buffers overlap without being in place");
	if (length && is_copied(&to, length)) {
		err = tor_buffers_get_own(session, slot, TOR_PAGES_VECTOR, length, &slot->data);
		if (!err)
			err = buffers_get_result(session, slot, &to, slot->data);
	} else if (length) {
		err = buffers_get_one(session, slot, &to, length, &slot->data);
	}
	if (err || !bytes)
		return err;
	if (!in_place)
		return buffers_get_input(session, slot, &from, bytes, &slot->temp);
	err = tor_buffers_get_own(session, slot, TOR_PAGES_TEMP, bytes, &slot->temp);
	return err ? err : copy_in(session, &from, &slot->temp);
}

static int get_temporaries(struct tor_session *session, struct tor_slot *slot)
{
	u64 bytes = tor_op_temp_bytes(&slot->op);

	return bytes ? tor_buffers_get_own(session, slot, TOR_PAGES_TEMP, bytes, &slot->temp) : 0;
}

static int buffers_charge(struct tor_session *session, struct tor_slot *slot)
{
	if (tor_user_charge(slot->group->user, TOR_LIMIT_OPS, 1))
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_OPS));
	slot->charged = true;
	return 0;
}

int tor_buffers_get(struct tor_session *session, struct tor_slot *slot,
		    const struct torcoll_submit *desc)
{
	int err;

	slot->result.len = 0;
	slot->copy_from.len = 0;
	slot->pinned = false;
	slot->multiplies = false;
	err = buffers_charge(session, slot);
	if (err)
		return err;
	if (slot->op.plan.shape.input)
		return buffers_get_exchanged(session, slot, desc);
	if (!slot->op.plan.call.count)
		return 0;
	err = get_parts(session, slot, desc);
	if (!err)
		err = get_temporaries(session, slot);
	if (!err && slot->op.call.redop == TORCOLL_PREMULSUM)
		err = buffers_get_factor(session, slot, desc);
	return err;
}

int tor_buffers_result(struct tor_session *session, struct tor_slot *slot)
{
	if (slot->copy_from.len)
		tor_mem_copy(&slot->result, &slot->copy_from);
	if (slot->op.call.redop == TORCOLL_AVG && slot->result.len)
		average(&slot->op, &slot->result);
	if (!slot->mm)
		return 0;
	/* the address is valid in that process only */
	if (current->mm == slot->mm &&
	    !tor_mem_to_user(u64_to_user_ptr(slot->copy_to), &slot->result))
		return 0;
	return tor_refuse(session, -EFAULT, "cannot write the result, %llu bytes, at %#llx",
			  slot->result.len, slot->copy_to);
}

void tor_buffers_put(struct tor_slot *slot)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slot->pages); i++) {
		if (!slot->pages[i])
			continue;
		if (slot->own & BIT(i))
			tor_spare_put(slot->group, slot->pages[i]);
		else
			tor_pages_put(slot->pages[i]);
		slot->pages[i] = NULL;
	}
	slot->own = 0;
	slot->scratch_used = 0;
	if (slot->mm)
		mmdrop(slot->mm);
	slot->mm = NULL;
	if (slot->charged) {
		tor_user_uncharge(slot->group->user, TOR_LIMIT_OPS, 1);
		slot->charged = false;
	}
	if (slot->taken)
		give_back_taken(slot);
	if (slot->counts) {
		kvfree(slot->counts);
		tor_user_uncharge(slot->group->user, TOR_LIMIT_KERNEL, slot->counts_bytes);
	}
	slot->counts = NULL;
}
