// SPDX-License-Identifier: GPL-2.0
/*
 * The head: starts an agent on every host, prints what the ranks write, and
 * ends all of them when one fails.
 */
#include "run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/job.h"
#include "job/members.h"

#define GRACE_MS	5000

/**
 * struct head - the run, as seen from here
 * @job: the connections to the hosts, in their order
 * @run: what the user wants
 * @running: number of ranks that have not ended
 * @code: exit status of the first failure, or 0
 * @beat_ms: between two signs of life
 * @members: node of each rank, as text
 * @name: of the comm
 * @secret: of the comm
 */
struct head {
	struct job job;
	struct run *run;
	uint32_t running;
	int code;
	uint32_t beat_ms;
	char *members;
	char name[FRESH_NAME_SIZE];
	char secret[FRESH_SECRET_SIZE];
};

static struct host *host_of(struct job *job, uint32_t i)
{
	const struct head *head = job->data;

	return &head->run->hosts.host[i];
}

/* "rank 3 on c (node 3)", "ranks 4-7 on b (node 1)"; a static buffer */
static const char *ranks_on(const struct host *host, uint32_t first, uint32_t ranks)
{
	static char text[400];

	if (ranks == 1)
		snprintf(text, sizeof(text), "rank %u on %s (node %u)", first, host->name,
			 host->node);
	else
		snprintf(text, sizeof(text), "ranks %u-%u on %s (node %u)", first,
			 first + ranks - 1, host->name, host->node);
	return text;
}

/* --- starting --- */

/* Quote a word for a shell. */
static char *quote(const char *word)
{
	char *quoted = need(malloc(4 * strlen(word) + 3)), *p = quoted;

	*p++ = '\'';
	for (; *word; word++)
		if (*word == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *word;
	strcpy(p, "'");
	return quoted;
}

static void append(char ***argv, size_t *n, const char *word)
{
	*argv = need(reallocarray(*argv, *n + 2, sizeof(**argv)));
	(*argv)[(*n)++] = need(strdup(word));
	(*argv)[*n] = NULL;
}

/* The command is in the words' own: ssh joins its arguments for a shell. */
static void append_ssh(const struct run *run, const char *name, char ***argv, size_t *n)
{
	char *words = need(strdup(run->ssh)), *rest = words, *word;
	char *self = quote(run->self), *command;

	while ((word = strsep(&rest, " \t")))
		if (*word)
			append(argv, n, word);
	append(argv, n, name);
	if (asprintf(&command, "exec %s --remote", self) < 0)
		command = NULL;
	append(argv, n, need(command));
	free(command);
	free(self);
	free(words);
}

/* torcollctl beside this program, if it has a path. */
static void append_netns(const struct run *run, const char *name, char ***argv, size_t *n)
{
	const char *slash = strrchr(run->self, '/');
	char *ctl;

	if (asprintf(&ctl, "%.*storcollctl", slash ? (int)(slash + 1 - run->self) : 0,
		     run->self) < 0)
		ctl = NULL;
	append(argv, n, need(ctl));
	append(argv, n, "netns");
	append(argv, n, "exec");
	append(argv, n, name);
	append(argv, n, run->self);
	append(argv, n, "--remote");
	free(ctl);
}

static char **command_of(const struct run *run, const struct host *host)
{
	char **argv = NULL;
	size_t n = 0;

	if (run->netns)
		append_netns(run, host->name, &argv, &n);
	else
		append_ssh(run, host->name, &argv, &n);
	return argv;
}

static void print_command(const struct run *run, const struct host *host)
{
	char **argv = command_of(run, host);
	size_t i;

	fprintf(stderr, "torcollrun: %s:", ranks_on(host, host->first, host->ranks));
	for (i = 0; argv[i]; i++) {
		fprintf(stderr, " %s", argv[i]);
		free(argv[i]);
	}
	putc('\n', stderr);
	free(argv);
}

static void host_exec(struct job *job, uint32_t i)
{
	const struct head *head = job->data;

	job_exec(command_of(head->run, host_of(job, i)));
}

/* --- orders for the agents --- */

/* Return 0, or EXIT_USAGE after printing the reason. */
static int list_members(struct head *head)
{
	const struct run *run = head->run;
	uint32_t *node = need(calloc(run->ranks, sizeof(*node)));
	uint32_t i, k, n = 0;

	for (i = 0; i < run->hosts.count; i++)
		for (k = 0; k < run->hosts.host[i].ranks; k++)
			node[n++] = run->hosts.host[i].node;
	head->members = members_text(node, n);
	free(node);
	if (head->members)
		return 0;
	return errno == E2BIG ?
	       complain("no variable is as long as the list of the nodes of %u ranks", n) :
	       complain("out of memory");
}

/* Write words with their null bytes. */
__attribute__((format(printf, 2, 3)))
static void put_word(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(to, fmt, ap);
	va_end(ap);
	putc('\0', to);
}

/* The user's TORCOLL_ variables, but those that this run sets. */
static void put_own_variables(FILE *to)
{
	static const char *const set_here[] = {
		"TORCOLL_FABRIC=", "TORCOLL_COMM=", "TORCOLL_SECRET=", "TORCOLL_RANK=",
		"TORCOLL_SIZE=", "TORCOLL_MEMBERS=", "TORCOLL_LOCAL_RANK=",
	};
	char **variable;

	for (variable = environ; *variable; variable++) {
		size_t i;

		if (strncmp(*variable, "TORCOLL_", 8))
			continue;
		for (i = 0; i < ARRAY_SIZE(set_here); i++)
			if (!strncmp(*variable, set_here[i], strlen(set_here[i])))
				break;
		if (i == ARRAY_SIZE(set_here))
			put_word(to, "env %s", *variable);
	}
}

/* What is the same for all hosts. */
static void put_common_orders(const struct head *head, FILE *to)
{
	const struct run *run = head->run;
	uint32_t i;

	put_word(to, "dir %s", run->wdir);
	put_own_variables(to);
	for (i = 0; i < run->passes; i++)
		put_word(to, "env %s", run->pass[i]);
	/* empty: the host's only fabric */
	put_word(to, "env TORCOLL_FABRIC=%s", run->key);
	put_word(to, "env TORCOLL_COMM=%s", head->name);
	put_word(to, "env TORCOLL_SECRET=%s", head->secret);
	put_word(to, "env TORCOLL_SIZE=%u", run->ranks);
	put_word(to, "env TORCOLL_MEMBERS=%s", head->members);
	for (i = 0; run->argv[i]; i++)
		put_word(to, "arg %s", run->argv[i]);
	put_word(to, "silence %u", run->silence);
	put_word(to, "go");
}

/*
 * Send all agents their orders. What cannot be written has a reason that the
 * connection's end will tell.
 */
static void send_orders(struct head *head)
{
	FILE *to = need(open_memstream(&head->job.common, &head->job.common_len));
	uint32_t i;

	put_common_orders(head, to);
	fclose(to);
	need(head->job.common);
	for (i = 0; i < head->run->hosts.count; i++) {
		const struct host *host = &head->run->hosts.host[i];
		char *text = NULL;
		size_t len;

		to = need(open_memstream(&text, &len));
		put_word(to, "torcollrun " AGENT_FORMAT);
		put_word(to, "first %u", host->first);
		put_word(to, "ranks %u", host->ranks);
		fclose(to);
		job_feed(&head->job, i, need(text), len);
	}
}

/* --- failures --- */

/* Note the first failure, and end all other ranks. */
static void fail(struct head *head, int code)
{
	if (!head->code)
		head->code = code;
	job_end(&head->job, SIGTERM);
}

/* What other ranks do once they are told to end is no news. */
static bool is_news(const struct head *head)
{
	return !head->code && !head->job.signal;
}

static void rank_ended(struct head *head, struct host *host, uint32_t rank, int status)
{
	const char *others = --head->running ? "; the other ranks are ended" : "";

	host->ended++;
	if (!job_code(status) || !is_news(head))
		return;
	if (WIFSIGNALED(status))
		complain("%s was killed by %s%s%s", ranks_on(host, rank, 1),
			 job_signal_name(WTERMSIG(status)),
			 WCOREDUMP(status) ? ", core dumped" : "", others);
	else
		complain("%s ended with exit status %d%s", ranks_on(host, rank, 1),
			 WEXITSTATUS(status), others);
	fail(head, job_code(status));
}

/* The connection has ended: right if all of its ranks have. */
static void host_ended(struct job *job, uint32_t i)
{
	const int status = job->proc[i].status;
	struct host *host = host_of(job, i);
	struct head *head = job->data;
	char how[40];

	head->running -= host->ranks - host->ended;
	if (host->ended == host->ranks || !is_news(head))
		return;
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "%s", job_signal_name(WTERMSIG(status)));
	else
		snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(status));
	complain("%s: the connection ended with %s before %s ranks %s%s",
		 ranks_on(host, host->first, host->ranks), how, host->begun ? "all" : "any",
		 host->begun ? "did" : "began", head->running ? "; the other ranks are ended" : "");
	fail(head, EXIT_LOST);
}

static void run_late(struct job *job)
{
	struct head *head = job->data;

	if (!is_news(head))
		return;
	if (head->running)
		complain("%u of %u ranks had not ended after %u s; they are ended", head->running,
			 head->run->ranks, head->run->timeout);
	else if (job_output_waits(job))
		complain("what the ranks wrote was not read after %u s", head->run->timeout);
	else
		complain("all ranks have ended, but %u connection%s had not after %u s", job->alive,
			 job->alive == 1 ? "" : "s", head->run->timeout);
	fail(head, EXIT_TIMEOUT);
}

/* Write a byte to an agent that has got its orders. Return whether there was room. */
static bool host_tell(struct job *job, uint32_t i, char byte)
{
	return write(job->proc[i].in, &byte, 1) == 1;
}

/* What an agent does not read is old when it does: it is not kept. */
static void tell_all(struct job *job, char byte)
{
	uint32_t i;

	for (i = 0; i < job->count; i++)
		if (!job->proc[i].ended && job_is_fed(job, i))
			host_tell(job, i, byte);
}

static void show_life(struct job *job)
{
	const struct head *head = job->data;

	tell_all(job, BYTE_LIVES);
	job->alarm_at = job_now() + head->beat_ms;
}

/* The alarm's time is over when this program is continued. */
static void run_stops(struct job *job)
{
	tell_all(job, BYTE_STOPS);
}

/*
 * The agent kills the ranks; if it does not, or still reads its orders, its
 * connection is cut.
 */
static void host_kill(struct job *job, uint32_t i, int sig)
{
	struct host *host = host_of(job, i);
	char byte = sig == SIGKILL ? BYTE_KILL : sig == SIGINT ? BYTE_INT :
		    sig == SIGHUP ? BYTE_HUP : BYTE_TERM;

	if ((sig == SIGKILL && host->killed) || !job_is_fed(job, i) || !host_tell(job, i, byte))
		kill(-job->proc[i].pid, SIGKILL);
	host->killed |= sig == SIGKILL;
}

/* --- what comes from the agents --- */

static void print_line(const struct head *head, const struct host *host, uint32_t rank, FILE *to,
		       const char *text, size_t len)
{
	if (!head->run->no_prefix)
		fprintf(to, "[%u %s] ", rank, host->name);
	fwrite(text, 1, len, to);
	putc('\n', to);
}

/* Read a rank of that host and the space behind it. */
static bool read_rank(const struct host *host, const char **text, size_t *len, uint32_t *rank)
{
	uint64_t value = 0;

	for (; *len && **text >= '0' && **text <= '9' && value <= RANKS_MAX; ++*text, --*len)
		value = 10 * value + (**text - '0');
	if (!*len || **text != ' ' || value < host->first || value >= host->first + host->ranks)
		return false;
	++*text;
	--*len;
	*rank = value;
	return true;
}

/* Return whether the line is a frame. */
static bool take_frame(struct head *head, struct host *host, const char *text, size_t len)
{
	char kind, number[12] = "";
	uint32_t rank;

	if (len < 2 || text[0] != FRAME_MARK)
		return false;
	kind = text[1];
	if (kind == FRAME_BEGUN && len == 2) {
		host->begun = true;
		return true;
	}
	text += 2;
	len -= 2;
	if (!read_rank(host, &text, &len, &rank))
		return false;
	switch (kind) {
	case FRAME_OUT:
		print_line(head, host, rank, stdout, text, len);
		return true;
	case FRAME_ERR:
		print_line(head, host, rank, stderr, text, len);
		return true;
	case FRAME_END:
		memcpy(number, text, len < sizeof(number) ? len : sizeof(number) - 1);
		rank_ended(head, host, rank, atoi(number));
		return true;
	}
	return false;
}

/* A line of the connection: a frame, or what ssh or a login script says. */
static void host_line(struct job *job, uint32_t i, bool err, const char *text, size_t len)
{
	struct host *host = host_of(job, i);

	if (!err && take_frame(job->data, host, text, len))
		return;
	fprintf(stderr, "[%s] ", host->name);
	fwrite(text, 1, len, stderr);
	putc('\n', stderr);
}

static const struct job_ops ops = {
	.exec = host_exec,
	.line = host_line,
	.ended = host_ended,
	.kill = host_kill,
	.late = run_late,
	.alarm = show_life,
	.stop = run_stops,
};

static void start(struct head *head)
{
	uint32_t i;
	int err;

	if (head->run->verbose)
		for (i = 0; i < head->run->hosts.count; i++)
			print_command(head->run, &head->run->hosts.host[i]);
	err = job_start(&head->job, &i);
	if (err) {
		/* that the others are killed is no news */
		head->code = complain("starting the connection to %s: %s",
				      head->run->hosts.host[i].name, strerror(-err));
		return;
	}
	send_orders(head);
	show_life(&head->job);
	if (head->run->timeout)
		head->job.deadline = job_now() + 1000ULL * head->run->timeout;
}

int head_main(struct run *run)
{
	struct head head = { .job.ops = &ops, .run = run, .running = run->ranks };

	head.job.data = &head;
	if (fresh_name(head.name) || fresh_secret(head.secret))
		return complain("no random numbers: %s", strerror(errno));
	if (list_members(&head))
		return EXIT_USAGE;
	if (job_init(&head.job, run->hosts.count))
		return complain("out of memory");
	head.job.grace_ms = GRACE_MS;
	head.job.feed = true;
	head.beat_ms = 1000 * run->silence / BYTES_IN_TIME;
	start(&head);
	if (job_follow(&head.job))
		head.code = complain("out of memory");
	free(head.members);
	job_free(&head.job);
	return head.job.signal ? 128 + head.job.signal : head.code;
}
