// SPDX-License-Identifier: MIT
/*
 * Fortran's module mpi_f08. Its procedures that have buffers call MPI's functions,
 * as those of Fortran's other interfaces do; the rest calls PMPI's, and so would
 * pass by this library. Of these, here are the ones that run in the kernel, or
 * make requests or windows, or complete them.
 */
#include "fortran08.h"

#include "preload.h"

static void f08_return(int *ierror, int ret)
{
	if (ierror)
		*ierror = ret;
}

/* ---- the library's ---- */

void mpi_init_f08_(int *ierror)
{
	f08_return(ierror, MPI_Init(NULL, NULL));
}

void mpi_init_thread_f08_(const int *required, int *provided, int *ierror)
{
	f08_return(ierror, MPI_Init_thread(NULL, NULL, *required, provided));
}

void mpi_finalize_f08_(int *ierror)
{
	f08_return(ierror, MPI_Finalize());
}

void mpi_session_init_f08_(const MPI_Info *info, const MPI_Errhandler *errhandler,
			   MPI_Session *session, int *ierror)
{
	f08_return(ierror, MPI_Session_init(*info, *errhandler, session));
}

void mpi_session_finalize_f08_(MPI_Session *session, int *ierror)
{
	f08_return(ierror, MPI_Session_finalize(session));
}

void mpi_barrier_f08_(const MPI_Comm *comm, int *ierror)
{
	f08_return(ierror, MPI_Barrier(*comm));
}

void mpi_ibarrier_f08_(const MPI_Comm *comm, MPI_Request *request, int *ierror)
{
	f08_return(ierror, MPI_Ibarrier(*comm, request));
}

/* ---- MPICH's, and what the library has to do with them ---- */

#define MAKES_BY(_name, _note, _params, _args)						\
void mpi_##_name(TMPI_BARE _params, int *ierror)					\
{											\
	int ret = MPI_SUCCESS;								\
											\
	pmpir_##_name(TMPI_BARE _args, &ret);						\
	f08_return(ierror, _note(ret));							\
}

#define MAKES(_name, _note, _params, _args)	MAKES_BY(_name##_f08_, _note, _params, _args)
#define MAKES_LARGE(_name, _note, _params, _args)					\
	MAKES_BY(_name##_f08_large_, _note, _params, _args)

#define BEFORE(_name, _what, _params, _args)						\
void mpi_##_name##_f08_(TMPI_BARE _params, int *ierror)					\
{											\
	_what;										\
	pmpir_##_name##_f08_(TMPI_BARE _args, ierror);					\
}

#define COMPLETES(_name, _n, _params, _args)						\
void mpi_##_name##_f08_(TMPI_BARE _params, int *ierror)					\
{											\
	int before = preload_there(_n, request);					\
											\
	pmpir_##_name##_f08_(TMPI_BARE _args, ierror);					\
	preload_completed(MPI_SUCCESS, before, _n, request);				\
}

F08_MAKES(MAKES)
F08_MAKES_LARGE(MAKES_LARGE)
F08_BEFORE(BEFORE)
F08_COMPLETES(COMPLETES)

void mpi_request_free_f08_(MPI_Request *request, int *ierror)
{
	int before = preload_there(1, request);
	int ret = preload_request_refuse(*request);

	if (ret != MPI_SUCCESS) {
		f08_return(ierror, ret);
		return;
	}
	/* the message may still be under way */
	preload_poll_always();
	pmpir_request_free_f08_(request, ierror);
	preload_completed(MPI_SUCCESS, before, 1, request);
}
