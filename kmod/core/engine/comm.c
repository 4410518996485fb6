// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A communicator: its members, and its failure. See engine.h. */
#include "core/engine/engine.h"

#include "core/wire/accept.h"

u32 tor_comm_rank(const struct tor_comm *comm, u32 node)
{
	u32 lo = 0, hi = comm->ranks;

	if (!comm->member)
		return node < comm->ranks ? node : TOR_NO_RANK;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		u32 rank = comm->order[mid];

		if (comm->member[rank] == node)
			return rank;
		if (comm->member[rank] < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return TOR_NO_RANK;
}

bool tor_comm_admit(struct tor_comm *comm, const struct tor_hdr *h, u32 *rank,
		    enum tor_counter *why)
{
	*rank = tor_comm_rank(comm, h->src);
	if (*rank == TOR_NO_RANK || *rank == comm->rank) {
		*why = TOR_C_DROP_COMM;
		return false;
	}
	if (h->src_epoch != tor_comm_agreed(comm, *rank)) {
		*why = TOR_C_DROP_EPOCH;
		return false;
	}
	return true;
}

/* Return the node of a user's rank. */
static u32 node_of_user(const struct tor_comm *comm, u32 rank)
{
	if (rank >= tor_comm_user_ranks(comm))
		return ~0U;
	return tor_comm_node(comm, comm->team ? comm->team->node[rank] : rank);
}

/* Return the own rank, as others know it. */
static u32 comm_speaker(const struct tor_comm *comm)
{
	return comm->team ? READ_ONCE(comm->speaker) : comm->rank;
}

/* Record the first failure; later ones are ignored. */
static void comm_fail(struct tor_ctx *ctx, struct tor_comm *comm, int error,
		      const struct tor_abort *cause)
{
	u32 i;

	if (atomic_cmpxchg(&comm->claimed, 0, 1))
		return;
	comm->error_rank = cause->rank;
	comm->error_node = node_of_user(comm, cause->rank);
	comm->error_op = cause->op;
	comm->refusal = cause->refusal;
	memcpy(comm->digest, cause->digest, sizeof(comm->digest));
	memcpy(comm->call, cause->call, sizeof(comm->call));
	for (i = 0; i < ARRAY_SIZE(comm->call); i++)
		if (cause->call[i].collective)
			comm->known |= BIT(i);
	if (comm->known == BIT(ARRAY_SIZE(comm->call)) - 1)
		atomic_set(&comm->explained, TOR_EXPLAINED);
	comm->error = error;
	/* a full barrier: a reader that sees the failure sees its cause */
	atomic_cmpxchg(&comm->failed, 0, 1);
	tor_env_comm_failed(ctx, comm);
}

void tor_comm_fail_user_rank(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank,
			     u32 op)
{
	struct tor_abort cause = { .rank = rank, .op = op };

	comm_fail(ctx, comm, error, &cause);
}

void tor_comm_fail(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank, u32 op)
{
	tor_comm_fail_user_rank(ctx, comm, error, tor_comm_first(comm, rank), op);
}

void tor_comm_inherit(struct tor_ctx *ctx, struct tor_comm *comm, const struct tor_comm *nodes,
		      int error, u32 rank)
{
	tor_comm_fail_user_rank(ctx, comm, error, rank, nodes->error_op);
}

void tor_comm_mismatch(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
		       const struct tor_wire_call *here, u32 digest, u32 rank, u32 theirs)
{
	struct tor_abort cause = {
		.rank = tor_comm_first(comm, rank),
		.op = op,
		.digest = { digest, theirs },
		.call = { *here, { .rank = tor_comm_first(comm, rank) } },
	};

	comm_fail(ctx, tor_comm_carrier(comm), -EPROTO, &cause);
}

void tor_comm_mismatch_here(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
			    const struct tor_wire_call *const call[2], const u32 digest[2])
{
	struct tor_abort cause = {
		.rank = call[1]->rank,
		.op = op,
		.digest = { digest[0], digest[1] },
		.call = { *call[0], *call[1] },
	};

	comm_fail(ctx, tor_comm_carrier(comm), -EPROTO, &cause);
}

void tor_comm_fail_refusal(struct tor_ctx *ctx, struct tor_comm *comm, u32 op,
			   const struct tor_wire_call *call, u32 error)
{
	struct tor_abort cause = {
		.rank = call->rank,
		.op = op,
		.refusal = error,
		.call = { *call },
	};

	comm_fail(ctx, tor_comm_carrier(comm), -ECONNABORTED, &cause);
}

/* Return the error for other ranks: for a local cause, that a rank left. */
static int comm_error_elsewhere(int error)
{
	return -(int)(tor_wire_errno(TORCOLL_FRAME_ABORT, -error) ?: ECONNABORTED);
}

/*
 * Return whether the error is about an act or a wish of the rank itself,
 * whoever kept it waiting.
 */
static bool is_own_doing(int error)
{
	return error == -ECANCELED || error == -ETIMEDOUT;
}

void tor_comm_fail_nodes(struct tor_ctx *ctx, struct tor_comm *nodes, const struct tor_comm *comm)
{
	tor_comm_fail_user_rank(ctx, nodes, comm_error_elsewhere(comm->error),
			 is_own_doing(comm->error) ? comm->rank : comm->error_rank,
			 comm->error_op);
}

/* Return the rank that made the @i-th of the calls that differ. */
static u32 comm_caller(const struct tor_comm *comm, u32 i)
{
	/* comm_explain() may be writing the same value again */
	return data_race(comm->call[i].rank);
}

/*
 * Send an abort with header @h, which is complete except for the body's fields.
 */
static void send_abort(struct tor_ctx *ctx, struct tor_node *node, struct tor_hdr *h,
		       const struct tor_abort *abort)
{
	u8 hdr[sizeof(struct torcoll_hdr)], body[sizeof(struct torcoll_abort)];
	struct tor_frame frame = {
		.cable = ~0U,
		.dst = h->dst,
		.hdr = hdr,
		.hdr_len = sizeof(hdr),
		.linear = body,
		.linear_len = sizeof(body),
	};

	tor_wire_put_abort(body, abort);
	h->length = sizeof(body);
	h->payload_crc = tor_wire_crc(body, sizeof(body));
	tor_wire_build(hdr, h, NULL);
	tor_env_send(ctx, node, &frame);
}

static void send_to_rank(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank,
			 const struct tor_abort *abort)
{
	struct tor_hdr h;

	tor_node_header(comm->node, &h, TORCOLL_FRAME_ABORT, tor_comm_node(comm, rank));
	h.dst_epoch = tor_comm_epoch(comm, rank);
	h.comm = comm->tag;
	send_abort(ctx, comm->node, &h, abort);
}

static void tell_why(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank)
{
	struct tor_abort abort = {
		.error = -comm_error_elsewhere(comm->error),
		.rank = comm->error_rank,
		.node = comm->error_node,
		.op = comm->error_op,
		.refusal = comm->refusal,
		.digest = { comm->digest[0], comm->digest[1] },
	};
	u32 i;

	if (rank == comm->rank)
		return;
	for (i = 0; i < ARRAY_SIZE(abort.call); i++) {
		abort.call[i].rank = comm_caller(comm, i);
		if (tor_comm_knows(comm, i))
			abort.call[i] = comm->call[i];
	}
	if (abort.rank == TOR_NO_RANK || is_own_doing(comm->error))
		abort.rank = comm_speaker(comm);
	send_to_rank(ctx, comm, rank, &abort);
}

void tor_comm_send_abort(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank)
{
	/* once the nodes' comm has failed, it has the better explanation */
	if (comm->nodes && tor_comm_failed(comm->nodes))
		tell_why(ctx, comm->nodes, tor_comm_place(comm, rank));
	else
		tell_why(ctx, comm, rank);
}

void tor_comm_answer_gone(struct tor_ctx *ctx, struct tor_node *node, const struct tor_hdr *h,
			  u32 tag)
{
	const struct tor_abort abort = {
		.error = ECONNABORTED,
		.rank = TOR_NO_RANK,
		.node = node->self,
	};
	struct tor_hdr reply;

	if (!tor_node_may_answer(node, ctx->now))
		return;
	tor_node_header(node, &reply, TORCOLL_FRAME_ABORT, h->src);
	reply.dst_epoch = h->src_epoch;
	reply.comm = tag;
	send_abort(ctx, node, &reply, &abort);
}

u32 tor_comm_to_tell(const struct tor_comm *comm, u32 round, u32 i)
{
	u64 first = comm->rank + (u64)round * comm->ranks / TOR_TELLINGS;

	return (first + i) % comm->ranks;
}

static bool is_message(const struct tor_wire_call *call)
{
	return call->collective == TORCOLL_SEND || call->collective == TORCOLL_RECV;
}

/*
 * Return whether this node reports the call of @rank, if the opposite is
 * @other. The first rank of a node reports calls that all its ranks make.
 */
static bool speaks_for(const struct tor_comm *comm, u32 rank, const struct tor_wire_call *other)
{
	if (comm->team && is_message(other))
		return rank < tor_comm_user_ranks(comm) && tor_team_node(comm->team, rank) == comm->rank;
	return rank == tor_comm_first(comm, comm->rank);
}

/*
 * Return the slot of op @seq of @rank here that corresponds to @other's call.
 */
static const struct tor_op *slot_opposite(struct tor_comm *comm, u32 rank,
					  const struct tor_wire_call *other, u32 seq)
{
	u8 role = other->collective == TORCOLL_SEND ? TOR_ROLE_RECV : TOR_ROLE_SEND;

	if (!is_message(other))
		return tor_env_comm_op(comm, rank, 0, TOR_NO_RANK, seq);
	return other->rank < tor_comm_user_ranks(comm) ?
	       tor_env_comm_op(comm, rank, role, other->rank, seq) : NULL;
}

/* Add this rank's call to @abort if others lack it. */
static bool explain_to_others(struct tor_comm *comm, struct tor_abort *abort)
{
	const struct tor_op *op;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(abort->call); i++) {
		const struct tor_wire_call *other = &abort->call[!i];
		struct tor_wire_call *call = &abort->call[i];

		if (call->collective || !speaks_for(comm, call->rank, other))
			continue;
		op = slot_opposite(comm, call->rank, other, abort->op);
		return op && tor_turn_call(op, abort->op, call);
	}
	return false;
}

/* Add calls from @abort that were unknown when the comm failed. */
static void comm_explain(struct tor_comm *comm, const struct tor_abort *abort)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(comm->call); i++) {
		for (k = 0; k < ARRAY_SIZE(abort->call); k++) {
			if (!abort->call[k].collective ||
			    abort->call[k].rank != comm_caller(comm, i) ||
			    tor_comm_knows(comm, i) ||
			    atomic_cmpxchg(&comm->explained, TOR_EXPLAINED_HALF, TOR_EXPLAINING))
				continue;
			comm->call[i] = abort->call[k];
			/* full barriers on both sides */
			atomic_cmpxchg(&comm->explained, TOR_EXPLAINING, TOR_EXPLAINED);
			tor_env_comm_explained(comm);
		}
	}
}

void tor_comm_abort_rx(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const void *p,
		       u32 len)
{
	struct tor_abort abort;
	bool refused;

	if (tor_wire_get_abort(p, len, &abort)) {
		tor_env_drop(ctx, comm->node, TOR_C_DROP_SHORT);
		return;
	}
	/*
	 * a node that has no such comm names no rank: the ranks that it refuses
	 * report it
	 */
	refused = abort.rank == TOR_NO_RANK;
	if (abort.rank >= tor_comm_user_ranks(comm))
		abort.rank = tor_comm_first(comm, rank);
	if (abort.error == EPROTO && explain_to_others(comm, &abort)) {
		/* what all ranks were sent is about another pair of calls */
		if (atomic_read(&comm->claimed))
			send_to_rank(ctx, comm, rank, &abort);
	} else if (!refused) {
		tor_env_comm_told(comm);
	}
	comm_fail(ctx, comm, -(int)abort.error, &abort);
	if (abort.error == EPROTO && tor_comm_failed(comm) && comm->error == -EPROTO)
		comm_explain(comm, &abort);
}
