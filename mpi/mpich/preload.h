/* SPDX-License-Identifier: MIT */
/*
 * libtorcoll-mpi.so, which stands before MPICH by LD_PRELOAD: what its files
 * share. It has MPI's functions of collectives, and calls MPICH by PMPI.
 *
 * A communicator gets a comm of torcoll in its first blocking call, where its
 * ranks may wait for each other; an attribute of it says which. From then on a
 * rank decides by itself which calls run in the kernel, only by what is equal on
 * all ranks; others are MPICH's.
 *
 * Locking: preload.lock protects the lists of communicators and of active
 * requests, and is around tests of the ops of these. MPICH may hold locks of its
 * own when it calls this library: so nothing is called under it that could call MPI.
 */
#ifndef TORCOLL_PRELOAD_H
#define TORCOLL_PRELOAD_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <torcoll.h>

#include "../common/describe.h"
#include "../common/fabric.h"
#include "../common/type.h"

struct preload_request;

struct preload {
	/* from the environment */
	uint64_t verbose;
	uint64_t min_nodes;
	uint64_t min_bytes;
	uint64_t max_bytes;
	uint64_t timeout;
	struct tmpi_fabric fabric;
	/* state */
	struct torcoll *t;
	bool threads;			/* several may call MPI */
	int key;			/* of communicators' attribute */
	pthread_mutex_t lock;
	struct preload_request *active;	/* ops that are not complete */
	uint32_t nactive;
	bool helped;			/* a thread looks after them */
	struct preload_comm *comms;
	uint32_t ncomms;
	uint64_t taken;
	uint64_t left[TMPI_WHYS];
};

extern struct preload preload;

/**
 * struct preload_comm - a communicator that has tried to attach
 * @comm: the communicator
 * @tc: NULL: its calls are MPICH's
 * @users: the attribute, and calls that are not complete
 * @failed: and this was reported
 */
struct preload_comm {
	struct preload_comm *next;
	MPI_Comm comm;
	char name[MPI_MAX_OBJECT_NAME];
	struct torcoll_comm *tc;
	uint32_t rank;
	uint32_t size;
	unsigned int users;
	bool failed;
};

/* Print a line on stderr. */
void __attribute__((format(printf, 1, 2))) preload_say(const char *format, ...);

/* ---- attach.c ---- */

/* Return the communicator if a blocking call on it can run in the kernel, else NULL. */
struct preload_comm *preload_attached(MPI_Comm comm);

/* The same for a call that must not wait for other ranks; counts it if it is too early. */
struct preload_comm *preload_may_start(MPI_Comm comm);

/* An attribute of a communicator goes: its function. */
int preload_comm_gone(MPI_Comm comm, int key, void *value, void *extra);
void preload_comm_put(struct preload_comm *c);

/* ---- run.c ---- */

/* Run a described call, and wait for it. @err: of its description. An error code of MPI. */
int preload_run(struct preload_comm *c, struct tmpi_call *call, int err);

/*
 * Report the failure of a call, and let the other ranks know. @sentence: the
 * library's. An error code of MPI.
 */
int preload_failed(struct preload_comm *c, const struct tmpi_call *call, int err,
		   const char *sentence);

/* Between these tmpi_progress() can be called (wait.h). An error code of MPI. */
int preload_progress_begin(void);
void preload_progress_end(void);

/* ---- pending.c ---- */

/* Return whether MPICH may have to make progress while a call waits. */
bool preload_pending(void);

/* A request was made, of MPICH or of this library; return @ret. */
int preload_started(int ret);

/* So many requests of an array are there. */
int preload_there(int n, const MPI_Request *request);

/* Of @before requests, those that are no longer there are complete; return @ret. */
int preload_completed(int ret, int before, int n, const MPI_Request *request);

/* From now on there may always be something. */
void preload_poll_always(void);

/* A window was made, or freed; return @ret. */
int preload_opened(int ret);
int preload_closed(int ret);

/* ---- request.c ---- */

/* Start a described call. @err: of its description. An error code of MPI. */
int preload_start(struct preload_comm *c, struct tmpi_call *call, int err, MPI_Request *request);

/* Look for the end of a call, if the request is one's. */
void preload_request_poll(MPI_Request handle);

/*
 * A program is about to free a request, which MPI does not allow for a collective.
 * An error code of MPI, of which the communicator has been told, if it is one of
 * this library's calls: it would go on in memory that is given back.
 */
int preload_request_refuse(MPI_Request handle);

/* Wait for the thread that helps requests. */
void preload_request_end(void);

#endif
