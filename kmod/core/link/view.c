// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A node's view of the links of all nodes. See view.h. */
#include "core/link/view.h"

u64 tor_view_bytes(u32 nodes)
{
	const struct tor_view *view;

	return (u64)nodes * (sizeof(*view->entry) + sizeof(*view->born));
}

int tor_view_init(struct tor_view *view, u32 nodes)
{
	u32 i;

	memset(view, 0, sizeof(*view));
	INIT_LIST_HEAD(&view->news);
	INIT_LIST_HEAD(&view->tell);
	view->entry = tor_env_table_alloc((size_t)nodes * sizeof(*view->entry));
	view->born = tor_env_table_alloc((size_t)nodes * sizeof(*view->born));
	if (!view->entry || !view->born) {
		tor_view_destroy(view);
		return -ENOMEM;
	}
	view->nodes = nodes;
	view->frame = U16_MAX;
	for (i = 0; i < nodes; i++)
		INIT_LIST_HEAD(&view->entry[i].list);
	return 0;
}

void tor_view_destroy(struct tor_view *view)
{
	tor_env_table_free(view->entry);
	tor_env_table_free(view->born);
	view->entry = NULL;
	view->born = NULL;
}

static u32 view_digest(const struct tor_view *view, u32 node)
{
	const struct tor_view_entry *e = &view->entry[node];
	u64 x;

	if (!e->dead)
		return 0;
	x = ((u64)node << 32 | e->seq) * 0x9e3779b97f4a7c15ULL ^ ((u64)e->epoch << 16 | e->dead);
	x *= 0xbf58476d1ce4e5b9ULL;
	return x >> 32;
}

/* The latest news goes first: what is late already is not made later by it. */
static void view_enlist_news(struct tor_view *view, struct tor_view_entry *e)
{
	e->news = true;
	list_del(&e->list);
	list_add_tail(&e->list, view->news.next);
}

static void view_enlist_last(struct tor_view *view, struct tor_view_entry *e)
{
	list_del(&e->list);
	list_add_tail(&e->list, &view->tell);
}

/* The frame size of @e changes to @frame. */
static void view_note_frame(struct tor_view *view, const struct tor_view_entry *e, u16 frame)
{
	if (frame == e->frame)
		return;
	if (frame && frame < view->frame)
		view->frame = frame;
	else if (e->frame && e->frame == view->frame)
		view->stale = true;
	/* the partial result may be outdated */
	view->scanned = 0;
	view->least = U16_MAX;
}

static void view_store(struct tor_view *view, const struct tor_record *r)
{
	struct tor_view_entry *e = &view->entry[r->node];

	if (r->dead & ~e->dead)
		view->downs++;
	if (r->dead != e->dead)
		WRITE_ONCE(view->changes, view->changes + 1);
	view_note_frame(view, e, r->frame);
	view->dead -= hweight64((u64)e->dead);
	view->digest ^= view_digest(view, r->node);
	if (r->epoch != e->epoch) {
		WRITE_ONCE(view->births, view->births + 1);
		view->born[r->node] = view->births;
	}
	e->epoch = r->epoch;
	e->seq = r->seq;
	e->dead = r->dead;
	e->frame = r->frame;
	e->tell = TOR_VIEW_TELL;
	view->digest ^= view_digest(view, r->node);
	view->dead += hweight64((u64)e->dead);
	view_enlist_news(view, e);
}

void tor_view_say(struct tor_view *view, u32 node, u32 epoch, u16 dead, u16 frame)
{
	struct tor_record r = {
		.node = node,
		.epoch = epoch,
		.seq = view->entry[node].seq + 1,
		.dead = dead,
		.frame = frame,
	};

	/* 0 means that no record was received */
	if (!r.seq)
		r.seq = 1;
	view_store(view, &r);
}

static bool view_same(const struct tor_view_entry *e, const struct tor_record *r)
{
	return e->epoch == r->epoch && e->dead == r->dead && e->frame == r->frame;
}

enum tor_view_news tor_view_learn(struct tor_view *view, const struct tor_record *record)
{
	struct tor_view_entry *e = &view->entry[record->node];

	if (!record->seq || !record->epoch)
		return TOR_VIEW_KNOWN;
	if (!e->seq || (s32)(record->seq - e->seq) > 0) {
		view_store(view, record);
		return TOR_VIEW_NEW;
	}
	if (record->seq == e->seq)
		return TOR_VIEW_KNOWN;
	/* do not extend the turns of a record merely because of this */
	e->tell = max_t(u8, e->tell, 1);
	if (list_empty(&e->list))
		view_enlist_news(view, e);
	return TOR_VIEW_STALE;
}

enum tor_view_news tor_view_contradict(struct tor_view *view, const struct tor_record *record)
{
	struct tor_view_entry *e = &view->entry[record->node];
	struct tor_record r = *record;

	if (record->seq == e->seq && view_same(e, record))
		return TOR_VIEW_KNOWN;
	/*
	 * whoever still has it missed the newer one, and may have nobody else
	 * to correct it; where hellos merely crossed, the next regular one does
	 */
	if ((s32)(record->seq - e->seq) < 0) {
		e->tell = max_t(u8, e->tell, 1);
		if (list_empty(&e->list))
			view_enlist_last(view, e);
		return TOR_VIEW_KNOWN;
	}
	r.epoch = e->epoch;
	r.dead = e->dead;
	r.frame = e->frame;
	r.seq = record->seq + 1;
	if (!r.seq)
		r.seq = 1;
	view_store(view, &r);
	return TOR_VIEW_NEW;
}

/* Continue what tor_view_tell_all() began. */
static void view_tell_some(struct tor_view *view)
{
	u32 steps = min(view->untold, tor_env_budget().steps);

	for (view->untold -= steps; steps; steps--) {
		struct tor_view_entry *e = &view->entry[view->next];

		view->next = view->next + 1 < view->nodes ? view->next + 1 : 0;
		if (!e->seq)
			continue;
		e->tell = TOR_VIEW_TELL;
		/* of dead links before others, but behind what is new to all */
		if (e->dead && !e->news) {
			e->news = true;
			list_del(&e->list);
			list_add_tail(&e->list, &view->news);
		} else if (list_empty(&e->list)) {
			view_enlist_last(view, e);
		}
	}
}

void tor_view_tell_all(struct tor_view *view)
{
	view->untold = view->nodes;
	view_tell_some(view);
}

static void view_write(const struct tor_view *view, const struct tor_view_entry *e,
		       struct tor_record *record)
{
	record->node = e - view->entry;
	record->epoch = e->epoch;
	record->seq = e->seq;
	record->dead = e->dead;
	record->frame = e->frame;
}

/* The hello that carries @e is a regular one: it is told again later, or no more. */
static void view_take_turn(struct tor_view_entry *e, struct list_head *told)
{
	e->tell -= !!e->tell;
	e->news = false;
	list_del(&e->list);
	INIT_LIST_HEAD(&e->list);
	if (e->tell || e->dead)
		list_add_tail(&e->list, told);
}

/* Write entries of @list, @n to @max - 1. Move them to @told, in a regular hello when due again. */
static u32 view_pick_from(struct tor_view *view, struct list_head *list, struct tor_record *record,
			  u32 n, u32 max, bool turn, struct list_head *told)
{
	struct tor_view_entry *e, *next;

	list_for_each_entry_safe(e, next, list, list) {
		if (n == max)
			break;
		view_write(view, e, &record[n++]);
		if (turn) {
			view_take_turn(e, told);
		} else if (told) {
			e->news = false;
			list_del(&e->list);
			list_add_tail(&e->list, told);
		}
	}
	return n;
}

/* Move all entries of @from to the place before @to, in their order. */
static void view_move(struct list_head *from, struct list_head *to)
{
	struct tor_view_entry *e, *next;

	list_for_each_entry_safe(e, next, from, list) {
		list_del(&e->list);
		list_add_tail(&e->list, to);
	}
}

u32 tor_view_pick(struct tor_view *view, struct tor_record *record, u32 max,
		  enum tor_view_turn turn)
{
	bool regular = turn == TOR_VIEW_REGULAR;
	struct list_head told;
	u32 n;

	view_tell_some(view);
	INIT_LIST_HEAD(&told);
	n = view_pick_from(view, &view->news, record, 0, max, regular,
			   turn == TOR_VIEW_ANSWER ? NULL : &told);
	n = view_pick_from(view, &view->tell, record, n, max, regular, regular ? &told : NULL);
	/* news is told again by the next immediate hellos, as far as there is room */
	view_move(&told, regular ? &view->tell : view->tell.next);
	return n;
}

void tor_view_copy_dead(const struct tor_view *view, u16 *dead, u32 first, u32 n)
{
	u32 end = min_t(u64, view->nodes, (u64)first + n);
	u32 i;

	for (i = first; i < end; i++)
		dead[i] = view->entry[i].dead;
}

bool tor_view_is_cut_off(const struct tor_view *view, const struct tor_torus *t, u32 node)
{
	u32 port;

	for (port = 0; port < t->ports; port++) {
		u32 peer;

		if (!tor_torus_has_port(t, node, port) || view->entry[node].dead >> port & 1)
			continue;
		peer = tor_torus_neighbour(t, node, port);
		if (!(view->entry[peer].dead >> tor_torus_peer_port(t, port) & 1))
			return false;
	}
	return true;
}

u16 tor_view_frame(struct tor_view *view)
{
	u32 end;

	if (!view->stale)
		return view->frame;
	end = min_t(u64, view->nodes, (u64)view->scanned + tor_env_budget().steps);
	for (; view->scanned < end; view->scanned++)
		if (view->entry[view->scanned].frame)
			view->least = min(view->least, view->entry[view->scanned].frame);
	if (end < view->nodes)
		return view->frame;
	view->frame = view->least;
	view->stale = false;
	return view->frame;
}

u16 tor_view_frame_reached(const struct tor_view *view, const struct tor_routes *routes, u32 first,
			   u32 n)
{
	u32 end = min_t(u64, view->nodes, (u64)first + n);
	u16 frame = U16_MAX;
	u32 i;

	for (i = first; i < end; i++)
		if (view->entry[i].frame && tor_routes_reach(routes, i))
			frame = min(frame, view->entry[i].frame);
	return frame;
}
