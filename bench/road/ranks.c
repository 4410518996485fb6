// SPDX-License-Identifier: MIT
/*
 * Two allreduces of float32 in place, each between two seconds in which nothing else happens:
 * ranks BYTES, one process per rank, started by torcollctl netns run. For scripts/road, which counts
 * the second one: memory is registered then, and the slot has what it allocates once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <torcoll.h>
#include <unistd.h>

static void must(int err)
{
	if (!err)
		return;
	fprintf(stderr, "ranks: %s\n", torcoll_last_error());
	exit(1);
}

int main(int argc, char **argv)
{
	size_t n, bytes = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct torcoll_comm *comm;
	struct torcoll *lib;
	float *vector;

	n = bytes / sizeof(*vector);
	vector = aligned_alloc(4096, (bytes + 4095) & ~4095UL);
	if (!n || !vector) {
		fprintf(stderr, "usage: ranks BYTES\n");
		return 2;
	}
	must(torcoll_open(&lib));
	must(torcoll_comm_from_env(lib, &comm));
	for (int call = 1; call <= 2; call++) {
		for (size_t i = 0; i < n; i++)
			vector[i] = call;
		sleep(2);
		must(torcoll_allreduce(comm, vector, vector, n, TORCOLL_F32, TORCOLL_SUM));
		for (size_t i = 0; i < n; i++)
			if (vector[i] != call * (float)torcoll_comm_size(comm)) {
				fprintf(stderr, "ranks: element %zu is wrong\n", i);
				return 1;
			}
		sleep(2);
	}
	torcoll_comm_close(comm);
	torcoll_close(lib);
	return 0;
}
