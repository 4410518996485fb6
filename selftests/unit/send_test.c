// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Data frames of one rank of four on a ring, in an alltoall: how long they are, and which of them carry acknowledgements.
 */
#include "host_env.h"
#include "made_paths.h"

#include "core/engine/chan.h"

#define RANKS		4
#define UNIT		1024
#define OWED		3

struct fixture {
	struct tor_node node;
	struct tor_comm comm;
	struct tor_op op;
	struct tor_chan chan;
	struct tor_mem data, temp;
	u32 epoch[RANKS];
	struct made_paths path;
	struct tor_ctx ctx;
	int error;	/* of frames */
};

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	static const u32 side = RANKS;
	struct tor_torus torus;

	host_reset();
	assert_int_equal(tor_torus_init(&torus, 1, &side, 2), 0);
	assert_int_equal(tor_node_init(&f->node, &torus, 1, 0), 0);
	f->comm = (struct tor_comm){
		.node = &f->node,
		.ranks = RANKS,
		.tag = 77,
		.unit = UNIT,
		.depth = 1,
		.channels = 1,
		.epoch = f->epoch,
		.path = made_paths(&f->path),
	};
	f->op.comm = &f->comm;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tor_node_destroy(&f->node);
	host_check_idle();
	host_forget_sent();
	test_free(f);
	return 0;
}

/* Begin an alltoall with blocks of @block bytes of a type, while acknowledgements are owed to rank 1. */
static void begin(struct fixture *f, u8 type, u32 block)
{
	struct tor_call call = {
		.torus = &f->node.torus,
		.ranks = RANKS,
		.collective = TORCOLL_ALLTOALL,
		.algorithm = TORCOLL_DIRECT,
		.type = type,
		.count = RANKS * block / tor_type_size(type),
	};
	const char *why = "";
	u32 i;

	assert_int_equal(tor_op_begin(&f->op, 1, &call, &why), 0);
	f->data = (struct tor_mem){ .data = test_calloc(RANKS, block), .len = RANKS * block };
	f->temp = (struct tor_mem){ .data = test_calloc(RANKS, block), .len = RANKS * block };
	f->op.data = &f->data;
	f->op.temp = &f->temp;
	f->ctx = (struct tor_ctx){ .now = NSEC_PER_SEC };
	tor_chan_init(&f->chan, &f->op, 0, 1);
	for (i = 0; i < OWED; i++)
		tor_chan_owe(&f->ctx, &f->chan, 1, 100 + i, 0);
	host_forget_sent();
	/* the one too many has left, with all of them */
	for (i = 0; i < TOR_DUE_WORDS; i++)
		tor_chan_owe(&f->ctx, &f->chan, 1, 200 + i, 0);
	assert_int_equal(host.nsent, 0);
	host.send_error = f->error;
	host_start(&f->ctx, &f->chan);
}

static void end(struct fixture *f)
{
	struct tor_ack owed[TOR_DUE_WORDS];

	tor_comm_take_due(&f->comm, 1, owed, TOR_DUE_WORDS);
	tor_chan_destroy(&f->chan);
	host_forget_sent();
	test_free(f->data.data);
	test_free(f->temp.data);
}

/* Return the acks of the data frames to rank 1 with @length bytes of payload; there must be @frames. */
static u32 acks_in(u32 length, u32 frames)
{
	u32 i, n = 0, acks = 0;
	enum tor_counter why;
	struct tor_hdr h;

	for (i = 0; i < host.nsent; i++) {
		const struct host_frame *frame = &host.sent[i];

		assert_int_equal(tor_wire_parse(frame->bytes, frame->len, frame->len, &h, &why), 0);
		assert_int_equal(h.type, TORCOLL_FRAME_DATA);
		assert_in_range(frame->len, 0, sizeof(struct torcoll_hdr) + UNIT);
		if (h.dst != 1 || h.length != length)
			continue;
		acks += h.acks;
		n++;
	}
	assert_int_equal(n, frames);
	return acks;
}

static void send_frame__full_ones_have_no_acks(void **state)
{
	struct fixture *f = *state;
	struct tor_ack owed[TOR_DUE_WORDS];

	begin(f, TORCOLL_I8, 2 * UNIT);
	assert_int_equal(acks_in(UNIT, 2), 0);
	/* they are owed as before */
	assert_int_equal(tor_comm_take_due(&f->comm, 1, owed, TOR_DUE_WORDS), TOR_DUE_WORDS);
	end(f);
}

static void send_frame__short_ones_have_as_many_as_fit(void **state)
{
	struct tor_ack owed[TOR_DUE_WORDS];
	struct fixture *f = *state;
	u32 spare, fit;

	for (spare = 1; spare < UNIT; spare += spare < 100 ? 1 : 101) {
		fit = min_t(u32, spare / sizeof(struct torcoll_ack), TOR_DUE_WORDS);
		begin(f, TORCOLL_I8, 2 * UNIT - spare);
		assert_int_equal(acks_in(UNIT, 1), 0);
		assert_int_equal(acks_in(UNIT - spare, 1), fit);
		assert_int_equal(tor_comm_take_due(&f->comm, 1, owed, TOR_DUE_WORDS), TOR_DUE_WORDS - fit);
		end(f);
	}
}

/* No element is in two frames, and what states where a frame belongs does not depend on the type. */
static void send_frame__whole_elements(void **state)
{
	static const u8 types[] = { TORCOLL_I8, TORCOLL_F16, TORCOLL_F32, TORCOLL_F64, TORCOLL_DOUBLE_INT };
	struct fixture *f = *state;
	enum tor_counter why;
	u32 i, k, size, n;
	struct tor_hdr h;

	for (k = 0; k < ARRAY_SIZE(types); k++) {
		size = tor_type_size(types[k]);
		f->comm.unit = UNIT + 12;
		begin(f, types[k], 3 * UNIT);
		assert_int_equal(tor_op_unit(&f->op), size > 4 ? UNIT + 12 - 12 % size : UNIT + 12);
		for (i = 0, n = 0; i < host.nsent; i++) {
			const struct host_frame *frame = &host.sent[i];

			assert_int_equal(tor_wire_parse(frame->bytes, frame->len, frame->len, &h, &why), 0);
			assert_int_equal(h.length % size, 0);
			if (h.dst != 1)
				continue;
			assert_int_equal(h.offset, n++ * (UNIT + 12));
			assert_int_equal(h.length, min_t(u64, tor_op_unit(&f->op),
							 3 * UNIT - h.offset / (UNIT + 12) * tor_op_unit(&f->op)));
		}
		assert_int_equal(n, 3);
		end(f);
	}
}

/* No memory, or no route: the acknowledgements in it are owed as before. */
static void send_frame__that_does_not_leave(void **state)
{
	struct tor_ack owed[TOR_DUE_WORDS];
	struct fixture *f = *state;

	f->error = -ENOMEM;
	begin(f, TORCOLL_I8, UNIT / 2);
	assert_int_equal(host.nsent, 0);
	assert_int_equal(tor_comm_take_due(&f->comm, 1, owed, TOR_DUE_WORDS), TOR_DUE_WORDS);
	assert_in_range(owed[0].op, 200, 200 + TOR_DUE_WORDS - 1);
	assert_in_range(owed[1].op, 200, 200 + TOR_DUE_WORDS - 1);
	end(f);
}

/* Copies that wait for acknowledgements are charged; without, frames leave as well, and the op waits. */
static void send_frame__copies_are_charged(void **state)
{
	struct fixture *f = *state;

	begin(f, TORCOLL_I8, UNIT / 2);
	assert_int_equal(host.kept, (RANKS - 1) * UNIT / 2);
	assert_int_equal(f->chan.state, TOR_CHAN_RUNNING);
	end(f);
	assert_int_equal(host.kept, 0);
	host.keep_most = UNIT;
	begin(f, TORCOLL_I8, UNIT / 2);
	assert_int_equal(host.kept, UNIT);
	acks_in(UNIT / 2, 1);
	end(f);
	assert_int_equal(host.kept, 0);
}

/* A frame may leave its acknowledgement to chance if a copy of it is kept; without, the op waits for it. */
static void send_frame__without_a_copy_asks(void **state)
{
	struct fixture *f = *state;
	enum tor_counter why;
	struct tor_hdr h;
	u32 i, copies;

	f->comm.depth = 4;
	for (copies = 0; copies < 2; copies++) {
		for (i = 1; i < RANKS; i++)
			tor_comm_path(&f->comm, i)->srtt = 100;
		host.keep_most = copies ? RANKS * UNIT : 0;
		begin(f, TORCOLL_I8, UNIT / 2);
		assert_int_equal(host.nsent, RANKS - 1);
		for (i = 0; i < host.nsent; i++) {
			assert_int_equal(tor_wire_parse(host.sent[i].bytes, host.sent[i].len, host.sent[i].len, &h, &why), 0);
			assert_int_equal(h.flags, copies ? TORCOLL_FLAG_WHOLE : TORCOLL_FLAG_ACK);
		}
		end(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(send_frame__full_ones_have_no_acks),
		TEST(send_frame__short_ones_have_as_many_as_fit),
		TEST(send_frame__whole_elements),
		TEST(send_frame__that_does_not_leave),
		TEST(send_frame__copies_are_charged),
		TEST(send_frame__without_a_copy_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
