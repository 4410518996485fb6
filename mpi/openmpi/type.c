// SPDX-License-Identifier: MIT
/* Open MPI's datatypes and operators: see ../common/type.h. */
#include "coll_torcoll.h"

#include <errno.h>

#include "ompi/datatype/ompi_datatype_internal.h"
#include "opal/datatype/opal_convertor.h"

#include "../common/type.h"

size_t tmpi_type_size(const void *type)
{
	size_t size;

	ompi_datatype_type_size(type, &size);
	return size;
}

ptrdiff_t tmpi_type_extent(const void *type)
{
	ptrdiff_t extent;

	ompi_datatype_type_extent(type, &extent);
	return extent;
}

char *tmpi_type_flat(const void *type, int count, char *addr)
{
	const struct ompi_datatype_t *dt = type;

	if (!ompi_datatype_is_contiguous_memory_layout(dt, count))
		return NULL;
	return addr + dt->super.true_lb;
}

int tmpi_type_pack(const void *type, int count, const char *addr, char *flat)
{
	const struct ompi_datatype_t *dt = type;
	size_t length = count * tmpi_type_size(type);
	struct iovec iov = { .iov_base = flat, .iov_len = length };
	opal_convertor_t convertor;
	uint32_t n = 1;
	int ret;

	OBJ_CONSTRUCT(&convertor, opal_convertor_t);
	ret = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dt->super, count,
						       addr, 0, &convertor);
	if (ret == OPAL_SUCCESS)
		ret = opal_convertor_pack(&convertor, &iov, &n, &length) == 1 ? 0 : -EFAULT;
	OBJ_DESTRUCT(&convertor);
	return ret ? -EFAULT : 0;
}

int tmpi_type_unpack(const void *type, int count, char *addr, const char *flat)
{
	const struct ompi_datatype_t *dt = type;
	size_t length = count * tmpi_type_size(type);
	struct iovec iov = { .iov_base = (char *)flat, .iov_len = length };
	opal_convertor_t convertor;
	uint32_t n = 1;
	int ret;

	OBJ_CONSTRUCT(&convertor, opal_convertor_t);
	ret = opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &dt->super, count,
						       addr, 0, &convertor);
	if (ret == OPAL_SUCCESS)
		ret = opal_convertor_unpack(&convertor, &iov, &n, &length) == 1 ? 0 : -EFAULT;
	OBJ_DESTRUCT(&convertor);
	return ret ? -EFAULT : 0;
}

void tmpi_type_hold(const void *type)
{
	if (!ompi_datatype_is_predefined(type))
		OBJ_RETAIN((void *)type);
}

void tmpi_type_release(const void *type)
{
	void *dt = (void *)type;

	if (!ompi_datatype_is_predefined(dt))
		OBJ_RELEASE(dt);
}

/* ---- reductions ---- */

enum kind { KIND_NONE, KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT, KIND_COMPLEX, KIND_PAIR };

static const struct {
	enum kind kind;
	enum torcoll_type pair;
} kinds[OMPI_DATATYPE_MPI_MAX_PREDEFINED] = {
	[OMPI_DATATYPE_MPI_INT8_T] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_INT16_T] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_INT32_T] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_INT64_T] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_UINT8_T] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT16_T] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT32_T] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT64_T] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_LONG] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_UNSIGNED_LONG] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_AINT] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_OFFSET] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_COUNT] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_INTEGER] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_LOGICAL] = { KIND_SIGNED },
	[OMPI_DATATYPE_MPI_C_BOOL] = { KIND_UNSIGNED },
	[OMPI_DATATYPE_MPI_FLOAT] = { KIND_FLOAT },
	[OMPI_DATATYPE_MPI_DOUBLE] = { KIND_FLOAT },
	[OMPI_DATATYPE_MPI_REAL] = { KIND_FLOAT },
	[OMPI_DATATYPE_MPI_DOUBLE_PRECISION] = { KIND_FLOAT },
	[OMPI_DATATYPE_MPI_COMPLEX] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_COMPLEX8] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_COMPLEX16] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_DOUBLE_COMPLEX] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_C_COMPLEX] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_C_FLOAT_COMPLEX] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_C_DOUBLE_COMPLEX] = { KIND_COMPLEX },
	[OMPI_DATATYPE_MPI_FLOAT_INT] = { KIND_PAIR, TORCOLL_FLOAT_INT },
	[OMPI_DATATYPE_MPI_DOUBLE_INT] = { KIND_PAIR, TORCOLL_DOUBLE_INT },
	[OMPI_DATATYPE_MPI_LONG_INT] = { KIND_PAIR, TORCOLL_LONG_INT },
	[OMPI_DATATYPE_MPI_2INT] = { KIND_PAIR, TORCOLL_2INT },
	[OMPI_DATATYPE_MPI_2INTEGER] = { KIND_PAIR, TORCOLL_2INT },
	[OMPI_DATATYPE_MPI_SHORT_INT] = { KIND_PAIR, TORCOLL_SHORT_INT },
};

/* The type of @size bytes: integers of 1 to 8, floats of 4 and 8. */
static enum torcoll_type type_of(enum kind kind, size_t size)
{
	switch (kind) {
	case KIND_SIGNED:
		return size == 1 ? TORCOLL_I8 : size == 2 ? TORCOLL_I16 :
		       size == 4 ? TORCOLL_I32 : size == 8 ? TORCOLL_I64 : TORCOLL_TYPE_NONE;
	case KIND_UNSIGNED:
		return size == 1 ? TORCOLL_U8 : size == 2 ? TORCOLL_U16 :
		       size == 4 ? TORCOLL_U32 : size == 8 ? TORCOLL_U64 : TORCOLL_TYPE_NONE;
	case KIND_FLOAT:
		return size == 4 ? TORCOLL_F32 : size == 8 ? TORCOLL_F64 : TORCOLL_TYPE_NONE;
	default:
		return TORCOLL_TYPE_NONE;
	}
}

static enum torcoll_redop redop_of(const struct ompi_op_t *op)
{
	const struct {
		const struct ompi_op_t *op;
		enum torcoll_redop redop;
	} redops[] = {
		{ MPI_SUM, TORCOLL_SUM }, { MPI_MAX, TORCOLL_MAX }, { MPI_MIN, TORCOLL_MIN },
		{ MPI_PROD, TORCOLL_PROD }, { MPI_LAND, TORCOLL_LAND }, { MPI_LOR, TORCOLL_LOR },
		{ MPI_LXOR, TORCOLL_LXOR }, { MPI_BAND, TORCOLL_BAND }, { MPI_BOR, TORCOLL_BOR },
		{ MPI_BXOR, TORCOLL_BXOR }, { MPI_MINLOC, TORCOLL_MINLOC },
		{ MPI_MAXLOC, TORCOLL_MAXLOC }, { NULL, TORCOLL_REDOP_NONE },
	};
	size_t i = 0;

	while (redops[i].op && redops[i].op != op)
		i++;
	return redops[i].redop;
}

/*
 * Only by what is the same on all ranks: operator and elementary type. A sum of
 * complex numbers is one of twice as many floats.
 */
bool coll_torcoll_reduction(const struct ompi_datatype_t *type, const struct ompi_op_t *op,
			    struct tmpi_reduction *r)
{
	size_t size = tmpi_type_size(type);
	enum kind kind;

	r->redop = redop_of(op);
	if (!r->redop || !ompi_datatype_is_predefined(type) || type->id < 0 ||
	    type->id >= OMPI_DATATYPE_MPI_MAX_PREDEFINED)
		return false;
	kind = kinds[type->id].kind;
	r->elements = 1;
	if (kind == KIND_PAIR || r->redop == TORCOLL_MINLOC || r->redop == TORCOLL_MAXLOC) {
		r->type = kinds[type->id].pair;
		return r->type && (r->redop == TORCOLL_MINLOC || r->redop == TORCOLL_MAXLOC);
	}
	if (kind == KIND_COMPLEX) {
		if (r->redop != TORCOLL_SUM)
			return false;
		r->elements = 2;
		kind = KIND_FLOAT;
		size /= 2;
	}
	r->type = type_of(kind, size);
	return r->type != TORCOLL_TYPE_NONE;
}
