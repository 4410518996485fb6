/* SPDX-License-Identifier: GPL-2.0 */
/* Which CRC32C tor_env_crc32c() is. */
#ifndef _TOR_CRC_H
#define _TOR_CRC_H

/* Times the variants. Context: may sleep, before anything is summed. Return: 0 or -ENOMEM. */
int tor_crc_init(void);

#endif
