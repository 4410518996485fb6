/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A node's view of the links of all nodes: one record per node. Only that node
 * originates and numbers it; all others pass it on in hellos.
 *
 * A record names the ports whose link is dead. The link between two ports is
 * dead if either end says so, and a fabric without faults has nothing to send.
 * The record with the higher sequence number (serial arithmetic, RFC 1982)
 * wins. A node that restarted begins at 1 and receives its former record from
 * its neighbours. It then sends its current state with a higher number, as OSPF
 * does (RFC 2328, 13.4).
 *
 * Records are sent in turn, news first, as many as fit into a hello:
 * - a record with a dead link, as long as the link is dead: a node that missed
 *   it receives it again;
 * - a record that changed, or of which a neighbour had an older one,
 *   TOR_VIEW_TELL times. If all of these are lost, the neighbour either keeps
 *   naming a link dead that is not, and is corrected, or lacks an epoch or a
 *   frame size, which the next record of that node brings.
 * A new neighbour is sent the whole view, records with dead links first.
 *
 * More news than fit into an immediate hello continue in the next ones.
 *
 * Memory is one entry per node of the fabric, independent of what is received.
 *
 * Locking: the node's lock (node.h).
 */
#ifndef _TOR_CORE_VIEW_H
#define _TOR_CORE_VIEW_H

#include "core/link/route.h"
#include "core/wire/wire.h"

#define TOR_VIEW_TELL	4		/* hellos that carry a change */

/**
 * struct tor_view_entry - the last record of a node
 * @list: in tor_view.news or tor_view.tell, or empty; @news: in the former
 * @epoch: 0: unknown
 * @seq: 0: no record was received
 * @dead: bit per port whose link is dead
 * @frame: bytes of a frame that all its links take, 0: unknown
 * @tell: hellos yet to carry it, regardless of its contents
 */
struct tor_view_entry {
	struct list_head list;
	u32 epoch;
	u32 seq;
	u16 dead;
	u16 frame;
	u8 tell;
	bool news;
};

/**
 * struct tor_view - the records of all nodes
 * @entry: by node
 * @born: by node: which of @births its epoch was
 * @births: changes of epochs, of nodes not known before included; a neighbour can
 *	make them up at any rate, so they must not come round
 * @news: entries that no hello on all cables has carried since they were news
 * @tell: other entries to send, in turn
 * @nodes: number of entries
 * @digest: of all entries with dead links: equal on two nodes that know the
 *	same
 * @dead: number of ports named as dead
 * @downs: records that named a port dead which was alive
 * @changes: of dead ports, those of the own awaited links included: routes of the
 *	same number are up to date
 * @next: next node to put into @tell for a new neighbour; @untold: number of
 *	nodes left
 * @frame: the smallest known frame size of any node, U16_MAX if none is known.
 *	May be too small while it is @stale and being recomputed: @least is
 *	the smallest of the first @scanned nodes
 * @stale: see @frame
 * @least: see @frame
 * @scanned: see @frame
 */
struct tor_view {
	struct tor_view_entry *entry;
	u64 *born;
	u64 births;
	struct list_head news;
	struct list_head tell;
	u32 nodes;
	u32 digest;
	u32 dead;
	u32 downs;
	u32 changes;
	u32 next;
	u32 untold;
	u16 frame;
	bool stale;
	u16 least;
	u32 scanned;
};

/* Return the memory of a view of a fabric of @nodes. */
u64 tor_view_bytes(u32 nodes);

/*
 * Set up an empty view of a fabric of @nodes. Context: may sleep. Return: 0 or
 * -ENOMEM.
 */
int tor_view_init(struct tor_view *view, u32 nodes);
void tor_view_destroy(struct tor_view *view);

/*
 * Set the record of @node, this node, to its current state. @epoch, @dead and
 * @frame as in struct tor_record.
 */
void tor_view_say(struct tor_view *view, u32 node, u32 epoch, u16 dead, u16 frame);

/* Return whether the epoch of @node is another than after @births changes. */
static inline bool tor_view_born_since(const struct tor_view *view, u32 node, u64 births)
{
	return view->born[node] > births;
}

enum tor_view_news {
	TOR_VIEW_KNOWN,
	TOR_VIEW_NEW,			/* accepted, to be passed on */
	TOR_VIEW_STALE,			/* older than the known one: its sender needs the newer */
};

/*
 * A neighbour sent @record. Its node must exist in the fabric and not be this
 * one.
 */
enum tor_view_news tor_view_learn(struct tor_view *view, const struct tor_record *record);

/*
 * A neighbour sent a @record of this node. If it differs from the own one, send
 * the own state with a higher number; if it is older, the own one again.
 */
enum tor_view_news tor_view_contradict(struct tor_view *view, const struct tor_record *record);

/*
 * Send the whole view to a new neighbour. With many nodes each tor_view_pick()
 * continues with a portion.
 */
void tor_view_tell_all(struct tor_view *view);

/* What the hello is that carries the records. */
enum tor_view_turn {
	TOR_VIEW_ANSWER,		/* goes to one neighbour, and counts for nothing */
	TOR_VIEW_NEWS,			/* immediate, on all cables: the next one carries other news */
	TOR_VIEW_REGULAR,		/* also counts as one of those that carry a change */
};

/**
 * tor_view_pick - choose the records for a hello
 * @view: view
 * @record: room for @max
 * @max: most records
 * @turn: what the hello is
 *
 * Return: their number.
 */
u32 tor_view_pick(struct tor_view *view, struct tor_record *record, u32 max,
		  enum tor_view_turn turn);

/*
 * Copy the dead ports of nodes @first to @first + @n - 1, for
 * tor_routes_build(), to @dead, which has view->nodes entries.
 */
void tor_view_copy_dead(const struct tor_view *view, u16 *dead, u32 first, u32 n);

/* True if all links of @node are dead according to either end. */
bool tor_view_is_cut_off(const struct tor_view *view, const struct tor_torus *t, u32 node);

/*
 * The largest frame that all links in the fabric take, as far as known;
 * U16_MAX: nothing is known. With many nodes, it takes some calls to notice
 * that the smallest has grown.
 */
u16 tor_view_frame(struct tor_view *view);

/*
 * The same for nodes @first to @first + @n - 1 that are reachable: the records
 * of an unreachable node may be outdated.
 */
u16 tor_view_frame_reached(const struct tor_view *view, const struct tor_routes *routes, u32 first,
			   u32 n);

#endif
