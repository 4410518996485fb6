// SPDX-License-Identifier: MIT
/*
 * Whether MPICH has something to make progress with: requests that the program
 * has not completed, or windows, whose targets answer without a call. While it
 * has, a collective must not sleep for long. MPICH does not say; so the functions
 * that make requests and complete them are counted here. Some that complete are
 * not counted when they are made, those of large counts and of files: while these
 * hide others, a call still lets MPICH make progress after each sleep, see run.c.
 */
#include "preload.h"

static long requests;		/* that are not complete */
static long windows;
static bool always;

bool preload_pending(void)
{
	long own = __atomic_load_n(&preload.nactive, __ATOMIC_RELAXED);

	/* own ones need no progress */
	return preload.threads || always || windows || requests > own;
}

void preload_poll_always(void)
{
	always = true;
}

int preload_started(int ret)
{
	if (ret == MPI_SUCCESS)
		__atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
	return ret;
}

int preload_there(int n, const MPI_Request *request)
{
	int there = 0;

	for (int i = 0; i < n; i++)
		there += request[i] != MPI_REQUEST_NULL;
	return there;
}

int preload_completed(int ret, int before, int n, const MPI_Request *request)
{
	int gone = before - preload_there(n, request);

	if (gone && __atomic_sub_fetch(&requests, gone, __ATOMIC_RELAXED) < 0)
		__atomic_store_n(&requests, 0, __ATOMIC_RELAXED);
	return ret;
}

/* ---- what makes requests ---- */

#define STARTS(_name, _params, _args)							\
int MPI_##_name _params									\
{											\
	return preload_started(PMPI_##_name _args);					\
}

#define SENDS(_name)									\
STARTS(_name,										\
	(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,	\
	 MPI_Request *request),								\
	(buf, n, type, dest, tag, comm, request))

SENDS(Isend)
SENDS(Ibsend)
SENDS(Issend)
SENDS(Irsend)
STARTS(Irecv,
	(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	 MPI_Request *request),
	(buf, n, type, source, tag, comm, request))
STARTS(Imrecv,
	(void *buf, int n, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
	(buf, n, type, message, request))
STARTS(Isendrecv,
	(const void *sbuf, int sn, MPI_Datatype stype, int dest, int stag, void *rbuf, int rn,
	 MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Request *request),
	(sbuf, sn, stype, dest, stag, rbuf, rn, rtype, source, rtag, comm, request))
STARTS(Isendrecv_replace,
	(void *buf, int n, MPI_Datatype type, int dest, int stag, int source, int rtag,
	 MPI_Comm comm, MPI_Request *request),
	(buf, n, type, dest, stag, source, rtag, comm, request))
STARTS(Comm_idup_with_info,
	(MPI_Comm comm, MPI_Info info, MPI_Comm *dup, MPI_Request *request),
	(comm, info, dup, request))
STARTS(Comm_idup, (MPI_Comm comm, MPI_Comm *dup, MPI_Request *request), (comm, dup, request))

#define ALWAYS(_name, _params, _args)							\
int MPI_##_name _params									\
{											\
	always = true;									\
	return PMPI_##_name _args;							\
}

/* These stay requests when they are complete, or are made in many ways. */
ALWAYS(Start, (MPI_Request *request), (request))
ALWAYS(Startall, (int n, MPI_Request request[]), (n, request))
ALWAYS(Grequest_start,
	(MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
	 MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request),
	(query, release, cancel, extra, request))
ALWAYS(Ineighbor_allgather,
	(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
	 MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request),
	(sbuf, scount, stype, rbuf, rcount, rtype, comm, request))
ALWAYS(Ineighbor_allgatherv,
	(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, const int rcounts[],
	 const int displs[], MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request),
	(sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm, request))
ALWAYS(Ineighbor_alltoall,
	(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
	 MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request),
	(sbuf, scount, stype, rbuf, rcount, rtype, comm, request))
ALWAYS(Ineighbor_alltoallv,
	(const void *sbuf, const int scounts[], const int sdispls[], MPI_Datatype stype, void *rbuf,
	 const int rcounts[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm,
	 MPI_Request *request),
	(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm, request))
ALWAYS(Ineighbor_alltoallw,
	(const void *sbuf, const int scounts[], const MPI_Aint sdispls[],
	 const MPI_Datatype stypes[], void *rbuf, const int rcounts[], const MPI_Aint rdispls[],
	 const MPI_Datatype rtypes[], MPI_Comm comm, MPI_Request *request),
	(sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm, request))

/* ---- what completes them ---- */

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	int before = preload_there(1, request);

	return preload_completed(PMPI_Wait(request, status), before, 1, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int before = preload_there(1, request);

	return preload_completed(PMPI_Test(request, flag, status), before, 1, request);
}

/* Completes nothing. */
int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	preload_request_poll(request);
	return PMPI_Request_get_status(request, flag, status);
}

int MPI_Request_free(MPI_Request *request)
{
	int before = preload_there(1, request);
	int ret = preload_request_refuse(*request);

	if (ret != MPI_SUCCESS)
		return ret;
	/* the message may still be under way */
	always = true;
	return preload_completed(PMPI_Request_free(request), before, 1, request);
}

#define COMPLETES(_name, _params, _args)						\
int MPI_##_name _params									\
{											\
	int before = preload_there(n, request);							\
											\
	return preload_completed(PMPI_##_name _args, before, n, request);			\
}

COMPLETES(Waitall, (int n, MPI_Request request[], MPI_Status status[]), (n, request, status))
COMPLETES(Waitany, (int n, MPI_Request request[], int *i, MPI_Status *status),
	  (n, request, i, status))
COMPLETES(Waitsome,
	  (int n, MPI_Request request[], int *done, int indices[], MPI_Status status[]),
	  (n, request, done, indices, status))
COMPLETES(Testall, (int n, MPI_Request request[], int *flag, MPI_Status status[]),
	  (n, request, flag, status))
COMPLETES(Testany, (int n, MPI_Request request[], int *i, int *flag, MPI_Status *status),
	  (n, request, i, flag, status))
COMPLETES(Testsome,
	  (int n, MPI_Request request[], int *done, int indices[], MPI_Status status[]),
	  (n, request, done, indices, status))

/* ---- windows ---- */

int preload_opened(int ret)
{
	if (ret == MPI_SUCCESS)
		__atomic_add_fetch(&windows, 1, __ATOMIC_RELAXED);
	return ret;
}

#define OPENS(_name, _params, _args)							\
int MPI_##_name _params									\
{											\
	return preload_opened(PMPI_##_name _args);						\
}

OPENS(Win_create,
	(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
	(base, size, unit, info, comm, win))
OPENS(Win_allocate,
	(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	(size, unit, info, comm, base, win))
OPENS(Win_allocate_shared,
	(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	(size, unit, info, comm, base, win))
OPENS(Win_create_c,
	(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
	(base, size, unit, info, comm, win))
OPENS(Win_allocate_c,
	(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	(size, unit, info, comm, base, win))
OPENS(Win_allocate_shared_c,
	(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	(size, unit, info, comm, base, win))
OPENS(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))

int preload_closed(int ret)
{
	if (ret == MPI_SUCCESS)
		__atomic_sub_fetch(&windows, 1, __ATOMIC_RELAXED);
	return ret;
}

int MPI_Win_free(MPI_Win *win)
{
	return preload_closed(PMPI_Win_free(win));
}
