// SPDX-License-Identifier: GPL-2.0
/* Calls of MPI as ops of the library, over types made of bytes and holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../mpi/common/blocks.c"
#include "../../mpi/common/call.c"
#include "../../mpi/common/describe_move.c"
#include "../../mpi/common/describe_reduce.c"
#include "../../mpi/common/describe_rooted.c"
#include "../../mpi/common/move.c"

/* An element has @size bytes of data, then a hole up to @extent. */
struct fake_type {
	size_t size;
	ptrdiff_t extent;
	int holds;
};

static struct fake_type whole = { 4, 4 }, holed = { 4, 6 };

size_t tmpi_type_size(MPI_Datatype type)
{
	return type->size;
}

ptrdiff_t tmpi_type_extent(MPI_Datatype type)
{
	return type->extent;
}

char *tmpi_type_flat(MPI_Datatype type, int count, char *addr)
{
	return count == 1 || (ptrdiff_t)type->size == type->extent ? addr : NULL;
}

int tmpi_type_pack(MPI_Datatype type, int count, const char *addr, char *flat)
{
	for (int i = 0; i < count; i++)
		memcpy(flat + i * type->size, addr + i * type->extent, type->size);
	return 0;
}

int tmpi_type_unpack(MPI_Datatype type, int count, char *addr, const char *flat)
{
	for (int i = 0; i < count; i++)
		memcpy(addr + i * type->extent, flat + i * type->size, type->size);
	return 0;
}

static int holds_left = -1;	/* negative: any number */

int tmpi_type_hold(MPI_Datatype *type)
{
	if (!holds_left)
		return -ENOMEM;
	holds_left--;
	(*type)->holds++;
	return 0;
}

void tmpi_type_release(MPI_Datatype type)
{
	type->holds--;
}

bool tmpi_reduction(MPI_Datatype type, MPI_Op op, struct tmpi_reduction *r)
{
	*r = (struct tmpi_reduction){ TORCOLL_I32, TORCOLL_SUM, 1 };
	return true;
}

bool tmpi_aside(uint64_t bytes)
{
	return false;
}

int tmpi_leave(enum tmpi_why why)
{
	return TMPI_LEFT;
}

static struct tmpi_call call_of(uint32_t rank, uint32_t size)
{
	struct tmpi_call call;

	tmpi_call_init(&call, rank, size);
	return call;
}

static void end(struct tmpi_call *call)
{
	assert_int_equal(tmpi_call_finish(call, 0), 0);
	assert_int_equal(whole.holds + holed.holds, 0);
}

static void blocks__in_one_piece_are_used_as_they_are(void **state)
{
	static const int counts[] = { 2, 0, 1 }, displs[] = { 1, 9, 3 };
	char mem[64];
	struct tmpi_blocks b = {
		.base = mem, .n = 3, .counts = counts, .displs = displs, .type = &whole,
	};
	struct tmpi_flat flat = { 0 };

	assert_int_equal(tmpi_blocks_in(&flat, &b), 0);
	assert_ptr_equal(flat.addr, mem + 4);
	assert_null(flat.scratch);
	assert_int_equal(tmpi_blocks_bytes(&b, 3), 12);
	assert_int_equal(tmpi_blocks_bytes(&b, 2), 8);
	tmpi_flat_free(&flat);
}

static void blocks__out_of_order_are_packed_and_unpacked(void **state)
{
	static const int counts[] = { 1, 2 }, displs[] = { 3, 0 };
	char mem[16] = "aaaabbbbccccddd";
	struct tmpi_blocks b = {
		.base = mem, .n = 2, .counts = counts, .displs = displs, .type = &whole,
	};
	struct tmpi_flat in = { 0 }, out = { 0 };

	assert_int_equal(tmpi_blocks_in(&in, &b), 0);
	assert_memory_equal(in.addr, "ddd\0aaaabbbb", 12);
	tmpi_flat_free(&in);
	assert_int_equal(tmpi_blocks_out(&out, &b), 0);
	memcpy(out.addr, "1234abcdABCD", 12);
	assert_int_equal(tmpi_flat_unpack(&out), 0);
	assert_memory_equal(mem, "abcdABCDcccc1234", 16);
	tmpi_flat_free(&out);
	assert_int_equal(whole.holds, 0);
}

static void blocks__holes_are_not_touched(void **state)
{
	char mem[12] = "aaaa--bbbb--";
	struct tmpi_blocks b = { .base = mem, .n = 1, .count = 2, .type = &holed };
	struct tmpi_call call = call_of(1, 2);

	assert_int_equal(tmpi_bcast(&call, &b, 0), 0);
	assert_int_equal(call.op.count, 8);
	assert_int_equal(holed.holds, 1);
	memcpy(call.op.recv, "12345678", 8);
	end(&call);
	assert_memory_equal(mem, "1234--5678--", 12);
}

static void blocks__whose_types_cannot_be_held_fail(void **state)
{
	static const int counts[] = { 1, 0, 2, 1 }, displs[] = { 3, 0, 1, 0 };
	char mem[24] = "";
	struct tmpi_blocks b = {
		.base = mem, .n = 4, .counts = counts, .displs = displs, .type = &holed,
	};
	struct tmpi_flat flat = { 0 };

	holds_left = 2;
	assert_int_equal(tmpi_blocks_out(&flat, &b), -ENOMEM);
	assert_int_equal(holed.holds, 2);
	tmpi_flat_free(&flat);
	assert_int_equal(holed.holds, 0);
	holds_left = -1;
}

static void bcast__of_nothing_has_no_op(void **state)
{
	struct tmpi_blocks b = { .n = 1, .count = 0, .type = &whole };
	struct tmpi_call call = call_of(0, 2);

	assert_int_equal(tmpi_bcast(&call, &b, 0), 0);
	assert_int_equal(call.op.collective, TORCOLL_COLL_NONE);
	end(&call);
}

static void reduce__result_at_the_root_only(void **state)
{
	struct tmpi_reduction r = { TORCOLL_F32, TORCOLL_SUM, 2 };
	struct tmpi_call call = call_of(1, 2);
	char in[8], out[8];

	assert_int_equal(tmpi_reduce(&call, TORCOLL_REDUCE, in, out, 1, &r, 0), 0);
	assert_null(call.op.recv);
	assert_int_equal(call.op.count, 2);
	call = call_of(0, 2);
	assert_int_equal(tmpi_reduce(&call, TORCOLL_REDUCE, NULL, out, 1, &r, 0), 0);
	assert_ptr_equal(call.op.send, out);
	assert_ptr_equal(call.op.recv, out);
	end(&call);
}

static void reduce_scatter__in_place_begins_at_the_start(void **state)
{
	struct tmpi_reduction r = { TORCOLL_I32, TORCOLL_MAX, 1 };
	static const int counts[] = { 3, 0, 1 };
	struct tmpi_call call = call_of(2, 3);
	char mem[16];

	assert_int_equal(tmpi_reduce_scatter(&call, NULL, mem, counts, 0, &r), 0);
	assert_int_equal(call.op.count, 4);
	assert_int_equal(call.op.counts[0], 3);
	assert_int_equal(call.op.flags, TORCOLL_OP_AT_START);
	assert_ptr_equal(call.op.recv, mem);
	end(&call);
}

static void allgather__in_place_sends_the_own_block(void **state)
{
	char mem[24] = "aaaa--bbbb--cccc--";
	struct tmpi_blocks recv = { .base = mem, .n = 3, .count = 1, .type = &holed };
	struct tmpi_call call = call_of(1, 3);

	assert_int_equal(tmpi_allgather(&call, NULL, &recv), 0);
	assert_int_equal(call.op.count, 12);
	assert_memory_equal(call.op.send, "bbbb", 4);
	assert_ptr_equal(call.op.send, (char *)call.op.recv + 4);
	end(&call);
}

static void gather__others_know_the_length_too(void **state)
{
	char mem[4];
	struct tmpi_blocks send = { .base = mem, .n = 1, .count = 1, .type = &whole };
	struct tmpi_blocks junk = { .n = 3, .count = 12345 };
	struct tmpi_call call = call_of(2, 3);

	assert_int_equal(tmpi_gather(&call, &send, &junk, 0), 0);
	assert_int_equal(call.op.count, 12);
	assert_ptr_equal(call.op.send, mem);
	end(&call);
}

static void scatter__root_in_place_keeps_its_block(void **state)
{
	char mem[12];
	struct tmpi_blocks send = { .base = mem, .n = 3, .count = 1, .type = &whole };
	struct tmpi_call call = call_of(1, 3);

	assert_int_equal(tmpi_scatter(&call, &send, NULL, 1), 0);
	assert_ptr_equal(call.op.recv, mem + 4);
	end(&call);
}

static void gatherv__lengths_at_the_root(void **state)
{
	static const int counts[] = { 1, 2, 0 }, displs[] = { 2, 0, 0 };
	char mem[12] = "aaaabbbbcccc";
	struct tmpi_blocks recv = {
		.base = mem, .n = 3, .counts = counts, .displs = displs, .type = &whole,
	};
	struct tmpi_call call = call_of(1, 3);

	assert_int_equal(tmpi_gatherv(&call, NULL, &recv, 1), 0);
	assert_int_equal(call.op.collective, TORCOLL_ALLTOALL);
	assert_int_equal(call.op.counts[1], 8);
	assert_int_equal(call.op.counts[0] + call.op.counts[2], 0);
	assert_int_equal(call.op.recv_counts[0], 4);
	assert_int_equal(call.op.recv_counts[1], 8);
	assert_int_equal(call.op.count, 12);
	assert_memory_equal(call.op.send, "aaaabbbb", 8);
	end(&call);
}

static void scatterv__others_get_their_block(void **state)
{
	char mem[8];
	struct tmpi_blocks recv = { .base = mem, .n = 1, .count = 2, .type = &whole };
	struct tmpi_call call = call_of(2, 3);

	assert_int_equal(tmpi_scatterv(&call, NULL, &recv, 0), 0);
	assert_int_equal(call.op.recv_counts[0], 8);
	assert_int_equal(call.op.counts[0] + call.op.counts[1] + call.op.counts[2], 0);
	assert_ptr_equal(call.op.recv, mem);
	end(&call);
}

static void alltoallw__displacements_are_bytes(void **state)
{
	static const int counts[] = { 1, 1 }, sends[] = { 8, 0 }, recvs[] = { 0, 4 };
	static const MPI_Datatype types[] = { &whole, &whole };
	char from[12] = "aaaabbbbcccc", to[8];
	struct tmpi_blocks send = {
		.base = from, .n = 2, .counts = counts, .displs = sends, .types = types,
	};
	struct tmpi_blocks recv = {
		.base = to, .n = 2, .counts = counts, .displs = recvs, .types = types,
	};
	struct tmpi_call call = call_of(0, 2);

	assert_int_equal(tmpi_alltoallv(&call, &send, &recv), 0);
	assert_memory_equal(call.op.send, "ccccaaaa", 8);
	assert_ptr_equal(call.op.recv, to);
	end(&call);
}

static char forbidden[12];
static const int ones[] = { 1, 1, 1 }, places[] = { 0, 1, 2 }, negative[] = { 1, 1, -1 };
static const MPI_Datatype wholes[] = { &whole, &whole, &whole };

/* The describing of a call of rank 1 of 3 by the arguments that follow. */
#define DESCRIBE(_name, ...)								\
({											\
	struct tmpi_call call = call_of(1, 3);						\
	int ret = tmpi_describe_##_name(&call, __VA_ARGS__);				\
											\
	end(&call);									\
	ret;										\
})

static void describe__a_root_that_is_no_rank_is_left(void **state)
{
	static const int roots[] = { -1, -2, 3, 1 << 30 };
	char *mem = forbidden;

	for (int i = 0; i < 4; i++) {
		int root = roots[i];

		assert_int_equal(DESCRIBE(bcast, mem, 1, &whole, root), TMPI_LEFT);
		assert_int_equal(DESCRIBE(reduce, mem, mem, 1, &whole, 0, root), TMPI_LEFT);
		assert_int_equal(DESCRIBE(gather, mem, 1, &whole, mem, 1, &whole, root), TMPI_LEFT);
		assert_int_equal(DESCRIBE(scatter, mem, 1, &whole, mem, 1, &whole, root), TMPI_LEFT);
		assert_int_equal(DESCRIBE(gatherv, mem, 1, &whole, mem, ones, places, &whole, root),
				 TMPI_LEFT);
		assert_int_equal(DESCRIBE(scatterv, mem, ones, places, &whole, mem, 1, &whole, root),
				 TMPI_LEFT);
	}
}

static void describe__in_place_is_for_the_root(void **state)
{
	char *mem = forbidden;
	void *same = MPI_IN_PLACE;

	assert_int_equal(DESCRIBE(reduce, same, mem, 1, &whole, 0, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(gather, same, 1, &whole, mem, 1, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(gatherv, same, 1, &whole, NULL, NULL, NULL, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(scatterv, NULL, NULL, NULL, NULL, same, 1, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(gatherv, same, -1, &whole, mem, ones, places, &whole, 1), 0);
	assert_int_equal(DESCRIBE(scatterv, mem, ones, places, &whole, same, -1, &whole, 1), 0);
}

static void describe__a_negative_count_is_left(void **state)
{
	char *mem = forbidden;

	assert_int_equal(DESCRIBE(bcast, mem, -1, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(allreduce, mem, mem, -1, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(reduce_scatter, mem, mem, negative, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(reduce_scatter_block, mem, mem, -1, &whole, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(allgather, mem, 1, &whole, mem, -1, &whole), TMPI_LEFT);
	assert_int_equal(DESCRIBE(allgatherv, mem, 1, &whole, mem, negative, places, &whole),
			 TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoall, mem, -1, &whole, mem, 1, &whole), TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoallv, mem, negative, places, &whole, mem, ones, places,
				  &whole), TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoallw, mem, ones, places, wholes, mem, negative, places,
				  wholes), TMPI_LEFT);
	assert_int_equal(DESCRIBE(gatherv, mem, 1, &whole, mem, negative, places, &whole, 1),
			 TMPI_LEFT);
	assert_int_equal(DESCRIBE(scatterv, mem, negative, places, &whole, mem, 1, &whole, 1),
			 TMPI_LEFT);
	assert_int_equal(DESCRIBE(scatter, mem, 1, &whole, mem, -1, &whole, 0), TMPI_LEFT);
}

static void describe__elements_without_a_type_are_left(void **state)
{
	const MPI_Datatype types[] = { &whole, MPI_DATATYPE_NULL, &whole };
	static const int none[3], some[] = { 1, 0, 1 };
	char *mem = forbidden;

	assert_int_equal(DESCRIBE(bcast, mem, 1, MPI_DATATYPE_NULL, 0), TMPI_LEFT);
	assert_int_equal(DESCRIBE(bcast, mem, 0, MPI_DATATYPE_NULL, 0), 0);
	assert_int_equal(DESCRIBE(allgather, mem, 1, MPI_DATATYPE_NULL, mem, 1, &whole), TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoallv, mem, ones, places, &whole, mem, ones, places,
				  MPI_DATATYPE_NULL), TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoallv, mem, none, places, MPI_DATATYPE_NULL, mem, none,
				  places, MPI_DATATYPE_NULL), 0);
	assert_int_equal(DESCRIBE(alltoallw, mem, ones, places, types, mem, ones, places, wholes),
			 TMPI_LEFT);
	assert_int_equal(DESCRIBE(alltoallw, mem, some, places, types, mem, some, places, types),
			 0);
}

static void describe__counts_of_others_are_not_looked_at(void **state)
{
	char *mem = forbidden;

	assert_int_equal(DESCRIBE(gather, mem, 1, &whole, NULL, -1, NULL, 0), 0);
	assert_int_equal(DESCRIBE(scatter, NULL, -1, NULL, mem, 1, &whole, 0), 0);
	assert_int_equal(DESCRIBE(gatherv, mem, 1, &whole, NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(DESCRIBE(scatterv, NULL, NULL, NULL, NULL, mem, 1, &whole, 0), 0);
	assert_int_equal(DESCRIBE(allgather, MPI_IN_PLACE, -1, NULL, mem, 1, &whole), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks__in_one_piece_are_used_as_they_are),
		cmocka_unit_test(blocks__out_of_order_are_packed_and_unpacked),
		cmocka_unit_test(blocks__holes_are_not_touched),
		cmocka_unit_test(blocks__whose_types_cannot_be_held_fail),
		cmocka_unit_test(bcast__of_nothing_has_no_op),
		cmocka_unit_test(reduce__result_at_the_root_only),
		cmocka_unit_test(reduce_scatter__in_place_begins_at_the_start),
		cmocka_unit_test(allgather__in_place_sends_the_own_block),
		cmocka_unit_test(gather__others_know_the_length_too),
		cmocka_unit_test(scatter__root_in_place_keeps_its_block),
		cmocka_unit_test(gatherv__lengths_at_the_root),
		cmocka_unit_test(scatterv__others_get_their_block),
		cmocka_unit_test(alltoallw__displacements_are_bytes),
		cmocka_unit_test(describe__a_root_that_is_no_rank_is_left),
		cmocka_unit_test(describe__in_place_is_for_the_root),
		cmocka_unit_test(describe__a_negative_count_is_left),
		cmocka_unit_test(describe__elements_without_a_type_are_left),
		cmocka_unit_test(describe__counts_of_others_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
