// SPDX-License-Identifier: GPL-2.0
/*
 * Signals while comms are made: signals COMMS MS.
 *
 * Every rank has a timer that interrupts it all MS, and makes comms of the same ranks. Each is joined late by another
 * rank, so that all others wait under signals. Nobody may notice. Rank 0 then leaves calls that a signal interrupted: with
 * other values, and by closing the file, its name is free again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

#define PATIENCE	60000	/* ms */
#define LATE		12	/* signals that come meanwhile */

static volatile sig_atomic_t signals;

static void count(int number)
{
	(void)number;
	signals++;
}

static void interrupt_every(unsigned int ms)
{
	struct itimerval every = { .it_interval.tv_usec = ms * 1000, .it_value.tv_usec = ms * 1000 };
	struct sigaction action = { .sa_handler = count };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		die("no timer");
}

/* Also under signals. */
static void sleep_ms(unsigned int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&left, &left))
		;
}

static uint64_t fabric(void)
{
	return strtoull(getenv("TORCOLL_FABRIC"), NULL, 0);
}

/* Make a comm of all ranks, to which rank @last comes late, and use it. */
static int make(unsigned int number, uint32_t last, unsigned int ms)
{
	struct torcoll_comm_config config = {
		.fabric = fabric(), .rank = rank, .size = ranks, .deadline_ns = torcoll_deadline(PATIENCE),
	};
	uint32_t *members = calloc(ranks, sizeof(*members)), one = 1, sum = 0;
	struct torcoll_comm *comm;
	char name[TORCOLL_NAME_MAX];
	int good;

	if (!members)
		die("no memory");
	for (uint32_t i = 0; i < ranks; i++)
		members[i] = torcoll_comm_node(world, i);
	config.members = members;
	snprintf(name, sizeof(name), "signals.%u", number);
	config.name = name;
	if (rank == last)
		sleep_ms(LATE * ms);
	good = worked(torcoll_comm_create(t, &config, &comm));
	free(members);
	if (!good)
		return 0;
	if (!worked(torcoll_allreduce(comm, &one, &sum, 1, TORCOLL_U32, TORCOLL_SUM)))
		return 0;
	torcoll_comm_close(comm);
	if (sum != ranks)
		say("the sum is %u", sum);
	return sum == ranks;
}

/* One call for a comm of nodes 0 and 1, to which node 1 does not come. Return the errno. */
static int call(int fd, const char *secret, unsigned int ms)
{
	static const uint32_t members[] = { 0, 1 };
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = fabric(), .name = (uintptr_t)"left", .name_len = 4,
		.secret = (uintptr_t)secret, .secret_len = strlen(secret), .members = (uintptr_t)members,
		.ranks = ARRAY_SIZE(members), .rank = TORCOLL_RANK_SELF, .deadline_ns = torcoll_deadline(ms),
	};

	return ioctl(fd, TORCOLL_IOC_COMM_ADD, &add) ? errno : 0;
}

static int expect(const char *what, int got, int want)
{
	if (got != want)
		say("%s: %s, not %s", what, strerror(got), strerror(want));
	return got == want;
}

static int open_device(void)
{
	int fd = open("/dev/torcoll", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("the device cannot be opened");
	return fd;
}

/* Calls that are not repeated. The timer runs. */
static int leave(void)
{
	static const struct itimerval never;
	int fd = open_device(), other, good;

	good = expect("a call", call(fd, "one", PATIENCE), EINTR);
	good &= expect("the same", call(fd, "one", PATIENCE), EINTR);
	good &= expect("another of that name", call(fd, "two", PATIENCE), EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	other = open_device();
	good &= expect("one of that name by another file", call(other, "three", 100), EEXIST);
	close(fd);
	good &= expect("that, once the file is closed", call(other, "three", 100), ETIMEDOUT);
	close(other);
	return good;
}

int main(int argc, char **argv)
{
	unsigned int comms = argc == 3 ? atoi(argv[1]) : 0, ms = argc == 3 ? atoi(argv[2]) : 0;
	int good = 1;

	if (!comms || !ms || !join_world())
		return 1;
	interrupt_every(ms);
	for (unsigned int i = 0; good && i < comms; i++)
		good = make(i, (i + 1) % ranks, ms);
	if (signals < (sig_atomic_t)comms)
		die("only %d signals came", (int)signals);
	if (good && !rank)
		good = leave();
	return !good;
}
