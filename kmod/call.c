// SPDX-License-Identifier: GPL-2.0
/*
 * Calls in words. See call.h.
 */
#include "call.h"

#include "plan.h"

#define CALL_TEXT	96

static const char *const type_names[TORCOLL_TYPE_COUNT] = {
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

static const char *const redop_names[TORCOLL_REDOP_COUNT] = {
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

static const char *const bits_names[TORCOLL_BITS_COUNT] = {
	[TORCOLL_BITS_ORDERED] = " ordered",
	[TORCOLL_BITS_RELAXED] = " relaxed",
};

static const char *name_in(const char *const *names, u32 count, u32 i, const char *none)
{
	return i < count && names[i] ? names[i] : none;
}

static bool has_root(u32 collective)
{
	return collective == TORCOLL_BROADCAST || collective == TORCOLL_REDUCE ||
	       collective == TORCOLL_GATHER || collective == TORCOLL_SCATTER;
}

/* As "allreduce f32 sum count 1024 by ring". Calls of others come from the wire: any content is safe. */
static void print_call(const struct tor_call *call, char *text)
{
	const char *collective = tor_collective_name(call->collective);
	const char *algorithm = tor_algorithm_name(call->algorithm);
	char root[24] = "";

	if (has_root(call->collective))
		scnprintf(root, sizeof(root), " root %u", call->root);
	scnprintf(text, CALL_TEXT, "%s %s%s%s count %llu%s%s by %s",
		 collective ? collective : "?",
		 name_in(type_names, TORCOLL_TYPE_COUNT, call->type, "?"),
		 call->redop ? " " : "",
		 name_in(redop_names, TORCOLL_REDOP_COUNT, call->redop, ""),
		 call->count, root,
		 name_in(bits_names, TORCOLL_BITS_COUNT, call->bits, ""),
		 algorithm ? algorithm : "?");
}

void tor_call_explain(const struct tor_comm *comm, char *text, size_t size)
{
	const struct tor_call *call = comm->call;
	char here[CALL_TEXT], there[CALL_TEXT];

	print_call(&call[0], here);
	if (atomic_read(&comm->explained) == TOR_EXPLAINED)
		print_call(&call[1], there);
	else
		strscpy(there, "something else", sizeof(there));
	if (!strcmp(here, there))
		scnprintf(text, size, "ranks %u and %u called %s, with other counts or parameters",
			  call[0].rank, call[1].rank, here);
	else
		scnprintf(text, size, "rank %u called %s, rank %u %s", call[0].rank, here,
			  call[1].rank, there);
}
