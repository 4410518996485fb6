// SPDX-License-Identifier: GPL-2.0
/* The agent: starts the ranks of one host, and tells the head of them. */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"

#define GRACE_MS	3000
#define TEXT_MAX	(JOB_LINE_MAX / 2)

/*
 * What Linux lets an argument or a variable have, with pages of up to 64 KiB, and all of
 * them. Whatever sends more is no torcollrun that a program could be started for.
 */
#define STRING_MAX	(32U * 65536)
#define WORD_SIZE	(sizeof("env ") + STRING_MAX)
#define ORDERS_MAX	(8U << 20)

/**
 * struct agent - the ranks of this host
 * @job: their processes
 * @first: the first rank
 * @ranks: number
 * @silence: seconds for which the head may say nothing
 * @missed: times at which a sign of life was due, and none had come since the last one
 * @argv: program, @argc words
 */
struct agent {
	struct job job;
	uint32_t first;
	uint32_t ranks;
	uint32_t silence;
	uint32_t missed;
	char **argv;
	uint32_t argc;
};

/* --- what to do --- */

static void add_argument(struct agent *agent, const char *word)
{
	agent->argv = need(reallocarray(agent->argv, agent->argc + 2, sizeof(*agent->argv)));
	agent->argv[agent->argc++] = need(strdup(word));
	agent->argv[agent->argc] = NULL;
}

static int set_directory(const char *path)
{
	return chdir(path) ? complain("%s: %s", path, strerror(errno)) : 0;
}

static int set_number(uint32_t *number, const char *word)
{
	uint64_t value;

	if (!parse_number(word, RANKS_MAX, &value))
		return complain("\"%s\" is no number: torcollrun is not to be started by hand as --remote",
				word);
	*number = value;
	return 0;
}

static int obey(struct agent *agent, char *word)
{
	char *value = strchr(word, ' ');

	if (!value)
		return complain("\"%s\" is not known here: torcollrun differs between the hosts", word);
	*value++ = '\0';
	if (!strcmp(word, "torcollrun"))
		return strcmp(value, AGENT_FORMAT) ?
		       complain("torcollrun differs between the hosts") : 0;
	if (!strcmp(word, "dir"))
		return set_directory(value);
	if (!strcmp(word, "env"))
		return putenv(need(strdup(value))) ? complain("%s", strerror(errno)) : 0;
	if (!strcmp(word, "first"))
		return set_number(&agent->first, value);
	if (!strcmp(word, "ranks"))
		return set_number(&agent->ranks, value);
	if (!strcmp(word, "silence"))
		return set_number(&agent->silence, value);
	if (!strcmp(word, "arg")) {
		add_argument(agent, value);
		return 0;
	}
	return complain("\"%s\" is not known here: torcollrun differs between the hosts", word);
}

/*
 * Read a word, of all orders so far @len bytes. Return 0, or EXIT_USAGE after printing
 * the reason.
 */
static int read_word(char word[WORD_SIZE], size_t *len)
{
	bool first = !*len;
	size_t n;
	int c;

	for (n = 0; n < WORD_SIZE; n++) {
		c = getchar();
		if (c == EOF)
			return complain(first ? "--remote is not to be started by hand" :
					"the connection ended before the ranks were started");
		word[n] = c;
		if (!c)
			break;
	}
	*len += n + 1;
	if (n == WORD_SIZE)
		return complain("an argument or a variable is longer than %u bytes: no program can have it",
				STRING_MAX);
	if (*len > ORDERS_MAX)
		return complain("arguments and variables are longer than %u bytes: no program can have them",
				ORDERS_MAX);
	return 0;
}

/* Read words up to "go"; what follows stays in the file. */
static int read_orders(struct agent *agent)
{
	char *word = need(malloc(WORD_SIZE));
	size_t len = 0;
	int err;

	setvbuf(stdin, NULL, _IONBF, 0);
	err = read_word(word, &len);
	while (!err && strcmp(word, "go")) {
		err = obey(agent, word);
		if (!err)
			err = read_word(word, &len);
	}
	free(word);
	if (!err && (!agent->argc || !agent->ranks || !agent->silence))
		err = complain("the head named no program, no ranks, or no time");
	return err;
}

/* --- the ranks --- */

static void set_variable(const char *name, uint32_t value)
{
	char text[12];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

static void rank_exec(struct job *job, uint32_t i)
{
	const struct agent *agent = job->data;

	set_variable("TORCOLL_RANK", agent->first + i);
	set_variable("TORCOLL_LOCAL_RANK", i);
	job_exec(agent->argv);
}

/* The frame of a longest line would be too long a line for the head. */
static void rank_line(struct job *job, uint32_t i, bool err, const char *text, size_t len)
{
	const struct agent *agent = job->data;

	do {
		size_t n = len < TEXT_MAX ? len : TEXT_MAX;

		printf("%c%c%u ", FRAME_MARK, err ? FRAME_ERR : FRAME_OUT, agent->first + i);
		fwrite(text, 1, n, stdout);
		putchar('\n');
		text += n;
		len -= n;
	} while (len);
}

static void rank_ended(struct job *job, uint32_t i)
{
	const struct agent *agent = job->data;

	printf("%c%c%u %d\n", FRAME_MARK, FRAME_END, agent->first + i, job->proc[i].status);
}

static void head_is_gone(struct job *job)
{
	job->command_fd = -1;
	job->alarm_at = JOB_NEVER;
	job->hurry = true;
	job_end(job, SIGTERM);
}

static void expect_byte(struct job *job)
{
	const struct agent *agent = job->data;

	job->alarm_at = job_now() + 1000ULL * agent->silence / BYTES_IN_TIME;
}

static void obey_byte(struct job *job, char byte)
{
	struct agent *agent = job->data;

	agent->missed = 0;
	expect_byte(job);
	switch (byte) {
	case BYTE_LIVES:
		return;
	case BYTE_STOPS:
		job->alarm_at = JOB_NEVER;
		return;
	case BYTE_KILL:
		job->hurry = true;
		job_kill(job, SIGKILL);
		return;
	}
	job_end(job, byte == BYTE_INT ? SIGINT : byte == BYTE_HUP ? SIGHUP : SIGTERM);
}

/* Signals from the head, or the end of it. */
static void take_command(struct job *job)
{
	char byte;

	switch (read(job->command_fd, &byte, 1)) {
	case 1:
		obey_byte(job, byte);
		return;
	case -1:
		if (errno == EINTR || errno == EAGAIN)
			return;
	}
	head_is_gone(job);
}

/*
 * Whoever was stopped, or had no processor, finds here what has come meanwhile. It
 * may be sshd that was, and has not read it yet: a time is only what was waited
 * for, turn by turn.
 */
static void byte_is_late(struct job *job)
{
	struct pollfd fd = { job->command_fd, POLLIN, 0 };
	struct agent *agent = job->data;

	expect_byte(job);
	if (poll(&fd, 1, 0) > 0) {
		take_command(job);
	} else if (++agent->missed == BYTES_IN_TIME) {
		complain("this host has heard nothing of torcollrun for %u s: its ranks are ended",
			 agent->silence);
		head_is_gone(job);
	}
}

static const struct job_ops ops = {
	.exec = rank_exec,
	.line = rank_line,
	.ended = rank_ended,
	.command = take_command,
	.alarm = byte_is_late,
};

int agent_main(void)
{
	struct agent agent = { .job.ops = &ops };
	uint32_t failed = 0;
	int err = read_orders(&agent);

	if (err)
		return err;
	agent.job.data = &agent;
	if (job_init(&agent.job, agent.ranks))
		return complain("out of memory");
	agent.job.grace_ms = GRACE_MS;
	agent.job.command_fd = STDIN_FILENO;
	expect_byte(&agent.job);
	err = job_start(&agent.job, &failed);
	if (err)
		complain("starting rank %u: %s", agent.first + failed, strerror(-err));
	else
		printf("%c%c\n", FRAME_MARK, FRAME_BEGUN);
	fflush(stdout);
	if (job_follow(&agent.job))
		err = complain("out of memory");
	job_free(&agent.job);
	return err ? EXIT_USAGE : 0;
}
