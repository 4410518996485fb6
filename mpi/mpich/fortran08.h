/* SPDX-License-Identifier: MIT */
/*
 * Procedures of Fortran's module mpi_f08, as they are compiled: mpi_NAME_f08_, and
 * pmpir_NAME_f08_ by the profiling interface. A handle is a struct of one integer,
 * the same as C's; other things may have another form than in C, and are not
 * looked at here. Arguments that the program has left out are NULL.
 */
#ifndef TORCOLL_PRELOAD_FORTRAN08_H
#define TORCOLL_PRELOAD_FORTRAN08_H

#include <mpi.h>

#include "../common/describe.h"

/* F(name, function that notes the result, parameters, arguments): without the error. */
#define F08_MAKES(F)									\
	F(comm_idup, preload_started,							\
	  (const MPI_Comm *comm, MPI_Comm *dup, MPI_Request *request),			\
	  (comm, dup, request))								\
	F(comm_idup_with_info, preload_started,						\
	  (const MPI_Comm *comm, const MPI_Info *info, MPI_Comm *dup, MPI_Request *request), \
	  (comm, info, dup, request))							\
	F(win_allocate, preload_opened,							\
	  (const MPI_Aint *size, const int *unit, const MPI_Info *info, const MPI_Comm *comm, \
	   void *base, MPI_Win *win),							\
	  (size, unit, info, comm, base, win))						\
	F(win_allocate_shared, preload_opened,						\
	  (const MPI_Aint *size, const int *unit, const MPI_Info *info, const MPI_Comm *comm, \
	   void *base, MPI_Win *win),							\
	  (size, unit, info, comm, base, win))						\
	F(win_create_dynamic, preload_opened,						\
	  (const MPI_Info *info, const MPI_Comm *comm, MPI_Win *win),			\
	  (info, comm, win))								\
	F(win_free, preload_closed, (MPI_Win *win), (win))

/* The same: those of large counts, mpi_NAME_f08_large_. */
#define F08_MAKES_LARGE(F)								\
	F(win_allocate, preload_opened,							\
	  (const MPI_Aint *size, const MPI_Aint *unit, const MPI_Info *info,		\
	   const MPI_Comm *comm, void *base, MPI_Win *win),				\
	  (size, unit, info, comm, base, win))						\
	F(win_allocate_shared, preload_opened,						\
	  (const MPI_Aint *size, const MPI_Aint *unit, const MPI_Info *info,		\
	   const MPI_Comm *comm, void *base, MPI_Win *win),				\
	  (size, unit, info, comm, base, win))

/* F(name, what is done before, parameters, arguments). */
#define F08_BEFORE(F)									\
	F(start, preload_poll_always(), (MPI_Request *request), (request))		\
	F(startall, preload_poll_always(), (const int *n, MPI_Request *request), (n, request)) \
	F(grequest_start, preload_poll_always(),					\
	  (void *query, void *release, void *cancel, void *extra, MPI_Request *request), \
	  (query, release, cancel, extra, request))					\
	F(request_get_status, preload_request_poll(*request),				\
	  (const MPI_Request *request, int *flag, void *status),			\
	  (request, flag, status))

/* F(name, number of requests, parameters, arguments). */
#define F08_COMPLETES(F)								\
	F(wait, 1, (MPI_Request *request, void *status), (request, status))		\
	F(test, 1, (MPI_Request *request, int *flag, void *status), (request, flag, status)) \
	F(waitall, *n, (const int *n, MPI_Request *request, void *status),		\
	  (n, request, status))								\
	F(waitany, *n, (const int *n, MPI_Request *request, int *i, void *status),	\
	  (n, request, i, status))							\
	F(waitsome, *n,									\
	  (const int *n, MPI_Request *request, int *done, int *indices, void *status),	\
	  (n, request, done, indices, status))						\
	F(testall, *n, (const int *n, MPI_Request *request, int *flag, void *status),	\
	  (n, request, flag, status))							\
	F(testany, *n,									\
	  (const int *n, MPI_Request *request, int *i, int *flag, void *status),	\
	  (n, request, i, flag, status))						\
	F(testsome, *n,									\
	  (const int *n, MPI_Request *request, int *done, int *indices, void *status),	\
	  (n, request, done, indices, status))

/* MPICH's own: programs that are not Fortran's have not loaded them. */
#define F08_MAYBE	__attribute__((weak))

#define F08_DECLARE(_name, _what, _params, _args)					\
	F08_MAYBE void pmpir_##_name##_f08_(TMPI_BARE _params, int *ierror);

#define F08_DECLARE_LARGE(_name, _what, _params, _args)				\
	F08_MAYBE void pmpir_##_name##_f08_large_(TMPI_BARE _params, int *ierror);

F08_MAKES(F08_DECLARE)
F08_MAKES_LARGE(F08_DECLARE_LARGE)
F08_BEFORE(F08_DECLARE)
F08_COMPLETES(F08_DECLARE)
F08_MAYBE void pmpir_request_free_f08_(MPI_Request *request, int *ierror);

#endif
