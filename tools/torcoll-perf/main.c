// SPDX-License-Identifier: GPL-2.0
/* torcoll-perf: measures the speed of collectives, and checks their results. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf.h"

#define GUARD_ROOM	64

/* Iteration over the sizes of a run. */
struct sizes {
	uint64_t bytes;
	uint64_t last_count;
	size_t next;
	bool ended;
};

static uint64_t sizes_step(const struct options *o, uint64_t bytes)
{
	if (o->step_bytes)
		return bytes + o->step_bytes;
	return bytes ? bytes * o->factor : 1;
}

/*
 * Compute the next number of elements of a type. The largest size is always the
 * last, even if the steps miss it; sizes below an element are one element,
 * once. Return false at the end.
 */
static bool sizes_next(const struct options *o, struct sizes *s, size_t element, uint64_t *count)
{
	if (o->ncounts) {
		if (s->next == o->ncounts)
			return false;
		*count = o->counts[s->next++];
		return true;
	}
	do {
		if (s->ended)
			return false;
		s->bytes = s->next++ ? sizes_step(o, s->bytes) : o->min_bytes;
		if (s->bytes >= o->max_bytes) {
			s->bytes = o->max_bytes;
			s->ended = true;
		}
		*count = s->bytes < element ? 1 : s->bytes / element;
	} while (*count == s->last_count);
	s->last_count = *count;
	return true;
}

/* Return the maximum bytes of all sizes. */
static uint64_t sizes_max(const struct options *o)
{
	uint64_t max = 0;

	for (size_t i = 0; i < o->ntypes; i++) {
		size_t element = torcoll_type_size(o->types[i]);
		struct sizes s = { 0 };
		uint64_t count;

		while (sizes_next(o, &s, element, &count)) {
			if (count > (UINT64_MAX >> 8) / element)
				return UINT64_MAX >> 8;
			if (count * element > max)
				max = count * element;
		}
	}
	return max;
}

static int buffer_alloc(struct perf *p, struct buffer *b, uint64_t bytes)
{
	b->map_bytes = p->o->offset + bytes + GUARD_ROOM;
	b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b->map == MAP_FAILED) {
		b->map = NULL;
		fprintf(stderr, "torcoll-perf: rank %u: %llu bytes for a buffer: %s\n", p->rank,
			(unsigned long long)b->map_bytes, strerror(errno));
		return -1;
	}
	b->data = (uint8_t *)b->map + p->o->offset;
	if (p->o->plain || !torcoll_register(p->t, b->map, b->map_bytes))
		return 0;
	fprintf(stderr, "torcoll-perf: rank %u: %s; --plain does without\n", p->rank,
		torcoll_last_error());
	return -1;
}

static void buffer_free(struct perf *p, struct buffer *b)
{
	if (!b->map)
		return;
	if (!p->o->plain)
		torcoll_unregister(p->t, b->map);
	munmap(b->map, b->map_bytes);
}

static void add_busbw(struct perf *p, const struct result *r)
{
	for (int place = 0; place < PLACES; place++) {
		if (!p->o->place[place])
			continue;
		p->busbw_sum += result_busbw(p, r, &r->timing[place]);
		p->busbw_count++;
	}
}

static int bench_type(struct perf *p, enum torcoll_type type, enum torcoll_redop redop)
{
	size_t element = torcoll_type_size(type);
	struct result r = { .type = type, .redop = redop };
	uint32_t granule = part_granule(p);
	struct sizes s = { 0 };

	while (sizes_next(p->o, &s, element, &r.count)) {
		r.count -= r.count % granule;
		r.bytes = r.count * element;
		if (bench_size(p, &r))
			return -1;
		add_busbw(p, &r);
		if (!p->rank)
			print_result(p, &r);
	}
	return 0;
}

static int bench_all(struct perf *p)
{
	int err = 0;

	if (!p->rank)
		print_begin(p);
	for (size_t i = 0; i < p->o->ntypes && !err; i++) {
		if (!has_redop(p->o->collective))
			err = bench_type(p, p->o->types[i], TORCOLL_REDOP_NONE);
		else
			for (size_t k = 0; k < p->o->nredops && !err; k++)
				err = bench_type(p, p->o->types[i], p->o->redops[k]);
	}
	if (!p->rank && !err)
		print_end(p);
	return err;
}

/* A halo that cannot be checked is not measured. */
static int find_neighbours(struct perf *p)
{
	int err = p->o->collective == TORCOLL_HALO ? halo_init(p) : 0;

	if (err)
		fprintf(stderr, "torcoll-perf: rank %u: what the neighbours of a halo are on this fabric is not known: %s\n",
			p->rank, strerror(-err));
	return err;
}

static int perf(struct perf *p)
{
	uint64_t bytes = sizes_max(p->o);
	int err;

	p->rank = torcoll_comm_rank(p->comm);
	p->size = torcoll_comm_size(p->comm);
	p->counts = calloc(p->size, sizeof(*p->counts));
	err = !p->counts || data_init(p->size) || find_neighbours(p) ||
	      buffer_alloc(p, &p->send, bytes) || buffer_alloc(p, &p->recv, bytes) || bench_all(p);
	buffer_free(p, &p->recv);
	buffer_free(p, &p->send);
	halo_exit(p);
	data_exit();
	free(p->counts);
	return err || p->wrong;
}

int main(int argc, char **argv)
{
	struct options o;
	struct perf p = { .o = &o };
	int err;

	options_parse(&o, argc, argv);
	if (torcoll_open(&p.t) || torcoll_comm_from_env(p.t, &p.comm)) {
		fprintf(stderr, "torcoll-perf: %s\n", torcoll_last_error());
		err = 1;
	} else {
		err = perf(&p);
	}
	torcoll_close(p.t);
	free(o.counts);
	return err ? 1 : 0;
}
