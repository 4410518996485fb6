// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl netns run: run a command on every node of a virtual torus, as the
 * ranks of one comm.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "netns.h"
#include "job/job.h"
#include "job/members.h"

#define RANK_ALL	(~0U)
#define PPN_MAX		64

/**
 * struct run - what to run, and the ranks
 * @job: the ranks' processes
 * @ranks: number
 * @node: of each
 * @nodes: number of these, 0: all
 * @ppn: ranks of each node in turn, "1,2,3"; NULL: one
 * @by_node: placed in turns
 * @only: show this rank's output only, or RANK_ALL
 */
struct run {
	struct job job;
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
	char key[24];
	char comm[FRESH_NAME_SIZE];
	char random[FRESH_SECRET_SIZE];
};

/* --- the command line --- */

static int parse_one(struct args *a, struct run *run)
{
	const char *word = arg_next(a);

	if (!strcmp(word, "-n")) {
		if (arg_u32(a, "-n", &run->nodes))
			return CTL_USAGE;
		return run->nodes ? 0 : usage_error("-n 0: a rank at least needs a node");
	}
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
	int home = netns_home();
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

/* Set TORCOLL_MEMBERS: the node of each rank. Return 0, or CTL_USAGE after printing the reason. */
static int set_members(const struct run *run)
{
	char *list = members_text(run->node, run->ranks);

	if (!list && errno == E2BIG)
		return other_error("no variable is as long as the list of the nodes of %u ranks",
				   run->ranks);
	if (!list)
		return other_error("out of memory");
	setenv("TORCOLL_MEMBERS", list, 1);
	free(list);
	return 0;
}

/* Return 0, or the exit status after printing the reason. */
static int prepare_environment(struct run *run)
{
	int err;

	find_key(run);
	err = fresh_name(run->comm);
	if (!err && !run->secret) {
		err = fresh_secret(run->random);
		run->secret = run->random;
	}
	if (err) {
		other_error("no random numbers: %s", strerror(-err));
		return CTL_REFUSED;
	}
	if (*run->key)
		setenv("TORCOLL_FABRIC", run->key, 1);
	else
		unsetenv("TORCOLL_FABRIC");
	setenv("TORCOLL_COMM", run->comm, 1);
	setenv("TORCOLL_SECRET", run->secret, 1);
	setenv("TORCOLL_SIZE", fmt_str("%u", run->ranks), 1);
	if (run->ppn)
		return set_members(run);
	unsetenv("TORCOLL_MEMBERS");
	return 0;
}

/* --- the job --- */

static void rank_exec(struct job *job, uint32_t rank)
{
	const struct run *run = job->data;
	const char *name = netns_name(run->prefix, run->node[rank]);
	int fd = netns_open(name);

	if (fd < 0 || netns_enter(fd)) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return;
	}
	setenv("TORCOLL_RANK", fmt_str("%u", rank), 1);
	job_exec(run->argv);
}

static void rank_line(struct job *job, uint32_t rank, bool err, const char *text, size_t len)
{
	const struct run *run = job->data;
	FILE *to = err ? stderr : stdout;

	if (run->only != RANK_ALL && run->only != rank && !err)
		return;
	if (!run->no_prefix)
		fprintf(to, "[%u] ", rank);
	fwrite(text, 1, len, to);
	putc('\n', to);
}

static const struct job_ops rank_ops = {
	.exec = rank_exec,
	.line = rank_line,
};

/* Print one sentence per unsuccessful way to end, with the ranks concerned. */
static void report(const struct run *run, uint32_t first)
{
	int status = run->job.proc[first].status;
	uint32_t i, n = 0;

	for (i = 0; i < run->ranks; i++) {
		if (run->job.proc[i].status != status)
			continue;
		if (i < first)
			return;
		n++;
	}
	fprintf(stderr, "torcollctl: %s ", n == 1 ? "rank" : "ranks");
	for (i = first; i < run->ranks; i++)
		if (run->job.proc[i].status == status)
			fprintf(stderr, "%s%u", i == first ? "" : ",", i);
	if (WIFSIGNALED(status))
		fprintf(stderr, " killed by %s%s\n", job_signal_name(WTERMSIG(status)),
			WCOREDUMP(status) ? ", core dumped" : "");
	else
		fprintf(stderr, " ended with exit status %d\n", WEXITSTATUS(status));
}

static int result(const struct run *run)
{
	int worst = 0;
	uint32_t i;

	for (i = 0; i < run->ranks; i++) {
		int code = job_code(run->job.proc[i].status);

		if (code && !run->job.signal)
			report(run, i);
		if (code > worst)
			worst = code;
	}
	return run->job.signal ? 128 + run->job.signal : worst;
}

/* Start the ranks, and wait for them. Return the exit status. */
static int run_job(struct run *run)
{
	uint32_t rank;
	int err = job_init(&run->job, run->ranks);

	if (err)
		return other_error("out of memory");
	err = job_start(&run->job, &rank);
	if (err)
		other_error("starting rank %u: %s", rank, strerror(-err));
	if (job_follow(&run->job))
		err = other_error("out of memory");
	else
		err = err ? CTL_REFUSED : result(run);
	job_free(&run->job);
	return err;
}

int netns_run(struct args *a)
{
	struct run run = {
		.job = { .ops = &rank_ops },
		.prefix = netns_prefix(),
		.only = RANK_ALL,
	};
	int ret = job_open_standard();

	if (ret)
		return other_error("/dev/null: %s", strerror(-ret));
	run.job.data = &run;
	if (parse(a, &run) || find_nodes(&run))
		return CTL_USAGE;
	ret = prepare_environment(&run);
	if (!ret)
		ret = run_job(&run);
	free(run.node);
	return ret;
}
