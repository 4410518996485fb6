/* SPDX-License-Identifier: GPL-2.0 */
/* What is wrong with the wiring of a fabric, in sentences. */
#ifndef _CTL_FAULT_H
#define _CTL_FAULT_H

#include "roles.h"

#define FAULT_PORTS	4

/**
 * struct fault - a sentence
 * @kind: one word
 * @note: nothing that has to be put right
 * @text: what is wrong, and where
 * @advice: what to do, or NULL
 * @port: ports of the graph that it is about; @nports of them
 */
struct fault {
	const char *kind;
	bool note;
	char *text;
	char *advice;
	uint32_t port[FAULT_PORTS];
	uint32_t nports;
};

/**
 * struct faults - what is wrong
 * @list: @n faults
 * @problems: of them, those that are not only notes
 * @mtu: that of most ports of the shape, 0: none was found
 * @no_file: a name or a host is not known that a fabric's file needs
 */
struct faults {
	struct fault *list;
	uint32_t n, problems;
	uint32_t mtu;
	bool no_file;
	bool no_memory;
};

/* Return 0 or -ENOMEM; @f is to be freed in either case. */
int faults_find(struct faults *f, const struct roles *r);
void faults_free(struct faults *f);

/* "4x4" */
const char *fault_sides(const struct tor_torus *t, char *s, size_t size);
/* "4x4 torus", "ring of 8" */
const char *fault_shape(const struct tor_torus *t, char *s, size_t size);

#define FAULT_SHAPE	80

#endif
