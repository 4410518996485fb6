// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about what cables that work are good for: rate, loss, damage, round
 * trips, by tests and counters, beside those of the other cables.
 */
#include <err.h>
#include <stdlib.h>

#include "check.h"

/*
 * The geometric mean of the whole and the half rate: a cable at half of it is
 * found though both it and its siblings were measured 30 % wrong.
 */
#define RATE_SHARE	0.7
/*
 * A round trip that takes that much longer than the siblings' is not a matter
 * of load: the shortest of many is compared.
 */
#define DELAY_NS	5000000
#define DELAY_TIMES	10
#define DELAY_LEAST_NS	1000000
/* One frame may be lost by a busy host; more of few are a cable's. */
#define LOST_FRAMES	2
#define LOST_SHARE	0.002

/* What went one way through a cable. */
struct way {
	struct survey_port *from, *to;
	uint64_t small, small_lost;	/* pings and their answers */
	uint64_t all, lost;
	uint64_t damaged;
	uint32_t rate, speed;
};

/* How the cables of a fabric are together. */
struct siblings {
	struct way *way;
	uint32_t n;
	uint64_t rtt;			/* median of the shortest */
	uint32_t *speed;		/* median, by dimension */
	uint64_t *rate;			/* that a way should have, by way */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of values, 0 of none; of two the higher one if @high. */
static uint64_t median(uint64_t *value, uint32_t n, bool high)
{
	if (!n)
		return 0;
	qsort(value, n, sizeof(*value), by_value);
	return value[high ? n / 2 : (n - 1) / 2];
}

static uint64_t less(uint64_t sent, uint64_t arrived)
{
	return sent > arrived ? sent - arrived : 0;
}

static uint64_t risen(uint64_t now, uint64_t before)
{
	return less(now, before);
}

/* An end may not know its speed. */
static uint32_t smaller_known(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void way_fill(const struct check *c, struct way *w, struct survey_port *from,
		     struct survey_port *to)
{
	const struct survey_port *before = check_before(c, to), *last = check_last(c, to);

	w->from = from;
	w->to = to;
	/* each ping that arrived was answered */
	w->small = (uint64_t)from->pings + from->pinged;
	w->small_lost = less(from->pings, to->pinged) + less(from->pinged, to->pongs);
	w->all = w->small + to->trains;
	w->lost = w->small_lost + less(to->trains, to->train);
	w->damaged = to->bad;
	w->rate = to->rate;
	w->speed = smaller_known(from->speed, to->speed);
	if (before)
		w->damaged += risen(to->damaged, before->damaged);
	if (!last)
		return;
	w->lost += risen(to->lost, last->lost);
	w->all += risen(to->rx_frames, last->rx_frames) + risen(to->lost, last->lost);
}

static bool is_tested(const struct check *c, const struct survey_port *port)
{
	return port && survey_is_tested(port) && port->state == TORCOLL_LINK_STATE_UP &&
	       !check_is_explained(c, port, EXPLAINED_QUALITY);
}

static uint64_t rtt_of(const struct survey_port *p, const struct survey_port *q)
{
	if (!p->rtt_min_ns || !q->rtt_min_ns)
		return p->rtt_min_ns + (uint64_t)q->rtt_min_ns;
	return p->rtt_min_ns < q->rtt_min_ns ? p->rtt_min_ns : q->rtt_min_ns;
}

static void *cables_alloc(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		err(CTL_REFUSED, "no memory to check %zu cables", n);
	return p;
}

static void siblings_ways(const struct check *c, struct siblings *s)
{
	uint32_t i;

	s->way = cables_alloc(2 * c->m->nlinks, sizeof(*s->way));
	for (i = 0; i < c->m->nlinks; i++) {
		const struct map_link *link = &c->m->link[i];

		if (!is_tested(c, link->port[0]) || !is_tested(c, link->port[1]))
			continue;
		way_fill(c, &s->way[s->n++], link->port[0], link->port[1]);
		way_fill(c, &s->way[s->n++], link->port[1], link->port[0]);
	}
}

static void siblings_speeds(const struct check *c, struct siblings *s, uint64_t *value)
{
	uint32_t dim, i, n;

	s->speed = cables_alloc(MAX_DIMS, sizeof(*s->speed));
	for (dim = 0; dim < MAX_DIMS; dim++) {
		for (n = i = 0; i < s->n; i += 2)
			if (s->way[i].from->dim == dim && s->way[i].speed)
				value[n++] = s->way[i].speed;
		s->speed[dim] = median(value, n, true);
	}
}

/* Which ways: of devices of speeds from @least to @most, in a dimension or in all. */
struct kin {
	uint32_t least, most;
	uint32_t dim;		/* MAX_DIMS: all */
};

/* Collect the rates of such ways. Return their number. */
static uint32_t kin_rates(const struct siblings *s, struct kin who, uint64_t *value)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		const struct way *w = &s->way[i];

		if (w->rate && w->speed >= who.least && w->speed <= who.most &&
		    (who.dim == MAX_DIMS || w->from->dim == who.dim))
			value[n++] = w->rate;
	}
	return n;
}

static uint64_t kin_rate(const struct siblings *s, struct kin who, uint64_t *value)
{
	return median(value, kin_rates(s, who, value), true);
}

/* Fewer ways, of three cables, are no measure of each other. */
#define KIN_LEAST	6

/* Return whether there are enough, of which not even a quarter carries much more than the others. */
static bool kin_agree(const struct siblings *s, struct kin who, uint64_t *value)
{
	uint32_t n = kin_rates(s, who, value), i, more = 0;
	uint64_t rate = median(value, n, true);

	for (i = 0; i < n; i++)
		more += RATE_SHARE * value[i] > rate;
	return n >= KIN_LEAST && 4 * more < n;
}

/* The lowest speed that enough devices know, 0 if there is none. */
static uint32_t lowest_speed(const struct siblings *s, uint64_t *value)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (s->way[i].rate && s->way[i].speed)
			value[n++] = s->way[i].speed;
	qsort(value, n, sizeof(*value), by_value);
	for (i = 0; i + KIN_LEAST <= n; i++)
		if (value[i] == value[i + KIN_LEAST - 1])
			return value[i];
	return 0;
}

/* The rate at that speed; of all, if there is none. */
static uint64_t lowest_rate(const struct siblings *s, uint64_t *value)
{
	struct kin who = { 0, UINT32_MAX, MAX_DIMS };
	uint32_t speed = lowest_speed(s, value);

	if (speed)
		who.least = who.most = speed;
	return kin_rate(s, who, value);
}

/* Devices that do not tell their speed are told by their dimension. */
static struct kin kin_of(const struct way *w)
{
	return (struct kin){ w->speed, w->speed, w->speed ? MAX_DIMS : w->from->dim };
}

/*
 * What a way should carry: as much as others of its kind; where they are few, or
 * do not agree, no less than slower ones, or than the slowest if its speed is not
 * known.
 */
static uint64_t siblings_rate(const struct siblings *s, const struct way *w, uint64_t *value)
{
	uint64_t same = kin_rate(s, kin_of(w), value), slower;

	if (kin_agree(s, kin_of(w), value))
		return same;
	slower = w->speed ? kin_rate(s, (struct kin){ 1, w->speed - 1, MAX_DIMS }, value) :
			    lowest_rate(s, value);
	return same > slower ? same : slower;
}

static int by_kind(const void *a, const void *b)
{
	const struct way *x = *(const struct way *const *)a, *y = *(const struct way *const *)b;

	if (x->speed != y->speed || x->speed)
		return (x->speed > y->speed) - (x->speed < y->speed);
	return (int)x->from->dim - (int)y->from->dim;
}

/* Ways of a kind, one after the other. */
struct kind {
	const struct way **way;
	uint32_t n;
};

static int by_ways(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

/* Sort ways by kind. Return the number of kinds, those of most ways first. */
static uint32_t kinds_find(const struct siblings *s, const struct way **way, struct kind *kind)
{
	uint32_t kinds = 0, i;

	for (i = 0; i < s->n; i++)
		way[i] = &s->way[i];
	qsort(way, s->n, sizeof(*way), by_kind);
	for (i = 0; i < s->n; i++) {
		if (!i || by_kind(&way[i - 1], &way[i]))
			kind[kinds++].way = &way[i];
		kind[kinds - 1].n++;
	}
	qsort(kind, kinds, sizeof(*kind), by_ways);
	return kinds;
}

/* More kinds there are only where somebody makes them up: of those no rate is expected. */
#define KINDS_MOST	64

/* Once per kind. */
static void siblings_rates(struct siblings *s, uint64_t *value)
{
	const struct way **way = cables_alloc(s->n, sizeof(*way));
	struct kind *kind = cables_alloc(s->n, sizeof(*kind));
	uint32_t kinds = kinds_find(s, way, kind), i, k;
	uint64_t rate;

	s->rate = cables_alloc(s->n, sizeof(*s->rate));
	for (k = 0; k < kinds && k < KINDS_MOST; k++) {
		rate = siblings_rate(s, kind[k].way[0], value);
		for (i = 0; i < kind[k].n; i++)
			s->rate[kind[k].way[i] - s->way] = rate;
	}
	free(kind);
	free(way);
}

static void siblings_find(const struct check *c, struct siblings *s)
{
	uint64_t *value;
	uint32_t i, n = 0;

	siblings_ways(c, s);
	value = cables_alloc(s->n, sizeof(*value));
	siblings_speeds(c, s, value);
	siblings_rates(s, value);
	for (i = 0; i < s->n; i += 2)
		if (rtt_of(s->way[i].from, s->way[i].to))
			value[n++] = rtt_of(s->way[i].from, s->way[i].to);
	s->rtt = median(value, n, false);
	free(value);
}

static const char *fmt_way(const struct check *c, const struct way *w)
{
	return fmt_str("%s -> %s", check_port(c, w->from), check_port(c, w->to));
}

static struct finding *say_way(struct check *c, const char *rule, const struct way *w,
			       const char *what, const char *remedy)
{
	struct finding *f = check_say(c, rule, what, remedy);

	f->port[0] = w->from;
	f->port[1] = w->to;
	return f;
}

/* The same of what a busy host may look like. */
static void say_doubtful(struct check *c, const char *rule, const struct way *w, const char *what,
			 const char *remedy)
{
	say_way(c, rule, w, what, remedy)->doubtful = true;
}

static bool is_lossy(uint64_t lost, uint64_t sent)
{
	return lost >= LOST_FRAMES && lost > LOST_SHARE * sent;
}

static void say_loss(struct check *c, const struct way *w)
{
	say_doubtful(c, "loss", w,
		     fmt_str("%s: %.1f %% of %llu frames are lost", fmt_way(c, w),
			     100.0 * w->lost / w->all, (unsigned long long)w->all),
		     "clean or replace the cable; \"ethtool -S\" of both devices, and \"tc -s qdisc\" at "
		     "the first, say where they are dropped");
}

static void say_slow(struct check *c, const struct way *w, uint64_t usual)
{
	say_doubtful(c, "slow", w,
		     fmt_str("%s: %u Mbit/s, the other cables %llu Mbit/s", fmt_way(c, w), w->rate,
			     (unsigned long long)usual),
		     "look for shapers (tc), PCIe lanes and pause frames at the first; torcollctl qualify");
}

/* Judge one way through a cable: the first of the rules that says something. */
static void judge_way(struct check *c, const struct siblings *s, const struct way *w)
{
	uint64_t usual = s->rate[w - s->way];
	bool slow = w->rate && w->rate < RATE_SHARE * usual;

	if (w->damaged)
		say_way(c, "damage", w,
			fmt_str("%s: %llu of %llu frames arrive damaged", fmt_way(c, w),
				(unsigned long long)w->damaged, (unsigned long long)w->all),
			"replace the cable, then the device at its first end");
	else if (is_lossy(w->small_lost, w->small))
		say_loss(c, w);
	else if (slow)
		say_slow(c, w, usual);
	else if (is_lossy(w->lost, w->all))
		say_loss(c, w);
}

static bool judge_speed(struct check *c, const struct siblings *s, const struct way *w)
{
	uint32_t usual = s->speed[w->from->dim < MAX_DIMS ? w->from->dim : 0];

	if (!w->speed || w->speed >= usual)
		return false;
	say_way(c, "speed", w,
		fmt_str("%s - %s runs at %u Mbit/s, the other cables of dim %u at %u Mbit/s",
			check_port(c, w->from), check_port(c, w->to), w->speed, w->from->dim, usual),
		"replace the cable; \"ethtool\" of both devices says what they offer each other");
	return true;
}

static void judge_delay(struct check *c, const struct siblings *s, const struct way *w)
{
	uint64_t rtt = rtt_of(w->from, w->to), more = less(rtt, s->rtt);

	if (more < DELAY_NS && (more < DELAY_LEAST_NS || rtt < DELAY_TIMES * s->rtt))
		return;
	say_doubtful(c, "delay", w,
		     fmt_str("%s - %s: a round trip takes %s, of the other cables %s",
			     check_port(c, w->from), check_port(c, w->to), fmt_ns(rtt),
			     fmt_ns(s->rtt)),
		     "look for what keeps frames: tc qdisc, interrupt moderation (ethtool -c), a converter");
}

void check_cables(struct check *c)
{
	struct siblings s = { 0 };
	uint32_t i;

	siblings_find(c, &s);
	for (i = 0; i < s.n; i += 2) {
		uint32_t before = c->nfindings;

		if (judge_speed(c, &s, &s.way[i]))
			continue;
		judge_way(c, &s, &s.way[i]);
		judge_way(c, &s, &s.way[i + 1]);
		if (c->nfindings == before)
			judge_delay(c, &s, &s.way[i]);
	}
	free(s.way);
	free(s.speed);
	free(s.rate);
}
