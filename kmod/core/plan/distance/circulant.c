// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `circulant`: round-optimal plans on circulant graphs for any number of ranks
 * (Träff, "Optimal Broadcast Schedules in Logarithmic Time with Applications to
 * Broadcast, All-Broadcast, Reduction and All-Reduction", 2024).
 *
 * A broadcast of n blocks takes n - 1 + q rounds, q = ceil(log2 p): in round i
 * of its own count, k = i mod q, a rank receives block recv[k] + q * (i div q).
 * To make n - 1 a multiple of q, counting begins with x virtual rounds that do
 * nothing. Blocks below 0 are not sent; in the last q rounds, blocks from n - 1
 * on mean block n - 1. Reversed, it is a reduction. All roots at once:
 * allgather, with the parts of the blocks of all roots in one message;
 * reversed: reduce-scatter.
 *
 * With one block per root no schedule is computed: a rank at distance o behind
 * the root is reached in the round with skip[k] <= o < skip[k + 1], so that a
 * message carries the blocks of neighbouring ranks.
 */
#include "core/plan/distance/circulant.h"
#include "core/plan/family.h"

/* --- schedules --- */

/* A search for the blocks that a rank receives. */
struct search {
	const u32 *skip;
	u32 r;				/* rank + p */
	u32 end;			/* rounds before this one are wanted */
	u32 calls;
	s8 *block;
	u32 unused;			/* skips, as bits */
};

void tor_circulant_init(struct tor_circulant *c, u32 p)
{
	u32 k;

	c->p = p;
	c->q = fls(p - 1);
	c->skip[c->q] = p;
	for (k = c->q; k-- > 0;)
		c->skip[k] = (c->skip[k + 1] + 1) / 2;
}

/*
 * The round in which the first block reaches a rank on the greedy path from the
 * root; q for the root itself.
 */
static u32 circulant_base_block(const struct tor_circulant *c, u32 r)
{
	u32 k;

	for (k = c->q; k-- > 0;) {
		if (r == c->skip[k])
			return k;
		/* no branch: it would be mispredicted for every other bit */
		r -= r > c->skip[k] ? c->skip[k] : 0;
	}
	return c->q;
}

/* The longest skip of a set that is at most @room; -1 if there is none. */
static s32 circulant_longest(const u32 *skip, u32 set, u32 room)
{
	/* skip[e] is above 2^(e - 1) and at most 2^e: at most one try fails */
	s32 e = fls(set & ((2U << fls(room)) - 1)) - 1;

	if (e >= 0 && skip[e] > room)
		e = fls(set & ((1U << e) - 1)) - 1;
	return e;
}

/*
 * Depth-first search over the paths from the root, longest skips first. The
 * paths that end at least skip[k], but less than skip[k + 1], before the rank
 * give the block of round k. Ends strictly decrease (@below), and each skip is
 * the last one of only one path. @k: the next round that needs a block;
 * returned. @skips: those that may come next, unless they are used meanwhile.
 */
static u32 circulant_find_blocks(struct search *s, u32 k, u32 from, u32 below, u32 skips)
{
	const u32 *skip = s->skip;
	const u32 r = s->r, end = s->end;
	u32 last, to;
	s32 e;

	while (k < end) {
		last = min(r - skip[k], below - 1);
		e = last > from ? circulant_longest(skip, s->unused & skips, last - from) : -1;
		if (e < 0)
			return k;
		to = from + skip[e];
		skips = (1U << e) - 1;
		if (to + skip[k + 1] <= r) {
			s->calls++;
			k = circulant_find_blocks(s, k, to, below, skips | 1U << e);
		}
		if (k == end || from + skip[k + 1] > r)
			return k;
		below = to;
		s->block[k++] = e;
		s->unused &= ~(1U << e);
	}
	return k;
}

/* The first @rounds entries of tor_circulant_recv(). */
static u32 circulant_find_recv(const struct tor_circulant *c, u32 r, u32 rounds, s8 *block)
{
	u32 b = circulant_base_block(c, r), k, q = c->q;
	struct search s;

	s.skip = c->skip;
	s.r = c->p + r;
	s.end = rounds;
	s.calls = 0;
	s.block = block;
	s.unused = ((2U << q) - 1) & ~(1U << b);
	circulant_find_blocks(&s, 0, 0, 2 * c->p, ~0U);
	/*
	 * the path that ends with the skip of p leads to the rank itself: its
	 * base block
	 */
	for (k = 0; k < rounds; k++)
		block[k] = block[k] == (s8)q ? (s8)b : block[k] - (s8)q;
	return s.calls;
}

u32 tor_circulant_recv(const struct tor_circulant *c, u32 r, s8 *block)
{
	return circulant_find_recv(c, r, c->q, block);
}

/* Block @k of the receive schedule of the rank to which @r sends in round @k. */
static s8 circulant_ask_receiver(const struct tor_circulant *c, u32 r, u32 k)
{
	u32 to = r + c->skip[k] < c->p ? r + c->skip[k] : r + c->skip[k] - c->p;
	s8 block[TOR_CIRCULANT_ROUNDS];

	circulant_find_recv(c, to, k + 1, block);
	return block[k];
}

/*
 * True if the path tells what the rank sends in round @k. @at: its place among
 * the @end ranks that behave like it in later rounds; @taken: skip[k] is on the
 * path.
 */
static inline bool circulant_is_plain(const struct tor_circulant *c, u32 k, u32 at, u32 end,
				      bool taken)
{
	const u32 *skip = c->skip;
	u32 rest = end - skip[k];

	if (taken)
		return at > skip[k] || at <= rest || k == 1 || rest < skip[k - 1];
	return at + skip[k] < end || end < skip[k - 1] || (k == 1 && !at);
}

/*
 * Follows the greedy path to the rank, within the range [0, end) of ranks that
 * behave alike in the round. The block sent is the one of the last skip taken,
 * before the first one the base block. Where the range is too short to tell,
 * the block is taken from the receiver's schedule. The last skip of the path is
 * the base block.
 */
u32 tor_circulant_send(const struct tor_circulant *c, u32 r, s8 *block)
{
	u32 at = r, end = c->p, q = c->q, k, asked = 0;
	const u32 *skip = c->skip;
	s8 last = q;

	for (k = 0; r == 0 && k < q; k++)
		block[k] = k;
	if (!r)
		return 0;
	for (k = q - 1; k > 0; k--) {
		bool taken = at >= skip[k];

		last = taken ? (s8)(k - q) : last;
		block[k] = last;
		if (!circulant_is_plain(c, k, at, end, taken)) {
			block[k] = circulant_ask_receiver(c, r, k);
			asked++;
		}
		at -= taken ? skip[k] : 0;
		end = taken ? end - skip[k] : min(end, skip[k]);
	}
	/* skip 0 is taken, or the path has ended */
	block[0] = at ? -(s8)q : last;
	/* the base block is known now; q stood for it */
	for (k = q - 1; k > 0 && skip[k] > r; k--)
		if (block[k] == (s8)q)
			block[k] = block[0] + (s8)q;
	return asked;
}

/*
 * Continue the path to w->r, one of @end ranks, to the rounds before @k: it takes
 * none of their skips.
 */
static void circulant_walk_down(const struct tor_circulant *c, struct tor_circulant_walk *w, u32 k,
				u32 end)
{
	if (k > w->k)
		w->start = w->r;
	while (k-- > 0) {
		w->end[k] = end;
		end = min(end, c->skip[k]);
	}
}

void tor_circulant_walk_begin(const struct tor_circulant *c, struct tor_circulant_walk *w, u32 k)
{
	w->r = 0;
	w->k = k;
	w->taken = 0;
	circulant_walk_down(c, w, c->q, c->p);
}

/*
 * To the next rank: the first skip that its path can take besides, and none of
 * shorter ones.
 */
static void circulant_walk_on(const struct tor_circulant *c, struct tor_circulant_walk *w)
{
	u32 k = 0;

	while (k < c->q && (w->taken >> k & 1 || w->end[k] <= c->skip[k]))
		k++;
	w->r++;
	if (k == c->q)
		return;
	w->taken = (w->taken >> k | 1) << k;
	circulant_walk_down(c, w, k, w->end[k] - c->skip[k]);
}

/* As in tor_circulant_send(). */
s8 tor_circulant_walk_next(const struct tor_circulant *c, struct tor_circulant_walk *w)
{
	u32 k = w->k, path = w->taken >> k;
	s8 block;

	if (!w->r)
		block = k;
	else if (k && !circulant_is_plain(c, k, w->r - w->start, w->end[k], path & 1))
		block = circulant_ask_receiver(c, w->r, k);
	else
		block = path ? (s8)(k + __ffs64(path) - c->q) : (s8)__ffs64(w->taken);
	circulant_walk_on(c, w);
	return block;
}

/* --- the family --- */

struct circulant {
	struct tor_circulant c;
	u32 blocks;			/* per root */
	u32 half;			/* rounds of a broadcast */
	s8 recv[TOR_CIRCULANT_Q];	/* broadcast and reduce: this rank's schedules */
	s8 send[TOR_CIRCULANT_Q];
};

/* Position of the walk over a transfer. */
struct at {
	u32 k;				/* i mod q */
	u32 next, end;			/* allgather: distances of the sender behind the roots */
	s32 shift;			/* from entries of schedules to blocks: q * (i div q) - x */
	s32 block;			/* broadcast: the block that is sent */
	u32 from;			/* the sender, in the direction of the broadcast */
	bool gather;
	struct tor_circulant_walk walk;	/* several blocks per root: of the senders */
};

static const struct circulant *circulant_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct circulant);
}

static bool circulant_is_rooted(const struct tor_plan *p)
{
	return p->call.collective == TORCOLL_BROADCAST || p->call.collective == TORCOLL_REDUCE;
}

/*
 * Default number of blocks; in a broadcast, of a few pages of floats each, at
 * most 64.
 */
static u32 circulant_preset_blocks(const struct tor_plan *p)
{
	u64 n = tor_div64(p->call.count, 4096);

	return circulant_is_rooted(p) ? clamp_t(u64, n, 1, 64) : 1;
}

static int circulant_init(struct tor_plan *p, const char **why)
{
	struct circulant *s = tor_plan_state(p, struct circulant);
	u32 rel = (p->rank + p->call.ranks - p->call.root) % p->call.ranks;

	if (p->call.param[TORCOLL_PARAM_CHANNELS] > 1) {
		*why = "circulant has one channel";
		return -EINVAL;
	}
	tor_circulant_init(&s->c, p->call.ranks);
	s->blocks = p->call.param[TORCOLL_PARAM_BLOCKS];
	if (!s->blocks)
		s->blocks = circulant_preset_blocks(p);
	s->half = s->blocks - 1 + s->c.q;
	if (s->blocks > U16_MAX) {
		*why = "the number of blocks exceeds 65535";
		return -EINVAL;
	}
	if (circulant_is_rooted(p)) {
		tor_circulant_recv(&s->c, rel, s->recv);
		tor_circulant_send(&s->c, rel, s->send);
	}
	return 0;
}

static u32 circulant_rounds(const struct tor_plan *p, u32 channel)
{
	return p->call.collective == TORCOLL_ALLREDUCE ? 2 * circulant_state(p)->half :
							circulant_state(p)->half;
}

/* The block that schedule entry @entry denotes in this round; negative: none. */
static s32 circulant_block(const struct circulant *s, const struct at *at, s8 entry)
{
	return min_t(s32, entry + at->shift, s->blocks - 1);
}

static void circulant_find_round(const struct tor_plan *p, const struct tor_cursor *c,
				 struct at *at)
{
	const struct circulant *s = circulant_state(p);
	u32 i = c->round, x = (s->c.q - (s->blocks - 1) % s->c.q) % s->c.q;

	at->gather = p->call.collective == TORCOLL_BROADCAST ||
		     p->call.collective == TORCOLL_ALLGATHER || c->round >= s->half;
	if (c->round >= s->half)
		i -= s->half;
	else if (!at->gather)
		i = s->half - 1 - i;
	i += x;
	at->k = i % s->c.q;
	at->shift = (s32)(i - at->k) - (s32)x;
}

/* Transfers, in the direction of the broadcast: sent, received. */
static bool circulant_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	struct at *at = tor_plan_state(c, struct at);
	const struct circulant *s = circulant_state(p);
	u32 n = p->call.ranks, peer;

	if (c->transfer > 1)
		return false;
	circulant_find_round(p, c, at);
	peer = (p->rank + (c->transfer ? n - s->c.skip[at->k] : s->c.skip[at->k])) % n;
	c->src = c->transfer ? peer : p->rank;
	c->dst = c->transfer ? p->rank : peer;
	at->from = c->src;
	at->next = 0;
	at->end = n;
	if (circulant_is_rooted(p)) {
		at->block = circulant_block(s, at, c->transfer ? s->recv[at->k] : s->send[at->k]);
		/* the root has all blocks */
		at->end = c->dst != p->call.root && at->block >= 0;
	} else if (s->blocks == 1) {
		at->end = s->c.skip[at->k + 1] - s->c.skip[at->k];
	} else {
		tor_circulant_walk_begin(&s->c, &at->walk, at->k);
	}
	if (at->gather)
		c->op = TOR_PIECE_COPY;
	else
		swap(c->src, c->dst);
	return true;
}

/*
 * One block per root: those of the ranks from @at->next to @at->end before the
 * sender, as ranges.
 */
static struct tor_span circulant_next_range(const struct tor_plan *p, struct at *at)
{
	u32 n = p->call.ranks, last = (at->from + n - at->next) % n;
	u32 count = min(at->end - at->next, last + 1);
	struct tor_span first, s = tor_plan_own(p, 0, last);

	first = tor_plan_own(p, 0, last + 1 - count);
	at->next += count;
	return (struct tor_span){ first.off, s.off + s.n - first.off };
}

/*
 * Several blocks per root: for the next root the block that a rank at the
 * sender's distance behind it sends. The root itself gets none; early rounds
 * have none for many roots.
 */
static struct tor_span circulant_next_block(const struct tor_plan *p, struct at *at)
{
	const struct circulant *s = circulant_state(p);
	u32 n = p->call.ranks, o;
	struct tor_span own;
	s32 block = -1;

	while (block < 0) {
		if (at->next == at->end)
			return (struct tor_span){ 0, 0 };
		o = at->next++;
		block = circulant_block(s, at, tor_circulant_walk_next(&s->c, &at->walk));
		block = o + s->c.skip[at->k] == n ? -1 : block;
	}
	own = tor_plan_own(p, 0, at->from >= o ? at->from - o : at->from + n - o);
	return (struct tor_span){ own.off + tor_block_start(own.n, s->blocks, block),
				  tor_block_len(own.n, s->blocks, block) };
}

static bool circulant_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	const struct circulant *s = circulant_state(p);

	if (at->next >= at->end)
		return false;
	if (circulant_is_rooted(p)) {
		at->next++;
		tor_piece_in_place(out, (struct tor_span){
			tor_block_start(p->call.count, s->blocks, at->block),
			tor_block_len(p->call.count, s->blocks, at->block),
		});
	} else {
		tor_piece_in_place(out, s->blocks == 1 ? circulant_next_range(p, at) :
							 circulant_next_block(p, at));
	}
	return true;
}

const struct tor_family tor_family_circulant = {
	.serves = TOR_COLL_BW | TOR_COLL(BROADCAST) | TOR_COLL(REDUCE),
	.params = TOR_PARAM(CHANNELS) | TOR_PARAM(BLOCKS),
	.any_list = true,
	.init = circulant_init,
	.rounds = circulant_rounds,
	.transfer = circulant_transfer,
	.piece = circulant_piece,
};
