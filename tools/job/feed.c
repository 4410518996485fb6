// SPDX-License-Identifier: GPL-2.0
/* What processes are fed, as fast as each of them reads. See job.h. */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool job_is_fed(const struct job *job, uint32_t i)
{
	return !job->proc[i].fed;
}

static ssize_t feed_some(const struct job *job, const struct job_proc *proc)
{
	size_t at = proc->fed_at;

	if (at < proc->fed_len)
		return write(proc->in, proc->fed + at, proc->fed_len - at);
	at -= proc->fed_len;
	return write(proc->in, job->common + at, job->common_len - at);
}

/* A reader that is gone has ended, which is told elsewhere. */
void job_feed_more(struct job *job, uint32_t i)
{
	struct job_proc *proc = &job->proc[i];
	ssize_t n;

	while (proc->fed && proc->fed_at < proc->fed_len + job->common_len) {
		n = feed_some(job, proc);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			proc->fed_at += n;
	}
	free(proc->fed);
	proc->fed = NULL;
	proc->fed_at = proc->fed_len = 0;
}

void job_feed(struct job *job, uint32_t i, char *text, size_t len)
{
	job->proc[i].fed = text;
	job->proc[i].fed_len = len;
	job_feed_more(job, i);
}
