// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a wiring is named, with the ports that it is about; and nothing else is. */
#include "host_env.h"
#include "made_survey.h"

#include "../../tools/torcollctl/conf_name.c"
#include "../../tools/torcollctl/graph.c"
#include "../../tools/torcollctl/place.c"
#include "../../tools/torcollctl/place_cost.c"
#include "../../tools/torcollctl/place_grow.c"
#include "../../tools/torcollctl/wiring.c"
#include "../../tools/torcollctl/roles.c"
#include "../../tools/torcollctl/fault.c"

static u64 seed;

static const struct {
	u32 ndim, side[TOR_MAX_DIMS], cables;
} shapes[] = {
	{ 1, { 3 }, 1 }, { 1, { 4 }, 1 }, { 1, { 5 }, 1 }, { 1, { 6 }, 1 }, { 1, { 7 }, 1 },
	{ 1, { 8 }, 1 }, { 1, { 9 }, 1 }, { 2, { 2, 2 }, 1 }, { 2, { 2, 2 }, 2 },
	{ 3, { 2, 2, 2 }, 1 }, { 2, { 4, 4 }, 1 }, { 2, { 3, 5 }, 1 }, { 3, { 3, 3, 3 }, 1 },
	{ 2, { 8, 8 }, 1 }, { 2, { 16, 16 }, 1 },
};

/* Those below have room for two cables that are crossed. */
#define CROSSABLE	10

/* A survey, and what is made of it. */
struct made {
	struct tor_torus t;
	struct survey *s;
	struct graph *g;
	struct wiring w;
	struct roles r;
	struct faults f;
};

static void make(struct made *m, u32 shape)
{
	assert_int_equal(tor_torus_init(&m->t, shapes[shape].ndim, shapes[shape].side,
					shapes[shape].cables), 0);
	m->s = made_torus(&m->t, &seed);
}

static void find(struct made *m)
{
	m->g = graph_new(m->s);
	assert_non_null(m->g);
	assert_int_equal(wiring_find(&m->w, m->g, &m->t), 0);
	assert_int_equal(roles_find(&m->r, &m->w), 0);
	assert_int_equal(faults_find(&m->f, &m->r), 0);
}

static void drop(struct made *m)
{
	faults_free(&m->f);
	roles_free(&m->r);
	wiring_free(&m->w);
	graph_free(m->g);
	made_free(m->s);
}

static bool is_at(const struct made *m, const struct fault *f, const struct survey_port *p)
{
	u32 i;

	for (i = 0; i < f->nports; i++)
		if (m->g->port[f->port[i]].port == p)
			return true;
	return false;
}

/* Exactly one thing is wrong, which other repairs may do for. */
static const struct fault *only(const struct made *m, const char *kind)
{
	u32 i;

	for (i = 0; i < m->f.n; i++)
		if (strcmp(m->f.list[i].kind, i ? "ambiguous" : kind))
			fail_msg("%s: %s", m->f.list[i].kind, m->f.list[i].text);
	assert_in_range(m->f.n, 1, 1 + m->w.place.ambiguous);
	assert_non_null(m->f.list[0].text);
	return &m->f.list[0];
}

/* Every port of the torus is a device, and both ends of a cable are opposite ports of nodes that are neighbours. */
static void assert_roles(const struct made *m)
{
	u32 node, port;

	for (node = 0; node < m->t.nodes; node++) {
		for (port = 0; port < m->t.ports; port++) {
			u32 at = roles_port(&m->r, node, port);

			if (!tor_torus_has_port(&m->t, node, port) ||
			    m->w.place.who[node] == GRAPH_NONE)
				continue;
			assert_int_not_equal(at, GRAPH_NONE);
			if (m->g->port[at].use != GRAPH_CABLE)
				continue;
			assert_int_equal(m->r.role[m->g->port[at].to],
						 tor_torus_peer_port(&m->t, port));
			assert_int_equal(m->w.node[m->g->port[m->g->port[at].to].host],
					 tor_torus_neighbour(&m->t, node, port));
		}
	}
}

static void fault__none(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct made m;

		make(&m, i);
		find(&m);
		assert_int_equal(m.f.n, 0);
		assert_roles(&m);
		drop(&m);
	}
}

static void fault__missing(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct fault *f;
		struct survey_port *p, *q;
		struct made m;

		make(&m, i);
		p = made_any(m.s, &seed);
		q = p->other;
		made_cut(p);
		find(&m);
		f = only(&m, "missing");
		assert_true(is_at(&m, f, p) && is_at(&m, f, q));
		assert_roles(&m);
		drop(&m);
	}
}

/* Ports of four hosts, none of which has a cable to another but by these. */
static void any_two(const struct survey *s, struct survey_port **p, struct survey_port **q)
{
	do {
		*p = made_any(s, &seed);
		*q = made_any(s, &seed);
	} while ((*p)->owner == (*q)->owner || (*p)->owner == (*q)->other->owner ||
		 (*p)->other->owner == (*q)->owner || (*p)->other->owner == (*q)->other->owner);
}

static struct survey_port *port_of(const struct made *m, const struct fault *f, u32 i)
{
	return (struct survey_port *)m->g->port[f->port[i]].port;
}

/* What has become of the survey since. */
static void again(struct made *m)
{
	faults_free(&m->f);
	roles_free(&m->r);
	wiring_free(&m->w);
	graph_free(m->g);
	find(m);
}

/*
 * Two crossed cables are named together, and after their plugs were swapped as advised nothing is wrong. These are
 * the two that were crossed, unless it says that others would do. In small tori the hosts may fit in another order.
 */
static void fault__crossed(void **state)
{
	u32 i, ambiguous = 0;

	for (i = CROSSABLE; i < ARRAY_SIZE(shapes); i++) {
		struct survey_port *p, *q;
		const struct fault *f;
		struct made m;

		make(&m, i);
		any_two(m.s, &p, &q);
		made_cross(p, q);
		find(&m);
		if (m.t.nodes > 27 || m.w.place.cost) {
			f = only(&m, "crossed");
			assert_int_equal(f->nports, 4);
			assert_non_null(strstr(f->advice, "swap the plugs in "));
			if (!m.w.place.ambiguous && m.t.nodes > 27)
				assert_true(is_at(&m, f, p) && is_at(&m, f, p->other) &&
					    is_at(&m, f, q) && is_at(&m, f, q->other));
			ambiguous += m.w.place.ambiguous;
			made_cross(port_of(&m, f, 0), port_of(&m, f, 2));
			again(&m);
			assert_int_equal(m.f.n, 0);
		}
		drop(&m);
	}
	/* in the 4x4 torus, whose symmetries are many */
	assert_int_equal(ambiguous, 1);
}

/* A plug that is in a free port of another host. */
static void fault__misplaced(void **state)
{
	struct survey_port *p, *q, *moved, *theirs;
	const struct fault *f;
	struct made m;

	make(&m, 13);
	any_two(m.s, &p, &q);
	moved = p->other;
	theirs = q->other;
	made_cut(q);
	p->other->other = NULL;
	p->other->flags &= ~TORCOLL_SURVEY_CARRIER;
	made_cable(p, q);
	find(&m);
	assert_int_equal(m.f.problems, 2);
	f = &m.f.list[0];
	assert_string_equal(f->kind, "misplaced");
	/* either end may be the wrong one */
	assert_true(is_at(&m, f, p) && is_at(&m, f, q));
	assert_true(is_at(&m, f, moved) || is_at(&m, f, theirs));
	assert_non_null(strstr(f->text, "for a 8x8 torus it belongs into"));
	assert_string_equal(m.f.list[1].kind, "missing");
	drop(&m);
}

static void fault__mtu(void **state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct fault *f;
		struct survey_port *p;
		char advice[120];
		struct made m;

		make(&m, i);
		p = made_any(m.s, &seed);
		p->own.mtu = 1500;
		find(&m);
		f = only(&m, "mtu");
		assert_true(is_at(&m, f, p) && is_at(&m, f, p->other));
		snprintf(advice, sizeof(advice), "on %s: ip link set dev %s mtu 9000",
			 p->owner->name, p->own.device);
		assert_string_equal(f->advice, advice);
		drop(&m);
	}
}

/* Both ends agree, but not with the others: one sentence that names both. */
static void fault__mtu_of_a_cable(void **state)
{
	const struct fault *f;
	struct survey_port *p;
	struct made m;

	make(&m, 10);
	p = made_any(m.s, &seed);
	p->own.mtu = p->other->own.mtu = 1500;
	find(&m);
	f = only(&m, "mtu");
	assert_non_null(strstr(f->advice, "; likewise on "));
	drop(&m);
}

static void fault__speed(void **state)
{
	struct survey_port *p;
	struct made m;

	make(&m, 10);
	p = made_any(m.s, &seed);
	p->speed = p->other->speed = 100;
	find(&m);
	assert_true(is_at(&m, only(&m, "speed"), p));
	drop(&m);
}

/* One end does not know its speed, whichever is listed first. */
static void fault__speed_of_one_end(void **state)
{
	u32 i;

	for (i = 0; i < 20; i++) {
		struct survey_port *p;
		struct made m;

		make(&m, 10);
		p = made_any(m.s, &seed);
		p->speed = 0;
		p->other->speed = 100;
		find(&m);
		assert_true(is_at(&m, only(&m, "speed"), p));
		drop(&m);
	}
}

/* A host without the module: named by all ports that lead to it. */
static void fault__absent(void **state)
{
	u32 i;

	/* of two hosts, both may have their port of another network there */
	for (i = 1; i < ARRAY_SIZE(shapes); i++) {
		struct survey_port *end[TOR_MAX_PORTS];
		const struct fault *f;
		struct made m;
		u32 host, n = 0, k;

		make(&m, i);
		host = host_rand(&seed) % m.s->nhosts;
		for (k = 0; k < m.s->hosts[host]->nports; k++)
			end[n++] = m.s->hosts[host]->ports[k].other;
		made_absent(m.s, host);
		find(&m);
		f = only(&m, "absent");
		for (k = 0; k < n; k++) {
			char name[90];

			snprintf(name, sizeof(name), "%s:%s", end[k]->owner->name,
				 end[k]->own.device);
			assert_non_null(strstr(f->text, name));
		}
		assert_non_null(strstr(f->text, "does not answer"));
		assert_true(m.f.no_file);
		assert_roles(&m);
		drop(&m);
	}
}

/* All of it at once. */
static void fault__several(void **state)
{
	u32 kinds[4] = { 0 }, i, k;
	static const char *const names[4] = { "crossed", "missing", "absent", "mtu" };

	for (k = 0; k < 4; k++) {
		struct survey_port *p, *q;
		struct made m;

		/* an 8x8 torus has room for four faults that are far from each other */
		make(&m, 13);
		made_absent(m.s, host_rand(&seed) % m.s->nhosts);
		any_two(m.s, &p, &q);
		made_cross(p, q);
		do
			p = made_any(m.s, &seed);
		while (p->other->other != p || p == q || p == q->other);
		made_cut(p);
		made_any(m.s, &seed)->own.mtu = 1500;
		find(&m);
		for (i = 0; i < m.f.n; i++) {
			u32 n;

			for (n = 0; n < 4; n++)
				kinds[n] += !strcmp(m.f.list[i].kind, names[n]);
		}
		drop(&m);
	}
	/* one of the crossed cables may be the one that was cut */
	for (i = 0; i < 4; i++)
		assert_in_range(kinds[i], 3, 5);
}

static void fault__names(void **state)
{
	/* those that the file of a fabric cannot have */
	static const char *const names[] = { "a]b", "a:b", "a/b", "a#b", "a?b", "a b", "" };
	struct made m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		make(&m, 10);
		strcpy(m.s->hosts[3]->name, m.s->hosts[4]->name);
		strcpy(m.s->hosts[9]->name, names[i]);
		find(&m);
		assert_int_equal(m.f.n, 2);
		assert_string_equal(m.f.list[0].text, "2 hosts are called \"h004\"");
		assert_string_equal(m.f.list[1].kind, "name");
		assert_true(m.f.no_file);
		drop(&m);
	}
}

/* apply finds a host's section whatever the case. */
static void fault__names_by_case(void **state)
{
	struct made m;

	make(&m, 10);
	strcpy(m.s->hosts[1]->name, "h009");
	strcpy(m.s->hosts[9]->name, "H009");
	find(&m);
	assert_string_equal(only(&m, "name")->text,
			    "2 hosts are called \"h009\", but for upper and lower case");
	assert_true(m.f.no_file);
	drop(&m);
}

/* What a file says of a device is read as that device. */
static void fault__device_in_a_file(void **state)
{
	static const char *const odd[] = {
		"#x", "a?b", "a b", "a\tb", "\\x1b", "\xc3\xa4", "a:b", "a/b", "a%d", "", ".", "..",
		"sixteencharacter", "thunderbolt0", "thunderbolt12",
	};
	static const char *const plain[] = { "eth0", "tb0", "x#", "enp1s0f0np0", "~" };
	static const uint8_t mac[] = { 0x02, 0, 0, 0, 0x0a, 0xff };
	char text[CONF_DEVICE_SIZE];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		conf_name_device(text, odd[i], mac);
		assert_string_equal(text, "mac:02:00:00:00:0a:ff");
	}
	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		conf_name_device(text, plain[i], mac);
		assert_string_equal(text, plain[i]);
	}
}

static void fault__one_way(void **state)
{
	struct survey_port *p;
	struct made m;

	make(&m, 10);
	p = made_any(m.s, &seed);
	p->peer = (struct survey_end){ 0 };
	find(&m);
	assert_true(is_at(&m, only(&m, "one-way"), p));
	drop(&m);
}

/* A cable that has no place, and a switch: notes. */
static void fault__notes(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	static const u32 side[] = { 4 };
	struct made m = { .s = s };
	u32 i;

	for (i = 0; i < 4; i++)
		made_host(s, (char []){ 'a' + i, 0 }, 4);
	for (i = 0; i < 4; i++)
		made_cable(&s->hosts[i]->ports[0], &s->hosts[(i + 1) % 4]->ports[1]);
	made_cable(&s->hosts[0]->ports[2], &s->hosts[2]->ports[2]);
	s->hosts[1]->ports[3].flags |= TORCOLL_SURVEY_CARRIER | TORCOLL_SURVEY_MANY;
	assert_int_equal(tor_torus_init(&m.t, 1, side, 1), 0);
	find(&m);
	assert_int_equal(m.f.problems, 0);
	assert_int_equal(m.f.n, 2);
	assert_string_equal(m.f.list[0].text,
			    "several hosts are heard at b:eth3: a switch, not used");
	assert_string_equal(m.f.list[1].text,
			    "the cable from a:eth2 to c:eth2 has no place in a ring of 4, and is not used");
	drop(&m);
}

/* Cables beside others have the roles of these, up to four in a direction. */
static void fault__none_of_several_cables(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	static const u32 side[] = { 5 };
	struct made m = { .s = s };
	u32 i, k, n;

	for (i = 0; i < 5; i++)
		made_host(s, (char []){ 'a' + i, 0 }, 8);
	/* two per direction, crossed; between a and b four */
	for (i = 0; i < 5; i++)
		for (k = 0; k < (i ? 2 : 4); k++)
			made_cable(&s->hosts[i]->ports[2 * k],
				   &s->hosts[(i + 1) % 5]->ports[2 * (k ^ 1) + 1]);
	assert_int_equal(tor_torus_init(&m.t, 1, side, 1), 0);
	find(&m);
	assert_int_equal(m.f.n, 0);
	assert_int_equal(m.r.nspares, 0);
	for (i = 0, n = 0; i < m.g->nports; i++) {
		if (m.r.role[i] == ROLE_NONE)
			continue;
		assert_int_equal(m.r.role[m.g->port[i].to], m.r.role[i] ^ 1);
		n++;
	}
	assert_int_equal(n, 2 * (4 * 2 + 4));
	drop(&m);
}

/* A fifth one in a direction is spare. */
static void fault__one_cable_too_many(void **state)
{
	struct survey *s = calloc(1, sizeof(*s));
	static const u32 side[] = { 3 };
	struct made m = { .s = s };
	u32 i, k;

	for (i = 0; i < 3; i++)
		made_host(s, (char []){ 'a' + i, 0 }, 10);
	for (i = 0; i < 3; i++)
		for (k = 0; k < (i ? 1 : 5); k++)
			made_cable(&s->hosts[i]->ports[2 * k], &s->hosts[(i + 1) % 3]->ports[2 * k + 1]);
	assert_int_equal(tor_torus_init(&m.t, 1, side, 1), 0);
	find(&m);
	assert_int_equal(m.f.n, 1);
	assert_string_equal(m.f.list[0].kind, "spare");
	drop(&m);
}

/* A host that has no device to spare cannot get its cable. */
static void fault__no_port(void **state)
{
	struct survey_port *p, *q;
	const struct fault *f;
	struct made m;
	u32 last;

	make(&m, 5);
	p = made_any(m.s, &seed);
	q = p->other;
	made_cut(p);
	/* the device is gone: the last one takes its place */
	last = p->owner->nports - 1;
	if (p != &p->owner->ports[last]) {
		*p = p->owner->ports[last];
		p->other->other = p;
	}
	p->owner->nports--;
	find(&m);
	f = only(&m, "missing");
	assert_true(is_at(&m, f, q));
	assert_non_null(strstr(f->advice, "(no port to spare: it needs another device)"));
	drop(&m);
}

static int seeded(void **state)
{
	seed = 4;
	return 0;
}

#define TEST(f)	cmocka_unit_test_setup(f, seeded)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fault__none),
		TEST(fault__missing),
		TEST(fault__crossed),
		TEST(fault__misplaced),
		TEST(fault__mtu),
		TEST(fault__mtu_of_a_cable),
		TEST(fault__speed),
		TEST(fault__speed_of_one_end),
		TEST(fault__absent),
		TEST(fault__several),
		TEST(fault__names),
		TEST(fault__names_by_case),
		TEST(fault__device_in_a_file),
		TEST(fault__one_way),
		TEST(fault__notes),
		TEST(fault__no_port),
		TEST(fault__none_of_several_cables),
		TEST(fault__one_cable_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
