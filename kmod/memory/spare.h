/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spares: temporaries of ops that are over, kept for the next op of their comm.
 * Most kernels clear every page that they allocate, and an op of a megabyte
 * needs hundreds of them: that was a seventh of its instructions.
 *
 * Their user pays for them while they are kept. They are freed when the comm is
 * closed, when no op has needed them for a moment, and when the user has no
 * room left for other memory. Only the comm that used them gets them again, so
 * a process sees only its own old data.
 *
 * Locking: one lock around all spares, a leaf.
 */
#ifndef _TOR_SPARE_H
#define _TOR_SPARE_H

#include <linux/list.h>
#include <linux/types.h>

struct tor_group;
struct tor_pages;
struct tor_user;

#define TOR_SPARE_MAX	(16 << 20)	/* bytes that a comm keeps */

/**
 * struct tor_spares - spares of a comm
 * @list: tor_pages, most recently used last
 * @bytes: in all
 * @closed: no more are kept
 */
struct tor_spares {
	struct list_head list;
	u64 bytes;
	bool closed;
};

static inline void tor_spares_init(struct tor_spares *spares)
{
	INIT_LIST_HEAD(&spares->list);
}

/*
 * Take pages for @length bytes, with one use and any contents, or NULL.
 * Context: process.
 */
struct tor_pages *tor_spare_take(struct tor_group *group, u64 length);

/*
 * Keep kernel pages, or have them freed soon; takes over their only use.
 * Context: BH or process.
 */
void tor_spare_put(struct tor_group *group, struct tor_pages *pages);

/* Free the spares of a comm, and keep none from now on. Context: process. */
void tor_spare_close(struct tor_group *group);

/*
 * Free all spares that a user pays for, and wait for those that are being
 * freed.
 * Context: process, may sleep.
 */
void tor_spare_reclaim(struct tor_user *user);

/* The same, later. Context: BH or process. */
void tor_spare_give_up(struct tor_user *user);

void tor_spare_exit(void);

#endif
