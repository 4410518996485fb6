// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Creating a comm. See join.h.
 */
#include "core/agree/join.h"

#include "core/wire/accept.h"

#define NAME_HASH_KEY		0x6e616d6500000000ULL
#define MEMBERS_HASH_KEY	0x6d656d6265727300ULL
#define TAG_HASH_KEY		0x7461670000000000ULL
#define ORDER_HASH_KEY		0x6f72646572000000ULL
#define LINEAGE_HASH_KEY	0x6c696e6561676500ULL

static u32 node_of(const struct tor_join *join, u32 rank)
{
	return join->member ? join->member[rank] : rank;
}

void tor_join_say(struct tor_ctx *ctx, struct tor_node *node, u32 dst,
		  const struct tor_comm_msg *msg, const u32 *epoch)
{
	u8 body[sizeof(struct torcoll_comm_msg) + TOR_JOIN_EPOCHS * sizeof(__be32)];
	u8 hdr[sizeof(struct torcoll_hdr)];
	struct tor_frame frame = {
		.port = ~0U,
		.dst = dst,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = body,
		.linear_len = tor_wire_comm_bytes(msg->epochs),
	};
	struct tor_hdr h;

	tor_node_header(node, &h, TORCOLL_FRAME_COMM, dst);
	h.length = frame.linear_len;
	tor_wire_put_comm(body, msg, epoch);
	h.payload_crc = tor_wire_crc(body, h.length);
	tor_wire_build(hdr, &h, NULL);
	tor_env_send(ctx, node, &frame);
}

static void say_to_rank(struct tor_ctx *ctx, const struct tor_join *join, u32 rank, u8 step,
			int error)
{
	struct tor_comm_msg msg = {
		.step = step,
		.error = -error,
		.name = join->name,
		.proof = join->proof,
		.members = join->members,
		.nonce = join->seen && rank ? join->seen_nonce[rank] : join->nonce,
		.rank = join->rank ? join->rank : rank,
		.ranks = join->ranks,
		.missing = join->missing,
		.tag = join->tag,
		.generation = join->generation,
		.frame_bytes = join->unit,
	};

	tor_join_say(ctx, join->node, node_of(join, rank), &msg, NULL);
}

/* Ranks whose epochs one READY has room for. */
static u32 ready_room(const struct tor_join *join)
{
	return min_t(u32, join->unit / sizeof(__be32), TOR_JOIN_EPOCHS);
}

/* Rank 0: the agreement, with the epochs from rank @first on. */
static void say_ready(struct tor_ctx *ctx, const struct tor_join *join, u32 rank, u32 first)
{
	struct tor_comm_msg msg = {
		.step = TORCOLL_COMM_READY,
		.name = join->name,
		.proof = join->proof,
		.members = join->members,
		.nonce = join->seen_nonce[rank],
		.rank = rank,
		.ranks = join->ranks,
		.missing = first,
		.tag = join->tag,
		.generation = join->generation,
		.frame_bytes = join->unit,
		.epochs = min(ready_room(join), join->ranks - first),
	};

	tor_join_say(ctx, join->node, node_of(join, rank), &msg, join->epoch + first);
}

static void finish(struct tor_ctx *ctx, struct tor_join *join, int error)
{
	join->state = TOR_JOIN_DONE;
	join->error = error;
	list_del(&join->list);
	tor_env_join_done(ctx, join);
}

/* Many ranks repeat what they say less often than few, for whom a frame that was lost should not cost much time. */
static u64 most_seldom(const struct tor_join *join, u64 most)
{
	return clamp_t(u64, (u64)join->ranks * TOR_JOIN_PER_RANK, 2 * TOR_JOIN_REPEAT, most);
}

/* What is an error elsewhere, too. */
static int error_elsewhere(int error)
{
	return -(int)(tor_wire_errno(TORCOLL_FRAME_COMM, -error) ?: ECONNABORTED);
}

/* Rank 0: does what there is to say in this state concern @rank? */
static bool concerns(const struct tor_join *join, u32 rank)
{
	return join->state == TOR_JOIN_ACCEPTING ? join->seen[rank] == TOR_JOIN_CALLING + 1 :
						   !!join->seen[rank];
}

/* Rank 0: say it to the rank whose turn it is. False: @left frames were not enough. */
static bool say_in_turn(struct tor_ctx *ctx, struct tor_join *join, u32 *left)
{
	u32 parts = join->state == TOR_JOIN_ACCEPTING ? join->ranks : 1;

	for (; join->part < parts; join->part += ready_room(join)) {
		if (!*left)
			return false;
		--*left;
		if (join->state == TOR_JOIN_ACCEPTING)
			say_ready(ctx, join, join->turn, join->part);
		else if (join->state == TOR_JOIN_GOING)
			say_to_rank(ctx, join, join->turn, TORCOLL_COMM_GO, 0);
		else
			say_to_rank(ctx, join, join->turn, TORCOLL_COMM_REFUSE,
				    error_elsewhere(join->error));
	}
	join->part = 0;
	return true;
}

/* Rank 0: go on telling the others, by @left frames at most. The rest is the timer's. */
static void tell(struct tor_ctx *ctx, struct tor_join *join, u32 *left)
{
	u32 steps = tor_env_budget().steps;

	for (; join->turn < join->ranks; join->turn++) {
		if (steps-- && (!concerns(join, join->turn) || say_in_turn(ctx, join, left)))
			continue;
		join->repeat = ctx->now + TOR_JOIN_PACE;
		return;
	}
	if (join->state != TOR_JOIN_ACCEPTING) {
		finish(ctx, join, join->error);
		return;
	}
	join->repeat = ctx->now + join->interval;
	join->interval = min(join->interval * 2, most_seldom(join, TOR_JOIN_READY_MAX));
}

/* Rank 0: begin to tell everyone what @state is about. */
static void tell_all(struct tor_ctx *ctx, struct tor_join *join, enum tor_join_state state,
		     u32 *left)
{
	join->state = state;
	join->turn = 1;
	join->part = 0;
	tell(ctx, join, left);
}

/* The first rank from @rank on that stands at @seen. */
static u32 find_seen(const struct tor_join *join, u32 rank, u8 seen)
{
	while (rank < join->ranks && join->seen[rank] != seen)
		rank++;
	return rank;
}

/*
 * Whoever never came, before those that came and gave up waiting for it. Both are looked for from where they may be, so that
 * the messages of many ranks walk over them once.
 */
static void find_missing(struct tor_join *join)
{
	join->absent = find_seen(join, max(join->absent, 1U), 0);
	join->missing = join->absent;
	if (join->missing == join->ranks && join->here < join->ranks - 1) {
		join->left = find_seen(join, max(join->left, 1U), TOR_JOIN_LEFT);
		join->missing = join->left;
	}
	if (join->missing == join->ranks)
		join->missing = TOR_NO_RANK;
}

/* Rank 0: @rank stands at @seen now. */
static void set_seen(struct tor_join *join, u32 rank, u8 seen)
{
	u8 before = join->seen[rank];

	join->here += (seen && seen != TOR_JOIN_LEFT) - (before && before != TOR_JOIN_LEFT);
	join->accepted += (seen == TOR_JOIN_ACCEPTING + 1) - (before == TOR_JOIN_ACCEPTING + 1);
	if (seen == TOR_JOIN_LEFT)
		join->left = min(join->left, rank);
	join->seen[rank] = seen;
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

/* Called by every member with what all have agreed upon, so in one byte order. */
u64 tor_join_lineage(const struct tor_join *join)
{
	__be64 word[3];

	word[0] = cpu_to_be64(join->proof);
	word[1] = cpu_to_be64(join->members);
	word[2] = cpu_to_be64((u64)join->tag << 32 | join->generation);
	return tor_env_hash(word, sizeof(word), LINEAGE_HASH_KEY);
}

static void fail_all(struct tor_ctx *ctx, struct tor_join *join, int error)
{
	u32 left = tor_env_budget().frames;

	join->error = error;
	tell_all(ctx, join, TOR_JOIN_REFUSING, &left);
}

/* Rank 0: take the next step once everyone has come that far. */
static void collect(struct tor_ctx *ctx, struct tor_join *join)
{
	u32 left = tor_env_budget().frames;
	int err;

	if (join->state == TOR_JOIN_CALLING && join->here == join->ranks - 1) {
		join->tag = tor_join_tag(join->node, join->proof, join->members, &join->generation);
		err = tor_env_join_install(ctx, join);
		if (err) {
			fail_all(ctx, join, err);
			return;
		}
		join->interval = TOR_JOIN_REPEAT;
		tell_all(ctx, join, TOR_JOIN_ACCEPTING, &left);
	}
	if (join->state == TOR_JOIN_ACCEPTING && join->accepted == join->ranks - 1)
		tell_all(ctx, join, TOR_JOIN_GOING, &left);
}

u64 tor_join_tuning(const struct tor_rates *rates)
{
	__be64 words[] = {
		cpu_to_be64(rates->op), cpu_to_be64(rates->e), cpu_to_be64(rates->f),
		cpu_to_be64(rates->link), cpu_to_be64(rates->message), cpu_to_be64(rates->byte),
	};

	return tor_env_hash(words, sizeof(words), 0);
}

u64 tor_join_byte_order(u64 tuning, bool big_endian)
{
	return big_endian ? tor_env_hash(&(__be64){ cpu_to_be64(tuning) }, sizeof(__be64),
					 ORDER_HASH_KEY) : tuning;
}

u64 tor_join_name(const void *name, u32 len)
{
	return tor_env_hash(name, len, NAME_HASH_KEY);
}

u64 tor_join_proof(const void *secret, u32 len, u64 name)
{
	return tor_env_hash(secret, len, name);
}

/* The list of members, with how many ranks each node has where these are several, and which. */
static u64 hash_members(const struct tor_join *join)
{
	u64 list = MEMBERS_HASH_KEY ^ join->tuning;
	u32 rank;

	for (rank = 0; rank < join->ranks; rank++) {
		__be32 word = cpu_to_be32(node_of(join, rank));

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

	list_for_each_entry(other, &join->node->joins, list)
		if (other->name == join->name && other->rank == join->rank)
			return -EEXIST;
	join->nonce = tor_env_random();
	join->state = TOR_JOIN_CALLING;
	join->error = 0;
	join->interval = TOR_JOIN_REPEAT;
	join->repeat = ctx->now + join->interval;
	join->missing = join->rank ? 0 : TOR_NO_RANK;
	join->left = join->ranks;
	join->epoch[join->rank] = join->node->epoch;
	list_add_tail(&join->list, &join->node->joins);
	if (join->rank) {
		say_to_rank(ctx, join, 0, TORCOLL_COMM_JOIN, 0);
	} else {
		find_missing(join);
		collect(ctx, join);
	}
	return 0;
}

void tor_join_cancel(struct tor_ctx *ctx, struct tor_join *join, int error)
{
	if (join->state == TOR_JOIN_DONE || join->state == TOR_JOIN_REFUSING)
		return;
	if (join->state == TOR_JOIN_GOING) {
		/* all have agreed; whoever was not told yet asks again */
		finish(ctx, join, 0);
	} else if (join->rank) {
		say_to_rank(ctx, join, 0, TORCOLL_COMM_LEAVE, 0);
		finish(ctx, join, error);
	} else {
		fail_all(ctx, join, error);
	}
}

bool tor_join_cancel_all(struct tor_ctx *ctx, struct tor_node *node, int error)
{
	struct tor_join *join, *next;

	list_for_each_entry_safe(join, next, &node->joins, list)
		tor_join_cancel(ctx, join, error);
	return !list_empty(&node->joins);
}

/* Answer without a record of our own: swap the direction of what came. */
static void answer(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		   const struct tor_comm_msg *msg, u8 step, int error)
{
	struct tor_comm_msg reply = *msg;

	if (!tor_node_may_answer(node, ctx->now))
		return;
	reply.step = step;
	reply.error = -error;
	reply.epochs = 0;
	tor_join_say(ctx, node, h->src, &reply, NULL);
}

/* Rank 0: a member that calls has not heard the agreement. A long one comes when it is its turn. */
static void say_again(struct tor_ctx *ctx, const struct tor_join *join, u32 rank)
{
	u32 first;

	if (join->turn <= rank ||
	    DIV_ROUND_UP(join->ranks, ready_room(join)) > tor_env_budget().frames)
		return;
	for (first = 0; first < join->ranks; first += ready_room(join))
		say_ready(ctx, join, rank, first);
}

/* Rank 0: a member calls. */
static void join_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_hdr *h,
		    const struct tor_comm_msg *msg)
{
	if (msg->proof != join->proof) {
		answer(ctx, join->node, h, msg, TORCOLL_COMM_REFUSE, -EACCES);
		return;
	}
	if (join->state == TOR_JOIN_REFUSING)
		answer(ctx, join->node, h, msg, TORCOLL_COMM_REFUSE, error_elsewhere(join->error));
	if (join->state > TOR_JOIN_ACCEPTING)
		return;
	if (msg->members != join->members || msg->ranks != join->ranks ||
	    node_of(join, msg->rank) != h->src) {
		answer(ctx, join->node, h, msg, TORCOLL_COMM_REFUSE, -EPROTO);
		fail_all(ctx, join, -EPROTO);
		return;
	}
	if (join->state == TOR_JOIN_ACCEPTING) {
		if (join->seen_nonce[msg->rank] == msg->nonce)
			say_again(ctx, join, msg->rank);
		else
			fail_all(ctx, join, -ECONNABORTED);
		return;
	}
	set_seen(join, msg->rank, TOR_JOIN_CALLING + 1);
	join->seen_nonce[msg->rank] = msg->nonce;
	join->epoch[msg->rank] = h->src_epoch;
	join->unit = min(join->unit, msg->frame_bytes);
	find_missing(join);
	if (join->missing != TOR_NO_RANK)
		say_to_rank(ctx, join, msg->rank, TORCOLL_COMM_WAIT, 0);
	collect(ctx, join);
}

static bool is_member(const struct tor_join *join, const struct tor_comm_msg *msg)
{
	return msg->rank < join->ranks && join->seen[msg->rank] &&
	       join->seen_nonce[msg->rank] == msg->nonce;
}

/* Rank 0: a member gave up. */
static void leave_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_comm_msg *msg)
{
	if (!is_member(join, msg) || join->state > TOR_JOIN_ACCEPTING)
		return;
	set_seen(join, msg->rank, TOR_JOIN_LEFT);
	if (join->state == TOR_JOIN_ACCEPTING) {
		join->missing = msg->rank;
		fail_all(ctx, join, -ECONNABORTED);
		return;
	}
	find_missing(join);
}

/* Rank 0: a member has installed the tag. False: not that of this join. */
static bool accept_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_comm_msg *msg)
{
	if (!is_member(join, msg) || msg->tag != join->tag)
		return false;
	if (join->state == TOR_JOIN_GOING)
		say_to_rank(ctx, join, msg->rank, TORCOLL_COMM_GO, 0);
	if (join->state != TOR_JOIN_ACCEPTING)
		return join->state == TOR_JOIN_GOING;
	set_seen(join, msg->rank, TOR_JOIN_ACCEPTING + 1);
	collect(ctx, join);
	return true;
}

/* A member: part of the agreement. True: now all of it is there. */
static bool take_epochs(struct tor_join *join, const struct tor_comm_msg *msg)
{
	u32 i;

	if (msg->ranks != join->ranks)
		return false;
	if (join->tag != msg->tag) {
		memset(join->epoch, 0, join->ranks * sizeof(*join->epoch));
		join->filled = 0;
	}
	join->tag = msg->tag;
	for (i = 0; i < msg->epochs; i++) {
		u32 *epoch = &join->epoch[msg->missing + i];
		u32 said = tor_wire_epoch(msg, i);

		join->filled += !!said - !!*epoch;
		*epoch = said;
	}
	if (join->filled < join->ranks)
		return false;
	/* rank 0 has heard an earlier incarnation of us: it will hear this one */
	return join->epoch[join->rank] == join->node->epoch;
}

/* A member: who has not come, by what rank 0 says. */
static void take_missing(struct tor_join *join, u32 rank)
{
	join->missing = rank < join->ranks ? rank : TOR_NO_RANK;
}

/* A member: rank 0 answers. */
static void answer_rx(struct tor_ctx *ctx, struct tor_join *join, const struct tor_comm_msg *msg)
{
	int err;

	switch (msg->step) {
	case TORCOLL_COMM_WAIT:
		take_missing(join, msg->missing);
		/* it knows of us: no hurry */
		join->interval = min_t(u64, join->interval * 2, TOR_JOIN_REPEAT_MAX);
		break;
	case TORCOLL_COMM_READY:
		if (join->state == TOR_JOIN_CALLING) {
			if (msg->frame_bytes > join->unit || !take_epochs(join, msg))
				return;
			join->generation = msg->generation;
			join->unit = msg->frame_bytes;
			err = tor_env_join_install(ctx, join);
			if (err) {
				tor_join_cancel(ctx, join, err);
				return;
			}
			join->state = TOR_JOIN_ACCEPTING;
			join->interval = TOR_JOIN_REPEAT;
			join->repeat = ctx->now + join->interval;
		}
		if (msg->tag == join->tag)
			say_to_rank(ctx, join, 0, TORCOLL_COMM_ACCEPT, 0);
		break;
	case TORCOLL_COMM_GO:
		if (join->state == TOR_JOIN_ACCEPTING && msg->tag == join->tag)
			finish(ctx, join, 0);
		break;
	case TORCOLL_COMM_REFUSE:
		take_missing(join, msg->missing);
		finish(ctx, join, -(int)msg->error);
		break;
	}
}

/* What ended here was said once, and lost: whoever goes on as if it had not ended is told again. */
static void stray_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		     const struct tor_comm_msg *msg, bool known)
{
	if (msg->step == TORCOLL_COMM_ACCEPT && known)
		answer(ctx, node, h, msg, TORCOLL_COMM_GO, 0);
	else if (msg->step == TORCOLL_COMM_ACCEPT)
		answer(ctx, node, h, msg, TORCOLL_COMM_REFUSE, -ECONNABORTED);
	else if (msg->step == TORCOLL_COMM_READY && !known)
		answer(ctx, node, h, msg, TORCOLL_COMM_LEAVE, 0);
}

void tor_join_rx(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
		 const struct tor_comm_msg *msg, bool known)
{
	bool to_root = msg->step == TORCOLL_COMM_JOIN || msg->step == TORCOLL_COMM_ACCEPT ||
		       msg->step == TORCOLL_COMM_LEAVE;
	struct tor_join *join;

	list_for_each_entry(join, &node->joins, list) {
		if (join->name != msg->name || (!join->rank) != to_root)
			continue;
		if (!to_root) {
			if (join->nonce != msg->nonce || node_of(join, 0) != h->src)
				continue;
			answer_rx(ctx, join, msg);
		} else if (msg->step == TORCOLL_COMM_JOIN) {
			join_rx(ctx, join, h, msg);
		} else if (msg->step == TORCOLL_COMM_LEAVE) {
			leave_rx(ctx, join, msg);
		} else if (!accept_rx(ctx, join, msg)) {
			continue;
		}
		return;
	}
	stray_rx(ctx, node, h, msg, known);
}

static void repeat(struct tor_ctx *ctx, struct tor_join *join, u32 *left)
{
	bool calling = join->state == TOR_JOIN_CALLING;

	if (!join->rank && !calling) {
		if (join->turn < join->ranks)
			tell(ctx, join, left);
		else
			tell_all(ctx, join, join->state, left);
		return;
	}
	if (join->rank)
		say_to_rank(ctx, join, 0, calling ? TORCOLL_COMM_JOIN : TORCOLL_COMM_ACCEPT, 0);
	join->repeat = ctx->now + join->interval;
	/* rank 0 waits for others: all of them at once would be many */
	if (!calling)
		join->interval = min(join->interval * 2, most_seldom(join, TOR_JOIN_REPEAT_MAX));
}

u64 tor_join_due(const struct tor_node *node)
{
	const struct tor_join *join;
	u64 when = 0;

	list_for_each_entry(join, &node->joins, list)
		if (!when || join->repeat < when)
			when = join->repeat;
	return when;
}

u64 tor_join_timer(struct tor_ctx *ctx, struct tor_node *node)
{
	u32 left = tor_env_budget().frames;
	struct tor_join *join, *next;

	list_for_each_entry_safe(join, next, &node->joins, list)
		if (ctx->now >= join->repeat)
			repeat(ctx, join, &left);
	return tor_join_due(node);
}
