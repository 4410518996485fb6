/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of the implementation of tor_env_copy(). */
#ifndef _TOR_COPY_H
#define _TOR_COPY_H

/*
 * Time the variants. Context: may sleep, before anything is copied. Return 0 or
 * -ENOMEM.
 */
int tor_copy_init(void);

#endif
