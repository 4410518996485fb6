/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that are all right, one of each kind, and what can be wrong with the struct of any call: for badcalls.c, where
 * rows change one thing of them.
 */
#ifndef SELFTESTS_BADCALLS_GOOD_H
#define SELFTESTS_BADCALLS_GOOD_H

#include "bad.h"

#include <stddef.h>

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
#define LONG		(4 * PAGE / sizeof(int32_t))	/* so many are not copied without need */

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
	{ "comm_add", TORCOLL_IOC_COMM_ADD, sizeof(struct torcoll_comm_add), good_comm_add,
	  offsetof(struct torcoll_comm_add, wait_ns) },
	{ "comm_del", TORCOLL_IOC_COMM_DEL, sizeof(struct torcoll_handle), good_comm },
	{ "comm_shrink", TORCOLL_IOC_COMM_SHRINK, sizeof(struct torcoll_comm_shrink),
	  good_comm_shrink, offsetof(struct torcoll_comm_shrink, wait_ns) },
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

#endif
