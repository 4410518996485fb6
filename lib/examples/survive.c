// SPDX-License-Identifier: MIT
/*
 * A job that survives the loss of processes and hosts: a sequence of allreduce
 * steps, continued by the surviving ranks.
 *
 *	torcollctl netns run survive --steps 1000 [--count ELEMENTS] [--pause MS]
 *
 * In every step each rank contributes one bit, which identifies its node, to
 * every element of a long vector. The sum therefore shows which nodes took
 * part, each exactly once. When a step fails, the living ranks make a new comm,
 * agree on the last step that all of them have completed, and continue after
 * it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>
#include <unistd.h>

#define NODES_MAX	64

struct job {
	struct torcoll *t;
	struct torcoll_comm *comm;
	uint64_t *vector;
	uint64_t count;
	uint64_t step;			/* the next step */
	uint64_t bit;			/* this rank's */
	uint64_t members;		/* bits of the nodes in the last step */
	uint64_t pause;			/* between steps, ms */
	unsigned int shrunk;		/* how often */
};

static int job_bit(struct job *j)
{
	struct torcoll_comm_info info;
	int err = torcoll_comm_info(j->comm, &info);

	if (err)
		return err;
	if (info.node >= NODES_MAX) {
		fprintf(stderr, "survive: nodes 0 to %d only\n", NODES_MAX - 1);
		return -EINVAL;
	}
	j->bit = 1ULL << info.node;
	return 0;
}

/*
 * Return whether the result is the sum over as many nodes as the comm has
 * ranks, the same everywhere.
 */
static int step_check(struct job *j)
{
	uint32_t ranks = torcoll_comm_size(j->comm);
	uint64_t sum = j->vector[0];

	for (uint64_t i = 0; i < j->count; i++) {
		if (j->vector[i] == sum)
			continue;
		fprintf(stderr, "survive: step %llu: wrong result at %llu\n",
			(unsigned long long)j->step, (unsigned long long)i);
		return -EIO;
	}
	if ((uint32_t)__builtin_popcountll(sum) != ranks || !(sum & j->bit)) {
		fprintf(stderr, "survive: step %llu: wrong result %llx for %u ranks\n",
			(unsigned long long)j->step, (unsigned long long)sum, ranks);
		return -EIO;
	}
	j->members = sum;
	return 0;
}

static int step(struct job *j)
{
	int err;

	for (uint64_t i = 0; i < j->count; i++)
		j->vector[i] = j->bit;
	err = torcoll_allreduce(j->comm, j->vector, j->vector, j->count, TORCOLL_U64, TORCOLL_SUM);
	return err ? err : step_check(j);
}

/* Some ranks may have completed a step that failed on others. */
static int agree_on_step(struct job *j)
{
	return torcoll_allreduce(j->comm, &j->step, &j->step, 1, TORCOLL_U64, TORCOLL_MIN);
}

/* Make a comm of the living ranks, also if more die meanwhile. */
static int go_on(struct job *j)
{
	struct torcoll_comm *heir;
	int err;

	do {
		fprintf(stderr, "survive: step %llu: %s\n", (unsigned long long)j->step,
			torcoll_last_error());
		err = torcoll_comm_shrink(j->comm, torcoll_deadline(60000), &heir);
		if (err)
			return err;
		torcoll_comm_close(j->comm);
		j->comm = heir;
		j->shrunk++;
	} while (agree_on_step(j));
	fprintf(stderr, "survive: rank %u of %u goes on with step %llu\n",
		torcoll_comm_rank(j->comm), torcoll_comm_size(j->comm),
		(unsigned long long)j->step);
	return 0;
}

static int run(struct job *j, uint64_t steps)
{
	int err = job_bit(j);

	while (!err && j->step < steps) {
		if (j->step)
			usleep(1000 * j->pause);
		err = step(j);
		if (!err)
			j->step++;
		else if (err != -EIO)
			err = go_on(j);
	}
	return err;
}

static void parse_options(int argc, char **argv, uint64_t *steps, struct job *j)
{
	for (int i = 1; i < argc; i++) {
		uint64_t *to = !strcmp(argv[i], "--steps") ? steps :
			       !strcmp(argv[i], "--count") ? &j->count :
			       !strcmp(argv[i], "--pause") ? &j->pause : NULL;

		if (to && i + 1 < argc)
			*to = strtoull(argv[++i], NULL, 0);
		if (!to || !*to) {
			fputs("Usage: survive [--steps N] [--count ELEMENTS] [--pause MS]\n", stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct job j = { .count = 32768 };
	uint64_t steps = 100;
	int err;

	parse_options(argc, argv, &steps, &j);
	j.vector = calloc(j.count, sizeof(*j.vector));
	if (!j.vector) {
		fputs("survive: out of memory\n", stderr);
		return 1;
	}
	err = torcoll_open(&j.t);
	if (!err)
		err = torcoll_comm_from_env(j.t, &j.comm);
	if (!err)
		err = run(&j, steps);
	if (err)
		fprintf(stderr, "survive: %s\n", torcoll_last_error());
	else
		printf("rank %u of %u: %llu steps, shrunk %u times, nodes %llx\n",
		       torcoll_comm_rank(j.comm), torcoll_comm_size(j.comm),
		       (unsigned long long)j.step, j.shrunk, (unsigned long long)j.members);
	torcoll_close(j.t);
	free(j.vector);
	return err ? 1 : 0;
}
