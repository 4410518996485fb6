/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is wrong in the struct of a call, and the errno that linux/torcoll.h promises for it: the table of badcalls.c.
 */
#ifndef SELFTESTS_BADCALLS_ROWS_H
#define SELFTESTS_BADCALLS_ROWS_H

#include "badcalls_good.h"

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
	WATCHING = 4,		/* the kernel tells what is unmapped, or there is nothing to try */
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

	{ .name = "REGION_ADD__watched", .cmd = TORCOLL_IOC_REGION_ADD, .setting = WATCHING,
	  .set = { REGION_ADD(flags, TORCOLL_REGION_WATCH) } },
	{ .name = "REGION_ADD__watched_unmapped", .cmd = TORCOLL_IOC_REGION_ADD, .setting = WATCHING,
	  .set = { REGION_ADD(flags, TORCOLL_REGION_WATCH), REGION_ADD(addr, UNMAPPED) },
	  .want = EFAULT },
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

#endif
