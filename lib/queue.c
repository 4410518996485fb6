// SPDX-License-Identifier: MIT
/*
 * The queue: jobs in lanes, one for each series of ops that the module numbers
 * (the collectives of a comm; its messages to or from a rank). A lane exists
 * while it has jobs. The first of them is started when the module has a slot for
 * it, by any thread that waits for or tests any op of the context.
 */
#include <string.h>

#include "job.h"

/*
 * Tests and submissions push after a completion, and else at most that often: a
 * push costs a system call for each lane. So that it is no more than half of the
 * time where these are many, the next is as long after it as it took, or this.
 */
#define PUSH_NS		10000
#define PUSH_MAX_NS	1000000

/*
 * How long after its deadline a job fails that was given no slot. What the module
 * has fails before, mostly with the rank that is missing, and with it what waits
 * behind it: this is for what the module never learns of.
 */
#define LATE_NS		1000000000

struct torcoll__lane {
	struct torcoll__lane *next, **link;
	struct torcoll_comm *comm;
	uint32_t role;			/* TORCOLL_SEND, TORCOLL_RECV; 0: collectives */
	uint32_t peer;
	struct torcoll__job *first;
	struct torcoll__job **last;
	uint64_t late_ns;		/* no job is late before; 0: none ever is */
};

/* ---- jobs ---- */

void *torcoll__job_alloc(struct torcoll__job *job, uint64_t bytes)
{
	void *p = bytes > SIZE_MAX ? NULL : calloc(1, bytes ? bytes : 1);

	if (!p) {
		torcoll__fail(-ENOMEM, "%s: no memory for %llu bytes of temporaries",
			      torcoll__op_name(job->op.collective), (unsigned long long)bytes);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(job->memory); i++) {
		if (job->memory[i])
			continue;
		job->memory[i] = p;
		return p;
	}
	abort();
}

void torcoll__job_free(struct torcoll__job *job)
{
	for (size_t i = 0; i < ARRAY_SIZE(job->memory); i++)
		free(job->memory[i]);
	free(job->why);
	free(job);
}

static bool copy_list(struct torcoll__job *job, const uint64_t **list)
{
	size_t bytes = job->comm->size * sizeof(**list);
	uint64_t *copy;

	if (!*list)
		return true;
	copy = torcoll__job_alloc(job, bytes);
	if (!copy)
		return false;
	memcpy(copy, *list, bytes);
	*list = copy;
	return true;
}

static bool copy_scalar(struct torcoll__job *job)
{
	size_t size = torcoll_type_size(job->op.type);
	void *copy;

	if (!job->op.scalar || !size)
		return true;
	copy = torcoll__job_alloc(job, size);
	if (!copy)
		return false;
	memcpy(copy, job->op.scalar, size);
	job->op.scalar = copy;
	return true;
}

struct torcoll__job *torcoll__job_new(struct torcoll_comm *comm, const struct torcoll_op *op)
{
	struct torcoll__job *job = calloc(1, sizeof(*job));
	bool copied;

	if (!job) {
		torcoll__fail(-ENOMEM, "%s: out of memory", torcoll__op_name(op->collective));
		return NULL;
	}
	job->comm = comm;
	job->op = *op;
	job->error_rank = ~0U;
	if (op->displs)
		job->displs = *op->displs;
	if (op->function)
		job->function = *op->function;
	copied = copy_list(job, &job->op.counts) && copy_list(job, &job->op.recv_counts) &&
		 copy_list(job, &job->displs.send) && copy_list(job, &job->displs.recv) &&
		 copy_scalar(job);
	if (copied)
		return job;
	torcoll__job_free(job);
	return NULL;
}

static void jobs_link(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;

	job->older = t->jobs;
	if (job->older)
		job->older->newer = job;
	t->jobs = job;
}

static void jobs_unlink(struct torcoll__job *job)
{
	if (job->newer)
		job->newer->older = job->older;
	else
		job->comm->t->jobs = job->older;
	if (job->older)
		job->older->newer = job->newer;
}

void torcoll__job_end(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;

	pthread_mutex_lock(&t->queue);
	jobs_unlink(job);
	pthread_mutex_unlock(&t->queue);
	torcoll__job_free(job);
}

enum torcoll__job_state torcoll__job_look(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;
	enum torcoll__job_state state;

	pthread_mutex_lock(&t->queue);
	state = job->state;
	pthread_mutex_unlock(&t->queue);
	return state;
}

/* ---- lanes ---- */

static struct torcoll__lane *lane_find(const struct torcoll_comm *comm,
				       const struct torcoll_submit *desc)
{
	uint32_t role = torcoll__role(desc), peer = role ? desc->peer : 0;
	struct torcoll__lane *lane;

	for (lane = comm->t->lanes; lane; lane = lane->next)
		if (lane->comm == comm && lane->role == role && lane->peer == peer)
			return lane;
	return NULL;
}

static struct torcoll__lane *lane_get(struct torcoll_comm *comm,
				      const struct torcoll_submit *desc)
{
	struct torcoll__lane *lane = lane_find(comm, desc);

	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->comm = comm;
	lane->role = torcoll__role(desc);
	lane->peer = lane->role ? desc->peer : 0;
	lane->last = &lane->first;
	lane->link = &comm->t->lanes;
	lane->next = comm->t->lanes;
	if (lane->next)
		lane->next->link = &lane->next;
	comm->t->lanes = lane;
	comm->lanes++;
	return lane;
}

/* Free a lane without jobs. */
static void lane_free(struct torcoll__lane *lane)
{
	*lane->link = lane->next;
	if (lane->next)
		lane->next->link = lane->link;
	lane->comm->lanes--;
	free(lane);
}

/* Of two times, of which each may be 0: never. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Return when a job is late that was given no slot; 0: never. */
static uint64_t job_late_ns(const struct torcoll__job *job)
{
	/* prepared ops have none; desc may be about to change */
	uint64_t deadline_ns = job->op.deadline_ns;

	return deadline_ns && deadline_ns < UINT64_MAX - LATE_NS ? deadline_ns + LATE_NS : 0;
}

static void count_queued(struct torcoll *t, int change)
{
	__atomic_add_fetch(&t->queued, change, __ATOMIC_RELAXED);
}

static void lane_pop(struct torcoll__lane *lane)
{
	struct torcoll__job *job = lane->first;

	lane->first = job->next;
	if (!lane->first)
		lane->last = &lane->first;
	count_queued(job->comm->t, -1);
}

static void lane_append(struct torcoll__lane *lane, struct torcoll__job *job)
{
	*lane->last = job;
	lane->last = &job->next;
	lane->late_ns = earlier(lane->late_ns, job_late_ns(job));
	count_queued(job->comm->t, 1);
}

bool torcoll__job_is_behind(const struct torcoll_comm *comm, const struct torcoll_submit *desc)
{
	bool behind;

	pthread_mutex_lock(&comm->t->queue);
	behind = lane_find(comm, desc);
	pthread_mutex_unlock(&comm->t->queue);
	return behind;
}

/* ---- pushing ---- */

/*
 * Whatever a job fails of, its comm fails too once others may count on the op:
 * they have one of that number, which would be the next op's here. Once for all
 * jobs, since an abort waits for what runs; the first cause is the comm's.
 */
static void comm_fail(const struct torcoll__job *job)
{
	if (!job->bound || job->comm->failed)
		return;
	job->comm->failed = true;
	torcoll__refusal_fail(job->comm, &job->op, job->err);
}

/* @kept: the sentence of this thread before the failure. */
static void job_fail(struct torcoll__job *job, int err, uint32_t rank, const char *kept)
{
	job->state = TORCOLL__JOB_FAILED;
	job->err = err;
	job->error_rank = rank;
	job->why = torcoll__sentence_swap(kept);
	comm_fail(job);
}

static void job_refused(struct torcoll__job *job, int err, uint32_t rank)
{
	char kept[TORCOLL__SENTENCE_MAX];

	torcoll__sentence_keep(kept);
	torcoll__refused(job->comm->t, err, torcoll__op_name(job->op.collective));
	job_fail(job, err, rank, kept);
}

/*
 * Describe the step after one that is complete. That may call the program's
 * operator, and copy much: see job.h. Context: t->queue, which is released
 * meanwhile.
 */
static void job_describe(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;
	char kept[TORCOLL__SENTENCE_MAX];
	int ret;

	job->state = TORCOLL__JOB_ADVANCING;
	pthread_mutex_unlock(&t->queue);
	torcoll__sentence_keep(kept);
	ret = job->advance(job);
	pthread_mutex_lock(&t->queue);
	pthread_cond_broadcast(&t->advanced);
	if (ret < 0) {
		job_fail(job, ret, ~0U, kept);
		return;
	}
	job->more = ret;
	job->state = TORCOLL__JOB_READY;
}

/* Look whether the step is complete. False: it is not. */
static bool job_advance(struct torcoll__job *job)
{
	int ret = torcoll__request_look(&job->running);

	if (ret == -EAGAIN)
		return false;
	if (!ret)
		ret = job->running.status;
	if (ret)
		job_refused(job, ret, job->running.error_rank);
	else
		job_describe(job);
	return true;
}

/*
 * Start the step that is described. False: there is no slot for it. The slot of a
 * complete op can wait for other ranks to call, so this must not block.
 */
static bool job_start(struct torcoll__job *job)
{
	int err;

	do
		err = torcoll__op_start(job->comm, &job->desc, &job->running);
	while (err && job->bound && torcoll__refusal_told(job->comm, err, &job->desc));
	if (err == -EBUSY && job->desc.flags & TORCOLL_OP_TRY) {
		job->desc.flags &= ~TORCOLL_OP_TELL;
		return false;
	}
	if (err) {
		job_refused(job, err, ~0U);
		return true;
	}
	job->bound = true;
	job->state = job->more ? TORCOLL__JOB_BUSY : TORCOLL__JOB_LAST;
	return true;
}

/* Return whether the job has left its lane. */
static bool job_push(struct torcoll__job *job)
{
	bool moved;

	if (job->state == TORCOLL__JOB_ADVANCING)
		return false;
	do {
		if (job->state == TORCOLL__JOB_BUSY)
			moved = job_advance(job);
		else
			moved = job_start(job);
	} while (moved && job->state != TORCOLL__JOB_LAST && job->state != TORCOLL__JOB_FAILED);
	return moved;
}

static void job_expire(struct torcoll__job *job)
{
	char kept[TORCOLL__SENTENCE_MAX];

	torcoll__sentence_keep(kept);
	torcoll__fail(-ETIMEDOUT, "%s: no slot became free before its deadline",
		      torcoll__op_name(job->op.collective));
	/* its deadline is one of the op, with which the comm fails, on whatever rank it is first */
	job->bound = true;
	job_fail(job, -ETIMEDOUT, ~0U, kept);
}

/* Of a step that runs the module has the deadline. */
static bool job_is_late(const struct torcoll__job *job, uint64_t now)
{
	uint64_t late_ns = job_late_ns(job);

	return job->state == TORCOLL__JOB_READY && late_ns && late_ns <= now;
}

/* Fail the jobs that are late, whether they are first or not. */
static void jobs_expire(struct torcoll__lane *lane, uint64_t now)
{
	struct torcoll__job *job, **p = &lane->first;

	lane->late_ns = 0;
	while ((job = *p)) {
		if (job_is_late(job, now)) {
			*p = job->next;
			count_queued(job->comm->t, -1);
			job_expire(job);
			continue;
		}
		if (job_late_ns(job) > now)
			lane->late_ns = earlier(lane->late_ns, job_late_ns(job));
		p = &job->next;
	}
	lane->last = p;
}

static void lane_expire(struct torcoll__lane *lane, uint64_t now)
{
	/* the first may have become ready just now */
	bool due = (lane->late_ns && now >= lane->late_ns) ||
		   (lane->first && job_is_late(lane->first, now));

	if (due)
		jobs_expire(lane, now);
}

/* Context: t->queue, which may be released meanwhile; the lane stays. */
static void lane_push(struct torcoll__lane *lane)
{
	while (lane->first && job_push(lane->first))
		lane_pop(lane);
}

static uint64_t took_ns(uint64_t began_ns, uint64_t ended_ns)
{
	return ended_ns - began_ns < PUSH_MAX_NS ? ended_ns - began_ns : PUSH_MAX_NS;
}

/*
 * Ask for results that are in the way, which takes a system call for each op
 * without a place in the ring; if these are many, for half of the time at most.
 * False: ask again soon. Context: t->queue.
 */
static bool results_ask(struct torcoll *t)
{
	uint64_t began_ns = torcoll_sys_now_ns();

	if (began_ns - t->asked_ns < t->ask_ns)
		return false;
	torcoll__ring_ask(t);
	t->asked_ns = torcoll_sys_now_ns();
	t->ask_ns = took_ns(began_ns, t->asked_ns);
	if (t->ask_ns < PUSH_NS)
		t->ask_ns = 0;
	return true;
}

/* The same, and start what can start. Context: t->queue, which may be released meanwhile. */
static bool push_all(struct torcoll *t)
{
	uint64_t began_ns = torcoll_sys_now_ns();
	struct torcoll__lane *lane, *next;
	bool asked;

	t->pushed_tail = torcoll__ring_tail(t);
	asked = results_ask(t);
	for (lane = t->lanes; lane; lane = next) {
		lane_push(lane);
		/* the operator may have taken long, and another thread looked meanwhile */
		lane_expire(lane, torcoll_sys_now_ns());
		next = lane->next;
		if (!lane->first)
			lane_free(lane);
	}
	t->pushed_ns = torcoll_sys_now_ns();
	/* the program's operator may be part of it */
	t->push_ns = took_ns(began_ns, t->pushed_ns);
	return asked;
}

/* Context: t->queue. */
static bool push_is_due(const struct torcoll *t)
{
	uint64_t since_ns = torcoll_sys_now_ns() - t->pushed_ns;

	return since_ns >= t->push_ns &&
	       (torcoll__ring_tail(t) != t->pushed_tail || since_ns >= PUSH_NS);
}

static bool lane_advances(const struct torcoll__lane *lane)
{
	return lane->first && lane->first->state == TORCOLL__JOB_ADVANCING;
}

static bool any_advances(const struct torcoll *t)
{
	const struct torcoll__lane *lane;

	for (lane = t->lanes; lane; lane = lane->next)
		if (lane_advances(lane))
			return true;
	return false;
}

bool torcoll__push(struct torcoll *t, bool now)
{
	bool soon = false;

	if (!torcoll__is_queued(t))
		return false;
	pthread_mutex_lock(&t->queue);
	if (now || push_is_due(t))
		soon = !push_all(t) || any_advances(t);
	pthread_mutex_unlock(&t->queue);
	return soon;
}

uint64_t torcoll__queue_late(struct torcoll *t)
{
	const struct torcoll__lane *lane;
	uint64_t late_ns = 0;

	if (!torcoll__is_queued(t))
		return 0;
	pthread_mutex_lock(&t->queue);
	for (lane = t->lanes; lane; lane = lane->next)
		late_ns = earlier(late_ns, lane->late_ns);
	pthread_mutex_unlock(&t->queue);
	return late_ns;
}

/* Of what runs the module knows, but not of results that are still to be copied. */
static bool job_has_buffers(const struct torcoll__job *job)
{
	switch (job->state) {
	case TORCOLL__JOB_FAILED:
		return false;
	case TORCOLL__JOB_LAST:
		return job->finish;
	default:
		return true;
	}
}

/* Those of a list, or of none; the counts of an op may change while others look. */
static bool blocks_use(const struct torcoll__job *job, const void *vector, const uint64_t *displs,
		       uint64_t addr, uint64_t length)
{
	uint64_t elem = torcoll_type_size(job->op.type);

	for (uint32_t i = 0; displs && i < job->comm->size; i++)
		if (torcoll__u64(vector) + displs[i] * elem - addr < length)
			return true;
	return false;
}

bool torcoll__queue_uses(const struct torcoll *t, uint64_t addr, uint64_t length)
{
	const struct torcoll__job *job;

	for (job = t->jobs; job; job = job->older) {
		if (!job_has_buffers(job))
			continue;
		if (torcoll__u64(job->op.send) - addr < length ||
		    torcoll__u64(job->op.recv) - addr < length)
			return true;
		if (blocks_use(job, job->op.send, job->displs.send, addr, length) ||
		    blocks_use(job, job->op.recv, job->displs.recv, addr, length))
			return true;
		/* of a prepared op, which does not advance, there is nothing else */
		if (job->state != TORCOLL__JOB_ADVANCING &&
		    (job->desc.send_addr - addr < length || job->desc.recv_addr - addr < length))
			return true;
	}
	return false;
}

/* ---- submission ---- */

/* Fetch results that were seen before anything waited, or not asked for before this comm's did. */
static void results_fetch(const struct torcoll__lane *lane)
{
	if (lane->comm->t->queued == 1)
		torcoll__ring_reap(lane->comm->t);
	else if (lane->comm->lanes == 1 && !lane->first->next)
		torcoll__ring_ask_comm(lane->comm);
}

/*
 * Put a job into its lane, and try to start it if it is the first. Return the
 * refusal, with which the job is out of the queue; later ones are of the wait.
 * Context: t->queue.
 */
static int job_enter(struct torcoll__lane *lane, struct torcoll__job *job)
{
	jobs_link(job);
	lane_append(lane, job);
	results_fetch(lane);
	if (lane->first == job)
		lane_push(lane);
	if (job->state == TORCOLL__JOB_FAILED && !job->bound) {
		jobs_unlink(job);
		return job->err;
	}
	if (!job->awaited)
		job->bound = true;
	return 0;
}

/*
 * The same in the job's lane. The others are not looked at each time: with many
 * peers there are many.
 */
static int job_queue(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;
	struct torcoll__lane *lane;
	int err;

	pthread_mutex_lock(&t->queue);
	/* before: a job that it starts and the module refuses would be of a call that returned */
	if (push_is_due(t))
		push_all(t);
	lane = lane_get(job->comm, &job->desc);
	if (lane) {
		err = job_enter(lane, job);
		if (!lane->first)
			lane_free(lane);
	} else {
		err = torcoll__fail(-ENOMEM, "%s: out of memory",
				    torcoll__op_name(job->op.collective));
	}
	pthread_mutex_unlock(&t->queue);
	return err;
}

int torcoll__job_submit(struct torcoll__job *job, struct torcoll_request *req)
{
	int err = job_queue(job);

	if (!err) {
		*req = (struct torcoll_request){
			.comm = job->comm,
			.state = TORCOLL__REQ_JOB,
			.error_rank = ~0U,
			.collective = job->op.collective,
			.ring = torcoll__u64(job),
		};
		return 0;
	}
	if (job->why)
		torcoll__sentence_say(job->why);
	torcoll__job_free(job);
	return err;
}

int torcoll__job_submit_desc(struct torcoll_comm *comm, const struct torcoll_submit *desc,
			     struct torcoll_request *req)
{
	const struct torcoll_op op = { .collective = desc->collective };
	struct torcoll__job *job = torcoll__job_new(comm, &op);

	if (!job)
		return -ENOMEM;
	job->desc = *desc;
	return torcoll__job_submit(job, req);
}

void torcoll__job_leave(struct torcoll__job *job)
{
	struct torcoll *t = job->comm->t;

	pthread_mutex_lock(&t->queue);
	if (!job->bound) {
		job->bound = true;
		if (job->state == TORCOLL__JOB_FAILED)
			comm_fail(job);
	}
	pthread_mutex_unlock(&t->queue);
}

int torcoll__job_submit_op(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
			   struct torcoll_request *req)
{
	struct torcoll__job *job = torcoll__job_new(comm, op);
	int err;

	if (!job)
		return -ENOMEM;
	job->awaited = awaited;
	err = torcoll__op_describe(comm, &job->op, &job->desc);
	if (!err)
		return torcoll__job_submit(job, req);
	torcoll__job_free(job);
	return err;
}

int torcoll__steps_submit(struct torcoll_comm *comm, const struct torcoll_op *op, bool awaited,
			  struct torcoll_request *req)
{
	struct torcoll__job *job = torcoll__job_new(comm, op);
	int err;

	if (!job)
		return -ENOMEM;
	job->awaited = awaited;
	err = op->function ? torcoll__function_begin(job) : torcoll__layout_begin(job);
	if (!err)
		return torcoll__job_submit(job, req);
	torcoll__job_free(job);
	return err;
}

/* ---- the end of a comm ---- */

static void lane_clear(struct torcoll__lane *lane)
{
	while (lane->first)
		lane_pop(lane);
}

static bool comm_advances(const struct torcoll_comm *comm)
{
	const struct torcoll__lane *lane;

	for (lane = comm->t->lanes; lane; lane = lane->next)
		if (lane->comm == comm && lane_advances(lane))
			return true;
	return false;
}

void torcoll__jobs_settle(const struct torcoll_comm *comm)
{
	while (comm_advances(comm))
		pthread_cond_wait(&comm->t->advanced, &comm->t->queue);
}

struct torcoll__job *torcoll__jobs_take(struct torcoll *t, const struct torcoll_comm *comm)
{
	struct torcoll__job *job, *older, *taken = NULL;
	struct torcoll__lane *lane, *next;

	for (lane = t->lanes; lane; lane = next) {
		next = lane->next;
		if (lane->comm != comm)
			continue;
		lane_clear(lane);
		lane_free(lane);
	}
	for (job = t->jobs; job; job = older) {
		older = job->older;
		if (job->comm != comm)
			continue;
		jobs_unlink(job);
		job->older = taken;
		taken = job;
	}
	return taken;
}

void torcoll__jobs_free(struct torcoll__job *jobs)
{
	struct torcoll__job *job;

	while ((job = jobs)) {
		jobs = job->older;
		torcoll__job_free(job);
	}
}
