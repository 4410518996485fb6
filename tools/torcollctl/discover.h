/* SPDX-License-Identifier: GPL-2.0 */
/* torcollctl discover: what its files share. */
#ifndef _CTL_DISCOVER_H
#define _CTL_DISCOVER_H

#include "fault.h"

/**
 * struct discovery - the result
 * @graph, @wiring, @roles, @faults: of a survey
 * @key: of the fabric that is proposed
 * @fits: nothing is wrong: the file can be used as it is
 */
struct discovery {
	struct graph *graph;
	struct wiring wiring;
	struct roles roles;
	struct faults faults;
	uint64_t key;
	bool fits;
};

/* "h1:eth0" */
const char *discovery_port(const struct discovery *d, uint32_t port);
/* "0+", "" if the port has no role */
const char *discovery_role(const struct discovery *d, uint32_t port);

/* Print the conclusion and what is wrong; and all hosts, and what to do next. */
void discovery_print(const struct discovery *d);
void discovery_print_all(const struct discovery *d);

/* To be put. */
struct json_object *discovery_json(const struct discovery *d);

/*
 * Write the fabric's file into @path, or KEY.conf there if it is a folder.
 * Return an exit code, after printing the reason.
 */
int discovery_write(const struct discovery *d, const char *path);

#endif
