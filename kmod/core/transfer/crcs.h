/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Checksums of what frames have brought, for sending it on.
 *
 * In an allgather or a broadcast a node sends on what it has just received, and
 * the frames are cut at the same places. The checksum of such a frame was
 * verified when it came and is the one that the next frame needs, so nobody
 * reads the bytes again. What the memory of a host damages in between is found
 * by the next receiver; the frame that replaces it is summed anew.
 *
 * An entry is exact: it says what the latest write to its range was. So
 * everything that writes to the part of a vector that a channel has says so
 * here.
 *
 * Entries lie where the first byte of their range does, in units of the largest
 * frame. A range no longer than that meets only ranges that begin in the same
 * unit, the one before, and the one behind.
 *
 * All functions are pure, and run under the lock of the channel.
 */
#ifndef _TOR_CORE_CRCS_H
#define _TOR_CORE_CRCS_H

#include "core/env.h"

#define TOR_CRCS_MAX	256	/* entries */
#define TOR_CRCS_MEMORY	(TOR_CRCS_MAX * 16 + 8)

/**
 * struct tor_crcs - checksums of ranges of a vector
 * @unit: bytes of the longest range
 * @mask: number of entries - 1
 * @of: @off: first byte; @len: bytes, 0: no entry; @crc: CRC32C of them
 */
struct tor_crcs {
	u32 unit;
	u32 mask;
	struct {
		u64 off;
		u32 len;
		u32 crc;
	} of[];
};

/*
 * Make one for about @ranges ranges of at most @unit bytes, or NULL. Freed by
 * tor_env_free().
 */
struct tor_crcs *tor_crcs_new(u32 unit, u32 ranges);

/* Range [off, off + len), at most a unit, has the checksum @crc now. */
void tor_crcs_set(struct tor_crcs *crcs, u64 off, u32 len, u32 crc);

/* Something else is written to [off, off + len). */
void tor_crcs_forget(struct tor_crcs *crcs, u64 off, u64 len);

/* Find the checksum of exactly this range. Return: false: not known. */
bool tor_crcs_find(const struct tor_crcs *crcs, u64 off, u32 len, u32 *crc);

#endif
