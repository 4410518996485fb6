/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a node knows of everyone's links: a record per node, said by that node alone, numbered by it, and passed on
 * in hellos by everyone else.
 *
 * A record names the ports whose link is dead, so the link between two ports is dead if either
 * end says so, and a fabric without faults has nothing to tell. The higher number (serial, RFC 1982)
 * wins. A node that restarted begins at 1 and hears its former self from its neighbours; it then
 * says the same again with a higher number, as OSPF does (RFC 2328, 13.4).
 *
 * Records are told in turn, news first, as many as a hello has room for:
 * - one with a dead link, as long as it is so: whoever missed it hears it again;
 * - one that changed or that a neighbour had an older one of, TOR_VIEW_TELL times. If all of those are
 *   lost, the neighbour either goes on naming a dead link that is not, and is corrected, or lacks an
 *   epoch or a frame size, which the next record of that node brings.
 * A neighbour that is new is told all there is.
 *
 * Memory is one entry per node of the fabric, whatever is said.
 */
#ifndef _TOR_CORE_VIEW_H
#define _TOR_CORE_VIEW_H

#include "core/link/route.h"
#include "core/wire/wire.h"

#define TOR_VIEW_TELL	4		/* hellos that tell a change */

/**
 * struct tor_view_entry - the last record of a node
 * @list: in tor_view.tell, or empty
 * @epoch: 0: not known
 * @seq: 0: nothing was heard
 * @tell: hellos yet to carry it, whatever it says
 */
struct tor_view_entry {
	struct list_head list;
	u32 epoch;
	u32 seq;
	u16 dead;
	u16 frame;
	u8 tell;
};

/**
 * struct tor_view - all of them
 * @entry: by node
 * @tell: entries to be told, in turn
 * @digest: of all entries with dead links: two nodes with the same one know of the same
 * @dead: ports named as dead
 * @downs: records that named a port dead which was not
 * @next: of the nodes that a new neighbour is to be told of, the next to be put in @tell; @untold: how many there are
 * @frame: the smallest frame size that any node is known to have, U16_MAX if none is, or less while it is @stale, and being
 *	looked for: @least of the first @scanned nodes
 */
struct tor_view {
	struct tor_view_entry *entry;
	struct list_head tell;
	u32 nodes;
	u32 digest;
	u32 dead;
	u32 downs;
	u32 next;
	u32 untold;
	u16 frame;
	bool stale;
	u16 least;
	u32 scanned;
};

/* Context: may sleep. Return: 0 or -ENOMEM. */
int tor_view_init(struct tor_view *view, u32 nodes);
void tor_view_destroy(struct tor_view *view);

/* Say of @node, this one, what is so now; @epoch, @dead and @frame as in struct tor_record. */
void tor_view_say(struct tor_view *view, u32 node, u32 epoch, u16 dead, u16 frame);

enum tor_view_news {
	TOR_VIEW_KNOWN,
	TOR_VIEW_NEW,			/* taken over, to be told */
	TOR_VIEW_STALE,			/* whoever says so must be told what is newer */
};

/* Someone says @record; its node is one of the fabric's, and not this one. */
enum tor_view_news tor_view_learn(struct tor_view *view, const struct tor_record *record);

/* Someone knows of @node, this one, what it does not say itself: say it with a higher number. */
enum tor_view_news tor_view_contradict(struct tor_view *view, const struct tor_record *record);

/* A neighbour knows nothing yet. Begins; with many nodes tor_view_pick() goes on, a portion each time. */
void tor_view_tell_all(struct tor_view *view);

/**
 * tor_view_pick - records for a hello
 * @view: view
 * @record: room for @max
 * @turn: a regular hello, which counts; not one that is said at once
 *
 * Return: their number.
 */
u32 tor_view_pick(struct tor_view *view, struct tor_record *record, u32 max, bool turn);

/* Dead ports of nodes @first to @first + @n - 1, for tor_routes_build(). @dead: view->nodes of them. */
void tor_view_copy_dead(const struct tor_view *view, u16 *dead, u32 first, u32 n);

/* Are all links of @node dead, by what either end says? */
bool tor_view_is_cut_off(const struct tor_view *view, const struct tor_torus *t, u32 node);

/*
 * What frames all links in the fabric take, as far as is known; U16_MAX: nothing is. Of many nodes, when the smallest has
 * grown, this takes some calls to be noticed.
 */
u16 tor_view_frame(struct tor_view *view);

/*
 * The same of nodes @first to @first + @n - 1, as far as there is a way to them: of a node that is not there, nobody knows
 * any more whether what is said of it was ever so.
 */
u16 tor_view_frame_reached(const struct tor_view *view, const struct tor_routes *routes, u32 first,
			   u32 n);

#endif
