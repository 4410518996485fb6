// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * `general`: Kolmakov and Zhang, "A Generalization of the Allreduce Operation"
 * (2020).
 *
 * Vector i is spread over the ranks: rank x has its block x + i (cyclic group,
 * any number of ranks) or block x ^ i (XOR group, powers of two). Shifting
 * vector i by h, that is, sending from x to x + h, makes it vector i - h. The
 * reduction folds N vectors into ceil(N/2): the last floor(N/2) are shifted
 * onto those before them. After L = ceil(log2 p) rounds vector 0 is left: the
 * own block of each rank. The distribution is the reversal.
 *
 * With parameter r the reduction leaves R = N_(L-r) vectors complete, which
 * saves r rounds of distribution. Cyclic: every round folds windows of N
 * vectors that begin at each of 0 .. R-1, so floor(N/2) + R - 1 vectors are
 * shifted. The first vector of a window is not folded while N is odd, so from
 * the first odd N on its sums are kept apart from the regular ones, to which
 * all vectors of all windows belong. Received vectors must be added to both:
 * they are first copied, then added in a local step. XOR: halving until R
 * vectors are left, then r exchanges of all R.
 */
#include "core/plan/family.h"

#define MAX_STEPS	20

struct general {
	u32 steps;			/* L */
	u32 r;
	u32 left;			/* R */
	u32 vectors[MAX_STEPS + 1];	/* N_0 .. N_L */
	bool xor;
};

/* Temporaries of the forms with r > 0. */
enum { BUF_EVEN = 1, BUF_ODD, BUF_CAME, BUF_FIRST, BUFS_CYCLIC };

enum kind { FOLD, SHIFT, ADD, EXCHANGE, RESULT, NOTHING, SPREAD };

/*
 * Vectors [first, first + count) of a rank; advanced by the walk over their
 * blocks.
 */
struct at {
	u32 rank, first, count;
};

static const struct general *general_state(const struct tor_plan *p)
{
	return tor_plan_state_const(p, struct general);
}

static int general_init(struct tor_plan *p, const char **why)
{
	struct general *s = tor_plan_state(p, struct general);
	u32 n = p->call.ranks, k, group = p->call.param[TORCOLL_PARAM_GROUP];
	bool power = !(n & (n - 1));

	s->steps = fls(n - 1);
	s->vectors[0] = n;
	for (k = 0; k < s->steps; k++)
		s->vectors[k + 1] = (s->vectors[k] + 1) / 2;
	s->xor = group ? group == 2 : power;
	/* 0 is the default, r = 0, which is parameter 1 */
	s->r = p->call.param[TORCOLL_PARAM_R] ? p->call.param[TORCOLL_PARAM_R] - 1 : 0;
	*why = NULL;
	if (group > 2)
		*why = "group is 1 (cyclic) or 2 (XOR)";
	else if (s->r > s->steps)
		*why = "r is at most ceil(log2 ranks)";
	else if (s->r && p->call.collective != TORCOLL_ALLREDUCE)
		*why = "only allreduce has r";
	if (*why)
		return -EINVAL;
	*why = "the XOR group has a power of two of ranks";
	if (s->xor && !power)
		return -EOPNOTSUPP;
	s->left = s->vectors[s->steps - s->r];
	if (!s->r)
		return 0;
	p->shape.alternates = true;
	p->shape.agrees = power;
	p->shape.bufs = s->xor ? 4 : BUFS_CYCLIC;
	return 0;
}

/* Rounds between the halving and the distribution, with r > 0. */
static u32 general_middle_rounds(const struct general *s)
{
	if (s->xor)
		return max_t(u32, s->r, 3);
	/* data must not be written in the round after it was sent */
	return s->steps == 1 ? 3 : 2 * s->steps;
}

static u32 general_rounds(const struct tor_plan *p, u32 channel)
{
	const struct general *s = general_state(p);

	if (!s->r)
		return tor_plan_fold_rounds(p, s->steps);
	return general_middle_rounds(s) + (s->steps - s->r) * (s->xor ? 2 : 1);
}

/* The kind of round @t, and its step @k of the reduction. */
static enum kind general_find_round(const struct tor_plan *p, u32 t, u32 *k)
{
	const struct general *s = general_state(p);
	u32 folds = s->xor ? s->steps - s->r : 0;
	bool gather;

	if (!s->r) {
		*k = tor_plan_fold(p, t, s->steps, &gather);
		return gather ? SPREAD : FOLD;
	}
	*k = t;
	if (t < folds)
		return FOLD;
	t -= folds;
	if (t >= general_middle_rounds(s)) {
		*k = s->steps - s->r - 1 - (t - general_middle_rounds(s));
		return SPREAD;
	}
	*k = t;
	if (s->xor)
		return t < s->r ? EXCHANGE : (t == 2 ? RESULT : NOTHING);
	*k = t / 2;
	if (s->steps > 1)
		return t % 2 ? ADD : SHIFT;
	*k = 0;
	return t == 0 ? SHIFT : t == 1 ? NOTHING : ADD;
}

static bool general_set(struct tor_cursor *c, u32 src, u32 dst, u32 op, u32 rank, u32 first,
			u32 count)
{
	struct at *at = (struct at *)c->family;

	c->src = src;
	c->dst = dst;
	c->op = op;
	at->rank = rank;
	at->first = first;
	at->count = count;
	return true;
}

static u32 general_shifted(const struct tor_plan *p, u32 x, u32 h, bool back)
{
	u32 n = p->call.ranks;

	return general_state(p)->xor ? x ^ h : (back ? x + n - h : x + h) % n;
}

/* Number of vectors from @first to below @end, none counted twice. */
static u32 general_at_most_all(const struct tor_plan *p, u32 first, u32 end)
{
	return min(end - first, p->call.ranks);
}

/* --- one round each: transfers --- */

static bool general_fold_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k,
				  bool spread)
{
	u32 n = general_state(p)->vectors[k], h = n / 2, x = p->rank;

	if (c->transfer > 1)
		return false;
	if (c->transfer)
		x = general_shifted(p, x, h, true);
	if (spread)
		return general_set(c, general_shifted(p, x, h, false), x, TOR_PIECE_COPY, x,
				   n - h, h);
	return general_set(c, x, general_shifted(p, x, h, false), TOR_PIECE_REDUCE, x, n - h, h);
}

/* The buffer with the regular sums before step @k of the cyclic form. */
static u32 general_regular_buf(u32 k)
{
	return k ? BUF_EVEN + k % 2 : TOR_BUF_DATA;
}

static bool general_shift_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k)
{
	const struct general *s = general_state(p);
	u32 n = s->vectors[k], h = n / 2, x = p->rank;

	if (c->transfer > 1)
		return false;
	if (c->transfer)
		x = general_shifted(p, x, h, true);
	c->sbuf = general_regular_buf(k);
	c->dbuf = BUF_CAME;
	return general_set(c, x, general_shifted(p, x, h, false), TOR_PIECE_COPY, x, n - h,
			   general_at_most_all(p, n - h, n + s->left - 1));
}

/*
 * True if the sums of the first vectors of windows are kept apart before step
 * @k.
 */
static bool general_is_apart(const struct general *s, u32 k)
{
	while (k--)
		if (s->vectors[k] % 2)
			return true;
	return false;
}

static bool general_move(const struct tor_plan *p, struct tor_cursor *c, u32 sbuf, u32 dbuf, u32 op,
			 u32 first, u32 count)
{
	c->sbuf = sbuf;
	c->dbuf = dbuf;
	return general_set(c, p->rank, p->rank, op, p->rank, first, count);
}

/*
 * Adds what arrived to the regular sums, and to those of the first vectors of
 * windows unless N is odd.
 */
static bool general_add_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k)
{
	const struct general *s = general_state(p);
	u32 n = s->vectors[k], h = n / 2, first = general_is_apart(s, k + 1), count;

	if (k == s->steps - 1) {
		if (c->transfer)
			return c->transfer == 1 && general_move(p, c, BUF_CAME, TOR_BUF_DATA,
								TOR_PIECE_REDUCE, 0, s->left);
		return general_move(p, c,
				    general_is_apart(s, k) ? BUF_FIRST : general_regular_buf(k),
				    TOR_BUF_DATA, TOR_PIECE_COPY, 0, s->left);
	}
	count = general_at_most_all(p, first, n - h + s->left - 1);
	switch (c->transfer) {
	case 0:
		return general_move(p, c, general_regular_buf(k), general_regular_buf(k + 1),
				    TOR_PIECE_COPY, first, count);
	case 1:
		return general_move(p, c, BUF_CAME, general_regular_buf(k + 1), TOR_PIECE_REDUCE,
				    first, count);
	case 2:
		if (n % 2 && !general_is_apart(s, k))
			return general_move(p, c, general_regular_buf(k), BUF_FIRST,
					    TOR_PIECE_COPY, 0, s->left);
		if (n % 2 == 0 && general_is_apart(s, k))
			return general_move(p, c, BUF_CAME, BUF_FIRST, TOR_PIECE_REDUCE, 0,
					    s->left);
		return false;
	default:
		return false;
	}
}

/*
 * The buffer that exchange @k of the XOR form writes: see
 * plan/distance/exchange.h.
 */
static u32 general_exchange_buf(const struct general *s, s32 k)
{
	return k < 0 || (k >= 2 && k == (s32)s->r - 1) ? TOR_BUF_DATA : 1 + k % 3;
}

static bool general_exchange_transfer(const struct tor_plan *p, struct tor_cursor *c, u32 k)
{
	const struct general *s = general_state(p);
	u32 sbuf = general_exchange_buf(s, (s32)k - 1), dbuf = general_exchange_buf(s, k);
	u32 peer = p->rank ^ (s->left >> (k + 1));

	if (!c->transfer)
		return general_move(p, c, sbuf, dbuf, TOR_PIECE_COPY, 0, s->left);
	c->sbuf = sbuf;
	c->dbuf = dbuf;
	if (c->transfer == 1)
		return general_set(c, p->rank, peer, TOR_PIECE_REDUCE, p->rank, 0, s->left);
	return c->transfer == 2 &&
	       general_set(c, peer, p->rank, TOR_PIECE_REDUCE, peer, 0, s->left);
}

static bool general_transfer(const struct tor_plan *p, struct tor_cursor *c)
{
	const struct general *s = general_state(p);
	u32 k;

	switch (general_find_round(p, c->round, &k)) {
	case FOLD:
		return general_fold_transfer(p, c, k, false);
	case SPREAD:
		return general_fold_transfer(p, c, k, true);
	case SHIFT:
		return general_shift_transfer(p, c, k);
	case ADD:
		return general_add_transfer(p, c, k);
	case EXCHANGE:
		return general_exchange_transfer(p, c, k);
	case RESULT:
		return !c->transfer && general_move(p, c, general_exchange_buf(s, s->r - 1),
						    TOR_BUF_DATA, TOR_PIECE_COPY, 0, s->left);
	default:
		return false;
	}
}

/* --- pieces --- */

/*
 * The next adjacent blocks. For XOR the remaining power of two of them is
 * always adjacent.
 */
static bool general_piece(const struct tor_plan *p, struct tor_cursor *c, struct tor_piece *out)
{
	struct at *at = (struct at *)c->family;
	u32 n = p->call.ranks, first, count = at->count;
	struct tor_span a, b;

	if (!at->count)
		return false;
	if (general_state(p)->xor) {
		first = (at->rank ^ at->first) & ~(count - 1);
	} else {
		first = (at->rank + at->first) % n;
		count = min(count, n - first);
	}
	at->first += count;
	at->count -= count;
	a = tor_plan_own(p, 0, first);
	b = tor_plan_own(p, 0, first + count - 1);
	tor_piece_in_place(out, (struct tor_span){ a.off, b.off + b.n - a.off });
	return true;
}

const struct tor_family tor_family_general = {
	.serves = TOR_COLL_BW,
	.params = TOR_PARAM(R) | TOR_PARAM(GROUP),
	.any_list = true,
	.init = general_init,
	.rounds = general_rounds,
	.transfer = general_transfer,
	.piece = general_piece,
};
