// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One rank of a comm among hostile ones, in collectives or in messages to or from one of them: frames and
 * acknowledgements for any op, round, place and length, of any content, at any time, while memory, FPU and queues fail.
 * No byte outside of the op's memory is touched, nothing is left over, and unless the comm failed, honest peers get
 * every op to its end.
 *
 * An input is a comm and an op, then events of 16 bytes. A frame is first made as it should be at this moment, then
 * one or another member of it is changed: so the fuzzer finds its way into later rounds.
 */
#include "core/engine/chan.h"
#include "core/engine/pair.h"
#include "../unit/made_paths.h"
#include "fuzz.h"

#define HEAD		16
#define RECORD		16
#define DEPTH		2
#define CHANNELS	TOR_MAX_CHANNELS
#define COUNT_MAX	1000
#define RANKS		32

static struct tor_node node;
static struct tor_comm comm;
static struct tor_op op[DEPTH];
static struct tor_chan chan[DEPTH][CHANNELS];
static struct tor_mem data_mem[DEPTH], temp_mem[DEPTH];
static u32 epoch[RANKS];
static struct made_paths path;
static struct tor_ctx ctx;
static struct tor_call request;
static u32 next_seq;
static u8 role;				/* of messages, as that of an op; 0: collectives */
static u32 peer;
static bool begun[DEPTH], retired[DEPTH], shatter;

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, HEAD, RECORD);
}

void tor_env_op_done(struct tor_ctx *c, struct tor_op *o)
{
	must(begun[o - op]);
	host.ops_done++;
}

void tor_env_op_retired(struct tor_ctx *c, struct tor_op *o)
{
	must(begun[o - op]);
	retired[o - op] = true;
}

/* Exactly as much as the plan may touch. */
static void get_memory(struct tor_mem *mem, u64 len)
{
	memset(mem, 0, sizeof(*mem));
	mem->data = calloc(1, len);
	mem->len = len;
	mem->odds = shatter ? 40 : 0;
	mem->seed = next_seq;
}

/* What the surroundings do between two entries. */
static void leave(void)
{
	u32 i, c, visited;

	host_forget_sent();
	must(!host.fpu_sections);
	must(ctx.sent <= tor_env_budget().frames);
	ctx = (struct tor_ctx){ .now = ctx.now };
	for (i = 0; i < DEPTH; i++) {
		if (!retired[i])
			continue;
		retired[i] = false;
		begun[i] = false;
		free(data_mem[i].data);
		free(temp_mem[i].data);
		visited = tor_turn_end(&op[i]);
		for (c = 0; c < tor_op_channels(&op[i]); c++)
			if (visited & 1U << c)
				tor_chan_recycle(&ctx, &chan[i][c]);
		host_forget_sent();
	}
}

static void abort_all(void)
{
	u32 i, c;

	for (i = 0; i < DEPTH; i++)
		for (c = 0; c < tor_op_channels(&op[i]); c++)
			tor_chan_abort(&ctx, &chan[i][c]);
	leave();
}

static void submit(void)
{
	u32 slot = next_seq % DEPTH;
	const char *why;
	u64 len;
	u32 c, visited;

	if (begun[slot] || atomic_read(&comm.failed))
		return;
	if (tor_op_begin(&op[slot], next_seq, &request, &why))
		return;
	must(op[slot].plan.shape.channels <= comm.channels);
	/* a barrier has one that was not asked for */
	len = op[slot].plan.call.count * op[slot].elem;
	get_memory(&data_mem[slot], len);
	get_memory(&temp_mem[slot],
		   op[slot].plan.shape.input ? len : tor_op_temp_bytes(&op[slot]));
	op[slot].data = &data_mem[slot];
	op[slot].temp = &temp_mem[slot];
	op[slot].deadline = 0;
	begun[slot] = true;
	next_seq++;
	visited = tor_turn_begin(&op[slot]);
	for (c = 0; c < tor_op_channels(&op[slot]); c++)
		if (visited & 1U << c)
			tor_chan_start(&ctx, &chan[slot][c]);
	leave();
}

/* The header of the frame that is missing in @ch, from whom it should come; false: none is. */
static bool wanted_frame(const struct tor_chan *ch, u32 skip, struct tor_hdr *h, u32 *rank)
{
	const struct tor_rx *rx;
	u32 index;

	list_for_each_entry(rx, &ch->rx, list) {
		if (rx->round != ch->round || !ch->entered || tor_rx_done(rx))
			continue;
		for (index = rx->base; index < rx->frames && index < rx->base + TOR_WINDOW; index++) {
			if (tor_rx_look(rx, index) != TOR_RX_NEW || skip--)
				continue;
			*rank = rx->rank;
			h->where.round = rx->round;
			h->offset = (u64)index * comm.unit;
			h->length = tor_chan_frame_len(ch->op, rx, index);
			return true;
		}
	}
	return false;
}

/* What frames from the other end state. */
static struct tor_where where_of(const struct tor_chan *ch, u32 round)
{
	struct tor_where where = tor_chan_where(ch, round);

	if (role)
		where.role = tor_role_opposite(role);
	return where;
}

static void header(const struct tor_chan *ch, struct tor_hdr *h)
{
	tor_node_header(&node, h, TORCOLL_FRAME_DATA, node.self);
	h->comm = comm.tag;
	h->op = ch->seq;
	h->where = where_of(ch, ch->round);
	h->length = comm.unit;
	h->digest = role ? ch->op->digest : tor_op_digest(&request);
	h->stamp = ctx.now / NSEC_PER_USEC;
}

/* Hand in a frame with some payload, in pieces. */
static void data_frame(struct tor_chan *ch, u32 rank, struct tor_hdr *h, u8 filling, u8 split)
{
	struct tor_bytes piece[3];
	u8 *payload = malloc(h->length + 1);
	u32 first = h->length ? split % h->length : 0;
	enum tor_counter why;
	u32 sender;

	memset(payload, filling, h->length);
	h->payload_crc = tor_wire_crc(payload, h->length) ^ (filling == 0xee);
	h->src = tor_comm_node(&comm, rank);
	piece[0] = (struct tor_bytes){ payload, first };
	/* an empty one in between, as an skb may have */
	piece[1] = (struct tor_bytes){ payload + first, 0 };
	piece[2] = (struct tor_bytes){ payload + first, h->length - first };
	if (tor_comm_admit(&comm, h, &sender, &why)) {
		must(sender < comm.ranks && sender != comm.rank);
		tor_chan_data(&ctx, ch, sender, h, piece, 3);
	}
	free(payload);
	leave();
}

static void deviate(struct fuzz_in *in, struct tor_hdr *h, u32 *rank)
{
	u8 which = fuzz_u8(in);
	u32 value = fuzz_u32(in);

	h->flags = fuzz_u8(in);
	switch (which % 16) {
	case 1:
		*rank = value % (comm.ranks + 1);
		break;
	case 2:
		h->op += (s8)value;
		break;
	case 3:
		h->where.round = value;
		break;
	case 4:
		h->where.round += (s8)value;
		break;
	case 5:
		h->offset = (u64)(value % 128) * comm.unit;
		break;
	case 6:
		h->offset = (u64)value << (value % 33);
		break;
	case 7:
		h->length = value % (comm.unit + 2);
		break;
	case 8:
		h->digest ^= value;
		break;
	case 9:
		h->src_epoch = value;
		break;
	case 10:
		h->stamp = value;
		break;
	case 11:
		h->where.round += (s8)value;
		*rank = (value >> 8) % comm.ranks;
		h->offset = (u64)(value >> 16) % 4 * comm.unit;
		break;
	}
}

static void hostile_data(struct fuzz_in *in, struct tor_chan *ch)
{
	u8 skip = fuzz_u8(in), filling = fuzz_u8(in), split = fuzz_u8(in);
	u32 rank = skip % comm.ranks;
	struct tor_hdr h;

	header(ch, &h);
	h.src_epoch = 7;
	wanted_frame(ch, skip % 8, &h, &rank);
	deviate(in, &h, &rank);
	/* frames of others belong to other channels */
	if (role)
		rank = peer;
	data_frame(ch, rank, &h, filling, split);
}

static void hostile_ack(struct fuzz_in *in, struct tor_chan *ch)
{
	u8 which = fuzz_u8(in);
	struct tor_ack ack = {
		.comm = comm.tag,
		.op = ch->seq,
		.where = where_of(ch, ch->round),
		.state = fuzz_u8(in) % 4,
	};
	u32 rank = fuzz_u8(in) % comm.ranks;
	const struct tor_tx *tx;

	list_for_each_entry(tx, &ch->tx, list) {
		if (which-- % 4)
			continue;
		rank = tx->rank;
		ack.where.round = tx->round;
		break;
	}
	if (fuzz_u8(in) & 1)
		ack.where.round += (s8)fuzz_u8(in);
	ack.base = fuzz_u8(in) & 1 ? fuzz_u32(in) : fuzz_u8(in) % 8;
	ack.mask = (u64)fuzz_u16(in) << fuzz_u8(in) % 64;
	ack.stamp = ctx.now / NSEC_PER_USEC - fuzz_u8(in);
	if (role)
		rank = peer;
	ctx.answered = false;
	if (rank != comm.rank)
		tor_chan_ack(&ctx, ch, rank, &ack);
	leave();
}

static void dropped(struct fuzz_in *in, struct tor_chan *ch)
{
	struct tor_hdr h;
	u32 rank = fuzz_u8(in) % comm.ranks;

	header(ch, &h);
	h.where.round -= fuzz_u8(in) & 1;
	h.offset = (u64)(fuzz_u8(in) & 1 ? fuzz_u8(in) : fuzz_u32(in)) * comm.unit;
	/* what is dropped here are frames of ours */
	if (role) {
		h.where.role = role;
		rank = peer;
	}
	if (rank != comm.rank)
		tor_chan_dropped(&ctx, ch, rank, &h);
	leave();
}

static void abort_frame(struct fuzz_in *in)
{
	struct tor_abort abort = { .error = fuzz_u32(in), .rank = fuzz_u32(in), .op = fuzz_u8(in) };
	u8 body[sizeof(struct torcoll_abort)];

	tor_wire_put_abort(body, &abort);
	tor_comm_abort_rx(&ctx, &comm, fuzz_u8(in) % comm.ranks, body,
			  fuzz_u8(in) % (sizeof(body) + 1));
	leave();
}

/* One step of honest peers in @ch: acknowledge all, send what is missing. */
static bool honest_step(struct tor_chan *ch)
{
	struct tor_ack ack = { .state = TORCOLL_ACK_DONE, .comm = comm.tag };
	struct tor_hdr h;
	u32 rank;

	if (ch->state == TOR_CHAN_IDLE || ch->state == TOR_CHAN_CLOSED)
		return false;
	if (!list_empty(&ch->tx)) {
		const struct tor_tx *tx = list_first_entry(&ch->tx, struct tor_tx, list);

		rank = tx->rank;
		ack.op = ch->seq;
		ack.where = where_of(ch, tx->round);
		if (tx->frames) {
			tor_chan_ack(&ctx, ch, rank, &ack);
			leave();
			return true;
		}
	}
	header(ch, &h);
	if (wanted_frame(ch, 0, &h, &rank)) {
		h.src_epoch = comm.epoch[rank] ? comm.epoch[rank] : 7;
		data_frame(ch, rank, &h, 1, 100);
		return true;
	}
	while (tor_chan_work(&ctx, ch))
		leave();
	ctx.now += TOR_RETRY;
	tor_chan_timer(&ctx, ch);
	leave();
	return true;
}

static void event(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), where = fuzz_u8(in), steps;
	struct tor_chan *ch = &chan[where & 1][(where >> 1) % tor_op_channels(op)];

	ctx.now += (u64)fuzz_u8(in) * fuzz_u8(in) * NSEC_PER_MSEC / 64;
	switch (what % 16) {
	case 0:
		submit();
		break;
	case 1:
		if (what & 0x80)
			tor_chan_work(&ctx, ch);
		else
			tor_chan_timer(&ctx, ch);
		leave();
		break;
	case 2:
		dropped(in, ch);
		break;
	case 3:
		steps = fuzz_u8(in);
		while (steps-- && honest_step(ch))
			;
		break;
	case 4:
		host.no_fpu = what & 0x80;
		break;
	case 5:
		host.send_error = what & 0x80 ? what & 0x40 ? -ENOMEM : -EHOSTUNREACH : 0;
		break;
	case 6:
		host.fail_after = what & 0x80 ? host.allocs + fuzz_u8(in) % 16 : ~0U;
		break;
	case 7:
		if (what & 0x80 && where & 0x80)
			abort_frame(in);
		break;
	case 8:
	case 9:
	case 10:
		hostile_ack(in, ch);
		break;
	default:
		hostile_data(in, ch);
	}
	if (atomic_read(&comm.failed))
		abort_all();
}

/* One end of messages with request.root, if that is what was drawn: not with oneself, which takes no frames. */
static void setup_messages(void)
{
	bool sends = request.collective == TORCOLL_SEND;

	role = 0;
	peer = request.root == comm.rank ? (comm.rank + 1) % comm.ranks : request.root;
	if ((!sends && request.collective != TORCOLL_RECV) || comm.ranks == 1)
		return;
	role = sends ? TOR_ROLE_SEND : TOR_ROLE_RECV;
	request.redop = TORCOLL_REDOP_NONE;
	request.algorithm = TORCOLL_ALGO_AUTO;
	request.root = sends ? comm.rank : peer;
	request.peer = sends ? peer : comm.rank;
}

static bool setup(struct fuzz_in *in)
{
	static const u32 types[] = { TORCOLL_I32, TORCOLL_F32, TORCOLL_I8, TORCOLL_F64 };
	static struct tor_torus torus;
	u32 i, c;
	u8 memory;

	fuzz_torus(in, &torus);
	if (torus.nodes > RANKS)
		return false;
	memset(&node, 0, sizeof(node));
	must(!tor_node_init(&node, &torus, 1, fuzz_below(in, torus.nodes)));
	memset(&comm, 0, sizeof(comm));
	for (i = 0; i < RANKS; i++)
		epoch[i] = 7;
	comm.node = &node;
	comm.tag = 0x1234;
	comm.ranks = torus.nodes;
	comm.rank = node.self;
	/* some that no 8 or 16 divide */
	comm.unit = 256 + 60 * (fuzz_u8(in) % 4);
	comm.depth = DEPTH;
	comm.channels = CHANNELS;
	comm.epoch = epoch;
	comm.path = made_paths(&path);
	memset(&request, 0, sizeof(request));
	request.torus = &node.torus;
	request.ranks = comm.ranks;
	request.algorithm = 1 + fuzz_below(in, TORCOLL_ALGO_COUNT - 1);
	request.count = fuzz_u16(in) % (COUNT_MAX + 1);
	/* what is often served, and anything */
	request.type = fuzz_u8(in);
	request.type = request.type < 0x80 ? types[request.type % ARRAY_SIZE(types)] :
					     request.type & 0x1f;
	request.redop = fuzz_u8(in);
	request.redop = request.redop < 0x80 ? TORCOLL_SUM : request.redop & 0x1f;
	request.collective = fuzz_u8(in);
	request.collective = request.collective < 0x80 ? TORCOLL_ALLREDUCE :
							 request.collective & 0x1f;
	request.root = fuzz_u8(in) % comm.ranks;
	setup_messages();
	request.bits = fuzz_u8(in) & 1 ? TORCOLL_BITS_RELAXED : TORCOLL_BITS_AGREE;
	node.checksum_payload = fuzz_u8(in) & 1;
	next_seq = fuzz_u8(in) & 1 ? 0U : U32_MAX - 2 * DEPTH + 1;
	memory = fuzz_u8(in);
	shatter = memory % 8 == 1;
	if (memory & 0x80)
		host.budget = (struct tor_budget){ 1 + memory % 64, 1 + memory % 3 };
	ctx.now = NSEC_PER_SEC;
	memset(begun, 0, sizeof(begun));
	memset(retired, 0, sizeof(retired));
	for (i = 0; i < DEPTH; i++) {
		memset(&op[i], 0, sizeof(op[i]));
		op[i].comm = &comm;
		op[i].role = role;
		op[i].peer = peer;
		for (c = 0; c < tor_op_channels(&op[i]); c++)
			tor_chan_init(&chan[i][c], &op[i], c, next_seq + i);
	}
	return true;
}

/* Nothing fails any more, and the peers do what they should. */
static void end_honestly(void)
{
	u32 i, c, tries = 0;
	bool going = true;

	host.no_fpu = false;
	host.send_error = 0;
	host.fail_after = ~0U;
	while (going && !atomic_read(&comm.failed)) {
		going = false;
		for (i = 0; i < DEPTH; i++)
			for (c = 0; c < tor_op_channels(&op[i]); c++)
				going |= honest_step(&chan[i][c]);
		must(tries++ < 200000);
	}
	if (atomic_read(&comm.failed))
		abort_all();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	u32 i, c;

	host_reset();
	if (!setup(&in))
		return 0;
	while (size - in.left < HEAD && in.left)
		fuzz_u8(&in);
	submit();
	while (in.left >= RECORD && !atomic_read(&comm.failed)) {
		struct fuzz_in record = { in.p, RECORD };

		event(&record);
		in.p += RECORD;
		in.left -= RECORD;
	}
	end_honestly();
	for (i = 0; i < DEPTH; i++) {
		must(!begun[i]);
		for (c = 0; c < tor_op_channels(&op[i]); c++)
			tor_chan_destroy(&chan[i][c]);
	}
	must(!atomic_read(&comm.kept));
	tor_node_destroy(&node);
	must(!host.outstanding && !host.kept && !host.fpu_sections);
	return 0;
}
