// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Creating a comm: rank 0, which collects the calls of all members and tells
 * them the agreement. See join.h and join_chief.h.
 */
#include "core/agree/join_chief.h"

#include "core/agree/early.h"
#include "core/wire/accept.h"

/* Send the agreement, with the epochs from rank @first on. */
static void chief_say_ready(struct tor_ctx *ctx, const struct tor_join *join, u32 rank, u32 first)
{
	struct tor_comm_msg msg = {
		.step = TORCOLL_COMM_READY,
		.name = join->name,
		.proof = join->proof,
		.members = join->members,
		.nonce = join->seen_nonce[rank],
		.rank = rank,
		.ranks = join->a.ranks,
		.missing = first,
		.tag = join->a.tag,
		.generation = join->a.generation,
		.frame_bytes = tor_wire_unit_coarse(join->a.unit),
		.epochs = min(tor_agree_entries(&join->a), join->a.ranks - first),
		.has_terms = true,
		.terms.payload = join->a.unit,
	};

	tor_terms_put_rates(&msg.terms, &join->rates);
	tor_agree_say(ctx, join->a.node, tor_join_node(join, rank), &msg, join->a.epoch + first);
}

/* Return the error that other ranks get. */
static int chief_error_elsewhere(int error)
{
	return -(int)(tor_wire_errno(TORCOLL_FRAME_COMM, -error) ?: ECONNABORTED);
}

static struct tor_join *join_of(const struct tor_agree *a)
{
	return container_of(a, struct tor_join, a);
}

static bool chief_concerns(const struct tor_agree *a, u32 rank)
{
	u8 seen = join_of(a)->seen[rank];

	return a->state == TOR_AGREE_ACCEPTING ? seen == TOR_AGREE_CALLED : seen != TOR_AGREE_SILENT;
}

static void chief_say_in_turn(struct tor_ctx *ctx, const struct tor_agree *a, u32 rank, u32 first)
{
	const struct tor_join *join = join_of(a);

	if (a->state == TOR_AGREE_ACCEPTING)
		chief_say_ready(ctx, join, rank, first);
	else if (a->state == TOR_AGREE_GOING)
		tor_join_say(ctx, join, rank, TORCOLL_COMM_GO, 0);
	else
		tor_join_say(ctx, join, rank, TORCOLL_COMM_REFUSE, chief_error_elsewhere(a->error));
}

static void join_done(struct tor_ctx *ctx, struct tor_agree *a)
{
	tor_env_join_done(ctx, join_of(a));
}

const struct tor_agree_policy tor_join_policy = {
	.concerns = chief_concerns,
	.say = chief_say_in_turn,
	.done = join_done,
	.words = 1,
};

/* Return the first rank from @rank on whose state is @seen. */
static u32 chief_find_seen(const struct tor_join *join, u32 rank, u8 seen)
{
	while (rank < join->a.ranks && join->seen[rank] != seen)
		rank++;
	return rank;
}

/*
 * Find the missing rank: one that never came, before those that came and gave
 * up; once all have come, one that has not accepted. The searches continue
 * where they were, so that all messages together walk over the ranks once in
 * either state.
 */
static void chief_find_missing(struct tor_join *join)
{
	bool all_came = join->a.state == TOR_AGREE_ACCEPTING;
	u32 missing;

	join->absent = chief_find_seen(join, max(join->absent, 1U),
				       all_came ? TOR_AGREE_CALLED : TOR_AGREE_SILENT);
	missing = join->absent;
	if (missing == join->a.ranks && join->here < join->a.ranks - 1) {
		join->left = chief_find_seen(join, max(join->left, 1U), TOR_AGREE_LEFT);
		missing = join->left;
	}
	tor_agree_miss(&join->a, missing < join->a.ranks ? missing : TOR_NO_RANK);
}

static bool is_here(u8 seen)
{
	return seen == TOR_AGREE_CALLED || seen == TOR_AGREE_ACCEPTED;
}

/* The state of @rank is @seen now. */
static void chief_set_seen(struct tor_join *join, u32 rank, u8 seen)
{
	u8 before = join->seen[rank];

	join->here += is_here(seen) - is_here(before);
	join->accepted += (seen == TOR_AGREE_ACCEPTED) - (before == TOR_AGREE_ACCEPTED);
	if (seen == TOR_AGREE_LEFT)
		join->left = min(join->left, rank);
	join->seen[rank] = seen;
}

void tor_join_chief_fail(struct tor_ctx *ctx, struct tor_join *join, int error)
{
	u32 left = tor_env_budget().frames;

	join->a.error = error;
	tor_agree_tell_all(ctx, &join->a, TOR_AGREE_REFUSING, &left);
}

/*
 * All have accepted. One whose node restarted since, as rank 0's comm knows by now,
 * is none of those that would go; a member that has only this node's word for it
 * would wait for that rank.
 */
static void chief_go(struct tor_ctx *ctx, struct tor_join *join)
{
	u32 left = tor_env_budget().frames;

	if (tor_env_join_failed(join))
		tor_join_chief_fail(ctx, join, -ECONNABORTED);
	else
		tor_agree_tell_all(ctx, &join->a, TOR_AGREE_GOING, &left);
}

/* Take the next step once all ranks have come that far. */
static void chief_collect(struct tor_ctx *ctx, struct tor_join *join)
{
	u32 left = tor_env_budget().frames;
	int err;

	if (join->a.state == TOR_AGREE_CALLING && join->here == join->a.ranks - 1) {
		join->a.tag = tor_join_tag(join->a.node, join->proof, join->members, &join->a.generation);
		if (join->coarse)
			join->a.unit = tor_wire_unit_coarse(join->a.unit);
		err = tor_env_join_install(ctx, join);
		if (err) {
			tor_join_chief_fail(ctx, join, err);
			return;
		}
		tor_agree_hurry(ctx, &join->a);
		tor_agree_tell_all(ctx, &join->a, TOR_AGREE_ACCEPTING, &left);
		join->absent = 0;
		chief_find_missing(join);
	}
	if (join->a.state == TOR_AGREE_ACCEPTING && join->accepted == join->a.ranks - 1)
		chief_go(ctx, join);
}

/*
 * Repeat the agreement to a member that calls and so has not received it. A long
 * one is sent in its turn.
 */
static void chief_say_again(struct tor_ctx *ctx, const struct tor_join *join, u32 rank)
{
	u32 first;

	if (join->a.turn <= rank ||
	    DIV_ROUND_UP(join->a.ranks, tor_agree_entries(&join->a)) > tor_env_budget().frames)
		return;
	for (first = 0; first < join->a.ranks; first += tor_agree_entries(&join->a))
		chief_say_ready(ctx, join, rank, first);
}

/*
 * Return how a call differs from that of rank 0, or TORCOLL_CAUSE_UNKNOWN: it
 * does not.
 */
static enum torcoll_comm_cause chief_compare(const struct tor_join *join, const struct tor_hdr *h,
					     const struct tor_comm_msg *msg)
{
	if (msg->members != join->members || msg->ranks != join->a.ranks ||
	    tor_join_node(join, msg->rank) != h->src)
		return TORCOLL_CAUSE_MEMBERS;
	return tor_terms_compare(join->a.node, &join->rates, msg);
}

/*
 * The call of a member does not fit. Refuse the comm to all that have called,
 * and to those that call later.
 */
static void chief_blame(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
			const struct tor_comm_msg *msg, enum torcoll_comm_cause cause)
{
	struct tor_comm_terms *fault = &join->fault;

	*fault = msg->terms;
	fault->payload = 0;
	fault->cause = cause;
	fault->rank = msg->rank;
	fault->node = h->src;
	do {
		fault->refusal = tor_env_random();
	} while (!fault->refusal);
	tor_terms_remember(join->a.node, ctx->now, join->name, join->proof, true, fault);
	tor_join_answer(ctx, join->a.node, h, msg, TORCOLL_COMM_REFUSE, -EPROTO, fault);
	tor_join_chief_fail(ctx, join, -EPROTO);
}

/*
 * Take the call of a member. False: it changes nothing, or the comm is refused.
 */
static bool chief_take_call(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
			    const struct tor_comm_msg *msg)
{
	enum torcoll_comm_cause cause;

	if (msg->proof != join->proof) {
		tor_join_answer(ctx, join->a.node, h, msg, TORCOLL_COMM_REFUSE, -EACCES, NULL);
		return false;
	}
	if (join->a.state == TOR_AGREE_REFUSING)
		tor_join_answer(ctx, join->a.node, h, msg, TORCOLL_COMM_REFUSE,
				chief_error_elsewhere(join->a.error), &join->fault);
	if (join->a.state > TOR_AGREE_ACCEPTING)
		return false;
	cause = chief_compare(join, h, msg);
	if (cause) {
		chief_blame(ctx, join, h, msg, cause);
		return false;
	}
	if (join->a.state == TOR_AGREE_ACCEPTING) {
		if (join->seen_nonce[msg->rank] == msg->nonce) {
			chief_say_again(ctx, join, msg->rank);
			return false;
		}
		tor_agree_miss(&join->a, msg->rank);
		tor_join_chief_fail(ctx, join, -ECONNABORTED);
		return false;
	}
	chief_set_seen(join, msg->rank, TOR_AGREE_CALLED);
	join->seen_nonce[msg->rank] = msg->nonce;
	join->a.epoch[msg->rank] = h->src_epoch;
	join->a.unit = min(join->a.unit, tor_terms_unit(msg));
	/* of a module that knows no others */
	join->coarse |= !msg->terms.payload;
	chief_find_missing(join);
	return true;
}

/* Handle the call of a member. */
static void chief_rx_call(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
			  const struct tor_comm_msg *msg)
{
	if (!chief_take_call(ctx, join, h, msg))
		return;
	if (join->a.missing != TOR_NO_RANK)
		tor_join_say(ctx, join, msg->rank, TORCOLL_COMM_WAIT, 0);
	chief_collect(ctx, join);
}

static bool is_member(const struct tor_join *join, const struct tor_comm_msg *msg)
{
	return msg->rank < join->a.ranks && join->seen[msg->rank] &&
	       join->seen_nonce[msg->rank] == msg->nonce;
}

/* Handle a member that gave up. */
static void chief_rx_leave(struct tor_ctx *ctx, struct tor_join *join,
			   const struct tor_comm_msg *msg)
{
	if (!is_member(join, msg) || join->a.state > TOR_AGREE_ACCEPTING)
		return;
	chief_set_seen(join, msg->rank, TOR_AGREE_LEFT);
	if (join->a.state == TOR_AGREE_ACCEPTING) {
		tor_agree_miss(&join->a, msg->rank);
		tor_join_chief_fail(ctx, join, -ECONNABORTED);
		return;
	}
	chief_find_missing(join);
}

/* Handle a member that has installed the tag. False: the tag of another join. */
static bool chief_rx_accept(struct tor_ctx *ctx, struct tor_join *join,
			    const struct tor_comm_msg *msg)
{
	if (!is_member(join, msg) || msg->tag != join->a.tag)
		return false;
	if (join->a.state == TOR_AGREE_GOING)
		tor_join_say(ctx, join, msg->rank, TORCOLL_COMM_GO, 0);
	if (join->a.state != TOR_AGREE_ACCEPTING)
		return join->a.state == TOR_AGREE_GOING;
	if (join->seen[msg->rank] == TOR_AGREE_ACCEPTED) {
		/* again: it waits for another */
		tor_join_say(ctx, join, msg->rank, TORCOLL_COMM_WAIT, 0);
		return true;
	}
	chief_set_seen(join, msg->rank, TOR_AGREE_ACCEPTED);
	chief_find_missing(join);
	chief_collect(ctx, join);
	return true;
}

void tor_join_chief_start(struct tor_ctx *ctx, struct tor_join *join)
{
	struct tor_comm_msg msg;
	struct tor_hdr h;
	u32 i = 0;

	tor_terms_forget(join->a.node, join->name);
	chief_find_missing(join);
	while (join->a.state == TOR_AGREE_CALLING &&
	       tor_early_take(join->a.node, ctx->now, join->name, &i, &h, &msg))
		chief_take_call(ctx, join, &h, &msg);
	if (join->a.state == TOR_AGREE_CALLING)
		chief_collect(ctx, join);
}

bool tor_join_chief_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
		       const struct tor_comm_msg *msg)
{
	switch (msg->step) {
	case TORCOLL_COMM_JOIN:
		chief_rx_call(ctx, join, h, msg);
		return true;
	case TORCOLL_COMM_LEAVE:
		chief_rx_leave(ctx, join, msg);
		return true;
	default:
		return chief_rx_accept(ctx, join, msg);
	}
}
