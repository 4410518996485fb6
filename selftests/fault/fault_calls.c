// SPDX-License-Identifier: GPL-2.0
/*
 * Lets allocations fail, see fail_nth.h, in every call of /dev/torcoll, with a comm of this node alone:
 * fault_calls KEY NODE.
 */
#include "subject.h"

#define OPS	3	/* of a batch */

static uint64_t map_offset, map_bytes;
static void *map;

static int close_device(void *arg)
{
	return close(((struct subject *)arg)->fd) ? -errno : 0;
}

static void undo_open(void *arg)
{
	must(close_device(arg), "close");
}

static int info(void *arg)
{
	struct torcoll_info i = { .size = sizeof(i) };

	return call(arg, TORCOLL_IOC_INFO, &i);
}

static int last_error(void *arg)
{
	char text[256];
	struct torcoll_error e = {
		.size = sizeof(e), .len = sizeof(text), .text = (uintptr_t)text,
	};

	return call(arg, TORCOLL_IOC_ERROR, &e);
}

/* ---- the ring ---- */

static int set_up_ring(void *arg)
{
	struct torcoll_ring_setup setup = { .size = sizeof(setup), .entries = 64, .eventfd = -1 };
	int err = call(arg, TORCOLL_IOC_RING_SETUP, &setup);

	map_offset = TORCOLL_MMAP_RING;
	map_bytes = setup.bytes;
	return err;
}

/* A file has one ring at most. */
static void undo_ring(void *arg)
{
	undo_open(arg);
	must(open_device(arg), "open");
}

static int map_memory(void *arg)
{
	struct subject *s = arg;

	map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, map_offset);
	if (map == MAP_FAILED)
		return -errno;
	((volatile char *)map)[map_bytes - 1];
	return 0;
}

static void unmap(void *arg)
{
	if (munmap(map, map_bytes))
		die("munmap");
}

/* An op of the ring is reaped there, unless memory of its is to be given back. */
static void undo_ring_submit(void *arg)
{
	struct torcoll_ring *ring = map;
	uint64_t end = in_seconds(PATIENCE);
	uint32_t seen = ring->head;

	while (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == seen && in_seconds(0) < end)
		usleep(100);
	if (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) != seen + 1)
		must(-ETIMEDOUT, "ring");
	__atomic_store_n(&ring->head, seen + 1, __ATOMIC_RELEASE);
}

/* ---- regions ---- */

static int add_watched_region(void *arg)
{
	return add_region_flags(arg, TORCOLL_REGION_WATCH);
}

static int alloc_region(void *arg)
{
	struct subject *s = arg;
	struct torcoll_region_alloc alloc = { .size = sizeof(alloc), .length = s->bytes };
	int err = call(s, TORCOLL_IOC_REGION_ALLOC, &alloc);

	s->region = alloc.region;
	map_offset = alloc.offset;
	map_bytes = alloc.bytes;
	return err;
}

static int del_region(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->region };

	return call(s, TORCOLL_IOC_REGION_DEL, &h);
}

static void undo_region(void *arg)
{
	must(del_region(arg), "region del");
}

static void redo_region(void *arg)
{
	must(add_region(arg), "region add");
}

static void redo_alloc(void *arg)
{
	must(alloc_region(arg), "region alloc");
}

/* It is mapped once at most. */
static void undo_map_region(void *arg)
{
	unmap(arg);
	undo_region(arg);
	redo_alloc(arg);
}

/* ---- comms and ops ---- */

static void redo_comm(void *arg)
{
	must(add_comm(arg), "comm add");
}

static int comm_info(void *arg)
{
	struct subject *s = arg;
	struct torcoll_comm_info i = { .size = sizeof(i), .comm = s->comm };

	return call(s, TORCOLL_IOC_COMM_INFO, &i);
}

static int abort_comm(void *arg)
{
	struct subject *s = arg;
	struct torcoll_handle h = { .size = sizeof(h), .handle = s->comm };

	return call(s, TORCOLL_IOC_ABORT, &h);
}

static void undo_abort(void *arg)
{
	undo_comm(arg);
	redo_comm(arg);
}

/* What was started of a batch that is refused runs. */
static int start_batch(void *arg)
{
	struct torcoll_submit ops[OPS];
	struct torcoll_batch batch = {
		.size = sizeof(batch), .descs = (uintptr_t)ops, .desc_size = sizeof(ops[0]), .count = OPS,
	};
	unsigned int i;
	int err;

	for (i = 0; i < OPS; i++)
		ops[i] = op_of(arg);
	err = call(arg, TORCOLL_IOC_BATCH, &batch);
	if (!err && batch.started != OPS)
		must(-EPROTO, "batch");
	if (err)
		for (i = 0; i < batch.started; i++)
			undo_submit(arg);
	return err;
}

static void undo_batch(void *arg)
{
	unsigned int i;

	for (i = 0; i < OPS; i++)
		undo_submit(arg);
}

static void redo_all(void *arg)
{
	must(open_device(arg), "open");
	redo_region(arg);
	redo_comm(arg);
}

static void of_files(struct subject *s)
{
	sweep("open", open_device, undo_open, s);
	sweep_maybe("info", info, NULL, s);
	sweep_maybe("error", last_error, NULL, s);
}

static void of_regions(struct subject *s)
{
	sweep("region alloc", alloc_region, undo_region, s);
	sweep_maybe("map region", map_memory, undo_map_region, s);
	unmap(s);
	sweep_maybe("region del, allocated", del_region, redo_alloc, s);
	sweep("region add, watched", add_watched_region, undo_region, s);
	undo_region(s);
	sweep("region add", add_region, undo_region, s);
	sweep_maybe("region del", del_region, redo_region, s);
	redo_region(s);
}

static void of_ops(struct subject *s)
{
	sweep("submit, plain memory", submit, undo_submit, s);
	undo_submit(s);
	s->registered = true;
	sweep_maybe("submit, registered", submit, undo_submit, s);
	sweep_maybe("wait", wait_for_op, redo_submit, s);
	sweep_maybe("batch", start_batch, undo_batch, s);
	undo_batch(s);
	s->flags = TORCOLL_OP_RING;
	sweep_maybe("submit, to the ring", submit, undo_ring_submit, s);
	undo_ring_submit(s);
	s->flags = 0;
}

int main(int argc, char **argv)
{
	const uint32_t node = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	struct subject s = {
		.members = &node, .ranks = 1, .rank = TORCOLL_RANK_SELF,
		.collective = TORCOLL_ALLREDUCE, .count = 1000,
	};

	if (argc != 3) {
		fprintf(stderr, "usage: fault_calls KEY NODE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	s.key = strtoull(argv[1], NULL, 0);
	get_memory(&s, 1 << 20);
	of_files(&s);
	of_regions(&s);
	undo_ring(&s);
	sweep("ring setup", set_up_ring, undo_ring, &s);
	sweep_maybe("map ring", map_memory, unmap, &s);
	redo_region(&s);
	sweep("comm add", add_comm, undo_comm, &s);
	sweep_maybe("comm info", comm_info, NULL, &s);
	of_ops(&s);
	unmap(&s);
	sweep_maybe("comm del", del_comm, redo_comm, &s);
	redo_comm(&s);
	sweep_maybe("abort", abort_comm, undo_abort, &s);
	sweep("shrink", shrink_comm, NULL, &s);
	sweep_maybe("close", close_device, redo_all, &s);
	return 0;
}
