// SPDX-License-Identifier: GPL-2.0
/*
 * What programs do in the middle of ops, and should not, or may: memory that goes away, comms that go away, fork, exec, death at
 * each stage. For misuse.sh: wants the namespaces of a 2x2 torus, says KTAP.
 */
#include "misuse.h"

#include <signal.h>
#include <sys/wait.h>

#define SHORT	16		/* elements that are copied, not pinned */

/* An op whose memory is not there any more ends well: the pages are pinned, only nobody sees them. */
static void try_unmapped(void)
{
	int32_t status, *p;
	uint32_t region;
	bool registered;

	for (registered = false;; registered = true) {
		open_both(4, "unmapped");
		p = map();
		region = registered ? add_region(rank[0].fd, p) : 0;
		memset(p, 0, BYTES);
		need(!begin(region, p, p), "op: %s", sentence(rank[0].fd));
		munmap(p, BYTES);
		need(!begin_sum(rank, 1, COUNT), "op of rank 1");
		result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status,
		       "unmapped__%s_ends_well", registered ? "region" : "buffer");
		result(rank[1].memory[COUNT - 1] == COUNT - 1 + 1000, "unmapped__%s_other_rank_is_right",
		       registered ? "region" : "buffer");
		close_both();
		if (registered)
			break;
	}
}

/* A short result is written by who waits: the op is right for all others if it cannot be. */
static void try_short_unmapped(void)
{
	int32_t status, *p;

	open_both(4, "short");
	p = map();
	memset(p, 0, BYTES);
	need(!begin_count(0, p, p, SHORT), "op: %s", sentence(rank[0].fd));
	munmap(p, BYTES);
	need(!begin_sum(rank, 1, SHORT), "op of rank 1");
	result(!wait_for(0, &status) && status == -EFAULT &&
	       strstr(sentence(rank[0].fd), "cannot write the result"), "short__unmapped_is_told");
	result(!wait_for(1, &status) && !status && rank[1].memory[SHORT - 1] == SHORT - 1 + 1000,
	       "short__unmapped_elsewhere_right");
	result(sum_is_right(rank, 0, 2, SHORT), "short__comm_goes_on");
	close_both();
}

/* Another process has other memory at these addresses. */
static void try_short_elsewhere(void)
{
	int32_t status, *p;
	int code = 0;
	pid_t pid;

	open_both(4, "elsewhere");
	p = rank[0].memory;
	memset(p, 0, BYTES);
	need(!begin_count(0, p, p, SHORT) && !begin_sum(rank, 1, SHORT), "ops");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(wait_for(0, &status) || status != -EFAULT || p[1]);
	waitpid(pid, &code, 0);
	result(!code && !p[1], "short__of_another_process");
	result(!wait_for(1, &status) && !status, "short__other_rank_is_done");
	close_both();
}

/* Other pages at the address of a region are not the region's. */
static void try_replaced(void)
{
	int32_t status, *p;
	uint32_t region;

	open_both(4, "replaced");
	p = map();
	region = add_region(rank[0].fd, p);
	memset(p, 0, BYTES);
	need(mmap(p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p,
	     "no memory");
	memset(p, 1, BYTES);
	need(!begin(region, p, p) && !begin_sum(rank, 1, COUNT), "ops");
	result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status &&
	       rank[1].memory[7] == 1007 && p[7] == 0x01010101, "replaced__region_is_what_it_was");
	munmap(p, BYTES);
	close_both();
}

static void try_comm_closed(void)
{
	struct torcoll_handle handle = { .size = sizeof(handle) };
	int32_t status;
	int err;

	open_both(4, "closed");
	need(!begin_sum(rank, 1, COUNT) && !begin_sum(rank, 1, COUNT), "ops of rank 1");
	handle.handle = rank[1].comm;
	result(!call(rank[1].fd, TORCOLL_IOC_COMM_DEL, &handle), "closed__with_ops_running");
	result(wait_for(1, &status) == ENOENT, "closed__handle_is_gone");
	err = begin(0, rank[0].memory, rank[0].memory);
	result(err == ECONNABORTED || (!err && !wait_for(0, &status) && status == -ECONNABORTED),
	       "closed__other_rank_hears");
	close_both();
}

/* Nobody can name a comm that is still being joined: what stands for it in the meantime stays. */
static void try_handle_to_come(void)
{
	static const uint32_t members[] = { 0, 1 };
	struct joiner j = {
		.name = "to come", .members = members, .ranks = 2, .depth = 1,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};
	struct joiner other = j;
	struct torcoll_handle first = { .size = sizeof(first), .handle = 1 };
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = 1 };
	unsigned int i;
	bool good = true;

	j.fd = open_on(0);
	other.fd = open_on(1);
	need(!pthread_create(&j.thread, NULL, join, &j), "no thread");
	for (i = 0; i < 100; i++) {
		good &= call(j.fd, TORCOLL_IOC_COMM_DEL, &first) == ENOENT;
		good &= call(j.fd, TORCOLL_IOC_COMM_INFO, &info) == ENOENT;
		usleep(1000);
	}
	result(good, "joining__no_handle_yet");
	join(&other);
	pthread_join(j.thread, NULL);
	result(!j.err && !other.err && j.comm == 1 && !call(j.fd, TORCOLL_IOC_COMM_INFO, &info),
	       "joining__handle_in_the_end");
	close(j.fd);
	close(other.fd);
}

/* --- processes --- */

/* What a process of rank 1 has come to when it dies. */
enum stage {
	OPENED, REGISTERED, JOINING, JOINED, RUNNING, WAITING, NO_SLOT, STAGES
};

static const char *const stage_names[STAGES] = {
	"opened", "registered", "joining", "joined", "running", "waiting", "no_slot",
};

static void join_alone(struct rank *r, const uint32_t *members)
{
	struct joiner j = {
		.fd = r->fd, .name = "stages", .members = members, .ranks = 2,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
		.depth = 1,
	};

	join(&j);
	need(!j.err, "comm: %s: %s", strerror(j.err), sentence(r->fd));
	r->comm = j.comm;
}

/* Says by @ready that it is there, or about to be: what follows sleeps until death. */
static void live(enum stage stage, int ready)
{
	static const uint32_t members[] = { 0, 1 };
	struct rank *r = &rank[1];

	r->fd = open_on(1);
	r->memory = map();
	if (stage >= REGISTERED)
		add_region(r->fd, r->memory);
	if (stage == JOINING)
		need(write(ready, "", 1) == 1, "pipe");
	if (stage >= JOINING)
		join_alone(r, members);
	if (stage >= RUNNING)
		need(!begin_sum(rank, 1, COUNT), "op: %s", sentence(r->fd));
	if (stage != JOINING)
		need(write(ready, "", 1) == 1, "pipe");
	if (stage == WAITING)
		end_sum(rank, 1, 2, COUNT);
	if (stage == NO_SLOT)
		begin_sum(rank, 1, COUNT);
	for (;;)
		pause();
}

/* Rank 0, while the other is at a stage; and what it hears when that dies. */
static bool meet(enum stage stage)
{
	static const uint32_t members[] = { 0, 1 };
	int32_t status = 0;
	int ready[2], err;
	char byte;
	pid_t pid;

	need(!pipe(ready), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid)
		live(stage, ready[1]);
	close(ready[1]);
	rank[0].fd = open_on(0);
	rank[0].memory = map();
	if (stage > JOINING)
		join_alone(&rank[0], members);
	need(read(ready[0], &byte, 1) == 1, "rank 1 did not come to its stage");
	wait_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	err = 0;
	if (stage > JOINING) {
		err = begin(0, rank[0].memory, rank[0].memory);
		if (!err)
			err = wait_for(0, &status);
	}
	close(rank[0].fd);
	munmap(rank[0].memory, BYTES);
	if (stage <= JOINING)
		return !err;
	if (err != ECONNABORTED && status != -ECONNABORTED)
		printf("# %s: %s, status %d\n", stage_names[stage], strerror(err), status);
	return err == ECONNABORTED || status == -ECONNABORTED;
}

static void try_deaths(void)
{
	enum stage stage;

	for (stage = OPENED; stage < STAGES; stage++)
		result(meet(stage), "death__%s", stage_names[stage]);
	open_both(4, "after");
	result(sum_is_right(rank, 0, 2, COUNT), "death__comms_go_on");
	close_both();
}

/* A child has neither the parent's regions to lose nor its ops; what it does with its memory is its own. */
static void try_fork(void)
{
	int32_t status, *p;
	uint32_t region;
	pid_t pid;

	open_both(4, "fork");
	p = map();
	region = add_region(rank[0].fd, p);
	memset(p, 0, BYTES);
	need(!begin(region, p, p), "op: %s", sentence(rank[0].fd));
	pid = fork();
	if (!pid) {
		memset(p, 0x77, BYTES);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	need(!begin_sum(rank, 1, COUNT), "op of rank 1");
	result(!wait_for(0, &status) && !status && !wait_for(1, &status) && !status && p[9] == 1009 &&
	       rank[1].memory[9] == 1009, "fork__with_an_op_running");
	/* and after a fork, pages are still those that the region has */
	memset(p, 0, BYTES);
	need(!begin(region, p, p) && !begin_sum(rank, 1, COUNT), "ops");
	result(!wait_for(0, &status) && !status && p[9] == 1009, "fork__region_stays_the_parents");
	munmap(p, BYTES);
	close_both();
}

/* With the program, its files, ops and regions go. */
static void try_exec(void)
{
	static const uint32_t members[] = { 0, 1 };
	int32_t status = 0;
	int ready[2], err;
	char byte;
	pid_t pid;

	need(!pipe(ready), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		rank[1].fd = open_on(1);
		rank[1].memory = map();
		add_region(rank[1].fd, rank[1].memory);
		join_alone(&rank[1], members);
		need(!begin_sum(rank, 1, COUNT) && write(ready[1], "", 1) == 1, "op");
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	rank[0].fd = open_on(0);
	rank[0].memory = map();
	join_alone(&rank[0], members);
	need(read(ready[0], &byte, 1) == 1, "rank 1");
	memset(rank[0].memory, 0, BYTES);
	err = begin(0, rank[0].memory, rank[0].memory);
	if (!err)
		err = wait_for(0, &status);
	/* it may have been complete before; then the next one is not */
	if (!err && !status) {
		err = begin(0, rank[0].memory, rank[0].memory);
		if (!err)
			err = wait_for(0, &status);
	}
	result(err == ECONNABORTED || status == -ECONNABORTED, "exec__ends_the_comm");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(rank[0].fd);
	munmap(rank[0].memory, BYTES);
	close(ready[0]);
	close(ready[1]);
}

/* --- a file that a child keeps --- */

static int join_as(int fd, unsigned int ranks, const char *name, uint32_t *comm)
{
	static const uint32_t members[] = { 0, 1 };
	struct joiner j = {
		.fd = fd, .name = name, .members = members, .ranks = ranks, .depth = 1,
		.deadline_ns = now_ns() + 250 * NS_PER_S,
	};

	join(&j);
	*comm = j.comm;
	return j.err;
}

/*
 * The child of a process that opened a file, once that has exited: says whether it has a comm of
 * its own, and whether ops run there; then ends badly, with another comm.
 */
static void inherit(int fd, int gone, int say)
{
	struct rank r = { .fd = fd, .memory = map() };
	char byte, err, good;

	need(!read(gone, &byte, 1), "the opener says something");
	err = join_as(fd, 1, "inherited", &r.comm);
	good = !err && !begin_sum(&r, 0, COUNT) && !end_sum(&r, 0, 1, COUNT);
	need(write(say, &err, 1) == 1 && write(say, &good, 1) == 1, "pipe");
	need(!join_as(fd, 2, "bequeathed", &r.comm), "comm: %s", sentence(fd));
	_exit(1);
}

static int open_and_leave(int gone[2], int say[2])
{
	int fd = open_on(0);

	fflush(stdout);
	if (!fork()) {
		close(gone[1]);
		close(say[0]);
		inherit(fd, gone[0], say[1]);
	}
	return 0;
}

static void try_inherited(void)
{
	int32_t status = 0;
	int gone[2], say[2], err;
	char heard[2] = { ENOMSG };
	pid_t pid;

	need(!pipe(gone) && !pipe(say), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(open_and_leave(gone, say));
	close(say[1]);
	waitpid(pid, NULL, 0);
	close(gone[1]);
	need(read(say[0], &heard[0], 1) == 1 && read(say[0], &heard[1], 1) == 1,
	     "the heir says nothing");
	if (heard[0])
		printf("# comm: %s\n", strerror(heard[0]));
	result(!heard[0], "inherited__makes_a_comm");
	result(heard[1], "inherited__ops_run");
	rank[1].fd = open_on(1);
	rank[1].memory = map();
	err = heard[0] || join_as(rank[1].fd, 2, "bequeathed", &rank[1].comm) ? EINVAL :
	      begin_sum(rank, 1, COUNT);
	if (!err)
		err = wait_for(1, &status);
	result(err == ECONNABORTED || status == -ECONNABORTED, "inherited__ends_with_the_heir");
	close(gone[0]);
	close(say[0]);
	close(rank[1].fd);
	munmap(rank[1].memory, BYTES);
}

int main(void)
{
	try_unmapped();
	try_short_unmapped();
	try_short_elsewhere();
	try_replaced();
	try_comm_closed();
	try_handle_to_come();
	try_deaths();
	try_fork();
	try_exec();
	try_inherited();
	return finish();
}
