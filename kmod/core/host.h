/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Types and helpers of the kernel, for the host. See env.h. */
#ifndef _TOR_CORE_HOST_H
#define _TOR_CORE_HOST_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX

#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L

#define __force

#define tor_div64(n, d)		((u64)(n) / (u64)(d))
#define tor_assert(cond)	assert(cond)

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#undef static_assert
#undef static_assert
#define static_assert(cond)	_Static_assert(cond, #cond)
#define fallthrough		__attribute__((__fallthrough__))
#define noinline	__attribute__((__noinline__))
#define __uninitialized
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
/* programs have one thread here; the order is kept nevertheless */
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
/* the same */
#define smp_rmb()		atomic_thread_fence(memory_order_acquire)
/* the same */
#define smp_mb__after_atomic()	atomic_thread_fence(memory_order_seq_cst)
/* an annotation for KCSAN, which the kernel has */
#define data_race(x)		(x)

#define min(a, b)		({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b)		({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b)		({ t _a = (a); t _b = (b); _a < _b ? _a : _b; })
#define max_t(t, a, b)		({ t _a = (a); t _b = (b); _a > _b ? _a : _b; })
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define swap(a, b)		do { __typeof__(a) _t = (a); (a) = (b); (b) = _t; } while (0)

#define cpu_to_be16(x)		((__be16)htobe16(x))
#define cpu_to_be32(x)		((__be32)htobe32(x))
#define cpu_to_be64(x)		((__be64)htobe64(x))
#define be16_to_cpu(x)		be16toh((u16)(x))
#define be32_to_cpu(x)		be32toh((u32)(x))
#define be64_to_cpu(x)		be64toh((u64)(x))

static inline u32 fls(u32 x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline u32 fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline u32 __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline u32 hweight8(u32 x)
{
	x -= x >> 1 & 0x55;
	x = (x & 0x33) + (x >> 2 & 0x33);
	return (x + (x >> 4)) & 0x0f;
}

static inline u32 hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, u32 shift)
{
	return (__uint128_t)a * b >> shift;
}

typedef struct {
	_Atomic int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return atomic_load_explicit(&v->counter, memory_order_relaxed);
}

static inline int atomic_read_acquire(const atomic_t *v)
{
	return atomic_load_explicit(&v->counter, memory_order_acquire);
}

static inline void atomic_set(atomic_t *v, int i)
{
	atomic_store_explicit(&v->counter, i, memory_order_relaxed);
}

/* Fully ordered, which is more than C means by it. */
static inline int atomic_add_return(int i, atomic_t *v)
{
	int sum = atomic_fetch_add(&v->counter, i) + i;

	atomic_thread_fence(memory_order_seq_cst);
	return sum;
}

static inline void atomic_or(int i, atomic_t *v)
{
	atomic_fetch_or_explicit(&v->counter, i, memory_order_relaxed);
}

static inline void atomic_andnot(int i, atomic_t *v)
{
	atomic_fetch_and_explicit(&v->counter, ~i, memory_order_relaxed);
}

static inline void atomic_sub(int i, atomic_t *v)
{
	atomic_fetch_sub(&v->counter, i);
}

static inline bool atomic_dec_and_test(atomic_t *v)
{
	return atomic_fetch_sub(&v->counter, 1) == 1;
}

static inline int atomic_xchg(atomic_t *v, int new)
{
	return atomic_exchange(&v->counter, new);
}

static inline int atomic_cmpxchg(atomic_t *v, int old, int new)
{
	atomic_compare_exchange_strong(&v->counter, &old, new);
	return old;
}

typedef struct {
	_Atomic s64 counter;
} atomic64_t;

static inline s64 atomic64_read(const atomic64_t *v)
{
	return atomic_load_explicit(&v->counter, memory_order_relaxed);
}

static inline void atomic64_inc(atomic64_t *v)
{
	atomic_fetch_add(&v->counter, 1);
}

static inline s64 atomic64_xchg(atomic64_t *v, s64 new)
{
	return atomic_exchange(&v->counter, new);
}

static inline s64 atomic64_fetch_or(s64 i, atomic64_t *v)
{
	return atomic_fetch_or(&v->counter, i);
}

static inline s64 atomic64_cmpxchg(atomic64_t *v, s64 old, s64 new)
{
	atomic_compare_exchange_strong(&v->counter, &old, new);
	return old;
}

/* Doubly linked lists, as in linux/list.h. */
struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h;
	h->prev = h;
}

static inline void list_add_tail(struct list_head *e, struct list_head *h)
{
	e->prev = h->prev;
	e->next = h;
	h->prev->next = e;
	h->prev = e;
}

static inline void list_add(struct list_head *e, struct list_head *h)
{
	list_add_tail(e, h->next);
}

static inline void list_del(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
}

static inline bool list_empty(const struct list_head *h)
{
	return h->next == h;
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_is_last(e, h)			((e)->next == (h))
#define list_first_entry(h, type, member)	list_entry((h)->next, type, member)
#define list_for_each_entry(pos, h, member)					\
	for (pos = list_entry((h)->next, __typeof__(*pos), member);		\
	     &pos->member != (h);						\
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_reverse(pos, h, member)				\
	for (pos = list_entry((h)->prev, __typeof__(*pos), member);		\
	     &pos->member != (h);						\
	     pos = list_entry(pos->member.prev, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, h, member)				\
	for (pos = list_entry((h)->next, __typeof__(*pos), member),		\
	     n = list_entry(pos->member.next, __typeof__(*pos), member);	\
	     &pos->member != (h);						\
	     pos = n, n = list_entry(n->member.next, __typeof__(*n), member))

struct tor_budget;
struct tor_budget tor_env_budget(void);

static inline void tor_env_breathe(void)
{
}

static inline void tor_env_copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

#endif
