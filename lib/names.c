// SPDX-License-Identifier: MIT
/*
 * Names and sizes of what an op's descriptor enumerates, as the tools accept and print them.
 */
#include <string.h>

#include "internal.h"

static const char *const collectives[TORCOLL_COLL_COUNT] = {
	[TORCOLL_COLL_NONE] = "none",
	[TORCOLL_ALLREDUCE] = "allreduce",
	[TORCOLL_REDUCE_SCATTER] = "reduce-scatter",
	[TORCOLL_ALLGATHER] = "allgather",
	[TORCOLL_BROADCAST] = "broadcast",
	[TORCOLL_REDUCE] = "reduce",
	[TORCOLL_BARRIER] = "barrier",
	[TORCOLL_GATHER] = "gather",
	[TORCOLL_SCATTER] = "scatter",
	[TORCOLL_ALLTOALL] = "alltoall",
	[TORCOLL_SCAN] = "scan",
	[TORCOLL_EXSCAN] = "exscan",
	[TORCOLL_HALO] = "halo",
	[TORCOLL_SEND] = "send",
	[TORCOLL_RECV] = "recv",
};

static const char *const types[TORCOLL_TYPE_COUNT] = {
	[TORCOLL_TYPE_NONE] = "none",
	[TORCOLL_I8] = "i8",
	[TORCOLL_I16] = "i16",
	[TORCOLL_I32] = "i32",
	[TORCOLL_I64] = "i64",
	[TORCOLL_U8] = "u8",
	[TORCOLL_U16] = "u16",
	[TORCOLL_U32] = "u32",
	[TORCOLL_U64] = "u64",
	[TORCOLL_F16] = "f16",
	[TORCOLL_BF16] = "bf16",
	[TORCOLL_F32] = "f32",
	[TORCOLL_F64] = "f64",
	[TORCOLL_FLOAT_INT] = "float-int",
	[TORCOLL_DOUBLE_INT] = "double-int",
	[TORCOLL_LONG_INT] = "long-int",
	[TORCOLL_2INT] = "2int",
	[TORCOLL_SHORT_INT] = "short-int",
};

static const char *const redops[TORCOLL_REDOP_COUNT] = {
	[TORCOLL_REDOP_NONE] = "none",
	[TORCOLL_SUM] = "sum",
	[TORCOLL_PROD] = "prod",
	[TORCOLL_MIN] = "min",
	[TORCOLL_MAX] = "max",
	[TORCOLL_AVG] = "avg",
	[TORCOLL_BAND] = "band",
	[TORCOLL_BOR] = "bor",
	[TORCOLL_BXOR] = "bxor",
	[TORCOLL_LAND] = "land",
	[TORCOLL_LOR] = "lor",
	[TORCOLL_LXOR] = "lxor",
	[TORCOLL_MINLOC] = "minloc",
	[TORCOLL_MAXLOC] = "maxloc",
	[TORCOLL_PREMULSUM] = "premulsum",
};

static const char *const algorithms[TORCOLL_ALGO_COUNT] = {
	[TORCOLL_ALGO_AUTO] = "auto",
	[TORCOLL_SWING_BW] = "swing-bw",
	[TORCOLL_SWING_LAT] = "swing-lat",
	[TORCOLL_TRIVANCE_BW] = "trivance-bw",
	[TORCOLL_TRIVANCE_LAT] = "trivance-lat",
	[TORCOLL_CIRCULANT] = "circulant",
	[TORCOLL_GENERAL] = "general",
	[TORCOLL_RING] = "ring",
	[TORCOLL_HAMILTONIAN] = "hamiltonian",
	[TORCOLL_BUCKET] = "bucket",
	[TORCOLL_BIBUCKET] = "bibucket",
	[TORCOLL_RECDOUB_LAT] = "recdoub-lat",
	[TORCOLL_RECDOUB_BW] = "recdoub-bw",
	[TORCOLL_RECDOUB_BW_MIRRORED] = "recdoub-bw-mirrored",
	[TORCOLL_BRUCK_LAT] = "bruck-lat",
	[TORCOLL_BRUCK_BW] = "bruck-bw",
	[TORCOLL_WINDOW] = "window",
	[TORCOLL_FLOOD] = "flood",
	[TORCOLL_TREE] = "tree",
	[TORCOLL_MOORE] = "moore",
	[TORCOLL_ALLPORT] = "allport",
	[TORCOLL_BINE] = "bine",
};

/* C layout of MPI's pair types: the value, the index, and padding to the value's alignment. */
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
	return name_of(types, ARRAY_SIZE(types), type);
}

const char *torcoll_redop_name(enum torcoll_redop redop)
{
	return name_of(redops, ARRAY_SIZE(redops), redop);
}

const char *torcoll_collective_name(enum torcoll_collective collective)
{
	return name_of(collectives, ARRAY_SIZE(collectives), collective);
}

const char *torcoll_algorithm_name(enum torcoll_algorithm algorithm)
{
	return name_of(algorithms, ARRAY_SIZE(algorithms), algorithm);
}

int torcoll_type_by_name(const char *name)
{
	return value_of(types, ARRAY_SIZE(types), name);
}

int torcoll_redop_by_name(const char *name)
{
	return value_of(redops, ARRAY_SIZE(redops), name);
}

int torcoll_collective_by_name(const char *name)
{
	return value_of(collectives, ARRAY_SIZE(collectives), name);
}

int torcoll_algorithm_by_name(const char *name)
{
	return value_of(algorithms, ARRAY_SIZE(algorithms), name);
}
