// SPDX-License-Identifier: GPL-2.0
/*
 * Core's environment as far as it has no state here: memory and hashes. The
 * rest of env.h is implemented with its state: send.c, memory.c, group.c,
 * lane.c, fabric.c, and in copy.c, crc.c and fpu.c.
 */
#include "core/env.h"

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "copy.h"
#include "crc.h"
#include "fpu.h"
#include "main.h"

#define FRAME		9216		/* a large Ethernet frame, rounded up */
#define SMALL		512		/* so many are left to kmalloc() */

#define STASH		32		/* of each kind, and of groups of pages: */
#define STASH_GROUPS	8

/*
 * Frames, pages and groups of pages that were freed, for the next ones on that
 * processor. Most kernels clear all memory that they allocate, which costs as
 * much as the copy that is made there. Users write before they read.
 */
enum stash_kind { STASH_SHORT, STASH_MIDDLE, STASH_LONG, STASH_PAGE, STASH_PAGES, STASH_KINDS };

/*
 * Frames of usual lengths, each with a header: kmalloc() would take 16 KiB for
 * one of 9,000 bytes, and 8 KiB for one of a page.
 */
static const u32 frame_size[] = { 2048, 4608, FRAME };
static const char * const frame_name[] = { "torcoll_short", "torcoll_middle", "torcoll_frame" };
static struct kmem_cache *frames[ARRAY_SIZE(frame_size)];

struct stash {
	u32 n;
	void *memory[STASH];
};

static DEFINE_PER_CPU(struct stash[STASH_KINDS], stashes);

static u32 stash_most(enum stash_kind kind)
{
	return kind == STASH_PAGES ? STASH_GROUPS : STASH;
}

static siphash_key_t hash_key __ro_after_init = { { 0x746f72636f6c6c30ULL, 0 } };

void *tor_env_alloc(size_t n)
{
	return kzalloc(n, GFP_ATOMIC | __GFP_NOWARN);
}

void tor_env_free(void *p)
{
	/* also memory of a cache: kfree() finds that out */
	kfree(p);
}

static void *stash_take(enum stash_kind kind)
{
	struct stash *stash;
	unsigned long flags;
	void *p = NULL;

	local_irq_save(flags);
	stash = &(*this_cpu_ptr(&stashes))[kind];
	if (stash->n)
		p = stash->memory[--stash->n];
	local_irq_restore(flags);
	return p;
}

/* Keep what was freed. False: there is no room. */
static bool stash_put(enum stash_kind kind, void *p)
{
	struct stash *stash;
	unsigned long flags;
	bool room;

	/* KASAN could not detect a use after free */
	if (IS_ENABLED(CONFIG_KASAN))
		return false;
	local_irq_save(flags);
	stash = &(*this_cpu_ptr(&stashes))[kind];
	room = stash->n < stash_most(kind);
	if (room)
		stash->memory[stash->n++] = p;
	local_irq_restore(flags);
	return room;
}

static void stash_empty(enum stash_kind kind)
{
	struct stash *stash;
	void *p;
	int cpu;

	for_each_possible_cpu(cpu) {
		stash = &(*per_cpu_ptr(&stashes, cpu))[kind];
		while (stash->n) {
			p = stash->memory[--stash->n];
			if (kind < STASH_PAGE)
				kfree(p);
			else
				put_page(virt_to_page(p));
		}
	}
}

/* Return the kind of a frame that comes from a cache. */
static enum stash_kind frame_kind(size_t n)
{
	return n <= frame_size[STASH_SHORT] ? STASH_SHORT :
	       n <= frame_size[STASH_MIDDLE] ? STASH_MIDDLE : STASH_LONG;
}

static bool is_cached(size_t n)
{
	return n > SMALL && n <= FRAME;
}

void *tor_env_frame_alloc(size_t n)
{
	void *p;

	if (!is_cached(n))
		return kmalloc(n, GFP_ATOMIC | __GFP_NOWARN);
	p = stash_take(frame_kind(n));
	return p ?: kmem_cache_alloc(frames[frame_kind(n)], GFP_ATOMIC | __GFP_NOWARN);
}

void tor_env_frame_free(void *p, size_t n)
{
	if (!p || !is_cached(n) || !stash_put(frame_kind(n), p))
		kfree(p);
}

/* Return the kind of shared memory; STASH_KINDS: it is larger than any. */
static enum stash_kind shared_kind(size_t n)
{
	if (n <= PAGE_SIZE)
		return STASH_PAGE;
	return n <= FRAME ? STASH_PAGES : STASH_KINDS;
}

/* All of a kind are of one order. */
static unsigned int shared_order(size_t n)
{
	return get_order(shared_kind(n) == STASH_PAGES ? FRAME : n);
}

u32 tor_env_shared_size(size_t n)
{
	return n <= TOR_SHARE_MIN ? n : PAGE_SIZE << shared_order(n);
}

/*
 * Pages, since fragments of skbs refer to pages. What is not longer than
 * TOR_SHARE_MIN is copied nevertheless, and needs none.
 */
void *tor_env_shared_alloc(size_t n)
{
	enum stash_kind kind = shared_kind(n);
	struct page *page;
	void *p = NULL;

	if (n <= TOR_SHARE_MIN)
		return kmalloc(n, GFP_ATOMIC | __GFP_NOWARN);
	if (kind != STASH_KINDS)
		p = stash_take(kind);
	if (p)
		return p;
	page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN | __GFP_COMP, shared_order(n));
	return page ? page_address(page) : NULL;
}

void tor_env_shared_free(void *p, size_t n)
{
	enum stash_kind kind = shared_kind(n);

	if (n <= TOR_SHARE_MIN)
		kfree(p);
	/* frames in queues still refer to it, and free it */
	else if (kind == STASH_KINDS || page_count(virt_to_page(p)) > 1 || !stash_put(kind, p))
		put_page(virt_to_page(p));
}

void *tor_env_table_alloc(size_t n)
{
	return kvzalloc(n, GFP_KERNEL_ACCOUNT);
}

void tor_env_breathe(void)
{
	cond_resched();
}

bool tor_env_killed(void)
{
	return fatal_signal_pending(current);
}

void tor_env_table_free(void *p)
{
	kvfree(p);
}

u64 tor_env_hash(const void *p, size_t n, u64 key)
{
	siphash_key_t k = hash_key;

	k.key[1] = key;
	return siphash(p, n, &k);
}

u32 tor_env_random(void)
{
	return get_random_u32();
}

int tor_env_init(void)
{
	int err = tor_crc_init();
	u32 i;

	if (!err)
		err = tor_copy_init();
	if (!err)
		err = tor_fpu_init();
	for (i = 0; !err && i < ARRAY_SIZE(frames); i++) {
		frames[i] = kmem_cache_create(frame_name[i], frame_size[i], 0, 0, NULL);
		err = frames[i] ? 0 : -ENOMEM;
	}
	if (err)
		tor_env_exit();
	return err;
}

void tor_env_exit(void)
{
	enum stash_kind kind;
	u32 i;

	for (kind = 0; kind < STASH_KINDS; kind++)
		stash_empty(kind);
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		kmem_cache_destroy(frames[i]);
}
