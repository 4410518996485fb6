// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Begin of ops: plan the call, compute its digest, which is compared with that
 * of other ranks, and record it. See engine.h.
 */
#include "core/choose/auto.h"
#include "core/engine/engine.h"
#include "core/engine/scale.h"

#define DIGEST_HASH_KEY		0x6469676573740000ULL

static u64 counts_digest(const struct tor_plan_req *req)
{
	__be64 word[2] = {};
	u32 i;

	/* in an alltoall they differ by rank: see tor_op_transfer_digest() */
	for (i = 0; req->counts && !req->from_counts && i < req->ranks; i++) {
		word[0] = cpu_to_be64(req->counts[i]);
		word[1] = cpu_to_be64(tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY));
	}
	return be64_to_cpu(word[1]);
}

u32 tor_op_digest(const struct tor_plan_req *req, u32 type, u32 redop, u32 bits)
{
	u64 word[6 + TORCOLL_PARAM_COUNT];
	u32 i, digest;

	word[0] = (u64)req->collective << 32 | req->algorithm;
	word[1] = (u64)type << 32 | redop;
	word[2] = (u64)bits << 32 | req->root;
	word[3] = req->from_counts ? ~0ULL : req->count;
	word[4] = counts_digest(req);
	word[5] = req->ranks;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		word[6 + i] = req->param[i];
	/* hosts of different byte order must compute the same */
	for (i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = (__force u64)cpu_to_be64(word[i]);
	digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	return digest ? digest : 1;
}

static int make_plan(struct tor_op *op, const struct tor_plan_req *called, u32 type, u32 redop,
		     u32 bits, const char **why)
{
	if (op->role)
		return tor_plan_message(&op->plan, called, op->comm->rank, why);
	if (called->algorithm != TORCOLL_ALGO_AUTO)
		return tor_plan_init(&op->plan, called, op->comm->rank, why);
	return tor_auto_plan(&op->plan, op->comm->chooser, called,
			     tor_level_of(called->collective, type, redop, bits), op->elem,
			     op->comm->rank, why);
}

static bool is_reduction(u32 collective)
{
	return collective == TORCOLL_BARRIER || tor_collective_reduces(collective);
}

/* Find the element type and the reduction of a call. */
static int find_reduction(struct tor_op *op, u32 collective, u32 type, u32 redop, const char **why)
{
	bool scans = collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN;
	bool reduces = is_reduction(collective);

	op->elem = tor_type_size(type);
	op->reduce = reduces ? tor_reduce_kernel(type, redop) : NULL;
	if (!op->elem || (reduces && !op->reduce)) {
		*why = "the type does not support this operator";
		return -EOPNOTSUPP;
	}
	if (redop == TORCOLL_AVG && (scans || !tor_scale_divides(type, op->comm->ranks))) {
		*why = "an average needs a type that holds the number of ranks; scans have none";
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Check that comm and bit level permit this plan. */
static int check_plan(const struct tor_op *op, u32 collective, u32 type, u32 redop, u32 bits,
		      const char **why)
{
	const struct tor_plan_shape *shape = &op->plan.shape;

	if (shape->channels > tor_op_channels(op))
		*why = "the plan has more channels than the comm";
	else if (shape->rounds > U16_MAX)
		*why = "the plan has more rounds than fit in a frame's field";
	/*
	 * in other collectives one rank alone computes each element of the
	 * result
	 */
	else if (collective == TORCOLL_ALLREDUCE && !tor_reduce_exact(type, redop) &&
		 bits != TORCOLL_BITS_RELAXED && !shape->agrees)
		*why = "this algorithm cannot give the same float bits on every rank";
	else if (is_reduction(collective) && !tor_reduce_exact(type, redop) &&
		 bits == TORCOLL_BITS_ORDERED && !shape->sequential)
		*why = "this algorithm does not reduce in the order of ranks";
	else
		return 0;
	return -EOPNOTSUPP;
}

/*
 * Fill in the call from @req, except plan and digest; its algorithm is the
 * chosen one.
 */
static void set_call(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		     u32 bits)
{
	bool reduces = is_reduction(req->collective);

	op->own_lengths = req->from_counts;
	op->lengths = NULL;
	op->input = NULL;
	op->is_float = reduces && tor_type_is_float(type);
	op->ordered = reduces && !tor_reduce_exact(type, redop);
	/* callers may look for the op earlier */
	WRITE_ONCE(op->seq, seq);
	op->type = type;
	op->redop = redop;
	op->collective = req->collective;
	op->call = (struct tor_call){
		.count = req->count,
		.rank = op->comm->rank,
		.root = op->role ? op->peer : req->root,
		.collective = req->collective,
		.type = type,
		.redop = redop,
		.bits = bits,
		.algorithm = op->plan.req.algorithm,
	};
	op->aborted = false;
	op->late = TOR_NO_RANK;
	atomic_set(&op->busy, op->plan.shape.channels);
	atomic_set(&op->open, op->plan.shape.channels);
}

/* Turn a barrier into the allreduce of one byte that executes it. */
static void make_barrier(struct tor_plan_req *called, u32 *type, u32 *redop)
{
	called->count = 1;
	*type = TORCOLL_U8;
	*redop = TORCOLL_BOR;
}

/*
 * Return whether the previous call in this slot was the same, so that its plan
 * and digest can be used again. They depend only on the following: plans are
 * pure functions of request and rank, AUTO's choices come from tables, and
 * digests are hashes of the request, of AUTO's choice, type, operator and bit
 * level. Of these
 *
 * - the request, type, operator and bit level are compared. Lists of counts
 *   belong to the caller, whose memory may have other contents the next time: a
 *   call with counts is always planned. Shape and members belong to the comm
 *   and do not change while it has ops: an heir of a shrunk comm is a comm of
 *   its own with its own slots;
 * - the tables of a comm are made for the rates that its ranks agreed upon when
 *   they joined, so that tuning a node affects only later comms. They are made
 *   when first needed and may be dropped, so their number of changes is
 *   compared.
 *
 * Failure does not matter: a failed comm begins no ops.
 */
static bool is_begun(const struct tor_op *op, const struct tor_plan_req *called, u32 type, u32 redop,
		     u32 bits)
{
	const struct tor_begun *b = &op->begun;
	const struct tor_plan_req *r = &b->called;

	return b->valid && !called->counts && !called->from_counts && r->count == called->count &&
	       r->collective == called->collective && r->algorithm == called->algorithm &&
	       r->root == called->root && r->peer == called->peer && r->ranks == called->ranks &&
	       r->torus == called->torus && r->members == called->members &&
	       !memcmp(r->param, called->param, sizeof(r->param)) &&
	       b->type == type && b->redop == redop && b->bits == bits &&
	       op->plan.rank == op->comm->rank && b->chooser == op->comm->chooser &&
	       b->changes == tor_chooser_changes(op->comm->chooser);
}

static int op_begin(struct tor_op *op, const struct tor_plan_req *called, u32 collective, u32 type,
		    u32 redop, u32 bits, const char **why)
{
	struct tor_plan_req chosen = *called;
	int err;

	op->begun.valid = false;
	op->plans++;
	err = find_reduction(op, collective, type, redop, why);
	if (!err)
		err = make_plan(op, called, type, redop, bits, why);
	if (!err)
		err = check_plan(op, collective, type, redop, bits, why);
	if (err)
		return err;
	/*
	 * with alternating buffers, ranks exchange the values that both then
	 * reduce
	 */
	if (op->reduce && op->plan.shape.alternates)
		op->reduce = tor_reduce_commuting(type, redop);
	chosen.algorithm = op->plan.req.algorithm;
	memcpy(chosen.param, op->plan.req.param, sizeof(chosen.param));
	op->begun = (struct tor_begun){
		.valid = !called->counts && !called->from_counts,
		.called = *called,
		.type = type,
		.redop = redop,
		.bits = bits,
		.chooser = op->comm->chooser,
		.changes = tor_chooser_changes(op->comm->chooser),
		.digest = tor_op_digest(&chosen, type, redop, bits),
	};
	return 0;
}

int tor_op_begin(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		 u32 bits, const char **why)
{
	struct tor_plan_req called = *req;
	int err;

	/* both ends of a message have the same digest */
	if (op->role)
		called.collective = TORCOLL_SEND;
	if (req->collective == TORCOLL_BARRIER)
		make_barrier(&called, &type, &redop);
	if (!is_begun(op, &called, type, redop, bits)) {
		err = op_begin(op, &called, req->collective, type, redop, bits, why);
		if (err)
			return err;
	}
	set_call(op, seq, req, type, redop, bits);
	op->digest = op->begun.digest;
	return 0;
}

int tor_op_describe(struct tor_op *op, u32 seq, const struct tor_plan_req *req, u32 type, u32 redop,
		    u32 bits, const char **why)
{
	struct tor_plan_req called = *req;
	int err;

	if (req->collective == TORCOLL_BARRIER)
		make_barrier(&called, &type, &redop);
	op->begun.valid = false;
	err = find_reduction(op, req->collective, type, redop, why);
	if (err)
		return err;
	op->plan = (struct tor_plan){
		.req = called,
		.rank = op->comm->rank,
		.shape = {
			.bufs = 1,
			.input = req->collective == TORCOLL_ALLTOALL ||
				 req->collective == TORCOLL_HALO,
		},
	};
	set_call(op, seq, req, type, redop, bits);
	op->digest = tor_op_digest(&called, type, redop, bits);
	return 0;
}

void tor_op_stand_for(struct tor_op *op, const struct tor_op *called)
{
	__be32 word[2] = { cpu_to_be32(called->digest), cpu_to_be32(op->digest) };
	u8 algorithm = op->call.algorithm;

	op->digest = tor_env_hash(word, sizeof(word), DIGEST_HASH_KEY);
	if (!op->digest)
		op->digest = 1;
	op->call = called->call;
	op->call.rank = tor_comm_first(op->comm, op->comm->rank);
	op->call.algorithm = algorithm;
}

u32 tor_op_transfer_digest(const struct tor_op *op, u32 rank, bool sends, u64 bytes)
{
	__be64 word = cpu_to_be64(bytes);
	u64 parts = 0;
	u32 digest;

	if (!op->own_lengths)
		return op->digest;
	if (op->lengths)
		parts = op->lengths[sends ? rank : op->plan.req.ranks + rank];
	digest = op->digest ^ (u32)tor_env_hash(&word, sizeof(word), DIGEST_HASH_KEY ^ parts);
	return digest ? digest : 1;
}

u64 tor_op_temp_bytes(const struct tor_op *op)
{
	const struct tor_plan *p = &op->plan;
	u64 bytes = p->temp.n * op->elem;
	u32 temps = p->shape.bufs - 1;

	if (p->shape.input || !temps)
		return 0;
	return bytes > ~0ULL / temps ? ~0ULL : bytes * temps;
}
