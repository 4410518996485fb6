/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Streams from a received payload into an op's memory. The payload is a list of
 * pieces that start at any address and split anywhere, also inside an element;
 * so does the memory. The contents of the pieces may change while they are
 * read: they are treated as data only.
 *
 * All of this runs in the receive softirq: long runs go to memcpy() or the
 * reduction kernel in one call, and only elements that are split on either side
 * go through a small buffer.
 */
#ifndef _TOR_CORE_STREAM_H
#define _TOR_CORE_STREAM_H

#include "core/env.h"
#include "core/reduce/reduce.h"

#define TOR_ELEM_MAX	16	/* bytes of the largest element */

/**
 * struct tor_stream - a position in a payload
 * @next: pieces not begun
 * @pieces: number of them
 * @p: the rest of the present piece
 * @len: its bytes
 *
 * May be copied to return to a position.
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
 * The functions below take bytes from the stream, which must have as many left.
 * If it has not, which is a bug of the caller, they stop at its end.
 */

/* Skip @len bytes. */
void tor_stream_skip(struct tor_stream *s, u64 len);

/* Read @len bytes into @buf. */
void tor_stream_read(struct tor_stream *s, void *buf, u64 len);

/**
 * tor_stream_copy - copy bytes into an op's memory
 * @s: stream, advanced
 * @mem: destination
 * @off: byte offset in @mem
 * @len: bytes
 */
void tor_stream_copy(struct tor_stream *s, struct tor_mem *mem, u64 off, u64 len);

/**
 * tor_stream_reduce_onto - reduce elements into an op's memory
 * @s: stream of the second operands, advanced
 * @mem: destination
 * @first: memory of the first operands, not changed; may be @mem
 * @off: byte offset in both
 * @n: elements
 * @elem: bytes of one, 1 to TOR_ELEM_MAX
 * @fn: kernel; if it is for floats, the caller has the FPU
 */
void tor_stream_reduce_onto(struct tor_stream *s, struct tor_mem *mem, const struct tor_mem *first,
			    u64 off, u64 n, u32 elem, tor_reduce_fn fn);

/* The same in place. */
static inline void tor_stream_reduce(struct tor_stream *s, struct tor_mem *mem, u64 off, u64 n,
				     u32 elem, tor_reduce_fn fn)
{
	tor_stream_reduce_onto(s, mem, mem, off, n, elem, fn);
}

#define TOR_STREAM_RUNS	16

/**
 * tor_stream_of - make a stream of an op's memory
 * @s: to be filled in
 * @runs: memory for it, TOR_STREAM_RUNS of them
 * @mem: read from byte @off on
 * @off: byte offset in @mem
 * @bytes: of whole elements, not 0
 * @elem: bytes of one, no more than TOR_STREAM_RUNS
 *
 * Return: number of bytes in the stream; whole elements, at least 1.
 */
u32 tor_stream_of(struct tor_stream *s, struct tor_bytes *runs, const struct tor_mem *mem, u64 off,
		  u64 bytes, u32 elem);

/**
 * tor_stream_between - copy or reduce between two places in ops' memory
 * @src: source, at byte offset @from
 * @from: byte offset in @src
 * @dst: destination, at byte offset @to; must not overlap the source
 * @to: byte offset in @dst
 * @bytes: of whole elements
 * @elem: bytes of one
 * @fn: kernel, as above; NULL: copy
 */
void tor_stream_between(const struct tor_mem *src, u64 from, struct tor_mem *dst, u64 to, u64 bytes,
			u32 elem, tor_reduce_fn fn);

/* Return the CRC of the next @len bytes, as in a header; takes nothing. */
u32 tor_stream_crc(const struct tor_stream *s, u64 len);

#endif
