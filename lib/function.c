// SPDX-License-Identifier: MIT
/*
 * Operators of the program. The module cannot call them, so the ranks exchange
 * their vectors as bytes, and the library calls the operator: on all vectors if
 * they are short or the op is a scan; else each rank reduces a block, to which
 * all send theirs, and the blocks are brought together in a second step.
 */
#include <string.h>

#include "job.h"

/* Bytes of all vectors together up to which each rank gets all of them. */
#define GATHER_MAX	(256U << 10)

/* Parts of a job's memory for the blocks of an exchange: bytes for, and of, each rank. */
struct exchange {
	uint64_t *sent;
	uint64_t *received;
};

static uint64_t element(const struct torcoll__job *job)
{
	return job->function.element ? job->function.element : torcoll_type_size(job->op.type);
}

static int too_many(const struct torcoll__job *job)
{
	return torcoll__fail(-EINVAL, "%s: %llu elements are too many",
			     torcoll__op_name(job->op.collective),
			     (unsigned long long)job->op.count);
}

static uint64_t function_block(const struct torcoll__job *job, uint32_t rank)
{
	uint32_t size = job->comm->size;

	if (job->op.counts)
		return job->op.counts[rank];
	return job->op.count / size + (rank < job->op.count % size);
}

/* An op of the module that moves bytes. */
static struct torcoll_op bytes_op(const struct torcoll__job *job, enum torcoll_collective collective)
{
	return (struct torcoll_op){
		.collective = collective,
		.type = TORCOLL_U8,
		.deadline_ns = job->op.deadline_ns,
	};
}

/*
 * Reduce vectors of @count elements that follow each other at @vectors, the
 * first @n, into the last of them. Return it.
 */
static char *reduce_all(const struct torcoll__job *job, char *vectors, uint32_t n, uint64_t count)
{
	const struct torcoll_function *f = &job->function;
	uint64_t bytes = count * element(job);
	char *sum = vectors + (n - 1) * bytes;

	for (uint32_t i = n - 1; count && i-- > 0; )
		f->reduce(vectors + i * bytes, sum, count, f->arg);
	return sum;
}

/* ---- one step: all vectors on all ranks, or at the root ---- */

/* Return the number of ranks, from rank 0 on, whose vectors this rank reduces. */
static uint32_t summands(const struct torcoll__job *job)
{
	switch (job->op.collective) {
	case TORCOLL_SCAN:
		return job->comm->rank + 1;
	case TORCOLL_EXSCAN:
		return job->comm->rank;
	case TORCOLL_REDUCE:
		return job->comm->rank == job->op.root ? job->comm->size : 0;
	default:
		return job->comm->size;
	}
}

static void reduce_gathered(struct torcoll__job *job)
{
	uint32_t n = summands(job);

	if (n)
		memcpy(job->op.recv, reduce_all(job, job->result, n, job->op.count),
		       job->op.count * element(job));
}

static int gather_vectors(struct torcoll__job *job, uint64_t all)
{
	bool rooted = job->op.collective == TORCOLL_REDUCE;
	struct torcoll_op op = bytes_op(job, rooted ? TORCOLL_GATHER : TORCOLL_ALLGATHER);

	op.root = rooted ? job->op.root : 0;
	op.count = all;
	op.send = job->op.send;
	if (!rooted || job->comm->rank == job->op.root) {
		job->result = torcoll__job_alloc(job, all);
		if (!job->result)
			return -ENOMEM;
	}
	op.recv = job->result;
	job->finish = reduce_gathered;
	return torcoll__op_describe(job->comm, &op, &job->desc);
}

/* ---- two steps: a block for each rank to reduce ---- */

/* Set the bytes of blocks, and their sum, which is that of the vector. */
static void set_blocks(const struct torcoll__job *job, struct exchange *x)
{
	uint32_t size = job->comm->size;

	x->sent = job->counts;
	x->received = job->counts + size;
	for (uint32_t i = 0; i < size; i++) {
		x->sent[i] = function_block(job, i) * element(job);
		x->received[i] = function_block(job, job->comm->rank) * element(job);
	}
}

static char *reduce_block(struct torcoll__job *job)
{
	return reduce_all(job, job->result, job->comm->size, function_block(job, job->comm->rank));
}

/* The result of a reduce-scatter. */
static void keep_block(struct torcoll__job *job)
{
	memcpy(job->op.recv, reduce_block(job),
	       function_block(job, job->comm->rank) * element(job));
}

/* The second step: bring the blocks to all ranks, or to the root. */
static int gather_blocks(struct torcoll__job *job)
{
	bool rooted = job->op.collective == TORCOLL_REDUCE;
	struct torcoll_op op = bytes_op(job, rooted ? TORCOLL_GATHER : TORCOLL_ALLGATHER);

	op.root = rooted ? job->op.root : 0;
	op.count = job->op.count * element(job);
	op.counts = job->counts;
	op.send = reduce_block(job);
	op.recv = job->op.recv;
	return torcoll__op_describe(job->comm, &op, &job->desc);
}

static int exchange_blocks(struct torcoll__job *job)
{
	struct torcoll_op op = bytes_op(job, TORCOLL_ALLTOALL);
	uint32_t size = job->comm->size;
	struct exchange x;
	uint64_t all;

	job->counts = torcoll__job_alloc(job, 2 * size * sizeof(*job->counts));
	if (!job->counts)
		return -ENOMEM;
	set_blocks(job, &x);
	if (__builtin_mul_overflow(x.received[0], size, &all))
		return too_many(job);
	job->result = torcoll__job_alloc(job, all);
	if (!job->result)
		return -ENOMEM;
	op.count = all;
	op.counts = x.sent;
	op.recv_counts = x.received;
	op.send = job->op.send;
	op.recv = job->result;
	if (job->op.collective == TORCOLL_REDUCE_SCATTER) {
		job->finish = keep_block;
	} else {
		job->advance = gather_blocks;
		job->more = true;
	}
	return torcoll__op_describe(job->comm, &op, &job->desc);
}

/* The module checks those of its own ops, not these. */
static int counts_check(const struct torcoll__job *job)
{
	const struct torcoll_op *op = &job->op;
	const char *name = torcoll__op_name(op->collective);
	uint64_t sum = 0;

	if (!op->counts)
		return 0;
	if (op->collective != TORCOLL_REDUCE_SCATTER)
		return torcoll__fail(-EINVAL, "%s: it takes no counts", name);
	for (uint32_t i = 0; i < job->comm->size; i++)
		if (__builtin_add_overflow(sum, op->counts[i], &sum))
			return too_many(job);
	if (sum != op->count)
		return torcoll__fail(-EINVAL, "%s: the counts add up to %llu, the vector has %llu elements",
				     name, (unsigned long long)sum, (unsigned long long)op->count);
	return 0;
}

static int function_check(const struct torcoll__job *job)
{
	const struct torcoll_op *op = &job->op;
	const char *name = torcoll__op_name(op->collective);

	if (!job->function.reduce)
		return torcoll__fail(-EINVAL, "%s: its function is NULL", name);
	if (op->redop || op->scalar || op->displs || op->flags & TORCOLL_OP_COUNTS_AT_ROOT)
		return torcoll__fail(-EINVAL, "%s: a function goes with no operator, factor, displacements or counts at the root",
				     name);
	if (!job->function.element == !op->type)
		return torcoll__fail(-EINVAL, "%s: a function needs either a type or the size of an element",
				     name);
	if (op->type && !torcoll_type_size(op->type))
		return torcoll__fail(-EINVAL, "%s: unknown type %d", name, op->type);
	if (op->flags & TORCOLL_OP_AT_START && op->collective != TORCOLL_REDUCE_SCATTER)
		return torcoll__fail(-EINVAL, "%s: only a reduce-scatter has its result at the start",
				     name);
	return counts_check(job);
}

int torcoll__function_begin(struct torcoll__job *job)
{
	uint64_t bytes, all;
	int err = function_check(job);

	if (err)
		return err;
	if (__builtin_mul_overflow(job->op.count, element(job), &bytes) ||
	    __builtin_mul_overflow(bytes, job->comm->size, &all))
		return too_many(job);
	switch (job->op.collective) {
	case TORCOLL_SCAN:
	case TORCOLL_EXSCAN:
		return gather_vectors(job, all);
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE:
		return all <= GATHER_MAX ? gather_vectors(job, all) : exchange_blocks(job);
	case TORCOLL_REDUCE_SCATTER:
		return exchange_blocks(job);
	default:
		return torcoll__fail(-EINVAL, "%s: it does not reduce",
				     torcoll__op_name(job->op.collective));
	}
}
