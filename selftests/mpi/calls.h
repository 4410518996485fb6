/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of all of MPI's collectives with arguments drawn from a seed, and what
 * they must do: every rank can compute what all have to say.
 */
#ifndef SELFTESTS_MPI_CALLS_H
#define SELFTESTS_MPI_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open MPI 4.1 has MPI 4's persistent collectives by other names. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define MPI_Barrier_init		MPIX_Barrier_init
#define MPI_Bcast_init			MPIX_Bcast_init
#define MPI_Allgather_init		MPIX_Allgather_init
#define MPI_Allgatherv_init		MPIX_Allgatherv_init
#define MPI_Gather_init			MPIX_Gather_init
#define MPI_Gatherv_init		MPIX_Gatherv_init
#define MPI_Scatter_init		MPIX_Scatter_init
#define MPI_Scatterv_init		MPIX_Scatterv_init
#define MPI_Alltoall_init		MPIX_Alltoall_init
#define MPI_Alltoallv_init		MPIX_Alltoallv_init
#define MPI_Alltoallw_init		MPIX_Alltoallw_init
#define MPI_Allreduce_init		MPIX_Allreduce_init
#define MPI_Reduce_init			MPIX_Reduce_init
#define MPI_Scan_init			MPIX_Scan_init
#define MPI_Exscan_init			MPIX_Exscan_init
#define MPI_Reduce_scatter_init		MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init	MPIX_Reduce_scatter_block_init
#endif

enum call_kind {
	BARRIER, BCAST, ALLGATHER, ALLGATHERV, GATHER, GATHERV, SCATTER, SCATTERV, ALLTOALL,
	ALLTOALLV, ALLTOALLW, ALLREDUCE, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER,
	REDUCE_SCATTER_BLOCK, KINDS
};

/* How a call is made; PERSISTENT: its request is, and is not started. */
enum call_how { NON_BLOCKING, BLOCKING, PERSISTENT };

/**
 * struct side - a buffer of blocks that are moved
 * @n: number of blocks
 * @type: of their elements, or that of block i in @types
 * @counts: elements of each block
 * @displs: where they begin
 * @mem: the buffer, of @bytes
 */
struct side {
	int n;
	MPI_Datatype type;
	MPI_Datatype *types;
	int *counts;
	int *displs;
	char *mem;
	size_t bytes;
};

struct call {
	enum call_kind kind;
	MPI_Comm comm;
	int rank, size;
	uint32_t seed;
	bool in_place;
	int root;
	/* what is moved */
	struct side send, recv;
	/* what is reduced */
	MPI_Datatype type;
	MPI_Op op;
	int count;
	int *counts;
	void *in, *out;
	/* what must be at recv.mem, or packed at out */
	char *want;
	/* the buffer of the result, and how it was before */
	void *result, *before;
	size_t result_bytes;
	MPI_Request request;
};

uint32_t draw(uint32_t *state, uint32_t below);
void *need(size_t bytes);
const char *kind_name(enum call_kind k);

/* Types and operators, which are made and freed with MPI. */
void calls_init(void);
void calls_end(void);

/* Draw the arguments from @seed, which is the same on all ranks of the comm. */
void call_make(struct call *c, enum call_kind kind, MPI_Comm comm, uint32_t seed, bool in_place);
/* Begin the call; if it does not block, c->request completes it. */
void call_start(struct call *c, enum call_how how);
/* The buffers of a completed call as they were before, so that it can be started again. */
void call_again(struct call *c);
/* Compare what a completed call has done, and free all. Return whether it is right. */
bool call_check(struct call *c);

/* moves.c and reductions.c */
void move_make(struct call *c, uint32_t *state);
void move_start(struct call *c, enum call_how how);
bool move_check(struct call *c);
void reduction_init(void);
void reduction_end(void);
void reduction_make(struct call *c, uint32_t *state);
void reduction_start(struct call *c, enum call_how how);
bool reduction_check(struct call *c);

#endif
