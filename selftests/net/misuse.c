// SPDX-License-Identifier: GPL-2.0
/*
 * What programs do in the middle of ops, and should not, or may: memory that goes away, comms that go away, threads,
 * signals, fork, exec, death at each stage. For misuse.sh: wants the namespaces of a 2x2 torus, says KTAP.
 */
#include "bad.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define COUNT	65536
#define SHORT	16		/* elements that are copied, not pinned */
#define BYTES	(COUNT * sizeof(int32_t))
#define THREADS	4		/* of a rank */
#define ROUNDS	50
#define CLOSINGS 50

static struct rank rank[2];

static void *map(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "no memory");
	return p;
}

static void open_both(unsigned int depth, const char *name)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = map();
	}
	make_comm(rank, 2, depth, name);
}

static void close_both(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		close(rank[i].fd);
		munmap(rank[i].memory, BYTES);
	}
}

static uint32_t add_region(int fd, void *p)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)p, .length = BYTES,
	};

	need(!call(fd, TORCOLL_IOC_REGION_ADD, &add), "region: %s", sentence(fd));
	return add.region;
}

/* An allreduce of rank 0, with separate buffers where it is given some. */
static int begin_count(uint32_t in_region, void *send, void *recv, unsigned int count)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit), .comm = rank[0].comm, .collective = TORCOLL_ALLREDUCE,
		.type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = count, .send_region = in_region,
		.recv_region = in_region, .send_addr = (uintptr_t)send,
		.recv_addr = (uintptr_t)recv, .deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	int err = call(rank[0].fd, TORCOLL_IOC_SUBMIT, &submit);

	rank[0].op = submit.op;
	return err;
}

static int begin(uint32_t in_region, void *send, void *recv)
{
	return begin_count(in_region, send, recv, COUNT);
}

static int wait_for(unsigned int self, int32_t *status)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = rank[self].comm, .op = rank[self].op,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	int err = call(rank[self].fd, TORCOLL_IOC_WAIT, &wait);

	*status = wait.status;
	return err;
}

/* An op whose memory is not there any more ends well: the pages are pinned, only nobody sees them. */
static void try_unmapped(void)
{
	int32_t status, *p;
	uint32_t region;
	bool registered;

	for (registered = false;; registered = true) {
		open_both(4, "unmapped");
		p = map();
		region = registered ? add_region(rank[0].fd, p) : 0;
		memset(p, 0, BYTES);
		need(!begin(region, p, p), "op: %s", sentence(rank[0].fd));
		munmap(p, BYTES);
		need(!begin_sum(rank, 1, COUNT), "op of rank 1");
		result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status,
		       "unmapped__%s_ends_well", registered ? "region" : "buffer");
		result(rank[1].memory[COUNT - 1] == COUNT - 1 + 1000, "unmapped__%s_other_rank_is_right",
		       registered ? "region" : "buffer");
		close_both();
		if (registered)
			break;
	}
}

/* A short result is written by who waits: the op is right for all others if it cannot be. */
static void try_short_unmapped(void)
{
	int32_t status, *p;

	open_both(4, "short");
	p = map();
	memset(p, 0, BYTES);
	need(!begin_count(0, p, p, SHORT), "op: %s", sentence(rank[0].fd));
	munmap(p, BYTES);
	need(!begin_sum(rank, 1, SHORT), "op of rank 1");
	result(!wait_for(0, &status) && status == -EFAULT &&
	       strstr(sentence(rank[0].fd), "cannot write the result"), "short__unmapped_is_told");
	result(!wait_for(1, &status) && !status && rank[1].memory[SHORT - 1] == SHORT - 1 + 1000,
	       "short__unmapped_elsewhere_right");
	result(sum_is_right(rank, 0, 2, SHORT), "short__comm_goes_on");
	close_both();
}

/* Another process has other memory at these addresses. */
static void try_short_elsewhere(void)
{
	int32_t status, *p;
	int code = 0;
	pid_t pid;

	open_both(4, "elsewhere");
	p = rank[0].memory;
	memset(p, 0, BYTES);
	need(!begin_count(0, p, p, SHORT) && !begin_sum(rank, 1, SHORT), "ops");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(wait_for(0, &status) || status != -EFAULT || p[1]);
	waitpid(pid, &code, 0);
	result(!code && !p[1], "short__of_another_process");
	result(!wait_for(1, &status) && !status, "short__other_rank_is_done");
	close_both();
}

/* Other pages at the address of a region are not the region's. */
static void try_replaced(void)
{
	int32_t status, *p;
	uint32_t region;

	open_both(4, "replaced");
	p = map();
	region = add_region(rank[0].fd, p);
	memset(p, 0, BYTES);
	need(mmap(p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p,
	     "no memory");
	memset(p, 1, BYTES);
	need(!begin(region, p, p) && !begin_sum(rank, 1, COUNT), "ops");
	result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status &&
	       rank[1].memory[7] == 1007 && p[7] == 0x01010101, "replaced__region_is_what_it_was");
	munmap(p, BYTES);
	close_both();
}

static void try_comm_closed(void)
{
	struct torcoll_handle handle = { .size = sizeof(handle) };
	int32_t status;
	int err;

	open_both(4, "closed");
	need(!begin_sum(rank, 1, COUNT) && !begin_sum(rank, 1, COUNT), "ops of rank 1");
	handle.handle = rank[1].comm;
	result(!call(rank[1].fd, TORCOLL_IOC_COMM_DEL, &handle), "closed__with_ops_running");
	result(wait_for(1, &status) == ENOENT, "closed__handle_is_gone");
	err = begin(0, rank[0].memory, rank[0].memory);
	result(err == ECONNABORTED || (!err && !wait_for(0, &status) && status == -ECONNABORTED),
	       "closed__other_rank_hears");
	close_both();
}

/* Nobody can name a comm that is still being joined: what stands for it in the meantime stays. */
static void try_handle_to_come(void)
{
	static const uint32_t members[] = { 0, 1 };
	struct joiner j = {
		.name = "to come", .members = members, .ranks = 2, .depth = 1,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	struct joiner other = j;
	struct torcoll_handle first = { .size = sizeof(first), .handle = 1 };
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = 1 };
	unsigned int i;
	bool good = true;

	j.fd = open_on(0);
	other.fd = open_on(1);
	need(!pthread_create(&j.thread, NULL, join, &j), "no thread");
	for (i = 0; i < 100; i++) {
		good &= call(j.fd, TORCOLL_IOC_COMM_DEL, &first) == ENOENT;
		good &= call(j.fd, TORCOLL_IOC_COMM_INFO, &info) == ENOENT;
		usleep(1000);
	}
	result(good, "joining__no_handle_yet");
	join(&other);
	pthread_join(j.thread, NULL);
	result(!j.err && !other.err && j.comm == 1 && !call(j.fd, TORCOLL_IOC_COMM_INFO, &info),
	       "joining__handle_in_the_end");
	close(j.fd);
	close(other.fd);
}

/* --- threads --- */

struct worker {
	pthread_t thread;
	unsigned int self;
	int32_t *memory;
};

/* The others would wait for what this one does not call. */
static void give_up(const struct worker *w, unsigned int round, int err)
{
	struct torcoll_handle handle = { .size = sizeof(handle), .handle = rank[w->self].comm };

	printf("# rank %u, call %u of a thread: %s\n", w->self, round, strerror(err));
	call(rank[w->self].fd, TORCOLL_IOC_ABORT, &handle);
}

/* All call the same, so that any order is right. Returns itself after an error. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct torcoll_submit submit = {
		.size = sizeof(submit), .flags = TORCOLL_OP_WAIT, .comm = rank[w->self].comm,
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_MAX,
		.count = 1024, .send_addr = (uintptr_t)w->memory,
		.recv_addr = (uintptr_t)w->memory, .deadline_ns = now_ns() + 100 * NS_PER_S,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ROUNDS && !err; i++) {
		w->memory[i] = i;
		err = call(rank[w->self].fd, TORCOLL_IOC_SUBMIT, &submit);
		if (!err && (submit.status || w->memory[i] != (int32_t)i))
			err = submit.status ? -submit.status : EBADMSG;
	}
	if (err)
		give_up(w, i, err);
	return err ? w : NULL;
}

/* With fewer slots than threads, those that wait for one look at results that others are just taking. */
static void try_threads(unsigned int depth)
{
	struct worker w[2 * THREADS] = {};
	unsigned int i;
	bool good = true;
	void *failed;

	open_both(depth, "threads");
	for (i = 0; i < 2 * THREADS; i++) {
		w[i].self = i % 2;
		w[i].memory = map();
		need(!pthread_create(&w[i].thread, NULL, work, &w[i]), "no thread");
	}
	for (i = 0; i < 2 * THREADS; i++) {
		pthread_join(w[i].thread, &failed);
		good &= !failed;
		munmap(w[i].memory, BYTES);
	}
	result(good, "threads__at_depth_%u", depth);
	close_both();
}

static void *submit_one(void *arg)
{
	struct rank *r = arg;
	struct torcoll_submit submit = {
		.size = sizeof(submit), .comm = r->comm, .collective = TORCOLL_ALLREDUCE,
		.type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = COUNT,
		.send_addr = (uintptr_t)r->memory, .recv_addr = (uintptr_t)r->memory,
	};

	call(r->fd, TORCOLL_IOC_SUBMIT, &submit);
	return NULL;
}

/* A rank that is alone on its node, of a comm with several on another, closes it at @ns of its own call. */
static bool close_at(uint64_t ns)
{
	static const uint32_t members[] = { 0, 1, 1 };
	struct joiner j[3] = {};
	struct torcoll_handle handle = { .size = sizeof(handle) };
	struct rank r = { .memory = map() };
	pthread_t thread;
	unsigned int i;
	uint64_t end;
	int err;

	for (i = 0; i < 3; i++)
		j[i] = (struct joiner){
			.fd = open_on(members[i]), .name = "alone", .members = members, .ranks = 3,
			.depth = 4, .deadline_ns = now_ns() + 100 * NS_PER_S,
		};
	join_all(j, 3);
	need(!j[0].err && !j[1].err && !j[2].err, "comm: %s", sentence(j[0].fd));
	r.fd = j[0].fd;
	r.comm = j[0].comm;
	handle.handle = r.comm;
	need(!pthread_create(&thread, NULL, submit_one, &r), "no thread");
	end = now_ns() + ns;
	while (now_ns() < end)
		;
	err = call(r.fd, TORCOLL_IOC_COMM_DEL, &handle);
	pthread_join(thread, NULL);
	for (i = 0; i < 3; i++)
		close(j[i].fd);
	munmap(r.memory, BYTES);
	return !err;
}

static void try_close_while_submitting(void)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < CLOSINGS; i++)
		good &= close_at(i * 1000000ULL / CLOSINGS);
	result(good, "closed__while_submitting");
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	signals++;
}

/* Of a process or a thread. */
static void wait_asleep(pid_t pid)
{
	char path[64], text[256] = "";
	int i;

	/* in a call that sleeps; or long enough */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < 1000 && !strstr(text, ") S "); i++) {
		FILE *f = fopen(path, "re");

		usleep(1000);
		if (!f || !fgets(text, sizeof(text), f))
			text[0] = '\0';
		if (f)
			fclose(f);
	}
}

struct waiter {
	pthread_t thread;
	pid_t tid;			/* once it runs */
	int err;
	int32_t status;
	unsigned int interrupted;
};

/* By bare ioctls: how often it is interrupted is what is asked. */
static void *wait_thread(void *arg)
{
	struct waiter *w = arg;
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = rank[0].comm, .op = rank[0].op,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	while (ioctl(rank[0].fd, TORCOLL_IOC_WAIT, &wait)) {
		w->err = errno;
		if (errno != EINTR)
			return NULL;
		__atomic_add_fetch(&w->interrupted, 1, __ATOMIC_RELAXED);
	}
	w->err = 0;
	w->status = wait.status;
	return NULL;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal };

	sigaction(SIGUSR1, &action, NULL);
}

/* A thread waits for what another began, through signals. */
static void try_wait_elsewhere(void)
{
	struct waiter w[2] = {};
	unsigned int i, done = 0;

	catch_signals();
	open_both(4, "waiters");
	memset(rank[0].memory, 0, BYTES);
	need(!begin(0, rank[0].memory, rank[0].memory), "op: %s", sentence(rank[0].fd));
	for (i = 0; i < 2; i++)
		need(!pthread_create(&w[i].thread, NULL, wait_thread, &w[i]), "no thread");
	while (__atomic_load_n(&w[0].interrupted, __ATOMIC_RELAXED) < 3) {
		pthread_kill(w[0].thread, SIGUSR1);
		usleep(1000);
	}
	need(!begin_sum(rank, 1, COUNT), "op of rank 1");
	for (i = 0; i < 2; i++) {
		pthread_join(w[i].thread, NULL);
		done += !w[i].err && !w[i].status;
	}
	result(done == 1 && (w[0].err == ENOENT || w[1].err == ENOENT), "waiters__one_of_two_gets_it");
	result(signals >= 3 && rank[0].memory[5] == 1005, "waiters__signals_change_nothing");
	need(!end_sum(rank, 1, 2, 0), "rank 1");
	close_both();
}

/* An op whose submission waits for it. */
struct caller {
	pthread_t thread;
	struct torcoll_submit submit;
	int err;
};

static void *call_thread(void *arg)
{
	struct caller *c = arg;

	c->err = call(rank[0].fd, TORCOLL_IOC_SUBMIT, &c->submit);
	return NULL;
}

static void call_elsewhere(struct caller *c)
{
	*c = (struct caller){
		.submit = {
			.size = sizeof(c->submit), .comm = rank[0].comm, .flags = TORCOLL_OP_WAIT,
			.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
			.count = COUNT, .send_addr = (uintptr_t)rank[0].memory,
			.recv_addr = (uintptr_t)rank[0].memory, .deadline_ns = now_ns() + 100 * NS_PER_S,
		},
	};
	need(!pthread_create(&c->thread, NULL, call_thread, c), "no thread");
}

static bool call_ends(struct caller *c)
{
	pthread_join(c->thread, NULL);
	if (c->err || c->submit.status)
		printf("# %s, status %d\n", strerror(c->err), c->submit.status);
	return !c->err && !c->submit.status;
}

#define WHILE		10000		/* us until a thread sleeps, most probably: else there is less to see */

/* Who waits for a slot is not refused because of a result that a thread has been waiting for. */
static void try_slot_of_awaited(void)
{
	struct waiter w;
	struct caller c;
	int32_t status;
	unsigned int i;
	bool good = true;

	open_both(1, "slot");
	for (i = 0; i < ROUNDS / 5 && good; i++) {
		need(!begin(0, rank[0].memory, rank[0].memory), "op: %s", sentence(rank[0].fd));
		w.tid = 0;
		need(!pthread_create(&w.thread, NULL, wait_thread, &w), "no thread");
		while (!__atomic_load_n(&w.tid, __ATOMIC_ACQUIRE))
			usleep(1000);
		wait_asleep(w.tid);
		call_elsewhere(&c);
		usleep(WHILE);
		need(!begin_sum(rank, 1, COUNT), "op of rank 1");
		pthread_join(w.thread, NULL);
		need(!wait_for(1, &status) && !begin_sum(rank, 1, COUNT), "op of rank 1");
		good = call_ends(&c);
		if (good)
			wait_for(1, &status);
	}
	result(good, "waiters__slot_of_an_awaited_op");
	close_both();
}

static void *wait_for_any(void *arg)
{
	call(rank[0].fd, TORCOLL_IOC_WAIT, arg);
	return NULL;
}

/* Who waits for any op does not get one that another thread waits for, though it was called first. */
static void try_any_but_awaited(void)
{
	struct torcoll_wait wait;
	struct caller c;
	pthread_t thread;
	int32_t status;
	unsigned int i;
	bool good = true;

	open_both(2, "any");
	for (i = 0; i < ROUNDS / 5 && good; i++) {
		call_elsewhere(&c);
		usleep(WHILE);
		need(!begin(0, rank[0].memory, rank[0].memory), "op: %s", sentence(rank[0].fd));
		wait = (struct torcoll_wait){ .size = sizeof(wait), .comm = rank[0].comm };
		need(!pthread_create(&thread, NULL, wait_for_any, &wait), "no thread");
		usleep(WHILE);
		need(!begin_sum(rank, 1, COUNT) && !wait_for(1, &status), "op of rank 1");
		need(!begin_sum(rank, 1, COUNT) && !wait_for(1, &status), "op of rank 1");
		pthread_join(thread, NULL);
		good = call_ends(&c) && wait.op == rank[0].op;
	}
	result(good, "waiters__any_but_what_another_waits_for");
	close_both();
}

struct submitter {
	pthread_t thread;
	struct torcoll_submit submit;
	int err;
};

static void *submit_thread(void *arg)
{
	struct submitter *s = arg;

	/* not restarted: what it waits for never comes */
	s->err = ioctl(rank[0].fd, TORCOLL_IOC_SUBMIT, &s->submit) ? errno : 0;
	return NULL;
}

/* While a thread waits for a slot, others keep their own deadlines, before it is their turn. */
static void try_submitters(void)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit), .collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32,
		.redop = TORCOLL_SUM, .count = 1, .flags = TORCOLL_OP_NOWAIT,
	};
	struct submitter first;
	int fd;

	open_both(1, "submitters");
	fd = rank[0].fd;
	need(!begin(0, rank[0].memory, rank[0].memory), "op: %s", sentence(fd));
	submit.comm = rank[0].comm;
	submit.send_addr = (uintptr_t)rank[0].memory;
	submit.recv_addr = (uintptr_t)rank[0].memory;
	first = (struct submitter){ .submit = submit };
	first.submit.flags = 0;
	first.submit.deadline_ns = now_ns() + 600 * NS_PER_S;
	need(!pthread_create(&first.thread, NULL, submit_thread, &first), "no thread");
	do {
		/* until it is in there */
		need(call(fd, TORCOLL_IOC_SUBMIT, &submit) == EBUSY, "a slot: %s", sentence(fd));
	} while (!strstr(sentence(fd), "another thread"));
	submit.flags = 0;
	submit.deadline_ns = 1;
	result(call(fd, TORCOLL_IOC_SUBMIT, &submit) == ETIMEDOUT && strstr(sentence(fd), "another thread"),
	       "submitters__deadline_in_the_past");
	submit.deadline_ns = now_ns() + NS_PER_S / 10;
	result(call(fd, TORCOLL_IOC_SUBMIT, &submit) == ETIMEDOUT && now_ns() >= submit.deadline_ns,
	       "submitters__deadline");
	/* a signal that comes before the thread sleeps is lost on its handler: so again */
	do {
		pthread_kill(first.thread, SIGUSR1);
		usleep(1000);
	} while (pthread_tryjoin_np(first.thread, NULL));
	result(first.err == EINTR && !first.submit.op, "submitters__interrupted_has_begun_nothing");
	close_both();
}

/* --- processes --- */

/* What a process of rank 1 has come to when it dies. */
enum stage {
	OPENED, REGISTERED, JOINING, JOINED, RUNNING, WAITING, NO_SLOT, STAGES
};

static const char *const stage_names[STAGES] = {
	"opened", "registered", "joining", "joined", "running", "waiting", "no_slot",
};

static void join_alone(struct rank *r, const uint32_t *members)
{
	struct joiner j = {
		.fd = r->fd, .name = "stages", .members = members, .ranks = 2,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
		.depth = 1,
	};

	join(&j);
	need(!j.err, "comm: %s: %s", strerror(j.err), sentence(r->fd));
	r->comm = j.comm;
}

/* Says by @ready that it is there, or about to be: what follows sleeps until death. */
static void live(enum stage stage, int ready)
{
	static const uint32_t members[] = { 0, 1 };
	struct rank *r = &rank[1];

	r->fd = open_on(1);
	r->memory = map();
	if (stage >= REGISTERED)
		add_region(r->fd, r->memory);
	if (stage == JOINING)
		need(write(ready, "", 1) == 1, "pipe");
	if (stage >= JOINING)
		join_alone(r, members);
	if (stage >= RUNNING)
		need(!begin_sum(rank, 1, COUNT), "op: %s", sentence(r->fd));
	if (stage != JOINING)
		need(write(ready, "", 1) == 1, "pipe");
	if (stage == WAITING)
		end_sum(rank, 1, 2, COUNT);
	if (stage == NO_SLOT)
		begin_sum(rank, 1, COUNT);
	for (;;)
		pause();
}

/* Rank 0, while the other is at a stage; and what it hears when that dies. */
static bool meet(enum stage stage)
{
	static const uint32_t members[] = { 0, 1 };
	int32_t status = 0;
	int ready[2], err;
	char byte;
	pid_t pid;

	need(!pipe(ready), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid)
		live(stage, ready[1]);
	close(ready[1]);
	rank[0].fd = open_on(0);
	rank[0].memory = map();
	if (stage > JOINING)
		join_alone(&rank[0], members);
	need(read(ready[0], &byte, 1) == 1, "rank 1 did not come to its stage");
	wait_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	err = 0;
	if (stage > JOINING) {
		err = begin(0, rank[0].memory, rank[0].memory);
		if (!err)
			err = wait_for(0, &status);
	}
	close(rank[0].fd);
	munmap(rank[0].memory, BYTES);
	if (stage <= JOINING)
		return !err;
	if (err != ECONNABORTED && status != -ECONNABORTED)
		printf("# %s: %s, status %d\n", stage_names[stage], strerror(err), status);
	return err == ECONNABORTED || status == -ECONNABORTED;
}

static void try_deaths(void)
{
	enum stage stage;

	for (stage = OPENED; stage < STAGES; stage++)
		result(meet(stage), "death__%s", stage_names[stage]);
	open_both(4, "after");
	result(sum_is_right(rank, 0, 2, COUNT), "death__comms_go_on");
	close_both();
}

/* A child has neither the parent's regions to lose nor its ops; what it does with its memory is its own. */
static void try_fork(void)
{
	int32_t status, *p;
	uint32_t region;
	pid_t pid;

	open_both(4, "fork");
	p = map();
	region = add_region(rank[0].fd, p);
	memset(p, 0, BYTES);
	need(!begin(region, p, p), "op: %s", sentence(rank[0].fd));
	pid = fork();
	if (!pid) {
		memset(p, 0x77, BYTES);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	need(!begin_sum(rank, 1, COUNT), "op of rank 1");
	result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status && p[9] == 1009 &&
	       rank[1].memory[9] == 1009, "fork__with_an_op_running");
	/* and after a fork, pages are still those that the region has */
	memset(p, 0, BYTES);
	need(!begin(region, p, p) && !begin_sum(rank, 1, COUNT), "ops");
	result(!wait_for(0, &status) && !status && p[9] == 1009, "fork__region_stays_the_parents");
	munmap(p, BYTES);
	close_both();
}

/* With the program, its files, ops and regions go. */
static void try_exec(void)
{
	static const uint32_t members[] = { 0, 1 };
	int32_t status = 0;
	int ready[2], err;
	char byte;
	pid_t pid;

	need(!pipe(ready), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		rank[1].fd = open_on(1);
		rank[1].memory = map();
		add_region(rank[1].fd, rank[1].memory);
		join_alone(&rank[1], members);
		need(!begin_sum(rank, 1, COUNT) && write(ready[1], "", 1) == 1, "op");
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	rank[0].fd = open_on(0);
	rank[0].memory = map();
	join_alone(&rank[0], members);
	need(read(ready[0], &byte, 1) == 1, "rank 1");
	memset(rank[0].memory, 0, BYTES);
	err = begin(0, rank[0].memory, rank[0].memory);
	if (!err)
		err = wait_for(0, &status);
	/* it may have been complete before; then the next one is not */
	if (!err && !status) {
		err = begin(0, rank[0].memory, rank[0].memory);
		if (!err)
			err = wait_for(0, &status);
	}
	result(err == ECONNABORTED || status == -ECONNABORTED, "exec__ends_the_comm");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(rank[0].fd);
	munmap(rank[0].memory, BYTES);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	try_unmapped();
	try_short_unmapped();
	try_short_elsewhere();
	try_replaced();
	try_comm_closed();
	try_handle_to_come();
	try_threads(THREADS);
	try_threads(1);
	try_close_while_submitting();
	try_wait_elsewhere();
	try_slot_of_awaited();
	try_any_but_awaited();
	try_submitters();
	try_deaths();
	try_fork();
	try_exec();
	return finish();
}
