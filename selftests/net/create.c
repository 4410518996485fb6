// SPDX-License-Identifier: GPL-2.0
/*
 * How long it takes to make a comm, beside a call on one: create COMMS. Every rank makes so many, one
 * after the other, each behind a barrier. Rank 0 prints the medians of the slowest rank's times: "create NS, the first
 * call NS, a call NS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rank.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static struct torcoll_comm *make(unsigned int number)
{
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.rank = TORCOLL_RANK_SELF,
		.deadline_ns = torcoll_deadline(60000),
	};
	struct torcoll_comm *comm;
	char name[TORCOLL_NAME_MAX];

	snprintf(name, sizeof(name), "create.%u", number);
	config.name = name;
	if (!worked(torcoll_comm_create(t, &config, &comm)))
		exit(1);
	return comm;
}

static void call(struct torcoll_comm *comm)
{
	uint64_t one = 1, sum;

	if (!worked(torcoll_allreduce(comm, &one, &sum, 1, TORCOLL_U64, TORCOLL_SUM)) || sum != ranks)
		die("a sum of %u is wrong", ranks);
}

/* Since @began, at the slowest rank. */
static uint64_t slowest(uint64_t began)
{
	uint64_t took = now() - began;

	if (!worked(torcoll_allreduce(world, &took, &took, 1, TORCOLL_U64, TORCOLL_MAX)))
		exit(1);
	return took;
}

static uint64_t begin(void)
{
	if (!worked(torcoll_barrier(world)))
		exit(1);
	return now();
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned long long median(uint64_t *times, unsigned int n)
{
	qsort(times, n, sizeof(*times), compare);
	return times[n / 2];
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 2 ? atoi(argv[1]) : 0;
	uint64_t *times = calloc(3 * (n + 1), sizeof(*times)), *first = times + n, *later = first + n;
	struct torcoll_comm **comm = calloc(n + 1, sizeof(struct torcoll_comm *));
	uint64_t began;

	if (!n || !times || !comm || !join_world())
		return 1;
	call(world);
	for (unsigned int i = 0; i < n; i++) {
		began = begin();
		comm[i] = make(i);
		times[i] = slowest(began);
		began = begin();
		call(comm[i]);
		first[i] = slowest(began);
		began = begin();
		call(comm[i]);
		later[i] = slowest(began);
	}
	for (unsigned int i = 0; i < n; i++)
		torcoll_comm_close(comm[i]);
	if (!rank)
		printf("create %llu, the first call %llu, a call %llu\n", median(times, n), median(first, n),
		       median(later, n));
	torcoll_comm_close(world);
	torcoll_close(t);
	return 0;
}
