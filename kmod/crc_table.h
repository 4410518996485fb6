/* SPDX-License-Identifier: GPL-2.0 */
/* CRC32C by tables, for processors whose instruction is slow or missing. */
#ifndef _TOR_CRC_TABLE_H
#define _TOR_CRC_TABLE_H

#include <linux/types.h>

void tor_crc_table_init(void);

/**
 * tor_crc_table() - continue a CRC32C
 * @crc: the sum so far; complement it at begin and end
 * @p: what is added to it
 * @n: bytes of @p
 *
 * Context: Any, after tor_crc_table_init().
 * Return: The sum.
 */
u32 tor_crc_table(u32 crc, const void *p, size_t n);

#endif
