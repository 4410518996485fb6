// SPDX-License-Identifier: GPL-2.0
/*
 * Lets allocations fail, see fail_nth.h, at the first of several ranks: in joining, in ops that all take part in, in
 * messages, in shrinking: fault_ranks KEY NODE..., the node of each rank being namespace tor-NODE.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "subject.h"

#define RANKS_MAX	64
#define TURNS_MAX	65536

static const struct {
	uint16_t collective;
	uint16_t algorithm;
	uint64_t count;
	bool registered;
	int32_t factor;
} ops[] = {
	{ TORCOLL_ALLREDUCE, TORCOLL_ALGO_AUTO, 2, false },
	{ TORCOLL_ALLREDUCE, TORCOLL_ALGO_AUTO, 20000, false },
	{ TORCOLL_ALLREDUCE, TORCOLL_ALGO_AUTO, 20000, true },
	/* in place: a refused call leaves its contribution as it was */
	{ TORCOLL_ALLREDUCE, TORCOLL_ALGO_AUTO, 20000, true, 3 },
	{ TORCOLL_ALLREDUCE, TORCOLL_SWING_BW, 5000, true },
	{ TORCOLL_ALLREDUCE, TORCOLL_SWING_LAT, 3000, false },
	{ TORCOLL_ALLREDUCE, TORCOLL_CIRCULANT, 3000, true },
	{ TORCOLL_SEND, TORCOLL_ALGO_AUTO, 2, false },
	{ TORCOLL_SEND, TORCOLL_ALGO_AUTO, 20000, false },
	{ TORCOLL_SEND, TORCOLL_ALGO_AUTO, 20000, true },
};

/* What the first rank says of each turn when it has taken it: the others go on with the same, or with the next. */
enum said { NOTHING, AGAIN, NEXT };

static volatile uint8_t *said;
static uint32_t turns;

static void say(enum said what)
{
	if (turns == TURNS_MAX)
		must(-E2BIG, "turns");
	said[turns++] = what;
}

static enum said heard(void)
{
	while (said[turns] == NOTHING)
		usleep(1000);
	return said[turns++];
}

static void enter_node(uint32_t node)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/tor-%u", node);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

/* ---- joining ---- */

static void join_again(void *arg)
{
	undo_comm(arg);
	say(AGAIN);
}

static void follow_join(struct subject *s)
{
	for (;;) {
		must(add_comm(s), "comm add");
		if (heard() == NEXT)
			return;
		undo_comm(s);
	}
}

/* ---- ops ---- */

static void choose_op(struct subject *s, unsigned int i)
{
	s->collective = ops[i].collective;
	s->algorithm = ops[i].algorithm;
	s->count = ops[i].count;
	s->registered = ops[i].registered;
	s->factor = ops[i].factor;
	if (s->collective == TORCOLL_SEND && s->rank)
		s->collective = TORCOLL_RECV;
}

/* A message goes to the last rank. */
static bool takes_part(const struct subject *s)
{
	return s->collective == TORCOLL_ALLREDUCE || !s->rank || s->rank == s->ranks - 1;
}

static void fill(struct subject *s)
{
	uint64_t i;

	for (i = 0; i < s->count; i++)
		((int32_t *)s->memory)[i] = s->collective == TORCOLL_RECV ? 0 : i + 1;
}

static void check_result(struct subject *s)
{
	const uint32_t times = (s->collective == TORCOLL_ALLREDUCE ? s->ranks : 1) * (s->factor ? s->factor : 1);
	uint64_t i;

	for (i = 0; i < s->count; i++) {
		if (((int32_t *)s->memory)[i] == (int32_t)((i + 1) * times))
			continue;
		fprintf(stderr, "element %llu of %llu is %d\n", (unsigned long long)i,
			(unsigned long long)s->count, ((int32_t *)s->memory)[i]);
		exit(1);
	}
}

static void end_op(struct subject *s)
{
	undo_submit(s);
	check_result(s);
	fill(s);
}

static void op_again(void *arg)
{
	say(AGAIN);
	end_op(arg);
}

static void lead_op(struct subject *s)
{
	char name[64];

	fill(s);
	snprintf(name, sizeof(name), "collective %u, algorithm %u, %llu elements", s->collective,
		 s->algorithm, (unsigned long long)s->count);
	sweep_maybe(name, submit, op_again, s);
	say(NEXT);
	end_op(s);
}

static void follow_op(struct subject *s)
{
	do {
		if (!takes_part(s))
			continue;
		fill(s);
		redo_submit(s);
		end_op(s);
	} while (heard() == AGAIN);
}

/* ---- shrinking ---- */

static void shrink_again(void *arg)
{
	say(AGAIN);
}

static void follow_shrink(struct subject *s)
{
	do
		must(shrink_comm(s), "shrink");
	while (heard() == AGAIN);
}

/* ---- ranks ---- */

/* There is no shrinking with several ranks on a node. */
static bool can_shrink(const struct subject *s)
{
	uint32_t i;

	for (i = 1; i < s->ranks; i++)
		if (s->members[i] == s->members[i - 1])
			return false;
	return true;
}

static void lead(struct subject *s)
{
	unsigned int i;

	sweep("comm add", add_comm, join_again, s);
	say(NEXT);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		choose_op(s, i);
		lead_op(s);
	}
	if (!can_shrink(s))
		return;
	sweep("shrink", shrink_comm, shrink_again, s);
	say(NEXT);
}

static void follow(struct subject *s)
{
	unsigned int i;

	follow_join(s);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		choose_op(s, i);
		follow_op(s);
	}
	if (can_shrink(s))
		follow_shrink(s);
}

static int rank_main(struct subject *s)
{
	enter_node(s->members[s->rank]);
	get_memory(s, 1 << 20);
	must(open_device(s), "/dev/torcoll");
	must(add_region(s), "region add");
	if (s->rank)
		follow(s);
	else
		lead(s);
	return 0;
}

/* All of them: when one fails, the others wait in vain. */
static int await(const pid_t *ranks, uint32_t n)
{
	int status, code = 0;
	uint32_t i;

	while (wait(&status) > 0) {
		if (status && !code)
			for (i = 0; i < n; i++)
				kill(ranks[i], SIGKILL);
		code |= status;
	}
	return !!code;
}

int main(int argc, char **argv)
{
	struct subject s = {};
	uint32_t members[RANKS_MAX];
	pid_t ranks[RANKS_MAX];

	if (argc < 4 || argc - 2 > RANKS_MAX) {
		fprintf(stderr, "usage: fault_ranks KEY NODE NODE...\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	s.key = strtoull(argv[1], NULL, 0);
	s.ranks = argc - 2;
	s.members = members;
	for (s.rank = 0; s.rank < s.ranks; s.rank++)
		members[s.rank] = strtoul(argv[2 + s.rank], NULL, 0);
	said = mmap(NULL, TURNS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		die("mmap");
	for (s.rank = 0; s.rank < s.ranks; s.rank++) {
		ranks[s.rank] = fork();
		if (ranks[s.rank] < 0)
			die("fork");
		if (!ranks[s.rank])
			exit(rank_main(&s));
	}
	return await(ranks, s.ranks);
}
