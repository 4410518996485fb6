// SPDX-License-Identifier: MIT
/*
 * Giving a communicator a comm of torcoll, in its first blocking call. Its ranks
 * tell each other on which nodes they are, join under a name that the first of
 * them has drawn, and agree whether all have succeeded.
 */
#include "preload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../common/comms.h"

#define FABRICS_MAX	64

/* What a rank tells the others. Hosts of one job have one byte order. */
struct place {
	uint64_t fabric;
	uint32_t node;
	uint32_t nodes;		/* 0: it is not on a fabric */
	uint64_t drawn[2];	/* of rank 0: name and secret */
	uint64_t able;		/* enum tmpi_able: to join a comm */
};

static void place_find(struct place *place)
{
	struct torcoll_fabric list[FABRICS_MAX];
	int n = preload.t ? torcoll_fabrics(list, FABRICS_MAX) : 0;
	const struct torcoll_fabric *f = tmpi_fabric_pick(&preload.fabric, list, FABRICS_MAX, n);

	if (f) {
		place->fabric = f->key;
		place->node = f->node;
		place->nodes = f->nodes;
	} else if (preload.verbose) {
		preload_say("this host is in %d fabrics%s", n < 0 ? 0 : n,
			    n > 1 ? ": TORCOLL_FABRIC names the key of one" :
				    ", or not in that of TORCOLL_FABRIC");
	}
}

/* Where there is a fabric, all that this rank needs to join is here before the others count on it. */
static enum tmpi_able place_prepare(const struct place *own, uint32_t ranks, struct tmpi_join *join)
{
	return !own->nodes || tmpi_join_prepare(join) ? tmpi_may_ask(ranks, join) : TMPI_UNABLE;
}

/* Tell all ranks. */
static bool place_all(const struct preload_comm *c, struct place *all, struct tmpi_join *join)
{
	struct place own = { 0 };

	place_find(&own);
	own.able = place_prepare(&own, c->size, join);
	if (!c->rank && getrandom(own.drawn, sizeof(own.drawn), 0) != sizeof(own.drawn))
		own.nodes = 0;
	return PMPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, c->comm) ==
	       MPI_SUCCESS;
}

static int compare_nodes(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Return the number of nodes, if all ranks are on nodes of one fabric; else 0.
 * @nodes: room for those of the ranks. Nothing is allocated, which could fail at
 * one rank alone.
 */
static uint32_t count_nodes(const struct place *all, uint32_t *nodes, uint32_t size)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < size; i++) {
		if (all[i].fabric != all[0].fabric || all[i].nodes != all[0].nodes ||
		    all[i].node >= all[0].nodes)
			return 0;
		nodes[i] = all[i].node;
	}
	qsort(nodes, size, sizeof(*nodes), compare_nodes);
	for (uint32_t i = 1; i < size; i++)
		n += nodes[i] != nodes[i - 1];
	return n;
}

/* Once in a process: later it is the same. */
static void tell_no_room(const struct preload_comm *c)
{
	static bool told;

	if (!c->rank && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		preload_say("%s " TMPI_NO_ROOM, c->name);
}

/* What is said of the worst rank. */
static enum tmpi_able are_able(const struct place *all, uint32_t size)
{
	enum tmpi_able able = TMPI_ABLE;

	for (uint32_t i = 0; i < size; i++)
		if (all[i].able > able)
			able = all[i].able;
	return able;
}

static void tell_not_taken(const struct preload_comm *c, enum tmpi_able able, const char *why)
{
	if (able == TMPI_HAS_NO_ROOM)
		tell_no_room(c);
	if (preload.verbose)
		preload_say("%s is not taken: %s", c->name, why);
}

/* Collective: all ranks have the same result. */
static void attach_join(struct preload_comm *c, const struct place *all, uint32_t *nodes,
			struct tmpi_join *join)
{
	int own, able = TMPI_UNABLE;

	for (uint32_t i = 0; i < c->size; i++)
		nodes[i] = all[i].node;
	join->config = (struct torcoll_comm_config){
		.fabric = all[0].fabric,
		.members = nodes,
		.size = c->size,
		.rank = c->rank,
		.flags = TORCOLL_COMM_TELL,
	};
	tmpi_join(join, preload.t, "mpich", all[0].drawn, preload.timeout);
	own = tmpi_able(join->err);
	if (PMPI_Allreduce(&own, &able, 1, MPI_INT, MPI_MAX, c->comm) == MPI_SUCCESS &&
	    able == TMPI_ABLE) {
		c->tc = join->comm;
		__atomic_add_fetch(&preload.ncomms, 1, __ATOMIC_RELAXED);
		if (preload.verbose && !c->rank)
			preload_say("%s: %" PRIu32 " ranks on fabric %" PRIu64 ", as comm %s",
				    c->name, c->size, all[0].fabric, join->name);
		return;
	}
	tell_not_taken(c, able, join->err ? join->why : "not all ranks could join its comm");
	tmpi_close(join->comm);
}

/* A rank of it lacks what it needs to join, or was refused a comm, and would be again. */
static void attach_without(const struct preload_comm *c, enum tmpi_able able,
			   const struct tmpi_join *join)
{
	tell_not_taken(c, able, join->err ? join->why : "not all ranks can join its comm");
}

static void attach_all(struct preload_comm *c, struct place *all, uint32_t *nodes)
{
	struct tmpi_join join = { 0 };
	uint32_t n = place_all(c, all, &join) ? count_nodes(all, nodes, c->size) : 0;
	enum tmpi_able able = are_able(all, c->size);

	if (n && n >= preload.min_nodes && able == TMPI_ABLE)
		attach_join(c, all, nodes, &join);
	else if (n && n >= preload.min_nodes)
		attach_without(c, able, &join);
	else if (preload.verbose && !c->rank && n)
		preload_say("%s is not taken: its ranks are on %" PRIu32 " nodes", c->name, n);
	else if (preload.verbose && !c->rank)
		preload_say("%s is not taken: its ranks are not all on nodes of one fabric",
			    c->name);
	tmpi_join_drop(&join);
}

static struct preload_comm *comm_new(MPI_Comm comm)
{
	struct preload_comm *c = calloc(1, sizeof(*c));
	int rank, size, length;

	if (!c)
		return NULL;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	c->rank = rank;
	c->size = size;
	c->comm = comm;
	c->users = 1;
	PMPI_Comm_get_name(comm, c->name, &length);
	if (!length)
		strcpy(c->name, "a communicator");
	pthread_mutex_lock(&preload.lock);
	c->next = preload.comms;
	preload.comms = c;
	pthread_mutex_unlock(&preload.lock);
	return c;
}

void preload_comm_put(struct preload_comm *c)
{
	if (__atomic_sub_fetch(&c->users, 1, __ATOMIC_ACQ_REL))
		return;
	tmpi_close(c->tc);
	free(c);
}

int preload_comm_gone(MPI_Comm comm, int key, void *value, void *extra)
{
	struct preload_comm *c = value, **p = &preload.comms;

	pthread_mutex_lock(&preload.lock);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	pthread_mutex_unlock(&preload.lock);
	c->comm = MPI_COMM_NULL;
	preload_comm_put(c);
	return MPI_SUCCESS;
}

/* False: no rank of it is to attach. */
static bool comm_is_eligible(MPI_Comm comm)
{
	int inter, size;

	if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
		return false;
	PMPI_Comm_size(comm, &size);
	return size > 1;
}

static struct preload_comm *comm_find(MPI_Comm comm)
{
	void *value;
	int found;

	if (comm == MPI_COMM_NULL || preload.key == MPI_KEYVAL_INVALID ||
	    PMPI_Comm_get_attr(comm, preload.key, &value, &found) != MPI_SUCCESS || !found)
		return NULL;
	return value;
}

/*
 * Collective: all ranks try the same. What a rank needs it has before they do: if
 * one has not, all forget the communicator, and try again in its next call.
 */
static struct preload_comm *comm_attach(MPI_Comm comm)
{
	struct preload_comm *c = comm_new(comm);
	int size, failed, any = 1;
	struct place *all;
	uint32_t *nodes;
	bool kept;

	PMPI_Comm_size(comm, &size);
	all = calloc(size, sizeof(*all));
	nodes = calloc(size, sizeof(*nodes));
	kept = c && PMPI_Comm_set_attr(comm, preload.key, c) == MPI_SUCCESS;
	failed = !kept || !all || !nodes;
	if (PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS && !any) {
		attach_all(c, all, nodes);
	} else {
		if (failed && preload.verbose)
			preload_say("a communicator is not taken yet: %s",
				    c && !kept ? "MPICH cannot note it" : "out of memory");
		if (kept)
			PMPI_Comm_delete_attr(comm, preload.key);
		else if (c)
			preload_comm_gone(comm, preload.key, c, NULL);
		c = NULL;
	}
	free(all);
	free(nodes);
	return c;
}

struct preload_comm *preload_attached(MPI_Comm comm)
{
	struct preload_comm *c = comm_find(comm);

	if (!c && comm != MPI_COMM_NULL && preload.key != MPI_KEYVAL_INVALID &&
	    comm_is_eligible(comm))
		c = comm_attach(comm);
	return c && c->tc ? c : NULL;
}

struct preload_comm *preload_may_start(MPI_Comm comm)
{
	struct preload_comm *c = comm_find(comm);

	if (!c && comm != MPI_COMM_NULL && preload.key != MPI_KEYVAL_INVALID &&
	    comm_is_eligible(comm))
		tmpi_leave(TMPI_EARLY);
	return c && c->tc ? c : NULL;
}
