// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Sequences of ioctls of two processes, on a fabric of one node, whose ranks they are. A call is made as it should be, with handles
 * that there are, then one or two members of its struct are changed. A join or a wait may block: then it is the other's
 * turn. In between they map, unmap, poll, fork, close, and are killed.
 */
#include "kfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/torcoll.h>

#define RECORD		32
#define FILES		2
#define HANDLES		4
#define BUFFERS		4
#define BUFFER		(64 << 10)
#define BATCH		3
#define FABRIC		1

/* What is left of a file's calls: handles, used in turn. */
struct file {
	int fd;
	u32 comm[HANDLES];
	u32 region[HANDLES];
	u64 op[HANDLES];
	u64 region_at[HANDLES];		/* what an op names it by */
	u32 comms, regions, ops;
	struct torcoll_ring *ring;
	u64 ring_bytes;
};

static struct file file[FILES];
static u8 *buffer;			/* BUFFERS of them, one behind the other */

static u64 soon(u8 ms)
{
	return kfuzz_now() + (1 + ms % 16) * NSEC_PER_MSEC;
}

/* Overwrite a member or two of what is right. */
static void deviate(struct fuzz_in *in, void *p, size_t size)
{
	u8 how = fuzz_u8(in), at = fuzz_u8(in);
	u64 value = fuzz_u64(in);
	u8 *member;

	if (how % 4 == 0)
		return;
	member = (u8 *)p + at * 4 % size;
	if (how % 4 == 1 || member + 8 > (u8 *)p + size)
		memcpy(member, &value, 4);
	else if (how % 4 == 2)
		memcpy(member, &value, 8);
	else
		*member = value;
	/* another size */
	if (how & 0x40)
		*(u32 *)p = value >> 32;
}

static void forget(struct file *f)
{
	u32 i;

	if (f->ring)
		munmap(f->ring, f->ring_bytes);
	for (i = 0; i < HANDLES; i++)
		if (f->region_at[i] && (f->region_at[i] < (uintptr_t)buffer ||
					f->region_at[i] >= (uintptr_t)buffer + BUFFERS * BUFFER))
			munmap((void *)(uintptr_t)f->region_at[i], BUFFER);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

static void reopen(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	forget(f);
	f->fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	kfuzz_need(f->fd >= 0, TORCOLL_DEVICE);
}

/* --- calls --- */

static void info(struct file *f, struct fuzz_in *in)
{
	struct torcoll_info arg = { .size = sizeof(arg) };

	deviate(in, &arg, sizeof(arg));
	kfuzz_ioctl(f->fd, TORCOLL_IOC_INFO, &arg);
}

static void last_error(struct file *f, struct fuzz_in *in)
{
	char text[256];
	struct torcoll_error arg = { .size = sizeof(arg), .len = sizeof(text), .text = (uintptr_t)text };

	deviate(in, &arg, sizeof(arg));
	/* what is written there is nobody's but ours */
	if (arg.len > sizeof(text) && arg.text == (uintptr_t)text)
		arg.len = sizeof(text);
	kfuzz_ioctl(f->fd, TORCOLL_IOC_ERROR, &arg);
}

static void ring_setup(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_ring_setup arg = { .size = sizeof(arg), .entries = 1 + how % 8, .eventfd = -1 };
	void *p;

	if (how & 0x80)
		arg.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	deviate(in, &arg, sizeof(arg));
	if (!kfuzz_ioctl(f->fd, TORCOLL_IOC_RING_SETUP, &arg)) {
		p = mmap(NULL, arg.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, TORCOLL_MMAP_RING);
		if (p != MAP_FAILED) {
			f->ring = p;
			f->ring_bytes = arg.bytes;
		}
	}
	if (how & 0x80 && arg.eventfd > 2)
		close(arg.eventfd);
}

static void keep_region(struct file *f, u32 region, u64 at)
{
	f->region[f->regions % HANDLES] = region;
	f->region_at[f->regions++ % HANDLES] = at;
}

static void region_add(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_region_add arg = {
		.size = sizeof(arg), .flags = how & 0x80 ? TORCOLL_REGION_WATCH : 0,
		.addr = (uintptr_t)buffer + how % BUFFERS * BUFFER, .length = BUFFER,
	};
	u64 at = arg.addr;

	deviate(in, &arg, sizeof(arg));
	if (!kfuzz_ioctl(f->fd, TORCOLL_IOC_REGION_ADD, &arg))
		keep_region(f, arg.region, at);
}

static void region_alloc(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_region_alloc arg = { .size = sizeof(arg), .length = BUFFER };
	void *p = MAP_FAILED;

	deviate(in, &arg, sizeof(arg));
	/* root may have all memory there is, page by page */
	if (arg.length < 1ULL << 40)
		arg.length %= 4 << 20;
	if (kfuzz_ioctl(f->fd, TORCOLL_IOC_REGION_ALLOC, &arg))
		return;
	if (arg.bytes == BUFFER)
		p = mmap(NULL, arg.bytes, PROT_READ | PROT_WRITE, how & 0x80 ? MAP_PRIVATE : MAP_SHARED, f->fd,
			 arg.offset + (how & 0x40 ? 4096 : 0));
	keep_region(f, arg.region, p == MAP_FAILED ? (uintptr_t)buffer : (uintptr_t)p);
}

static void give_up(struct file *f, struct fuzz_in *in, u32 cmd, u32 handle)
{
	struct torcoll_handle arg = { .size = sizeof(arg), .handle = handle };

	deviate(in, &arg, sizeof(arg));
	kfuzz_ioctl(f->fd, cmd, &arg);
}

/* Of one rank, or of two of this node, which the other process has to join, or of its node and one that is not there. */
static void comm_add(struct file *f, struct fuzz_in *in, u8 how)
{
	static const u32 members[] = { 0, 0, 0, 0, 1 };
	char name[] = { 'n', 'a' + how / 4 % 4 };
	struct torcoll_comm_add arg = {
		.size = sizeof(arg), .fabric = FABRIC, .name = (uintptr_t)name, .name_len = sizeof(name),
		.members = (uintptr_t)members, .ranks = 1, .rank = TORCOLL_RANK_SELF, .depth = how >> 4 & 3,
		.deadline_ns = kfuzz_now() + 40 * NSEC_PER_MSEC,
	};

	switch (how % 4) {
	case 1:
	case 2:
		arg.ranks = 2;
		break;
	case 3:
		arg.ranks = 2;
		arg.members = (uintptr_t)(members + 3);
		break;
	}
	if (how & 0x40) {
		arg.secret = (uintptr_t)name;
		arg.secret_len = 1 + (how >> 7);
	}
	deviate(in, &arg, sizeof(arg));
	if (!arg.deadline_ns || arg.deadline_ns > kfuzz_now() + NSEC_PER_SEC)
		arg.deadline_ns = soon(how);
	if (!kfuzz_ioctl(f->fd, TORCOLL_IOC_COMM_ADD, &arg))
		f->comm[f->comms++ % HANDLES] = arg.comm;
}

static void comm_info(struct file *f, struct fuzz_in *in, u8 which)
{
	struct torcoll_comm_info arg = { .size = sizeof(arg), .comm = f->comm[which % HANDLES] };

	deviate(in, &arg, sizeof(arg));
	kfuzz_ioctl(f->fd, TORCOLL_IOC_COMM_INFO, &arg);
}

static void comm_shrink(struct file *f, struct fuzz_in *in, u8 which)
{
	u32 members[8];
	struct torcoll_comm_shrink arg = {
		.size = sizeof(arg), .comm = f->comm[which % HANDLES], .deadline_ns = soon(which >> 2),
		.members = (uintptr_t)members, .room = ARRAY_SIZE(members),
	};

	deviate(in, &arg, sizeof(arg));
	arg.room = min_t(u32, arg.room, ARRAY_SIZE(members));
	if (!arg.deadline_ns || arg.deadline_ns > kfuzz_now() + NSEC_PER_SEC)
		arg.deadline_ns = soon(which);
	if (!kfuzz_ioctl(f->fd, TORCOLL_IOC_COMM_SHRINK, &arg))
		f->comm[f->comms++ % HANDLES] = arg.shrunk;
}

/* A call that is likely to be served, of the newest comm or another one. */
static void compose(struct file *f, struct fuzz_in *in, u8 how, struct torcoll_submit *arg)
{
	static const u16 types[] = { TORCOLL_I32, TORCOLL_F32, TORCOLL_F64, TORCOLL_I8, TORCOLL_F16, TORCOLL_U64 };
	static const u64 counts[] = { 0, 16, 16 };
	u8 collective = fuzz_u8(in), algorithm = fuzz_u8(in), type = fuzz_u8(in), flags = fuzz_u8(in);
	u8 memory = fuzz_u8(in), region = fuzz_u8(in);
	u32 rank;

	memset(arg, 0, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->comm = f->comm[(f->comms - 1 - (how & 0x80 ? how : 0)) % HANDLES];
	arg->collective = collective < 0xf0 ? 1 + collective % (TORCOLL_COLL_COUNT - 1) : collective;
	arg->algorithm = algorithm < 0x80 ? 0 : algorithm % (TORCOLL_ALGO_COUNT + 1);
	arg->type = type < 0x80 ? types[type % ARRAY_SIZE(types)] : type % (TORCOLL_TYPE_COUNT + 1);
	switch (arg->collective) {
	case TORCOLL_ALLREDUCE:
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_REDUCE:
	case TORCOLL_SCAN:
	case TORCOLL_EXSCAN:
		arg->redop = memory & 0x80 ? memory % (TORCOLL_REDOP_COUNT + 1) : TORCOLL_SUM;
		break;
	case TORCOLL_SEND:
	case TORCOLL_RECV:
		arg->peer = how & 1;
		break;
	case TORCOLL_BROADCAST:
	case TORCOLL_GATHER:
	case TORCOLL_SCATTER:
		arg->root = how & 1;
	}
	arg->bits = flags & 0x80 ? flags >> 5 & 3 : 0;
	arg->flags = flags & TORCOLL_OP_FLAGS;
	arg->count = 32 << (how >> 2 & 7);
	if (arg->collective == TORCOLL_BARRIER) {
		arg->count = 0;
		arg->type = 0;
		return;
	}
	if (arg->redop == TORCOLL_PREMULSUM)
		arg->scalar = (uintptr_t)buffer;
	if (how & 2 && (flags & 0x18) == 0x18) {
		arg->counts = (uintptr_t)(counts + (memory & 1));
		arg->recv_counts = arg->collective == TORCOLL_ALLTOALL ? arg->counts : 0;
		arg->count = 16 + 16 * (memory & 1);
	}
	rank = memory & 3;
	arg->send_addr = (uintptr_t)buffer + rank * BUFFER + (memory >> 2 & 1) * 4;
	arg->recv_addr = memory & 8 ? arg->send_addr : (uintptr_t)buffer + (rank ^ 1) * BUFFER;
	if (region & 1) {
		arg->send_region = f->region[(region >> 1) % HANDLES];
		arg->send_addr = f->region_at[(region >> 1) % HANDLES];
	}
	if (region & 0x10) {
		arg->recv_region = f->region[(region >> 5) % HANDLES];
		arg->recv_addr = f->region_at[(region >> 5) % HANDLES];
	}
	arg->user_data = region;
	arg->deadline_ns = soon(region);
}

/* Waits end. */
static void bound(struct torcoll_submit *arg)
{
	u64 latest = kfuzz_now() + NSEC_PER_SEC;

	if (!arg->deadline_ns || arg->deadline_ns > latest)
		arg->deadline_ns = kfuzz_now() + 10 * NSEC_PER_MSEC;
}

static void submit(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_submit arg;

	compose(f, in, how, &arg);
	deviate(in, &arg, sizeof(arg));
	bound(&arg);
	if (!kfuzz_ioctl(f->fd, TORCOLL_IOC_SUBMIT, &arg))
		f->op[f->ops++ % HANDLES] = arg.op;
}

static void batch(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_submit desc[BATCH];
	struct torcoll_batch arg = {
		.size = sizeof(arg), .descs = (uintptr_t)desc, .desc_size = sizeof(desc[0]), .count = 1 + how % BATCH,
	};
	u32 i;

	compose(f, in, how, &desc[0]);
	for (i = 1; i < BATCH; i++)
		desc[i] = desc[0];
	if (how & 0x40)
		deviate(in, &desc[how % BATCH], sizeof(desc[0]));
	else
		deviate(in, &arg, sizeof(arg));
	for (i = 0; i < BATCH; i++)
		bound(&desc[i]);
	arg.count = arg.count > BATCH && arg.count <= TORCOLL_BATCH_MAX ? BATCH : arg.count;
	kfuzz_ioctl(f->fd, TORCOLL_IOC_BATCH, &arg);
	for (i = 0; i < min_t(u32, arg.started, BATCH); i++)
		f->op[f->ops++ % HANDLES] = desc[i].op;
}

static void wait_op(struct file *f, struct fuzz_in *in, u8 how)
{
	struct torcoll_wait arg = {
		.size = sizeof(arg), .comm = f->comm[(f->comms - 1 - (how & 0x80 ? how : 0)) % HANDLES],
		.flags = (how & 0x40 ? TORCOLL_WAIT_NOHANG : 0) | (how & 0x20 ? TORCOLL_WAIT_RING : 0),
		.op = how & 4 ? f->op[how % HANDLES] : 0,
		.deadline_ns = soon(how >> 3), .spin_ns = how & 8 ? 1000 : 0,
	};

	deviate(in, &arg, sizeof(arg));
	if (!arg.deadline_ns || arg.deadline_ns > kfuzz_now() + NSEC_PER_SEC)
		arg.deadline_ns = soon(how);
	/* up to a second of spinning is legal, and dull */
	arg.spin_ns = arg.spin_ns <= NSEC_PER_SEC ? min_t(u64, arg.spin_ns, NSEC_PER_MSEC) : arg.spin_ns;
	kfuzz_ioctl(f->fd, TORCOLL_IOC_WAIT, &arg);
}

/* Any number, any bytes. */
static void raw(struct file *f, struct fuzz_in *in, u8 how)
{
	u64 arg[32];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arg); i++)
		arg[i] = fuzz_u64(in);
	kfuzz_ioctl(f->fd, how & 0x80 ? arg[0] : TORCOLL_IOC_INFO + how % 0x38, how & 0x40 ? (void *)(uintptr_t)arg[1] : arg);
}

/* --- what else a process does --- */

static void map_again(struct fuzz_in *in, u8 how)
{
	u8 *p = buffer + how % BUFFERS * BUFFER;

	switch (how >> 4 & 3) {
	case 0:
		madvise(p, BUFFER, MADV_DONTNEED);
		break;
	case 1:
		mprotect(p, BUFFER, how & 0x80 ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	case 2:
		munmap(p + (how & 0x80 ? BUFFER / 2 : 0), BUFFER / 2);
		break;
	default:
		kfuzz_need(mmap(p, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p,
			   "mmap");
	}
}

static void look(struct file *f, u8 how)
{
	struct pollfd fd = { .fd = f->fd, .events = POLLIN | POLLOUT };

	poll(&fd, 1, how & 1);
	if (!f->ring)
		return;
	/* as it should be, or any number */
	__atomic_store_n(&f->ring->head, how & 0x80 ? how : f->ring->tail, __ATOMIC_RELEASE);
	if (how & 0x40)
		f->ring->tail = how;
}

/* A child that has the files, does one thing with them, and ends well or not. */
static void fork_child(struct file *f, struct fuzz_in *in, u8 how)
{
	pid_t pid = fork();

	if (!pid) {
		if (how & 1)
			wait_op(f, in, how);
		else
			submit(f, in, how);
		if (how & 2)
			kill(getpid(), SIGKILL);
		_exit(how & 4);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static bool ioctl_event(int w, struct fuzz_in *in)
{
	u8 what = fuzz_u8(in), which = fuzz_u8(in), how = fuzz_u8(in);
	struct file *f = &file[which % 8 == 7];

	if (f->fd < 0)
		reopen(f);
	switch (what % 24) {
	case 0:
		info(f, in);
		break;
	case 1:
		last_error(f, in);
		break;
	case 2:
		ring_setup(f, in, how);
		break;
	case 3:
		region_add(f, in, how);
		break;
	case 4:
		region_alloc(f, in, how);
		break;
	case 5:
		give_up(f, in, TORCOLL_IOC_REGION_DEL, f->region[how % HANDLES]);
		break;
	case 6:
		give_up(f, in, how & 0x80 ? TORCOLL_IOC_ABORT : TORCOLL_IOC_COMM_DEL, f->comm[how % HANDLES]);
		break;
	case 7:
		comm_info(f, in, how);
		break;
	case 8:
		comm_shrink(f, in, how);
		break;
	case 9:
	case 10:
	case 11:
		comm_add(f, in, how);
		break;
	case 12:
		batch(f, in, how);
		break;
	case 13:
	case 14:
		wait_op(f, in, how);
		break;
	case 15:
		raw(f, in, how);
		break;
	case 16:
		map_again(in, how);
		break;
	case 17:
		look(f, how);
		break;
	case 18:
		if (how & 1)
			fork_child(f, in, how);
		else
			reopen(f);
		break;
	case 19:
		/* the other way to end, in the middle of everything, costs a fork */
		return how % 4;
	default:
		submit(f, in, how);
	}
	return true;
}

static void ioctl_reset(int w)
{
	u32 i;

	if (w < 0)
		return;
	for (i = 0; i < FILES; i++) {
		if (file[i].fd >= 0)
			close(file[i].fd);
		forget(&file[i]);
	}
	map_again(NULL, 0x30);
	map_again(NULL, 0x31);
	map_again(NULL, 0x32);
	map_again(NULL, 0x33);
}

static int ioctl_whose(const u8 *record)
{
	return record[1] >> 7;
}

static void ioctl_setup(int w)
{
	u32 i;

	buffer = mmap(NULL, BUFFERS * BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	kfuzz_need(buffer != MAP_FAILED, "mmap");
	for (i = 0; i < FILES; i++)
		file[i].fd = -1;
}

/* Node 0 of two, whose cable has nobody at its other end. */
static void ioctl_init(void)
{
	kfuzz_need(!unshare(CLONE_NEWNET), "unshare");
	kfuzz_sh("ip link set lo up && build/static/torcollctl fabric add 1 dims 2 node 0");
}

const struct kfuzz_target kfuzz_target = {
	.record = RECORD,
	.workers = 2,
	.init = ioctl_init,
	.setup = ioctl_setup,
	.whose = ioctl_whose,
	.event = ioctl_event,
	.reset = ioctl_reset,
};
