// SPDX-License-Identifier: GPL-2.0
/* The cables of a survey, judged. See judged.h. */
#include "judged.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

/* Fewer siblings of one dimension are no measure: all cables are. */
#define SIBLINGS_LEAST	3

#define HOST_LIMIT_PERCENT	70

static bool is_member(const struct survey_port *port)
{
	return port->flags & TORCOLL_SURVEY_MEMBER;
}

/* --- names --- */

static bool has_name(const struct survey *s, unsigned int at, const char *name)
{
	return at < s->nhosts && !strcmp(s->hosts[at]->name, name);
}

/* Return whether another host has that name, as namespaces of one machine do: they are sorted by it. */
static bool name_is_shared(const struct survey *s, const struct survey_host *host)
{
	unsigned int at = survey_place(s, host);

	return has_name(s, at - 1, host->name) || has_name(s, at + 1, host->name);
}

static void name_end(char name[JUDGED_NAME], const struct survey *s, const struct survey_port *port)
{
	const struct survey_host *host = port->owner;
	const struct survey_node *node = NULL;

	/* a host may be another node in each of several fabrics */
	if (is_member(port))
		node = survey_node(host, port->key);
	else if (host->nnodes)
		node = &host->nodes[0];
	if (node && name_is_shared(s, host))
		snprintf(name, JUDGED_NAME, "node %u:%s", node->node, port->own.device);
	else if (*host->name)
		snprintf(name, JUDGED_NAME, "%s:%s", host->name, port->own.device);
	else
		snprintf(name, JUDGED_NAME, "%016" PRIx64 ":%s", host->id, port->own.device);
}

/* The other end, of which only this one tells. */
static void name_unknown(char name[JUDGED_NAME], const struct survey_port *port)
{
	if (is_member(port))
		snprintf(name, JUDGED_NAME, "node %u", port->expected);
	else
		snprintf(name, JUDGED_NAME, "host %016" PRIx64, port->peer.host);
}

/* --- finding --- */

/* Where a node of a fabric is. */
struct place {
	uint64_t key;
	uint32_t node;
	unsigned int host;
};

/* A survey, with all its nodes in order. */
struct finder {
	const struct survey *s;
	struct place *place;
	size_t n;
};

static int compare_nodes(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int by_node = compare_nodes(a, b);

	return by_node ? by_node : (x->host > y->host) - (x->host < y->host);
}

/* Return 0 or -ENOMEM. */
static int finder_make(struct finder *f, const struct survey *s)
{
	unsigned int h, i;
	size_t n = 1;

	for (h = 0; h < s->nhosts; h++)
		n += s->hosts[h]->nnodes;
	*f = (struct finder){ .s = s, .place = calloc(n, sizeof(*f->place)) };
	if (!f->place)
		return -ENOMEM;
	for (h = 0; h < s->nhosts; h++) {
		const struct survey_host *host = s->hosts[h];

		for (i = 0; i < host->nnodes; i++)
			f->place[f->n++] = (struct place){ host->nodes[i].key,
							   host->nodes[i].node, h };
	}
	qsort(f->place, f->n, sizeof(*f->place), compare_places);
	return 0;
}

/* Return the first host that is that node, or NULL. */
static const struct survey_host *find_node(const struct finder *f, uint64_t key, uint32_t node)
{
	const struct place what = { .key = key, .node = node };
	size_t from = 0, to = f->n;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (compare_nodes(&f->place[at], &what) < 0)
			from = at + 1;
		else
			to = at;
	}
	if (from == f->n || compare_nodes(&f->place[from], &what))
		return NULL;
	return f->s->hosts[f->place[from].host];
}

/* Return whether a port at that place hears nobody. */
static bool is_silent_at(const struct survey_port *p, uint64_t key, uint32_t dim, uint32_t dir)
{
	return is_member(p) && p->key == key && p->dim == dim && p->dir == dir && !p->other;
}

/*
 * Return a port of a host at that place which hears nobody, after so many
 * others of that kind; or NULL.
 */
static const struct survey_port *silent_port(const struct survey_host *host, uint64_t key,
					     uint32_t dim, uint32_t dir, unsigned int after)
{
	unsigned int i;

	for (i = 0; i < host->nports; i++) {
		const struct survey_port *p = &host->ports[i];

		if (is_silent_at(p, key, dim, dir) && !after--)
			return p;
	}
	return NULL;
}

/* Return how many of that kind are before a port. */
static unsigned int silent_before(const struct survey_port *port)
{
	const struct survey_port *p;
	unsigned int n = 0;

	for (p = port->owner->ports; p < port; p++)
		n += is_silent_at(p, port->key, port->dim, port->dir);
	return n;
}

/*
 * Return the port that belongs at the other end of a member's cable, by the
 * shape of the fabric, if that one hears nobody either; or NULL. Of a link's
 * cables, the first silent one here is taken for the first one there.
 */
static const struct survey_port *find_partner(const struct finder *f,
					      const struct survey_port *port)
{
	const struct survey_node *node = survey_node(port->owner, port->key);
	const struct survey_host *there;
	struct shape shape;
	uint32_t back;

	if (!node || !shape_from_sides(node->side, node->cables, &shape) ||
	    node->node >= shape.nodes || !shape_has_port(&shape, node->node, port->dim, port->dir))
		return NULL;
	back = shape_back(&shape, port->dim, port->dir);
	there = find_node(f, port->key, port->expected);
	return there ? silent_port(there, port->key, port->dim, back, silent_before(port)) : NULL;
}

static const struct survey_port *other_end(const struct finder *f, const struct survey_port *port)
{
	if (port->other || port->flags & TORCOLL_SURVEY_MANY || !is_member(port))
		return port->other;
	return find_partner(f, port);
}

/* Return whether a port shows a cable that its other end does not. */
static bool is_first(const struct finder *f, unsigned int host, const struct survey_port *port)
{
	const struct survey_port *other = other_end(f, port);

	if (!other)
		return is_member(port) || port->peer.host;
	if (other_end(f, other) != port)
		return true;
	if (other->owner == port->owner)
		return port < other;
	return survey_place(f->s, other->owner) >= host;
}

/* --- measurements --- */

static bool is_tested(const struct survey_port *port)
{
	return port && survey_is_tested(port);
}

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/*
 * What @to knows of the frames that @from sent: its pings, its answers to pings
 * of @to, and its train.
 */
static void fill_way(struct verdict_way *way, const struct survey_port *from,
		     const struct survey_port *to)
{
	uint64_t arrived;

	if (!is_tested(to))
		return;
	way->sent = to->trains;
	arrived = to->train;
	if (is_tested(from)) {
		way->sent += from->pings + (uint64_t)from->pinged;
		arrived += to->pinged + (uint64_t)to->pongs;
	}
	way->damaged = to->bad;
	way->lost = less(way->sent, arrived + way->damaged);
	way->bps = to->rate * 1000000ULL;
}

static uint64_t smaller_known(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Return whether nothing at all came by the cable, in either direction. */
static bool is_silent(const struct survey_port *a, const struct survey_port *b)
{
	return a->pings + b->pings && !a->pongs && !b->pongs && !a->pinged && !b->pinged &&
	       !a->train && !b->train;
}

static void say_state(struct judged *j, unsigned int i)
{
	size_t at = strlen(j->down);

	snprintf(j->down + at, sizeof(j->down) - at, "%s%s is %s", at ? ", " : "the link of ",
		 j->name[i], link_state_name(j->end[i]->state));
}

/* Fill in why the cable carries nothing, or why it is not known. */
static void fill_down(struct judged *j)
{
	const struct survey_port *a = j->end[0], *b = j->end[1];

	if (is_member(a) && a->state != TORCOLL_LINK_STATE_UP)
		say_state(j, 0);
	if (b && is_member(b) && b->state != TORCOLL_LINK_STATE_UP)
		say_state(j, 1);
	if (*j->down)
		return;
	if (a->flags & TORCOLL_SURVEY_MANY)
		snprintf(j->down, sizeof(j->down), "several hosts are heard at %s: a switch, not a cable",
			 j->name[0]);
	else if (!b)
		snprintf(j->down, sizeof(j->down), "%s has not answered the survey", j->name[1]);
	else if (!is_tested(a) && !is_tested(b))
		snprintf(j->down, sizeof(j->down), "neither end has tested it");
}

static void fill_cable(struct judged *j, const struct finder *f, const struct survey_port *port)
{
	const struct survey_port *other = other_end(f, port);
	struct verdict_cable *c = &j->cable;

	j->end[0] = port;
	j->end[1] = other;
	name_end(j->name[0], f->s, port);
	if (other)
		name_end(j->name[1], f->s, other);
	else
		name_unknown(j->name[1], port);
	c->way[0].to = j->name[1];
	c->way[1].to = j->name[0];
	fill_down(j);
	if (*j->down)
		c->down = j->down;
	if (!other)
		return;
	fill_way(&c->way[0], port, other);
	fill_way(&c->way[1], other, port);
	c->silent = is_silent(port, other);
	c->link_bps = smaller_known(port->speed, other->speed) * 1000000;
	c->rtt_ns = smaller_known(port->rtt_median_ns, other->rtt_median_ns);
}

/* --- comparing --- */

/* Room for what is compared of all cables. */
struct comparing {
	uint64_t *rates, *rtts;
	struct judged **list;
};

/* By fabric and dimension; equal ones are siblings. What is in no fabric comes last. */
static int compare_siblings(const void *a, const void *b)
{
	const struct survey_port *x = (*(struct judged *const *)a)->end[0];
	const struct survey_port *y = (*(struct judged *const *)b)->end[0];

	if (!is_member(x) || !is_member(y))
		return is_member(y) - is_member(x);
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->dim > y->dim) - (x->dim < y->dim);
}

/* Collect rates and round trips of cables. Return the number of those that were measured. */
static size_t collect(const struct comparing *all, struct judged *const *list, size_t n)
{
	size_t i, measured = 0;

	for (i = 0; i < n; i++) {
		const struct verdict_cable *c = &list[i]->cable;

		if (!verdict_is_measure(c))
			continue;
		all->rates[2 * measured] = c->way[0].bps;
		all->rates[2 * measured + 1] = c->way[1].bps;
		all->rtts[measured++] = c->rtt_ns;
	}
	return measured;
}

/* Compare each of @count cables with the others, unless there are less than @least of them. */
static void compare_among(const struct comparing *all, struct judged *const *list, size_t count,
			  size_t least)
{
	size_t n = collect(all, list, count), i;
	uint64_t *rates = all->rates, *rtts = all->rtts;

	verdict_sort(rates, 2 * n);
	verdict_sort(rtts, n);
	for (i = 0; i < count; i++) {
		struct verdict_cable *c = &list[i]->cable;
		uint64_t own[2] = { c->way[0].bps, c->way[1].bps };
		bool is_one = verdict_is_measure(c);

		if (least && n - is_one < least)
			continue;
		verdict_sort(own, 2);
		c->way[0].usual_bps = verdict_median_but(rates, 2 * n, own, 2 * is_one, true);
		c->way[1].usual_bps = c->way[0].usual_bps;
		c->usual_rtt_ns = verdict_median_but(rtts, n, &c->rtt_ns, is_one, false);
	}
}

/* With all others, and then, once per kind, with the siblings. */
static void compare_with_siblings(const struct comparing *all, size_t n)
{
	size_t i, first = 0;

	compare_among(all, all->list, n, 0);
	if (n)
		qsort(all->list, n, sizeof(*all->list), compare_siblings);
	for (i = 1; i <= n && is_member(all->list[first]->end[0]); i++) {
		if (i < n && !compare_siblings(&all->list[i], &all->list[first]))
			continue;
		compare_among(all, &all->list[first], i - first, SIBLINGS_LEAST);
		first = i < n ? i : first;
	}
}

/*
 * If most cables are far below their link speed, the hosts are the limit: that
 * is said once, and no cable is blamed for it.
 */
static void compare_with_speed(struct judgement *j, const struct comparing *all)
{
	size_t i, n = collect(all, all->list, j->n);
	uint64_t rate = verdict_median(all->rates, 2 * n, true), speed;
	uint64_t *speeds = all->rtts;

	for (i = 0; i < j->n; i++)
		speeds[i] = j->cable[i].cable.link_bps;
	speed = verdict_median(speeds, j->n, false);
	if (!rate || rate * 100 >= speed * HOST_LIMIT_PERCENT)
		return;
	j->host_limit = rate * 100 / speed;
	if (!j->host_limit)
		j->host_limit = 1;
	for (i = 0; i < j->n; i++)
		j->cable[i].cable.link_bps = 0;
}

static int compare_judged(const void *a, const void *b)
{
	const struct judged *x = a, *y = b;
	int worse = verdict_compare(&x->verdict, &y->verdict);

	/* node2 before node10 */
	if (!worse)
		worse = strverscmp(x->name[0], y->name[0]);
	return worse ? worse : strverscmp(x->name[1], y->name[1]);
}

static size_t count_ports(const struct survey *s)
{
	size_t n = 0;
	unsigned int i;

	for (i = 0; i < s->nhosts; i++)
		n += s->hosts[i]->nports;
	return n;
}

/* Texts are members of the cables: their addresses change when these are sorted. */
static void point_to_texts(struct judged *cable)
{
	cable->cable.way[0].to = cable->name[1];
	cable->cable.way[1].to = cable->name[0];
	if (cable->cable.down)
		cable->cable.down = cable->down;
}

static void comparing_free(struct comparing *all)
{
	free(all->rates);
	free(all->rtts);
	free(all->list);
}

/* Return 0 or -ENOMEM. */
static int compare_all(struct judgement *j)
{
	struct comparing all = {
		.rates = calloc(2 * j->n + 1, sizeof(*all.rates)),
		.rtts = calloc(j->n + 1, sizeof(*all.rtts)),
		.list = calloc(j->n + 1, sizeof(*all.list)),
	};
	size_t i;

	if (!all.rates || !all.rtts || !all.list) {
		comparing_free(&all);
		return -ENOMEM;
	}
	for (i = 0; i < j->n; i++)
		all.list[i] = &j->cable[i];
	compare_with_siblings(&all, j->n);
	compare_with_speed(j, &all);
	comparing_free(&all);
	return 0;
}

/* Return 0 or -ENOMEM. */
static int fill_cables(struct judgement *j, const struct survey *s)
{
	struct finder f;
	unsigned int h, k;

	if (finder_make(&f, s))
		return -ENOMEM;
	survey_number(s);
	for (h = 0; h < s->nhosts; h++)
		for (k = 0; k < s->hosts[h]->nports; k++)
			if (is_first(&f, h, &s->hosts[h]->ports[k]))
				fill_cable(&j->cable[j->n++], &f, &s->hosts[h]->ports[k]);
	free(f.place);
	return 0;
}

int judgement_make(struct judgement *j, const struct survey *s)
{
	size_t i;

	*j = (struct judgement){ .cable = calloc(count_ports(s) + 1, sizeof(*j->cable)) };
	if (!j->cable || fill_cables(j, s) || compare_all(j)) {
		judgement_free(j);
		return -ENOMEM;
	}
	for (i = 0; i < j->n; i++)
		verdict_judge(&j->cable[i].verdict, &j->cable[i].cable);
	qsort(j->cable, j->n, sizeof(*j->cable), compare_judged);
	for (i = 0; i < j->n; i++)
		point_to_texts(&j->cable[i]);
	return 0;
}

void judgement_free(struct judgement *j)
{
	free(j->cable);
	memset(j, 0, sizeof(*j));
}

size_t judgement_count(const struct judgement *j, enum verdict_word word)
{
	size_t i, n = 0;

	for (i = 0; i < j->n; i++)
		n += j->cable[i].verdict.word == word;
	return n;
}

bool judgement_is_tested(const struct judgement *j)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		if (is_tested(j->cable[i].end[0]) || is_tested(j->cable[i].end[1]))
			return true;
	return false;
}
