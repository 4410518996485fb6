/* SPDX-License-Identifier: MIT */
/*
 * The functions of MPI as calls: which of them run in the kernel, and what they
 * do there. All but the barrier, which has no arguments.
 *
 * Whether a call is left to the MPI is decided by each rank for itself. So it
 * depends only on what is the same on all ranks: the operator, the elementary
 * type, the length in bytes, the communicator. A call that MPI forbids is left to
 * it as well, which refuses it: a root that is no rank, a negative count, no type.
 */
#ifndef TORCOLL_MPI_DESCRIBE_H
#define TORCOLL_MPI_DESCRIBE_H

#include <mpi.h>

#include "call.h"

/* F(name, Name, parameters, arguments): without the communicator, and a request. */
#define TMPI_COLLECTIVES(F)								\
	F(bcast, Bcast, (void *buf, int count, MPI_Datatype type, int root),		\
	  (buf, count, type, root))							\
	F(allgather, Allgather,								\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,	\
	   MPI_Datatype rtype),								\
	  (sbuf, scount, stype, rbuf, rcount, rtype))					\
	F(allgatherv, Allgatherv,							\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, const int *rcounts, \
	   const int *rdispls, MPI_Datatype rtype),					\
	  (sbuf, scount, stype, rbuf, rcounts, rdispls, rtype))				\
	F(alltoall, Alltoall,								\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,	\
	   MPI_Datatype rtype),								\
	  (sbuf, scount, stype, rbuf, rcount, rtype))					\
	F(alltoallv, Alltoallv,								\
	  (const void *sbuf, const int *scounts, const int *sdispls, MPI_Datatype stype, \
	   void *rbuf, const int *rcounts, const int *rdispls, MPI_Datatype rtype),	\
	  (sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype))		\
	F(alltoallw, Alltoallw,								\
	  (const void *sbuf, const int *scounts, const int *sdispls, const MPI_Datatype *stypes, \
	   void *rbuf, const int *rcounts, const int *rdispls, const MPI_Datatype *rtypes), \
	  (sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes))		\
	F(gather, Gather,								\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,	\
	   MPI_Datatype rtype, int root),						\
	  (sbuf, scount, stype, rbuf, rcount, rtype, root))				\
	F(gatherv, Gatherv,								\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, const int *rcounts, \
	   const int *rdispls, MPI_Datatype rtype, int root),				\
	  (sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, root))			\
	F(scatter, Scatter,								\
	  (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,	\
	   MPI_Datatype rtype, int root),						\
	  (sbuf, scount, stype, rbuf, rcount, rtype, root))				\
	F(scatterv, Scatterv,								\
	  (const void *sbuf, const int *scounts, const int *sdispls, MPI_Datatype stype, \
	   void *rbuf, int rcount, MPI_Datatype rtype, int root),			\
	  (sbuf, scounts, sdispls, stype, rbuf, rcount, rtype, root))			\
	F(allreduce, Allreduce,								\
	  (const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op),	\
	  (sbuf, rbuf, count, type, op))						\
	F(reduce, Reduce,								\
	  (const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root), \
	  (sbuf, rbuf, count, type, op, root))						\
	F(scan, Scan,									\
	  (const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op),	\
	  (sbuf, rbuf, count, type, op))						\
	F(exscan, Exscan,								\
	  (const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op),	\
	  (sbuf, rbuf, count, type, op))						\
	F(reduce_scatter, Reduce_scatter,						\
	  (const void *sbuf, void *rbuf, const int *rcounts, MPI_Datatype type, MPI_Op op), \
	  (sbuf, rbuf, rcounts, type, op))						\
	F(reduce_scatter_block, Reduce_scatter_block,					\
	  (const void *sbuf, void *rbuf, int rcount, MPI_Datatype type, MPI_Op op),	\
	  (sbuf, rbuf, rcount, type, op))

/* A list in parentheses, without them. */
#define TMPI_BARE(...)	__VA_ARGS__

/* A call that is left to the MPI. */
#define TMPI_LEFT	1

/* Why. */
enum tmpi_why {
	TMPI_OPERATOR,
	TMPI_SIZE,
	TMPI_EARLY,	/* does not block, and none of its communicator has */
	TMPI_WHYS
};

/*
 * tmpi_describe_NAME() describes a call, after tmpi_call_init(), as the functions of
 * call.h, or returns TMPI_LEFT.
 */
#define TMPI_DESCRIBE(_name, _Name, _params, _args)					\
	int tmpi_describe_##_name(struct tmpi_call *call, TMPI_BARE _params);

TMPI_COLLECTIVES(TMPI_DESCRIBE)

/* reduction.c: return whether torcoll can reduce elements of a type by an operator, and how. */
bool tmpi_reduction(MPI_Datatype type, MPI_Op op, struct tmpi_reduction *r);

/* ---- of each binding ---- */

/* Return whether the user wants a call on so many bytes to be left to the MPI. */
bool tmpi_aside(uint64_t bytes);

/* Count a call that is left. Return TMPI_LEFT. */
int tmpi_leave(enum tmpi_why why);

#endif
