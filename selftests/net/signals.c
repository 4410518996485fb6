// SPDX-License-Identifier: GPL-2.0
/*
 * Signals while comms are made and shrunk: signals COMMS MS.
 *
 * Every rank has a timer that interrupts it all MS, and makes comms of the same ranks. Each is joined late by another
 * rank, so that all others wait under signals. Nobody may notice. The same with comms that are shrunk, of one rank of each
 * node, also if calls have deadlines that pass, and are repeated. Rank 0 then leaves calls that a signal interrupted: with
 * other values, by closing the comm and by closing the file. It joins comms of one name as several ranks, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

/* Use a comm of @size ranks. */
static int use(struct torcoll_comm *comm, uint32_t size)
{
	uint32_t one = 1, sum = 0;

	if (!worked(torcoll_allreduce(comm, &one, &sum, 1, TORCOLL_U32, TORCOLL_SUM)))
		return 0;
	if (sum != size)
		say("the sum is %u, not %u", sum, size);
	return sum == size;
}

/* Return which rank of its node @of is. */
static uint32_t place(uint32_t of)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < of; i++)
		before += torcoll_comm_node(world, i) == torcoll_comm_node(world, of);
	return before;
}

/* Make a comm of all ranks or, if @level, of those that have the caller's place on their nodes. NULL: it failed. */
static struct torcoll_comm *make_comm(const char *name, bool level)
{
	struct torcoll_comm_config config = {
		.fabric = fabric(), .name = name, .deadline_ns = torcoll_deadline(PATIENCE),
	};
	uint32_t *members = calloc(ranks, sizeof(*members));
	struct torcoll_comm *comm;
	int good;

	if (!members)
		die("no memory");
	for (uint32_t i = 0; i < ranks; i++) {
		if (level && place(i) != place(rank))
			continue;
		if (i == rank)
			config.rank = config.size;
		members[config.size++] = torcoll_comm_node(world, i);
	}
	config.members = members;
	good = worked(torcoll_comm_create(t, &config, &comm));
	free(members);
	return good ? comm : NULL;
}

/* Make a comm of all ranks, to which rank @last comes late, and use it. */
static int make(unsigned int number, uint32_t last, unsigned int ms)
{
	struct torcoll_comm *comm;
	char name[TORCOLL_NAME_MAX];
	int good;

	snprintf(name, sizeof(name), "signals.%u", number);
	if (rank == last)
		sleep_ms(LATE * ms);
	comm = make_comm(name, false);
	if (!comm)
		return 0;
	good = use(comm, ranks);
	torcoll_comm_close(comm);
	return good;
}

/* --- shrinking --- */

/* Return 0 once there is an heir. @most: all but rank 0 wait for so many ms, and call again; 0: for as long as it takes. */
static int shrink(struct torcoll_comm *comm, unsigned int most, struct torcoll_comm **heir)
{
	bool hasty = most && torcoll_comm_rank(comm);
	uint64_t end = torcoll_deadline(PATIENCE);
	int err;

	do {
		err = torcoll_comm_shrink(comm, hasty ? torcoll_deadline(most) : end, heir);
	} while (hasty && err == -ETIMEDOUT && torcoll_deadline(1) < end);
	return err;
}

/* All ranks shrink a comm, rank @last of it late, and use its heir: nobody is gone. @most: see above. */
static int shrink_comm(unsigned int number, uint32_t last, unsigned int ms, unsigned int most)
{
	struct torcoll_comm *comm, *heir;
	char name[TORCOLL_NAME_MAX];
	uint32_t size;
	int good;

	snprintf(name, sizeof(name), "shrink.%u.%u.%u", place(rank), number, most);
	/* nodes that have several ranks cannot shrink theirs */
	comm = make_comm(name, true);
	if (!comm)
		return 0;
	size = torcoll_comm_size(comm);
	if (torcoll_comm_rank(comm) == last % size)
		sleep_ms(LATE * ms);
	good = worked(shrink(comm, most, &heir));
	torcoll_comm_close(comm);
	if (!good)
		return 0;
	good = use(heir, size);
	torcoll_comm_close(heir);
	return good;
}

/* --- calls that are not repeated --- */

/* One call for a comm of nodes 0 and 1 by any name, to which node 1 does not come. Return the errno. */
static int call_named(int fd, const char *name, uint32_t len, const char *secret, unsigned int ms)
{
	static const uint32_t members[] = { 0, 1 };
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = fabric(), .name = (uintptr_t)name, .name_len = len,
		.secret = (uintptr_t)secret, .secret_len = strlen(secret), .members = (uintptr_t)members,
		.ranks = ARRAY_SIZE(members), .rank = TORCOLL_RANK_SELF, .deadline_ns = torcoll_deadline(ms),
	};

	return ioctl(fd, TORCOLL_IOC_COMM_ADD, &add) ? errno : 0;
}

static int call(int fd, const char *secret, unsigned int ms)
{
	return call_named(fd, "left", 4, secret, ms);
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

static void stop_timer(void)
{
	static const struct itimerval never;

	setitimer(ITIMER_REAL, &never, NULL);
}

/* Joins. The timer runs. */
static int leave(unsigned int ms)
{
	int fd = open_device(), other, good;

	good = expect("a call", call(fd, "one", PATIENCE), EINTR);
	good &= expect("the same", call(fd, "one", PATIENCE), EINTR);
	good &= expect("another of that name", call(fd, "two", PATIENCE), EINTR);
	/* names may contain any byte */
	good &= expect("a name with a zero", call_named(fd, "a\0b", 3, "", PATIENCE), EINTR);
	good &= expect("one that differs behind it", call_named(fd, "a\0c", 3, "", PATIENCE), EINTR);
	stop_timer();
	other = open_device();
	good &= expect("one of that name by another file", call(other, "three", 100), EEXIST);
	good &= expect("one that another name begins as", call_named(other, "a\0b", 3, "", 100), EEXIST);
	close(fd);
	good &= expect("that, once the file is closed", call(other, "three", 100), ETIMEDOUT);
	close(other);
	interrupt_every(ms);
	return good;
}

/* One call, by one name; it does not wait if @ms is 0. Return the errno. */
static int call_for(int fd, const uint32_t *members, uint32_t of, uint32_t as, unsigned int ms)
{
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = fabric(), .name = (uintptr_t)"beside", .name_len = 6,
		.members = (uintptr_t)members, .ranks = of, .rank = as,
		.deadline_ns = torcoll_deadline(ms ? ms : PATIENCE), .wait_ns = !ms,
	};

	return ioctl(fd, TORCOLL_IOC_COMM_ADD, &add) ? errno : 0;
}

/*
 * Threads of a file join comms of one name as different ranks, in calls that end now and then (wait_ns): none ends the
 * other's join. No other node comes.
 */
static int beside(void)
{
	static const uint32_t first[] = { 0, 1 }, second[] = { 2, 3, 0 }, shared[] = { 0, 0, 1 };
	int fd = open_device(), other = open_device(), good;

	good = expect("a part of a call", call_for(fd, first, 2, TORCOLL_RANK_SELF, 0), EINTR);
	good &= expect("of another rank", call_for(fd, second, 3, TORCOLL_RANK_SELF, 0), EINTR);
	good &= expect("the first rank again", call_for(other, first, 2, 0, 100), EEXIST);
	good &= expect("the second rank again", call_for(other, second, 3, 2, 100), EEXIST);
	good &= expect("the first one's next call, which names its rank", call_for(fd, first, 2, 0, 100), ETIMEDOUT);
	good &= expect("the first rank, which is free", call_for(other, first, 2, 0, 100), ETIMEDOUT);
	good &= expect("the second rank, which is not", call_for(other, second, 3, 2, 100), EEXIST);
	close(fd);
	fd = open_device();
	good &= expect("a part of a call at a shared node", call_for(fd, shared, 3, 0, 0), EINTR);
	good &= expect("of whatever rank is free", call_for(fd, shared, 3, TORCOLL_RANK_SELF, 0), EINTR);
	good &= expect("its first rank again", call_for(other, shared, 3, 0, 100), EEXIST);
	good &= expect("its second rank again", call_for(other, shared, 3, 1, 100), EEXIST);
	close(fd);
	good &= expect("its first rank, which is free", call_for(other, shared, 3, 0, 100), ETIMEDOUT);
	close(other);
	return good;
}

/* Join a comm of this rank and rank @other, by a file of its own. Return its handle, or 0. */
static uint32_t join_pair(int fd, const char *name, uint32_t other)
{
	uint32_t first = rank < other ? rank : other, second = rank < other ? other : rank;
	uint32_t members[] = { torcoll_comm_node(world, first), torcoll_comm_node(world, second) };
	struct torcoll_comm_add add, want = {
		.size = sizeof(add), .fabric = fabric(), .name = (uintptr_t)name, .name_len = strlen(name),
		.members = (uintptr_t)members, .ranks = ARRAY_SIZE(members), .rank = rank > other,
		.deadline_ns = torcoll_deadline(PATIENCE),
	};

	do {
		add = want;
	} while (ioctl(fd, TORCOLL_IOC_COMM_ADD, &add) && errno == EINTR);
	return add.comm;
}

/* One call to shrink a comm. Return the errno; @heir: handle and number of ranks, or 0. */
static int shrink_once(int fd, uint32_t comm, uint64_t deadline, struct torcoll_comm_shrink *heir)
{
	*heir = (struct torcoll_comm_shrink){
		.size = sizeof(*heir), .comm = comm, .deadline_ns = deadline,
	};
	return ioctl(fd, TORCOLL_IOC_COMM_SHRINK, heir) ? errno : 0;
}

/* The same, again after signals. All living ranks have called, or will. */
static int heir_of(int fd, uint32_t comm, uint32_t size, struct torcoll_comm_shrink *heir)
{
	uint64_t deadline = torcoll_deadline(PATIENCE);
	int err;

	do {
		err = shrink_once(fd, comm, deadline, heir);
	} while (err == EINTR);
	if (!err && heir->ranks != size)
		say("an heir of %u ranks, not %u", heir->ranks, size);
	return expect("an heir", err, 0) && heir->ranks == size;
}

static int del(int fd, uint32_t handle)
{
	struct torcoll_handle comm = { .size = sizeof(comm), .handle = handle };

	return ioctl(fd, TORCOLL_IOC_COMM_DEL, &comm) ? errno : 0;
}

/* What rank 0 does after a call to shrink that a signal interrupted, while its timer is stopped. */
enum left_by {
	RETURN,			/* once the other has the heir, it calls again */
	RETURN_LATE,		/* but its deadline has passed before the other calls, and it calls once more */
	CLOSE,			/* it closes the comm */
	CLOSE_HEIR,		/* the same, once the other has an heir, too */
	CLOSE_FILE,
	CLOSE_FILE_OF_HEIR,
	LEFT_BY_COUNT
};

static int shrink_and_leave(int fd, uint32_t comm, enum left_by how)
{
	bool late = how == RETURN || how == CLOSE_HEIR || how == CLOSE_FILE_OF_HEIR;
	uint64_t deadline = torcoll_deadline(PATIENCE);
	struct torcoll_comm_shrink heir;
	int good;

	good = expect("a shrink", shrink_once(fd, comm, deadline, &heir), EINTR);
	good &= expect("the same", shrink_once(fd, comm, deadline, &heir), EINTR);
	stop_timer();
	if (late)
		good &= worked(torcoll_barrier(world)) && worked(torcoll_barrier(world));
	if (how == RETURN_LATE)
		good &= expect("that, in vain", shrink_once(fd, comm, torcoll_deadline(100), &heir), ETIMEDOUT);
	if (how == CLOSE || how == CLOSE_HEIR) {
		good &= expect("closing it", del(fd, comm), 0);
		good &= expect("a shrink of none", shrink_once(fd, comm, deadline, &heir), ENOENT);
	}
	if (how == CLOSE_FILE || how == CLOSE_FILE_OF_HEIR)
		close(fd);
	if (!late)
		good &= worked(torcoll_barrier(world)) && worked(torcoll_barrier(world));
	if (how == RETURN || how == RETURN_LATE)
		good &= heir_of(fd, comm, 2, &heir);
	return good;
}

/* The other rank shrinks when rank 0 has left. */
static int shrink_after(int fd, uint32_t comm, enum left_by how)
{
	bool alone = how == CLOSE || how == CLOSE_FILE;
	struct torcoll_comm_shrink heir, second;
	int good;

	good = worked(torcoll_barrier(world));
	if (how == RETURN_LATE)
		good &= worked(torcoll_barrier(world));
	good &= heir_of(fd, comm, alone ? 1 : 2, &heir);
	if (how != RETURN_LATE)
		good &= worked(torcoll_barrier(world));
	if (good && (how == CLOSE_HEIR || how == CLOSE_FILE_OF_HEIR))
		good = heir_of(fd, heir.shrunk, 1, &second);
	return good;
}

/* A call to shrink a comm of rank 0 and rank @other, in one of them. */
static int leave_shrink(uint32_t other, enum left_by how)
{
	int fd = open_device(), good;
	char name[TORCOLL_NAME_MAX];
	uint32_t comm;

	snprintf(name, sizeof(name), "left.%u", how);
	comm = join_pair(fd, name, rank ? 0 : other);
	good = rank ? shrink_after(fd, comm, how) : shrink_and_leave(fd, comm, how);
	if (!good)
		say("that was case %u", how);
	if (rank || (how != CLOSE_FILE && how != CLOSE_FILE_OF_HEIR))
		close(fd);
	return good;
}

/* Calls to shrink a comm of rank 0 and one of another node. All ranks call this. The timer runs. */
static int leave_shrinks(unsigned int ms)
{
	uint32_t other = 1;
	int good = 1;

	while (torcoll_comm_node(world, other) == torcoll_comm_node(world, 0))
		other++;
	for (unsigned int how = 0; how < LEFT_BY_COUNT; how++) {
		if (rank && rank != other) {
			good &= worked(torcoll_barrier(world)) && worked(torcoll_barrier(world));
			continue;
		}
		good &= leave_shrink(other, how);
		interrupt_every(ms);
	}
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
	for (unsigned int i = 0; good && i < comms; i++)
		good = shrink_comm(i, i, ms, 0) && shrink_comm(i, i, ms, 1 + i % ms);
	if (signals < (sig_atomic_t)comms)
		die("only %d signals came", (int)signals);
	if (good && !rank) {
		good = leave(ms);
		stop_timer();
		good &= beside();
		interrupt_every(ms);
	}
	if (good)
		good = leave_shrinks(ms);
	return !good;
}
