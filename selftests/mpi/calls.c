// SPDX-License-Identifier: GPL-2.0
/* Calls with arguments drawn from a seed: see calls.h. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	"barrier", "bcast", "allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv",
	"alltoall", "alltoallv", "alltoallw", "allreduce", "reduce", "scan", "exscan",
	"reduce_scatter", "reduce_scatter_block",
};

const char *kind_name(enum call_kind k)
{
	return names[k];
}

uint32_t draw(uint32_t *state, uint32_t below)
{
	uint32_t x = *state += 0x9e3779b9;

	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	x ^= x >> 16;
	return below ? x % below : x;
}

void *need(size_t bytes)
{
	void *p = malloc(bytes + 1);

	if (!p)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return memset(p, 0xa5, bytes + 1);
}

static bool moves(enum call_kind k)
{
	return k > BARRIER && k < ALLREDUCE;
}

/*
 * MPICH itself, up to 4.1, copies from MPI_IN_PLACE in a blocking reduce whose root
 * shares its host and is not the first rank (its issue 6540). Which calls are its own
 * is not known here.
 */
static bool can_be_in_place(const struct call *c)
{
#ifdef MPICH_VERSION
	if (c->kind == REDUCE && c->root)
		return false;
#endif
	return c->kind != BCAST && c->kind != BARRIER;
}

void call_make(struct call *c, enum call_kind kind, MPI_Comm comm, uint32_t seed, bool in_place)
{
	uint32_t state = seed;

	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->comm = comm;
	c->seed = seed;
	c->request = MPI_REQUEST_NULL;
	MPI_Comm_rank(comm, &c->rank);
	MPI_Comm_size(comm, &c->size);
	c->root = draw(&state, c->size);
	c->in_place = in_place && can_be_in_place(c);
	if (moves(kind))
		move_make(c, &state);
	else if (kind != BARRIER)
		reduction_make(c, &state);
	c->before = need(c->result_bytes);
	if (c->result)
		memcpy(c->before, c->result, c->result_bytes);
}

static void barrier_start(struct call *c, enum call_how how)
{
	if (how == BLOCKING)
		MPI_Barrier(c->comm);
	else if (how == NON_BLOCKING)
		MPI_Ibarrier(c->comm, &c->request);
	else
		MPI_Barrier_init(c->comm, MPI_INFO_NULL, &c->request);
}

void call_start(struct call *c, enum call_how how)
{
	if (moves(c->kind))
		move_start(c, how);
	else if (c->kind != BARRIER)
		reduction_start(c, how);
	else
		barrier_start(c, how);
}

void call_again(struct call *c)
{
	if (c->result)
		memcpy(c->result, c->before, c->result_bytes);
}

bool call_check(struct call *c)
{
	bool right;

	free(c->before);
	if (c->kind == BARRIER)
		return true;
	right = moves(c->kind) ? move_check(c) : reduction_check(c);
	free(c->want);
	return right;
}
