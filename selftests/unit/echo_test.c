// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Test frames of neighbours and their answers: echo.c.
 */
#include "host_env.h"

#include "core/link/echo.h"

#define SELF	5
#define PORT	1	/* to node 4 */

static struct tor_node node;
static struct tor_ctx ctx;

static int setup(void **state)
{
	static const u32 side[] = { 8 };
	struct tor_torus t;

	(void)state;
	host_reset();
	memset(&node, 0, sizeof(node));
	return tor_torus_init(&t, 1, side, 1) || tor_node_init(&node, &t, 1, SELF);
}

static int teardown(void **state)
{
	(void)state;
	tor_node_destroy(&node);
	host_forget_sent();
	host_check_idle();
	return 0;
}

/* Test number @op of @src comes in, with what @payload holds. */
static void comes(u32 src, u32 op, u8 flags, struct tor_bytes *payload, u32 crc)
{
	const struct tor_hdr h = {
		.version = TORCOLL_WIRE_VERSION,
		.type = TORCOLL_FRAME_ECHO,
		.hop_limit = 1,
		.flags = flags,
		.src = src,
		.dst = SELF,
		.src_epoch = 77,
		.op = op,
		.stamp = 99,
		.length = payload->len,
		.payload_crc = crc,
	};

	tor_echo_rx(&ctx, &node, PORT, &h, payload, payload->len ? 1 : 0);
}

static void tor_echo_rx__is_answered(void **state)
{
	struct tor_bytes payload = { "some bytes to test with", 23 };
	struct host_frame *f;
	enum tor_counter why;
	struct tor_hdr h;
	u32 i;

	(void)state;
	for (i = 1; i <= 3; i++) {
		comes(4, 1000 + i, 0, &payload, tor_wire_crc(payload.p, payload.len));
		assert_int_equal(host.nsent, i);
		f = &host.sent[i - 1];
		assert_int_equal(f->port, PORT);
		assert_int_equal(f->len, sizeof(struct torcoll_hdr));
		assert_int_equal(tor_wire_parse(f->bytes, f->len, f->len, &h, &why), 0);
		assert_int_equal(h.type, TORCOLL_FRAME_ECHO);
		assert_int_equal(h.flags, TORCOLL_FLAG_REPLY);
		assert_int_equal(h.hop_limit, 1);
		assert_int_equal(h.src, SELF);
		assert_int_equal(h.dst, 4);
		assert_int_equal(h.dst_epoch, 77);
		assert_int_equal(h.op, 1000 + i);
		assert_int_equal(h.stamp, 99);
		assert_int_equal(h.digest, i);
		assert_int_equal(h.offset, 1);
		assert_int_equal(h.length, 0);
	}
	assert_int_equal(host.counters[TOR_C_TX_ECHOES], 3);
}

static void tor_echo_rx__empty(void **state)
{
	struct tor_bytes nothing = { NULL, 0 };

	(void)state;
	comes(4, 1, 0, &nothing, 0);
	assert_int_equal(host.nsent, 1);
}

static void tor_echo_rx__damaged(void **state)
{
	struct tor_bytes payload = { "some bytes to test with", 23 };

	(void)state;
	node.checksum_payload = false;
	comes(4, 1, 0, &payload, tor_wire_crc(payload.p, payload.len) ^ 1);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(host.counters[TOR_C_DROP_PAYLOAD_CRC], 1);
	comes(4, 2, 0, &payload, 0);
	assert_int_equal(host.counters[TOR_C_DROP_PAYLOAD_CRC], 2);
}

/* Answers report damaged tests, and headers that were too damaged to say what they were. */
static void tor_echo_rx__damage_is_reported(void **state)
{
	struct tor_bytes payload = { "some bytes to test with", 23 };
	enum tor_counter why;
	struct tor_hdr h;

	(void)state;
	comes(4, 1, 0, &payload, tor_wire_crc(payload.p, payload.len) ^ 1);
	tor_cable_damaged(&node, PORT);
	tor_cable_damaged(&node, PORT - 1);
	comes(4, 2, 0, &payload, tor_wire_crc(payload.p, payload.len));
	assert_int_equal(host.nsent, 1);
	assert_int_equal(tor_wire_parse(host.sent[0].bytes, host.sent[0].len, host.sent[0].len, &h, &why), 0);
	assert_int_equal(h.offset, 1 + 2);
	assert_int_equal(h.digest, 1);
}

static void tor_echo_rx__of_another_node(void **state)
{
	struct tor_bytes nothing = { NULL, 0 };
	u32 src;

	(void)state;
	for (src = 0; src < 8; src++)
		if (src != 4)
			comes(src, 1, 0, &nothing, 0);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(host.counters[TOR_C_DROP_NODE], 7);
}

/* Two modules that answered answers would never end. */
static void tor_echo_rx__answers_are_not_answered(void **state)
{
	struct tor_bytes nothing = { NULL, 0 };

	(void)state;
	comes(4, 1, TORCOLL_FLAG_REPLY, &nothing, 0);
	assert_int_equal(host.nsent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tor_echo_rx__is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_echo_rx__empty, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_echo_rx__damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_echo_rx__damage_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_echo_rx__of_another_node, setup, teardown),
		cmocka_unit_test_setup_teardown(tor_echo_rx__answers_are_not_answered, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
