// SPDX-License-Identifier: MIT
/*
 * Times torcoll's allreduce of floats: torcoll_allreduce SECONDS BYTES...
 *
 * The comm comes from the environment, see torcollctl netns run. Rank 0 prints a line per size, see bench_print().
 */
#include <torcoll.h>

#include "../profile/mark.h"
#include "timing.h"

static struct torcoll *lib;
static struct torcoll_comm *comm;

static void must(int err)
{
	if (!err)
		return;
	fprintf(stderr, "torcoll_allreduce: %s\n", torcoll_last_error());
	exit(1);
}

static double maximum(double x)
{
	must(torcoll_allreduce(comm, &x, &x, 1, TORCOLL_F64, TORCOLL_MAX));
	return x;
}

static struct bench_moment calls(const float *in, float *out, size_t n, int iters,
				 struct bench_moment *end)
{
	struct bench_moment start;

	maximum(0);
	start = bench_now();
	if (!torcoll_comm_rank(comm))
		profile_begin();
	for (int i = 0; i < iters; i++)
		must(torcoll_allreduce(comm, in, out, n, TORCOLL_F32, TORCOLL_SUM));
	if (!torcoll_comm_rank(comm))
		profile_end();
	*end = bench_now();
	return start;
}

static void measure(size_t bytes, double seconds)
{
	int rank = torcoll_comm_rank(comm), size = torcoll_comm_size(comm), iters;
	size_t n = bytes / sizeof(float);
	float *in = malloc(bytes), *out = calloc(1, bytes);
	struct bench_moment start, end;
	double slowest, wrong;

	if (!in || !out || torcoll_register(lib, in, bytes) || torcoll_register(lib, out, bytes)) {
		fprintf(stderr, "torcoll_allreduce: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	bench_fill(in, n, rank);
	start = calls(in, out, n, bench_warmup(bytes), &end);
	iters = maximum(rank ? 0 : bench_iters(seconds, end.at - start.at, bytes));
	start = calls(in, out, n, iters, &end);
	slowest = maximum(end.at - start.at);
	wrong = maximum(bench_wrong(out, n, size));
	if (!rank)
		bench_print(bytes, slowest, iters, wrong, start, end);
	torcoll_unregister(lib, in);
	torcoll_unregister(lib, out);
	free(in);
	free(out);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: torcoll_allreduce SECONDS BYTES...\n");
		return 2;
	}
	must(torcoll_open(&lib));
	must(torcoll_comm_from_env(lib, &comm));
	for (int i = 2; i < argc; i++)
		measure(strtoul(argv[i], NULL, 0), atof(argv[1]));
	torcoll_comm_close(comm);
	torcoll_close(lib);
	return 0;
}
