// SPDX-License-Identifier: MIT
/*
 * Times MPI_Allreduce of floats: mpi_allreduce SECONDS BYTES...
 *
 * Rank 0 prints a line per size, see bench_print(). Built for each MPI from this source.
 */
#include <mpi.h>

#include "../profile/mark.h"
#include "timing.h"

static struct bench_moment calls(const float *in, float *out, int n, int iters,
				 struct bench_moment *end)
{
	struct bench_moment start;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	start = bench_now();
	if (!rank)
		profile_begin();
	for (int i = 0; i < iters; i++)
		MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		profile_end();
	*end = bench_now();
	return start;
}

static void measure(size_t bytes, double seconds, int rank, int size)
{
	int n = bytes / sizeof(float), iters;
	float *in = (float *)malloc(bytes), *out = (float *)calloc(1, bytes);
	struct bench_moment start, end;
	unsigned long wrong, all_wrong;
	double took, slowest;

	if (!in || !out)
		MPI_Abort(MPI_COMM_WORLD, 1);
	bench_fill(in, n, rank);
	start = calls(in, out, n, bench_warmup(bytes), &end);
	iters = bench_iters(seconds, end.at - start.at, bytes);
	MPI_Bcast(&iters, 1, MPI_INT, 0, MPI_COMM_WORLD);
	start = calls(in, out, n, iters, &end);
	took = end.at - start.at;
	wrong = bench_wrong(out, n, size);
	MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&wrong, &all_wrong, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		bench_print(bytes, slowest, iters, all_wrong, start, end);
	free(in);
	free(out);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 2; i < argc; i++)
		measure(strtoul(argv[i], NULL, 0), atof(argv[1]), rank, size);
	/* MPICH over UCX may hang in MPI_Finalize(): every result is out by now */
	MPI_Barrier(MPI_COMM_WORLD);
	if (getenv("BENCH_NO_FINALIZE"))
		_exit(0);
	MPI_Finalize();
	return 0;
}
