// SPDX-License-Identifier: GPL-2.0
/*
 * What a program may meet that is no fault of its own: trouble CASE... Exits with
 * 1 if a result is wrong; otherwise it hangs, or what the library says is wrong.
 *
 *	late		one rank comes to a communicator's first call long after the others
 *	sleeps		who waits for a late rank sleeps, though there have been messages
 *	requests	of many requests that a process once had, later calls know nothing
 *	reasons		calls on two communicators fail at a time: each says why it has
 *	freed		a call fails on a communicator that the program has freed
 *	forbidden	a call has no datatype, or adds booleans, or its request is freed: refused
 *	pack		the MPI cannot pack what is sent
 *	memory		memory is short at one rank while communicators are made
 *	no_request	memory is short at one rank for the request of a call that does not block
 *	no_persistent	Open MPI: and for that of a persistent call; later ones have a comm
 *	no_grequest	MPICH: it makes no request of its own for such a call at one rank
 *	no_thread	at one rank there is no descriptor, or no thread, by which it could join
 *	comms		the ranks may have fewer comms than communicators: 13 are for all of them
 *	windows		MPICH: who waits sleeps when a window made with a large count is gone
 *	hold		MPICH: a datatype cannot be kept until a call is over
 *	attribute	MPICH: a communicator cannot keep an attribute at one rank
 *	level		MPICH: the environment says that threads call MPI, the program nothing
 *
 * MPICH: at rank $TROUBLE_KEY it cannot make an attribute for the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "calls.h"

#define LATE		12	/* s, which is more than the timeout that the test gives */
#define LONG		15	/* s, which is less than the timeout that it gives with few comms */
#define REQUESTS	100000
#define TIMES		50
#define POLLS		400	/* in 2 s; who sleeps looks 62 times a second */

static int rank, size, wrong;

static void equal(const char *what, long value, long should)
{
	if (value == should)
		return;
	printf("rank %d: %s is %ld, not %ld\n", rank, what, value, should);
	wrong = 1;
}

static void sum_on(MPI_Comm comm)
{
	int sum = -1;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	equal("sum", sum, size * (size - 1) / 2);
}

/* ---- what is below: before the functions of the same names ---- */

/* The allocation of this thread that fails: the first of so many elements, or after others. */
static _Thread_local struct {
	bool armed;
	size_t n, size;		/* 0: any */
	int before;
	bool objects;		/* those of malloc() as well */
} denied;

void *malloc(size_t bytes)
{
	if (denied.armed && denied.objects) {
		denied.armed = false;
		errno = ENOMEM;
		return NULL;
	}
	return reallocarray(NULL, 1, bytes);
}

void *calloc(size_t n, size_t bytes)
{
	void *p;

	if (denied.armed && (!denied.n || (n == denied.n && bytes == denied.size)) &&
	    !denied.before--) {
		denied.armed = false;
		errno = ENOMEM;
		return NULL;
	}
	p = reallocarray(NULL, n, bytes);
	return p ? memset(p, 0, n * bytes) : NULL;
}

/* Of this thread: the library is to join by one of these. */
static _Thread_local bool no_descriptor, no_threads;

int eventfd(unsigned int value, int flags)
{
	static int (*next)(unsigned int value, int flags);

	if (no_descriptor) {
		no_descriptor = false;
		errno = EMFILE;
		return -1;
	}
	if (!next)
		next = (int (*)(unsigned int, int))dlsym(RTLD_NEXT, "eventfd");
	return next(value, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg)
{
	static int (*next)(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
			   void *arg);
	const int refused = EAGAIN;	/* pthreads have no negative errors */

	if (no_threads) {
		no_threads = false;
		return refused;
	}
	if (!next)
		next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
			dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attr, run, arg);
}

static bool cannot_pack;
static unsigned long polls;	/* calls that make progress */

#ifdef MPICH_VERSION
static bool cannot_keep, cannot_hold, cannot_ask;

int PMPIX_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *drop,
			 MPI_Grequest_cancel_function *cancel, MPIX_Grequest_poll_function *poll,
			 MPIX_Grequest_wait_function *wait, void *extra, MPI_Request *request)
{
	if (!cannot_ask)
		return MPIX_Grequest_start(query, drop, cancel, poll, wait, extra, request);
	cannot_ask = false;
	return MPI_ERR_OTHER;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
	if (cannot_keep) {
		cannot_keep = false;
		return MPI_ERR_OTHER;
	}
	return MPI_Comm_set_attr(comm, key, value);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
			    MPI_Comm_delete_attr_function *drop, int *key, void *extra)
{
	const char *who = getenv("TROUBLE_KEY"), *own = getenv("PMI_RANK");

	return who && own && !strcmp(who, own) ? MPI_ERR_OTHER :
						 MPI_Comm_create_keyval(copy, drop, key, extra);
}

int PMPI_Type_contiguous(int n, MPI_Datatype from, MPI_Datatype *type)
{
	return cannot_hold ? MPI_ERR_OTHER : MPI_Type_contiguous(n, from, type);
}

int PMPI_Type_dup(MPI_Datatype from, MPI_Datatype *type)
{
	return cannot_hold ? MPI_ERR_OTHER : MPI_Type_dup(from, type);
}

int PMPI_Pack_c(const void *in, MPI_Count n, MPI_Datatype type, void *out, MPI_Count room,
		MPI_Count *position, MPI_Comm comm)
{
	return cannot_pack ? MPI_ERR_OTHER : MPI_Pack_c(in, n, type, out, room, position, comm);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	static int (*next)(MPI_Request *request, int *flag, MPI_Status *status);

	polls++;
	if (!next)
		next = (int (*)(MPI_Request *, int *, MPI_Status *))dlsym(RTLD_NEXT, "PMPI_Test");
	return next(request, flag, status);
}
#else
int opal_convertor_pack(void *convertor, struct iovec *iov, uint32_t *n, size_t *bytes)
{
	static int (*next)(void *convertor, struct iovec *iov, uint32_t *n, size_t *bytes);

	if (cannot_pack)
		return -1;
	if (!next)
		next = (int (*)(void *, struct iovec *, uint32_t *, size_t *))
			dlsym(RTLD_NEXT, "opal_convertor_pack");
	return next(convertor, iov, n, bytes);
}

void opal_progress(void)
{
	static void (*next)(void);

	polls++;
	if (!next)
		next = (void (*)(void))dlsym(RTLD_NEXT, "opal_progress");
	next();
}
#endif

/* ---- cases ---- */

static void late(void)
{
	MPI_Comm dup;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	if (rank == size - 1)
		sleep(LATE);
	for (int i = 0; i < 10; i++)
		sum_on(dup);
	MPI_Comm_free(&dup);
}

/* How often this rank makes progress while it waits for rank 0. */
static unsigned long polls_of_barrier(void)
{
	unsigned long before = polls;

	if (!rank)
		sleep(2);
	MPI_Barrier(MPI_COMM_WORLD);
	return rank ? polls - before : 0;
}

static void sleeps(void)
{
	int from = (rank + size - 1) % size, token = rank;
	MPI_Request request;
	unsigned long n;

	MPI_Irecv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &request);
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &token, 1, MPI_INT, from, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank < size - 1)
		MPI_Send(&rank, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	n = polls_of_barrier();
	equal("polls of a rank that waits", n < POLLS ? 0 : n, 0);
}

/* The shortest of several, in us. */
static double barrier_time(void)
{
	double best = 1e9, begin, took;

	for (int i = 0; i < TIMES; i++) {
		begin = MPI_Wtime();
		MPI_Barrier(MPI_COMM_WORLD);
		took = 1e6 * (MPI_Wtime() - begin);
		if (took < best)
			best = took;
	}
	return best;
}

static void requests(void)
{
	MPI_Request *request = malloc(2 * REQUESTS * sizeof(*request));
	double before = barrier_time(), after;
	int token = 0;

	for (int i = 0; i < REQUESTS && !rank; i++)
		MPI_Irecv(&token, 0, MPI_INT, 0, 1, MPI_COMM_SELF, &request[i]);
	for (int i = REQUESTS; i < 2 * REQUESTS && !rank; i++)
		MPI_Isend(&token, 0, MPI_INT, 0, 1, MPI_COMM_SELF, &request[i]);
	if (!rank)
		MPI_Waitall(2 * REQUESTS, request, MPI_STATUSES_IGNORE);
	after = barrier_time();
	if (!rank)
		printf("a barrier takes %.0f us, and %.0f after %d messages\n", before, after,
		       REQUESTS);
	equal("a barrier that takes much longer", !rank && after > 3 * before + 5000, 0);
	free(request);
}

static MPI_Comm named_dup(const char *name)
{
	MPI_Comm dup;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_set_name(dup, name);
	MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
	/* from here on calls that do not block can run in the kernel as well */
	MPI_Barrier(dup);
	return dup;
}

/* Ranks disagree on how long a vector is, and on how long another one. */
static void reasons(void)
{
	int in[2] = { 0 }, out[2], done, n = rank ? 1 : 2;
	MPI_Comm dup[2] = { named_dup("first"), named_dup("second") };
	/* where a rank comes when the others have failed already, the call itself does */
	MPI_Request request[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, dup[0], &request[0]);
	MPI_Ibcast(in, n, MPI_INT, 0, dup[1], &request[1]);
	/* both have failed when the MPI looks for the first time */
	sleep(2);
	for (int i = 0; i < 2; i++)
		do {
			if (MPI_Test(&request[i], &done, MPI_STATUS_IGNORE))
				break;
		} while (!done);
	for (int i = 0; i < 2; i++)
		MPI_Comm_free(&dup[i]);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/*
 * Its error handler is asked for, in Open MPI 5.0. Memory that is given back has
 * other contents from here on.
 */
static void freed(void)
{
	int in[2] = { 0 }, out[2], n = rank ? 1 : 2, err;
	MPI_Comm dup = named_dup("freed");
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	mallopt(M_PERTURB, 0x5a);
	err = MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, dup, &request);
	MPI_Comm_free(&dup);
	if (!err)
		err = MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("success", !err, 0);
	mallopt(M_PERTURB, 0);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The others look whether they can free a request before rank 0 comes to its call. */
static void request_free_on(MPI_Comm comm)
{
	MPI_Request request;
	int sum = -1, token;

	for (int i = 1; i < size && !rank; i++)
		MPI_Recv(&token, 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	if (rank) {
		equal("a request is freed", !MPI_Request_free(&request), 0);
		MPI_Send(&rank, 1, MPI_INT, 0, 0, comm);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("sum", sum, size * (size - 1) / 2);
}

static void forbidden(void)
{
	MPI_Comm dup = named_dup("forbidden");
	bool in[4] = { true }, out[4];
	int data[4] = { 0 };

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	equal("no datatype is taken", !MPI_Bcast(data, 4, MPI_DATATYPE_NULL, 0, dup), 0);
	equal("booleans are added", !MPI_Allreduce(in, out, 4, MPI_C_BOOL, MPI_SUM, dup), 0);
	equal("booleans have bits", !MPI_Allreduce(in, out, 4, MPI_C_BOOL, MPI_BAND, dup), 0);
	equal("booleans are or", MPI_Allreduce(in, out, 4, MPI_C_BOOL, MPI_LOR, dup), 0);
	equal("true", out[0], 1);
	request_free_on(dup);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free(&dup);
}

static void pack(void)
{
	MPI_Comm dup = named_dup("packed");
	MPI_Datatype gaps;
	int data[8] = { 0 }, err;

	MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	cannot_pack = !rank;
	err = MPI_Bcast(data, 1, gaps, 0, dup);
	cannot_pack = false;
	equal("success", !err, 0);
	MPI_Type_free(&gaps);
	MPI_Comm_free(&dup);
}

#ifdef MPICH_VERSION
static void windows(void)
{
	unsigned long n;
	MPI_Win win;
	int *mem;

	MPI_Win_allocate_c(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &mem, &win);
	MPI_Win_free(&win);
	n = polls_of_barrier();
	equal("polls of a rank that waits", n < POLLS ? 0 : n, 0);
}

/* The call fails, and the datatype is the program's as before. */
static void hold(void)
{
	MPI_Comm dup = named_dup("held");
	MPI_Datatype gaps;
	int data[8], err;

	MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	cannot_hold = rank == 1;
	err = MPI_Bcast(data, 1, gaps, 0, dup);
	cannot_hold = false;
	equal("success", rank == 1 && !err, 0);
	for (int i = 0; i < 8; i++)
		data[i] = rank ? -1 : i;
	MPI_Bcast(data, 1, gaps, 0, MPI_COMM_WORLD);
	for (int i = 0; i < 8; i++)
		equal("element", data[i], i % 2 && rank ? -1 : i);
	MPI_Type_free(&gaps);
	MPI_Comm_free(&dup);
}
#endif

/* At rank 1 one allocation of the library fails: Open MPI's of the nodes of the ranks, each of those for MPICH. */
static void memory(void)
{
#ifdef MPICH_VERSION
	const int cases = 3, n = 0;
#else
	const int cases = 1, n = size;
#endif
	MPI_Comm dup;

	for (int i = 0; i < cases; i++) {
		if (n && rank == 1)
			denied = (typeof(denied)){ true, n, sizeof(uint32_t), i };
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		if (!n && rank == 1)
			denied = (typeof(denied)){ true, 0, 0, i };
		for (int k = 0; k < 3; k++)
			sum_on(dup);
		equal("allocations to fail", denied.armed, 0);
		denied.armed = false;
		MPI_Comm_free(&dup);
	}
}

static int told;

static void tell(MPI_Comm *comm, int *err, ...)
{
	told++;
}

/*
 * The others have begun the call, of which rank 1 is told that it has failed.
 * @cannot: what is to be refused.
 */
static void no_request_of(const char *name, bool *cannot)
{
	MPI_Comm dup = named_dup(name);
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Errhandler handler;
	int sum, err;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_create_errhandler(tell, &handler);
	MPI_Comm_set_errhandler(dup, rank == 1 ? handler : MPI_ERRORS_RETURN);
	*cannot = rank == 1;
	err = MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup, &request);
	equal("refusals to come", *cannot, 0);
	*cannot = false;
	if (!err)
		err = MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("success", !err, 0);
	equal("errors that the handler is told", told, rank == 1);
	told = 0;
	MPI_Errhandler_free(&handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	/* the others have heard of it without that */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&dup);
}

static void no_request(void)
{
	denied = (typeof(denied)){ .objects = true };
	no_request_of("requested", &denied.armed);
}

#ifdef MPICH_VERSION
static void no_grequest(void)
{
	no_request_of("unasked", &cannot_ask);
}
#else
static void persistent_sum(MPI_Comm comm)
{
	MPI_Request request;
	int sum = -1;

	MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
	equal("allocations to fail", denied.armed, 0);
	denied.armed = false;
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	equal("sum", sum, size * (size - 1) / 2);
	MPI_Request_free(&request);
}

/*
 * All ranks leave the call to others, which must not wait for rank 1; and run a later
 * one, of a request that there is memory for.
 */
static void no_persistent(void)
{
	MPI_Comm dup = named_dup("persistent");

	denied = (typeof(denied)){ .armed = rank == 1, .objects = true };
	persistent_sum(dup);
	persistent_sum(dup);
	MPI_Comm_free(&dup);
}
#endif

/* All ranks leave the communicators to the MPI, at once, by what they hear of rank 1. */
static void no_thread(void)
{
	bool *const cannot[2] = { &no_descriptor, &no_threads };
	MPI_Comm dup;

	for (int i = 0; i < 2; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		*cannot[i] = rank == 1;
		sum_on(dup);
		equal("a descriptor or thread to fail", *cannot[i], 0);
		*cannot[i] = false;
		sum_on(dup);
		MPI_Comm_free(&dup);
	}
}

/* A communicator's first call, which may wait for ranks that cannot join. Return whether it takes long. */
static bool dup_is_slow(MPI_Comm *dup)
{
	double begin;

	MPI_Comm_dup(MPI_COMM_WORLD, dup);
	begin = MPI_Wtime();
	sum_on(*dup);
	return MPI_Wtime() - begin > LONG;
}

static bool persistent_is_slow(void)
{
	double begin = MPI_Wtime();
	MPI_Request request;

	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
	return MPI_Wtime() - begin > LONG;
}

/*
 * MPI_COMM_WORLD and the first one have comms, of the next one a part of the ranks
 * cannot. When the first one is gone, there is room for one; and again.
 */
static void comms(void)
{
	MPI_Comm dup[5];
	int slow = 0;

	for (int i = 0; i < 5; i++)
		slow += dup_is_slow(&dup[i]);
	slow += persistent_is_slow();
	for (int i = 0; i < 3; i++) {
		MPI_Comm_free(&dup[0]);
		slow += dup_is_slow(&dup[0]);
		MPI_Comm_free(&dup[1]);
		slow += dup_is_slow(&dup[1]);
	}
	equal("calls that take long", slow > 1 ? slow : 0, 0);
	for (int i = 0; i < 5; i++)
		MPI_Comm_free(&dup[i]);
}

#ifdef MPICH_VERSION
static void attribute(void)
{
	MPI_Comm dup;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	cannot_keep = rank == 1;
	for (int i = 0; i < 3; i++)
		sum_on(dup);
	equal("attributes to lose", cannot_keep, 0);
}

static void level(void)
{
	int provided;

	MPI_Query_thread(&provided);
	equal("level", provided, MPI_THREAD_MULTIPLE);
	equal("a rank that sleeps", polls_of_barrier() < POLLS, !rank);
}
#endif

static bool run(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "late", late }, { "sleeps", sleeps }, { "requests", requests },
		{ "reasons", reasons }, { "freed", freed },
		{ "forbidden", forbidden }, { "pack", pack }, { "memory", memory },
		{ "no_request", no_request }, { "no_thread", no_thread }, { "comms", comms },
#ifndef MPICH_VERSION
		{ "no_persistent", no_persistent },
#else
		{ "windows", windows }, { "hold", hold }, { "attribute", attribute }, { "level", level },
		{ "no_grequest", no_grequest },
#endif
		{ NULL },
	};

	for (size_t i = 0; cases[i].name; i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].run();
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	int any, ever = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 1; i < argc; i++) {
		wrong = 0;
		if (!run(argv[i])) {
			fprintf(stderr, "trouble: no case %s\n", argv[i]);
			return 2;
		}
		MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (!rank)
			printf("%s, %d wrong\n", argv[i], any);
		/* it may hang, or not return from its end */
		fflush(stdout);
		ever |= any;
	}
	MPI_Finalize();
	return ever;
}
