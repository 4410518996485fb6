/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What is accepted of what comes by a cable: the one place that looks into it.
 *
 * What was read from a frame is a struct torcoll_*, in the wire's order of bytes, and nobody but accept.c looks into one. What
 * comes out here is a struct tor_*, each of whose fields has a value that is listed as accepted in docs/wire.md, and
 * that whoever uses it need not doubt. Left to them is only what takes knowledge of their own: is this node one of the fabric's, the
 * op one that runs, the list the same as ours?
 *
 * All functions are pure, and total: whatever bytes come in, they read nothing beyond the length given and say what is wrong.
 */
#ifndef _TOR_CORE_ACCEPT_H
#define _TOR_CORE_ACCEPT_H

#include "core/wire/wire.h"

/*
 * A header that arrived intact: of our version, with the right CRC, a known type, and all of its payload behind it. That is
 * all that whoever forwards it needs; what its fields mean to whom the frame is for, tor_wire_read() looks at.
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

/* Which of two equally long ways it takes, see tor_wire_tie(). */
static inline u32 tor_intact_tie(const struct tor_intact *in)
{
	return tor_wire_tie(be64_to_cpu(in->raw.offset), in->raw.channel);
}

/* Bytes of the whole frame; Ethernet may have padded it. */
static inline u32 tor_intact_bytes(const struct tor_intact *in)
{
	return sizeof(in->raw) + in->raw.acks * sizeof(struct torcoll_ack) +
	       be32_to_cpu(in->raw.length);
}

/* Bytes at @p that tor_wire_check() wants to see, where a header is. */
static inline u32 tor_wire_wants(const void *p)
{
	u32 acks = ((const u8 *)p)[offsetof(struct torcoll_hdr, acks)];

	return sizeof(struct torcoll_hdr) +
	       min_t(u32, acks, TORCOLL_WIRE_ACKS_MAX) * sizeof(struct torcoll_ack);
}

/**
 * tor_wire_check - check a frame's header
 * @p: the frame behind the MAC header
 * @len: bytes there; must hold header and acks (TOR_WIRE_HEADER_MAX is always enough)
 * @frame_len: bytes of the whole frame, at least @len; Ethernet may have padded it
 * @in: to fill with the header, as it was when it was checked; valid if 0 is returned
 * @why: to fill with the reason if not
 *
 * Return: 0 or -EBADMSG.
 */
int tor_wire_check(const void *p, u32 len, u32 frame_len, struct tor_intact *in,
		   enum tor_counter *why);

/* Read the header of a frame for this host. Return: 0, or -EBADMSG and @why: no such frame is ever sent. */
int tor_wire_read(const struct tor_intact *in, struct tor_hdr *h, enum tor_counter *why);

/* Both: check, and read into @h. */
int tor_wire_parse(const void *p, u32 len, u32 frame_len, struct tor_hdr *h,
		   enum tor_counter *why);

/**
 * tor_wire_ack - read an ack of a frame that was parsed
 * @p: as given to tor_wire_check()
 * @i: which, below the header's acks
 * @out: to fill
 * @why: to fill with the reason if it is none
 */
bool tor_wire_ack(const void *p, u32 i, struct tor_ack *out, enum tor_counter *why);

/* Is a data frame one of those that a transfer is cut into, by @unit bytes? Its index has 32 bits then. */
bool tor_wire_fits(const struct tor_hdr *h, u32 unit);

/*
 * Payloads of hellos, aborts and comm messages: 0, or -EBADMSG if the payload is shorter than it should be or a value makes no
 * sense. Bytes behind what is known are ignored: a later version's.
 */

/* @hello->record points into @p. The version's text is printable. */
int tor_wire_get_hello(const void *p, u32 len, struct tor_hello *hello);
/*
 * Record @i, below @hello->records, of a hello that was read in a fabric of @nodes. Return: false if no node says such a thing of
 * itself.
 */
bool tor_wire_record(const struct tor_hello *hello, u32 i, u32 nodes, struct tor_record *record);

/* The error is one that tor_wire_errno() lets pass: any other is EPROTO. Calls that nobody here can make are not known. */
int tor_wire_get_abort(const void *p, u32 len, struct tor_abort *abort);

/* @msg->epoch points into @p. The error is one that tor_wire_errno() lets pass: any other is EPROTO. */
int tor_wire_get_comm(const void *p, u32 len, struct tor_comm_msg *msg);
/* Epoch @i, below @msg->epochs, of a message that was read. */
u32 tor_wire_epoch(const struct tor_comm_msg *msg, u32 i);

/**
 * tor_wire_errno - may a peer say this error?
 * @type: TORCOLL_FRAME_ABORT or TORCOLL_FRAME_COMM, which says it
 * @error: positive
 *
 * What is about the peer's own calls, signals and memory, or private to its kernel, is nobody else's; and a call that returned
 * any of it here would mislead its caller: EINTR, for one, has it call again for ever.
 *
 * Return: @error, or 0: it may not.
 */
u32 tor_wire_errno(u8 type, u32 error);

#endif
