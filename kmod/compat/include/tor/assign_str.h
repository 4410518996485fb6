/* SPDX-License-Identifier: GPL-2.0 */
/* __assign_str() lost its second argument. */
#ifndef _TOR_COMPAT_ASSIGN_STR_H
#define _TOR_COMPAT_ASSIGN_STR_H

#include <tor/has.h>

#ifdef TOR_HAS_ASSIGN_STR_ONE
#define tor_assign_str(dst, src)	__assign_str(dst)
#else
#define tor_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif
