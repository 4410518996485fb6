// SPDX-License-Identifier: GPL-2.0
/* Amounts with a unit. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"

#define AMOUNT_BITS	50	/* far above any amount of memory */

bool parse_amount(const char *s, uint64_t *n)
{
	static const char units[] = "KMG";
	const char *unit;
	int shift;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	*n = strtoull(s, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	shift = unit ? 10 * (unit - units + 1) : 0;
	if (end[!!unit] || *n >> (AMOUNT_BITS - shift))
		return false;
	*n <<= shift;
	return true;
}
