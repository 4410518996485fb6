// SPDX-License-Identifier: GPL-2.0
/* Surveys: the model, and how reports get into it. See survey.h. */
#include "survey.h"

#include <endian.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/survey/survey.h"

/**
 * struct entry - a host of a survey
 * @round: the last one that it reported
 * @parts: of the report of that round
 * @seen: bit per part that came
 */
struct entry {
	struct survey_host host;
	uint32_t round;
	uint16_t parts;
	uint64_t seen;
};

static_assert(TOR_SURVEY_PARTS <= 64);

/* Bytes of a frame behind the record of the host. */
#define BEHIND_HOST	(TOR_SURVEY_FRAME_MAX - sizeof(struct torcoll_survey) - \
			 sizeof(struct torcoll_survey_record) - sizeof(struct torcoll_survey_host))

static_assert(SURVEY_PORTS_MAX == TOR_SURVEY_PARTS * (BEHIND_HOST /
	      (sizeof(struct torcoll_survey_record) + sizeof(struct torcoll_survey_port))));
static_assert(SURVEY_NODES_MAX == TOR_SURVEY_PARTS * (BEHIND_HOST /
	      (sizeof(struct torcoll_survey_record) + sizeof(struct torcoll_survey_node))));
static_assert(SURVEY_HOSTS_MAX == 8 * TOR_SURVEY_REPORTS);

static void *survey_grow(void *array, size_t n, size_t size)
{
	array = reallocarray(array, n + 1, size);
	if (!array)
		err(2, "no memory for a survey");
	memset((char *)array + n * size, 0, size);
	return array;
}

struct survey *survey_new(void)
{
	return survey_grow(NULL, 0, sizeof(struct survey));
}

void survey_free(struct survey *s)
{
	unsigned int i;

	for (i = 0; s && i < s->nhosts; i++) {
		free(s->hosts[i]->nodes);
		free(s->hosts[i]->ports);
		free(s->hosts[i]);
	}
	if (s) {
		free(s->hosts);
		free(s->slot);
	}
	free(s);
}

/* The slot of a host, or the one where it belongs: one is free at any time. */
static struct survey_host **find_slot(const struct survey *s, uint64_t id)
{
	unsigned int i = (id * 0x9e3779b97f4a7c15) >> 32 & (s->nslots - 1);

	while (s->slot[i] && s->slot[i]->id != id)
		i = (i + 1) & (s->nslots - 1);
	return &s->slot[i];
}

struct survey_host *survey_find(const struct survey *s, uint64_t id)
{
	return s->nslots ? *find_slot(s, id) : NULL;
}

/* Make room for another host, at half of the slots at most. */
static void grow_slots(struct survey *s)
{
	unsigned int i;

	if (2 * s->nhosts < s->nslots)
		return;
	free(s->slot);
	s->nslots = s->nslots ? s->nslots : 16;
	while (2 * s->nhosts >= s->nslots)
		s->nslots *= 2;
	s->slot = calloc(s->nslots, sizeof(struct survey_host *));
	if (!s->slot)
		err(2, "no memory for a survey");
	for (i = 0; i < s->nhosts; i++)
		*find_slot(s, s->hosts[i]->id) = s->hosts[i];
}

struct survey_host *survey_add_host(struct survey *s, uint64_t id)
{
	struct survey_host *host = survey_find(s, id);
	struct entry *entry;

	if (host)
		return host;
	if (s->nhosts == SURVEY_HOSTS_MAX) {
		s->overfull = true;
		return NULL;
	}
	entry = survey_grow(NULL, 0, sizeof(*entry));
	entry->host.id = id;
	s->hosts = survey_grow(s->hosts, s->nhosts, sizeof(struct survey_host *));
	grow_slots(s);
	*find_slot(s, id) = &entry->host;
	s->hosts[s->nhosts++] = &entry->host;
	return &entry->host;
}

struct survey_port *survey_device(const struct survey_host *host, const char *device)
{
	unsigned int i;

	for (i = 0; i < host->nports; i++)
		if (!strcmp(host->ports[i].own.device, device))
			return &host->ports[i];
	return NULL;
}

struct survey_port *survey_add_port(struct survey_host *host, const char *device)
{
	struct survey_port *port = survey_device(host, device);

	if (port)
		return port;
	if (host->nports == SURVEY_PORTS_MAX) {
		host->overfull = true;
		return NULL;
	}
	host->ports = survey_grow(host->ports, host->nports, sizeof(*port));
	port = &host->ports[host->nports++];
	port->owner = host;
	port->own.host = host->id;
	port->heard = UINT32_MAX;
	snprintf(port->own.device, sizeof(port->own.device), "%s", device);
	return port;
}

bool survey_is_tested(const struct survey_port *port)
{
	return port->flags & TORCOLL_SURVEY_TESTED && port->tested_ms < SURVEY_TEST_MS;
}

const struct survey_node *survey_node(const struct survey_host *host, uint64_t key)
{
	unsigned int i;

	for (i = 0; i < host->nnodes; i++)
		if (host->nodes[i].key == key)
			return &host->nodes[i];
	return NULL;
}

struct survey_node *survey_add_node(struct survey_host *host, uint64_t key)
{
	struct survey_node *node = (struct survey_node *)survey_node(host, key);

	if (node)
		return node;
	if (host->nnodes == SURVEY_NODES_MAX) {
		host->overfull = true;
		return NULL;
	}
	host->nodes = survey_grow(host->nodes, host->nnodes, sizeof(*node));
	node = &host->nodes[host->nnodes++];
	node->key = key;
	return node;
}

/* --- reports --- */

/*
 * Copy zero-padded text of @n bytes; @to has room for one more. What cannot be
 * printed or is not ASCII becomes "?", and so does a backslash, which escapes
 * such text elsewhere.
 */
static void get_text(char *to, const void *from, size_t n)
{
	size_t i;

	memset(to, 0, n + 1);
	memcpy(to, from, n);
	for (i = 0; i < n && to[i]; i++)
		if (to[i] < ' ' || to[i] > '~' || to[i] == '\\')
			to[i] = '?';
}

static void get_end(struct survey_end *to, const struct torcoll_survey_end *from)
{
	to->host = be64toh(from->host);
	memcpy(to->mac, from->mac, sizeof(to->mac));
	get_text(to->device, from->device, sizeof(from->device));
	to->mtu = be32toh(from->mtu);
	to->fabric = be32toh(from->fabric);
}

static void get_test(struct survey_port *port, const struct torcoll_survey_port *from)
{
	port->pings = be32toh(from->pings);
	port->pongs = be32toh(from->pongs);
	port->pinged = be32toh(from->pinged);
	port->rtt_min_ns = be32toh(from->rtt_min_ns);
	port->rtt_median_ns = be32toh(from->rtt_median_ns);
	port->rate = be32toh(from->rate);
	port->train = be32toh(from->train);
	port->trains = be32toh(from->trains);
	port->bad = be32toh(from->bad);
	port->tested_ms = be32toh(from->tested_ms);
}

static void get_port(struct survey_host *host, const void *body)
{
	struct torcoll_survey_port from;
	struct survey_port *port;
	struct survey_end own;

	memcpy(&from, body, sizeof(from));
	get_end(&own, &from.own);
	port = survey_add_port(host, own.device);
	if (!port)
		return;
	port->own = own;
	port->own.host = host->id;
	get_end(&port->peer, &from.peer);
	port->flags = be16toh(from.flags);
	port->state = from.state;
	port->dim = from.dim;
	port->dir = from.dir;
	port->key = be64toh(from.key);
	port->speed = be32toh(from.speed);
	port->expected = be32toh(from.expected);
	port->heard = be32toh(from.heard);
	port->heard_tag = be32toh(from.heard_tag);
	port->since_ms = be32toh(from.since_ms);
	port->downs = be32toh(from.downs);
	port->rx_frames = be64toh(from.rx_frames);
	port->tx_frames = be64toh(from.tx_frames);
	port->lost = be64toh(from.lost);
	port->damaged = be64toh(from.damaged);
	port->resent = be64toh(from.resent);
	get_test(port, &from);
}

static void get_node(struct survey_host *host, const void *body)
{
	struct torcoll_survey_node from;
	struct survey_node *node;
	uint32_t i;

	memcpy(&from, body, sizeof(from));
	node = survey_add_node(host, be64toh(from.key));
	if (!node)
		return;
	node->tag = be32toh(from.tag);
	node->node = be32toh(from.node);
	node->epoch = be32toh(from.epoch);
	for (i = 0; i < 6; i++)
		node->side[i] = be32toh(from.side[i]);
	for (i = 0; i < 6 && node->side[i]; i++)
		;
	node->ndim = i;
	node->cables = be32toh(from.cables);
	node->hello_ms = be32toh(from.hello_ms);
	node->rates = be32toh(from.rates);
	node->comms = be32toh(from.comms);
	node->ops = be32toh(from.ops);
	node->reached = be32toh(from.reached);
	node->dead_links = be32toh(from.dead_links);
	node->view = be32toh(from.view);
	node->ethertype = be16toh(from.ethertype);
	node->checksum = from.checksum;
	node->byte_order = from.byte_order;
	node->retransmits = be64toh(from.retransmits);
}

static void get_rest(struct survey_host *host, const void *body)
{
	struct torcoll_survey_rest from;

	memcpy(&from, body, sizeof(from));
	host->rest = (uint64_t)be32toh(from.nodes) + be32toh(from.ports);
}

/* Note which part of its report this is. Return false if it is an old one. */
static bool note_part(struct entry *entry, const struct torcoll_survey_host *from)
{
	uint32_t round = be32toh(from->round);

	if (entry->parts && (int32_t)(round - entry->round) < 0)
		return false;
	if (round != entry->round || !entry->parts) {
		entry->seen = 0;
		entry->host.rest = 0;
	}
	entry->round = round;
	entry->parts = be16toh(from->parts);
	entry->seen |= 1ULL << be16toh(from->part);
	return true;
}

struct survey_host *survey_add_report(struct survey *s, const void *records, size_t len)
{
	struct torcoll_survey_host from;
	struct tor_survey_record r;
	struct survey_host *host;
	uint32_t bytes;

	if (len > TOR_SURVEY_FRAME_MAX || !tor_survey_next(records, len, &r) ||
	    r.length < sizeof(from))
		return NULL;
	memcpy(&from, r.body, sizeof(from));
	if (!tor_survey_is_report(records, len, be64toh(from.host)))
		return NULL;
	host = survey_add_host(s, be64toh(from.host));
	if (!host || !note_part((struct entry *)host, &from))
		return host;
	get_text(host->name, from.name, sizeof(from.name));
	get_text(host->version, from.version, sizeof(from.version));
	while ((bytes = tor_survey_next(records, len, &r))) {
		if (r.kind == TORCOLL_SURVEY_NODE)
			get_node(host, r.body);
		else if (r.kind == TORCOLL_SURVEY_PORT)
			get_port(host, r.body);
		else if (r.kind == TORCOLL_SURVEY_REST)
			get_rest(host, r.body);
		records = (const char *)records + bytes;
		len -= bytes;
	}
	return host;
}

#define SAY_HOSTS	4	/* that are named */

void survey_say_rest(const struct survey *s)
{
	unsigned int i, n = 0;

	if (s->overfull)
		fprintf(stderr, "more than %u hosts have answered: the others are left out\n",
			SURVEY_HOSTS_MAX);
	for (i = 0; i < s->nhosts; i++) {
		const struct survey_host *host = s->hosts[i];

		if ((!host->rest && !host->overfull) || n++ >= SAY_HOSTS)
			continue;
		if (host->overfull)
			fprintf(stderr, "%s: more than %u devices or %u fabrics: the others are left out\n",
				host->name, SURVEY_PORTS_MAX, SURVEY_NODES_MAX);
		else
			fprintf(stderr, "%s: %llu devices or fabrics more than its report has room for: ports of fabrics come first\n",
				host->name, (unsigned long long)host->rest);
	}
	if (n > SAY_HOSTS)
		fprintf(stderr, "%u more hosts have devices or fabrics that are left out\n", n - SAY_HOSTS);
}

unsigned int survey_complete(const struct survey *s, uint32_t round)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nhosts; i++) {
		const struct entry *entry = (const struct entry *)s->hosts[i];
		uint64_t all = ~0ULL >> (64 - entry->parts % 64) % 64;

		if (entry->parts && entry->round == round && (entry->seen & all) == all)
			n++;
	}
	return n;
}

/* --- cables --- */

static int compare_hosts(const void *a, const void *b)
{
	const struct survey_host *x = *(struct survey_host *const *)a;
	const struct survey_host *y = *(struct survey_host *const *)b;
	int by_name = strcmp(x->name, y->name);

	return by_name ? by_name : (x->id > y->id) - (x->id < y->id);
}

static int compare_ports(const void *a, const void *b)
{
	const struct survey_port *x = a, *y = b;

	return strcmp(x->own.device, y->own.device);
}

static bool is_cable(const struct survey_port *port)
{
	return port->peer.host && !(port->flags & TORCOLL_SURVEY_MANY);
}

static void link_port(const struct survey *s, struct survey_port *port)
{
	const struct survey_host *host = is_cable(port) ? survey_find(s, port->peer.host) : NULL;
	struct survey_port *other = host ? survey_device(host, port->peer.device) : NULL;

	if (!other || (other->flags & TORCOLL_SURVEY_MANY))
		return;
	port->other = other;
	/* it hears nothing, which is a fault of the cable */
	if (!other->peer.host)
		other->other = port;
}

void survey_link(struct survey *s)
{
	unsigned int i, k;

	if (s->nhosts)
		qsort(s->hosts, s->nhosts, sizeof(struct survey_host *), compare_hosts);
	for (i = 0; i < s->nhosts; i++) {
		struct survey_host *host = s->hosts[i];

		if (host->nports)
			qsort(host->ports, host->nports, sizeof(*host->ports), compare_ports);
		for (k = 0; k < host->nports; k++)
			host->ports[k].other = NULL;
	}
	for (i = 0; i < s->nhosts; i++)
		for (k = 0; k < s->hosts[i]->nports; k++)
			link_port(s, &s->hosts[i]->ports[k]);
}
