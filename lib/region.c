// SPDX-License-Identifier: MIT
/*
 * Registered memory: a table sorted by address, so that ops find the region of
 * a plain pointer. Cached regions that left it while ops used them are beside
 * it until the module lets go of them.
 *
 * Large buffers that are not registered are registered by the first op that
 * uses them, and kept for the next one: a cache. It is safe whatever the
 * program does with its memory: the module watches these regions, and refuses
 * ops that use one whose pages were unmapped or replaced; it is then registered
 * again. The least recently used region goes when limits are reached, and any
 * that a registration by the program overlaps.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Return the first region that ends behind @addr; nregions if there is none. */
static size_t region_lower_bound(const struct torcoll *t, uintptr_t addr)
{
	size_t lo = 0, hi = t->nregions;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct torcoll_region *r = &t->regions[mid];

		if (addr - r->addr < r->length || addr < r->addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/*
 * Return the region that contains all of (@addr, @length), or NULL. Context:
 * lock held.
 */
static struct torcoll_region *region_around(struct torcoll *t, uintptr_t addr, uint64_t length)
{
	size_t i = region_lower_bound(t, addr);
	struct torcoll_region *r;

	if (!length || i == t->nregions)
		return NULL;
	r = &t->regions[i];
	return addr >= r->addr && length <= r->length && addr - r->addr <= r->length - length ? r : NULL;
}

/*
 * Make room for another region. Any region may become a leftover, for which
 * there is room then.
 */
static int region_make_room(struct torcoll *t)
{
	size_t room = t->room ? 2 * t->room : 8;
	struct torcoll_region *regions;
	uint32_t *leftover;

	if (t->nregions + t->leftovers < t->room)
		return 0;
	regions = realloc(t->regions, room * sizeof(*regions));
	if (regions)
		t->regions = regions;
	leftover = realloc(t->leftover, room * sizeof(*leftover));
	if (leftover)
		t->leftover = leftover;
	if (!regions || !leftover)
		return torcoll__fail(-ENOMEM, "registration of memory: out of memory");
	t->room = room;
	return 0;
}

/* Insert a region into the table, which has room; nothing overlaps it. */
static struct torcoll_region *region_insert(struct torcoll *t, uintptr_t addr, size_t length,
					    uint32_t handle)
{
	size_t i = region_lower_bound(t, addr);

	memmove(&t->regions[i + 1], &t->regions[i], (t->nregions - i) * sizeof(*t->regions));
	t->regions[i] = (struct torcoll_region){ .addr = addr, .length = length, .handle = handle };
	t->nregions++;
	return &t->regions[i];
}

/* Return the first region that overlaps the range, or NULL. */
static struct torcoll_region *region_overlap(struct torcoll *t, uintptr_t addr, size_t length)
{
	size_t i = region_lower_bound(t, addr);
	struct torcoll_region *r;

	if (i == t->nregions)
		return NULL;
	r = &t->regions[i];
	return r->addr <= addr || r->addr - addr < length ? r : NULL;
}

static void region_remove(struct torcoll *t, struct torcoll_region *r)
{
	size_t i = r - t->regions;

	if (r->cached)
		t->cached_bytes -= r->length;
	t->nregions--;
	memmove(r, r + 1, (t->nregions - i) * sizeof(*t->regions));
}

static int region_del_call(struct torcoll *t, const struct torcoll_region *r)
{
	struct torcoll_handle del = { .size = sizeof(del), .handle = r->handle };

	return torcoll__ioctl(t, TORCOLL_IOC_REGION_DEL, &del);
}

/*
 * Release a cached region, or one of a prepared op. While an op uses it, the
 * module refuses; it is tried again later.
 */
static void cache_drop(struct torcoll *t, struct torcoll_region *r)
{
	if (region_del_call(t, r))
		t->leftover[t->leftovers++] = r->handle;
	region_remove(t, r);
}

static bool cache_drop_leftovers(struct torcoll *t)
{
	size_t before = t->leftovers;
	struct torcoll_region r = { 0 };

	for (size_t i = t->leftovers; i--;) {
		r.handle = t->leftover[i];
		if (!region_del_call(t, &r))
			t->leftover[i] = t->leftover[--t->leftovers];
	}
	return t->leftovers < before;
}

/* Release the cached regions that overlap; fail if another one does. */
static int region_make_way(struct torcoll *t, uintptr_t addr, size_t length)
{
	struct torcoll_region *r;

	while ((r = region_overlap(t, addr, length))) {
		if (!r->cached)
			return -EEXIST;
		cache_drop(t, r);
	}
	return 0;
}

/*
 * Release the least recently used cached region that no op uses. Return whether
 * there was one.
 */
static bool cache_evict(struct torcoll *t)
{
	struct torcoll_region *oldest;
	size_t tries = t->nregions;

	if (cache_drop_leftovers(t))
		return true;
	while (tries--) {
		oldest = NULL;
		for (size_t i = 0; i < t->nregions; i++)
			if (t->regions[i].cached && (!oldest || t->regions[i].used < oldest->used))
				oldest = &t->regions[i];
		if (!oldest)
			return false;
		if (!region_del_call(t, oldest)) {
			region_remove(t, oldest);
			return true;
		}
		oldest->used = ++t->lookups;
	}
	return false;
}

static int region_add(struct torcoll *t, uintptr_t addr, size_t length)
{
	struct torcoll_region_add add = {
		.size = sizeof(add),
		.addr = addr,
		.length = length,
	};
	const struct torcoll_region *other;
	int err;

	cache_drop_leftovers(t);
	err = region_make_way(t, addr, length);
	if (err) {
		other = region_overlap(t, addr, length);
		return torcoll__fail(err, "registration of %zu bytes at %p: overlaps %zu bytes at %p",
				     length, (void *)addr, other->length, (void *)other->addr);
	}
	err = region_make_room(t);
	if (err)
		return err;
	do {
		err = torcoll__ioctl(t, TORCOLL_IOC_REGION_ADD, &add);
	} while (err == -EDQUOT && cache_evict(t));
	if (err)
		return torcoll__refused(t, err, "registration of memory");
	region_insert(t, addr, length, add.region);
	return 0;
}

/* ---- the cache ---- */

/*
 * Smaller buffers are pinned by each op, or copied: registering and releasing
 * one costs as much as registered memory saves in two ops of this length, or in
 * three of a quarter of it (docs/performance.md).
 */
#define CACHE_LEAST	(64U << 10)

/* Add to the cache. On any error the op runs without. */
static uint32_t cache_add(struct torcoll *t, uintptr_t addr, uint64_t length)
{
	struct torcoll_region_add add = {
		.size = sizeof(add),
		.flags = TORCOLL_REGION_WATCH,
		.addr = addr,
		.length = length,
	};
	struct torcoll_region *r;
	int err;

	/* they are not part of cached_bytes: those of ops that have ended go here */
	cache_drop_leftovers(t);
	if (length > t->cache_bytes || region_make_way(t, addr, length) || region_make_room(t))
		return 0;
	while (t->cached_bytes > t->cache_bytes - length)
		if (!cache_evict(t))
			return 0;
	do {
		err = torcoll__ioctl(t, TORCOLL_IOC_REGION_ADD, &add);
	} while (err == -EDQUOT && cache_evict(t));
	if (err)
		return 0;
	r = region_insert(t, addr, length, add.region);
	r->cached = true;
	r->used = ++t->lookups;
	t->cached_bytes += length;
	return add.region;
}

uint32_t torcoll__region_find(struct torcoll *t, const void *p, uint64_t length)
{
	bool worth = length >= CACHE_LEAST && t->cache_bytes && t->features & TORCOLL_FEATURE_WATCH;
	struct torcoll_region *r;
	uint32_t handle;

	pthread_rwlock_rdlock(&t->lock);
	r = region_around(t, (uintptr_t)p, length);
	handle = r ? r->handle : 0;
	if (r && r->cached)
		__atomic_store_n(&r->used, __atomic_add_fetch(&t->lookups, 1, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	pthread_rwlock_unlock(&t->lock);
	if (handle || !worth)
		return handle;
	pthread_rwlock_wrlock(&t->lock);
	r = region_around(t, (uintptr_t)p, length);
	handle = r ? r->handle : cache_add(t, (uintptr_t)p, length);
	pthread_rwlock_unlock(&t->lock);
	return handle;
}

static struct torcoll_region *region_of(struct torcoll *t, uint32_t handle)
{
	for (size_t i = 0; i < t->nregions; i++)
		if (t->regions[i].handle == handle)
			return &t->regions[i];
	return NULL;
}

/*
 * Forget a region that is or was cached; the op runs without it. One that does
 * not contain the op's memory got the handle of the one that did, and stays.
 * Return false if the op names no such region: it is refused for another reason.
 */
static bool stale_forget(struct torcoll *t, uint32_t *handle, uint64_t addr, uint64_t length)
{
	struct torcoll_region *r = *handle ? region_of(t, *handle) : NULL;

	if (!*handle)
		return false;
	if (r && r == region_around(t, addr, length)) {
		if (!r->cached)
			return false;
		cache_drop(t, r);
	}
	*handle = 0;
	return true;
}

/* Only the module knows which of the two regions it refused. */
static bool stale(struct torcoll *t, struct torcoll_submit *s, uint64_t sent, uint64_t received)
{
	bool send = stale_forget(t, &s->send_region, s->send_addr, sent);
	bool recv = stale_forget(t, &s->recv_region, s->recv_addr, received);

	return send || recv;
}

/*
 * Pin a buffer as the op would, unless it is in a region. Return -EDQUOT if a
 * limit forbids it.
 */
static int probe_pin(struct torcoll *t, uint32_t own, uint64_t addr, uint64_t length,
		     struct torcoll_region *region)
{
	struct torcoll_region_add add = {
		.size = sizeof(add),
		.addr = addr,
		.length = length,
	};
	int err;

	if (own || !length)
		return 0;
	err = torcoll__ioctl(t, TORCOLL_IOC_REGION_ADD, &add);
	if (!err)
		region->handle = add.region;
	return err;
}

/*
 * Return whether pinned memory is what the op's user has too much of. An op may
 * exceed other limits, of ops and of kernel memory, for which no region has to
 * go; the errno is the same. So its buffers are pinned by themselves, both at a
 * time.
 */
static bool pins_too_much(struct torcoll *t, const struct torcoll_submit *s, uint64_t sent,
			  uint64_t received)
{
	bool in_place = s->send_addr == s->recv_addr, too_much;
	struct torcoll_region send = { 0 }, recv = { 0 };

	/* one memory, which is as long as the longer of the two */
	too_much = probe_pin(t, s->recv_region, s->recv_addr,
			     in_place && sent > received ? sent : received, &recv) == -EDQUOT ||
		   (!in_place &&
		    probe_pin(t, s->send_region, s->send_addr, sent, &send) == -EDQUOT);
	if (recv.handle)
		region_del_call(t, &recv);
	if (send.handle)
		region_del_call(t, &send);
	return too_much;
}

static bool quota(struct torcoll *t, const struct torcoll_submit *s, uint64_t sent,
		  uint64_t received)
{
	bool again;

	torcoll__reason_keep(t);
	again = pins_too_much(t, s, sent, received) && cache_evict(t);
	if (again)
		torcoll__reason_drop();
	return again;
}

bool torcoll__region_retry(struct torcoll *t, int err, struct torcoll_submit *s, uint64_t sent,
			   uint64_t received)
{
	bool again = false;

	/*
	 * a region that another thread released may be reused by now, or be
	 * gone
	 */
	if (err != -ESTALE && err != -ENOENT && err != -EFAULT && err != -EDQUOT)
		return false;
	pthread_rwlock_wrlock(&t->lock);
	if (err != -EDQUOT)
		again = stale(t, s, sent, received);
	else if (t->cached_bytes || t->leftovers)
		again = quota(t, s, sent, received);
	pthread_rwlock_unlock(&t->lock);
	return again;
}

/* ---- by the program ---- */

int torcoll_register(struct torcoll *t, void *addr, size_t length)
{
	int err;

	if (!length || length > UINTPTR_MAX - (uintptr_t)addr)
		return torcoll__fail(-EINVAL, "registration of memory: %zu bytes at %p are no range",
				     length, addr);
	err = torcoll__check(t, "registration of memory");
	if (err)
		return err;
	pthread_rwlock_wrlock(&t->lock);
	err = region_add(t, (uintptr_t)addr, length);
	pthread_rwlock_unlock(&t->lock);
	return err;
}

/* What the module cannot know of. Context: t->queue. */
static int region_check_unused(const struct torcoll *t, const struct torcoll_region *r)
{
	if (r->holds)
		return torcoll__fail(-EBUSY, "%u prepared ops use the memory at %p", r->holds,
				     (void *)r->addr);
	if (torcoll__queue_uses(t, r->addr, r->length))
		return torcoll__fail(-EBUSY, "an op that waits for a slot uses the memory at %p",
				     (void *)r->addr);
	return 0;
}

/* Ops of the queue keep their memory; nor does one enter it meanwhile. */
static void regions_lock(struct torcoll *t)
{
	pthread_mutex_lock(&t->queue);
	pthread_rwlock_wrlock(&t->lock);
}

static void regions_unlock(struct torcoll *t)
{
	pthread_rwlock_unlock(&t->lock);
	pthread_mutex_unlock(&t->queue);
}

static int region_del_at(struct torcoll *t, size_t i)
{
	int err = region_check_unused(t, &t->regions[i]);

	if (err)
		return err;
	err = region_del_call(t, &t->regions[i]);
	if (err)
		return torcoll__refused(t, err, "end of a registration");
	region_remove(t, &t->regions[i]);
	return 0;
}

static int region_del(struct torcoll *t, uintptr_t addr)
{
	size_t i = region_lower_bound(t, addr);

	if (i == t->nregions || t->regions[i].addr != addr || t->regions[i].automatic ||
	    t->regions[i].cached || t->regions[i].allocated)
		return torcoll__fail(-ENOENT, "nothing is registered at %p", (void *)addr);
	return region_del_at(t, i);
}

int torcoll_unregister(struct torcoll *t, void *addr)
{
	int err = torcoll__check(t, "end of a registration");

	if (err)
		return err;
	regions_lock(t);
	err = region_del(t, (uintptr_t)addr);
	regions_unlock(t);
	return err;
}

/* ---- memory from the module ---- */

static int alloc_map(struct torcoll *t, const struct torcoll_region_alloc *alloc, void **out)
{
	struct torcoll_region *r;
	void *p;

	if (region_make_room(t))
		return -ENOMEM;
	p = torcoll_sys_mmap(t->fd, alloc->bytes, alloc->offset);
	if (!p)
		return torcoll__fail(-ENOMEM, "allocation of memory: it cannot be mapped");
	/* cached regions of previous mappings at this address */
	region_make_way(t, (uintptr_t)p, alloc->bytes);
	r = region_insert(t, (uintptr_t)p, alloc->bytes, alloc->region);
	r->allocated = true;
	*out = p;
	return 0;
}

int torcoll_alloc(struct torcoll *t, size_t length, void **p)
{
	struct torcoll_region_alloc alloc = { .size = sizeof(alloc), .length = length };
	struct torcoll_region gone;
	int err;

	err = torcoll__check(t, "allocation of memory");
	if (err)
		return err;
	if (!(t->features & TORCOLL_FEATURE_ALLOC))
		return torcoll__fail(-EOPNOTSUPP, "allocation of memory: the module has none to give");
	err = torcoll__ioctl(t, TORCOLL_IOC_REGION_ALLOC, &alloc);
	if (err)
		return torcoll__refused(t, err, "allocation of memory");
	pthread_rwlock_wrlock(&t->lock);
	err = alloc_map(t, &alloc, p);
	pthread_rwlock_unlock(&t->lock);
	if (err) {
		gone = (struct torcoll_region){ .handle = alloc.region };
		region_del_call(t, &gone);
	}
	return err;
}

static int alloc_free(struct torcoll *t, void *p)
{
	struct torcoll_region *r = region_around(t, (uintptr_t)p, 1);
	int err;

	if (!r || !r->allocated || r->addr != (uintptr_t)p)
		return torcoll__fail(-ENOENT, "nothing was allocated at %p", p);
	err = region_check_unused(t, r);
	if (err)
		return err;
	if (region_del_call(t, r))
		return torcoll__refused(t, -EBUSY, "end of an allocation");
	torcoll_sys_munmap(p, r->length);
	region_remove(t, r);
	return 0;
}

int torcoll_free(struct torcoll *t, void *p)
{
	int err;

	if (!p)
		return 0;
	err = torcoll__check(t, "end of an allocation");
	if (err)
		return err;
	regions_lock(t);
	err = alloc_free(t, p);
	regions_unlock(t);
	return err;
}

void torcoll__region_del_all(struct torcoll *t)
{
	for (size_t i = 0; i < t->nregions; i++) {
		region_del_call(t, &t->regions[i]);
		if (t->regions[i].allocated)
			torcoll_sys_munmap((void *)t->regions[i].addr, t->regions[i].length);
	}
	cache_drop_leftovers(t);
}

/* ---- for prepared ops ---- */

int torcoll__region_hold(struct torcoll *t, const void *p, uint64_t length, uint32_t *region)
{
	uintptr_t addr = (uintptr_t)p;
	struct torcoll_region *r;
	int err = 0;

	pthread_rwlock_wrlock(&t->lock);
	r = region_around(t, addr, length);
	/* a cached one may go at any time */
	if (!r || r->cached) {
		err = region_add(t, addr, length);
		if (!err) {
			r = region_around(t, addr, length);
			r->automatic = true;
		}
	}
	if (!err) {
		r->holds++;
		*region = r->handle;
	}
	pthread_rwlock_unlock(&t->lock);
	return err;
}

/*
 * A region that an op still uses must not be found again: it is not watched, so
 * that nobody would see that its memory was freed, and is another one's by now.
 */
void torcoll__region_release(struct torcoll *t, uint32_t region)
{
	size_t i;

	pthread_rwlock_wrlock(&t->lock);
	for (i = 0; t->regions[i].handle != region; i++)
		;
	if (!--t->regions[i].holds && t->regions[i].automatic)
		cache_drop(t, &t->regions[i]);
	pthread_rwlock_unlock(&t->lock);
}
