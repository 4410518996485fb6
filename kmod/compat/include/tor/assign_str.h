/* SPDX-License-Identifier: GPL-2.0 */
/* __assign_str() lost its second argument in 6.10. */
#ifndef _TOR_COMPAT_ASSIGN_STR_H
#define _TOR_COMPAT_ASSIGN_STR_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define tor_assign_str(dst, src)	__assign_str(dst)
#else
#define tor_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif
