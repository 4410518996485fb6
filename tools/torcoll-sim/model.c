// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The model: plans on a fabric, the fastest of each family for each size, the
 * choice of auto.
 */
#include "model.h"

#include <stdlib.h>

static const struct model_profile profiles[] = {
	/*
	 * 400 Gb/s; 100 ns of link and 300 ns of switch per hop, 500 ns of host
	 */
	{ "swing", { .e = 900000, .f = 400000, .link = 20000 }, 2, true },
	/*
	 * Its HammingMesh. The paper does not print latencies: 170 ns for a
	 * trace on a board, 680 ns from board to board and 100 ns of host give
	 * its times of 32 bytes, all within 5 %.
	 */
	{ "swing-boards", { .e = 270000, .f = 170000, .link = 20000 }, 4, true, true },
	/* Its HyperX. From 8 to 128 KiB Swing is faster there than by one port. */
	{ "swing-hyperx", { .e = 900000, .f = 400000, .link = 20000 }, 2, true, true },
	/* 800 Gb/s; 200 ns per hop, 300 ns of host, 1.5 us of software */
	{ "trivance", { .e = 2000000, .f = 200000, .link = 10000 }, 2, true },
	/* hosts with 10 Gb/s Ethernet and MPI over TCP */
	{ "kolmakov", { .e = 30000000, .f = 0, .link = 800000 }, 2, false },
	{ "torcoll", { 0 }, 2, false },
};

void *model_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p) {
		fputs("torcoll-sim: out of memory\n", stderr);
		exit(2);
	}
	return p;
}

const struct model_profile *model_profile_find(const char *name)
{
	static struct model_profile found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (strcmp(profiles[i].name, name))
			continue;
		found = profiles[i];
		if (!found.rates.e)
			found.rates = tor_rates_default;
		return &found;
	}
	return NULL;
}

/* --- offers --- */

/*
 * Recursive doubling has one channel per dimension; Swing's latency form has
 * several on request.
 */
static bool is_allowed(const struct model_run *run, const struct tor_call *call)
{
	u32 channels = call->param[TORCOLL_PARAM_CHANNELS];

	if (!run->profile.one_port)
		return true;
	if (call->algorithm == TORCOLL_SWING_LAT && !run->profile.lat_ports)
		return channels == 1;
	if (call->algorithm == TORCOLL_RECDOUB_BW)
		return channels == 1;
	return true;
}

static bool add_offer(const struct model_run *run, const struct tor_call *call,
		      struct tor_offer *offer, const char **why)
{
	int err;

	if (!is_allowed(run, call))
		return false;
	if (run->everything && !tor_cost_is_quick(call))
		return false;
	err = model_cost(run, call, &offer->cost, why);
	if (err == -ENOMEM) {
		fputs("torcoll-sim: out of memory\n", stderr);
		exit(2);
	}
	offer->algorithm = call->algorithm;
	memcpy(offer->param, call->param, sizeof(offer->param));
	return !err;
}

static void make_offers(const struct model_run *run, struct tor_offers *o, const char **why)
{
	struct tor_call call = {
		.torus = &run->fabric.torus,
		.ranks = run->fabric.torus.nodes,
		.collective = run->collective,
	};
	u32 i, room = 0;

	*o = (struct tor_offers){ 0 };
	*why = "no algorithm serves this";
	for (call.algorithm = 1; call.algorithm < TORCOLL_ALGO_COUNT; call.algorithm++) {
		if (!(run->algorithms & (1U << call.algorithm)) ||
		    !(tor_algorithm_serves(call.algorithm) & (1U << call.collective)))
			continue;
		for (i = 0; tor_offer_params(&call, i); i++) {
			if (o->n == room) {
				room = 2 * room + 16;
				o->offer = realloc(o->offer, room * sizeof(*o->offer));
				if (!o->offer)
					exit(2);
			}
			o->offer[o->n] = (struct tor_offer){ 0 };
			o->n += add_offer(run, &call, &o->offer[o->n], why);
		}
	}
}

/* --- rows --- */

static u64 time_of(const struct model_run *run, const struct tor_offer *offer, u64 bytes)
{
	return tor_line_at(tor_cost_line(&offer->cost, &run->profile.rates), bytes);
}

/* swing-bw and swing-lat, bucket and bibucket: forms of one algorithm. */
static bool same_name(u32 a, u32 b)
{
	const char *x = tor_algorithm_name(a), *y = tor_algorithm_name(b);
	size_t n = strcspn(x, "-");

	if ((a == TORCOLL_BUCKET && b == TORCOLL_BIBUCKET) ||
	    (b == TORCOLL_BUCKET && a == TORCOLL_BIBUCKET))
		return true;
	return n == strcspn(y, "-") && !strncmp(x, y, n);
}

static const struct tor_offer *best_of(const struct model_run *run, const struct tor_offers *o,
				       u64 bytes, u32 algorithm)
{
	const struct tor_offer *best = NULL;
	u32 i;

	for (i = 0; i < o->n; i++)
		if (o->offer[i].algorithm == algorithm &&
		    (!best || time_of(run, &o->offer[i], bytes) < time_of(run, best, bytes)))
			best = &o->offer[i];
	return best;
}

static void add_row(const struct model_run *run, struct model_answer *a,
		    const struct tor_offer *offer, bool is_auto, u64 bytes)
{
	if (offer)
		a->row[a->rows++] = (struct model_row){
			.offer = offer,
			.is_auto = is_auto,
			.bytes = bytes,
			.time = time_of(run, offer, bytes),
		};
}

/* For auto, all algorithms are other ones. */
static void find_other(const struct model_run *run, const struct model_answer *a,
		       struct model_row *row)
{
	const struct model_row *r, *best = NULL;

	for (r = a->row; r < a->row + a->rows; r++) {
		if (r->bytes != row->bytes || r->is_auto || (best && r->time >= best->time))
			continue;
		if (row->is_auto || !same_name(r->offer->algorithm, row->offer->algorithm))
			best = r;
	}
	if (!best)
		return;
	row->other = best->offer->algorithm;
	row->gain = row->time ? (double)best->time / row->time - 1 : 0;
}

static const struct tor_offer *offer_of(const struct tor_offers *o, const struct tor_choice *choice)
{
	u32 i;

	for (i = 0; choice && i < o->n; i++)
		if (o->offer[i].algorithm == choice->algorithm &&
		    !memcmp(o->offer[i].param, choice->param, sizeof(choice->param)))
			return &o->offer[i];
	return NULL;
}

void model_ask(const struct model_run *run, struct model_answer *a, const char **why)
{
	struct tor_table *table = model_alloc(1, sizeof(*table));
	u32 i, k;
	u64 bytes;

	make_offers(run, &a->offers, why);
	tor_table_make(table, &a->offers, &run->profile.rates, TOR_LEVEL_ANY, TOR_ALGO_MASK_ALL);
	a->row = model_alloc(run->nsizes * TORCOLL_ALGO_COUNT, sizeof(*a->row));
	a->rows = 0;
	for (i = 0; i < run->nsizes; i++) {
		bytes = run->sizes[i];
		add_row(run, a, offer_of(&a->offers, tor_table_find(table, bytes)), true, bytes);
		for (k = TORCOLL_ALGO_AUTO + 1; k < TORCOLL_ALGO_COUNT; k++)
			add_row(run, a, best_of(run, &a->offers, bytes, k), false, bytes);
	}
	for (i = 0; i < a->rows; i++)
		find_other(run, a, &a->row[i]);
	free(table);
}

void model_answer_free(struct model_answer *a)
{
	free(a->offers.offer);
	free(a->row);
	*a = (struct model_answer){ 0 };
}

const struct model_row *model_row_find(const struct model_answer *a, const struct model_run *run,
				       u32 i, u32 algorithm)
{
	const struct model_row *r;

	for (r = a->row; r < a->row + a->rows; r++)
		if (r->bytes == run->sizes[i] &&
		    (algorithm ? !r->is_auto && r->offer->algorithm == algorithm : r->is_auto))
			return r;
	return NULL;
}

const struct model_row *model_row_best(const struct model_answer *a, const struct model_run *run,
				       u32 i, u32 algorithms)
{
	const struct model_row *r, *best = NULL;

	for (r = a->row; r < a->row + a->rows; r++)
		if (r->bytes == run->sizes[i] && !r->is_auto &&
		    algorithms & (1U << r->offer->algorithm) && (!best || r->time < best->time))
			best = r;
	return best;
}
