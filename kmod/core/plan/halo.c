// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `direct` for a halo: one round in which each rank exchanges a block with each
 * of its neighbours on the grid of ranks.
 *
 * The vector has a block for each way out, in the order of dimensions, down
 * before up. Sides of 1 have none. The block sent up along a dimension arrives
 * as the block from below. On a side of 2 both neighbours are the same rank,
 * which gets both blocks. Ranks that form no torus are treated as a ring. A
 * single rank is its own neighbour.
 */
#include "core/plan/family.h"

/* What is left of a transfer. Kept in the cursor. */
struct at {
	u32 next, end;			/* blocks of the sender */
};

static u32 halo_blocks(const struct tor_plan *p)
{
	return 2 * p->grid.ndim;
}

static int halo_init(struct tor_plan *p, const char **why)
{
	if (tor_div64(p->call.count, halo_blocks(p)) * halo_blocks(p) != p->call.count) {
		*why = "the count of a halo must be a multiple of the number of neighbours";
		return -EINVAL;
	}
	p->shape.peers = halo_blocks(p);
	p->shape.input = true;
	p->shape.bufs = 2;
	return 0;
}

static u32 halo_rounds(const struct tor_plan *p, u32 channel)
{
	return 1;
}

/* Transfers: to and from the neighbour down, then up, of each dimension. */
static bool halo_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 side, peer, way;

	for (; c->transfer < 2 * halo_blocks(p); c->transfer++) {
		way = c->transfer / 2;
		side = p->grid.side[way / 2];
		peer = tor_torus_shift(&p->grid, p->rank, way / 2, way % 2 ? 1 : -1);
		/*
		 * on a side of 2 up is down, which carried both; on a side of 1
		 * sent is received
		 */
		if ((side == 2 && way % 2) || (side == 1 && c->transfer % 2))
			continue;
		c->op = TOR_PIECE_COPY;
		c->src = c->transfer % 2 ? peer : p->rank;
		c->dst = c->transfer % 2 ? p->rank : peer;
		at->next = c->transfer % 2 ? way ^ 1 : way;
		if (side == 2)
			at->next = way;
		at->end = at->next + (side == 2 ? 2 : 1);
		return true;
	}
	return false;
}

static bool halo_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;

	if (at->next == at->end)
		return false;
	out->n = tor_div64(p->call.count, halo_blocks(p));
	out->sbuf = TOR_BUF_INPUT;
	out->soff = at->next * out->n;
	out->doff = (at->next ^ 1) * out->n;
	at->next++;
	return true;
}

const struct tor_family tor_family_halo = {
	.serves = TOR_COLL(HALO),
	.any_list = true,
	.init = halo_init,
	.rounds = halo_rounds,
	.transfer = halo_transfer,
	.piece = halo_piece,
};
