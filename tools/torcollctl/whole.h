/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands that look at a whole fabric share: the words "[KEY] [from
 * FILE]", and the survey that they stand for.
 */
#ifndef _CTL_WHOLE_H
#define _CTL_WHOLE_H

#include "ctl.h"
#include "map.h"

struct whole {
	bool has_key;
	uint64_t key;
	const char *file;	/* NULL: hosts are asked */
	bool quiet;		/* it does not say how many have answered, nor what is left out */
	bool told;		/* what is left out */
	struct conn conn;	/* open unless there is a file */
};

/*
 * Take the next words if they are a key or a file. Return 0: taken, -1: neither,
 * CTL_USAGE after printing an error.
 */
int whole_word(struct args *a, struct whole *w);

/* After the words. Return CTL_OK, or CTL_USAGE after printing an error. */
int whole_open(struct whole *w);
void whole_close(struct whole *w);

/*
 * Take or read a survey into @s; without a key, find the one that is meant.
 * Return an exit code after printing the reason.
 */
int whole_take(struct whole *w, struct survey *s, bool test);

/* Print that no host is in the fabric of the key. Return CTL_USAGE. */
int whole_nobody(const struct whole *w);

int whole_show(struct args *a);
int whole_check(struct args *a);

#endif
