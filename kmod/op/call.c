// SPDX-License-Identifier: GPL-2.0
/* Text descriptions of calls. See call.h. */
#include "op/call.h"

#include "core/names.h"
#include "core/plan/plan.h"

#define CALL_TEXT	96

static const char *const bits_names[TORCOLL_BITS_COUNT] = {
	[TORCOLL_BITS_DEFAULT] = "",
	[TORCOLL_BITS_AGREE] = "",
	[TORCOLL_BITS_ORDERED] = " ordered",
	[TORCOLL_BITS_RELAXED] = " relaxed",
};

/* Print as "allreduce f32 sum count 1024 by ring". */
static void print_call(const struct tor_wire_call *call, char *text)
{
	char root[24] = "";

	if (call->collective == TORCOLL_SEND)
		scnprintf(root, sizeof(root), " to %u", call->root);
	else if (call->collective == TORCOLL_RECV)
		scnprintf(root, sizeof(root), " from %u", call->root);
	else if (tor_collective_has_root(call->collective))
		scnprintf(root, sizeof(root), " root %u", call->root);
	scnprintf(text, CALL_TEXT, "%s %s%s%s count %llu%s%s by %s",
		 tor_collective_names[call->collective], tor_type_names[call->type],
		 call->redop ? " " : "", call->redop ? tor_redop_names[call->redop] : "",
		 call->count, root, bits_names[call->bits], tor_algorithm_names[call->algorithm]);
}

static void print_known(const struct tor_comm *comm, u32 i, char *text)
{
	if (tor_comm_knows(comm, i))
		print_call(&comm->call[i], text);
	else
		strscpy(text, "something else", CALL_TEXT);
}

void tor_call_explain(const struct tor_comm *comm, char *text, size_t size)
{
	const struct tor_wire_call *call = comm->call;
	char here[CALL_TEXT], there[CALL_TEXT];

	print_known(comm, 0, here);
	print_known(comm, 1, there);
	if (!strcmp(here, there))
		scnprintf(text, size, "ranks %u and %u called %s, with other counts or parameters",
			  call[0].rank, call[1].rank, here);
	else
		scnprintf(text, size, "rank %u called %s, rank %u %s", call[0].rank, here,
			  call[1].rank, there);
}

static const char *refusal_reason(u32 error)
{
	switch (error) {
	case EFAULT:
		return "memory cannot be read or written";
	case ENOMEM:
		return "out of memory";
	case EDQUOT:
		return "a limit was reached";
	case EOPNOTSUPP:
		return "not supported";
	default:
		return "an argument is out of its range";
	}
}

void tor_call_explain_refusal(const struct tor_comm *comm, char *text, size_t size)
{
	char called[CALL_TEXT];

	print_known(comm, 0, called);
	scnprintf(text, size, "%s: %s", called, refusal_reason(comm->refusal));
}
