// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of messages between ranks: p2p CASE [FILE]. Exit status 0 if this rank saw what it should. "good"
 * is many cases in which nothing goes wrong, each named by rank 0 when all ranks found it right; the others end a comm.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>
#include <unistd.h>

#include "rank.h"

#define BYTES_MAX	(2 << 20)
#define DEPTH		8

static unsigned char *out, *in;

/* Byte @i of message @n from @from to @to. */
static unsigned char byte(uint32_t from, uint32_t to, uint32_t n, size_t i)
{
	uint32_t x = from * 40503 + to * 2654435761u + n * 97 + (uint32_t)i * 31;

	return x ^ x >> 11 ^ i >> 8;
}

static void fill(unsigned char *p, size_t bytes, uint32_t to, uint32_t n)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = byte(rank, to, n, i);
}

static int is_right(const unsigned char *p, size_t bytes, uint32_t from, uint32_t n)
{
	for (size_t i = 0; i < bytes; i++) {
		if (p[i] == byte(from, rank, n, i))
			continue;
		say("byte %zu of message %u from %u is wrong", i, n, from);
		return 0;
	}
	return 1;
}

static int isend(uint32_t to, const void *p, uint64_t bytes, struct torcoll_request *req)
{
	return worked(torcoll_isend(world, p, bytes, TORCOLL_U8, to, req));
}

static int irecv(uint32_t from, void *p, uint64_t bytes, struct torcoll_request *req)
{
	return worked(torcoll_irecv(world, p, bytes, TORCOLL_U8, from, req));
}

static int wait_all(struct torcoll_request *reqs, uint32_t n)
{
	int right = 1;

	while (n--)
		right &= worked(torcoll_wait(&reqs[n]));
	return right;
}

/* ---- nothing goes wrong ---- */

/* Every length and type goes round. */
static int ring(void)
{
	static const struct { enum torcoll_type type; uint32_t count; } what[] = {
		{ TORCOLL_U8, 0 }, { TORCOLL_I8, 1 }, { TORCOLL_F16, 3 }, { TORCOLL_F32, 1 << 10 },
		{ TORCOLL_DOUBLE_INT, 999 }, { TORCOLL_F64, 25001 }, { TORCOLL_I64, 0 }, { TORCOLL_U16, 7 },
	};
	uint32_t next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	struct torcoll_request req;
	int right = 1;

	for (uint32_t i = 0; i < ARRAY_SIZE(what); i++) {
		size_t bytes = what[i].count * torcoll_type_size(what[i].type);

		/* at any address */
		fill(out + i, bytes, next, i);
		memset(in, 0xaa, bytes + 2 * i + 1);
		if (!worked(torcoll_isend(world, out + i, what[i].count, what[i].type, next, &req)) ||
		    !worked(torcoll_recv(world, in + 2 * i, what[i].count, what[i].type, before)) ||
		    !worked(torcoll_wait(&req)))
			return 0;
		right &= is_right(in + 2 * i, bytes, before, i) && in[2 * i + bytes] == 0xaa;
	}
	return right;
}

/* Everyone sends to everyone, itself included, before anyone receives. */
static int crossing(void)
{
	const size_t bytes = 60000;
	struct torcoll_request req[2 * 16];
	int right = 1;

	for (uint32_t i = 0; i < ranks; i++) {
		fill(out + i * bytes, bytes, i, 1);
		right &= isend(i, out + i * bytes, bytes, &req[i]);
	}
	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t from = (rank + i) % ranks;

		right &= worked(torcoll_recv(world, in, bytes, TORCOLL_U8, from)) &&
			 is_right(in, bytes, from, 1);
	}
	return right && wait_all(req, ranks);
}

/* All send before anyone receives, and wait for that: what is short waits for nobody, wherever the receiver is. */
static int short_ones(void)
{
	int right = 1;

	for (uint32_t i = 0; i < ranks; i++) {
		fill(out, 1000, i, 7);
		right &= worked(torcoll_send(world, out, 1000, TORCOLL_U8, i));
	}
	for (uint32_t i = 0; i < ranks; i++)
		right &= worked(torcoll_recv(world, in, 1000, TORCOLL_U8, i)) && is_right(in, 1000, i, 7);
	return right;
}

/* As many as can be in flight, both ways, waited for backwards. */
static int many(void)
{
	const size_t bytes = 9000;
	struct torcoll_request sends[DEPTH], recvs[DEPTH];
	uint32_t peer = rank ^ 1;
	int right = 1;

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < DEPTH; i++) {
			fill(out + i * bytes, bytes, peer, i);
			right &= isend(peer, out + i * bytes, bytes, &sends[i]) &&
				 irecv(peer, in + i * bytes, bytes, &recvs[i]);
		}
		right &= wait_all(sends, DEPTH) & wait_all(recvs, DEPTH);
		for (uint32_t i = 0; i < DEPTH; i++)
			right &= is_right(in + i * bytes, bytes, peer, i);
	}
	return right;
}

/* Receivers wait first, and collectives pass by. */
static int receive_first(void)
{
	struct torcoll_request req;
	uint32_t peer = rank ^ 1, sum = 0;

	if (!irecv(peer, in, 100000, &req))
		return 0;
	for (uint32_t i = 0; i < 3 * DEPTH; i++)
		if (!worked(torcoll_allreduce(world, &rank, &sum, 1, TORCOLL_U32, TORCOLL_SUM)))
			return 0;
	fill(out, 100000, peer, 2);
	return sum == ranks * (ranks - 1) / 2 && torcoll_test(&req) == -EAGAIN &&
	       worked(torcoll_barrier(world)) &&
	       worked(torcoll_send(world, out, 100000, TORCOLL_U8, peer)) &&
	       worked(torcoll_wait(&req)) && is_right(in, 100000, peer, 2);
}

/* Senders wait first; what is long is more than anyone keeps for later. */
static int send_first(void)
{
	static const size_t bytes[] = { 3, 50000, BYTES_MAX, 1 };
	struct torcoll_request req[ARRAY_SIZE(bytes)];
	uint32_t to = (rank + 2) % ranks, from = (rank + ranks - 2) % ranks;
	int right = 1;

	fill(out, BYTES_MAX, to, 3);
	for (uint32_t i = 0; i < ARRAY_SIZE(bytes); i++)
		right &= isend(to, out, bytes[i], &req[i]);
	for (uint32_t i = 0; i < DEPTH; i++)
		right &= worked(torcoll_barrier(world));
	for (uint32_t i = 0; i < ARRAY_SIZE(bytes); i++)
		right &= worked(torcoll_recv(world, in, bytes[i], TORCOLL_U8, from)) &&
			 is_right(in, bytes[i], from, 3);
	return right && wait_all(req, ARRAY_SIZE(bytes));
}

static int to_itself(void)
{
	static const size_t bytes[] = { 0, 1, 4096, 4097, BYTES_MAX, 0 };
	struct torcoll_request req[ARRAY_SIZE(bytes)];
	int right = 1;

	fill(out, BYTES_MAX, rank, 4);
	/* in either order, alone or several */
	for (uint32_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		memset(in, 0, bytes[i]);
		right &= irecv(rank, in, bytes[i], &req[0]) &&
			 worked(torcoll_send(world, out, bytes[i], TORCOLL_U8, rank)) &&
			 worked(torcoll_wait(&req[0])) && is_right(in, bytes[i], rank, 4);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(bytes); i++)
		right &= isend(rank, out, bytes[i], &req[i]);
	for (uint32_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		memset(in, 0, bytes[i]);
		right &= worked(torcoll_recv(world, in, bytes[i], TORCOLL_U8, rank)) &&
			 is_right(in, bytes[i], rank, 4);
	}
	return right && wait_all(req, ARRAY_SIZE(bytes));
}

/* One more than can be in flight: not at all, or when there is room. */
static int full(void)
{
	struct torcoll_op op = {
		.collective = TORCOLL_SEND, .type = TORCOLL_U8, .count = 5000, .send = out,
		.peer = (rank + 1) % ranks, .flags = TORCOLL_OP_NOWAIT,
	};
	struct torcoll_request req[DEPTH], more;
	uint32_t from = (rank + ranks - 1) % ranks;
	int right = 1;

	/* the first is longer than what is kept for who has not called */
	fill(out, BYTES_MAX, op.peer, 5);
	for (uint32_t i = 0; i < DEPTH; i++)
		right &= isend(op.peer, out, i ? 5000 : BYTES_MAX, &req[i]);
	if (torcoll_submit(world, &op, &more) != -EBUSY) {
		say("one more is taken: %s", torcoll_last_error());
		right = 0;
	}
	right &= worked(torcoll_barrier(world));
	for (uint32_t i = 0; i < DEPTH; i++)
		right &= worked(torcoll_recv(world, in, i ? 5000 : BYTES_MAX, TORCOLL_U8, from)) &&
			 is_right(in, i ? 5000 : BYTES_MAX, from, 5);
	return right & wait_all(req, DEPTH);
}

/*
 * A message that nobody receives yet, longer than anyone keeps, holds up none of others: not the other way, nor on the same
 * way those of other ranks, of the same two nodes or of one.
 */
static int apart(void)
{
	static const uint32_t peers[] = { 0, 5, 4, 0, 2, 1 };
	uint32_t peer = rank < ARRAY_SIZE(peers) ? peers[rank] : 0;
	struct torcoll_request req, back;
	int right = 1;

	fill(out, BYTES_MAX, 3, 6);
	if (rank == 1)
		right &= isend(3, out, BYTES_MAX, &req);
	right &= worked(torcoll_barrier(world));
	for (uint32_t k = 0; k < 50 && peer; k++) {
		uint32_t said = rank * 1000 + k, heard = 0;

		right &= irecv(peer, &heard, sizeof(heard), &back) &&
			 worked(torcoll_send(world, &said, sizeof(said), TORCOLL_U8, peer)) &&
			 worked(torcoll_wait(&back));
		if (heard != peer * 1000 + k) {
			say("message %u of %u was %u", k, peer, heard);
			right = 0;
		}
	}
	if (rank == 1) {
		int err = torcoll_test(&req);

		if (err != -EAGAIN) {
			say("what nobody receives is over: %d", err);
			right = 0;
		}
	}
	right &= worked(torcoll_barrier(world));
	if (rank == 1)
		right &= worked(torcoll_wait(&req));
	if (rank == 3)
		right &= worked(torcoll_recv(world, in, BYTES_MAX, TORCOLL_U8, 1)) &&
			 is_right(in, BYTES_MAX, 1, 6);
	return right;
}

/* Whoever has sent what is short may go, before or while it is received. */
static int sent_and_gone(void)
{
	uint32_t peer = rank ^ 1;
	int right = 1;

	for (uint32_t k = 0; k < 4 && right; k++) {
		struct torcoll_comm *comm;

		if (!worked(torcoll_comm_dup(world, torcoll_deadline(60000), &comm)))
			return 0;
		fill(out, 1000, peer, k);
		right = rank % 2 == k % 2 ? worked(torcoll_send(comm, out, 1000, TORCOLL_U8, peer)) :
			worked(torcoll_recv(comm, in, 1000, TORCOLL_U8, peer)) &&
			is_right(in, 1000, peer, k);
		torcoll_comm_close(comm);
	}
	return right;
}

static int refused(void)
{
	struct torcoll_op op = { .collective = TORCOLL_SEND, .type = TORCOLL_U8, .count = 1, .send = out };
	int right = 1;

	op.peer = ranks;
	right &= torcoll_run(world, &op) == -EINVAL;
	op.peer = 0;
	op.redop = TORCOLL_SUM;
	right &= torcoll_run(world, &op) == -EINVAL;
	op.redop = 0;
	op.algorithm = TORCOLL_RING;
	right &= torcoll_run(world, &op) == -EOPNOTSUPP;
	op.algorithm = 0;
	op.root = 1;
	right &= torcoll_run(world, &op) == -EINVAL;
	op.root = 0;
	op.send = (void *)4096;
	op.count = 100000;
	right &= torcoll_run(world, &op) == -EFAULT;
	return right;
}

static const struct {
	const char *name;
	int (*right)(void);
} cases[] = {
	{ "ring", ring },
	{ "crossing", crossing },
	{ "short_ones", short_ones },
	{ "many", many },
	{ "receive_first", receive_first },
	{ "send_first", send_first },
	{ "to_itself", to_itself },
	{ "full", full },
	{ "apart", apart },
	{ "sent_and_gone", sent_and_gone },
	{ "refused", refused },
};

static int good(void)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++)
		failed += failed_on(cases[i].name, cases[i].right);
	return failed > 0;
}

/* ---- a comm ends ---- */

/* Is that how it ended? Says it, for the script. */
static int ended(int err, int expected)
{
	say("%s", err ? torcoll_last_error() : "worked");
	return err != expected;
}

static int mismatch(void)
{
	/* more than is kept for a rank that has not called */
	if (rank == 0)
		return ended(torcoll_send(world, out, BYTES_MAX / 4, TORCOLL_F32, 1), -EPROTO);
	if (rank == 1)
		return ended(torcoll_recv(world, in, 200, TORCOLL_I64, 0), -EPROTO);
	return ended(torcoll_barrier(world), -EPROTO);
}

static int mismatch_to_itself(void)
{
	struct torcoll_request req;

	if (rank)
		return ended(torcoll_barrier(world), -EPROTO);
	if (!isend(0, out, 100, &req))
		return 1;
	return ended(torcoll_recv(world, in, 101, TORCOLL_U8, 0), -EPROTO);
}

static int late(void)
{
	struct torcoll_op op = {
		.collective = TORCOLL_RECV, .type = TORCOLL_U8, .count = 5, .recv = in, .peer = 1,
		.deadline_ns = torcoll_deadline(300),
	};

	if (rank)
		return ended(torcoll_recv(world, in, 7, TORCOLL_U8, 0), -ECONNABORTED);
	return ended(torcoll_run(world, &op), -ETIMEDOUT);
}

static int killed(void)
{
	if (rank == 1) {
		kill(getpid(), SIGKILL);
		pause();
	}
	return ended(torcoll_recv(world, in, 7, TORCOLL_U8, 1), -ECONNABORTED);
}

static int cancelled(void)
{
	struct torcoll_request req;

	if (rank)
		return ended(torcoll_recv(world, in, 7, TORCOLL_U8, (rank + 1) % ranks),
			     -ECONNABORTED);
	if (!isend(1, out, BYTES_MAX, &req))
		return 1;
	torcoll_abort(world);
	return ended(torcoll_wait(&req), -ECANCELED);
}

/* What was sent outlives the process, but nothing more comes. */
static int left(void)
{
	if (rank == 1) {
		fill(out, 1000, 0, 6);
		return !worked(torcoll_send(world, out, 1000, TORCOLL_U8, 0));
	}
	if (rank)
		return 0;
	usleep(300000);
	if (!worked(torcoll_recv(world, in, 1000, TORCOLL_U8, 1)) || !is_right(in, 1000, 1, 6))
		return 1;
	return ended(torcoll_recv(world, in, 1000, TORCOLL_U8, 1), -ECONNABORTED);
}

/*
 * Rank 0 is as far ahead of rank 1 as it can be, says so by way of rank 2, and calls once more: before rank 1 leaves, or @after.
 */
static int full_of(int after)
{
	struct torcoll_op op = {
		.collective = TORCOLL_SEND, .type = TORCOLL_U8, .count = 100, .send = out, .peer = 1,
	};
	struct torcoll_request req;
	char said = 1;

	if (rank == 1)
		return !worked(torcoll_recv(world, &said, 1, TORCOLL_U8, 2));
	if (rank == 2)
		return !worked(torcoll_recv(world, &said, 1, TORCOLL_U8, 0)) ||
		       !worked(torcoll_send(world, &said, 1, TORCOLL_U8, 1));
	if (rank)
		return 0;
	for (uint32_t i = 0; i < DEPTH; i++)
		if (!worked(torcoll_send(world, out, 100, TORCOLL_U8, 1)))
			return 1;
	/* without one it would wait for ever, and so would the test */
	op.deadline_ns = torcoll_deadline(30000);
	if ((!after && !worked(torcoll_submit(world, &op, &req))) ||
	    !worked(torcoll_send(world, &said, 1, TORCOLL_U8, 2)))
		return 1;
	if (!after)
		return ended(torcoll_wait(&req), -ECONNABORTED);
	usleep(300000);
	return ended(torcoll_run(world, &op), -ECONNABORTED);
}

static int left_full(void)
{
	return full_of(0);
}

static int left_before_full(void)
{
	return full_of(1);
}

/* Rank 0 waits for rank 1 until there is a file. */
static int waits(const char *file)
{
	if (rank == 0)
		return !worked(torcoll_recv(world, in, 5, TORCOLL_U8, 1));
	while (rank == 1 && access(file, F_OK))
		usleep(10000);
	return rank == 1 && !worked(torcoll_send(world, out, 5, TORCOLL_U8, 0));
}

/* @error: what those get that have not even seen the beginning, if others are faster */
static const struct {
	const char *name;
	int (*run)(void);
	int error;
} ends[] = {
	{ "good", good, 0 },
	{ "mismatch", mismatch, -EPROTO },
	{ "mismatch_to_itself", mismatch_to_itself, -EPROTO },
	{ "late", late, -ECONNABORTED },
	{ "killed", killed, -ECONNABORTED },
	{ "cancelled", cancelled, -ECONNABORTED },
	{ "left", left, 0 },
	{ "left_full", left_full, 0 },
	{ "left_before_full", left_before_full, 0 },
};

int main(int argc, char **argv)
{
	int err;

	out = malloc(BYTES_MAX);
	in = malloc(BYTES_MAX + 16);
	if (argc < 2 || !out || !in || !join_world())
		return 2;
	err = torcoll_barrier(world);
	if (argc == 3)
		return err ? 2 : waits(argv[2]);
	for (uint32_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!strcmp(argv[1], ends[i].name))
			return err ? ended(err, ends[i].error) : ends[i].run();
	return 2;
}
