/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The vector divided into cells at every boundary of a piece or a block: all
 * elements of a cell are treated alike.
 */
#ifndef _TORCOLL_PLAN_CELLS_H
#define _TORCOLL_PLAN_CELLS_H

#include "dump.h"

#define MAX_CELLS	(1ULL << 28)	/* of all ranks and buffers */

struct cells {
	u64 *edge;			/* ascending; edge[n] is count */
	size_t n;
	size_t edges, room;
	u32 *slot;			/* a hash table of edges: their number + 1, or 0 */
	u32 bits;			/* it has 2^bits slots */
};

/* Find the cells; call cells_free() also after an error: there are too many. */
bool cells_find(struct cells *x, const struct dump *d, struct dump_error *e);
void cells_free(struct cells *x);

/* Return the cell that begins at @off, or the first one behind it. */
size_t cells_at(const struct cells *x, u64 off);

#endif
