/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Agreeing: one node, the chief, hears all others, tells them who they are, and lets them go. What
 * an agreement is, however it is decided who has to come.
 *
 *	others            chief
 *	call  ----------->        here I am
 *	      <-----------  wait  heard you, but not another one
 *	      <-----------  ready tag, frame size, epochs; in pieces where there are many
 *	accept ---------->        tag installed
 *	      <-----------  go    all have installed it
 *
 * Two policies make one of it, each with its messages:
 *
 *	join.c		all of a list must come; rank 0 is the chief; who gives up fails it for all
 *	shrink.c	who is left; the lowest of them is the chief; who is out of reach is left out
 *
 * Here is what is the same for both: states, what was heard of a rank, the cursor of what the chief
 * tells everyone, the taking of what it says, and repetition. Who has to come, and what a loss means,
 * is the policies' own: a rank that does not come has opposite consequences, and shrinking may change
 * its chief in the middle of it.
 *
 * The ranks that share a node send each other no messages: they come together under one mutex
 * (kmod/local/team.c) before their node joins as one member. There is nothing to repeat, to lose or to
 * tell in portions, so that is no agreement of this kind.
 *
 * Serialisation: one lock per node, held around every call here.
 */
#ifndef _TOR_CORE_AGREE_H
#define _TOR_CORE_AGREE_H

#include "core/engine/engine.h"

#define TOR_AGREE_REPEAT	(20 * NSEC_PER_MSEC)
#define TOR_AGREE_REPEAT_MAX	(320 * NSEC_PER_MSEC)
#define TOR_AGREE_WORDS		128			/* in one message; more come in several */
#define TOR_AGREE_PACE		(100 * NSEC_PER_USEC)	/* from one budget's worth of it to the next */

enum tor_agree_state {
	TOR_AGREE_CALLING,
	TOR_AGREE_LISTING,		/* shrinking: who belongs to the heir is chosen, and sorted */
	TOR_AGREE_ACCEPTING,
	TOR_AGREE_GOING,		/* the chief: all have agreed, and are told so */
	TOR_AGREE_REFUSING,		/* joining, the chief: it failed, and all are told why */
	TOR_AGREE_DONE
};

/* What the chief has heard of a rank, in the order in which it happens. */
enum tor_agree_heard {
	TOR_AGREE_SILENT,
	TOR_AGREE_CALLED,
	TOR_AGREE_ACCEPTED,
	TOR_AGREE_LEFT,
};

struct tor_agree;

/**
 * struct tor_agree_policy - what agreements differ in
 * @concerns: the chief: does what there is to say in this state concern that rank?
 * @say: the chief: say it; of a list, from entry @first on
 * @done: it is over, and forgotten here
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
 * @node: where
 * @told: how many ranks the chief tells, itself among them
 * @ranks: that are agreed on; @room: of @epoch
 * @epoch: of each rank's node, to be found out; zeroed
 * @filled: of @epoch, of what the chief has told
 * @unit: payload bytes per frame: offered, then agreed
 * @tag, @generation: agreed
 * @missing: a rank that is waited for, or TOR_NO_RANK
 * @error: when done, or TOR_AGREE_REFUSING
 * @turn, @part: the chief only: rank that is told next what the state is about, from which entry on
 * @repeat: when to say the last thing again, or what is left of it, ns; @interval: from then on
 * @seldom: the most that @interval grows to while the chief tells
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

/* Begin, as one of @list. */
void tor_agree_begin(struct tor_ctx *ctx, struct tor_agree *a, struct list_head *list);

/* It is over. */
void tor_agree_finish(struct tor_ctx *ctx, struct tor_agree *a, int error);

/* Send a comm message to a node; @word: @msg->epochs words behind it. */
void tor_agree_say(struct tor_ctx *ctx, struct tor_node *node, u32 dst,
		   const struct tor_comm_msg *msg, const u32 *word);

/* The same to whoever sent @h, without a record of it here: not as often as it likes. */
void tor_agree_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		      const struct tor_comm_msg *reply);

/* Entries of a list that one message has room for. */
u32 tor_agree_entries(const struct tor_agree *a);

/* Say the last thing again soon; or less and less often, every @most at last. */
void tor_agree_hurry(struct tor_ctx *ctx, struct tor_agree *a);
void tor_agree_back_off(struct tor_agree *a, u64 most);

/*
 * The chief: begin to tell everyone what @state is about; or go on, by @left frames at most. The rest is
 * the timer's.
 */
void tor_agree_tell_all(struct tor_ctx *ctx, struct tor_agree *a, enum tor_agree_state state,
			u32 *left);
void tor_agree_tell(struct tor_ctx *ctx, struct tor_agree *a, u32 *left);

static inline bool tor_agree_is_telling(const struct tor_agree *a)
{
	return a->turn < a->told;
}

/*
 * Part of what the chief has decided. @member: where the nodes go, if they are told. Return: now all of
 * it is there.
 */
bool tor_agree_take(struct tor_agree *a, const struct tor_comm_msg *msg, u32 *member);

/* When the first of @list has something to do, ns; 0: there is none. */
u64 tor_agree_due(const struct list_head *list);

#endif
