// SPDX-License-Identifier: GPL-2.0
/*
 * Many comms of one rank, and who has to wait when their fabric goes. For teardown.sh.
 *
 *	crowd comms N CLOSED	makes N on the fabric that TORCOLL_FABRIC says, closes so many of them, says "ready". After a
 *				line on its standard input it calls a barrier on each of the others, and says how many
 *				failed with ENETDOWN, and one of their sentences
 *	crowd rtnl		changes a device of a network namespace of its own, again and again, until its standard
 *				input ends; then says how long the longest change took, in us
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include <torcoll.h>

#define COMMS_MAX	4096

static struct torcoll_comm *comm[COMMS_MAX];

static int make(struct torcoll *t, int number)
{
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.rank = TORCOLL_RANK_SELF,
		.depth = 1,
		.deadline_ns = torcoll_deadline(60000),
	};
	char name[TORCOLL_NAME_MAX];

	snprintf(name, sizeof(name), "crowd.%d", number);
	config.name = name;
	return torcoll_comm_create(t, &config, &comm[number]);
}

static int comms(int n, int closed)
{
	struct torcoll *t;
	int i, down = 0;

	if (n > COMMS_MAX || closed > n || torcoll_open(&t))
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (make(t, i))
			return -EIO;
	for (i = 0; i < closed; i++)
		torcoll_comm_close(comm[i]);
	puts("ready");
	fflush(stdout);
	getchar();
	for (i = closed; i < n; i++)
		down += torcoll_barrier(comm[i]) == -ENETDOWN;
	printf("%d %s\n", down, torcoll_last_error());
	return 0;
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int rtnl(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct ifreq ifr = { .ifr_name = "lo" };
	long long began, longest = 0;
	int fd;

	if (unshare(CLONE_NEWNET))
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	puts("ready");
	fflush(stdout);
	while (!poll(&in, 1, 1)) {
		ifr.ifr_flags ^= IFF_UP;
		began = now_us();
		if (ioctl(fd, SIOCSIFFLAGS, &ifr))
			return -errno;
		if (now_us() - began > longest)
			longest = now_us() - began;
	}
	printf("%lld\n", longest);
	return 0;
}

int main(int argc, char **argv)
{
	int err = -EINVAL;

	if (argc == 4 && !strcmp(argv[1], "comms"))
		err = comms(atoi(argv[2]), atoi(argv[3]));
	else if (argc == 2 && !strcmp(argv[1], "rtnl"))
		err = rtnl();
	if (err)
		fprintf(stderr, "crowd: %s (%s)\n", strerror(-err), torcoll_last_error());
	return !!err;
}
