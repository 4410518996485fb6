/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members of structs, by which the tables of bad frames and bad calls say what is wrong.
 */
#ifndef SELFTESTS_MEMBER_H
#define SELFTESTS_MEMBER_H

#include <stddef.h>
#include <stdint.h>

/* A member and its value, in the order of bytes of the struct, or where that is found. */
struct member {
	unsigned short at, size;
	uint64_t value;
	const uint64_t *from;
};

#define SET(_struct, _member, _value)						\
	{ .at = offsetof(struct _struct, _member),				\
	  .size = sizeof(((struct _struct *)0)->_member), .value = (_value) }
#define FROM(_struct, _member, _variable)					\
	{ .at = offsetof(struct _struct, _member),				\
	  .size = sizeof(((struct _struct *)0)->_member), .from = &(_variable) }

#endif
