/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job: processes that are started together, whose output is read line by line
 * and which end together. Shared by torcollrun, on both sides of its
 * connections, and by "torcollctl netns run".
 *
 * Every process is a process group, so that its children end with it. If the
 * starter dies it is killed, or, if it is fed, finds the end of its input.
 */
#ifndef _JOB_H
#define _JOB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define JOB_LINE_MAX	65536	/* bytes; a longer line is delivered in pieces */
#define JOB_NEVER	UINT64_MAX

/* A pipe, and the incomplete line read from it. */
struct job_stream {
	int fd;
	char *line;
	size_t len;
};

struct job_proc {
	pid_t pid;
	bool ended;
	int status;			/* as of wait() */
	int in;				/* the process's stdin, or -1 */
	char *fed;			/* what is to be written to it, or NULL */
	size_t fed_at, fed_len;		/* bytes: written, of what is common, too; of that */
	struct job_stream out[2];	/* stdout, stderr */
};

/* What was printed on stdout or stderr and is not written yet. */
struct job_output {
	int fd;
	FILE *own, *kept;		/* the program's own; what stands for it meanwhile */
	char *text;
	size_t at, len, room;		/* bytes: written; all; allocated */
	bool gone;			/* nobody reads it any more */
	bool lost;			/* or there was no memory */
};

struct job;

/**
 * struct job_ops - what a kind of job does
 * @exec: become process @i; called in the child, does not return
 * @line: a line of process @i, without its end; of stderr if @err
 * @ended: process @i has ended, all its lines were delivered; may be NULL
 * @kill: send a signal to process @i; NULL: to its process group
 * @command: the job's command_fd is readable
 * @late: the deadline has passed
 * @alarm: it is the time of the alarm, which is over
 * @stop: the terminal stops this process, now; NULL: it is not asked
 */
struct job_ops {
	void (*exec)(struct job *job, uint32_t i);
	void (*line)(struct job *job, uint32_t i, bool err, const char *text, size_t len);
	void (*ended)(struct job *job, uint32_t i);
	void (*kill)(struct job *job, uint32_t i, int sig);
	void (*command)(struct job *job);
	void (*late)(struct job *job);
	void (*alarm)(struct job *job);
	void (*stop)(struct job *job);
};

/**
 * struct job - processes and their state
 * @ops: what differs between kinds of jobs
 * @data: the owner's
 * @count: number of processes
 * @proc: the processes
 * @alive: number of processes that have not ended
 * @common: bytes that every process is fed behind its own, or NULL; the job takes care of them
 * @common_len: their number
 * @feed: give each process a pipe as stdin instead of /dev/null
 * @grace_ms: time between the request to end and KILL
 * @command_fd: an additional file to read, or -1
 * @deadline: when to call @ops->late, by job_now(); or JOB_NEVER
 * @alarm_at: when to call @ops->alarm, or JOB_NEVER
 * @signal: first signal that this process received, or 0
 * @ending: processes were told to end
 * @hurry: by a signal, for the time limit or as nobody reads: not even output is waited for long
 * @leave: by a second signal: nor for a moment
 * @kill_at: when to send KILL
 * @turn: of the streams, the one that is read next
 * @output: stdout and stderr, if these are two files; all is in the first if not
 * @waited: whether something of that waited in the last turn
 * @written_at: since when it waits, or when something was written last
 * @signal_fd: delivers this process's signals
 * @old_mask: signal mask of the processes
 */
struct job {
	const struct job_ops *ops;
	void *data;
	uint32_t count;
	struct job_proc *proc;
	uint32_t alive;
	char *common;
	size_t common_len;
	bool feed;
	uint32_t grace_ms;
	int command_fd;
	uint64_t deadline;
	uint64_t alarm_at;
	int signal;
	bool ending;
	bool hurry;
	bool leave;
	uint64_t kill_at;
	uint32_t turn;
	struct job_output output[2];
	bool waited;
	uint64_t written_at;
	int signal_fd;
	sigset_t old_mask;
};

/* Return the time in ms. */
uint64_t job_now(void);

/*
 * Open /dev/null for what of stdin, stdout and stderr is closed, before any other
 * file is opened. Return 0 or a negative errno.
 */
int job_open_standard(void);

/**
 * job_init - make a job of processes that are not started yet
 * @job: ops, and data if needed, are set
 * @count: number of processes
 *
 * Return: 0 or a negative errno.
 */
int job_init(struct job *job, uint32_t count);
void job_free(struct job *job);

/**
 * job_start - start all processes
 * @job: the job
 * @failed: out: the process that could not be started
 *
 * Return: 0, or a negative errno; the others are killed then.
 */
int job_start(struct job *job, uint32_t *failed);

/**
 * job_feed - write to a process's stdin as it reads, while the job is followed
 * @job: with @feed
 * @i: the process, which was fed nothing before
 * @text: bytes, of which the job takes care
 * @len: their number
 *
 * What it does not read, as it has ended, is dropped.
 */
void job_feed(struct job *job, uint32_t i, char *text, size_t len);

/* Write what a process has room for. */
void job_feed_more(struct job *job, uint32_t i);

/* Return whether all that a process is fed was written. */
bool job_is_fed(const struct job *job, uint32_t i);

/*
 * Deliver lines, and pass on signals, until all processes have ended. What is
 * printed meanwhile waits for those who read it, and the processes with it.
 * Return 0, or -ENOMEM: the processes are killed then, and not waited for.
 */
int job_follow(struct job *job);

/*
 * output.c: keep what is printed from now on, until job_output_end(). Return
 * whether there is memory; job_output_end() is due in any case.
 */
bool job_output_begin(struct job *job);
void job_output_end(struct job *job);

/* Write what can be written now. */
void job_output_write(struct job *job);

/* Return whether something is left; which file that is of, or -1. */
bool job_output_waits(const struct job *job);
int job_output_fd(const struct job *job, int s);

/* Note that something was written, so that somebody reads. */
void job_was_read(struct job *job);

/* Ask all processes to end by @sig; KILL follows after the grace time. */
void job_end(struct job *job, int sig);

/* Send a signal to all processes that have not ended. */
void job_kill(struct job *job, int sig);

/* Return the exit status that stands for a wait() status. */
int job_code(int status);

/* Return "SIGKILL" or "signal 37": those of real time have no names. A static buffer. */
const char *job_signal_name(int sig);

/*
 * Become a program; on failure print the reason and exit like a shell: 127 if
 * there is no such program, or 126.
 */
void job_exec(char **argv) __attribute__((noreturn));

/*
 * fresh.c: a name for a comm, and a secret, that no other run has.
 *
 * Return: 0 or a negative errno.
 */
#define FRESH_NAME_SIZE		48
#define FRESH_SECRET_SIZE	33

int fresh_name(char name[FRESH_NAME_SIZE]);
int fresh_secret(char secret[FRESH_SECRET_SIZE]);

#endif
