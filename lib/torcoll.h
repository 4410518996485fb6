/* SPDX-License-Identifier: MIT */
/*
 * libtorcoll: collectives over directly cabled tori
 *
 * A process opens a context, joins a communicator (comm) together with its peers, and calls
 * collectives on it. The kernel module executes them. A blocking call is one system call that
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
 * Errors. Functions that can fail return 0 or a negative errno; <linux/torcoll.h> lists the
 * meanings. torcoll_last_error() returns a readable message. A failed comm returns its first error
 * for every later op; torcoll_comm_shrink() creates a comm of the surviving ranks.
 *
 * Order. All ranks of a comm call the same ops in the same order. The module matches ops by their
 * position in that order, detects differences (count, type, operator, ...) and returns -EPROTO.
 *
 * Memory. Any memory of the process can be a buffer. Register memory that is used repeatedly: it
 * stays pinned, and calls need not pin it. This gains little for buffers of 4 KiB and less, which
 * the module copies. A buffer belongs to the op from its start until its completion; the program
 * may read a send buffer meanwhile.
 *
 * Units. Counts are elements, lengths are bytes, deadlines are absolute CLOCK_MONOTONIC nanoseconds
 * (see torcoll_deadline(); 0 means none).
 *
 * Threads. Any thread may call any function at any time, but must not use a context, comm or
 * request after (or while) it is closed or reused. Only one thread at a time may wait for a
 * request. Threads that share a comm must order their calls of ops, because all ranks must call in
 * the same order. Give each thread its own comm if they cannot.
 *
 * Signals. No call returns because of a signal: handlers run and the wait continues.
 *
 * Processes. exec closes the context. In a child of fork, calls on the context return -EPERM; the
 * child can close it, and opens its own.
 */
#ifndef TORCOLL_H
#define TORCOLL_H

#include <linux/torcoll.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TORCOLL_VERSION_MAJOR	0
#define TORCOLL_VERSION_MINOR	2
#define TORCOLL_VERSION_PATCH	0

/* An open context: the device, registered memory, comms. */
struct torcoll;

/* A communicator: an ordered list of ranks of which this process is one. */
struct torcoll_comm;

/* ---- Context ------------------------------------------------------------------------------ */

/*
 * Open the torcoll device. The context belongs to the network namespace of the calling thread.
 * Errors: -ENOENT (the module is not loaded), -EACCES (the caller is neither root nor in the group
 * torcoll), -EOPNOTSUPP (the versions of module and library are incompatible), -EINVAL (the
 * environment variable TORCOLL_SPIN or TORCOLL_CACHE is no number, or too large), -ENOMEM.
 */
int torcoll_open(struct torcoll **t);

/*
 * Close a context, its comms and its registrations, and abort running ops. NULL is ignored.
 */
void torcoll_close(struct torcoll *t);

/*
 * Return a file descriptor that polls readable (POLLIN) while a completed op of this context has
 * not been waited for, if there is a completion ring. Use it with poll, epoll and event loops, then
 * call torcoll_test(). Use it only for polling; the context owns it.
 *
 * While ops wait for slots, poll with a timeout of some milliseconds, and test them after each poll:
 * a slot can become free after the completion of its op, which does not make the descriptor readable,
 * and only calls of this library start what waits for it.
 *
 * There is no ring with an older module, nor where a limit or a lack of memory keeps the first op from
 * making it, which TORCOLL_DEBUG=warn prints. Then, while ops wait for slots, each call that starts,
 * tests or waits for an op may find that others are complete, which no longer make the descriptor
 * readable. So test all ops after each poll there.
 *
 * torcoll_wait_any() and torcoll_wait_fds() do all that.
 */
int torcoll_fd(const struct torcoll *t);

/*
 * Signal @fd, an eventfd of the caller, for each completed op of this context. Call this once,
 * before starting an op; @fd may be closed afterwards. An op that was started while 1,023 others were
 * in flight may complete without a signal: test such ones from time to time. Errors: -EBUSY (too
 * late), -EINVAL, -EBADF, -EOPNOTSUPP (the module is too old), -EDQUOT, -ENOMEM.
 */
int torcoll_eventfd(struct torcoll *t, int fd);

/* Describe the loaded module: see <linux/torcoll.h>. @info->size need not be set. */
int torcoll_info(struct torcoll *t, struct torcoll_info *info);

/* Return the version of this library, for example "0.2.0". */
const char *torcoll_version(void);

/*
 * A fabric of this host: where this node is in it. The coordinates of node n are n % side[0],
 * n / side[0] % side[1] and so on.
 */
struct torcoll_fabric {
	uint64_t key;
	uint32_t node;			/* this one */
	uint32_t nodes;
	uint32_t ndim;
	uint32_t side[TORCOLL_MAX_DIMS];
	uint32_t reserved[5];
};

/*
 * List the fabrics of the network namespace, up to @room. Returns their number, which may be larger,
 * or a negative errno. Needs no context, comm or privilege: a process can tell before it joins which
 * node it is on. The nodes of a comm's ranks are known from torcoll_comm_node() then. Errors: -ENOENT
 * (the module is not loaded), -ENOMEM, those of a netlink socket.
 */
int torcoll_fabrics(struct torcoll_fabric *fabrics, uint32_t room);

/* ---- Errors ------------------------------------------------------------------------------- */

/*
 * Return a message about the last failed call of the calling thread, with the module's
 * explanation if there is one: "allreduce: rank 3 was killed (ECONNABORTED)". The message is empty
 * if no call failed yet, never NULL, and valid until the next failed call of the thread.
 */
const char *torcoll_last_error(void);

/*
 * The environment variable TORCOLL_DEBUG sets what the library prints on stderr: "warn": the
 * message of every failed call; "info": also comms that are joined and closed; "trace": also every
 * op and its algorithm; "quiet" or not set: nothing. `torcollctl env` shows all variables.
 */

/*
 * The environment variable TORCOLL_SPIN sets how many microseconds a wait polls for its result
 * before it sleeps. Waits do not poll while more processes poll than the machine has processors.
 */

/* Return the general meaning of an error code in torcoll, never NULL. @err may have either sign. */
const char *torcoll_strerror(int err);

/* ---- Memory ------------------------------------------------------------------------------- */

/*
 * Register @length bytes at @addr for use without copies. The pages are pinned and count towards
 * RLIMIT_MEMLOCK until they are unregistered or the context is closed; unregister before freeing
 * the memory. Ops recognise registered memory by the addresses of their buffers; a buffer that is
 * only partly in registered memory counts as not registered. Any alignment is allowed.
 * Errors: -EINVAL (empty), -EEXIST (overlaps registered memory), -EFAULT, -EDQUOT, -ENOMEM.
 */
int torcoll_register(struct torcoll *t, void *addr, size_t length);

/*
 * The library caches registrations: a buffer of 64 KiB or more that is not registered, and that the
 * module can watch, stays registered for later ops from its first use on. The environment variable
 * TORCOLL_CACHE limits the cache in MiB (1024 if not set, 0: no cache); the least recently used
 * entries are removed first. The program may free, unmap or discard the memory at any time when no
 * op uses it.
 */

/*
 * Allocate @length bytes of zeroed memory for use without copies, like registered memory, but
 * without counting towards RLIMIT_MEMLOCK. Children do not inherit it. Errors: -EINVAL (empty),
 * -EDQUOT, -ENOMEM, -EOPNOTSUPP (the module is too old).
 */
int torcoll_alloc(struct torcoll *t, size_t length, void **p);

/*
 * Free allocated memory; closing the context does so too. Errors: -ENOENT, -EBUSY (a running or
 * prepared op uses it).
 */
int torcoll_free(struct torcoll *t, void *p);

/*
 * Unregister memory; @addr is the registered address. Errors: -ENOENT (no memory is registered at
 * @addr), -EBUSY (a running or prepared op uses it).
 */
int torcoll_unregister(struct torcoll *t, void *addr);

/* ---- Communicators ------------------------------------------------------------------------ */

/* The comm to join. Zero it first: `struct torcoll_comm_config c = { .fabric = 1, ... };` */
struct torcoll_comm_config {
	uint64_t fabric;		/* the fabric's key */
	const char *name;		/* 1 to TORCOLL_NAME_MAX bytes */
	const char *secret;		/* at most TORCOLL_NAME_MAX bytes; NULL: none */
	const uint32_t *members;	/* the node of each rank; NULL: all nodes, in order */
	uint32_t size;			/* number of members; 0 with members NULL */
	uint32_t rank;			/* the caller's, or TORCOLL_RANK_SELF: a free one of this node */
	/* ops in flight, others wait: at most 64, rounded up to a power of two; 0: 8 */
	uint32_t depth;
	enum torcoll_bits bits;		/* of ops that name none; 0: agree */
	uint64_t deadline_ns;		/* for joining, 0: none */
	uint64_t flags;			/* TORCOLL_COMM_TELL */
	uint64_t reserved[3];		/* must be 0 */
};

/*
 * TORCOLL_COMM_TELL: a call that is refused at this rank (-EINVAL, -EFAULT, -ENOMEM, -EDQUOT,
 * -EOPNOTSUPP) fails the comm. The other ranks get -ECONNABORTED at once, with a message that names
 * the rank, and also the call and the reason, unless the library had no memory for the call. Without
 * it this rank can repeat the call, and the others wait for that. Comms derived from this one
 * inherit it.
 *
 * With or without it, a started op fails the comm if it is refused when its turn comes, such as for
 * a limit: one that waited for others, or of which a part was done.
 */
#define TORCOLL_COMM_TELL	(1U << 0)

/*
 * Join a comm. Blocks until every member has called this with the same name, secret and members.
 * On success the caller owns *@comm until torcoll_comm_close() or torcoll_close(). A node that
 * @members names several times has as many ranks, each of them a process of one user.
 * Errors: -ENODEV (no such fabric in this network namespace), -EACCES (wrong secret), -EPROTO
 * (members disagree: all that have called so far get it; later callers start a new attempt and wait
 * for the others), -ETIMEDOUT (the message names the missing rank), -EEXIST, -EINVAL, ...
 */
int torcoll_comm_create(struct torcoll *t, const struct torcoll_comm_config *config,
			struct torcoll_comm **comm);

/*
 * Join the comm that the environment describes, as set by launchers:
 *
 *	TORCOLL_FABRIC	the fabric's key (decimal, or hexadecimal with 0x); the only one if not set
 *	TORCOLL_COMM	the comm's name; that of the launcher's job, or "world", if not set
 *	TORCOLL_SECRET	its secret; none if not set
 *	TORCOLL_RANK	the caller's rank; the launcher's, or the rank on this node, if not set
 *	TORCOLL_SIZE	the number of ranks: rank i is on node i; all nodes if not set
 *	TORCOLL_MEMBERS	the node of each rank, as "5,1,8-11", or "8-11*2": two on each;
 *			TORCOLL_SIZE ranks if both are set
 *	TORCOLL_ALGO	as torcoll_comm_set_algorithm(); torcoll_comm_create() uses it too
 *	TORCOLL_TIMEOUT	deadline for joining in seconds; 120 if not set, 0: none
 *
 * Without TORCOLL_RANK, TORCOLL_SIZE and TORCOLL_MEMBERS, the ranks are those of the process's
 * launcher, if that is Open MPI's, Hydra (MPICH) or Slurm's, on whichever nodes it has started them:
 * see torcoll_comm_from_env(3).
 *
 * Errors: -EINVAL with a message about the variable; those of torcoll_comm_create().
 */
int torcoll_comm_from_env(struct torcoll *t, struct torcoll_comm **comm);

/*
 * Restrict the algorithms from which the module chooses for ops with TORCOLL_ALGO_AUTO. @text is,
 * for example, "allreduce:bibucket,ring;broadcast:^ring": a list allows the algorithms in it, ^
 * excludes them, "auto" allows all; a list without a collective applies to all collectives. A list
 * replaces the previous one of its collective, initially that of the environment variable
 * TORCOLL_ALGO. All ranks must pass the same text. Errors: -EINVAL.
 */
int torcoll_comm_set_algorithm(struct torcoll_comm *comm, const char *text);

/*
 * Continue after a failure: create a new comm of the surviving ranks of @comm, in the same order.
 * Blocks until all of them have called this, or until the deadline passes. The call does not wait
 * for ranks on hosts that are down, cut off or were restarted, nor for ranks whose process has ended
 * or has closed the comm. @comm stays failed; close it. If @comm has not failed yet, this fails it,
 * like torcoll_abort(). If the new comm fails too, shrink that one.
 *
 * The failed op may be complete on some ranks and not on others. Therefore agree on the step to
 * continue from, for example by an allreduce with TORCOLL_MIN of the number of the last completed
 * step; lib/examples/survive.c does this.
 *
 * Errors: -ETIMEDOUT (the message names the missing rank, if one is; call again, the others wait for
 * that, in the new comm perhaps), -EHOSTUNREACH (the other ranks considered this rank dead and continued without
 * it), -EINVAL (@comm was shrunk before), -EOPNOTSUPP (a node of @comm has several ranks), -ENOMEM.
 */
int torcoll_comm_shrink(struct torcoll_comm *comm, uint64_t deadline_ns,
			struct torcoll_comm **shrunk);

/*
 * Leave a comm and free it. This aborts running ops (-ECONNABORTED at the other ranks), and waits
 * for operators that run; do not use requests of the comm afterwards. NULL is ignored. Data sent to
 * ranks that have not called yet still reaches them. A process that exits with status 0 leaves its
 * comms in the same way; a process that is killed, or exits with another status, fails them.
 */
void torcoll_comm_close(struct torcoll_comm *comm);

/* Return the caller's rank, from 0, and the number of ranks. They never fail and need no call. */
uint32_t torcoll_comm_rank(const struct torcoll_comm *comm);
uint32_t torcoll_comm_size(const struct torcoll_comm *comm);

/* Return the node of a rank, or ~0 if there is no such rank. */
uint32_t torcoll_comm_node(const struct torcoll_comm *comm, uint32_t rank);

/* Describe a comm, its first error included. @info->size and ->comm need not be set. */
int torcoll_comm_info(struct torcoll_comm *comm, struct torcoll_comm_info *info);

/*
 * Fail a comm from any thread. Its running and later ops end with -ECANCELED here and with
 * -ECONNABORTED on the other ranks.
 */
int torcoll_abort(struct torcoll_comm *comm);

/* ---- Groups ------------------------------------------------------------------------------- */

/*
 * Comms derived from a parent comm. Every rank of the parent calls, in the same order relative to
 * other such calls on the parent and to its ops, and with the same arguments unless stated
 * otherwise. The new comm is independent of the parent: it has its own order of ops, so that ops on
 * both can overlap, and its own failures, and remains open when the parent is closed. It inherits
 * secret and depth. Its name is "PARENT/CALL:GROUP"; a hash replaces a long parent name.
 *
 * Return and errors: those of torcoll_comm_create(), for the split also those of an allgather on
 * the parent. @deadline_ns: for the whole call, 0: none.
 */

/* Duplicate a comm, for a thread or library that must not disturb the order of ops of others. */
int torcoll_comm_dup(struct torcoll_comm *comm, uint64_t deadline_ns, struct torcoll_comm **dup);

/*
 * Create a comm for each colour. @colour and @key may differ between ranks; ranks of a colour are
 * ordered by key, then by their rank in the parent. A rank with TORCOLL_COLOUR_NONE takes part in
 * the call and gets NULL.
 */
#define TORCOLL_COLOUR_NONE	UINT32_MAX

int torcoll_comm_split(struct torcoll_comm *comm, uint32_t colour, int32_t key,
		       uint64_t deadline_ns, struct torcoll_comm **sub);

/*
 * Create a comm of the line, plane, ... through each rank's node: the nodes whose coordinates differ
 * only in the dimensions set in the bit mask @dims. 1 gives a row of a 2D torus, 2 a column. The
 * nodes form a torus. Ranks follow the coordinates, the lowest dimension first. -EINVAL: one of the
 * nodes is not in the parent.
 */
int torcoll_comm_slice(struct torcoll_comm *comm, uint32_t dims, uint64_t deadline_ns,
		       struct torcoll_comm **sub);

/*
 * Create a comm of the block that begins at coordinates @from and has @extent nodes in each
 * dimension of the fabric; it may wrap. Ranks follow the coordinates from @from on. Ranks outside
 * the block call as well and get NULL. -EINVAL: the fabric has no such block, or a node of the block
 * is not in the parent.
 */
int torcoll_comm_block(struct torcoll_comm *comm, const uint32_t *from, const uint32_t *extent,
		       uint64_t deadline_ns, struct torcoll_comm **sub);

/* ---- Collectives -------------------------------------------------------------------------- */

/*
 * A started op. The caller provides the memory, which stays at one address until the op is
 * complete. It need not be initialised and can be used again after completion.
 */
struct torcoll_request {
	struct torcoll_comm *comm;	/* all members are private */
	uint64_t op;
	int32_t status;
	uint32_t state;
	uint32_t error_rank;
	uint32_t collective;
	uint32_t chosen;
	uint32_t looked;
	uint64_t ring;
};

/*
 * Reduce @count elements over all ranks; all ranks get the same bits. In place: @send == @recv.
 * Buffers that overlap in another way give -EINVAL. Blocks until the result is at @recv and the
 * caller can use both buffers again.
 *
 * Errors: those of the op (-EPROTO, -ECONNABORTED, -ECANCELED, -EHOSTUNREACH, -EHOSTDOWN), or those
 * of starting it (-EINVAL, -EFAULT, -EOPNOTSUPP, -ENOMEM, ...), in which case no data was sent.
 */
int torcoll_allreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type, enum torcoll_redop redop);

/*
 * Start an allreduce and return. On success the caller must wait for @req; on an error it must not.
 * Any number of ops can be started. Those that exceed the depth of the comm wait in the library, in
 * order, and start as others complete, whenever the program waits for or tests any op of the context,
 * also in calls that block without a request, as torcoll_recv() and torcoll_comm_dup() do.
 * One that is refused then fails the comm.
 */
int torcoll_iallreduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, enum torcoll_redop redop,
		       struct torcoll_request *req);

/*
 * Reduce @count elements over all ranks; each rank gets its block of the result. @send has @count
 * elements, @recv has the own block: count / ranks elements, one more on ranks below count % ranks.
 * In place: @recv is the address of the own block in @send; the rest of @send is undefined
 * afterwards. Otherwise the op only reads @send.
 *
 * Errors here and below: those of torcoll_allreduce().
 */
int torcoll_reduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			   uint64_t count, enum torcoll_type type, enum torcoll_redop redop);
int torcoll_ireduce_scatter(struct torcoll_comm *comm, const void *send, void *recv,
			    uint64_t count, enum torcoll_type type, enum torcoll_redop redop,
			    struct torcoll_request *req);

/*
 * Reduce and scatter blocks of any length: @counts[i] elements, possibly 0, for rank i. @counts is
 * the same on all ranks; its sum is the number of elements of @send. The caller may reuse @counts
 * when the call returns.
 */
int torcoll_reduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			    const uint64_t *counts, enum torcoll_type type,
			    enum torcoll_redop redop);
int torcoll_ireduce_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
			     const uint64_t *counts, enum torcoll_type type,
			     enum torcoll_redop redop, struct torcoll_request *req);

/*
 * Gather the blocks of all ranks on all ranks, in rank order. @count is the number of elements of
 * @recv; @send has the own block, of the same length as in torcoll_reduce_scatter(). In place:
 * @send is the address of the own block in @recv.
 */
int torcoll_allgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type);
int torcoll_iallgather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		       enum torcoll_type type, struct torcoll_request *req);

/* Gather blocks of any length on all ranks: see torcoll_reduce_scatterv(). */
int torcoll_allgatherv(struct torcoll_comm *comm, const void *send, void *recv,
		       const uint64_t *counts, enum torcoll_type type);
int torcoll_iallgatherv(struct torcoll_comm *comm, const void *send, void *recv,
			const uint64_t *counts, enum torcoll_type type,
			struct torcoll_request *req);

/*
 * Copy the @count elements at @buf of rank @root to @buf of all other ranks. The root only reads
 * @buf, which may be read-only memory there.
 */
int torcoll_broadcast(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		      uint32_t root);
int torcoll_ibroadcast(struct torcoll_comm *comm, void *buf, uint64_t count,
		       enum torcoll_type type, uint32_t root, struct torcoll_request *req);

/*
 * Reduce @count elements over all ranks; rank @root gets the result. Other ranks ignore @recv, which
 * may be NULL there, and only read @send. In place, at the root: @send == @recv.
 */
int torcoll_reduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, enum torcoll_redop redop, uint32_t root);
int torcoll_ireduce(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, enum torcoll_redop redop, uint32_t root,
		    struct torcoll_request *req);

/*
 * Gather the blocks of all ranks at rank @root, in rank order: see torcoll_allgather(). Other ranks
 * ignore @recv, which may be NULL there. In place, at the root: @send is the address of the own
 * block in @recv.
 */
int torcoll_gather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, uint32_t root);
int torcoll_igather(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, uint32_t root, struct torcoll_request *req);
int torcoll_gatherv(struct torcoll_comm *comm, const void *send, void *recv,
		    const uint64_t *counts, enum torcoll_type type, uint32_t root);
int torcoll_igatherv(struct torcoll_comm *comm, const void *send, void *recv,
		     const uint64_t *counts, enum torcoll_type type, uint32_t root,
		     struct torcoll_request *req);

/*
 * Distribute the @count elements at @send of rank @root: each rank gets its block. Other ranks
 * ignore @send. In place, at the root: @recv is the address of the own block in @send. The op only
 * reads @send.
 */
int torcoll_scatter(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, uint32_t root);
int torcoll_iscatter(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		     enum torcoll_type type, uint32_t root, struct torcoll_request *req);
int torcoll_scatterv(struct torcoll_comm *comm, const void *send, void *recv,
		     const uint64_t *counts, enum torcoll_type type, uint32_t root);
int torcoll_iscatterv(struct torcoll_comm *comm, const void *send, void *recv,
		      const uint64_t *counts, enum torcoll_type type, uint32_t root,
		      struct torcoll_request *req);

/*
 * Send each rank a block of the @count elements at @send, and collect the blocks from all ranks at
 * @recv, both in rank order. @count is a multiple of the number of ranks. In place: @send == @recv.
 */
int torcoll_alltoall(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		     enum torcoll_type type);
int torcoll_ialltoall(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		      enum torcoll_type type, struct torcoll_request *req);

/*
 * Exchange blocks of any length: @send_counts[i] elements go to rank i, @recv_counts[i] come from
 * it. Sender and receiver of a block must pass the same length. Different lengths give -EPROTO. If
 * one of them is 0, the op does not detect this: a receiver with the other length waits, a sender's
 * data is ignored.
 */
int torcoll_alltoallv(struct torcoll_comm *comm, const void *send, const uint64_t *send_counts,
		      void *recv, const uint64_t *recv_counts, enum torcoll_type type);
int torcoll_ialltoallv(struct torcoll_comm *comm, const void *send, const uint64_t *send_counts,
		       void *recv, const uint64_t *recv_counts, enum torcoll_type type,
		       struct torcoll_request *req);

/*
 * Exchange blocks with the neighbours on the torus that the ranks form, or on a ring if they form
 * none or if several ranks are on one node. The vectors at @send and @recv have a block for each
 * neighbour: down, then up, along each dimension longer than 1; @count is the number of all
 * elements. On a side of 2 both neighbours are the same rank. In place: @send == @recv.
 */
int torcoll_halo(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		 enum torcoll_type type);
int torcoll_ihalo(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		  enum torcoll_type type, struct torcoll_request *req);

/*
 * Reduce @count elements over the ranks up to and including the caller, in rank order. In place:
 * @send == @recv.
 */
int torcoll_scan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		 enum torcoll_type type, enum torcoll_redop redop);
int torcoll_iscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		  enum torcoll_type type, enum torcoll_redop redop, struct torcoll_request *req);

/* Reduce over the ranks before the caller. Rank 0 has none: it ignores @recv, which may be NULL. */
int torcoll_exscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		   enum torcoll_type type, enum torcoll_redop redop);
int torcoll_iexscan(struct torcoll_comm *comm, const void *send, void *recv, uint64_t count,
		    enum torcoll_type type, enum torcoll_redop redop, struct torcoll_request *req);

/*
 * Send the @count elements at @buf to rank @to, which receives them from the caller's rank. Messages
 * from one rank to another arrive in the order in which they were sent. Both ends pass the same
 * count and type; otherwise they get -EPROTO. Each direction between two ranks has its own order,
 * independent of other messages and of collectives, and its own limit of messages in flight, the
 * depth of the comm; further ones wait as other ops do. A rank may send to itself.
 *
 * torcoll_send() returns when the caller can use @buf again, which can be before or after the
 * receiver has called. Ranks that send to each other before they receive must use torcoll_isend().
 */
int torcoll_send(struct torcoll_comm *comm, const void *buf, uint64_t count,
		 enum torcoll_type type, uint32_t to);
int torcoll_isend(struct torcoll_comm *comm, const void *buf, uint64_t count,
		  enum torcoll_type type, uint32_t to, struct torcoll_request *req);
int torcoll_recv(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		 uint32_t from);
int torcoll_irecv(struct torcoll_comm *comm, void *buf, uint64_t count, enum torcoll_type type,
		  uint32_t from, struct torcoll_request *req);

/* Wait until all ranks have called the barrier. */
int torcoll_barrier(struct torcoll_comm *comm);
int torcoll_ibarrier(struct torcoll_comm *comm, struct torcoll_request *req);

/*
 * Description of any op with all options. Zero it first:
 *
 *	struct torcoll_op op = {
 *		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_F64, .redop = TORCOLL_MAX,
 *		.count = 1, .send = &x, .recv = &y, .deadline_ns = torcoll_deadline(500),
 *	};
 */
struct torcoll_op {
	enum torcoll_collective collective;
	enum torcoll_type type;
	enum torcoll_redop redop;	/* TORCOLL_REDOP_NONE for ops that do not reduce */
	enum torcoll_algorithm algorithm; /* TORCOLL_ALGO_AUTO: the module chooses */
	enum torcoll_bits bits;		/* guarantees about the bits of float results */
	uint32_t flags;			/* TORCOLL_OP_NOWAIT, _AT_START, _COUNTS_AT_ROOT: see below */
	uint32_t root;			/* rank, for ops with a root */
	uint32_t peer;			/* rank, for send and receive */
	uint64_t count;			/* elements of the whole vector, for every collective */
	const uint64_t *counts;		/* elements of each rank's block; NULL: an even split */
	const void *send;
	void *recv;
	const void *scalar;		/* one element, for TORCOLL_PREMULSUM */
	uint32_t param[TORCOLL_PARAM_COUNT]; /* of the algorithm, 0: the module chooses */
	uint64_t deadline_ns;		/* the op fails with -ETIMEDOUT within a second after; 0: none */
	const uint64_t *recv_counts;	/* alltoall: elements from each rank, if counts are given */
	const struct torcoll_displs *displs;	/* NULL: blocks follow each other */
	const struct torcoll_function *function; /* instead of redop */
	uint64_t reserved[1];		/* must be 0 */
};

/*
 * Flags of an op.
 *
 * TORCOLL_OP_NOWAIT: -EBUSY instead of waiting for a slot, if the comm's depth is in flight. Not with
 * @displs, @function or the flags below.
 *
 * TORCOLL_OP_AT_START: for a reduce-scatter in place: @recv is the address of the whole vector. The
 * own block of the result is written to its start, and the rest is not changed. Costs a copy of the
 * block.
 *
 * TORCOLL_OP_COUNTS_AT_ROOT: for a gather or scatter with @counts: only the root gives them. Other
 * ranks give the elements of their own block as @count, and no @counts. All ranks set the flag. Costs
 * a broadcast of the counts before the op.
 */
#define TORCOLL_OP_AT_START		(1U << 30)
#define TORCOLL_OP_COUNTS_AT_ROOT	(1U << 31)

/*
 * Places of blocks in a vector, in any order and with gaps: elements from the buffer's address to
 * the block of each rank, for collectives with blocks. NULL: the blocks follow each other in rank
 * order. @send is for an alltoall and for the root of a scatter, @recv for an allgather, an alltoall
 * and the root of a gather. Blocks of @recv must not overlap. If the blocks do not follow each
 * other, the library copies them to or from temporary memory of the vector's length. In place: @send
 * of an allgather and a gather's root, and @recv of a scatter's root, is the address of the own block
 * where the displacements put it. An alltoall in place uses the displacements of @recv for both.
 */
struct torcoll_displs {
	const uint64_t *send;
	const uint64_t *recv;
};

/*
 * An operator of the program, for allreduce, reduce, reduce-scatter, scan and exscan; redop is 0 then.
 * It must be associative, and need not be commutative: the operands are in rank order.
 *
 * @reduce sets inout[i] = in[i] op inout[i] for @count elements; @in comes from lower ranks. It is
 * called by threads that wait for, test or start any op of the context, by several at a time for
 * several ops, and must not call this library. It may wait for other threads that do, but not for
 * one that closes the op's comm or the context.
 * @element is the size of an element in bytes; 0: that of the op's type. If given, the op's type is 0.
 *
 * The ranks exchange their vectors, and each calls the operator. An allreduce, reduce or
 * reduce-scatter of long vectors takes the bytes of an alltoall and an allgather or gather. Scans,
 * and short vectors, need memory for the vectors of all ranks.
 */
struct torcoll_function {
	void (*reduce)(const void *in, void *inout, uint64_t count, void *arg);
	void *arg;
	uint64_t element;
};

/* Execute an op with one system call. Returns its status when it is complete. */
int torcoll_run(struct torcoll_comm *comm, const struct torcoll_op *op);

/*
 * Execute an op with one system call, but wait at most until @deadline_ns; 0: no limit. Returns
 * -EAGAIN then: the op continues as one that was started by torcoll_submit(), and *@req waits for it.
 * Otherwise as torcoll_run(), and *@req is not used. If other ops have all slots, the wait for one
 * ends at @deadline_ns, too.
 */
int torcoll_run_until(struct torcoll_comm *comm, const struct torcoll_op *op,
		      struct torcoll_request *req, uint64_t deadline_ns);

/* Start an op: see torcoll_iallreduce(). */
int torcoll_submit(struct torcoll_comm *comm, const struct torcoll_op *op,
		   struct torcoll_request *req);

/*
 * Start @n ops in one system call, in the order of the array. @n is 1 to TORCOLL_BATCH_MAX. On an
 * error *@started is the number of ops that were started, from the first on; wait for their requests
 * only. @started may be NULL. Refusals of ops beyond the depth are told by their waits.
 */
int torcoll_submit_many(struct torcoll_comm *comm, const struct torcoll_op *ops, uint32_t n,
			struct torcoll_request *reqs, uint32_t *started);

/* An op that is prepared. */
struct torcoll_prepared;

/*
 * Prepare an op that is called repeatedly: check and encode it once, and register its buffers until
 * it is freed. If they are in registered memory already, that memory cannot be unregistered
 * meanwhile; if they overlap it partly, or can only be read, each start pins them. The caller may
 * reuse @op and its counts when the call returns. @op must not have a deadline. Preparing is not
 * collective, starting is. The caller owns *@p until torcoll_prepared_free(). Errors: those of
 * torcoll_register() and torcoll_submit(), -EOPNOTSUPP (displacements, a function,
 * TORCOLL_OP_AT_START or TORCOLL_OP_COUNTS_AT_ROOT).
 */
int torcoll_prepare(struct torcoll_comm *comm, const struct torcoll_op *op,
		    struct torcoll_prepared **p);

/* Start a prepared op: see torcoll_submit(). Earlier starts of it may still run. */
int torcoll_start(struct torcoll_prepared *p, struct torcoll_request *req);

/* Start @n prepared ops on comms of one context in one system call: see torcoll_submit_many(). */
int torcoll_start_many(struct torcoll_prepared *const *p, uint32_t n, struct torcoll_request *reqs,
		       uint32_t *started);

/* Free a prepared op after all its starts, and before closing its comm. NULL is ignored. */
void torcoll_prepared_free(struct torcoll_prepared *p);

/*
 * Wait until an op is complete. Returns its status: 0, or a negative errno as for the blocking
 * call. Later waits and tests of a complete op return the same status.
 */
int torcoll_wait(struct torcoll_request *req);

/* Wait at most until @deadline_ns: then returns -EAGAIN, and the op continues. */
int torcoll_wait_until(struct torcoll_request *req, uint64_t deadline_ns);

/*
 * Wait until an op is complete, as torcoll_wait_until(), or one of @n descriptors is ready. Returns
 * -EAGAIN if the op is not complete: then @fds tells as after poll() which descriptors are ready,
 * none of them at the deadline. A program that must serve sockets too waits so; with no descriptor
 * the call is torcoll_wait_until(), which is faster.
 */
int torcoll_wait_fds(struct torcoll_request *req, struct pollfd *fds, uint32_t n,
		     uint64_t deadline_ns);

/*
 * Wait until any of @n ops of one context is complete. Returns its status, and its place in the
 * array in *@index. NULL entries are ignored: an entry whose status is known should become NULL, as
 * it is complete at the next call, too. Returns -EAGAIN, with index ~0, at the deadline.
 */
int torcoll_wait_any(struct torcoll_request *const *reqs, uint32_t n, uint64_t deadline_ns,
		     uint32_t *index);

/*
 * Wait until all of @n ops are complete; NULL entries are ignored. Returns the first status in the
 * array that is not 0, whose message torcoll_last_error() has then. Returns -EAGAIN if the deadline
 * passes before.
 */
int torcoll_wait_all(struct torcoll_request *const *reqs, uint32_t n, uint64_t deadline_ns);

/*
 * Return the status without waiting: -EAGAIN if the op is not complete. That needs no system call
 * and some tens of nanoseconds, so a program may call it as often as it likes.
 */
int torcoll_test(struct torcoll_request *req);

/* Return the rank that caused the failure of a completed op, or ~0 if none or not known. */
uint32_t torcoll_request_error_rank(const struct torcoll_request *req);

/* Return the algorithm of a started op: the named one, or the one that the module chose. */
enum torcoll_algorithm torcoll_request_algorithm(const struct torcoll_request *req);

/* Return the time @ms milliseconds from now, as a deadline. */
uint64_t torcoll_deadline(uint64_t ms);

/* ---- Names and sizes ---------------------------------------------------------------------- */

/* Return the bytes of an element in memory, 0 if the type is unknown. */
size_t torcoll_type_size(enum torcoll_type type);

/* Return the name of a value, as "f32", "sum", "allreduce", "swing-bw"; NULL for unknown values. */
const char *torcoll_type_name(enum torcoll_type type);
const char *torcoll_redop_name(enum torcoll_redop redop);
const char *torcoll_collective_name(enum torcoll_collective collective);
const char *torcoll_algorithm_name(enum torcoll_algorithm algorithm);

/* Return the value (0 or more) of such a name, or -EINVAL. */
int torcoll_type_by_name(const char *name);
int torcoll_redop_by_name(const char *name);
int torcoll_collective_by_name(const char *name);
int torcoll_algorithm_by_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* TORCOLL_H */
