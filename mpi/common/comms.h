/* SPDX-License-Identifier: MIT */
/* The comms of a process: making them, closing them, and whether it may have another. */
#ifndef TORCOLL_MPI_COMMS_H
#define TORCOLL_MPI_COMMS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <torcoll.h>

#include "internal.h"

/* What a rank says before and after it joins: the largest of all ranks is why none of them has a comm. */
enum tmpi_able {
	TMPI_ABLE,
	TMPI_UNABLE,		/* as who has waited for a rank that could not join */
	TMPI_HAS_NO_ROOM,	/* for another comm */
};

/* Of the result of a join. */
static inline enum tmpi_able tmpi_able(int err)
{
	return err == -EDQUOT ? TMPI_HAS_NO_ROOM : err ? TMPI_UNABLE : TMPI_ABLE;
}

/* What the user is told of a communicator for whose comm a rank has no room. */
#define TMPI_NO_ROOM \
	"gets no comm, and so it may be with others made later: at a rank a limit of the user is reached (torcollctl limit)"

/**
 * struct tmpi_join - making a comm
 * @config: without name, secret and deadline: of the caller
 * @name: of the comm
 * @comm: out: the comm, or NULL
 * @err: out: as torcoll_comm_create(); @why: and its sentence
 */
struct tmpi_join {
	struct torcoll_comm_config config;
	char name[TORCOLL_NAME_MAX + 1];
	struct torcoll_comm *comm;
	int err;
	char why[TORCOLL__SENTENCE_MAX];
	/* of the thread that joins */
	struct torcoll *t;
	int done;
};

/**
 * tmpi_join - make a comm
 * @join: its config is filled in, the rest is zero
 * @t: context
 * @mpi: how names begin
 * @drawn: what the name and the secret are made of, the same on all ranks
 * @timeout: s; 0: no limit
 *
 * Joining blocks until all ranks have called. A thread does it, since a rank
 * may need this one's progress to come that far. What this rank is refused the
 * others do not hear of: they wait as long as @timeout. tmpi_close() closes it.
 */
void tmpi_join(struct tmpi_join *join, struct torcoll *t, const char *mpi, const uint64_t drawn[2],
	       uint64_t timeout);

/* Close a comm, or NULL. */
void tmpi_close(struct torcoll_comm *comm);

/**
 * tmpi_has_room - whether to ask for another comm
 *
 * A user's comms are limited, and a refusal costs the other ranks the time that they
 * wait for this one: so a process that was refused one asks when it has fewer comms
 * than it had then, or 20 times the timeout later, 5 minutes at least.
 */
bool tmpi_has_room(void);

#endif
