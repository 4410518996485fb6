// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl netns run: run a command on every node of a virtual torus, as the
 * ranks of one comm.
 *
 * Every rank is a process group, so that its children end with it. Output comes
 * through pipes and is printed in whole lines. The ranks also end when the
 * launcher dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "netns.h"

#define LINE_MAX_BYTES	65536	/* a longer line is printed in pieces */
#define GRACE_MS	2000	/* between TERM and KILL */
#define RANK_ALL	(~0U)
#define PPN_MAX		64

/* A pipe, and the incomplete line read from it. */
struct stream {
	int fd;
	FILE *to;
	char *line;
	size_t len;
};

struct rank {
	pid_t pid;
	bool ended;
	int status;
	struct stream stream[2];	/* stdout, stderr */
};

/**
 * struct run - the ranks and their state
 * @ranks: number
 * @node: of each
 * @nodes: number of these, 0: all
 * @ppn: ranks of each node in turn, "1,2,3"; NULL: one
 * @by_node: placed in turns
 * @only: show this rank's output only, or RANK_ALL
 * @alive: number of ranks that have not ended
 * @signal: that was received, or 0
 * @kill_at: when to send KILL after TERM, ms
 */
struct run {
	const char *prefix;
	const char *secret;
	uint32_t nodes;
	const char *ppn;
	bool by_node;
	uint32_t ranks;
	uint32_t *node;
	uint32_t only;
	bool no_prefix;
	char **argv;
	struct rank *rank;
	uint32_t alive;
	int signal_fd;
	sigset_t old_mask;
	int signal;
	uint64_t kill_at;
	char key[24];
	char comm[64];
	char random[40];
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

/* --- the command line --- */

static int parse_one(struct args *a, struct run *run)
{
	const char *word = arg_next(a);

	if (!strcmp(word, "-n"))
		return arg_u32(a, "-n", &run->nodes);
	if (!strcmp(word, "--ppn")) {
		run->ppn = arg_need(a, "--ppn");
		return run->ppn ? 0 : CTL_USAGE;
	}
	if (!strcmp(word, "--by-node")) {
		run->by_node = true;
		return 0;
	}
	if (!strcmp(word, "--only"))
		return arg_u32(a, "--only", &run->only);
	if (!strcmp(word, "--no-prefix")) {
		run->no_prefix = true;
		return 0;
	}
	if (!strcmp(word, "--secret")) {
		run->secret = arg_need(a, "--secret");
		return run->secret ? 0 : CTL_USAGE;
	}
	if (!strcmp(word, "prefix") || !strcmp(word, "--prefix")) {
		run->prefix = arg_need(a, "prefix");
		return run->prefix ? 0 : CTL_USAGE;
	}
	return usage_error("netns run has no option \"%s\"", word);
}

static int parse(struct args *a, struct run *run)
{
	while (a->argc && (a->argv[0][0] == '-' || !strcmp(a->argv[0], "prefix"))) {
		if (!strcmp(a->argv[0], "--")) {
			arg_next(a);
			break;
		}
		if (parse_one(a, run))
			return CTL_USAGE;
	}
	if (!a->argc)
		return usage_error("the command is missing");
	run->argv = a->argv;
	return netns_check_prefix(run->prefix);
}

/*
 * Return the next number of the list, which repeats from its beginning; 0: it
 * is invalid.
 */
static uint32_t next_ppn(const char *list, const char **at)
{
	unsigned long n;
	char *end;

	if (!**at)
		*at = list;
	n = strtoul(*at, &end, 10);
	if (end == *at || (*end && *end != ',') || n > PPN_MAX || (*end && !end[1]))
		return 0;
	*at = *end ? end + 1 : end;
	return n;
}

/* Place a rank on each node in turn, as long as nodes have any left. */
static void place_by_node(struct run *run, const uint32_t *node, const uint32_t *ppn)
{
	uint32_t i, turn;

	for (turn = 0; turn < PPN_MAX; turn++)
		for (i = 0; i < run->nodes; i++)
			if (turn < ppn[i])
				run->node[run->ranks++] = node[i];
}

/* Place all ranks of a node, then those of the next. */
static void place_in_a_row(struct run *run, const uint32_t *node, const uint32_t *ppn)
{
	uint32_t i, turn;

	for (i = 0; i < run->nodes; i++)
		for (turn = 0; turn < ppn[i]; turn++)
			run->node[run->ranks++] = node[i];
}

/* Place each node's number of ranks. */
static int place_ranks(struct run *run, const uint32_t *node)
{
	uint32_t *ppn = calloc(run->nodes, sizeof(*ppn)), i;
	const char *at = run->ppn ? run->ppn : "1";
	const char *list = at;
	int err = 0;

	run->node = calloc(run->nodes, PPN_MAX * sizeof(*run->node));
	if (!ppn || !run->node)
		err = other_error("out of memory");
	for (i = 0; !err && i < run->nodes; i++) {
		ppn[i] = next_ppn(list, &at);
		if (!ppn[i])
			err = usage_error("--ppn %s: ranks per node, each 1 to %u, as 2 or 1,2,3",
					  list, PPN_MAX);
	}
	if (!err && run->by_node)
		place_by_node(run, node, ppn);
	else if (!err)
		place_in_a_row(run, node, ppn);
	free(ppn);
	return err;
}

static int find_nodes(struct run *run)
{
	uint32_t *node, n = netns_list(run->prefix, &node);
	int err;

	if (!n)
		return other_error("there is no virtual torus: make one, as with \"torcollctl netns up 4x4\"");
	if (run->nodes > n) {
		free(node);
		return usage_error("-n %u: the torus has %u nodes", run->nodes, n);
	}
	if (!run->nodes)
		run->nodes = n;
	err = place_ranks(run, node);
	free(node);
	if (err)
		return err;
	if (run->only != RANK_ALL && run->only >= run->ranks)
		return usage_error("--only %u: there are %u ranks", run->only, run->ranks);
	return 0;
}

/* --- the ranks' environment --- */

static void random_hex(char *s, size_t bytes)
{
	uint8_t b[16];
	size_t i;

	if (getrandom(b, bytes, 0) != (ssize_t)bytes)
		memset(b, getpid(), sizeof(b));
	for (i = 0; i < bytes; i++)
		sprintf(s + 2 * i, "%02x", b[i]);
}

static void find_key_here(struct run *run)
{
	struct json_object *fabrics;
	struct conn c;

	if (conn_open(&c))
		return;
	if (!view_dump(&c, &fabric_view, NULL, &fabrics)) {
		if (json_object_array_length(fabrics))
			snprintf(run->key, sizeof(run->key), "%s",
				 js_str(json_object_array_get_idx(fabrics, 0), "key"));
		json_object_put(fabrics);
	}
	conn_close(&c);
}

/*
 * Find the fabric of the first node; without one the command may still be
 * useful.
 */
static void find_key(struct run *run)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd = netns_open(netns_name(run->prefix, run->node[0]));

	if (home >= 0 && fd >= 0 && !netns_enter(fd)) {
		find_key_here(run);
		netns_enter(home);
	}
	if (fd >= 0)
		close(fd);
	if (home >= 0)
		close(home);
}

/* Set TORCOLL_MEMBERS: the node of each rank. */
static void set_members(const struct run *run)
{
	size_t room = run->ranks * sizeof("4294967295,");
	char *list = malloc(room), *p = list;
	uint32_t i;

	for (i = 0; list && i < run->ranks; i++)
		p += snprintf(p, list + room - p, i ? ",%u" : "%u", run->node[i]);
	if (list)
		setenv("TORCOLL_MEMBERS", list, 1);
	free(list);
}

static void prepare_environment(struct run *run)
{
	char hex[20];

	find_key(run);
	random_hex(hex, 8);
	snprintf(run->comm, sizeof(run->comm), "run-%d-%s", getpid(), hex);
	if (!run->secret) {
		random_hex(run->random, 16);
		run->secret = run->random;
	}
	if (*run->key)
		setenv("TORCOLL_FABRIC", run->key, 1);
	else
		unsetenv("TORCOLL_FABRIC");
	setenv("TORCOLL_COMM", run->comm, 1);
	setenv("TORCOLL_SECRET", run->secret, 1);
	setenv("TORCOLL_SIZE", fmt_str("%u", run->ranks), 1);
	if (run->ppn)
		set_members(run);
	else
		unsetenv("TORCOLL_MEMBERS");
}

/* --- starting --- */

static void child_fail(const char *what, int code)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	fflush(stderr);
	_exit(code);
}

static void child(struct run *run, uint32_t rank, const int *out, pid_t parent)
{
	const char *name = netns_name(run->prefix, run->node[rank]);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(in, 0);
	dup2(out[0], 1);
	dup2(out[1], 2);
	fd = netns_open(name);
	if (fd < 0 || netns_enter(fd))
		child_fail(name, 126);
	setenv("TORCOLL_RANK", fmt_str("%u", rank), 1);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
	execvp(run->argv[0], run->argv);
	child_fail(run->argv[0], errno == ENOENT ? 127 : 126);
}

static int start(struct run *run, uint32_t i)
{
	struct rank *rank = &run->rank[i];
	int out[2] = { -1, -1 };
	pid_t parent = getpid();
	int s;

	for (s = 0; s < 2; s++) {
		int fd[2];

		if (pipe2(fd, O_CLOEXEC))
			return -errno;
		fcntl(fd[0], F_SETFL, O_NONBLOCK);
		rank->stream[s].fd = fd[0];
		rank->stream[s].to = s ? stderr : stdout;
		out[s] = fd[1];
	}
	rank->pid = fork();
	if (!rank->pid)
		child(run, i, out, parent);
	s = errno;
	close(out[0]);
	close(out[1]);
	if (rank->pid < 0)
		return -s;
	setpgid(rank->pid, rank->pid);
	run->alive++;
	return 0;
}

/* --- output --- */

static void put_line(const struct run *run, uint32_t i, struct stream *s, const char *line,
		     size_t len)
{
	if (run->only != RANK_ALL && run->only != i && s->to == stdout)
		return;
	if (!run->no_prefix)
		fprintf(s->to, "[%u] ", i);
	fwrite(line, 1, len, s->to);
	putc('\n', s->to);
}

static void put_lines(const struct run *run, uint32_t i, struct stream *s)
{
	char *from = s->line, *end;

	while ((end = memchr(from, '\n', s->line + s->len - from))) {
		put_line(run, i, s, from, end - from);
		from = end + 1;
	}
	s->len -= from - s->line;
	memmove(s->line, from, s->len);
	if (s->len == LINE_MAX_BYTES) {
		put_line(run, i, s, s->line, s->len);
		s->len = 0;
	}
}

/* Read everything available. */
static void drain(const struct run *run, uint32_t i, struct stream *s)
{
	while (s->fd >= 0) {
		ssize_t n;

		if (!s->line)
			s->line = malloc(LINE_MAX_BYTES);
		if (!s->line)
			return;
		n = read(s->fd, s->line + s->len, LINE_MAX_BYTES - s->len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			if (s->len)
				put_line(run, i, s, s->line, s->len);
			s->len = 0;
			close(s->fd);
			s->fd = -1;
			return;
		}
		s->len += n;
		put_lines(run, i, s);
	}
}

static void drain_all(struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->ranks; i++) {
		drain(run, i, &run->rank[i].stream[0]);
		drain(run, i, &run->rank[i].stream[1]);
	}
	fflush(stdout);
	fflush(stderr);
}

/* --- the end --- */

static void kill_all(struct run *run, int sig)
{
	uint32_t i;

	for (i = 0; i < run->ranks; i++)
		if (run->rank[i].pid > 0 && !run->rank[i].ended)
			kill(-run->rank[i].pid, sig);
}

static void reap(struct run *run)
{
	int status;
	pid_t pid;
	uint32_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < run->ranks; i++) {
			if (run->rank[i].pid != pid)
				continue;
			run->rank[i].ended = true;
			run->rank[i].status = status;
			run->alive--;
		}
	}
}

/*
 * Handle signals: the first asks the ranks to end, a second one or a timeout
 * kills them.
 */
static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		kill_all(run, run->signal ? SIGKILL : SIGTERM);
		if (!run->signal)
			run->kill_at = now_ms() + GRACE_MS;
		run->signal = info.ssi_signo;
	}
	reap(run);
}

static int time_left(struct run *run)
{
	uint64_t now = now_ms();

	if (!run->kill_at)
		return -1;
	if (now < run->kill_at)
		return run->kill_at - now;
	kill_all(run, SIGKILL);
	run->kill_at = now + GRACE_MS;
	return GRACE_MS;
}

static void follow(struct run *run)
{
	struct pollfd *fds = calloc(2 * run->ranks + 1, sizeof(*fds));
	uint32_t i;

	while (fds && run->alive) {
		for (i = 0; i < 2 * run->ranks; i++)
			fds[i] = (struct pollfd){ run->rank[i / 2].stream[i % 2].fd, POLLIN, 0 };
		fds[i] = (struct pollfd){ run->signal_fd, POLLIN, 0 };
		poll(fds, i + 1, time_left(run));
		drain_all(run);
		take_signals(run);
	}
	/*
	 * output that ranks wrote before they ended, but not that of their
	 * children later
	 */
	drain_all(run);
	for (i = 0; i < 2 * run->ranks; i++) {
		struct stream *s = &run->rank[i / 2].stream[i % 2];

		if (s->len)
			put_line(run, i / 2, s, s->line, s->len);
		if (s->fd >= 0)
			close(s->fd);
		free(s->line);
	}
	fflush(stdout);
	free(fds);
}

static int code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Print one sentence per unsuccessful way to end, with the ranks concerned. */
static void report(const struct run *run, uint32_t first)
{
	int status = run->rank[first].status;
	uint32_t i, n = 0;

	for (i = 0; i < run->ranks; i++) {
		if (run->rank[i].status != status)
			continue;
		if (i < first)
			return;
		n++;
	}
	fprintf(stderr, "torcollctl: %s ", n == 1 ? "rank" : "ranks");
	for (i = first; i < run->ranks; i++)
		if (run->rank[i].status == status)
			fprintf(stderr, "%s%u", i == first ? "" : ",", i);
	if (WIFSIGNALED(status))
		fprintf(stderr, " killed by SIG%s%s\n", sigabbrev_np(WTERMSIG(status)),
			WCOREDUMP(status) ? ", core dumped" : "");
	else
		fprintf(stderr, " ended with exit status %d\n", WEXITSTATUS(status));
}

static int result(const struct run *run)
{
	int worst = 0;
	uint32_t i;

	for (i = 0; i < run->ranks; i++) {
		int code = code_of(run->rank[i].status);

		if (code && !run->signal)
			report(run, i);
		if (code > worst)
			worst = code;
	}
	return run->signal ? 128 + run->signal : worst;
}

static int start_all(struct run *run)
{
	sigset_t mask;
	uint32_t i;
	int err = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &run->old_mask);
	run->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	fflush(stdout);
	for (i = 0; !err && i < run->ranks; i++)
		err = start(run, i);
	if (err) {
		usage_error("starting rank %u: %s", i - 1, strerror(-err));
		kill_all(run, SIGKILL);
	}
	return err;
}

/* Raise the limit: three files per rank. */
static void raise_file_limit(uint32_t ranks)
{
	struct rlimit limit;
	rlim_t want = 3 * (rlim_t)ranks + 64;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want)
		return;
	limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int netns_run(struct args *a)
{
	struct run run = { .prefix = netns_prefix(), .only = RANK_ALL, .signal_fd = -1 };
	uint32_t i;
	int ret;

	if (parse(a, &run) || find_nodes(&run))
		return CTL_USAGE;
	raise_file_limit(run.ranks);
	run.rank = calloc(run.ranks, sizeof(*run.rank));
	if (!run.rank)
		return other_error("out of memory");
	for (i = 0; i < run.ranks; i++)
		run.rank[i].stream[0].fd = run.rank[i].stream[1].fd = -1;
	prepare_environment(&run);
	ret = start_all(&run);
	follow(&run);
	sigprocmask(SIG_SETMASK, &run.old_mask, NULL);
	close(run.signal_fd);
	ret = ret ? CTL_REFUSED : result(&run);
	free(run.rank);
	free(run.node);
	return ret;
}
