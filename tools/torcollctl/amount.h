/* SPDX-License-Identifier: GPL-2.0 */
/* Amounts with a unit. */
#ifndef _CTL_AMOUNT_H
#define _CTL_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Parse an amount such as 512, 16K, 2M, 1G. Return whether it is valid. */
bool parse_amount(const char *s, uint64_t *n);

#endif
