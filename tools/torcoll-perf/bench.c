// SPDX-License-Identifier: GPL-2.0
/*
 * One size, one way of calling: check, warm up, time. All ranks execute it in
 * step.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "perf.h"

#define GUARD_BYTES	64
#define GUARD		0xa5

/* Values of one timing that are summed or maximised over all ranks. */
enum { SUM_WRONG, SUM_NS, SUM_COUNTED, SUM_FRAMES, SUM_RETRANSMITS, SUM_FORWARDED, SUMS };
enum { MAX_US, MAX_MINUS_US, MAX_SWITCHES, MAXIMA };

struct sample {
	uint64_t ns;
	uint64_t switches;
	struct counters counters;
	bool counted;
};

static int failed(const struct perf *p)
{
	fprintf(stderr, "torcoll-perf: rank %u: %s\n", p->rank, torcoll_last_error());
	return -1;
}

/* The buffers of an op. In place, both are parts of the vector at p->recv. */
static uint8_t *send_buffer(const struct perf *p, const struct result *r, enum place where)
{
	if (where == OUT_OF_PLACE)
		return p->send.data;
	return p->recv.data + part_sent(p, r).first * torcoll_type_size(r->type);
}

static uint8_t *recv_buffer(const struct perf *p, const struct result *r, enum place where)
{
	if (where == OUT_OF_PLACE)
		return p->recv.data;
	return p->recv.data + part_received(p, r).first * torcoll_type_size(r->type);
}

static struct torcoll_op make_op(const struct perf *p, const struct result *r, enum place where)
{
	struct torcoll_op op = {
		.collective = p->o->collective,
		.type = p->o->collective == TORCOLL_BARRIER ? TORCOLL_TYPE_NONE : r->type,
		.redop = r->redop,
		.algorithm = p->o->algorithm,
		.root = p->o->root,
		.count = r->count,
		.counts = p->o->uneven ? p->counts : NULL,
		.send = send_buffer(p, r, where),
		.recv = recv_buffer(p, r, where),
	};

	memcpy(op.param, p->o->param, sizeof(op.param));
	if (p->o->timeout_ms)
		op.deadline_ns = torcoll_deadline(p->o->timeout_ms);
	return op;
}

static int run_op(struct perf *p, const struct result *r, enum place where)
{
	struct torcoll_op op = make_op(p, r, where);

	return torcoll_run(p->comm, &op) ? failed(p) : 0;
}

/* The same in two calls, which returns the algorithm. */
static int start_and_wait(struct perf *p, struct result *r, enum place where)
{
	struct torcoll_op op = make_op(p, r, where);
	struct torcoll_request req;

	if (torcoll_submit(p->comm, &op, &req))
		return failed(p);
	r->chosen = torcoll_request_algorithm(&req);
	return torcoll_wait(&req) ? failed(p) : 0;
}

/* Wait until all ranks have come here. */
static int synchronize(struct perf *p)
{
	int32_t x = 0;

	return torcoll_allreduce(p->comm, &x, &x, 1, TORCOLL_I32, TORCOLL_SUM) ? failed(p) : 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t voluntary_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void complain(const struct perf *p, const struct result *r, enum place where,
		     uint64_t wrong, const char *what)
{
	fprintf(stderr, "torcoll-perf: rank %u: %s %s %s, %llu elements, %s: %llu wrong: %s\n",
		p->rank, torcoll_collective_name(p->o->collective), torcoll_type_name(r->type),
		redop_name(r->redop), (unsigned long long)r->count, place_name(where),
		(unsigned long long)wrong, what);
}

static uint64_t check_guard(const struct perf *p, uint64_t bytes)
{
	uint64_t changed = 0;

	for (unsigned int i = 0; i < GUARD_BYTES; i++)
		changed += p->recv.data[bytes + i] != GUARD;
	return changed;
}

/*
 * Check the result, that the input is unchanged, and that nothing was written
 * behind the result.
 */
static uint64_t check_result(const struct perf *p, const struct result *r, enum place where)
{
	uint64_t wrong, changed = 0, guard, bytes = r->bytes;
	char first[128] = "";

	wrong = part_check(p, r, recv_buffer(p, r, where), first, sizeof(first));
	if (wrong)
		complain(p, r, where, wrong, first);
	if (where == OUT_OF_PLACE) {
		changed = data_check_input(r, p->rank, part_sent(p, r), p->send.data);
		/* rank 0's result of an exclusive scan is undefined */
		if (p->o->collective != TORCOLL_EXSCAN)
			bytes = part_received(p, r).n * torcoll_type_size(r->type);
	}
	if (changed)
		complain(p, r, where, changed, "the input was written to");
	guard = check_guard(p, bytes);
	if (guard)
		complain(p, r, where, guard, "bytes behind the result were written to");
	return wrong + changed + guard;
}

static void prepare(struct perf *p, const struct result *r, enum place where)
{
	memset(p->recv.data, GUARD, r->bytes + GUARD_BYTES);
	data_fill(r, p->rank, part_sent(p, r), send_buffer(p, r, where));
}

static int check_runs(struct perf *p, struct result *r, enum place where, uint64_t *wrong)
{
	for (unsigned int i = 0; i < p->o->checks; i++) {
		prepare(p, r, where);
		if (start_and_wait(p, r, where))
			return -1;
		*wrong += check_result(p, r, where);
	}
	return 0;
}

/* Compute the checksum of a rounded result, to be compared between ranks. */
static int checksum_run(struct perf *p, const struct result *r, enum place where)
{
	data_fill_inexact(r, p->rank, part_sent(p, r), send_buffer(p, r, where));
	if (run_op(p, r, where))
		return -1;
	printf("checksum %s %s %s count %llu %s %016llx\n",
	       torcoll_collective_name(p->o->collective), torcoll_type_name(r->type),
	       redop_name(r->redop), (unsigned long long)r->count, place_name(where),
	       (unsigned long long)data_checksum(recv_buffer(p, r, where),
						 part_received(p, r).n *
						 torcoll_type_size(r->type)));
	fflush(stdout);
	return 0;
}

/*
 * Counters belong to the node, not to this process: they are read while all
 * ranks are quiet, and therefore include the two short ops of synchronize().
 */
static int time_runs(struct perf *p, const struct result *r, enum place where, struct sample *s)
{
	struct counters before;

	for (unsigned int i = 0; i < p->o->warmup; i++)
		if (run_op(p, r, where))
			return -1;
	s->counted = counters_read(&before);
	if (synchronize(p))
		return -1;
	s->switches = voluntary_switches();
	s->ns = now_ns();
	for (unsigned int i = 0; i < p->o->iters; i++)
		if (run_op(p, r, where))
			return -1;
	s->ns = now_ns() - s->ns;
	s->switches = voluntary_switches() - s->switches;
	if (synchronize(p))
		return -1;
	s->counted = s->counted && counters_read(&s->counters);
	s->counters.frames -= before.frames;
	s->counters.retransmits -= before.retransmits;
	s->counters.forwarded -= before.forwarded;
	return 0;
}

/* Combine the ranks' measurements into one timing, the same on all of them. */
static int timing_agree(struct perf *p, const struct sample *s, uint64_t wrong, struct timing *t)
{
	double n = p->o->iters, us = s->ns / 1000.0 / n;
	double max[MAXIMA] = {
		[MAX_US] = us,
		[MAX_MINUS_US] = -us,
		[MAX_SWITCHES] = s->switches / n,
	};
	int64_t sum[SUMS] = {
		[SUM_WRONG] = wrong,
		[SUM_NS] = s->ns,
		[SUM_COUNTED] = s->counted,
		[SUM_FRAMES] = s->counters.frames,
		[SUM_RETRANSMITS] = s->counters.retransmits,
		[SUM_FORWARDED] = s->counters.forwarded,
	};

	if (torcoll_allreduce(p->comm, max, max, MAXIMA, TORCOLL_F64, TORCOLL_MAX) ||
	    torcoll_allreduce(p->comm, sum, sum, SUMS, TORCOLL_I64, TORCOLL_SUM))
		return failed(p);
	*t = (struct timing){
		.max_us = max[MAX_US],
		.min_us = -max[MAX_MINUS_US],
		.avg_us = sum[SUM_NS] / 1000.0 / n / p->size,
		.switches = max[MAX_SWITCHES],
		.wrong = sum[SUM_WRONG] ? (uint64_t)sum[SUM_WRONG] : wrong,
		.counted = sum[SUM_COUNTED] == p->size,
		.counters = {
			.frames = sum[SUM_FRAMES] / n,
			.retransmits = sum[SUM_RETRANSMITS] / n,
			.forwarded = sum[SUM_FORWARDED] / n,
		},
	};
	return 0;
}

static int bench_place(struct perf *p, struct result *r, enum place where, struct timing *t)
{
	struct sample s = { 0 };
	uint64_t wrong = 0;

	if (check_runs(p, r, where, &wrong))
		return -1;
	if (p->o->checksum && checksum_run(p, r, where))
		return -1;
	prepare(p, r, where);
	if (time_runs(p, r, where, &s))
		return -1;
	/*
	 * in place each run took the result of the one before, which is not
	 * checked
	 */
	if (where == OUT_OF_PLACE)
		wrong += check_result(p, r, where);
	return timing_agree(p, &s, wrong, t);
}

int bench_size(struct perf *p, struct result *r)
{
	part_counts(p, r);
	for (int place = 0; place < PLACES; place++) {
		if (!p->o->place[place])
			continue;
		if (bench_place(p, r, place, &r->timing[place]))
			return -1;
		p->wrong += r->timing[place].wrong;
	}
	return 0;
}
