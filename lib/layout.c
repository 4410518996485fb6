// SPDX-License-Identifier: MIT
/*
 * Layouts of vectors that the module does not know: blocks at displacements, the
 * result of a reduce-scatter at the start of its input, counts that only the
 * root has. The library packs blocks before the op, and unpacks them after it.
 */
#include <string.h>

#include "job.h"

static bool has_root(const struct torcoll_op *op)
{
	return op->collective == TORCOLL_GATHER || op->collective == TORCOLL_SCATTER;
}

static bool is_at_root(const struct torcoll__job *job)
{
	return job->comm->rank == job->op.root;
}

static uint64_t layout_block(const struct torcoll__job *job, const uint64_t *counts, uint32_t rank)
{
	uint32_t size = job->comm->size;

	return counts ? counts[rank] : job->op.count / size + (rank < job->op.count % size);
}

/* ---- packing ---- */

/*
 * Return whether the blocks follow each other, from *@first on, so that they
 * need not be copied.
 */
static bool is_packed(const struct torcoll__job *job, const uint64_t *counts,
		      const uint64_t *displs, uint64_t *first)
{
	bool begun = false;
	uint64_t at = 0;

	*first = 0;
	for (uint32_t i = 0; i < job->comm->size; i++) {
		uint64_t len = layout_block(job, counts, i);

		if (!len)
			continue;
		if (!begun)
			*first = at = displs[i];
		if (displs[i] != at)
			return false;
		begun = true;
		at += len;
	}
	return true;
}

static void copy_blocks(const struct torcoll__job *job, const uint64_t *counts,
			const uint64_t *displs, char *packed, char *spread, bool pack)
{
	size_t elem = torcoll_type_size(job->op.type);

	for (uint32_t i = 0; i < job->comm->size; i++) {
		size_t bytes = layout_block(job, counts, i) * elem;
		char *block = spread + displs[i] * elem;

		if (bytes && pack)
			memcpy(packed, block, bytes);
		else if (bytes)
			memcpy(block, packed, bytes);
		packed += bytes;
	}
}

static int vector_bytes(const struct torcoll__job *job, const uint64_t *counts, uint64_t *bytes)
{
	uint64_t sum = counts ? 0 : job->op.count;
	bool fits = true;

	for (uint32_t i = 0; counts && i < job->comm->size; i++)
		fits &= !__builtin_add_overflow(sum, counts[i], &sum);
	if (!fits || __builtin_mul_overflow(sum, torcoll_type_size(job->op.type), bytes))
		return torcoll__fail(-EINVAL, "%s: the counts' sum overflows",
				     torcoll__op_name(job->op.collective));
	return 0;
}

/* Set where the module reads the blocks that are sent. */
static int pack_send(struct torcoll__job *job, struct torcoll_op *plain, const uint64_t *displs)
{
	size_t elem = torcoll_type_size(job->op.type);
	uint64_t first, bytes;
	char *packed;
	int err;

	if (is_packed(job, job->op.counts, displs, &first)) {
		plain->send = (const char *)job->op.send + first * elem;
		return 0;
	}
	err = vector_bytes(job, job->op.counts, &bytes);
	if (err)
		return err;
	packed = torcoll__job_alloc(job, bytes);
	if (!packed)
		return -ENOMEM;
	copy_blocks(job, job->op.counts, displs, packed, (char *)job->op.send, true);
	plain->send = packed;
	return 0;
}

static const uint64_t *received_counts(const struct torcoll__job *job)
{
	return job->op.collective == TORCOLL_ALLTOALL ? job->op.recv_counts : job->op.counts;
}

static void unpack(struct torcoll__job *job)
{
	copy_blocks(job, received_counts(job), job->displs.recv, job->result, job->op.recv, false);
}

/* Set where the module writes the blocks that are received. */
static int unpack_recv(struct torcoll__job *job, struct torcoll_op *plain)
{
	size_t elem = torcoll_type_size(job->op.type);
	const uint64_t *counts = received_counts(job);
	uint64_t first, bytes;
	int err;

	if (is_packed(job, counts, job->displs.recv, &first)) {
		plain->recv = (char *)job->op.recv + first * elem;
		return 0;
	}
	err = vector_bytes(job, counts, &bytes);
	if (err)
		return err;
	job->result = torcoll__job_alloc(job, bytes);
	if (!job->result)
		return -ENOMEM;
	plain->recv = job->result;
	job->finish = unpack;
	return 0;
}

/* An alltoall in place: what is sent is packed, from where the result will be. */
static int alltoall_blocks(struct torcoll__job *job, struct torcoll_op *plain)
{
	bool in_place = job->op.send == job->op.recv;
	const uint64_t *from = in_place ? job->displs.recv : job->displs.send;
	int err = from ? pack_send(job, plain, from) : 0;

	if (!err && job->displs.recv)
		err = unpack_recv(job, plain);
	return err;
}

static int place_blocks(struct torcoll__job *job, struct torcoll_op *plain)
{
	switch (job->op.collective) {
	case TORCOLL_ALLTOALL:
		return alltoall_blocks(job, plain);
	case TORCOLL_ALLGATHER:
		return job->displs.recv ? unpack_recv(job, plain) : 0;
	case TORCOLL_GATHER:
		return job->displs.recv && is_at_root(job) ? unpack_recv(job, plain) : 0;
	case TORCOLL_SCATTER:
		return job->displs.send && is_at_root(job) ?
			       pack_send(job, plain, job->displs.send) : 0;
	default:
		return torcoll__fail(-EINVAL, "%s: it has no displacements",
				     torcoll__op_name(job->op.collective));
	}
}

/* ---- the start of the vector ---- */

static void copy_to_start(struct torcoll__job *job)
{
	uint64_t len = layout_block(job, job->op.counts, job->comm->rank);

	memcpy(job->op.recv, job->result, len * torcoll_type_size(job->op.type));
}

static int place_at_start(struct torcoll__job *job, struct torcoll_op *plain)
{
	uint64_t len = layout_block(job, job->op.counts, job->comm->rank), bytes;

	if (job->op.collective != TORCOLL_REDUCE_SCATTER || job->op.send != job->op.recv)
		return torcoll__fail(-EINVAL, "%s: only a reduce-scatter in place has its result at the start",
				     torcoll__op_name(job->op.collective));
	if (__builtin_mul_overflow(len, torcoll_type_size(job->op.type), &bytes))
		return torcoll__fail(-EINVAL, "reduce-scatter: %llu elements are too many",
				     (unsigned long long)len);
	job->result = torcoll__job_alloc(job, bytes);
	if (!job->result)
		return -ENOMEM;
	plain->recv = job->result;
	job->finish = copy_to_start;
	return 0;
}

/* ---- counts at the root ---- */

/* Describe the op itself, whose counts are known. */
static int describe_op(struct torcoll__job *job)
{
	struct torcoll_op plain = job->op;
	int err = 0;

	plain.displs = NULL;
	plain.flags = 0;
	if (job->op.flags & TORCOLL_OP_AT_START)
		err = place_at_start(job, &plain);
	else if (job->op.displs)
		err = place_blocks(job, &plain);
	return err ? err : torcoll__op_describe(job->comm, &plain, &job->desc);
}

static int counts_known(struct torcoll__job *job)
{
	uint64_t expected = job->counts[job->comm->rank], given = job->op.count;
	int err;

	job->op.counts = job->counts;
	err = torcoll__set_counts(job->comm, &job->op, job->counts);
	if (err)
		return err;
	if (given != expected && !is_at_root(job))
		return torcoll__fail(-EPROTO, "%s: rank %u has %llu elements, and root %u gives it %llu",
				     torcoll__op_name(job->op.collective), job->comm->rank,
				     (unsigned long long)given, job->op.root,
				     (unsigned long long)expected);
	return describe_op(job);
}

/* The first step: the root tells the counts. */
static int tell_counts(struct torcoll__job *job)
{
	uint64_t bytes = job->comm->size * sizeof(*job->counts);
	struct torcoll_op op = {
		.collective = TORCOLL_BROADCAST,
		.type = TORCOLL_U64,
		.root = job->op.root,
		.count = job->comm->size,
		.deadline_ns = job->op.deadline_ns,
	};

	if (!has_root(&job->op))
		return torcoll__fail(-EINVAL, "%s: only a gather or scatter has counts at a root",
				     torcoll__op_name(job->op.collective));
	if (is_at_root(job) && !job->op.counts)
		return torcoll__fail(-EINVAL, "%s: the root gives no counts",
				     torcoll__op_name(job->op.collective));
	job->counts = torcoll__job_alloc(job, bytes);
	if (!job->counts)
		return -ENOMEM;
	if (is_at_root(job))
		memcpy(job->counts, job->op.counts, bytes);
	op.send = job->counts;
	op.recv = job->counts;
	job->advance = counts_known;
	job->more = true;
	return torcoll__op_describe(job->comm, &op, &job->desc);
}

int torcoll__layout_begin(struct torcoll__job *job)
{
	if (job->op.displs)
		job->op.displs = &job->displs;
	return job->op.flags & TORCOLL_OP_COUNTS_AT_ROOT ? tell_counts(job) : describe_op(job);
}
