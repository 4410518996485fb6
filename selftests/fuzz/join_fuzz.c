// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Creating a comm: messages of any content from anyone, while this node is rank 0 or another. The join ends at most
 * once, with an agreement that it may enter into, and whoever gives up is rid of it.
 *
 * An input is a shape and a role, then events of 12 bytes.
 */
#include "fuzz.h"
#include "core/agree/join.h"

#define HEAD	6
#define RECORD	12
#define RANKS	64

static struct tor_node node;
static struct tor_ctx ctx;
static struct tor_join join;
static u8 seen[RANKS];
static u32 seen_nonce[RANKS];
static u32 epoch[RANKS];
static u32 installed;

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, HEAD, RECORD);
}

int tor_env_join_install(struct tor_ctx *c, struct tor_join *j)
{
	must(j == &join && j->a.tag);
	must(j->a.unit >= TOR_WIRE_UNIT_MIN && j->a.unit % TOR_WIRE_UNIT_ALIGN == 0);
	installed++;
	return host.send_error;
}

static bool over(void)
{
	return host.joins_done;
}

/* A message of node @from as it should be. */
static struct tor_comm_msg proper(u32 from, u8 step)
{
	bool ready = step == TORCOLL_COMM_READY;
	u32 rank = join.rank ? 0 : from;
	u32 heard = seen_nonce[rank % RANKS];

	return (struct tor_comm_msg){
		.step = step,
		.name = join.name,
		.proof = join.proof,
		.members = join.members,
		.nonce = join.rank ? join.nonce : heard ? heard : 9,
		.rank = join.rank ? join.rank : rank,
		.ranks = join.a.ranks,
		.missing = ready ? 0 : from,
		.tag = join.a.tag ? join.a.tag : 5,
		.generation = 3,
		.frame_bytes = 1024,
		.epochs = ready ? join.a.ranks : 0,
		.has_terms = true,
		.terms = { .flags = node.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0 },
	};
}

/* But for one member, or one of the epochs that it tells. */
static void deviate(struct tor_comm_msg *msg, u32 *say, u8 which, u32 value)
{
	u32 *const number[] = {
		[4] = &msg->nonce, [5] = &msg->rank, [6] = &msg->ranks, [7] = &msg->missing,
		[8] = &msg->tag, [9] = &msg->frame_bytes, [10] = &msg->error, [11] = &msg->generation,
	};

	switch (which) {
	case 1:
		msg->name = value;
		break;
	case 2:
		msg->proof = value;
		break;
	case 3:
		msg->members ^= value;
		break;
	case 12:
		say[value % RANKS] = value >> 8;
		break;
	case 13:
		msg->missing = value % (RANKS + 2);
		msg->epochs = (value >> 8) % (RANKS + 1);
		break;
	case 14:
		msg->terms.flags = value;
		msg->terms.cause = value >> 8;
		msg->terms.refusal = value;
		msg->terms.node = value;
		msg->terms.rank = value;
		msg->terms.rate[value % TORCOLL_WIRE_RATES] = value;
		memset(msg->terms.name, value >> 16, value % TORCOLL_HOST_NAME);
		break;
	case 15:
		msg->has_terms = false;
		break;
	default:
		if (which < ARRAY_SIZE(number) && number[which])
			*number[which] = value;
	}
}

static void message(struct fuzz_in *in, bool known)
{
	u32 from = fuzz_u8(in) % (node.torus.nodes + 1);
	struct tor_comm_msg msg = proper(from, fuzz_u8(in) % 9);
	u8 body[sizeof(struct torcoll_comm_msg) + (RANKS + 1) * sizeof(__be32) +
		sizeof(struct torcoll_comm_terms)];
	u8 which = fuzz_u8(in);
	u32 value = fuzz_u32(in);
	struct tor_comm_msg got;
	u32 say[RANKS + 1] = { 0 };
	struct tor_hdr h;
	u32 i;

	for (i = 0; i < RANKS; i++)
		say[i] = i == join.rank ? node.epoch : 4;
	tor_node_header(&node, &h, TORCOLL_FRAME_COMM, node.self);
	h.src = join.rank && !(which & 0x80) ? (join.member ? join.member[0] : 0) : from;
	h.src_epoch = 4;
	/* the surroundings drop frames from themselves, and from nobody */
	if (h.src == node.self || h.src >= node.torus.nodes)
		return;
	deviate(&msg, say, which % 16, value);
	tor_wire_put_comm(body, &msg, say);
	if (!tor_wire_get_comm(body, tor_wire_comm_bytes(&msg), &got))
		tor_join_rx(&ctx, &node, &h, &got, known);
}

static void event(struct fuzz_in *in)
{
	u8 what = fuzz_u8(in);

	ctx.now += (u64)fuzz_u8(in) * NSEC_PER_MSEC;
	switch (what % 8) {
	case 0:
		tor_join_timer(&ctx, &node);
		break;
	case 1:
		if (what & 0x80)
			tor_join_cancel(&ctx, &join, what & 0x40 ? -EINTR : -ETIMEDOUT);
		break;
	case 2:
		host.send_error = what & 0x80 ? -ENOMEM : 0;
		break;
	default:
		message(in, what & 0x80);
	}
	must(host.joins_done <= 1);
	must(installed <= 1);
	must(list_empty(&node.joins) == over());
	if (over()) {
		must(join.a.state == TOR_AGREE_DONE);
		must(join.a.error <= 0 && join.a.error > -4096);
		/* an agreement was entered into before it holds */
		must(join.a.error || installed);
		must(strlen(join.fault.name) <= TORCOLL_HOST_NAME);
	}
}

static bool start(struct fuzz_in *in)
{
	static u32 member[RANKS];
	struct tor_torus torus;
	u32 i;

	fuzz_torus(in, &torus);
	memset(&node, 0, sizeof(node));
	must(!tor_node_init(&node, &torus, 1, fuzz_below(in, torus.nodes)));
	memset(&join, 0, sizeof(join));
	join.a.node = &node;
	join.a.ranks = torus.nodes;
	join.rank = node.self;
	join.a.unit = 1344;
	memset(epoch, 0, sizeof(epoch));
	join.a.epoch = epoch;
	if (fuzz_u8(in) & 1) {
		/* the list backwards */
		for (i = 0; i < torus.nodes; i++)
			member[i] = torus.nodes - 1 - i;
		join.member = member;
		join.rank = torus.nodes - 1 - node.self;
	}
	if (!join.rank) {
		memset(seen, 0, sizeof(seen));
		memset(seen_nonce, 0, sizeof(seen_nonce));
		join.seen = seen;
		join.seen_nonce = seen_nonce;
	}
	installed = 0;
	ctx.now = NSEC_PER_SEC;
	tor_join_prepare(&join, "name", 4, "secret", 6);
	must(!tor_join_start(&ctx, &join));
	return !over();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };

	host_reset();
	if (start(&in)) {
		while (size - in.left < HEAD && in.left)
			fuzz_u8(&in);
		while (in.left >= RECORD) {
			struct fuzz_in record = { in.p, RECORD };

			event(&record);
			in.p += RECORD;
			in.left -= RECORD;
			host_forget_sent();
		}
	}
	if (!over())
		tor_join_cancel(&ctx, &join, -ETIMEDOUT);
	must(host.joins_done == 1 && list_empty(&node.joins));
	host_forget_sent();
	tor_node_destroy(&node);
	must(!host.outstanding);
	return 0;
}
