// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a test of groups: comms made from comms. All ranks do all cases; who sees something wrong says so, and
 * rank 0 names each case that all of them found right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>

#include "rank.h"

#define PATIENCE	60000	/* ms */
#define COUNT		5000
#define DIMS		2

static uint32_t side[DIMS];

static uint64_t soon(void)
{
	return torcoll_deadline(PATIENCE);
}

/* A comm whose rank i is on node @node[i], by what it says and by what it adds up. */
static int is_comm(struct torcoll_comm *comm, const uint32_t *node, uint32_t size)
{
	int64_t in[COUNT], out[COUNT], nodes = 0;
	uint32_t i, self = 0;
	int err;

	if (torcoll_comm_size(comm) != size) {
		say("%u ranks, not %u", torcoll_comm_size(comm), size);
		return 1;
	}
	for (i = 0; i < size; i++) {
		nodes += node[i];
		if (node[i] == rank)
			self = i;
		if (torcoll_comm_node(comm, i) != node[i]) {
			say("rank %u is on node %u, not %u", i, torcoll_comm_node(comm, i), node[i]);
			return 1;
		}
	}
	if (torcoll_comm_rank(comm) != self) {
		say("is rank %u, not %u", torcoll_comm_rank(comm), self);
		return 1;
	}
	for (i = 0; i < COUNT; i++)
		in[i] = (int64_t)rank * (i + 1);
	err = torcoll_allreduce(comm, in, out, COUNT, TORCOLL_I64, TORCOLL_SUM);
	for (i = 0; !err && i < COUNT; i++) {
		if (out[i] == nodes * (i + 1))
			continue;
		say("element %u is %lld, not %lld", i, (long long)out[i], (long long)nodes * (i + 1));
		return 1;
	}
	if (err)
		say("%s", torcoll_last_error());
	return !!err;
}

static int made(int err)
{
	if (err)
		say("%s", torcoll_last_error());
	return !err;
}

static int all_nodes(uint32_t *node)
{
	for (uint32_t i = 0; i < ranks; i++)
		node[i] = i;
	return ranks;
}

/* ---- cases: 0 if right ---- */

/* Ops on a comm and its dup, started in another order by every second rank. */
static int dup_overlaps(void)
{
	struct torcoll_comm *dup, *first, *second;
	uint32_t node[64], size = all_nodes(node), i;
	static int32_t x[2][COUNT];
	struct torcoll_request req[2];
	int bad;

	if (!made(torcoll_comm_dup(world, soon(), &dup)))
		return 1;
	bad = is_comm(dup, node, size);
	first = rank % 2 ? world : dup;
	second = rank % 2 ? dup : world;
	for (i = 0; i < COUNT; i++)
		x[0][i] = x[1][i] = i;
	bad |= !made(torcoll_iallreduce(first, x[0], x[0], COUNT, TORCOLL_I32, TORCOLL_SUM, &req[0]));
	bad |= !made(torcoll_iallreduce(second, x[1], x[1], COUNT, TORCOLL_I32, TORCOLL_SUM, &req[1]));
	bad |= !made(torcoll_wait(&req[1])) || !made(torcoll_wait(&req[0]));
	for (i = 0; i < COUNT; i++)
		bad |= x[0][i] != (int32_t)(i * ranks) || x[1][i] != (int32_t)(i * ranks);
	torcoll_comm_close(dup);
	return bad;
}

/* Odd and even ranks, the last one first. */
static int split_by_key(void)
{
	struct torcoll_comm *sub;
	uint32_t node[64], size = 0, i;
	int bad;

	if (!made(torcoll_comm_split(world, rank % 2, -(int32_t)rank, soon(), &sub)))
		return 1;
	for (i = ranks; i-- > 0; )
		if (i % 2 == rank % 2)
			node[size++] = i;
	bad = is_comm(sub, node, size);
	torcoll_comm_close(sub);
	return bad;
}

/* Rank 3 stays out; equal keys leave the order as it is. */
static int split_none(void)
{
	uint32_t colour = rank == 3 ? TORCOLL_COLOUR_NONE : 7, node[64], size = 0, i;
	struct torcoll_comm *sub = world;
	int bad;

	if (!made(torcoll_comm_split(world, colour, 0, soon(), &sub)))
		return 1;
	if (rank == 3)
		return sub != NULL;
	for (i = 0; i < ranks; i++)
		if (i != 3)
			node[size++] = i;
	bad = is_comm(sub, node, size);
	torcoll_comm_close(sub);
	return bad;
}

static int split_alone(void)
{
	struct torcoll_comm *sub;
	int bad;

	if (!made(torcoll_comm_split(world, rank, 0, soon(), &sub)))
		return 1;
	bad = is_comm(sub, &rank, 1);
	torcoll_comm_close(sub);
	return bad;
}

/* A line or plane, and from a line of it the rank's own node. */
static int slice(uint32_t dims)
{
	uint32_t node[64], size = 0, i, d;
	struct torcoll_comm *sub;
	int bad;

	if (!made(torcoll_comm_slice(world, dims, soon(), &sub)))
		return 1;
	for (i = 0; i < ranks; i++) {
		uint32_t mine = rank, its = i, same = 1;

		for (d = 0; d < DIMS; mine /= side[d], its /= side[d], d++)
			same &= dims & 1U << d || mine % side[d] == its % side[d];
		if (same)
			node[size++] = i;
	}
	bad = is_comm(sub, node, size);
	torcoll_comm_close(sub);
	return bad;
}

static int slice_row(void)
{
	return slice(1);
}

static int slice_column(void)
{
	return slice(2);
}

static int slice_all(void)
{
	return slice(3);
}

static int slice_beyond(void)
{
	struct torcoll_comm *sub;

	return torcoll_comm_slice(world, 4, soon(), &sub) != -EINVAL;
}

/* A block over the corner of the torus; those outside get none. */
static int block_wraps(void)
{
	const uint32_t from[] = { side[0] - 1, side[1] - 1 }, extent[] = { 2, 3 };
	uint32_t node[6], size = 0, x, y, in = 0;
	struct torcoll_comm *sub = world;
	int bad;

	if (!made(torcoll_comm_block(world, from, extent, soon(), &sub)))
		return 1;
	for (y = 0; y < extent[1]; y++) {
		for (x = 0; x < extent[0]; x++) {
			node[size] = (from[0] + x) % side[0] + side[0] * ((from[1] + y) % side[1]);
			in |= node[size++] == rank;
		}
	}
	if (!in)
		return sub != NULL;
	bad = !sub || is_comm(sub, node, size);
	torcoll_comm_close(sub);
	return bad;
}

static int block_too_large(void)
{
	const uint32_t from[] = { 0, 0 }, extent[] = { side[0] + 1, 1 };
	struct torcoll_comm *sub;

	return torcoll_comm_block(world, from, extent, soon(), &sub) != -EINVAL;
}

/* Of a comm of odd ranks no row is whole. */
static int block_not_in_parent(void)
{
	const uint32_t from[] = { 0, 0 }, extent[] = { 2, 1 };
	struct torcoll_comm *sub, *none;
	int bad;

	if (!made(torcoll_comm_split(world, rank % 2, 0, soon(), &sub)))
		return 1;
	bad = torcoll_comm_block(sub, from, extent, soon(), &none) != -EINVAL;
	torcoll_comm_close(sub);
	return bad;
}

/* Groups of groups, until their names no longer fit; the parent goes before its child. */
static int nested(void)
{
	uint32_t node[64], size = all_nodes(node), i;
	struct torcoll_comm *comm = world, *next;
	int bad = 0;

	for (i = 0; i < 20; i++) {
		if (!made(torcoll_comm_dup(comm, soon(), &next)))
			return 1;
		if (comm != world)
			torcoll_comm_close(comm);
		comm = next;
	}
	bad = is_comm(comm, node, size);
	torcoll_comm_close(comm);
	return bad;
}

static int many_at_once(void)
{
	uint32_t node[64], size = all_nodes(node), i;
	struct torcoll_comm *dup[16];
	int bad = 0;

	for (i = 0; i < ARRAY_SIZE(dup); i++)
		if (!made(torcoll_comm_dup(world, soon(), &dup[i])))
			return 1;
	for (i = 0; i < ARRAY_SIZE(dup); i++)
		bad |= is_comm(dup[i], node, size);
	for (i = 0; i < ARRAY_SIZE(dup); i++)
		torcoll_comm_close(dup[i]);
	return bad;
}

/* Its ops fail; the parent's do not. */
static int abort_is_the_groups(void)
{
	uint32_t node[64], size = all_nodes(node);
	struct torcoll_comm *dup;
	int32_t x = 1;
	int err;

	if (!made(torcoll_comm_dup(world, soon(), &dup)))
		return 1;
	if (!rank)
		torcoll_abort(dup);
	err = torcoll_allreduce(dup, &x, &x, 1, TORCOLL_I32, TORCOLL_SUM);
	if (err != (rank ? -ECONNABORTED : -ECANCELED)) {
		say("an aborted comm says %d", err);
		return 1;
	}
	torcoll_comm_close(dup);
	return is_comm(world, node, size);
}

static const struct { const char *name; int (*run)(void); } cases[] = {
	{ "dup__overlaps_with_parent", dup_overlaps },
	{ "split__by_colour_and_key", split_by_key },
	{ "split__none_gets_none", split_none },
	{ "split__one_rank_each", split_alone },
	{ "slice__row", slice_row },
	{ "slice__column", slice_column },
	{ "slice__all_dimensions", slice_all },
	{ "slice__beyond_the_fabric", slice_beyond },
	{ "block__wraps", block_wraps },
	{ "block__too_large", block_too_large },
	{ "block__not_in_parent", block_not_in_parent },
	{ "nested__twenty_deep", nested },
	{ "many__at_once", many_at_once },
	{ "abort__does_not_spread", abort_is_the_groups },
};

int main(void)
{
	struct torcoll_comm_info info;
	int32_t bad;
	size_t i;

	if (!join_world() || !worked(torcoll_comm_info(world, &info)))
		return 1;
	if (info.ndim != DIMS || ranks > 64) {
		say("made for 2D tori of up to 64 nodes");
		return 1;
	}
	memcpy(side, info.side, sizeof(side));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bad = cases[i].run();
		if (bad)
			say("%s: wrong", cases[i].name);
		if (torcoll_allreduce(world, &bad, &bad, 1, TORCOLL_I32, TORCOLL_MAX)) {
			say("%s: %s", cases[i].name, torcoll_last_error());
			return 1;
		}
		if (!rank && !bad)
			printf("right %s\n", cases[i].name);
	}
	torcoll_close(t);
	return 0;
}
