// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of ops for which the completion ring has no place: of more than it has, and of a file whose ring is
 * not the library's. Each case is named by rank 0 when all ranks found it right.
 */
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rank.h"

#define DEPTH	64
#define PLACES	1024		/* in the ring */
#define COMMS	8
#define MANY	200
#define LONG	3000		/* elements: results are copied by who fetches them */

/* A message that is expected, and the one that this rank sends. */
struct message {
	struct torcoll_request recv, send;
	uint32_t in, out;
};

static struct torcoll_comm *wide[COMMS];
static struct message *messages;
static uint32_t comms, in_flight;

static uint64_t soon(void)
{
	return torcoll_deadline(30000);
}

static struct torcoll_comm *make(struct torcoll *of, const char *name)
{
	const struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0), .name = name,
		.rank = TORCOLL_RANK_SELF, .depth = DEPTH, .deadline_ns = soon(),
	};
	struct torcoll_comm *comm = NULL;

	return worked(torcoll_comm_create(of, &config, &comm)) ? comm : NULL;
}

static int make_wide(void)
{
	while (comms < COMMS && comms * ranks * DEPTH <= PLACES) {
		if (!comms)
			wide[0] = make(t, "wide");
		else
			worked(torcoll_comm_dup(wide[0], soon(), &wide[comms]));
		if (!wide[comms])
			return 0;
		comms++;
	}
	in_flight = comms * ranks * DEPTH;
	messages = calloc(in_flight, sizeof(*messages));
	return messages && in_flight > PLACES;
}

static struct torcoll_comm *comm_of(uint32_t i)
{
	return wide[i / DEPTH / ranks];
}

static uint32_t peer_of(uint32_t i)
{
	return i / DEPTH % ranks;
}

/* Every slot has a message that is expected. */
static int fill(void)
{
	int right = 1;

	for (uint32_t i = 0; right && i < in_flight; i++)
		right = worked(torcoll_irecv(comm_of(i), &messages[i].in, 1, TORCOLL_U32, peer_of(i),
					     &messages[i].recv));
	return right;
}

/* They come, and are waited for from the last one on. */
static int drain(void)
{
	int right = 1;

	for (uint32_t i = 0; right && i < in_flight; i++) {
		messages[i].out = rank * in_flight + i % DEPTH;
		right = worked(torcoll_isend(comm_of(i), &messages[i].out, 1, TORCOLL_U32, peer_of(i),
					     &messages[i].send));
	}
	for (uint32_t i = in_flight; right && i-- > 0; ) {
		right = worked(torcoll_wait_until(&messages[i].recv, soon())) &&
			worked(torcoll_wait_until(&messages[i].send, soon()));
		right &= messages[i].in == peer_of(i) * in_flight + i % DEPTH;
	}
	return right;
}

static int many_sums(struct torcoll_comm *comm)
{
	static int32_t in[MANY], out[MANY][LONG], ones[LONG];
	struct torcoll_request req[MANY];
	int right = 1;

	for (uint32_t k = 0; k < LONG; k++)
		ones[k] = 1;
	for (uint32_t i = 0; right && i < MANY; i++) {
		in[i] = rank + i;
		right = worked(i % 2 ? torcoll_iallreduce(comm, ones, out[i], LONG, TORCOLL_I32, TORCOLL_SUM, &req[i]) :
				       torcoll_iallreduce(comm, &in[i], out[i], 1, TORCOLL_I32, TORCOLL_MAX, &req[i]));
	}
	for (uint32_t i = MANY; right && i-- > 0; )
		right = worked(torcoll_wait_until(&req[i], soon())) &&
			out[i][0] == (int32_t)(i % 2 ? ranks : ranks - 1 + i);
	return right;
}

/* Blocking calls, messages and more than has slots, while others have all places. */
static int full(void)
{
	const struct torcoll_op barrier = { .collective = TORCOLL_BARRIER };
	uint32_t next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, got = 0;
	struct torcoll_request req, send, recv;
	int right = fill();

	right = right && worked(torcoll_run_until(world, &barrier, &req, soon()));
	right = right && worked(torcoll_isend(world, &rank, 1, TORCOLL_U32, next, &send)) &&
		worked(torcoll_irecv(world, &got, 1, TORCOLL_U32, last, &recv)) &&
		worked(torcoll_wait_until(&send, soon())) && worked(torcoll_wait_until(&recv, soon()));
	return right && got == last && many_sums(world) && drain();
}

static void *idle(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}

/* From here on the process has two. */
static int full_with_threads(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, idle, NULL) && full();
}

static int none(void)
{
	struct torcoll_ring_setup setup = { .size = sizeof(setup), .entries = 1, .eventfd = -1 };
	struct torcoll_comm *comm;
	struct torcoll *other;
	int right;

	if (!worked(torcoll_open(&other)))
		return 0;
	right = !ioctl(torcoll_fd(other), TORCOLL_IOC_RING_SETUP, &setup);
	comm = right ? make(other, "none") : NULL;
	right = comm && many_sums(comm);
	torcoll_close(other);
	return right;
}

static const struct {
	const char *name;
	int (*right)(void);
} cases[] = {
	{ "ring__full", full },
	{ "ring__none", none },
	{ "ring__full_with_threads", full_with_threads },
	{ "ring__none_with_threads", none },
};

int main(void)
{
	uint32_t failed = 0;

	if (!join_world() || !make_wide())
		return 2;
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++)
		failed += failed_on(cases[i].name, cases[i].right);
	torcoll_close(t);
	return failed > 0;
}
