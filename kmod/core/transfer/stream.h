/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * From a received payload into an op's memory. The payload is a list of pieces that start at any
 * address and split anywhere, also inside an element; so does the memory. What the pieces hold may
 * change while it is read: nothing here takes it for more than data.
 *
 * All this runs in the receive softirq: long runs go to memcpy() or the reduction kernel in one call,
 * and only elements that are split on either side go through a small buffer.
 */
#ifndef _TOR_CORE_STREAM_H
#define _TOR_CORE_STREAM_H

#include "core/env.h"
#include "core/reduce/reduce.h"

#define TOR_ELEM_MAX	16	/* bytes of the largest element */

/**
 * struct tor_stream - a place in a payload
 * @next: pieces not begun
 * @pieces: number of them
 * @p: the rest of the present piece
 * @len: its bytes
 *
 * May be copied to return to a place.
 */
struct tor_stream {
	const struct tor_bytes *next;
	u32 pieces;
	const u8 *p;
	u32 len;
};

static inline void tor_stream_init(struct tor_stream *s, const struct tor_bytes *pieces, u32 n)
{
	s->next = pieces;
	s->pieces = n;
	s->p = NULL;
	s->len = 0;
}

/*
 * The functions below take bytes from the stream, which must have as many left. If it has not, which
 * is a bug of the caller, they stop where it ends.
 */

/* Pass over @len bytes. */
void tor_stream_skip(struct tor_stream *s, u64 len);

/* Take @len bytes to @buf. */
void tor_stream_read(struct tor_stream *s, void *buf, u64 len);

/**
 * tor_stream_copy - take bytes into an op's memory
 * @s: stream, advanced
 * @mem: where to
 * @off: byte offset in @mem
 * @len: bytes
 */
void tor_stream_copy(struct tor_stream *s, struct tor_mem *mem, u64 off, u64 len);

/**
 * tor_stream_reduce - reduce elements into an op's memory
 * @s: stream, advanced
 * @mem: where to
 * @off: byte offset in @mem
 * @n: elements
 * @elem: bytes of one, 1 to TOR_ELEM_MAX
 * @fn: kernel; if it is for floats, the caller has the FPU
 */
void tor_stream_reduce(struct tor_stream *s, struct tor_mem *mem, u64 off, u64 n, u32 elem,
		       tor_reduce_fn fn);

/* The same, but the first operands are as far into @first; they stay as they are. */
void tor_stream_reduce_onto(struct tor_stream *s, struct tor_mem *mem, const struct tor_mem *first,
			    u64 off, u64 n, u32 elem, tor_reduce_fn fn);

#define TOR_STREAM_RUNS	16

/**
 * tor_stream_of - a stream of an op's memory
 * @s: to begin
 * @runs: memory for it, TOR_STREAM_RUNS of them
 * @mem: what is read, from byte @off on
 * @bytes: of whole elements, not 0
 * @elem: bytes of one, no more than TOR_STREAM_RUNS
 *
 * Return: how many of the bytes it has; whole elements, one or more.
 */
u32 tor_stream_of(struct tor_stream *s, struct tor_bytes *runs, const struct tor_mem *mem, u64 off,
		  u64 bytes, u32 elem);

/**
 * tor_stream_between - copy or reduce from one place in ops' memory to another
 * @src: where from, at byte offset @from
 * @dst: where to, at byte offset @to; not what is read
 * @bytes: of whole elements
 * @elem: bytes of one
 * @fn: kernel, as above; NULL: copy
 */
void tor_stream_between(const struct tor_mem *src, u64 from, struct tor_mem *dst, u64 to, u64 bytes,
			u32 elem, tor_reduce_fn fn);

/* The CRC of the next @len bytes, as in a header; takes nothing. */
u32 tor_stream_crc(const struct tor_stream *s, u64 len);

#endif
