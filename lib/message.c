// SPDX-License-Identifier: MIT
/*
 * Messages from one rank to another.
 */
#include "internal.h"

static struct torcoll_op send_op(const void *buf, uint64_t count, enum torcoll_type type,
				 uint32_t to)
{
	return (struct torcoll_op){
		.collective = TORCOLL_SEND,
		.type = type,
		.count = count,
		.send = buf,
		.peer = to,
	};
}

static struct torcoll_op recv_op(void *buf, uint64_t count, enum torcoll_type type, uint32_t from)
{
	return (struct torcoll_op){
		.collective = TORCOLL_RECV,
		.type = type,
		.count = count,
		.recv = buf,
		.peer = from,
	};
}

int torcoll_send(struct torcoll_comm *comm, const void *buf, uint64_t count,
		 enum torcoll_type type, uint32_t to)
{
	struct torcoll_op op = send_op(buf, count, type, to);

	return torcoll_run(comm, &op);
}

int torcoll_isend(struct torcoll_comm *comm, const void *buf, uint64_t count,
		  enum torcoll_type type, uint32_t to, struct torcoll_request *req)
{
	struct torcoll_op op = send_op(buf, count, type, to);

	return torcoll_submit(comm, &op, req);
}

int torcoll_recv(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		 uint32_t from)
{
	struct torcoll_op op = recv_op(buf, count, type, from);

	return torcoll_run(comm, &op);
}

int torcoll_irecv(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		  uint32_t from, struct torcoll_request *req)
{
	struct torcoll_op op = recv_op(buf, count, type, from);

	return torcoll_submit(comm, &op, req);
}
