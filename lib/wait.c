// SPDX-License-Identifier: MIT
/*
 * Waits and tests.
 *
 * A wait for one op is a call of the module, which wakes its thread once. A
 * thread that must also do something else meanwhile (start ops that wait for a
 * slot, look for several ops, or for the caller's descriptors) sleeps until
 * there is any event of the context, and looks again: see watch.c. In a process
 * of several threads a call takes only a slice of the wait, since another thread
 * may meanwhile have queued ops that nobody else would start.
 */
#include <string.h>

#include "job.h"

/* Descriptors of callers for which a wait needs no memory. */
#define FEW_FDS		15

/* How long a sleep is that no event ends. */
#define SLICE_NS	1000000

/* How long a call waits where other threads may queue ops. */
#define CALL_NS		10000000

static void request_end(struct torcoll_request *req, int32_t status, uint32_t error_rank)
{
	req->status = status;
	req->error_rank = error_rank;
	req->state = TORCOLL__REQ_DONE;
}

/* A module without spinning gets the struct without it. */
static uint64_t spin_of(const struct torcoll *t)
{
	return t->features & TORCOLL_FEATURE_SPIN ? t->spin_ns : 0;
}

/* Wait by a system call. */
static int request_wait_call(const struct torcoll_request *req, uint32_t flags,
			     uint64_t deadline_ns, uint64_t spin_ns, struct torcoll_wait *w)
{
	int err;

	do {
		*w = (struct torcoll_wait){
			.size = sizeof(*w),
			.flags = flags,
			.comm = req->comm->handle,
			.op = req->op,
			.deadline_ns = deadline_ns,
			.error_rank = ~0U,
			.spin_ns = spin_ns,
		};
		err = torcoll_sys_ioctl(req->comm->t->fd, TORCOLL_IOC_WAIT, w);
	} while (err == -EINTR);
	return err == -ETIMEDOUT && deadline_ns ? -EAGAIN : err;
}

/* Look for the completion in the ring; -EAGAIN, -ENODATA: as torcoll__ring_fetch(). */
static int request_fetch(struct torcoll_request *req)
{
	struct torcoll_completion completion;
	struct torcoll_wait w;
	int err;

	err = torcoll__ring_fetch(req->comm->t, req->ring, &req->looked, &completion);
	if (err)
		return err;
	req->ring = 0;
	if (!(completion.flags & TORCOLL_COMPLETION_REAP)) {
		request_end(req, completion.status, completion.error_rank);
		return 0;
	}
	err = request_wait_call(req, 0, 0, spin_of(req->comm->t), &w);
	if (!err)
		request_end(req, w.status, w.error_rank);
	return err;
}

/*
 * A call has given the result. Its cell goes, with calls for other ops, each of which
 * has the module forget why this one failed.
 */
static void request_forget(struct torcoll_request *req, int32_t status)
{
	struct torcoll *t = req->comm->t;
	char *why = status ? torcoll__reason_copy(t) : NULL;

	torcoll__ring_forget(t, req->ring);
	req->ring = 0;
	if (why)
		torcoll__reason_give(why);
	free(why);
}

/* Wait by a call, for an op that was started; as torcoll__request_look(). */
static int request_wait(struct torcoll_request *req, uint32_t flags, uint64_t deadline_ns,
			uint64_t spin_ns)
{
	struct torcoll_wait w;
	int err, fetched;

	err = request_wait_call(req, flags, deadline_ns, spin_ns, &w);
	if (err == -ENOENT && req->ring) {
		/* it may have been posted to the ring meanwhile, or fetched by who pushes */
		fetched = request_fetch(req);
		if (fetched != -EAGAIN && fetched != -ENODATA)
			return fetched;
	}
	if (err)
		return err;
	if (req->ring)
		request_forget(req, w.status);
	request_end(req, w.status, w.error_rank);
	return 0;
}

int torcoll__request_look(struct torcoll_request *req)
{
	int err = req->ring ? request_fetch(req) : -ENODATA;

	if (err != -ENODATA)
		return err;
	return request_wait(req, TORCOLL_WAIT_NOHANG, 0, spin_of(req->comm->t));
}

/* ---- jobs ---- */

/* End a job with what its last step gave, or with its failure. */
static void job_done(struct torcoll_request *req, struct torcoll__job *job)
{
	bool failed = job->state == TORCOLL__JOB_FAILED;

	if (!failed) {
		request_end(req, job->running.status, job->running.error_rank);
		req->chosen = job->running.chosen;
		if (!req->status && job->finish)
			job->finish(job);
	} else {
		request_end(req, job->err, job->error_rank);
	}
	if (failed && job->why)
		torcoll__sentence_say(job->why);
	else if (req->status)
		torcoll__refused(req->comm->t, req->status, torcoll__op_name(req->collective));
	req->ring = 0;
	torcoll__job_end(job);
}

/* The same as torcoll__request_look(), but with a sentence if the op failed. */
static int job_look(struct torcoll_request *req)
{
	struct torcoll__job *job = torcoll__job_of(req);
	int err;

	switch (torcoll__job_look(job)) {
	case TORCOLL__JOB_LAST:
		err = torcoll__request_look(&job->running);
		if (err)
			return err;
		break;
	case TORCOLL__JOB_FAILED:
		break;
	default:
		return -EAGAIN;
	}
	job_done(req, job);
	return 0;
}

/* ---- one op ---- */

/* Return what the caller gets, with the sentence of a failure. */
static int request_answer(struct torcoll_request *req, int err)
{
	if (err == -EAGAIN)
		return err;
	if (err)
		return torcoll__refused(req->comm->t, err, "wait");
	return req->status ? torcoll__refused(req->comm->t, req->status,
					      torcoll__op_name(req->collective)) : 0;
}

/* Look for a result, and give it to the caller; -EAGAIN: there is none yet. */
static int request_try(struct torcoll_request *req)
{
	int err;

	if (req->state == TORCOLL__REQ_PENDING)
		return request_answer(req, torcoll__request_look(req));
	err = job_look(req);
	return err ? request_answer(req, err) : req->status;
}

int torcoll__request_divert(struct torcoll_request *req)
{
	int err = -EAGAIN;

	req->ring = torcoll__ring_adopt(req->comm, req->op);
	if (req->ring)
		err = request_fetch(req);
	return request_answer(req, err == -ENODATA ? -EAGAIN : err);
}

static int not_started(void)
{
	return torcoll__fail(-EINVAL, "wait: nothing was started with this request");
}

/* Return the status of a complete op, once more. */
static int status_again(const struct torcoll_request *req)
{
	return req->status ? torcoll__fail_again(req->status, torcoll__op_name(req->collective)) : 0;
}

/*
 * Check a request before a wait or a test. Return 0: the op was not complete
 * when it was looked at last; 1: it was, and @status is what the caller gets.
 */
static int request_check(const struct torcoll_request *req, int *status)
{
	switch (req->state) {
	case TORCOLL__REQ_DONE:
		*status = status_again(req);
		return 1;
	case TORCOLL__REQ_PENDING:
	case TORCOLL__REQ_JOB:
		*status = torcoll__check(req->comm->t, "wait");
		return !!*status;
	default:
		*status = not_started();
		return 1;
	}
}

int torcoll_test(struct torcoll_request *req)
{
	int status;

	if (request_check(req, &status))
		return status;
	torcoll__push(req->comm->t, false);
	return request_try(req);
}

/* ---- waiting for more than one op ---- */

/* What a thread waits for: any of its requests, or of the caller's descriptors. */
struct wanted {
	struct torcoll_request *const *reqs;
	uint32_t n;
	struct pollfd *fds;		/* the caller's are followed by the watch */
	uint32_t nfds;
	bool unwatched;			/* but there was no memory for that */
	uint64_t deadline_ns;
};

/* Return how long it is until then; for ever if that is 0. */
static uint64_t time_until(uint64_t deadline_ns)
{
	uint64_t now;

	if (!deadline_ns)
		return UINT64_MAX;
	now = torcoll_sys_now_ns();
	return deadline_ns > now ? deadline_ns - now : 0;
}

static uint64_t slice_of(uint64_t left)
{
	return left < SLICE_NS ? left : SLICE_NS;
}

/*
 * Sleep until there is something to look at: 0. -EAGAIN: a descriptor of the
 * caller's is ready, or the deadline has passed. There is no other result: the op
 * goes on, and the caller would take one for its end. Without a watch, or where
 * the descriptors cannot be polled, or @soon, it is time to look after a slice.
 */
static int wanted_sleep(struct torcoll *t, const struct wanted *w, int watch, bool soon)
{
	uint64_t left = time_until(w->deadline_ns);
	/* for what the module does not know yet it has no event */
	uint64_t sleep = time_until(torcoll__queue_late(t));
	bool watched = watch >= 0;
	int ready;

	if (sleep > left)
		sleep = left;
	if (soon || !watched)
		sleep = slice_of(sleep);
	ready = torcoll_sys_poll(w->fds, w->nfds + watched, sleep);
	if (ready < 0 && ready != -EINTR)
		torcoll_sys_poll(NULL, 0, slice_of(sleep));
	if (ready > (watched && w->fds[w->nfds].revents))
		return -EAGAIN;
	return left ? 0 : -EAGAIN;
}

/* Look for all of them. Return the status of one that is complete, or -EAGAIN. */
static int wanted_try(const struct wanted *w, uint32_t *index)
{
	int status;

	for (uint32_t i = 0; i < w->n; i++) {
		if (!w->reqs[i])
			continue;
		status = w->reqs[i]->state == TORCOLL__REQ_DONE ? status_again(w->reqs[i]) :
								  request_try(w->reqs[i]);
		if (status != -EAGAIN) {
			*index = i;
			return status;
		}
	}
	return -EAGAIN;
}

/* Return when a call ends, at the latest, that spins first. */
static uint64_t slice_end(uint64_t deadline_ns, uint64_t spin_ns)
{
	uint64_t end_ns = torcoll_sys_now_ns() + spin_ns + CALL_NS;

	return deadline_ns && deadline_ns < end_ns ? deadline_ns : end_ns;
}

uint64_t torcoll__call_end(uint64_t deadline_ns)
{
	return torcoll_sys_is_alone() ? deadline_ns : slice_end(deadline_ns, 0);
}

uint64_t torcoll__join_end(const struct torcoll *t, uint64_t busy_ns)
{
	uint64_t slice_ns = torcoll__is_queued(t) ? SLICE_NS : CALL_NS;

	if (!(t->features & TORCOLL_FEATURE_WAIT_NS) ||
	    (!torcoll__is_queued(t) && torcoll_sys_is_alone()))
		return 0;
	if (slice_ns < 2 * busy_ns)
		slice_ns = 2 * busy_ns;
	return torcoll_sys_now_ns() + slice_ns;
}

/*
 * Wait for an op that was started; -EINPROGRESS: another thread has queued ops.
 */
static int wait_in_slices(struct torcoll_request *req, uint64_t deadline_ns)
{
	uint64_t spin_ns = spin_of(req->comm->t), end_ns;
	int err;

	do {
		end_ns = slice_end(deadline_ns, spin_ns);
		err = request_wait(req, 0, end_ns, spin_ns);
		if (err != -EAGAIN || end_ns == deadline_ns)
			return err;
		spin_ns = 0;
	} while (!torcoll__is_queued(req->comm->t));
	return -EINPROGRESS;
}

/*
 * Wait for one op by a call; -EINPROGRESS: that is not possible, as this thread
 * has to start others.
 */
static int wait_by_call(struct torcoll_request *req, uint64_t deadline_ns)
{
	struct torcoll__job *job = NULL;
	struct torcoll_request *running = req;
	int err = -ENODATA;

	if (torcoll__is_queued(req->comm->t))
		return -EINPROGRESS;
	if (req->state == TORCOLL__REQ_JOB) {
		job = torcoll__job_of(req);
		if (torcoll__job_look(job) != TORCOLL__JOB_LAST)
			return -EINPROGRESS;
		running = &job->running;
	}
	if (running->ring)
		err = request_fetch(running);
	if (err == -EAGAIN || err == -ENODATA)
		err = torcoll_sys_is_alone() ?
		      request_wait(running, 0, deadline_ns, spin_of(req->comm->t)) :
		      wait_in_slices(running, deadline_ns);
	if (err == -EINPROGRESS)
		return err;
	if (err || !job)
		return request_answer(req, err);
	job_done(req, job);
	return req->status;
}

static int wait_by_watch(struct torcoll *t, const struct wanted *w, uint32_t *index)
{
	bool single = w->n == 1 && !w->nfds;
	int watch, err, slept = 0;
	bool soon;

	torcoll__push(t, true);
	err = wanted_try(w, index);
	if (err != -EAGAIN)
		return err;
	watch = w->unwatched ? -ENOMEM : torcoll__watch_get(t);
	if (watch >= 0)
		w->fds[w->nfds] = (struct pollfd){ .fd = watch, .events = POLLIN };
	do {
		/* what happens from now on ends the sleep */
		if (watch >= 0)
			torcoll_sys_watch_clear(watch);
		soon = torcoll__push(t, true);
		err = wanted_try(w, index);
		if (err != -EAGAIN)
			break;
		if (single && !torcoll__is_queued(t)) {
			err = wait_by_call(w->reqs[0], w->deadline_ns);
			if (err != -EINPROGRESS)
				break;
		}
		slept = wanted_sleep(t, w, watch, soon);
	} while (!slept);
	if (watch >= 0)
		torcoll__watch_put(t, watch);
	return slept ? slept : err;
}

int torcoll_wait_until(struct torcoll_request *req, uint64_t deadline_ns)
{
	struct pollfd fd;
	struct wanted w = { .reqs = &req, .n = 1, .fds = &fd, .deadline_ns = deadline_ns };
	uint32_t index;
	int status;

	if (request_check(req, &status))
		return status;
	status = wait_by_call(req, deadline_ns);
	return status == -EINPROGRESS ? wait_by_watch(req->comm->t, &w, &index) : status;
}

int torcoll_wait(struct torcoll_request *req)
{
	return torcoll_wait_until(req, 0);
}

int torcoll_wait_fds(struct torcoll_request *req, struct pollfd *fds, uint32_t n,
		     uint64_t deadline_ns)
{
	struct pollfd few[FEW_FDS + 1], *many = NULL;
	struct wanted w = { .reqs = &req, .n = 1, .nfds = n, .deadline_ns = deadline_ns };
	uint32_t index;
	int status;

	for (uint32_t i = 0; i < n; i++)
		fds[i].revents = 0;
	if (!n)
		return torcoll_wait_until(req, deadline_ns);
	if (request_check(req, &status))
		return status;
	if (n > FEW_FDS)
		many = malloc((n + (size_t)1) * sizeof(*many));
	w.unwatched = n > FEW_FDS && !many;
	w.fds = w.unwatched ? fds : n > FEW_FDS ? many : few;
	if (!w.unwatched)
		memcpy(w.fds, fds, n * sizeof(*fds));
	status = wait_by_watch(req->comm->t, &w, &index);
	if (status == -EAGAIN && !w.unwatched)
		memcpy(fds, w.fds, n * sizeof(*fds));
	free(many);
	return status;
}

/* Check all requests, and find the context of those that are not done yet. */
static int wanted_check(const struct wanted *w, struct torcoll **t)
{
	uint32_t given = 0;
	int status;

	*t = NULL;
	for (uint32_t i = 0; i < w->n; i++) {
		if (!w->reqs[i])
			continue;
		given++;
		if (w->reqs[i]->state == TORCOLL__REQ_DONE)
			continue;
		if (request_check(w->reqs[i], &status))
			return status;
		if (*t && *t != w->reqs[i]->comm->t)
			return torcoll__fail(-EINVAL, "wait: requests of several contexts");
		*t = w->reqs[i]->comm->t;
	}
	return given ? 0 : not_started();
}

int torcoll_wait_any(struct torcoll_request *const *reqs, uint32_t n, uint64_t deadline_ns,
		     uint32_t *index)
{
	struct pollfd fd;
	struct wanted w = { .reqs = reqs, .n = n, .fds = &fd, .deadline_ns = deadline_ns };
	struct torcoll *t;
	int err;

	*index = UINT32_MAX;
	err = wanted_check(&w, &t);
	if (err)
		return err;
	return t ? wait_by_watch(t, &w, index) : wanted_try(&w, index);
}

int torcoll_wait_all(struct torcoll_request *const *reqs, uint32_t n, uint64_t deadline_ns)
{
	char why[TORCOLL__SENTENCE_MAX];
	int first = 0, err;

	for (uint32_t i = 0; i < n; i++) {
		err = reqs[i] ? torcoll_wait_until(reqs[i], deadline_ns) : 0;
		if (err == -EAGAIN)
			return err;
		if (first || !err)
			continue;
		first = err;
		torcoll__sentence_keep(why);
	}
	if (first)
		torcoll__sentence_say(why);
	return first;
}

/* ---- what is known of an op ---- */

enum torcoll_algorithm torcoll_request_algorithm(const struct torcoll_request *req)
{
	struct torcoll__job *job;

	switch (req->state) {
	case TORCOLL__REQ_PENDING:
	case TORCOLL__REQ_DONE:
		return req->chosen;
	case TORCOLL__REQ_JOB:
		/* its lock may be held for ever in a child */
		if (torcoll__is_forked(req->comm->t))
			return TORCOLL_ALGO_AUTO;
		job = torcoll__job_of(req);
		if (torcoll__job_look(job) == TORCOLL__JOB_LAST)
			return job->running.chosen;
		return TORCOLL_ALGO_AUTO;
	default:
		return TORCOLL_ALGO_AUTO;
	}
}

uint32_t torcoll_request_error_rank(const struct torcoll_request *req)
{
	return req->state == TORCOLL__REQ_DONE && req->status ? req->error_rank : ~0U;
}
