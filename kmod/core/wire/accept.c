// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Parsing and validation of received frames. See accept.h.
 *
 * Wire structs are copied between the buffer and the stack, never accessed in
 * place: buffers have no alignment, and a value cannot change after it was
 * checked.
 */
#include "core/wire/accept.h"

#include <linux/torcoll.h>

#include "core/torus.h"

/* The largest valid errno. */
#define WIRE_ERRNO_MAX	4095

int tor_wire_check(const void *p, u32 len, u32 frame_len, struct tor_intact *in,
		   enum tor_counter *why)
{
	struct torcoll_hdr *raw = &in->raw;
	u32 bytes, length;

	*why = TOR_C_DROP_SHORT;
	if (len < sizeof(*raw))
		return -EBADMSG;
	memcpy(raw, p, sizeof(*raw));

	/* another version may compute its CRC differently */
	*why = TOR_C_DROP_VERSION;
	if (raw->version != TORCOLL_WIRE_VERSION)
		return -EBADMSG;

	*why = TOR_C_DROP_HEADER_CRC;
	if (raw->acks > TORCOLL_WIRE_ACKS_MAX)
		return -EBADMSG;
	bytes = sizeof(*raw) + raw->acks * sizeof(struct torcoll_ack);
	if (len < bytes) {
		*why = TOR_C_DROP_SHORT;
		return -EBADMSG;
	}
	if (tor_wire_header_crc(raw, (const u8 *)p + sizeof(*raw), bytes - sizeof(*raw)) !=
	    be32_to_cpu(raw->header_crc))
		return -EBADMSG;

	*why = TOR_C_DROP_TYPE;
	if (raw->type < TORCOLL_FRAME_HELLO || raw->type > TORCOLL_FRAME_PACKET)
		return -EBADMSG;

	*why = TOR_C_DROP_SHORT;
	length = be32_to_cpu(raw->length);
	if (frame_len < bytes || length > frame_len - bytes)
		return -EBADMSG;
	return 0;
}

static struct tor_where accept_where(u8 channel, __be16 raw)
{
	u16 round = be16_to_cpu(raw);

	switch (channel) {
	case TORCOLL_CHANNEL_SEND:
		return (struct tor_where){ .role = TOR_ROLE_SEND, .pair = round };
	case TORCOLL_CHANNEL_RECV:
		return (struct tor_where){ .role = TOR_ROLE_RECV, .pair = round };
	default:
		return (struct tor_where){ .channel = channel, .round = round };
	}
}

static void accept_header(const struct torcoll_hdr *raw, struct tor_hdr *h)
{
	h->version = raw->version;
	h->type = raw->type;
	h->hop_limit = raw->hop_limit;
	h->acks = raw->acks;
	h->fabric = be32_to_cpu(raw->fabric);
	h->src = be32_to_cpu(raw->src);
	h->dst = be32_to_cpu(raw->dst);
	h->src_epoch = be32_to_cpu(raw->src_epoch);
	h->dst_epoch = be32_to_cpu(raw->dst_epoch);
	h->comm = be32_to_cpu(raw->comm);
	h->op = be32_to_cpu(raw->op);
	h->digest = be32_to_cpu(raw->digest);
	h->where = accept_where(raw->channel, raw->round);
	h->flags = raw->flags;
	h->offset = be64_to_cpu(raw->offset);
	h->length = be32_to_cpu(raw->length);
	h->stamp = be32_to_cpu(raw->stamp);
	h->payload_crc = be32_to_cpu(raw->payload_crc);
	h->header_crc = be32_to_cpu(raw->header_crc);
}

int tor_wire_read(const struct tor_intact *in, struct tor_hdr *h, enum tor_counter *why)
{
	bool data = in->raw.type == TORCOLL_FRAME_DATA;

	accept_header(&in->raw, h);
	*why = TOR_C_DROP_EPOCH;
	/* tests of a cable belong to no node: torcollctl sends them */
	if (!h->src_epoch && h->type != TORCOLL_FRAME_ECHO)
		return -EBADMSG;
	*why = TOR_C_DROP_COMM;
	if (!h->comm && (data || h->type == TORCOLL_FRAME_ABORT))
		return -EBADMSG;
	/* the receiver of a message sends no data */
	*why = TOR_C_DROP_RANGE;
	if (data && (!h->length || !h->digest || h->where.role == TOR_ROLE_RECV))
		return -EBADMSG;
	return 0;
}

int tor_wire_packet(const struct tor_intact *in, struct tor_packet *packet, enum tor_counter *why)
{
	packet->src = be32_to_cpu(in->raw.src);
	packet->dst = be32_to_cpu(in->raw.dst);
	packet->src_epoch = be32_to_cpu(in->raw.src_epoch);
	packet->flow = be32_to_cpu(in->raw.digest);
	packet->number = be32_to_cpu(in->raw.op);
	packet->length = be32_to_cpu(in->raw.length);
	*why = TOR_C_DROP_EPOCH;
	if (!packet->src_epoch)
		return -EBADMSG;
	*why = TOR_C_DROP_RANGE;
	if (in->raw.acks || packet->length < TORCOLL_PACKET_MIN ||
	    !packet->number != (packet->dst != TORCOLL_NODE_ALL))
		return -EBADMSG;
	return 0;
}

int tor_wire_parse(const void *p, u32 len, u32 frame_len, struct tor_hdr *h,
		   enum tor_counter *why)
{
	struct tor_intact in;
	int err = tor_wire_check(p, len, frame_len, &in, why);

	return err ? err : tor_wire_read(&in, h, why);
}

struct tor_hdr tor_wire_noted(const struct tor_wire_note *note)
{
	return (struct tor_hdr){
		.dst = be32_to_cpu(note->dst),
		.comm = be32_to_cpu(note->comm),
		.op = be32_to_cpu(note->op),
		.where = accept_where(note->channel, note->round),
		.offset = be64_to_cpu(note->offset),
	};
}

bool tor_wire_ack(const void *p, u32 i, struct tor_ack *out, enum tor_counter *why)
{
	struct torcoll_ack raw;

	memcpy(&raw, (const u8 *)p + sizeof(struct torcoll_hdr) + i * sizeof(raw), sizeof(raw));
	*why = TOR_C_DROP_COMM;
	if (!raw.comm)
		return false;
	*why = TOR_C_DROP_RANGE;
	if (raw.state > TORCOLL_ACK_PAST)
		return false;
	out->comm = be32_to_cpu(raw.comm);
	out->op = be32_to_cpu(raw.op);
	out->where = accept_where(raw.channel, raw.round);
	out->state = raw.state;
	out->base = be32_to_cpu(raw.base);
	out->mask = be64_to_cpu(raw.mask);
	out->stamp = be32_to_cpu(raw.stamp);
	out->digest = be32_to_cpu(raw.digest);
	return true;
}

/*
 * True if the sides of all dimensions are valid, and those beyond are 0. A node
 * has no more ports than a record of dead links has bits.
 */
static bool accept_sides(const struct torcoll_hello *raw)
{
	u32 i, side, ports = 0;

	for (i = 0; i < ARRAY_SIZE(raw->side); i++) {
		side = be32_to_cpu(raw->side[i]);
		if (i < raw->ndim ? !tor_side_is_valid(side) : side)
			return false;
		if (i == raw->dim && raw->way >= tor_side_ways(side))
			return false;
		if (i < raw->ndim && tor_side_ways(side) > TOR_MAX_PORTS - ports)
			return false;
		ports += i < raw->ndim ? tor_side_ways(side) : 0;
	}
	return true;
}

static bool accept_hello(const struct torcoll_hello *raw, u32 records)
{
	u32 frame_size = be32_to_cpu(raw->frame_size);

	return raw->ndim && raw->ndim <= ARRAY_SIZE(raw->side) && raw->dim < raw->ndim &&
	       raw->hears <= 1 && accept_sides(raw) &&
	       (!frame_size || frame_size >= TOR_WIRE_FRAME_MIN) &&
	       records <= TORCOLL_HELLO_RECORDS_MAX;
}

/* Copies text, with unprintable bytes replaced. */
static void accept_text(char *to, const u8 *from, u32 n)
{
	u32 i;

	for (i = 0; i < n && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	memset(to + i, 0, n + 1 - i);
}

/* Read what stands behind the records of a hello, @len bytes. */
static void accept_hello_more(const void *p, u32 len, struct tor_hello *hello)
{
	struct torcoll_hello_more raw = { 0 };

	hello->more = len >= sizeof(raw);
	if (hello->more)
		memcpy(&raw, p, sizeof(raw));
	accept_text(hello->name, raw.name, sizeof(raw.name));
	hello->rates = be32_to_cpu(raw.rates);
	hello->sent = be32_to_cpu(raw.sent);
	hello->cables = raw.cables;
}

int tor_wire_get_hello(const void *p, u32 len, struct tor_hello *hello)
{
	struct torcoll_hello raw;
	u32 i, bytes;

	if (len < sizeof(raw))
		return -EBADMSG;
	memcpy(&raw, p, sizeof(raw));
	hello->records = be32_to_cpu(raw.records);
	if (!accept_hello(&raw, hello->records))
		return -EBADMSG;
	bytes = hello->records * sizeof(struct torcoll_link_record);
	if (bytes > len - sizeof(raw))
		return -EBADMSG;

	accept_text(hello->version, (const u8 *)raw.version, sizeof(raw.version));
	hello->dim = raw.dim;
	hello->way = raw.way;
	hello->ndim = raw.ndim;
	hello->hears = raw.hears;
	hello->ports = 0;
	for (i = 0; i < ARRAY_SIZE(raw.side); i++) {
		hello->side[i] = be32_to_cpu(raw.side[i]);
		hello->ports += i < raw.ndim ? tor_side_ways(hello->side[i]) : 0;
	}
	hello->frame_size = be32_to_cpu(raw.frame_size);
	hello->fabric_frame = be32_to_cpu(raw.fabric_frame);
	hello->heard_node = be32_to_cpu(raw.heard_node);
	hello->heard_epoch = be32_to_cpu(raw.heard_epoch);
	hello->interval_ms = be32_to_cpu(raw.interval_ms);
	hello->view = be32_to_cpu(raw.view);
	hello->record = (const u8 *)p + sizeof(raw);
	accept_hello_more((const u8 *)hello->record + bytes, len - sizeof(raw) - bytes, hello);
	return 0;
}

bool tor_wire_record(const struct tor_hello *hello, u32 i, u32 nodes, struct tor_record *record)
{
	struct torcoll_link_record raw;

	memcpy(&raw, (const u8 *)hello->record + i * sizeof(raw), sizeof(raw));
	record->node = be32_to_cpu(raw.node);
	record->epoch = be32_to_cpu(raw.epoch);
	record->seq = be32_to_cpu(raw.seq);
	record->dead = be16_to_cpu(raw.dead);
	record->frame = be16_to_cpu(raw.frame);
	return record->node < nodes && record->epoch && record->seq &&
	       !(record->dead >> hello->ports) &&
	       (!record->frame || record->frame >= TOR_WIRE_FRAME_MIN);
}

u32 tor_wire_errno(u8 type, u32 error)
{
	switch (error) {
	case EPROTO:
	case ECONNABORTED:
		return error;
	case EHOSTDOWN:
	case EHOSTUNREACH:
		return type == TORCOLL_FRAME_ABORT ? error : 0;
	case EACCES:
	case ETIMEDOUT:
		return type == TORCOLL_FRAME_COMM ? error : 0;
	default:
		return 0;
	}
}

u32 tor_wire_refusal(u32 error)
{
	switch (error) {
	case EINVAL:
	case EFAULT:
	case ENOMEM:
	case EDQUOT:
	case EOPNOTSUPP:
		return error;
	default:
		return 0;
	}
}

/* A call that this version cannot make is treated as unknown: it has no name. */
static void accept_call(const struct torcoll_call *raw, struct tor_wire_call *call)
{
	u32 algorithm = be16_to_cpu(raw->algorithm);

	*call = (struct tor_wire_call){ .rank = be32_to_cpu(raw->rank) };
	if (raw->collective >= TORCOLL_COLL_COUNT || raw->type >= TORCOLL_TYPE_COUNT ||
	    raw->redop >= TORCOLL_REDOP_COUNT || raw->bits >= TORCOLL_BITS_COUNT ||
	    algorithm >= TORCOLL_ALGO_COUNT)
		return;
	call->count = be64_to_cpu(raw->count);
	call->root = be32_to_cpu(raw->root);
	call->collective = raw->collective;
	call->type = raw->type;
	call->redop = raw->redop;
	call->bits = raw->bits;
	call->algorithm = algorithm;
}

int tor_wire_get_abort(const void *p, u32 len, struct tor_abort *abort)
{
	struct torcoll_abort raw;
	u32 error, i;

	if (len < sizeof(raw))
		return -EBADMSG;
	memcpy(&raw, p, sizeof(raw));
	error = be32_to_cpu(raw.error);
	if (!error || error > WIRE_ERRNO_MAX)
		return -EBADMSG;
	abort->error = tor_wire_errno(TORCOLL_FRAME_ABORT, error) ?: EPROTO;
	abort->rank = be32_to_cpu(raw.rank);
	abort->node = be32_to_cpu(raw.node);
	abort->op = be32_to_cpu(raw.op);
	abort->refusal = error == ECONNABORTED ? tor_wire_refusal(be32_to_cpu(raw.digest[0])) : 0;
	for (i = 0; i < ARRAY_SIZE(abort->call); i++) {
		abort->digest[i] = 0;
		abort->call[i] = (struct tor_wire_call){ .rank = ~0U };
		/* no other error concerns calls, so their fields are ignored */
		if (error != EPROTO)
			continue;
		abort->digest[i] = be32_to_cpu(raw.digest[i]);
		accept_call(&raw.call[i], &abort->call[i]);
	}
	if (abort->refusal)
		accept_call(&raw.call[0], &abort->call[0]);
	return 0;
}

/* Read what stands behind the epochs of a message, @len bytes. */
static void accept_terms(const void *p, u32 len, struct tor_comm_msg *msg)
{
	struct tor_comm_terms *terms = &msg->terms;
	struct torcoll_comm_terms raw = { 0 };
	u32 i;

	msg->has_terms = len >= sizeof(raw);
	if (msg->has_terms)
		memcpy(&raw, p, sizeof(raw));
	terms->flags = raw.flags;
	terms->cause = raw.cause < TORCOLL_CAUSE_END ? raw.cause : TORCOLL_CAUSE_UNKNOWN;
	terms->payload = be16_to_cpu(raw.payload);
	terms->refusal = be32_to_cpu(raw.refusal);
	terms->rank = be32_to_cpu(raw.rank);
	terms->node = be32_to_cpu(raw.node);
	for (i = 0; i < ARRAY_SIZE(raw.rates); i++)
		terms->rate[i] = be64_to_cpu(raw.rates[i]);
	accept_text(terms->name, raw.name, sizeof(raw.name));
}

/* True if models of the fabric can compute with the rates, which are 0 without terms. */
static bool accept_rates(const struct tor_comm_msg *msg)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(msg->terms.rate); i++)
		if (msg->terms.rate[i] > tor_wire_rate_max(i))
			return false;
	return true;
}

/* True if the message has @each words for each of some of its ranks. */
static bool accept_words(const struct tor_comm_msg *msg, u32 each)
{
	return msg->epochs % each == 0 && msg->missing <= msg->ranks &&
	       msg->epochs / each <= msg->ranks - msg->missing;
}

/* True if both fields of the bytes per frame are valid, and agree. */
static bool accept_unit(const struct tor_comm_msg *msg)
{
	u32 payload = msg->terms.payload;

	return tor_wire_unit_ok(msg->frame_bytes) &&
	       (!payload || (payload % TOR_WIRE_UNIT_ALIGN == 0 &&
			     tor_wire_unit_coarse(payload) == msg->frame_bytes));
}

/* Messages between a member and rank 0, so about a rank other than 0. */
static bool accept_join(const struct tor_comm_msg *msg)
{
	if (!msg->rank || msg->rank >= msg->ranks || msg->ranks > TOR_MAX_NODES)
		return false;
	switch (msg->step) {
	case TORCOLL_COMM_JOIN:
		return accept_unit(msg);
	case TORCOLL_COMM_READY:
		return msg->tag && accept_unit(msg) && accept_words(msg, 1) &&
		       accept_rates(msg);
	case TORCOLL_COMM_ACCEPT:
	case TORCOLL_COMM_GO:
		return msg->tag;
	default:
		return true;
	}
}

static bool accept_shrink(const struct tor_comm_msg *msg)
{
	switch (msg->step) {
	case TORCOLL_COMM_SHRINK_CALL:
		return tor_wire_unit_ok(msg->frame_bytes);
	case TORCOLL_COMM_SHRINK_READY:
		return msg->tag && tor_wire_unit_ok(msg->frame_bytes) && msg->ranks &&
		       msg->ranks <= TOR_MAX_NODES && accept_words(msg, 2);
	case TORCOLL_COMM_SHRINK_ACCEPT:
		return msg->tag && tor_wire_unit_ok(msg->frame_bytes);
	case TORCOLL_COMM_SHRINK_GO:
		return msg->tag;
	default:
		return true;
	}
}

int tor_wire_get_comm(const void *p, u32 len, struct tor_comm_msg *msg)
{
	struct torcoll_comm_msg raw;
	u32 error;

	if (len < sizeof(raw))
		return -EBADMSG;
	memcpy(&raw, p, sizeof(raw));
	error = be32_to_cpu(raw.error);
	msg->epochs = be32_to_cpu(raw.epochs);
	if (msg->epochs > (len - sizeof(raw)) / sizeof(__be32) || error > WIRE_ERRNO_MAX ||
	    raw.step < TORCOLL_COMM_JOIN || raw.step >= TORCOLL_COMM_STEP_END)
		return -EBADMSG;

	msg->step = raw.step;
	msg->error = 0;
	if (raw.step == TORCOLL_COMM_REFUSE)
		msg->error = tor_wire_errno(TORCOLL_FRAME_COMM, error) ?: EPROTO;
	msg->name = be64_to_cpu(raw.name);
	msg->proof = be64_to_cpu(raw.proof);
	msg->members = be64_to_cpu(raw.members);
	msg->nonce = be32_to_cpu(raw.nonce);
	msg->rank = be32_to_cpu(raw.rank);
	msg->ranks = be32_to_cpu(raw.ranks);
	msg->missing = be32_to_cpu(raw.missing);
	msg->tag = be32_to_cpu(raw.tag);
	msg->generation = be32_to_cpu(raw.generation);
	msg->frame_bytes = be32_to_cpu(raw.frame_bytes);
	msg->epoch = (const u8 *)p + sizeof(raw);
	accept_terms((const u8 *)p + tor_wire_epochs_bytes(msg->epochs),
		     len - tor_wire_epochs_bytes(msg->epochs), msg);
	return (msg->step < TORCOLL_COMM_SHRINK_CALL ? accept_join(msg) : accept_shrink(msg)) ?
	       0 : -EBADMSG;
}

u32 tor_wire_epoch(const struct tor_comm_msg *msg, u32 i)
{
	__be32 value;

	memcpy(&value, (const u8 *)msg->epoch + i * sizeof(value), sizeof(value));
	return be32_to_cpu(value);
}
