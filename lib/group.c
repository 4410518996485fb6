// SPDX-License-Identifier: MIT
/*
 * Groups: comms made from comms. Each is a comm of its own. Its members join it
 * under a name that all derive from the parent's: the number of this call on
 * the parent, and the group among those of the call.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Room for "/SERIAL:GROUP" behind the parent's name. */
#define SUFFIX_MAX	22

/* A group under construction: the parent's ranks in it, in their new order. */
struct group {
	uint32_t *rank;
	uint32_t size;
	uint32_t self;		/* the caller's new rank */
	uint32_t id;		/* distinguishes the groups of one call */
};

static int out_of_memory(const char *what)
{
	return torcoll__fail(-ENOMEM, "%s: out of memory", what);
}

/*
 * FNV-1a, for names that are too long: it only has to be the same on every
 * rank.
 */
static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

static void derive_name(const struct torcoll_comm *comm, uint32_t serial, uint32_t id, char *name)
{
	char parent[TORCOLL_NAME_MAX - SUFFIX_MAX + 1];

	if (strlen(comm->name) < sizeof(parent))
		strcpy(parent, comm->name);
	else
		snprintf(parent, sizeof(parent), "%016" PRIx64, hash(comm->name));
	snprintf(name, TORCOLL_NAME_MAX + 1, "%s/%" PRIu32 ":%" PRIu32, parent, serial, id);
}

/* Join the comm of a group. */
static int group_join(struct torcoll_comm *comm, const struct group *g, uint32_t serial,
		      uint64_t deadline_ns, struct torcoll_comm **sub)
{
	char name[TORCOLL_NAME_MAX + 1];
	uint32_t *members = calloc(g->size, sizeof(*members));
	struct torcoll_comm_config config = {
		.fabric = comm->fabric,
		.name = name,
		.secret = comm->secret,
		.members = members,
		.size = g->size,
		.rank = g->self,
		.depth = comm->depth,
		.bits = comm->bits,
		.flags = comm->flags,
		.deadline_ns = deadline_ns,
	};
	int err;

	if (!members)
		return out_of_memory("group of a comm");
	for (uint32_t i = 0; i < g->size; i++)
		members[i] = comm->members[g->rank[i]];
	derive_name(comm, serial, g->id, name);
	err = torcoll_comm_create(comm->t, &config, sub);
	free(members);
	return err;
}

/*
 * Return the number of this call. Every rank of the parent counts its calls, so
 * that all use the same number.
 */
static uint32_t next_serial(struct torcoll_comm *comm)
{
	return __atomic_add_fetch(&comm->groups, 1, __ATOMIC_RELAXED);
}

int torcoll_comm_dup(struct torcoll_comm *comm, uint64_t deadline_ns, struct torcoll_comm **dup)
{
	uint32_t serial = next_serial(comm);
	struct group g = { .size = comm->size, .self = comm->rank };
	int err;

	g.rank = calloc(g.size, sizeof(*g.rank));
	if (!g.rank)
		return out_of_memory("dup of a comm");
	for (uint32_t i = 0; i < g.size; i++)
		g.rank[i] = i;
	err = group_join(comm, &g, serial, deadline_ns, dup);
	free(g.rank);
	return err;
}

/* ---- by colour ---- */

/* A rank's entry in the allgather: two words; the place gives the rank. */
struct vote {
	uint32_t colour;
	int32_t key;
};

struct candidate {
	int32_t key;
	uint32_t rank;
};

static int by_key(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : 1;
}

/* Find the ranks of a colour in the order of their keys. */
static int group_by_colour(const struct torcoll_comm *comm, const struct vote *votes,
			   uint32_t colour, struct group *g)
{
	struct candidate *found = calloc(comm->size, sizeof(*found));

	g->rank = calloc(comm->size, sizeof(*g->rank));
	if (!found || !g->rank) {
		free(found);
		return out_of_memory("split of a comm");
	}
	g->id = colour;
	for (uint32_t i = 0; i < comm->size; i++)
		if (votes[i].colour == colour)
			found[g->size++] = (struct candidate){ votes[i].key, i };
	qsort(found, g->size, sizeof(*found), by_key);
	for (uint32_t i = 0; i < g->size; i++) {
		g->rank[i] = found[i].rank;
		if (found[i].rank == comm->rank)
			g->self = i;
	}
	free(found);
	return 0;
}

static int votes_exchange(struct torcoll_comm *comm, const struct vote *own, uint64_t deadline_ns,
			  struct vote *votes)
{
	struct torcoll_op op = {
		.collective = TORCOLL_ALLGATHER,
		.type = TORCOLL_U64,
		.count = comm->size,
		.send = own,
		.recv = votes,
		.deadline_ns = deadline_ns,
	};

	_Static_assert(sizeof(*own) == sizeof(uint64_t), "a vote is one element");
	return torcoll_run(comm, &op);
}

int torcoll_comm_split(struct torcoll_comm *comm, uint32_t colour, int32_t key,
		       uint64_t deadline_ns, struct torcoll_comm **sub)
{
	_Alignas(uint64_t) struct vote own = { colour, key };
	uint32_t serial = next_serial(comm);
	struct vote *votes = calloc(comm->size, sizeof(*votes));
	struct group g = { 0 };
	int err;

	if (!votes)
		return out_of_memory("split of a comm");
	*sub = NULL;
	err = votes_exchange(comm, &own, deadline_ns, votes);
	if (!err && colour != TORCOLL_COLOUR_NONE) {
		err = group_by_colour(comm, votes, colour, &g);
		if (!err)
			err = group_join(comm, &g, serial, deadline_ns, sub);
	}
	free(g.rank);
	free(votes);
	return err;
}

/* ---- by position ---- */

/*
 * Add all of the parent's ranks on a node to the group. Return whether there
 * are any.
 */
static bool take_node(const struct torcoll_comm *comm, uint32_t node, struct group *g)
{
	uint32_t before = g->size;

	for (uint32_t r = 0; r < comm->size; r++) {
		if (comm->members[r] != node)
			continue;
		if (r == comm->rank)
			g->self = g->size;
		g->rank[g->size++] = r;
	}
	return g->size > before;
}

static void coordinates(const struct torcoll_comm_info *info, uint32_t node, uint32_t *c)
{
	for (uint32_t d = 0; d < info->ndim; d++) {
		c[d] = node % info->side[d];
		node /= info->side[d];
	}
}

/* Return the node at @at of a block from @from on, which wraps around. */
static uint32_t node_in_block(const struct torcoll_comm_info *info, const uint32_t *from,
			      const uint32_t *at)
{
	uint32_t node = 0;

	for (uint32_t d = info->ndim; d-- > 0; )
		node = node * info->side[d] + (from[d] + at[d]) % info->side[d];
	return node;
}

/*
 * Add all ranks on the nodes of a block, dimension 0 first; g->self is ~0 if
 * the caller is not among them.
 */
static int group_by_block(struct torcoll_comm *comm, const struct torcoll_comm_info *info,
			  const uint32_t *from, const uint32_t *extent, struct group *g)
{
	uint32_t at[TORCOLL_MAX_DIMS] = { 0 }, nodes = 1, d, i;

	for (d = 0; d < info->ndim; d++)
		nodes *= extent[d];
	g->rank = calloc(comm->size, sizeof(*g->rank));
	if (!g->rank)
		return out_of_memory("block of a comm");
	g->self = UINT32_MAX;
	g->id = node_in_block(info, from, at);
	for (i = 0; i < nodes; i++) {
		uint32_t node = node_in_block(info, from, at);

		if (!take_node(comm, node, g))
			return torcoll__fail(-EINVAL, "block of a comm: node %u is in the block, and not in the comm",
					     node);
		for (d = 0; d < info->ndim && ++at[d] == extent[d]; d++)
			at[d] = 0;
	}
	return 0;
}

static int block_join(struct torcoll_comm *comm, const struct torcoll_comm_info *info,
		      const uint32_t *from, const uint32_t *extent, uint32_t serial,
		      uint64_t deadline_ns, struct torcoll_comm **sub)
{
	struct group g = { 0 };
	int err;

	*sub = NULL;
	err = group_by_block(comm, info, from, extent, &g);
	if (!err && g.self < g.size)
		err = group_join(comm, &g, serial, deadline_ns, sub);
	free(g.rank);
	return err;
}

int torcoll_comm_block(struct torcoll_comm *comm, const uint32_t *from, const uint32_t *extent,
		       uint64_t deadline_ns, struct torcoll_comm **sub)
{
	uint32_t serial = next_serial(comm);
	struct torcoll_comm_info info;
	int err;

	err = torcoll_comm_info(comm, &info);
	if (err)
		return err;
	for (uint32_t d = 0; d < info.ndim; d++)
		if (from[d] >= info.side[d] || !extent[d] || extent[d] > info.side[d])
			return torcoll__fail(-EINVAL, "block of a comm: %u from %u on in dimension %u, whose side is %u",
					     extent[d], from[d], d, info.side[d]);
	return block_join(comm, &info, from, extent, serial, deadline_ns, sub);
}

int torcoll_comm_slice(struct torcoll_comm *comm, uint32_t dims, uint64_t deadline_ns,
		       struct torcoll_comm **sub)
{
	uint32_t from[TORCOLL_MAX_DIMS], extent[TORCOLL_MAX_DIMS], d;
	uint32_t serial = next_serial(comm);
	struct torcoll_comm_info info;
	int err;

	err = torcoll_comm_info(comm, &info);
	if (err)
		return err;
	if (dims >> info.ndim)
		return torcoll__fail(-EINVAL, "slice of a comm: dimensions 0x%x of a fabric that has %u",
				     dims, info.ndim);
	coordinates(&info, comm->members[comm->rank], from);
	for (d = 0; d < info.ndim; d++) {
		bool along = dims & 1U << d;

		extent[d] = along ? info.side[d] : 1;
		if (along)
			from[d] = 0;
	}
	return block_join(comm, &info, from, extent, serial, deadline_ns, sub);
}
