// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of batches: ops of several sizes started together, waited for from the last one on; as they are,
 * and prepared once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>

#define DEPTH		8
#define COUNT_MAX	20000
#define RANKS_MAX	32

static int32_t data[DEPTH + 1][COUNT_MAX];
static int32_t factor[DEPTH + 1];
static uint64_t counts[DEPTH + 1][RANKS_MAX];
static struct torcoll_comm *comm;
static struct torcoll_op ops[DEPTH + 1];

/* In place, every one of its kind and with something that the module or the library must keep. */
static struct torcoll_op op_of(uint32_t i)
{
	uint32_t ranks = torcoll_comm_size(comm);
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = 1 + i * (COUNT_MAX - 1) / DEPTH, .send = data[i], .recv = data[i],
	};

	switch (i % 4) {
	case 1:
		op.redop = TORCOLL_AVG;
		break;
	case 2:
		op.redop = TORCOLL_PREMULSUM;
		factor[i] = i + 2;
		op.scalar = &factor[i];
		break;
	case 3:
		op.collective = TORCOLL_ALLTOALL;
		op.redop = 0;
		for (uint32_t r = 0; r < ranks; r++)
			counts[i][r] = op.count / ranks;
		op.count = ranks * (op.count / ranks);
		op.counts = counts[i];
		op.recv_counts = counts[i];
		break;
	}
	return op;
}

static void fill(uint32_t rank)
{
	for (uint32_t i = 0; i <= DEPTH; i++)
		for (uint32_t k = 0; k < COUNT_MAX; k++)
			data[i][k] = (rank + 1) * (i + k);
}

/* Element @k of the result of op @i. */
static int32_t expected(const struct torcoll_op *op, uint32_t i, uint32_t k)
{
	uint32_t ranks = torcoll_comm_size(comm), block = op->count / ranks;
	int32_t sum = (i + k) * (ranks * (ranks + 1) / 2);

	if (op->collective == TORCOLL_ALLTOALL)
		return (k / block + 1) * (i + torcoll_comm_rank(comm) * block + k % block);
	if (op->redop == TORCOLL_AVG)
		return sum / (int32_t)ranks;
	return op->redop == TORCOLL_PREMULSUM ? sum * (int32_t)(i + 2) : sum;
}

static int check(const struct torcoll_op *op, uint32_t i)
{
	for (uint32_t k = 0; k < op->count; k++)
		if (data[i][k] != expected(op, i, k))
			return 1;
	return 0;
}

static int complain(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, torcoll_last_error());
	return 1;
}

/* All that were started, from the last one on. */
static int finish(struct torcoll_request *req, uint32_t n)
{
	int wrong = 0;

	for (uint32_t i = n; i-- > 0; ) {
		if (torcoll_wait(&req[i]))
			return complain("wait");
		wrong += check(&ops[i], i);
	}
	return wrong ? complain("wrong results") : 0;
}

/*
 * One more than fit: it waits for a slot, or is refused if it must not wait, and the others run. Then as many as fit.
 */
static int as_they_are(void)
{
	struct torcoll_request req[DEPTH + 1];
	uint32_t round, started, n;
	int err;

	for (round = 0; round < 4; round++) {
		n = DEPTH + (round % 2 == 0);
		ops[DEPTH].flags = round ? TORCOLL_OP_NOWAIT : 0;
		fill(torcoll_comm_rank(comm));
		err = torcoll_submit_many(comm, ops, n, req, &started);
		if (started != (round ? DEPTH : n) || err != (n > DEPTH && round ? -EBUSY : 0))
			return complain("batch");
		if (finish(req, started))
			return 1;
	}
	return 0;
}

static int prepared(void)
{
	struct torcoll_prepared *p[DEPTH];
	struct torcoll_request req[DEPTH];
	uint32_t round, i;

	for (i = 0; i < DEPTH; i++)
		if (torcoll_prepare(comm, &ops[i], &p[i]))
			return complain("prepare");
	/* whatever was prepared is the caller's to use again */
	memset(factor, 0, sizeof(factor));
	memset(counts, 0, sizeof(counts));
	for (round = 0; round < 4; round++) {
		fill(torcoll_comm_rank(comm));
		if (torcoll_start_many(p, DEPTH, req, NULL))
			return complain("start");
		if (finish(req, DEPTH))
			return 1;
	}
	for (i = 0; i < DEPTH; i++)
		torcoll_prepared_free(p[i]);
	return 0;
}

int main(void)
{
	struct torcoll *t;
	uint32_t i;
	int wrong;

	if (torcoll_open(&t) || torcoll_comm_from_env(t, &comm))
		return complain("comm");
	for (i = 0; i <= DEPTH; i++)
		ops[i] = op_of(i);
	wrong = as_they_are() || prepared();
	torcoll_close(t);
	return wrong;
}
