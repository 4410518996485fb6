// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What torcoll-perf takes for the right result of a halo: that of the module's plan, whatever the
 * comm's ranks form.
 */
#include <stdlib.h>
#include <string.h>

#include "host_env.h"

#include "../../tools/torcoll-perf/data.c"
#include "../../tools/torcoll-perf/halo.c"
#include "../../tools/torcoll-perf/part.c"

/* A comm: its fabric, and the node of each rank. */
struct torcoll_comm {
	struct torcoll_comm_info info;
	const uint32_t *node;
	uint32_t size;
};

int torcoll_comm_info(struct torcoll_comm *comm, struct torcoll_comm_info *info)
{
	*info = comm->info;
	return 0;
}

uint32_t torcoll_comm_node(const struct torcoll_comm *comm, uint32_t rank)
{
	return rank < comm->size ? comm->node[rank] : ~0U;
}

size_t torcoll_type_size(enum torcoll_type type)
{
	return sizeof(float);
}

#define N		3		/* elements of a block */
#define WAYS_MAX	12

/* Check that the block of each neighbour is right, and that what is wrong is seen. */
static void check_ranks(struct torcoll_comm *comm, uint32_t ways,
			uint32_t (*neighbour)(uint32_t rank, uint32_t way))
{
	struct options o = { .collective = TORCOLL_HALO };
	struct perf p = { .o = &o, .comm = comm, .size = comm->size };
	struct result r = { .type = TORCOLL_F32, .count = N * ways };
	float buf[N * WAYS_MAX];
	char first[80];

	assert_int_equal(data_init(comm->size), 0);
	assert_int_equal(halo_init(&p), 0);
	assert_int_equal(part_granule(&p), ways);
	for (p.rank = 0; p.rank < comm->size; p.rank++) {
		for (uint32_t way = 0; way < ways; way++)
			data_fill(&r, neighbour(p.rank, way), (struct part){ (way ^ 1) * N, N },
				  (uint8_t *)(buf + way * N));
		assert_int_equal(part_check(&p, &r, (uint8_t *)buf, first, sizeof(first)), 0);
		buf[N * ways - 1] += 1;
		assert_int_equal(part_check(&p, &r, (uint8_t *)buf, first, sizeof(first)), 1);
	}
	halo_exit(&p);
	data_exit();
}

static uint32_t ranks;

static uint32_t on_ring(uint32_t rank, uint32_t way)
{
	return (rank + (way ? 1 : ranks - 1)) % ranks;
}

/* 4x3, the first one faster. */
static uint32_t on_torus(uint32_t rank, uint32_t way)
{
	uint32_t x = rank % 4, y = rank / 4;

	switch (way) {
	case 0:
		return y * 4 + (x + 3) % 4;
	case 1:
		return y * 4 + (x + 1) % 4;
	case 2:
		return (y + 2) % 3 * 4 + x;
	default:
		return (y + 1) % 3 * 4 + x;
	}
}

/* 3x2, of which the second has one neighbour in both directions. */
static uint32_t on_block(uint32_t rank, uint32_t way)
{
	uint32_t x = rank % 3, y = rank / 3;

	if (way >= 2)
		return (1 - y) * 3 + x;
	return y * 3 + (x + (way ? 1 : 2)) % 3;
}

static void halo__whole_fabric(void **state)
{
	static const uint32_t node[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct torcoll_comm comm = { .info = { .ndim = 3, .side = { 4, 1, 3 } },
				     .node = node, .size = 12 };

	check_ranks(&comm, 4, on_torus);
}

static void halo__several_on_a_node(void **state)
{
	static const uint32_t node[] = { 0, 0, 1, 1, 2, 2, 3, 3 };
	struct torcoll_comm comm = { .info = { .ndim = 1, .side = { 4 } },
				     .node = node, .size = 8 };

	ranks = 8;
	check_ranks(&comm, 2, on_ring);
	comm.info = (struct torcoll_comm_info){ .ndim = 2, .side = { 2, 2 } };
	check_ranks(&comm, 2, on_ring);
}

static void halo__list(void **state)
{
	static const uint32_t node[] = { 0, 5, 1, 7, 3 };
	struct torcoll_comm comm = { .info = { .ndim = 2, .side = { 4, 3 } },
				     .node = node, .size = 5 };

	ranks = 5;
	check_ranks(&comm, 2, on_ring);
}

/* A part of the fabric, which wraps around. */
static void halo__block(void **state)
{
	static const uint32_t node[] = { 6, 7, 4, 10, 11, 8 };
	struct torcoll_comm comm = { .info = { .ndim = 2, .side = { 4, 3 } },
				     .node = node, .size = 6 };

	check_ranks(&comm, 4, on_block);
}

static void halo__alone(void **state)
{
	static const uint32_t node[] = { 5 };
	struct torcoll_comm comm = { .info = { .ndim = 2, .side = { 4, 3 } },
				     .node = node, .size = 1 };

	ranks = 1;
	check_ranks(&comm, 2, on_ring);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(halo__whole_fabric),
		cmocka_unit_test(halo__several_on_a_node),
		cmocka_unit_test(halo__list),
		cmocka_unit_test(halo__block),
		cmocka_unit_test(halo__alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
