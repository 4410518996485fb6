// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Begin of ops: plan the call, compute its digest, which is compared with that
 * of other ranks, and record it. See engine.h.
 */
#include "core/choose/auto.h"
#include "core/engine/engine.h"
#include "core/engine/scale.h"

#define DIGEST_HASH_KEY		0x6469676573740000ULL

static u64 counts_digest(const struct tor_call *call)
{
	__be64 word[2] = {};
	u32 i;

	/* in an alltoall they differ by rank: see tor_op_transfer_digest() */
	for (i = 0; call->counts && !call->from_counts && i < call->ranks; i++) {
		word[0] = cpu_to_be64(call->counts[i]);
		word[1] = cpu_to_be64(tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY));
	}
	return be64_to_cpu(word[1]);
}

u32 tor_op_digest(const struct tor_call *call)
{
	u64 word[6 + TORCOLL_PARAM_COUNT];
	u32 i, digest;

	word[0] = (u64)call->collective << 32 | call->algorithm;
	word[1] = (u64)call->type << 32 | call->redop;
	word[2] = (u64)call->bits << 32 | call->root;
	word[3] = call->from_counts ? ~0ULL : call->count;
	word[4] = counts_digest(call);
	word[5] = call->ranks;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		word[6 + i] = call->param[i];
	/* hosts of different byte order must compute the same */
	for (i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = (__force u64)cpu_to_be64(word[i]);
	digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	return digest ? digest : 1;
}

/* Look at the members of a comm once: there may be very many. */
static void find_placement(struct tor_comm *comm, struct tor_call *call)
{
	if (!call->members || call->members != comm->member)
		return;
	if (!comm->is_placed)
		comm->is_placed = tor_placement_find(&comm->placed, call);
	if (comm->is_placed)
		call->placed = &comm->placed;
}

static int make_plan(struct tor_op *op, struct tor_call *call, const char **why)
{
	if (op->role)
		return tor_plan_message(&op->plan, call, op->comm->rank, why);
	find_placement(op->comm, call);
	if (call->algorithm != TORCOLL_ALGO_AUTO)
		return tor_plan_init(&op->plan, call, op->comm->rank, why);
	return tor_auto_plan(&op->plan, op->comm->chooser, call,
			     tor_level_of(call->collective, call->type, call->redop, call->bits),
			     op->elem, op->comm->rank, why);
}

static bool is_reduction(u32 collective)
{
	return collective == TORCOLL_BARRIER || tor_collective_reduces(collective);
}

/* Find the element type and the reduction of a call. */
static int find_reduction(struct tor_op *op, const struct tor_call *call, const char **why)
{
	bool scans = call->collective == TORCOLL_SCAN || call->collective == TORCOLL_EXSCAN;
	bool reduces = is_reduction(call->collective);

	op->elem = tor_type_size(call->type);
	op->reduce = reduces ? tor_reduce_kernel(call->type, call->redop) : NULL;
	if (!op->elem || (reduces && !op->reduce)) {
		*why = "the type does not support this operator";
		return -EOPNOTSUPP;
	}
	if (call->redop == TORCOLL_AVG &&
	    (scans || !tor_scale_divides(call->type, op->comm->ranks))) {
		*why = "an average needs a type that holds the number of ranks; scans have none";
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Check that comm and bit level permit this plan. */
static int check_plan(const struct tor_op *op, const struct tor_call *call, const char **why)
{
	const struct tor_plan_shape *shape = &op->plan.shape;
	bool rounds_off = is_reduction(call->collective) &&
			  !tor_reduce_exact(call->type, call->redop);

	if (shape->channels > tor_op_channels(op))
		*why = "the plan has more channels than the comm";
	else if (shape->rounds > U16_MAX)
		*why = "the plan has more rounds than fit in a frame's field";
	/*
	 * in other collectives one rank alone computes each element of the
	 * result
	 */
	else if (rounds_off && call->collective == TORCOLL_ALLREDUCE &&
		 call->bits != TORCOLL_BITS_RELAXED && !shape->agrees)
		*why = "this algorithm cannot give the same float bits on every rank";
	else if (rounds_off && call->bits == TORCOLL_BITS_ORDERED && !shape->sequential)
		*why = "this algorithm does not reduce in the order of ranks";
	else
		return 0;
	return -EOPNOTSUPP;
}

/*
 * Fill in what depends on op->call, except plan and digest; the algorithm that
 * is stated is the chosen one.
 */
static void set_call(struct tor_op *op, u32 seq)
{
	const struct tor_call *call = &op->call;
	bool reduces = is_reduction(call->collective);

	op->own_lengths = call->from_counts;
	op->lengths = NULL;
	op->input = NULL;
	op->is_float = reduces && tor_type_is_float(call->type);
	op->ordered = reduces && !tor_reduce_exact(call->type, call->redop);
	/* callers may look for the op earlier */
	WRITE_ONCE(op->seq, seq);
	op->stated = (struct tor_wire_call){
		.count = call->count,
		.rank = op->comm->rank,
		.root = op->role ? op->peer : call->root,
		.collective = call->collective,
		.type = call->type,
		.redop = call->redop,
		.bits = call->bits,
		.algorithm = op->plan.call.algorithm,
	};
	op->aborted = false;
	op->late = TOR_NO_RANK;
	atomic_set(&op->busy, op->plan.shape.channels);
	atomic_set(&op->open, op->plan.shape.channels);
}

/* A barrier is executed as an allreduce of one byte. */
static void fill_barrier(struct tor_call *call)
{
	call->count = 1;
	call->type = TORCOLL_U8;
	call->redop = TORCOLL_BOR;
}

/*
 * Return whether the previous call in this slot was the same, so that its plan
 * and digest can be used again. They depend only on the following: plans are
 * pure functions of call and rank, AUTO's choices come from tables, and digests
 * are hashes of the call and of AUTO's choice. Of these
 *
 * - the calls are compared. Lists of counts belong to the caller, whose memory
 *   may have other contents the next time: a call with counts is always
 *   planned. Shape and members belong to the comm and do not change while it
 *   has ops: an heir of a shrunk comm is a comm of its own with its own slots;
 * - the tables of a comm are made for the rates that its ranks agreed upon when
 *   they joined, so that tuning a node affects only later comms. They are made
 *   when first needed and may be dropped, so their number of changes is
 *   compared.
 *
 * Failure does not matter: a failed comm begins no ops.
 */
static bool is_begun(const struct tor_op *op, const struct tor_call *call)
{
	const struct tor_begun *b = &op->begun;
	const struct tor_call *c = &op->call;

	return b->valid && !call->counts && !call->from_counts && c->count == call->count &&
	       c->collective == call->collective && c->algorithm == call->algorithm &&
	       c->root == call->root && c->peer == call->peer && c->ranks == call->ranks &&
	       c->torus == call->torus && c->team == call->team && c->members == call->members &&
	       !memcmp(c->param, call->param, sizeof(c->param)) &&
	       c->type == call->type && c->redop == call->redop && c->bits == call->bits &&
	       op->plan.rank == op->comm->rank && b->chooser == op->comm->chooser &&
	       b->changes == tor_chooser_changes(op->comm->chooser);
}

static int op_begin(struct tor_op *op, const struct tor_call *call, const char **why)
{
	struct tor_call planned = *call;
	int err;

	op->begun.valid = false;
	op->plans++;
	/* both ends of a message have the same digest */
	if (op->role)
		planned.collective = TORCOLL_SEND;
	err = find_reduction(op, call, why);
	if (!err)
		err = make_plan(op, &planned, why);
	if (!err)
		err = check_plan(op, call, why);
	if (err)
		return err;
	/*
	 * with alternating buffers, ranks exchange the values that both then
	 * reduce
	 */
	if (op->reduce && op->plan.shape.alternates)
		op->reduce = tor_reduce_commuting(call->type, call->redop);
	planned.algorithm = op->plan.call.algorithm;
	memcpy(planned.param, op->plan.call.param, sizeof(planned.param));
	op->call = *call;
	op->begun = (struct tor_begun){
		.valid = !call->counts && !call->from_counts,
		.chooser = op->comm->chooser,
		.changes = tor_chooser_changes(op->comm->chooser),
		.digest = tor_op_digest(&planned),
	};
	return 0;
}

int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_call *asked, const char **why)
{
	struct tor_call call = *asked;
	int err;

	if (call.collective == TORCOLL_BARRIER)
		fill_barrier(&call);
	if (!is_begun(op, &call)) {
		err = op_begin(op, &call, why);
		if (err)
			return err;
	}
	set_call(op, seq);
	op->digest = op->begun.digest;
	return 0;
}

int tor_op_describe(struct tor_op *op, u32 seq, const struct tor_call *asked, const char **why)
{
	struct tor_call call = *asked;
	int err;

	if (call.collective == TORCOLL_BARRIER)
		fill_barrier(&call);
	op->begun.valid = false;
	op->plans++;
	err = find_reduction(op, &call, why);
	if (err)
		return err;
	op->call = call;
	op->plan = (struct tor_plan){
		.call = call,
		.rank = op->comm->rank,
		.shape = {
			.vectors = 1,
			.bufs = 1,
			.input = call.collective == TORCOLL_ALLTOALL ||
				 call.collective == TORCOLL_HALO,
		},
	};
	set_call(op, seq);
	op->digest = tor_op_digest(&call);
	return 0;
}

void tor_op_stand_for(struct tor_op *op, const struct tor_op *called)
{
	__be32 word[2] = { cpu_to_be32(called->digest), cpu_to_be32(op->digest) };
	u8 algorithm = op->stated.algorithm;

	op->digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	if (!op->digest)
		op->digest = 1;
	op->stated = called->stated;
	op->stated.rank = tor_comm_first(op->comm, op->comm->rank);
	op->stated.algorithm = algorithm;
}

u32 tor_op_transfer_digest(const struct tor_op *op, u32 rank, bool sends, u64 bytes)
{
	__be64 word = cpu_to_be64(bytes);
	u64 parts = 0;
	u32 digest;

	if (!op->own_lengths)
		return op->digest;
	if (op->lengths)
		parts = op->lengths[sends ? rank : op->plan.call.ranks + rank];
	digest = op->digest ^ (u32)tor_env_hash(&word, sizeof(word), DIGEST_HASH_KEY ^ parts);
	return digest ? digest : 1;
}

u64 tor_op_temp_bytes(const struct tor_op *op)
{
	const struct tor_plan *p = &op->plan;
	u64 bytes = p->temp.n * op->elem;
	u32 temps = p->shape.bufs - p->shape.vectors;

	if (p->shape.input || !temps)
		return 0;
	return bytes > ~0ULL / temps ? ~0ULL : bytes * temps;
}
