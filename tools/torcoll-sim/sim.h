/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole fabric of core instances in one process, on a virtual clock.
 * Everything follows from the scenario and its seed, so that every failure can
 * be repeated under a debugger.
 *
 *	clock.c     events in order of virtual time, random numbers
 *	scenario.c  the scenario of a seed
 *	text.c      scenarios as text: to keep, to edit, to replay
 *	env.c       core's environment without a network: memory, CRC, FPU,
 *	            timers
 *	frame.c     frames, and the memory that they refer to
 *	kind.c      counts of frames by kind, and how a fabric comes up
 *	cable.c     ports, cables and their faults
 *	receive.c   reception of frames by a node
 *	node.c      nodes: their ports, crashes and returns
 *	incident.c  incidents of a fabric, at their times
 *	group.c     comms: joining, failing, ending
 *	series.c    slots of ops that are numbered together
 *	op.c        ops: submission, completion
 *	value.c     inputs, and the check of results
 *	packet.c    packets of network devices, and the check of where they get to
 *	judge.c     invariants after every event, and permitted failures
 *	run.c       one scenario from its start to its result
 *	report.c    totals and the table of fault classes
 *	worker.c    many seeds on several processors
 *	minimise.c  search for a smaller scenario that still fails
 *	main.c      options
 */
#ifndef _SIM_H
#define _SIM_H

#include "core/engine/engine.h"
#include "core/agree/join.h"
#include "core/plan/plan.h"
#include "core/link/route.h"
#include "core/packet/seen.h"
#include "core/host_shape.h"
#include "core/torus.h"

#define SIM_MILLION		1000000	/* probabilities are in millionths */
#define SIM_NODES_MAX		4096
#define SIM_GROUPS_MAX		4
#define SIM_CALLS_MAX		256
#define SIM_INCIDENTS_MAX	16

struct sim_node;
struct tor_intact;

/* --- clock.c --- */

typedef void (*sim_event_fn)(void *arg);

/*
 * Call @fn at @when, unless @owner (or NULL) crashes before; later if it is
 * paused.
 */
void sim_at(u64 when, struct sim_node *owner, sim_event_fn fn, void *arg);

/* Run the next event. False: there is none. */
bool sim_step(void);
void sim_clock_reset(u64 seed);

u64 sim_random(void);
/* Return a random number below @n; 0 if @n is 0. */
u64 sim_below(u64 n);
/* Return true in so many of a million cases. */
bool sim_chance(u64 millionths);

/* --- scenario.c --- */

/* Fault classes of a run; many seeds must meet each. */
enum sim_class {
	SIM_LOSS,
	SIM_DUPLICATION,
	SIM_REORDERING,
	SIM_HEADER_CORRUPTION,
	SIM_PAYLOAD_CORRUPTION,
	SIM_DELAY,
	SIM_FULL_QUEUE,
	SIM_NO_MEMORY,
	SIM_NO_FPU,
	SIM_LATE_PAYLOAD,
	SIM_CUT,
	SIM_ONE_WAY_CUT,
	SIM_FLAPPING,
	SIM_CRASH,
	SIM_RETURN,
	SIM_REROUTE,
	SIM_SLOW_NODE,
	SIM_LATE_RANK,
	SIM_PROCESS_ABORT,
	SIM_CANCEL,
	SIM_MISMATCH,
	SIM_DEADLINE,
	SIM_OVERLAP,
	SIM_SUB_TORUS,
	SIM_LIST,
	SIM_BUDGET,		/* more work than one entry may do */
	SIM_PACKET,
	SIM_PACKET_AGAIN,	/* a group frame came to a node for the second time */
	SIM_CLASSES
};

extern const char *const sim_class_names[SIM_CLASSES];

/* An event that happens once, at some time or at some call. */
enum sim_incident_kind {
	SIM_INCIDENT_NONE,
	/* cable @port (its number) of @node, from @at until @until (0: for good) */
	SIM_INCIDENT_CUT,
	SIM_INCIDENT_FLAP,	/* likewise, repeatedly: @down ns of every @period */
	SIM_INCIDENT_CRASH,	/* @node, back at @until (0: never) */
	SIM_INCIDENT_PAUSE,	/* @node does nothing */
	SIM_INCIDENT_SLOW,	/* @node takes @factor times as long */
	SIM_INCIDENT_KILL,	/* the process on @node dies, in all its groups */
	SIM_INCIDENT_CANCEL,	/* @rank of @group gives up */
	SIM_INCIDENT_MISMATCH,	/* @rank of @group makes call @call with another count */
	SIM_INCIDENT_ABSENT,	/* @rank of @group never makes call @call; others wait @patience */
	SIM_INCIDENT_LATE,	/* @rank of @group makes call @call @patience ns later */
	SIM_INCIDENT_KINDS
};

struct sim_incident {
	u64 kind;
	u64 node, port;
	u64 at, until;
	u64 period, down;
	u64 one_way;		/* only frames from @node are lost */
	u64 carrier;		/* the ports lose carrier */
	u64 factor;
	u64 group, rank, call;
	u64 patience;
};

struct sim_call {
	u64 collective, algorithm, type, redop, bits, root;
	u64 peer;		/* to which @root sends a message; others do not call */
	/* enum torcoll_param; 0: the preset */
	u64 channels, r, blocks, variant, chunks;
	u64 count;
	u64 uneven;		/* blocks of different lengths, for allgather and reduce-scatter */
	u64 rounds;		/* inputs whose float sums depend on the order */
	u64 input;		/* calls with the same one have the same inputs */
};

struct sim_group_spec {
	u64 ranks;
	u64 whole;		/* rank i is node i, and members are not listed */
	u32 member[SIM_NODES_MAX];
	u64 depth;
	u64 pace;		/* minimum ns from one call to the next */
	u64 blocking;		/* a rank makes no call before it has the result of the last */
	u64 calls;
	struct sim_call call[SIM_CALLS_MAX];
};

struct sim_scenario {
	u64 seed;
	char dims[32];
	u64 cables;
	u64 per_link;		/* cables of each link */
	struct tor_torus torus;	/* from dims and cables */

	u64 frame_size;		/* behind the MAC header */
	u64 delay;		/* of a cable, ns */
	u64 rate;		/* of a cable, Mb/s */
	u64 queue;		/* frames that a port holds */
	u64 acks_first;		/* frames without payload do not wait for others there */
	u64 swift;		/* hosts take no time for frames */
	u64 hello;		/* ns between hellos */
	u64 skew;		/* maximum delay of ranks before a call, ns */
	u64 timer_slack;	/* maximum delay of timers, ns */
	u64 shatter;		/* memory and payloads consist of small pieces of odd lengths */
	u64 no_checksum;	/* payloads carry no CRC */
	/*
	 * budget of core per entry, see struct tor_budget; 0: as in the module
	 */
	u64 budget_bytes;
	u64 budget_frames;
	/* no rank calls an op before all have retired the slot's last one */
	u64 lockstep;

	/* millionths of frames, allocations, FPU sections */
	u64 loss, duplicate, reorder, corrupt_header, corrupt_payload, spike;
	u64 no_memory, no_fpu, late_payload;

	u64 packets;		/* sent by network devices, all nodes together */
	u64 packet_gap;		/* ns between two of them */

	u64 epilogue;		/* at the end survivors make a comm, which must work */
	u64 groups;
	struct sim_group_spec group[SIM_GROUPS_MAX];
	u64 incidents;
	struct sim_incident incident[SIM_INCIDENTS_MAX];
};

/* Values of the command line; negative ones, 0 and NULL are drawn. */
struct sim_options {
	const char *dims;
	int cables;
	int per_link;
	int collective;
	int algorithm;
	int type;
	int redop;
	s64 count;
	int calls;
	int depth;
	int frame_size;
	s64 packets;
	s64 loss, duplicate, reorder, corrupt, no_fpu, no_memory, late_payload;
	u32 without;		/* bit per class that is not drawn */
	bool clean;		/* a fabric without faults */
	bool trace;
	bool stop;			/* at the first seed that fails */
	bool check_all;		/* all nodes after every event, not only the one concerned */
	u64 limit;		/* virtual time until a run counts as stuck, ns */
};

extern struct sim_options sim_options;

/*
 * Draw a scenario. False: the options exclude each other; prints the reason on
 * stderr.
 */
bool sim_scenario_draw(struct sim_scenario *s, u64 seed);
/* Set up @s->torus from its sides. */
bool sim_scenario_shape(struct sim_scenario *s);
/* Set the parameters of a plan. */
void sim_call_params(const struct sim_call *call, u32 *param);
/* Return whether the call can be planned. */
bool sim_call_is_served(const struct sim_scenario *s, const struct sim_group_spec *g,
			const struct sim_call *call, const char **why);
/* Return whether a group's ranks are a row, a plane or a block of the torus. */
bool sim_group_is_box(const struct sim_scenario *s, const struct sim_group_spec *g);
/* Return a number of which the count of the call must be a multiple. */
u64 sim_call_blocks(const struct sim_group_spec *g, const struct sim_call *call);
/* Compute the blocks of a call with uneven ones. */
void sim_call_counts(const struct sim_call *call, u64 ranks, u64 *counts);
/* Remove everything of a class from a scenario. False: there was nothing. */
bool sim_scenario_drop(struct sim_scenario *s, enum sim_class class);
bool sim_incident_breaks(const struct sim_incident *i);

/* --- text.c --- */

int sim_type_parse(const char *name);
int sim_redop_parse(const char *name);
const char *sim_type_name(u32 type);
const char *sim_redop_name(u32 redop);
int sim_class_parse(const char *name);
void sim_scenario_write(const struct sim_scenario *s, void *file);
bool sim_scenario_read(struct sim_scenario *s, const char *path);

/* --- the fabric --- */

struct tor_mem {
	u8 *data;
	u64 len;
	/* place of run ends: as if the memory began at this offset in a page */
	u32 phase;
	u32 refs;			/* the op, and every frame that refers to it */
	/* its op was aborted: it may change while frames refer to it */
	bool given_up;
};

/* One frame in flight. */
struct sim_frame {
	u32 hdr_len;
	u8 hdr[TOR_WIRE_HEADER_MAX];
	u8 *linear;			/* payload, or */
	u32 linear_len;
	struct tor_range range[TOR_FRAME_RANGES];	/* where it still is */
	u32 ranges;
	u32 crc;			/* of the payload when it was sent */
	bool given_up;			/* read from memory whose op was aborted */
	bool damaged;			/* by a cable */
	bool again;			/* one that a cable has repeated */
	bool hello;
	u32 packet;			/* its number, see packet.c; 0: it is none */
	u32 hops;			/* cables that the packet has crossed */
	/* its origin */
	struct sim_node *from;
	u32 from_life;
	u32 out_port;
	bool spread;			/* by any cable of the link of @out_port */
	u8 type;			/* as built */
	bool data;
	bool late;
	u64 left;
	/* its destination */
	struct sim_node *to;
	u32 in_port;
	struct sim_frame *next;		/* of the same entry */
	struct list_head all;
};

struct sim_port {
	u64 busy_until;
	u64 *leaving;			/* ring: when the frames in the queue will have left */
	u32 room;			/* of the ring, which grows as far as the queue does */
	u32 sent;
	u32 first, held;
	/* reasons why frames that leave by this port are lost */
	u32 cuts;
	u32 unplugged;			/* reasons why it has no carrier */
	bool up;			/* as reported to core last */
	u64 fell;			/* when core last reported it down, ns; 0: never */
};

struct sim_rank;

struct sim_node {
	struct tor_node core;
	struct tor_routes *routes;
	struct tor_routes *unhurt;	/* without dead links, once it was needed */
	struct tor_tree tree;
	struct tor_seen *seen;
	struct sim_port port[TOR_MAX_CABLES];	/* by number of the cable */
	bool alive;
	u32 life;			/* counts crashes */
	u64 crashed;			/* time of the last one, ns */
	u64 paused_until;
	u64 factor;			/* how much slower it is */
	u64 cpu_free;
	u64 join_due;
	u32 downs;			/* of links, that its channels know of */
	u32 changes;			/* of links, that its routes know of */
	u64 turns;			/* frames may turn round until then, ns */
	u64 look_due;
	bool view_changed;		/* since its routes were searched */
	bool whole;			/* it knows all links to be up, and so do its routes */
	struct tor_damper searches;
	u64 counters[TOR_C_COUNT];
	struct sim_rank *rank[SIM_GROUPS_MAX + 1];	/* by group; NULL: no member */
};

struct sim_chan {
	struct tor_chan core;
	struct sim_rank *rank;
	u64 when;
	bool works;			/* a process will continue it */
};

struct sim_op {
	struct tor_op core;
	struct sim_rank *rank;
	struct sim_op *other;		/* of the rank's slots */
	struct sim_chan *chan;
	u32 call;			/* its number, of those of the comm */
	struct tor_mem *data, *temp, *input;
	u64 *taken;			/* with @input, see input.h */
	u64 *counts;
	u64 submitted;			/* time, ns */
	bool running;
	bool done;
	struct sim_ledger *ledger;
	struct sim_op *next;		/* retired in the same entry */
};

/* Ops that a rank numbers consecutively: collectives, or messages to or from another. */
struct sim_series {
	struct sim_rank *rank;
	struct sim_series *next;	/* of the rank's */
	u8 role;			/* enum tor_role */
	u32 peer;			/* of messages */
	u32 submitted;			/* number of the last op */
	struct sim_op *slot;
};

/* Acts of a rank that may make others fail. */
enum sim_deed {
	SIM_DID_CANCEL = 1,
	SIM_DID_DIE = 2,		/* the process */
	SIM_DID_MISMATCH = 4,
	SIM_DID_TIME_OUT = 8,
	SIM_DID_NOT_JOIN = 16,
};

struct sim_rank {
	struct tor_comm core;
	struct tor_join join;
	struct sim_group *group;
	struct sim_node *node;
	struct sim_series *series;
	struct sim_op *ops;		/* all slots */
	bool *refused;			/* by rank: messages that came before there were slots */
	u32 number;
	bool joining;
	bool installed;
	bool joined;
	bool gone;			/* with its node */
	bool closed;			/* its process died */
	bool waits;			/* for a slot */
	u64 waits_since;
	bool told;			/* that the comm failed, by another rank */
	bool failed;
	u32 deeds;
	u32 tellings;			/* rounds of telling the others */
	u32 told_now;			/* ranks told in this one */
	bool telling;			/* it goes on by itself */
	u32 submitted;			/* number of the last call */
	u32 done;			/* calls, with those that it has no part in */
	u32 retired;
	u64 next_call;			/* not before, ns */
	u64 pays;			/* owed acknowledgements, ns; 0: no timer */
};

/* Known parts of the right result of a call. */
struct sim_result;

struct sim_group {
	u32 number;
	const struct sim_group_spec *spec;
	u32 *order;			/* ranks sorted by node */
	struct sim_rank *rank;
	struct sim_result *result;	/* by input */
	u64 started;
	u64 failed;			/* when the first rank did, ns; 0: none did */
	u64 doomed;			/* time from which it must fail, ns; 0: it need not */
	/* time from which no path joins all members, ns; 0: one does */
	u64 parted;
	bool was_parted;
	bool lost_host;			/* a member crashed */
	bool mismatched;
	bool connected;			/* links joined all members at some time */
	u64 called[SIM_CALLS_MAX + 1];	/* by call: when the last rank so far called, ns */
};

/* Requests of core during one entry, handled at its end. */
struct sim_ctx {
	struct tor_ctx core;
	struct sim_node *node;
	struct sim_frame *frames, **last_frame;
	struct sim_rank *failed[SIM_GROUPS_MAX + 1];
	u32 nfailed;
	struct sim_rank *joined[SIM_GROUPS_MAX + 1];
	u32 njoined;
	struct sim_op *retired;
};

#define SIM_ERRNO_MAX	134

/* Frames of a type, by the number of the type; plain numbers as in struct sim_totals. */
#define SIM_KINDS	(TORCOLL_FRAME_PACKET + 1)

struct sim_kind {
	u64 sent;			/* by their origin; those that it has no route for are not among them */
	u64 crossed;			/* cables */
	u64 hop_limit;			/* that it ended */
	u64 no_route;			/* at their origin or on their way */
};

/* Sums over runs; plain numbers, since workers add them in shared memory. */
struct sim_totals {
	u64 seeds;
	u64 passed;
	u64 counters[TOR_C_COUNT];
	u64 ops;
	u64 aborted;
	u64 frames;
	struct sim_kind kind[SIM_KINDS];
	u64 nodes;
	u64 settled;			/* when all nodes knew all links to be up, ns after the start */
	u64 served;			/* when the last rank had its first result, likewise */
	u64 crossed;			/* cables, by all frames until then */
	u64 packets;			/* sent */
	u64 arrivals;			/* of packets at a node that they were for */
	u64 due;			/* of these, those that nothing could prevent */
	u64 cuts;			/* of cables */
	u64 rerouted;			/* frames that took another port than without faults */
	u64 met[SIM_CLASSES];		/* seeds that met the class */
	u64 errors[SIM_ERRNO_MAX];	/* ranks whose comm failed with that error */
	u64 refused;			/* joins */
	u64 epilogues;
	u64 slowest;			/* op, from the last rank's call on, ns */
	u64 slowest_seed;
	u64 slowest_failure;		/* of an op, from the time when it had to, ns */
	u64 slowest_failure_seed;
	u64 lost;			/* frames, by the cables */
	u64 allocations;		/* by core, while frames and ops are handled */
	u64 fpu_sections;
	u64 summed;			/* bytes of payloads that core computed checksums of */
	u64 virtual_time;
};

/* A rank to look at first. */
struct sim_hint {
	u32 group, rank;
};

extern struct sim {
	u64 now;
	struct sim_scenario scenario;
	struct sim_node *node;
	struct sim_group group[SIM_GROUPS_MAX + 1];	/* the last is the epilogue's */
	u32 groups;
	struct sim_hint unfinished, unserved;
	struct sim_group_spec epilogue;
	u32 unit;
	u64 disturbed;			/* when a cable or node was last cut, mended, lost or gained, ns */
	u64 telling;			/* when a rank last began to tell others of a failure, ns */
	u64 quiet_from;			/* when the last incident is over, ns */
	u64 allocated;			/* by core, not freed */
	u64 kept;			/* bytes of early frames that comms pay for */
	u32 met;			/* classes, by bit */
	bool failed;
	char why[256];
	struct list_head all_frames;
	struct sim_packet *packet;	/* by number */
	u64 frames;			/* but hellos, given to ports */
	u64 took;			/* by the last op that ended, see sim_totals.slowest */
	u32 whole;			/* nodes that know all links to be up */
	struct sim_totals totals;	/* of this run */
} sim;

#ifndef __printf
#define __printf(a, b)	__attribute__((__format__(__printf__, a, b)))
#endif

/* Record a failure of this run; the first is kept. */
__printf(1, 2) void sim_fail(const char *format, ...);
__printf(2, 3) void sim_trace(const struct sim_node *node, const char *format, ...);
static inline void sim_meet(enum sim_class class)
{
	sim.met |= 1U << class;
}

/* --- env.c --- */

struct tor_mem *sim_mem_new(u64 len);
void sim_mem_get(struct tor_mem *mem);
void sim_mem_put(struct tor_mem *mem);

/* Every call of core is between these two. */
void sim_enter(struct sim_ctx *ctx, struct sim_node *node);
void sim_leave(struct sim_ctx *ctx);

/* --- frame.c --- */

u32 sim_frame_payload(const struct sim_frame *f);
struct sim_frame *sim_frame_new(struct sim_node *from, const struct tor_frame *frame);
struct sim_frame *sim_frame_clone(const struct sim_frame *f);
void sim_frame_free(struct sim_frame *f);
/* Read the payload now. */
void sim_frame_copy(struct sim_frame *f);
/* Return the payload as the module would see it: a list of arbitrary pieces. */
struct tor_bytes *sim_frame_pieces(const struct sim_frame *f, u32 *n);
void sim_frame_trace(const struct sim_node *node, const char *what, const struct sim_frame *f);

/* --- kind.c --- */

void sim_kind_sent(const struct sim_frame *f);
void sim_kind_crossed(const struct sim_frame *f);
/* Record that a frame of a type ends: @why is a counter of drops. */
void sim_kind_ended(u8 type, enum tor_counter why);
/* Record whether a node knows all links to be up. */
void sim_kind_look(struct sim_node *node);
/* Record that a rank has the result of its op @seq. */
void sim_kind_served(u32 seq);
void sim_kind_report(const struct sim_totals *t);

/* --- cable.c --- */

/* Send the frames that core built in this entry to their ports. */
void sim_frames_send(struct sim_ctx *ctx);
/* Return the number of a cable at its other end: those of a link are crossed. */
u32 sim_cable_back(u32 cable);
/* Return the cable of a link whose queue is empty first; TOR_NO_PORT: none is up. */
u32 sim_shortest_cable(const struct sim_node *node, u32 link);
/* Return a cable of a link for a packet of a flow. */
u32 sim_flow_cable(const struct sim_node *node, u32 link, u32 flow);
/*
 * Queue a frame at a port. False: it is full, and the caller keeps the frame.
 */
bool sim_port_send(struct sim_node *node, struct sim_frame *f, u32 port);
/* Return whether the node's view of the link lets frames through. */
bool sim_port_up(const struct sim_node *node, u32 port);
/* Return whether a frame may go back to where it came from: see route.h. */
bool sim_may_turn(const struct sim_node *node);
/* Return the link for a destination, with known links; TOR_NO_PORT: none. */
u32 sim_route(struct sim_node *node, u32 dst, u32 tie, u32 from);
/* Begin or stop losing frames towards the neighbour. */
void sim_cable_cut(struct sim_node *node, u32 port, bool cut);
void sim_cable_unplug(struct sim_node *node, u32 port, bool out);

/* --- receive.c --- */

/* Receive a frame at its node's port. */
void sim_receive(void *frame);

/* --- packet.c --- */

void sim_packets_start(void);
void sim_packets_free(void);
/* Receive one that came by a link that is up. */
void sim_packet_receive(struct sim_node *node, struct sim_frame *f, const struct tor_intact *in);
/* Record that a fault has taken a copy: it need not arrive. */
void sim_packet_excuse(const struct sim_frame *f);
/* Record that a link or node came or went: those under way need not arrive. */
void sim_packets_disturbed(void);
/* Record that a node has lost what it knew of packets. */
void sim_packets_forget(const struct sim_node *node);
/* Check at the end that all arrived that had to. */
void sim_judge_packets(void);

/* --- node.c --- */

void sim_nodes_start(void);
void sim_nodes_free(void);
void sim_node_crash(struct sim_node *node);
/* Update the node's routes and comms, now and as long as core requests it. */
void sim_node_look(struct sim_node *node);
void sim_node_return(struct sim_node *node);

/* --- incident.c --- */

void sim_incidents_start(void);
/* Return the incident of a rank with its call @call, or NULL. */
const struct sim_incident *sim_incident_at(enum sim_incident_kind kind, const struct sim_rank *r,
					   u32 call);
/* Return how long the others wait for a call that a rank never makes, or 0. */
u64 sim_patience(const struct sim_group *g, u32 call);

/* --- group.c --- */

void sim_group_start(const struct sim_group_spec *spec);
void sim_groups_free(void);
bool sim_groups_finished(void);
void sim_groups_leave(void);
void sim_groups_describe(void);
void sim_rank_free(struct sim_rank *r);
struct sim_rank *sim_rank_of(struct sim_node *node, u32 tag);
/* Do the work that is left at the end of an entry. */
void sim_rank_failed(struct sim_ctx *ctx, struct sim_rank *r);
/* Links went down: as tor_group_tell_again(). */
void sim_rank_tell_again(struct sim_rank *r);
void sim_rank_joined(struct sim_rank *r);
/* Stop a rank on its own initiative. */
void sim_rank_cancel(struct sim_rank *r);
void sim_rank_kill(struct sim_rank *r);
/* Tell a rank if it is at an op that will never be called here. */
void sim_rank_tell_if_left(struct sim_ctx *ctx, struct sim_rank *r, struct tor_chan *chan,
			   u32 op);
/* Repeat unanswered messages of a join, now and as long as needed. */
void sim_join_poll(void *node);

/* --- series.c --- */

struct sim_series *sim_series_make(struct sim_rank *r, u8 role, u32 peer);
/* Return a series, or NULL. */
struct sim_series *sim_series_find(const struct sim_rank *r, u8 role, u32 peer);
/* Return the series of a call, in which the rank has a part; it is made if there is none. */
struct sim_series *sim_series_of(struct sim_rank *r, const struct sim_call *call);
/*
 * Return the channel of a frame between a rank and @rank: from there, or the @own
 * one's. NULL: there is none, or not yet.
 */
struct sim_chan *sim_rank_chan(struct sim_rank *r, u32 rank, u32 op, const struct tor_where *where,
			       bool own);
/* Free all of a rank. */
void sim_series_free(struct sim_rank *r);

static inline struct sim_op *sim_slot(const struct sim_series *series, u32 seq)
{
	return &series->slot[seq % series->rank->core.depth];
}

/* --- op.c --- */

void sim_rank_call(void *rank);
/* Make the next call when it is time. */
void sim_rank_next_call(struct sim_rank *r);
void sim_op_recycle(struct sim_ctx *ctx, struct sim_op *op);
void sim_op_free(struct sim_op *op);

/* --- value.c --- */

/* Return whether sim_value_check() knows the results of a collective. */
bool sim_value_knows(u32 collective);
void sim_value_fill(const struct sim_group *g, const struct sim_call *call, u32 rank, u8 *to);
void sim_value_check(struct sim_group *g, const struct sim_op *op, u32 rank);
void sim_values_free(struct sim_group *g);

/* --- judge.c --- */

/* Record that a data frame was accepted: only once. */
void sim_judge_accepted(struct sim_op *op, u32 rank, const struct tor_hdr *h);
void sim_ledger_free(struct sim_op *op);
/* Check the invariants after every event. */
void sim_judge_event(const struct sim_node *node);
/* Check an op that is over, with all that was sent for it. */
void sim_judge_retired(const struct sim_op *op);
void sim_judge_aborted(const struct sim_op *op);
/* Check that the rank's comm may fail as it did. */
void sim_judge_error(struct sim_rank *r);
void sim_judge_join(struct sim_rank *r);
/* A link came or went: compute who can reach whom. */
void sim_judge_paths(void);
/* Check repeatedly that all have heard in time. */
void sim_judge_start(void);
/* Check that nothing is left at the end. */
void sim_judge_idle(void);
void sim_judge_clean(void);
/* Find the living nodes that can reach the first of them. */
u32 sim_survivors(u32 *member);

/* --- run.c --- */

/* Run a scenario. False: it failed, and sim.why has the reason. */
bool sim_run(void);

/* --- report.c --- */

void sim_totals_add(struct sim_totals *to, const struct sim_totals *t);
void sim_report(const struct sim_totals *t);
/*
 * Return how many demands are not met, such as classes that too few seeds met;
 * prints them.
 */
u32 sim_report_cover(const struct sim_totals *t);
/*
 * Return how many requested faults never happened; prints them. A run without
 * them proves nothing.
 */
u32 sim_report_asked(const struct sim_totals *t);

/* --- worker.c --- */

/* Run seeds. Return how many failed, or -1 if options exclude each other. */
s64 sim_workers_run(u64 first, u64 seeds, u32 jobs, struct sim_totals *totals);
/*
 * Run one scenario in a process of its own. True: it passed; @why, 256 bytes:
 * its failure.
 */
bool sim_worker_try(const struct sim_scenario *s, char *why);

/* --- minimise.c --- */

/* Shrink sim.scenario, which fails. False: it does not fail. */
bool sim_minimise(struct sim_scenario *s);

#endif
