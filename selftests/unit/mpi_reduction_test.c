// SPDX-License-Identifier: GPL-2.0
/* Which operators of MPI the kernel has for which types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../mpi/common/reduction.c"

struct fake_type {
	enum tmpi_kind kind;
	size_t size;
	ptrdiff_t extent;
	enum torcoll_type pair;
};

static struct fake_type bytes_32 = { TMPI_SIGNED, 4, 4 }, truth_8 = { TMPI_BOOL, 1, 1 },
			truth_32 = { TMPI_BOOL, 4, 4 }, real = { TMPI_FLOAT, 8, 8 },
			complex_64 = { TMPI_COMPLEX, 8, 8 }, other = { TMPI_NONE, 4, 4 };

size_t tmpi_type_size(MPI_Datatype type)
{
	return type->size;
}

ptrdiff_t tmpi_type_extent(MPI_Datatype type)
{
	return type->extent;
}

enum tmpi_kind tmpi_type_kind(MPI_Datatype type, enum torcoll_type *pair)
{
	*pair = type->pair;
	return type->kind;
}

/* The library's, of what is asked here. */
size_t torcoll_type_size(enum torcoll_type type)
{
	return type == TORCOLL_2INT ? 8 : type == TORCOLL_DOUBLE_INT ? 16 : 0;
}

/* The type that is reduced, or that there is none. */
static enum torcoll_type taken(struct fake_type *type, MPI_Op op)
{
	struct tmpi_reduction r;

	return tmpi_reduction(type, op, &r) ? r.type : TORCOLL_TYPE_NONE;
}

static void numbers__by_what_is_defined_for_them(void **state)
{
	struct tmpi_reduction r;

	assert_int_equal(taken(&bytes_32, MPI_SUM), TORCOLL_I32);
	assert_int_equal(taken(&bytes_32, MPI_BXOR), TORCOLL_I32);
	assert_int_equal(taken(&bytes_32, MPI_LAND), TORCOLL_I32);
	assert_int_equal(taken(&bytes_32, MPI_MINLOC), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&bytes_32, MPI_OP_NULL), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&real, MPI_MAX), TORCOLL_F64);
	assert_int_equal(taken(&real, MPI_BAND), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&real, MPI_LOR), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&complex_64, MPI_PROD), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&other, MPI_SUM), TORCOLL_TYPE_NONE);
	assert_true(tmpi_reduction(&complex_64, MPI_SUM, &r));
	assert_int_equal(r.type, TORCOLL_F32);
	assert_int_equal(r.elements, 2);
}

static void truth__is_not_a_number(void **state)
{
	static const MPI_Op logical[] = { MPI_LAND, MPI_LOR, MPI_LXOR },
			    others[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR,
					 MPI_BXOR, MPI_MINLOC };

	for (size_t i = 0; i < sizeof(logical) / sizeof(*logical); i++) {
		assert_int_equal(taken(&truth_8, logical[i]), TORCOLL_U8);
		assert_int_equal(taken(&truth_32, logical[i]), TORCOLL_U32);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(taken(&truth_8, others[i]), TORCOLL_TYPE_NONE);
}

static void pairs__of_the_length_that_the_kernel_has(void **state)
{
	struct fake_type ints = { TMPI_PAIR, 8, 8, TORCOLL_2INT },
			 longs = { TMPI_PAIR, 16, 16, TORCOLL_2INT },
			 padded = { TMPI_PAIR, 12, 16, TORCOLL_DOUBLE_INT };

	assert_int_equal(taken(&ints, MPI_MINLOC), TORCOLL_2INT);
	assert_int_equal(taken(&ints, MPI_SUM), TORCOLL_TYPE_NONE);
	assert_int_equal(taken(&padded, MPI_MAXLOC), TORCOLL_DOUBLE_INT);
	/* MPI_2INTEGER, where Fortran's integers have 8 bytes */
	assert_int_equal(taken(&longs, MPI_MINLOC), TORCOLL_TYPE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers__by_what_is_defined_for_them),
		cmocka_unit_test(truth__is_not_a_number),
		cmocka_unit_test(pairs__of_the_length_that_the_kernel_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
