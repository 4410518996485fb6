// SPDX-License-Identifier: GPL-2.0
/*
 * Correct programs that need progress, or room: order CASE..., one after the
 * other. Exits with 1 if a result is wrong; what is missing makes it hang.
 *
 *	progress	a long message is sent before a collective, and received before it
 *	wait		the same, and the collective is one that does not block, which is waited for
 *	window		a target of a one-sided transfer is in a collective
 *	many		more non-blocking calls than the kernel takes at a time, before a message
 *	early		one whose predecessors are complete at its rank alone, before a message
 *	threads		threads make and free communicators, each its own
 *	constant	a root's data is in memory that cannot be written, also in place
 *	status		a request is asked for its status until it is complete
 *	free		a communicator is freed while a call on it runs
 *	types		a datatype, of which no copy may be made, is freed while a call with it runs
 *	starts		persistent calls are started by each rank in an order of its own
 *	session		a communicator without MPI_COMM_WORLD, where the MPI has sessions
 *	sessions	there is nothing else at first, and MPI_Finalize comes while one goes on
 *	large		datatypes are made with large counts, where the MPI has these
 *	duplicate	a communicator is duplicated by a non-blocking call
 *	beside		the same, while some ranks are in other calls of its parent already
 *	inter		beside, of an intercommunicator
 *	groups		the same, made from groups, where the MPI has that
 *	duplicates	two are at a time, which ranks begin and use in different order
 *	steps SECONDS	allreduces until one fails, which is reported, or the time has passed
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

#define LONG	(1 << 20)
#define MANY	300
#define DEPTH	8	/* ops that the kernel takes at a time */
#define THREADS	4
#define ROUNDS	8

static int rank, size, wrong;

static void equal(const char *what, long value, long should)
{
	if (value == should)
		return;
	printf("rank %d: %s is %ld, not %ld\n", rank, what, value, should);
	wrong = 1;
}

static int sum_of_ranks(void)
{
	int sum = -1;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static void progress(void)
{
	char *data = calloc(1, LONG);
	MPI_Request request;

	if (!rank) {
		memset(data, 7, LONG);
		MPI_Isend(data, LONG, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, &request);
		equal("sum", sum_of_ranks(), size * (size - 1) / 2);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		if (rank == size - 1)
			MPI_Recv(data, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		equal("sum", sum_of_ranks(), size * (size - 1) / 2);
	}
	equal("last byte", data[LONG - 1], !rank || rank == size - 1 ? 7 : 0);
	free(data);
}

static void wait_progress(void)
{
	char *data = calloc(1, LONG);
	MPI_Request sum_request, request;
	int sum = -1;

	if (!rank) {
		memset(data, 7, LONG);
		MPI_Isend(data, LONG, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, &request);
	} else if (rank == size - 1) {
		MPI_Recv(data, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &sum_request);
	MPI_Wait(&sum_request, MPI_STATUS_IGNORE);
	equal("sum", sum, size * (size - 1) / 2);
	if (!rank)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("last byte", data[LONG - 1], !rank || rank == size - 1 ? 7 : 0);
	free(data);
}

static void window(void)
{
	int *mem, got = -1;
	MPI_Win win;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	*mem = 100 + rank;
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank) {
		MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
		MPI_Get(&got, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);
		MPI_Win_unlock(size - 1, win);
		equal("read", got, 100 + size - 1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
}

static void many(void)
{
	static int in[MANY], out[MANY];
	MPI_Request request[MANY];
	int token = rank;

	for (int i = 0; i < MANY; i++) {
		in[i] = i + rank;
		MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[i]);
	}
	if (!rank)
		MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	equal("blocking between them", sum_of_ranks(), size * (size - 1) / 2);
	MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		equal("sum", out[i], i * size + size * (size - 1) / 2);
}

static void early(void)
{
	int data[DEPTH + 1], token = rank;
	MPI_Request request;

	for (int i = 0; i <= DEPTH; i++)
		data[i] = rank ? -1 : i;
	/* the root's calls return meanwhile, and are complete, but not over */
	if (rank)
		sleep(2);
	for (int i = 0; i < DEPTH; i++)
		MPI_Bcast(&data[i], 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Ibcast(&data[DEPTH], 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
	if (!rank)
		MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	for (int i = 0; i <= DEPTH; i++)
		equal("element", data[i], i);
}

static void *thread(void *from)
{
	int sum, here = rank;
	MPI_Comm dup;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Comm_dup(*(MPI_Comm *)from, &dup);
		sum = -1;
		MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, dup);
		equal("sum", sum, size * (size - 1) / 2);
		MPI_Comm_free(&dup);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t started[THREADS];
	MPI_Comm comms[THREADS];
	int level;

	MPI_Query_thread(&level);
	equal("level", level, MPI_THREAD_MULTIPLE);
	if (level != MPI_THREAD_MULTIPLE)
		return;
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&started[i], NULL, thread, &comms[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(started[i], NULL);
		MPI_Comm_free(&comms[i]);
	}
}

static void constant(void)
{
	static const char text[65536] = "of the root";
	char *got = calloc(1, sizeof(text));

	for (int bytes = 8; bytes <= (int)sizeof(text); bytes *= 8) {
		void *data = rank ? got : (void *)text;

		MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
		equal("comparison", memcmp(data, text, 8), 0);
	}
	/* the root keeps its block where it is */
	for (int bytes = 8; bytes <= (int)sizeof(text) / size; bytes *= 8) {
		memset(got, 1, sizeof(text));
		MPI_Scatter(text, bytes, MPI_CHAR, rank ? got : MPI_IN_PLACE, bytes, MPI_CHAR, 0,
			    MPI_COMM_WORLD);
		equal("comparison", rank && memcmp(got, text + rank * bytes, bytes), 0);
	}
	free(got);
}

static void get_status(void)
{
	MPI_Request request;
	int sum = -1, done;

	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	do {
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
	} while (!done);
	equal("sum", sum, size * (size - 1) / 2);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("request", request == MPI_REQUEST_NULL, 1);
}

static void free_comm(void)
{
	MPI_Request request;
	int sum = -1;
	MPI_Comm dup;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	/* so that the next call is not Open MPI's own, which crashes if its communicator is freed */
	MPI_Barrier(dup);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup, &request);
	MPI_Comm_free(&dup);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("sum", sum, size * (size - 1) / 2);
}

/* The type goes while the call runs. */
static void ibcast_freed(int *data, MPI_Datatype type)
{
	MPI_Request request;

	MPI_Ibcast(data, 1, type, 0, MPI_COMM_WORLD, &request);
	MPI_Type_free(&type);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int no_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
	equal("copies of a datatype", 1, 0);
	return MPI_ERR_OTHER;
}

static void free_type(void)
{
	int data[8] = { 0 }, key;
	MPI_Datatype type;

	for (int i = 0; i < 8 && !rank; i++)
		data[i] = i;
	MPI_Type_vector(4, 1, 2, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Type_create_keyval(no_copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
	MPI_Type_set_attr(type, key, NULL);
	ibcast_freed(data, type);
	MPI_Type_free_keyval(&key);
	for (int i = 0; i < 8; i++)
		equal("element", data[i], i % 2 && rank ? 0 : i);
}

/* The type and the lengths go when the request is made, and the request while nothing runs. */
static void gatherv_init(int *own, int *all, MPI_Request *request)
{
	int *lengths = malloc(2 * size * sizeof(int)), *places = lengths + size;
	MPI_Datatype pair;

	for (int i = 0; i < size; i++) {
		lengths[i] = 1;
		places[i] = size - 1 - i;
	}
	MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
	MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &pair);
	MPI_Type_commit(&pair);
	MPI_Gatherv_init(own, 2, MPI_INT, all, lengths, places, pair, 0, MPI_COMM_WORLD,
			 MPI_INFO_NULL, request);
	MPI_Type_free(&pair);
	memset(lengths, 0, 2 * size * sizeof(int));
	free(lengths);
}

static void starts(void)
{
	int in = 0, sum, root, own[2], *all = calloc(4 * size, sizeof(int)), n;
	MPI_Request request[4];

	MPI_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			   &request[0]);
	MPI_Bcast_init(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
	gatherv_init(own, all, &request[2]);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request[3]);
	for (int round = 0; round < 6; round++) {
		in = rank + round;
		sum = -1;
		root = rank ? -1 : round;
		own[0] = 10 * rank + round;
		own[1] = -own[0];
		for (int i = 0; i < 4; i++)
			MPI_Start(&request[(i + rank + round) % 4]);
		for (int i = 0; i < 4; i++)
			MPI_Waitany(4, request, &n, MPI_STATUS_IGNORE);
		equal("sum", sum, size * round + size * (size - 1) / 2);
		equal("of the root", root, round);
		for (int i = 0; i < size && !rank; i++) {
			equal("element", all[4 * (size - 1 - i)], 10 * i + round);
			equal("second", all[4 * (size - 1 - i) + 2], -10 * i - round);
			equal("gap", all[4 * i + 1], 0);
		}
		/* others are between them */
		equal("blocking sum", sum_of_ranks(), size * (size - 1) / 2);
	}
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&request[i]);
	free(all);
}

static void session(void)
{
#ifdef MPI_SESSION_NULL
	int sum = -1, all = -1;
	MPI_Session session;
	MPI_Request request;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "order", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	equal("sum", sum, size * (size - 1) / 2);
	MPI_Iallreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("sum", all, size * (size - 1) / 2);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
#endif
}

/* Instead of main's beginning and end: a call runs while MPI begins and ends beside the session. */
static int session_alone(int *argc, char ***argv)
{
	int any = 2;
#ifdef MPI_SESSION_NULL
	int sum = -1;
	MPI_Session session;
	MPI_Request request;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "order", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Barrier(comm);
	if (rank)
		MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	MPI_Init(argc, argv);
	equal("sum of the world", sum_of_ranks(), size * (size - 1) / 2);
	MPI_Finalize();
	if (!rank)
		MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("sum", sum, size * (size - 1) / 2);
	MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, comm);
	if (!rank)
		printf("sessions, %d wrong\n", any);
	fflush(stdout);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
#endif
	return any;
}

#if MPI_VERSION < 4
#define MPI_Type_contiguous_c	MPI_Type_contiguous
#define MPI_Type_vector_c	MPI_Type_vector
#endif

static void large_counts(void)
{
	MPI_Datatype row, gaps;
	int data[3][8];

	for (int i = 0; i < 24; i++)
		data[i / 8][i % 8] = rank ? -1 : i;
	MPI_Type_contiguous_c(8, MPI_INT, &row);
	MPI_Type_vector_c(4, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&row);
	MPI_Type_commit(&gaps);
	MPI_Bcast(data[0], 1, row, 0, MPI_COMM_WORLD);
	MPI_Bcast(data[1], 1, gaps, 0, MPI_COMM_WORLD);
	ibcast_freed(data[2], gaps);
	MPI_Type_free(&row);
	for (int i = 0; i < 24; i++)
		equal("element", data[i / 8][i % 8], i > 7 && i % 2 && rank ? -1 : i);
}

static void duplicate(void)
{
	char *data = calloc(1, LONG);
	MPI_Request request;
	MPI_Comm dup;
	int sum = -1;

	MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
	if (!rank)
		MPI_Send(data, LONG, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(data, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
	equal("sum", sum, size * (size - 1) / 2);
	MPI_Comm_free(&dup);
	free(data);
}

/* One rank makes progress with a request, the others go on. */
static void one_ahead(int who, MPI_Request *request)
{
	double until = MPI_Wtime() + 0.5;
	int done;

	while (rank == who && MPI_Wtime() < until)
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void beside(void)
{
	MPI_Request request;
	MPI_Comm dup;
	int sum;

	for (int round = 0; round < 2; round++) {
		MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
		one_ahead(round, &request);
		for (int i = 0; i < 4; i++)
			equal("sum", sum_of_ranks(), size * (size - 1) / 2);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		sum = -1;
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
		equal("sum of the duplicate", sum, size * (size - 1) / 2);
		MPI_Comm_free(&dup);
	}
}

/* Of rank 0, and all others. */
static void inter_on(MPI_Comm between)
{
	int sum = -1, others = rank ? 0 : size * (size - 1) / 2;
	MPI_Request request;
	MPI_Comm dup;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);
	equal("sum of the others", sum, others);
	MPI_Comm_idup(between, &dup, &request);
	one_ahead(1, &request);
	for (int i = 0; i < 4; i++) {
		sum = -1;
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);
		equal("sum of the others", sum, others);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(dup);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&between);
}

static void inter(void)
{
	MPI_Comm half, between;

	MPI_Comm_split(MPI_COMM_WORLD, !rank, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank ? 0 : 1, 0, &between);
	inter_on(between);
	MPI_Comm_free(&half);
}

static void inter_from_groups(void)
{
#ifdef MPI_SESSION_NULL
	MPI_Group world, first, others;
	int zero = 0;
	MPI_Comm between;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &zero, &first);
	MPI_Group_excl(world, 1, &zero, &others);
	MPI_Intercomm_create_from_groups(rank ? others : first, 0, rank ? first : others, 0, "order",
					 MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &between);
	inter_on(between);
	MPI_Group_free(&world);
	MPI_Group_free(&first);
	MPI_Group_free(&others);
#endif
}

static void duplicates(void)
{
	MPI_Comm from[2] = { MPI_COMM_WORLD, MPI_COMM_NULL }, dup[2];
	int first = rank % 2, sum[2] = { -1, -1 };
	MPI_Request request[2];

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &from[1]);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 2; i++)
			MPI_Comm_idup(from[first ^ i], &dup[first ^ i], &request[first ^ i]);
		for (int i = 0; i < 2; i++)
			MPI_Wait(&request[first ^ i], MPI_STATUS_IGNORE);
		/* no rank waits for others in these */
		for (int i = 0; i < 2; i++)
			MPI_Iallreduce(&rank, &sum[first ^ i], 1, MPI_INT, MPI_SUM, dup[first ^ i],
				       &request[first ^ i]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 2; i++) {
			equal("sum", sum[i], size * (size - 1) / 2);
			MPI_Allreduce(&rank, &sum[i], 1, MPI_INT, MPI_SUM, dup[i]);
			equal("blocking sum", sum[i], size * (size - 1) / 2);
			MPI_Comm_free(&dup[i]);
		}
	}
	MPI_Comm_free(&from[1]);
}

static void step_on(double seconds)
{
	double end = MPI_Wtime() + seconds;
	char text[MPI_MAX_ERROR_STRING];
	int err, length, go = 1, all;
	unsigned long n = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	do {
		err = MPI_Allreduce(&go, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		if (err) {
			MPI_Error_string(err, text, &length);
			printf("rank %d: step %lu: %s\n", rank, n, text);
			fflush(stdout);
			_exit(3);
		}
		if (!n++ && !rank) {
			printf("steps\n");
			fflush(stdout);
		}
		go = MPI_Wtime() < end;
	} while (all);
}

static bool run(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "progress", progress }, { "wait", wait_progress }, { "window", window },
		{ "many", many }, { "early", early }, { "threads", threads },
		{ "constant", constant }, { "status", get_status }, { "free", free_comm },
		{ "types", free_type }, { "starts", starts }, { "session", session },
		{ "large", large_counts }, { "duplicate", duplicate }, { "beside", beside },
		{ "inter", inter }, { "groups", inter_from_groups },
		{ "duplicates", duplicates }, { NULL },
	};

	for (size_t i = 0; cases[i].name; i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].run();
			return true;
		}
	return false;
}

/* Whether any rank got a wrong result since the last call. */
static int report(const char *name)
{
	int any;

	MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank)
		printf("%s, %d wrong\n", name, any);
	/* the next one may hang, or MPI_Finalize not return */
	fflush(stdout);
	wrong = 0;
	return any;
}

int main(int argc, char **argv)
{
	int any = 0, level = MPI_THREAD_SINGLE;

	if (argc > 1 && !strcmp(argv[1], "sessions"))
		return session_alone(&argc, &argv);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		level = MPI_THREAD_MULTIPLE;
	MPI_Init_thread(&argc, &argv, level, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* from here on calls that do not block can run in the kernel as well */
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc == 3 && !strcmp(argv[1], "steps")) {
		step_on(atof(argv[2]));
		any = report("steps");
		argc = 0;
	}
	for (int i = 1; i < argc; i++) {
		if (!run(argv[i])) {
			fprintf(stderr, "order: no case %s\n", argv[i]);
			return 2;
		}
		any |= report(argv[i]);
	}
	MPI_Finalize();
	return any;
}
