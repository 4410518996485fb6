// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Descriptors: any numbers, members and counts. What is accepted is what the header promises, by rules written down here a
 * second time, and what is refused has a sentence; the parts that the caller's buffers are lie in the vector; and
 * whether buffers are one vector, or overlap, is right at any addresses.
 *
 * An input is a shape and a right descriptor, then records of 10 bytes, each of which changes a member of it.
 */
#include "fuzz.h"
#include "core/engine/desc.h"
#include "core/engine/parts.h"
#include "core/reduce/reduce.h"
#include "core/wire/wire.h"

#define HEAD		40
#define RECORD		10
#define RANKS_MAX	64

/* What collectives take, but for type and count. */
static const struct {
	bool redop, root, counts, recv_counts, peer;
} takes[TORCOLL_COLL_COUNT] = {
	[TORCOLL_ALLREDUCE] = { .redop = true },
	[TORCOLL_REDUCE_SCATTER] = { .redop = true, .counts = true },
	[TORCOLL_ALLGATHER] = { .counts = true },
	[TORCOLL_BROADCAST] = { .root = true },
	[TORCOLL_REDUCE] = { .redop = true, .root = true },
	[TORCOLL_GATHER] = { .root = true, .counts = true },
	[TORCOLL_SCATTER] = { .root = true, .counts = true },
	[TORCOLL_ALLTOALL] = { .counts = true, .recv_counts = true },
	[TORCOLL_SCAN] = { .redop = true },
	[TORCOLL_EXSCAN] = { .redop = true },
	[TORCOLL_SEND] = { .peer = true },
	[TORCOLL_RECV] = { .peer = true },
};

static u64 counts[2 * RANKS_MAX];

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, HEAD, RECORD);
}

/* A descriptor that is right for @ranks ranks. */
static void make_right(struct fuzz_in *in, struct torcoll_submit *d, u32 ranks)
{
	d->collective = 1 + fuzz_below(in, TORCOLL_COLL_COUNT - 1);
	d->algorithm = fuzz_below(in, TORCOLL_ALGO_COUNT);
	d->bits = fuzz_below(in, TORCOLL_BITS_COUNT);
	d->flags = fuzz_u8(in) & TORCOLL_OP_NOWAIT;
	if (d->collective != TORCOLL_BARRIER) {
		d->type = 1 + fuzz_below(in, TORCOLL_TYPE_COUNT - 1);
		d->count = fuzz_u16(in);
	}
	if (takes[d->collective].redop)
		d->redop = 1 + fuzz_below(in, TORCOLL_REDOP_COUNT - 1);
	if (takes[d->collective].root)
		d->root = fuzz_below(in, ranks);
	if (takes[d->collective].peer)
		d->peer = fuzz_below(in, ranks);
	d->send_addr = fuzz_u32(in);
	d->recv_addr = fuzz_u32(in);
}

/* The first number that is too large, somewhere. */
static u64 edge(u32 which, u32 ranks)
{
	const u64 edges[] = {
		ranks, TORCOLL_COLL_COUNT, TORCOLL_ALGO_COUNT, TORCOLL_TYPE_COUNT, TORCOLL_REDOP_COUNT,
		TORCOLL_BITS_COUNT, 1 << 16, 1ULL << 59,
	};

	return edges[which % ARRAY_SIZE(edges)];
}

/* A record: which member, how, and to what. */
static void change(struct fuzz_in *in, struct torcoll_submit *d, u32 ranks)
{
	u8 member = fuzz_u8(in), shift = fuzz_u8(in);
	u64 value = fuzz_u64(in) >> (shift & 63);

	if (shift & 128)
		value = edge(value >> 1, ranks) - (value & 1);

	switch (member % 16) {
	case 0:
		d->flags = value;
		break;
	case 1:
		d->collective = value;
		break;
	case 2:
		d->algorithm = value;
		break;
	case 3:
		d->type = value;
		break;
	case 4:
		d->redop = value;
		break;
	case 5:
		d->bits = value;
		break;
	case 6:
		d->root = value;
		break;
	case 7:
		d->peer = value;
		break;
	case 8:
		d->count = value;
		break;
	case 9:
		d->counts = value;
		break;
	case 10:
		d->recv_counts = value;
		break;
	case 11:
		d->send_addr = value;
		break;
	case 12:
		d->recv_addr = value;
		break;
	case 13:
		d->scalar = value;
		break;
	default:
		d->param[shift % TORCOLL_PARAM_COUNT] = value;
	}
}

static bool is_right(const struct torcoll_submit *d, u32 ranks, bool ring)
{
	u32 i;

	if (d->flags & ~(TORCOLL_OP_WAIT | TORCOLL_OP_NOWAIT | TORCOLL_OP_RING | TORCOLL_OP_TRY |
			 TORCOLL_OP_TELL))
		return false;
	if (d->flags & TORCOLL_OP_RING && (!ring || d->flags & TORCOLL_OP_WAIT))
		return false;
	if (d->wait_ns && !(d->flags & TORCOLL_OP_WAIT))
		return false;
	if (d->collective < 1 || d->collective >= TORCOLL_COLL_COUNT ||
	    d->algorithm >= TORCOLL_ALGO_COUNT || d->bits >= TORCOLL_BITS_COUNT)
		return false;
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (i != TORCOLL_PARAM_EXCLUDE && d->param[i] >= 1 << 16)
			return false;
	if (d->collective == TORCOLL_BARRIER)
		return !d->type && !d->count && !d->redop && !d->root && !d->peer && !d->counts &&
		       !d->recv_counts && !d->scalar;
	return d->type >= 1 && d->type < TORCOLL_TYPE_COUNT && d->count < 1ULL << 59 &&
	       (takes[d->collective].redop ? d->redop >= 1 && d->redop < TORCOLL_REDOP_COUNT : !d->redop) &&
	       (takes[d->collective].root ? d->root < ranks : !d->root) &&
	       (takes[d->collective].peer ? d->peer < ranks : !d->peer) &&
	       (takes[d->collective].counts || !d->counts) &&
	       (takes[d->collective].recv_counts ? !d->recv_counts == !d->counts : !d->recv_counts) &&
	       (d->redop == TORCOLL_PREMULSUM || !d->scalar);
}

/* Lists of counts, out of eight numbers; their sum is the count, unless it is said not to be. */
static bool get_counts(struct fuzz_in *in, struct torcoll_submit *d, u32 ranks)
{
	__uint128_t sum[2] = {};
	u32 i, lists = !!d->counts + !!d->recv_counts;
	u8 how = fuzz_u8(in), shift = how & 1 ? fuzz_u8(in) & 63 : 0;
	u16 number[8];

	for (i = 0; i < ARRAY_SIZE(number); i++)
		number[i] = fuzz_u16(in);
	for (i = 0; i < lists * ranks; i++) {
		counts[i] = (u64)number[i % ARRAY_SIZE(number)] << shift;
		/* to the edge, or beyond */
		if (how & 4 && i % ranks == ranks - 1 && sum[i / ranks] <= TOR_COUNT_MAX)
			counts[i] = TOR_COUNT_MAX - sum[i / ranks] + (how >> 3 & 1);
		sum[i / ranks] += counts[i];
	}
	for (i = 0; i < lists; i++) {
		bool fits = sum[i] < (__uint128_t)1 << 59;

		must(tor_desc_counts_fit(counts + i * ranks, ranks) == fits);
		if (!fits)
			return false;
	}
	if (lists && !(how & 2))
		d->count = sum[lists - 1];
	return true;
}

static bool meet(u64 a, u64 alen, u64 b, u64 blen)
{
	__uint128_t aend = (__uint128_t)a + alen, bend = (__uint128_t)b + blen;

	return alen && blen && max(a, b) < min(aend, bend);
}

static void check_parts(const struct tor_op *op, const struct torcoll_submit *d)
{
	u64 bytes = op->plan.call.count * op->elem;
	struct tor_part send, recv;
	bool in_place;

	if (op->plan.shape.input) {
		must(tor_parts_input(op) / op->elem <= TOR_COUNT_MAX);
		return;
	}
	tor_parts_find(op, &send, &recv);
	must(send.len <= bytes && send.off <= bytes - send.len);
	must(recv.len <= bytes && recv.off <= bytes - recv.len);
	if (d->send_addr > U64_MAX - send.len || d->recv_addr > U64_MAX - recv.len)
		return;
	must(tor_parts_overlap(d->send_addr, send.len, d->recv_addr, recv.len) ==
	     meet(d->send_addr, send.len, d->recv_addr, recv.len));
	in_place = tor_parts_in_place(d->send_addr, &send, d->recv_addr, &recv);
	must(in_place == (send.len && recv.len &&
			  (u64)(d->recv_addr - d->send_addr) == (u64)(recv.off - send.off)));
}

/* What a plan moves at this rank lies in its vectors. */
static void check_pieces(const struct tor_op *op, u32 rank)
{
	const struct tor_plan *p = &op->plan;
	u64 result = p->call.count, input = p->shape.input ? tor_parts_input(op) / op->elem : result;
	struct tor_piece piece;
	struct tor_cursor c;
	u32 channel, round;

	for (channel = 0; channel < p->shape.channels; channel++) {
		for (round = 0; round < tor_plan_rounds(p, channel); round++) {
			tor_plan_begin(p, channel, round, &c);
			while (tor_plan_next(p, &c, &piece)) {
				if (piece.src == rank && piece.sbuf == TOR_BUF_DATA)
					must(piece.soff <= input && piece.n <= input - piece.soff);
				if (piece.dst == rank && piece.dbuf == TOR_BUF_DATA)
					must(piece.doff <= result && piece.n <= result - piece.doff);
			}
		}
	}
}

/* As the module goes on with what it accepts. */
static void plan(const struct torcoll_submit *d, const struct tor_torus *torus, u32 rank)
{
	struct tor_op op = { .role = tor_desc_role(d), .call.collective = d->collective };
	struct tor_call call = {
		.torus = torus, .ranks = torus->nodes, .collective = d->collective,
		.algorithm = d->algorithm ? d->algorithm : TORCOLL_TREE, .root = d->root,
		.count = d->count, .counts = d->counts ? counts : NULL,
		.from_counts = d->recv_counts ? counts + torus->nodes : NULL,
	};
	const char *why = NULL;
	int err;

	if (op.role) {
		call.root = op.role == TOR_ROLE_SEND ? rank : d->peer;
		call.peer = op.role == TOR_ROLE_SEND ? d->peer : rank;
	}
	memcpy(call.param, d->param, sizeof(call.param));
	err = tor_plan_init(&op.plan, &call, rank, &why);
	must(err == 0 || ((err == -EINVAL || err == -EOPNOTSUPP) && why));
	if (err)
		return;
	op.elem = d->collective == TORCOLL_BARRIER ? 1 : tor_type_size(d->type);
	check_parts(&op, d);
	if (op.plan.shape.input)
		check_pieces(&op, rank);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, min_t(size_t, size, HEAD) };
	struct fuzz_in records = { data + in.left, size - in.left };
	struct torcoll_submit d = { .size = sizeof(d) };
	char why[TOR_DESC_TEXT] = "";
	struct tor_torus torus;
	bool ring, right;
	u32 rank;

	host_reset();
	fuzz_torus(&in, &torus);
	if (torus.nodes > RANKS_MAX)
		return 0;
	rank = fuzz_below(&in, torus.nodes);
	ring = fuzz_u8(&in) & 1;
	make_right(&in, &d, torus.nodes);
	must(!tor_desc_check(&d, torus.nodes, ring, why));
	while (records.left >= RECORD)
		change(&records, &d, torus.nodes);
	right = is_right(&d, torus.nodes, ring);
	must(tor_desc_check(&d, torus.nodes, ring, why) == (right ? 0 : -EINVAL));
	must(right == !why[0]);
	must(strlen(why) < TOR_DESC_TEXT);
	if (right && get_counts(&in, &d, torus.nodes))
		plan(&d, &torus, rank);
	return 0;
}
