// SPDX-License-Identifier: GPL-2.0
/* The parts of the vector that a rank sends and receives. */
#include "perf.h"

/*
 * Return the first element of a rank's block; @rank may be the number of ranks.
 * Uneven blocks are 0, 1, 2, 3, 0, ... parts long, and the last rank has the
 * remainder.
 */
static uint64_t block_start(const struct perf *p, uint64_t count, uint32_t rank)
{
	uint64_t q = count / p->size, m = count % p->size, parts;

	if (!p->o->uneven)
		return rank * q + (rank < m ? rank : m);
	if (rank == p->size)
		return count;
	parts = rank / 4 * 6 + rank % 4 * (rank % 4 - 1) / 2;
	return count / (p->size / 4 * 6 + 6) * parts;
}

static struct part block(const struct perf *p, uint64_t count, uint32_t rank)
{
	uint64_t first = block_start(p, count, rank);

	return (struct part){ first, block_start(p, count, rank + 1) - first };
}

bool has_redop(enum torcoll_collective collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_REDUCE || collective == TORCOLL_SCAN ||
	       collective == TORCOLL_EXSCAN;
}

uint32_t part_granule(const struct perf *p)
{
	if (p->o->collective == TORCOLL_ALLTOALL)
		return p->size;
	return p->o->collective == TORCOLL_HALO ? halo_ways(p) : 1;
}

bool has_root(enum torcoll_collective collective)
{
	return collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

bool has_blocks(enum torcoll_collective collective)
{
	return collective == TORCOLL_ALLGATHER || collective == TORCOLL_REDUCE_SCATTER ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

struct part part_sent(const struct perf *p, const struct result *r)
{
	bool from_root = p->o->collective == TORCOLL_BROADCAST ||
			 p->o->collective == TORCOLL_SCATTER;

	if (p->o->collective == TORCOLL_ALLGATHER || p->o->collective == TORCOLL_GATHER)
		return block(p, r->count, p->rank);
	if (from_root && p->rank != p->o->root)
		return (struct part){ 0 };
	return (struct part){ 0, r->count };
}

struct part part_received(const struct perf *p, const struct result *r)
{
	bool to_root = p->o->collective == TORCOLL_REDUCE || p->o->collective == TORCOLL_GATHER;

	if (p->o->collective == TORCOLL_REDUCE_SCATTER || p->o->collective == TORCOLL_SCATTER)
		return block(p, r->count, p->rank);
	if (to_root && p->rank != p->o->root)
		return (struct part){ 0 };
	/* undefined */
	if (p->o->collective == TORCOLL_EXSCAN && !p->rank)
		return (struct part){ 0 };
	return (struct part){ 0, r->count };
}

void part_counts(struct perf *p, const struct result *r)
{
	for (uint32_t i = 0; i < p->size; i++)
		p->counts[i] = block(p, r->count, i).n;
}

/* Check an alltoall: block i is what rank i has for this one. */
static uint64_t check_exchanged(const struct perf *p, const struct result *r, const uint8_t *buf)
{
	uint64_t n = r->count / p->size, wrong = 0;
	size_t element = torcoll_type_size(r->type);

	for (uint32_t i = 0; i < p->size; i++)
		wrong += data_check_input(r, i, (struct part){ p->rank * n, n }, buf + i * n * element);
	return wrong;
}

/* Check a halo: the block that the neighbour has for the opposite direction. */
static uint64_t check_halo(const struct perf *p, const struct result *r, const uint8_t *buf)
{
	uint64_t n = r->count / halo_ways(p), wrong = 0;
	size_t element = torcoll_type_size(r->type);

	for (uint32_t way = 0; way < halo_ways(p); way++)
		wrong += data_check_input(r, halo_neighbour(p, way),
					  (struct part){ (way ^ 1) * n, n },
					  buf + way * n * element);
	return wrong;
}

/*
 * Compare elements that are passed on unchanged with the inputs of their ranks.
 */
static uint64_t check_copies(const struct perf *p, const struct result *r, struct part got,
			     const uint8_t *buf)
{
	size_t element = torcoll_type_size(r->type);
	uint64_t wrong = 0;

	if (p->o->collective == TORCOLL_BROADCAST || p->o->collective == TORCOLL_SCATTER)
		return data_check_input(r, p->o->root, got, buf);
	if (p->o->collective == TORCOLL_ALLTOALL)
		return check_exchanged(p, r, buf);
	if (p->o->collective == TORCOLL_HALO)
		return check_halo(p, r, buf);
	for (uint32_t i = 0; got.n && i < p->size; i++) {
		struct part b = block(p, r->count, i);

		wrong += data_check_input(r, i, b, buf + b.first * element);
	}
	return wrong;
}

uint64_t part_check(const struct perf *p, const struct result *r, const uint8_t *buf, char *first,
		    size_t first_bytes)
{
	struct part got = part_received(p, r);

	if (p->o->collective == TORCOLL_SCAN || p->o->collective == TORCOLL_EXSCAN)
		return data_check_first(r, p->rank + (p->o->collective == TORCOLL_SCAN), got, buf,
					first, first_bytes);
	if (has_redop(p->o->collective))
		return data_check(r, got, buf, first, first_bytes);
	snprintf(first, first_bytes, "not what was sent");
	return check_copies(p, r, got, buf);
}
