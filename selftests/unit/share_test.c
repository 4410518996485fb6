// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * How a port is shared: devices that send at a rate, and the packets and frames
 * of collectives that want to leave by them.
 */
#include "host_env.h"

#include "core/packet/share.h"

#define PACKET	1500
#define MEMORY	2304		/* what a device holds of a packet */
#define FRAME	1000

/**
 * struct port - a port whose device sends all that it holds in order
 * @held: memory of the packets in it
 * @sent: bytes of packets of either queue, and of frames
 */
struct port {
	struct tor_share share;
	u32 held;
	u64 now;
	u64 sent[2];
	u64 frames;
};

static void port_init(struct port *port)
{
	*port = (struct port){ .now = NSEC_PER_SEC };
	tor_share_init(&port->share, port->now);
}

/* Give the device packets of @waits as long as there is room. Return how many. */
static u32 fill(struct port *port, u32 waits, u32 bytes)
{
	u32 n = 0;

	while (tor_share_has_room(&port->share, port->held)) {
		u32 queue = tor_share_queue(&port->share, waits);

		tor_share_packet(&port->share, queue, bytes, MEMORY);
		port->held += MEMORY;
		port->sent[queue] += bytes;
		n++;
	}
	return n;
}

/* Frames leave as long as they go first. */
static void lead(struct port *port)
{
	while (tor_share_frame_first(&port->share)) {
		tor_share_frame(&port->share, FRAME);
		port->frames += FRAME;
	}
}

/* The device sends @n packets of those that it holds. */
static void send_some(struct port *port, u32 n)
{
	port->now += n * 100 * NSEC_PER_USEC;
	port->held -= min_t(u32, n * MEMORY, port->held);
	tor_share_sent(&port->share, port->held, port->now);
}

static void tor_share_has_room__a_packet_at_least(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_init(&port);
	port.share.limit = TOR_SHARE_LEAST;
	for (i = 0; i < 10; i++) {
		assert_int_equal(fill(&port, 1, PACKET), 1);
		assert_false(tor_share_has_room(&port.share, port.held));
		port.held = 0;
	}
}

/* A device that reports each packet when it was sent needs two. */
static void tor_share_sent__shrinks_to_what_keeps_the_device_busy(void **state)
{
	struct port port;
	u32 i, dry = 0;

	(void)state;
	port_init(&port);
	for (i = 0; i < 100000; i++) {
		fill(&port, 1, PACKET);
		send_some(&port, 1);
		if (i > 50000)
			dry += !port.held;
	}
	assert_in_range(port.held, 0, MEMORY);
	assert_in_range(port.share.limit, TOR_SHARE_LEAST, 2 * MEMORY);
	/* 50000 packets are 5 s: once in a while it tries whether one is enough */
	assert_in_range(dry, 1, 2 * 5 * NSEC_PER_SEC / TOR_SHARE_WHILE);
}

/* A device that reports 40 packets at once needs more than these. */
static void tor_share_sent__grows_until_the_device_is_never_dry(void **state)
{
	struct port port;
	u32 i, dry = 0;

	(void)state;
	port_init(&port);
	for (i = 0; i < 10000; i++) {
		fill(&port, 1, PACKET);
		send_some(&port, 40);
		if (i > 1000)
			dry += !port.held;
	}
	assert_in_range(port.share.limit, 40 * MEMORY, 42 * MEMORY);
	assert_in_range(dry, 0, 9000 / 60);
}

static void tor_share_sent__limit_is_bounded(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_init(&port);
	for (i = 0; i < 20000; i++) {
		fill(&port, 1, PACKET);
		port.held = 0;
		tor_share_sent(&port.share, 0, port.now);
	}
	assert_int_equal(port.share.limit, TOR_SHARE_MOST);
}

static void tor_share_frame_first__half_of_the_bytes(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_init(&port);
	for (i = 0; i < 10000; i++) {
		lead(&port);
		fill(&port, 2, PACKET);
		send_some(&port, 1);
		assert_in_range(port.frames, port.sent[1], port.sent[1] + TOR_SHARE_LEAD + FRAME);
	}
	assert_true(port.sent[1] > 10000 * (u64)PACKET - TOR_SHARE_MOST);
}

/* Small frames, such as those of an allreduce of 8 bytes, never wait. */
static void tor_share_frame_first__small_ones_always(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_init(&port);
	for (i = 0; i < 10000; i++) {
		assert_true(tor_share_frame_first(&port.share));
		tor_share_frame(&port.share, 100);
		fill(&port, 1, PACKET);
		send_some(&port, 1);
	}
}

/* Long ago does not count. */
static void tor_share_frame_first__lead_is_bounded(void **state)
{
	struct port port;

	(void)state;
	port_init(&port);
	port.share.limit = TOR_SHARE_MOST;
	fill(&port, 1, PACKET);
	lead(&port);
	assert_in_range(port.frames, TOR_SHARE_LEAD, TOR_SHARE_LEAD + FRAME);
}

static void tor_share_queue__the_one_that_has_packets(void **state)
{
	struct port port;

	(void)state;
	port_init(&port);
	assert_int_equal(tor_share_queue(&port.share, 1), 0);
	assert_int_equal(tor_share_queue(&port.share, 2), 1);
}

static void tor_share_queue__turns_by_bytes(void **state)
{
	struct tor_share share;
	u64 sent[2] = {};
	u32 i;

	(void)state;
	tor_share_init(&share, 0);
	for (i = 0; i < 1000; i++) {
		u32 queue = tor_share_queue(&share, 3);
		u32 bytes = queue ? 100 : 9000;

		tor_share_packet(&share, queue, bytes, bytes);
		sent[queue] += bytes;
		assert_in_range(sent[0] - sent[1] + 9000, 0, 2 * 9000);
	}
	assert_true(sent[1] > 40000);
}

/* A queue that sent alone for long does not pay for that. */
static void tor_share_queue__what_was_sent_alone_does_not_count(void **state)
{
	struct tor_share share;
	u32 i;

	(void)state;
	tor_share_init(&share, 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(tor_share_queue(&share, 1), 0);
		tor_share_packet(&share, 0, 9000, 9000);
	}
	assert_int_equal(tor_share_queue(&share, 1), 0);
	for (i = 0; i < 10; i++) {
		u32 queue = tor_share_queue(&share, 3);

		assert_int_equal(queue, i % 2);
		tor_share_packet(&share, queue, 9000, 9000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tor_share_has_room__a_packet_at_least),
		cmocka_unit_test(tor_share_sent__shrinks_to_what_keeps_the_device_busy),
		cmocka_unit_test(tor_share_sent__grows_until_the_device_is_never_dry),
		cmocka_unit_test(tor_share_sent__limit_is_bounded),
		cmocka_unit_test(tor_share_frame_first__half_of_the_bytes),
		cmocka_unit_test(tor_share_frame_first__small_ones_always),
		cmocka_unit_test(tor_share_frame_first__lead_is_bounded),
		cmocka_unit_test(tor_share_queue__the_one_that_has_packets),
		cmocka_unit_test(tor_share_queue__turns_by_bytes),
		cmocka_unit_test(tor_share_queue__what_was_sent_alone_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
