// SPDX-License-Identifier: GPL-2.0
/* Jobs: starting processes, reading their lines, ending them. See job.h. */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILES_PER_PROC	3
#define FILES_BESIDE	64
#define GRACE_MS	2000
#define TURN_MS		50
#define LINGER_MS	1000	/* for output that is not read, of a job in a hurry */

/* What is polled: four files of the job, and three of each process. */
#define SLOT_SIGNAL	0
#define SLOT_COMMAND	1
#define SLOT_OUTPUT	2
#define SLOTS		4
#define SLOTS_PER_PROC	3

static size_t stream_slot(uint32_t i, int s)
{
	return SLOTS + SLOTS_PER_PROC * (size_t)i + s;
}

uint64_t job_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

/* Raise the limit as far as is permitted; beyond it, job_start() fails. */
static void raise_file_limit(uint32_t count)
{
	rlim_t want = FILES_PER_PROC * (rlim_t)count + FILES_BESIDE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int job_init(struct job *job, uint32_t count)
{
	uint32_t i;

	job->proc = calloc(count, sizeof(*job->proc));
	if (!job->proc)
		return -ENOMEM;
	job->count = count;
	job->grace_ms = GRACE_MS;
	job->command_fd = -1;
	job->signal_fd = -1;
	job->deadline = JOB_NEVER;
	job->alarm_at = JOB_NEVER;
	job->kill_at = JOB_NEVER;
	for (i = 0; i < count; i++) {
		struct job_proc *proc = &job->proc[i];

		proc->in = proc->out[0].fd = proc->out[1].fd = -1;
	}
	raise_file_limit(count);
	return 0;
}

static void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void job_free(struct job *job)
{
	uint32_t i;
	int s;

	for (i = 0; i < job->count; i++) {
		file_close(&job->proc[i].in);
		free(job->proc[i].fed);
		for (s = 0; s < 2; s++) {
			file_close(&job->proc[i].out[s].fd);
			free(job->proc[i].out[s].line);
		}
	}
	free(job->proc);
	free(job->common);
}

/* --- starting --- */

/*
 * A pipe that got the number of a closed one would be closed by the process that
 * is to have it, or be overwritten by another one.
 */
int job_open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

void job_exec(char **argv)
{
	int err;

	execvp(argv[0], argv);
	err = errno;
	fprintf(stderr, "%s: %s\n", argv[0], strerror(err));
	fflush(stderr);
	_exit(err == ENOENT ? 127 : 126);
}

/* The ends of a process's stdin, stdout and stderr that it keeps. */
struct ends {
	int fd[3];
};

static void ends_close(struct ends *ends)
{
	int i;

	for (i = 0; i < 3; i++)
		file_close(&ends->fd[i]);
}

static int open_input(struct job *job, struct job_proc *proc, struct ends *ends)
{
	int fd[2];

	if (!job->feed) {
		ends->fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return ends->fd[0] < 0 ? -errno : 0;
	}
	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	ends->fd[0] = fd[0];
	proc->in = fd[1];
	return 0;
}

static int open_outputs(struct job_proc *proc, struct ends *ends)
{
	int s;

	for (s = 0; s < 2; s++) {
		int fd[2];

		if (pipe2(fd, O_CLOEXEC))
			return -errno;
		fcntl(fd[0], F_SETFL, O_NONBLOCK);
		proc->out[s].fd = fd[0];
		ends->fd[s + 1] = fd[1];
	}
	return 0;
}

static void child(struct job *job, uint32_t i, const struct ends *ends, pid_t parent)
{
	int s;

	setpgid(0, 0);
	if (!job->feed) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	for (s = 0; s < 3; s++)
		dup2(ends->fd[s], s);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
	job->ops->exec(job, i);
	_exit(126);
}

static int start_one(struct job *job, uint32_t i)
{
	struct job_proc *proc = &job->proc[i];
	struct ends ends = { { -1, -1, -1 } };
	pid_t parent = getpid();
	int err;

	err = open_input(job, proc, &ends);
	if (!err)
		err = open_outputs(proc, &ends);
	if (!err) {
		proc->pid = fork();
		if (!proc->pid)
			child(job, i, &ends, parent);
		if (proc->pid < 0)
			err = -errno;
	}
	ends_close(&ends);
	if (err)
		return err;
	/* here too: a signal may be sent to the group before the child runs */
	setpgid(proc->pid, proc->pid);
	job->alive++;
	return 0;
}

static bool is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * Block the signals that signal_fd delivers: not HUP under nohup(1). SIGPIPE is
 * an error of writing, see check_output().
 */
static int take_over_signals(struct job *job)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&mask, SIGHUP);
	if (job->ops->stop && !is_ignored(SIGTSTP))
		sigaddset(&mask, SIGTSTP);
	sigprocmask(SIG_BLOCK, &mask, &job->old_mask);
	signal(SIGPIPE, SIG_IGN);
	job->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return job->signal_fd < 0 ? -errno : 0;
}

/*
 * By their groups: job_ops.kill may tell them something that they understand only
 * once they have got their orders.
 */
static void kill_started(struct job *job, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		kill(-job->proc[i].pid, SIGKILL);
}

int job_start(struct job *job, uint32_t *failed)
{
	int err = take_over_signals(job);
	uint32_t i;

	*failed = 0;
	fflush(stdout);
	for (i = 0; !err && i < job->count; i++) {
		*failed = i;
		err = start_one(job, i);
	}
	if (err)
		kill_started(job, job->alive);
	return err;
}

/* --- output --- */

static void deliver(struct job *job, uint32_t i, int s, const char *text, size_t len)
{
	job->ops->line(job, i, s == 1, text, len);
}

static void deliver_lines(struct job *job, uint32_t i, int s)
{
	struct job_stream *stream = &job->proc[i].out[s];
	char *from = stream->line, *end;

	while ((end = memchr(from, '\n', stream->line + stream->len - from))) {
		deliver(job, i, s, from, end - from);
		from = end + 1;
	}
	stream->len -= from - stream->line;
	memmove(stream->line, from, stream->len);
	if (stream->len == JOB_LINE_MAX) {
		deliver(job, i, s, stream->line, stream->len);
		stream->len = 0;
	}
}

/* Deliver a last line that has no end. */
static void deliver_rest(struct job *job, uint32_t i, int s)
{
	struct job_stream *stream = &job->proc[i].out[s];

	if (stream->len)
		deliver(job, i, s, stream->line, stream->len);
	stream->len = 0;
}

/*
 * Read once. Return the number of bytes; 0 if there is nothing to be read, or
 * nothing any more.
 */
static size_t read_some(struct job *job, uint32_t i, int s)
{
	struct job_stream *stream = &job->proc[i].out[s];
	ssize_t n;

	if (!stream->line)
		stream->line = malloc(JOB_LINE_MAX);
	if (!stream->line || stream->fd < 0)
		return 0;
	n = read(stream->fd, stream->line + stream->len, JOB_LINE_MAX - stream->len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		deliver_rest(job, i, s);
		file_close(&stream->fd);
		return 0;
	}
	stream->len += n;
	deliver_lines(job, i, s);
	return n;
}

/*
 * Read what a process that has ended left: at most what a pipe holds, since its
 * children may write for ever.
 */
static void read_left(struct job *job, uint32_t i, int s)
{
	int room = fcntl(job->proc[i].out[s].fd, F_GETPIPE_SZ);
	size_t n = 1, sum;

	for (sum = 0; n && room > 0 && sum < (size_t)room; sum += n)
		n = read_some(job, i, s);
	deliver_rest(job, i, s);
}

/*
 * Read each stream that has something once. Whoever writes faster than our
 * output is read keeps us from nothing but a turn: what else there is to be
 * done is looked for after some time, and then the others' turn comes first.
 */
static void read_all(struct job *job, const struct pollfd *fds)
{
	uint64_t end = job_now() + TURN_MS;
	uint32_t n, streams = 2 * job->count;

	for (n = 0; n < streams; n++) {
		uint32_t at = job->turn;

		job->turn = (at + 1) % streams;
		if (!fds[stream_slot(at / 2, at % 2)].revents)
			continue;
		read_some(job, at / 2, at % 2);
		if (job_now() >= end)
			return;
	}
}

/* --- the end --- */

static void send_signal(struct job *job, uint32_t i, int sig)
{
	if (job->ops->kill)
		job->ops->kill(job, i, sig);
	else
		kill(-job->proc[i].pid, sig);
}

void job_kill(struct job *job, int sig)
{
	uint32_t i;

	for (i = 0; i < job->count; i++)
		if (job->proc[i].pid > 0 && !job->proc[i].ended)
			send_signal(job, i, sig);
}

void job_end(struct job *job, int sig)
{
	if (job->ending)
		return;
	job->ending = true;
	job->kill_at = job_now() + job->grace_ms;
	job_kill(job, sig);
}

static void proc_ended(struct job *job, uint32_t i, int status)
{
	struct job_proc *proc = &job->proc[i];
	int s;

	proc->ended = true;
	proc->status = status;
	job->alive--;
	/*
	 * what it wrote before, but not what its children write later, such as
	 * when their input ends
	 */
	for (s = 0; s < 2; s++)
		read_left(job, i, s);
	file_close(&proc->in);
	if (job->ops->ended)
		job->ops->ended(job, i);
	/*
	 * children that ignore the signal, as those of a shell may; but who is
	 * fed ends its own
	 */
	if (job->ending && !job->feed)
		kill(-proc->pid, SIGKILL);
}

static void reap(struct job *job)
{
	int status;
	pid_t pid;
	uint32_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < job->count; i++)
			if (job->proc[i].pid == pid && !job->proc[i].ended)
				proc_ended(job, i, status);
}

/* Of another job's terminal, which this program is to leave alone: as for ^Z. */
static void stop_likewise(int sig)
{
	(void)sig;
	raise(SIGTSTP);
}

/*
 * Take what else a terminal stops a job for, only while all output is kept: a
 * write that the signal interrupts is made again.
 */
static void take_terminal(const struct job *job, bool take)
{
	const struct sigaction action = { .sa_handler = take ? stop_likewise : SIG_DFL };

	if (!job->ops->stop || is_ignored(SIGTSTP))
		return;
	if (!is_ignored(SIGTTIN))
		sigaction(SIGTTIN, &action, NULL);
	if (!is_ignored(SIGTTOU))
		sigaction(SIGTTOU, &action, NULL);
}

/*
 * Stop as if the signal were not blocked: not in a group that nobody would
 * continue.
 */
static void stop(struct job *job)
{
	sigset_t mask;

	job->ops->stop(job);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	sigprocmask(SIG_BLOCK, &mask, NULL);
}

/* The first signal asks the processes to end, a second one kills them. */
static void take_signals(struct job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			stop(job);
		if (info.ssi_signo == SIGCHLD || info.ssi_signo == SIGTSTP)
			continue;
		job->leave = job->hurry;
		job->hurry = true;
		if (job->ending)
			job_kill(job, SIGKILL);
		else
			job_end(job, info.ssi_signo);
		if (!job->signal)
			job->signal = info.ssi_signo;
	}
	reap(job);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Until when output may wait for who reads it. */
static uint64_t output_end(const struct job *job)
{
	if (job->alive || !job->hurry)
		return JOB_NEVER;
	return job->leave ? 0 : job->written_at + LINGER_MS;
}

/*
 * Do what is due. Return the ms until the next such time, or -1. Whoever ends as
 * another failed may wait until its last words are read.
 */
static int serve_timers(struct job *job)
{
	uint64_t now = job_now(), next;
	bool kills;

	if (now >= job->deadline) {
		job->deadline = JOB_NEVER;
		job->hurry = true;
		job->ops->late(job);
	}
	if (now >= job->alarm_at) {
		job->alarm_at = JOB_NEVER;
		job->ops->alarm(job);
	}
	kills = job->hurry || !job_output_waits(job);
	if (kills && now >= job->kill_at) {
		job_kill(job, SIGKILL);
		job->kill_at = now + job->grace_ms;
	}
	next = sooner(sooner(job->deadline, kills ? job->kill_at : JOB_NEVER), output_end(job));
	next = sooner(next, job->alarm_at);
	if (next == JOB_NEVER)
		return -1;
	return next > now ? (int)sooner(next - now, INT32_MAX) : 0;
}

static void wait_for_news(struct job *job, struct pollfd *fds)
{
	struct pollfd *of = fds + SLOTS;
	bool full = job_output_waits(job);
	uint32_t i;
	int s;

	fds[SLOT_SIGNAL] = (struct pollfd){ job->signal_fd, POLLIN, 0 };
	fds[SLOT_COMMAND] = (struct pollfd){ job->command_fd, POLLIN, 0 };
	for (s = 0; s < 2; s++)
		fds[SLOT_OUTPUT + s] = (struct pollfd){ job_output_fd(job, s), POLLOUT, 0 };
	for (i = 0; i < job->count; i++) {
		const struct job_proc *proc = &job->proc[i];

		for (s = 0; s < 2; s++)
			*of++ = (struct pollfd){ full ? -1 : proc->out[s].fd, POLLIN, 0 };
		*of++ = (struct pollfd){ job_is_fed(job, i) ? -1 : proc->in, POLLOUT, 0 };
	}
	if (poll(fds, of - fds, serve_timers(job)) > 0 && fds[SLOT_COMMAND].revents)
		job->ops->command(job);
}

/* After a pause of the reader, processes that end have the time of which it took some. */
void job_was_read(struct job *job)
{
	uint64_t now = job_now();

	if (job->kill_at != JOB_NEVER && !job->hurry && now - job->written_at > LINGER_MS)
		job->kill_at = later(job->kill_at, now + job->grace_ms);
	job->written_at = now;
}

/* Nobody reads: as if SIGPIPE had come, but the processes are ended in order. */
static void check_output(struct job *job)
{
	if (!job->waited && job_output_waits(job))
		job->written_at = job_now();
	job_output_write(job);
	job->waited = job_output_waits(job);
	if (!job->output[0].gone)
		return;
	job->hurry = true;
	if (job->ending)
		return;
	job->signal = SIGPIPE;
	job_end(job, SIGTERM);
}

/* Return whether there is something to wait for. */
static bool is_over(const struct job *job)
{
	return !job->alive && (!job_output_waits(job) || job_now() >= output_end(job));
}

int job_follow(struct job *job)
{
	struct pollfd *fds = calloc(SLOTS_PER_PROC * (size_t)job->count + SLOTS, sizeof(*fds));
	bool able = job_output_begin(job) && fds;
	uint32_t i;

	if (!able)
		job_kill(job, SIGKILL);
	take_terminal(job, true);
	while (able && !is_over(job)) {
		wait_for_news(job, fds);
		for (i = 0; i < job->count; i++)
			job_feed_more(job, i);
		read_all(job, fds);
		take_signals(job);
		check_output(job);
	}
	free(fds);
	take_terminal(job, false);
	job_output_end(job);
	sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
	file_close(&job->signal_fd);
	return able ? 0 : -ENOMEM;
}

int job_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *job_signal_name(int sig)
{
	const char *name = sigabbrev_np(sig);
	static char text[24];

	if (name)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "signal %d", sig);
	return text;
}
