// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A communicator: who its members are, and how it fails. See engine.h.
 */
#include "engine.h"

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

/* Heapsort's: @order[@top] sinks to its place among the first @n. */
static void sink(u32 *order, const u32 *member, u32 top, u32 n)
{
	u32 rank = order[top], child;

	for (; (child = 2 * top + 1) < n; top = child) {
		if (child + 1 < n && member[order[child + 1]] > member[order[child]])
			child++;
		if (member[order[child]] <= member[rank])
			break;
		order[top] = order[child];
	}
	order[top] = rank;
}

void tor_comm_sort(u32 *order, const u32 *member, u32 ranks)
{
	u32 i;

	for (i = 0; i < ranks; i++)
		order[i] = i;
	for (i = ranks / 2; i--; )
		sink(order, member, i, ranks);
	for (i = ranks; i-- > 1; ) {
		swap(order[0], order[i]);
		sink(order, member, 0, i);
	}
}

bool tor_comm_admit(struct tor_comm *comm, const struct tor_hdr *h, u32 *rank,
		    enum tor_counter *why)
{
	*rank = tor_comm_rank(comm, h->src);
	if (*rank == TOR_NO_RANK || *rank == comm->rank) {
		*why = TOR_C_DROP_COMM;
		return false;
	}
	if (h->src_epoch != comm->epoch[*rank]) {
		*why = TOR_C_DROP_EPOCH;
		return false;
	}
	return true;
}

void tor_comm_fail(struct tor_ctx *ctx, struct tor_comm *comm, int error, u32 rank, u32 op)
{
	if (atomic_cmpxchg(&comm->claimed, 0, 1))
		return;
	comm->error_rank = rank;
	comm->error_node = rank < comm->ranks ? tor_comm_node(comm, rank) : ~0U;
	comm->error_op = op;
	WRITE_ONCE(comm->error, error);
	/* a full barrier: whoever sees the failure sees its cause */
	atomic_cmpxchg(&comm->failed, 0, 1);
	tor_env_comm_failed(ctx, comm);
}

/* What the other ranks get for an error here. */
static int error_elsewhere(int error)
{
	switch (error) {
	case -ECANCELED:
	case -ETIMEDOUT:
		return -ECONNABORTED;
	default:
		return error;
	}
}

void tor_comm_send_abort(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank)
{
	u8 hdr[sizeof(struct torcoll_hdr)], body[sizeof(struct torcoll_abort)];
	struct tor_abort abort = {
		.error = -error_elsewhere(comm->error),
		.rank = comm->error_rank,
		.node = comm->error_node,
		.op = comm->error_op,
		.digest = { comm->digest[0], comm->digest[1] },
	};
	struct tor_frame frame = { .port = ~0U, .linear = body, .linear_len = sizeof(body) };
	struct tor_hdr h;

	if (rank == comm->rank)
		return;
	if (abort.rank == TOR_NO_RANK || comm->error == -ECANCELED || comm->error == -ETIMEDOUT)
		abort.rank = comm->rank;
	tor_node_header(comm->node, &h, TORCOLL_FRAME_ABORT, tor_comm_node(comm, rank));
	h.dst_epoch = comm->epoch[rank];
	h.comm = comm->tag;
	h.length = sizeof(body);
	tor_wire_put_abort(body, &abort);
	h.payload_crc = tor_wire_crc(body, sizeof(body));
	tor_wire_build(hdr, &h, NULL);
	frame.dst = h.dst;
	frame.hdr = hdr;
	frame.hdr_len = sizeof(hdr);
	tor_env_send(ctx, comm->node, &frame);
}

void tor_comm_abort_rx(struct tor_ctx *ctx, struct tor_comm *comm, u32 rank, const void *p,
		       u32 len)
{
	struct tor_abort abort;
	int error;

	if (tor_wire_get_abort(p, len, &abort))
		return;
	tor_env_comm_told(comm);
	error = abort.error && abort.error < 4096 ? -(int)abort.error : -ECONNABORTED;
	tor_comm_fail(ctx, comm, error, abort.rank < comm->ranks ? abort.rank : rank, abort.op);
}
