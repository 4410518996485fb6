/* SPDX-License-Identifier: MIT */
/* Numbers in variables of the environment, for all that read them, also in C++. */
#ifndef TORCOLL_NUMBER_H
#define TORCOLL_NUMBER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Parse an unsigned number up to @max; *@end points behind it. */
static inline bool torcoll__parse_number(const char *s, uint64_t max, uint64_t *value,
					 const char **end)
{
	char *tail;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &tail, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	*end = tail;
	return !errno && *value <= max;
}

#endif
