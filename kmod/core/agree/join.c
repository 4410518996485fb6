// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Creating a comm: calls, what a member receives, and repetition. See join.h;
 * rank 0's part is in join_chief.c.
 */
#include "core/agree/early.h"
#include "core/agree/join_chief.h"
#include "core/agree/past.h"

#define NAME_HASH_KEY		0x6e616d6500000000ULL
#define MEMBERS_HASH_KEY	0x6d656d6265727300ULL
#define TAG_HASH_KEY		0x7461670000000000ULL
#define LINEAGE_HASH_KEY	0x6c696e6561676500ULL

void tor_join_say(struct tor_ctx *ctx, const struct tor_join *join, u32 rank, u8 step, int error)
{
	struct tor_comm_msg msg = {
		.step = step,
		.error = -error,
		.name = join->name,
		.proof = join->proof,
		.members = join->members,
		.nonce = join->seen && rank ? join->seen_nonce[rank] : join->nonce,
		.rank = join->rank ? join->rank : rank,
		.ranks = join->a.ranks,
		.missing = join->a.missing,
		.tag = join->a.tag,
		.generation = join->a.generation,
		.frame_bytes = tor_wire_unit_coarse(join->a.unit),
		.has_terms = step == TORCOLL_COMM_JOIN || step == TORCOLL_COMM_REFUSE,
		.terms = join->fault,
	};

	if (step == TORCOLL_COMM_JOIN)
		tor_terms_own(join->a.node, ctx->now, join->name, join->a.unit, &msg.terms);
	tor_agree_say(ctx, join->a.node, tor_join_node(join, rank), &msg, NULL);
}

/*
 * Return the longest interval of repetition: longer with many ranks; with few,
 * a lost frame should not cost much time.
 */
static u64 join_most_seldom(const struct tor_join *join, u64 most)
{
	return clamp_t(u64, (u64)join->a.ranks * TOR_JOIN_PER_RANK, 2 * TOR_AGREE_REPEAT, most);
}

u32 tor_join_tag(struct tor_node *node, u64 proof, u64 members, u32 *generation)
{
	u64 word[4];
	u32 tag;

	*generation = ++node->generation;
	word[0] = proof;
	word[1] = (u64)node->self << 32 | node->epoch;
	word[2] = *generation;
	word[3] = members;
	do {
		tag = tor_env_hash(word, sizeof(word), TAG_HASH_KEY);
		word[2] += 1ULL << 32;
	} while (!tag);
	return tag;
}

/* Every member computes this from agreed values, in one byte order. */
u64 tor_join_lineage(const struct tor_join *join)
{
	__be64 word[3];

	word[0] = cpu_to_be64(join->proof);
	word[1] = cpu_to_be64(join->members);
	word[2] = cpu_to_be64((u64)join->a.tag << 32 | join->a.generation);
	return tor_env_hash(word, sizeof(word), LINEAGE_HASH_KEY);
}

u64 tor_join_name(const void *name, u32 len)
{
	return tor_env_hash(name, len, NAME_HASH_KEY);
}

u64 tor_join_proof(const void *secret, u32 len, u64 name)
{
	return tor_env_hash(secret, len, name);
}

/*
 * Hash the list of members, and if nodes have several ranks, their placement.
 */
static u64 hash_members(const struct tor_join *join)
{
	u64 list = MEMBERS_HASH_KEY ^ tor_terms_seed();
	u32 rank;

	for (rank = 0; rank < join->a.ranks; rank++) {
		__be32 word = cpu_to_be32(tor_join_node(join, rank));

		tor_env_walked(rank);
		list = tor_env_hash(&word, sizeof(word), list);
		if (!join->team)
			continue;
		word = cpu_to_be32(tor_team_seats(join->team, rank));
		list = tor_env_hash(&word, sizeof(word), list);
	}
	for (rank = 0; join->team && !join->team->in_order && rank < join->team->ranks; rank++) {
		__be32 word = cpu_to_be32(join->team->rank[rank]);

		tor_env_walked(rank);
		list = tor_env_hash(&word, sizeof(word), list);
	}
	return list;
}

void tor_join_prepare(struct tor_join *join, const void *name, u32 name_len, const void *secret,
		      u32 secret_len)
{
	join->name = tor_join_name(name, name_len);
	join->proof = tor_join_proof(secret, secret_len, join->name);
	join->members = hash_members(join);
}

int tor_join_start(struct tor_ctx *ctx, struct tor_join *join)
{
	const struct tor_join *other;

	list_for_each_entry(other, &join->a.node->joins, a.list)
		if (other->name == join->name && other->rank == join->rank)
			return -EEXIST;
	join->nonce = tor_env_random();
	join->a.policy = &tor_join_policy;
	join->a.told = join->a.ranks;
	join->a.room = join->a.ranks;
	join->a.seldom = join_most_seldom(join, TOR_JOIN_READY_MAX);
	join->a.missing = join->rank ? 0 : TOR_NO_RANK;
	join->left = join->a.ranks;
	join->fault = (struct tor_comm_terms){ .rank = ~0U, .node = ~0U };
	join->coarse = false;
	join->a.epoch[join->rank] = join->a.node->epoch;
	tor_agree_begin(ctx, &join->a, &join->a.node->joins);
	if (join->rank)
		tor_join_say(ctx, join, 0, TORCOLL_COMM_JOIN, 0);
	else
		tor_join_chief_start(ctx, join);
	return 0;
}

void tor_join_cancel(struct tor_ctx *ctx, struct tor_join *join, int error)
{
	if (join->a.state == TOR_AGREE_DONE || join->a.state == TOR_AGREE_REFUSING)
		return;
	if (join->a.state == TOR_AGREE_GOING) {
		/* all have agreed; a rank that was not told yet asks again */
		tor_agree_finish(ctx, &join->a, 0);
	} else if (join->rank) {
		tor_join_say(ctx, join, 0, TORCOLL_COMM_LEAVE, 0);
		tor_agree_finish(ctx, &join->a, error);
	} else {
		tor_join_chief_fail(ctx, join, error);
	}
}

bool tor_join_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error)
{
	struct tor_join *join, *next;

	list_for_each_entry_safe(join, next, &node->joins, a.list)
		tor_join_cancel(ctx, join, error);
	return !list_empty(&node->joins);
}

void tor_join_answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		     const struct tor_comm_msg *msg, u8 step, int error,
		     const struct tor_comm_terms *terms)
{
	struct tor_comm_msg reply = *msg;

	reply.step = step;
	reply.error = -error;
	reply.epochs = 0;
	reply.has_terms = terms;
	if (terms)
		reply.terms = *terms;
	tor_agree_answer(ctx, node, h, &reply);
}

/* A member: take a part of the agreement. True: all parts are there. */
static bool take_epochs(struct tor_join *join, const struct tor_comm_msg *msg)
{
	if (msg->ranks != join->a.ranks || !tor_agree_take(&join->a, msg, NULL))
		return false;
	/*
	 * if false, rank 0 has heard an earlier incarnation of this node; it
	 * will hear this one
	 */
	return join->a.epoch[join->rank] == join->a.node->epoch;
}

/*
 * A member: rank 0's module is one without terms, and has not compared them.
 * False: they differ, and the join has failed.
 */
static bool take_no_terms(struct tor_ctx *ctx, struct tor_join *join,
			  const struct tor_comm_msg *msg)
{
	enum torcoll_comm_cause cause = tor_terms_compare(join->a.node, &tor_rates_default, msg);

	if (cause)
		tor_join_cancel(ctx, join, -EPROTO);
	return !cause;
}

/* A member: record who is missing according to rank 0. */
static void take_missing(struct tor_join *join, u32 rank)
{
	tor_agree_miss(&join->a, rank < join->a.ranks ? rank : TOR_NO_RANK);
}

/* A member: record who is at fault according to rank 0. */
static void take_fault(struct tor_ctx *ctx, struct tor_join *join, const struct tor_comm_msg *msg)
{
	if (msg->error != EPROTO || !msg->has_terms)
		return;
	join->fault = msg->terms;
	tor_terms_remember(join->a.node, ctx->now, join->name, join->proof, false, &join->fault);
}

/* A member: handle rank 0's answer. */
static void answer_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_comm_msg *msg)
{
	int err;

	switch (msg->step) {
	case TORCOLL_COMM_WAIT:
		take_missing(join, msg->missing);
		/* rank 0 knows this rank: no hurry */
		tor_agree_back_off(&join->a, TOR_AGREE_REPEAT_MAX);
		break;
	case TORCOLL_COMM_READY:
		if (join->a.state == TOR_AGREE_CALLING) {
			if (tor_terms_unit(msg) > join->a.unit || !take_epochs(join, msg))
				return;
			if (!msg->has_terms && !take_no_terms(ctx, join, msg))
				return;
			join->a.generation = msg->generation;
			join->a.unit = tor_terms_unit(msg);
			tor_terms_get_rates(msg, &join->rates);
			err = tor_env_join_install(ctx, join);
			if (err) {
				tor_join_cancel(ctx, join, err);
				return;
			}
			join->a.state = TOR_AGREE_ACCEPTING;
			/* all have come; rank 0 will say who has not accepted */
			take_missing(join, 0);
			tor_agree_hurry(ctx, &join->a);
		}
		if (msg->tag == join->a.tag)
			tor_join_say(ctx, join, 0, TORCOLL_COMM_ACCEPT, 0);
		break;
	case TORCOLL_COMM_GO:
		if (join->a.state == TOR_AGREE_ACCEPTING && msg->tag == join->a.tag)
			tor_agree_finish(ctx, &join->a, 0);
		break;
	case TORCOLL_COMM_REFUSE:
		take_missing(join, msg->missing);
		take_fault(ctx, join, msg);
		/* a repeated call may be under way, see past.h */
		tor_join_say(ctx, join, 0, TORCOLL_COMM_LEAVE, 0);
		tor_agree_finish(ctx, &join->a, -(int)msg->error);
		break;
	}
}

void tor_join_complete(struct tor_ctx *ctx, struct tor_node *node, u64 lineage)
{
	struct tor_join *join;

	list_for_each_entry(join, &node->joins, a.list) {
		if (!join->rank || join->a.state != TOR_AGREE_ACCEPTING ||
		    tor_join_lineage(join) != lineage)
			continue;
		tor_agree_finish(ctx, &join->a, 0);
		return;
	}
}

/*
 * The end of a join was told once, and that was lost: tell it again to a rank
 * that sends as if the join continued. Or the rank comes after that, or before
 * rank 0 does.
 */
static void stray_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		     const struct tor_comm_msg *msg, bool known)
{
	const struct tor_comm_terms *refused;

	if (msg->step == TORCOLL_COMM_JOIN) {
		refused = tor_terms_refused(node, ctx->now, msg);
		if (refused)
			tor_join_answer(ctx, node, h, msg, TORCOLL_COMM_REFUSE, -EPROTO, refused);
		else
			tor_early_keep(node, ctx->now, ctx->now + TOR_EARLY_KEPT, h, msg);
		return;
	}
	if (msg->step == TORCOLL_COMM_LEAVE)
		tor_early_forget(node, h, msg);
	if (msg->step == TORCOLL_COMM_ACCEPT && known)
		tor_join_answer(ctx, node, h, msg, TORCOLL_COMM_GO, 0, NULL);
	else if (msg->step == TORCOLL_COMM_ACCEPT)
		tor_join_answer(ctx, node, h, msg, TORCOLL_COMM_REFUSE, -ECONNABORTED, NULL);
	else if (msg->step == TORCOLL_COMM_READY && !known)
		tor_join_answer(ctx, node, h, msg, TORCOLL_COMM_LEAVE, 0, NULL);
}

void tor_join_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		 const struct tor_comm_msg *msg, bool known)
{
	bool to_chief = msg->step == TORCOLL_COMM_JOIN || msg->step == TORCOLL_COMM_ACCEPT ||
		       msg->step == TORCOLL_COMM_LEAVE;
	struct tor_join *join;

	if (msg->step == TORCOLL_COMM_JOIN && tor_past_has(node, ctx->now, h, msg))
		return;
	if (to_chief && msg->step != TORCOLL_COMM_JOIN)
		tor_past_note(node, ctx->now + TOR_EARLY_KEPT, h, msg);
	list_for_each_entry(join, &node->joins, a.list) {
		if (join->name != msg->name || (!join->rank) != to_chief)
			continue;
		if (!to_chief) {
			if (join->nonce != msg->nonce || tor_join_node(join, 0) != h->src)
				continue;
			answer_rx(ctx, join, msg);
		} else if (!tor_join_chief_rx(ctx, join, h, msg)) {
			continue;
		}
		return;
	}
	stray_rx(ctx, node, h, msg, known);
}

static void join_repeat(struct tor_ctx *ctx, struct tor_join *join, u32 *left)
{
	bool calling = join->a.state == TOR_AGREE_CALLING;

	if (!join->rank && !calling) {
		if (tor_agree_is_telling(&join->a))
			tor_agree_tell(ctx, &join->a, left);
		else
			tor_agree_tell_all(ctx, &join->a, join->a.state, left);
		return;
	}
	if (join->rank)
		tor_join_say(ctx, join, 0, calling ? TORCOLL_COMM_JOIN : TORCOLL_COMM_ACCEPT, 0);
	join->a.repeat = ctx->now + join->a.interval;
	/*
	 * rank 0 waits for others, or has not come: many ranks must not repeat
	 * at the same time
	 */
	tor_agree_back_off(&join->a, join_most_seldom(join, TOR_AGREE_REPEAT_MAX));
}

u64 tor_join_due(const struct tor_node *node)
{
	return tor_agree_due(&node->joins);
}

u64 tor_join_timer(struct tor_ctx *ctx, struct tor_node *node)
{
	u32 left = tor_env_budget().frames;
	struct tor_join *join, *next;

	list_for_each_entry_safe(join, next, &node->joins, a.list)
		if (ctx->now >= join->a.repeat)
			join_repeat(ctx, join, &left);
	return tor_join_due(node);
}
