/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users: who pays for what. Whoever opened a file is charged with all that is done through it, whoever uses it:
 * comms, ops in flight, pinned memory, and the kernel memory that these take. Whoever added a fabric is charged with that, its
 * memory, and the hellos that its ports say: in a user namespace of its own anybody may add some. Each user has the same limits, over
 * all processes and network namespaces; a file that was opened with CAP_SYS_RESOURCE has none, and is counted apart.
 * Frames that came early belong to whoever opened the file of their comm: beyond the limit they are not kept, and
 * come again when they can be used.
 *
 * Locking: a lock of its own around the table of users, a leaf. What is used is atomic: charging takes no lock.
 */
#ifndef _TOR_USER_H
#define _TOR_USER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

enum tor_limit {
	TOR_LIMIT_COMMS,	/* that processes have open */
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
 */
struct tor_user {
	struct hlist_node hash;
	refcount_t refs;
	kuid_t uid;
	bool unlimited;
	atomic64_t used[TOR_LIMIT_COUNT];
};

/* The caller as a user, referenced, or NULL. Context: process, may sleep. */
struct tor_user *tor_user_get_current(void);

static inline struct tor_user *tor_user_get(struct tor_user *user)
{
	refcount_inc(&user->refs);
	return user;
}

void tor_user_put(struct tor_user *user);

/**
 * tor_user_charge - let a user have more
 * @user: user
 * @limit: of what
 * @n: how much
 *
 * Of kernel memory, what is spare goes first.
 *
 * Context: process, may sleep. Return: 0, or -EDQUOT and nothing was charged.
 */
int tor_user_charge(struct tor_user *user, enum tor_limit limit, u64 n);

/* With kernel memory, in any context: what is spare goes soon, for the next time. False: -EDQUOT. */
bool tor_user_charge_now(struct tor_user *user, u64 n);
void tor_user_uncharge(struct tor_user *user, enum tor_limit limit, u64 n);

/* Why tor_user_charge() refuses: a static sentence. */
const char *tor_limit_sentence(enum tor_limit limit);

/* What each user may have. */
u64 tor_limit_get(enum tor_limit limit);
void tor_limit_set(enum tor_limit limit, u64 n);

/* A user with open files or fabrics, referenced, or NULL. Context: process. */
struct tor_user *tor_user_find(kuid_t uid, bool unlimited);

/*
 * The user in place @i of a list, referenced; NULL: the list is over. @seq changes whenever the list does. Context:
 * process.
 */
struct tor_user *tor_user_at(u32 i, u32 *seq);

/* Limits that fit this machine. */
void tor_user_init(void);

#endif
