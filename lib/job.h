/* SPDX-License-Identifier: MIT */
/*
 * Jobs: started ops that the module does not have yet, or of which it does only
 * a part: an op that waits for a slot, or one of several steps, each of which is
 * an op of the module.
 *
 *	from	to	by
 *	READY	LAST	the pusher starts the step in job->desc, and it is the last
 *	READY	BUSY	the same, and job->advance will describe the next step
 *	BUSY	ADVANCING	the pusher: that step is complete; it calls job->advance
 *	ADVANCING	READY	the same, which has described the next step
 *	any	FAILED	the pusher: a step was refused or failed, or is late
 *
 * Once a step was started, or the call that submits has returned, other ranks
 * count on the op: a job that fails then fails its comm. Before that the call
 * returns the refusal.
 *
 * The pusher is any thread that holds torcoll.queue, but for job->advance: that
 * calls the program's operator, which may take long and wait for what other
 * threads have, so the lock is released. While a job is ADVANCING it is the first
 * of its lane and belongs to that thread. The others read of it the state, and
 * what does not change: op's buffers and deadline.
 *
 *	who meanwhile			does
 *	another pusher			skips the lane, whose jobs are later ones, and
 *					comes back by the clock: a failure may be no event
 *	a late job is looked for	this one is not READY, so it stays
 *	torcoll_abort(), a failure	the next step is refused, which ends the job
 *	torcoll_comm_close()		waits until none of its comm advances: after that
 *					the thread has neither job nor lane
 *	a submission behind it		is appended to the lane
 *	fork()				the child has no such thread, and closes without
 *					waiting, nor are its locks taken
 *
 * A lane with jobs is only freed by who closes its comm. Thus a pusher finds its
 * lane again; all others, also the next one, may have changed. Once a job is LAST or
 * FAILED it is not in a lane, and belongs to the owner of its request, who ends
 * and frees it.
 */
#ifndef TORCOLL_JOB_H
#define TORCOLL_JOB_H

#include "internal.h"

enum torcoll__job_state {
	TORCOLL__JOB_READY,
	TORCOLL__JOB_BUSY,
	TORCOLL__JOB_ADVANCING,
	TORCOLL__JOB_LAST,
	TORCOLL__JOB_FAILED,
};

/*
 * Copies of four lists and of the scalar, whether the op has a use for them or
 * not; packed blocks, or counts from the root; and the result.
 */
#define TORCOLL__JOB_MEMORY	7

struct torcoll__job {
	struct torcoll__job *next;		/* in its lane */
	struct torcoll__job *older, *newer;	/* of all */
	struct torcoll_comm *comm;
	enum torcoll__job_state state;
	struct torcoll_op op;			/* as called; lists and scalar are copies */
	struct torcoll_displs displs;
	struct torcoll_function function;
	struct torcoll_submit desc;		/* of the step */
	struct torcoll_request running;		/* the step */
	uint32_t step;				/* number of steps described */
	/* Describe the next step: 1: others follow, 0: it is the last; a negative errno. */
	int (*advance)(struct torcoll__job *job);
	/* After the last step: bring the result to its place. Optional. */
	void (*finish)(struct torcoll__job *job);
	bool more;				/* steps follow the one in desc */
	bool bound;				/* other ranks may count on the op */
	bool awaited;				/* its call has not returned */
	int err;				/* FAILED */
	uint32_t error_rank;
	char *why;				/* sentence, without the error's name; may be NULL */
	char *result;				/* of the steps, for finish */
	uint64_t *counts;			/* of the steps */
	void *memory[TORCOLL__JOB_MEMORY];	/* goes with the job */
};

/* Return the job of a request in state JOB. */
static inline struct torcoll__job *torcoll__job_of(const struct torcoll_request *req)
{
	return (struct torcoll__job *)(uintptr_t)req->ring;
}

/* Return a job with a copy of the op; NULL, with a sentence: no memory. */
struct torcoll__job *torcoll__job_new(struct torcoll_comm *comm, const struct torcoll_op *op);

/* Return zeroed memory that goes with the job; NULL, with a sentence: there is none. */
void *torcoll__job_alloc(struct torcoll__job *job, uint64_t bytes);

/* Free a job that was not submitted. */
void torcoll__job_free(struct torcoll__job *job);

/*
 * Put a job, with its first step described, behind those of its series, and
 * start it if it is the first and can start. Takes over the job; @req is ready. Return 0, or the
 * refusal of the first step, with a sentence.
 */
int torcoll__job_submit(struct torcoll__job *job, struct torcoll_request *req);

/*
 * Queue a described op, whose lists stay with the caller; or an op, which is
 * copied. If the call that has the op waits for it (@awaited), a refusal is that
 * call's, as if there had been a slot at once: the comm does not fail.
 */
int torcoll__job_submit_desc(struct torcoll_comm *comm, const struct torcoll_submit *desc,
			     struct torcoll_request *req);
int torcoll__job_submit_op(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
			   struct torcoll_request *req);

/* The call that waited for a job returns before its end: others may count on the op. */
void torcoll__job_leave(struct torcoll__job *job);

/* Return whether ops of the same series as this one wait for a slot. */
bool torcoll__job_is_behind(const struct torcoll_comm *comm, const struct torcoll_submit *desc);

/*
 * Start what can start, but not more often than every some microseconds unless
 * @now. Cheap if nothing waits. Return whether to look again soon, as there may
 * be no event: another thread advances an op, which may fail; or results that are
 * in the way were not all asked for.
 */
bool torcoll__push(struct torcoll *t, bool now);

/* Return when a push is due as an op that waits is late; 0: never. */
uint64_t torcoll__queue_late(struct torcoll *t);

/* Return the state of a job. */
enum torcoll__job_state torcoll__job_look(struct torcoll__job *job);

/* Free the job of a complete op. */
void torcoll__job_end(struct torcoll__job *job);

/* Wait until no thread advances a job of the comm. Context: t->queue. */
void torcoll__jobs_settle(const struct torcoll_comm *comm);

/*
 * Take the jobs of a comm out of the queue; free them when the module has ended
 * their ops, which use their memory. Context: t->queue, or no other thread.
 */
struct torcoll__job *torcoll__jobs_take(struct torcoll *t, const struct torcoll_comm *comm);
void torcoll__jobs_free(struct torcoll__job *jobs);

/* ---- layout.c, function.c ---- */

/* Return whether the op takes steps of which some are the library's. */
static inline bool torcoll__op_has_steps(const struct torcoll_op *op)
{
	return op->displs || op->function ||
	       op->flags & (TORCOLL_OP_AT_START | TORCOLL_OP_COUNTS_AT_ROOT);
}

/* Check such an op, and describe its first step. Return 0 or a negative errno with a sentence. */
int torcoll__layout_begin(struct torcoll__job *job);
int torcoll__function_begin(struct torcoll__job *job);

/* Start such an op. @awaited: as in torcoll__job_submit_op(). */
int torcoll__steps_submit(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
			  struct torcoll_request *req);

#endif
