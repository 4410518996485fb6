/* SPDX-License-Identifier: GPL-2.0 */
/* The handle of a coverage of remote code was a u64, and is a struct. */
#ifndef _TOR_COMPAT_KCOV_H
#define _TOR_COMPAT_KCOV_H

#include <linux/kcov.h>
#include <linux/skbuff.h>

#define TOR_KCOV_HANDLE	typeof(skb_get_kcov_handle((struct sk_buff *)NULL))

#endif
