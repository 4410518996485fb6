// SPDX-License-Identifier: MIT
/* Open MPI's datatypes and operators: see ../common/type.h. */
#include "coll_torcoll.h"

#include <errno.h>

#include "ompi/datatype/ompi_datatype_internal.h"
#include "opal/datatype/opal_convertor.h"

#include "../common/type.h"

size_t tmpi_type_size(MPI_Datatype type)
{
	size_t size;

	ompi_datatype_type_size(type, &size);
	return size;
}

ptrdiff_t tmpi_type_extent(MPI_Datatype type)
{
	ptrdiff_t extent;

	ompi_datatype_type_extent(type, &extent);
	return extent;
}

char *tmpi_type_flat(MPI_Datatype type, int count, char *addr)
{
	const struct ompi_datatype_t *dt = type;

	if (!ompi_datatype_is_contiguous_memory_layout(dt, count))
		return NULL;
	return addr + dt->super.true_lb;
}

int tmpi_type_pack(MPI_Datatype type, int count, const char *addr, char *flat)
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

int tmpi_type_unpack(MPI_Datatype type, int count, char *addr, const char *flat)
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

int tmpi_type_hold(MPI_Datatype *type)
{
	if (!ompi_datatype_is_predefined(*type))
		OBJ_RETAIN(*type);
	return 0;
}

void tmpi_type_release(MPI_Datatype type)
{
	if (!ompi_datatype_is_predefined(type))
		OBJ_RELEASE(type);
}

/* ---- reductions ---- */

static const struct {
	enum tmpi_kind kind;
	enum torcoll_type pair;
} kinds[OMPI_DATATYPE_MPI_MAX_PREDEFINED] = {
	[OMPI_DATATYPE_MPI_INT8_T] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_INT16_T] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_INT32_T] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_INT64_T] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_UINT8_T] = { TMPI_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT16_T] = { TMPI_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT32_T] = { TMPI_UNSIGNED },
	[OMPI_DATATYPE_MPI_UINT64_T] = { TMPI_UNSIGNED },
	[OMPI_DATATYPE_MPI_LONG] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_UNSIGNED_LONG] = { TMPI_UNSIGNED },
	[OMPI_DATATYPE_MPI_AINT] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_OFFSET] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_COUNT] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_INTEGER] = { TMPI_SIGNED },
	[OMPI_DATATYPE_MPI_LOGICAL] = { TMPI_BOOL },
	[OMPI_DATATYPE_MPI_C_BOOL] = { TMPI_BOOL },
	[OMPI_DATATYPE_MPI_FLOAT] = { TMPI_FLOAT },
	[OMPI_DATATYPE_MPI_DOUBLE] = { TMPI_FLOAT },
	[OMPI_DATATYPE_MPI_REAL] = { TMPI_FLOAT },
	[OMPI_DATATYPE_MPI_DOUBLE_PRECISION] = { TMPI_FLOAT },
	[OMPI_DATATYPE_MPI_COMPLEX] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_COMPLEX8] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_COMPLEX16] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_DOUBLE_COMPLEX] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_C_COMPLEX] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_C_FLOAT_COMPLEX] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_C_DOUBLE_COMPLEX] = { TMPI_COMPLEX },
	[OMPI_DATATYPE_MPI_FLOAT_INT] = { TMPI_PAIR, TORCOLL_FLOAT_INT },
	[OMPI_DATATYPE_MPI_DOUBLE_INT] = { TMPI_PAIR, TORCOLL_DOUBLE_INT },
	[OMPI_DATATYPE_MPI_LONG_INT] = { TMPI_PAIR, TORCOLL_LONG_INT },
	[OMPI_DATATYPE_MPI_2INT] = { TMPI_PAIR, TORCOLL_2INT },
	[OMPI_DATATYPE_MPI_2INTEGER] = { TMPI_PAIR, TORCOLL_2INT },
	[OMPI_DATATYPE_MPI_SHORT_INT] = { TMPI_PAIR, TORCOLL_SHORT_INT },
};

enum tmpi_kind tmpi_type_kind(MPI_Datatype type, enum torcoll_type *pair)
{
	if (!ompi_datatype_is_predefined(type) || type->id < 0 ||
	    type->id >= OMPI_DATATYPE_MPI_MAX_PREDEFINED)
		return TMPI_NONE;
	*pair = kinds[type->id].pair;
	return kinds[type->id].kind;
}
