/* SPDX-License-Identifier: GPL-2.0 */
/* Internals that the files of torcoll-perf share. */
#ifndef TORCOLL_PERF_H
#define TORCOLL_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <torcoll.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_LIST	16

enum format { FORMAT_TABLE, FORMAT_OSU, FORMAT_CSV, FORMAT_JSON };

enum place { OUT_OF_PLACE, IN_PLACE, PLACES };

struct options {
	enum torcoll_collective collective;
	uint64_t min_bytes;
	uint64_t max_bytes;
	uint64_t step_bytes;		/* 0: multiply by factor */
	uint64_t factor;
	uint64_t *counts;		/* elements, instead of the five above */
	size_t ncounts;
	int types[MAX_LIST];
	size_t ntypes;
	int redops[MAX_LIST];
	size_t nredops;
	uint32_t root;
	bool uneven;			/* blocks of different lengths */
	enum torcoll_algorithm algorithm;
	uint32_t param[TORCOLL_PARAM_COUNT];
	unsigned int iters;
	unsigned int warmup;
	unsigned int checks;
	unsigned int offset;		/* of the buffers from a page boundary, bytes */
	uint64_t timeout_ms;		/* of each op, 0: none */
	bool place[PLACES];
	enum format format;
	bool stats;
	bool checksum;
	bool plain;			/* buffers are not registered */
};

/* Counters of the nodes' kernels, over all nodes. */
struct counters {
	uint64_t frames;		/* sent */
	uint64_t retransmits;
	uint64_t forwarded;
};

/* One way of calling, at one size. Times are microseconds per op. */
struct timing {
	double max_us;			/* of the slowest rank */
	double min_us;
	double avg_us;
	/* voluntary context switches per op, maximum over ranks */
	double switches;
	uint64_t wrong;			/* elements, over all ranks */
	bool counted;			/* counters are known */
	struct counters counters;	/* per op */
};

struct result {
	enum torcoll_type type;
	enum torcoll_redop redop;
	uint64_t count;			/* elements of the whole vector */
	uint64_t bytes;			/* of the whole vector */
	enum torcoll_algorithm chosen;
	struct timing timing[PLACES];
};

/* A range of elements of the vector. */
struct part {
	uint64_t first;
	uint64_t n;
};

struct tor_torus;

/* The process's buffers: page boundary, offset, data, guard. */
struct buffer {
	void *map;
	size_t map_bytes;
	uint8_t *data;
};

struct perf {
	const struct options *o;
	struct torcoll *t;
	struct torcoll_comm *comm;
	uint32_t rank;
	uint32_t size;
	struct buffer send;
	struct buffer recv;
	uint64_t *counts;		/* of each rank's block */
	struct tor_torus *grid;		/* of a halo's ranks */
	uint64_t wrong;			/* over all ranks, so far */
	double busbw_sum;
	unsigned int busbw_count;
};

/* options.c */
void options_parse(struct options *o, int argc, char **argv);

/* bench.c */
int bench_size(struct perf *p, struct result *r);

/* data.c: inputs whose results are known and exact */
bool data_knows(enum torcoll_type type, enum torcoll_redop redop);
int data_init(uint32_t ranks);
void data_exit(void);
void data_fill(const struct result *r, uint32_t rank, struct part range, uint8_t *buf);
void data_fill_inexact(const struct result *r, uint32_t rank, struct part range, uint8_t *buf);
uint64_t data_check(const struct result *r, struct part range, const uint8_t *buf, char *first,
		    size_t first_bytes);
uint64_t data_check_first(const struct result *r, uint32_t ranks, struct part range,
			  const uint8_t *buf, char *first, size_t first_bytes);
uint64_t data_check_input(const struct result *r, uint32_t rank, struct part range,
			  const uint8_t *buf);
uint64_t data_checksum(const uint8_t *buf, uint64_t bytes);

/* part.c: this rank's input and result; buffers hold no more than these */
/* Return the number that a vector's count must be a multiple of. */
uint32_t part_granule(const struct perf *p);
bool has_redop(enum torcoll_collective collective);
bool has_root(enum torcoll_collective collective);
bool has_blocks(enum torcoll_collective collective);
struct part part_sent(const struct perf *p, const struct result *r);
struct part part_received(const struct perf *p, const struct result *r);
void part_counts(struct perf *p, const struct result *r);
uint64_t part_check(const struct perf *p, const struct result *r, const uint8_t *buf, char *first,
		    size_t first_bytes);

/* halo.c: what the ranks form; 0 or a negative errno */
int halo_init(struct perf *p);
void halo_exit(struct perf *p);
uint32_t halo_ways(const struct perf *p);
uint32_t halo_neighbour(const struct perf *p, uint32_t way);

/* counters.c */
bool counters_read(struct counters *c);

/* print.c: on rank 0, except the last two */
void print_begin(const struct perf *p);
void print_result(const struct perf *p, const struct result *r);
void print_end(const struct perf *p);
const char *place_name(enum place where);
const char *redop_name(enum torcoll_redop redop);
double result_busbw(const struct perf *p, const struct result *r, const struct timing *t);

#endif
