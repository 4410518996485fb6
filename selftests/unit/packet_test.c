// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Packets: addresses, headers, numbers, and which group frames were seen. */
#include "host_env.h"

#include <limits.h>

#include "core/packet/header.h"
#include "core/packet/mac.h"
#include "core/packet/seen.h"

#define KEY	42

static struct tor_node node;
static struct tor_seen *seen;
static u64 seed;

static int setup(void **state)
{
	static const u32 side[] = { 4, 4 };
	struct tor_torus t;

	host_reset();
	seed = 1;
	tor_torus_init(&t, 2, side, 1);
	memset(&node, 0, sizeof(node));
	assert_int_equal(tor_node_init(&node, &t, KEY, 5), 0);
	seen = tor_seen_alloc(t.nodes);
	assert_non_null(seen);
	return 0;
}

static int teardown(void **state)
{
	tor_env_table_free(seen);
	tor_node_destroy(&node);
	host_check_idle();
	return 0;
}

/* --- addresses --- */

static void tor_packet_mac__is_readable(void **state)
{
	assert_true(tor_packet_mac(0xfab000c1, 0x0a0b0c) == 0x0274c10a0b0cULL);
	/* of one host, and locally administered */
	assert_int_equal(tor_packet_mac(~0U, TOR_MAX_NODES - 1) >> 40 & 3, 2);
}

static void tor_packet_node__of_all_nodes_and_no_others(void **state)
{
	u64 mac = tor_packet_mac(node.tag, 3);
	u32 i;

	for (i = 0; i < 16; i++)
		assert_int_equal(tor_packet_node(&node, tor_packet_mac(node.tag, i)), i);
	assert_int_equal(tor_packet_node(&node, tor_packet_mac(node.tag, 16)), TOR_NO_NODE);
	assert_int_equal(tor_packet_node(&node, tor_packet_mac(node.tag + 1, 3)), TOR_NO_NODE);
	/* any other bit: another address; the lowest four are the node */
	for (i = 4; i < 64; i++)
		assert_int_equal(tor_packet_node(&node, mac ^ 1ULL << i), TOR_NO_NODE);
	assert_int_equal(tor_packet_node(&node, 0xffffffffffffULL), TOR_NO_NODE);
	assert_int_equal(tor_packet_node(&node, 0), TOR_NO_NODE);
}

/* --- headers --- */

static u8 frame[sizeof(struct torcoll_hdr) + 2000];

static void read_back(u32 len, struct tor_intact *in, struct tor_packet *packet)
{
	enum tor_counter why;

	assert_int_equal(tor_wire_check(frame, sizeof(struct torcoll_hdr),
					sizeof(struct torcoll_hdr) + len, in, &why), 0);
	assert_int_equal(tor_wire_packet(in, packet, &why), 0);
}

static void tor_packet_header__reads_as_written(void **state)
{
	struct tor_packet packet;
	struct tor_intact in;

	tor_packet_header(&node, frame, 9, 0xf10f10f1, 0, 17, 1500);
	read_back(1500, &in, &packet);
	assert_int_equal(tor_intact_type(&in), TORCOLL_FRAME_PACKET);
	assert_int_equal(tor_intact_fabric(&in), node.tag);
	assert_int_equal(in.raw.hop_limit, 17);
	assert_int_equal(packet.src, 5);
	assert_int_equal(packet.src_epoch, node.epoch);
	assert_int_equal(packet.dst, 9);
	assert_int_equal(packet.flow, 0xf10f10f1);
	assert_int_equal(packet.number, 0);
	assert_int_equal(packet.length, 1500);

	tor_packet_header(&node, frame, TORCOLL_NODE_ALL, 0, 7, 255, TORCOLL_PACKET_MIN);
	read_back(TORCOLL_PACKET_MIN, &in, &packet);
	assert_int_equal(packet.dst, TORCOLL_NODE_ALL);
	assert_int_equal(packet.number, 7);
}

/* Also after hops, which are not in the checksum. */
static void tor_packet_relength__of_a_segment(void **state)
{
	struct tor_packet packet;
	struct tor_intact in;

	tor_packet_header(&node, frame, 9, 1, 0, 17, 64000);
	assert_true(tor_wire_hop(frame));
	tor_packet_relength(frame, 1514);
	read_back(1514, &in, &packet);
	assert_int_equal(packet.length, 1514);
	assert_int_equal(packet.dst, 9);
	assert_int_equal(packet.flow, 1);
	assert_int_equal(in.raw.hop_limit, 16);
}

/* Of the same flow: any other difference but that of the length keeps them apart. */
static void tor_packet_alike__but_for_length_and_crc(void **state)
{
	const size_t length = offsetof(struct torcoll_hdr, length);
	const size_t crc = offsetof(struct torcoll_hdr, header_crc);
	u8 other[sizeof(struct torcoll_hdr)];
	size_t i;

	tor_packet_header(&node, frame, 9, 1, 0, 17, 1500);
	tor_packet_header(&node, other, 9, 1, 0, 17, 700);
	assert_true(tor_packet_alike(frame, other));
	for (i = 0; i < sizeof(other); i++) {
		memcpy(other, frame, sizeof(other));
		other[i] ^= 1;
		assert_int_equal(tor_packet_alike(frame, other),
				 (i >= length && i < length + 4) || (i >= crc && i < crc + 4));
	}
}

static void tor_wire_hint_dst__without_a_check(void **state)
{
	tor_packet_header(&node, frame, 9, 1, 0, 17, 1500);
	frame[offsetof(struct torcoll_hdr, header_crc)] ^= 1;
	assert_int_equal(tor_wire_hint_dst(frame), 9);
}

/* It is computed in place. */
static void tor_wire_header_crc__leaves_the_header(void **state)
{
	struct torcoll_hdr raw, before;

	tor_packet_header(&node, &raw, 9, 1, 0, 17, 1500);
	before = raw;
	assert_int_equal(tor_wire_header_crc(&raw, NULL, 0), be32_to_cpu(raw.header_crc));
	assert_memory_equal(&raw, &before, sizeof(raw));
}

/* A reason for each packet that no node sends. */
static void tor_wire_packet__says_why_not(void **state)
{
	enum tor_counter why;
	struct tor_packet packet;
	struct tor_intact in, good;

	tor_packet_header(&node, frame, 9, 1, 0, 17, 60);
	read_back(60, &good, &packet);
	in = good;
	in.raw.src_epoch = 0;
	assert_int_equal(tor_wire_packet(&in, &packet, &why), -EBADMSG);
	assert_int_equal(why, TOR_C_DROP_EPOCH);
	in = good;
	in.raw.op = cpu_to_be32(1);
	assert_int_equal(tor_wire_packet(&in, &packet, &why), -EBADMSG);
	assert_int_equal(why, TOR_C_DROP_RANGE);
	in = good;
	in.raw.acks = 1;
	assert_int_equal(tor_wire_packet(&in, &packet, &why), -EBADMSG);
	assert_int_equal(why, TOR_C_DROP_RANGE);
}

static void tor_packet_number__is_never_0(void **state)
{
	assert_int_equal(tor_packet_number(&node), 1);
	assert_int_equal(tor_packet_number(&node), 2);
	atomic_set(&node.packets, -2);
	assert_int_equal(tor_packet_number(&node), U32_MAX);
	assert_int_equal(tor_packet_number(&node), 1);
}

/* --- group frames that were seen --- */

static bool first(u32 number)
{
	return tor_seen_first(seen, 3, 0xe1, number);
}

static void tor_seen_first__once_in_any_order(void **state)
{
	u32 round, base, i, k, order[TOR_SEEN_WINDOW];

	for (round = 0; round < 100; round++) {
		/* each round with a source that has sent nothing; numbers wrap in half of them */
		base = round % 2 ? host_rand(&seed) : U32_MAX - round / 2;
		memset(seen->source, 0, sizeof(seen->source[0]) * seen->nodes);
		for (i = 0; i < ARRAY_SIZE(order); i++)
			order[i] = base + i;
		for (i = ARRAY_SIZE(order) - 1; i; i--) {
			k = host_rand(&seed) % (i + 1);
			swap(order[i], order[k]);
		}
		for (i = 0; i < ARRAY_SIZE(order); i++) {
			assert_true(first(order[i]));
			assert_false(first(order[i]));
		}
		for (i = 0; i < ARRAY_SIZE(order); i++)
			assert_false(first(order[i]));
	}
}

static void tor_seen_first__window(void **state)
{
	assert_true(first(1000));
	/* the oldest in the window, and the one that nobody knows of */
	assert_true(first(1000 - TOR_SEEN_WINDOW + 1));
	assert_false(first(1000 - TOR_SEEN_WINDOW));
	assert_false(first(1));
	/* it moves by one, by all but one, by all, and by more */
	assert_true(first(1001));
	assert_false(first(1000));
	assert_true(first(1001 + TOR_SEEN_WINDOW - 1));
	assert_false(first(1001));
	assert_true(first(1002));
	assert_true(first(2000));
	assert_true(first(2000 - TOR_SEEN_WINDOW + 1));
	assert_false(first(1002 + TOR_SEEN_WINDOW));
	assert_true(first(2000 + TOR_SEEN_WINDOW));
	assert_false(first(2000));
	/* half of all numbers ahead is ahead, more is behind */
	assert_true(first(2000 + TOR_SEEN_WINDOW + (u32)INT_MAX));
	assert_false(first(2000 + TOR_SEEN_WINDOW));
}

static void tor_seen_first__sources_are_apart(void **state)
{
	u32 src;

	for (src = 0; src < 16; src++)
		assert_true(tor_seen_first(seen, src, 0xe1, 7));
	for (src = 0; src < 16; src++)
		assert_false(tor_seen_first(seen, src, 0xe1, 7));
}

/* Frames of the last incarnation are still told apart, and do not disturb those of the present one. */
static void tor_seen_first__incarnations(void **state)
{
	assert_true(tor_seen_first(seen, 3, 0xe1, 900));
	assert_true(tor_seen_first(seen, 3, 0xe2, 1));
	assert_false(tor_seen_first(seen, 3, 0xe1, 900));
	assert_true(tor_seen_first(seen, 3, 0xe1, 901));
	assert_false(tor_seen_first(seen, 3, 0xe2, 1));
	assert_true(tor_seen_first(seen, 3, 0xe2, 2));
	/* a third takes the place of the one that was not heard last */
	assert_true(tor_seen_first(seen, 3, 0xe3, 1));
	assert_false(tor_seen_first(seen, 3, 0xe2, 2));
	assert_true(tor_seen_first(seen, 3, 0xe1, 901));
	assert_false(tor_seen_first(seen, 3, 0xe2, 2));
	/* any number may be the first */
	assert_true(tor_seen_first(seen, 4, 0xe1, U32_MAX));
	assert_false(tor_seen_first(seen, 4, 0xe1, U32_MAX));
	assert_true(tor_seen_first(seen, 4, 0xe1, 1));
	assert_true(tor_seen_first(seen, 6, 0xe1, 3));
	assert_false(tor_seen_first(seen, 6, 0xe1, 3));
	assert_true(tor_seen_first(seen, 6, 0xe1, 2));
}

/* What the frames of all are compared with: a set that forgets nothing. */
static void tor_seen_first__never_twice(void **state)
{
	static bool known[3000];
	u32 round, number, top = 1, lost = 0;

	memset(known, 0, sizeof(known));
	for (round = 0; round < 20000; round++) {
		number = top + host_rand(&seed) % 150;
		number = number > 100 ? number - 100 : 1;
		if (number >= ARRAY_SIZE(known))
			break;
		if (first(number)) {
			assert_false(known[number]);
			known[number] = true;
		} else if (!known[number]) {
			assert_true(number + TOR_SEEN_WINDOW <= top);
			lost++;
		}
		top = max(top, number);
	}
	assert_true(lost);
}

static void tor_packet_group_ports__all_but_the_one_it_came_by(void **state)
{
	struct tor_tree tree = { .ports = 0x2d };

	assert_int_equal(tor_packet_group_ports(&tree, ~0U, TOR_NO_PORT), 0x2d);
	assert_int_equal(tor_packet_group_ports(&tree, ~0U, 2), 0x29);
	assert_int_equal(tor_packet_group_ports(&tree, ~0U, 1), 0x2d);
	assert_int_equal(tor_packet_group_ports(&tree, 0x0c, 2), 0x08);
	assert_int_equal(tor_packet_group_ports(&tree, 0, TOR_NO_PORT), 0);
}

static void tor_seen_alloc__no_memory(void **state)
{
	host.fail_mask = BIT_ULL(host.allocs);
	assert_null(tor_seen_alloc(16));
}

#define PACKET_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PACKET_TEST(tor_packet_mac__is_readable),
		PACKET_TEST(tor_packet_node__of_all_nodes_and_no_others),
		PACKET_TEST(tor_packet_header__reads_as_written),
		PACKET_TEST(tor_packet_relength__of_a_segment),
		PACKET_TEST(tor_packet_alike__but_for_length_and_crc),
		PACKET_TEST(tor_wire_hint_dst__without_a_check),
		PACKET_TEST(tor_wire_header_crc__leaves_the_header),
		PACKET_TEST(tor_wire_packet__says_why_not),
		PACKET_TEST(tor_packet_number__is_never_0),
		PACKET_TEST(tor_seen_first__once_in_any_order),
		PACKET_TEST(tor_seen_first__window),
		PACKET_TEST(tor_seen_first__sources_are_apart),
		PACKET_TEST(tor_seen_first__incarnations),
		PACKET_TEST(tor_seen_first__never_twice),
		PACKET_TEST(tor_packet_group_ports__all_but_the_one_it_came_by),
		PACKET_TEST(tor_seen_alloc__no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
