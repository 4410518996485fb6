// SPDX-License-Identifier: MIT
/*
 * Making a module's comm. All ranks agree that all are here and able to; the first
 * draws its name, so that it is no other's; all join it, and agree whether all have
 * succeeded. Names and results go by the lower components.
 */
#include "coll_torcoll.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../common/comms.h"

/* A name that nothing else has, and a secret that the ranks alone know: @bytes of them. */
static bool join_draw(const struct coll_torcoll_module *m, uint64_t *drawn, size_t bytes)
{
	return ompi_comm_rank(m->comm) || getrandom(drawn, bytes, 0) == (ssize_t)bytes;
}

/* Once in a process: later it is the same. */
static void join_tell_no_room(const struct coll_torcoll_module *m)
{
	static bool told;

	if (told || ompi_comm_rank(m->comm))
		return;
	told = true;
	opal_output(0, "coll:torcoll: %s " TMPI_NO_ROOM, m->comm->c_name);
}

/*
 * Wait for all ranks, however late they come, and return what is said of the worst
 * of them.
 */
static enum tmpi_able join_agree(struct coll_torcoll_module *m, enum tmpi_able here)
{
	int own = here, all = TMPI_UNABLE;

	if (m->lower.coll_allreduce(&own, &all, 1, MPI_INT, MPI_MAX, m->comm,
				    m->lower.coll_allreduce_module) != OMPI_SUCCESS)
		return TMPI_UNABLE;
	if (all == TMPI_HAS_NO_ROOM)
		join_tell_no_room(m);
	return all;
}

/*
 * Return NULL, or why not all ranks can join. All that this rank needs for it is here
 * before the others count on it.
 */
static const char *join_prepare(struct coll_torcoll_module *m, struct tmpi_join *join,
				bool has_memory, uint64_t *drawn, size_t bytes)
{
	bool prepared = tmpi_join_prepare(join), has_drawn = join_draw(m, drawn, bytes);
	enum tmpi_able asks, all;

	asks = prepared ? tmpi_may_ask(join->config.size, join) : TMPI_UNABLE;
	all = join_agree(m, has_memory && has_drawn ? asks : TMPI_UNABLE);
	m->short_of_comms |= all == TMPI_HAS_NO_ROOM;
	if (all != TMPI_ABLE)
		return !has_memory ? "out of memory" :
		       join->err ? join->why :
		       !has_drawn ? "no name can be drawn for its comm" :
				    "not all ranks can join its comm";
	if (m->lower.coll_bcast(drawn, bytes, MPI_BYTE, 0, m->comm, m->lower.coll_bcast_module) !=
	    OMPI_SUCCESS)
		return "the name of its comm cannot be told";
	return NULL;
}

/*
 * The same of the join. One that fails costs time, at some ranks the whole timeout:
 * it is not tried for each persistent call.
 */
static const char *join_join(struct coll_torcoll_module *m, struct tmpi_join *join,
			     const uint64_t *drawn)
{
	tmpi_join(join, coll_torcoll.t, "openmpi", drawn, coll_torcoll.timeout);
	if (join_agree(m, tmpi_able(join->err)) == TMPI_ABLE)
		return NULL;
	m->short_of_comms = true;
	return join->err ? join->why : "not all ranks could join its comm";
}

struct torcoll_comm *coll_torcoll_join(struct coll_torcoll_module *m, bool has_memory)
{
	struct tmpi_join join = { .config = {
		.fabric = m->fabric,
		.members = m->nodes,
		.size = ompi_comm_size(m->comm),
		.rank = ompi_comm_rank(m->comm),
		.flags = TORCOLL_COMM_TELL,
	} };
	uint64_t drawn[2] = { 0 };
	const char *why;

	why = join_prepare(m, &join, has_memory && m->nodes, drawn, sizeof(drawn));
	if (!why)
		why = join_join(m, &join, drawn);
	if (!why) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s: %d ranks on fabric %" PRIu64 ", as comm %s",
				    m->comm->c_name, ompi_comm_size(m->comm), m->fabric, join.name);
		return join.comm;
	}
	opal_output_verbose(1, coll_torcoll.output, "coll:torcoll: %s is not taken: %s",
			    m->comm->c_name, why);
	tmpi_join_drop(&join);
	tmpi_close(join.comm);
	return NULL;
}

/*
 * A lower component may begin its first call, by which we join, with collectives
 * of its own on this same communicator (han, to divide it): these must not join
 * again.
 */
bool coll_torcoll_attach(struct coll_torcoll_module *m)
{
	if (m->tried)
		return false;
	m->tried = true;
	if (m->part) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s is not taken: it is a part of an intercommunicator",
				    m->comm->c_name);
		return false;
	}
	m->tc = coll_torcoll_join(m, true);
	if (m->tc)
		coll_torcoll.comms++;
	return m->tc;
}
