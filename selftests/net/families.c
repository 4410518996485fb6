// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of all plan families: every algorithm with every collective, several sizes, in place and
 * not, integers and floats, even and uneven blocks, other roots. Rank 0 prints each pair that is served; what is
 * wrong is printed by who sees it.
 *
 * Usage: families [NODE,NODE,...]: the comm's members in their order; all nodes otherwise. With FAMILIES_QUICK in
 * the environment every third call is made, so that each size, type and kind of blocks is still met. FAMILIES_CHUNKS=n
 * asks for so many chunks; algorithms that have none count as not serving.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>

#define COUNT_MAX	20011
#define RANKS_MAX	64
#define GUARD		0x5a5a5a5a
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static struct torcoll *t;
static struct torcoll_comm *comm;
static uint32_t rank, ranks;
static int32_t send_buf[COUNT_MAX + 1], recv_buf[COUNT_MAX + 1];
static uint64_t counts[RANKS_MAX];
static unsigned int wrong;
static bool floats, quick;
static uint32_t chunks;

/* A number as the type at hand has it; those below are exact in either. */
static int32_t element(uint64_t value)
{
	float f = value;
	int32_t bits;

	if (!floats)
		return value;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* Element @i of rank @r's vector, and what they add up to. */
static int32_t input(uint32_t r, uint64_t i)
{
	return element((i + 1) * (2 * r + 1));
}

static int32_t total(uint64_t i)
{
	return element((i + 1) * ranks * ranks);
}

static uint64_t block_start(uint32_t r)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < r; i++)
		at += counts[i];
	return at;
}

/* Even, or such that some ranks have nothing. */
static void split(uint64_t count, bool uneven)
{
	uint64_t left = count;

	for (uint32_t r = 0; r < ranks; r++) {
		counts[r] = uneven ? count / ranks / 2 * (r % 3) :
				     count / ranks + (r < count % ranks);
		left -= counts[r];
	}
	counts[ranks - 1] += left;
}

/* What this rank has to get as element @i of its result. */
static int32_t expected(const struct torcoll_op *op, uint64_t i)
{
	uint32_t r = 0;

	switch (op->collective) {
	case TORCOLL_REDUCE_SCATTER:
		return total(block_start(rank) + i);
	case TORCOLL_ALLGATHER:
		while (i >= block_start(r + 1))
			r++;
		return input(r, i);
	case TORCOLL_BROADCAST:
		return input(op->root, i);
	default:
		return total(i);
	}
}

static void complain(const struct torcoll_op *op, const char *what)
{
	wrong++;
	printf("WRONG: rank %u: %s %s, %llu elements, root %u, %s, %s: %s\n", rank,
	       torcoll_algorithm_name(op->algorithm), torcoll_collective_name(op->collective),
	       (unsigned long long)op->count, op->root, op->counts ? "uneven" : "even",
	       op->send == send_buf ? "out of place" : "in place", what);
}

static void check(const struct torcoll_op *op, uint64_t sent, uint64_t received)
{
	const int32_t *result = op->recv;

	for (uint64_t i = 0; i < received; i++)
		if (result[i] != expected(op, i))
			return complain(op, "the result");
	if (op->send != send_buf)
		return;
	for (uint64_t i = 0; i < sent; i++)
		if (send_buf[i] != input(rank, op->collective == TORCOLL_ALLGATHER ?
					       block_start(rank) + i : i))
			return complain(op, "the input was written to");
	if (recv_buf[received] != GUARD)
		complain(op, "written behind the result");
}

/* Set the buffers up, run, compare. Return: as torcoll_run(). */
static int run(struct torcoll_op *op, bool in_place, bool uneven)
{
	bool gathers = op->collective == TORCOLL_ALLGATHER;
	bool scatters = op->collective == TORCOLL_REDUCE_SCATTER;
	uint64_t sent = op->count, received = op->count, first;
	int32_t *send;
	int err;

	split(op->count, uneven);
	first = block_start(rank);
	if (gathers)
		sent = counts[rank];
	if (scatters)
		received = counts[rank];
	if (op->collective == TORCOLL_BROADCAST && rank != op->root)
		sent = 0;
	if (op->collective == TORCOLL_REDUCE && rank != op->root)
		received = 0;
	for (uint64_t i = 0; i <= op->count; i++)
		recv_buf[i] = GUARD;
	send = in_place ? recv_buf + (gathers ? first : 0) : send_buf;
	for (uint64_t i = 0; i < sent; i++)
		send[i] = input(rank, gathers ? first + i : i);
	op->send = send;
	op->recv = in_place && scatters ? recv_buf + first : recv_buf;
	op->counts = uneven ? counts : NULL;
	err = torcoll_run(comm, op);
	if (!err)
		check(op, sent, received);
	return err;
}

/* Return: whether the algorithm serves the collective; dies of anything but a refusal. */
static bool serves(enum torcoll_algorithm algorithm, enum torcoll_collective collective)
{
	const uint64_t sizes[] = { 0, 1, 1003, quick ? 4099 : COUNT_MAX };
	bool blocks = collective == TORCOLL_ALLGATHER || collective == TORCOLL_REDUCE_SCATTER;
	bool rooted = collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE;
	bool reduces = collective != TORCOLL_ALLGATHER && collective != TORCOLL_BROADCAST;
	bool served = false;
	int err;

	for (unsigned int i = quick; i < 2 * ARRAY_SIZE(sizes); i += quick ? 3 : 1) {
		struct torcoll_op op = {
			.collective = collective,
			.algorithm = algorithm,
			.type = i % 2 ? TORCOLL_F32 : TORCOLL_I32,
			.bits = TORCOLL_BITS_RELAXED,
			.redop = reduces ? TORCOLL_SUM : TORCOLL_REDOP_NONE,
			.root = rooted ? i * (ranks - 1) / 7 : 0,
			.count = sizes[i / 2],
			.param = { [TORCOLL_PARAM_CHUNKS] = chunks },
		};

		floats = op.type == TORCOLL_F32;
		err = run(&op, i % 2, blocks && i / 2 % 2);
		if ((err == -EOPNOTSUPP || (chunks && err == -EINVAL)) && !served)
			return false;
		if (err) {
			fprintf(stderr, "rank %u: %s\n", rank, torcoll_last_error());
			exit(1);
		}
		/* an empty vector is served by all */
		served |= op.count;
	}
	return true;
}

static void all_families(void)
{
	/* auto takes as many as it likes */
	for (int a = TORCOLL_ALGO_AUTO + !!chunks; a < TORCOLL_ALGO_COUNT; a++) {
		for (int c = TORCOLL_ALLREDUCE; c <= TORCOLL_REDUCE; c++) {
			if (serves(a, c) && !rank)
				printf("%s %s\n", torcoll_algorithm_name(a),
				       torcoll_collective_name(c));
		}
	}
}

static int join(const char *list)
{
	const char *fabric = getenv("TORCOLL_FABRIC"), *node = getenv("TORCOLL_RANK");
	struct torcoll_comm_config config = { .name = "families", .rank = TORCOLL_RANK_SELF };
	uint32_t members[RANKS_MAX];
	bool member = false;
	char *end;

	if (!list)
		return torcoll_comm_from_env(t, &comm);
	if (!fabric || !node)
		return -EINVAL;
	config.fabric = strtoull(fabric, NULL, 0);
	config.members = members;
	config.deadline_ns = torcoll_deadline(60000);
	for (; config.size < RANKS_MAX; list = end + 1) {
		members[config.size] = strtoul(list, &end, 10);
		member |= members[config.size++] == strtoul(node, NULL, 10);
		if (*end != ',')
			break;
	}
	if (!member)
		exit(0);
	return torcoll_comm_create(t, &config, &comm);
}

int main(int argc, char **argv)
{
	if (torcoll_open(&t) || join(argc > 1 ? argv[1] : NULL)) {
		fprintf(stderr, "%s\n", torcoll_last_error());
		return 1;
	}
	rank = torcoll_comm_rank(comm);
	ranks = torcoll_comm_size(comm);
	quick = getenv("FAMILIES_QUICK");
	chunks = getenv("FAMILIES_CHUNKS") ? atoi(getenv("FAMILIES_CHUNKS")) : 0;
	all_families();
	torcoll_close(t);
	return wrong ? 1 : 0;
}
