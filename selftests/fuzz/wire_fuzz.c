// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Parsing of frames: any bytes, of which any part is at hand. What parses, means what it says: built again
 * from what was read, it is the same.
 *
 * The first three bytes say how much of the frame is linear and padded, and whether its checksum is made good
 * before it is parsed.
 */
#include "core/packet/header.h"
#include "fuzz.h"

static void check_header(const u8 *frame, const struct tor_hdr *h)
{
	struct tor_ack ack[TORCOLL_WIRE_ACKS_MAX];
	u8 again[TOR_WIRE_HEADER_MAX];
	enum tor_counter why;
	u32 i, at;

	must(h->acks <= TORCOLL_WIRE_ACKS_MAX && (h->src_epoch || h->type == TORCOLL_FRAME_ECHO));
	memset(ack, 0, sizeof(ack));
	for (i = 0; i < h->acks; i++)
		if (!tor_wire_ack(frame, i, &ack[i], &why))
			ack[i].comm = 0;
	tor_wire_build(again, h, ack);
	for (i = 0, at = sizeof(struct torcoll_hdr); i < h->acks; i++, at += sizeof(struct torcoll_ack)) {
		if (!ack[i].comm)
			continue;
		must(ack[i].state <= TORCOLL_ACK_PAST);
		must(!memcmp(again + at, frame + at, sizeof(struct torcoll_ack)));
	}
	must(!memcmp(again, frame, offsetof(struct torcoll_hdr, header_crc)));
}

/* A packet that is accepted means what it says, and is accepted at another length. */
static void check_packet(const u8 *frame, u32 len, u32 frame_len)
{
	struct tor_packet packet, again;
	struct tor_intact in;
	enum tor_counter why;
	u8 other[sizeof(struct torcoll_hdr)];

	must(!tor_wire_check(frame, len, frame_len, &in, &why));
	if (tor_intact_type(&in) != TORCOLL_FRAME_PACKET)
		return;
	if (tor_wire_packet(&in, &packet, &why)) {
		must(why == TOR_C_DROP_EPOCH || why == TOR_C_DROP_RANGE);
		return;
	}
	must(packet.src_epoch && packet.length >= TORCOLL_PACKET_MIN && !in.raw.acks);
	must(!packet.number == (packet.dst != TORCOLL_NODE_ALL));
	must(tor_intact_bytes(&in) == sizeof(in.raw) + packet.length);
	memcpy(other, frame, sizeof(other));
	tor_packet_relength(other, TORCOLL_PACKET_MIN);
	must(!tor_wire_check(other, sizeof(other), frame_len, &in, &why));
	must(!tor_wire_packet(&in, &again, &why));
	must(again.length == TORCOLL_PACKET_MIN);
	again.length = packet.length;
	must(!memcmp(&again, &packet, sizeof(packet)));
}

static void check_hop(u8 *frame, u32 len, u32 limit)
{
	enum tor_counter why;
	struct tor_hdr h;

	if (!tor_wire_hop(frame)) {
		must(limit <= 1);
		return;
	}
	/* a forwarder changes nothing that the next one checks */
	must(!tor_wire_parse(frame, len, len + U16_MAX, &h, &why));
	must(h.hop_limit + 1U == limit);
}

static size_t call_at(u32 i)
{
	return offsetof(struct torcoll_abort, call) + i * sizeof(struct torcoll_call);
}

static size_t reserved_of_call(u32 i)
{
	return call_at(i) + offsetof(struct torcoll_call, __reserved);
}

static void check_payload(const u8 *frame, u32 len, const struct tor_hdr *h)
{
	const u8 *p = frame + tor_wire_header_bytes(h);
	struct tor_hello hello = {};
	struct tor_comm_msg msg = {};
	struct tor_abort abort = {};
	struct tor_record record[TORCOLL_HELLO_RECORDS_MAX];
	u8 *again = malloc(h->length);
	u32 i, n;

	must(tor_wire_header_bytes(h) + h->length <= len);
	switch (h->type) {
	case TORCOLL_FRAME_HELLO:
		if (tor_wire_get_hello(p, h->length, &hello))
			break;
		must(hello.records <= TORCOLL_HELLO_RECORDS_MAX);
		must(tor_wire_hello_bytes(&hello) <= h->length);
		must(strlen(hello.version) <= TORCOLL_HELLO_VERSION);
		for (i = 0; hello.version[i]; i++)
			must(hello.version[i] >= ' ' && hello.version[i] <= '~');
		must(strlen(hello.name) <= TORCOLL_HOST_NAME);
		for (i = 0; hello.name[i]; i++)
			must(hello.name[i] >= ' ' && hello.name[i] <= '~');
		for (i = 0; i < hello.records; i++)
			tor_wire_record(&hello, i, ~0U, &record[i]);
		tor_wire_put_hello(again, &hello, record);
		/* a name ends at its first zero, whatever comes behind */
		n = tor_wire_hello_bytes(&hello);
		if (hello.more) {
			n -= sizeof(struct torcoll_hello_more);
			must(!memcmp(again + n + TORCOLL_HOST_NAME, p + n + TORCOLL_HOST_NAME,
				     offsetof(struct torcoll_hello_more, __reserved) - TORCOLL_HOST_NAME));
		}
		must(!memcmp(again + sizeof(hello.version) - 1, p + sizeof(hello.version) - 1,
			     n - sizeof(hello.version) + 1));
		break;
	case TORCOLL_FRAME_ABORT:
		if (tor_wire_get_abort(p, h->length, &abort))
			break;
		must(tor_wire_errno(TORCOLL_FRAME_ABORT, abort.error) == abort.error);
		/* read as another: there is nothing to be repeated */
		if (memcmp(p, &(__be32){ cpu_to_be32(abort.error) }, sizeof(__be32)))
			break;
		tor_wire_put_abort(again, &abort);
		if (abort.error != EPROTO) {
			must(!memcmp(again, p, offsetof(struct torcoll_abort, digest)));
			break;
		}
		/* what a later version puts there is not ours to repeat, nor are calls that only it knows */
		for (i = 0; i < 2; i++) {
			must(abort.call[i].collective < TORCOLL_COLL_COUNT);
			memcpy(again + reserved_of_call(i), p + reserved_of_call(i), sizeof(u16));
			if (!abort.call[i].collective)
				memcpy(again + call_at(i), p + call_at(i), sizeof(struct torcoll_call));
		}
		must(!memcmp(again, p, tor_wire_abort_bytes()));
		break;
	case TORCOLL_FRAME_COMM:
		if (tor_wire_get_comm(p, h->length, &msg))
			break;
		must(tor_wire_comm_bytes(&msg) <= h->length);
		for (i = 0; i < msg.epochs; i++)
			must(!memcmp(&(__be32){ cpu_to_be32(tor_wire_epoch(&msg, i)) },
				     p + tor_wire_epochs_bytes(i), sizeof(__be32)));
		break;
	}
	free(again);
}

/* Make the header good, as whoever wants to do harm would. */
static void mend(u8 *frame, size_t len)
{
	u32 at = offsetof(struct torcoll_hdr, header_crc);
	u32 header = sizeof(struct torcoll_hdr);
	u8 hop = frame[2];
	__be32 crc;

	frame[0] = TORCOLL_WIRE_VERSION;
	frame[3] %= TORCOLL_WIRE_ACKS_MAX + 2;
	header += frame[3] * sizeof(struct torcoll_ack);
	if (header > len)
		return;
	frame[2] = 0;
	memset(frame + at, 0, sizeof(crc));
	crc = cpu_to_be32(tor_wire_crc(frame, header));
	memcpy(frame + at, &crc, sizeof(crc));
	frame[2] = hop;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	u8 cut = fuzz_u8(&in), padding = fuzz_u8(&in), good = fuzz_u8(&in) & 1;
	u32 len = in.left > cut ? in.left - cut : 0;
	enum tor_counter why = TOR_C_COUNT;
	struct tor_hdr h;
	u8 *frame;

	host_reset();
	frame = malloc(in.left + 1);
	memcpy(frame, in.p, in.left);
	if (good && in.left >= sizeof(struct torcoll_hdr))
		mend(frame, in.left);
	/* what lies behind @len may not be looked at */
	frame = realloc(frame, len ? len : 1);
	if (tor_wire_parse(frame, len, in.left + padding, &h, &why)) {
		must(why < TOR_C_COUNT);
	} else {
		check_header(frame, &h);
		check_packet(frame, len, in.left + padding);
		if (tor_wire_header_bytes(&h) + h.length <= len)
			check_payload(frame, len, &h);
		check_hop(frame, len, h.hop_limit);
	}
	free(frame);
	return 0;
}
