// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs: random FIRST PROGRAMS [CALLS]. With THREADS in the environment
 * a second thread calls MPI as well. Each is drawn from its seed: collectives
 * on several communicators, blocking or completed later, between messages that
 * are sent before and received after them. All ranks draw the same program, in
 * which each call and message is in a correct order; none may hang.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define COMMS	3
#define OPEN	8	/* calls that are not complete at a time */
#define MAIL	8	/* messages */
#define LONGEST	40000	/* integers */

static int rank, size;
static unsigned long done, wrong;
static uint32_t program;

struct letter {
	int from, to, n;
	uint32_t seed;
	int *data;
	MPI_Request request;
	bool open, receiving;
};

static struct call calls[OPEN];
static bool call_open[OPEN];
static struct letter mail[MAIL];

static void call_end(int i)
{
	int flag = 0;

	if (!call_open[i])
		return;
	call_open[i] = false;
	/* by testing, or by waiting, which ranks may do differently */
	for (int k = 0; !flag && (rank + i) % 2 && k < 5; k++)
		MPI_Test(&calls[i].request, &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
	done++;
	if (!call_check(&calls[i])) {
		wrong++;
		printf("program %u\n", program);
	}
}

static void call_begin(int i, MPI_Comm comm, uint32_t seed, uint32_t form)
{
	call_end(i);
	if (comm == MPI_COMM_NULL)
		return;
	call_make(&calls[i], seed % KINDS, comm, seed, form & 1);
	call_start(&calls[i], form & 2 ? BLOCKING : NON_BLOCKING);
	call_open[i] = true;
	if (form & 2)
		call_end(i);
}

static int word_of(const struct letter *l, int i)
{
	return l->seed + 3 * i;
}

static void letter_end(struct letter *l)
{
	if (!l->open)
		return;
	l->open = false;
	if (rank == l->to && !l->receiving) {
		memset(l->data, 0, l->n * sizeof(int));
		MPI_Recv(l->data, l->n, MPI_INT, l->from, l - mail, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	if (l->request != MPI_REQUEST_NULL)
		MPI_Wait(&l->request, MPI_STATUS_IGNORE);
	for (int i = 0; rank == l->to && i < l->n; i++)
		if (l->data[i] != word_of(l, i)) {
			wrong++;
			printf("program %u: rank %d: message from %d: word %d\n", program, rank,
			       l->from, i);
			break;
		}
	free(l->data);
}

/* Sent at once; received at once, or only when the slot is used again. */
static void letter_begin(struct letter *l, uint32_t *state)
{
	letter_end(l);
	l->from = draw(state, size);
	l->to = (l->from + 1 + draw(state, size - 1)) % size;
	l->n = draw(state, draw(state, 3) ? 100 : LONGEST);
	l->seed = draw(state, 0);
	l->receiving = draw(state, 2);
	l->open = rank == l->from || rank == l->to;
	l->request = MPI_REQUEST_NULL;
	if (!l->open)
		return;
	l->data = need(l->n * sizeof(int));
	for (int i = 0; rank == l->from && i < l->n; i++)
		l->data[i] = word_of(l, i);
	if (rank == l->from)
		MPI_Isend(l->data, l->n, MPI_INT, l->to, l - mail, MPI_COMM_WORLD, &l->request);
	else if (l->receiving)
		MPI_Irecv(l->data, l->n, MPI_INT, l->from, l - mail, MPI_COMM_WORLD, &l->request);
}

static void run_program(MPI_Comm *comm, int steps)
{
	uint32_t state = program * 747796405u + 1;

	for (int i = 0; i < steps; i++) {
		uint32_t what = draw(&state, 4), slot = draw(&state, OPEN), seed = draw(&state, 0);
		uint32_t form = draw(&state, 4), which = draw(&state, COMMS);

		if (what)
			call_begin(slot, comm[which], seed, form);
		else
			letter_begin(&mail[slot % MAIL], &state);
	}
	for (int i = 0; i < OPEN; i++)
		call_end(i);
	for (int i = 0; i < MAIL; i++)
		letter_end(&mail[i]);
}

/* What the second thread does for each program, on a communicator of its own. */
static void beside(MPI_Comm comm)
{
	int sum = -1, from, to = (rank + 1) % size;

	for (int i = 0; i < 10; i++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		MPI_Sendrecv(&rank, 1, MPI_INT, to, i, &from, 1, MPI_INT, MPI_ANY_SOURCE, i, comm,
			     MPI_STATUS_IGNORE);
		if (sum == size * (size - 1) / 2 && from == (rank + size - 1) % size)
			continue;
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		printf("rank %d: the second thread got %d and %d\n", rank, sum, from);
	}
}

struct second {
	MPI_Comm comm;
	unsigned int programs;
	pthread_t thread;
};

static void *second_run(void *arg)
{
	struct second *s = arg;

	for (unsigned int i = 0; i < s->programs; i++)
		beside(s->comm);
	return NULL;
}

static void second_begin(struct second *s, unsigned int programs)
{
	s->programs = programs;
	MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
	if (pthread_create(&s->thread, NULL, second_run, s))
		MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	int level = MPI_THREAD_SINGLE, wanted = getenv("THREADS") ? MPI_THREAD_MULTIPLE : level;
	unsigned int first = argc > 1 ? atoi(argv[1]) : 1, programs = argc > 2 ? atoi(argv[2]) : 1;
	int steps = argc > 3 ? atoi(argv[3]) : 40;
	unsigned long all[2], own[2];
	MPI_Comm comm[COMMS];
	struct second second;

	MPI_Init_thread(&argc, &argv, wanted, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	calls_init();
	comm[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, 0, &comm[2]);
	/* from here on calls that do not block can run in the kernel as well */
	for (int i = 0; i < COMMS; i++)
		if (comm[i] != MPI_COMM_NULL)
			MPI_Barrier(comm[i]);
	if (level == MPI_THREAD_MULTIPLE && wanted == level)
		second_begin(&second, programs);
	for (program = first; program < first + programs; program++)
		run_program(comm, steps);
	if (level == MPI_THREAD_MULTIPLE && wanted == level)
		pthread_join(second.thread, NULL);
	calls_end();
	own[0] = done;
	own[1] = wrong;
	MPI_Allreduce(own, all, 2, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%u programs, %lu calls, %lu wrong%s\n", programs, all[0], all[1],
		       wanted && level < wanted ? "; this MPI has no threads" : "");
	/* it may not return */
	fflush(stdout);
	MPI_Finalize();
	return all[1] != 0;
}
