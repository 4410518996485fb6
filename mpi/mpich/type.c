// SPDX-License-Identifier: MIT
/*
 * MPICH's datatypes: see ../common/type.h. The functions of large counts are for
 * all types, the others not for those that are made with large counts, or are long.
 */
#include "preload.h"

#include <errno.h>

size_t tmpi_type_size(MPI_Datatype type)
{
	MPI_Count size = 0;

	PMPI_Type_size_c(type, &size);
	return size;
}

ptrdiff_t tmpi_type_extent(MPI_Datatype type)
{
	MPI_Aint lb = 0, extent = 0;

	PMPI_Type_get_extent(type, &lb, &extent);
	return extent;
}

/* How a type was made, and of how much. */
struct type_envelope {
	MPI_Count integers, addresses, counts, types;
	int combiner;
};

static struct type_envelope type_envelope(MPI_Datatype type)
{
	struct type_envelope e = { .combiner = MPI_COMBINER_NAMED };

	PMPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.counts, &e.types, &e.combiner);
	return e;
}

static bool type_is_named(MPI_Datatype type)
{
	return type_envelope(type).combiner == MPI_COMBINER_NAMED;
}

/* Return whether elements in a row have all their data in a row, in order. */
static bool type_is_flat(MPI_Datatype type)
{
	struct type_envelope e = type_envelope(type);
	MPI_Aint address[1], lb, extent;
	MPI_Count count[1];
	MPI_Datatype of;
	int integer[1];
	bool flat;

	switch (e.combiner) {
	case MPI_COMBINER_NAMED:
		PMPI_Type_get_extent(type, &lb, &extent);
		return !lb && (size_t)extent == tmpi_type_size(type);
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_CONTIGUOUS:
		PMPI_Type_get_contents_c(type, e.integers, e.addresses, e.counts, e.types, integer,
					 address, count, &of);
		flat = type_is_flat(of);
		/* those of MPI are not released when they have been looked at */
		tmpi_type_release(of);
		return flat;
	default:
		return false;
	}
}

char *tmpi_type_flat(MPI_Datatype type, int count, char *addr)
{
	return type_is_flat(type) ? addr : NULL;
}

int tmpi_type_pack(MPI_Datatype type, int count, const char *addr, char *flat)
{
	MPI_Count size = count * tmpi_type_size(type), position = 0;
	int ret = PMPI_Pack_c(addr, count, type, flat, size, &position, MPI_COMM_SELF);

	return ret == MPI_SUCCESS ? 0 : -EFAULT;
}

int tmpi_type_unpack(MPI_Datatype type, int count, char *addr, const char *flat)
{
	MPI_Count size = count * tmpi_type_size(type), position = 0;
	int ret = PMPI_Unpack_c(flat, size, &position, addr, count, type, MPI_COMM_SELF);

	return ret == MPI_SUCCESS ? 0 : -EFAULT;
}

/*
 * By a type of the same layout, which is made of it. PMPI_Type_dup() would copy
 * the program's attributes, by functions of the program.
 */
int tmpi_type_hold(MPI_Datatype *type)
{
	MPI_Datatype kept;

	if (type_is_named(*type))
		return 0;
	if (PMPI_Type_contiguous(1, *type, &kept) != MPI_SUCCESS)
		return -ENOMEM;
	if (PMPI_Type_commit(&kept) != MPI_SUCCESS) {
		PMPI_Type_free(&kept);
		return -ENOMEM;
	}
	*type = kept;
	return 0;
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
	{ MPI_C_BOOL, TMPI_BOOL },
	{ MPI_INTEGER, TMPI_SIGNED },
	{ MPI_LOGICAL, TMPI_BOOL },
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
