// SPDX-License-Identifier: MIT
/* The beginning and the end of a process: what the environment says, and what it has done. */
#include "preload.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env.h"

struct preload preload = {
	.min_nodes = 2,
	.timeout = 30,
	.key = MPI_KEYVAL_INVALID,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

void preload_say(const char *format, ...)
{
	char host[64] = "", line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	gethostname(host, sizeof(host) - 1);
	/* in one piece, beside those of other ranks */
	fprintf(stderr, "[%s:%d] torcoll: %s\n", host, (int)getpid(), line);
}

static void env_number(const char *name, uint64_t *value)
{
	if (!preload_env_number(name, value))
		preload_say("%s=%s is not a number, and is ignored", name, getenv(name));
}

/* Without a context this host is in no fabric. */
static void context_open(void)
{
	static const char key[] = "TORCOLL_FABRIC";

	if (!tmpi_fabric_parse(getenv(key), &preload.fabric))
		preload_say("not used: %s: \"%s\" is not the key of a fabric", key, getenv(key));
	else if (torcoll_open(&preload.t))
		preload_say("not used: %s", torcoll_last_error());
}

/* Without the library's own things this rank would leave calls to MPICH that others run in the kernel. */
static void __attribute__((noreturn)) process_abort(void)
{
	int world = 0;

	preload_say("MPICH cannot make a request and an attribute for the library at this rank, for which the others would wait");
	PMPI_Initialized(&world);
	if (world)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	/* of sessions alone: mpirun ends the others */
	exit(1);
}

/* A host without a fabric makes the communicators of all ranks MPICH's: see attach.c. */
static void process_begin(void)
{
	int level;

	env_number("TORCOLL_MPI_VERBOSE", &preload.verbose);
	env_number("TORCOLL_MPI_MIN_NODES", &preload.min_nodes);
	env_number("TORCOLL_MPI_MIN_BYTES", &preload.min_bytes);
	env_number("TORCOLL_MPI_MAX_BYTES", &preload.max_bytes);
	env_number("TORCOLL_MPI_TIMEOUT", &preload.timeout);
	/* the environment may say so, without MPI_Init_thread */
	preload.threads = PMPI_Query_thread(&level) || level == MPI_THREAD_MULTIPLE;
	context_open();
	if (preload_progress_begin() ||
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, preload_comm_gone, &preload.key, NULL))
		process_abort();
}

static void process_report(void)
{
	const uint64_t *left = preload.left;

	preload_say("%" PRIu32 " communicators; %" PRIu64 " calls in the kernel, %" PRIu64 " by MPICH: %" PRIu64 " for their operator or type, %" PRIu64 " for their size, %" PRIu64 " before the first blocking one",
		    preload.ncomms, preload.taken,
		    left[TMPI_OPERATOR] + left[TMPI_SIZE] + left[TMPI_EARLY], left[TMPI_OPERATOR],
		    left[TMPI_SIZE], left[TMPI_EARLY]);
}

static void process_forget_comms(void)
{
	struct preload_comm *c;

	while ((c = preload.comms)) {
		PMPI_Comm_delete_attr(c->comm, preload.key);
		/* MPICH has lost it */
		if (preload.comms == c)
			preload_comm_gone(c->comm, preload.key, c, NULL);
	}
}

static void process_end(void)
{
	preload_request_end();
	preload_progress_end();
	process_forget_comms();
	PMPI_Comm_free_keyval(&preload.key);
	torcoll_close(preload.t);
	preload.t = NULL;
	if (preload.verbose)
		process_report();
}

/* ---- MPI_Init, and sessions: the first that begins, and the last that ends ---- */

static pthread_mutex_t models_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int models;

static int model_begun(int ret)
{
	if (ret != MPI_SUCCESS)
		return ret;
	pthread_mutex_lock(&models_lock);
	if (!models++)
		process_begin();
	pthread_mutex_unlock(&models_lock);
	return ret;
}

static void model_ends(void)
{
	pthread_mutex_lock(&models_lock);
	if (models && !--models)
		process_end();
	pthread_mutex_unlock(&models_lock);
}

int MPI_Init(int *argc, char ***argv)
{
	return model_begun(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return model_begun(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	return model_begun(PMPI_Session_init(info, errhandler, session));
}

int MPI_Finalize(void)
{
	model_ends();
	return PMPI_Finalize();
}

int MPI_Session_finalize(MPI_Session *session)
{
	if (*session != MPI_SESSION_NULL)
		model_ends();
	return PMPI_Session_finalize(session);
}
