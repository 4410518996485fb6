// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of users: each is reached exactly where it should be, gets EDQUOT and a sentence, counts for all files and
 * processes of a user and for no other user, and is given back. For limits.sh: wants the namespaces of a 2x2
 * torus, a device that GROUP may open, and that limit set which the case is about; says KTAP.
 *
 *	limits CASE	the one of a table below
 *	limits hog	on and on, has all that a user may have; prints a line when each limit was reached
 */
#include "bad.h"

#include <grp.h>
#include <sys/mman.h>

/* As in limits.sh. */
#define COMMS	6
#define OPS	5
#define PINNED	(4 * PAGE)
#define KERNEL	(4UL << 20)

#define GROUP	4242
#define USER	1001
#define OTHER	1002

#define PAGE	65536UL	/* pages of any size */
#define SMALL	4096UL	/* bytes that are copied */
#define LONG	(PINNED / 2 / sizeof(int32_t))	/* elements of an op that pins its buffer */

static char memory[KERNEL + PAGE] __attribute__((aligned(PAGE)));

/* --- who one is --- */

/* Only root enters namespaces, but whoever opens a file pays: then, root is only what can be gone back to. */
static void set_user(uid_t uid)
{
	static const gid_t group = GROUP;

	need(!seteuid(0) && !setgroups(1, &group) && !setresgid(GROUP, GROUP, GROUP) &&
	     !setresuid(uid, uid, 0), "cannot become user %u", uid);
}

static int open_as(uid_t uid, unsigned int node)
{
	int fd;

	need(!seteuid(0), "cannot be root again");
	enter_node(node);
	set_user(uid);
	fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	need(fd >= 0, "user %u cannot open %s", uid, TORCOLL_DEVICE);
	return fd;
}

/* --- what can be had, on a file --- */

/* A comm of this node alone. */
static int add_comm(int fd, unsigned int depth, uint32_t *comm)
{
	static const uint32_t self;
	struct joiner j = { .fd = fd, .name = "own", .members = &self, .ranks = 1, .depth = depth };

	join(&j);
	*comm = j.comm;
	return j.err;
}

static int add_region(int fd, void *addr, size_t length, uint32_t *region)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)addr, .length = length,
	};
	int err = call(fd, TORCOLL_IOC_REGION_ADD, &add);

	*region = add.region;
	return err;
}

static int del(int fd, unsigned long cmd, uint32_t handle)
{
	struct torcoll_handle arg = { .size = sizeof(arg), .handle = handle };

	return call(fd, cmd, &arg);
}

/* An op that is done at once, and that nobody waits for; without elements it pins nothing. */
static int add_op(int fd, uint32_t comm, unsigned int count, uint64_t *op)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit),
		.comm = comm,
		.collective = TORCOLL_ALLREDUCE,
		.type = TORCOLL_I32,
		.redop = TORCOLL_SUM,
		.count = count,
		.send_addr = (uintptr_t)memory,
		.recv_addr = (uintptr_t)memory,
	};
	int err = call(fd, TORCOLL_IOC_SUBMIT, &submit);

	*op = submit.op;
	return err;
}

static int reap(int fd, uint32_t comm, uint64_t op)
{
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = comm, .op = op };

	return call(fd, TORCOLL_IOC_WAIT, &wait);
}

/* --- cases --- */

static bool says(int fd, const char *words)
{
	if (strstr(sentence(fd), words))
		return true;
	printf("# \"%s\" is not in: %s\n", words, sentence(fd));
	return false;
}

/* A refusal as it should be. */
static void refused(int fd, int err, const char *words, const char *name)
{
	if (err != EDQUOT)
		printf("# got %s\n", strerror(err));
	result(err == EDQUOT && says(fd, words), "%s", name);
}

static void close_comms(int fd, const uint32_t *comm, unsigned int n)
{
	while (n--)
		del(fd, TORCOLL_IOC_COMM_DEL, comm[n]);
}

static void try_comms(void)
{
	int fd = open_as(USER, 0), second = open_as(USER, 1), other = open_as(OTHER, 0), root;
	uint32_t comm[COMMS], more;
	unsigned int made;

	for (made = 0; made < COMMS; made++)
		if (add_comm(fd, 1, &comm[made]))
			break;
	result(made == COMMS, "up_to_the_limit");
	refused(fd, add_comm(fd, 1, &more), "as many comms", "one_more");
	refused(second, add_comm(second, 1, &more), "as many comms", "one_more_elsewhere");
	result(!add_comm(other, 1, &more), "of_another_user");
	need(!seteuid(0), "cannot be root again");
	root = open_on(0);
	refused(fd, add_comm(fd, 1, &more), "as many comms", "who_opened_pays");
	for (made = 0; made < COMMS; made++)
		if (add_comm(root, 1, &more))
			break;
	/* the real user is still that one, but may exceed limits */
	result(made == COMMS, "none_with_CAP_SYS_RESOURCE");
	result(!del(fd, TORCOLL_IOC_COMM_DEL, comm[0]) && !add_comm(fd, 1, &comm[0]), "given_back");
	refused(fd, add_comm(fd, 1, &more), "as many comms", "one_more_again");
	close(fd);
	fd = open_as(USER, 0);
	result(!add_comm(fd, 1, &more), "given_back_by_close");
}

static void try_ops(void)
{
	int fd = open_as(USER, 0);
	uint64_t op[OPS], more;
	unsigned int made;
	uint32_t comm[2];

	need(!add_comm(fd, 8, &comm[0]) && !add_comm(fd, 8, &comm[1]), "comms: %s", sentence(fd));
	for (made = 0; made < OPS; made++)
		if (add_op(fd, comm[made % 2], 0, &op[made]))
			break;
	result(made == OPS, "up_to_the_limit");
	refused(fd, add_op(fd, comm[0], 0, &more), "as many ops", "one_more");
	result(!reap(fd, comm[0], op[0]) && !add_op(fd, comm[1], 0, &op[0]), "reaped");
	refused(fd, add_op(fd, comm[0], 0, &more), "as many ops", "one_more_again");
	close_comms(fd, comm, 2);
	need(!add_comm(fd, 8, &comm[0]), "comm: %s", sentence(fd));
	for (made = 0; made < OPS; made++)
		if (add_op(fd, comm[0], 0, &op[made]))
			break;
	result(made == OPS, "given_back_with_their_comms");
}

static void try_pinned(void)
{
	int fd = open_as(USER, 0), second = open_as(USER, 1);
	uint32_t region, more, comm;
	uint64_t op;

	need(!add_comm(fd, 1, &comm), "comm: %s", sentence(fd));
	result(!add_region(fd, memory, PINNED, &region), "up_to_the_limit");
	refused(fd, add_region(fd, memory + PINNED, 1, &more), "memory to pin", "one_byte_more");
	refused(second, add_region(second, memory, 1, &more), "memory to pin", "elsewhere");
	refused(fd, add_op(fd, comm, LONG, &op), "memory to pin", "for_an_op");
	result(!add_op(fd, comm, 1, &op) && !reap(fd, comm, op), "short_ops_pin_nothing");
	result(!del(fd, TORCOLL_IOC_REGION_DEL, region) && !add_op(fd, comm, LONG, &op), "given_back");
	refused(fd, add_region(fd, memory, PINNED, &region), "memory to pin", "op_not_reaped");
	result(!reap(fd, comm, op) && !add_region(fd, memory, PINNED, &region), "op_reaped");
}

/* Who takes part in a reduce and gets nothing of it works in a vector of the kernel's. */
static int reduce(const struct rank *rank, unsigned int self, unsigned int count)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit),
		.comm = rank[self].comm,
		.collective = TORCOLL_REDUCE,
		.type = TORCOLL_I8,
		.redop = TORCOLL_SUM,
		.count = count,
		.send_addr = (uintptr_t)memory,
		.recv_addr = self ? 0 : (uintptr_t)memory,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};

	return call(rank[self].fd, TORCOLL_IOC_SUBMIT, &submit);
}

/* What is mapped is had, be it that its handle is gone; also by half. */
static void try_mapped(int fd)
{
	struct torcoll_region_alloc first = { .size = sizeof(first), .length = KERNEL / 8 * 5 };
	struct torcoll_region_alloc second = first;
	char *p;

	need(!call(fd, TORCOLL_IOC_REGION_ALLOC, &first), "alloc: %s", sentence(fd));
	p = mmap(NULL, first.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, first.offset);
	need(p != MAP_FAILED && !del(fd, TORCOLL_IOC_REGION_DEL, first.region), "map: %s", sentence(fd));
	p[0] = 1;
	refused(fd, call(fd, TORCOLL_IOC_REGION_ALLOC, &second), "kernel memory", "mapped_is_had");
	munmap(p, PAGE);
	refused(fd, call(fd, TORCOLL_IOC_REGION_ALLOC, &second), "kernel memory", "mapped_by_half_is_had");
	p[first.bytes - 1] = 1;
	munmap(p + PAGE, first.bytes - PAGE);
	result(!call(fd, TORCOLL_IOC_REGION_ALLOC, &second) &&
	       !del(fd, TORCOLL_IOC_REGION_DEL, second.region), "unmapped_is_given_back");
}

static void try_kernel(void)
{
	struct rank rank[2] = { { .fd = open_as(USER, 0) }, { .fd = open_as(USER, 1) } };
	int fd = rank[0].fd, err;
	unsigned int made;
	uint32_t comm;

	try_mapped(fd);
	make_comm(rank, 2, 1, "two");
	refused(rank[1].fd, reduce(rank, 1, KERNEL), "kernel memory", "for_an_op");
	memset(memory, 1, SMALL);
	result(!reduce(rank, 1, SMALL) && !reduce(rank, 0, SMALL) && !reap(fd, rank[0].comm, 0) &&
	       memory[0] == 2 && memory[SMALL - 1] == 2, "of_a_small_op");
	for (made = 0; !(err = add_comm(fd, 64, &comm)); made++)
		;
	refused(fd, err, "kernel memory", "for_comms");
	result(made > 1, "for_comms_not_at_once");
	/* what lingers is still had: then it is given back */
	close(fd);
	close(rank[1].fd);
	fd = open_as(USER, 0);
	while ((err = add_comm(fd, 64, &comm)) == EDQUOT)
		usleep(10000);
	result(!err, "given_back");
}

/* --- early frames --- */

#define EARLY	(256U << 10)	/* elements */

/* Say what is next, and go on when told to. */
static void pause_at(const char *what)
{
	puts(what);
	fflush(stdout);
	need(getchar() != EOF, "nobody says to go on");
}

/* Rank 1, root's, calls before rank 0, twice; whoever runs this looks at what rank 0's user has, and limits it. */
static void early(void)
{
	static int32_t vector[2][EARLY];
	struct rank rank[2] = { { .fd = open_as(USER, 0) }, { .fd = open_as(0, 1) } };
	bool good = true;
	unsigned int i;

	for (i = 0; i < 2; i++)
		rank[i].memory = vector[i];
	make_comm(rank, 2, 1, "early");
	for (i = 0; i < 2; i++) {
		pause_at("begin");
		need(!begin_sum(rank, 1, EARLY), "rank 1: %s", sentence(rank[1].fd));
		pause_at("early");
		need(!begin_sum(rank, 0, EARLY), "rank 0: %s", sentence(rank[0].fd));
		good &= !end_sum(rank, 0, 2, EARLY) && !end_sum(rank, 1, 2, EARLY);
	}
	pause_at(good ? "right" : "wrong");
}

/* In a memory cgroup with less room than that, it is a refusal; whoever asks is not killed for it. */
static void try_cgroup(void)
{
	struct torcoll_region_alloc alloc = { .size = sizeof(alloc), .length = 256UL << 20 };
	int fd = open_as(0, 0), err = call(fd, TORCOLL_IOC_REGION_ALLOC, &alloc);

	result(err == ENOMEM, "too_much");
	alloc.length = PAGE;
	result(!call(fd, TORCOLL_IOC_REGION_ALLOC, &alloc), "less");
	close(fd);
}

/* --- the worst neighbour --- */

static void hog_once(int fd)
{
	unsigned int comms = 0, ops = 0, regions = 0;
	uint32_t handle, region[4096];
	uint64_t op;

	while (!add_comm(fd, 64, &handle)) {
		comms++;
		while (!add_op(fd, handle, 0, &op))
			ops++;
	}
	printf("# %s\n", sentence(fd));
	while (regions < ARRAY_SIZE(region) && !add_region(fd, memory, sizeof(memory), &region[regions]))
		regions++;
	printf("# %s\n", sentence(fd));
	printf("hogged %u comms %u ops %u regions\n", comms, ops, regions);
	fflush(stdout);
}

static void hog(void)
{
	int fd;

	do {
		fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
		need(fd >= 0, "cannot open %s", TORCOLL_DEVICE);
		hog_once(fd);
		/* so that somebody sees it */
		usleep(200000);
		close(fd);
	} while (true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "comms", try_comms }, { "ops", try_ops }, { "pinned", try_pinned }, { "kernel", try_kernel },
		{ "cgroup", try_cgroup }, { "early", early }, { "hog", hog },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (argc == 2 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return finish();
		}
	need(false, "usage: limits CASE");
}
