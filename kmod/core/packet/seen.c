// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Group frames that were seen. See seen.h. */
#include "core/packet/seen.h"

struct tor_seen *tor_seen_alloc(u32 nodes)
{
	struct tor_seen *seen = tor_env_table_alloc(sizeof(*seen) +
						    (size_t)nodes * sizeof(seen->source[0]));

	if (seen)
		seen->nodes = nodes;
	return seen;
}

/* The window of an incarnation, which becomes the first. It may be new. */
static struct tor_seen_window *seen_window(struct tor_seen_source *source, u32 epoch)
{
	struct tor_seen_window *w = source->window;

	if (likely(w[0].epoch == epoch))
		return &w[0];
	swap(w[0], w[1]);
	if (w[0].epoch != epoch)
		w[0] = (struct tor_seen_window){ .epoch = epoch };
	return &w[0];
}

bool tor_seen_first(struct tor_seen *seen, u32 src, u32 epoch, u32 number)
{
	struct tor_seen_window *w = seen_window(&seen->source[src], epoch);
	u32 ahead = number - w->top;
	u32 behind = w->top - number;

	if (!w->mask || (s32)ahead > 0) {
		/* the window moves up */
		w->top = number;
		w->mask = ahead < TOR_SEEN_WINDOW ? w->mask << ahead | 1 : 1;
		return true;
	}
	if (behind >= TOR_SEEN_WINDOW || w->mask >> behind & 1)
		return false;
	w->mask |= 1ULL << behind;
	return true;
}
