/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internals of torcollrun. The program runs twice: the head where the user
 * starts it, and an agent on every host, which the head starts through ssh, or
 * in a namespace, and which starts the ranks there.
 *
 * Head to agent, on the agent's stdin: words that end with a null byte, each of
 * a kind, a space and a value; "go" is the last. The environment travels there
 * since command lines are visible to everyone. Then single bytes: the ranks'
 * signals, and signs of life. The end of the input ends the ranks, and so does
 * the lack of such signs, so none survives the head: what cuts the connection may
 * leave the agent's end of it open for hours. A head that the terminal stops cannot
 * send any: while it is stopped, ranks survive such a cut.
 *
 * Agent to head, on the agent's stdout: lines that begin with FRAME_MARK. Other
 * lines are from a login script or the like.
 */
#ifndef _RUN_H
#define _RUN_H

#include <stdbool.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define EXIT_USAGE	2
#define EXIT_TIMEOUT	124	/* as of timeout(1) */
#define EXIT_LOST	255	/* as of ssh(1) */

/* Value of the first word to an agent; another format has another number. */
#define AGENT_FORMAT	"2"

#define BYTE_INT	'I'	/* the ranks' signals */
#define BYTE_HUP	'H'
#define BYTE_TERM	'T'
#define BYTE_KILL	'K'
#define BYTE_LIVES	'.'	/* the head is there */
#define BYTE_STOPS	'S'	/* it is stopped: until it says more, only the end of the input is its end */
#define BYTES_IN_TIME	6	/* that are sent in the time in which one must come */

#define FRAME_MARK	'\1'
#define FRAME_BEGUN	'b'	/* the ranks of this host run */
#define FRAME_OUT	'o'	/* RANK TEXT: a line on stdout */
#define FRAME_ERR	'e'	/* RANK TEXT: a line on stderr */
#define FRAME_END	'x'	/* RANK STATUS: it has ended, as of wait() */

#define RANKS_MAX	(1U << 20)
#define SILENCE_MAX	1000000	/* s */

/**
 * struct host - a host that takes part
 * @name: to reach it
 * @node: its index in the fabric
 * @first: its first rank
 * @ranks: number of its ranks
 * @ended: number of its ranks that have ended
 * @begun: its agent has started the ranks
 * @killed: the agent was told to kill the ranks
 */
struct host {
	char *name;
	uint32_t node;
	uint32_t first;
	uint32_t ranks;
	uint32_t ended;
	bool begun;
	bool killed;
};

struct hosts {
	struct host *host;
	uint32_t count;
};

/**
 * struct run - the command line
 * @argv: program to run
 * @self: this program, as the hosts find it
 * @list: names of hosts, "a,b,c"
 * @hostfile: file of these
 * @fabric: key, or name or path of a fabric file
 * @nodes: nodes that take part, "0-3,7"; NULL: all
 * @netns: hosts are namespaces of "torcollctl netns up" ...
 * @prefix: ... with this prefix
 * @ranks: number, 0: as many as fit
 * @ppn: ranks per node, 0: one
 * @pass: environment to pass on, "NAME=VALUE", @passes of them
 * @wdir: directory of the ranks
 * @ssh: words of the command that reaches a host
 * @timeout: in seconds, 0: none
 * @silence: seconds after which a host that hears nothing ends its ranks
 * @key: of the fabric, or empty: the hosts know
 * @hosts: that take part
 */
struct run {
	char **argv;
	const char *self;
	const char *list;
	const char *hostfile;
	const char *fabric;
	const char *nodes;
	bool netns;
	const char *prefix;
	uint32_t ranks;
	uint32_t ppn;
	char **pass;
	uint32_t passes;
	const char *wdir;
	const char *ssh;
	uint32_t timeout;
	uint32_t silence;
	bool no_prefix;
	bool verbose;
	char key[24];
	struct hosts hosts;
};

/* Print a sentence on stderr. Return EXIT_USAGE. */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Allocate, or exit. */
void *need(void *p);

/* Parse a whole number, decimal or 0x. Return whether it is one up to @max. */
bool parse_number(const char *s, uint64_t max, uint64_t *value);

/* --- hosts.c --- */

/*
 * Append a host. Return 0, or EXIT_USAGE after printing what is wrong with its
 * name; @where: what names it.
 */
int hosts_add(struct hosts *hosts, const char *where, const char *name, uint32_t node);

/*
 * Find the hosts that take part, the fabric's key, and each host's ranks.
 * Return 0, or EXIT_USAGE after printing the reason.
 */
int hosts_find(struct run *run);

/* --- file.c --- */

/* Read a host a line, in the order of the nodes. Return 0 or EXIT_USAGE. */
int hostfile_read(struct hosts *hosts, const char *path);

/*
 * Read the fabric file @name of /etc/torcoll, or the only one there if @name is
 * NULL, or the file of that path. Return 0 or EXIT_USAGE.
 */
int fabric_read(struct run *run, const char *name);

/* Return whether /etc/torcoll has a fabric file of that name. */
bool fabric_has_file(const char *name);

/* --- head.c, agent.c: return the exit status --- */

int head_main(struct run *run);
int agent_main(void);

#endif
