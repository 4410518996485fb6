/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How a port is shared while packets, the frames of the network device, wait at
 * it: who is next, and how many bytes of packets the port's device may hold.
 *
 * Whatever a device holds delays all that comes after it. It therefore gets only
 * as much of the packets as keeps it busy. The rest waits outside, where frames
 * of collectives go before it. The limit follows the idea of the kernel's byte
 * queue limits: it grows by a packet when the device has sent everything while
 * packets waited, and shrinks by what the device still held whenever it could
 * have got more, for TOR_SHARE_WHILE.
 *
 * Frames of collectives go first, but each byte of them needs a byte of packets:
 * these have at least half of the port. The frames may be TOR_SHARE_LEAD bytes
 * ahead, and a frame more, so that those of a small collective never wait for a
 * packet.
 *
 * Packets wait in two queues, 0 and 1, which send equally many bytes as long as
 * there are packets in both.
 *
 * All functions take no lock and may run in any context; calls for a port are
 * serialised.
 */
#ifndef _TOR_CORE_PACKET_SHARE_H
#define _TOR_CORE_PACKET_SHARE_H

#include "core/env.h"

#define TOR_SHARE_LEAD		32768
#define TOR_SHARE_FIRST		16384		/* the limit at first */
#define TOR_SHARE_LEAST		512		/* and at least: less than any packet */
#define TOR_SHARE_MOST		(8U << 20)	/* and at most */
#define TOR_SHARE_WHILE		(250 * NSEC_PER_MSEC)
#define TOR_SHARE_AHEAD		65536		/* bytes that a queue may be ahead of the other */

/**
 * struct tor_share - how a port is shared
 * @limit: bytes that the device holds when it gets no more packets
 * @largest: packet of those that the device got since @since, bytes that it holds
 * @spare: bytes that the device held at least, since @since, when packets waited
 * @since: ns
 * @lead: bytes that frames of collectives may send before the next packet
 * @ahead: bytes that queue 0 has sent more than queue 1
 */
struct tor_share {
	u32 limit;
	u32 largest;
	u32 spare;
	u64 since;
	s32 lead;
	s32 ahead;
};

void tor_share_init(struct tor_share *share, u64 now);

/* Return whether a device that holds @held bytes of packets gets one more. */
static inline bool tor_share_has_room(const struct tor_share *share, u32 held)
{
	return held < share->limit;
}

/*
 * Packets wait, and the device, which has sent some of what it held, holds @held
 * bytes; less than TOR_SHARE_LEAST are as good as none. Adjusts the limit.
 */
void tor_share_sent(struct tor_share *share, u32 held, u64 now);

/* Return whether a frame of a collective goes before the packets that wait. */
static inline bool tor_share_frame_first(const struct tor_share *share)
{
	return share->lead > 0;
}

/* Such a frame, of @bytes, goes before them. */
static inline void tor_share_frame(struct tor_share *share, u32 bytes)
{
	share->lead -= bytes;
}

/* Return which queue is next; @waits: bit per queue in which packets wait, not 0. */
u32 tor_share_queue(struct tor_share *share, u32 waits);

/**
 * tor_share_packet - note that the device gets a packet
 * @share: of its port
 * @queue: that it comes from
 * @bytes: on the cable
 * @memory: bytes by which @held grows
 */
void tor_share_packet(struct tor_share *share, u32 queue, u32 bytes, u32 memory);

#endif
