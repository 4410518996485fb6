// SPDX-License-Identifier: GPL-2.0
/*
 * All ops of a rank: started and waited for in all the ways there are, by one thread or several. See stress.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"

/* The two ops of a message's number; other numbers have one. */
#define PART_RECV	0
#define PART_SEND	1

/* A number that was called. */
struct flight {
	struct op op;
	uint32_t left;			/* of its ops, bits: not done */
	uint64_t handle[2];
	const char *result;
};

/*
 * Under @lock, which is held to call, since all ranks call in the same order, and not to wait. Who leaves the comm does not give
 * it back: then the other threads do nothing any more.
 */
struct flights {
	struct flight of[OPS_MAX];
	uint32_t called;
	uint32_t first;			/* of those that are not done: its memory is taken by the one DEPTH later */
	uint64_t end;			/* by then another op ends, or else none will */
	pthread_mutex_t lock;
};

/* One of the threads of a rank. @comm: not the one that the rank has gone on with. */
struct worker {
	struct rank *r;
	struct flights *all;
	uint32_t comm;
	uint64_t seed;
	pthread_t thread;
};

/* ---- start ---- */

static uint64_t user_data(const struct rank *r, uint32_t number, uint32_t part)
{
	return (uint64_t)r->epoch << 32 | number << 1 | part;
}

/* Where the vector of a number lies that is sent or received: at any address. */
static char *place(struct rank *r, uint32_t number, bool send)
{
	static const uint32_t offsets[] = { 0, 0, 4, 8, 17, 64 };

	return r->memory + (2 * (number % DEPTH) + send) * PLACE_BYTES +
	       offsets[rnd(&r->seed) % ARRAY_SIZE(offsets)];
}

/* Write the op's descriptors, and return how many; fill what is sent. */
static uint32_t describe(struct rank *r, struct flight *f, struct torcoll_submit desc[2])
{
	const struct op *op = &f->op;
	uint32_t me = r->rank, ranks = r->plot->ranks;
	struct span sent = op_sent(op, ranks, me), received = op_received(op, ranks, me);
	bool message = op->collective == TORCOLL_SEND;
	char *to = place(r, op->number, false), *from = place(r, op->number, true);

	if (!message && rnd(&r->seed) & 1)
		from = to;
	from += 4 * sent.start;
	to += 4 * received.start;
	op_fill(op, ranks, me, from);
	f->result = to;
	desc[0] = (struct torcoll_submit){
		.size = sizeof(desc[0]), .comm = r->comm, .collective = op->collective,
		.algorithm = op->algorithm, .type = op->type, .redop = op->redop, .bits = op->bits,
		.root = op->root, .count = op->count,
		.counts = op->uneven ? (uintptr_t)op->counts : 0,
		.send_addr = (uintptr_t)from, .recv_addr = (uintptr_t)to,
		.deadline_ns = deadline(r), .user_data = user_data(r, op->number, PART_RECV),
	};
	if (r->kind == ALLOCATED || rnd(&r->seed) & 1)
		desc[0].send_region = desc[0].recv_region = r->region;
	if (r->ring)
		desc[0].flags = TORCOLL_OP_RING;
	if (r->plot->misdeed == MISMATCH && me == r->plot->culprit &&
	    op->number == r->plot->ops / 2)
		desc[0].count++;
	if (!message)
		return 1;
	desc[1] = desc[0];
	desc[1].user_data = user_data(r, op->number, PART_SEND);
	desc[1].peer = (me + op->ahead) % ranks;
	desc[0].collective = TORCOLL_RECV;
	desc[0].peer = (me + ranks - op->ahead) % ranks;
	return 2;
}

static int batch(struct rank *r, struct torcoll_submit *desc, uint32_t n)
{
	struct torcoll_batch b = {
		.size = sizeof(b), .descs = (uintptr_t)desc, .desc_size = sizeof(*desc), .count = n,
	};

	return call(r, TORCOLL_IOC_BATCH, &b);
}

/* Not waiting for a slot, then waiting for one. */
static int submit(struct rank *r, struct torcoll_submit *desc)
{
	int err;

	if (rnd(&r->seed) % 4 == 0) {
		desc->flags |= TORCOLL_OP_NOWAIT;
		err = call(r, TORCOLL_IOC_SUBMIT, desc);
		if (err != -EBUSY)
			return err;
		desc->flags &= ~TORCOLL_OP_NOWAIT;
	}
	return call(r, TORCOLL_IOC_SUBMIT, desc);
}

/* A message would wait for one that is sent later. */
static int submit_one(struct rank *r, struct torcoll_submit *desc, bool *done)
{
	int err;

	if (!r->ring && rnd(&r->seed) % 8 == 0)
		desc->flags |= TORCOLL_OP_WAIT;
	err = submit(r, desc);
	*done = !err && desc->flags & TORCOLL_OP_WAIT;
	return *done ? desc->status : err;
}

static int start(struct rank *r, struct flight *f)
{
	struct torcoll_submit desc[2];
	uint32_t i, n = describe(r, f, desc);
	bool done = false;
	int err = 0;

	if (rnd(&r->seed) % 3 == 0)
		err = batch(r, desc, n);
	else if (n == 1)
		err = submit_one(r, desc, &done);
	else
		for (i = 0; i < n && !err; i++)
			err = submit(r, &desc[i]);
	if (err)
		return err;
	f->left = done ? 0 : (1U << n) - 1;
	for (i = 0; i < n; i++)
		f->handle[i] = desc[i].op;
	return 0;
}

/* ---- wait ---- */

/* An op that has a deadline ends by it: patience for that. */
static void bear(struct rank *r, uint64_t end)
{
	if (now_ns() < end)
		return;
	complain(r, "an op with a deadline does not end");
	_exit(1);
}

/* Any op, or that of a handle; sleeping or asking; now and then not long enough. */
static int await_call(struct worker *me, uint64_t handle, uint64_t *user)
{
	struct torcoll_wait w = { .size = sizeof(w), .comm = me->comm };
	struct pollfd p = { .fd = me->r->fd, .events = POLLIN };
	uint32_t how = rnd(&me->seed) % 4;
	uint64_t end = in_ms(60000);
	int err;

	for (;;) {
		w.op = how & 1 ? handle : 0;
		w.flags = how & 2 ? TORCOLL_WAIT_NOHANG : 0;
		w.deadline_ns = rnd(&me->seed) % 4 ? in_ms(60000) : now_ns() + 100000;
		w.spin_ns = rnd(&me->seed) % 8 ? 0 : 50000;
		err = call(me->r, TORCOLL_IOC_WAIT, &w);
		if (!err) {
			*user = w.user_data;
			return w.status;
		}
		if (err != -EAGAIN && err != -ETIMEDOUT && err != -EINTR)
			return err;
		bear(me->r, end);
		if (err == -EAGAIN)
			poll(&p, 1, 10);
	}
}

static bool next_entry(struct worker *me, struct torcoll_completion *c)
{
	struct rank *r = me->r;
	uint32_t head;
	bool is_new;

	pthread_mutex_lock(&me->all->lock);
	head = r->ring->head;
	is_new = __atomic_load_n(&r->ring->tail, __ATOMIC_ACQUIRE) != head;
	if (is_new) {
		memcpy(c, (char *)r->ring + r->layout.entries_offset +
		       head % r->layout.entries * r->layout.entry_size, sizeof(*c));
		__atomic_store_n(&r->ring->head, head + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&me->all->lock);
	return is_new;
}

static bool is_over(struct worker *me)
{
	bool over;

	pthread_mutex_lock(&me->all->lock);
	over = me->all->first == me->r->plot->ops;
	pthread_mutex_unlock(&me->all->lock);
	return over;
}

static int await_ring(struct worker *me, uint64_t *user)
{
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = me->comm };
	struct rank *r = me->r;
	uint64_t end = in_ms(60000);
	struct torcoll_completion c;
	struct torcoll_wait w;
	int err;

	for (;;) {
		if (next_entry(me, &c)) {
			/* of the comm that was shrunk */
			if (c.user_data >> 32 != r->epoch)
				continue;
			break;
		}
		/* other threads have had them all */
		if (is_over(me))
			return -EAGAIN;
		/* no more come of one that another thread has closed */
		err = call(r, TORCOLL_IOC_COMM_INFO, &info);
		if (err)
			return err;
		bear(r, end);
		usleep(200);
	}
	*user = c.user_data;
	if (!(c.flags & TORCOLL_COMPLETION_REAP))
		return c.status;
	w = (struct torcoll_wait){ .size = sizeof(w), .comm = me->comm, .op = c.op };
	err = call(r, TORCOLL_IOC_WAIT, &w);
	return err ? err : w.status;
}

/* Without the lock. Return: the op's result; -ENOENT: another thread was given it; -EAGAIN: all that were called. */
static int await(struct worker *me, uint64_t handle, uint64_t *user)
{
	return me->r->ring ? await_ring(me, user) : await_call(me, handle, user);
}

/* ---- all ---- */

static void check(struct rank *r, const struct flight *f)
{
	char text[96];

	count(&tally->ops);
	if (op_check(&f->op, r->plot->ranks, r->rank, f->result, text, sizeof(text)))
		return;
	complain(r, "%s: %s", op_text(&f->op), text);
	_exit(1);
}

/* An op is done: they end in any order, and each once. */
static void take(struct rank *r, struct flights *all, uint64_t user)
{
	uint32_t number = (uint32_t)user >> 1, part = user & 1;
	struct flight *f = &all->of[number];

	if (user >> 32 != r->epoch || number >= all->called || !(f->left >> part & 1)) {
		complain(r, "op %#llx came, %u were called", (unsigned long long)user, all->called);
		_exit(1);
	}
	f->left &= ~(1U << part);
	all->end = in_ms(60000);
	if (part == PART_RECV)
		check(r, f);
}

static void start_next(struct rank *r, struct flights *all)
{
	struct flight *f = &all->of[all->called];
	int err;

	f->op = op_draw(r->plot, r->algorithms, all->called);
	err = start(r, f);
	/* not for this shape, or these bits: on all ranks alike */
	if (err == -EOPNOTSUPP && f->op.algorithm != TORCOLL_ALGO_AUTO) {
		f->op.algorithm = TORCOLL_ALGO_AUTO;
		err = start(r, f);
	}
	if (err)
		leave(r, op_text(&f->op), err);
	all->called++;
	if (!f->left)
		check(r, f);
}

/* Of those in flight the first one that is not done: its memory is the next to be needed. */
static uint64_t next_handle(const struct flights *all)
{
	const struct flight *f = &all->of[all->first];

	return f->handle[f->left & 1 << PART_RECV ? PART_RECV : PART_SEND];
}

/* With the lock, which is not held meanwhile. */
static void finish_one(struct worker *me)
{
	struct flights *all = me->all;
	uint64_t handle = next_handle(all), user = 0;
	struct rank *r = me->r;
	int err;

	pthread_mutex_unlock(&all->lock);
	err = await(me, handle, &user);
	pthread_mutex_lock(&all->lock);
	if (!err)
		take(r, all, user);
	else if (err == -ENOENT && r->threads > 1 && !has_reason(r, err))
		bear(r, all->end);
	else if (err != -EAGAIN)
		leave(r, "wait", err);
}

static void *work(void *arg)
{
	struct worker *me = arg;
	struct flights *all = me->all;
	uint32_t ops = me->r->plot->ops;

	pthread_mutex_lock(&all->lock);
	while (all->first < ops) {
		if (all->called < ops && all->called - all->first < DEPTH &&
		    (all->called == all->first || rnd(&me->seed) & 1))
			start_next(me->r, all);
		else
			finish_one(me);
		while (all->first < all->called && !all->of[all->first].left)
			all->first++;
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

void run_ops(struct rank *r)
{
	struct flights all = { .end = in_ms(60000), .lock = PTHREAD_MUTEX_INITIALIZER };
	struct worker worker[THREADS_MAX];
	uint32_t i;

	for (i = 0; i < r->threads; i++) {
		worker[i] = (struct worker){ .r = r, .all = &all, .comm = r->comm, .seed = rnd(&r->seed) };
		if (i && pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			wrong(r, "pthread_create", -EAGAIN);
	}
	work(&worker[0]);
	for (i = 1; i < r->threads; i++)
		pthread_join(worker[i].thread, NULL);
}
