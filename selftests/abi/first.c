// SPDX-License-Identifier: MIT
/*
 * A program as it was written for the first version of torcoll: built with the headers of then, in first/, which never
 * change, and run with the library and module of today. For net/abi.sh: as a rank of the comm that the environment
 * describes. Calls every function there was, and the module by every struct of then.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <torcoll.h>

#define COUNT	1000

#define CHECK(condition)								\
do {											\
	if (!(condition)) {								\
		fprintf(stderr, "line %d: not %s: %s\n", __LINE__, #condition,		\
			torcoll_last_error());						\
		exit(1);								\
	}										\
} while (0)

static int32_t x[COUNT], y[COUNT];

static void fill(uint32_t rank)
{
	for (int i = 0; i < COUNT; i++)
		x[i] = i * (rank + 1);
	memset(y, 0, sizeof(y));
}

static int is_sum(const int32_t *v, uint32_t ranks)
{
	for (int i = 0; i < COUNT; i++)
		if (v[i] != (int32_t)(i * ranks * (ranks + 1) / 2))
			return 0;
	return 1;
}

static void try_names(void)
{
	CHECK(torcoll_version()[0]);
	CHECK(torcoll_type_size(TORCOLL_F64) == 8 && torcoll_type_size(TORCOLL_TYPE_NONE) == 0);
	CHECK(!strcmp(torcoll_type_name(TORCOLL_F32), "f32"));
	CHECK(!strcmp(torcoll_redop_name(TORCOLL_SUM), "sum"));
	CHECK(!strcmp(torcoll_collective_name(TORCOLL_ALLREDUCE), "allreduce"));
	CHECK(!strcmp(torcoll_algorithm_name(TORCOLL_SWING_BW), "swing-bw"));
	CHECK(torcoll_type_by_name("short-int") < 0 || torcoll_type_by_name("short-int") == TORCOLL_SHORT_INT);
	CHECK(torcoll_redop_by_name("maxloc") == TORCOLL_MAXLOC);
	CHECK(torcoll_collective_by_name("barrier") == TORCOLL_BARRIER);
	CHECK(torcoll_algorithm_by_name("ring") == TORCOLL_RING);
	CHECK(torcoll_algorithm_by_name("nonsense") == -EINVAL);
	CHECK(torcoll_strerror(-EPROTO)[0]);
}

static void try_blocking(struct torcoll_comm *comm)
{
	uint32_t rank = torcoll_comm_rank(comm), size = torcoll_comm_size(comm);
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.algorithm = TORCOLL_RING, .count = COUNT, .send = x, .recv = x,
		.deadline_ns = torcoll_deadline(60000),
	};

	fill(rank);
	CHECK(!torcoll_allreduce(comm, x, y, COUNT, TORCOLL_I32, TORCOLL_SUM));
	CHECK(is_sum(y, size));
	CHECK(!torcoll_run(comm, &op));
	CHECK(is_sum(x, size));
}

/* What lies behind a request is the program's. */
static void try_async(struct torcoll *t, struct torcoll_comm *comm)
{
	struct {
		struct torcoll_request req;
		char behind[64];
	} r[3];
	uint32_t rank = torcoll_comm_rank(comm), size = torcoll_comm_size(comm);
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM,
		.count = COUNT, .send = x, .recv = y,
	};
	struct pollfd p = { .fd = torcoll_fd(t), .events = POLLIN };
	int err;

	memset(r, 0x5a, sizeof(r));
	fill(rank);
	CHECK(!torcoll_iallreduce(comm, x, y, COUNT, TORCOLL_I32, TORCOLL_SUM, &r[0].req));
	CHECK(!torcoll_wait(&r[0].req) && !torcoll_wait(&r[0].req) && is_sum(y, size));
	CHECK(torcoll_request_error_rank(&r[0].req) == ~0U);
	fill(rank);
	CHECK(!torcoll_submit(comm, &op, &r[1].req));
	CHECK(poll(&p, 1, 60000) == 1 && p.revents == POLLIN);
	while ((err = torcoll_test(&r[1].req)) == -EAGAIN)
		;
	CHECK(!err && is_sum(y, size));
	CHECK(poll(&p, 1, 0) == 0);
	fill(rank);
	CHECK(!torcoll_submit(comm, &op, &r[2].req));
	CHECK(!torcoll_wait_until(&r[2].req, torcoll_deadline(60000)) && is_sum(y, size));
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof(r[i].behind); k++)
			CHECK(r[i].behind[k] == 0x5a);
}

/* What was said, and what lies behind it. */
static void try_queries(struct torcoll *t, struct torcoll_comm *comm)
{
	struct {
		struct torcoll_info info;
		char behind[64];
	} i;
	struct {
		struct torcoll_comm_info info;
		char behind[64];
	} c;

	memset(&i, 0x5a, sizeof(i));
	memset(&c, 0x5a, sizeof(c));
	CHECK(!torcoll_info(t, &i.info) && i.info.abi_version == TORCOLL_ABI_VERSION);
	CHECK(i.info.features & TORCOLL_FEATURE_PLAIN_POINTERS);
	CHECK(i.info.collectives & 1 << TORCOLL_ALLREDUCE && i.info.redops & 1 << TORCOLL_SUM);
	CHECK(!torcoll_comm_info(comm, &c.info) && c.info.ranks == torcoll_comm_size(comm));
	for (size_t k = 0; k < sizeof(i.behind); k++)
		CHECK(i.behind[k] == 0x5a && c.behind[k] == 0x5a);
}

static void try_regions(struct torcoll *t, struct torcoll_comm *comm)
{
	CHECK(!torcoll_register(t, x, sizeof(x)));
	CHECK(torcoll_register(t, x, 4) == -EEXIST && strstr(torcoll_last_error(), "overlaps"));
	try_blocking(comm);
	CHECK(!torcoll_unregister(t, x));
	CHECK(torcoll_unregister(t, x) == -ENOENT);
}

static void try_failure(struct torcoll_comm *comm)
{
	CHECK(!torcoll_abort(comm));
	CHECK(torcoll_allreduce(comm, x, y, COUNT, TORCOLL_I32, TORCOLL_SUM) < 0);
	CHECK(torcoll_last_error()[0]);
}

/* The module, without the library. */
static void try_calls(uint64_t fabric, uint32_t node)
{
	struct torcoll_comm_add add = {
		.size = sizeof(add), .fabric = fabric, .name = (uintptr_t)"first", .name_len = 5,
		.members = (uintptr_t)&node, .ranks = 1, .rank = TORCOLL_RANK_SELF,
	};
	struct torcoll_region_add region = {
		.size = sizeof(region), .addr = (uintptr_t)x, .length = sizeof(x),
	};
	struct torcoll_submit submit = {
		.size = sizeof(submit), .collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32,
		.redop = TORCOLL_SUM, .count = COUNT, .send_addr = (uintptr_t)x,
		.recv_addr = (uintptr_t)x, .user_data = 42,
	};
	struct torcoll_wait wait = { .size = sizeof(wait) };
	struct torcoll_handle handle = { .size = sizeof(handle) };
	int fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0 && !ioctl(fd, TORCOLL_IOC_COMM_ADD, &add) && add.comm);
	CHECK(!ioctl(fd, TORCOLL_IOC_REGION_ADD, &region) && region.region);
	submit.comm = add.comm;
	submit.send_region = region.region;
	submit.recv_region = region.region;
	CHECK(!ioctl(fd, TORCOLL_IOC_SUBMIT, &submit) && submit.op);
	wait.comm = add.comm;
	wait.op = submit.op;
	CHECK(!ioctl(fd, TORCOLL_IOC_WAIT, &wait) && !wait.status && wait.user_data == 42);
	handle.handle = region.region;
	CHECK(!ioctl(fd, TORCOLL_IOC_REGION_DEL, &handle));
	handle.handle = add.comm;
	CHECK(!ioctl(fd, TORCOLL_IOC_ABORT, &handle) && !ioctl(fd, TORCOLL_IOC_COMM_DEL, &handle));
	close(fd);
}

int main(void)
{
	struct torcoll_comm_config config = { .name = "second", .rank = TORCOLL_RANK_SELF };
	struct torcoll_comm *comm, *second;
	struct torcoll_comm_info info;
	struct torcoll *t;

	try_names();
	CHECK(!torcoll_open(&t) && !torcoll_comm_from_env(t, &comm));
	try_queries(t, comm);
	try_blocking(comm);
	try_async(t, comm);
	try_regions(t, comm);
	config.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0);
	config.deadline_ns = torcoll_deadline(60000);
	CHECK(!torcoll_comm_create(t, &config, &second));
	try_blocking(second);
	/* nobody ends it before all are done with it */
	CHECK(!torcoll_allreduce(comm, x, y, 1, TORCOLL_I32, TORCOLL_SUM));
	try_failure(second);
	torcoll_comm_close(second);
	try_blocking(comm);
	CHECK(!torcoll_comm_info(comm, &info));
	torcoll_close(t);
	try_calls(config.fabric, info.node);
	return 0;
}
