// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Streams from a received payload into an op's memory. See stream.h. */
#include "core/transfer/stream.h"

/* Return the bytes that are contiguous at s->p, at least 1; 0 at the end. */
static u32 stream_run(struct tor_stream *s)
{
	while (!s->len && s->pieces) {
		s->p = s->next->p;
		s->len = s->next->len;
		s->next++;
		s->pieces--;
	}
	return s->len;
}

static void stream_advance(struct tor_stream *s, u32 len)
{
	s->p += len;
	s->len -= len;
}

/* A position in an op's memory, as in a stream. */
struct mem_run {
	const struct tor_mem *mem;
	u64 off;		/* of the bytes behind the run */
	u64 left;		/* bytes behind the run */
	u8 *p;
	u32 len;
};

static void mem_begin(struct mem_run *m, const struct tor_mem *mem, u64 off, u64 len)
{
	m->mem = mem;
	m->off = off;
	m->left = len;
	m->p = NULL;
	m->len = 0;
}

static inline u32 mem_run(struct mem_run *m)
{
	if (!m->len && m->left) {
		m->len = min_t(u64, m->left, U32_MAX);
		m->p = tor_env_mem(m->mem, m->off, &m->len);
		m->off += m->len;
		m->left -= m->len;
	}
	return m->len;
}

static void mem_advance(struct mem_run *m, u32 len)
{
	m->p += len;
	m->len -= len;
}

void tor_stream_skip(struct tor_stream *s, u64 len)
{
	u32 run;

	for (; len; len -= run) {
		run = min_t(u64, stream_run(s), len);
		tor_assert(run);
		if (!run)
			return;
		stream_advance(s, run);
	}
}

void tor_stream_read(struct tor_stream *s, void *buf, u64 len)
{
	u8 *p = buf;
	u32 run;

	for (; len; len -= run, p += run) {
		run = min_t(u64, stream_run(s), len);
		tor_assert(run);
		if (!run)
			return;
		memcpy(p, s->p, run);
		stream_advance(s, run);
	}
}

void tor_stream_copy(struct tor_stream *s, struct tor_mem *mem, u64 off, u64 len)
{
	struct mem_run m;
	u32 run;

	mem_begin(&m, mem, off, len);
	for (; len; len -= run) {
		run = min(stream_run(s), mem_run(&m));
		tor_assert(run);
		if (!run)
			return;
		tor_env_copy(m.p, s->p, run);
		stream_advance(s, run);
		mem_advance(&m, run);
	}
}

/* Reduce one element that is split somewhere; @f may be @m. */
static bool stream_reduce_split(struct tor_stream *s, struct mem_run *m, struct mem_run *f, u32 elem,
				tor_reduce_fn fn)
{
	u8 *at[TOR_ELEM_MAX];
	u8 src[TOR_ELEM_MAX];
	u8 dst[TOR_ELEM_MAX];
	u32 i;

	for (i = 0; i < elem; i++) {
		if (!stream_run(s) || !mem_run(m) || !mem_run(f))
			return false;
		src[i] = *s->p;
		at[i] = m->p;
		dst[i] = *f->p;
		stream_advance(s, 1);
		mem_advance(m, 1);
		if (f != m)
			mem_advance(f, 1);
	}
	fn(dst, dst, src, 1);
	for (i = 0; i < elem; i++)
		*at[i] = dst[i];
	return true;
}

void tor_stream_reduce_onto(struct tor_stream *s, struct tor_mem *mem, const struct tor_mem *first,
			    u64 off, u64 n, u32 elem, tor_reduce_fn fn)
{
	struct mem_run m, elsewhere, *f = first == mem ? &m : &elsewhere;
	u64 whole;

	mem_begin(&m, mem, off, n * elem);
	mem_begin(&elsewhere, first, off, n * elem);
	while (n) {
		whole = min(stream_run(s), mem_run(&m));
		if (f != &m)
			whole = min_t(u64, whole, mem_run(f));
		if (whole < elem) {
			bool ok = stream_reduce_split(s, &m, f, elem, fn);

			tor_assert(ok);
			if (!ok)
				return;
			n--;
			continue;
		}
		/* a 32-bit division: elem need not be a power of two */
		whole = min_t(u64, (u32)whole / elem, n);
		fn(m.p, f->p, s->p, whole);
		stream_advance(s, whole * elem);
		mem_advance(&m, whole * elem);
		if (f != &m)
			mem_advance(f, whole * elem);
		n -= whole;
	}
}

u32 tor_stream_of(struct tor_stream *s, struct tor_bytes *runs, const struct tor_mem *mem, u64 off,
		  u64 bytes, u32 elem)
{
	u32 len = 0, most = min_t(u64, bytes, U32_MAX);
	u32 n;

	for (n = 0; n < TOR_STREAM_RUNS && len < most; n++) {
		u32 run = most - len;

		runs[n].p = tor_env_mem(mem, off + len, &run);
		runs[n].len = run;
		len += run;
	}
	tor_stream_init(s, runs, n);
	return len < bytes ? len - len % elem : len;
}

void tor_stream_between(const struct tor_mem *src, u64 from, struct tor_mem *dst, u64 to, u64 bytes,
			u32 elem, tor_reduce_fn fn)
{
	struct tor_bytes runs[TOR_STREAM_RUNS] __uninitialized;
	struct tor_stream s;
	u32 len;

	for (; bytes; from += len, to += len, bytes -= len) {
		len = tor_stream_of(&s, runs, src, from, bytes, elem);
		if (fn)
			tor_stream_reduce(&s, dst, to, len / elem, elem, fn);
		else
			tor_stream_copy(&s, dst, to, len);
	}
}

u32 tor_stream_crc(const struct tor_stream *s, u64 len)
{
	struct tor_stream at = *s;
	u32 crc = ~0U;
	u32 run;

	for (; len; len -= run) {
		run = min_t(u64, stream_run(&at), len);
		tor_assert(run);
		if (!run)
			break;
		crc = tor_env_crc32c(crc, at.p, run);
		stream_advance(&at, run);
	}
	return ~crc;
}
