// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Plans: requests, and the iterator around the families. See plan.h. */
#include "core/plan/family.h"
#include "core/seats.h"

static const struct tor_family *const families[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_SWING_BW] = &tor_family_swing_bw,
	[TORCOLL_BUCKET] = &tor_family_bucket,
	[TORCOLL_BIBUCKET] = &tor_family_bibucket,
	[TORCOLL_TRIVANCE_LAT] = &tor_family_trivance_lat,
	[TORCOLL_WINDOW] = &tor_family_window,
	[TORCOLL_GENERAL] = &tor_family_general,
	[TORCOLL_CIRCULANT] = &tor_family_circulant,
	[TORCOLL_FLOOD] = &tor_family_flood,
	[TORCOLL_TREE] = &tor_family_tree,
	[TORCOLL_HAMILTONIAN] = &tor_family_hamiltonian,
	[TORCOLL_RING] = &tor_family_ring,
	[TORCOLL_ALLPORT] = &tor_family_allport,
	[TORCOLL_MOORE] = &tor_family_moore,
	[TORCOLL_BRUCK_LAT] = &tor_family_bruck_lat,
	[TORCOLL_RECDOUB_LAT] = &tor_family_recdoub_lat,
	[TORCOLL_SWING_LAT] = &tor_family_swing_lat,
	[TORCOLL_BRUCK_BW] = &tor_family_bruck_bw,
	[TORCOLL_TRIVANCE_BW] = &tor_family_trivance_bw,
	[TORCOLL_RECDOUB_BW] = &tor_family_recdoub_bw,
	[TORCOLL_RECDOUB_BW_MIRRORED] = &tor_family_recdoub_bw_mirrored,
	[TORCOLL_DIRECT] = &tor_family_direct,
	[TORCOLL_LAYERS] = &tor_family_layers,
};

/* Families that belong to an algorithm but serve collectives of their own. */
static const struct {
	u32 algorithm;
	const struct tor_family *family;
} further[] = {
	{ TORCOLL_RING, &tor_family_chain },
	{ TORCOLL_DIRECT, &tor_family_halo },
};

static const struct tor_family *plan_family(const struct tor_call *r)
{
	u32 i;

	if (r->team)
		return r->algorithm == TORCOLL_RING ? &tor_family_chain_team : NULL;
	for (i = 0; i < ARRAY_SIZE(further); i++)
		if (r->algorithm == further[i].algorithm &&
		    further[i].family->serves >> r->collective & 1)
			return further[i].family;
	return families[r->algorithm];
}

u32 tor_algorithm_serves(u32 algorithm)
{
	u32 serves, i;

	if (algorithm >= TORCOLL_ALGO_COUNT || !families[algorithm])
		return 0;
	serves = families[algorithm]->serves;
	for (i = 0; i < ARRAY_SIZE(further); i++)
		if (further[i].algorithm == algorithm)
			serves |= further[i].family->serves;
	/* see tor_plan_init() */
	return serves & TOR_COLL(ALLREDUCE) ? serves | TOR_COLL(BARRIER) : serves;
}

/* --- requests --- */

bool tor_plan_sums_to(const u64 *counts, u32 ranks, u64 count)
{
	u32 i;

	for (i = 0; i < ranks; i++) {
		if (counts[i] > count)
			return false;
		count -= counts[i];
	}
	return !count;
}

void tor_plan_starts(const u64 *counts, u32 ranks, u64 *starts)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ranks; i++) {
		starts[i] = sum;
		sum += counts[i];
	}
}

static const char no_sum[] = "counts do not sum up to count";

/*
 * Lengths between ranks are compared by their digests when frames come. Nobody
 * else can compare those of a rank to itself.
 */
static const char *plan_check_exchange(const struct tor_call *r, u32 rank)
{
	if (!r->counts || !tor_plan_sums_to(r->from_counts, r->ranks, r->count))
		return no_sum;
	if (r->counts[rank] != r->from_counts[rank])
		return "the rank sends itself another number of elements than it receives from itself";
	return NULL;
}

static const char *plan_check_counts(const struct tor_call *r, u32 rank)
{
	if (r->collective == TORCOLL_ALLTOALL && r->from_counts)
		return plan_check_exchange(r, rank);
	if (r->from_counts)
		return "only an alltoall has receive counts";
	if (!r->counts)
		return NULL;
	if (!tor_collective_has_blocks(r->collective))
		return "counts are for reduce-scatter, allgather, gather and scatter";
	return tor_plan_sums_to(r->counts, r->ranks, r->count) ? NULL : no_sum;
}

static const char *plan_check_members(const struct tor_call *r)
{
	u32 i;

	if (!r->ranks)
		return "no ranks";
	if (!r->members)
		return r->ranks == r->torus->nodes ? NULL : "as many ranks as nodes, or members";
	if (r->placed)
		return NULL;
	for (i = 0; i < r->ranks; i++)
		if (r->members[i] >= r->torus->nodes)
			return "a member is not a node of the torus";
	return NULL;
}

static const char *plan_check_params(const struct tor_call *r, const struct tor_family *f)
{
	u32 i;

	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (r->param[i] && !(f->params & (1U << i)))
			return "the algorithm does not have this parameter";
	if (r->param[TORCOLL_PARAM_CHANNELS] > TOR_MAX_CHANNELS ||
	    r->param[TORCOLL_PARAM_CHUNKS] > TOR_MAX_CHANNELS)
		return "more channels than a plan can have";
	return NULL;
}

static const char *plan_check_rooted(const struct tor_call *r)
{
	if (r->root >= (r->team ? r->team->ranks : r->ranks))
		return "root is not a rank";
	if (r->root && !tor_collective_has_root(r->collective))
		return "only broadcast, reduce, gather and scatter have a root";
	return NULL;
}

/* --- the grid --- */

/* A block of nodes. Edges are in the order in which ranks follow them. */
struct box {
	u32 edges;
	u32 dim[TOR_MAX_DIMS];
	u32 extent[TOR_MAX_DIMS];
	bool down[TOR_MAX_DIMS];	/* backwards along the dimension */
};

/* The node next to @node along an edge. @coord is its coordinate there. */
static u32 box_next_node(const struct tor_torus *t, u32 node, u32 d, bool down, u32 *coord)
{
	u32 to = down ? (*coord ? *coord : t->side[d]) - 1 :
			*coord + 1 < t->side[d] ? *coord + 1 : 0;

	node += (to - *coord) * t->stride[d];
	*coord = to;
	return node;
}

/*
 * True if rank i is the node at place i of the box, for all ranks. Counts along
 * the edges, without divisions.
 */
static bool box_has_members(const struct tor_call *r, const struct box *b)
{
	u32 at[TOR_MAX_DIMS] = {}, coord[TOR_MAX_DIMS], i = 0, k, d, node = r->members[0];

	for (k = 0; k < b->edges; k++)
		coord[k] = tor_torus_coord(r->torus, node, b->dim[k]);
	while (r->members[i] == node) {
		if (++i == r->ranks)
			return true;
		for (k = 0; ++at[k] == b->extent[k]; k++) {
			/* back to the beginning of the edge */
			d = b->dim[k];
			at[k] = 0;
			node += (tor_torus_coord(r->torus, r->members[0], d) - coord[k]) *
				r->torus->stride[d];
			coord[k] = tor_torus_coord(r->torus, r->members[0], d);
		}
		node = box_next_node(r->torus, node, b->dim[k], b->down[k], &coord[k]);
	}
	return false;
}

/*
 * Find the next edge: every @step-th rank, starting with the first, along a
 * dimension that no edge uses yet.
 */
static bool box_find_edge(const struct tor_call *r, u32 step, u32 used, struct box *b)
{
	const struct tor_torus *t = r->torus;
	u32 d, e, k = b->edges;
	bool down = false;

	for (d = 0; d < t->ndim; d++) {
		if (used >> d & 1 || t->side[d] == 1)
			continue;
		down = r->members[step] == tor_torus_shift(t, r->members[0], d, -1);
		if (down || r->members[step] == tor_torus_shift(t, r->members[0], d, 1))
			break;
	}
	if (d == t->ndim)
		return false;
	for (e = 2; e < t->side[d] && (u64)e * step < r->ranks; e++)
		if (r->members[e * step] !=
		    tor_torus_shift(t, r->members[0], d, down ? -(s64)e : e))
			break;
	b->dim[k] = d;
	b->extent[k] = e;
	b->down[k] = down;
	b->edges++;
	return true;
}

/*
 * Find the box that the members form: a row, a plane, a block. It may wrap
 * around, with its edges in any order and direction.
 */
static bool box_find(const struct tor_call *r, struct box *b)
{
	u32 used = 0;
	u64 step = 1;

	b->edges = 0;
	while (step < r->ranks) {
		if (!box_find_edge(r, step, used, b))
			return false;
		used |= 1U << b->dim[b->edges - 1];
		step *= b->extent[b->edges - 1];
	}
	return step == r->ranks && box_has_members(r, b);
}

/* Of members that are nodes. One rank alone has no sides, and is no list either. */
static void placement_of(struct tor_placement *found, const struct tor_call *call)
{
	struct box box;

	memset(found, 0, sizeof(*found));
	if (!box_find(call, &box))
		return;
	found->ndim = box.edges;
	memcpy(found->extent, box.extent, box.edges * sizeof(*box.extent));
}

bool tor_placement_find(struct tor_placement *found, const struct tor_call *call)
{
	u32 i;

	for (i = 0; i < call->ranks; i++)
		if (call->members[i] >= call->torus->nodes)
			return false;
	placement_of(found, call);
	return true;
}

/* Drops sides of 1, so that no family has to handle them. */
static int plan_make_grid(struct tor_plan *p, const u32 *extent, u32 ndim)
{
	u32 side[TOR_MAX_DIMS], d, n = 0;

	for (d = 0; d < ndim; d++)
		if (extent[d] > 1)
			side[n++] = extent[d];
	if (!n)
		side[n++] = 1;
	return tor_torus_init(&p->grid, n, side, p->call.torus->cables);
}

static int plan_find_grid(struct tor_plan *p, bool any_list)
{
	const struct tor_placement *placed = p->call.placed;
	const struct tor_torus *t = p->call.torus;
	struct tor_placement found;

	if (!p->call.members)
		return plan_make_grid(p, t->side, t->ndim);
	if (!placed) {
		placement_of(&found, &p->call);
		placed = &found;
	}
	if (placed->ndim || p->call.ranks == 1)
		return plan_make_grid(p, placed->extent, placed->ndim);
	p->list = true;
	return any_list ? plan_make_grid(p, &p->call.ranks, 1) : -EOPNOTSUPP;
}

/*
 * True if rank i is i nodes further round a ring with chords than rank 0, one
 * way or the other: chords join the ranks as they join nodes.
 */
static bool plan_has_chords(const struct tor_plan *p)
{
	return tor_torus_has_chords(p->call.torus) && !p->list &&
	       p->call.ranks == p->call.torus->nodes;
}

/* --- the iterator --- */

/*
 * True if there is nothing to do. A rank alone still has neighbours in a halo,
 * and can send messages to itself; a node alone may have several ranks.
 */
static bool plan_is_idle(const struct tor_call *r)
{
	if (r->ranks == 1 && !r->team && r->collective != TORCOLL_HALO && r->collective != TORCOLL_SEND)
		return true;
	/* a rank that receives nothing may still send */
	return !r->count && !r->from_counts;
}

static int plan_init_family(struct tor_plan *p, const struct tor_family *f, const char **why)
{
	u32 ch, rounds = 0;
	int err;

	p->ops = f;
	p->shape = (struct tor_plan_shape){
		.channels = 1,
		.chunks = max(p->call.param[TORCOLL_PARAM_CHUNKS], 1U),
		.peers = 1,
		.vectors = 1,
		.bufs = 1,
		.agrees = true,
	};
	p->temp = (struct tor_span){ 0, p->call.count };
	p->shape.sequential = plan_is_idle(&p->call);
	if (plan_is_idle(&p->call))
		return 0;
	err = f->init(p, why);
	if (err)
		return err;
	if (p->shape.alternates)
		p->shape.lag = 2;
	for (ch = 0; ch < p->shape.channels; ch++)
		rounds = max(rounds, tor_plan_rounds(p, ch));
	p->shape.rounds = rounds;
	return 0;
}

static int plan_refuse(int err, const char **why, const char *reason)
{
	*why = reason;
	return err;
}

int tor_plan_init(struct tor_plan *p, const struct tor_call *call, u32 rank, const char **why)
{
	const struct tor_family *f;
	const char *nobody, *bad;

	if (!why)
		why = &nobody;
	memset(p, 0, sizeof(*p));
	p->call = *call;
	p->rank = rank;
	if (!tor_collective_name(call->collective))
		return plan_refuse(-EINVAL, why, "unknown collective");
	if (!tor_algorithm_name(call->algorithm))
		return plan_refuse(-EINVAL, why, "unknown algorithm");
	if (call->algorithm == TORCOLL_ALGO_AUTO)
		return plan_refuse(-EINVAL, why, "auto must be replaced by an algorithm first");
	f = plan_family(call);
	if (!f)
		return plan_refuse(-EOPNOTSUPP, why, "the algorithm is not available");
	bad = plan_check_members(call);
	if (!bad)
		bad = rank >= call->ranks ? "not a rank" : plan_check_rooted(call);
	if (!bad)
		bad = plan_check_counts(call, rank);
	if (!bad)
		bad = plan_check_params(call, f);
	if (bad)
		return plan_refuse(-EINVAL, why, bad);
	if (!((call->team ? f->serves : tor_algorithm_serves(call->algorithm)) &
	      (1U << call->collective)))
		return plan_refuse(-EOPNOTSUPP, why,
				   "the algorithm does not serve this collective");
	/* a rank that has the result of an allreduce has heard of all ranks */
	if (call->collective == TORCOLL_BARRIER)
		p->call.collective = TORCOLL_ALLREDUCE;
	if (plan_find_grid(p, f->any_list))
		return plan_refuse(-EOPNOTSUPP, why,
				   "the members do not form a block of the torus");
	p->chords = plan_has_chords(p);
	if (p->chords && f->chords && f->chords->serves >> p->call.collective & 1)
		f = f->chords;
	return plan_init_family(p, f, why);
}

u32 tor_plan_rounds(const struct tor_plan *p, u32 channel)
{
	if (channel >= p->shape.channels || plan_is_idle(&p->call))
		return 0;
	/*
	 * a later channel's part of every block may be empty, with blocks of
	 * one element for example
	 */
	if (!tor_collective_has_blocks(p->call.collective) && !p->call.from_counts &&
	    !tor_plan_slice(p, channel).n)
		return 0;
	return p->ops->rounds(p, channel);
}

void tor_plan_begin(const struct tor_plan *p, u32 channel, u32 round, struct tor_cursor *c)
{
	c->channel = channel;
	c->round = round;
	c->transfer = 0;
	c->open = false;
}

/* Enter the next transfer of the round. */
static bool plan_open_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	c->sbuf = TOR_BUF_DATA;
	c->dbuf = TOR_BUF_DATA;
	c->op = TOR_PIECE_REDUCE;
	c->open = p->ops->transfer(p, c);
	c->transfer++;
	return c->open;
}

/* Reads all members first: the compiler then merges them into two words. */
static inline void plan_begin_piece(const struct tor_cursor *c, struct tor_piece *out)
{
	u32 src = c->src, dst = c->dst;
	u16 sbuf = c->sbuf, dbuf = c->dbuf;
	u8 op = c->op;

	out->src = src;
	out->dst = dst;
	out->sbuf = sbuf;
	out->dbuf = dbuf;
	out->op = op;
}

bool tor_plan_next(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	for (;;) {
		if (!c->open && !plan_open_transfer(p, c))
			return false;
		plan_begin_piece(c, out);
		if (!p->ops->piece(p, c, out))
			c->open = false;
		else if (out->n)
			return true;
	}
}

/* --- what families share --- */

/**
 * tor_plan_share - a channel's part of a vector that several channels share
 * @p: plan of a collective without blocks
 * @channel: its number
 *
 * Return: the slice, in elements.
 */
struct tor_span tor_plan_share(const struct tor_plan *p, u32 channel)
{
	return (struct tor_span){
		tor_block_start(p->call.count, p->shape.channels, channel),
		tor_block_len(p->call.count, p->shape.channels, channel),
	};
}

/**
 * tor_plan_blocks - neighbouring blocks of a channel's slice
 * @p: plan of a collective without blocks
 * @channel: its number
 * @first: the first block; there are as many blocks as ranks
 * @blocks: number of blocks
 *
 * Return: their range, in elements.
 */
struct tor_span tor_plan_blocks(const struct tor_plan *p, u32 channel, u32 first, u32 blocks)
{
	struct tor_span s = tor_plan_slice(p, channel);
	u64 begin = tor_block_start(s.n, p->call.ranks, first);

	return (struct tor_span){
		s.off + begin, tor_block_start(s.n, p->call.ranks, first + blocks) - begin,
	};
}

/**
 * tor_plan_block - a rank's block of a vector
 * @count: elements of the vector
 * @counts: elements of each rank's block, or NULL for an even split
 * @starts: where each begins, or NULL
 * @ranks: number of ranks
 * @rank: owner of the block
 *
 * Return: its range, in elements.
 */
struct tor_span tor_plan_block(u64 count, const u64 *counts, const u64 *starts, u32 ranks,
			       u32 rank)
{
	u64 off = 0;
	u32 i;

	if (!counts)
		return (struct tor_span){ tor_block_start(count, ranks, rank),
					  tor_block_len(count, ranks, rank) };
	if (starts)
		return (struct tor_span){ starts[rank], counts[rank] };
	for (i = 0; i < rank; i++)
		off += counts[i];
	return (struct tor_span){ off, counts[rank] };
}

/**
 * tor_plan_own - a channel's part of a rank's block
 * @p: plan
 * @channel: its number
 * @rank: owner of the block
 *
 * In an allreduce, blocks are those of the channel's slice.
 *
 * Return: the range, in elements.
 */
struct tor_span tor_plan_own(const struct tor_plan *p, u32 channel, u32 rank)
{
	const struct tor_call *r = &p->call;
	struct tor_span own;

	if (r->collective == TORCOLL_ALLREDUCE)
		return tor_plan_blocks(p, channel, rank, 1);
	own = tor_plan_block(r->count, r->counts, r->starts, r->ranks, rank);
	return (struct tor_span){
		own.off + tor_block_start(own.n, p->shape.channels, channel),
		tor_block_len(own.n, p->shape.channels, channel),
	};
}
