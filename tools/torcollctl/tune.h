/* SPDX-License-Identifier: GPL-2.0 */
/* Internals that tune and explain share: fabrics, and their rates. */
#ifndef _CTL_TUNE_H
#define _CTL_TUNE_H

#include "ctl.h"

#include "core/choose/choose.h"
#include "fit.h"

/* A rate: its name in output and files, its place, its netlink attribute. */
struct rate {
	const char *name;		/* round-ps */
	size_t offset;			/* in struct tor_rates */
	uint16_t attr;
};

extern const struct rate rates_table[RATES];

static inline u64 *rate_at(struct tor_rates *rates, size_t i)
{
	return (u64 *)((char *)rates + rates_table[i].offset);
}

/* A fabric: its key and shape. */
struct place {
	uint64_t key;
	struct tor_torus torus;
	uint32_t node;
};

/*
 * Find the fabric of that key; without one (@word NULL) the only one. Return an
 * exit code.
 */
int place_find(struct conn *c, const char *word, struct place *place);

/* Return exit codes. */
int rates_get(struct conn *c, uint64_t key, struct tor_rates *rates);
int rates_set(struct conn *c, uint64_t key, const struct tor_rates *rates);
/* The same without a message. Return 0 or a negative errno with conn->text. */
int rates_send(struct conn *c, uint64_t key, const struct tor_rates *rates);
void rates_print(FILE *out, const struct tor_rates *rates);

/* Measure, fit, set; on all nodes at once. Return an exit code. */
int tune_measure(struct conn *c, const struct place *place);

int tune_main(struct args *a);
int explain_main(struct args *a);

#endif
