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

enum call_kind {
	BARRIER, BCAST, ALLGATHER, ALLGATHERV, GATHER, GATHERV, SCATTER, SCATTERV, ALLTOALL,
	ALLTOALLV, ALLTOALLW, ALLREDUCE, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER,
	REDUCE_SCATTER_BLOCK, KINDS
};

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
void call_start(struct call *c, bool blocking);
/* Compare what a completed call has done, and free all. Return whether it is right. */
bool call_check(struct call *c);

/* moves.c and reductions.c */
void move_make(struct call *c, uint32_t *state);
void move_start(struct call *c, bool blocking);
bool move_check(struct call *c);
void reduction_init(void);
void reduction_end(void);
void reduction_make(struct call *c, uint32_t *state);
void reduction_start(struct call *c, bool blocking);
bool reduction_check(struct call *c);

#endif
