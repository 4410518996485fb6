// SPDX-License-Identifier: GPL-2.0
/* torcollctl discover as text. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "draw.h"
#include "discover.h"

#define LINE		79	/* columns of sentences */
#define INDENT		12
#define PICTURE_SIDE	14	/* nodes beside each other that fit into 100 columns */

const char *discovery_port(const struct discovery *d, uint32_t port)
{
	const struct survey_port *p = d->graph->port[port].port;

	return fmt_str("%s:%s", p->owner->name, p->own.device);
}

const char *discovery_role(const struct discovery *d, uint32_t port)
{
	const struct tor_torus *t = &d->wiring.place.t;
	uint8_t role = d->roles.role[port];
	char name[HOST_PORT_TEXT];

	if (role == ROLE_NONE)
		return "";
	return fmt_str("%s", host_port_print(name, tor_port_dim(t, role), tor_port_dir(t, role)));
}

/* ---- the conclusion ---- */

static const char *shape_text(const struct tor_torus *t)
{
	char s[FAULT_SHAPE];

	return fmt_str("%s", fault_shape(t, s, sizeof(s)));
}

static const char *count_text(uint32_t n, const char *what)
{
	return fmt_str("%u %s%s", n, what, n == 1 ? "" : "s");
}

/* What follows the shape: how much of it is there. */
static const char *but_text(const struct discovery *d)
{
	if (d->faults.problems)
		return fmt_str(", but for %s:", count_text(d->faults.problems, "problem"));
	if (d->wiring.place.surplus)
		return fmt_str(" with %u of their %s.", wiring_fits(&d->wiring),
			       count_text(d->graph->ncables, "cable"));
	if (d->graph->ncables == 1)
		return " with one cable.";
	return fmt_str(": all %u cables fit.", d->graph->ncables);
}

/* The dims that leave out the cables that wrap around and are missing. */
static const char *open_dims(const struct place *p)
{
	uint32_t side[TOR_MAX_DIMS], d;
	char text[HOST_SHAPE_TEXT];

	for (d = 0; d < p->t.ndim; d++)
		side[d] = p->open >> d & 1 ? TORCOLL_SIDE(p->t.side[d], TORCOLL_KIND_LINE) :
					     tor_torus_side(&p->t, d);
	return fmt_str("%s", host_shape_print(text, p->t.ndim, side));
}

static void print_conclusion(const struct discovery *d)
{
	const struct place *p = &d->wiring.place;
	const char *hosts = count_text(d->graph->nhosts, "host"), *shape;

	if (d->wiring.kind == WIRING_NONE) {
		printf("%s form%s no ring, torus or full mesh. \"dims AxB\" says what is missing to be that one.\n",
		       hosts, d->graph->nhosts == 1 ? "s" : "");
		return;
	}
	shape = shape_text(&p->t);
	switch (d->wiring.kind) {
	case WIRING_LINE:
	case WIRING_GRID:
		if (p->open) {
			printf("%s form a %s: \"dims %s\" takes it as that.\nThey are a %s%s\n", hosts,
			       d->wiring.kind == WIRING_LINE ? "line" :
			       "grid without the cables that wrap around", open_dims(p), shape,
			       but_text(d));
			break;
		}
		/* fall through */
	default:
		if (p->absent)
			hosts = fmt_str("%u of %u hosts", d->graph->nhosts, p->t.nodes);
		printf("%s form a %s%s\n", hosts, shape, but_text(d));
	}
}

static void print_also(const struct discovery *d)
{
	char sides[FAULT_SHAPE];
	uint32_t i;

	if (!d->wiring.nalso)
		return;
	printf("They form as well");
	for (i = 0; i < d->wiring.nalso; i++)
		printf("%s a %s", !i ? "" : i == d->wiring.nalso - 1 ? " and" : ",",
		       shape_text(&d->wiring.also[i]));
	printf(": \"dims %s\" chooses that.\n",
	       fault_sides(&d->wiring.also[0], sides, sizeof(sides)));
}

/* ---- sentences ---- */

/* Print words from column INDENT on; the cursor is there. */
static void print_words(const char *text)
{
	size_t at = INDENT;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (at > INDENT && at + len > LINE) {
			printf("\n%*s", INDENT, "");
			at = INDENT;
		}
		at += printf("%.*s", (int)len, text);
		text += len;
		if (*text) {
			text++;
			/* not at the end of a line */
			if (at + 1 + strcspn(text, " ") <= LINE)
				at += printf(" ");
			else
				at = LINE;
		}
	}
	putchar('\n');
}

static void print_faults(const struct discovery *d, bool notes)
{
	uint32_t i;

	for (i = 0; i < d->faults.n; i++) {
		const struct fault *f = &d->faults.list[i];

		if (f->note != notes)
			continue;
		printf("  %-*s", INDENT - 2, notes ? "note" : f->kind);
		print_words(f->text);
		if (f->advice) {
			printf("%*s", INDENT, "");
			print_words(fmt_str("-> %s", f->advice));
		}
	}
}

void discovery_print(const struct discovery *d)
{
	print_conclusion(d);
	print_also(d);
	print_faults(d, false);
	print_faults(d, true);
}

/* ---- hosts and ports ---- */

static const char *mac_text(const uint8_t *m)
{
	return fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static const char *leads_text(const struct discovery *d, uint32_t port)
{
	const struct graph_port *p = &d->graph->port[port];

	switch (p->use) {
	case GRAPH_CABLE:
	case GRAPH_LOOP:
		return discovery_port(d, p->to);
	case GRAPH_SWITCH:
		return "(several hosts: a switch)";
	case GRAPH_SILENT:
	case GRAPH_OUTSIDE:
		return "(no host answers)";
	default:
		return p->port->flags & TORCOLL_SURVEY_UP ? "(no carrier)" : "(down)";
	}
}

static void add_row(const struct discovery *d, struct table *t, uint32_t port, bool first)
{
	const struct graph_port *p = &d->graph->port[port];
	const char *node = "", *at = "";
	char place[TOR_MAX_DIMS * 12] = "";
	size_t len = 0;
	uint32_t i;

	if (first && d->wiring.place.who) {
		const struct tor_torus *torus = &d->wiring.place.t;

		node = fmt_str("%u", d->wiring.node[p->host]);
		for (i = 0; i < torus->axes; i++)
			len += snprintf(place + len, sizeof(place) - len, "%s%u", i ? "," : "",
					tor_torus_coord(torus, d->wiring.node[p->host], i));
		at = place;
	}
	TABLE_ROW(t, node, at, first ? p->port->owner->name : "", discovery_role(d, port),
		  p->port->own.device, mac_text(p->port->own.mac),
		  fmt_str("%u", p->port->own.mtu),
		  p->port->speed ? fmt_str("%u", p->port->speed) : "", leads_text(d, port));
}

/* Ports in the order of their roles, then those without one. */
static void add_host(const struct discovery *d, struct table *t, uint32_t host)
{
	const struct graph_host *h = &d->graph->host[host];
	bool first = true;
	uint32_t role, i;

	for (role = 0; role <= TOR_MAX_PORTS; role++) {
		for (i = h->port; i < h->port + h->nports; i++) {
			if (d->roles.role[i] != (role == TOR_MAX_PORTS ? ROLE_NONE : role))
				continue;
			add_row(d, t, i, first);
			first = false;
		}
	}
}

static void print_hosts(const struct discovery *d)
{
	const struct place *p = &d->wiring.place;
	struct table t = { 0 };
	uint32_t i;

	TABLE_ROW(&t, "NODE", "AT", "HOST", "PORT", "DEVICE", "MAC", "MTU", "MBIT/S", "LEADS TO");
	for (i = 0; i < (p->who ? p->t.nodes : d->graph->nhosts); i++)
		if (!p->who || p->who[i] != GRAPH_NONE)
			add_host(d, &t, p->who ? p->who[i] : i);
	table_print(&t);
}

/* ---- the picture ---- */

static enum link_look look(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	const struct discovery *d = arg;
	const struct tor_torus *t = &d->wiring.place.t;
	uint32_t role = tor_port_find(t, dim, dir), port = roles_port(&d->roles, node, role), to;

	if (port == GRAPH_NONE)
		return LINK_BAD;
	to = d->graph->port[port].to;
	if (d->graph->port[port].use != GRAPH_CABLE || d->roles.role[to] != tor_torus_peer_port(t, role) ||
	    d->wiring.node[d->graph->port[to].host] !=
	    tor_torus_neighbour(t, node, role))
		return LINK_BAD;
	return LINK_GOOD;
}

static void print_picture(const struct discovery *d)
{
	const struct tor_torus *t = &d->wiring.place.t;
	struct shape shape;
	const struct drawing picture = {
		.shape = &shape,
		.self = ~0U,
		.look = look,
		.arg = (void *)d,
	};

	shape_from_torus(&shape, t);
	if (t->axes > 3 || draw_columns(&shape) > PICTURE_SIDE)
		return;
	putchar('\n');
	draw_torus(&picture);
}

static void print_next(const struct discovery *d)
{
	printf("\nNext: %storcollctl discover write /etc/torcoll/%llu.conf\n",
	       d->fits ? "" : "put that right; then ", (unsigned long long)d->key);
	puts("      copy this file to all hosts; on each: torcollctl apply FILE");
}

void discovery_print_all(const struct discovery *d)
{
	discovery_print(d);
	putchar('\n');
	print_hosts(d);
	if (d->wiring.kind == WIRING_NONE)
		return;
	print_picture(d);
	print_next(d);
}
