// SPDX-License-Identifier: MIT
/* Operators and elementary types of MPI, as torcoll has them. See describe.h. */
#include "describe.h"
#include "type.h"

/* The type of @size bytes: integers of 1 to 8, floats of 4 and 8. */
static enum torcoll_type type_of(enum tmpi_kind kind, size_t size)
{
	switch (kind) {
	case TMPI_SIGNED:
		return size == 1 ? TORCOLL_I8 : size == 2 ? TORCOLL_I16 :
		       size == 4 ? TORCOLL_I32 : size == 8 ? TORCOLL_I64 : TORCOLL_TYPE_NONE;
	case TMPI_UNSIGNED:
	case TMPI_BOOL:
		return size == 1 ? TORCOLL_U8 : size == 2 ? TORCOLL_U16 :
		       size == 4 ? TORCOLL_U32 : size == 8 ? TORCOLL_U64 : TORCOLL_TYPE_NONE;
	case TMPI_FLOAT:
		return size == 4 ? TORCOLL_F32 : size == 8 ? TORCOLL_F64 : TORCOLL_TYPE_NONE;
	default:
		return TORCOLL_TYPE_NONE;
	}
}

static enum torcoll_redop redop_of(MPI_Op op)
{
	const struct {
		MPI_Op op;
		enum torcoll_redop redop;
	} redops[] = {
		{ MPI_SUM, TORCOLL_SUM }, { MPI_MAX, TORCOLL_MAX }, { MPI_MIN, TORCOLL_MIN },
		{ MPI_PROD, TORCOLL_PROD }, { MPI_LAND, TORCOLL_LAND }, { MPI_LOR, TORCOLL_LOR },
		{ MPI_LXOR, TORCOLL_LXOR }, { MPI_BAND, TORCOLL_BAND }, { MPI_BOR, TORCOLL_BOR },
		{ MPI_BXOR, TORCOLL_BXOR }, { MPI_MINLOC, TORCOLL_MINLOC },
		{ MPI_MAXLOC, TORCOLL_MAXLOC }, { MPI_OP_NULL, TORCOLL_REDOP_NONE },
	};
	size_t i = 0;

	while (redops[i].redop && redops[i].op != op)
		i++;
	return redops[i].redop;
}

static bool is_of_bits(enum torcoll_redop redop)
{
	return redop == TORCOLL_BAND || redop == TORCOLL_BOR || redop == TORCOLL_BXOR;
}

static bool is_of_truth(enum torcoll_redop redop)
{
	return redop == TORCOLL_LAND || redop == TORCOLL_LOR || redop == TORCOLL_LXOR;
}

static bool is_of_places(enum torcoll_redop redop)
{
	return redop == TORCOLL_MINLOC || redop == TORCOLL_MAXLOC;
}

/* MPI_2INTEGER is of integers as long as Fortran's are, by the compiler's options. */
static bool pair_fits(MPI_Datatype type, enum torcoll_type pair)
{
	return (size_t)tmpi_type_extent(type) == torcoll_type_size(pair);
}

/*
 * Only by what is the same on all ranks: operator and elementary type. A sum of
 * complex numbers is one of twice as many floats. What MPI does not define is
 * left to it to refuse.
 */
bool tmpi_reduction(MPI_Datatype type, MPI_Op op, struct tmpi_reduction *r)
{
	enum torcoll_type pair = TORCOLL_TYPE_NONE;
	enum tmpi_kind kind = tmpi_type_kind(type, &pair);
	size_t size = kind ? tmpi_type_size(type) : 0;

	r->redop = redop_of(op);
	r->elements = 1;
	if (!r->redop || !kind)
		return false;
	if (kind == TMPI_PAIR || is_of_places(r->redop)) {
		r->type = pair;
		return kind == TMPI_PAIR && is_of_places(r->redop) && pair_fits(type, pair);
	}
	if (kind == TMPI_COMPLEX) {
		if (r->redop != TORCOLL_SUM)
			return false;
		r->elements = 2;
		kind = TMPI_FLOAT;
		size /= 2;
	}
	if (kind == TMPI_FLOAT && (is_of_bits(r->redop) || is_of_truth(r->redop)))
		return false;
	if (kind == TMPI_BOOL && !is_of_truth(r->redop))
		return false;
	r->type = type_of(kind, size);
	return r->type != TORCOLL_TYPE_NONE;
}
