// SPDX-License-Identifier: GPL-2.0
/* Rules about links: why they are not up, or do not stay up. */
#include "check.h"

#define FLAP_DOWNS	3	/* times down that are no accident */
#define FLAP_MS		30000	/* up for less than that: may go down again */

static bool is_up(const struct survey_port *port)
{
	return port->state == TORCOLL_LINK_STATE_UP;
}

/* Times that it went down since the earlier survey. */
static uint32_t downs_risen(const struct check *c, const struct survey_port *port)
{
	const struct survey_port *before = check_before(c, port);

	return before && port->downs > before->downs ? port->downs - before->downs : 0;
}

static bool is_flapping(const struct check *c, const struct survey_port *port)
{
	/* a side that went down while it was looked at, and is up again */
	if (is_up(port) && downs_risen(c, port))
		return true;
	return port->state == TORCOLL_LINK_STATE_FLAPPING ||
	       (port->downs >= FLAP_DOWNS && port->since_ms < FLAP_MS);
}

static const char *fmt_ends(const struct check *c, const struct survey_port *p,
			    const struct survey_port *q)
{
	return fmt_str("%s - %s", check_port(c, p), check_port(c, q));
}

/* The side with the smaller MTU is the one that somebody forgot. */
static void say_mtu(struct check *c, struct survey_port *p, struct survey_port *q)
{
	const struct survey_port *small = p->own.mtu < q->own.mtu ? p : q;
	const struct survey_port *large = small == p ? q : p;

	check_say_cable(c, "mtu", p, q,
			fmt_str("%s has MTU %u, %s at the other end %u", check_port(c, small),
				small->own.mtu, check_port(c, large), large->own.mtu),
			fmt_str("on %s: ip link set %s mtu %u", fmt_plain(small->owner->name),
				fmt_plain(small->own.device), large->own.mtu));
}

static void say_flapping(struct check *c, struct survey_port *p, struct survey_port *q)
{
	uint32_t downs = p->downs > q->downs ? p->downs : q->downs;

	check_say_cable(c, "flapping", p, q,
			fmt_str("the link %s goes up and down, %u times so far", fmt_ends(c, p, q), downs),
			"push in both plugs, or replace the cable; \"torcollctl log\" there has the times");
}

static bool is_off(const struct survey_port *port)
{
	return !(port->flags & TORCOLL_SURVEY_UP);
}

/* The device of @p is switched off. */
static void say_off(struct check *c, struct survey_port *p, struct survey_port *q)
{
	check_say_cable(c, "down", p, q,
			fmt_str("the link %s is down: the device %s of %s is switched off",
				fmt_ends(c, p, q), fmt_plain(p->own.device), check_host(c, p->owner)),
			fmt_str("on %s: ip link set %s up", fmt_plain(p->owner->name),
				fmt_plain(p->own.device)));
}

/* Frames of @from do not arrive at @to. */
static void say_deaf(struct check *c, struct survey_port *from, struct survey_port *to)
{
	check_say_cable(c, "one-way", from, to,
			fmt_str("the link %s is down: what %s sends does not arrive at %s",
				fmt_ends(c, from, to), check_port(c, from), check_port(c, to)),
			"replace the cable; look for filters (tc, XDP) on both devices");
}

static void say_states(struct check *c, struct survey_port *p, struct survey_port *q)
{
	const char *here = link_state_name(p->state), *there = link_state_name(q->state);

	check_say_cable(c, "down", p, q,
			fmt_str("the link %s is down: %s at the first, %s at the second end",
				fmt_ends(c, p, q), here, there),
			fmt_str("\"torcollctl port show\" on %s and %s has the reasons",
				fmt_plain(p->owner->name), fmt_plain(q->owner->name)));
}

static void say_down(struct check *c, struct survey_port *p, struct survey_port *q)
{
	bool carrier = p->flags & q->flags & TORCOLL_SURVEY_CARRIER;

	if (is_off(p) || is_off(q))
		say_off(c, is_off(p) ? p : q, is_off(p) ? q : p);
	else if (!carrier)
		check_say_cable(c, "down", p, q,
				fmt_str("the link %s is down: no carrier", fmt_ends(c, p, q)),
				"plug in the cable at both ends, or replace it");
	else if (p->state == TORCOLL_LINK_STATE_ONE_WAY &&
		 q->state == TORCOLL_LINK_STATE_WAITING)
		say_deaf(c, p, q);
	else if (p->state == TORCOLL_LINK_STATE_WAITING &&
		 q->state == TORCOLL_LINK_STATE_ONE_WAY)
		say_deaf(c, q, p);
	else if (p->state == TORCOLL_LINK_STATE_WAITING &&
		 q->state == TORCOLL_LINK_STATE_WAITING)
		check_say_cable(c, "down", p, q,
				fmt_str("the link %s is down: neither end hears the other",
					fmt_ends(c, p, q)),
				"replace the cable; look for filters (tc, XDP) on both devices");
	else
		say_states(c, p, q);
}

/*
 * A cable whose other end is no port, while others of its link have two ends; if
 * none has, the host there is named already.
 */
static void say_alone(struct check *c, struct survey_port *p, uint32_t there)
{
	const struct survey_host *host = c->m->host[there];
	struct finding *f;

	if (is_up(p) || check_is_explained(c, p, EXPLAINED_STATE) ||
	    !map_port(c->m, host, p->dim, shape_back(&c->m->shape, p->dim, p->dir)))
		return;
	f = check_say(c, "port",
		      fmt_str("%s is %s, and %s has no port for its other end", check_port(c, p),
			      link_state_name(p->state), check_host(c, host)),
		      fmt_str("is its device there still, with its cable? Then on %s: torcollctl apply FILE",
			      fmt_plain(host->name)));
	f->host = host;
	f->node = there;
	f->port[0] = p;
	check_explain(c, p, EXPLAINED);
}

static void links_of(struct check *c, const struct map_link *link)
{
	struct survey_port *p = link->port[0], *q = link->port[1];

	if (p && !q)
		say_alone(c, p, link->node[1]);
	if (q && !p)
		say_alone(c, q, link->node[0]);
	if (!p || !q || check_is_explained(c, p, EXPLAINED_STATE) ||
	    check_is_explained(c, q, EXPLAINED_STATE))
		return;
	if (p->own.mtu != q->own.mtu)
		say_mtu(c, p, q);
	else if (is_flapping(c, p) || is_flapping(c, q))
		say_flapping(c, p, q);
	else if (!is_up(p) || !is_up(q))
		say_down(c, p, q);
}

void check_reach(struct check *c)
{
	uint32_t i;

	for (i = 0; i < c->now->nhosts && !check_faults(c); i++) {
		const struct survey_host *host = c->now->hosts[i];
		const struct survey_node *node = survey_node(host, c->m->key);
		struct finding *f;

		if (!node || c->m->index[i] == MAP_NOBODY || node->reached >= c->m->shape.nodes)
			continue;
		f = check_say(c, "reach", fmt_str("%s reaches %u of %u nodes", check_host(c, host),
						  node->reached, c->m->shape.nodes),
			      "check again in some seconds; if that remains: torcollctl monitor there");
		f->host = host;
		f->node = c->m->index[i];
	}
}

void check_links(struct check *c)
{
	uint32_t i;

	for (i = 0; i < c->m->nlinks; i++)
		links_of(c, &c->m->link[i]);
}
