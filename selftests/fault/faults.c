// SPDX-License-Identifier: GPL-2.0
/*
 * Lets the n-th allocation of a call fail, for n = 1, 2, 3, ... until the call needs no more of them. Every call must
 * either succeed nevertheless or be refused for want of memory, and then have changed nothing: the next attempt
 * finds what this one found. For kernels with fault injection; which allocations count is set by the filters in
 * debugfs, see faults.sh.
 *
 *	faults command UNDO COMMAND...	a command; UNDO by the shell behind each success
 *	faults load FILE		loading a module
 *	faults netns			a network namespace
 *	faults calls KEY		the calls of /dev/torcoll, with a comm of this node alone
 *	faults allreduce KEY RANKS	submissions at rank 0, all ranks being nodes tor-0, tor-1, ...
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/torcoll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define TRIES_MAX	5000
#define PATIENCE	120		/* s, for what other ranks must take part in */

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- one allocation that fails --- */

static int open_fail_nth(pid_t pid, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), pid ? "/proc/%d/fail-nth" : "/proc/thread-self/fail-nth", pid);
	fd = open(path, flags);
	if (fd < 0)
		die(path);
	return fd;
}

static void set_fail_nth(unsigned int n)
{
	int fd = open_fail_nth(0, O_WRONLY);

	if (dprintf(fd, "%u", n) < 0)
		die("fail-nth");
	close(fd);
}

/* Was it reached? */
static bool has_failed(pid_t pid)
{
	char text[32] = "";
	int fd = open_fail_nth(pid, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0)
		die("fail-nth");
	close(fd);
	return !atoi(text);
}

/**
 * sweep - try a call until nothing is left to fail in it
 * @name: of it
 * @call: returns 0 or a negative errno
 * @undo: after each success but the last
 * @arg: theirs
 *
 * Memory is the only reason for refusals, and what they say, unless @any other word for it will do.
 */
static void sweep_words(const char *name, int (*call)(void *arg), void (*undo)(void *arg), void *arg,
			bool any)
{
	unsigned int n, refused = 0;
	bool failed;
	int err;

	for (n = 1; n < TRIES_MAX; n++) {
		set_fail_nth(n);
		err = call(arg);
		failed = has_failed(0);
		set_fail_nth(0);
		if (!failed && !err) {
			printf("%s: %u allocations failed in turn, %u times it was refused\n", name,
			       n - 1, refused);
			return;
		}
		if (err && (!failed || (err != -ENOMEM && !any))) {
			fprintf(stderr, "%s: allocation %u %s, and the call said: %s\n", name, n,
				failed ? "failed" : "was not reached", strerror(-err));
			exit(1);
		}
		refused += !!err;
		if (!err && undo)
			undo(arg);
	}
	fprintf(stderr, "%s: no end of allocations\n", name);
	exit(1);
}

static void sweep(const char *name, int (*call)(void *arg), void (*undo)(void *arg), void *arg)
{
	sweep_words(name, call, undo, arg, false);
}

/* --- commands --- */

static int run_command(unsigned int n, char **argv, bool *failed)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		/* what they say when memory is short is not looked at */
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		set_fail_nth(n);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		die("waitid");
	*failed = has_failed(pid);
	waitpid(pid, NULL, 0);
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static int commands(const char *undo, char **argv)
{
	unsigned int n, refused = 0;
	bool failed;
	int code;

	for (n = 1; n < TRIES_MAX; n++) {
		code = run_command(n, argv, &failed);
		if (!code && system(undo)) {
			fprintf(stderr, "after allocation %u had failed, this did: %s\n", n, undo);
			return 1;
		}
		if (!code && !failed) {
			printf("%u allocations failed in turn, %u times it was refused\n", n - 1,
			       refused);
			return 0;
		}
		if (!failed || code > 2) {
			fprintf(stderr, "allocation %u %s, and the command's exit code was %d\n", n,
				failed ? "failed" : "was not reached", code);
			return 1;
		}
		refused += !!code;
	}
	fprintf(stderr, "no end of allocations\n");
	return 1;
}

/* --- modules and namespaces --- */

static int load_module(void *arg)
{
	return syscall(SYS_finit_module, *(int *)arg, "", 0) ? -errno : 0;
}

static void unload_module(void *arg)
{
	if (syscall(SYS_delete_module, "torcoll", O_NONBLOCK))
		die("delete_module");
}

static int new_netns(void *arg)
{
	return unshare(CLONE_NEWNET) ? -errno : 0;
}

/* --- calls --- */

struct subject {
	int fd;
	uint64_t key;
	uint32_t region;
	uint32_t comm;
	char *memory;
	size_t bytes;
	uint64_t count;
	uint32_t algorithm;
	bool registered;
	uint32_t ranks;
	bool alone;
};

static uint64_t in_seconds(int s)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec + s) * 1000000000ULL + t.tv_nsec;
}

static int call(struct subject *s, unsigned long nr, void *arg)
{
	return ioctl(s->fd, nr, arg) ? -errno : 0;
}

static int open_device(void *arg)
{
	struct subject *s = arg;

	s->fd = open("/dev/torcoll", O_RDWR | O_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

static void close_device(void *arg)
{
	close(((struct subject *)arg)->fd);
}

static int info(void *arg)
{
	struct torcoll_info i = { .size = sizeof(i) };

	return call(arg, TORCOLL_IOC_INFO, &i);
}

static int last_error(void *arg)
{
	char text[256];
	struct torcoll_error e = {
		.size = sizeof(e), .len = sizeof(text), .text = (uintptr_t)text,
	};

	return call(arg, TORCOLL_IOC_ERROR, &e);
}

static int add_region(void *arg)
{
	struct subject *s = arg;
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)s->memory, .length = s->bytes,
	};
	int err = call(s, TORCOLL_IOC_REGION_ADD, &add);

	s->region = add.region;
	return err;
}

static int del_region(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->region };

	return call(s, TORCOLL_IOC_REGION_DEL, &h);
}

static void undo_region(void *arg)
{
	if (del_region(arg))
		die("region del");
}

static void redo_region(void *arg)
{
	if (add_region(arg))
		die("region add");
}

static int add_comm(void *arg)
{
	struct subject *s = arg;
	uint32_t members[] = { 0 };
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = s->key, .name = (uintptr_t)"faults",
		.name_len = 6, .secret = (uintptr_t)"secret", .secret_len = 6,
		.members = s->alone ? (uintptr_t)members : 0, .ranks = s->alone,
		.rank = TORCOLL_RANK_SELF, .deadline_ns = in_seconds(PATIENCE),
	};
	int err = call(s, TORCOLL_IOC_COMM_ADD, &add);

	s->comm = add.comm;
	return err;
}

static int del_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->comm };

	return call(s, TORCOLL_IOC_COMM_DEL, &h);
}

static void undo_comm(void *arg)
{
	if (del_comm(arg))
		die("comm del");
}

static void redo_comm(void *arg)
{
	if (add_comm(arg))
		die("comm add");
}

static int comm_info(void *arg)
{
	struct subject *s = arg;
	struct torcoll_comm_info i = { .size = sizeof(i), .comm = s->comm };

	return call(s, TORCOLL_IOC_COMM_INFO, &i);
}

static int submit(void *arg)
{
	struct subject *s = arg;
	struct torcoll_submit desc = {
		.size = sizeof(desc), .comm = s->comm, .collective = TORCOLL_ALLREDUCE,
		.algorithm = s->algorithm, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.bits = TORCOLL_BITS_AGREE, .count = s->count,
		.send_addr = (uintptr_t)s->memory, .recv_addr = (uintptr_t)s->memory,
		.send_region = s->registered ? s->region : 0,
		.recv_region = s->registered ? s->region : 0,
	};

	return call(s, TORCOLL_IOC_SUBMIT, &desc);
}

static int reap(struct subject *s)
{
	struct torcoll_wait w = {
		.size = sizeof(w), .comm = s->comm, .deadline_ns = in_seconds(PATIENCE),
	};
	int err = call(s, TORCOLL_IOC_WAIT, &w);

	return err ? err : w.status;
}

static int wait_for_op(void *arg)
{
	return reap(arg);
}

static void undo_submit(void *arg)
{
	int err = reap(arg);

	if (!err)
		return;
	errno = -err;
	die("wait");
}

static void redo_submit(void *arg)
{
	int err = submit(arg);

	if (!err)
		return;
	errno = -err;
	die("submit");
}

static int abort_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->comm };

	return call(s, TORCOLL_IOC_ABORT, &h);
}

static void get_memory(struct subject *s, size_t bytes)
{
	s->bytes = bytes;
	s->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED)
		die("mmap");
	memset(s->memory, 0, bytes);
}

static int all_calls(uint64_t key)
{
	struct subject s = { .key = key, .count = 1000, .alone = true };

	get_memory(&s, 1 << 20);
	sweep("open", open_device, close_device, &s);
	sweep("info", info, NULL, &s);
	sweep("error", last_error, NULL, &s);
	sweep("region add", add_region, undo_region, &s);
	sweep("region del", del_region, redo_region, &s);
	redo_region(&s);
	sweep("comm add", add_comm, undo_comm, &s);
	sweep("comm info", comm_info, NULL, &s);
	sweep("submit, plain memory", submit, undo_submit, &s);
	undo_submit(&s);
	s.registered = true;
	sweep("submit, registered", submit, undo_submit, &s);
	sweep("wait", wait_for_op, redo_submit, &s);
	sweep("comm del", del_comm, redo_comm, &s);
	redo_comm(&s);
	sweep("abort", abort_comm, NULL, &s);
	close_device(&s);
	return 0;
}

/* --- an allreduce among several --- */

static const struct { uint32_t algorithm; uint64_t count; bool registered; } ops[] = {
	{ TORCOLL_ALGO_AUTO, 2, false },
	{ TORCOLL_ALGO_AUTO, 20000, false },
	{ TORCOLL_ALGO_AUTO, 20000, true },
	{ TORCOLL_SWING_BW, 5000, true },
	{ TORCOLL_SWING_LAT, 3000, false },
	{ TORCOLL_CIRCULANT, 3000, true },
};

static void enter_node(int rank)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/tor-%d", rank);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static void choose_op(struct subject *s, unsigned int i)
{
	s->algorithm = ops[i].algorithm;
	s->count = ops[i].count;
	s->registered = ops[i].registered;
}

static void fill(struct subject *s)
{
	uint64_t i;

	for (i = 0; i < s->count; i++)
		((int32_t *)s->memory)[i] = i + 1;
}

static void check_sum(struct subject *s)
{
	uint64_t i;

	for (i = 0; i < s->count; i++) {
		if (((int32_t *)s->memory)[i] == (int32_t)((i + 1) * s->ranks))
			continue;
		fprintf(stderr, "element %llu of %llu is %d\n", (unsigned long long)i,
			(unsigned long long)s->count, ((int32_t *)s->memory)[i]);
		exit(1);
	}
}

/* What rank 0 says of each op, by its number, once it has submitted it. */
enum said { NOTHING, AGAIN, NEXT };

#define OPS_MAX		65536

static volatile uint8_t *said;
static uint32_t ops_done;

static void go_on(struct subject *s, enum said what)
{
	if (ops_done == OPS_MAX)
		die("more ops than expected");
	said[ops_done++] = what;
	undo_submit(s);
	check_sum(s);
	fill(s);
}

static void again(void *arg)
{
	go_on(arg, AGAIN);
}

static void lead(struct subject *s)
{
	char name[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		choose_op(s, i);
		fill(s);
		snprintf(name, sizeof(name), "allreduce, algorithm %u, %llu elements", s->algorithm,
			 (unsigned long long)s->count);
		sweep(name, submit, again, s);
		go_on(s, NEXT);
	}
}

static void follow(struct subject *s)
{
	unsigned int i = 0;

	while (i < ARRAY_SIZE(ops)) {
		choose_op(s, i);
		fill(s);
		redo_submit(s);
		undo_submit(s);
		check_sum(s);
		while (said[ops_done] == NOTHING)
			usleep(1000);
		i += said[ops_done++] == NEXT;
	}
}

static int rank_main(uint64_t key, int rank, uint32_t ranks)
{
	struct subject s = { .key = key, .ranks = ranks };

	enter_node(rank);
	get_memory(&s, 1 << 20);
	if (open_device(&s))
		die("/dev/torcoll");
	redo_region(&s);
	redo_comm(&s);
	if (rank)
		follow(&s);
	else
		lead(&s);
	return 0;
}

static int allreduce(uint64_t key, uint32_t ranks)
{
	uint32_t i;
	int status, code = 0;

	said = mmap(NULL, OPS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		die("mmap");
	for (i = 0; i < ranks; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			exit(rank_main(key, i, ranks));
	}
	while (wait(&status) > 0)
		code |= status;
	return !!code;
}

int main(int argc, char **argv)
{
	struct subject s;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3 && !strcmp(argv[1], "command"))
		return commands(argv[2], argv + 3);
	if (argc == 3 && !strcmp(argv[1], "calls"))
		return all_calls(strtoull(argv[2], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "allreduce"))
		return allreduce(strtoull(argv[2], NULL, 0), atoi(argv[3]));
	if (argc == 2 && !strcmp(argv[1], "netns")) {
		/* other protocols have words of their own: EEXIST, ENODEV */
		sweep_words("network namespace", new_netns, NULL, &s, true);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "load")) {
		fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(argv[2]);
		sweep("module load", load_module, unload_module, &fd);
		return 0;
	}
	fprintf(stderr, "usage: see the head of faults.c\n");
	return 2;
}
