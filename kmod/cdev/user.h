/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users and their charges. The opener of a file is charged for everything that
 * is done through it, by any process: comms, ops in flight, pinned memory, and
 * the kernel memory that these take. The creator of a fabric is charged for it,
 * its memory, and the hellos of its ports: in a user namespace of their own all
 * users may add some. Every user has the same limits, over all processes and
 * network namespaces; a file that was opened with CAP_SYS_RESOURCE has none,
 * and is counted separately. Early frames are charged to the opener of their
 * comm's file: beyond the limit they are not kept, and are resent when they can
 * be used.
 *
 * Locking: a lock of its own around the table of users, a leaf. Charges are
 * atomic: charging takes no lock.
 */
#ifndef _TOR_USER_H
#define _TOR_USER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

enum tor_limit {
	TOR_LIMIT_COMMS,	/* open in processes */
	TOR_LIMIT_OPS,		/* not reaped yet */
	TOR_LIMIT_PINNED,	/* bytes of user memory */
	TOR_LIMIT_KERNEL,	/* bytes of kernel memory */
	TOR_LIMIT_FABRICS,	/* nodes of fabrics */
	TOR_LIMIT_TABLES,	/* bytes of kernel memory of these */
	TOR_LIMIT_HELLOS,	/* per second, of all their ports */
	TOR_LIMIT_COUNT
};

/**
 * struct tor_user - a user with open files, or fabrics
 * @unlimited: they were opened, or added, with CAP_SYS_RESOURCE
 * @spares, @spare, @given_up, @giving: its spares, see memory/spare.c
 */
struct tor_user {
	struct hlist_node hash;
	refcount_t refs;
	kuid_t uid;
	bool unlimited;
	struct list_head spares;
	u32 spare;
	u32 given_up;
	struct list_head giving;
	atomic64_t used[TOR_LIMIT_COUNT];
};

/*
 * Return the caller's user, referenced, or NULL. Context: process, may sleep.
 */
struct tor_user *tor_user_get_current(void);

static inline struct tor_user *tor_user_get(struct tor_user *user)
{
	refcount_inc(&user->refs);
	return user;
}

void tor_user_put(struct tor_user *user);

/**
 * tor_user_charge - charge a user
 * @user: user
 * @limit: of what
 * @n: how much
 *
 * For kernel memory, spares are freed first.
 *
 * Context: process, may sleep.
 * Return: 0, or -EDQUOT and nothing was charged.
 */
int tor_user_charge(struct tor_user *user, enum tor_limit limit, u64 n);

/*
 * Charge for kernel memory, in any context; on failure spares are freed later,
 * for the next time. False: -EDQUOT.
 */
bool tor_user_charge_now(struct tor_user *user, u64 n);
void tor_user_uncharge(struct tor_user *user, enum tor_limit limit, u64 n);

/* Return a static sentence for a refusal of tor_user_charge(). */
const char *tor_limit_sentence(enum tor_limit limit);

/* Get or set the limit of every user. */
u64 tor_limit_get(enum tor_limit limit);
void tor_limit_set(enum tor_limit limit, u64 n);

/*
 * Return a user with open files or fabrics, referenced, or NULL. Context:
 * process.
 */
struct tor_user *tor_user_find(kuid_t uid, bool unlimited);

/*
 * Return user @i of a list, referenced; NULL at the end. @seq changes whenever
 * the list does. Context: process.
 */
struct tor_user *tor_user_at(u32 i, u32 *seq);

/* Set limits that suit this machine. */
void tor_user_init(void);

#endif
