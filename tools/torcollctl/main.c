// SPDX-License-Identifier: GPL-2.0
/* torcollctl: configuration and views of torcoll. Options, objects, batches. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "tune.h"

#define BATCH_WORDS	128

static const char help[] =
	"Usage: torcollctl [OPTION]... OBJECT [COMMAND [ARGUMENT]...]\n"
	"       torcollctl [OPTION]... -b FILE\n"
	"\n"
	"A fabric is found and described by \"torcollctl discover write FILE\", made by\n"
	"\"torcollctl apply FILE\" on each host, and tested by \"torcollctl fabric check\".\n"
	"\n"
	"Objects:\n"
	"  discover  the wiring of all hosts: shape, faults, the file for all hosts\n"
	"  advise    how to wire so many hosts, and the list of the cables\n"
	"  apply     make this host as the file of a fabric says, torcoll.conf(5)\n"
	"  showconf  what runs on this host, as such a file\n"
	"  fabric    the whole fabric, or this host's part: check, show, add, del\n"
	"  top       a live picture of the whole fabric\n"
	"  qualify   what cables are good for: rate, loss, round trips, errors\n"
	"  survey    all hosts that cables reach, and their cables: show\n"
	"  port      ports of this host and their links: show, add, del\n"
	"  log       past changes of links, with their times: show\n"
	"  monitor   changes, as they happen\n"
	"  stats     counters\n"
	"  comm      communicators: show\n"
	"  op        collective calls under way, and for whom they wait: show\n"
	"  node      this node: show\n"
	"  host      by which name other hosts see this one: show, name\n"
	"  hosts     names and addresses of all nodes, for /etc/hosts\n"
	"  limit     what each user may have: show, set\n"
	"  tune      how fast the fabric is: run, show, set, default, save, load\n"
	"  explain   what auto takes for a collective of some size, and why\n"
	"  env       the variables that programs read, and where their values come from\n"
	"  netns     a virtual torus on this machine: up, down, show, exec, run\n"
	"\n"
	"Options, of which the first three may stand behind a command as well:\n"
	"  -j, --json     JSON\n"
	"  -p, --pretty   indented JSON, also without -j\n"
	"  -a, --all      more: what is zero, all columns; of hosts and cables, all\n"
	"  -b, --batch FILE   commands from a file, - for stdin\n"
	"  -f, --force    a batch goes on after an error\n"
	"  -V, --version\n"
	"  -h, --help\n"
	"\n"
	"Words may be abbreviated, and options of one letter combined: -jp.\n"
	"\"torcollctl OBJECT help\" tells more.\n"
	"Exit status: 0 done; 1 wrong usage, the kernel has no torcoll, or a file, host\n"
	"or lock is not as needed; 2 refused or failed, or qualify found a bad cable;\n"
	"3 done, but a fault was found or a port's device is missing; 4, 5 of apply: all\n"
	"but what was refused is done, no section for this host's name; of netns exec and\n"
	"run that of the command.\n";

struct options opt;

static const struct command objects[] = {
	{ "fabric", fabric_main },
	{ "port", port_main },
	{ "node", node_main },
	{ "host", host_main },
	{ "hosts", hosts_main },
	{ "comm", comm_main },
	{ "op", op_main },
	{ "stats", stats_main },
	{ "statistics", stats_main },
	{ "explain", explain_main },
	{ "limit", limit_main },
	{ "log", log_main },
	{ "tune", tune_main },
	{ "apply", apply_main },
	{ "showconf", showconf_main },
	{ "top", top_main },
	{ "qualify", qualify_main },
	{ "survey", survey_main },
	{ "discover", discover_main },
	{ "advise", advise_main },
	{ "monitor", monitor_main },
	{ "netns", netns_main },
	{ "env", env_main },
};

static bool is_option(const char *word, const char *letter, const char *name)
{
	if (!strcmp(word, letter))
		return true;
	word += !strncmp(word, "--", 2);
	return *word == '-' && strlen(word) > 2 && !strncmp(word + 1, name, strlen(word) - 1);
}

/* Take several such options as one word: -jp. */
static bool take_letters(const char *word)
{
	if (word[0] != '-' || strlen(word) < 3 || strspn(word + 1, "jpa") < strlen(word + 1))
		return false;
	opt.pretty |= strchr(word, 'p') != NULL;
	opt.json |= opt.pretty || strchr(word, 'j');
	opt.all |= strchr(word, 'a') != NULL;
	return true;
}

/* Take an option that only sets a flag. */
static bool take_switch(const char *word)
{
	if (is_option(word, "-j", "json"))
		opt.json = true;
	else if (is_option(word, "-p", "pretty"))
		opt.json = opt.pretty = true;
	else if (is_option(word, "-a", "all"))
		opt.all = true;
	else
		return take_letters(word);
	return true;
}

/*
 * Take options after a command. They have the same meaning there, unless the
 * command runs another program.
 */
static void take_last_switches(struct args *a)
{
	struct args netns = *a;

	if (arg_is(&netns, "netns"))
		return;
	while (a->argc > 1 && take_switch(a->argv[a->argc - 1]))
		a->argc--;
}

/* "help fabric" is "fabric help". */
static void turn_help(struct args *a)
{
	char *help = a->argv[0];

	if (a->argc < 2 || strcmp(help, "help"))
		return;
	a->argv[0] = a->argv[1];
	a->argv[1] = help;
	a->argc = 2;
}

static int run_words(int argc, char **argv)
{
	struct args a = { argc, argv };
	struct options before = opt;
	int ret;

	args_begin();
	take_last_switches(&a);
	turn_help(&a);
	ret = command_run(&a, objects, ARRAY_SIZE(objects), -1, help);
	opt = before;
	/* the output may not have been written */
	if (fflush(stdout) && !ret)
		ret = other_error("writing the output: %s", strerror(errno));
	if (ret == CTL_USAGE)
		args_hint();
	return ret;
}

/*
 * Split a line at white space; "..." and '...' are one word. Return the number
 * of words, behind which is a NULL, or -1: too many.
 */
static int split(char *line, char *words[BATCH_WORDS + 1])
{
	int n = 0;

	for (;;) {
		char *to;

		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#') {
			words[n] = NULL;
			return n;
		}
		if (n == BATCH_WORDS)
			return -1;
		words[n++] = line;
		for (to = line; *line && !strchr(" \t\r\n", *line);) {
			char *end = *line == '"' || *line == '\'' ? strchr(line + 1, *line) : NULL;

			if (!end) {
				*to++ = *line++;
				continue;
			}
			memmove(to, line + 1, end - line - 1);
			to += end - line - 1;
			line = end + 1;
		}
		if (*line)
			line++;
		*to = '\0';
	}
}

static int run_lines(FILE *file, const char *name)
{
	char *words[BATCH_WORDS + 1];
	char *line = NULL;
	size_t size = 0;
	int number = 0;
	int worst = CTL_OK;

	while (getline(&line, &size, file) >= 0) {
		int n = split(line, words);
		int ret;

		number++;
		if (!n)
			continue;
		ret = n < 0 ? usage_error("more than %d words", BATCH_WORDS) : run_words(n, words);
		if (ret) {
			fprintf(stderr, "Command failed %s:%d\n", name, number);
			worst = ret > worst ? ret : worst;
			if (!opt.force)
				break;
		}
	}
	if (ferror(file))
		worst = other_error("%s: %s", name, strerror(errno));
	free(line);
	return worst;
}

/* Commands must not read those that follow; at a terminal they are typed when they are due. */
static FILE *take_stdin(void)
{
	int fd, null;

	if (isatty(STDIN_FILENO))
		return stdin;
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = fd < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return NULL;
	close(null);
	return fdopen(fd, "r");
}

static int run_batch(const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : take_stdin();
	int ret;

	opt.batch = true;
	if (!file)
		return other_error("the batch %s: %s", name, strerror(errno));
	ret = run_lines(file, name);
	fclose(file);
	return ret;
}

/* Take options. Return -1 to continue, or an exit code. */
static int parse_options(struct args *a, const char **batch)
{
	while (a->argc && a->argv[0][0] == '-') {
		const char *word = arg_next(a);

		if (take_switch(word))
			continue;
		/* for a batch only: it has no meaning after a command */
		if (is_option(word, "-f", "force")) {
			opt.force = true;
			continue;
		}
		if (is_option(word, "-V", "version") || is_option(word, "-V", "Version")) {
			puts("torcollctl " TORCOLL_VERSION);
			return CTL_OK;
		}
		if (is_option(word, "-h", "help")) {
			fputs(help, stdout);
			return CTL_OK;
		}
		if (!is_option(word, "-b", "batch")) {
			usage_error("there is no option \"%s\"", word);
			fputs("\"torcollctl help\" tells more.\n", stderr);
			return CTL_USAGE;
		}
		*batch = arg_need(a, "the batch's file");
		if (!*batch)
			return CTL_USAGE;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct args a = { argc - 1, argv + 1 };
	const char *batch = NULL;
	int ret;

	ret = parse_options(&a, &batch);
	if (ret >= 0)
		return ret;
	if (batch)
		return arg_end(&a) ? CTL_USAGE : run_batch(batch);
	return run_words(a.argc, a.argv);
}
