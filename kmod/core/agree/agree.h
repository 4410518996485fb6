/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Agreements: one node, the chief, hears all others, tells them the members,
 * and lets them start.
 *
 * Every agreement takes this course, however its members are determined:
 *
 *	others            chief
 *	call  ----------->        the node is ready
 *	      <-----------  wait  call received, others are missing
 *	      <-----------  ready tag, frame size, epochs; long lists in pieces
 *	accept ---------->        tag installed
 *	      <-----------  go    all have installed it
 *
 * Two policies use it, each with its own messages:
 *
 *	join.h		all of a list must come; rank 0 is the chief; a rank that
 *			gives up before all have come may come again, later it
 *			makes the join fail for all
 *	shrink.h	the living ranks; the lowest of them is the chief;
 *			unreachable ranks are left out
 *
 * This file has their common parts: states, what was heard of each rank, the
 * cursor over the ranks that the chief tells, the reception of the chief's
 * messages, and repetition. Membership and the consequence of a loss belong to
 * the policies: a missing rank has opposite consequences in them, and the chief
 * may change during a shrink.
 *
 * Ranks that share a node send each other no messages. They meet under one
 * mutex (kmod/local/team.c) before their node joins as one member. Nothing is
 * repeated, lost or sent in portions there, so that is no agreement of this
 * kind.
 *
 * Serialisation: the node's lock (node.h), held around every call here.
 */
#ifndef _TOR_CORE_AGREE_H
#define _TOR_CORE_AGREE_H

#include "core/engine/engine.h"

#define TOR_AGREE_REPEAT	(20 * NSEC_PER_MSEC)
#define TOR_AGREE_REPEAT_MAX	(320 * NSEC_PER_MSEC)
/* in one message; longer lists take several */
#define TOR_AGREE_WORDS		128
/* calls that came early: the longest time between two of a member, and some */
#define TOR_EARLY_KEPT		(TOR_AGREE_REPEAT_MAX + 4 * TOR_AGREE_REPEAT)
#define TOR_AGREE_PACE		(100 * NSEC_PER_USEC)	/* between two budgets of messages */

enum tor_agree_state {
	TOR_AGREE_CALLING,		/* others send call; the chief waits for it */
	TOR_AGREE_LISTING,		/* shrinking: choose and sort the members of the heir */
	TOR_AGREE_ACCEPTING,		/* the chief sends ready; others send accept */
	TOR_AGREE_GOING,		/* the chief: all have agreed and are told so */
	TOR_AGREE_REFUSING,		/* joining, the chief: it failed, all are told why */
	TOR_AGREE_DONE
};

/* What the chief has heard of a rank. */
enum tor_agree_heard {
	TOR_AGREE_SILENT,
	TOR_AGREE_CALLED,
	TOR_AGREE_ACCEPTED,
	TOR_AGREE_LEFT,
};

struct tor_agree;

/**
 * struct tor_agree_policy - differences between agreements
 * @concerns: the chief: whether the message of this state goes to that rank
 * @say: the chief: send it; of a list, from entry @first on
 * @done: the agreement has ended; its owner takes it back
 * @words: of each entry of a list
 */
struct tor_agree_policy {
	bool (*concerns)(const struct tor_agree *a, u32 rank);
	void (*say)(struct tor_ctx *ctx, const struct tor_agree *a, u32 rank, u32 first);
	void (*done)(struct tor_ctx *ctx, struct tor_agree *a);
	u32 words;
};

/**
 * struct tor_agree - an agreement, as one node sees it
 * @node: this node
 * @told: number of ranks that the chief tells, itself included
 * @ranks: number of ranks agreed on
 * @room: entries allocated for @epoch
 * @epoch: of each rank's node, filled in by the agreement; zeroed
 * @filled: entries of @epoch received from the chief
 * @unit: payload bytes per frame: offered, then agreed
 * @tag, @generation: agreed
 * @missing: a rank that is waited for, or TOR_NO_RANK
 * @error: when done, or TOR_AGREE_REFUSING
 * @turn, @part: the chief only: next rank to tell the state's message, and its
 *	next entry
 * @repeat: when to repeat the last message, or send the rest of it, ns
 * @interval: between repetitions after that
 * @seldom: upper limit of @interval while the chief tells
 */
struct tor_agree {
	struct list_head list;
	struct tor_node *node;
	const struct tor_agree_policy *policy;
	enum tor_agree_state state;
	u32 told;
	u32 ranks;
	u32 room;
	u32 *epoch;
	u32 filled;
	u32 unit;
	u32 tag;
	u32 generation;
	u32 missing;
	int error;
	u32 turn;
	u32 part;
	u64 interval;
	u64 repeat;
	u64 seldom;
};

/* Start an agreement and add it to @list. */
void tor_agree_begin(struct tor_ctx *ctx, struct tor_agree *a, struct list_head *list);

/* End an agreement. */
void tor_agree_finish(struct tor_ctx *ctx, struct tor_agree *a, int error);

/* Send a comm message to a node; @word: @msg->epochs words behind it. */
void tor_agree_say(struct tor_ctx *ctx, struct tor_node *node, u32 dst,
		   const struct tor_comm_msg *msg, const u32 *word);

/*
 * Answer @h without a record of the sender here; the rate of such answers is
 * limited.
 */
void tor_agree_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		      const struct tor_comm_msg *reply);

/* Return the number of list entries that fit into one message. */
u32 tor_agree_entries(const struct tor_agree *a);

/* Repeat the last message soon; or at growing intervals, up to @most. */
void tor_agree_hurry(struct tor_ctx *ctx, struct tor_agree *a);
void tor_agree_back_off(struct tor_agree *a, u64 most);

/*
 * The chief: begin to tell all ranks the message of @state, or continue, with
 * at most @left frames. The timer sends the rest.
 */
void tor_agree_tell_all(struct tor_ctx *ctx, struct tor_agree *a, enum tor_agree_state state,
			u32 *left);
void tor_agree_tell(struct tor_ctx *ctx, struct tor_agree *a, u32 *left);

/* Record which rank is waited for. Dumps read it without a lock. */
static inline void tor_agree_miss(struct tor_agree *a, u32 rank)
{
	WRITE_ONCE(a->missing, rank);
}

static inline bool tor_agree_is_telling(const struct tor_agree *a)
{
	return a->turn < a->told;
}

/*
 * Take a part of the chief's decision. @member: array for the nodes if they are
 * in it. Return true when all parts are there.
 */
bool tor_agree_take(struct tor_agree *a, const struct tor_comm_msg *msg, u32 *member);

/* Return when the first of @list has work to do, ns; 0: the list is empty. */
u64 tor_agree_due(const struct list_head *list);

#endif
