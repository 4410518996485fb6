// SPDX-License-Identifier: GPL-2.0
/* In tracepoints, __assign_str() takes the string from __string(). */
#include <linux/tracepoint.h>
#include <trace/stages/stage6_event_callback.h>

#undef __get_str
#undef __get_dynamic_array_len
#define __get_str(field)		to
#define __get_dynamic_array_len(field)	1
#define EVENT_NULL_STR			""

static void __maybe_unused has(char *to)
{
	struct {
		const char *name_ptr_;
	} __data_offsets = { "" };

	__assign_str(name);
}
