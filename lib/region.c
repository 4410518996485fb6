// SPDX-License-Identifier: MIT
/*
 * Registered memory: a table sorted by address, so that ops find the region of a plain pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The first region that ends behind @addr; nregions if there is none. */
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

/* The region that all of (@addr, @length) lies in, or NULL. Context: lock held. */
static struct torcoll_region *region_around(struct torcoll *t, uintptr_t addr, uint64_t length)
{
	size_t i = region_lower_bound(t, addr);
	struct torcoll_region *r;

	if (!length || i == t->nregions)
		return NULL;
	r = &t->regions[i];
	return addr >= r->addr && length <= r->length && addr - r->addr <= r->length - length ? r : NULL;
}

uint32_t torcoll__region_find(struct torcoll *t, const void *p, uint64_t length)
{
	const struct torcoll_region *r;
	uint32_t handle;

	pthread_rwlock_rdlock(&t->lock);
	r = region_around(t, (uintptr_t)p, length);
	handle = r ? r->handle : 0;
	pthread_rwlock_unlock(&t->lock);
	return handle;
}

static int region_make_room(struct torcoll *t)
{
	size_t room = t->room ? 2 * t->room : 8;
	struct torcoll_region *regions;

	if (t->nregions < t->room)
		return 0;
	regions = realloc(t->regions, room * sizeof(*regions));
	if (!regions)
		return torcoll__fail(-ENOMEM, "registration of memory: out of memory");
	t->regions = regions;
	t->room = room;
	return 0;
}

static int region_add(struct torcoll *t, uintptr_t addr, size_t length)
{
	size_t i = region_lower_bound(t, addr);
	struct torcoll_region_add add = {
		.size = sizeof(add),
		.addr = addr,
		.length = length,
	};
	int err;

	if (i < t->nregions && (t->regions[i].addr <= addr || t->regions[i].addr - addr < length))
		return torcoll__fail(-EEXIST, "registration of %zu bytes at %p: overlaps %zu bytes at %p",
				     length, (void *)addr, t->regions[i].length,
				     (void *)t->regions[i].addr);
	err = region_make_room(t);
	if (err)
		return err;
	err = torcoll__ioctl(t, TORCOLL_IOC_REGION_ADD, &add);
	if (err)
		return torcoll__refused(t, err, "registration of memory");
	memmove(&t->regions[i + 1], &t->regions[i], (t->nregions - i) * sizeof(*t->regions));
	t->regions[i] = (struct torcoll_region){ .addr = addr, .length = length, .handle = add.region };
	t->nregions++;
	return 0;
}

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

static int region_del_at(struct torcoll *t, size_t i)
{
	struct torcoll_handle del = { .size = sizeof(del), .handle = t->regions[i].handle };
	int err;

	err = torcoll__ioctl(t, TORCOLL_IOC_REGION_DEL, &del);
	if (err)
		return torcoll__refused(t, err, "end of a registration");
	t->nregions--;
	memmove(&t->regions[i], &t->regions[i + 1], (t->nregions - i) * sizeof(*t->regions));
	return 0;
}

static int region_del(struct torcoll *t, uintptr_t addr)
{
	size_t i = region_lower_bound(t, addr);

	if (i == t->nregions || t->regions[i].addr != addr || t->regions[i].automatic)
		return torcoll__fail(-ENOENT, "nothing is registered at %p", (void *)addr);
	if (t->regions[i].holds)
		return torcoll__fail(-EBUSY, "%u prepared ops use the memory at %p",
				     t->regions[i].holds, (void *)addr);
	return region_del_at(t, i);
}

int torcoll_unregister(struct torcoll *t, void *addr)
{
	int err;

	pthread_rwlock_wrlock(&t->lock);
	err = region_del(t, (uintptr_t)addr);
	pthread_rwlock_unlock(&t->lock);
	return err;
}

/* ---- for prepared ops ---- */

int torcoll__region_hold(struct torcoll *t, const void *p, uint64_t length, uint32_t *region)
{
	uintptr_t addr = (uintptr_t)p;
	struct torcoll_region *r;
	int err = 0;

	pthread_rwlock_wrlock(&t->lock);
	r = region_around(t, addr, length);
	if (!r) {
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

/* While an op still uses an automatic region, it stays; the context's end takes it. */
void torcoll__region_release(struct torcoll *t, uint32_t region)
{
	size_t i;

	pthread_rwlock_wrlock(&t->lock);
	for (i = 0; t->regions[i].handle != region; i++)
		;
	if (!--t->regions[i].holds && t->regions[i].automatic)
		region_del_at(t, i);
	pthread_rwlock_unlock(&t->lock);
}
