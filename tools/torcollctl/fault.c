// SPDX-License-Identifier: GPL-2.0
/* Sentences about a wiring. See fault.h. */
#include "fault.h"

#include "conf.h"
#include "core/host_shape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SPARES		4	/* cables without a place that are named */
#define TEXT		256

const char *fault_sides(const struct tor_torus *t, char *s, size_t size)
{
	char text[HOST_SHAPE_TEXT];

	snprintf(s, size, "%s", host_torus_print(text, t));
	return s;
}

const char *fault_shape(const struct tor_torus *t, char *s, size_t size)
{
	static const char *const one[] = { "ring", "line", "full mesh" };
	char sides[FAULT_SHAPE];
	bool torus = true, chords = tor_torus_has_chords(t);
	uint32_t d;

	fault_sides(t, sides, sizeof(sides));
	for (d = 0; d < t->ndim; d++)
		torus &= t->kind[d] == TORCOLL_KIND_RING;
	if (chords)
		snprintf(s, size, "ring with chords, %s", sides);
	else if (t->ndim > 1)
		snprintf(s, size, "%s %s", sides, torus ? "torus" : "grid");
	else
		snprintf(s, size, "%s of %u", one[t->kind[0]], t->nodes);
	return s;
}

/* ---- the list ---- */

static struct fault *add_fault(struct faults *f, const char *kind, bool note)
{
	struct fault *list = realloc(f->list, (f->n + 1) * sizeof(*list));

	if (!list) {
		f->no_memory = true;
		return NULL;
	}
	f->list = list;
	list += f->n++;
	*list = (struct fault){ .kind = kind, .note = note };
	f->problems += !note;
	return list;
}

static void set_text(struct faults *f, char **to, const char *fmt, va_list ap)
{
	if (vasprintf(to, fmt, ap) < 0) {
		*to = NULL;
		f->no_memory = true;
	}
}

__attribute__((format(printf, 4, 5)))
static void add_problem(struct faults *f, const char *kind, const char *advice, const char *fmt, ...)
{
	struct fault *fault = add_fault(f, kind, false);
	va_list ap;

	if (!fault)
		return;
	va_start(ap, fmt);
	set_text(f, &fault->text, fmt, ap);
	va_end(ap);
	fault->advice = strdup(advice);
	f->no_memory |= !fault->advice;
}

__attribute__((format(printf, 3, 4)))
static void add_note(struct faults *f, const char *kind, const char *fmt, ...)
{
	struct fault *fault = add_fault(f, kind, true);
	va_list ap;

	if (!fault)
		return;
	va_start(ap, fmt);
	set_text(f, &fault->text, fmt, ap);
	va_end(ap);
}

/* The last fault is about that port, too. */
static void add_where(struct faults *f, uint32_t port)
{
	struct fault *fault = f->n ? &f->list[f->n - 1] : NULL;

	if (fault && port != GRAPH_NONE && fault->nports < FAULT_PORTS)
		fault->port[fault->nports++] = port;
}

/* ---- names ---- */

static const char *host_name(const struct roles *r, uint32_t host)
{
	return r->w->g->host[host].host->name;
}

static const char *device_of(const struct roles *r, uint32_t port)
{
	return r->w->g->port[port].port->own.device;
}

static const char *host_of(const struct roles *r, uint32_t port)
{
	return host_name(r, r->w->g->port[port].host);
}

/* "h3:eth0", and what has to be known to use it. */
static void port_text(const struct roles *r, uint32_t port, char *s, size_t size)
{
	const struct graph_port *p = &r->w->g->port[port];
	const char *device = p->port->own.device;
	int at = snprintf(s, size, "%s:%s", host_of(r, port), device);

	switch (p->use) {
	case GRAPH_DARK:
		if (p->port->flags & TORCOLL_SURVEY_UP)
			snprintf(s + at, size - at, " (no carrier)");
		else
			snprintf(s + at, size - at, " (down: ip link set dev %s up)", device);
		break;
	case GRAPH_SILENT:
		snprintf(s + at, size - at, " (a carrier, but nobody answers)");
		break;
	case GRAPH_SWITCH:
		snprintf(s + at, size - at, " (several hosts are heard there: a switch)");
		break;
	case GRAPH_CABLE:
		snprintf(s + at, size - at, " (instead of the cable there)");
		break;
	default:
		break;
	}
}

/* ---- cables ---- */

static void fault_swap(struct faults *f, const struct roles *r, const struct role_move *a)
{
	const struct role_move *b = &r->move[a->swap];
	char advice[TEXT];

	snprintf(advice, sizeof(advice), "swap the plugs in %s:%s and %s:%s", host_of(r, a->from),
		 device_of(r, a->from), host_of(r, b->from), device_of(r, b->from));
	add_problem(f, "crossed", advice,
		    "the cable from %s:%s leads to %s:%s and belongs into %s:%s, "
		    "where that from %s:%s is", host_of(r, a->keep), device_of(r, a->keep),
		    host_of(r, a->from), device_of(r, a->from), host_of(r, a->to),
		    device_of(r, a->to), host_of(r, b->keep), device_of(r, b->keep));
	add_where(f, a->keep);
	add_where(f, a->from);
	add_where(f, b->keep);
	add_where(f, b->from);
}

static void fault_move(struct faults *f, const struct roles *r, const struct role_move *m)
{
	char shape[FAULT_SHAPE], to[TEXT], advice[2 * TEXT];

	fault_shape(&r->w->place.t, shape, sizeof(shape));
	if (m->to == GRAPH_NONE) {
		snprintf(to, sizeof(to), "%s", host_name(r, m->host));
		snprintf(advice, sizeof(advice), "%s has no port to spare: it needs another device",
			 host_name(r, m->host));
	} else {
		snprintf(to, sizeof(to), "%s:%s", host_of(r, m->to), device_of(r, m->to));
		snprintf(advice, sizeof(advice), "move the plug from %s:%s to %s:%s",
			 host_of(r, m->from), device_of(r, m->from), host_of(r, m->to),
			 device_of(r, m->to));
	}
	add_problem(f, "misplaced", advice,
		    "the cable from %s:%s leads to %s:%s; for a %s it belongs into %s",
		    host_of(r, m->keep), device_of(r, m->keep), host_of(r, m->from),
		    device_of(r, m->from), shape, to);
	add_where(f, m->keep);
	add_where(f, m->from);
	add_where(f, m->to);
}

static void fault_moves(struct faults *f, const struct roles *r)
{
	uint32_t i;

	for (i = 0; i < r->nmoves; i++) {
		const struct role_move *m = &r->move[i];

		if (m->swap == GRAPH_NONE)
			fault_move(f, r, m);
		else if (m->swap > i)
			fault_swap(f, r, m);
	}
}

/* The host at an end of a missing cable, and what is to be plugged in there. */
static void end_text(const struct roles *r, uint32_t node, uint32_t port, char *who, char *what,
		     size_t size)
{
	uint32_t host = r->w->place.who[node];

	if (host == GRAPH_NONE)
		snprintf(who, size, "the host of node %u", node);
	else
		snprintf(who, size, "%s", host_name(r, host));
	if (port != GRAPH_NONE)
		port_text(r, port, what, size);
	else if (host == GRAPH_NONE)
		snprintf(what, size, "that host");
	else
		snprintf(what, size, "%s (no port to spare: it needs another device)", who);
}

static void fault_missing(struct faults *f, const struct roles *r, const struct role_link *l)
{
	uint32_t to = tor_torus_neighbour(&r->w->place.t, l->node, l->port);
	char a[TEXT], b[TEXT], from_port[TEXT], to_port[TEXT], advice[3 * TEXT];

	end_text(r, l->node, l->from, a, from_port, TEXT);
	end_text(r, to, l->to, b, to_port, TEXT);
	snprintf(advice, sizeof(advice), "connect %s and %s", from_port, to_port);
	add_problem(f, "missing", advice, "no cable between %s and %s", a, b);
	add_where(f, l->from);
	add_where(f, l->to);
}

static void fault_spares(struct faults *f, const struct roles *r)
{
	char shape[FAULT_SHAPE];
	uint32_t i;

	fault_shape(&r->w->place.t, shape, sizeof(shape));
	if (r->nspares > SPARES) {
		add_note(f, "spare", "%u cables have no place in a %s, and are not used", r->nspares,
			 shape);
		return;
	}
	for (i = 0; i < r->nspares; i++) {
		uint32_t port = r->spare[i], to = r->w->g->port[port].to;

		add_note(f, "spare",
			 "the cable from %s:%s to %s:%s has no place in a %s, and is not used",
			 host_of(r, port), device_of(r, port), host_of(r, to), device_of(r, to),
			 shape);
		add_where(f, port);
		add_where(f, to);
	}
}

/* ---- hosts ---- */

/* A host that does not answer: the ports that hear nobody. */
static void fault_absent(struct faults *f, const struct roles *r, uint32_t node)
{
	const struct tor_torus *t = &r->w->place.t;
	uint32_t at[TOR_MAX_PORTS], n = 0, port, i;
	char where[TOR_MAX_PORTS * 84];
	size_t len = 0;

	for (port = 0; port < t->ports; port++) {
		uint32_t end;

		if (!tor_torus_has_port(t, node, port))
			continue;
		end = roles_port(r, tor_torus_neighbour(t, node, port), tor_torus_peer_port(t, port));
		if (end != GRAPH_NONE && r->w->g->port[end].use == GRAPH_SILENT)
			at[n++] = end;
	}
	for (i = 0; i < n; i++)
		len += snprintf(where + len, sizeof(where) - len, "%s%s:%s",
				!i ? "" : i == n - 1 ? " and " : ", ", host_of(r, at[i]),
				device_of(r, at[i]));
	f->no_file = true;
	add_problem(f, "absent", "is the module loaded there (modprobe torcoll), are devices up?",
		    n ? "the host at the other end of %s does not answer" : "a host%s is not found",
		    n ? where : "");
	for (i = 0; i < n; i++)
		add_where(f, at[i]);
}

/*
 * Count the hosts that have a host's name, as torcoll.conf(5) compares them.
 * @alike: out: they also agree in upper and lower case
 * Return 0 if a host before has it.
 */
static uint32_t count_name(const struct roles *r, uint32_t host, bool *alike)
{
	const char *name = host_name(r, host);
	uint32_t i, n = 0;

	*alike = true;
	for (i = 0; i < r->w->g->nhosts; i++) {
		if (strcasecmp(name, host_name(r, i)))
			continue;
		if (i < host)
			return 0;
		*alike &= !strcmp(name, host_name(r, i));
		n++;
	}
	return n;
}

static void fault_names(struct faults *f, const struct roles *r)
{
	uint32_t i;

	for (i = 0; i < r->w->g->nhosts; i++) {
		const char *name = host_name(r, i);
		bool alike;
		uint32_t same = count_name(r, i, &alike);

		if (!same || (same == 1 && conf_is_host_name(name)))
			continue;
		f->no_file = true;
		if (same > 1)
			add_problem(f, "name", "give each a name of its own: hostnamectl hostname NAME",
				    "%u hosts are called \"%s\"%s", same, name,
				    alike ? "" : ", but for upper and lower case");
		else
			add_problem(f, "name", "give it another: hostnamectl hostname NAME",
				    "the host name \"%s\" cannot be written into a file: letters, digits, dots, hyphens and underscores can", name);
	}
}

/* ---- devices ---- */

typedef uint32_t (*property_fn)(const struct survey_port *p);

static uint32_t port_mtu(const struct survey_port *p)
{
	return p->own.mtu;
}

static uint32_t port_speed(const struct survey_port *p)
{
	return p->speed;
}

/* Ports with a role and a carrier are compared. */
static bool port_counts(const struct roles *r, uint32_t port)
{
	return r->role[port] != ROLE_NONE && r->w->g->port[port].use != GRAPH_DARK;
}

/* Return what most ports have, the larger of two that are as frequent. */
static uint32_t usual(const struct roles *r, property_fn property)
{
	const struct graph *g = r->w->g;
	uint32_t best = 0, most = 0, i, j;

	for (i = 0; i < g->nports; i++) {
		uint32_t value = property(g->port[i].port), n = 0;

		if (!port_counts(r, i) || value == best)
			continue;
		for (j = 0; j < g->nports; j++)
			n += port_counts(r, j) && property(g->port[j].port) == value;
		if (n > most || (n == most && value > best)) {
			best = value;
			most = n;
		}
	}
	return best;
}

static void fault_mtu(struct faults *f, const struct roles *r, uint32_t port, uint32_t mtu)
{
	const struct graph_port *p = &r->w->g->port[port];
	uint32_t here = p->port->own.mtu, to = p->to;
	uint32_t there = to == GRAPH_NONE ? mtu : r->w->g->port[to].port->own.mtu;
	char advice[TEXT];

	/* each cable once, by an end that is to be changed */
	if (here == mtu || (to != GRAPH_NONE && there != mtu && to < port))
		return;
	snprintf(advice, sizeof(advice), "on %s: ip link set dev %s mtu %u%s%s", host_of(r, port),
		 device_of(r, port), mtu, there == mtu ? "" : "; likewise on ",
		 there == mtu ? "" : host_of(r, to));
	if (to == GRAPH_NONE)
		add_problem(f, "mtu", advice, "the MTU of %s:%s is %u, that of others %u",
			    host_of(r, port), device_of(r, port), here, mtu);
	else
		add_problem(f, "mtu", advice, "the MTU of %s:%s is %u, that of %s:%s %u",
			    host_of(r, port), device_of(r, port), here, host_of(r, to),
			    device_of(r, to), there);
	add_where(f, port);
	add_where(f, to);
}

static void fault_speed(struct faults *f, const struct roles *r, uint32_t port, uint32_t speed)
{
	const struct graph_port *p = &r->w->g->port[port];
	uint32_t there = p->to == GRAPH_NONE ? 0 : r->w->g->port[p->to].port->speed;

	/* each cable once, by its first end that knows its speed */
	if (!p->port->speed || p->port->speed >= speed ||
	    (p->to != GRAPH_NONE && p->to < port && there && there < speed))
		return;
	add_problem(f, "speed", "check cable and plugs, and what the devices can do: ethtool",
		    "the cable at %s:%s runs at %u Mb/s, others at %u", host_of(r, port),
		    device_of(r, port), p->port->speed, speed);
	add_where(f, port);
	add_where(f, p->to);
}

/* An end that hears nothing of the other one, which hears it. */
static void fault_one_way(struct faults *f, const struct roles *r, uint32_t port)
{
	const struct graph_port *p = &r->w->g->port[port];

	if (p->use != GRAPH_CABLE || p->port->peer.host)
		return;
	add_problem(f, "one-way", "check the cable and its plugs",
		    "%s:%s does not hear %s:%s, which hears it", host_of(r, port),
		    device_of(r, port), host_of(r, p->to), device_of(r, p->to));
	add_where(f, port);
	add_where(f, p->to);
}

static void fault_devices(struct faults *f, const struct roles *r)
{
	uint32_t speed = usual(r, port_speed), i;

	f->mtu = usual(r, port_mtu);
	for (i = 0; i < r->w->g->nports; i++) {
		if (!port_counts(r, i))
			continue;
		fault_mtu(f, r, i, f->mtu);
		fault_speed(f, r, i, speed);
		fault_one_way(f, r, i);
	}
}

/* ---- what is not used ---- */

/* Return whether no port before has the same name and use. */
static bool first_of_name(const struct roles *r, uint32_t port)
{
	const struct graph_port *p = r->w->g->port;
	uint32_t i;

	for (i = 0; i < port; i++)
		if (p[i].use == p[port].use && !strcmp(device_of(r, i), device_of(r, port)))
			return false;
	return true;
}

static void fault_unused(struct faults *f, const struct roles *r)
{
	uint32_t i;

	for (i = 0; i < r->w->g->nports; i++) {
		const struct graph_port *p = &r->w->g->port[i];

		if (p->use == GRAPH_OUTSIDE && first_of_name(r, i))
			add_note(f, "outside",
				 "no host answers at %s of most hosts: taken for another network",
				 device_of(r, i));
		if (r->w->kind == WIRING_NONE && !(p->port->flags & TORCOLL_SURVEY_UP)) {
			add_note(f, "down", "%s:%s is down: ip link set dev %s up", host_of(r, i),
				 device_of(r, i), device_of(r, i));
			add_where(f, i);
		}
		if (p->use == GRAPH_LOOP && p->to > i) {
			add_note(f, "loop", "a cable joins %s:%s and %s:%s of the same host",
				 host_of(r, i), device_of(r, i), host_of(r, p->to),
				 device_of(r, p->to));
			add_where(f, i);
			add_where(f, p->to);
		}
		if (r->role[i] == ROLE_NONE && p->use == GRAPH_SWITCH) {
			add_note(f, "switch", "several hosts are heard at %s:%s: a switch, not used",
				 host_of(r, i), device_of(r, i));
			add_where(f, i);
		}
		if (r->role[i] == ROLE_NONE && p->use == GRAPH_SILENT) {
			add_note(f, "silent",
				 "%s:%s has a carrier, but no host answers there: not used",
				 host_of(r, i), device_of(r, i));
			add_where(f, i);
		}
	}
}

int faults_find(struct faults *f, const struct roles *r)
{
	uint32_t i;

	*f = (struct faults){ 0 };
	fault_moves(f, r);
	for (i = 0; i < r->nmissing; i++)
		fault_missing(f, r, &r->missing[i]);
	for (i = 0; r->w->place.who && i < r->w->place.t.nodes; i++)
		if (r->w->place.who[i] == GRAPH_NONE)
			fault_absent(f, r, i);
	fault_names(f, r);
	fault_devices(f, r);
	fault_unused(f, r);
	if (r->w->place.who)
		fault_spares(f, r);
	if (r->w->place.ambiguous && (r->nmoves || r->nmissing))
		add_note(f, "ambiguous", "other cables could be changed instead, as few: this is one way");
	return f->no_memory ? -ENOMEM : 0;
}

void faults_free(struct faults *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		free(f->list[i].text);
		free(f->list[i].advice);
	}
	free(f->list);
}
