/* SPDX-License-Identifier: GPL-2.0 */
/* Surveys of tori that exist in memory only, and what may be wrong with their cables. */
#ifndef _MADE_SURVEY_H
#define _MADE_SURVEY_H

#include "core/torus.h"
#include "../../tools/torcollctl/survey.h"

/**
 * made_torus - what a survey finds in a torus without faults
 * @t: the torus
 * @seed: of the order of hosts, and of the devices of each; moved on
 *
 * Hosts are h000, h001 and so on, devices eth0, eth1 and so on.
 */
struct survey *made_torus(const struct tor_torus *t, u64 *seed);
void made_free(struct survey *s);

/* Add a host with so many ports, all dark; pointers to hosts remain valid. */
struct survey_host *made_host(struct survey *s, const char *name, unsigned int ports);

/* Join two ports by a cable, which has a carrier. */
void made_cable(struct survey_port *a, struct survey_port *b);

/* Take a cable out. */
void made_cut(struct survey_port *p);

/* Cross two cables: the other ends of both are exchanged. */
void made_cross(struct survey_port *p, struct survey_port *q);

/* A host without the module: its cables have a carrier, but nobody is heard there. */
void made_absent(struct survey *s, unsigned int host);

/* A random port that leads to another host. */
struct survey_port *made_any(const struct survey *s, u64 *seed);

#endif
