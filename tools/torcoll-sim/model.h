/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine `model`: times of collectives by core's model, on fabrics of any
 * size, and plots of them. The engine `both`: beside those of simulated frames.
 */
#ifndef _TORCOLL_SIM_MODEL_H
#define _TORCOLL_SIM_MODEL_H

#include <stdio.h>

#include "core/choose/choose.h"

#define MODEL_NAME	64

enum model_topology { MODEL_TORUS, MODEL_HAMMINGMESH, MODEL_HYPERX, MODEL_SWITCH };

/**
 * struct model_fabric - what is wired how
 * @torus: shape
 * @topology: what lies between the nodes
 * @board: HammingMesh: side of a board
 * @name: sides, as in 4x4, and what is no torus
 */
struct model_fabric {
	struct tor_torus torus;
	enum model_topology topology;
	u32 board;
	char name[MODEL_NAME];
};

/**
 * struct model_profile - how fast it is, and what it may do
 * @crossing: HammingMesh: hops that the way from board to board counts as, by a
 *	cable, switches and another cable
 * @one_port: latency forms, and recursive doubling, use one port at a time, as
 *	in the papers
 * @lat_ports: but Swing's latency form
 */
struct model_profile {
	const char *name;
	struct tor_rates rates;
	u32 crossing;
	bool one_port;
	bool lat_ports;
};

/**
 * struct model_run - a question
 * @algorithms: those wanted, a bit 1 << enum torcoll_algorithm each
 * @everything: all that can be told soon; else @algorithms however long it
 *	takes
 * @sizes: bytes of vectors
 */
struct model_run {
	struct model_fabric fabric;
	struct model_profile profile;
	u32 collective;
	u32 algorithms;
	bool everything;
	const u64 *sizes;
	u32 nsizes;
};

/**
 * struct model_row - an answer: an algorithm with its best parameters for a size
 * @offer: the plan
 * @is_auto: it is what `auto` takes
 * @time: ps
 * @other: the fastest family of another name, or 0
 * @gain: its time over this one's, minus 1
 */
struct model_row {
	const struct tor_offer *offer;
	bool is_auto;
	u64 bytes;
	u64 time;
	u32 other;
	double gain;
};

struct model_answer {
	struct tor_offers offers;
	struct model_row *row;		/* by size, then algorithm; auto first */
	u32 rows;
};

/* Parse sides, as in 4x4, into @fabric; false if they are invalid. */
bool model_fabric_init(struct model_fabric *fabric, const char *dims, enum model_topology topology,
		       u32 board);

/*
 * Return the ports of a node, half a port for one in each direction: the
 * bandwidth bound is m / (ports / 2).
 */
double model_ports(const struct model_fabric *fabric);

/*
 * Compute the cost of a plan on the fabric of a run, as tor_cost_plan() does. On
 * a HammingMesh hops are those of the longest chain of messages: see
 * model_chain.c.
 */
int model_cost(const struct model_run *run, const struct tor_call *call, struct tor_cost *cost,
	       const char **why);

const struct model_profile *model_profile_find(const char *name);

/**
 * model_ask - answer a question
 * @run: the question
 * @answer: to be filled in; free it with model_answer_free()
 * @why: if there is no row: the last refusal
 */
void model_ask(const struct model_run *run, struct model_answer *answer, const char **why);
void model_answer_free(struct model_answer *answer);

/* Find the row of an algorithm (0: auto) for the @i-th size, or NULL. */
const struct model_row *model_row_find(const struct model_answer *answer, const struct model_run *run,
				       u32 i, u32 algorithm);

/*
 * Find the fastest of several algorithms (a set as in struct model_run), or
 * NULL.
 */
const struct model_row *model_row_best(const struct model_answer *answer, const struct model_run *run,
				       u32 i, u32 algorithms);

/* --- frames --- */

/**
 * struct model_cable - cables, and ports, of simulated frames
 * @rate: Mb/s
 * @delay: ns, from the end of a frame at its sender to its reception
 * @frame_size: largest frame behind the MAC header, bytes
 * @in_order: acknowledgements wait for the data ahead of them
 */
struct model_cable {
	u64 rate;
	u64 delay;
	u32 frame_size;
	bool in_order;
};

/* Return the rates of a fabric of such cables and hosts that take no time. */
struct tor_rates model_cable_rates(const struct model_cable *cable);

/* Prepare to execute plans. */
void model_frames_begin(void);

/*
 * Execute a row's plan by the cores of a fabric of such cables. Return ns from
 * the call, which all ranks make at once, to the last result; 0: it failed,
 * which is said on stderr.
 */
u64 model_frames_run(const struct model_run *run, const struct model_cable *cable,
		     const struct model_row *row);

/* --- chains --- */

/**
 * struct model_chain - longest chains of messages, by the node where they end
 * @torus: shape
 * @before: most hops before the round
 * @after: the same after it, for the while
 * @message: those of the round, all nodes'
 * @messages: their number
 * @room: messages for which there is memory
 * @rounds: rounds before this one
 */
struct model_chain {
	const struct tor_torus *torus;
	u32 *before;
	u32 *after;
	struct model_link {
		u32 src, dst, hops;
	} *message;
	size_t messages;
	size_t room;
	u32 rounds;
};

void model_chain_begin(struct model_chain *c, const struct tor_torus *torus);

/* Add a message that the tally is about to count, and those that it stands for. */
void model_chain_add(struct model_chain *c, const struct tor_tally *t, u32 src, u32 dst, u32 hops);

/* End it. Return the hops of the longest chain. */
u32 model_chain_end(struct model_chain *c, const struct tor_tally *t);

/* --- what the Swing paper prints --- */

#define PAPER_SIZES	13		/* 32 bytes to 512 MiB, times 4 */

/**
 * model_paper_draw - compute the curves of one of its figures
 * @run: question that a figure answers, for PAPER_SIZES sizes
 * @figure: 12 to 14
 * @csv: gets a line per size: all curves, each with the paper's beside it
 * @gnuplot: gets the same as data, for model_paper_plot()
 */
void model_paper_draw(const struct model_run *run, u32 figure, FILE *csv, FILE *gnuplot);
void model_paper_plot(FILE *gnuplot);

/* --- printing --- */

enum model_format { MODEL_TABLE, MODEL_CSV, MODEL_JSON };

void model_print_head(FILE *out, enum model_format format, int argc, char **argv);
void model_print(FILE *out, enum model_format format, const struct model_run *run,
		 const struct model_answer *answer);

/* Print a row's time beside that of simulated frames, @ns. */
void model_print_frames_head(FILE *out, enum model_format format);
void model_print_frames(FILE *out, enum model_format format, const struct model_run *run,
			const struct model_row *row, u64 ns);

/* Print the choice of auto alone, as CSV. */
void model_print_auto(FILE *out, const struct model_run *run, const struct model_answer *answer);

/* Execute `torcoll-sim plot NAME [DIR]`. Return an exit code. */
int model_plot(int argc, char **argv);

/*
 * Return whether the engine `model` or `both`, or a plot, is requested:
 * model_main() then executes all of it.
 */
bool model_wanted(int argc, char **argv);
int model_main(int argc, char **argv);
void model_usage(FILE *to);

void *model_alloc(size_t n, size_t size);

#endif
