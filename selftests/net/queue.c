// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of what libtorcoll does on top of the module: more ops than have slots, waits for several things,
 * layouts and operators of programs. Each case is named by rank 0 when all ranks found it right.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <torcoll.h>
#include <unistd.h>

#include "rank.h"

#define MANY	300
#define LONG	(64 << 10)	/* elements: bytes by far exceed what is copied, or gathered */

static uint64_t soon(void)
{
	return torcoll_deadline(60000);
}

/* ---- more than have slots ---- */

static int barriers_backwards(void)
{
	struct torcoll_request req[MANY];
	int right = 1;

	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	for (uint32_t i = MANY; right && i-- > 0; )
		right &= worked(torcoll_wait(&req[i]));
	return right;
}

/* Short and long ones in turn, whose results are copied by the reaping call or not. */
static int sums_backwards(void)
{
	const uint32_t lengths[] = { 1, 3000, 9, 700 };
	struct torcoll_request req[MANY];
	int32_t *in = calloc(MANY, 3000 * sizeof(*in)), *out = calloc(MANY, 3000 * sizeof(*out));
	int right = in && out;

	for (uint32_t i = 0; right && i < MANY; i++) {
		uint32_t n = lengths[i % ARRAY_SIZE(lengths)];

		for (uint32_t k = 0; k < n; k++)
			in[i * 3000 + k] = rank + i + k;
		right &= worked(torcoll_iallreduce(world, &in[i * 3000], &out[i * 3000], n, TORCOLL_I32,
						   TORCOLL_SUM, &req[i]));
	}
	for (uint32_t i = MANY; right && i-- > 0; ) {
		uint32_t n = lengths[i % ARRAY_SIZE(lengths)];

		right &= worked(torcoll_wait(&req[i]));
		for (uint32_t k = 0; k < n; k++)
			right &= (uint32_t)out[i * 3000 + k] == ranks * (ranks - 1) / 2 + ranks * (i + k);
	}
	free(in);
	free(out);
	return right;
}

/* One rank waits on one comm for what the others start on another only then. */
static int two_comms(void)
{
	struct torcoll_request req[MANY], last;
	struct torcoll_comm *dup;
	int32_t one = 1, sum;
	int right = 1;

	if (!worked(torcoll_comm_dup(world, soon(), &dup)))
		return 0;
	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	if (rank % 2)
		for (uint32_t i = 0; i < MANY; i++)
			right &= worked(torcoll_wait(&req[i]));
	right &= worked(torcoll_iallreduce(dup, &one, &sum, 1, TORCOLL_I32, TORCOLL_SUM, &last));
	right &= worked(torcoll_wait(&last)) && sum == (int32_t)ranks;
	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_wait(&req[i]));
	torcoll_comm_close(dup);
	return right;
}

static int messages(void)
{
	uint32_t to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, in[MANY], out[MANY];
	struct torcoll_request send[MANY], recv[MANY];
	int right = 1;

	for (uint32_t i = 0; i < MANY; i++) {
		out[i] = rank * MANY + i;
		right &= worked(torcoll_isend(world, &out[i], 1, TORCOLL_U32, to, &send[i]));
	}
	/* collectives do not wait for them */
	right &= worked(torcoll_barrier(world));
	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_irecv(world, &in[i], 1, TORCOLL_U32, from, &recv[i]));
	for (uint32_t i = MANY; right && i-- > 0; )
		right &= worked(torcoll_wait(&recv[i])) && in[i] == from * MANY + i;
	for (uint32_t i = MANY; right && i-- > 0; )
		right &= worked(torcoll_wait(&send[i]));
	return right;
}

/* A blocking call in the middle comes in its order, and starts what is before it. */
static int blocking_behind(void)
{
	struct torcoll_request req[MANY];
	int32_t mine = rank, sum;
	int right = 1;

	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	right &= worked(torcoll_allreduce(world, &mine, &sum, 1, TORCOLL_I32, TORCOLL_SUM));
	right &= sum == (int32_t)(ranks * (ranks - 1) / 2);
	for (uint32_t i = 0; i < MANY; i++)
		right &= !torcoll_test(&req[i]) || worked(torcoll_wait(&req[i]));
	return right;
}

/* Rank 0 calls when each of the others has told it that its own call has ended: the barrier goes on meanwhile. */
static int ends_at_its_time(void)
{
	const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;
	int right = 1;
	char byte = 0;

	if (!rank) {
		for (uint32_t i = 1; right && i < ranks; i++)
			right &= worked(torcoll_recv(world, &byte, 1, TORCOLL_U8, i));
		return worked(torcoll_run_until(world, &barrier, &req, soon())) && right;
	}
	right &= torcoll_run_until(world, &barrier, &req, torcoll_deadline(50)) == -EAGAIN;
	right &= torcoll_test(&req) == -EAGAIN;
	right &= worked(torcoll_send(world, &byte, 1, TORCOLL_U8, 0));
	return worked(torcoll_wait(&req)) && right;
}

/*
 * The same, and more start behind it than there are slots, which are waited for first: all slots have to be used again,
 * also that of the op that nobody waits for.
 */
static int others_before_it(void)
{
	const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };
	struct torcoll_request first, req[MANY];
	uint64_t end = soon();
	int right = 1;
	char byte = 0;

	if (!rank)
		for (uint32_t i = 1; i < ranks; i++)
			right &= worked(torcoll_recv(world, &byte, 1, TORCOLL_U8, i));
	else
		right &= torcoll_run_until(world, &barrier, &first, torcoll_deadline(50)) == -EAGAIN;
	if (rank)
		right &= worked(torcoll_send(world, &byte, 1, TORCOLL_U8, 0));
	else
		right &= worked(torcoll_ibarrier(world, &first));
	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	for (uint32_t i = MANY; i-- > 0; )
		right &= worked(torcoll_wait_until(&req[i], end));
	right &= worked(torcoll_wait(&first));
	for (uint32_t i = 0; !right && i < MANY; i++)
		torcoll_wait(&req[i]);
	return right;
}

static void *run_barrier(void *comm)
{
	const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };
	struct torcoll_request req;
	int err = torcoll_run_until(comm, &barrier, &req, soon());

	if (err == -EAGAIN)
		torcoll_wait(&req);
	return err ? comm : NULL;
}

/* What one thread starts without waiting for it must end before the op that another one runs. */
static int others_of_a_thread(void)
{
	struct torcoll_request req[MANY];
	struct torcoll_comm *dup;
	pthread_t thread;
	void *wrong = NULL;
	int right = 1;

	if (!worked(torcoll_comm_dup(world, soon(), &dup)))
		return 0;
	if (rank && pthread_create(&thread, NULL, run_barrier, dup))
		return 0;
	/* it is in the call then, most likely */
	if (rank)
		usleep(50000);
	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	for (uint32_t i = 0; !rank && i < MANY; i++)
		right &= worked(torcoll_wait(&req[i]));
	if (rank)
		pthread_join(thread, &wrong);
	else
		wrong = run_barrier(dup);
	for (uint32_t i = 0; rank && i < MANY; i++)
		right &= worked(torcoll_wait(&req[i]));
	torcoll_comm_close(dup);
	return right && !wrong;
}

/* One rank makes a comm while its ops wait for slots, and another one when these have ended. */
static int makes_a_comm(void)
{
	struct torcoll_request req[MANY];
	struct torcoll_comm *dup;
	int right = 1;

	for (uint32_t i = 0; i < MANY; i++)
		right &= worked(torcoll_ibarrier(world, &req[i]));
	for (uint32_t i = 0; !rank && i < MANY; i++)
		right &= worked(torcoll_wait_until(&req[i], soon()));
	if (!worked(torcoll_comm_dup(world, soon(), &dup)))
		return 0;
	for (uint32_t i = 0; rank && i < MANY; i++)
		right &= worked(torcoll_wait_until(&req[i], soon()));
	torcoll_comm_close(dup);
	return right;
}

/* ---- progress ---- */

/*
 * Even ranks read from a pipe before they call; a byte is there when the odd one has told so by a message, which it
 * sends while it waits for the op.
 */
static int descriptors(void)
{
	struct pollfd fd = { .events = POLLIN };
	struct torcoll_request req, told;
	int32_t one = 1, sum, seen = 0;
	int pipes[2], right = 1, err;
	char c = 0;

	if (pipe(pipes))
		return 0;
	fd.fd = pipes[0];
	if (rank % 2) {
		right &= worked(torcoll_iallreduce(world, &one, &sum, 1, TORCOLL_I32, TORCOLL_SUM, &req));
		right &= write(pipes[1], &c, 1) == 1;
		while ((err = torcoll_wait_fds(&req, &fd, 1, soon())) == -EAGAIN && fd.revents) {
			right &= read(pipes[0], &c, 1) == 1;
			right &= worked(torcoll_isend(world, &one, 1, TORCOLL_I32, rank - 1, &told));
			seen++;
		}
		right &= worked(err) && seen == 1 && worked(torcoll_wait(&told));
	} else {
		if (rank + 1 < ranks)
			right &= worked(torcoll_recv(world, &seen, 1, TORCOLL_I32, rank + 1)) && seen == 1;
		right &= worked(torcoll_allreduce(world, &one, &sum, 1, TORCOLL_I32, TORCOLL_SUM));
	}
	close(pipes[0]);
	close(pipes[1]);
	return right && sum == (int32_t)ranks;
}

static int any_and_all(void)
{
	struct torcoll_request req[4];
	struct torcoll_request *reqs[4] = { &req[0], &req[1], NULL, &req[3] };
	int32_t one = 1, sum[4] = { 0 };
	uint32_t index, seen = 0;
	int right = 1;

	for (uint32_t i = 0; i < ARRAY_SIZE(req); i++)
		if (reqs[i])
			right &= worked(torcoll_iallreduce(world, &one, &sum[i], 1, TORCOLL_I32,
							   TORCOLL_SUM, reqs[i]));
	for (uint32_t i = 0; i < 2; i++) {
		right &= worked(torcoll_wait_any(reqs, ARRAY_SIZE(reqs), soon(), &index));
		seen |= 1U << index;
		reqs[index] = NULL;
	}
	right &= worked(torcoll_wait_all(reqs, ARRAY_SIZE(reqs), soon()));
	for (uint32_t i = 0; i < ARRAY_SIZE(req); i++)
		right &= i == 2 || sum[i] == (int32_t)ranks;
	return right && seen;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The time of @n tests of an op that is not complete, and of as many calls: the shortest of the module. */
static int time_tests(struct torcoll_request *req, uint32_t n, uint64_t *test, uint64_t *call)
{
	struct torcoll_comm_info info;
	int right = 1;
	uint64_t at;

	at = now();
	for (uint32_t i = 0; i < n; i++)
		right &= torcoll_test(req) == -EAGAIN;
	*test = now() - at;
	at = now();
	for (uint32_t i = 0; i < n; i++)
		right &= !torcoll_comm_info(world, &info);
	*call = now() - at;
	return right;
}

/* A test of an op that is not complete: less than a tenth of the shortest system call of the module. */
static int cheap_test(void)
{
	enum { TESTS = 4000, TIMES = 5 };
	uint64_t at = 0, test = UINT64_MAX, call = UINT64_MAX, one_test, one_call;
	struct torcoll_request req;
	int right = 1;

	if (rank) {
		right &= worked(torcoll_recv(world, &at, 1, TORCOLL_U64, 0));
		return worked(torcoll_barrier(world)) && right;
	}
	right &= worked(torcoll_ibarrier(world, &req));
	for (uint32_t i = 0; i < TIMES; i++) {
		right &= time_tests(&req, TESTS, &one_test, &one_call);
		test = one_test < test ? one_test : test;
		call = one_call < call ? one_call : call;
	}
	say("a test takes %llu ns, a call %llu ns", (unsigned long long)test / TESTS,
	    (unsigned long long)call / TESTS);
	for (uint32_t i = 1; i < ranks; i++)
		right &= worked(torcoll_send(world, &at, 1, TORCOLL_U64, i));
	return right && worked(torcoll_wait(&req)) && test < call;
}

/* ---- layouts ---- */

/* The block of a rank: its length, and its place in an order from the last rank on, with gaps of 3. */
static void places(uint64_t *counts, uint64_t *displs)
{
	uint64_t at = 2;

	for (uint32_t i = ranks; i-- > 0; ) {
		counts[i] = i == 1 ? 0 : 1000 * i + 5;
		displs[i] = at;
		at += counts[i] + 3;
	}
}

static int32_t element(uint32_t from, uint32_t to, uint64_t i)
{
	return from * 1000003 + to * 7919 + i;
}

/* Is all of it right, and what is between the blocks untouched? */
static int is_right(const int32_t *v, const uint64_t *counts, const uint64_t *displs, uint32_t to, uint64_t n)
{
	uint64_t sum = 0;

	for (uint32_t from = 0; from < ranks; from++) {
		for (uint64_t i = 0; i < counts[from]; i++)
			if (v[displs[from] + i] != element(from, to, i))
				return 0;
		sum += counts[from];
	}
	for (uint64_t i = 0; i < n; i++)
		sum += v[i] == -1;
	return sum == n;
}

#define ROOM	20000

static int32_t *room(void)
{
	int32_t *v = malloc(ROOM * sizeof(*v));

	if (v)
		memset(v, 0xff, ROOM * sizeof(*v));
	return v;
}

static int gathered_out_of_order(void)
{
	uint64_t counts[16], displs[16];
	struct torcoll_displs d = { .recv = displs };
	struct torcoll_op op = { .collective = TORCOLL_ALLGATHER, .type = TORCOLL_I32, .counts = counts, .displs = &d };
	int32_t *in = room(), *out = room();
	int right;

	places(counts, displs);
	for (uint32_t i = 0; i < ranks; i++)
		op.count += counts[i];
	for (uint64_t i = 0; i < counts[rank]; i++)
		in[i] = out[displs[rank] + i] = element(rank, 0, i);
	op.send = in;
	op.recv = out;
	right = worked(torcoll_run(world, &op)) && is_right(out, counts, displs, 0, ROOM);
	/* in place */
	for (uint32_t i = 0; i < ranks; i++)
		if (i != rank)
			memset(&out[displs[i]], 0xff, counts[i] * sizeof(*out));
	op.send = &out[displs[rank]];
	right = right && worked(torcoll_run(world, &op)) && is_right(out, counts, displs, 0, ROOM);
	free(in);
	free(out);
	return right;
}

/* There and back, with counts at the root, and anything in the others'. */
static int scattered_and_gathered(void)
{
	uint32_t root = ranks - 1;
	uint64_t counts[16], displs[16];
	struct torcoll_displs send = { .send = displs }, recv = { .recv = displs };
	struct torcoll_op op = {
		.collective = TORCOLL_SCATTER, .type = TORCOLL_I32, .root = root,
		.flags = TORCOLL_OP_COUNTS_AT_ROOT, .displs = &send,
	};
	int32_t *all = room(), *back = room(), *own = room();
	int right = 1;

	places(counts, displs);
	for (uint32_t to = 0; to < ranks; to++)
		for (uint64_t i = 0; i < counts[to]; i++)
			all[displs[to] + i] = element(to, 0, i);
	op.count = counts[rank];
	op.send = rank == root ? all : NULL;
	op.recv = own;
	if (rank == root)
		op.counts = counts;
	else
		op.displs = NULL;
	right &= worked(torcoll_run(world, &op));
	for (uint64_t i = 0; i < counts[rank]; i++)
		right &= own[i] == element(rank, 0, i);
	right &= own[counts[rank]] == -1;
	op.collective = TORCOLL_GATHER;
	op.send = own;
	op.recv = rank == root ? back : NULL;
	if (rank == root)
		op.displs = &recv;
	right &= worked(torcoll_run(world, &op));
	if (rank == root)
		right &= is_right(back, counts, displs, 0, ROOM);
	free(all);
	free(back);
	free(own);
	return right;
}

static int all_to_all_out_of_order(void)
{
	uint64_t sent[16], received[16], from[16], to[16];
	struct torcoll_displs d = { .send = from, .recv = to };
	struct torcoll_op op = {
		.collective = TORCOLL_ALLTOALL, .type = TORCOLL_I32, .counts = sent,
		.recv_counts = received, .displs = &d,
	};
	int32_t *in = room(), *out = room();
	int right;

	for (uint32_t i = 0; i < ranks; i++) {
		sent[i] = 10 * rank + i;
		received[i] = 10 * i + rank;
		from[i] = (ranks - i) * 200;
		to[i] = (i + 1) % ranks * 200 + 7;
		op.count += received[i];
		for (uint64_t k = 0; k < sent[i]; k++)
			in[from[i] + k] = element(rank, i, k);
	}
	op.send = in;
	op.recv = out;
	right = worked(torcoll_run(world, &op)) && is_right(out, received, to, rank, ROOM);
	free(in);
	free(out);
	return right;
}

/* MPI's way: the result at the start, and the rest as it was. */
static int scattered_at_start(void)
{
	uint64_t n = 5 * ranks + 3, own = n / ranks + (rank < n % ranks), first = 0;
	struct torcoll_op op = {
		.collective = TORCOLL_REDUCE_SCATTER, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = n, .flags = TORCOLL_OP_AT_START,
	};
	int32_t v[200];
	int right;

	for (uint64_t i = 0; i < n; i++)
		v[i] = i + rank;
	for (uint32_t i = 0; i < rank; i++)
		first += n / ranks + (i < n % ranks);
	op.send = v;
	op.recv = v;
	right = worked(torcoll_run(world, &op));
	for (uint64_t i = 0; i < n; i++)
		right &= v[i] == (int32_t)(i < own ? ranks * (first + i) + ranks * (ranks - 1) / 2 : i + rank);
	return right;
}

/* No rank is before the first: it needs no buffer, and one that it gives is not written. */
static int excluded_first(void)
{
	const uint32_t lengths[] = { 3, LONG };
	int32_t *in = malloc(LONG * sizeof(*in)), *out = malloc(LONG * sizeof(*out));
	int right = in && out;

	for (uint32_t l = 0; right && l < ARRAY_SIZE(lengths); l++) {
		for (uint32_t i = 0; i < lengths[l]; i++) {
			in[i] = rank + i;
			out[i] = -5;
		}
		right &= worked(torcoll_exscan(world, in, rank ? out : NULL, lengths[l], TORCOLL_I32,
					       TORCOLL_SUM));
		for (uint32_t i = 0; i < lengths[l]; i++)
			right &= out[i] == (rank ? (int32_t)(rank * (rank - 1) / 2 + rank * i) : -5);
		/* in place */
		right &= worked(torcoll_exscan(world, in, in, lengths[l], TORCOLL_I32, TORCOLL_SUM));
		for (uint32_t i = 0; i < lengths[l]; i++)
			right &= in[i] == (int32_t)(rank ? rank * (rank - 1) / 2 + rank * i : i);
	}
	free(in);
	free(out);
	return right;
}

/* ---- operators of the program ---- */

/* x -> a x + b modulo 2^32: composition is associative, and not commutative. */
struct affine {
	uint32_t a, b, pad;		/* no size of a type */
};

static void compose(const void *in, void *inout, uint64_t count, void *arg)
{
	const struct affine *f = in;
	struct affine *g = inout;

	++*(uint32_t *)arg;
	for (uint64_t i = 0; i < count; i++)
		g[i] = (struct affine){ f[i].a * g[i].a, f[i].a * g[i].b + f[i].b, 0 };
}

static struct affine contribution(uint32_t from, uint64_t i)
{
	return (struct affine){ 2 * (from * 5 + i) + 3, from * 77 + i, 0 };
}

static int is_composed(const struct affine *v, uint32_t n, uint64_t i)
{
	struct affine sum = contribution(n - 1, i);
	uint32_t calls;

	for (uint32_t r = n - 1; r-- > 0; ) {
		struct affine f = contribution(r, i);

		compose(&f, &sum, 1, &calls);
	}
	return v->a == sum.a && v->b == sum.b;
}

static int function_case(enum torcoll_collective collective, uint64_t n, int in_place)
{
	uint32_t calls = 0, root = 1, summands = ranks;
	struct torcoll_function f = { compose, &calls, sizeof(struct affine) };
	struct torcoll_op op = { .collective = collective, .count = n, .function = &f };
	struct affine *in = calloc(n, sizeof(*in)), *out = calloc(n, sizeof(*out)), *result = out;
	uint64_t first = 0, len = n;
	int right = in && out;

	if (collective == TORCOLL_REDUCE)
		op.root = root;
	for (uint64_t i = 0; i < n; i++)
		in[i] = contribution(rank, i);
	if (collective == TORCOLL_REDUCE_SCATTER) {
		len = n / ranks + (rank < n % ranks);
		for (uint32_t i = 0; i < rank; i++)
			first += n / ranks + (i < n % ranks);
	}
	if (collective == TORCOLL_SCAN || collective == TORCOLL_EXSCAN)
		summands = rank + (collective == TORCOLL_SCAN);
	if (in_place)
		result = in + first;
	op.send = in;
	op.recv = result;
	if (collective == TORCOLL_REDUCE && rank != root)
		op.recv = NULL;
	right = right && worked(torcoll_run(world, &op));
	if (collective == TORCOLL_REDUCE && rank != root)
		len = 0;
	for (uint64_t i = 0; right && summands && i < len; i++)
		right = is_composed(&result[i], summands, first + i);
	free(in);
	free(out);
	return right;
}

static int functions(void)
{
	static const enum torcoll_collective collectives[] = {
		TORCOLL_ALLREDUCE, TORCOLL_REDUCE, TORCOLL_REDUCE_SCATTER, TORCOLL_SCAN, TORCOLL_EXSCAN,
	};
	static const uint64_t lengths[] = { 0, 1, 50, 40001 };
	int right = 1;

	for (uint32_t c = 0; c < ARRAY_SIZE(collectives); c++)
		for (uint32_t l = 0; l < ARRAY_SIZE(lengths); l++)
			for (int in_place = 0; in_place < 2; in_place++)
				if (!function_case(collectives[c], lengths[l], in_place)) {
					say("%s of %u, in place %d: wrong",
					    torcoll_collective_name(collectives[c]), (uint32_t)lengths[l],
					    in_place);
					right = 0;
				}
	return right;
}

/* Ops of steps among others: what comes later comes later on all ranks. */
static int steps_in_order(void)
{
	uint32_t calls = 0;
	struct torcoll_function f = { compose, &calls, sizeof(struct affine) };
	struct torcoll_op op = { .collective = TORCOLL_ALLREDUCE, .count = 9000, .function = &f };
	struct affine *in = calloc(2 * 9000, sizeof(*in)), *out = in + 9000;
	struct torcoll_request req[3];
	int32_t one = 1, sum[2];
	int right = 1;

	for (uint64_t i = 0; i < 9000; i++)
		in[i] = contribution(rank, i);
	op.send = in;
	op.recv = out;
	right &= worked(torcoll_iallreduce(world, &one, &sum[0], 1, TORCOLL_I32, TORCOLL_SUM, &req[0]));
	right &= worked(torcoll_submit(world, &op, &req[1]));
	right &= worked(torcoll_iallreduce(world, &one, &sum[1], 1, TORCOLL_I32, TORCOLL_SUM, &req[2]));
	for (uint32_t i = 0; i < 3; i++)
		right &= worked(torcoll_wait(&req[(i + rank) % 3]));
	for (uint64_t i = 0; i < 9000; i++)
		right &= is_composed(&out[i], ranks, i);
	free(in);
	return right && sum[0] == (int32_t)ranks && sum[1] == (int32_t)ranks;
}

/* ---- refusals ---- */

/* A comm of all ranks, which tells of refusals if it shall. */
static struct torcoll_comm *other_comm(const char *name, uint64_t flags)
{
	struct torcoll_fabric fabric;
	uint32_t members[16];
	struct torcoll_comm_config config = {
		.name = name, .members = members, .size = ranks, .rank = rank, .flags = flags,
		.deadline_ns = soon(),
	};
	struct torcoll_comm *comm;

	if (torcoll_fabrics(&fabric, 1) != 1 || fabric.node != torcoll_comm_node(world, rank) ||
	    fabric.ndim != 2 || fabric.side[0] * fabric.side[1] != fabric.nodes) {
		say("not this fabric");
		return NULL;
	}
	config.fabric = fabric.key;
	for (uint32_t i = 0; i < ranks; i++)
		members[i] = torcoll_comm_node(world, i);
	return worked(torcoll_comm_create(t, &config, &comm)) ? comm : NULL;
}

static void *unmapped;

/* Rank 1 makes a bad call; the others get its words. */
static int told(const char *name, const struct torcoll_op *bad, int error, const char *words)
{
	struct torcoll_comm *comm = other_comm(name, TORCOLL_COMM_TELL);
	int32_t x[2] = { 1, 2 }, sum[2];
	int err, right;

	if (!comm)
		return 0;
	if (rank == 1)
		err = torcoll_run(comm, bad);
	else
		err = torcoll_allreduce(comm, x, sum, 2, TORCOLL_I32, TORCOLL_SUM);
	right = err == (rank == 1 ? error : -ECONNABORTED);
	if (rank != 1)
		right &= strstr(torcoll_last_error(), words) && strstr(torcoll_last_error(), "rank 1 (");
	if (!right)
		say("%s: %d: %s", name, err, torcoll_last_error());
	/* later calls get it, too, at the rank itself as well */
	right &= torcoll_barrier(comm) == -ECONNABORTED;
	torcoll_comm_close(comm);
	return right;
}

static int refusals_are_told(void)
{
	static char large[LONG + 64];
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = 2,
		.send = unmapped, .recv = unmapped,
	};
	int right;

	right = told("fault", &op, -EFAULT, "refused allreduce i32 sum count 2 by auto: memory cannot be");
	/* one that the library retries without its region */
	op.count = LONG / 4;
	op.recv = large;
	right &= told("fault-long", &op, -EFAULT, "refused allreduce i32 sum count 16384 by auto: memory");
	op.send = large;
	op.type = TORCOLL_F32;
	op.redop = TORCOLL_BAND;
	right &= told("unsupported", &op, -EOPNOTSUPP, "refused allreduce f32 band count 16384 by auto: not");
	op.redop = TORCOLL_SUM;
	op.recv = large + 4;
	right &= told("overlap", &op, -EINVAL, "refused allreduce f32 sum count 16384 by auto: an argument");
	/* refused by the library */
	op.reserved[0] = 1;
	right &= told("reserved", &op, -EINVAL, "refused allreduce f32 sum count 16384 by auto: an argument");
	return right;
}

/* Without the flag a refused call can be repeated. */
static int refusals_are_repeated(void)
{
	struct torcoll_comm *comm = other_comm("patient", 0);
	int32_t one = 1, sum;
	int right = !!comm;

	if (comm && rank == 1)
		right = torcoll_allreduce(comm, unmapped, &sum, 1, TORCOLL_I32, TORCOLL_SUM) == -EFAULT;
	right = right && worked(torcoll_allreduce(comm, &one, &sum, 1, TORCOLL_I32, TORCOLL_SUM)) &&
		sum == (int32_t)ranks;
	torcoll_comm_close(comm);
	return right;
}

static const struct {
	const char *name;
	int (*right)(void);
} cases[] = {
	{ "queue__barriers_backwards", barriers_backwards },
	{ "queue__sums_backwards", sums_backwards },
	{ "queue__two_comms", two_comms },
	{ "queue__messages", messages },
	{ "queue__blocking_behind", blocking_behind },
	{ "queue__makes_a_comm", makes_a_comm },
	{ "run_until__ends_at_its_time", ends_at_its_time },
	{ "run_until__others_before_it", others_before_it },
	{ "wait__descriptors", descriptors },
	{ "wait__any_and_all", any_and_all },
	{ "test__is_cheap", cheap_test },
	{ "displs__gathered", gathered_out_of_order },
	{ "displs__counts_at_root", scattered_and_gathered },
	{ "displs__all_to_all", all_to_all_out_of_order },
	{ "at_start__rest_is_as_it_was", scattered_at_start },
	{ "exscan__first_has_none", excluded_first },
	{ "function__all_collectives", functions },
	{ "function__in_order", steps_in_order },
	{ "refusal__is_told", refusals_are_told },
	{ "refusal__is_repeated", refusals_are_repeated },
	/* from here on the process is not one of a single thread */
	{ "run_until__others_of_a_thread", others_of_a_thread },
};

int main(void)
{
	uint32_t failed = 0;

	unmapped = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (unmapped == MAP_FAILED || !join_world())
		return 2;
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++)
		failed += failed_on(cases[i].name, cases[i].right);
	torcoll_close(t);
	return failed > 0;
}
