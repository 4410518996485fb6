/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Super frames: packets longer than a frame, which the kernel's GSO cuts at
 * hosts whose ports do not take them as they are.
 */
#ifndef _TOR_PACKET_SEGMENT_H
#define _TOR_PACKET_SEGMENT_H

#include <linux/types.h>

/*
 * Teach the kernel to cut and to merge packets of fabrics with @ethertype. Each
 * call that succeeds needs one of tor_segment_put(). Context: process. Return: 0
 * or -ENOMEM.
 */
int tor_segment_get(u16 ethertype);

/* Context: process, no locks; waits for readers of RCU. */
void tor_segment_put(u16 ethertype);

#endif
