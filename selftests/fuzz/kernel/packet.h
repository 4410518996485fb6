/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the network devices of nodes say to each other: TCP, which the kernel looks into to merge it. */
#ifndef _KFUZZ_PACKET_H
#define _KFUZZ_PACKET_H

#include "host_env.h"

#define PACKET_HEADERS	54

/*
 * Write a segment of a stream between two nodes of the fabric with @tag, from the MAC header on, with right checksums. @p has room
 * for PACKET_HEADERS and an even number of bytes of @payload.
 */
void packet_write(u8 *p, u32 tag, u32 src, u32 dst, u32 seq, u32 payload);

#endif
