/* SPDX-License-Identifier: GPL-2.0 */
/* Several surveys with tests as one, so that chance matters less. */
#ifndef _CTL_GATHER_H
#define _CTL_GATHER_H

#include "survey.h"

/*
 * Add the tests of an earlier survey to those of @now: counts are summed; of
 * rates and round trips the better one counts, since load makes them worse.
 */
void gather_tests(struct survey *now, const struct survey *earlier);

#endif
