// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers. See buffers.h.
 *
 * A plan works in one vector of count elements, whatever the collective. Where the caller's receive buffer
 * is that long, it is the vector. Where it is not, as in a reduce-scatter, and at ranks other than
 * the root in a reduce or gather, the vector is memory of the module, so that a send buffer is never
 * written; unless the caller says by the addresses that the op is in place. What a scatter's root sends
 * is the vector as it is, since nothing is written there.
 */
#include "buffers.h"

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/torcoll.h>
#include <linux/uaccess.h>

#include "scale.h"
#include "session.h"

/* Elements that are sent, where that is another vector than what is received. */
static u64 input_count(const struct tor_plan_req *req)
{
	u64 sum = 0;
	u32 i;

	if (!req->from_counts)
		return req->count;
	for (i = 0; i < req->ranks; i++)
		sum += req->counts[i];
	return sum;
}

/* A part of the vector, bytes. */
struct part {
	u64 off;
	u64 len;
};

static int read_counts(struct tor_session *session, u64 *to, u64 from, u32 ranks)
{
	u64 sum = 0;
	u32 i;

	if (copy_from_user(to, u64_to_user_ptr(from), array_size(ranks, sizeof(*to))))
		return tor_refuse(session, -EFAULT, "the counts cannot be read");
	for (i = 0; i < ranks; i++)
		if (check_add_overflow(sum, to[i], &sum) || sum > S64_MAX / 16)
			return tor_refuse(session, -EINVAL, "the counts' sum is too large");
	return 0;
}

int tor_buffers_counts(struct tor_session *session, const struct tor_comm *comm,
		       const struct torcoll_submit *desc, u64 **counts)
{
	u32 lists = !!desc->counts + !!desc->recv_counts;
	u64 *list;
	int err;

	*counts = NULL;
	if (!lists)
		return 0;
	list = kvmalloc_array(size_mul(lists, comm->ranks), sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return tor_refuse(session, -ENOMEM, "no memory for %u counts", comm->ranks);
	err = read_counts(session, list, desc->counts, comm->ranks);
	if (!err && desc->recv_counts)
		err = read_counts(session, list + comm->ranks, desc->recv_counts, comm->ranks);
	if (err)
		kvfree(list);
	else
		*counts = list;
	return err;
}

static struct part own_block(const struct tor_op *op)
{
	const struct tor_plan_req *req = &op->plan.req;
	u32 rank = op->plan.rank;
	struct part block = {};
	u32 i;

	if (req->counts) {
		for (i = 0; i < rank; i++)
			block.off += req->counts[i];
		block.len = req->counts[rank];
	} else {
		block.off = tor_block_start(req->count, req->ranks, rank);
		block.len = tor_block_len(req->count, req->ranks, rank);
	}
	block.off *= op->elem;
	block.len *= op->elem;
	return block;
}

/* Which parts of the vector the caller's buffers are. A length of 0: the buffer means nothing. */
static void find_parts(const struct tor_op *op, struct part *send, struct part *recv)
{
	const struct tor_plan_req *req = &op->plan.req;
	struct part whole = { .len = req->count * op->elem };
	bool at_root = op->plan.rank == req->root;

	*send = whole;
	*recv = whole;
	switch (req->collective) {
	case TORCOLL_REDUCE_SCATTER:
		*recv = own_block(op);
		break;
	case TORCOLL_ALLGATHER:
		*send = own_block(op);
		break;
	case TORCOLL_BROADCAST:
		if (!at_root)
			send->len = 0;
		break;
	case TORCOLL_REDUCE:
		if (!at_root)
			recv->len = 0;
		break;
	case TORCOLL_GATHER:
		*send = own_block(op);
		if (!at_root)
			recv->len = 0;
		break;
	case TORCOLL_SCATTER:
		*recv = own_block(op);
		if (!at_root)
			send->len = 0;
		break;
	}
	/* a barrier's vector is nobody's */
	if (op->collective == TORCOLL_BARRIER) {
		send->len = 0;
		recv->len = 0;
	}
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
		pages = tor_session_pin(session, addr, length, false);
		if (IS_ERR(pages))
			return PTR_ERR(pages);
		slot->pinned = true;
	}
	slot->pages[which] = pages;
	mem->pages = pages;
	mem->off = addr - pages->addr;
	mem->len = length;
	return 0;
}

static int get_own(struct tor_session *session, struct tor_slot *slot, u32 which, u64 length,
		   struct tor_mem *mem)
{
	struct tor_pages *pages = tor_pages_alloc(session->user, length, 0);

	if (pages == ERR_PTR(-EDQUOT))
		return tor_refuse(session, -EDQUOT, "%llu bytes of temporaries: %s", length,
				  tor_limit_sentence(TOR_LIMIT_KERNEL));
	if (IS_ERR(pages))
		return tor_refuse(session, PTR_ERR(pages), "no memory for %llu bytes of temporaries",
				  length);
	slot->pages[which] = pages;
	mem->pages = pages;
	mem->off = 0;
	mem->len = length;
	return 0;
}

static bool overlap(u64 a, u64 alen, u64 b, u64 blen)
{
	return alen && blen && a < b + blen && b < a + alen;
}

static struct tor_mem mem_part(const struct tor_mem *mem, struct part part)
{
	return (struct tor_mem){ .pages = mem->pages, .off = mem->off + part.off, .len = part.len };
}

static int get_vector(struct tor_session *session, struct tor_slot *slot,
		      const struct torcoll_submit *desc)
{
	u64 length = slot->op.plan.req.count * slot->op.elem;
	struct tor_mem input, to;
	struct part send, recv;
	bool in_place;
	int err;

	find_parts(&slot->op, &send, &recv);
	slot->result_off = recv.off;
	in_place = send.len && recv.len &&
		   desc->send_addr - send.off == desc->recv_addr - recv.off;
	if (!in_place && overlap(desc->send_addr, send.len, desc->recv_addr, recv.len))
		return tor_refuse(session, -EINVAL,
				  "the buffers overlap without being in place");
	if (in_place && send.len > recv.len) {
		err = get_buffer(session, slot, TOR_PAGES_SEND, desc->send_region,
				 desc->send_addr, length, &slot->data);
		if (!err)
			slot->result = mem_part(&slot->data, recv);
		return err;
	}
	if (recv.len) {
		err = get_buffer(session, slot, TOR_PAGES_RECV, desc->recv_region,
				 desc->recv_addr, recv.len, &slot->result);
		if (err)
			return err;
		slot->data = slot->result;
	}
	if (send.len && !in_place) {
		err = get_buffer(session, slot, TOR_PAGES_SEND, desc->send_region,
				 desc->send_addr, send.len, &input);
		if (err)
			return err;
	}
	if (desc->collective == TORCOLL_SCATTER && send.len && !in_place) {
		slot->data = input;
		slot->copy_result = recv.len;
		return 0;
	}
	slot->copy_result = recv.len && recv.len < length;
	if (recv.len < length) {
		err = get_own(session, slot, TOR_PAGES_VECTOR, length, &slot->data);
		if (err)
			return err;
	}
	if (send.len && !in_place) {
		to = mem_part(&slot->data, send);
		tor_mem_copy(&to, &input);
	}
	return 0;
}

/* Every rank's input is multiplied by its factor before anything is sent. */
static int premultiply(struct tor_session *session, struct tor_slot *slot,
		       const struct torcoll_submit *desc)
{
	u8 factor[sizeof(u64)];

	if (copy_from_user(factor, u64_to_user_ptr(desc->scalar), slot->op.elem))
		return tor_refuse(session, -EFAULT, "the factor cannot be read");
	tor_scale_multiply(&slot->op, &slot->data, slot->data.len, factor);
	return 0;
}

/*
 * Where the plan has an input, what is sent and what is received are vectors of their own, and the user's; in place, the
 * input is a copy of ours.
 */
static int get_exchanged(struct tor_session *session, struct tor_slot *slot,
			 const struct torcoll_submit *desc)
{
	u64 from = input_count(&slot->op.plan.req) * slot->op.elem;
	u64 length = slot->op.plan.req.count * slot->op.elem;
	bool in_place = from && length && desc->send_addr == desc->recv_addr;
	struct tor_mem input;
	int err = 0;

	if (!in_place && overlap(desc->send_addr, from, desc->recv_addr, length))
		return tor_refuse(session, -EINVAL,
				  "the buffers overlap without being in place");
	if (length)
		err = get_buffer(session, slot, TOR_PAGES_RECV, desc->recv_region,
				 desc->recv_addr, length, &slot->data);
	if (err || !from)
		return err;
	err = get_buffer(session, slot, TOR_PAGES_SEND, desc->send_region, desc->send_addr, from,
			 &slot->temp);
	if (err || !in_place)
		return err;
	input = slot->temp;
	err = get_own(session, slot, TOR_PAGES_TEMP, from, &slot->temp);
	if (!err)
		tor_mem_copy(&slot->temp, &input);
	return err;
}

static int get_temporaries(struct tor_session *session, struct tor_slot *slot)
{
	u64 bytes = tor_op_temp_bytes(&slot->op);

	return bytes ? get_own(session, slot, TOR_PAGES_TEMP, bytes, &slot->temp) : 0;
}

static u64 counts_bytes(const struct tor_slot *slot)
{
	u32 lists = slot->counts ? 1 + !!slot->op.plan.req.from_counts : 0;

	return array3_size(lists, slot->op.comm->ranks, sizeof(*slot->counts));
}

/* One op more, with its counts. */
static int charge(struct tor_session *session, struct tor_slot *slot)
{
	struct tor_user *user = slot->group->user;

	if (tor_user_charge(user, TOR_LIMIT_OPS, 1))
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_OPS));
	if (tor_user_charge(user, TOR_LIMIT_KERNEL, counts_bytes(slot))) {
		tor_user_uncharge(user, TOR_LIMIT_OPS, 1);
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_KERNEL));
	}
	slot->charged = true;
	return 0;
}

int tor_buffers_get(struct tor_session *session, struct tor_slot *slot,
		    const struct torcoll_submit *desc)
{
	int err;

	slot->result.len = 0;
	slot->copy_result = false;
	slot->pinned = false;
	err = charge(session, slot);
	if (err)
		return err;
	if (slot->op.plan.shape.input)
		return get_exchanged(session, slot, desc);
	if (!slot->op.plan.req.count)
		return 0;
	err = get_vector(session, slot, desc);
	if (!err)
		err = get_temporaries(session, slot);
	/* last: in place this changes the user's vector, and a refusal must not */
	if (!err && slot->op.redop == TORCOLL_PREMULSUM)
		err = premultiply(session, slot, desc);
	return err;
}

void tor_buffers_result(struct tor_slot *slot)
{
	struct part part = { .off = slot->result_off, .len = slot->result.len };
	struct tor_mem from = mem_part(&slot->data, part);

	if (slot->copy_result)
		tor_mem_copy(&slot->result, &from);
	if (slot->op.redop == TORCOLL_AVG && slot->result.len)
		tor_scale_average(&slot->op, &slot->result, slot->result.len);
}

void tor_buffers_put(struct tor_slot *slot)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slot->pages); i++) {
		if (!slot->pages[i])
			continue;
		tor_pages_put(slot->pages[i]);
		slot->pages[i] = NULL;
	}
	if (slot->charged) {
		tor_user_uncharge(slot->group->user, TOR_LIMIT_KERNEL, counts_bytes(slot));
		tor_user_uncharge(slot->group->user, TOR_LIMIT_OPS, 1);
		slot->charged = false;
	}
	kvfree(slot->counts);
	slot->counts = NULL;
}
