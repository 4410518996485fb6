// SPDX-License-Identifier: GPL-2.0
/*
 * Users. See user.h.
 */
#include "cdev/user.h"

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "memory/spare.h"

static DEFINE_SPINLOCK(lock);
static DEFINE_HASHTABLE(users, 6);
static u32 sequence = 1;	/* of changes to it */

static u64 limits[TOR_LIMIT_COUNT] = {
	[TOR_LIMIT_COMMS] = 1024,
	[TOR_LIMIT_OPS] = 16384,
	/*
	 * a torus of 8x8 namespaces; a hello takes some 10 us to send and to
	 * receive: less than a hundredth of a processor
	 */
	[TOR_LIMIT_FABRICS] = 64,
	[TOR_LIMIT_HELLOS] = 640,
};

/* Find a user. Context: lock held. */
static struct tor_user *user_find(kuid_t uid, bool unlimited)
{
	struct tor_user *user;

	hash_for_each_possible(users, user, hash, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->unlimited == unlimited)
			return tor_user_get(user);
	return NULL;
}

struct tor_user *tor_user_get_current(void)
{
	bool unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	struct tor_user *user, *made;

	made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);
	if (!made)
		return NULL;
	made->uid = current_uid();
	made->unlimited = unlimited;
	refcount_set(&made->refs, 1);
	INIT_LIST_HEAD(&made->spares);
	INIT_LIST_HEAD(&made->giving);
	spin_lock(&lock);
	user = user_find(made->uid, unlimited);
	if (!user) {
		hash_add(users, &made->hash, __kuid_val(made->uid));
		sequence++;
	}
	spin_unlock(&lock);
	if (!user)
		return made;
	kfree(made);
	return user;
}

void tor_user_put(struct tor_user *user)
{
	bool last;

	/* in softirqs this is never the last: groups have one as well */
	if (refcount_dec_not_one(&user->refs))
		return;
	spin_lock(&lock);
	last = refcount_dec_and_test(&user->refs);
	if (last) {
		hash_del(&user->hash);
		sequence++;
	}
	spin_unlock(&lock);
	if (last)
		kfree(user);
}

static bool try_charge(struct tor_user *user, enum tor_limit limit, u64 n)
{
	s64 most = user->unlimited ? S64_MAX : tor_limit_get(limit);
	s64 used = atomic64_read(&user->used[limit]);

	do {
		if (n > most || used > (s64)(most - n))
			return false;
	} while (!atomic64_try_cmpxchg(&user->used[limit], &used, used + n));
	return true;
}

int tor_user_charge(struct tor_user *user, enum tor_limit limit, u64 n)
{
	if (try_charge(user, limit, n))
		return 0;
	if (limit != TOR_LIMIT_KERNEL)
		return -EDQUOT;
	/* free memory that no op uses */
	tor_spare_reclaim(user);
	return try_charge(user, limit, n) ? 0 : -EDQUOT;
}

bool tor_user_charge_now(struct tor_user *user, u64 n)
{
	if (try_charge(user, TOR_LIMIT_KERNEL, n))
		return true;
	tor_spare_give_up(user);
	return false;
}

void tor_user_uncharge(struct tor_user *user, enum tor_limit limit, u64 n)
{
	WARN_ON_ONCE(atomic64_sub_return(n, &user->used[limit]) < 0);
}

const char *tor_limit_sentence(enum tor_limit limit)
{
	static const char *const sentences[TOR_LIMIT_COUNT] = {
		[TOR_LIMIT_COMMS] = "the user has as many comms as it may have, see torcollctl limit",
		[TOR_LIMIT_OPS] = "the user has as many ops in flight as it may have, see torcollctl limit",
		[TOR_LIMIT_PINNED] = "the user has no more memory to pin, see torcollctl limit",
		[TOR_LIMIT_KERNEL] = "the user may take no more kernel memory, see torcollctl limit",
		[TOR_LIMIT_FABRICS] = "the user has as many fabrics as it may have, see torcollctl limit",
		[TOR_LIMIT_TABLES] = "the user may take no more kernel memory for fabrics, see torcollctl limit",
		[TOR_LIMIT_HELLOS] = "the user's ports say as many hellos as they may: say fewer, or see torcollctl limit",
	};

	return sentences[limit];
}

u64 tor_limit_get(enum tor_limit limit)
{
	return READ_ONCE(limits[limit]);
}

void tor_limit_set(enum tor_limit limit, u64 n)
{
	WRITE_ONCE(limits[limit], min_t(u64, n, S64_MAX));
}

struct tor_user *tor_user_find(kuid_t uid, bool unlimited)
{
	struct tor_user *user = NULL;

	spin_lock(&lock);
	if (uid_valid(uid))
		user = user_find(uid, unlimited);
	spin_unlock(&lock);
	return user;
}

struct tor_user *tor_user_at(u32 i, u32 *seq)
{
	struct tor_user *user, *found = NULL;
	u32 bucket;

	spin_lock(&lock);
	*seq = sequence;
	hash_for_each(users, bucket, user, hash) {
		if (i--)
			continue;
		found = tor_user_get(user);
		break;
	}
	spin_unlock(&lock);
	return found;
}

void tor_user_init(void)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;

	tor_limit_set(TOR_LIMIT_PINNED, memory / 2);
	tor_limit_set(TOR_LIMIT_KERNEL, memory / 4);
	tor_limit_set(TOR_LIMIT_TABLES, memory / 64);
}
