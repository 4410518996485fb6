// SPDX-License-Identifier: MIT
/*
 * How long a processor does nothing else meanwhile: stall BYTES[,BYTES]... CALL..., one process per rank, started by
 * torcollctl netns run. For bench/stall/guest.sh.
 *
 * A thread of rank 0 watches (watch.h). It says the most of each CALL, which is COLLECTIVE[/ALGORITHM[/ordered]]; or "idle": no call,
 * what the kernel does anyway; or "memory": buffers are registered and given up again. A line each: CALL BYTES MICROSECONDS.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <torcoll.h>
#include <unistd.h>

#include "watch.h"

#define CALLS	2		/* that are measured, after one that is not */

static struct torcoll *lib;
static struct torcoll_comm *comm;
static uint32_t rank;

static void must(int err)
{
	if (!err)
		return;
	fprintf(stderr, "rank %u: %s\n", rank, torcoll_last_error());
	exit(1);
}

static bool reduces(int collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_REDUCE_SCATTER || collective == TORCOLL_SCAN ||
	       collective == TORCOLL_EXSCAN;
}

static bool parse(const char *name, struct torcoll_op *op)
{
	char text[64], *algorithm, *bits;
	int collective, a = TORCOLL_ALGO_AUTO;

	snprintf(text, sizeof(text), "%s", name);
	collective = torcoll_collective_by_name(strtok_r(text, "/", &bits));
	algorithm = strtok_r(NULL, "/", &bits);
	if (algorithm)
		a = torcoll_algorithm_by_name(algorithm);
	if (collective < 0 || a < 0 || (bits && *bits && strcmp(bits, "ordered")))
		return false;
	*op = (struct torcoll_op){
		.collective = collective,
		.algorithm = a,
		.bits = bits && *bits ? TORCOLL_BITS_ORDERED : 0,
		.type = TORCOLL_F32,
		.redop = reduces(collective) ? TORCOLL_SUM : TORCOLL_REDOP_NONE,
	};
	return true;
}

/* All ranks are here, and what one of them did before is over. */
static void meet(void)
{
	const struct timespec while_work_ends = { .tv_nsec = 20000000 };

	must(torcoll_barrier(comm));
	nanosleep(&while_work_ends, NULL);
	must(torcoll_barrier(comm));
	watch_on();
}

/* What it takes to have memory, and to give it back. */
static void call_memory(void *in, size_t bytes)
{
	must(torcoll_register(lib, in, bytes));
	must(torcoll_unregister(lib, in));
}

/* Return: 0, or why there is no such call. The first one allocates, and is not measured. */
static int call_collective(const char *name, void *in, void *out, size_t bytes)
{
	struct torcoll_op op;
	int i, err;

	if (!parse(name, &op)) {
		fprintf(stderr, "what is %s?\n", name);
		exit(2);
	}
	op.count = bytes / sizeof(float);
	op.send = in;
	op.recv = out;
	must(torcoll_register(lib, in, bytes));
	must(torcoll_register(lib, out, bytes));
	err = torcoll_run(comm, &op);
	if (!err)
		meet();
	for (i = 0; i < CALLS && !err; i++)
		err = torcoll_run(comm, &op);
	/* memory goes back after an op is over */
	if (!err)
		must(torcoll_barrier(comm));
	return err;
}

static void measure(const char *name, size_t bytes)
{
	const struct timespec a_while = { .tv_nsec = 100000000 };
	char *in = malloc(bytes), *out = malloc(bytes);
	bool collective = strcmp(name, "idle") && strcmp(name, "memory");
	int err = 0;

	if (!in || !out) {
		fprintf(stderr, "no memory for %zu bytes\n", bytes);
		exit(1);
	}
	memset(in, 0, bytes);
	memset(out, 0, bytes);
	meet();
	if (!strcmp(name, "idle"))
		nanosleep(&a_while, NULL);
	else if (!strcmp(name, "memory"))
		call_memory(in, bytes);
	else
		err = call_collective(name, in, out, bytes);
	if (!rank && err)
		printf("%s %zu - %s\n", name, bytes, torcoll_last_error());
	else if (!rank)
		printf("%s %zu %.0f\n", name, bytes, watch_worst());
	fflush(stdout);
	watch_off();
	if (collective) {
		must(torcoll_unregister(lib, in));
		must(torcoll_unregister(lib, out));
	}
	free(in);
	free(out);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: stall BYTES[,BYTES]... CALL...\n");
		return 2;
	}
	must(torcoll_open(&lib));
	must(torcoll_comm_from_env(lib, &comm));
	rank = torcoll_comm_rank(comm);
	if (!rank)
		begin_to_watch();
	for (char *size = strtok(argv[1], ","); size; size = strtok(NULL, ","))
		for (int i = 2; i < argc; i++)
			measure(argv[i], strtoul(size, NULL, 0));
	torcoll_comm_close(comm);
	torcoll_close(lib);
	return 0;
}
