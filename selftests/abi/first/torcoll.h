/* SPDX-License-Identifier: MIT */
/*
 * libtorcoll: collectives over directly cabled tori
 *
 * A process opens a context, joins a communicator (comm) together with its peers, and calls
 * collectives on it. The kernel module carries them out; a blocking call is one system call and
 * wakes its caller once, when the result is in the buffer.
 *
 *	struct torcoll *t;
 *	struct torcoll_comm *comm;
 *	float x[1024];
 *	int err;
 *
 *	err = torcoll_open(&t);
 *	if (!err)
 *		err = torcoll_comm_from_env(t, &comm);
 *	if (!err)
 *		err = torcoll_allreduce(comm, x, x, 1024, TORCOLL_F32, TORCOLL_SUM);
 *	if (err)
 *		fprintf(stderr, "%s\n", torcoll_last_error());
 *	torcoll_close(t);
 *
 * Errors. Functions that can fail return 0 or a negative errno; the meanings are listed at the top
 * of <linux/torcoll.h>. torcoll_last_error() has a sentence for people. A comm that failed gives
 * its first error to every later op.
 *
 * Order. All ranks of a comm call the same ops in the same order: an op is matched by its place in
 * that order. What differs (count, type, operator, ...) is found out and gives -EPROTO.
 *
 * Memory. Any memory of the process may be passed as a buffer. Memory that is used again and
 * again is best registered once: it then stays pinned, and nothing is pinned per call. Buffers
 * belong to the op from its start until it is complete; reading a send buffer is allowed.
 *
 * Units. Counts are elements, lengths bytes, deadlines absolute CLOCK_MONOTONIC nanoseconds
 * (torcoll_deadline() makes one; 0 means none).
 *
 * Threads. Every function may be called from any thread at any time, except that a context, comm
 * or request must not be used after (or while) it is closed or reused. A request is waited for by
 * one thread at a time. Threads that call ops on one comm must order these calls themselves, as
 * the other ranks see them in one order; give each thread its own comm where they cannot.
 *
 * Signals. No call returns because of a signal: handlers run, the wait goes on.
 *
 * Processes. The context is closed by exec. It is not for use by both sides of a fork; a child
 * opens its own.
 */
#ifndef TORCOLL_H
#define TORCOLL_H

#include <linux/torcoll.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TORCOLL_VERSION_MAJOR	0
#define TORCOLL_VERSION_MINOR	1
#define TORCOLL_VERSION_PATCH	0

/* An open context: the device, registered memory, comms. */
struct torcoll;

/* A communicator: an ordered list of ranks of which this process is one. */
struct torcoll_comm;

/* ---- Context ------------------------------------------------------------------------------ */

/*
 * Open the torcoll device. The context belongs to the network namespace that the calling thread is
 * in. Errors: -ENOENT (the module is not loaded), -EACCES (not root, nor in the group torcoll),
 * -EOPNOTSUPP (module and library do not fit), -ENOMEM.
 */
int torcoll_open(struct torcoll **t);

/*
 * Close a context, its comms and its registrations. Ops still running are aborted. NULL does
 * nothing.
 */
void torcoll_close(struct torcoll *t);

/*
 * A file descriptor that polls readable (POLLIN) while an op of this context is complete and not
 * yet waited for: for poll, epoll and event loops; then see torcoll_test(). Only for polling: it
 * stays the context's.
 */
int torcoll_fd(const struct torcoll *t);

/* What the loaded module is and serves: see <linux/torcoll.h>. @info->size need not be set. */
int torcoll_info(struct torcoll *t, struct torcoll_info *info);

/* This library's version, as "0.1.0". */
const char *torcoll_version(void);

/* ---- Errors ------------------------------------------------------------------------------- */

/*
 * A sentence about the last call that failed in the calling thread, with the module's explanation
 * where there is one: "allreduce: rank 3 was killed (ECONNABORTED)". Empty if nothing failed yet.
 * Never NULL; valid until the thread's next failing call.
 */
const char *torcoll_last_error(void);

/* What an error code means to torcoll, in general. @err may be negative or positive. Never NULL. */
const char *torcoll_strerror(int err);

/* ---- Memory ------------------------------------------------------------------------------- */

/*
 * Register @length bytes at @addr for use without copies. The pages are pinned and count towards
 * RLIMIT_MEMLOCK until they are unregistered or the context is closed; unregister before freeing
 * the memory. Ops find registered memory by themselves from the addresses that they are given; a
 * buffer that lies only partly in it is treated as not registered. Any alignment will do.
 * Errors: -EINVAL (empty), -EEXIST (overlaps registered memory), -EFAULT, -EDQUOT, -ENOMEM.
 */
int torcoll_register(struct torcoll *t, void *addr, size_t length);

/*
 * Unregister memory; @addr as it was registered. Errors: -ENOENT (nothing is registered at @addr),
 * -EBUSY (an op is using it).
 */
int torcoll_unregister(struct torcoll *t, void *addr);

/* ---- Communicators ------------------------------------------------------------------------ */

/* Which comm to join. Start from zero: `struct torcoll_comm_config c = { .fabric = 1, ... };` */
struct torcoll_comm_config {
	uint64_t fabric;		/* the fabric's key */
	const char *name;		/* 1 to TORCOLL_NAME_MAX bytes */
	const char *secret;		/* at most TORCOLL_NAME_MAX bytes; NULL: none */
	const uint32_t *members;	/* the node of each rank; NULL: all nodes, in order */
	uint32_t size;			/* number of members; 0 with members NULL */
	uint32_t rank;			/* the caller's, or TORCOLL_RANK_SELF: the one on this node */
	uint32_t depth;			/* ops in flight; 0: the module chooses */
	uint32_t reserved32;		/* must be 0 */
	uint64_t deadline_ns;		/* for joining, 0: none */
	uint64_t reserved[4];		/* must be 0 */
};

/*
 * Join a comm: blocks until every member has called this with the same name, secret and members.
 * On success *@comm is the caller's until torcoll_comm_close() or torcoll_close().
 * Errors: -ENODEV (no such fabric in this network namespace), -EACCES (wrong secret), -EPROTO
 * (members disagree), -ETIMEDOUT (the sentence names who is missing), -EEXIST, -EINVAL, ...
 */
int torcoll_comm_create(struct torcoll *t, const struct torcoll_comm_config *config,
			struct torcoll_comm **comm);

/*
 * Join the comm that the environment describes, as set by launchers:
 *
 *	TORCOLL_FABRIC	the fabric's key (required; decimal, or hexadecimal with 0x)
 *	TORCOLL_COMM	the comm's name; "world" if not set
 *	TORCOLL_SECRET	its secret; none if not set
 *	TORCOLL_RANK	the caller's rank; the rank on this node if not set
 *	TORCOLL_SIZE	the number of ranks: rank i is on node i; all nodes if not set
 *	TORCOLL_MEMBERS	the node of each rank, as "5,1,8-11"; must be TORCOLL_SIZE of them if both are set
 *	TORCOLL_TIMEOUT	seconds until joining is given up; 120 if not set, 0: never
 *
 * Errors: -EINVAL with a sentence about the variable; those of torcoll_comm_create().
 */
int torcoll_comm_from_env(struct torcoll *t, struct torcoll_comm **comm);

/*
 * Leave a comm and free it. Ops still running are aborted (-ECONNABORTED at the other ranks);
 * requests of the comm must not be used any more. NULL does nothing.
 */
void torcoll_comm_close(struct torcoll_comm *comm);

/* The caller's rank, from 0, and the number of ranks. These never fail and cost nothing. */
uint32_t torcoll_comm_rank(const struct torcoll_comm *comm);
uint32_t torcoll_comm_size(const struct torcoll_comm *comm);

/* Everything about a comm, its first error included. @info->size and ->comm need not be set. */
int torcoll_comm_info(struct torcoll_comm *comm, struct torcoll_comm_info *info);

/*
 * Fail a comm from any thread: its ops end with -ECANCELED here and -ECONNABORTED elsewhere, and so
 * does every later one.
 */
int torcoll_abort(struct torcoll_comm *comm);

/* ---- Collectives -------------------------------------------------------------------------- */

/*
 * One op that was started. The caller's memory, at a fixed address until the op is complete; need
 * not be initialised, may be used again after completion.
 */
struct torcoll_request {
	struct torcoll_comm *comm;	/* private: this and all below */
	uint64_t op;
	int32_t status;
	uint32_t state;
	uint32_t error_rank;
	uint32_t collective;
	uint64_t reserved[2];
};

/*
 * Reduce @count elements over all ranks; everyone gets the same bits. In place: @send == @recv.
 * Buffers that overlap in another way give -EINVAL. Blocks until the result is at @recv and both
 * buffers are the caller's again.
 *
 * Errors: those of the op (-EPROTO, -ECONNABORTED, -ECANCELED, -EHOSTUNREACH, -EHOSTDOWN), or why
 * it could not start (-EINVAL, -EFAULT, -EOPNOTSUPP, -ENOMEM, ...; nothing was sent then).
 */
int torcoll_allreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type, enum torcoll_redop redop);

/*
 * Start an allreduce and return. On success @req is to be waited for; on an error it is not.
 * Blocks only while as many ops as the comm is deep are in flight.
 */
int torcoll_iallreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, enum torcoll_redop redop,
		       struct torcoll_request *req);

/*
 * Any op with all that can be said about it. Start from zero:
 *
 *	struct torcoll_op op = {
 *		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_F64, .redop = TORCOLL_MAX,
 *		.count = 1, .send = &x, .recv = &y, .deadline_ns = torcoll_deadline(500),
 *	};
 */
struct torcoll_op {
	enum torcoll_collective collective;
	enum torcoll_type type;
	enum torcoll_redop redop;	/* TORCOLL_REDOP_NONE where nothing is reduced */
	enum torcoll_algorithm algorithm; /* TORCOLL_ALGO_AUTO unless you know better */
	enum torcoll_bits bits;		/* promises about the bits of float results */
	uint32_t flags;			/* TORCOLL_OP_NOWAIT: -EBUSY instead of waiting for a slot */
	uint32_t root;			/* rank; where there is one */
	uint32_t peer;			/* rank, for send and receive */
	uint64_t count;			/* elements of the whole vector, for every collective */
	const uint64_t *counts;		/* elements of each rank's block; NULL: an even split */
	const void *send;
	void *recv;
	const void *scalar;		/* one element, for TORCOLL_PREMULSUM */
	uint32_t param[TORCOLL_PARAM_COUNT]; /* of the algorithm, 0: the module chooses */
	uint64_t deadline_ns;		/* then the op fails with -ETIMEDOUT */
	uint64_t reserved[4];		/* must be 0 */
};

/* Carry out an op: returns when it is complete, with its status. One system call. */
int torcoll_run(struct torcoll_comm *comm, const struct torcoll_op *op);

/* Start an op: see torcoll_iallreduce(). */
int torcoll_submit(struct torcoll_comm *comm, const struct torcoll_op *op,
		   struct torcoll_request *req);

/*
 * Wait until an op is complete. Returns its status: 0, or a negative errno as for the blocking
 * call. Once complete, waiting and testing again give the same answer.
 */
int torcoll_wait(struct torcoll_request *req);

/* The same with a limit to the patience: -EAGAIN at @deadline_ns, and the op goes on. */
int torcoll_wait_until(struct torcoll_request *req, uint64_t deadline_ns);

/* The same without waiting: -EAGAIN if the op is not complete. */
int torcoll_test(struct torcoll_request *req);

/* The rank that caused a completed op's failure, or ~0 if none or not known. */
uint32_t torcoll_request_error_rank(const struct torcoll_request *req);

/* The time @ms milliseconds from now, as a deadline. */
uint64_t torcoll_deadline(uint64_t ms);

/* ---- Names and sizes ---------------------------------------------------------------------- */

/* Bytes of an element in memory, 0 if the type is unknown. */
size_t torcoll_type_size(enum torcoll_type type);

/* "f32", "sum", "allreduce", "swing-bw"; NULL for a value that names nothing. */
const char *torcoll_type_name(enum torcoll_type type);
const char *torcoll_redop_name(enum torcoll_redop redop);
const char *torcoll_collective_name(enum torcoll_collective collective);
const char *torcoll_algorithm_name(enum torcoll_algorithm algorithm);

/* The value (0 or more) of a name as above, or -EINVAL. */
int torcoll_type_by_name(const char *name);
int torcoll_redop_by_name(const char *name);
int torcoll_collective_by_name(const char *name);
int torcoll_algorithm_by_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* TORCOLL_H */
