// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checksums of what frames have brought. See crcs.h.
 */
#include "core/transfer/crcs.h"

static u32 crcs_unit_of(const struct tor_crcs *crcs, u64 off)
{
	return tor_div64(off, crcs->unit);
}

struct tor_crcs *tor_crcs_new(u32 unit, u32 ranges)
{
	struct tor_crcs *crcs;
	u32 entries = 4;

	while (entries < ranges && entries < TOR_CRCS_MAX)
		entries *= 2;
	crcs = tor_env_alloc(sizeof(*crcs) + entries * sizeof(crcs->of[0]));
	if (!crcs)
		return NULL;
	crcs->unit = unit;
	crcs->mask = entries - 1;
	return crcs;
}

void tor_crcs_set(struct tor_crcs *crcs, u64 off, u32 len, u32 crc)
{
	u32 i = crcs_unit_of(crcs, off) & crcs->mask;

	tor_crcs_forget(crcs, off, len);
	crcs->of[i].off = off;
	crcs->of[i].len = len;
	crcs->of[i].crc = crc;
}

static void crcs_forget_entry(struct tor_crcs *crcs, u32 unit, u64 off, u64 len)
{
	u32 i = unit & crcs->mask;

	if (crcs->of[i].off < off + len && off < crcs->of[i].off + crcs->of[i].len)
		crcs->of[i].len = 0;
}

void tor_crcs_forget(struct tor_crcs *crcs, u64 off, u64 len)
{
	u32 unit = crcs_unit_of(crcs, off);
	u64 n = len <= crcs->unit ? 3 : (u64)crcs->mask + 1;
	u64 i;

	for (i = 0; i < n; i++)
		crcs_forget_entry(crcs, unit - 1 + i, off, len);
}

bool tor_crcs_find(const struct tor_crcs *crcs, u64 off, u32 len, u32 *crc)
{
	u32 i = crcs_unit_of(crcs, off) & crcs->mask;

	if (crcs->of[i].len != len || crcs->of[i].off != off)
		return false;
	*crc = crcs->of[i].crc;
	return len;
}
