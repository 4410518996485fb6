// SPDX-License-Identifier: GPL-2.0
/* Plans of all ranks: made from the iterators, and printed. See dump.h. */
#include "dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/host_shape.h"

bool dump_fail(struct dump_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return false;
}

void dump_no_memory(void)
{
	fprintf(stderr, "torcoll-plan: out of memory\n");
	exit(2);
}

void *dump_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		dump_no_memory();
	return p;
}

struct dump_piece *dump_add(struct dump *d)
{
	if (d->pieces == d->room) {
		d->room = d->room ? 2 * d->room : 1024;
		d->piece = realloc(d->piece, d->room * sizeof(*d->piece));
		if (!d->piece)
			dump_no_memory();
	}
	return &d->piece[d->pieces++];
}

void dump_add_piece(struct dump *d, u32 ch, u32 t, const struct tor_piece *x)
{
	*dump_add(d) = (struct dump_piece){
		.t = t, .ch = ch, .src = x->src, .dst = x->dst, .sbuf = x->sbuf,
		.dbuf = x->dbuf, .op = x->op, .soff = x->soff, .doff = x->doff, .n = x->n,
	};
}

/* Merge. Stable: pieces equal in t and channel keep the order of reductions. */
static void merge(struct dump_piece *a, struct dump_piece *tmp, size_t n)
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	merge(a, tmp, half);
	merge(a + half, tmp, n - half);
	memcpy(tmp, a, n * sizeof(*a));
	while (i < half || j < n) {
		bool left = j == n || (i < half && (tmp[i].t < tmp[j].t ||
				       (tmp[i].t == tmp[j].t && tmp[i].ch <= tmp[j].ch)));

		a[k++] = left ? tmp[i++] : tmp[j++];
	}
}

void dump_sort(struct dump *d)
{
	struct dump_piece *tmp;
	size_t i;

	for (i = 1; i < d->pieces; i++) {
		const struct dump_piece *a = &d->piece[i - 1], *b = &d->piece[i];

		if (a->t > b->t || (a->t == b->t && a->ch > b->ch))
			break;
	}
	if (i >= d->pieces)
		return;
	tmp = dump_alloc(d->pieces, sizeof(*tmp));
	merge(d->piece, tmp, d->pieces);
	free(tmp);
}

u64 dump_block_start(const struct dump *d, u32 rank)
{
	u64 start = 0;
	u32 i;

	if (!d->counts)
		return tor_block_start(d->count, d->ranks, rank);
	for (i = 0; i < rank; i++)
		start += d->counts[i];
	return start;
}

static void set_header(struct dump *d, const struct tor_call *call)
{
	d->torus = *call->torus;
	d->ndim = call->torus->ndim;
	d->ranks = call->ranks;
	d->collective = call->collective;
	d->root = call->root;
	d->count = call->count;
	snprintf(d->algorithm, sizeof(d->algorithm), "%s", tor_algorithm_name(call->algorithm));
	memcpy(d->param, call->param, sizeof(d->param));
	if (call->members) {
		d->members = dump_alloc(call->ranks, sizeof(u32));
		memcpy(d->members, call->members, call->ranks * sizeof(u32));
	}
	if (call->counts) {
		d->counts = dump_alloc(call->ranks, sizeof(u64));
		memcpy(d->counts, call->counts, call->ranks * sizeof(u64));
	}
}

u32 dump_add_buf(struct dump *d, const char *name)
{
	char **bufs = realloc(d->bufs, (d->nbufs + 1) * sizeof(*bufs));
	char *copy = strdup(name);

	if (!bufs || !copy) {
		fprintf(stderr, "torcoll-plan: out of memory\n");
		exit(2);
	}
	d->bufs = bufs;
	d->bufs[d->nbufs] = copy;
	return d->nbufs++;
}

static void name_bufs(struct dump *d, u32 bufs, bool input)
{
	char name[16];

	dump_add_buf(d, "data");
	if (input)
		dump_add_buf(d, "input");
	while (d->nbufs < bufs) {
		snprintf(name, sizeof(name), "tmp%u", d->nbufs);
		dump_add_buf(d, name);
	}
}

void dump_begin(struct dump *d, const struct tor_call *call, const struct tor_plan *p)
{
	set_header(d, call);
	name_bufs(d, p->shape.bufs, p->shape.input);
	d->channels = p->shape.channels;
}

/*
 * Add the pieces received by a rank in a round, in the order of its iterator,
 * which is that of the reductions.
 */
static void add_round(struct dump *d, const struct tor_plan *p, u32 ch, u32 t)
{
	struct tor_cursor c;
	struct tor_piece x;

	tor_plan_begin(p, ch, t, &c);
	while (tor_plan_next(p, &c, &x)) {
		if (x.dst == p->rank)
			dump_add_piece(d, ch, t, &x);
	}
}

int dump_make(struct dump *d, const struct tor_call *call, const char **why)
{
	struct tor_plan *plans;
	u32 t, ch, r;
	int err = 0;

	if (dump_shares_nodes(call))
		return dump_make_team(d, call, why);
	plans = dump_alloc(call->ranks, sizeof(*plans));
	for (r = 0; r < call->ranks && !err; r++)
		err = tor_plan_init(&plans[r], call, r, why);
	if (!call->ranks)
		err = tor_plan_init(plans, call, 0, why);
	if (!err) {
		dump_begin(d, call, plans);
		for (t = 0; t < plans->shape.rounds; t++)
			for (ch = 0; ch < d->channels; ch++)
				for (r = 0; t < tor_plan_rounds(plans, ch) && r < call->ranks; r++)
					add_round(d, &plans[r], ch, t);
	}
	free(plans);
	return err;
}

static const char *const param_names[TORCOLL_PARAM_COUNT] = {
	[TORCOLL_PARAM_CHANNELS] = "channels",
	[TORCOLL_PARAM_R] = "r",
	[TORCOLL_PARAM_BLOCKS] = "blocks",
	[TORCOLL_PARAM_GROUP] = "group",
	[TORCOLL_PARAM_VARIANT] = "variant",
	[TORCOLL_PARAM_CHUNKS] = "chunks",
};

const char *dump_param_name(u32 param)
{
	return param < TORCOLL_PARAM_COUNT ? param_names[param] : NULL;
}

static void print_header(const struct dump *d, FILE *out)
{
	const char *comma = "";
	bool others = false;
	u32 i;

	fprintf(out, "{\"format\":\"torcoll-plan/1\",\"dims\":[");
	for (i = 0; i < d->ndim; i++)
		fprintf(out, "%s%u", i ? "," : "", tor_side_nodes(tor_torus_side(&d->torus, i)));
	for (i = 0; i < d->ndim; i++)
		others |= d->torus.kind[i] != TORCOLL_KIND_RING;
	for (i = 0; others && i < d->ndim; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "],\"kinds\":[", host_kind_names[d->torus.kind[i]]);
	fprintf(out, "],\"nodes\":%u,\"collective\":\"%s\",\"algorithm\":\"%s\",", d->ranks,
		tor_collective_name(d->collective), d->algorithm);
	fprintf(out, "\"root\":%u,\"count\":%" PRIu64 ",\"channels\":%u,\"params\":{", d->root,
		d->count, d->channels);
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++) {
		if (!d->param[i] || !param_names[i])
			continue;
		/* plans take r as r + 1, since 0 is the default */
		fprintf(out, "%s\"%s\":%u", comma, param_names[i],
			d->param[i] - (i == TORCOLL_PARAM_R));
		comma = ",";
	}
	fprintf(out, "}");
	for (i = 0; d->counts && i < d->ranks; i++)
		fprintf(out, "%s%" PRIu64 "%s", i ? "," : ",\"counts\":[", d->counts[i],
			i + 1 == d->ranks ? "]" : "");
	for (i = 0; d->members && i < d->ranks; i++)
		fprintf(out, "%s%u%s", i ? "," : ",\"members\":[", d->members[i],
			i + 1 == d->ranks ? "]" : "");
	fprintf(out, "}\n");
}

void dump_print(const struct dump *d, FILE *out)
{
	size_t i;

	print_header(d, out);
	for (i = 0; i < d->pieces; i++) {
		const struct dump_piece *x = &d->piece[i];

		fprintf(out, "{\"t\":%u,\"ch\":%u,\"src\":%u,\"dst\":%u,", x->t, x->ch, x->src,
			x->dst);
		fprintf(out, "\"sbuf\":\"%s\",\"soff\":%" PRIu64 ",", d->bufs[x->sbuf], x->soff);
		fprintf(out, "\"dbuf\":\"%s\",\"doff\":%" PRIu64 ",", d->bufs[x->dbuf], x->doff);
		fprintf(out, "\"n\":%" PRIu64 ",\"op\":\"%s\"}\n", x->n,
			x->op == TOR_PIECE_COPY ? "copy" : "reduce");
	}
}

void dump_free(struct dump *d)
{
	u32 i;

	free(d->members);
	free(d->counts);
	free(d->piece);
	for (i = 0; i < d->nbufs; i++)
		free(d->bufs[i]);
	free(d->bufs);
	memset(d, 0, sizeof(*d));
}
