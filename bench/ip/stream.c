// SPDX-License-Identifier: MIT
/*
 * A TCP stream from one network namespace to another, and what it takes:
 *
 *	stream NETNS NETNS ADDRESS KIB
 *
 * ADDRESS is the receiver's. After a tenth as much that warms up, KIB are timed until
 * the last byte has been read. Prints nanoseconds per KiB. On one processor, as under
 * -icount, these are the instructions of both ends and of every node between them.
 *
 * The ends are those of two hosts: neither preempts the other when it is woken. Else it
 * is chance whether a receiver sleeps and wakes for each 20 KiB or for each 500, which
 * is up to a tenth of the figure.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../profile/mark.h"

#define PORT	5201
#define KIB	1024
#define CHUNK	(128 * KIB)	/* of a read and a write */

static void die(const char *what)
{
	fprintf(stderr, "stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	close(fd);
}

static void share_processor(void)
{
	const struct sched_param param = {};

	if (sched_setscheduler(0, SCHED_BATCH, &param))
		die("SCHED_BATCH");
}

static int listen_in(const char *netns, const struct sockaddr_in *at)
{
	const int on = 1;
	int fd;

	enter(netns);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)at, sizeof(*at)) || listen(fd, 1))
		die("listen");
	return fd;
}

/* Reads @total bytes, then answers with one; and again. */
static void receive(int listening, const size_t total[2])
{
	static char data[CHUNK];
	int fd = accept(listening, NULL, NULL);

	if (fd < 0)
		die("accept");
	for (int i = 0; i < 2; i++) {
		for (size_t left = total[i]; left;) {
			ssize_t n = read(fd, data, left < CHUNK ? left : CHUNK);

			if (n <= 0)
				die("read");
			left -= n;
		}
		if (write(fd, "", 1) != 1)
			die("answer");
	}
}

static void transfer(int fd, size_t total)
{
	static char data[CHUNK];
	char answer;

	while (total) {
		ssize_t n = write(fd, data, total < CHUNK ? total : CHUNK);

		if (n <= 0)
			die("write");
		total -= n;
	}
	if (read(fd, &answer, 1) != 1)
		die("no answer");
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	size_t total[2];
	double begin;
	pid_t parent;
	int fd;

	if (argc != 5 || !inet_aton(argv[3], &to.sin_addr) || strtol(argv[4], NULL, 0) < 10) {
		fputs("usage: stream NETNS NETNS ADDRESS KIB\n", stderr);
		return 2;
	}
	share_processor();
	total[1] = strtol(argv[4], NULL, 0) * KIB;
	total[0] = total[1] / 10;
	fd = listen_in(argv[2], &to);
	parent = getpid();
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			receive(fd, total);
		return 0;
	}
	close(fd);
	enter(argv[1]);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die(argv[3]);
	transfer(fd, total[0]);
	profile_begin();
	begin = now_ns();
	transfer(fd, total[1]);
	profile_end();
	printf("%.1f\n", (now_ns() - begin) / (total[1] / KIB));
	return 0;
}
