/* SPDX-License-Identifier: MIT */
/* The comms of a process: making them, closing them, and whether it may have another. */
#ifndef TORCOLL_MPI_COMMS_H
#define TORCOLL_MPI_COMMS_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
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
	"gets no comm, and so it may be with others of as many ranks made later: at a rank the user's limit of comms, or of kernel memory, is reached (torcollctl limit)"

/**
 * struct tmpi_join - making a comm
 * @config: without name, secret and deadline: of the caller
 * @name: of the comm
 * @comm: out: the comm, or NULL
 * @err: out: as torcoll_comm_create(), also where it may not be called; @why: and its sentence
 */
struct tmpi_join {
	struct torcoll_comm_config config;
	char name[TORCOLL_NAME_MAX + 1];
	struct torcoll_comm *comm;
	int err;
	char why[TORCOLL__SENTENCE_MAX];
	/* of the thread that joins, if it is there */
	bool prepared;
	pthread_t thread;
	sem_t go;
	struct torcoll *t;	/* NULL: it is not to */
	int done;
};

/**
 * tmpi_join_prepare - get what a rank needs to join: before it tells the others that it can
 * @join: zero, but for its config
 *
 * Return: whether there is a thread, and what it is waited for by; tmpi_join() or
 * tmpi_join_drop() follows. Else @err and @why of the join say what is missing, and
 * the others, which would wait for this rank, are to be told.
 */
bool tmpi_join_prepare(struct tmpi_join *join);

/* The ranks do not join. Also of what is not prepared, or has been joined. */
void tmpi_join_drop(struct tmpi_join *join);

/**
 * tmpi_join - make a comm
 * @join: prepared, and its config is filled in
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
 * tmpi_may_ask - whether to ask for another comm
 * @ranks: its ranks
 * @join: its @err and @why are those of the refusal
 *
 * A user's comms are limited, as is the kernel memory that they take, which grows with
 * their ranks, and other things. A refusal costs the other ranks the time that they
 * wait for this one, of which they are told nothing: so a process that was refused one
 * for a limit or memory asks for one of fewer ranks, and when it has fewer comms than
 * it had then; one that was refused for what each needs asks for none, or, if that are
 * ports, for those of one node, as far as @join has the nodes of its ranks; and each 20
 * times the timeout later, 5 minutes at least.
 *
 * Return: TMPI_ABLE, or what the refusal was.
 */
enum tmpi_able tmpi_may_ask(uint32_t ranks, struct tmpi_join *join);

#endif
