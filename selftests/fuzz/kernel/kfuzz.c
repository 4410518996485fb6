// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Workers, coverage, and the log of the kernel. See kfuzz.h.
 */
#include "kfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/kcov.h>

#define KCOV		"/sys/kernel/debug/kcov"
#define KCOV_WORDS	(256 << 10)
#define KCOV_HANDLE	0x746fULL		/* of skbs that the fuzzer sends */

/* Events of an input that are carried out. */
#define EVENTS_MAX	48
/* No call may take longer: each has a deadline of its own, far shorter. */
#define STUCK_MS	90000
/* Whoever still waits after that, and is wanted for another one, is woken. */
#define PATIENCE_MS	1

/* The last inputs, where the host finds them should the guest die: see run. */
#define RING_SLOTS	8
#define RING_BYTES	4096

struct ring_slot {
	u32 number;
	u32 size;
	u8 data[RING_BYTES - 8];
};

struct worker {
	pid_t pid;
	int to, from;
	bool busy, used;
	int kcov;
	u64 *cover;
};

static struct worker worker[KFUZZ_WORKERS];
static struct ring_slot *ring;
static u64 *remote;
static int log_fd = -1;
static u32 inputs;

/* libFuzzer adds this to what it sees of the program, which is nothing. */
static u8 counters[1 << 16] __attribute__((section("__libfuzzer_extra_counters")));

void kfuzz_die(const char *what)
{
	fprintf(stderr, "fuzzer: %s: %s\n", what, strerror(errno));
	_exit(2);
}

void kfuzz_sh(const char *command)
{
	kfuzz_need(!system(command), command);
}

int kfuzz_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

u64 kfuzz_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, 0, kfuzz_target.record);
}

/* --- coverage --- */

static u64 *open_kcov(int *fd)
{
	u64 *cover;

	*fd = open(KCOV, O_RDWR | O_CLOEXEC);
	/* a kernel without it runs inputs all the same */
	if (*fd < 0)
		return NULL;
	kfuzz_need(!ioctl(*fd, KCOV_INIT_TRACE, KCOV_WORDS), "kcov");
	cover = mmap(NULL, KCOV_WORDS * sizeof(u64), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	kfuzz_need(cover != MAP_FAILED, "kcov: mmap");
	return cover;
}

/* What softirqs execute on behalf of frames that this thread sends. */
static void open_remote(void)
{
	struct kcov_remote_arg arg = {
		.trace_mode = KCOV_TRACE_PC,
		.area_size = KCOV_WORDS,
		.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, KCOV_HANDLE),
	};
	int fd;

	remote = open_kcov(&fd);
	if (remote)
		kfuzz_need(!ioctl(fd, KCOV_REMOTE_ENABLE, &arg), "kcov: remote");
}

static void collect(u64 *cover)
{
	u64 i, n;

	if (!cover)
		return;
	n = min_t(u64, __atomic_load_n(&cover[0], __ATOMIC_RELAXED), KCOV_WORDS - 1);
	for (i = 1; i <= n; i++) {
		u8 *counter = &counters[(cover[i] * 0x9e3779b97f4a7c15ULL) >> 48];

		if (*counter != 0xff)
			++*counter;
	}
	__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
}

/* --- the kernel's log --- */

static void check_log(void)
{
	static const char *const bad[] = {
		"BUG:", "WARNING:", "UBSAN:", "KASAN:", "INFO: task", "INFO: rcu", "INFO: trying",
		"possible recursive", "suspicious RCU", "refcount_t:", "ODEBUG:", "ref_tracker:",
		"unregister_netdevice: waiting",
	};
	char line[8192];
	ssize_t len;
	u32 i;

	if (log_fd < 0) {
		log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		kfuzz_need(log_fd >= 0 && lseek(log_fd, 0, SEEK_END) >= 0, "/dev/kmsg");
	}
	for (;;) {
		len = read(log_fd, line, sizeof(line) - 1);
		if (len < 0 && errno == EPIPE)
			continue;
		if (len <= 0)
			return;
		line[len] = '\0';
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			if (!strstr(line, bad[i]))
				continue;
			fprintf(stderr, "the kernel complains: %s\n", line);
			/* the rest of it */
			usleep(200000);
			abort();
		}
	}
}

/* --- workers --- */

/*
 * All on one processor, workers first: an event is carried out until its worker sleeps, and only then goes the fuzzer on. So
 * nobody has to be waited for, and no idle processor to be woken, which here takes milliseconds.
 */
static void share_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	kfuzz_need(!sched_setaffinity(0, sizeof(set), &set), "affinity");
}

static void go_first(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	kfuzz_need(!sched_setscheduler(0, SCHED_FIFO, &param), "scheduler");
}

/* Ends a wait. */
static void wake(int sig)
{
}

/* What is put back is put back. */
static void reset_undisturbed(int w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kfuzz_target.reset(w);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* 'y': done; 'k': kill me; from the fuzzer: an event, or all zeros behind a first byte of 0 for the end of the input. */
static void __attribute__((__noreturn__)) work(int w, int in_fd, int out_fd)
{
	const struct sigaction action = { .sa_handler = wake };
	u8 msg[KFUZZ_RECORD_MAX + 1], answer;

	sigaction(SIGUSR1, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/* before it is in a user namespace of its own, which lacks the right to */
	go_first();
	kfuzz_target.setup(w);
	if (worker[w].cover)
		kfuzz_need(!ioctl(worker[w].kcov, KCOV_ENABLE, KCOV_TRACE_PC), "kcov: enable");
	for (;;) {
		const ssize_t len = read(in_fd, msg, kfuzz_target.record + 1);
		struct fuzz_in in = { .p = msg + 1, .left = kfuzz_target.record };

		/* woken too late */
		if (len < 0 && errno == EINTR)
			continue;
		if (len != (ssize_t)kfuzz_target.record + 1)
			break;
		answer = 'y';
		if (!msg[0])
			reset_undisturbed(w);
		else if (!kfuzz_target.event(w, &in))
			answer = 'k';
		if (write(out_fd, &answer, 1) != 1)
			break;
	}
	_exit(0);
}

static void start(int w)
{
	int to[2], from[2];

	kfuzz_need(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	fflush(NULL);
	worker[w].pid = fork();
	kfuzz_need(worker[w].pid >= 0, "fork");
	if (!worker[w].pid) {
		close(to[1]);
		close(from[0]);
		work(w, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	worker[w].to = to[1];
	worker[w].from = from[0];
	worker[w].busy = false;
}

static void end(int w)
{
	kill(worker[w].pid, SIGKILL);
	waitpid(worker[w].pid, NULL, 0);
	close(worker[w].to);
	close(worker[w].from);
}

static bool wait_for(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) > 0;
}

/* Until worker @w is idle, or that many ms. A worker that ended by itself, or wants to be killed, is another one then. */
static bool settle(int w, int ms)
{
	u8 answer = 'k';

	if (!worker[w].busy)
		return true;
	if (!(kfuzz_target.wait ?: wait_for)(worker[w].from, ms))
		return false;
	if (read(worker[w].from, &answer, 1) != 1)
		answer = 'k';
	worker[w].busy = false;
	if (answer == 'k') {
		end(w);
		start(w);
	}
	return true;
}

static void must_settle(int w)
{
	u64 until = kfuzz_now() + STUCK_MS * NSEC_PER_MSEC;

	/* polls end early when libFuzzer's alarm goes off */
	while (!settle(w, PATIENCE_MS)) {
		kill(worker[w].pid, SIGUSR1);
		if (kfuzz_now() > until) {
			kfuzz_sh("echo w >/proc/sysrq-trigger; dmesg | tail -n 200 >&2");
			must(!"a call returns");
		}
	}
}

static void give(int w, const u8 *record)
{
	u8 msg[KFUZZ_RECORD_MAX + 1] = { record != NULL };

	if (record)
		memcpy(msg + 1, record, kfuzz_target.record);
	must_settle(w);
	worker[w].used |= record != NULL;
	worker[w].busy = true;
	kfuzz_need(write(worker[w].to, msg, kfuzz_target.record + 1) > 0, "worker");
}

static void begin(void)
{
	const char *path = getenv("KFUZZ_RING");
	int w, fd;

	if (path) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		kfuzz_need(fd >= 0, path);
		ring = mmap(NULL, RING_SLOTS * RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		kfuzz_need(ring != MAP_FAILED, path);
	}
	share_processor();
	kfuzz_target.init();
	for (w = 0; w < kfuzz_target.workers; w++) {
		worker[w].cover = open_kcov(&worker[w].kcov);
		start(w);
	}
	open_remote();
	check_log();
}

static void remember(const u8 *data, size_t size)
{
	struct ring_slot *slot;

	if (!ring)
		return;
	slot = &ring[inputs % RING_SLOTS];
	slot->size = min_t(size_t, size, sizeof(slot->data));
	memcpy(slot->data, data, slot->size);
	slot->number = inputs;
}

static void carry_out(const u8 *record)
{
	struct fuzz_in in = { .p = record, .left = kfuzz_target.record };
	int whose = kfuzz_target.whose(record);
	int w;

	if (whose == KFUZZ_FUZZER)
		kfuzz_target.event(whose, &in);
	for (w = 0; w < kfuzz_target.workers; w++)
		if (whose == w || whose == KFUZZ_ALL) {
			give(w, record);
			settle(w, 0);
		}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const size_t record = kfuzz_target.record;
	size_t i, n = min_t(size_t, size / record, EVENTS_MAX);
	int w;

	if (!inputs++)
		begin();
	remember(data, size);
	for (i = 0; i < n; i++)
		carry_out(data + i * record);
	for (w = 0; w < kfuzz_target.workers; w++) {
		/* who still waits would do so until its deadline */
		if (worker[w].busy)
			kill(worker[w].pid, SIGUSR1);
		if (worker[w].used)
			give(w, NULL);
		worker[w].used = false;
	}
	for (w = 0; w < kfuzz_target.workers; w++)
		must_settle(w);
	kfuzz_target.reset(-1);
	/* the first inputs reach nothing, which libFuzzer would take for a program that cannot be fuzzed */
	counters[0] = 1;
	for (w = 0; w < kfuzz_target.workers; w++)
		collect(worker[w].cover);
	collect(remote);
	check_log();
	return 0;
}
