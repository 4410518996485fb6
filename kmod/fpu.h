/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of the kernels that reduce floats. */
#ifndef _TOR_FPU_H
#define _TOR_FPU_H

/*
 * Time the variants. Context: may sleep, before anything is reduced. Return 0
 * or -ENOMEM.
 */
int tor_fpu_init(void);

#endif
