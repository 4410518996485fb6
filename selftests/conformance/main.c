// SPDX-License-Identifier: GPL-2.0
/*
 * conformance SEED CASES [WORD...]: one process per rank, started by torcollctl netns run, or on hosts of their own.
 * SEED is any word.
 * list: says what pairs of properties were met. all: at most CASES, until any two properties that can were met together.
 * first: until one fails. shuffled: ranks are in another order than they were started in, which depends on SEED. dup: the
 * comm is a duplicate of that which they were started in. slice: the torus is cut along its last dimension, into comms that know
 * nothing of each other, with a verdict each.
 *
 * Every rank checks a share of every result, and a checksum tells whether all ranks got the same bytes. Rank 0
 * prints what was covered and, as its last line, "N passed, N failed"; every rank tells what is
 * wrong there. Exit status: 0 if nothing failed anywhere, 1 otherwise, 2 wrong usage.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"

#define GUARD		0xa5
#define GUARD_BYTES	64
#define BUFFER_BYTES	(24ULL << 20)	/* the largest vector and its guards */
#define DEADLINE_MS	120000
#define DEPTH		64		/* ops in flight */
#define COUNT		17		/* elements of those that accompany a case's */

static struct torcoll *lib;
static struct torcoll_comm *comm;
static struct world world;
static bool one_host;
static bool list, all, first, shuffled, duplicated, sliced;	/* words */
static unsigned char *plain[2], *registered[2];	/* to send and to receive */
static int32_t beside[DEPTH][COUNT];

static void die(const char *what)
{
	fprintf(stderr, "rank %u: %s: %s\n", world.info.rank, what, torcoll_last_error());
	exit(1);
}

static unsigned char *new_buffer(void)
{
	void *p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

/* Every other rank has memory of the module's, the others have their own registered. */
static unsigned char *new_registered(uint64_t word)
{
	unsigned char *own;
	void *p;

	if (word & 1) {
		if (torcoll_alloc(lib, BUFFER_BYTES, &p))
			die("no memory of the module's");
		return p;
	}
	own = new_buffer();
	if (torcoll_register(lib, own, BUFFER_BYTES))
		die("cannot register memory");
	return own;
}

/* Who sits where. */
static void find_nodes(void)
{
	static uint32_t words[TOR_TEAM_MAP_WORDS(RANKS_MAX)];
	uint32_t ranks = world.info.ranks;

	for (uint32_t rank = 0; rank < ranks; rank++)
		world.member[rank] = torcoll_comm_node(comm, rank);
	tor_team_map_make(&world.map, world.member, ranks, words);
	world.node = world.map.node[world.info.rank];
	world.shared = world.map.nodes < ranks;
}

static void replace_comm(struct torcoll_comm *by)
{
	torcoll_comm_close(comm);
	comm = by;
}

/* The same ranks, and room for many ops. */
static void deepen(void)
{
	static uint32_t member[RANKS_MAX];
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.name = "deep",
		.secret = getenv("TORCOLL_SECRET"),
		.members = member,
		.size = torcoll_comm_size(comm),
		.rank = torcoll_comm_rank(comm),
		.depth = DEPTH,
		.deadline_ns = torcoll_deadline(DEADLINE_MS),
	};
	struct torcoll_comm *deep;

	if (config.size > RANKS_MAX) {
		fprintf(stderr, "%u ranks are more than %u\n", config.size, RANKS_MAX);
		exit(2);
	}
	for (uint32_t rank = 0; rank < config.size; rank++)
		member[rank] = torcoll_comm_node(comm, rank);
	if (torcoll_comm_create(lib, &config, &deep))
		die("no deep comm");
	replace_comm(deep);
}

/* The same ranks in another order: of a split by random keys. */
static void use_shuffled(uint64_t seed)
{
	int32_t key = hash(seed ^ torcoll_comm_rank(comm));
	struct torcoll_comm *shuffled;

	if (torcoll_comm_split(comm, 0, key, torcoll_deadline(DEADLINE_MS), &shuffled))
		die("no split by random keys");
	replace_comm(shuffled);
}

static void use_duplicate(void)
{
	struct torcoll_comm *dup;

	if (torcoll_comm_dup(comm, torcoll_deadline(DEADLINE_MS), &dup))
		die("no duplicate");
	replace_comm(dup);
}

/* The ranks whose coordinates in the last dimension are one's own; a ring stays whole. */
static void use_slice(void)
{
	struct torcoll_comm_info info;
	struct torcoll_comm *part;

	if (torcoll_comm_info(comm, &info))
		die("cannot ask");
	sliced = info.ndim > 1;
	if (!sliced)
		return;
	if (torcoll_comm_slice(comm, (1U << (info.ndim - 1)) - 1, torcoll_deadline(DEADLINE_MS), &part))
		die("no slice");
	replace_comm(part);
}

static void open_world(uint64_t seed)
{
	struct torcoll_info info = { .size = sizeof(info) };

	if (torcoll_open(&lib) || torcoll_comm_from_env(lib, &comm))
		die("cannot join");
	deepen();
	if (shuffled)
		use_shuffled(seed);
	if (duplicated)
		use_duplicate();
	if (sliced)
		use_slice();
	if (torcoll_comm_info(comm, &world.info) || torcoll_info(lib, &info))
		die("cannot ask");
	world.collectives = info.collectives;
	world.types = info.types;
	world.redops = info.redops;
	world.algorithms = info.algorithms;
	find_nodes();
	/* to those that know of no other, that is what their torus is */
	if (sliced && !world.shared)
		world.info.ndim--;
	for (int i = 0; i < 2; i++) {
		plain[i] = new_buffer();
		registered[i] = new_registered(seed ^ world.info.rank);
	}
}

/* The greatest of all ranks' numbers. */
static uint64_t greatest(uint64_t x)
{
	if (torcoll_allreduce(comm, &x, &x, 1, TORCOLL_U64, TORCOLL_MAX))
		die("allreduce of a number");
	return x;
}

/* FNV-1a. */
static uint64_t checksum(const unsigned char *p, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	while (n--)
		sum = (sum ^ *p++) * 0x100000001b3ULL;
	return sum;
}

__attribute__((format(printf, 2, 3)))
static void complain(const struct test_case *t, const char *format, ...)
{
	va_list args;

	printf("not ok %s, seed %#llx: rank %u: ", case_text(t), (unsigned long long)t->seed,
	       world.info.rank);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* Has everyone the same result? */
static bool is_same(uint32_t collective)
{
	return collective == TORCOLL_ALLREDUCE || collective == TORCOLL_ALLGATHER ||
	       collective == TORCOLL_BROADCAST;
}

static bool same_everywhere(const struct test_case *t, const unsigned char *result, size_t bytes)
{
	uint64_t sum = checksum(result, bytes), most, least;

	if (!is_same(t->op.collective))
		return true;
	most = greatest(sum);
	least = ~greatest(~sum);
	return most == least;
}

static bool guards_hold(const unsigned char *end)
{
	for (size_t i = 0; i < GUARD_BYTES; i++)
		if (end[i] != GUARD)
			return false;
	return true;
}

/*
 * Is the result right? Large ones are shared out: every rank looks at one element in as many as there are ranks, and
 * all have the same, or their own.
 */
static bool result_is_right(const struct test_case *t, struct part part, const unsigned char *result)
{
	bool share = t->size == SIZE_LARGE && is_same(t->op.collective);
	char text[128];
	bool right = true;
	uint64_t wrong;

	wrong = values_check(t, &world, part, share ? world.info.rank : 0,
			     share ? world.info.ranks : 1, result, text, sizeof(text));
	if (wrong) {
		complain(t, "%llu wrong: %s", (unsigned long long)wrong, text);
		right = false;
	}
	return right;
}

static bool refused_rightly(const struct test_case *t, int err)
{
	if (t->expect == REFUSED && err == -EOPNOTSUPP)
		return true;
	complain(t, "%s, should be %s: %s", err ? "refused or failed" : "served",
		 t->expect == REFUSED ? "refused" : "served", err ? torcoll_last_error() : "");
	return false;
}

/* The buffers of a case, and where what may be written ends. In place, both are parts of one vector. */
struct places {
	struct part sent, received;
	unsigned char *send, *recv, *end;
	bool in_place;
};

static void find_places(const struct test_case *t, struct places *p)
{
	unsigned char **buffers = t->registered ? registered : plain;
	size_t elem = torcoll_type_size(t->op.type);

	p->sent = part_sent(t, world.info.ranks, world.info.rank);
	p->received = part_received(t, world.info.ranks, world.info.rank);
	/* vectors of different lengths are not one */
	p->in_place = (t->in_place && !t->op.recv_counts) || t->op.collective == TORCOLL_BROADCAST;
	p->send = buffers[0] + t->misalign;
	p->recv = buffers[1] + t->misalign;
	/* what rank 0 gets of an exclusive scan is undefined */
	p->end = p->recv + (t->op.collective == TORCOLL_EXSCAN ? t->op.count : p->received.count) * elem;
	if (p->in_place) {
		p->end = p->send + t->op.count * elem;
		p->recv = p->send + p->received.start * elem;
		p->send += p->sent.start * elem;
	}
}

static bool input_is_untouched(const struct test_case *t, const struct places *p)
{
	struct test_case input = *t;
	char text[128];

	/* what a rank would find that this one broadcasts to */
	input.op.collective = TORCOLL_BROADCAST;
	input.op.root = world.info.rank;
	if (!values_check(&input, &world, p->sent, 0, 1, p->send, text, sizeof(text)))
		return true;
	complain(t, "the input was written to: %s", text);
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Do all ranks go by one clock? */
static bool on_one_host(void)
{
	char boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	uint64_t id;

	if (!f || !fgets(boot, sizeof(boot), f))
		die("cannot read this boot's id");
	fclose(f);
	id = checksum((const unsigned char *)boot, strlen(boot));
	return greatest(id) == ~greatest(~id);
}

/* Nobody may leave before the last has come, as far as that can be told. */
static bool run_barrier(const struct test_case *t)
{
	struct torcoll_op op = t->op;
	uint64_t came, left;
	int err;

	if (t->seed % world.info.ranks == world.info.rank)
		usleep(t->seed >> 32 & 2047);
	came = now_ns();
	err = torcoll_run(comm, &op);
	left = now_ns();
	if (err || t->expect == REFUSED)
		return refused_rightly(t, err);
	if (left >= greatest(came) || !one_host)
		return true;
	complain(t, "left before the last had come");
	return false;
}

/* A message to the rank ahead, and one from that behind. */
static int run_messages(const struct test_case *t, const struct torcoll_op *op)
{
	uint32_t rank = world.info.rank, ranks = world.info.ranks;
	struct torcoll_op send = *op, recv = *op;
	bool send_first = op->collective == TORCOLL_SEND;
	struct torcoll_request req;
	int err, second;

	send.collective = TORCOLL_SEND;
	send.peer = (rank + t->ahead) % ranks;
	send.recv = NULL;
	recv.collective = TORCOLL_RECV;
	recv.peer = (rank + ranks - t->ahead) % ranks;
	recv.send = NULL;
	err = torcoll_submit(comm, send_first ? &send : &recv, &req);
	if (err)
		return err;
	second = torcoll_run(comm, send_first ? &recv : &send);
	err = torcoll_wait(&req);
	return err ? err : second;
}

/* --- ways of calling --- */

/* An op beside that of the case: an allreduce of a few numbers. */
static struct torcoll_op op_beside(uint32_t i)
{
	for (uint32_t k = 0; k < COUNT; k++)
		beside[i][k] = i + k * world.info.rank;
	return (struct torcoll_op){
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I32, .redop = TORCOLL_SUM, .count = COUNT,
		.send = beside[i], .recv = beside[i],
	};
}

static int check_beside(uint32_t i)
{
	uint32_t ranks = world.info.ranks;

	for (uint32_t k = 0; k < COUNT; k++)
		if (beside[i][k] != (int32_t)(ranks * i + k * (ranks * (ranks - 1) / 2)))
			return -EBADMSG;
	return 0;
}

/* The case's op is number @at of @n that are started one after the other, before any is waited for. */
static int run_started(const struct torcoll_op *op, uint32_t n, uint32_t at)
{
	static struct torcoll_request req[DEPTH];
	int err = 0, error = 0;
	uint32_t i, started;

	for (started = 0; started < n && !err; started++) {
		struct torcoll_op other = op_beside(started);

		err = torcoll_submit(comm, started == at ? op : &other, &req[started]);
	}
	if (err)
		started--;
	for (i = 0; i < started; i++) {
		error = torcoll_wait(&req[i]);
		if (!error && i != at)
			error = check_beside(i);
		err = err ? err : error;
	}
	return err;
}

static int run_prepared(const struct torcoll_op *op, bool twice)
{
	struct torcoll_prepared *p;
	struct torcoll_request req;
	int err = torcoll_prepare(comm, op, &p);

	if (err)
		return err;
	for (int i = 0; i <= twice && !err; i++) {
		err = torcoll_start(p, &req);
		if (!err)
			err = torcoll_wait(&req);
	}
	torcoll_prepared_free(p);
	return err;
}

/* In the middle of three that one system call starts. */
static int run_batch(const struct torcoll_op *op)
{
	struct torcoll_op ops[3] = { op_beside(0), *op, op_beside(2) };
	struct torcoll_request req[3];
	uint32_t started = 0;
	int err = torcoll_submit_many(comm, ops, 3, req, &started), error;

	for (uint32_t i = 0; i < started; i++) {
		error = torcoll_wait(&req[i]);
		if (!error && i != 1)
			error = check_beside(i);
		err = err ? err : error;
	}
	return err;
}

/* One in four has as many beside it as there can be. */
static int run_in_its_way(const struct test_case *t, const struct torcoll_op *op, bool in_place)
{
	uint32_t n = t->seed & 3 ? 2 + t->seed / 4 % 6 : DEPTH;

	if (is_message(op->collective))
		return run_messages(t, op);
	/* what is refused is not to leave others alone */
	if (t->expect == REFUSED)
		return torcoll_run(comm, op);
	switch (t->way) {
	case WAY_STARTED:
		return run_started(op, n, t->seed / 64 % n);
	case WAY_PREPARED:
		return run_prepared(op, !in_place);
	case WAY_BATCH:
		return run_batch(op);
	default:
		return torcoll_run(comm, op);
	}
}

static bool run_case(const struct test_case *t)
{
	size_t elem = torcoll_type_size(t->op.type);
	struct torcoll_op op = t->op;
	unsigned char factor[8];
	bool right = true;
	struct places p;
	int err;

	find_places(t, &p);
	memset(p.send, GUARD, p.sent.count * elem + GUARD_BYTES);
	if (p.in_place)
		memset(p.end - t->op.count * elem, GUARD, t->op.count * elem + GUARD_BYTES);
	else
		memset(p.recv, GUARD, p.end - p.recv + GUARD_BYTES);
	values_fill(t, world.info.rank, p.sent, p.send);
	values_factor(t, world.info.rank, factor);
	op.scalar = t->op.redop == TORCOLL_PREMULSUM ? factor : NULL;
	op.send = p.send;
	op.recv = p.recv;
	/* what is prepared has none */
	op.deadline_ns = t->way == WAY_PREPARED ? 0 : torcoll_deadline(DEADLINE_MS);
	err = run_in_its_way(t, &op, p.in_place);
	if (err || t->expect == REFUSED)
		return refused_rightly(t, err);
	right &= result_is_right(t, p.received, p.recv);
	if (!guards_hold(p.end)) {
		complain(t, "bytes behind the result were written to");
		right = false;
	}
	if (!p.in_place)
		right &= input_is_untouched(t, &p);
	if (!same_everywhere(t, p.recv, p.received.count * elem)) {
		complain(t, "not all ranks have the same bytes");
		right = false;
	}
	return right;
}

/* Return: whether all arguments behind the second are known. */
static bool parse_words(char **word)
{
	for (; *word; word++) {
		if (!strcmp(*word, "list"))
			list = true;
		else if (!strcmp(*word, "all"))
			all = true;
		else if (!strcmp(*word, "first"))
			first = true;
		else if (!strcmp(*word, "shuffled"))
			shuffled = true;
		else if (!strcmp(*word, "dup"))
			duplicated = true;
		else if (!strcmp(*word, "slice"))
			sliced = true;
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int n = argc >= 3 && parse_words(argv + 3) ? atoi(argv[2]) : 0;
	uint64_t passed = 0, failed = 0, state;
	struct coverage *coverage;
	struct test_case t;

	if (n <= 0) {
		fprintf(stderr, "usage: conformance SEED CASES [list] [all] [first] [shuffled] [dup] [slice]\n");
		return 2;
	}
	state = checksum((const unsigned char *)argv[1], strlen(argv[1]));
	open_world(state);
	one_host = on_one_host();
	coverage = coverage_new(&world, all);
	if (!coverage)
		die("no memory");
	while (n-- && !(first && failed) && !(all && coverage_is_complete(coverage))) {
		coverage_draw(&world, coverage, &state, &t);
		if (greatest(!(t.op.collective == TORCOLL_BARRIER ? run_barrier(&t) : run_case(&t))))
			failed++;
		else
			passed++;
	}
	if (world.info.rank)
		return failed > 0;
	coverage_print(coverage);
	if (list)
		coverage_list(coverage, &world);
	printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
	return failed > 0;
}
