/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of the implementation of tor_env_crc32c(). */
#ifndef _TOR_CRC_H
#define _TOR_CRC_H

/*
 * Time the variants. Context: may sleep, before anything is summed. Return 0 or
 * -ENOMEM.
 */
int tor_crc_init(void);

#endif
