// SPDX-License-Identifier: GPL-2.0
/*
 * A process that dies while a child of its still has its files: registers much memory in a comm of
 * one rank, forks, and is killed by the caller. For kill.sh. Prints the child's pid when all stands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <torcoll.h>

#define BYTES	(16UL << 20)

int main(void)
{
	struct torcoll *t = NULL;
	struct torcoll_comm *comm;
	char *memory;
	pid_t child;

	memory = malloc(BYTES);
	if (!memory)
		return 1;
	memset(memory, 1, BYTES);
	if (torcoll_open(&t) || torcoll_register(t, memory, BYTES) ||
	    torcoll_comm_from_env(t, &comm) ||
	    torcoll_allreduce(comm, memory, memory, 1, TORCOLL_I32, TORCOLL_SUM)) {
		fprintf(stderr, "%s\n", torcoll_last_error());
		return 1;
	}
	child = fork();
	if (child < 0)
		return 1;
	if (child > 0) {
		printf("%d\n", child);
		fflush(stdout);
	}
	/* either of them, until it is killed */
	for (;;)
		pause();
}
