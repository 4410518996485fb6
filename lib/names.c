// SPDX-License-Identifier: MIT
/* Names and sizes of the values in an op's descriptor, as in the tools. */
#include <string.h>

#include "../kmod/core/names.h"
#include "internal.h"

/*
 * C layout of MPI's pair types: the value, the index, and padding to
 * the value's alignment.
 */
static const uint8_t sizes[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_I8] = 1,
	[TORCOLL_I16] = 2,
	[TORCOLL_I32] = 4,
	[TORCOLL_I64] = 8,
	[TORCOLL_U8] = 1,
	[TORCOLL_U16] = 2,
	[TORCOLL_U32] = 4,
	[TORCOLL_U64] = 8,
	[TORCOLL_F16] = 2,
	[TORCOLL_BF16] = 2,
	[TORCOLL_F32] = 4,
	[TORCOLL_F64] = 8,
	[TORCOLL_FLOAT_INT] = sizeof(struct { float v; int i; }),
	[TORCOLL_DOUBLE_INT] = sizeof(struct { double v; int i; }),
	[TORCOLL_LONG_INT] = sizeof(struct { long v; int i; }),
	[TORCOLL_2INT] = sizeof(struct { int v; int i; }),
	[TORCOLL_SHORT_INT] = sizeof(struct { short v; int i; }),
};

static const char *name_of(const char *const *names, size_t count, size_t value)
{
	return value < count ? names[value] : NULL;
}

static int value_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return torcoll__fail(-EINVAL, "%s is not a known name", name);
}

size_t torcoll_type_size(enum torcoll_type type)
{
	return (size_t)type < ARRAY_SIZE(sizes) ? sizes[type] : 0;
}

const char *torcoll_type_name(enum torcoll_type type)
{
	return name_of(tor_type_names, ARRAY_SIZE(tor_type_names), type);
}

const char *torcoll_redop_name(enum torcoll_redop redop)
{
	return name_of(tor_redop_names, ARRAY_SIZE(tor_redop_names), redop);
}

const char *torcoll_collective_name(enum torcoll_collective collective)
{
	return name_of(tor_collective_names, ARRAY_SIZE(tor_collective_names), collective);
}

const char *torcoll_algorithm_name(enum torcoll_algorithm algorithm)
{
	return name_of(tor_algorithm_names, ARRAY_SIZE(tor_algorithm_names), algorithm);
}

int torcoll_type_by_name(const char *name)
{
	return value_of(tor_type_names, ARRAY_SIZE(tor_type_names), name);
}

int torcoll_redop_by_name(const char *name)
{
	return value_of(tor_redop_names, ARRAY_SIZE(tor_redop_names), name);
}

int torcoll_collective_by_name(const char *name)
{
	return value_of(tor_collective_names, ARRAY_SIZE(tor_collective_names), name);
}

int torcoll_algorithm_by_name(const char *name)
{
	return value_of(tor_algorithm_names, ARRAY_SIZE(tor_algorithm_names), name);
}
