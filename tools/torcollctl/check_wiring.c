// SPDX-License-Identifier: GPL-2.0
/* Rules about cables: those that lead elsewhere than the shape says. */
#include "check.h"

static const char *fmt_place(const struct check *c, const struct survey_port *port)
{
	uint32_t node = map_index(c->m, port->owner);

	return fmt_str("node %u's dim %u %s",
		       shape_neighbour(&c->m->shape, node, port->dim, port->dir), port->dim,
		       dir_name(shape_back(&c->m->shape, port->dim, port->dir)));
}

static void say_many(struct check *c, struct survey_port *p)
{
	check_say_cable(c, "many", p, p->other,
			fmt_str("%s hears several hosts: that is a switch or a bridge, not a cable",
				check_port(c, p)), "connect it to its neighbour directly");
}

/* The cable ends at a device that is no port of this fabric. */
static void say_outside(struct check *c, struct survey_port *p, struct survey_port *q)
{
	uint32_t node = map_index(c->m, p->owner);
	struct survey_port *r = map_partner_of(c->m, node, p);
	const char *remedy;

	if (q->flags & TORCOLL_SURVEY_MEMBER) {
		check_say_cable(c, "key", p, q,
				fmt_str("%s belongs to fabric %llu, %s at the other end of its cable to fabric %llu",
					check_port(c, p), (unsigned long long)p->key, check_port(c, q),
					(unsigned long long)q->key),
				"plug the cable into a port of the same fabric, or correct the file that names the wrong port, and apply it");
		return;
	}
	if (r)
		remedy = fmt_str("plug that end into %s", check_port(c, r));
	else
		remedy = fmt_str("there: torcollctl apply FILE (by hand: port add %llu dim %u dir %s dev %s)",
				 (unsigned long long)p->key, p->dim,
				 dir_name(shape_back(&c->m->shape, p->dim, p->dir)),
				 fmt_plain(q->own.device));
	check_say_cable(c, "wiring", p, q,
			fmt_str("the cable from %s ends at %s, which is no port of the fabric",
				check_port(c, p), check_port(c, q)), remedy);
	if (r && !r->other)
		check_explain(c, r, EXPLAINED);
}

/*
 * Two cables that have changed places: @p leads to @q instead of @r, and @want,
 * where @q belongs, to @r.
 */
static void say_crossed(struct check *c, struct survey_port *p, struct survey_port *q,
			struct survey_port *r, struct survey_port *want)
{
	/* of both ways to put it right, the one at a single host is easier */
	bool here = p->owner == want->owner;

	check_say_cable(c, "crossed", p, q,
			fmt_str("two cables are crossed: %s leads to %s, and %s to %s", check_port(c, p),
				check_port(c, q), check_port(c, want), check_port(c, r)),
			fmt_str("swap the plugs in %s and %s", check_port(c, here ? p : q),
				check_port(c, here ? want : r)));
	check_explain(c, r, EXPLAINED);
	check_explain(c, want, EXPLAINED);
}

static void say_miswired(struct check *c, struct survey_port *p, struct survey_port *q,
			 struct survey_port *r, struct survey_port *want)
{
	const char *place = r ? check_port(c, r) : fmt_place(c, p);
	const char *remedy = fmt_str("plug its end at %s into %s", check_port(c, q), place);

	/* a free place is where it has been taken from */
	if (r && r->other && want && !want->other)
		remedy = fmt_str("plug its end at %s into %s", check_port(c, p),
				 check_port(c, want));
	check_say_cable(c, "miswired", p, q, fmt_str("the cable from %s leads to %s instead of %s",
						     check_port(c, p), check_port(c, q), place), remedy);
	if (r && !r->other)
		check_explain(c, r, EXPLAINED);
	if (want && !want->other)
		check_explain(c, want, EXPLAINED);
}

static void wiring_of(struct check *c, struct survey_port *p)
{
	uint32_t node = map_index(c->m, p->owner), at;
	struct survey_port *q = p->other, *r, *want;

	if (p->flags & TORCOLL_SURVEY_MANY) {
		say_many(c, p);
		return;
	}
	if (!q || check_is_explained(c, q, EXPLAINED))
		return;
	at = map_index(c->m, q->owner);
	if (!check_is_member(c, q) || at == MAP_NOBODY) {
		say_outside(c, p, q);
		return;
	}
	r = map_partner_of(c->m, node, p);
	if (q == r)
		return;
	want = map_partner_of(c->m, at, q);
	if (r && want && r->other == want)
		say_crossed(c, p, q, r, want);
	else
		say_miswired(c, p, q, r, want);
}

void check_wiring(struct check *c)
{
	uint32_t i;
	unsigned int j;

	for (i = 0; i < c->now->nhosts; i++) {
		struct survey_host *host = c->now->hosts[i];

		if (c->m->index[i] == MAP_NOBODY)
			continue;
		for (j = 0; j < host->nports; j++) {
			struct survey_port *p = &host->ports[j];

			if (check_is_member(c, p) && !check_is_explained(c, p, EXPLAINED) &&
			    shape_has_port(&c->m->shape, c->m->index[i], p->dim, p->dir))
				wiring_of(c, p);
		}
	}
}
