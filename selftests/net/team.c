// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of comms with several ranks on a node: team CASE. Exit status 0 if this rank saw what it should.
 * "good" is many cases in which the comm does not fail, each named by rank 0 when all ranks found it right.
 * For 7 ranks on 4 nodes: 0 | 1, 2 | 3, 4, 5 | 6.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>
#include <unistd.h>

#include "rank.h"

#define COUNT_MAX	(1 << 18)	/* elements of 4 bytes */
#define IN_FLIGHT	8
#define DEPTH_MAX	64
#define PATIENCE	60000	/* ms */

/* Exit status: a call ended with @wanted, and the sentence has @words, if there are some. */
static int ended(int err, int wanted, const char *words)
{
	if (err == wanted && (!words || strstr(torcoll_last_error(), words)))
		return 0;
	say("%d, not %d with \"%s\": %s", err, wanted, words ? words : "", torcoll_last_error());
	return 1;
}

static int ended_by(int err, int wanted, uint32_t by)
{
	char words[40];

	snprintf(words, sizeof(words), "caused by rank %u ", by);
	return ended(err, wanted, words);
}

/* The comm has failed: what others do is not to be seen from here otherwise. */
static void await_failure(void)
{
	struct torcoll_comm_info info;

	while (!torcoll_comm_info(world, &info) && !info.error)
		usleep(1000);
}

/* ---- what goes well ---- */

static int sum_is_right(struct torcoll_comm *comm, uint32_t count, uint32_t each)
{
	uint32_t *x = malloc(count * sizeof(*x));
	int right = 1;

	for (uint32_t i = 0; i < count; i++)
		x[i] = (torcoll_comm_rank(comm) + 1) * i;
	if (!worked(torcoll_allreduce(comm, x, x, count, TORCOLL_U32, TORCOLL_SUM)))
		right = 0;
	for (uint32_t i = 0; right && i < count; i++) {
		if (x[i] != each * i) {
			say("element %u is %u, not %u", i, x[i], each * i);
			right = 0;
		}
	}
	free(x);
	return right;
}

static uint32_t sum_of_ranks(const struct torcoll_comm *comm)
{
	return torcoll_comm_size(comm) * (torcoll_comm_size(comm) + 1) / 2;
}

/* @depth ops of @comm in flight, short and long ones, over and over. */
static int fly(struct torcoll_comm *comm, uint32_t depth)
{
	static uint32_t x[DEPTH_MAX][3000];
	struct torcoll_request req[DEPTH_MAX];
	uint32_t i, k, at;

	for (i = 0; i < 4 * depth; i++) {
		at = i % depth;
		for (k = 0; k < 3000; k++)
			x[at][k] = rank + i + k;
		if (!worked(torcoll_iallreduce(comm, x[at], x[at], i % 3 ? 10 : 3000, TORCOLL_U32,
					       TORCOLL_SUM, &req[at])))
			return 1;
		/* ranks wait at different times */
		if ((i + rank) % 5 == 0)
			usleep(500);
		if (at < depth - 1)
			continue;
		for (at = 0; at < depth; at++) {
			uint32_t op = i - depth + 1 + at;

			if (!worked(torcoll_wait(&req[at])))
				return 1;
			for (k = 0; k < (op % 3 ? 10 : 3000); k++) {
				uint32_t want = ranks * (ranks - 1) / 2 + ranks * (op + k);

				if (x[at][k] != want) {
					say("op %u, element %u: %u, not %u", op, k, x[at][k], want);
					return 1;
				}
			}
		}
	}
	return 0;
}

static int in_flight(void)
{
	return fly(world, IN_FLIGHT);
}

/* Another comm of the same ranks. */
static struct torcoll_comm_config another(const char *secret, uint32_t as, int ms)
{
	static const uint32_t members[] = { 0, 1, 1, 2, 2, 2, 3 };

	return (struct torcoll_comm_config){
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0), .name = "another", .secret = secret,
		.members = members, .size = ARRAY_SIZE(members), .rank = as, .deadline_ns = torcoll_deadline(ms),
	};
}

static int create(struct torcoll *by, const char *secret, uint32_t as, int ms, struct torcoll_comm **comm)
{
	struct torcoll_comm_config config = another(secret, as, ms);

	return torcoll_comm_create(by, &config, comm);
}

static int most_in_flight(void)
{
	struct torcoll_comm_config config = another(NULL, rank, PATIENCE);
	struct torcoll_comm *comm;
	int wrong;

	config.depth = DEPTH_MAX;
	if (!worked(torcoll_comm_create(t, &config, &comm)))
		return 1;
	wrong = fly(comm, DEPTH_MAX);
	torcoll_comm_close(comm);
	return wrong;
}

static int groups(void)
{
	uint32_t from[2] = { 0, 1 }, row[2] = { 2, 1 };
	struct torcoll_comm *dup = NULL, *sub = NULL;
	uint64_t deadline = torcoll_deadline(60000);
	int right;

	/* of all; then of each node by itself; then of every other rank; then of the second row of nodes */
	if (!worked(torcoll_comm_dup(world, deadline, &dup)) ||
	    !sum_is_right(dup, 1000, sum_of_ranks(dup)) ||
	    !worked(torcoll_comm_split(dup, torcoll_comm_node(world, rank), 0, deadline, &sub)))
		return 1;
	right = sum_is_right(sub, COUNT_MAX, sum_of_ranks(sub));
	torcoll_comm_close(sub);
	if (!right || !worked(torcoll_comm_split(dup, rank % 2, -(int)rank, deadline, &sub)))
		return 1;
	right = sum_is_right(sub, 1000, sum_of_ranks(sub)) &&
		torcoll_comm_node(sub, 0) == torcoll_comm_node(world, rank % 2 ? 5 : 6);
	torcoll_comm_close(sub);
	if (!right || !worked(torcoll_comm_block(dup, from, row, deadline, &sub)))
		return 1;
	if (sub)
		right = torcoll_comm_size(sub) == 4 && sum_is_right(sub, 1000, sum_of_ranks(sub));
	else
		right = rank < 3;
	torcoll_comm_close(sub);
	torcoll_comm_close(dup);
	return !right;
}

/* Are the ranks of a comm these @n of the world, in this order, for a scan and for an allgather? */
static int scan_is_right(struct torcoll_comm *comm, const uint32_t *order, uint32_t n)
{
	uint32_t me = torcoll_comm_rank(comm), x = rank, sum, want = 0, list[7];

	for (uint32_t i = 0; i <= me; i++)
		want += order[i];
	if (torcoll_comm_size(comm) != n ||
	    !worked(torcoll_scan(comm, &x, &sum, 1, TORCOLL_U32, TORCOLL_SUM)) ||
	    !worked(torcoll_allgather(comm, &x, list, n, TORCOLL_U32)))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i] != order[i] || torcoll_comm_node(comm, i) != torcoll_comm_node(world, order[i])) {
			say("rank %u on node %u has %u, not %u", i, torcoll_comm_node(comm, i), list[i], order[i]);
			return 0;
		}
	if (sum != want)
		say("sum %u, not %u", sum, want);
	return sum == want;
}

/* On nodes 0, 2, 2, 1, 3, 2, 1. */
static const uint32_t apart_order[] = { 0, 5, 3, 1, 6, 4, 2 };

static int split_apart(struct torcoll_comm **comm)
{
	int key = 0;

	while (apart_order[key] != rank)
		key++;
	return worked(torcoll_comm_split(world, 0, key, torcoll_deadline(60000), comm));
}

/* Of a rank's vector: sums of these are rounded differently in every other order. */
static float rounded(uint32_t of, uint32_t i)
{
	return (float)((i * 2654435761U + of * 40503U) >> 8) / (float)(1U << (i + of) % 17);
}

/* Is @x the sum of the first @n ranks' vectors, one after the other? */
static int sequential(const char *what, const float *x, uint32_t n)
{
	for (uint32_t i = 0; i < COUNT_MAX; i++) {
		float want = rounded(0, i);

		for (uint32_t of = 1; of < n; of++)
			want += rounded(of, i);
		if (x[i] != want) {
			say("%s: element %u is %a, not %a", what, i, x[i], want);
			return 0;
		}
	}
	return 1;
}

/* One call of long vectors in the order of ranks, as AUTO makes it or by @algorithm, in place. */
static int in_order(struct torcoll_comm *comm, uint32_t collective, uint32_t algorithm, uint32_t root)
{
	uint32_t me = torcoll_comm_rank(comm), n = torcoll_comm_size(comm);
	float *x = malloc(COUNT_MAX * sizeof(*x));
	struct torcoll_op op = {
		.collective = collective, .algorithm = algorithm, .send = x, .recv = x,
		.count = COUNT_MAX, .type = TORCOLL_F32, .redop = TORCOLL_SUM, .root = root,
		.bits = TORCOLL_BITS_ORDERED,
	};
	int right;

	for (uint32_t i = 0; i < COUNT_MAX; i++)
		x[i] = rounded(me, i);
	if (collective == TORCOLL_SCAN)
		n = me + 1;
	else if (collective == TORCOLL_EXSCAN)
		n = me;
	right = worked(torcoll_run(comm, &op)) &&
		(!n || (collective == TORCOLL_REDUCE && me != root) ||
		 sequential(torcoll_collective_name(collective), x, n));
	free(x);
	return right;
}

/* Sums that keep the order of ranks: from rank to rank, or gathered. */
static int orders_long(struct torcoll_comm *comm)
{
	static const uint32_t collectives[] = {
		TORCOLL_SCAN, TORCOLL_EXSCAN, TORCOLL_ALLREDUCE, TORCOLL_REDUCE,
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(collectives); i++) {
		uint32_t c = collectives[i], gather = c == TORCOLL_REDUCE ? TORCOLL_TREE : TORCOLL_CIRCULANT;
		uint32_t root = c == TORCOLL_REDUCE ? 4 : 0;

		if (!in_order(comm, c, TORCOLL_ALGO_AUTO, root) || !in_order(comm, c, TORCOLL_RING, root / 2) ||
		    !in_order(comm, c, gather, root))
			return 0;
	}
	return 1;
}

static int long_in_order(void)
{
	struct torcoll_comm *apart;
	int right;

	if (!orders_long(world) || !split_apart(&apart))
		return 1;
	right = orders_long(apart);
	torcoll_comm_close(apart);
	return !right;
}

/* Ranks of a node that do not follow one another: then a dup; every other rank; and the second row of nodes. */
static int groups_apart(void)
{
	static const uint32_t odd[] = { 4, 1, 5 }, even[] = { 2, 6, 3, 0 }, second[] = { 5, 3, 4, 6 };
	uint32_t from[2] = { 0, 1 }, row[2] = { 2, 1 };
	uint64_t deadline = torcoll_deadline(60000);
	struct torcoll_comm *apart, *dup, *sub;
	uint32_t me, right;

	if (!split_apart(&apart) || !scan_is_right(apart, apart_order, 7) ||
	    !sum_is_right(apart, COUNT_MAX, sum_of_ranks(apart)) ||
	    !worked(torcoll_comm_dup(apart, deadline, &dup)) || !scan_is_right(dup, apart_order, 7))
		return 1;
	torcoll_comm_close(apart);
	me = torcoll_comm_rank(dup);
	if (!worked(torcoll_comm_split(dup, me % 2, -(int)me, deadline, &sub)))
		return 1;
	right = scan_is_right(sub, me % 2 ? odd : even, me % 2 ? 3 : 4);
	torcoll_comm_close(sub);
	if (!right || !worked(torcoll_comm_block(dup, from, row, deadline, &sub)))
		return 1;
	right = sub ? scan_is_right(sub, second, 4) : rank < 3;
	torcoll_comm_close(sub);
	torcoll_comm_close(dup);
	return !right;
}

/* Whoever has done all that it was to do may go, and others go on with what they had called. */
static int left_in_peace(void)
{
	uint32_t x = rank;

	if (rank == 4)
		return !worked(torcoll_broadcast(world, &x, 1, TORCOLL_U32, 4));
	sleep(1);
	return !worked(torcoll_broadcast(world, &x, 1, TORCOLL_U32, 4)) || x != 4;
}

/* Netlink knows ranks, not nodes; the comm of a node's ranks is in use as long as one of them has it. */
static int shown(void)
{
	static const char as[] = "\"rank\":0,\"ranks\":7,\"state\":\"up\"";
	char text[4096] = "";
	FILE *f = rank ? NULL : popen("torcollctl -j comm show | tr -d ' \\n'", "r");
	int right = 1;

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		right = !pclose(f) && strstr(text, as);
		if (!right)
			say("%s", text);
	}
	if (!rank && system("torcollctl -j fabric show | jq -e '.[0].comms > 0' >/dev/null")) {
		say("the fabric counts no comm");
		right = 0;
	}
	return !worked(torcoll_barrier(world)) || !right;
}

/* While one of a node waits for another, that is said. */
static int waits_shown(void)
{
	/* until the others have come; the launcher's time limit is the test's */
	while (rank == 5 && system("torcollctl op show | grep -q 'waits for data of ranks 5$'"))
		usleep(10000);
	return !worked(torcoll_barrier(world));
}

/* A number that netlink shows of this comm, by its name in JSON; -1: none. */
static long number_shown(const char *name)
{
	char command[128];
	long n = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 "torcollctl -j comm show | jq '.[] | select(.name == env.TORCOLL_COMM).%s'", name);
	f = popen(command, "r");
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	pclose(f);
	return n;
}

/* Calls are counted of each rank: a barrier of three twice, a message of two, and two that wait for the third. */
static int calls_shown(void)
{
	long before = -1, after, running = 0;
	char byte = 0;
	int err;

	if (!worked(torcoll_barrier(world)))
		return 1;
	/* the results of a node come in the order of ranks: those of the others are there */
	if (rank == 5)
		before = number_shown("ops");
	if (!worked(torcoll_barrier(world)))
		return 1;
	err = rank == 3 ? torcoll_send(world, &byte, 1, TORCOLL_U8, 4) :
	      rank == 4 ? torcoll_recv(world, &byte, 1, TORCOLL_U8, 3) : 0;
	if (!worked(err) || !worked(torcoll_barrier(world)))
		return 1;
	after = rank == 5 ? number_shown("ops") : -1;
	for (uint32_t i = 0; rank == 5 && running != 2 && i < 300; i++) {
		running = number_shown("running");
		usleep(10000);
	}
	if (!worked(torcoll_barrier(world)))
		return 1;
	if (rank != 5 || (after == before + 8 && running == 2))
		return 0;
	say("%ld ops, then %ld, %ld running", before, after, running);
	return 1;
}

/* ---- what is refused ---- */

static int refused_calls(void)
{
	char byte = 0;

	return ended(torcoll_send(world, &byte, 1, TORCOLL_U8, ranks), -EINVAL, "peer 7 of 7 ranks");
}

static int refused_shrink(void)
{
	struct torcoll_comm *comm;

	return ended(torcoll_comm_shrink(world, torcoll_deadline(60000), &comm), -EOPNOTSUPP, "cannot be shrunk");
}

/* ---- what goes wrong ---- */

static int killed(void)
{
	if (rank == 4) {
		kill(getpid(), SIGKILL);
		pause();
	}
	return ended_by(torcoll_barrier(world), -ECONNABORTED, 4);
}

static int left(void)
{
	if (rank == 4)
		return 0;
	return ended_by(torcoll_barrier(world), -ECONNABORTED, 4);
}

/* It leaves when the others of its node wait for it, and nobody else of it can be late. */
static int left_waited_for(void)
{
	/* the launcher's time limit is the test's */
	while (rank == 4 && number_shown("running") != 2)
		usleep(10000);
	return left();
}

/* Ranks are those of the comm, whatever seats they have. */
static int left_apart(void)
{
	struct torcoll_comm *apart;

	if (!split_apart(&apart))
		return 1;
	if (rank == 4) {
		torcoll_comm_close(apart);
		return 0;
	}
	return ended_by(torcoll_barrier(apart), -ECONNABORTED, 5);
}

static int mismatch_here(void)
{
	uint32_t x[200] = { 0 };
	int err;

	if (rank == 5)
		err = torcoll_allreduce(world, x, x, 200, TORCOLL_U32, TORCOLL_MAX);
	else
		err = torcoll_allreduce(world, x, x, 100, TORCOLL_U32, TORCOLL_SUM);
	return ended(err, -EPROTO, "allreduce u32 max count 200") ||
	       ended(err, -EPROTO, "allreduce u32 sum count 100") || ended(err, -EPROTO, "rank 5 ");
}

/*
 * Two calls with the same digest, of 32 bits: among processes of a node, calls themselves have to be compared, or what one has
 * called would be done with the other's shorter vector.
 */
static int mismatch_alike(void)
{
	enum { FEW = 74717, MANY = 127264 };
	uint32_t *x = calloc(MANY, sizeof(*x));
	int err;

	err = torcoll_allreduce(world, x, x, rank == 5 ? FEW : MANY, TORCOLL_U32, TORCOLL_SUM);
	free(x);
	return ended(err, -EPROTO, "rank 5 ");
}

/* All of a node agree, and not with others. */
static int mismatch_there(void)
{
	uint32_t x[200] = { 0 };
	int err;

	if (rank >= 3 && rank <= 5)
		err = torcoll_allreduce(world, x, x, 200, TORCOLL_U32, TORCOLL_MAX);
	else
		err = torcoll_allreduce(world, x, x, 100, TORCOLL_U32, TORCOLL_SUM);
	return ended(err, -EPROTO, "allreduce u32 max count 200") ||
	       ended(err, -EPROTO, "allreduce u32 sum count 100") || ended(err, -EPROTO, "rank 3 ");
}

static int barrier_until(int ms)
{
	struct torcoll_op op = { .collective = TORCOLL_BARRIER, .deadline_ns = torcoll_deadline(ms) };

	return torcoll_run(world, &op);
}

/*
 * Rank 5 is late, and nobody else can be: they say to @who that they have called, before that one calls, with a deadline, and is
 * told @words.
 */
static int late(uint32_t who, const char *words)
{
	struct torcoll_request req;
	char called = 1;

	if (rank == 5) {
		await_failure();
		return ended_by(torcoll_barrier(world), -ECONNABORTED, who);
	}
	if (rank != who) {
		if (!worked(torcoll_ibarrier(world, &req)) ||
		    !worked(torcoll_send(world, &called, 1, TORCOLL_U8, who)))
			return 1;
		return ended_by(torcoll_wait(&req), -ECONNABORTED, who);
	}
	for (uint32_t i = 0; i < ranks; i++)
		if (i != who && i != 5 && !worked(torcoll_recv(world, &called, 1, TORCOLL_U8, i)))
			return 1;
	return ended(barrier_until(300), -ETIMEDOUT, words);
}

static int late_here(void)
{
	return late(4, "caused by rank 5 ");
}

/* Who of a node is late, others cannot tell. */
static int late_there(void)
{
	return late(1, "rank 3 (node 2), or another rank there,");
}

static int cancelled(void)
{
	struct torcoll_request req;

	if (rank == 5)
		await_failure();
	if (rank != 4)
		return ended_by(torcoll_barrier(world), -ECONNABORTED, 4);
	if (!worked(torcoll_ibarrier(world, &req)) || !worked(torcoll_abort(world)))
		return 1;
	return ended(torcoll_wait(&req), -ECANCELED, NULL);
}

/* Two ranks name other lengths of what goes from one to the other: on one node, and on two, where sums are right. */
static int unequal(uint32_t sender, uint32_t receiver, uint32_t other)
{
	uint64_t sent[7], got[7], total = 0;
	static uint32_t in[7 * 100], out[7 * 100];
	struct torcoll_op op = {
		.collective = TORCOLL_ALLTOALL, .type = TORCOLL_U32, .send = out, .recv = in,
		.counts = sent, .recv_counts = got,
	};
	int err;

	for (uint32_t i = 0; i < ranks; i++)
		sent[i] = got[i] = 50;
	if (rank == sender)
		sent[receiver] = 90;
	if (rank == sender && other < ranks)
		sent[other] = 10;
	for (uint32_t i = 0; i < ranks; i++)
		total += got[i];
	op.count = total;
	err = torcoll_run(world, &op);
	/* whoever has got all that was meant for it may have gone on */
	return ended(err ? err : torcoll_barrier(world), -EPROTO, "alltoall u32 count 350");
}

static int unequal_here(void)
{
	return unequal(3, 5, ranks);
}

static int unequal_there(void)
{
	return unequal(1, 5, 4);
}

/* ---- joining ---- */

/* Root's comms, of all processes. */
static int comms_charged(void)
{
	FILE *f = popen("torcollctl -j limit show | jq '[.[] | select(.user == 0).comms][0]'", "r");
	int n = -1;

	if (fscanf(f, "%d", &n) != 1)
		n = -1;
	pclose(f);
	return n;
}

/* All others wait for rank 5 to join the comm that they create; the launcher's time limit is the test's. */
static void await_others(int before)
{
	while (comms_charged() != before + 6)
		usleep(10000);
}

/* Ranks of a node are one user's: whoever else asks for the one that is missing is told so, and keeps nobody from coming. */
static int another_user(void)
{
	int before = comms_charged(), wrong = 0;
	struct torcoll_comm *comm;
	struct torcoll *other;

	if (!worked(torcoll_barrier(world)))
		return 1;
	if (rank == 5) {
		await_others(before);
		if (setresuid(1001, 1001, 0) || !worked(torcoll_open(&other)))
			return 1;
		wrong = ended(create(other, NULL, 5, PATIENCE, &comm), -EPERM, "another user");
		torcoll_close(other);
		if (setresuid(0, 0, 0))
			return 1;
	}
	if (!worked(create(t, NULL, rank, PATIENCE, &comm)) || !sum_is_right(comm, 100, sum_of_ranks(comm)))
		return 1;
	torcoll_comm_close(comm);
	return wrong;
}

/* Ranks of a node that name different lists: whoever waits is told at once, as is whoever comes. */
static int other_list(void)
{
	struct torcoll_comm_config config = another("lists", TORCOLL_RANK_SELF, PATIENCE);
	struct torcoll_comm *comm;

	if (rank != 3 && rank != 4)
		return 0;
	/* without the last rank, on another node */
	config.size -= rank == 4;
	return ended(torcoll_comm_create(t, &config, &comm), -EPROTO, "different lists");
}

static int one_missing(void)
{
	struct torcoll_comm *comm;

	if (rank == 5)
		return 0;
	/* all that come do so before the first one gives up */
	return ended(create(t, "s", rank, 3000, &comm), -ETIMEDOUT,
		     rank == 3 || rank == 4 ? "rank 5 is missing" : NULL);
}

/* It is told so, and can try again; the others have waited. */
static int wrong_secret(void)
{
	int before = comms_charged();
	struct torcoll_comm *comm;

	if (!worked(torcoll_barrier(world)))
		return 1;
	if (rank == 5) {
		await_others(before);
		if (ended(create(t, "x", rank, PATIENCE, &comm), -EACCES, NULL))
			return 1;
	}
	return !worked(create(t, "s", rank == 5 ? TORCOLL_RANK_SELF : rank, PATIENCE, &comm)) ||
	       !sum_is_right(comm, 100, sum_of_ranks(comm));
}

/* Ranks that name none get those that are left. */
static int any_seat(void)
{
	struct torcoll_comm *comm;

	return !worked(create(t, NULL, TORCOLL_RANK_SELF, PATIENCE, &comm)) ||
	       !sum_is_right(comm, 100, sum_of_ranks(comm));
}

/* As many ranks on each node as in the list of another(). */
static const uint32_t by_node[] = { 0, 1, 2, 3, 1, 2, 2 };

static int any_seat_apart(void)
{
	struct torcoll_comm_config config = another(NULL, TORCOLL_RANK_SELF, PATIENCE);
	struct torcoll_comm *comm;

	config.members = by_node;
	if (!worked(torcoll_comm_create(t, &config, &comm)))
		return 1;
	if (torcoll_comm_node(world, rank) != by_node[torcoll_comm_rank(comm)]) {
		say("rank %u is on node %u", torcoll_comm_rank(comm), torcoll_comm_node(world, rank));
		return 1;
	}
	return !sum_is_right(comm, 100, sum_of_ranks(comm));
}

/* Nodes have as many ranks in both lists, and not the same. Whoever calls later would begin anew: two are enough. */
static int other_order(void)
{
	struct torcoll_comm_config config = another("order", TORCOLL_RANK_SELF, PATIENCE);
	struct torcoll_comm *comm;

	if (rank && rank != 6)
		return 0;
	if (rank)
		config.members = by_node;
	return ended(torcoll_comm_create(t, &config, &comm), -EPROTO, "another list of members");
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "in_flight", in_flight },
	{ "most_in_flight", most_in_flight },
	{ "groups", groups },
	{ "groups_apart", groups_apart },
	{ "long_in_order", long_in_order },
	{ "any_seat_apart", any_seat_apart },
	{ "shown", shown },
	{ "waits_shown", waits_shown },
	{ "calls_shown", calls_shown },
	{ "any_seat", any_seat },
	{ "another_user", another_user },
	{ "other_list", other_list },
	{ "wrong_secret", wrong_secret },
	{ "refused_calls", refused_calls },
}, ends[] = {
	{ "left_in_peace", left_in_peace },
	{ "one_missing", one_missing },
	{ "refused_shrink", refused_shrink },
	{ "left", left },
	{ "left_waited_for", left_waited_for },
	{ "left_apart", left_apart },
	{ "other_order", other_order },
	{ "mismatch_here", mismatch_here },
	{ "mismatch_alike", mismatch_alike },
	{ "mismatch_there", mismatch_there },
	{ "unequal_here", unequal_here },
	{ "unequal_there", unequal_there },
	{ "late_here", late_here },
	{ "late_there", late_there },
	{ "cancelled", cancelled },
	{ "killed", killed },
};

static int all_right(int right)
{
	uint32_t wrong = !right;

	return worked(torcoll_allreduce(world, &wrong, &wrong, 1, TORCOLL_U32, TORCOLL_SUM)) && !wrong;
}

static int good(void)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int right = all_right(!cases[i].run());

		if (!rank)
			say("%s %s", right ? "right" : "wrong", cases[i].name);
		if (!right)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !join_world())
		return 2;
	if (!strcmp(argv[1], "good"))
		return good();
	for (uint32_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!strcmp(argv[1], ends[i].name))
			return ends[i].run();
	return 2;
}
