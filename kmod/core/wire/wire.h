/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Frames: their contents, and how they are written. linux/torcoll_wire.h
 * defines the layout; the structs here are its host-endian mirrors. Only
 * accept.h turns bytes of a received frame into one of them. Buffers need no
 * alignment.
 */
#ifndef _TOR_CORE_WIRE_H
#define _TOR_CORE_WIRE_H

#include <linux/torcoll_wire.h>

#include "core/env.h"

/*
 * Header and the most acks that a frame can have: what must be linear for
 * parsing.
 */
#define TOR_WIRE_HEADER_MAX \
	(sizeof(struct torcoll_hdr) + TORCOLL_WIRE_ACKS_MAX * sizeof(struct torcoll_ack))

/* Fewest useful payload bytes per frame; ports that take less are refused. */
#define TOR_WIRE_UNIT_MIN	256
#define TOR_WIRE_UNIT_ALIGN	64

/*
 * Bytes behind the MAC header that every port takes: header, two acks, and the
 * smallest payload.
 */
#define TOR_WIRE_FRAME_MIN \
	(sizeof(struct torcoll_hdr) + TORCOLL_WIRE_PIGGYBACK * sizeof(struct torcoll_ack) + \
	 TOR_WIRE_UNIT_MIN)

/*
 * What a rank does with a message: enough to tell the two ends of a pair apart.
 * Frames state the role of their source.
 */
enum tor_role { TOR_ROLE_NONE, TOR_ROLE_SEND, TOR_ROLE_RECV };

/*
 * Which part of an op a frame or an acknowledgement is about. On the wire,
 * messages have reserved channels, and the pair in the field of the round.
 *
 * @role: enum tor_role; TOR_ROLE_NONE: the op is a collective
 * @channel: of a collective
 * @round: of a collective
 * @pair: of a message: tor_team_pair()
 */
struct tor_where {
	u8 role;
	u8 channel;
	u16 round;
	u16 pair;
};

/* Return the values of the fields channel and round on the wire. */
static inline u8 tor_where_channel(const struct tor_where *where)
{
	if (likely(!where->role))
		return where->channel;
	return where->role == TOR_ROLE_SEND ? TORCOLL_CHANNEL_SEND : TORCOLL_CHANNEL_RECV;
}

static inline u16 tor_where_round(const struct tor_where *where)
{
	return where->role ? where->pair : where->round;
}

/*
 * struct torcoll_hdr. tor_wire_read() fills in header_crc, tor_wire_build()
 * ignores it.
 */
struct tor_hdr {
	u8 version;
	u8 type;
	u8 hop_limit;
	u8 acks;
	u32 fabric;
	u32 src;
	u32 dst;
	u32 src_epoch;
	u32 dst_epoch;
	u32 comm;
	u32 op;
	u32 digest;
	struct tor_where where;
	u8 flags;
	u64 offset;
	u32 length;
	u32 stamp;
	u32 payload_crc;
	u32 header_crc;
};

/* struct torcoll_ack */
struct tor_ack {
	u32 comm;
	u32 op;
	struct tor_where where;
	u8 state;
	u32 base;
	u64 mask;
	u32 stamp;
	u32 digest;
};

/* A node's record of itself: struct torcoll_link_record. */
struct tor_record {
	u32 node;
	u32 epoch;
	u32 seq;
	u16 dead;			/* bit per port whose link is dead */
	u16 frame;			/* bytes that all its links take, 0: unknown */
};

/*
 * struct torcoll_hello. @version is terminated. @record points to the records
 * in the payload that was parsed, @records of them, to be read by
 * tor_wire_record(); tor_wire_put_hello() ignores it. @more: it has a struct
 * torcoll_hello_more, which the last four members are; @name is terminated.
 */
struct tor_hello {
	char version[TORCOLL_HELLO_VERSION + 1];
	u8 dim;
	u8 dir;
	u8 ndim;
	u8 hears;
	u32 side[6];
	u32 frame_size;
	u32 fabric_frame;
	u32 heard_node;
	u32 heard_epoch;
	u32 interval_ms;
	u32 view;
	u32 records;
	const void *record;
	bool more;
	char name[TORCOLL_HOST_NAME + 1];
	u32 rates;
	u32 sent;
	u8 cables;
};

/* struct torcoll_call */
struct tor_wire_call {
	u64 count;
	u32 rank;
	u32 root;
	u8 collective;
	u8 type;
	u8 redop;
	u8 bits;
	u16 algorithm;
};

/*
 * struct torcoll_abort. @refusal: with ECONNABORTED, the positive errno with
 * which the cause's own node refused call[0], or 0; else @digest is in its
 * place.
 */
struct tor_abort {
	u32 error;
	u32 rank;
	u32 node;
	u32 op;
	u32 digest[2];
	struct tor_wire_call call[2];
	u32 refusal;
};

/* struct torcoll_comm_terms. @name is terminated. */
struct tor_comm_terms {
	u8 flags;
	u8 cause;
	u32 refusal;
	u32 rank;
	u32 node;
	u64 rate[TORCOLL_WIRE_RATES];
	char name[TORCOLL_HOST_NAME + 1];
};

/*
 * struct torcoll_comm_msg. @epoch points to the @epochs epochs in the payload
 * that was parsed, to be read by tor_wire_epoch(); tor_wire_put_comm() ignores
 * it. @has_terms: @terms are behind them.
 */
struct tor_comm_msg {
	u8 step;
	u32 error;
	u64 name;
	u64 proof;
	u64 members;
	u32 nonce;
	u32 rank;
	u32 ranks;
	u32 missing;
	u32 tag;
	u32 generation;
	u32 frame_bytes;
	u32 epochs;
	const void *epoch;
	bool has_terms;
	struct tor_comm_terms terms;
};

/**
 * tor_wire_unit - payload bytes per frame of a port
 * @frame_size: bytes behind the MAC header that the port takes
 *
 * Return: a multiple of TOR_WIRE_UNIT_ALIGN that leaves room for the header and
 * piggybacked acks, or 0 if that is less than TOR_WIRE_UNIT_MIN.
 */
u32 tor_wire_unit(u32 frame_size);

/* The largest rate that may be number @i of struct torcoll_comm_terms. */
static inline u64 tor_wire_rate_max(u32 i)
{
	return i < TORCOLL_WIRE_RATES - 2 ? TORCOLL_WIRE_PS_MAX : TORCOLL_WIRE_FS_MAX;
}

/* True if a comm may use frames of @unit payload bytes. */
static inline bool tor_wire_unit_ok(u32 unit)
{
	return unit >= TOR_WIRE_UNIT_MIN && unit % TOR_WIRE_UNIT_ALIGN == 0;
}

/*
 * Which of two equally long ways a frame takes from here, 0 or 1. A forwarder
 * does not know the unit, so it cannot compute a frame's index. It mixes the
 * offset instead (Appleby's MurmurHash3, half of its finalizer), so that about
 * half of the frames of any unit take each way, independently of the way by
 * which they left their sender.
 */
static inline u32 tor_wire_tie(u64 offset, u8 channel)
{
	u32 x = (u32)(offset / TOR_WIRE_UNIT_ALIGN);

	x *= 0x85ebca6bU;
	x ^= x >> 13;
	x *= 0xc2b2ae35U;
	return (x >> 31 ^ channel) & 1;
}

/* Bytes of header and acks. */
static inline u32 tor_wire_header_bytes(const struct tor_hdr *h)
{
	return sizeof(struct torcoll_hdr) + h->acks * sizeof(struct torcoll_ack);
}

/**
 * tor_wire_build - write header and acks
 * @buf: tor_wire_header_bytes() of room
 * @h: header; the header CRC is computed
 * @acks: @h->acks of them
 *
 * Context: any.
 */
void tor_wire_build(void *buf, const struct tor_hdr *h, const struct tor_ack *acks);

/* Return whether a frame, by its header at @p, was sent before. Context: any. */
static inline bool tor_wire_is_again(const void *p)
{
	return ((const u8 *)p)[offsetof(struct torcoll_hdr, flags)] & TORCOLL_FLAG_RETRANSMIT;
}

/**
 * tor_wire_hop - decrement the hop limit of a frame that is being forwarded
 * @p: a writable header that was parsed
 *
 * Context: any.
 * Return: false if the hop limit is used up: drop the frame. A limit of 1
 * reaches a neighbour.
 */
bool tor_wire_hop(void *p);

/* Set the length of a payload in the header at @p, of a frame without acks. Context: any. */
void tor_wire_relength(void *p, u32 length);

/* The CRC of @raw and of @bytes of acks after it, as in the header field. */
u32 tor_wire_header_crc(const struct torcoll_hdr *raw, const void *acks, u32 bytes);

/* The CRC of a payload, as in the header field. */
u32 tor_wire_crc(const void *p, u32 len);
u32 tor_wire_crc_bytes(const struct tor_bytes *bytes, u32 n);

/* Bytes of the longest hello. */
#define TOR_WIRE_HELLO_MAX \
	(sizeof(struct torcoll_hello) + sizeof(struct torcoll_hello_more) + \
	 TORCOLL_HELLO_RECORDS_MAX * sizeof(struct torcoll_link_record))

/*
 * Payloads of hellos, aborts and comm messages: tor_wire_put_*() write into a
 * buffer of tor_wire_*_bytes(). Context: any.
 */
static inline u32 tor_wire_hello_bytes(const struct tor_hello *hello)
{
	return sizeof(struct torcoll_hello) + hello->records * sizeof(struct torcoll_link_record) +
	       (hello->more ? sizeof(struct torcoll_hello_more) : 0);
}

static inline u32 tor_wire_abort_bytes(void)
{
	return sizeof(struct torcoll_abort);
}

/* Bytes of a comm message up to the end of its epochs. */
static inline u32 tor_wire_epochs_bytes(u32 epochs)
{
	return sizeof(struct torcoll_comm_msg) + epochs * sizeof(__be32);
}

static inline u32 tor_wire_comm_bytes(const struct tor_comm_msg *msg)
{
	return tor_wire_epochs_bytes(msg->epochs) +
	       (msg->has_terms ? sizeof(struct torcoll_comm_terms) : 0);
}

/* @record: @hello->records of them, at most TORCOLL_HELLO_RECORDS_MAX. */
void tor_wire_put_hello(void *buf, const struct tor_hello *hello, const struct tor_record *record);
void tor_wire_put_abort(void *buf, const struct tor_abort *abort);
/* @epoch: @msg->epochs of them. */
void tor_wire_put_comm(void *buf, const struct tor_comm_msg *msg, const u32 *epoch);

#endif
