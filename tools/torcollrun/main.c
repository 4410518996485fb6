// SPDX-License-Identifier: GPL-2.0
/*
 * torcollrun: starts a program on the nodes of a fabric, as the ranks of one
 * comm.
 *
 * Exit status: that of the first rank that fails, 128 and the signal if one
 * ended it or this program; 2 usage, 124 timeout, 255 a host was lost.
 */
#include "run.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"

const char *argp_program_version = "torcollrun " TORCOLL_VERSION;

enum key {
	KEY_PPN = 256, KEY_HOSTFILE, KEY_FABRIC, KEY_NODES, KEY_NETNS, KEY_PREFIX, KEY_WDIR,
	KEY_NO_PREFIX, KEY_TIMEOUT, KEY_SILENCE, KEY_SSH, KEY_REMOTE,
};

static const struct argp_option options[] = {
	{ "fabric", KEY_FABRIC, "NAME|KEY", 0, "The hosts of /etc/torcoll/NAME.conf (the only file there), or of that path; with --host, --hostfile and --netns, the fabric's key", 1 },
	{ "host", 'H', "A,B,...", 0, "These hosts instead: nodes 0, 1, ...", 1 },
	{ "hostfile", KEY_HOSTFILE, "FILE", 0, "The hosts in the file, one a line: nodes 0, 1, ...", 1 },
	{ "netns", KEY_NETNS, NULL, 0, "The namespaces of torcollctl netns up", 1 },
	{ "prefix", KEY_PREFIX, "NAME", 0, "Their prefix ($TORCOLL_PREFIX or tor)", 1 },
	{ "nodes", KEY_NODES, "0-3,7", 0, "Only these nodes", 1 },
	{ "ranks", 'n', "N", 0, "Number of ranks (all that fit)", 2 },
	{ "ppn", KEY_PPN, "N", 0, "Ranks per node (1)", 2 },
	{ "env", 'x', "NAME[=VALUE]", 0, "Pass on a variable; TORCOLL_* are passed on anyway", 3 },
	{ "wdir", KEY_WDIR, "DIR", 0, "Directory of the ranks (this one)", 3 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "End all ranks after that time", 3 },
	{ "silence", KEY_SILENCE, "SECONDS", 0, "A host that hears nothing of this program for that time ends its ranks (30)", 3 },
	{ "ssh", KEY_SSH, "COMMAND", 0, "Reach hosts by this command (ssh with -T, BatchMode and ServerAliveInterval)", 3 },
	{ "no-prefix", KEY_NO_PREFIX, NULL, 0, "Print lines without rank and host", 4 },
	{ "verbose", 'v', NULL, 0, "Print where ranks are started, and how", 4 },
	{ "remote", KEY_REMOTE, NULL, 0, "The part on the other host: torcollrun starts it by itself", 5 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

static const char doc[] =
	"Starts a program on the nodes of a fabric, as the ranks of one communicator of a fresh name "
	"and secret. When one of them fails, the others are ended.";

int complain(const char *fmt, ...)
{
	va_list ap;

	fputs("torcollrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
	return EXIT_USAGE;
}

void *need(void *p)
{
	if (!p)
		exit(complain("out of memory"));
	return p;
}

bool parse_number(const char *s, uint64_t max, uint64_t *value)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	return !*end && !errno && *value <= max;
}

static uint32_t parse_count(struct argp_state *state, const char *option, const char *s,
			    uint32_t max)
{
	uint64_t value;

	if (!parse_number(s, max, &value) || !value)
		argp_error(state, "%s: \"%s\" is not a number from 1 to %u", option, s, max);
	return value;
}

static void add_variable(struct argp_state *state, struct run *run, const char *s)
{
	const char *value = getenv(s);
	char *text = NULL;

	if (*s == '=' || !*s)
		argp_error(state, "--env: \"%s\" names no variable", s);
	if (!strchr(s, '=') && !value)
		argp_error(state, "--env: %s is not set", s);
	if (asprintf(&text, strchr(s, '=') ? "%s" : "%s=%s", s, value) < 0)
		text = NULL;
	run->pass = need(reallocarray(run->pass, run->passes + 1, sizeof(*run->pass)));
	run->pass[run->passes++] = need(text);
}

/* Options whose values are text, and whose presence is all. */
static bool take_plain(struct run *run, int key, const char *arg)
{
	const struct {
		int key;
		const char **text;
		bool *given;
	} plain[] = {
		{ KEY_FABRIC, &run->fabric },
		{ 'H', &run->list },
		{ KEY_HOSTFILE, &run->hostfile },
		{ KEY_PREFIX, &run->prefix },
		{ KEY_NODES, &run->nodes },
		{ KEY_WDIR, &run->wdir },
		{ KEY_SSH, &run->ssh },
		{ KEY_NETNS, .given = &run->netns },
		{ KEY_NO_PREFIX, .given = &run->no_prefix },
		{ 'v', .given = &run->verbose },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		if (plain[i].key != key)
			continue;
		if (plain[i].text)
			*plain[i].text = arg;
		else
			*plain[i].given = true;
		return true;
	}
	return false;
}

static error_t parse_word(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	if (take_plain(run, key, arg))
		return 0;
	switch (key) {
	case 'n':
		run->ranks = parse_count(state, "--ranks", arg, RANKS_MAX);
		return 0;
	case KEY_PPN:
		run->ppn = parse_count(state, "--ppn", arg, RANKS_MAX);
		return 0;
	case KEY_TIMEOUT:
		run->timeout = parse_count(state, "--timeout", arg, INT_MAX);
		return 0;
	case KEY_SILENCE:
		run->silence = parse_count(state, "--silence", arg, SILENCE_MAX);
		return 0;
	case 'x':
		add_variable(state, run, arg);
		return 0;
	case KEY_REMOTE:
		exit(agent_main());
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARGS:
		run->argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (!run->argv)
			argp_error(state, "which program?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = { options, parse_word, "PROGRAM [ARGUMENT]...", doc };

/*
 * Return this program as the hosts find it: by its path if it was started by
 * one, as from a build, else by their PATH.
 */
static const char *own_path(const char *name)
{
	static char path[PATH_MAX];
	ssize_t n;

	if (!strchr(name, '/'))
		return name;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		return name;
	path[n] = '\0';
	return path;
}

static const char *here(void)
{
	char *dir = getcwd(NULL, 0);

	if (!dir)
		exit(complain("this directory: %s: name one by --wdir", strerror(errno)));
	return dir;
}

int main(int argc, char **argv)
{
	const char *prefix = getenv("TORCOLL_PREFIX");
	struct run run = {
		.self = own_path(argv[0]),
		.prefix = prefix && *prefix ? prefix : "tor",
		.silence = 30,
		.ssh = "ssh -T -oBatchMode=yes -oServerAliveInterval=5",
	};
	int err;

	err = job_open_standard();
	if (err)
		return complain("/dev/null: %s", strerror(-err));
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	if (hosts_find(&run))
		return EXIT_USAGE;
	if (!run.wdir)
		run.wdir = here();
	return head_main(&run);
}
