/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One fabric of a survey: which host is which node, and the devices at both
 * ends of each link of its shape.
 */
#ifndef _CTL_MAP_H
#define _CTL_MAP_H

#include "ctl.h"
#include "survey.h"

#define MAP_NOBODY	(~0U)

/*
 * From node[0] to node[1], along @dim; in rings and lines from plus to minus. A
 * link of several cables is here once for each: those with the right ends, then
 * the other devices in the order of both hosts.
 */
struct map_link {
	uint32_t dim;
	uint32_t dir;			/* of node[0]'s port */
	uint32_t node[2];
	struct survey_port *port[2];	/* that are bound there; NULL: not reported */
};

/**
 * struct map - a fabric
 * @s: the survey
 * @key: of the fabric
 * @shape: that most of its hosts state
 * @index: node that each host of @s is, or MAP_NOBODY
 * @host: host that each node is; of several with one number the first; NULL:
 *	nobody has reported it
 * @answered: nodes with a host
 * @link: by dimension and direction, then by node[0]
 */
struct map {
	const struct survey *s;
	uint64_t key;
	struct shape shape;
	uint32_t *index;
	struct survey_host **host;
	uint32_t answered;
	struct map_link *link;
	uint32_t nlinks;
};

/**
 * map_new - find the hosts and links of a fabric
 * @s: survey, which must outlive the map
 * @key: of the fabric
 * @index: node that each host is; NULL: what they state
 *
 * Hosts that state another shape than most are not part of it.
 *
 * Return: NULL if no host is a node of that fabric.
 */
struct map *map_new(const struct survey *s, uint64_t key, const uint32_t *index);
void map_free(struct map *m);

/* Return whether a host states that shape. */
bool map_has_shape(const struct survey_node *node, const struct shape *shape);

/*
 * The port that a host has bound to a place of the fabric, or NULL; of several
 * one that is up, if there is one.
 */
struct survey_port *map_port(const struct map *m, const struct survey_host *host, uint32_t dim,
			     uint32_t dir);

/* The same at the other end of the link that begins at that place. */
struct survey_port *map_partner(const struct map *m, uint32_t node, uint32_t dim, uint32_t dir);

/*
 * Return the port to which the cable from a port of @node should lead, or NULL:
 * if it leads to one of several there, that one, else one to which no right
 * cable leads.
 */
struct survey_port *map_partner_of(const struct map *m, uint32_t node,
				   const struct survey_port *port);

/* Node of a host, or MAP_NOBODY. */
uint32_t map_index(const struct map *m, const struct survey_host *host);

/* Return whether the link is up at both ends. */
bool map_link_up(const struct map_link *link);

/**
 * map_key - find the fabric that is meant if no key is given
 * @s: survey
 * @key: out
 *
 * That is the one with most hosts; of several such that of this host.
 *
 * Return: CTL_OK, or CTL_USAGE after printing that this host is in several
 * fabrics, or that there is none.
 */
int map_key(const struct survey *s, uint64_t *key);

#endif
