// SPDX-License-Identifier: GPL-2.0
/*
 * A broadcast whose root has long ended, with STATUS, when the others call: late SECONDS STATUS. For kill.sh.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <torcoll.h>

#define VALUE	0x7465726d

int main(int argc, char **argv)
{
	struct torcoll *t = NULL;
	struct torcoll_comm *comm;
	int32_t value = 0;
	uint32_t rank;

	if (argc < 3 || torcoll_open(&t) || torcoll_comm_from_env(t, &comm))
		goto failed;
	rank = torcoll_comm_rank(comm);
	if (rank)
		sleep(atoi(argv[1]));
	else
		value = VALUE;
	if (torcoll_broadcast(comm, &value, 1, TORCOLL_I32, 0))
		goto failed;
	if (value == VALUE)
		return rank ? 0 : atoi(argv[2]);
	fprintf(stderr, "rank %u got %d\n", rank, value);
	return 1;
failed:
	fprintf(stderr, "%s\n", torcoll_last_error());
	return 1;
}
