// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `ring` in the order of ranks: each rank adds its own vector to the sum of
 * those before it and passes the sum on, block by block, so that all ranks are
 * busy. The result is the sequential sum.
 *
 * In a scan a rank sends a block in the round after it arrived. An exclusive
 * scan needs the own vector when the block has been replaced by what arrived,
 * which is the result: it keeps the block in a temporary, adds the result to it
 * in a round in between, and sends it. A temporary holds a few blocks.
 *
 * Where nodes have several ranks, which need not be neighbours in the chain,
 * the plan is that of a node: each of its ranks does the same, in a vector of
 * its own. There are reductions of this kind, too: the last rank has the sum of
 * all, which goes to the root, or round by all nodes.
 */
#include "core/plan/family.h"
#include "core/seats.h"

#define BLOCK		4096		/* elements, at least: a few pages */
#define BLOCKS		64		/* at most, unless asked for */
#define KEPT		4		/* blocks in a temporary */

struct chain {
	u32 ranks;			/* in the sum */
	u32 seats;			/* of them on this node */
	u32 blocks;
	u32 stride;			/* rounds from rank to rank */
};

/*
 * What a rank does with a block, in the order of rounds, and what a node does
 * with sums of all ranks.
 */
enum step { KEEP, COME, ADD, GO, STEPS, SUM_COMES = STEPS, SUM_GOES };

/* The transfer of a block: one piece. Kept in the cursor. */
struct at {
	enum step step;
	u32 rank;			/* that has it; of sums, that receives it: its node */
	u32 block;
	bool done;
};

static const struct chain *chain_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct chain);
}

/* --- ranks --- */

static u32 chain_node(const struct tor_plan *p, u32 rank)
{
	return p->call.team ? tor_team_node(p->call.team, rank) : rank;
}

static u32 chain_rank(const struct tor_plan *p, u32 seat)
{
	return p->call.team ? tor_team_rank_in(p->call.team, p->rank, seat) : p->rank;
}

static u32 chain_last(const struct tor_plan *p)
{
	return chain_state(p)->ranks - 1;
}

/* --- begin --- */

static bool chain_is_exclusive(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_EXSCAN;
}

/* Rounds in which sums of all ranks go on, for one block. */
static u32 chain_sum_rounds(const struct tor_plan *p)
{
	if (p->call.collective == TORCOLL_ALLREDUCE)
		return p->call.ranks - 1;
	return p->call.collective == TORCOLL_REDUCE && p->call.root != chain_last(p);
}

static u32 chain_rounds(const struct tor_plan *p, u32 channel)
{
	const struct chain *s = chain_state(p);

	return s->stride * (s->ranks - 1 + s->blocks - 1) + chain_sum_rounds(p);
}

u32 tor_chain_blocks(const struct tor_call *call)
{
	u32 asked = call->param[TORCOLL_PARAM_BLOCKS];

	/* more than elements would be rounds in which nothing is done */
	if (asked)
		return clamp_t(u64, call->count, 1, asked);
	return clamp_t(u64, tor_div64(call->count, BLOCK), 1, BLOCKS);
}

static void chain_keeps(struct tor_plan *p)
{
	const struct chain *s = chain_state(p);
	u64 count = p->call.count;

	p->shape.bufs += s->seats;
	/* blocks do not get longer */
	p->temp.n = s->blocks > KEPT ? tor_block_start(count, s->blocks, KEPT) : count;
	/* a block takes the place of one that was sent 2 * KEPT - 2 rounds before */
	if (s->blocks > KEPT)
		p->shape.lag = 2 * KEPT - 2;
}

static int chain_init(struct tor_plan *p, const char **why)
{
	struct chain *s = tor_plan_state(p, struct chain);
	const struct tor_team_map *team = p->call.team;

	if (p->call.param[TORCOLL_PARAM_CHANNELS] > 1) {
		*why = "ring adds up in the order of ranks in one channel";
		return -EINVAL;
	}
	s->blocks = tor_chain_blocks(&p->call);
	if (s->blocks > U16_MAX) {
		*why = "the number of blocks exceeds 65535";
		return -EINVAL;
	}
	s->ranks = team ? team->ranks : p->call.ranks;
	s->seats = team ? tor_team_seats(team, p->rank) : 1;
	s->stride = chain_is_exclusive(p) ? 2 : 1;
	p->shape.vectors = s->seats;
	p->shape.bufs = s->seats;
	/* each rank's successor, and who is next to have the sum of all */
	p->shape.peers = team ? s->seats + 1 : 1;
	p->shape.sequential = true;
	if (chain_is_exclusive(p))
		chain_keeps(p);
	return 0;
}

/* --- steps --- */

/* The round in which a rank sends its first block. */
static u32 chain_goes_in(const struct tor_plan *p, u32 rank)
{
	u32 stride = chain_state(p)->stride;

	return rank * stride + stride - 1;
}

/* The block of this round, if the first one is in round @first. */
static bool chain_find_block(const struct tor_plan *p, u32 round, u32 first, struct at *at)
{
	const struct chain *s = chain_state(p);

	if (round < first || (s->stride == 2 && (round - first) % 2))
		return false;
	at->block = (round - first) / s->stride;
	return at->block < s->blocks;
}

/* Local: the own block goes to the temporary, or what arrived is added there. */
static bool chain_keep(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	u32 before = at->step == KEEP ? 2 : 1;

	if (!chain_is_exclusive(p) || !at->rank || at->rank == chain_last(p) ||
	    !chain_find_block(p, c->round, chain_goes_in(p, at->rank) - before, at))
		return false;
	c->src = p->rank;
	c->dst = p->rank;
	c->op = at->step == KEEP ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
	return true;
}

/* From @at->rank to the next one. */
static bool chain_pass(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	if (!chain_find_block(p, c->round, chain_goes_in(p, at->rank), at))
		return false;
	c->src = chain_node(p, at->rank);
	c->dst = chain_node(p, at->rank + 1);
	c->op = chain_is_exclusive(p) ? TOR_PIECE_COPY : TOR_PIECE_REDUCE;
	return true;
}

static bool chain_step(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	switch (at->step) {
	case COME:
		if (!at->rank)
			return false;
		at->rank--;
		return chain_pass(p, c, at);
	case GO:
		/* to a rank of this node, it comes */
		return at->rank < chain_last(p) && chain_node(p, at->rank + 1) != p->rank &&
		       chain_pass(p, c, at);
	default:
		return chain_keep(p, c, at);
	}
}

/*
 * Sums of all ranks: from the node of the last rank to that of the root, or from
 * node to node. @at->rank: the last one of the node that receives them, or the
 * root.
 */
static bool chain_sum_step(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	u32 nodes = p->call.ranks, first = chain_node(p, chain_last(p)), place = 0;
	bool comes = at->step == SUM_COMES;

	if (!chain_sum_rounds(p))
		return false;
	c->op = TOR_PIECE_COPY;
	if (p->call.collective == TORCOLL_REDUCE) {
		at->rank = p->call.root;
		c->src = first;
		c->dst = chain_node(p, at->rank);
		if (p->rank != (comes ? c->dst : c->src) || (!comes && c->src == c->dst))
			return false;
		return chain_find_block(p, c->round, chain_last(p), at);
	}
	place = (p->rank + nodes - first) % nodes;
	if (place == (comes ? 0 : nodes - 1))
		return false;
	c->src = (p->rank + nodes - comes) % nodes;
	c->dst = (c->src + 1) % nodes;
	at->rank = tor_team_rank_in(p->call.team, c->dst, tor_team_seats(p->call.team, c->dst) - 1);
	return chain_find_block(p, c->round, chain_last(p) + place - comes, at);
}

/* The first seat whose rank is @rank or later: seats are in the order of ranks. */
static u32 chain_seat_from(const struct tor_plan *p, u32 rank)
{
	u32 first = 0, end = chain_state(p)->seats;

	while (first < end) {
		u32 seat = (first + end) / 2;

		if (chain_rank(p, seat) < rank)
			first = seat + 1;
		else
			end = seat;
	}
	return first;
}

/*
 * Steps of the ranks of this node. Of a chain of many ranks most have nothing to
 * do in a round: a rank's first step is one round before it has the turn of
 * @stride rounds, its last one that of its last block.
 */
static bool chain_rank_transfer(const struct tor_plan *p, struct tor_cursor *c, struct at *at)
{
	const struct chain *s = chain_state(p);
	u32 last = (c->round + 1) / s->stride, seat;

	if (!c->transfer && c->round / s->stride >= s->blocks)
		c->transfer = STEPS * chain_seat_from(p, c->round / s->stride - s->blocks);
	for (; c->transfer < STEPS * s->seats; c->transfer++) {
		seat = c->transfer / STEPS;
		at->step = c->transfer % STEPS;
		at->rank = chain_rank(p, seat);
		if (at->rank > last)
			break;
		if (chain_step(p, c, at))
			return true;
	}
	return false;
}

/* Transfers: the steps of each rank of this node, then those of sums. */
static bool chain_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = (struct at *)c->family;
	u32 seats = chain_state(p)->seats, i;

	at->done = false;
	if (c->transfer < STEPS * seats && chain_rank_transfer(p, c, at))
		return true;
	c->transfer = max_t(u32, c->transfer, STEPS * seats);
	for (; c->transfer < STEPS * seats + 2; c->transfer++) {
		i = c->transfer - STEPS * seats;
		at->step = SUM_COMES + i;
		if (chain_sum_step(p, c, at))
			return true;
	}
	return false;
}

/* --- pieces --- */

/* A rank's vector among the buffers of its node. */
static u16 chain_vector(const struct tor_plan *p, u32 rank)
{
	return p->call.team ? tor_team_seat(p->call.team, rank) : TOR_BUF_DATA;
}

static u16 chain_temporary(const struct tor_plan *p, u32 rank)
{
	u32 seats = p->call.team ? tor_team_seats(p->call.team, chain_node(p, rank)) : 1;

	return seats + chain_vector(p, rank);
}

static u64 chain_kept_at(const struct tor_plan *p, u32 block)
{
	return tor_block_start(p->call.count, chain_state(p)->blocks, block % KEPT);
}

/* Where the sum of all ranks is on the node that sends it. */
static u16 chain_sum_of(const struct tor_plan *p, u32 node)
{
	return tor_team_seats(p->call.team, node) - 1;
}

static bool chain_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 blocks = chain_state(p)->blocks;

	if (at->done)
		return false;
	at->done = true;
	tor_piece_in_place(out, (struct tor_span){
		tor_block_start(p->call.count, blocks, at->block),
		tor_block_len(p->call.count, blocks, at->block),
	});
	switch (at->step) {
	case KEEP:
	case ADD:
		out->sbuf = chain_vector(p, at->rank);
		out->dbuf = chain_temporary(p, at->rank);
		out->doff = chain_kept_at(p, at->block);
		break;
	case COME:
	case GO:
		out->sbuf = chain_vector(p, at->rank);
		out->dbuf = chain_vector(p, at->rank + 1);
		if (!chain_is_exclusive(p) || !at->rank)
			break;
		out->sbuf = chain_temporary(p, at->rank);
		out->soff = chain_kept_at(p, at->block);
		break;
	default:
		out->sbuf = chain_sum_of(p, c->src);
		out->dbuf = chain_vector(p, at->rank);
	}
	return true;
}

#define CHAIN(collectives) {						\
	.serves = (collectives),					\
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(BLOCKS),		\
	.any_list = true,						\
	.init = chain_init,						\
	.rounds = chain_rounds,						\
	.transfer = chain_transfer,					\
	.piece = chain_piece,						\
}

const struct tor_family tor_family_chain = CHAIN(TOR_COLL(SCAN) | TOR_COLL(EXSCAN));

const struct tor_family tor_family_chain_team =
	CHAIN(TOR_COLL(SCAN) | TOR_COLL(EXSCAN) | TOR_COLL(ALLREDUCE) | TOR_COLL(REDUCE));
