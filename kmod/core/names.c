// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Names of the values of an op's enumerations, for module, library and tools.
 * Data only, so that all of them can link it. See names.h.
 */
#include "core/names.h"

const char *const tor_collective_names[TORCOLL_COLL_COUNT] = {
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

const char *const tor_type_names[TORCOLL_TYPE_COUNT] = {
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

const char *const tor_redop_names[TORCOLL_REDOP_COUNT] = {
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

const char *const tor_algorithm_names[TORCOLL_ALGO_COUNT] = {
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
	[TORCOLL_DIRECT] = "direct",
	[TORCOLL_LAYERS] = "layers",
};
