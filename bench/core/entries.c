// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * How long entries into core take that walk over nodes or ranks, when there are very many: what one entry takes, nothing
 * else runs on that processor. Each sequence of entries runs several times, the same every time; of each entry the shortest
 * time counts, without what else this machine had to do, and of all entries the longest is printed.
 *
 *	entries [REPETITIONS]: WHAT ENTRIES MICROSECONDS, a line each
 */
#include <stdlib.h>
#include <time.h>

#include "core/engine/engine.h"
#include "core/host_hash.h"
#include "core/agree/join.h"
#include "core/link/node.h"
#include "core/agree/shrink.h"

#define SIDE	256			/* 65,536 nodes */
#define RANKS	(1 << 20)
#define TIMERS	10000			/* of rank 0's that are looked at: all of READY is eight thousand million frames */

static struct tor_ctx ctx;
static u64 *least;
static u32 entries, room;
static u64 entered;

void *tor_env_alloc(size_t n)
{
	return calloc(1, n);
}

void tor_env_free(void *p)
{
	free(p);
}

void *tor_env_table_alloc(size_t n)
{
	return calloc(1, n);
}

bool tor_env_killed(void)
{
	return false;
}

void tor_env_table_free(void *p)
{
	free(p);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	return crc;			/* the surroundings' */
}

u64 tor_env_hash(const void *p, size_t n, u64 key)
{
	return host_siphash(p, n, key, 0);
}

u32 tor_env_random(void)
{
	return 4711;
}

void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n)
{
}

void tor_env_drop(struct tor_ctx *c, struct tor_node *node, enum tor_counter why)
{
}

int tor_env_send(struct tor_ctx *c, struct tor_node *node, const struct tor_frame *frame)
{
	return 0;
}

struct tor_budget tor_env_budget(void)
{
	return TOR_BUDGET;
}

void tor_env_host_name(const struct tor_node *node, char *name)
{
	*name = '\0';
}

u32 tor_env_cable_sent(const struct tor_node *node, u32 cable)
{
	return 0;
}

void tor_env_link_changed(struct tor_ctx *c, struct tor_node *node, u32 port)
{
}

void tor_env_view_changed(struct tor_ctx *c, struct tor_node *node)
{
}

int tor_env_join_install(struct tor_ctx *c, struct tor_join *join)
{
	return 0;
}

bool tor_env_join_failed(const struct tor_join *join)
{
	return false;
}

void tor_env_join_done(struct tor_ctx *c, struct tor_join *join)
{
}

int tor_env_shrink_install(struct tor_ctx *c, struct tor_shrink *shrink)
{
	return 0;
}

void tor_env_shrink_done(struct tor_ctx *c, struct tor_shrink *shrink)
{
}

int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch)
{
	abort();
}

void tor_env_comm_failed(struct tor_ctx *c, struct tor_comm *comm)
{
}

/* What only ops ask for. */

void *tor_env_frame_alloc(size_t n)
{
	abort();
}

void tor_env_frame_free(void *p, size_t n)
{
	abort();
}

u32 tor_env_shared_size(size_t n)
{
	abort();
}

void *tor_env_shared_alloc(size_t n)
{
	abort();
}

void tor_env_shared_free(void *p, size_t n)
{
	abort();
}

bool tor_env_keep(struct tor_comm *comm, u32 bytes)
{
	abort();
}

void tor_env_unkeep(struct tor_comm *comm, u32 bytes)
{
	abort();
}

void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len)
{
	abort();
}

bool tor_env_fpu_begin(void)
{
	abort();
}

void tor_env_fpu_end(void)
{
	abort();
}

void tor_env_chan_timer(struct tor_chan *chan, u64 when)
{
	abort();
}

void tor_env_comm_timer(struct tor_comm *comm, u64 when)
{
	abort();
}

void tor_env_chan_work(struct tor_ctx *c, struct tor_chan *chan)
{
	abort();
}

void tor_env_op_done(struct tor_ctx *c, struct tor_op *op)
{
	abort();
}

void tor_env_op_retired(struct tor_ctx *c, struct tor_op *op)
{
	abort();
}

void tor_env_comm_told(struct tor_comm *comm)
{
	abort();
}

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq)
{
	abort();
}

void tor_env_comm_explained(struct tor_comm *comm)
{
	abort();
}

/* No page of it is touched for the first time by core. */
static void *zeroed(size_t n, size_t size)
{
	void *p = malloc(n * size);

	if (!p)
		exit(1);
	memset(p, 1, n * size);
	explicit_bzero(p, n * size);
	return p;
}

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void enter(void)
{
	entered = clock_ns();
}

static void leave(void)
{
	u64 took = clock_ns() - entered;

	if (entries == room) {
		room = room ? 2 * room : 1024;
		least = realloc(least, room * sizeof(*least));
		if (!least)
			exit(1);
		memset(least + entries, 0xff, (room - entries) * sizeof(*least));
	}
	least[entries] = min(least[entries], took);
	entries++;
}

static void said_by_neighbour(struct tor_node *node, u32 i)
{
	struct torcoll_link_record record[TORCOLL_HELLO_RECORDS_MAX];
	struct tor_hello hello = {
		.way = 1, .ndim = 2, .side = { SIDE, SIDE }, .frame_size = i & 2 ? 9000 : 1500,
		.hears = i & 1, .heard_node = 0, .heard_epoch = node->epoch,
		.records = TORCOLL_HELLO_RECORDS_MAX, .record = record,
	};
	struct tor_hdr h = { .src = 1, .src_epoch = 9 };
	u32 k;

	for (k = 0; k < TORCOLL_HELLO_RECORDS_MAX; k++)
		record[k] = (struct torcoll_link_record){
			.node = cpu_to_be32(2 + (i * TORCOLL_HELLO_RECORDS_MAX + k) % (SIDE * SIDE - 2)),
			.epoch = cpu_to_be32(9), .seq = cpu_to_be32(i + 2),
			.dead = cpu_to_be16(i & 4), .frame = cpu_to_be16(i & 2 ? 1500 : 9000),
		};
	enter();
	tor_cable_hello(&ctx, node, 0, &h, &hello);
	leave();
}

/* A neighbour says each millisecond that it hears us, then that it does not, and each time something new of 64 nodes. */
static void flap(void)
{
	static const u32 side[] = { SIDE, SIDE };
	static struct tor_node node;
	struct tor_torus torus;
	u32 i;

	memset(&node, 0, sizeof(node));
	if (tor_torus_init(&torus, 2, side, 1) || tor_node_init(&node, &torus, 1, 0))
		exit(1);
	for (i = 0; i < 4; i++)
		tor_cable_open(&ctx, &node, i, 9000);
	for (i = 1; i < torus.nodes; i++) {
		struct tor_record r = { .node = i, .epoch = 9, .seq = 1, .frame = 1500 };

		tor_view_learn(&node.view, &r);
	}
	for (i = 0; i < 5000; i++) {
		ctx.now += NSEC_PER_MSEC;
		said_by_neighbour(&node, i);
		if (i % 50)
			continue;
		enter();
		tor_link_tick(&ctx, &node);
		leave();
	}
	tor_node_destroy(&node);
}

static struct tor_node root;
static struct tor_join join;

static void hears(u32 rank, u8 step, u32 epochs)
{
	static __be32 word[TOR_AGREE_WORDS];
	struct tor_hdr h = { .src = rank, .src_epoch = 1 };
	struct tor_comm_msg msg = {
		.step = step, .name = join.name, .proof = join.proof, .members = join.members,
		.nonce = join.rank ? join.nonce : rank, .rank = rank, .ranks = RANKS, .tag = join.a.tag,
		.frame_bytes = 1344, .missing = rank, .epochs = epochs, .epoch = word,
		.has_terms = true,
		.terms = { .flags = root.big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0 },
	};
	u32 i;

	for (i = 0; i < epochs; i++)
		word[i] = cpu_to_be32(rank + i == join.rank ? root.epoch : 1);
	if (join.rank) {
		h.src = 0;
		msg.tag = 5;
	}
	enter();
	tor_join_rx(&ctx, &root, &h, &msg, false);
	leave();
}

static void begin(u32 rank)
{
	static const u32 side[] = { 128, 128, 64 };
	struct tor_torus torus;

	memset(&root, 0, sizeof(root));
	if (tor_torus_init(&torus, 3, side, 1) || tor_node_init(&root, &torus, 1, rank))
		exit(1);
	join = (struct tor_join){ .a.node = &root, .rank = rank, .a.ranks = RANKS, .a.unit = 1344,
				  .a.epoch = zeroed(RANKS, sizeof(u32)), .seen = zeroed(RANKS, 1),
				  .seen_nonce = zeroed(RANKS, sizeof(u32)) };
	tor_join_prepare(&join, "name", 4, "secret", 6);
	tor_join_start(&ctx, &join);
}

static void end(void)
{
	free(join.a.epoch);
	free(join.seen);
	free(join.seen_nonce);
	tor_node_destroy(&root);
}

static void look_at_timer(void)
{
	ctx.now = max(ctx.now, tor_join_due(&root));
	enter();
	tor_join_timer(&ctx, &root);
	leave();
}

/* Rank 0 of 2^20: all come, in the order that makes it look furthest; are told; accept; and are told to go. */
static void join_all(void)
{
	u32 rank;

	begin(0);
	for (rank = RANKS - 1; rank; rank--)
		hears(rank, TORCOLL_COMM_JOIN, 0);
	for (rank = 0; rank < TIMERS; rank++)
		look_at_timer();
	for (rank = RANKS - 1; rank; rank--)
		hears(rank, TORCOLL_COMM_ACCEPT, 0);
	while (!list_empty(&root.joins))
		look_at_timer();
	end();
}

/* Another rank, which is told in pieces who the others are. */
static void join_one(void)
{
	u32 first;

	begin(1);
	for (first = 0; first < RANKS; first += TOR_AGREE_WORDS)
		hears(first, TORCOLL_COMM_READY, TOR_AGREE_WORDS);
	if (join.a.state != TOR_AGREE_ACCEPTING)
		exit(1);
	hears(0, TORCOLL_COMM_GO, 0);
	end();
}

/* Links changed: are the ranks all there? */
static void watch(void)
{
	u32 *epoch = zeroed(RANKS, sizeof(*epoch));
	struct tor_comm comm = { .ranks = RANKS, .joined = true, .epoch = epoch,
				 .away = zeroed(tor_comm_away_words(RANKS), sizeof(u32)) };
	struct tor_watch pass = {};
	struct tor_routes *routes;
	bool all;

	begin(0);
	comm.node = &root;
	routes = tor_routes_build(&root.torus, 0, NULL);
	if (!routes)
		exit(1);
	do {
		enter();
		all = tor_comm_watch(&ctx, &comm, routes, &pass);
		leave();
	} while (!all);
	tor_env_table_free(routes);
	free(epoch);
	free(comm.away);
	end();
}

static struct tor_comm comm;
static struct tor_shrink shrink;
static struct tor_routes *routes;
static u64 timer;

static void shrink_hears(u32 rank, u8 step)
{
	struct tor_hdr h = { .src = rank, .src_epoch = 1 };
	struct tor_comm_msg msg = { .step = step, .name = comm.lineage, .rank = rank,
				    .tag = shrink.a.tag, .frame_bytes = 1344 };

	enter();
	tor_shrink_rx(&ctx, &root, &h, &msg, false);
	leave();
}

static void shrink_timer(void)
{
	ctx.now = max(ctx.now, timer);
	enter();
	timer = tor_shrink_timer(&ctx, &root, routes);
	leave();
}

static bool is_lost(u32 rank)
{
	return rank % (RANKS / 4) == RANKS / 8;
}

/* On @self, which all others but the chief are lost for if it is the last. */
static void shrink_begin(u32 self)
{
	u32 *epoch = zeroed(RANKS, sizeof(*epoch));
	u32 rank;

	begin(self);
	routes = tor_routes_build(&root.torus, self, NULL);
	comm = (struct tor_comm){ .node = &root, .rank = self, .ranks = RANKS, .lineage = 5,
				  .lost_since = 1, .epoch = epoch };
	shrink = (struct tor_shrink){ .a.node = &root, .from = &comm, .a.room = RANKS, .a.unit = 1344,
				      .of = zeroed(RANKS, sizeof(*shrink.of)),
				      .member = zeroed(RANKS, sizeof(u32)),
				      .order = zeroed(RANKS, sizeof(u32)),
				      .a.epoch = zeroed(RANKS, sizeof(u32)) };
	for (rank = 0; rank < RANKS; rank++) {
		epoch[rank] = 1;
		if (is_lost(rank) || (self == RANKS - 1 && rank && rank != self))
			routes->ports[rank] = 0;
	}
	epoch[self] = root.epoch;
}

static void shrink_end(void)
{
	tor_env_table_free(routes);
	free((void *)comm.epoch);
	free(shrink.of);
	free(shrink.member);
	free(shrink.order);
	free(shrink.a.epoch);
	end();
}

static void shrink_start(void)
{
	enter();
	if (tor_shrink_start(&ctx, &shrink, routes))
		exit(1);
	leave();
	timer = shrink.a.repeat;
	while (shrink.chief == TOR_NO_RANK)
		shrink_timer();
}

/* The list of those that belong to the heir is made; then it is in @state. */
static void shrink_list(enum tor_agree_state state)
{
	timer = shrink.a.repeat;
	while (shrink.a.state == TOR_AGREE_LISTING)
		shrink_timer();
	if (shrink.a.state != state || shrink.a.error)
		exit(1);
}

/* The chief of 2^20 ranks of which four are lost: all others call, the very last but first, and accept. */
static void shrink_all(void)
{
	u32 rank;

	shrink_begin(0);
	shrink_start();
	for (rank = 0; rank < TIMERS; rank++)
		shrink_timer();
	for (rank = RANKS - 2; rank; rank--)
		if (!is_lost(rank))
			shrink_hears(rank, TORCOLL_COMM_SHRINK_CALL);
	shrink_hears(RANKS - 1, TORCOLL_COMM_SHRINK_CALL);
	shrink_list(TOR_AGREE_ACCEPTING);
	for (rank = 0; rank < TIMERS; rank++)
		shrink_timer();
	for (rank = RANKS - 1; rank; rank--)
		if (!is_lost(rank))
			shrink_hears(rank, TORCOLL_COMM_SHRINK_ACCEPT);
	if (shrink.a.state != TOR_AGREE_GOING)
		exit(1);
	while (!list_empty(&root.shrinks))
		shrink_timer();
	shrink_end();
}

/* Another rank, which is told in pieces who the others are: all, in no order. */
static void shrink_one(void)
{
	static __be32 word[TOR_AGREE_WORDS];
	struct tor_hdr h = { .src = 0, .src_epoch = 1 };
	struct tor_comm_msg msg = { .step = TORCOLL_COMM_SHRINK_READY, .name = comm.lineage,
				    .ranks = RANKS, .tag = 5, .frame_bytes = 1344,
				    .epochs = TOR_AGREE_WORDS, .epoch = word };
	u32 i;

	shrink_begin(1);
	shrink_start();
	msg.name = comm.lineage;
	for (; msg.missing < RANKS; msg.missing += TOR_AGREE_WORDS / 2) {
		for (i = 0; i < TOR_AGREE_WORDS; i += 2) {
			u32 node = ((msg.missing + i / 2) * 2654435761U) % RANKS;

			word[i] = cpu_to_be32(node);
			word[i + 1] = cpu_to_be32(node == 1 ? root.epoch : 1);
		}
		enter();
		tor_shrink_rx(&ctx, &root, &h, &msg, false);
		leave();
	}
	shrink_list(TOR_AGREE_ACCEPTING);
	shrink_end();
}

/* The last rank, for which only the first is there, and that has left when it is asked. */
static void shrink_last(void)
{
	shrink_begin(RANKS - 1);
	shrink_start();
	shrink_hears(0, TORCOLL_COMM_SHRINK_LEFT);
	while (shrink.chief != RANKS - 1)
		shrink_timer();
	shrink_list(TOR_AGREE_GOING);
	while (!list_empty(&root.shrinks))
		shrink_timer();
	shrink_end();
}

static void longest(const char *what, void (*run)(void), u32 repetitions)
{
	u64 most = 0;
	u32 i;

	room = 0;
	least = NULL;
	for (i = 0; i < repetitions; i++) {
		ctx.now = NSEC_PER_SEC;
		entries = 0;
		run();
	}
	for (i = 0; i < entries; i++)
		most = max(most, least[i]);
	printf("%s %u %.1f\n", what, entries, most / 1e3);
	free(least);
}

int main(int argc, char **argv)
{
	u32 repetitions = argc > 1 ? atoi(argv[1]) : 5;

	longest("flapping-neighbour", flap, repetitions);
	longest("join-rank-0", join_all, repetitions);
	longest("join-member", join_one, repetitions);
	longest("watch", watch, repetitions);
	longest("shrink-chief", shrink_all, repetitions);
	longest("shrink-member", shrink_one, repetitions);
	longest("shrink-last", shrink_last, repetitions);
	return 0;
}
