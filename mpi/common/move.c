// SPDX-License-Identifier: MIT
/* Calls that move data and do not change it: see call.h. */
#include <errno.h>
#include <stdlib.h>

#include "call.h"

/* An op on bytes; with none of them on any rank there is nothing to do. */
static void move_op(struct tmpi_call *call, enum torcoll_collective collective, uint64_t bytes,
		    uint32_t root)
{
	call->op.collective = bytes ? collective : TORCOLL_COLL_NONE;
	call->op.type = TORCOLL_U8;
	call->op.count = bytes;
	call->op.root = root;
}

int tmpi_bcast(struct tmpi_call *call, const struct tmpi_blocks *data, uint32_t root)
{
	struct tmpi_flat *flat = call->rank == root ? &call->in : &call->out;
	int err;

	move_op(call, TORCOLL_BROADCAST, tmpi_blocks_bytes(data, 1), root);
	if (!call->op.count)
		return 0;
	err = call->rank == root ? tmpi_blocks_in(flat, data) : tmpi_blocks_out(flat, data);
	call->op.send = flat->addr;
	call->op.recv = flat->addr;
	return err;
}

/* The lengths of all blocks, for the op. */
static int move_counts(struct tmpi_call *call, const struct tmpi_blocks *b)
{
	call->counts = calloc(call->size, sizeof(*call->counts));
	if (!call->counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < call->size; i++)
		call->counts[i] = tmpi_block_bytes(b, i);
	call->op.counts = call->counts;
	return 0;
}

/* Flatten what this rank gathers, and its own block: at its place, or sent. */
static int gather_buffers(struct tmpi_call *call, const struct tmpi_blocks *send,
			  const struct tmpi_blocks *recv)
{
	int err = tmpi_blocks_out(&call->out, recv);

	call->op.recv = call->out.addr;
	if (err)
		return err;
	if (!send) {
		call->op.send = call->out.addr + tmpi_blocks_bytes(recv, call->rank);
		return tmpi_flat_fill(&call->out, call->rank, 1);
	}
	err = tmpi_blocks_in(&call->in, send);
	call->op.send = call->in.addr;
	return err;
}

int tmpi_allgather(struct tmpi_call *call, const struct tmpi_blocks *send,
		   const struct tmpi_blocks *recv)
{
	int err = recv->counts ? move_counts(call, recv) : 0;

	move_op(call, TORCOLL_ALLGATHER, tmpi_blocks_bytes(recv, call->size), 0);
	if (err || !call->op.count)
		return err;
	return gather_buffers(call, send, recv);
}

int tmpi_gather(struct tmpi_call *call, const struct tmpi_blocks *send,
		const struct tmpi_blocks *recv, uint32_t root)
{
	const struct tmpi_blocks *any = call->rank == root ? recv : send;
	int err;

	move_op(call, TORCOLL_GATHER, call->size * tmpi_block_bytes(any, 0), root);
	if (!call->op.count)
		return 0;
	if (call->rank == root)
		return gather_buffers(call, send, recv);
	err = tmpi_blocks_in(&call->in, send);
	call->op.send = call->in.addr;
	return err;
}

int tmpi_scatter(struct tmpi_call *call, const struct tmpi_blocks *send,
		 const struct tmpi_blocks *recv, uint32_t root)
{
	const struct tmpi_blocks *any = call->rank == root ? send : recv;
	int err = 0;

	move_op(call, TORCOLL_SCATTER, call->size * tmpi_block_bytes(any, 0), root);
	if (!call->op.count)
		return 0;
	if (call->rank == root)
		err = tmpi_blocks_in(&call->in, send);
	call->op.send = call->in.addr;
	if (!recv) {
		call->op.recv = call->in.addr + tmpi_blocks_bytes(send, call->rank);
		return err;
	}
	if (!err)
		err = tmpi_blocks_out(&call->out, recv);
	call->op.recv = call->out.addr;
	return err;
}

int tmpi_alltoall(struct tmpi_call *call, const struct tmpi_blocks *send,
		  const struct tmpi_blocks *recv)
{
	int err;

	move_op(call, TORCOLL_ALLTOALL, tmpi_blocks_bytes(recv, call->size), 0);
	if (!call->op.count)
		return 0;
	err = tmpi_blocks_out(&call->out, recv);
	call->op.recv = call->out.addr;
	if (err)
		return err;
	if (!send) {
		call->op.send = call->out.addr;
		return tmpi_flat_fill(&call->out, 0, call->size);
	}
	err = tmpi_blocks_in(&call->in, send);
	call->op.send = call->in.addr;
	return err;
}

/*
 * An exchange of blocks of any length, of which each rank knows its own. Of its
 * ranks none knows whether there is anything to do.
 */
static int exchange(struct tmpi_call *call)
{
	call->counts = calloc(2 * call->size, sizeof(*call->counts));
	if (!call->counts)
		return -ENOMEM;
	call->op.collective = TORCOLL_ALLTOALL;
	call->op.type = TORCOLL_U8;
	call->op.counts = call->counts;
	call->op.recv_counts = call->counts + call->size;
	call->op.send = tmpi_nothing;
	call->op.recv = tmpi_nothing + sizeof(tmpi_nothing) / 2;
	return 0;
}

static int exchange_send(struct tmpi_call *call, int err)
{
	call->op.send = call->in.addr;
	return err;
}

static int exchange_recv(struct tmpi_call *call, int err)
{
	call->op.recv = call->out.addr;
	return err;
}

static void exchange_sum(struct tmpi_call *call)
{
	for (uint32_t i = 0; i < call->size; i++)
		call->op.count += call->op.recv_counts[i];
}

int tmpi_alltoallv(struct tmpi_call *call, const struct tmpi_blocks *send,
		   const struct tmpi_blocks *recv)
{
	int err = exchange(call);

	if (err)
		return err;
	for (uint32_t i = 0; i < call->size; i++) {
		call->counts[i] = tmpi_block_bytes(send ? send : recv, i);
		call->counts[call->size + i] = tmpi_block_bytes(recv, i);
	}
	exchange_sum(call);
	err = exchange_recv(call, tmpi_blocks_out(&call->out, recv));
	if (err)
		return err;
	return exchange_send(call, send ? tmpi_blocks_in(&call->in, send) :
					  tmpi_blocks_copy(&call->in, recv));
}

/* One block of many, as a buffer. */
static struct tmpi_blocks one_block(const struct tmpi_blocks *b, uint32_t i)
{
	struct tmpi_blocks one = *b;

	one.n = 1;
	one.counts = b->counts + i;
	one.displs = b->displs + i;
	return one;
}

int tmpi_gatherv(struct tmpi_call *call, const struct tmpi_blocks *send,
		 const struct tmpi_blocks *recv, uint32_t root)
{
	struct tmpi_blocks own;
	int err = exchange(call);

	if (err)
		return err;
	if (!send) {
		own = one_block(recv, call->rank);
		err = exchange_send(call, tmpi_blocks_copy(&call->in, &own));
		call->counts[root] = tmpi_block_bytes(&own, 0);
	} else {
		err = exchange_send(call, tmpi_blocks_in(&call->in, send));
		call->counts[root] = tmpi_block_bytes(send, 0);
	}
	if (err || call->rank != root)
		return err;
	for (uint32_t i = 0; i < call->size; i++)
		call->counts[call->size + i] = tmpi_block_bytes(recv, i);
	exchange_sum(call);
	return exchange_recv(call, tmpi_blocks_out(&call->out, recv));
}

int tmpi_scatterv(struct tmpi_call *call, const struct tmpi_blocks *send,
		  const struct tmpi_blocks *recv, uint32_t root)
{
	uint64_t own = tmpi_block_bytes(recv ? recv : send, recv ? 0 : call->rank);
	int err = exchange(call);

	if (err)
		return err;
	call->counts[call->size + root] = own;
	exchange_sum(call);
	if (call->rank == root) {
		for (uint32_t i = 0; i < call->size; i++)
			call->counts[i] = tmpi_block_bytes(send, i);
		err = exchange_send(call, tmpi_blocks_in(&call->in, send));
	}
	if (err)
		return err;
	if (recv)
		return exchange_recv(call, tmpi_blocks_out(&call->out, recv));
	/* the root's own block, which is dropped */
	call->aside = malloc(own + 1);
	call->op.recv = call->aside;
	return call->aside ? 0 : -ENOMEM;
}
