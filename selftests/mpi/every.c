// SPDX-License-Identifier: GPL-2.0
/*
 * Every collective, blocking, not, and persistent, in place and not, on several
 * communicators: every [ROUNDS]. Exits with 1 if any result is wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

#define COMMS	5

static unsigned long done, wrong;

static void start_twice(struct call *c)
{
	for (int i = 0; i < 2; i++) {
		call_again(c);
		MPI_Start(&c->request);
		MPI_Wait(&c->request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&c->request);
}

static void one(enum call_kind kind, MPI_Comm comm, uint32_t seed, bool in_place, enum call_how how)
{
	struct call c;

	call_make(&c, kind, comm, seed, in_place);
	call_start(&c, how);
	if (how == NON_BLOCKING)
		MPI_Wait(&c.request, MPI_STATUS_IGNORE);
	if (how == PERSISTENT)
		start_twice(&c);
	done++;
	wrong += !call_check(&c);
}

/*
 * Persistent calls on one communicator only: each makes one of its own. And not
 * with MPICH, whose own they are, and wrong from the second start on (4.0).
 */
static void every(MPI_Comm comm, uint32_t seed)
{
#ifdef MPICH_VERSION
	int forms = 4;
#else
	int forms = comm == MPI_COMM_WORLD ? 6 : 4;
#endif

	for (enum call_kind kind = 0; kind < KINDS; kind++)
		for (int form = 0; form < forms; form++)
			one(kind, comm, seed * 31 + kind * 4 + form, form & 1, form / 2);
}

/* A duplicate, the ranks in reverse, the even and the odd ones, and all but the first. */
static void make_comms(MPI_Comm *comm)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	comm[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[2]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm[3]);
	MPI_Comm_split(comm[2], rank ? 0 : MPI_UNDEFINED, 0, &comm[4]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, rank;
	unsigned long all[2], own[2];
	MPI_Comm comm[COMMS];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	calls_init();
	make_comms(comm);
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < COMMS; k++)
			if (comm[k] != MPI_COMM_NULL)
				every(comm[k], 1000 * i + k);
	for (int k = 1; k < COMMS; k++)
		if (comm[k] != MPI_COMM_NULL)
			MPI_Comm_free(&comm[k]);
	calls_end();
	own[0] = done;
	own[1] = wrong;
	MPI_Allreduce(own, all, 2, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%lu calls, %lu wrong\n", all[0], all[1]);
	/* it may not return */
	fflush(stdout);
	MPI_Finalize();
	return all[1] != 0;
}
