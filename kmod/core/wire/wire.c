// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames: checks of their layout, and how they are written. See wire.h. */
#include "core/wire/wire.h"

#define WIRE_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size))
#define WIRE_AT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset))

WIRE_SIZE(torcoll_hdr, 64);
WIRE_AT(torcoll_hdr, version, 0);
WIRE_AT(torcoll_hdr, type, 1);
WIRE_AT(torcoll_hdr, hop_limit, 2);
WIRE_AT(torcoll_hdr, acks, 3);
WIRE_AT(torcoll_hdr, fabric, 4);
WIRE_AT(torcoll_hdr, src, 8);
WIRE_AT(torcoll_hdr, dst, 12);
WIRE_AT(torcoll_hdr, src_epoch, 16);
WIRE_AT(torcoll_hdr, dst_epoch, 20);
WIRE_AT(torcoll_hdr, comm, 24);
WIRE_AT(torcoll_hdr, op, 28);
WIRE_AT(torcoll_hdr, digest, 32);
WIRE_AT(torcoll_hdr, channel, 36);
WIRE_AT(torcoll_hdr, flags, 37);
WIRE_AT(torcoll_hdr, round, 38);
WIRE_AT(torcoll_hdr, offset, 40);
WIRE_AT(torcoll_hdr, length, 48);
WIRE_AT(torcoll_hdr, stamp, 52);
WIRE_AT(torcoll_hdr, payload_crc, 56);
WIRE_AT(torcoll_hdr, header_crc, 60);

WIRE_SIZE(torcoll_ack, 32);
WIRE_AT(torcoll_ack, comm, 0);
WIRE_AT(torcoll_ack, op, 4);
WIRE_AT(torcoll_ack, channel, 8);
WIRE_AT(torcoll_ack, state, 9);
WIRE_AT(torcoll_ack, round, 10);
WIRE_AT(torcoll_ack, base, 12);
WIRE_AT(torcoll_ack, mask, 16);
WIRE_AT(torcoll_ack, stamp, 24);
WIRE_AT(torcoll_ack, digest, 28);

WIRE_SIZE(torcoll_hello, 72);
WIRE_AT(torcoll_hello, version, 0);
WIRE_AT(torcoll_hello, dim, 16);
WIRE_AT(torcoll_hello, dir, 17);
WIRE_AT(torcoll_hello, ndim, 18);
WIRE_AT(torcoll_hello, hears, 19);
WIRE_AT(torcoll_hello, side, 20);
WIRE_AT(torcoll_hello, frame_size, 44);
WIRE_AT(torcoll_hello, fabric_frame, 48);
WIRE_AT(torcoll_hello, heard_node, 52);
WIRE_AT(torcoll_hello, heard_epoch, 56);
WIRE_AT(torcoll_hello, interval_ms, 60);
WIRE_AT(torcoll_hello, view, 64);
WIRE_AT(torcoll_hello, records, 68);

WIRE_SIZE(torcoll_link_record, 16);
WIRE_AT(torcoll_link_record, node, 0);
WIRE_AT(torcoll_link_record, epoch, 4);
WIRE_AT(torcoll_link_record, seq, 8);
WIRE_AT(torcoll_link_record, dead, 12);
WIRE_AT(torcoll_link_record, frame, 14);

WIRE_SIZE(torcoll_hello_more, 76);
WIRE_AT(torcoll_hello_more, name, 0);
WIRE_AT(torcoll_hello_more, rates, 64);
WIRE_AT(torcoll_hello_more, sent, 68);
WIRE_AT(torcoll_hello_more, cables, 72);
WIRE_AT(torcoll_hello_more, __reserved, 73);

WIRE_SIZE(torcoll_call, 24);
WIRE_AT(torcoll_call, count, 0);
WIRE_AT(torcoll_call, rank, 8);
WIRE_AT(torcoll_call, root, 12);
WIRE_AT(torcoll_call, collective, 16);
WIRE_AT(torcoll_call, type, 17);
WIRE_AT(torcoll_call, redop, 18);
WIRE_AT(torcoll_call, bits, 19);
WIRE_AT(torcoll_call, algorithm, 20);
WIRE_AT(torcoll_call, __reserved, 22);

WIRE_SIZE(torcoll_abort, 72);
WIRE_AT(torcoll_abort, error, 0);
WIRE_AT(torcoll_abort, rank, 4);
WIRE_AT(torcoll_abort, node, 8);
WIRE_AT(torcoll_abort, op, 12);
WIRE_AT(torcoll_abort, digest, 16);
WIRE_AT(torcoll_abort, call, 24);

WIRE_SIZE(torcoll_comm_msg, 64);
WIRE_AT(torcoll_comm_msg, step, 0);
WIRE_AT(torcoll_comm_msg, __reserved, 1);
WIRE_AT(torcoll_comm_msg, error, 4);
WIRE_AT(torcoll_comm_msg, name, 8);
WIRE_AT(torcoll_comm_msg, proof, 16);
WIRE_AT(torcoll_comm_msg, members, 24);
WIRE_AT(torcoll_comm_msg, nonce, 32);
WIRE_AT(torcoll_comm_msg, rank, 36);
WIRE_AT(torcoll_comm_msg, ranks, 40);
WIRE_AT(torcoll_comm_msg, missing, 44);
WIRE_AT(torcoll_comm_msg, tag, 48);
WIRE_AT(torcoll_comm_msg, generation, 52);
WIRE_AT(torcoll_comm_msg, frame_bytes, 56);
WIRE_AT(torcoll_comm_msg, epochs, 60);

WIRE_SIZE(torcoll_comm_terms, 128);
WIRE_AT(torcoll_comm_terms, flags, 0);
WIRE_AT(torcoll_comm_terms, cause, 1);
WIRE_AT(torcoll_comm_terms, __reserved, 2);
WIRE_AT(torcoll_comm_terms, refusal, 4);
WIRE_AT(torcoll_comm_terms, rank, 8);
WIRE_AT(torcoll_comm_terms, node, 12);
WIRE_AT(torcoll_comm_terms, rates, 16);
WIRE_AT(torcoll_comm_terms, name, 64);

u32 tor_wire_unit(u32 frame_size)
{
	const u32 room = TOR_WIRE_FRAME_MIN - TOR_WIRE_UNIT_MIN;

	if (frame_size < TOR_WIRE_FRAME_MIN)
		return 0;
	return (frame_size - room) / TOR_WIRE_UNIT_ALIGN * TOR_WIRE_UNIT_ALIGN;
}

u32 tor_wire_header_crc(const struct torcoll_hdr *raw, const void *acks, u32 bytes)
{
	struct torcoll_hdr zeroed = *raw;
	u32 crc;

	zeroed.hop_limit = 0;
	zeroed.header_crc = 0;
	crc = tor_env_crc32c(~0U, &zeroed, sizeof(zeroed));
	if (bytes)
		crc = tor_env_crc32c(crc, acks, bytes);
	return ~crc;
}

static void wire_put_ack(void *buf, const struct tor_ack *ack)
{
	struct torcoll_ack raw = {
		.comm = cpu_to_be32(ack->comm),
		.op = cpu_to_be32(ack->op),
		.channel = tor_where_channel(&ack->where),
		.state = ack->state,
		.round = cpu_to_be16(tor_where_round(&ack->where)),
		.base = cpu_to_be32(ack->base),
		.mask = cpu_to_be64(ack->mask),
		.stamp = cpu_to_be32(ack->stamp),
		.digest = cpu_to_be32(ack->digest),
	};

	memcpy(buf, &raw, sizeof(raw));
}

void tor_wire_build(void *buf, const struct tor_hdr *h, const struct tor_ack *acks)
{
	struct torcoll_hdr raw = {
		.version = h->version,
		.type = h->type,
		.hop_limit = h->hop_limit,
		.acks = h->acks,
		.fabric = cpu_to_be32(h->fabric),
		.src = cpu_to_be32(h->src),
		.dst = cpu_to_be32(h->dst),
		.src_epoch = cpu_to_be32(h->src_epoch),
		.dst_epoch = cpu_to_be32(h->dst_epoch),
		.comm = cpu_to_be32(h->comm),
		.op = cpu_to_be32(h->op),
		.digest = cpu_to_be32(h->digest),
		.channel = tor_where_channel(&h->where),
		.flags = h->flags,
		.round = cpu_to_be16(tor_where_round(&h->where)),
		.offset = cpu_to_be64(h->offset),
		.length = cpu_to_be32(h->length),
		.stamp = cpu_to_be32(h->stamp),
		.payload_crc = cpu_to_be32(h->payload_crc),
	};
	u8 *behind = (u8 *)buf + sizeof(raw);
	u32 i;

	for (i = 0; i < h->acks; i++)
		wire_put_ack(behind + i * sizeof(struct torcoll_ack), &acks[i]);
	raw.header_crc = cpu_to_be32(tor_wire_header_crc(&raw, behind,
							 h->acks * sizeof(struct torcoll_ack)));
	memcpy(buf, &raw, sizeof(raw));
}

void tor_wire_relength(void *p, u32 length)
{
	struct torcoll_hdr raw;

	memcpy(&raw, p, sizeof(raw));
	raw.length = cpu_to_be32(length);
	raw.header_crc = cpu_to_be32(tor_wire_header_crc(&raw, NULL, 0));
	memcpy(p, &raw, sizeof(raw));
}

bool tor_wire_hop(void *p)
{
	u8 *limit = (u8 *)p + offsetof(struct torcoll_hdr, hop_limit);

	if (*limit <= 1)
		return false;
	--*limit;
	return true;
}

u32 tor_wire_crc(const void *p, u32 len)
{
	return ~tor_env_crc32c(~0U, p, len);
}

u32 tor_wire_crc_bytes(const struct tor_bytes *bytes, u32 n)
{
	u32 crc = ~0U;
	u32 i;

	for (i = 0; i < n; i++)
		crc = tor_env_crc32c(crc, bytes[i].p, bytes[i].len);
	return ~crc;
}

static void wire_put_record(void *buf, const struct tor_record *record)
{
	struct torcoll_link_record raw = {
		.node = cpu_to_be32(record->node),
		.epoch = cpu_to_be32(record->epoch),
		.seq = cpu_to_be32(record->seq),
		.dead = cpu_to_be16(record->dead),
		.frame = cpu_to_be16(record->frame),
	};

	memcpy(buf, &raw, sizeof(raw));
}

/* Copy text of at most @n bytes, padded with zeros. */
static void wire_put_text(void *to, const char *from, u32 n)
{
	u32 len = strnlen(from, n);

	memcpy(to, from, len);
	memset((u8 *)to + len, 0, n - len);
}

static void wire_put_hello_more(void *buf, const struct tor_hello *hello)
{
	struct torcoll_hello_more raw = {
		.rates = cpu_to_be32(hello->rates),
		.sent = cpu_to_be32(hello->sent),
		.cables = hello->cables,
	};

	wire_put_text(raw.name, hello->name, sizeof(raw.name));
	memcpy(buf, &raw, sizeof(raw));
}

void tor_wire_put_hello(void *buf, const struct tor_hello *hello, const struct tor_record *record)
{
	struct torcoll_hello raw = {
		.dim = hello->dim,
		.dir = hello->dir,
		.ndim = hello->ndim,
		.hears = hello->hears,
		.frame_size = cpu_to_be32(hello->frame_size),
		.fabric_frame = cpu_to_be32(hello->fabric_frame),
		.heard_node = cpu_to_be32(hello->heard_node),
		.heard_epoch = cpu_to_be32(hello->heard_epoch),
		.interval_ms = cpu_to_be32(hello->interval_ms),
		.view = cpu_to_be32(hello->view),
		.records = cpu_to_be32(hello->records),
	};
	u8 *behind = (u8 *)buf + sizeof(raw);
	u32 i;

	wire_put_text(raw.version, hello->version, sizeof(raw.version));
	for (i = 0; i < ARRAY_SIZE(raw.side); i++)
		raw.side[i] = cpu_to_be32(hello->side[i]);
	memcpy(buf, &raw, sizeof(raw));
	for (i = 0; i < hello->records; i++, behind += sizeof(struct torcoll_link_record))
		wire_put_record(behind, &record[i]);
	if (hello->more)
		wire_put_hello_more(behind, hello);
}

static void wire_put_call(struct torcoll_call *raw, const struct tor_wire_call *call)
{
	raw->count = cpu_to_be64(call->count);
	raw->rank = cpu_to_be32(call->rank);
	raw->root = cpu_to_be32(call->root);
	raw->collective = call->collective;
	raw->type = call->type;
	raw->redop = call->redop;
	raw->bits = call->bits;
	raw->algorithm = cpu_to_be16(call->algorithm);
	raw->__reserved = 0;
}

void tor_wire_put_abort(void *buf, const struct tor_abort *abort)
{
	u32 first = abort->error == ECONNABORTED ? abort->refusal : abort->digest[0];
	struct torcoll_abort raw = {
		.error = cpu_to_be32(abort->error),
		.rank = cpu_to_be32(abort->rank),
		.node = cpu_to_be32(abort->node),
		.op = cpu_to_be32(abort->op),
		.digest = { cpu_to_be32(first), cpu_to_be32(abort->digest[1]) },
	};

	wire_put_call(&raw.call[0], &abort->call[0]);
	wire_put_call(&raw.call[1], &abort->call[1]);
	memcpy(buf, &raw, sizeof(raw));
}

static void wire_put_terms(void *buf, const struct tor_comm_terms *terms)
{
	struct torcoll_comm_terms raw = {
		.flags = terms->flags,
		.cause = terms->cause,
		.refusal = cpu_to_be32(terms->refusal),
		.rank = cpu_to_be32(terms->rank),
		.node = cpu_to_be32(terms->node),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(raw.rates); i++)
		raw.rates[i] = cpu_to_be64(terms->rate[i]);
	wire_put_text(raw.name, terms->name, sizeof(raw.name));
	memcpy(buf, &raw, sizeof(raw));
}

void tor_wire_put_comm(void *buf, const struct tor_comm_msg *msg, const u32 *epoch)
{
	struct torcoll_comm_msg raw = {
		.step = msg->step,
		.error = cpu_to_be32(msg->error),
		.name = cpu_to_be64(msg->name),
		.proof = cpu_to_be64(msg->proof),
		.members = cpu_to_be64(msg->members),
		.nonce = cpu_to_be32(msg->nonce),
		.rank = cpu_to_be32(msg->rank),
		.ranks = cpu_to_be32(msg->ranks),
		.missing = cpu_to_be32(msg->missing),
		.tag = cpu_to_be32(msg->tag),
		.generation = cpu_to_be32(msg->generation),
		.frame_bytes = cpu_to_be32(msg->frame_bytes),
		.epochs = cpu_to_be32(msg->epochs),
	};
	__be32 value;
	u32 i;

	memcpy(buf, &raw, sizeof(raw));
	for (i = 0; i < msg->epochs; i++) {
		value = cpu_to_be32(epoch[i]);
		memcpy((u8 *)buf + tor_wire_epochs_bytes(i), &value, sizeof(value));
	}
	if (msg->has_terms)
		wire_put_terms((u8 *)buf + tor_wire_epochs_bytes(msg->epochs), &msg->terms);
}
