// SPDX-License-Identifier: GPL-2.0
/*
 * What is printed while a job is followed: kept in memory, and written as it is
 * read. Who does not read it holds up neither signals nor time limits. See job.h.
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS		50

static bool is_pending(const struct job_output *output)
{
	return output->at < output->len;
}

/* Make room for so many bytes behind those that are not written yet. */
static bool make_room(struct job_output *output, size_t n)
{
	size_t left = output->len - output->at, room = output->room;
	char *text;

	if (output->at)
		memmove(output->text, output->text + output->at, left);
	output->at = 0;
	output->len = left;
	if (n <= room - left)
		return true;
	while (room - left < n)
		room = room ? 2 * room : BUFSIZ;
	text = realloc(output->text, room);
	if (!text)
		return false;
	output->text = text;
	output->room = room;
	return true;
}

/* Keep nothing any more. */
static void drop(struct job_output *output)
{
	output->gone = true;
	output->at = output->len = 0;
}

static ssize_t keep(void *cookie, const char *text, size_t n)
{
	struct job_output *output = cookie;

	if (output->gone)
		return n;
	if (output->room - output->len < n && !make_room(output, n)) {
		output->lost = true;
		drop(output);
		return n;
	}
	memcpy(output->text + output->len, text, n);
	output->len += n;
	return n;
}

/* One that keeps what is printed: at once, so that both are in order. */
static FILE *open_kept(struct job_output *output)
{
	FILE *file = fopencookie(output, "w", (cookie_io_functions_t){ .write = keep });

	if (file)
		setvbuf(file, NULL, _IONBF, 0);
	return file;
}

/* Whether both are one file, such as a terminal. */
static bool are_same(void)
{
	struct stat out, err;

	return !fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &err) &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/*
 * poll() promises a terminal's room for a byte: a write must not wait for more. Of
 * a file of our own, since other programs have the one that was given.
 */
static int open_terminal(int fd)
{
	char path[32];

	if (!isatty(fd))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool job_output_begin(struct job *job)
{
	struct job_output *output = job->output;

	fflush(stdout);
	for (int s = 0; s < 2; s++) {
		int fd = STDOUT_FILENO + s, terminal = open_terminal(fd);

		output[s] = (struct job_output){ .fd = terminal < 0 ? fd : terminal };
	}
	output[0].kept = open_kept(&output[0]);
	output[1].kept = open_kept(&output[are_same() ? 0 : 1]);
	if (!output[0].kept || !output[1].kept)
		return false;
	output[0].own = stdout;
	output[1].own = stderr;
	stdout = output[0].kept;
	stderr = output[1].kept;
	return true;
}

void job_output_end(struct job *job)
{
	struct job_output *output = job->output;

	if (output[0].own)
		stdout = output[0].own;
	if (output[1].own)
		stderr = output[1].own;
	for (int s = 0; s < 2; s++) {
		if (output[s].kept)
			fclose(output[s].kept);
		free(output[s].text);
		if (output[s].fd > STDERR_FILENO)
			close(output[s].fd);
	}
	if (output[0].lost || output[1].lost)
		fprintf(stderr, "%s: out of memory: output is lost\n",
			program_invocation_short_name);
}

/*
 * Write what does not have to wait. As much as PIPE_BUF at a time: so much a pipe
 * has room for when it can be written at all.
 */
static void write_some(struct job *job, struct job_output *output)
{
	struct pollfd fd = { output->fd, POLLOUT, 0 };
	uint64_t end = job_now() + TURN_MS;

	while (is_pending(output) && poll(&fd, 1, 0) > 0 && job_now() < end) {
		size_t left = output->len - output->at;
		ssize_t n = write(output->fd, output->text + output->at,
				  left < PIPE_BUF ? left : PIPE_BUF);

		/* interrupted: as this program is to stop, if the terminal is another job's */
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			drop(output);
		if (n > 0) {
			output->at += n;
			job_was_read(job);
		}
	}
}

void job_output_write(struct job *job)
{
	for (int s = 0; s < 2; s++)
		write_some(job, &job->output[s]);
}

bool job_output_waits(const struct job *job)
{
	return is_pending(&job->output[0]) || is_pending(&job->output[1]);
}

int job_output_fd(const struct job *job, int s)
{
	return is_pending(&job->output[s]) ? job->output[s].fd : -1;
}
