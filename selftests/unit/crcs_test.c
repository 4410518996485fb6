// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checksums of ranges: an entry must say what the latest write to its range was, compared with a model that keeps the
 * bytes.
 */
#include "host_env.h"

#include "core/transfer/crcs.h"
#include "core/wire/wire.h"

#define UNIT	96
#define BYTES	(40 * UNIT)

static u8 vector[BYTES];

static u32 crc_of(u64 off, u32 len)
{
	return tor_wire_crc(vector + off, len);
}

static void fill(u64 off, u64 len)
{
	while (len--)
		vector[off++] = rand();
}

static void a_range_is_found(void **state)
{
	struct tor_crcs *crcs = tor_crcs_new(UNIT, 16);
	u32 crc = 0;

	tor_crcs_set(crcs, 2 * UNIT + 5, UNIT, 0x1234);
	assert_true(tor_crcs_find(crcs, 2 * UNIT + 5, UNIT, &crc));
	assert_int_equal(crc, 0x1234);
	assert_false(tor_crcs_find(crcs, 2 * UNIT + 4, UNIT, &crc));
	assert_false(tor_crcs_find(crcs, 2 * UNIT + 5, UNIT - 1, &crc));
	assert_false(tor_crcs_find(crcs, 0, 0, &crc));
	tor_env_free(crcs);
}

static void what_meets_it_is_forgotten(void **state)
{
	static const struct { u64 off, len; bool meets; } write[] = {
		{ 5 * UNIT + 10, UNIT, true }, { 5 * UNIT + 10 - UNIT, UNIT, false },
		{ 5 * UNIT + 11 - UNIT, UNIT, true }, { 6 * UNIT + 10, UNIT, false },
		{ 6 * UNIT + 9, 1, true }, { 5 * UNIT + 9, 1, false }, { 5 * UNIT + 10, 1, true },
		{ 0, 40 * UNIT, true }, { 6 * UNIT + 10, 20 * UNIT, false },
		{ 0, 5 * UNIT + 10, false }, { 0, 5 * UNIT + 11, true },
	};
	u32 i, crc;

	for (i = 0; i < ARRAY_SIZE(write); i++) {
		struct tor_crcs *crcs = tor_crcs_new(UNIT, 64);

		tor_crcs_set(crcs, 5 * UNIT + 10, UNIT, 7);
		tor_crcs_forget(crcs, write[i].off, write[i].len);
		assert_int_equal(tor_crcs_find(crcs, 5 * UNIT + 10, UNIT, &crc), !write[i].meets);
		tor_env_free(crcs);
	}
}

/* Frames, and other writes of any length, at any place, into tables of all sizes: what is found is true. */
static void what_is_found_is_true(void **state)
{
	u32 ranges, i, crc, found = 0;

	srand(1);
	for (ranges = 1; ranges <= 64; ranges *= 2) {
		struct tor_crcs *crcs = tor_crcs_new(UNIT, ranges);

		for (i = 0; i < 20000; i++) {
			/* few places, so that they meet again */
			u64 off = rand() % 40 * UNIT / (rand() % 2 + 1);
			u32 len = rand() % 4 ? UNIT : rand() % UNIT + 1;

			len = min_t(u64, len, BYTES - off);
			switch (rand() % 5) {
			case 0:
				len = rand() % 8 ? len : rand() % (BYTES - off) + 1;
				fill(off, len);
				tor_crcs_forget(crcs, off, len);
				break;
			case 1:
			case 2:
				fill(off, len);
				tor_crcs_set(crcs, off, len, crc_of(off, len));
				break;
			default:
				if (!tor_crcs_find(crcs, off, len, &crc))
					break;
				found++;
				assert_int_equal(crc, crc_of(off, len));
			}
		}
		tor_env_free(crcs);
	}
	assert_true(found > 1000);
}

static void the_table_is_bounded(void **state)
{
	struct tor_crcs *crcs = tor_crcs_new(UNIT, ~0U);

	assert_int_equal(crcs->mask, TOR_CRCS_MAX - 1);
	assert_true(sizeof(*crcs) + TOR_CRCS_MAX * sizeof(crcs->of[0]) <= TOR_CRCS_MEMORY);
	tor_env_free(crcs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_found),
		cmocka_unit_test(what_meets_it_is_forgotten),
		cmocka_unit_test(what_is_found_is_true),
		cmocka_unit_test(the_table_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
