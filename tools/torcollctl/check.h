/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is wrong with a fabric, by a survey with tests. A fault shows in many
 * places; the rules run in an order in which causes come before their
 * consequences, and each marks the ports whose state or quality it has
 * explained, about which later rules say nothing.
 */
#ifndef _CTL_CHECK_H
#define _CTL_CHECK_H

#include "map.h"

/* Something wrong, or with @hint something worth knowing. */
struct finding {
	const char *rule;	/* its name, for programs */
	bool hint;
	bool doubtful;		/* may be due to a busy host: needs another test */
	char *what, *remedy;
	const struct survey_port *port[2];	/* that it is about, or NULL */
	const struct survey_host *host;		/* likewise */
	uint32_t node;				/* MAP_NOBODY: none */
};

enum explained {
	EXPLAINED_STATE = 1,	/* why it is not up */
	EXPLAINED_QUALITY = 2,	/* why its cable is slow or loses frames */
	EXPLAINED = EXPLAINED_STATE | EXPLAINED_QUALITY,
};

/**
 * struct check - a fabric being checked
 * @now: survey with tests
 * @before: earlier one, for what its counters have risen since; may be NULL
 * @last: the one made just before the test, for losses; may be NULL
 * @m: the fabric in @now; by what the cables say as soon as that is known
 * @explained: of each port, in the order of the hosts
 * @first: number of each host's first port in @explained
 */
struct check {
	const struct survey *now, *before, *last;
	struct map *m;
	uint8_t *explained;
	uint32_t *first;
	struct finding *finding;
	uint32_t nfindings;
};

/**
 * check_new - check a fabric
 * @now: survey with tests, which must outlive the check
 * @before: earlier survey, or NULL
 * @last: the survey before the test in @now, or NULL: what a busy host lost in an
 *	earlier test is not this one's
 * @key: of the fabric
 *
 * Return: what was found; NULL if no host is in the fabric.
 */
struct check *check_new(const struct survey *now, const struct survey *before,
			const struct survey *last, uint64_t key);
void check_free(struct check *c);

/* Return the number of findings that another test must confirm. */
uint32_t check_doubts(const struct check *c);

/**
 * check_confirm - compare with an earlier check
 * @c: check of a later test
 * @earlier: check of a test before it
 *
 * Forgets of what is doubtful all that the earlier one has not found as well: the
 * same, or by another rule something doubtful about the same cable.
 * What is not doubtful and was found only by the earlier one, damaged frames, is
 * added.
 */
void check_confirm(struct check *c, const struct check *earlier);

/* Return the number of findings that are not hints. */
uint32_t check_faults(const struct check *c);

/* As an array, to be put. */
struct json_object *check_json(const struct check *c);
void check_print(const struct check *c);

/* --- for the rules --- */

/*
 * Add a finding. Both texts are the results of fmt_str(); @remedy says what to
 * do. It may be filled in further.
 */
struct finding *check_say(struct check *c, const char *rule, const char *what, const char *remedy);

/* The same about both ends of a cable, which need no other explanation then. */
void check_say_cable(struct check *c, const char *rule, struct survey_port *p,
		     struct survey_port *q, const char *what, const char *remedy);

/* "c9 (node 9)" */
const char *check_host(const struct check *c, const struct survey_host *host);
/* "c9:eth1 (node 9)" */
const char *check_port(const struct check *c, const struct survey_port *port);
/* The other end of the cable, or of the link if no survey has come through it. */
struct survey_port *check_other(const struct check *c, const struct survey_port *port);

bool check_is_explained(const struct check *c, const struct survey_port *port,
			enum explained what);
void check_explain(struct check *c, const struct survey_port *port, enum explained what);
/* The same for all ports of a host, and those at the other ends. */
void check_explain_host(struct check *c, const struct survey_host *host, enum explained what);

/* Return whether it is a port of the fabric that is checked. */
bool check_is_member(const struct check *c, const struct survey_port *port);
/* The same port in the earlier survey, or in the last one, or NULL. */
const struct survey_port *check_before(const struct check *c, const struct survey_port *port);
const struct survey_port *check_last(const struct check *c, const struct survey_port *port);

/*
 * Run the rules of a kind. Hosts: their shape, fabric, number and settings;
 * wiring: where cables lead; links: why they are not up; cables: what they are
 * good for; reach: nodes that do not reach all others, if nothing explains it.
 */
void check_hosts(struct check *c);
void check_settings(struct check *c);
void check_wiring(struct check *c);
void check_links(struct check *c);
void check_cables(struct check *c);
void check_reach(struct check *c);

#endif
