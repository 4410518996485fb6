// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Shrinking. See shrink.h.
 */
#include "core/agree/shrink.h"

#include "core/agree/join.h"
#include "core/order.h"
#include "core/wire/accept.h"

#define PAIRS_MAX	(TOR_AGREE_WORDS / 2)	/* nodes and epochs in one READY */
#define SORT_COST	4			/* cost of a sorting step in steps of walks */

static void shrink_say(struct tor_ctx *ctx, const struct tor_shrink *s, u32 rank, u8 step)
{
	struct tor_comm_msg msg = {
		.step = step,
		.name = s->from->lineage,
		.rank = s->from->rank,
		.ranks = s->a.ranks,
		.missing = s->a.missing < s->from->ranks ? tor_comm_node(s->from, s->a.missing) : ~0U,
		.tag = s->a.tag,
		.generation = s->a.generation,
		.frame_bytes = s->a.unit,
	};

	tor_agree_say(ctx, s->a.node, tor_comm_node(s->from, rank), &msg, NULL);
}

/* The chief: send the list of the heir's ranks, from @first on. */
static void shrink_say_ready(struct tor_ctx *ctx, const struct tor_shrink *s, u32 rank, u32 first)
{
	u32 n = min(tor_agree_entries(&s->a), s->a.ranks - first);
	struct tor_comm_msg msg = {
		.step = TORCOLL_COMM_SHRINK_READY,
		.name = s->from->lineage,
		.ranks = s->a.ranks,
		.missing = first,
		.tag = s->a.tag,
		.generation = s->a.generation,
		.frame_bytes = s->a.unit,
		.epochs = 2 * n,
	};
	u32 word[2 * PAIRS_MAX];
	u32 i;

	for (i = 0; i < n; i++) {
		word[2 * i] = s->member[first + i];
		word[2 * i + 1] = s->a.epoch[first + i];
	}
	tor_agree_say(ctx, s->a.node, tor_comm_node(s->from, rank), &msg, word);
}

static void shrink_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
			  const struct tor_comm_msg *msg, u8 step)
{
	struct tor_comm_msg reply = { .step = step, .name = msg->name, .tag = msg->tag };

	tor_agree_answer(ctx, node, h, &reply);
}

/* Abandon the agreement: another one must be found. */
static void break_up(struct tor_ctx *ctx, struct tor_shrink *s)
{
	s->again = true;
	tor_agree_finish(ctx, &s->a, -ECONNABORTED);
}

static bool is_chief(const struct tor_shrink *s)
{
	return s->chief == s->from->rank;
}

static bool is_doomed(const struct tor_shrink_rank *of)
{
	return of->chosen && of->gone;
}

/*
 * The chief: return whether all wait for @rank: a living rank, later a chosen
 * one.
 */
static bool is_waited_for(const struct tor_shrink *s, u32 rank)
{
	const struct tor_shrink_rank *of = &s->of[rank];

	if (rank == s->from->rank)
		return false;
	if (s->a.state == TOR_AGREE_ACCEPTING)
		return of->chosen && of->heard < TOR_AGREE_ACCEPTED;
	return !of->gone && of->heard < TOR_AGREE_CALLED;
}

/*
 * Record that @rank was heard or looked at. Counts what all ranks depend on, so
 * that no message walks over all ranks.
 */
static void shrink_note(struct tor_shrink *s, u32 rank, u8 heard, u64 now)
{
	struct tor_shrink_rank *of = &s->of[rank];

	s->waited_for -= is_waited_for(s, rank);
	s->doomed -= is_doomed(of);
	of->heard = heard;
	of->gone = rank != s->from->rank &&
		   (heard == TOR_AGREE_LEFT ||
		    (of->lost && now >= of->lost + tor_watch_grace(s->a.node)));
	s->doomed += is_doomed(of);
	if (!of->gone)
		s->living = min(s->living, rank);
	else if (rank == s->living)
		s->living++;
	if (is_waited_for(s, rank)) {
		s->waited_for++;
		s->absent = min(s->absent, rank);
	} else if (rank == s->absent) {
		s->absent++;
	}
}

static struct tor_shrink *shrink_of(const struct tor_agree *a)
{
	return container_of(a, struct tor_shrink, a);
}

static bool shrink_concerns(const struct tor_agree *a, u32 rank)
{
	const struct tor_shrink *s = shrink_of(a);
	const struct tor_shrink_rank *of = &s->of[rank];

	if (rank == s->from->rank)
		return false;
	if (a->state == TOR_AGREE_CALLING)
		return of->heard == TOR_AGREE_SILENT && !of->gone;
	return of->chosen && of->heard == (a->state == TOR_AGREE_ACCEPTING ? TOR_AGREE_CALLED :
									     TOR_AGREE_ACCEPTED);
}

static void shrink_say_in_turn(struct tor_ctx *ctx, const struct tor_agree *a, u32 rank, u32 first)
{
	const struct tor_shrink *s = shrink_of(a);

	if (a->state == TOR_AGREE_ACCEPTING)
		shrink_say_ready(ctx, s, rank, first);
	else
		shrink_say(ctx, s, rank, a->state == TOR_AGREE_CALLING ? TORCOLL_COMM_SHRINK_CALL :
									 TORCOLL_COMM_SHRINK_GO);
}

static void shrink_done(struct tor_ctx *ctx, struct tor_agree *a)
{
	tor_env_shrink_done(ctx, shrink_of(a));
}

static const struct tor_agree_policy policy = {
	.concerns = shrink_concerns,
	.say = shrink_say_in_turn,
	.done = shrink_done,
	.words = 2,
};

/* The chief: begin to tell all ranks the message of @state. */
static void tell_all(struct tor_ctx *ctx, struct tor_shrink *s, enum tor_agree_state state)
{
	u32 left = tor_env_budget().frames;

	tor_agree_tell_all(ctx, &s->a, state, &left);
}

/*
 * Return whether no walk over all ranks is complete. Until then nothing was
 * sent; what ended the comm was already waited for.
 */
static bool is_new(const struct tor_shrink *s)
{
	return s->chief == TOR_NO_RANK;
}

/*
 * A node that restarted counts like one that is unreachable, and not at once: a
 * record of its former life may come late, see watch_look_at(). All ranks must
 * find the same, also those that have not seen that record.
 */
static void shrink_look_at(struct tor_ctx *ctx, struct tor_shrink *s, u32 rank,
			   const struct tor_routes *routes)
{
	struct tor_shrink_rank *of = &s->of[rank];

	if (tor_routes_reach(routes, tor_comm_node(s->from, rank)) &&
	    !tor_comm_restarted(s->from, rank))
		of->lost = 0;
	else if (!of->lost)
		of->lost = is_new(s) && s->from->lost_since ? s->from->lost_since : ctx->now;
	shrink_note(s, rank, of->heard, ctx->now);
}

/* Look for unreachable and restarted ranks. False: the timer does the rest. */
static bool shrink_look(struct tor_ctx *ctx, struct tor_shrink *s, const struct tor_routes *routes)
{
	u32 steps = tor_env_budget().steps;

	if (s->looked == s->from->ranks)
		s->looked = 0;
	for (; s->looked < s->from->ranks; s->looked++) {
		if (!steps--) {
			s->a.repeat = ctx->now + TOR_AGREE_PACE;
			return false;
		}
		shrink_look_at(ctx, s, s->looked, routes);
	}
	return true;
}

/*
 * Find the first rank that is waited for, from where the last search ended. If
 * it is further than one entry may search, the next walk over all ranks finds
 * it.
 */
static void shrink_find_missing(struct tor_shrink *s)
{
	u32 steps = tor_env_budget().steps;

	while (s->waited_for && !is_waited_for(s, s->absent)) {
		if (!steps--)
			return;
		s->absent++;
	}
	s->a.missing = s->waited_for ? s->absent : TOR_NO_RANK;
}

/*
 * Begin the list of the heir's members, which are known or must be chosen from
 * rank @considered on.
 */
static void begin_list(struct tor_shrink *s, u32 considered)
{
	s->a.state = TOR_AGREE_LISTING;
	s->considered = considered;
	s->sorted = 0;
	s->checked = 0;
	s->sane = true;
	s->whole = true;
	s->rank = TOR_NO_RANK;
}

/*
 * The chief: decide whether @rank belongs to the heir. Ranks keep their order.
 */
static void consider(struct tor_shrink *s, u32 rank)
{
	struct tor_shrink_rank *of = &s->of[rank];

	of->chosen = !of->gone;
	if (!of->chosen)
		return;
	s->member[s->a.ranks] = tor_comm_node(s->from, rank);
	s->a.epoch[s->a.ranks++] = tor_comm_agreed(s->from, rank);
	if (of->unit)
		s->a.unit = min(s->a.unit, of->unit);
}

/*
 * Check that entry @i is a node of the fabric, different from the one before.
 * Finds the own rank, in this node's present incarnation.
 */
static void shrink_check(struct tor_shrink *s, u32 i)
{
	u32 rank = s->order[i], node = s->member[rank];

	if (node >= s->a.node->torus.nodes || (i && node == s->member[s->order[i - 1]]))
		s->sane = false;
	if (node == s->a.node->self && s->a.epoch[rank] == s->a.node->epoch)
		s->rank = rank;
	if (node != rank)
		s->whole = false;
}

/*
 * Take some of @left steps towards a list that can be installed: choose, sort,
 * check. False: it is complete.
 */
static bool list_step(struct tor_shrink *s, u32 *left)
{
	u32 cost = 1;

	if (s->considered < s->from->ranks) {
		consider(s, s->considered++);
	} else if (s->sorted < tor_order_steps(s->a.ranks)) {
		tor_order_step(s->order, s->member, s->a.ranks, s->sorted++);
		cost = SORT_COST;
	} else if (s->checked < s->a.ranks) {
		shrink_check(s, s->checked++);
	} else {
		return false;
	}
	*left -= min(*left, cost);
	return true;
}

/* Take as many steps as an entry may. False: the timer does the rest. */
static bool shrink_list(struct tor_ctx *ctx, struct tor_shrink *s)
{
	u32 left = tor_env_budget().steps;

	while (list_step(s, &left)) {
		if (!left) {
			s->a.repeat = ctx->now + TOR_AGREE_PACE;
			return false;
		}
	}
	return true;
}

/* Install the complete list. */
static void shrink_install(struct tor_ctx *ctx, struct tor_shrink *s)
{
	int err;

	if (is_chief(s)) {
		s->a.tag = tor_join_tag(s->a.node, s->from->lineage, s->a.ranks, &s->a.generation);
	} else if (s->sane && s->rank != TOR_NO_RANK) {
		s->a.unit = s->decided;
	} else {
		/* invalid: evaluate the next message afresh */
		s->a.state = TOR_AGREE_CALLING;
		s->a.tag = 0;
		return;
	}
	s->whole = s->whole && s->a.ranks == s->a.node->torus.nodes;
	err = tor_env_shrink_install(ctx, s);
	if (err) {
		tor_agree_finish(ctx, &s->a, err);
		return;
	}
	s->a.state = TOR_AGREE_ACCEPTING;
	tor_agree_hurry(ctx, &s->a);
	if (!is_chief(s)) {
		s->a.missing = s->chief;
		shrink_say(ctx, s, s->chief, TORCOLL_COMM_SHRINK_ACCEPT);
		return;
	}
	s->waited_for = s->a.ranks - 1;
	s->absent = 0;
	tell_all(ctx, s, TOR_AGREE_ACCEPTING);
	shrink_find_missing(s);
}

/* The chief: take the next step once all ranks have come that far. */
static void shrink_collect(struct tor_ctx *ctx, struct tor_shrink *s)
{
	shrink_find_missing(s);
	if (s->doomed) {
		/* the heir would contain a dead rank from the beginning */
		break_up(ctx, s);
		return;
	}
	if (s->a.state == TOR_AGREE_CALLING && !s->waited_for) {
		s->a.ranks = 0;
		begin_list(s, 0);
	}
	if (s->a.state == TOR_AGREE_LISTING && shrink_list(ctx, s))
		shrink_install(ctx, s);
	if (s->a.state == TOR_AGREE_ACCEPTING && !s->waited_for)
		tell_all(ctx, s, TOR_AGREE_GOING);
}

/* Act on a change of what was heard or seen. */
static void shrink_act(struct tor_ctx *ctx, struct tor_shrink *s)
{
	u32 steps = tor_env_budget().steps;

	/* the members have agreed: a loss from now on concerns their heir */
	if (s->a.state == TOR_AGREE_DONE || s->a.state == TOR_AGREE_GOING)
		return;
	if (is_new(s) && s->looked < s->from->ranks)
		return;
	while (s->of[s->living].gone) {
		/* the next walk over all ranks finds it */
		if (!steps--) {
			s->a.repeat = ctx->now + TOR_AGREE_PACE;
			return;
		}
		s->living++;
	}
	if (s->living != s->chief) {
		/* the accepted list was the former chief's and is void */
		if (s->a.state != TOR_AGREE_CALLING) {
			break_up(ctx, s);
			return;
		}
		s->chief = s->living;
		s->a.missing = s->chief;
		s->a.turn = s->a.told;
		tor_agree_hurry(ctx, &s->a);
		if (is_chief(s))
			tell_all(ctx, s, TOR_AGREE_CALLING);
		else
			shrink_say(ctx, s, s->chief, TORCOLL_COMM_SHRINK_CALL);
	}
	if (is_chief(s))
		shrink_collect(ctx, s);
}

int tor_shrink_start(struct tor_ctx *ctx, struct tor_shrink *s, const struct tor_routes *routes)
{
	const struct tor_shrink *other;

	list_for_each_entry(other, &s->a.node->shrinks, a.list)
		if (other->from->lineage == s->from->lineage)
			return -EEXIST;
	s->a.policy = &policy;
	s->a.told = s->from->ranks;
	s->a.seldom = TOR_AGREE_REPEAT_MAX;
	s->a.unit = tor_wire_unit_coarse(s->a.unit);
	s->again = false;
	s->a.missing = TOR_NO_RANK;
	s->chief = TOR_NO_RANK;
	s->waited_for = s->from->ranks - 1;
	s->doomed = 0;
	s->absent = 0;
	s->living = 0;
	s->looked = 0;
	tor_agree_begin(ctx, &s->a, &s->a.node->shrinks);
	if (shrink_look(ctx, s, routes))
		shrink_act(ctx, s);
	return 0;
}

void tor_shrink_cancel(struct tor_ctx *ctx, struct tor_shrink *s, int error)
{
	/* all have agreed; a rank that was not told yet asks again */
	if (s->a.state == TOR_AGREE_GOING)
		tor_agree_finish(ctx, &s->a, 0);
	else if (s->a.state != TOR_AGREE_DONE)
		tor_agree_finish(ctx, &s->a, error);
}

bool tor_shrink_expire(struct tor_ctx *ctx, struct tor_shrink *s)
{
	/* the chief decides: nobody has its heir before it goes */
	if (s->a.state == TOR_AGREE_ACCEPTING && !is_chief(s))
		return false;
	tor_shrink_cancel(ctx, s, -ETIMEDOUT);
	return true;
}

void tor_shrink_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error)
{
	struct tor_shrink *s, *next;

	list_for_each_entry_safe(s, next, &node->shrinks, a.list)
		tor_shrink_cancel(ctx, s, error);
}

/* Report this rank's state to the chief. */
static void say_own(struct tor_ctx *ctx, const struct tor_shrink *s)
{
	shrink_say(ctx, s, s->chief,
		   s->a.state == TOR_AGREE_ACCEPTING ? TORCOLL_COMM_SHRINK_ACCEPT :
						       TORCOLL_COMM_SHRINK_CALL);
}

/* Handle the call of @rank, which may be its second. */
static void call_rx(struct tor_ctx *ctx, struct tor_shrink *s, u32 rank,
		    const struct tor_comm_msg *msg)
{
	if (s->of[rank].heard == TOR_AGREE_LEFT)
		return;
	shrink_note(s, rank, TOR_AGREE_CALLED, ctx->now);
	s->of[rank].unit = msg->frame_bytes;
	if (!is_chief(s)) {
		/* the chief asks */
		if (rank == s->chief)
			say_own(ctx, s);
		return;
	}
	if (s->a.state == TOR_AGREE_CALLING) {
		shrink_act(ctx, s);
		if (s->a.state == TOR_AGREE_CALLING)
			shrink_say(ctx, s, rank, TORCOLL_COMM_SHRINK_WAIT);
	} else if (rank < s->considered &&
		   (!s->of[rank].chosen || s->of[rank].unit < s->a.unit)) {
		/*
		 * it was considered gone, or comes back with a smaller frame
		 * size
		 */
		break_up(ctx, s);
	} else if (s->a.state == TOR_AGREE_ACCEPTING && s->a.ranks <= tor_agree_entries(&s->a)) {
		shrink_say_ready(ctx, s, rank, 0);
	}
	/* a list of several frames waits for the next round of telling */
}

static void ready_rx(struct tor_ctx *ctx, struct tor_shrink *s, const struct tor_comm_msg *msg)
{
	if (s->a.state != TOR_AGREE_CALLING) {
		if (msg->tag != s->a.tag)
			break_up(ctx, s);
		else if (s->a.state == TOR_AGREE_ACCEPTING)
			shrink_say(ctx, s, s->chief, TORCOLL_COMM_SHRINK_ACCEPT);
		return;
	}
	if (msg->frame_bytes > s->a.unit || msg->ranks > s->a.room ||
	    !tor_agree_take(&s->a, msg, s->member))
		return;
	s->a.generation = msg->generation;
	s->decided = msg->frame_bytes;
	begin_list(s, s->from->ranks);
	if (shrink_list(ctx, s))
		shrink_install(ctx, s);
}

/*
 * Handle a message from @rank of the comm, in the incarnation the comm knows.
 */
static void member_rx(struct tor_ctx *ctx, struct tor_shrink *s, u32 rank,
		      const struct tor_comm_msg *msg)
{
	if (s->a.state == TOR_AGREE_GOING) {
		if (msg->step == TORCOLL_COMM_SHRINK_ACCEPT && msg->tag == s->a.tag)
			shrink_say(ctx, s, rank, TORCOLL_COMM_SHRINK_GO);
		return;
	}
	switch (msg->step) {
	case TORCOLL_COMM_SHRINK_ACCEPT:
		if (s->a.state == TOR_AGREE_ACCEPTING && is_chief(s) && msg->tag == s->a.tag) {
			shrink_note(s, rank, TOR_AGREE_ACCEPTED, ctx->now);
			shrink_act(ctx, s);
			break;
		}
		/* of an earlier agreement: it will take a new one */
		fallthrough;
	case TORCOLL_COMM_SHRINK_CALL:
		call_rx(ctx, s, rank, msg);
		break;
	case TORCOLL_COMM_SHRINK_LEFT:
		shrink_note(s, rank, TOR_AGREE_LEFT, ctx->now);
		shrink_act(ctx, s);
		break;
	case TORCOLL_COMM_SHRINK_OUT:
		tor_agree_finish(ctx, &s->a, -EHOSTUNREACH);
		break;
	case TORCOLL_COMM_SHRINK_WAIT:
		if (rank == s->chief) {
			s->a.missing = tor_comm_rank(s->from, msg->missing);
			tor_agree_back_off(&s->a, TOR_AGREE_REPEAT_MAX);
		}
		break;
	case TORCOLL_COMM_SHRINK_READY:
		if (rank == s->chief)
			ready_rx(ctx, s, msg);
		break;
	case TORCOLL_COMM_SHRINK_GO:
		if (rank == s->chief && s->a.state == TOR_AGREE_ACCEPTING && msg->tag == s->a.tag)
			tor_agree_finish(ctx, &s->a, 0);
		break;
	}
}

/* Answer a rank that shrinks although this node does not. */
static void bystander_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
			 const struct tor_comm_msg *msg, bool known)
{
	if (msg->step == TORCOLL_COMM_SHRINK_ACCEPT && known) {
		/* this node's GO was lost, and it has continued */
		shrink_answer(ctx, node, h, msg, TORCOLL_COMM_SHRINK_GO);
		return;
	}
	if (msg->step != TORCOLL_COMM_SHRINK_CALL && msg->step != TORCOLL_COMM_SHRINK_ACCEPT &&
	    msg->step != TORCOLL_COMM_SHRINK_READY)
		return;
	switch (tor_env_heritage(node, msg->name, h->src, h->src_epoch)) {
	case TOR_HERITAGE_NONE:
		shrink_answer(ctx, node, h, msg, TORCOLL_COMM_SHRINK_LEFT);
		break;
	case TOR_HERITAGE_WITHOUT:
		shrink_answer(ctx, node, h, msg, TORCOLL_COMM_SHRINK_OUT);
		break;
	case TOR_HERITAGE_COMMON:
		/*
		 * the local process has not called yet, as it does not know of the
		 * comm perhaps, and rank 0 may not live to say so
		 */
		tor_join_complete(ctx, node, msg->name);
		break;
	}
}

void tor_shrink_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg, bool known)
{
	struct tor_shrink *s;
	u32 rank;

	list_for_each_entry(s, &node->shrinks, a.list) {
		if (s->from->lineage != msg->name)
			continue;
		rank = tor_comm_rank(s->from, h->src);
		if (rank != TOR_NO_RANK && rank != s->from->rank &&
		    h->src_epoch == tor_comm_agreed(s->from, rank))
			member_rx(ctx, s, rank, msg);
		else if (msg->step == TORCOLL_COMM_SHRINK_CALL)
			shrink_answer(ctx, node, h, msg, TORCOLL_COMM_SHRINK_OUT);
		return;
	}
	bystander_rx(ctx, node, h, msg, known);
}

static void shrink_repeat(struct tor_ctx *ctx, struct tor_shrink *s)
{
	if (is_chief(s)) {
		tell_all(ctx, s, s->a.state);
		return;
	}
	tor_agree_back_off(&s->a, TOR_AGREE_REPEAT_MAX);
	s->a.repeat = ctx->now + s->a.interval;
	say_own(ctx, s);
}

/* Do the work whose time has come. */
static void shrink_go_on(struct tor_ctx *ctx, struct tor_shrink *s, const struct tor_routes *routes)
{
	u32 left = tor_env_budget().frames;

	if (s->a.state == TOR_AGREE_LISTING) {
		if (is_chief(s))
			shrink_collect(ctx, s);
		else if (shrink_list(ctx, s))
			shrink_install(ctx, s);
	} else if (tor_agree_is_telling(&s->a)) {
		tor_agree_tell(ctx, &s->a, &left);
	} else if (shrink_look(ctx, s, routes)) {
		shrink_act(ctx, s);
		if (s->a.state != TOR_AGREE_DONE && ctx->now >= s->a.repeat)
			shrink_repeat(ctx, s);
	}
}

u64 tor_shrink_due(const struct tor_node *node)
{
	return tor_agree_due(&node->shrinks);
}

u64 tor_shrink_timer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_routes *routes)
{
	u32 left = tor_env_budget().steps;
	struct tor_shrink *s, *next;

	list_for_each_entry_safe(s, next, &node->shrinks, a.list) {
		if (ctx->now < s->a.repeat)
			continue;
		/* each may walk over its ranks, and tell as many as an entry may */
		if (!left || ctx->said >= tor_env_budget().frames) {
			s->a.repeat = ctx->now + TOR_AGREE_PACE;
			continue;
		}
		left -= min(left, s->from->ranks);
		shrink_go_on(ctx, s, routes);
	}
	return tor_shrink_due(node);
}
