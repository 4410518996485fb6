/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cables of a survey with tests, each with a verdict (verdict.h), which
 * compares it with its siblings: the cables of the same dimension, or all if
 * there are few.
 */
#ifndef _CTL_JUDGED_H
#define _CTL_JUDGED_H

#include "survey.h"
#include "verdict.h"

#define JUDGED_NAME	128

/**
 * struct judged - a cable, or a port that should have one
 * @end: the ports at its ends; @end[1] is NULL if it is not known
 * @name: of the ends, for people: "c1:eth0"
 * @cable: what was measured; @cable.way[0] leads to @end[1]
 * @down: text for @cable.down
 * @verdict: on it
 */
struct judged {
	const struct survey_port *end[2];
	char name[2][JUDGED_NAME];
	struct verdict_cable cable;
	char down[VERDICT_TEXT];
	struct verdict verdict;
};

/**
 * struct judgement - the cables of a survey
 * @cable: @n of them, the worst first
 * @host_limit: if not 0, the hosts are slower than their devices: percent of
 *	the link speed that the median of all cables reaches
 */
struct judgement {
	struct judged *cable;
	size_t n;
	unsigned int host_limit;
};

/*
 * Judge all cables: of members of a fabric, and others that lead to a host.
 * Devices that are neither are left out. Return 0 or -ENOMEM.
 */
int judgement_make(struct judgement *j, const struct survey *s);
void judgement_free(struct judgement *j);

/* Return the number of cables with that verdict. */
size_t judgement_count(const struct judgement *j, enum verdict_word word);

/* Return whether any of them was tested. */
bool judgement_is_tested(const struct judgement *j);

#endif
