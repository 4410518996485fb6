// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls of /dev/torcoll, by many processes, for some time. Some pairs of lanes run at once; each makes one comm
 * after the other among random nodes tor-0, tor-1, ..., in which every rank submits the same random ops, waits for
 * them in one way or another, and checks the results. In half of the comms someone misbehaves: kills itself, aborts,
 * closes the comm or the file in another thread, comes late, calls something else, reaps what others wait for. There
 * any error is right that the interface has for it, but a result that is said to be right must be.
 *
 *	stress KEY NODES SECONDS SEED [shaky]		shaky: links come and go meanwhile
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/torcoll.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LANES		3
#define NODES_MAX	64
#define OPS_MAX		12
#define DEPTH		3
#define COUNT_MAX	60000
#define BYTES		(COUNT_MAX * sizeof(int32_t))
#define STUCK		600		/* s, for one comm */

enum misdeed {
	NONE,
	DIE,
	ABORT,
	CLOSE_COMM,
	CLOSE_FILE,
	LATE,
	MISMATCH,
	REAP,
	MISDEEDS
};

/* What all ranks of a comm know. */
struct plot {
	uint64_t seed;
	uint64_t key;
	char name[32];
	uint32_t member[NODES_MAX];
	uint32_t ranks;
	uint32_t ops;
	enum misdeed misdeed;
	uint32_t culprit;
	bool shaky;
};

struct rank {
	const struct plot *plot;
	uint32_t rank;
	int fd;
	uint32_t comm;
	uint32_t region;
	char *memory;
	volatile bool stop;
	uint64_t seed;
};

struct op {
	uint32_t number;
	uint32_t type;
	uint32_t count;
	uint32_t algorithm;
	bool in_place;
	bool registered;
};

static uint64_t rnd(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int slow(void)
{
	const char *s = getenv("TORCOLL_SLOW");

	return s ? atoi(s) : 1;
}

static uint64_t in_ms(uint64_t ms)
{
	return now_ns() + ms * 1000000 * slow();
}

static void complain(const struct rank *r, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s, seed %#llx, rank %u of %u, misdeed %d of %u: ", r->plot->name,
		(unsigned long long)r->plot->seed, r->rank, r->plot->ranks, r->plot->misdeed,
		r->plot->culprit);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void wrong(const struct rank *r, const char *what, int err)
{
	complain(r, "%s: %s", what, strerror(-err));
	_exit(1);
}

static int call(const struct rank *r, unsigned long nr, void *arg)
{
	return ioctl(r->fd, nr, arg) ? -errno : 0;
}

/* May this call say that? If not, that is the end of the test; if it may, of this rank's part in the comm. */
static void leave(const struct rank *r, const char *what, int err)
{
	bool mine = r->rank == r->plot->culprit;

	switch (err) {
	case -ECONNABORTED:
	case -ETIMEDOUT:
		if (r->plot->misdeed != NONE || (r->plot->shaky && err == -ETIMEDOUT))
			_exit(0);
		break;
	case -EHOSTUNREACH:
	case -EHOSTDOWN:
		/* also a result of calls at others that have timed out there */
		if (r->plot->shaky)
			_exit(0);
		break;
	case -EPROTO:
		if (r->plot->misdeed == MISMATCH)
			_exit(0);
		break;
	case -ENOENT:
		if (mine && (r->plot->misdeed == CLOSE_COMM || r->plot->misdeed == REAP))
			_exit(0);
		break;
	case -EBADF:
		if (mine && r->plot->misdeed == CLOSE_FILE)
			_exit(0);
		break;
	case -ECANCELED:
		if (mine && r->plot->misdeed == ABORT)
			_exit(0);
		break;
	}
	if (r->plot->shaky && err == -ECONNABORTED)
		_exit(0);
	wrong(r, what, err);
}

/* --- one rank --- */

static int32_t input(uint32_t rank, uint32_t i, uint32_t number)
{
	return (rank + 1) * (i % 7 + 1) + number % 5;
}

static void fill(const struct op *op, uint32_t rank, void *p)
{
	uint32_t i;

	for (i = 0; i < op->count; i++) {
		if (op->type == TORCOLL_F32)
			((float *)p)[i] = input(rank, i, op->number);
		else
			((int32_t *)p)[i] = input(rank, i, op->number);
	}
}

static void check(const struct rank *r, const struct op *op, const void *p)
{
	uint32_t i, k;

	for (i = 0; i < op->count; i++) {
		double got = op->type == TORCOLL_F32 ? ((float *)p)[i] : ((int32_t *)p)[i];
		double want = 0;

		for (k = 0; k < r->plot->ranks; k++)
			want += input(k, i, op->number);
		if (got == want)
			continue;
		complain(r, "op %u, algorithm %u: element %u of %u is %g, not %g", op->number,
			 op->algorithm, i, op->count, got, want);
		_exit(1);
	}
}

/* The op of a number, the same on every rank. */
static struct op choose(const struct plot *plot, uint32_t number)
{
	static const uint32_t algorithms[] = {
		TORCOLL_ALGO_AUTO, TORCOLL_ALGO_AUTO, TORCOLL_TREE, TORCOLL_RING,
		TORCOLL_CIRCULANT, TORCOLL_GENERAL,
	};
	uint64_t state = plot->seed + number * 1000003;
	struct op op = { .number = number };

	op.type = rnd(&state) & 1 ? TORCOLL_F32 : TORCOLL_I32;
	op.algorithm = algorithms[rnd(&state) % ARRAY_SIZE(algorithms)];
	op.count = 1 + rnd(&state) % (rnd(&state) & 1 ? 200 : COUNT_MAX);
	op.in_place = rnd(&state) & 1;
	op.registered = rnd(&state) & 1;
	return op;
}

static char *place(const struct rank *r, uint32_t number, bool send)
{
	return r->memory + (2 * (number % DEPTH) + send) * BYTES;
}

static int submit(struct rank *r, const struct op *op, uint64_t *handle)
{
	char *recv = place(r, op->number, false);
	char *send = op->in_place ? recv : place(r, op->number, true);
	struct torcoll_submit desc = {
		.size = sizeof(desc), .comm = r->comm, .collective = TORCOLL_ALLREDUCE,
		.algorithm = op->algorithm, .type = op->type, .redop = TORCOLL_SUM,
		.bits = TORCOLL_BITS_RELAXED, .count = op->count, .send_addr = (uintptr_t)send,
		.recv_addr = (uintptr_t)recv, .deadline_ns = in_ms(20000),
		.user_data = op->number,
	};
	int err;

	if (op->registered)
		desc.send_region = desc.recv_region = r->region;
	if (r->plot->misdeed == MISMATCH && r->rank == r->plot->culprit &&
	    op->number == r->plot->ops / 2)
		desc.count++;
	fill(op, r->rank, send);
	err = call(r, TORCOLL_IOC_SUBMIT, &desc);
	*handle = desc.op;
	return err;
}

/* Wait for one op in one of the ways there are. */
static int await(struct rank *r, uint64_t handle, uint64_t *user)
{
	struct torcoll_wait w = { .size = sizeof(w), .comm = r->comm };
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	uint32_t how = rnd(&r->seed) % 4;
	uint64_t end = in_ms(60000);
	int err;

	for (;;) {
		w.op = how & 1 ? handle : 0;
		w.flags = how & 2 ? TORCOLL_WAIT_NOHANG : 0;
		/* now and then not long enough */
		w.deadline_ns = rnd(&r->seed) % 4 ? in_ms(60000) : now_ns() + 100000;
		err = call(r, TORCOLL_IOC_WAIT, &w);
		if (!err) {
			*user = w.user_data;
			return w.status;
		}
		if (err != -EAGAIN && err != -ETIMEDOUT && err != -EINTR)
			return err;
		if (now_ns() > end) {
			complain(r, "an op with a deadline does not end");
			_exit(1);
		}
		if (err == -EAGAIN)
			poll(&p, 1, 10);
	}
}

/* The result of op @user came: ops end in any order, and each once. */
static void take(struct rank *r, bool *taken, uint32_t submitted, uint64_t user)
{
	struct op op;

	if (user >= submitted || taken[user]) {
		complain(r, "op %llu came, %u were called", (unsigned long long)user, submitted);
		_exit(1);
	}
	taken[user] = true;
	op = choose(r->plot, user);
	check(r, &op, place(r, user, false));
}

static void run_ops(struct rank *r)
{
	bool taken[OPS_MAX] = { false };
	uint64_t handle[OPS_MAX], user;
	/* the first whose result did not come: its memory is taken by the one @DEPTH later */
	uint32_t submitted = 0, first = 0;
	struct op op;
	int err;

	while (first < r->plot->ops) {
		if (submitted < r->plot->ops && submitted - first < DEPTH &&
		    (submitted == first || rnd(&r->seed) & 1)) {
			op = choose(r->plot, submitted);
			err = submit(r, &op, &handle[submitted]);
			if (err)
				leave(r, "submit", err);
			submitted++;
			continue;
		}
		err = await(r, handle[first], &user);
		if (err)
			leave(r, "wait", err);
		take(r, taken, submitted, user);
		while (first < submitted && taken[first])
			first++;
	}
}

static void misbehave(struct rank *r)
{
	struct torcoll_handle h = { .size = sizeof(h), .handle = r->comm };
	struct torcoll_wait w = {
		.size = sizeof(w), .comm = r->comm, .flags = TORCOLL_WAIT_NOHANG,
	};

	switch (r->plot->misdeed) {
	case DIE:
		raise(SIGKILL);
		break;
	case ABORT:
		call(r, TORCOLL_IOC_ABORT, &h);
		break;
	case CLOSE_COMM:
		call(r, TORCOLL_IOC_COMM_DEL, &h);
		break;
	case CLOSE_FILE:
		close(r->fd);
		break;
	case REAP:
		while (!r->stop)
			call(r, TORCOLL_IOC_WAIT, &w);
		break;
	default:
		break;
	}
}

/* Calls that change nothing, from another thread; and, at some time, the misdeed. */
static void *nuisance(void *arg)
{
	struct rank *r = arg;
	uint64_t state = r->seed ^ 1;
	uint32_t when = rnd(&state) % 40;
	uint32_t i;

	for (i = 0; !r->stop; i++) {
		struct torcoll_comm_info info = { .size = sizeof(info), .comm = r->comm };
		struct torcoll_wait w = {
			.size = sizeof(w), .comm = r->comm, .op = rnd(&state),
			.flags = TORCOLL_WAIT_NOHANG,
		};
		struct torcoll_region_add add = {
			.size = sizeof(add), .addr = (uintptr_t)r->memory, .length = BYTES,
		};
		struct torcoll_handle h = { .size = sizeof(h) };
		struct pollfd p = { .fd = r->fd, .events = POLLIN };

		if (i == when && r->rank == r->plot->culprit)
			misbehave(r);
		switch (rnd(&state) % 4) {
		case 0:
			call(r, TORCOLL_IOC_COMM_INFO, &info);
			break;
		case 1:
			call(r, TORCOLL_IOC_WAIT, &w);
			break;
		case 2:
			if (!call(r, TORCOLL_IOC_REGION_ADD, &add)) {
				h.handle = add.region;
				call(r, TORCOLL_IOC_REGION_DEL, &h);
			}
			break;
		default:
			poll(&p, 1, rnd(&state) % 3);
		}
		usleep(rnd(&state) % 3000);
	}
	return NULL;
}

static void join(struct rank *r)
{
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = r->plot->key, .name = (uintptr_t)r->plot->name,
		.name_len = strlen(r->plot->name), .secret = (uintptr_t)"stress", .secret_len = 6,
		.members = (uintptr_t)r->plot->member, .ranks = r->plot->ranks,
		.rank = TORCOLL_RANK_SELF, .depth = DEPTH, .deadline_ns = in_ms(20000),
	};
	int err;

	if (r->plot->misdeed == LATE && r->rank == r->plot->culprit)
		add.deadline_ns = now_ns() + rnd(&r->seed) % 5000000;
	err = call(r, TORCOLL_IOC_COMM_ADD, &add);
	if (err)
		leave(r, "comm add", err);
	if (add.rank != r->rank) {
		complain(r, "is rank %u", add.rank);
		_exit(1);
	}
	r->comm = add.comm;
}

static void enter_node(uint32_t node)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/tor-%u", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		_exit(1);
	}
	close(fd);
}

static void rank_main(const struct plot *plot, uint32_t rank)
{
	struct rank r = { .plot = plot, .rank = rank, .seed = plot->seed * 31 + rank };
	struct torcoll_region_add add = { .size = sizeof(add) };
	pthread_t thread;
	int err;

	enter_node(plot->member[rank]);
	r.fd = open("/dev/torcoll", O_RDWR | O_CLOEXEC);
	if (r.fd < 0)
		wrong(&r, "/dev/torcoll", -errno);
	r.memory = mmap(NULL, 2 * DEPTH * BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r.memory == MAP_FAILED)
		wrong(&r, "mmap", -errno);
	add.addr = (uintptr_t)r.memory;
	add.length = 2 * DEPTH * BYTES;
	err = call(&r, TORCOLL_IOC_REGION_ADD, &add);
	if (err)
		wrong(&r, "region add", err);
	r.region = add.region;
	join(&r);
	if (pthread_create(&thread, NULL, nuisance, &r))
		wrong(&r, "pthread_create", -EAGAIN);
	run_ops(&r);
	r.stop = true;
	pthread_join(thread, NULL);
	/* one way or the other of going */
	if (rnd(&r.seed) & 1)
		close(r.fd);
	_exit(0);
}

/* --- comms, one after the other --- */

static void draw(struct plot *plot, uint64_t *state, uint32_t nodes)
{
	uint32_t i, k, node;

	plot->seed = rnd(state);
	snprintf(plot->name, sizeof(plot->name), "stress-%llx", (unsigned long long)plot->seed);
	plot->ranks = 1 + rnd(state) % nodes;
	for (i = 0; i < nodes; i++)
		plot->member[i] = i;
	for (i = 0; i < nodes; i++) {
		k = rnd(state) % nodes;
		node = plot->member[i];
		plot->member[i] = plot->member[k];
		plot->member[k] = node;
	}
	plot->ops = 1 + rnd(state) % OPS_MAX;
	plot->misdeed = rnd(state) & 1 ? NONE : rnd(state) % MISDEEDS;
	plot->culprit = rnd(state) % plot->ranks;
}

static bool run_comm(const struct plot *plot)
{
	uint64_t end = now_ns() + STUCK * 1000000000ULL;
	uint32_t i, left = plot->ranks;
	bool good = true;
	pid_t pid[NODES_MAX];
	int status;

	for (i = 0; i < plot->ranks; i++) {
		pid[i] = fork();
		if (pid[i] < 0) {
			perror("fork");
			exit(1);
		}
		if (!pid[i])
			rank_main(plot, i);
	}
	while (left) {
		pid_t p = waitpid(-1, &status, WNOHANG);

		if (p <= 0) {
			if (now_ns() > end) {
				fprintf(stderr, "%s does not end: %u of %u ranks, misdeed %d\n",
					plot->name, left, plot->ranks, plot->misdeed);
				exit(1);
			}
			usleep(2000);
			continue;
		}
		left--;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
		    plot->misdeed == DIE && p == pid[plot->culprit])
			continue;
		if (status)
			good = false;
	}
	return good;
}

static int lane_main(uint64_t key, uint32_t nodes, uint64_t end, uint64_t seed, bool shaky)
{
	struct plot plot = { .key = key, .shaky = shaky };
	uint32_t comms = 0;

	while (now_ns() < end) {
		draw(&plot, &seed, nodes);
		if (!run_comm(&plot))
			return 1;
		comms++;
	}
	printf("%u comms\n", comms);
	return comms == 0;
}

int main(int argc, char **argv)
{
	int lane, status, code = 0;
	uint64_t end;

	if (argc < 5 || atoi(argv[2]) < 1 || atoi(argv[2]) > NODES_MAX) {
		fprintf(stderr, "usage: stress KEY NODES SECONDS SEED [shaky]\n");
		return 2;
	}
	end = now_ns() + strtoull(argv[3], NULL, 0) * 1000000000ULL;
	for (lane = 0; lane < LANES; lane++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			exit(lane_main(strtoull(argv[1], NULL, 0), atoi(argv[2]), end,
				       strtoull(argv[4], NULL, 0) * 7919 + lane, argc > 5));
	}
	while (wait(&status) > 0)
		code |= status;
	return !!code;
}
