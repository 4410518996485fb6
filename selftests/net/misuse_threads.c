// SPDX-License-Identifier: GPL-2.0
/*
 * What threads of a rank do at the same time: call, wait, close the comm, get signals. For misuse.sh: wants the namespaces of a 2x2
 * torus, says KTAP.
 */
#include "misuse.h"

#include <signal.h>

#define THREADS	4		/* of a rank */
#define ROUNDS	50
#define CLOSINGS 50
#define BLOCK	(256 << 10)	/* elements for each of three ranks: their node takes a while to have room for them */
#define CLOSED	24

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

/* Of three ranks, the first two on a node: the first leaves in the middle of its call, the last does not call. */
static struct rank both[2];
static bool calls;		/* the first is about to */

static int exchange(unsigned int self, unsigned int flags)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit), .flags = flags, .comm = both[self].comm,
		.wait_ns = flags & TORCOLL_OP_WAIT ? 1 : 0,
		.collective = TORCOLL_ALLTOALL, .type = TORCOLL_I32, .count = 3 * BLOCK,
		.send_addr = (uintptr_t)both[self].memory,
		.recv_addr = (uintptr_t)(both[self].memory + 3 * BLOCK),
	};

	return call(both[self].fd, TORCOLL_IOC_SUBMIT, &submit);
}

/* Its wait ends at once, although the op goes on. Returns how long it took. */
static void *exchange_without_end(void *arg)
{
	uint64_t begun = now_ns();

	__atomic_store_n(&calls, true, __ATOMIC_RELEASE);
	exchange(0, TORCOLL_OP_WAIT);
	return (void *)(uintptr_t)(now_ns() - begun);
}

/* The first rank closes the comm at @ns of its call, of which it returns the length; the other keeps it, in @stays. */
static uint64_t close_in_call(uint64_t ns, int stays[2])
{
	static const uint32_t members[] = { 0, 0, 1 };
	struct torcoll_handle handle = { .size = sizeof(handle) };
	struct torcoll_wait wait = { .size = sizeof(wait) };
	struct joiner j[3] = {};
	pthread_t thread;
	unsigned int i;
	uint64_t end;
	void *took;

	for (i = 0; i < 3; i++)
		j[i] = (struct joiner){
			.fd = open_on(members[i]), .name = "three", .members = members, .ranks = 3,
			.depth = 4, .deadline_ns = now_ns() + 100 * NS_PER_S,
		};
	join_all(j, 3);
	for (i = 0; i < 3; i++) {
		need(!j[i].err, "comm: %s", sentence(j[i].fd));
		if (j[i].rank == 2)
			continue;
		both[j[i].rank].fd = j[i].fd;
		both[j[i].rank].comm = j[i].comm;
	}
	handle.handle = both[0].comm;
	wait.comm = both[1].comm;
	need(!exchange(1, 0), "the other's op: %s", sentence(both[1].fd));
	calls = false;
	need(!pthread_create(&thread, NULL, exchange_without_end, NULL), "no thread");
	while (!__atomic_load_n(&calls, __ATOMIC_ACQUIRE))
		;
	end = now_ns() + ns;
	while (now_ns() < end)
		;
	call(both[0].fd, TORCOLL_IOC_COMM_DEL, &handle);
	pthread_join(thread, &took);
	need(!call(both[1].fd, TORCOLL_IOC_WAIT, &wait), "the other's op: %s", sentence(both[1].fd));
	close(both[0].fd);
	stays[0] = both[1].fd;
	stays[1] = j[2].fd;
	return (uintptr_t)took;
}

/* Whether no op, and nothing pinned, is charged to anyone. */
static bool nothing_held(void)
{
	return !system("torcollctl -j limit show | jq -e 'all(.[] | select(.user); .ops + .pinned == 0)' >/dev/null");
}

/* An op that begins just as its rank leaves, and that its call does not wait for, keeps no memory. */
static void try_close_in_call(void)
{
	int stays[CLOSED][2];
	uint64_t took = 0;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		both[i].memory = map_bytes(6 * BLOCK * sizeof(int32_t));
		memset(both[i].memory, 1, 6 * BLOCK * sizeof(int32_t));
	}
	/* the first call also makes tables of plans */
	for (i = 0; i < 2; i++)
		took = close_in_call(NS_PER_S / 2, stays[i]);
	for (; i < CLOSED; i++)
		close_in_call(i * took / CLOSED, stays[i]);
	result(nothing_held(), "closed__in_a_call_that_does_not_wait");
	for (i = 0; i < CLOSED; i++) {
		close(stays[i][0]);
		close(stays[i][1]);
	}
	for (i = 0; i < 2; i++)
		munmap(both[i].memory, 6 * BLOCK * sizeof(int32_t));
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	signals++;
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

/* --- sentences --- */

#define ASKERS	40		/* more than a file keeps sentences of */

/* Threads that are refused something at the same time, each by a name of its own. */
struct asker {
	pthread_t thread;
	int fd;
	uint32_t handle;
	pthread_barrier_t *refused;
	char said[256];
};

static int refuse(int fd, uint32_t handle)
{
	struct torcoll_handle arg = { .size = sizeof(arg), .handle = handle };

	return call(fd, TORCOLL_IOC_ABORT, &arg);
}

static void *ask(void *arg)
{
	struct asker *a = arg;
	int err = refuse(a->fd, a->handle);

	pthread_barrier_wait(a->refused);
	snprintf(a->said, sizeof(a->said), "%s", err == ENOENT ? sentence(a->fd) : strerror(err));
	return NULL;
}

static bool is_own(const struct asker *a)
{
	char words[32];
	const char *at;

	snprintf(words, sizeof(words), "handle %u", a->handle);
	at = strstr(a->said, words);
	return at && !at[strlen(words)];
}

/* Return how many of @n threads read their own sentence; -1 if one read another's. */
static int ask_all(int fd, unsigned int n)
{
	struct asker a[ASKERS];
	pthread_barrier_t refused;
	unsigned int i;
	int own = 0;

	pthread_barrier_init(&refused, NULL, n);
	for (i = 0; i < n; i++) {
		a[i] = (struct asker){ .fd = fd, .handle = 1000 + i, .refused = &refused };
		need(!pthread_create(&a[i].thread, NULL, ask, &a[i]), "no thread");
	}
	for (i = 0; i < n; i++)
		pthread_join(a[i].thread, NULL);
	for (i = 0; i < n; i++) {
		if (!is_own(&a[i]) && *a[i].said) {
			printf("# thread %u: %s\n", i, a[i].said);
			return -1;
		}
		own += is_own(&a[i]);
	}
	pthread_barrier_destroy(&refused);
	return own;
}

static void *ask_for_nothing(void *arg)
{
	struct torcoll_info info = { .size = sizeof(info) };
	int fd = *(int *)arg;

	return *sentence(fd) || call(fd, TORCOLL_IOC_INFO, &info) || *sentence(fd) ? arg : NULL;
}

/* Why a thread was refused something is its own affair. */
static void try_sentences(void)
{
	struct torcoll_info info = { .size = sizeof(info) };
	int fd = open_on(0), own;
	pthread_t thread;
	void *wrong;

	need(refuse(fd, 999) == ENOENT, "a comm that is not there");
	need(!pthread_create(&thread, NULL, ask_for_nothing, &fd), "no thread");
	pthread_join(thread, &wrong);
	result(!wrong, "sentences__none_without_a_refusal");
	result(strstr(sentence(fd), "999"), "sentences__other_calls_leave_it");
	result(!call(fd, TORCOLL_IOC_INFO, &info) && !*sentence(fd),
	       "sentences__the_next_call_clears_it");
	result(ask_all(fd, THREADS) == THREADS, "sentences__of_threads");
	own = ask_all(fd, ASKERS);
	result(own > THREADS && own < ASKERS, "sentences__of_many_the_last");
	result(ask_all(fd, THREADS) == THREADS, "sentences__of_threads_after_many");
	close(fd);
}

int main(void)
{
	try_sentences();
	try_threads(THREADS);
	try_threads(1);
	try_close_while_submitting();
	try_close_in_call();
	try_wait_elsewhere();
	try_slot_of_awaited();
	try_any_but_awaited();
	try_submitters();
	return finish();
}
