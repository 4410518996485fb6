// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The rules of plan.h. See plan_rules.h. */
#include "plan_rules.h"

#include <stdlib.h>

#include "core/plan/family.h"

/* --- agreement: iterate as the engine does, from both ends --- */

struct list {
	struct tor_piece *piece;
	size_t n, room;
};

struct agreement {
	const struct tor_plan *plans;
	struct dump *d;			/* to fill: what comes to each rank */
	struct list sent, got;		/* in one round of a channel */
	struct list sorted;
	size_t *at;			/* by rank: where the next one is sorted to */
};

static void list_reserve(struct list *l, size_t n)
{
	if (n <= l->room)
		return;
	l->room = max(n, 2 * l->room);
	l->piece = realloc(l->piece, l->room * sizeof(*l->piece));
	if (!l->piece)
		dump_no_memory();
}

static void list_append(struct list *l, const struct tor_piece *x)
{
	list_reserve(l, l->n + 1);
	l->piece[l->n++] = *x;
}

/* Bucket sort by a rank; stable. */
static void sort_by(struct agreement *a, struct list *l, bool src)
{
	u32 ranks = a->plans->call.ranks;
	size_t i;

	list_reserve(&a->sorted, l->n);
	memset(a->at, 0, (ranks + 1) * sizeof(*a->at));
	for (i = 0; i < l->n; i++)
		a->at[(src ? l->piece[i].src : l->piece[i].dst) + 1]++;
	for (i = 1; i <= ranks; i++)
		a->at[i] += a->at[i - 1];
	for (i = 0; i < l->n; i++)
		a->sorted.piece[a->at[src ? l->piece[i].src : l->piece[i].dst]++] = l->piece[i];
	a->sorted.n = l->n;
	swap(*l, a->sorted);
}

static bool same(const struct tor_piece *a, const struct tor_piece *b)
{
	return a->src == b->src && a->dst == b->dst && a->sbuf == b->sbuf && a->dbuf == b->dbuf &&
	       a->op == b->op && a->soff == b->soff && a->doff == b->doff && a->n == b->n;
}

static bool is_sound(const struct tor_plan *p, const struct tor_piece *x)
{
	return (x->src == p->rank || x->dst == p->rank) && x->src < p->call.ranks &&
	       x->dst < p->call.ranks && x->n && x->soff + x->n <= p->call.count &&
	       x->doff + x->n <= p->call.count && x->sbuf < p->shape.bufs && x->dbuf < p->shape.bufs;
}

/* In an allreduce a channel has to do with its slice of the vector alone: core/input.h counts on that. */
static bool is_in_slice(const struct tor_plan *p, u32 ch, const struct tor_piece *x)
{
	struct tor_span s = tor_plan_slice(p, ch);

	if (p->call.collective != TORCOLL_ALLREDUCE)
		return true;
	return (x->sbuf != TOR_BUF_DATA || (x->soff >= s.off && x->soff + x->n <= s.off + s.n)) &&
	       (x->dbuf != TOR_BUF_DATA || (x->doff >= s.off && x->doff + x->n <= s.off + s.n));
}

/*
 * Who skips the rest of transfers finds those of one peer as well, and only them:
 * frames are filled so.
 */
static bool skips_well(const struct tor_plan *p, u32 ch, u32 t, const struct tor_piece *first)
{
	struct tor_cursor all, some;
	struct tor_piece x, y = {};

	tor_plan_begin(p, ch, t, &all);
	tor_plan_begin(p, ch, t, &some);
	while (tor_plan_next(p, &all, &x)) {
		if (x.src != first->src || x.dst != first->dst)
			continue;
		while (tor_plan_next(p, &some, &y) && (y.src != x.src || y.dst != x.dst))
			tor_plan_skip(&some);
		if (!same(&x, &y))
			return false;
	}
	return true;
}

/* One rank's round: what it sends; what it gets, which is the dump, too. */
static bool collect(struct agreement *a, const struct tor_plan *p, u32 ch, u32 t, struct dump_error *e)
{
	u32 peers = 0, last = ~0U, source = ~0U;
	struct tor_cursor c;
	struct tor_piece x;

	tor_plan_begin(p, ch, t, &c);
	while (tor_plan_next(p, &c, &x)) {
		if (!is_sound(p, &x) || !is_in_slice(p, ch, &x))
			return dump_fail(e, "rank %u, channel %u, round %u: a bad piece", p->rank,
					 ch, t);
		if (x.dst == p->rank) {
			list_append(&a->got, &x);
			dump_add_piece(a->d, ch, t, &x);
			if (x.src != p->rank && x.src != source && !skips_well(p, ch, t, &x))
				return dump_fail(e, "rank %u, channel %u, round %u: skipping to what %u sends",
						 p->rank, ch, t, x.src);
			source = x.src;
		}
		if (x.src != p->rank)
			continue;
		list_append(&a->sent, &x);
		if (x.dst != x.src && x.dst != last) {
			if (!skips_well(p, ch, t, &x))
				return dump_fail(e, "rank %u, channel %u, round %u: skipping to %u",
						 p->rank, ch, t, x.dst);
			last = x.dst;
			peers++;
		}
	}
	return peers <= p->shape.peers ||
	       dump_fail(e, "rank %u, channel %u, round %u: %u peers", p->rank, ch, t, peers);
}

/* As the engine does it, from both ends. */
static bool ends_agree(struct agreement *a, u32 ch, u32 t, struct dump_error *e)
{
	struct list *sent = &a->sent, *got = &a->got;
	size_t i;
	u32 r;

	sent->n = 0;
	got->n = 0;
	for (r = 0; r < a->plans->call.ranks; r++)
		if (!collect(a, &a->plans[r], ch, t, e))
			return false;
	/* both by (src, dst), in the order yielded within: what is got is by dst already */
	sort_by(a, sent, false);
	sort_by(a, sent, true);
	sort_by(a, got, true);
	if (sent->n != got->n)
		return dump_fail(e, "channel %u, round %u: %zu pieces sent, %zu got", ch, t,
				 sent->n, got->n);
	for (i = 0; i < sent->n; i++)
		if (!same(&sent->piece[i], &got->piece[i]))
			return dump_fail(e, "channel %u, round %u: %u to %u: the ends differ", ch,
					 t, sent->piece[i].src, sent->piece[i].dst);
	return true;
}

static bool shapes_agree(const struct tor_plan *plans, struct dump_error *e)
{
	u32 ch, r;

	if (plans->shape.channels < 1 || plans->shape.channels > TOR_MAX_CHANNELS ||
	    plans->shape.bufs < 1 || plans->shape.bufs > TOR_MAX_BUFS)
		return dump_fail(e, "shape out of range");
	for (r = 1; r < plans->call.ranks; r++)
		if (memcmp(&plans->shape, &plans[r].shape, sizeof(plans->shape)))
			return dump_fail(e, "rank %u has another shape of plan", r);
	for (ch = 0; ch < plans->shape.channels; ch++)
		if (tor_plan_rounds(plans, ch) > plans->shape.rounds)
			return dump_fail(e, "channel %u has too many rounds", ch);
	return true;
}

/* Fills the dump on the way, as dump_make() does, so that plans need not be walked twice. */
static bool all_agree(const struct tor_plan *plans, struct dump *d, struct dump_error *e)
{
	struct agreement a = {
		.plans = plans, .d = d, .at = dump_alloc(plans->call.ranks + 1, sizeof(*a.at)),
	};
	bool ok = shapes_agree(plans, e);
	u32 ch, t;

	for (t = 0; t < plans->shape.rounds; t++)
		for (ch = 0; ok && ch < plans->shape.channels; ch++)
			if (t < tor_plan_rounds(plans, ch))
				ok = ends_agree(&a, ch, t, e);
	free(a.sent.piece);
	free(a.got.piece);
	free(a.sorted.piece);
	free(a.at);
	return ok;
}

/* --- stability --- */

/* A range of an element of a rank's buffer that was sent. */
struct send {
	u32 t, dst;
	struct send *next;
};

struct stability {
	const struct dump *d;
	u32 lag;
	struct send **sends;		/* [rank][buffer][element] */
	struct send *pool;
	size_t used;
	s32 *known;			/* [rank][rank]: rounds that I know the other has got */
	s32 *before;			/* the same, before this round */
};

static struct send **sends_of(const struct stability *s, u32 rank, u32 buf, u64 element)
{
	return &s->sends[((u64)rank * s->d->nbufs + buf) * s->d->count + element];
}

/* Has what @rank sent in round @t to @dst arrived when something comes from @from in round @now? */
static bool arrived(const struct stability *s, const struct dump_piece *now, u32 t, u32 dst)
{
	/* the sender knew it, or I do: what comes before I am in its round waits */
	if (s->before[now->src * s->d->ranks + dst] >= (s32)t ||
	    s->before[now->dst * s->d->ranks + dst] >= (s32)t)
		return true;
	return s->lag && t + s->lag <= now->t;
}

static bool stable(const struct stability *s, const struct dump_piece *x, struct dump_error *e)
{
	const struct send *send;
	u64 i;

	for (i = x->doff; i < x->doff + x->n; i++)
		for (send = *sends_of(s, x->dst, x->dbuf, i); send; send = send->next)
			if (!arrived(s, x, send->t, send->dst))
				return dump_fail(e,
					"channel %u: what rank %u sent to %u in round %u is written in round %u by %u",
					x->ch, x->dst, send->dst, send->t, x->t, x->src);
	return true;
}

static void note_sends(struct stability *s, const struct dump_piece *x)
{
	u64 i;

	for (i = x->soff; x->src != x->dst && i < x->soff + x->n; i++) {
		struct send **list = sends_of(s, x->src, x->sbuf, i), *send = &s->pool[s->used++];

		*send = (struct send){ x->t, x->dst, *list };
		*list = send;
	}
}

/* After round t I know that I have got it, and what those knew who sent me something in it. */
static void learn(struct stability *s, const struct dump_piece *x, size_t n, u32 t)
{
	u32 p = s->d->ranks, r;
	size_t i;

	for (i = 0; i < n; i++)
		for (r = 0; r < p; r++)
			s->known[x[i].dst * p + r] = max(s->known[x[i].dst * p + r],
							 s->before[x[i].src * p + r]);
	for (r = 0; r < p; r++)
		s->known[r * p + r] = t;
	memcpy(s->before, s->known, (size_t)p * p * sizeof(s32));
}

static bool channel_stable(struct stability *s, const struct dump_piece *x, size_t n,
			   struct dump_error *e)
{
	u32 p = s->d->ranks, r;
	size_t i, j, k;

	memset(s->sends, 0, p * s->d->nbufs * s->d->count * sizeof(*s->sends));
	s->used = 0;
	for (r = 0; r < p * p; r++)
		s->known[r] = s->before[r] = -1;
	for (i = 0; i < n; i = j) {
		for (j = i; j < n && x[j].t == x[i].t; j++)
			note_sends(s, &x[j]);
		for (k = i; k < j; k++)
			if (!stable(s, &x[k], e))
				return false;
		learn(s, &x[i], j - i, x[i].t);
	}
	return true;
}

bool plan_stable(const struct dump *d, u32 lag, struct dump_error *e)
{
	size_t i, n, p = d->ranks, elements = 0;
	struct dump_piece *x = dump_alloc(d->pieces, sizeof(*x));
	struct stability s = {
		.d = d,
		.lag = lag,
		.sends = dump_alloc(p * d->nbufs * d->count, sizeof(*s.sends)),
		.known = dump_alloc(p * p, sizeof(s32)),
		.before = dump_alloc(p * p, sizeof(s32)),
	};
	bool ok = true;
	u32 ch;

	for (i = 0; i < d->pieces; i++)
		elements += d->piece[i].n;
	s.pool = dump_alloc(elements, sizeof(*s.pool));
	for (ch = 0; ok && ch < d->channels; ch++) {
		for (i = 0, n = 0; i < d->pieces; i++)
			if (d->piece[i].ch == ch)
				x[n++] = d->piece[i];
		ok = channel_stable(&s, x, n, e);
	}
	free(x);
	free(s.sends);
	free(s.known);
	free(s.before);
	free(s.pool);
	return ok;
}

int plan_right(const struct tor_call *call, struct dump_error *e)
{
	const char *why = "no reason";
	struct dump d = {};
	int ret;

	ret = dump_make(&d, call, &why);
	if (ret)
		dump_fail(e, "%s", why);
	else
		ret = dump_check(&d, e);
	dump_free(&d);
	return ret;
}

int plan_rules(const struct tor_call *call, bool stability, struct dump_error *e)
{
	struct tor_plan *plans = dump_alloc(call->ranks, sizeof(*plans));
	const char *why = "no reason";
	struct dump d = {};
	int ret = 0;
	u32 r;

	for (r = 0; r < call->ranks && !ret; r++)
		ret = tor_plan_init(&plans[r], call, r, &why);
	if (ret) {
		dump_fail(e, "%s", why);
	} else {
		dump_begin(&d, call, plans);
		ret = all_agree(plans, &d, e) && dump_check(&d, e) &&
		      (!stability || plan_stable(&d, plans->shape.lag, e));
	}
	dump_free(&d);
	free(plans);
	return ret;
}
