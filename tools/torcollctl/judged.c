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

static bool is_node(const struct survey_host *host, uint64_t key, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < host->nnodes; i++)
		if (host->nodes[i].key == key && host->nodes[i].node == number)
			return true;
	return false;
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

		if (is_member(p) && p->key == key && p->dim == dim && p->dir == dir && !p->other &&
		    !after--)
			return p;
	}
	return NULL;
}

/*
 * Return the port that belongs at the other end of a member's cable, by the
 * shape of the fabric, if that one hears nobody either; or NULL. Of a link's
 * cables, the first silent one here is taken for the first one there.
 */
static const struct survey_port *find_partner(const struct survey *s,
					      const struct survey_port *port)
{
	const struct survey_node *node = survey_node(port->owner, port->key);
	unsigned int i, after = 0;
	struct shape shape;
	uint32_t back;

	if (!node || !shape_from_sides(node->side, node->cables, &shape) ||
	    node->node >= shape.nodes || !shape_has_port(&shape, node->node, port->dim, port->dir))
		return NULL;
	back = shape_back(&shape, port->dim, port->dir);
	while (silent_port(port->owner, port->key, port->dim, port->dir, after) != port)
		after++;
	for (i = 0; i < s->nhosts; i++)
		if (is_node(s->hosts[i], port->key, port->expected))
			return silent_port(s->hosts[i], port->key, port->dim, back, after);
	return NULL;
}

static const struct survey_port *other_end(const struct survey *s, const struct survey_port *port)
{
	if (port->other || port->flags & TORCOLL_SURVEY_MANY || !is_member(port))
		return port->other;
	return find_partner(s, port);
}

/* Return whether a port shows a cable that its other end does not. */
static bool is_first(const struct survey *s, unsigned int host, const struct survey_port *port)
{
	const struct survey_port *other = other_end(s, port);

	if (!other)
		return is_member(port) || port->peer.host;
	if (other_end(s, other) != port)
		return true;
	if (other->owner == port->owner)
		return port < other;
	return survey_place(s, other->owner) >= host;
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

static void fill_cable(struct judged *j, const struct survey *s, const struct survey_port *port)
{
	const struct survey_port *other = other_end(s, port);
	struct verdict_cable *c = &j->cable;

	j->end[0] = port;
	j->end[1] = other;
	name_end(j->name[0], s, port);
	if (other)
		name_end(j->name[1], s, other);
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

static bool is_sibling(const struct judged *a, const struct judged *b)
{
	return is_member(a->end[0]) && is_member(b->end[0]) && a->end[0]->key == b->end[0]->key &&
	       a->end[0]->dim == b->end[0]->dim;
}

/*
 * Collect rates and round trips of a cable and its siblings, or of all. Return the
 * number of cables; both arrays have room for all.
 */
static size_t collect(const struct judgement *j, const struct judged *like, uint64_t *rates,
		      uint64_t *rtts)
{
	size_t i, n = 0;

	for (i = 0; i < j->n; i++) {
		const struct judged *other = &j->cable[i];

		if (!verdict_is_measure(&other->cable) || (like && !is_sibling(like, other)))
			continue;
		rates[2 * n] = other->cable.way[0].bps;
		rates[2 * n + 1] = other->cable.way[1].bps;
		rtts[n++] = other->cable.rtt_ns;
	}
	return n;
}

/* Compare each of them with the others, of which there may be too few. */
static void compare_among(struct judgement *j, const struct judged *like, uint64_t *rates,
			  uint64_t *rtts)
{
	size_t n = collect(j, like, rates, rtts), i;

	verdict_sort(rates, 2 * n);
	verdict_sort(rtts, n);
	for (i = 0; i < j->n; i++) {
		struct verdict_cable *c = &j->cable[i].cable;
		uint64_t own[2] = { c->way[0].bps, c->way[1].bps };
		bool is_one = verdict_is_measure(c);

		if (like && (!is_sibling(like, &j->cable[i]) || n - is_one < SIBLINGS_LEAST))
			continue;
		verdict_sort(own, 2);
		c->way[0].usual_bps = verdict_median_but(rates, 2 * n, own, 2 * is_one, true);
		c->way[1].usual_bps = c->way[0].usual_bps;
		c->usual_rtt_ns = verdict_median_but(rtts, n, &c->rtt_ns, is_one, false);
	}
}

/* With all others, and then, once per kind, with the siblings. */
static void compare_with_siblings(struct judgement *j, uint64_t *rates, uint64_t *rtts)
{
	size_t i, k;

	compare_among(j, NULL, rates, rtts);
	for (i = 0; i < j->n; i++) {
		if (!is_member(j->cable[i].end[0]))
			continue;
		for (k = 0; k < i && !is_sibling(&j->cable[k], &j->cable[i]); k++)
			;
		if (k == i)
			compare_among(j, &j->cable[i], rates, rtts);
	}
}

/*
 * If most cables are far below their link speed, the hosts are the limit: that
 * is said once, and no cable is blamed for it.
 */
static void compare_with_speed(struct judgement *j, uint64_t *rates, uint64_t *speeds)
{
	size_t i, n = collect(j, NULL, rates, speeds);
	uint64_t rate = verdict_median(rates, 2 * n, true), speed;

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

int judgement_make(struct judgement *j, const struct survey *s)
{
	size_t ports = count_ports(s) + 1, i;
	uint64_t *rates = calloc(2 * ports, sizeof(*rates)), *rtts = calloc(ports, sizeof(*rtts));
	unsigned int h, k;

	*j = (struct judgement){ .cable = calloc(ports, sizeof(*j->cable)) };
	if (!rates || !rtts || !j->cable) {
		free(rates);
		free(rtts);
		judgement_free(j);
		return -ENOMEM;
	}
	survey_number(s);
	for (h = 0; h < s->nhosts; h++)
		for (k = 0; k < s->hosts[h]->nports; k++)
			if (is_first(s, h, &s->hosts[h]->ports[k]))
				fill_cable(&j->cable[j->n++], s, &s->hosts[h]->ports[k]);
	compare_with_siblings(j, rates, rtts);
	compare_with_speed(j, rates, rtts);
	for (i = 0; i < j->n; i++)
		verdict_judge(&j->cable[i].verdict, &j->cable[i].cable);
	qsort(j->cable, j->n, sizeof(*j->cable), compare_judged);
	for (i = 0; i < j->n; i++)
		point_to_texts(&j->cable[i]);
	free(rates);
	free(rtts);
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
