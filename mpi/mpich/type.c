// SPDX-License-Identifier: MIT
/* MPICH's datatypes: see ../common/type.h. */
#include "preload.h"

#include <errno.h>
#include <limits.h>

size_t tmpi_type_size(MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	return size;
}

ptrdiff_t tmpi_type_extent(MPI_Datatype type)
{
	MPI_Aint lb = 0, extent = 0;

	PMPI_Type_get_extent(type, &lb, &extent);
	return extent;
}

/* Types of types are released when they have been looked at; those of MPI are not. */
static void type_unget(MPI_Datatype type)
{
	int integers, addresses, types, combiner;

	PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		PMPI_Type_free(&type);
}

/* Return whether elements in a row have all their data in a row, in order. */
static bool type_is_flat(MPI_Datatype type)
{
	int integers, addresses, types, combiner, integer[1];
	MPI_Aint address[1], lb, extent;
	MPI_Datatype of;
	bool flat;

	if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
		return false;
	switch (combiner) {
	case MPI_COMBINER_NAMED:
		PMPI_Type_get_extent(type, &lb, &extent);
		return !lb && (size_t)extent == tmpi_type_size(type);
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_CONTIGUOUS:
		PMPI_Type_get_contents(type, integers, addresses, types, integer, address, &of);
		flat = type_is_flat(of);
		type_unget(of);
		return flat;
	default:
		return false;
	}
}

char *tmpi_type_flat(MPI_Datatype type, int count, char *addr)
{
	return type_is_flat(type) ? addr : NULL;
}

/* Elements that are packed by one call: its lengths are integers. */
static int piece_of(MPI_Datatype type, int count)
{
	size_t size = tmpi_type_size(type), most = size ? INT_MAX / size : INT_MAX;

	return (size_t)count < most ? count : (int)most;
}

int tmpi_type_pack(MPI_Datatype type, int count, const char *addr, char *flat)
{
	size_t size = tmpi_type_size(type);
	ptrdiff_t extent = tmpi_type_extent(type);
	int n;

	for (; count; count -= n) {
		int position = 0;

		n = piece_of(type, count);
		if (!n || PMPI_Pack(addr, n, type, flat, n * size, &position, MPI_COMM_SELF) !=
			  MPI_SUCCESS)
			return -EFAULT;
		addr += n * extent;
		flat += n * size;
	}
	return 0;
}

int tmpi_type_unpack(MPI_Datatype type, int count, char *addr, const char *flat)
{
	size_t size = tmpi_type_size(type);
	ptrdiff_t extent = tmpi_type_extent(type);
	int n;

	for (; count; count -= n) {
		int position = 0;

		n = piece_of(type, count);
		if (!n || PMPI_Unpack(flat, n * size, &position, addr, n, type, MPI_COMM_SELF) !=
			  MPI_SUCCESS)
			return -EFAULT;
		addr += n * extent;
		flat += n * size;
	}
	return 0;
}

static bool type_is_named(MPI_Datatype type)
{
	int integers, addresses, types, combiner = MPI_COMBINER_NAMED;

	PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

MPI_Datatype tmpi_type_hold(MPI_Datatype type)
{
	MPI_Datatype kept = type;

	if (!type_is_named(type) && PMPI_Type_dup(type, &kept) != MPI_SUCCESS)
		kept = type;
	return kept;
}

void tmpi_type_release(MPI_Datatype type)
{
	if (!type_is_named(type))
		PMPI_Type_free(&type);
}

/* ---- reductions ---- */

static const struct {
	MPI_Datatype type;
	enum tmpi_kind kind;
	enum torcoll_type pair;
} kinds[] = {
	{ MPI_DOUBLE, TMPI_FLOAT },
	{ MPI_INT, TMPI_SIGNED },
	{ MPI_FLOAT, TMPI_FLOAT },
	{ MPI_LONG, TMPI_SIGNED },
	{ MPI_UNSIGNED_LONG, TMPI_UNSIGNED },
	{ MPI_UNSIGNED, TMPI_UNSIGNED },
	{ MPI_LONG_LONG, TMPI_SIGNED },
	{ MPI_UNSIGNED_LONG_LONG, TMPI_UNSIGNED },
	{ MPI_SIGNED_CHAR, TMPI_SIGNED },
	{ MPI_UNSIGNED_CHAR, TMPI_UNSIGNED },
	{ MPI_SHORT, TMPI_SIGNED },
	{ MPI_UNSIGNED_SHORT, TMPI_UNSIGNED },
	{ MPI_INT8_T, TMPI_SIGNED },
	{ MPI_INT16_T, TMPI_SIGNED },
	{ MPI_INT32_T, TMPI_SIGNED },
	{ MPI_INT64_T, TMPI_SIGNED },
	{ MPI_UINT8_T, TMPI_UNSIGNED },
	{ MPI_UINT16_T, TMPI_UNSIGNED },
	{ MPI_UINT32_T, TMPI_UNSIGNED },
	{ MPI_UINT64_T, TMPI_UNSIGNED },
	{ MPI_AINT, TMPI_SIGNED },
	{ MPI_OFFSET, TMPI_SIGNED },
	{ MPI_COUNT, TMPI_SIGNED },
	{ MPI_C_BOOL, TMPI_UNSIGNED },
	{ MPI_INTEGER, TMPI_SIGNED },
	{ MPI_LOGICAL, TMPI_SIGNED },
	{ MPI_REAL, TMPI_FLOAT },
	{ MPI_DOUBLE_PRECISION, TMPI_FLOAT },
	{ MPI_INTEGER1, TMPI_SIGNED },
	{ MPI_INTEGER2, TMPI_SIGNED },
	{ MPI_INTEGER4, TMPI_SIGNED },
	{ MPI_INTEGER8, TMPI_SIGNED },
	{ MPI_REAL4, TMPI_FLOAT },
	{ MPI_REAL8, TMPI_FLOAT },
	{ MPI_COMPLEX, TMPI_COMPLEX },
	{ MPI_DOUBLE_COMPLEX, TMPI_COMPLEX },
	{ MPI_COMPLEX8, TMPI_COMPLEX },
	{ MPI_COMPLEX16, TMPI_COMPLEX },
	{ MPI_C_FLOAT_COMPLEX, TMPI_COMPLEX },
	{ MPI_C_DOUBLE_COMPLEX, TMPI_COMPLEX },
	{ MPI_FLOAT_INT, TMPI_PAIR, TORCOLL_FLOAT_INT },
	{ MPI_DOUBLE_INT, TMPI_PAIR, TORCOLL_DOUBLE_INT },
	{ MPI_LONG_INT, TMPI_PAIR, TORCOLL_LONG_INT },
	{ MPI_SHORT_INT, TMPI_PAIR, TORCOLL_SHORT_INT },
	{ MPI_2INT, TMPI_PAIR, TORCOLL_2INT },
	{ MPI_2INTEGER, TMPI_PAIR, TORCOLL_2INT },
	{ MPI_DATATYPE_NULL, TMPI_NONE },
};

enum tmpi_kind tmpi_type_kind(MPI_Datatype type, enum torcoll_type *pair)
{
	size_t i = 0;

	/* Fortran's are MPI_DATATYPE_NULL in an MPICH without it */
	while (kinds[i].kind && (kinds[i].type != type || type == MPI_DATATYPE_NULL))
		i++;
	*pair = kinds[i].pair;
	return kinds[i].kind;
}
