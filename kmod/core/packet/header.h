/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Headers of packets, which are frames of type TORCOLL_FRAME_PACKET.
 * tor_wire_packet() reads them.
 */
#ifndef _TOR_CORE_PACKET_HEADER_H
#define _TOR_CORE_PACKET_HEADER_H

#include "core/link/node.h"

/**
 * tor_packet_number - the number of the next group frame of this node
 * @node: this node
 *
 * Context: any; takes no lock.
 * Return: never 0.
 */
u32 tor_packet_number(struct tor_node *node);

/**
 * tor_packet_header - write the header of a packet of this node
 * @node: this node
 * @buf: sizeof(struct torcoll_hdr) of room, in front of the inner frame
 * @dst: node, or TORCOLL_NODE_ALL
 * @flow: hash of its flow
 * @number: from tor_packet_number() if @dst is TORCOLL_NODE_ALL, else 0
 * @hop_limit: hops that it may take
 * @length: of the inner frame, MAC header included
 *
 * Context: any.
 */
void tor_packet_header(const struct tor_node *node, void *buf, u32 dst, u32 flow, u32 number,
		       u8 hop_limit, u32 length);

/*
 * Adjust the header at @hdr, of a packet that was accepted, to another length:
 * it was cut into segments, or merged with others. Context: any.
 */
void tor_packet_relength(void *hdr, u32 length);

/*
 * Return whether the headers at @a and @b, of packets that were accepted, differ
 * in nothing but length and CRC: one of them can stand for both. Context: any.
 */
bool tor_packet_alike(const void *a, const void *b);

#endif
