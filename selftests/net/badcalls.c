// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that must be refused, with the errno that linux/torcoll.h promises. For bad.sh: wants the
 * namespaces of a 2x2 torus, says KTAP.
 *
 * Every row has a file of its own on node 0, with a region, a comm of one rank and an op that waits to
 * be reaped, so that rows know nothing of each other. What needs a second rank comes at the end.
 */
#include "bad.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/capability.h>

/* Memory lies at places that a table can name. */
#define PAGE		4096UL
#define MEMORY		0x10000000000UL		/* readable and writable; nothing behind it */
#define MEMORY_BYTES	(16 * PAGE)
#define MEMORY_END	(MEMORY + MEMORY_BYTES)
#define REGION		MEMORY			/* the region that every row's file has */
#define REGION_BYTES	(4 * PAGE)
#define READ_ONLY	0x20000000000UL
#define UNMAPPED	0x30000000000UL
#define KERNEL		0xffff888000000000UL
#define STRUCT		(MEMORY + 8 * PAGE)	/* where the struct of a call is */
#define MEMBERS		(MEMORY + 12 * PAGE)	/* a list of nodes */
#define NAME		(MEMORY + 13 * PAGE)	/* a page of letters */
#define DESCS		(MEMORY + 14 * PAGE)	/* a batch's two ops, the second at the next page */

#define COUNT		16			/* elements of ops that are all right */

/* Handles, which only the module can tell. */
static uint64_t region, comm, op;		/* the row's own */
static uint64_t stale_region, stale_comm, stale_op;
static uint64_t foreign_region, foreign_comm;	/* of another file */

union any {
	uint32_t size;
	struct torcoll_info info;
	struct torcoll_error error;
	struct torcoll_region_add region_add;
	struct torcoll_handle handle;
	struct torcoll_comm_add comm_add;
	struct torcoll_comm_shrink comm_shrink;
	struct torcoll_comm_info comm_info;
	struct torcoll_submit submit;
	struct torcoll_wait wait;
	struct torcoll_batch batch;
	struct torcoll_ring_setup ring_setup;
	struct torcoll_region_alloc region_alloc;
};

/* --- calls that are all right --- */

static void good_info(union any *any)
{
}

static void good_error(union any *any)
{
	any->error.len = 64;
	any->error.text = MEMORY;
}

static void good_region_add(union any *any)
{
	any->region_add.addr = MEMORY + 4 * PAGE;
	any->region_add.length = PAGE;
}

static void good_region_alloc(union any *any)
{
	any->region_alloc.length = PAGE;
}

static void good_ring_setup(union any *any)
{
	any->ring_setup.entries = 8;
	any->ring_setup.eventfd = -1;
}

static void good_region_del(union any *any)
{
	any->handle.handle = region;
}

static void good_comm_add(union any *any)
{
	*(uint32_t *)MEMBERS = 0;
	any->comm_add.fabric = FABRIC;
	any->comm_add.name = NAME;
	any->comm_add.name_len = 8;
	any->comm_add.secret = NAME;
	any->comm_add.secret_len = 8;
	any->comm_add.members = MEMBERS;
	any->comm_add.ranks = 1;
	any->comm_add.rank = TORCOLL_RANK_SELF;
}

static void good_comm(union any *any)
{
	any->handle.handle = comm;
}

static void good_comm_shrink(union any *any)
{
	any->comm_shrink.comm = comm;
}

static void good_comm_info(union any *any)
{
	any->comm_info.comm = comm;
}

static void good_submit(union any *any)
{
	any->submit.flags = TORCOLL_OP_WAIT;
	any->submit.comm = comm;
	any->submit.collective = TORCOLL_ALLREDUCE;
	any->submit.type = TORCOLL_I32;
	any->submit.redop = TORCOLL_SUM;
	any->submit.count = COUNT;
	any->submit.send_addr = MEMORY;
	any->submit.recv_addr = MEMORY + PAGE;
}

/* Two ops of a page each, so that a row can say how much of a descriptor there is. */
static void good_batch(union any *any)
{
	union any desc = { .submit.size = PAGE };
	unsigned int i;

	good_submit(&desc);
	desc.submit.flags = 0;
	memset((void *)DESCS, 0, 2 * PAGE);
	for (i = 0; i < 2; i++)
		memcpy((void *)(DESCS + i * PAGE), &desc.submit, sizeof(desc.submit));
	any->batch.descs = DESCS;
	any->batch.desc_size = PAGE;
	any->batch.count = 2;
}

static void good_wait(union any *any)
{
	any->wait.comm = comm;
	any->wait.op = op;
}

static const struct call_type {
	const char *name;
	unsigned int cmd;
	unsigned int size;
	void (*good)(union any *any);
	unsigned int first;		/* bytes that its first version had, if fewer */
} calls[] = {
	{ "info", TORCOLL_IOC_INFO, sizeof(struct torcoll_info), good_info },
	{ "error", TORCOLL_IOC_ERROR, sizeof(struct torcoll_error), good_error },
	{ "region_add", TORCOLL_IOC_REGION_ADD, sizeof(struct torcoll_region_add), good_region_add },
	{ "region_alloc", TORCOLL_IOC_REGION_ALLOC, sizeof(struct torcoll_region_alloc),
	  good_region_alloc },
	{ "ring_setup", TORCOLL_IOC_RING_SETUP, sizeof(struct torcoll_ring_setup), good_ring_setup },
	{ "region_del", TORCOLL_IOC_REGION_DEL, sizeof(struct torcoll_handle), good_region_del },
	{ "comm_add", TORCOLL_IOC_COMM_ADD, sizeof(struct torcoll_comm_add), good_comm_add },
	{ "comm_del", TORCOLL_IOC_COMM_DEL, sizeof(struct torcoll_handle), good_comm },
	{ "comm_shrink", TORCOLL_IOC_COMM_SHRINK, sizeof(struct torcoll_comm_shrink),
	  good_comm_shrink },
	{ "comm_info", TORCOLL_IOC_COMM_INFO, sizeof(struct torcoll_comm_info), good_comm_info },
	{ "submit", TORCOLL_IOC_SUBMIT, sizeof(struct torcoll_submit), good_submit,
	  offsetof(struct torcoll_submit, recv_counts) },
	{ "wait", TORCOLL_IOC_WAIT, sizeof(struct torcoll_wait), good_wait,
	  offsetof(struct torcoll_wait, spin_ns) },
	{ "abort", TORCOLL_IOC_ABORT, sizeof(struct torcoll_handle), good_comm },
	{ "batch", TORCOLL_IOC_BATCH, sizeof(struct torcoll_batch), good_batch },
};

/* --- what is wrong with the struct, for every call --- */

enum place {
	AT_MEMORY,
	AT_NULL,
	AT_KERNEL,
	AT_UNMAPPED,
	AT_READ_ONLY,
	AT_END,			/* its last byte is not there */
	AT_ODD,			/* not aligned */
};

static const struct form {
	const char *name;
	bool first;		/* the struct is that of the first version */
	int more;		/* bytes that size is larger than the struct */
	uint32_t size;		/* or just this, if more is 0 and it is not */
	bool zero;		/* size is 0 */
	unsigned char tail;	/* the last byte of what is more */
	enum place place;
	int want;
} forms[] = {
	{ .name = "exact" },
	{ .name = "size_0", .zero = true, .want = EINVAL },
	{ .name = "size_4", .size = 4, .want = EINVAL },
	{ .name = "first_version", .first = true },
	{ .name = "one_byte_less", .first = true, .more = -1, .want = EINVAL },
	{ .name = "one_zero_byte_more", .more = 1 },
	{ .name = "one_byte_more", .more = 1, .tail = 1, .want = E2BIG },
	{ .name = "1000_zero_bytes_more", .more = 1000 },
	{ .name = "999_zeros_and_one", .more = 1000, .tail = 0x80, .want = E2BIG },
	{ .name = "a_page", .size = PAGE },
	{ .name = "more_than_a_page", .size = PAGE + 1, .want = E2BIG },
	{ .name = "size_2^31", .size = 1U << 31, .want = E2BIG },
	{ .name = "size_2^32-1", .size = ~0U, .want = E2BIG },
	{ .name = "null", .place = AT_NULL, .want = EFAULT },
	{ .name = "kernel_address", .place = AT_KERNEL, .want = EFAULT },
	{ .name = "unmapped", .place = AT_UNMAPPED, .want = EFAULT },
	{ .name = "read_only", .place = AT_READ_ONLY, .want = EFAULT },
	{ .name = "last_byte_unmapped", .place = AT_END, .want = EFAULT },
	{ .name = "odd_address", .place = AT_ODD },
};

/* --- what is wrong in the struct --- */

/* A member and its value, or where that is found. */
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

#define INFO(_member, _value)		SET(torcoll_info, _member, _value)
#define ERROR(_member, _value)		SET(torcoll_error, _member, _value)
#define REGION_ADD(_member, _value)	SET(torcoll_region_add, _member, _value)
#define REGION_ALLOC(_member, _value)	SET(torcoll_region_alloc, _member, _value)
#define RING_SETUP(_member, _value)	SET(torcoll_ring_setup, _member, _value)
#define HANDLE(_value)			SET(torcoll_handle, handle, _value)
#define HANDLE_FROM(_variable)		FROM(torcoll_handle, handle, _variable)
#define COMM_ADD(_member, _value)	SET(torcoll_comm_add, _member, _value)
#define COMM_SHRINK(_member, _value)	SET(torcoll_comm_shrink, _member, _value)
#define COMM_INFO(_member, _value)	SET(torcoll_comm_info, _member, _value)
#define SUBMIT(_member, _value)		SET(torcoll_submit, _member, _value)
#define WAIT(_member, _value)		SET(torcoll_wait, _member, _value)
#define BATCH(_member, _value)		SET(torcoll_batch, _member, _value)

enum setting {
	NO_MEMLOCK = 1,		/* RLIMIT_MEMLOCK is 0 */
	ABORTED = 2,		/* the comm has failed */
};

struct row {
	const char *name;
	unsigned int cmd;
	struct member set[4];
	uint32_t nodes[4];	/* what the list of members says */
	unsigned int setting;
	int want;
	struct member out;	/* what a member must be afterwards, if it has a size */
};

#define ROW(_name, _cmd, _want, ...)						\
	{ .name = #_cmd "__" _name, .cmd = TORCOLL_IOC_##_cmd, .want = (_want),	\
	  .set = { __VA_ARGS__ } }

static const struct row rows[] = {
	ROW("flags", INFO, EINVAL, INFO(flags, 1)),
	ROW("last_flag", INFO, EINVAL, INFO(flags, 1U << 31)),

	ROW("text_null", ERROR, EFAULT, ERROR(text, 0)),
	ROW("text_kernel", ERROR, EFAULT, ERROR(text, KERNEL)),
	ROW("text_unmapped", ERROR, EFAULT, ERROR(text, UNMAPPED)),
	ROW("text_read_only", ERROR, EFAULT, ERROR(text, READ_ONLY)),
	ROW("no_room", ERROR, 0, ERROR(text, 0), ERROR(len, 0)),
	ROW("room_for_1", ERROR, 0, ERROR(text, MEMORY_END - 1), ERROR(len, 1)),
	ROW("room_2^32-1", ERROR, 0, ERROR(len, ~0U)),

	ROW("watched", REGION_ADD, 0, REGION_ADD(flags, TORCOLL_REGION_WATCH)),
	ROW("watched_unmapped", REGION_ADD, EFAULT, REGION_ADD(flags, TORCOLL_REGION_WATCH),
	    REGION_ADD(addr, UNMAPPED)),
	ROW("flags", REGION_ADD, EINVAL, REGION_ADD(flags, TORCOLL_REGION_FLAGS + 1)),
	ROW("last_flag", REGION_ADD, EINVAL, REGION_ADD(flags, 1U << 31)),
	ROW("flags", REGION_ALLOC, EINVAL, REGION_ALLOC(flags, 1)),
	ROW("reserved", REGION_ALLOC, EINVAL, REGION_ALLOC(__reserved, 1)),
	ROW("no_bytes", REGION_ALLOC, EINVAL, REGION_ALLOC(length, 0)),
	ROW("length_2^46", REGION_ALLOC, ENOMEM, REGION_ALLOC(length, 1UL << 46)),
	ROW("length_2^63", REGION_ALLOC, ENOMEM, REGION_ALLOC(length, 1UL << 63)),
	ROW("length_2^64-1", REGION_ALLOC, ENOMEM, REGION_ALLOC(length, ~0UL)),
	{ .name = "REGION_ALLOC__rounded_up", .cmd = TORCOLL_IOC_REGION_ALLOC,
	  .set = { REGION_ALLOC(length, PAGE + 1) }, .out = REGION_ALLOC(bytes, 2 * PAGE) },
	ROW("flags", RING_SETUP, EINVAL, RING_SETUP(flags, 1)),
	ROW("no_entries", RING_SETUP, EINVAL, RING_SETUP(entries, 0)),
	ROW("too_many_entries", RING_SETUP, EINVAL, RING_SETUP(entries, TORCOLL_RING_MAX + 1)),
	ROW("entries_2^32-1", RING_SETUP, EINVAL, RING_SETUP(entries, ~0U)),
	ROW("eventfd_-2", RING_SETUP, EINVAL, RING_SETUP(eventfd, ~1U)),
	ROW("eventfd_closed", RING_SETUP, EBADF, RING_SETUP(eventfd, 0x7fffffff)),
	{ .name = "RING_SETUP__rounded_up", .cmd = TORCOLL_IOC_RING_SETUP,
	  .set = { RING_SETUP(entries, 9) }, .out = RING_SETUP(entries, 16) },
	ROW("reserved", REGION_ADD, EINVAL, REGION_ADD(__reserved, 1)),
	ROW("no_bytes", REGION_ADD, EINVAL, REGION_ADD(length, 0)),
	ROW("null", REGION_ADD, EFAULT, REGION_ADD(addr, 0)),
	ROW("kernel", REGION_ADD, EFAULT, REGION_ADD(addr, KERNEL)),
	ROW("unmapped", REGION_ADD, EFAULT, REGION_ADD(addr, UNMAPPED)),
	ROW("read_only", REGION_ADD, EFAULT, REGION_ADD(addr, READ_ONLY)),
	ROW("end_unmapped", REGION_ADD, EFAULT, REGION_ADD(length, MEMORY_BYTES)),
	ROW("last_byte_unmapped", REGION_ADD, EFAULT, REGION_ADD(addr, MEMORY_END - 1),
	    REGION_ADD(length, 2)),
	ROW("wraps", REGION_ADD, EFAULT, REGION_ADD(addr, ~0UL - 10), REGION_ADD(length, 100)),
	ROW("ends_at_2^64", REGION_ADD, EFAULT, REGION_ADD(addr, ~0UL - 99),
	    REGION_ADD(length, 100)),
	ROW("length_2^64-1", REGION_ADD, EFAULT, REGION_ADD(length, ~0UL)),
	ROW("length_2^63", REGION_ADD, EFAULT, REGION_ADD(length, 1UL << 63)),
	ROW("length_2^56", REGION_ADD, EFAULT, REGION_ADD(length, 1UL << 56)),
	ROW("length_2^46", REGION_ADD, ENOMEM, REGION_ADD(length, 1UL << 46)),
	{ .name = "REGION_ADD__length_2^46_no_memlock", .cmd = TORCOLL_IOC_REGION_ADD,
	  .setting = NO_MEMLOCK, .want = EDQUOT, .set = { REGION_ADD(length, 1UL << 46) } },
	ROW("one_byte", REGION_ADD, 0, REGION_ADD(addr, MEMORY_END - 1), REGION_ADD(length, 1)),
	{ .name = "REGION_ADD__no_memlock", .cmd = TORCOLL_IOC_REGION_ADD, .setting = NO_MEMLOCK,
	  .want = EDQUOT },

	ROW("handle_0", REGION_DEL, ENOENT, HANDLE(0)),
	ROW("handle_2^32-1", REGION_DEL, ENOENT, HANDLE(~0U)),
	ROW("handle_2^31", REGION_DEL, ENOENT, HANDLE(1U << 31)),
	ROW("stale", REGION_DEL, ENOENT, HANDLE_FROM(stale_region)),
	ROW("foreign", REGION_DEL, ENOENT, HANDLE_FROM(foreign_region)),
	ROW("handle_0", COMM_DEL, ENOENT, HANDLE(0)),
	ROW("handle_2^32-1", COMM_DEL, ENOENT, HANDLE(~0U)),
	ROW("handle_2^31", COMM_DEL, ENOENT, HANDLE(1U << 31)),
	ROW("stale", COMM_DEL, ENOENT, HANDLE_FROM(stale_comm)),
	ROW("foreign", COMM_DEL, ENOENT, HANDLE_FROM(foreign_comm)),
	ROW("handle_0", ABORT, ENOENT, HANDLE(0)),
	ROW("handle_2^32-1", ABORT, ENOENT, HANDLE(~0U)),
	ROW("stale", ABORT, ENOENT, HANDLE_FROM(stale_comm)),
	ROW("foreign", ABORT, ENOENT, HANDLE_FROM(foreign_comm)),
	{ .name = "ABORT__twice", .cmd = TORCOLL_IOC_ABORT, .setting = ABORTED },
	{ .name = "COMM_DEL__of_failed", .cmd = TORCOLL_IOC_COMM_DEL, .setting = ABORTED },

	ROW("flags", COMM_ADD, EINVAL, COMM_ADD(flags, 1)),
	ROW("unknown_bits", COMM_ADD, EINVAL, COMM_ADD(bits, TORCOLL_BITS_COUNT)),
	ROW("unknown_fabric", COMM_ADD, ENODEV, COMM_ADD(fabric, 2)),
	ROW("fabric_2^64-1", COMM_ADD, ENODEV, COMM_ADD(fabric, ~0UL)),
	ROW("name_of_0", COMM_ADD, EINVAL, COMM_ADD(name_len, 0)),
	ROW("name_of_64", COMM_ADD, 0, COMM_ADD(name_len, 64)),
	ROW("name_of_65", COMM_ADD, EINVAL, COMM_ADD(name_len, 65)),
	ROW("name_of_2^32-1", COMM_ADD, EINVAL, COMM_ADD(name_len, ~0U)),
	ROW("name_null", COMM_ADD, EFAULT, COMM_ADD(name, 0)),
	ROW("name_kernel", COMM_ADD, EFAULT, COMM_ADD(name, KERNEL)),
	ROW("name_end_unmapped", COMM_ADD, EFAULT, COMM_ADD(name, MEMORY_END - 7)),
	ROW("secret_of_0", COMM_ADD, 0, COMM_ADD(secret, 0), COMM_ADD(secret_len, 0)),
	ROW("secret_of_64", COMM_ADD, 0, COMM_ADD(secret_len, 64)),
	ROW("secret_of_65", COMM_ADD, EINVAL, COMM_ADD(secret_len, 65)),
	ROW("secret_of_2^32-1", COMM_ADD, EINVAL, COMM_ADD(secret_len, ~0U)),
	ROW("secret_null", COMM_ADD, EFAULT, COMM_ADD(secret, 0)),
	ROW("secret_kernel", COMM_ADD, EFAULT, COMM_ADD(secret, KERNEL)),
	ROW("depth_64", COMM_ADD, 0, COMM_ADD(depth, 64)),
	ROW("depth_65", COMM_ADD, EINVAL, COMM_ADD(depth, 65)),
	ROW("depth_2^32-1", COMM_ADD, EINVAL, COMM_ADD(depth, ~0U)),
	ROW("ranks_without_members", COMM_ADD, EINVAL, COMM_ADD(members, 0)),
	ROW("too_many_without_members", COMM_ADD, EINVAL, COMM_ADD(members, 0),
	    COMM_ADD(ranks, NODES + 1)),
	ROW("members_without_ranks", COMM_ADD, EINVAL, COMM_ADD(ranks, 0)),
	ROW("ranks_2^20+1", COMM_ADD, EINVAL, COMM_ADD(ranks, (1U << 20) + 1)),
	ROW("ranks_2^30+1", COMM_ADD, EINVAL, COMM_ADD(ranks, (1U << 30) + 1)),
	ROW("ranks_2^32-1", COMM_ADD, EINVAL, COMM_ADD(ranks, ~0U)),
	ROW("members_kernel", COMM_ADD, EFAULT, COMM_ADD(members, KERNEL)),
	ROW("members_unmapped", COMM_ADD, EFAULT, COMM_ADD(members, UNMAPPED)),
	ROW("members_end_unmapped", COMM_ADD, EFAULT, COMM_ADD(members, MEMORY_END - 4),
	    COMM_ADD(ranks, 2)),
	ROW("members_1M_unmapped", COMM_ADD, EFAULT, COMM_ADD(ranks, 1U << 20)),
	ROW("rank_of_another", COMM_ADD, EINVAL, COMM_ADD(rank, 1)),
	ROW("rank_2^32-2", COMM_ADD, EINVAL, COMM_ADD(rank, ~0U - 1)),
	{ .name = "COMM_ADD__member_out_of_range", .cmd = TORCOLL_IOC_COMM_ADD, .want = EINVAL,
	  .set = { COMM_ADD(ranks, 2) }, .nodes = { 0, NODES } },
	{ .name = "COMM_ADD__member_2^32-1", .cmd = TORCOLL_IOC_COMM_ADD, .want = EINVAL,
	  .set = { COMM_ADD(ranks, 2) }, .nodes = { 0, ~0U } },
	{ .name = "COMM_ADD__not_a_member", .cmd = TORCOLL_IOC_COMM_ADD, .want = EINVAL,
	  .set = { COMM_ADD(ranks, 2) }, .nodes = { 1, 2 } },
	{ .name = "COMM_ADD__twice_this_node", .cmd = TORCOLL_IOC_COMM_ADD, .want = EOPNOTSUPP,
	  .set = { COMM_ADD(ranks, 2) }, .nodes = { 0, 0 } },
	{ .name = "COMM_ADD__twice_another_node", .cmd = TORCOLL_IOC_COMM_ADD, .want = EOPNOTSUPP,
	  .set = { COMM_ADD(ranks, 4) }, .nodes = { 2, 0, 1, 2 } },
	{ .name = "COMM_ADD__rank_0_missing", .cmd = TORCOLL_IOC_COMM_ADD, .want = ETIMEDOUT,
	  .set = { COMM_ADD(ranks, 2), COMM_ADD(deadline_ns, 1) }, .nodes = { 3, 0 },
	  .out = COMM_ADD(missing, 0) },
	{ .name = "COMM_ADD__rank_1_missing", .cmd = TORCOLL_IOC_COMM_ADD, .want = ETIMEDOUT,
	  .set = { COMM_ADD(ranks, 3), COMM_ADD(deadline_ns, 1) }, .nodes = { 0, 3, 2 },
	  .out = COMM_ADD(missing, 1) },
	{ .name = "COMM_ADD__all_but_one_missing", .cmd = TORCOLL_IOC_COMM_ADD, .want = ETIMEDOUT,
	  .set = { COMM_ADD(members, 0), COMM_ADD(ranks, 0), COMM_ADD(deadline_ns, 1) },
	  .out = COMM_ADD(missing, 1) },

	ROW("flags", COMM_SHRINK, EINVAL, COMM_SHRINK(flags, 1)),
	ROW("reserved", COMM_SHRINK, EINVAL, COMM_SHRINK(__reserved, 1)),
	ROW("members_without_room", COMM_SHRINK, EINVAL, COMM_SHRINK(members, MEMORY)),
	ROW("room_without_members", COMM_SHRINK, EINVAL, COMM_SHRINK(room, 1)),
	ROW("members_unmapped", COMM_SHRINK, EFAULT, COMM_SHRINK(members, UNMAPPED),
	    COMM_SHRINK(room, 1)),
	ROW("members_kernel", COMM_SHRINK, EFAULT, COMM_SHRINK(members, KERNEL),
	    COMM_SHRINK(room, 1)),
	ROW("handle_0", COMM_SHRINK, ENOENT, COMM_SHRINK(comm, 0)),
	ROW("handle_2^32-1", COMM_SHRINK, ENOENT, COMM_SHRINK(comm, ~0U)),
	ROW("stale", COMM_SHRINK, ENOENT, FROM(torcoll_comm_shrink, comm, stale_comm)),
	ROW("foreign", COMM_SHRINK, ENOENT, FROM(torcoll_comm_shrink, comm, foreign_comm)),
	ROW("depth_65", COMM_SHRINK, EINVAL, COMM_SHRINK(depth, 65)),
	ROW("depth_2^32-1", COMM_SHRINK, EINVAL, COMM_SHRINK(depth, ~0U)),
	{ .name = "COMM_SHRINK__healthy", .cmd = TORCOLL_IOC_COMM_SHRINK,
	  .out = COMM_SHRINK(ranks, 1) },
	{ .name = "COMM_SHRINK__failed", .cmd = TORCOLL_IOC_COMM_SHRINK, .setting = ABORTED,
	  .out = COMM_SHRINK(ranks, 1) },

	ROW("reserved", COMM_INFO, EINVAL, COMM_INFO(__reserved, 1)),
	ROW("handle_0", COMM_INFO, ENOENT, COMM_INFO(comm, 0)),
	ROW("handle_2^32-1", COMM_INFO, ENOENT, COMM_INFO(comm, ~0U)),
	ROW("stale", COMM_INFO, ENOENT, FROM(torcoll_comm_info, comm, stale_comm)),
	ROW("foreign", COMM_INFO, ENOENT, FROM(torcoll_comm_info, comm, foreign_comm)),
	{ .name = "COMM_INFO__failed", .cmd = TORCOLL_IOC_COMM_INFO, .setting = ABORTED,
	  .out = COMM_INFO(error, (uint32_t)-ECANCELED) },

	ROW("flags", SUBMIT, EINVAL, SUBMIT(flags, TORCOLL_OP_FLAGS + 1)),
	ROW("last_flag", SUBMIT, EINVAL, SUBMIT(flags, 1U << 31)),
	ROW("ring_and_wait", SUBMIT, EINVAL, SUBMIT(flags, TORCOLL_OP_RING | TORCOLL_OP_WAIT)),
	ROW("ring_without_one", SUBMIT, EINVAL, SUBMIT(flags, TORCOLL_OP_RING)),
	ROW("comm_0", SUBMIT, ENOENT, SUBMIT(comm, 0)),
	ROW("comm_2^32-1", SUBMIT, ENOENT, SUBMIT(comm, ~0U)),
	ROW("comm_stale", SUBMIT, ENOENT, FROM(torcoll_submit, comm, stale_comm)),
	ROW("comm_foreign", SUBMIT, ENOENT, FROM(torcoll_submit, comm, foreign_comm)),
	{ .name = "SUBMIT__comm_failed", .cmd = TORCOLL_IOC_SUBMIT, .setting = ABORTED,
	  .want = ECANCELED },
	ROW("no_collective", SUBMIT, EINVAL, SUBMIT(collective, 0)),
	ROW("unknown_collective", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_COLL_COUNT)),
	ROW("collective_65535", SUBMIT, EINVAL, SUBMIT(collective, 0xffff)),
	ROW("no_type", SUBMIT, EINVAL, SUBMIT(type, 0)),
	ROW("unknown_type", SUBMIT, EINVAL, SUBMIT(type, TORCOLL_TYPE_COUNT)),
	ROW("type_65535", SUBMIT, EINVAL, SUBMIT(type, 0xffff)),
	ROW("no_redop", SUBMIT, EINVAL, SUBMIT(redop, 0)),
	ROW("unknown_redop", SUBMIT, EINVAL, SUBMIT(redop, TORCOLL_REDOP_COUNT)),
	ROW("redop_65535", SUBMIT, EINVAL, SUBMIT(redop, 0xffff)),
	ROW("unknown_algorithm", SUBMIT, EINVAL, SUBMIT(algorithm, TORCOLL_ALGO_COUNT)),
	ROW("algorithm_65535", SUBMIT, EINVAL, SUBMIT(algorithm, 0xffff)),
	ROW("reserved_algorithm", SUBMIT, EOPNOTSUPP, SUBMIT(algorithm, TORCOLL_BINE)),
	ROW("unknown_bits", SUBMIT, EINVAL, SUBMIT(bits, TORCOLL_BITS_COUNT)),
	ROW("bits_2^32-1", SUBMIT, EINVAL, SUBMIT(bits, ~0U)),
	ROW("send_not_served", SUBMIT, EOPNOTSUPP, SUBMIT(collective, TORCOLL_SEND)),
	ROW("redop_of_halo", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_HALO)),
	ROW("no_redop_of_exscan", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_EXSCAN),
	    SUBMIT(redop, 0)),
	ROW("type_of_barrier", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_BARRIER),
	    SUBMIT(redop, 0), SUBMIT(count, 0)),
	ROW("counts_of_alltoall_alone", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_ALLTOALL),
	    SUBMIT(redop, 0), SUBMIT(counts, MEMORY)),
	ROW("recv_counts", SUBMIT, EINVAL, SUBMIT(recv_counts, MEMORY)),
	ROW("premulsum_without_factor", SUBMIT, EFAULT, SUBMIT(redop, TORCOLL_PREMULSUM)),
	ROW("average_of_a_scan", SUBMIT, EOPNOTSUPP, SUBMIT(collective, TORCOLL_SCAN),
	    SUBMIT(redop, TORCOLL_AVG)),
	ROW("not_served_before_no_type", SUBMIT, EOPNOTSUPP, SUBMIT(collective, TORCOLL_SEND),
	    SUBMIT(type, 0)),
	ROW("redop_of_broadcast", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_BROADCAST)),
	ROW("redop_of_allgather", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_ALLGATHER)),
	ROW("counts_of_reduce", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_REDUCE),
	    SUBMIT(counts, MEMORY)),
	ROW("counts_unmapped", SUBMIT, EFAULT, SUBMIT(collective, TORCOLL_REDUCE_SCATTER),
	    SUBMIT(counts, UNMAPPED)),
	ROW("counts_kernel", SUBMIT, EFAULT, SUBMIT(collective, TORCOLL_REDUCE_SCATTER),
	    SUBMIT(counts, KERNEL)),
	ROW("counts_sum_up_to_another", SUBMIT, EINVAL, SUBMIT(collective, TORCOLL_REDUCE_SCATTER),
	    SUBMIT(counts, MEMORY)),
	ROW("one_rank_scatters", SUBMIT, 0, SUBMIT(collective, TORCOLL_REDUCE_SCATTER)),
	ROW("one_rank_gathers", SUBMIT, 0, SUBMIT(collective, TORCOLL_ALLGATHER),
	    SUBMIT(redop, 0)),
	ROW("minloc_of_i32", SUBMIT, EOPNOTSUPP, SUBMIT(redop, TORCOLL_MINLOC)),
	ROW("band_of_f32", SUBMIT, EOPNOTSUPP, SUBMIT(redop, TORCOLL_BAND),
	    SUBMIT(type, TORCOLL_F32)),
	ROW("root_out_of_range", SUBMIT, EINVAL, SUBMIT(root, 1)),
	ROW("root_2^32-1", SUBMIT, EINVAL, SUBMIT(root, ~0U)),
	ROW("peer", SUBMIT, EINVAL, SUBMIT(peer, 1)),
	ROW("scalar", SUBMIT, EINVAL, SUBMIT(scalar, MEMORY)),
	ROW("counts", SUBMIT, EINVAL, SUBMIT(counts, MEMORY)),
	ROW("param_of_no_algorithm", SUBMIT, EINVAL, SUBMIT(param[7], 1)),
	ROW("param_65536", SUBMIT, EINVAL, SUBMIT(param[0], 65536)),
	ROW("param_2^32-1", SUBMIT, EINVAL, SUBMIT(param[0], ~0U)),
	ROW("channels_65535", SUBMIT, EINVAL, SUBMIT(param[0], 65535)),
	ROW("no_elements", SUBMIT, 0, SUBMIT(count, 0), SUBMIT(recv_addr, 0)),
	ROW("count_2^59", SUBMIT, EINVAL, SUBMIT(count, 1UL << 59)),
	ROW("count_2^60", SUBMIT, EINVAL, SUBMIT(count, 1UL << 60)),
	ROW("count_2^62", SUBMIT, EINVAL, SUBMIT(count, 1UL << 62)),
	ROW("count_2^63", SUBMIT, EINVAL, SUBMIT(count, 1UL << 63)),
	ROW("count_2^64-1", SUBMIT, EINVAL, SUBMIT(count, ~0UL)),
	ROW("count_2^58", SUBMIT, EFAULT, SUBMIT(count, 1UL << 58), SUBMIT(send_addr, MEMORY),
	    SUBMIT(recv_addr, MEMORY)),
	ROW("count_beyond_memory", SUBMIT, EFAULT, SUBMIT(count, MEMORY_BYTES / 4 + 1),
	    SUBMIT(recv_addr, MEMORY)),
	ROW("recv_null", SUBMIT, EFAULT, SUBMIT(recv_addr, 0)),
	ROW("recv_kernel", SUBMIT, EFAULT, SUBMIT(recv_addr, KERNEL)),
	ROW("recv_unmapped", SUBMIT, EFAULT, SUBMIT(recv_addr, UNMAPPED)),
	ROW("recv_read_only", SUBMIT, EFAULT, SUBMIT(recv_addr, READ_ONLY)),
	ROW("recv_end_unmapped", SUBMIT, EFAULT, SUBMIT(recv_addr, MEMORY_END - 4)),
	ROW("recv_wraps", SUBMIT, EFAULT, SUBMIT(recv_addr, ~0UL - 15)),
	ROW("send_null", SUBMIT, EFAULT, SUBMIT(send_addr, 0)),
	ROW("send_kernel", SUBMIT, EFAULT, SUBMIT(send_addr, KERNEL)),
	ROW("send_unmapped", SUBMIT, EFAULT, SUBMIT(send_addr, UNMAPPED)),
	ROW("send_wraps", SUBMIT, EFAULT, SUBMIT(send_addr, ~0UL - 15)),
	ROW("both_null", SUBMIT, EFAULT, SUBMIT(send_addr, 0), SUBMIT(recv_addr, 0)),
	ROW("overlap_ahead", SUBMIT, EINVAL, SUBMIT(recv_addr, MEMORY + 4)),
	ROW("overlap_behind", SUBMIT, EINVAL, SUBMIT(send_addr, MEMORY + PAGE + 4)),
	ROW("overlap_by_a_byte", SUBMIT, EINVAL, SUBMIT(recv_addr, MEMORY + 4 * COUNT - 1)),
	ROW("side_by_side", SUBMIT, 0, SUBMIT(recv_addr, MEMORY + 4 * COUNT)),
	ROW("misaligned", SUBMIT, 0, SUBMIT(send_addr, MEMORY + 1),
	    SUBMIT(recv_addr, MEMORY + 2 * PAGE - 3)),
	ROW("in_region", SUBMIT, 0, FROM(torcoll_submit, recv_region, region)),
	ROW("region_too_short", SUBMIT, EFAULT, FROM(torcoll_submit, recv_region, region),
	    SUBMIT(recv_addr, REGION + REGION_BYTES - 4)),
	ROW("region_before", SUBMIT, EFAULT, FROM(torcoll_submit, recv_region, region),
	    SUBMIT(recv_addr, REGION - 4), SUBMIT(send_addr, MEMORY + 2 * PAGE)),
	ROW("region_elsewhere", SUBMIT, EFAULT, FROM(torcoll_submit, recv_region, region),
	    SUBMIT(recv_addr, REGION + REGION_BYTES)),
	ROW("region_longer_than", SUBMIT, EFAULT, FROM(torcoll_submit, recv_region, region),
	    SUBMIT(count, 1UL << 58), SUBMIT(send_addr, REGION), SUBMIT(recv_addr, REGION)),
	ROW("region_2^64-1", SUBMIT, EFAULT, FROM(torcoll_submit, recv_region, region),
	    SUBMIT(recv_addr, ~0UL)),
	ROW("send_region_elsewhere", SUBMIT, EFAULT, FROM(torcoll_submit, send_region, region),
	    SUBMIT(send_addr, REGION + REGION_BYTES)),
	ROW("recv_region_stale", SUBMIT, ENOENT, FROM(torcoll_submit, recv_region, stale_region)),
	ROW("send_region_stale", SUBMIT, ENOENT, FROM(torcoll_submit, send_region, stale_region)),
	ROW("recv_region_foreign", SUBMIT, ENOENT,
	    FROM(torcoll_submit, recv_region, foreign_region)),
	ROW("send_region_2^32-1", SUBMIT, ENOENT, SUBMIT(send_region, ~0U)),
	{ .name = "SUBMIT__no_memlock", .cmd = TORCOLL_IOC_SUBMIT, .setting = NO_MEMLOCK,
	  .want = EDQUOT },
	{ .name = "SUBMIT__no_memlock_in_region", .cmd = TORCOLL_IOC_SUBMIT, .setting = NO_MEMLOCK,
	  .set = { FROM(torcoll_submit, recv_region, region),
		   FROM(torcoll_submit, send_region, region) } },

	ROW("flags", WAIT, EINVAL, WAIT(flags, TORCOLL_WAIT_FLAGS + 1)),
	ROW("last_flag", WAIT, EINVAL, WAIT(flags, 1U << 31)),
	ROW("reserved", WAIT, EINVAL, WAIT(__reserved, 1)),
	ROW("spin_1s", WAIT, 0, WAIT(spin_ns, NS_PER_S)),
	ROW("spin_more", WAIT, EINVAL, WAIT(spin_ns, NS_PER_S + 1)),
	ROW("comm_0", WAIT, ENOENT, WAIT(comm, 0)),
	ROW("comm_stale", WAIT, ENOENT, FROM(torcoll_wait, comm, stale_comm)),
	ROW("comm_foreign", WAIT, ENOENT, FROM(torcoll_wait, comm, foreign_comm)),
	ROW("op_stale", WAIT, ENOENT, FROM(torcoll_wait, op, stale_op)),
	ROW("op_1", WAIT, ENOENT, WAIT(op, 1)),
	ROW("op_2^32-1", WAIT, ENOENT, WAIT(op, ~0U)),
	ROW("op_2^33+1", WAIT, ENOENT, WAIT(op, (1UL << 33) + 1)),
	ROW("op_2^63", WAIT, ENOENT, WAIT(op, 1UL << 63)),
	ROW("op_2^64-1", WAIT, ENOENT, WAIT(op, ~0UL)),
	ROW("any_op", WAIT, 0, WAIT(op, 0)),
	ROW("nohang", WAIT, 0, WAIT(flags, TORCOLL_WAIT_NOHANG)),
	ROW("deadline_passed_op_done", WAIT, 0, WAIT(deadline_ns, 1)),
	{ .name = "WAIT__done_before_comm_failed", .cmd = TORCOLL_IOC_WAIT, .setting = ABORTED,
	  .out = WAIT(status, 0) },

	ROW("flags", BATCH, EINVAL, BATCH(flags, 1)),
	ROW("reserved", BATCH, EINVAL, BATCH(__reserved, 1)),
	ROW("of_none", BATCH, EINVAL, BATCH(count, 0)),
	ROW("of_too_many", BATCH, EINVAL, BATCH(count, TORCOLL_BATCH_MAX + 1)),
	ROW("of_2^32-1", BATCH, EINVAL, BATCH(count, ~0U)),
	ROW("desc_size_0", BATCH, EINVAL, BATCH(desc_size, 0)),
	ROW("desc_size_one_less", BATCH, EINVAL,
	    BATCH(desc_size, offsetof(struct torcoll_submit, chosen) + 3)),
	ROW("desc_size_more_than_a_page", BATCH, EINVAL, BATCH(desc_size, PAGE + 8)),
	ROW("desc_size_other_than_theirs", BATCH, EINVAL, BATCH(desc_size, PAGE / 2)),
	ROW("descs_null", BATCH, EFAULT, BATCH(descs, 0)),
	ROW("descs_kernel", BATCH, EFAULT, BATCH(descs, KERNEL)),
	ROW("descs_unmapped", BATCH, EFAULT, BATCH(descs, UNMAPPED)),
	ROW("descs_read_only", BATCH, EFAULT, BATCH(descs, READ_ONLY),
	    BATCH(desc_size, sizeof(struct torcoll_submit))),
	ROW("descs_wrap", BATCH, EFAULT, BATCH(descs, ~0UL - 10)),
	{ .name = "BATCH__second_unmapped", .cmd = TORCOLL_IOC_BATCH, .want = EFAULT,
	  .set = { BATCH(count, 3) }, .out = BATCH(started, 2) },
	{ .name = "BATCH__comm_failed", .cmd = TORCOLL_IOC_BATCH, .setting = ABORTED,
	  .want = ECANCELED, .out = BATCH(started, 0) },
	{ .name = "BATCH__both_run", .cmd = TORCOLL_IOC_BATCH, .out = BATCH(started, 2) },
};

/* Numbers that are none of ours. */
static const struct {
	const char *name;
	unsigned int cmd;
} numbers[] = {
	{ "0x0f", _IO(TORCOLL_IOC_MAGIC, 0x0f) },
	{ "0x13", _IO(TORCOLL_IOC_MAGIC, 0x13) },
	{ "0x1f", _IO(TORCOLL_IOC_MAGIC, 0x1f) },
	{ "0x24", _IO(TORCOLL_IOC_MAGIC, 0x24) },
	{ "0x33", _IO(TORCOLL_IOC_MAGIC, 0x33) },
	{ "0xff", _IO(TORCOLL_IOC_MAGIC, 0xff) },
	{ "read", _IOR(TORCOLL_IOC_MAGIC, 0x00, struct torcoll_info) },
	{ "write", _IOW(TORCOLL_IOC_MAGIC, 0x00, struct torcoll_info) },
	{ "with_a_size", _IOC(_IOC_NONE, TORCOLL_IOC_MAGIC, 0x00, 8) },
	{ "other_magic", _IO(TORCOLL_IOC_MAGIC + 1, 0x00) },
	{ "magic_0", 0 },
	{ "all_ones", ~0U },
};

/* --- one row --- */

static void map(unsigned long at, unsigned long bytes, int prot)
{
	void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	need(p == (void *)at, "no memory at %#lx", at);
	memset(p, 'x', bytes);
	need(!mprotect(p, bytes, prot), "cannot protect %#lx", at);
}

static uint32_t add_region(int fd)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = REGION, .length = REGION_BYTES,
	};
	int err = call(fd, TORCOLL_IOC_REGION_ADD, &add);

	need(!err, "region: %s: %s", strerror(err), sentence(fd));
	return add.region;
}

static uint32_t add_comm(int fd)
{
	static const uint32_t self;
	struct joiner j = { .fd = fd, .name = "own", .members = &self, .ranks = 1 };

	join(&j);
	need(!j.err, "comm: %s: %s", strerror(j.err), sentence(fd));
	return j.comm;
}

/* An op that is done and not reaped. */
static uint64_t add_op(int fd)
{
	union any any = { .submit.size = sizeof(any.submit) };
	int err;

	good_submit(&any);
	any.submit.flags = 0;
	err = call(fd, TORCOLL_IOC_SUBMIT, &any.submit);
	need(!err, "op: %s: %s", strerror(err), sentence(fd));
	return any.submit.op;
}

static void del(int fd, unsigned int cmd, uint32_t handle)
{
	struct torcoll_handle arg = { .size = sizeof(arg), .handle = handle };
	int err = call(fd, cmd, &arg);

	need(!err, "cannot give up %u: %s", handle, strerror(err));
}

static void reap(int fd, uint64_t handle)
{
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = comm, .op = handle };
	int err = call(fd, TORCOLL_IOC_WAIT, &wait);

	need(!err, "no result: %s: %s", strerror(err), sentence(fd));
}

/* A file with everything on it. */
static int open_row(unsigned int setting)
{
	int fd = open_on(0);

	region = add_region(fd);
	stale_region = add_region(fd);
	del(fd, TORCOLL_IOC_REGION_DEL, stale_region);
	comm = add_comm(fd);
	stale_comm = add_comm(fd);
	del(fd, TORCOLL_IOC_COMM_DEL, stale_comm);
	stale_op = add_op(fd);
	reap(fd, stale_op);
	op = add_op(fd);
	if (setting & ABORTED)
		del(fd, TORCOLL_IOC_ABORT, comm);
	return fd;
}

/* Without the right to exceed limits, and with none to lock memory; or as before. */
static void forbid_memlock(bool forbid)
{
	static struct __user_cap_data_struct before[2];
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2];
	static struct rlimit limit;
	struct rlimit none;

	if (forbid) {
		need(!syscall(SYS_capget, &hdr, before), "capget");
		memcpy(now, before, sizeof(now));
		now[0].effective &= ~(1U << CAP_IPC_LOCK);
		need(!getrlimit(RLIMIT_MEMLOCK, &limit), "getrlimit");
		none = limit;
		none.rlim_cur = 0;
		need(!setrlimit(RLIMIT_MEMLOCK, &none), "setrlimit");
		need(!syscall(SYS_capset, &hdr, now), "capset");
	} else {
		need(!syscall(SYS_capset, &hdr, before), "capset");
		need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
	}
}

static const struct call_type *call_of(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].cmd == cmd)
			return &calls[i];
	need(false, "no call %#x", cmd);
	return NULL;
}

/* Is what was said of a refusal as it should be? A bare fault or size needs no sentence. */
static bool said(int fd, unsigned int cmd, int err)
{
	if (cmd == TORCOLL_IOC_ERROR || !err || err == EFAULT || err == E2BIG || err == ENOTTY)
		return true;
	return *sentence(fd);
}

static void report(int fd, unsigned int cmd, const char *name, int err, int want)
{
	bool good = err == want && said(fd, cmd, err);

	if (!good)
		printf("# got %s, wanted %s; sentence: \"%s\"\n", err ? strerror(err) : "0",
		       want ? strerror(want) : "0", sentence(fd));
	result(good, "%s", name);
}

static void set_member(void *p, const struct member *m)
{
	uint64_t value = m->from ? *m->from : m->value;

	/* little-endian, as all that this runs on */
	memcpy((char *)p + m->at, &value, m->size);
}

static bool is_member(const void *p, const struct member *m)
{
	return !memcmp((const char *)p + m->at, &m->value, m->size);
}

static void try_row(const struct row *row)
{
	const struct call_type *type = call_of(row->cmd);
	int fd = open_row(row->setting);
	union any *any = (void *)STRUCT;
	unsigned int i;
	int err;

	memset(any, 0, PAGE);
	any->size = type->size;
	type->good(any);
	for (i = 0; i < ARRAY_SIZE(row->set); i++)
		set_member(any, &row->set[i]);
	memcpy((void *)MEMBERS, row->nodes, sizeof(row->nodes));
	if (row->setting & NO_MEMLOCK)
		forbid_memlock(true);
	err = call(fd, row->cmd, any);
	if (row->setting & NO_MEMLOCK)
		forbid_memlock(false);
	if (row->out.size && !is_member(any, &row->out)) {
		printf("# member at %u is not %llu\n", row->out.at,
		       (unsigned long long)row->out.value);
		err = EBADMSG;
	}
	report(fd, row->cmd, row->name, err, row->want);
	close(fd);
}

/* Where the struct is to be in the end: for read-only memory, copied there before it is. */
static void *place_of(enum place place, unsigned int size)
{
	switch (place) {
	case AT_NULL:
		return NULL;
	case AT_KERNEL:
		return (void *)KERNEL;
	case AT_UNMAPPED:
		return (void *)UNMAPPED;
	case AT_READ_ONLY:
		return (void *)READ_ONLY;
	case AT_END:
		return (void *)(MEMORY_END - size + 1);
	case AT_ODD:
		return (void *)(STRUCT + 1);
	default:
		return (void *)STRUCT;
	}
}

/* A call that could not say what it made has made nothing. The lowest free handle would be its own. */
static void try_made_nothing(int fd, const struct call_type *type)
{
	struct torcoll_wait wait = {
		.size = sizeof(wait), .comm = comm, .op = op + 1, .flags = TORCOLL_WAIT_NOHANG,
	};
	struct torcoll_handle handle = { .size = sizeof(handle) };
	int err;

	if (type->cmd == TORCOLL_IOC_REGION_ADD || type->cmd == TORCOLL_IOC_REGION_ALLOC) {
		handle.handle = stale_region;
		err = call(fd, TORCOLL_IOC_REGION_DEL, &handle);
	} else if (type->cmd == TORCOLL_IOC_COMM_ADD) {
		handle.handle = stale_comm;
		err = call(fd, TORCOLL_IOC_COMM_DEL, &handle);
	} else if (type->cmd == TORCOLL_IOC_SUBMIT) {
		err = call(fd, TORCOLL_IOC_WAIT, &wait);
	} else {
		return;
	}
	result(err == ENOENT, "%s__read_only_made_nothing", type->name);
}

static void try_form(const struct call_type *type, const struct form *form)
{
	unsigned int size = form->first && type->first ? type->first : type->size;
	int fd = open_row(0);
	char *at = place_of(form->place, type->size);
	union any any = {};
	char name[128];

	any.size = form->zero ? 0 : form->size ? form->size : size + form->more;
	type->good(&any);
	memset((void *)STRUCT, 0, 2 * PAGE);
	if (form->place == AT_READ_ONLY)
		mprotect(at, PAGE, PROT_READ | PROT_WRITE);
	if (form->place == AT_END)
		memcpy(at, &any, type->size - 1);
	else if (form->place != AT_NULL && form->place != AT_KERNEL && form->place != AT_UNMAPPED)
		memcpy(at, &any, type->size);
	if (form->place == AT_READ_ONLY)
		mprotect(at, PAGE, PROT_READ);
	if (form->more > 0)
		at[type->size + form->more - 1] = form->tail;
	snprintf(name, sizeof(name), "%s__%s", type->name, form->name);
	report(fd, type->cmd, name, call(fd, type->cmd, at), form->want);
	if (form->place == AT_READ_ONLY)
		try_made_nothing(fd, type);
	close(fd);
}

static void try_numbers(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		int fd = open_row(0);
		union any any = { .size = sizeof(any) };
		char name[64];

		snprintf(name, sizeof(name), "number__%s", numbers[i].name);
		report(fd, numbers[i].cmd, name, call(fd, numbers[i].cmd, &any), ENOTTY);
		close(fd);
	}
}

/* --- with a second rank --- */

/* An op of rank 0 alone: what may not be done, and that it goes on in spite of all. */
static void try_running(struct rank *rank)
{
	struct torcoll_submit submit = { .size = sizeof(submit), .comm = rank[0].comm };
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = rank[0].comm };
	struct torcoll_region_add add = { .size = sizeof(add), .addr = MEMORY, .length = PAGE };
	struct torcoll_handle handle = { .size = sizeof(handle) };
	union any any = {};
	int fd = rank[0].fd;
	unsigned int i;

	need(!call(fd, TORCOLL_IOC_REGION_ADD, &add), "region: %s", sentence(fd));
	good_submit(&any);
	submit = any.submit;
	submit.size = sizeof(submit);
	submit.flags = 0;
	submit.comm = rank[0].comm;
	submit.recv_addr = MEMORY;
	submit.recv_region = add.region;
	for (i = 0; i < COUNT; i++)
		((int32_t *)MEMORY)[i] = i;
	need(!call(fd, TORCOLL_IOC_SUBMIT, &submit), "op: %s", sentence(fd));
	rank[0].op = submit.op;

	handle.handle = add.region;
	report(fd, TORCOLL_IOC_REGION_DEL, "running__region_in_use",
	       call(fd, TORCOLL_IOC_REGION_DEL, &handle), EBUSY);
	wait.op = rank[0].op;
	wait.flags = TORCOLL_WAIT_NOHANG;
	/* nothing is refused, so nothing need be said */
	result(call(fd, TORCOLL_IOC_WAIT, &wait) == EAGAIN, "running__wait_nohang");
	wait.op = 0;
	result(call(fd, TORCOLL_IOC_WAIT, &wait) == EAGAIN, "running__wait_nohang_any");
	wait.flags = 0;
	wait.deadline_ns = 1;
	report(fd, TORCOLL_IOC_WAIT, "running__wait_deadline_passed",
	       call(fd, TORCOLL_IOC_WAIT, &wait), ETIMEDOUT);
	wait.op = rank[0].op;
	wait.deadline_ns = now_ns() + NS_PER_S / 100;
	report(fd, TORCOLL_IOC_WAIT, "running__wait_deadline",
	       call(fd, TORCOLL_IOC_WAIT, &wait), ETIMEDOUT);
	wait.op = rank[0].op + 1;
	report(fd, TORCOLL_IOC_WAIT, "running__wait_for_the_next",
	       call(fd, TORCOLL_IOC_WAIT, &wait), ENOENT);
	submit.flags = TORCOLL_OP_NOWAIT;
	report(fd, TORCOLL_IOC_SUBMIT, "running__no_slot_nowait",
	       call(fd, TORCOLL_IOC_SUBMIT, &submit), EBUSY);
	submit.flags = TORCOLL_OP_WAIT;
	submit.deadline_ns = 1;
	report(fd, TORCOLL_IOC_SUBMIT, "running__no_slot_deadline_passed",
	       call(fd, TORCOLL_IOC_SUBMIT, &submit), ETIMEDOUT);

	/* the other rank comes: the op is none the worse */
	rank[0].memory = (int32_t *)MEMORY;
	result(sum_is_right(rank, 1, 2, COUNT), "running__ends_right");
	del(fd, TORCOLL_IOC_REGION_DEL, add.region);

	/* a slot whose result nobody fetched */
	result(!begin_sum(rank, 0, COUNT) && !begin_sum(rank, 1, COUNT) &&
	       !end_sum(rank, 1, 2, COUNT), "unreaped__op_of_both");
	submit.flags = 0;
	submit.deadline_ns = now_ns() + 20 * NS_PER_S;
	submit.recv_region = 0;
	report(fd, TORCOLL_IOC_SUBMIT, "unreaped__no_slot",
	       call(fd, TORCOLL_IOC_SUBMIT, &submit), EBUSY);
	result(!end_sum(rank, 0, 2, COUNT), "unreaped__reaped_right");
}

/* Two members of a comm that do not fit together. */
static void try_joins(const struct rank *rank)
{
	static const uint32_t two[] = { 0, 1 }, three[] = { 0, 1, 2 };
	struct joiner j[2] = {};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		j[i].fd = rank[i].fd;
		j[i].name = "secret";
		j[i].secret = i ? "not this" : "this";
		j[i].members = two;
		j[i].ranks = 2;
		j[i].deadline_ns = now_ns() + 2 * NS_PER_S;
	}
	join_all(j, 2);
	result(j[1].err == EACCES, "join__wrong_secret");
	result(j[0].err == ETIMEDOUT && j[0].missing == 1, "join__right_secret_waits_on");

	for (i = 0; i < 2; i++) {
		j[i].name = "members";
		j[i].secret = NULL;
		j[i].members = three;
		j[i].ranks = 2 + i;
		j[i].deadline_ns = now_ns() + 5 * NS_PER_S;
	}
	join_all(j, 2);
	result(j[0].err == EPROTO && j[1].err == EPROTO, "join__members_differ");

	for (i = 0; i < 2; i++) {
		j[i].fd = rank[0].fd;
		j[i].name = "twice";
		j[i].members = two;
		j[i].ranks = 2;
		j[i].deadline_ns = now_ns() + NS_PER_S / 2;
	}
	join_all(j, 2);
	/* whoever is first waits */
	result((j[0].err == EEXIST && j[1].err == ETIMEDOUT) ||
	       (j[1].err == EEXIST && j[0].err == ETIMEDOUT), "join__twice_from_a_node");
}

/* The op's deadline passes: the comm fails, on both sides. */
static void try_deadline(struct rank *rank)
{
	struct torcoll_submit submit = { .size = sizeof(submit) };
	union any any = {};
	int err;

	good_submit(&any);
	submit = any.submit;
	submit.size = sizeof(submit);
	submit.comm = rank[0].comm;
	submit.recv_addr = MEMORY;
	submit.deadline_ns = 1;
	err = call(rank[0].fd, TORCOLL_IOC_SUBMIT, &submit);
	result(!err && submit.status == -ETIMEDOUT, "deadline__op_fails");
	submit.deadline_ns = 0;
	report(rank[0].fd, TORCOLL_IOC_SUBMIT, "deadline__comm_has_failed",
	       call(rank[0].fd, TORCOLL_IOC_SUBMIT, &submit), ETIMEDOUT);
	submit.comm = rank[1].comm;
	submit.deadline_ns = now_ns() + 20 * NS_PER_S;
	err = call(rank[1].fd, TORCOLL_IOC_SUBMIT, &submit);
	result(err == ECONNABORTED || (!err && submit.status == -ECONNABORTED),
	       "deadline__other_rank_hears");
}

int main(void)
{
	static int32_t memory[2][COUNT];
	struct rank rank[2] = {};
	unsigned int i, k;

	map(MEMORY, MEMORY_BYTES, PROT_READ | PROT_WRITE);
	map(READ_ONLY, PAGE, PROT_READ);
	for (i = 0; i < 2; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = memory[i];
	}
	/* handles of this file that no row's file gets so far to have */
	for (i = 0; i < 8; i++) {
		foreign_region = add_region(rank[0].fd);
		foreign_comm = add_comm(rank[0].fd);
	}
	make_comm(rank, 2, 1, "live");
	result(sum_is_right(rank, 0, 2, COUNT), "live__right_before");

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (k = 0; k < ARRAY_SIZE(forms); k++)
			try_form(&calls[i], &forms[k]);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		try_row(&rows[i]);
	try_numbers();
	try_running(rank);
	try_joins(rank);
	result(sum_is_right(rank, 0, 2, COUNT), "live__right_after");
	try_deadline(rank);
	make_comm(rank, 2, 0, "new");
	rank[0].memory = memory[0];
	result(sum_is_right(rank, 0, 2, COUNT), "new__right");
	return finish();
}
