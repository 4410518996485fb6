// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plan requests: any numbers. What is accepted stays inside its buffers and bounds, and sender and receiver agree
 * about every transfer; what is refused, is refused with a reason, and on every rank alike.
 */
#include "fuzz.h"
#include "core/plan/plan.h"

#define ROUNDS_MAX	512		/* looked at per channel */
#define PIECES_MAX	4096		/* per round */
#define RANKS_MAX	32

static u32 members[RANKS_MAX];
static u64 counts[RANKS_MAX];

struct transfer {
	u32 n;
	struct tor_piece piece[8];	/* the first ones, in order */
	u64 elements;
};

static void check_piece(const struct tor_plan *p, const struct tor_piece *piece)
{
	must(piece->src < p->call.ranks && piece->dst < p->call.ranks);
	must(piece->src == p->rank || piece->dst == p->rank);
	must(piece->sbuf < p->shape.bufs && piece->dbuf < p->shape.bufs);
	must(piece->op <= TOR_PIECE_REDUCE);
	must(piece->n && piece->n <= p->call.count);
	must(piece->soff <= p->call.count - piece->n && piece->doff <= p->call.count - piece->n);
}

/* What goes from @src to @dst in a round, as @p sees it. */
static void collect(const struct tor_plan *p, u32 channel, u32 round, u32 src, u32 dst,
		    struct transfer *t)
{
	struct tor_piece piece;
	struct tor_cursor c;
	u32 n = 0;

	memset(t, 0, sizeof(*t));
	if (round >= tor_plan_rounds(p, channel))
		return;
	tor_plan_begin(p, channel, round, &c);
	while (tor_plan_next(p, &c, &piece)) {
		must(n++ < PIECES_MAX);
		check_piece(p, &piece);
		if (piece.src != src || piece.dst != dst)
			continue;
		if (t->n < ARRAY_SIZE(t->piece))
			t->piece[t->n] = piece;
		t->n++;
		t->elements += piece.n;
	}
}

static bool same_transfer(const struct transfer *a, const struct transfer *b)
{
	u32 i;

	if (a->n != b->n || a->elements != b->elements)
		return false;
	for (i = 0; i < min_t(u32, a->n, ARRAY_SIZE(a->piece)); i++) {
		const struct tor_piece *x = &a->piece[i], *y = &b->piece[i];

		if (x->n != y->n || x->sbuf != y->sbuf || x->dbuf != y->dbuf || x->op != y->op ||
		    x->soff != y->soff || x->doff != y->doff)
			return false;
	}
	return true;
}

static void check_round(const struct tor_plan *p, u32 channel, u32 round, u32 other)
{
	struct transfer mine, theirs;
	struct tor_plan peer;

	must(!tor_plan_init(&peer, &p->call, other, NULL));
	collect(p, channel, round, p->rank, other, &mine);
	collect(&peer, channel, round, p->rank, other, &theirs);
	must(same_transfer(&mine, &theirs));
	collect(p, channel, round, other, p->rank, &mine);
	collect(&peer, channel, round, other, p->rank, &theirs);
	must(same_transfer(&mine, &theirs));
}

static void check_plan(struct fuzz_in *in, const struct tor_plan *p)
{
	u32 channel, rounds, round, tries = 8;

	must(p->shape.channels >= 1 && p->shape.channels <= TOR_MAX_CHANNELS);
	must(p->shape.bufs >= 1 && p->shape.bufs <= TOR_MAX_BUFS);
	for (channel = 0; channel < p->shape.channels; channel++)
		must(tor_plan_rounds(p, channel) <= p->shape.rounds);
	while (tries--) {
		channel = fuzz_u8(in) % p->shape.channels;
		rounds = tor_plan_rounds(p, channel);
		if (!rounds)
			continue;
		round = fuzz_u16(in) % min_t(u32, rounds, ROUNDS_MAX);
		check_round(p, channel, round, fuzz_u8(in) % p->call.ranks);
	}
}

/* The members of a request: all nodes, or some of them in some order. */
static void choose_members(struct fuzz_in *in, struct tor_call *call)
{
	u32 nodes = call->torus->nodes;
	u32 i, j;

	call->ranks = nodes;
	if (fuzz_u8(in) & 1)
		return;
	for (i = 0; i < nodes; i++)
		members[i] = i;
	for (i = 0; i < nodes; i++) {
		j = fuzz_u8(in) % nodes;
		swap(members[i], members[j]);
	}
	call->ranks = 1 + fuzz_below(in, nodes);
	call->members = members;
}

static void choose_counts(struct fuzz_in *in, struct tor_call *call)
{
	u32 i;

	if (fuzz_u8(in) & 7)
		return;
	call->count = fuzz_u8(in) & 1;
	for (i = 0; i < call->ranks; i++) {
		counts[i] = fuzz_u8(in);
		call->count += counts[i];
	}
	call->counts = counts;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct tor_torus torus;
	struct tor_call call = { .torus = &torus };
	const char *why = NULL, *again = NULL;
	struct tor_plan plan;
	u32 i;
	int err;

	host_reset();
	fuzz_torus(&in, &torus);
	call.collective = fuzz_u8(&in);
	call.algorithm = fuzz_u8(&in);
	call.root = fuzz_u8(&in);
	call.count = fuzz_u64(&in);
	switch (fuzz_u8(&in) % 4) {
	case 0:
		call.count %= TOR_COUNT_MAX;
		break;
	case 1:
		call.count %= 1 << 24;
		break;
	default:
		call.count %= 5000;
	}
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		call.param[i] = fuzz_u8(&in) & 1 ? fuzz_u16(&in) : 0;
	if (call.param[0] > 64 && fuzz_u8(&in) & 1)
		call.param[0] %= 16;
	choose_members(&in, &call);
	if (call.ranks > RANKS_MAX)
		return 0;
	choose_counts(&in, &call);
	err = tor_plan_init(&plan, &call, fuzz_u8(&in) % call.ranks, &why);
	must(err == 0 || err == -EINVAL || err == -EOPNOTSUPP);
	if (err) {
		must(why);
		must(tor_plan_init(&plan, &call, fuzz_u8(&in) % call.ranks, &again) == err);
		return 0;
	}
	check_plan(&in, &plan);
	return 0;
}
