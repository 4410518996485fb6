/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Parsing and validation of received frames of a fabric: the only place that
 * reads their bytes. Frames of surveys: core/survey/frame.h.
 *
 * Received structs are struct torcoll_*, in wire byte order, and only accept.c
 * and the inlines below read them. Its results are struct tor_*. Each of their fields has a value
 * that docs/wire.md lists as accepted, so users need not check it again. Users
 * only check what needs context: that a node is in the fabric, that an op is
 * the running one, that a list is the own one.
 *
 * All functions are pure and total: for any bytes, they read nothing beyond the
 * given length and report what is wrong. They take no lock and may run in any
 * context.
 */
#ifndef _TOR_CORE_ACCEPT_H
#define _TOR_CORE_ACCEPT_H

#include "core/wire/wire.h"

/*
 * A header that arrived intact: of this wire version, with a correct CRC, a
 * known type, and its whole payload behind it. Forwarders need no more than
 * that. tor_wire_read() checks the meaning of its fields at the destination.
 */
struct tor_intact {
	struct torcoll_hdr raw;
};

static inline u8 tor_intact_type(const struct tor_intact *in)
{
	return in->raw.type;
}

static inline u32 tor_intact_fabric(const struct tor_intact *in)
{
	return be32_to_cpu(in->raw.fabric);
}

static inline u32 tor_intact_src(const struct tor_intact *in)
{
	return be32_to_cpu(in->raw.src);
}

static inline u32 tor_intact_dst(const struct tor_intact *in)
{
	return be32_to_cpu(in->raw.dst);
}

/* Which of two equally long ways it takes; see tor_wire_tie(). */
static inline u32 tor_intact_tie(const struct tor_intact *in)
{
	return tor_wire_tie(be64_to_cpu(in->raw.offset), in->raw.channel);
}

/* Bytes of the whole frame, without padding by Ethernet. */
static inline u32 tor_intact_bytes(const struct tor_intact *in)
{
	return sizeof(in->raw) + in->raw.acks * sizeof(struct torcoll_ack) +
	       be32_to_cpu(in->raw.length);
}

/* Bytes that tor_wire_check() needs to read of the frame whose header is at @p. */
static inline u32 tor_wire_wants(const void *p)
{
	u32 acks = ((const u8 *)p)[offsetof(struct torcoll_hdr, acks)];

	return sizeof(struct torcoll_hdr) +
	       min_t(u32, acks, TORCOLL_WIRE_ACKS_MAX) * sizeof(struct torcoll_ack);
}

/*
 * Return the destination in the header at @p, which was not checked: no more
 * than a hint whether that is worth while.
 */
static inline u32 tor_wire_hint_dst(const void *p)
{
	__be32 dst;

	memcpy(&dst, (const u8 *)p + offsetof(struct torcoll_hdr, dst), sizeof(dst));
	return be32_to_cpu(dst);
}

/* The same of its type. */
static inline u8 tor_wire_hint_type(const void *p)
{
	return ((const u8 *)p)[offsetof(struct torcoll_hdr, type)];
}

/**
 * tor_wire_check - check a frame's header
 * @p: the frame behind the MAC header
 * @len: bytes there; must hold header and acks (TOR_WIRE_HEADER_MAX is always
 *	enough)
 * @frame_len: bytes of the whole frame, at least @len; Ethernet may have padded
 *	it
 * @in: filled with a copy of the checked header; valid if 0 is returned
 * @why: filled with the reason otherwise
 *
 * Return: 0 or -EBADMSG.
 */
int tor_wire_check(const void *p, u32 len, u32 frame_len, struct tor_intact *in,
		   enum tor_counter *why);

/* The header at @p of a frame that tor_wire_check() has accepted before. */
static inline struct tor_intact tor_wire_checked(const void *p)
{
	struct tor_intact in;

	memcpy(&in.raw, p, sizeof(in.raw));
	return in;
}

/*
 * Read the header of a frame for this host. Return: 0, or -EBADMSG and @why for
 * a frame that no node ever sends.
 */
int tor_wire_read(const struct tor_intact *in, struct tor_hdr *h, enum tor_counter *why);

/**
 * struct tor_packet - the header of a packet, of the fields that packets use
 * @src: node that sent it; @src_epoch: its incarnation, not 0
 * @dst: node, or TORCOLL_NODE_ALL: a group frame
 * @flow: hash of its flow; see tor_routes_spread()
 * @number: of a group frame, see seen.h; 0: it is none
 * @length: of the inner frame, MAC header included; that is there
 */
struct tor_packet {
	u32 src;
	u32 src_epoch;
	u32 dst;
	u32 flow;
	u32 number;
	u32 length;
};

/*
 * Read the header of a packet, to be delivered or forwarded. Whether its nodes
 * are of the fabric is left to the caller. Return: 0, or -EBADMSG and @why for a
 * packet that no node ever sends.
 */
int tor_wire_packet(const struct tor_intact *in, struct tor_packet *packet,
		    enum tor_counter *why);

/* Check a header and read it into @h. */
int tor_wire_parse(const void *p, u32 len, u32 frame_len, struct tor_hdr *h,
		   enum tor_counter *why);

/* What names the transfer of a data frame that this host has built, as its header has it. */
struct tor_wire_note {
	u8 channel;
	__be16 round;
	__be32 dst;
	__be32 comm;
	__be32 op;
	__be64 offset;
};

/*
 * Note what the own frame with the header at @p is about, aligned. A sixth of the header:
 * every data frame carries it until its queue has taken the frame.
 */
static inline struct tor_wire_note tor_wire_note(const void *p)
{
	const struct torcoll_hdr *hdr = p;

	return (struct tor_wire_note){
		.channel = hdr->channel,
		.round = hdr->round,
		.dst = hdr->dst,
		.comm = hdr->comm,
		.op = hdr->op,
		.offset = hdr->offset,
	};
}

/* A header with the members that were noted; all others are 0. */
struct tor_hdr tor_wire_noted(const struct tor_wire_note *note);

/**
 * tor_wire_ack - read an ack of a frame that was parsed
 * @p: as given to tor_wire_check()
 * @i: number of the ack, below the header's acks
 * @out: filled in
 * @why: filled with the reason if the ack is invalid
 *
 * Return: false if it is invalid.
 */
bool tor_wire_ack(const void *p, u32 i, struct tor_ack *out, enum tor_counter *why);

/*
 * True if a data frame is one of those into which a transfer is cut by @unit
 * bytes. Its index then fits into 32 bits.
 */
static inline bool tor_wire_fits(const struct tor_hdr *h, u32 unit)
{
	return h->length <= unit && h->offset == (u64)(u32)tor_div64(h->offset, unit) * unit;
}

/*
 * Payloads of hellos, aborts and comm messages. Return: 0, or -EBADMSG if the
 * payload is too short or a value is invalid. Bytes after the known ones are
 * ignored: a later version may add them.
 */

/*
 * @hello->record points into @p. Version and name are printable text. Without a
 * struct torcoll_hello_more, its members are 0 and @hello->more is false.
 */
int tor_wire_get_hello(const void *p, u32 len, struct tor_hello *hello);
/*
 * Read record @i, below @hello->records, of a hello that was read in a fabric
 * of @nodes. Return: false if no node sends such a record.
 */
bool tor_wire_record(const struct tor_hello *hello, u32 i, u32 nodes, struct tor_record *record);

/*
 * The error is one that tor_wire_errno() accepts; any other becomes EPROTO.
 * Calls that this version cannot make are treated as unknown.
 */
int tor_wire_get_abort(const void *p, u32 len, struct tor_abort *abort);

/*
 * @msg->epoch points into @p. Without a struct torcoll_comm_terms its members
 * are 0 and @msg->has_terms is false; a name is printable. The error is one that tor_wire_errno() accepts;
 * any other becomes EPROTO.
 */
int tor_wire_get_comm(const void *p, u32 len, struct tor_comm_msg *msg);
/* Epoch @i, below @msg->epochs, of a message that was read. */
u32 tor_wire_epoch(const struct tor_comm_msg *msg, u32 i);

/**
 * tor_wire_errno - filter an error reported by a peer
 * @type: TORCOLL_FRAME_ABORT or TORCOLL_FRAME_COMM, the frame that reports it
 * @error: positive
 *
 * Errors about the peer's own calls, signals and memory, or private to its
 * kernel, must not reach local callers, who would misinterpret them: EINTR, for
 * example, would make them repeat the call without end.
 *
 * Return: @error, or 0 if a peer may not report it.
 */
u32 tor_wire_errno(u8 type, u32 error);

/*
 * Return @error if it is one with which a node refuses a call of its own rank,
 * and of which it tells others; else 0.
 */
u32 tor_wire_refusal(u32 error);

#endif
