// SPDX-License-Identifier: GPL-2.0 OR MIT
/* How a port is shared while packets wait. See share.h. */
#include "core/packet/share.h"

/* Begin to watch what the device holds. */
static void share_watch(struct tor_share *share, u64 now)
{
	share->since = now;
	share->spare = U32_MAX;
	share->largest = 0;
}

void tor_share_init(struct tor_share *share, u64 now)
{
	*share = (struct tor_share){ .limit = TOR_SHARE_FIRST, .lead = TOR_SHARE_LEAD };
	share_watch(share, now);
}

void tor_share_sent(struct tor_share *share, u32 held, u64 now)
{
	if (held < TOR_SHARE_LEAST) {
		share->limit = min_t(u32, share->limit + share->largest, TOR_SHARE_MOST);
		share_watch(share, now);
		return;
	}
	share->spare = min(share->spare, held);
	if (now - share->since < TOR_SHARE_WHILE)
		return;
	share->limit = max_t(s64, (s64)share->limit - share->spare, TOR_SHARE_LEAST);
	share_watch(share, now);
}

u32 tor_share_queue(struct tor_share *share, u32 waits)
{
	if (waits != 3) {
		share->ahead = 0;
		return waits >> 1;
	}
	return share->ahead > 0;
}

void tor_share_packet(struct tor_share *share, u32 queue, u32 bytes, u32 memory)
{
	s32 ahead = share->ahead + (queue ? -(s32)bytes : (s32)bytes);

	share->ahead = clamp_t(s32, ahead, -TOR_SHARE_AHEAD, TOR_SHARE_AHEAD);
	share->lead = min_t(s64, (s64)share->lead + bytes, TOR_SHARE_LEAD);
	share->largest = max(share->largest, memory);
}
