// SPDX-License-Identifier: GPL-2.0
/* One fabric of a survey: its hosts and links. */
#include <err.h>
#include <stdlib.h>

#include "core/link/cable.h"
#include "map.h"

static void *map_alloc(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		err(CTL_REFUSED, "no memory for a fabric of %zu", n);
	return p;
}

/* A shape that a host states. */
struct vote {
	struct shape shape;
	uint32_t host;
};

static int compare_shapes(const struct shape *a, const struct shape *b)
{
	uint32_t i;

	for (i = 0; i < MAX_DIMS; i++) {
		if (a->side[i] != b->side[i])
			return a->side[i] < b->side[i] ? -1 : 1;
		if (a->kind[i] != b->kind[i])
			return a->kind[i] < b->kind[i] ? -1 : 1;
		if (a->step[i] != b->step[i])
			return a->step[i] < b->step[i] ? -1 : 1;
	}
	return (a->cables > b->cables) - (a->cables < b->cables);
}

bool map_has_shape(const struct survey_node *node, const struct shape *shape)
{
	struct shape own;

	return shape_from_sides(node->side, node->cables, &own) && !compare_shapes(&own, shape);
}

static int compare_votes(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;
	int by_shape = compare_shapes(&x->shape, &y->shape);

	return by_shape ? by_shape : (x->host > y->host) - (x->host < y->host);
}

/* Return the vote for the shape that has most of them; of equals that of the first host. */
static const struct vote *count_votes(struct vote *vote, uint32_t n)
{
	const struct vote *best = NULL;
	uint32_t i, first = 0, most = 0;

	qsort(vote, n, sizeof(*vote), compare_votes);
	for (i = 1; i <= n; i++) {
		if (i < n && !compare_shapes(&vote[i].shape, &vote[first].shape))
			continue;
		if (i - first > most || (i - first == most && vote[first].host < best->host)) {
			most = i - first;
			best = &vote[first];
		}
		first = i;
	}
	return best;
}

/* Find the shape that most hosts of the fabric state. */
static bool find_shape(const struct survey *s, uint64_t key, struct shape *shape)
{
	struct vote *vote = map_alloc(s->nhosts, sizeof(*vote));
	const struct vote *best;
	uint32_t i, n = 0;

	for (i = 0; i < s->nhosts; i++) {
		const struct survey_node *node = survey_node(s->hosts[i], key);

		vote[n].host = i;
		n += node && shape_from_sides(node->side, node->cables, &vote[n].shape);
	}
	best = count_votes(vote, n);
	if (best)
		*shape = best->shape;
	free(vote);
	return best;
}

static uint32_t stated_index(const struct map *m, const struct survey_host *host)
{
	const struct survey_node *node = survey_node(host, m->key);

	if (!node || node->node >= m->shape.nodes || !map_has_shape(node, &m->shape))
		return MAP_NOBODY;
	return node->node;
}

static void map_hosts(struct map *m, const uint32_t *index)
{
	uint32_t i;

	for (i = 0; i < m->s->nhosts; i++) {
		struct survey_host *host = m->s->hosts[i];

		m->index[i] = index ? index[i] : stated_index(m, host);
		if (m->index[i] == MAP_NOBODY || m->host[m->index[i]])
			continue;
		m->host[m->index[i]] = host;
		m->answered++;
	}
}

static bool is_at(const struct map *m, const struct survey_port *port, uint32_t dim, uint32_t dir)
{
	return port->flags & TORCOLL_SURVEY_MEMBER && port->key == m->key && port->dim == dim &&
	       port->dir == dir;
}

struct survey_port *map_port(const struct map *m, const struct survey_host *host, uint32_t dim,
			     uint32_t dir)
{
	struct survey_port *first = NULL;
	unsigned int i;

	for (i = 0; host && i < host->nports; i++) {
		struct survey_port *port = &host->ports[i];

		if (!is_at(m, port, dim, dir))
			continue;
		if (port->state == TORCOLL_LINK_STATE_UP)
			return port;
		first = first ? first : port;
	}
	return first;
}

struct survey_port *map_partner(const struct map *m, uint32_t node, uint32_t dim, uint32_t dir)
{
	return map_port(m, m->host[shape_neighbour(&m->shape, node, dim, dir)], dim,
			shape_back(&m->shape, dim, dir));
}

/* Return whether the cable of a port leads to a port of @host at that place. */
static bool leads_to(const struct map *m, const struct survey_port *port,
		     const struct survey_host *host, uint32_t dim, uint32_t dir)
{
	return port->other && port->other->owner == host && is_at(m, port->other, dim, dir);
}

struct survey_port *map_partner_of(const struct map *m, uint32_t node,
				   const struct survey_port *port)
{
	const struct survey_host *host;
	struct survey_port *first = NULL;
	uint32_t dim = port->dim, back;
	unsigned int i;

	/* hosts report what they like */
	if (!shape_has_port(&m->shape, node, dim, port->dir))
		return NULL;
	back = shape_back(&m->shape, dim, port->dir);
	host = m->host[shape_neighbour(&m->shape, node, dim, port->dir)];
	if (leads_to(m, port, host, dim, back))
		return port->other;
	for (i = 0; host && i < host->nports; i++) {
		struct survey_port *there = &host->ports[i];

		if (!is_at(m, there, dim, back))
			continue;
		if (!leads_to(m, there, m->host[node], dim, port->dir))
			return there;
		first = first ? first : there;
	}
	return first;
}

/*
 * List the ports of a host at a place: those whose cable leads to @peer's port
 * @back, or the other ones. Return their number, at most TOR_LINK_CABLES.
 */
static uint32_t list_ports(const struct map *m, struct survey_host *host, struct shape_port at,
			   const struct survey_host *peer, uint32_t back, bool right,
			   struct survey_port *list[TOR_LINK_CABLES])
{
	unsigned int i;
	uint32_t n = 0;

	for (i = 0; host && i < host->nports && n < TOR_LINK_CABLES; i++) {
		struct survey_port *port = &host->ports[i];

		if (is_at(m, port, at.dim, at.dir) &&
		    leads_to(m, port, peer, at.dim, back) == right)
			list[n++] = port;
	}
	return n;
}

static void add_cable(struct map *m, uint32_t node, struct shape_port at, struct survey_port *a,
		      struct survey_port *b)
{
	m->link[m->nlinks++] = (struct map_link){
		at.dim, at.dir, { node, shape_neighbour(&m->shape, node, at.dim, at.dir) }, { a, b },
	};
}

/* Add the cables of a link of @node; one without ports if there is none. */
static void map_link_of(struct map *m, uint32_t node, struct shape_port at)
{
	struct shape_port back = { at.dim, shape_back(&m->shape, at.dim, at.dir) };
	struct survey_host *a = m->host[node];
	struct survey_host *b = m->host[shape_neighbour(&m->shape, node, at.dim, at.dir)];
	struct survey_port *port[TOR_LINK_CABLES], *there[TOR_LINK_CABLES];
	uint32_t right, n, k, i;

	right = list_ports(m, a, at, b, back.dir, true, port);
	for (i = 0; i < right; i++)
		add_cable(m, node, at, port[i], port[i]->other);
	n = list_ports(m, a, at, b, back.dir, false, port);
	k = list_ports(m, b, back, a, at.dir, false, there);
	for (i = 0; i < n || i < k || (!i && !right); i++)
		add_cable(m, node, at, i < n ? port[i] : NULL, i < k ? there[i] : NULL);
}

static void map_links(struct map *m)
{
	uint32_t ports = shape_ports(&m->shape), i, node;

	m->link = map_alloc((size_t)m->shape.nodes * ports * TOR_LINK_CABLES, sizeof(*m->link));
	for (i = 0; i < ports; i++) {
		struct shape_port port = shape_port(&m->shape, i);

		for (node = 0; node < m->shape.nodes; node++)
			if (shape_leads(&m->shape, node, port.dim, port.dir))
				map_link_of(m, node, port);
	}
}

struct map *map_new(const struct survey *s, uint64_t key, const uint32_t *index)
{
	struct shape shape;
	struct map *m;

	if (!find_shape(s, key, &shape))
		return NULL;
	m = map_alloc(1, sizeof(*m));
	m->s = s;
	m->key = key;
	m->shape = shape;
	survey_number(s);
	m->index = map_alloc(s->nhosts, sizeof(*m->index));
	m->host = map_alloc(shape.nodes, sizeof(*m->host));
	map_hosts(m, index);
	map_links(m);
	return m;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	free(m->index);
	free(m->host);
	free(m->link);
	free(m);
}

uint32_t map_index(const struct map *m, const struct survey_host *host)
{
	unsigned int at = survey_place(m->s, host);

	return at < m->s->nhosts ? m->index[at] : MAP_NOBODY;
}

bool map_link_up(const struct map_link *link)
{
	return link->port[0] && link->port[0]->state == TORCOLL_LINK_STATE_UP &&
	       link->port[1] && link->port[1]->state == TORCOLL_LINK_STATE_UP;
}

/* A fabric of a host, in the order of the hosts. */
struct stated_key {
	uint64_t key;
	uint32_t at;
	bool self;
};

/* The own one comes first among equals. */
static int compare_keys(const void *a, const void *b)
{
	const struct stated_key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->self != y->self)
		return x->self ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static size_t list_keys(const struct survey *s, struct stated_key **list)
{
	uint32_t i, j;
	size_t n = 0;

	for (i = 0; i < s->nhosts; i++)
		n += s->hosts[i]->nnodes;
	*list = map_alloc(n, sizeof(**list));
	for (n = i = 0; i < s->nhosts; i++)
		for (j = 0; j < s->hosts[i]->nnodes; j++, n++)
			(*list)[n] = (struct stated_key){ s->hosts[i]->nodes[j].key, n,
							  s->hosts[i] == s->self };
	qsort(*list, n, sizeof(**list), compare_keys);
	return n;
}

/*
 * Find the fabric that most hosts are in; of equals the own one, or else the
 * first. Return false if there is none.
 */
static bool find_key(const struct survey *s, uint64_t *key)
{
	const struct stated_key *best = NULL;
	struct stated_key *list;
	size_t n = list_keys(s, &list), most = 0, first = 0, i;

	for (i = 1; i <= n; i++) {
		if (i < n && list[i].key == list[first].key)
			continue;
		if (i - first > most ||
		    (i - first == most && !best->self &&
		     (list[first].self || list[first].at < best->at))) {
			most = i - first;
			best = &list[first];
		}
		first = i;
	}
	if (best)
		*key = best->key;
	free(list);
	return best;
}

int map_key(const struct survey *s, uint64_t *key)
{
	if (s->self && s->self->nnodes > 1)
		return usage_error("this host is in %u fabrics: name one by its key",
				   s->self->nnodes);
	if (find_key(s, key))
		return CTL_OK;
	return other_error("none of %u hosts is in a fabric: \"torcollctl discover\" says how to make one",
			   s->nhosts);
}
