// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that must be refused, with the errno that linux/torcoll.h promises. For bad.sh: wants the
 * namespaces of a 2x2 torus, says KTAP.
 *
 * Every row has a file of its own on node 0, with a region, a comm of one rank and an op that waits to
 * be reaped, so that rows know nothing of each other. What needs a second rank comes at the end.
 */
#include "badcalls_rows.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/capability.h>

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

	if (row->setting & WATCHING && !watches(fd)) {
		result(true, "%s # SKIP this kernel has no MMU notifiers", row->name);
		close(fd);
		return;
	}
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
	/* the frame of the op that failed may be all that this one needs: then the next one hears */
	do {
		err = call(rank[1].fd, TORCOLL_IOC_SUBMIT, &submit);
	} while (!err && !submit.status);
	result(err == ECONNABORTED || (!err && submit.status == -ECONNABORTED),
	       "deadline__other_rank_hears");
}

int main(void)
{
	static int32_t memory[2][COUNT];
	struct rank rank[2] = {};
	unsigned int i, k;

	map(MEMORY, MEMORY_BYTES, PROT_READ | PROT_WRITE);
	map(READ_ONLY, 4 * PAGE, PROT_READ);
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
