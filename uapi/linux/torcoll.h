/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * torcoll: collectives over directly cabled tori, the ioctl interface of /dev/torcoll
 *
 * Every call takes a pointer to one struct. The first member is the size of the struct in bytes,
 * as the caller was compiled. The module zero-extends a smaller (older) struct and accepts a
 * larger one if its unknown tail is zero. Reserved members and undefined flag bits must be zero.
 * Pointers are passed as __u64. Times are absolute CLOCK_MONOTONIC nanoseconds; 0 means none.
 *
 * An open file is bound to the network namespace of the process that opened it. Every call can be
 * restarted after a signal.
 *
 * Errors have one meaning each. TORCOLL_IOC_ERROR returns the message for the last refusal of the
 * calling thread on a file.
 *
 *	EINVAL		a member is out of its documented range, or a reserved one is not zero
 *	E2BIG		the struct's unknown tail is not zero
 *	EFAULT		a pointer, or memory behind it, cannot be read or written
 *	ENOTTY		the ioctl number is unknown
 *	ENOENT		the file has no comm, region or op of that handle
 *	ESTALE		the memory of a watched region was unmapped or replaced: register it again
 *	ENODEV		this namespace has no fabric of that key
 *	EBUSY		the object is in use. With TORCOLL_OP_NOWAIT or TORCOLL_OP_TRY: no op slot is
 *			free. Without them: no op slot will become free because the process does not
 *			reap results; a process of one thread gets this at once, others 1 s after the
 *			op ended
 *	EEXIST		a process on this node is already joining a comm of that name
 *	EOPNOTSUPP	a valid request that this module or the algorithm cannot serve
 *	EDQUOT		a limit was reached: RLIMIT_MEMLOCK, or the limit on comms, ops in flight,
 *			pinned memory or kernel memory of the user who opened the file
 *			(torcollctl limit)
 *	ENOMEM		the kernel is out of memory
 *	EACCES, EPERM	wrong secret; not permitted
 *	ETIMEDOUT	the deadline passed; the message names the missing rank
 *	EINTR		a signal interrupted a wait; what it waited for continues, wait again
 *
 * The status of an op, as opposed to the result of the ioctl, can also be:
 *
 *	EPROTO		ranks disagree about the op or the comm
 *	ECONNABORTED	another rank left, aborted or was killed
 *	ECANCELED	this rank aborted
 *	EHOSTUNREACH	no path to a rank
 *	EHOSTDOWN	a rank's host died or restarted
 *	ENETDOWN	the fabric was deleted by force
 *
 * A frame can report these errors: as the failure of a comm, EPROTO, ECONNABORTED, EHOSTUNREACH
 * and EHOSTDOWN; as the failure of its creation, EPROTO, EACCES, ETIMEDOUT and ECONNABORTED. The
 * module replaces any other error in a frame by EPROTO.
 */
#ifndef _UAPI_LINUX_TORCOLL_H
#define _UAPI_LINUX_TORCOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TORCOLL_ABI_VERSION	1
#define TORCOLL_DEVICE		"/dev/torcoll"
#define TORCOLL_NAME_MAX	64	/* bytes of a comm's name or secret, no terminator */
#define TORCOLL_MAX_DIMS	6

/*
 * How the nodes along a dimension are joined: in a ring, in an open line, or each with each.
 * Configuration, hellos and surveys have it in one word with the number of nodes; a plain number is
 * a ring. A chord joins the nodes of the ring before it over so many steps: its number is that of
 * the steps, and it adds no nodes.
 */
enum torcoll_kind {
	TORCOLL_KIND_RING,
	TORCOLL_KIND_LINE,
	TORCOLL_KIND_MESH,
	TORCOLL_KIND_CHORD,
	TORCOLL_KIND_COUNT
};

#define TORCOLL_SIDE_KIND_SHIFT	18
#define TORCOLL_SIDE_NODES	((1U << TORCOLL_SIDE_KIND_SHIFT) - 1)
#define TORCOLL_SIDE(nodes, kind) \
	((__u32)(nodes) | (__u32)(kind) << TORCOLL_SIDE_KIND_SHIFT)

/* Collective operations. The values are also on the wire (in the digest of the descriptor). */
enum torcoll_collective {
	TORCOLL_COLL_NONE,
	TORCOLL_ALLREDUCE,
	TORCOLL_REDUCE_SCATTER,
	TORCOLL_ALLGATHER,
	TORCOLL_BROADCAST,
	TORCOLL_REDUCE,
	TORCOLL_BARRIER,
	TORCOLL_GATHER,
	TORCOLL_SCATTER,
	TORCOLL_ALLTOALL,
	TORCOLL_SCAN,
	TORCOLL_EXSCAN,
	TORCOLL_HALO,
	TORCOLL_SEND,
	TORCOLL_RECV,
	TORCOLL_COLL_COUNT
};

enum torcoll_type {
	TORCOLL_TYPE_NONE,
	TORCOLL_I8,		/* int8_t */
	TORCOLL_I16,		/* int16_t */
	TORCOLL_I32,		/* int32_t */
	TORCOLL_I64,		/* int64_t */
	TORCOLL_U8,		/* uint8_t */
	TORCOLL_U16,		/* uint16_t */
	TORCOLL_U32,		/* uint32_t */
	TORCOLL_U64,		/* uint64_t */
	TORCOLL_F16,		/* IEEE 754 binary16 */
	TORCOLL_BF16,		/* bfloat16: the upper half of a binary32 */
	TORCOLL_F32,		/* float */
	TORCOLL_F64,		/* double */
	/*
	 * MPI's pair types, for minloc and maxloc: value, then int index, C layout. The layouts of
	 * double and int, and of long and int, differ in 32-bit programs, which get EOPNOTSUPP.
	 */
	TORCOLL_FLOAT_INT,	/* MPI_FLOAT_INT */
	TORCOLL_DOUBLE_INT,	/* MPI_DOUBLE_INT */
	TORCOLL_LONG_INT,	/* MPI_LONG_INT */
	TORCOLL_2INT,		/* MPI_2INT */
	TORCOLL_SHORT_INT,	/* MPI_SHORT_INT */
	TORCOLL_TYPE_COUNT
};

enum torcoll_redop {
	TORCOLL_REDOP_NONE,
	TORCOLL_SUM,		/* numbers; integers wrap */
	TORCOLL_PROD,		/* numbers; integers wrap */
	TORCOLL_MIN,		/* numbers; -0 is less than +0 */
	TORCOLL_MAX,		/* numbers */
	TORCOLL_AVG,		/* numbers: the sum divided by the ranks, integers towards zero */
	TORCOLL_BAND,		/* integers: bitwise and */
	TORCOLL_BOR,		/* integers: bitwise or */
	TORCOLL_BXOR,		/* integers: bitwise exclusive or */
	TORCOLL_LAND,		/* integers: logical and, 0 or 1 */
	TORCOLL_LOR,		/* integers: logical or, 0 or 1 */
	TORCOLL_LXOR,		/* integers: logical exclusive or, 0 or 1 */
	TORCOLL_MINLOC,		/* pairs: the least value, and its least index */
	TORCOLL_MAXLOC,		/* pairs: the greatest value, and its least index */
	TORCOLL_PREMULSUM,	/* numbers: the sum of inputs, each times its scalar */
	TORCOLL_REDOP_COUNT
};

/* Guarantees about the bits of floating-point results. */
enum torcoll_bits {
	TORCOLL_BITS_DEFAULT,	/* the setting of the comm, AGREE if it has none */
	TORCOLL_BITS_AGREE,	/* the same bits on every rank */
	TORCOLL_BITS_ORDERED,	/* the sequential result in rank order */
	TORCOLL_BITS_RELAXED,	/* no guarantee; the fastest algorithm */
	TORCOLL_BITS_COUNT
};

enum torcoll_algorithm {
	TORCOLL_ALGO_AUTO,
	TORCOLL_SWING_BW,
	TORCOLL_SWING_LAT,
	TORCOLL_TRIVANCE_BW,
	TORCOLL_TRIVANCE_LAT,
	TORCOLL_CIRCULANT,
	TORCOLL_GENERAL,
	TORCOLL_RING,
	TORCOLL_HAMILTONIAN,
	TORCOLL_BUCKET,
	TORCOLL_BIBUCKET,
	TORCOLL_RECDOUB_LAT,
	TORCOLL_RECDOUB_BW,
	TORCOLL_RECDOUB_BW_MIRRORED,
	TORCOLL_BRUCK_LAT,
	TORCOLL_BRUCK_BW,
	TORCOLL_WINDOW,
	TORCOLL_FLOOD,
	TORCOLL_TREE,
	TORCOLL_MOORE,
	TORCOLL_ALLPORT,
	TORCOLL_BINE,		/* reserved */
	TORCOLL_DIRECT,
	TORCOLL_LAYERS,
	TORCOLL_ALGO_COUNT
};

/* Parameters of an algorithm, indices into torcoll_submit.param; 0: the module chooses. */
enum torcoll_param {
	TORCOLL_PARAM_CHANNELS,	/* concurrent sub-collectives */
	TORCOLL_PARAM_R,	/* general: distribution rounds saved, plus 1 */
	TORCOLL_PARAM_BLOCKS,	/* circulant: blocks */
	TORCOLL_PARAM_GROUP,	/* general: 1 cyclic, 2 XOR */
	TORCOLL_PARAM_VARIANT,	/* index of the schedule within its family */
	TORCOLL_PARAM_EXCLUDE,	/* auto: excluded algorithms, bits 1 << enum torcoll_algorithm */
	/* Parts of the vector. Each has its own channels; rounds of one overlap pauses of others. */
	TORCOLL_PARAM_CHUNKS,
	TORCOLL_PARAM_COUNT = 8
};

/*
 * TORCOLL_IOC_INFO: describe this module.
 */
struct torcoll_info {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 abi_version;		/* out */
	__u32 max_channels;		/* out: per op */
	__u64 features;			/* out: TORCOLL_FEATURE_* */
	__u64 collectives;		/* out: supported, bits 1 << enum torcoll_collective */
	__u64 types;			/* out: likewise, enum torcoll_type */
	__u64 redops;			/* out: likewise, enum torcoll_redop */
	__u64 algorithms;		/* out: likewise, enum torcoll_algorithm */
	char version[32];		/* out: the module's version, terminated */
};

#define TORCOLL_FEATURE_PLAIN_POINTERS	(1ULL << 0)	/* region 0 in torcoll_submit */
#define TORCOLL_FEATURE_POLL		(1ULL << 1)	/* poll() reports completed ops */
#define TORCOLL_FEATURE_SHRINK		(1ULL << 2)	/* TORCOLL_IOC_COMM_SHRINK */
#define TORCOLL_FEATURE_RING		(1ULL << 3)	/* TORCOLL_IOC_RING_SETUP */
#define TORCOLL_FEATURE_SPIN		(1ULL << 4)	/* torcoll_wait.spin_ns */
#define TORCOLL_FEATURE_ALLOC		(1ULL << 5)	/* TORCOLL_IOC_REGION_ALLOC */
#define TORCOLL_FEATURE_WATCH		(1ULL << 6)	/* TORCOLL_REGION_WATCH */
#define TORCOLL_FEATURE_TRY		(1ULL << 7)	/* TORCOLL_OP_TRY; poll() with POLLOUT */
#define TORCOLL_FEATURE_TELL		(1ULL << 8)	/* TORCOLL_OP_TELL */
#define TORCOLL_FEATURE_WAIT_NS		(1ULL << 9)	/* wait_ns of any call, TORCOLL_WAIT_RING */

/*
 * TORCOLL_IOC_ERROR: return the message for the refusal of the calling thread's last call on this
 * file, or for the failure of the op that it reaped, terminated and truncated to @len bytes. It is
 * empty if the last call was neither. If many threads are refused at a time and do not ask, the
 * file keeps the messages of the last 16.
 */
struct torcoll_error {
	__u32 size;
	__u32 len;			/* in: bytes at @text; out: bytes of the whole message */
	__u64 text;			/* in: char * */
};

/*
 * TORCOLL_IOC_REGION_ADD: register memory for zero-copy use. The pages stay pinned and count
 * towards RLIMIT_MEMLOCK until the region is deleted or the file is closed.
 */
struct torcoll_region_add {
	__u32 size;
	__u32 flags;			/* TORCOLL_REGION_* */
	__u64 addr;			/* in: any address */
	__u64 length;			/* in: bytes, not 0 */
	__u32 region;			/* out: handle, never 0 */
	__u32 __reserved;
};

/*
 * Watch the mapping, for memory that an allocator manages. When the process unmaps, discards or
 * replaces a page, the region becomes invalid and ops with it get ESTALE; so does the registration
 * itself if that goes on while pages are pinned. fork() and mprotect() do not invalidate it, unless
 * they split a transparent huge page: fork() splits all that are pinned, mprotect() those that it
 * changes in part. The memory is still the same then, and can be registered again.
 */
#define TORCOLL_REGION_WATCH	(1U << 0)
#define TORCOLL_REGION_FLAGS	TORCOLL_REGION_WATCH

/*
 * TORCOLL_IOC_REGION_ALLOC: allocate zeroed memory in the module for zero-copy use. Map @bytes of
 * the file at @offset, shared, once; ops then name it by the mapped addresses. It counts towards
 * the user's kernel memory until the region is deleted. The mapping remains until it is unmapped.
 * A child of fork() does not inherit the mapping.
 */
struct torcoll_region_alloc {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 length;			/* in: bytes, not 0 */
	__u32 region;			/* out: handle, never 0 */
	__u32 __reserved;
	__u64 bytes;			/* out: length of the mapping, whole pages */
	__u64 offset;			/* out: for mmap() */
};

/*
 * TORCOLL_IOC_REGION_DEL, TORCOLL_IOC_COMM_DEL: release a handle. EBUSY while an op uses the
 * region. Deleting a comm aborts its running ops (ECONNABORTED at the other ranks). A process that
 * exits with status 0 releases all handles; any other end of the process fails its comms first.
 */
struct torcoll_handle {
	__u32 size;
	__u32 handle;
};

/*
 * TORCOLL_IOC_COMM_ADD: join a communicator. Blocks until every member has called with the same
 * name, secret and list of members, or until the deadline passes.
 *
 * EINTR: a signal came, or it was @wait_ns. The join continues, and other ranks do not notice. The
 * next call with the same values, but for the times, waits for it again. A call with other values that
 * would meet it, by fabric, name and rank, gives it up, as does the end of the file. Of several ranks
 * on a node one that names its rank and one with TORCOLL_RANK_SELF do not meet.
 *
 * The list may name a node several times. That many processes of one user join there, each with
 * its own rank. Such a comm does not support TORCOLL_IOC_COMM_SHRINK, nor messages from ranks
 * beyond the 256th of a node to other nodes (EOPNOTSUPP).
 */
struct torcoll_comm_add {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 fabric;			/* in: the fabric's key */
	__u64 name;			/* in: @name_len bytes, 1 to TORCOLL_NAME_MAX */
	__u64 secret;			/* in: @secret_len bytes, 0 to TORCOLL_NAME_MAX */
	__u32 name_len;
	__u32 secret_len;
	__u64 members;			/* in: __u32[ranks], the node of each rank; 0: all nodes, in order */
	__u32 ranks;			/* in: number of ranks; 0 with members 0 */
	__u32 rank;			/* in: the caller's; out: the same */
	__u64 deadline_ns;		/* in */
	__u32 depth;			/* in: ops in flight, up to 64, 0: 8; out: as granted, 2^n */
	__u32 comm;			/* out: handle, never 0 */
	__u32 missing;			/* out, with ETIMEDOUT: a rank that did not join, or ~0 */
	__u32 bits;			/* in: enum torcoll_bits of ops that name none */
	__u64 wait_ns;			/* in: when the call ends as by a signal; 0: never */
};

/* torcoll_comm_add.rank: the rank on this node, or the next free one if it has several. */
#define TORCOLL_RANK_SELF	(~0U)

/*
 * TORCOLL_IOC_COMM_SHRINK: create a new comm of the surviving ranks of a failed one, in the same
 * order. Blocks until all of them have called, or until the deadline passes. It does not wait for
 * a rank if its host is down, cut off or was restarted, or if no process there has the comm open
 * any more. If the comm has not failed yet, this fails it, as TORCOLL_IOC_ABORT does. The old comm
 * stays failed and open; it can be shrunk once.
 *
 * EINTR: a signal came, or it was @wait_ns. The agreement continues, and other ranks do not notice. The
 * next call for the same comm waits for it again, with the depth of the first; if another rank dies
 * meanwhile, the others wait for that next call. Deleting the comm gives it up, as does the end of the
 * file.
 *
 * ETIMEDOUT: the deadline passed. Call again: the other ranks wait for that. If missing is ~0, this rank
 * may have agreed: they may have the new comm, and wait in it. It continues as after EINTR then, and the
 * next call gets it.
 *
 * EHOSTUNREACH: the other ranks considered this rank dead and continued without it.
 */
struct torcoll_comm_shrink {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 comm;			/* in */
	__u32 depth;			/* in: ops in flight, 0: as before; out: the granted depth */
	__u64 deadline_ns;		/* in */
	__u32 shrunk;			/* out: handle of the new comm, never 0 */
	__u32 rank;			/* out: rank of the caller in the new comm */
	__u32 ranks;			/* out: number of surviving ranks */
	__u32 missing;			/* out, with ETIMEDOUT: a rank of comm that did not call, or ~0 */
	__u64 members;			/* in: __u32[room] for the node of each rank, or 0 */
	__u32 room;			/* in: EINVAL, and no new comm, if there are more ranks */
	__u32 __reserved;
	__u64 wait_ns;			/* in: when the call ends as by a signal; 0: never */
};

/*
 * TORCOLL_IOC_COMM_INFO: describe a comm and its state.
 */
struct torcoll_comm_info {
	__u32 size;
	__u32 comm;			/* in */
	__u32 rank;			/* out, like all members below */
	__u32 ranks;
	__u32 node;
	__u32 generation;
	__u32 ndim;			/* of the fabric */
	__u32 side[TORCOLL_MAX_DIMS];
	__u32 frame_bytes;		/* payload bytes per frame */
	__s32 error;			/* negative errno of the first failure, or 0 */
	__u32 error_rank;		/* rank that caused it, or ~0 */
	__u32 __reserved;
};

/*
 * TORCOLL_IOC_SUBMIT: start an op. All ranks of a comm call the same collectives in the same
 * order. The messages of a rank to @peer arrive in the order in which the rank sent them. This
 * order is independent of collectives, of messages to other ranks and of messages in the opposite
 * direction. @count and @type are the same at both ends.
 *
 * @count is the number of elements of the whole vector for every op. In an even split, the block
 * of rank i has count / ranks (+ 1 if i < count % ranks) elements. @counts gives other splits: its
 * sum is @count, it is the same on every rank and may contain zeros. The module reads it before
 * the call returns.
 *
 *			elements at send_addr	elements at recv_addr	needs
 *	allreduce	count			count			redop
 *	reduce-scatter	count			the own block		redop
 *	allgather	the own block		count
 *	broadcast	count, at the root	count			root
 *	reduce		count			count, at the root	redop, root
 *	gather		the own block		count, at the root	root
 *	scatter		count, at the root	the own block		root
 *	barrier		none			none
 *	alltoall	count			count
 *	scan		count			count			redop
 *	exscan		count			count, not at rank 0	redop
 *	halo		count			count
 *	send		count			none			peer
 *	recv		none			count			peer
 *
 * The vectors of an alltoall have the same number of elements for and from each rank, in rank
 * order. With @counts and @recv_counts, which differ between ranks, @counts[i] elements go to rank
 * i, @recv_counts[i] come from it, and @count is the sum of @recv_counts. The result of a scan
 * covers the ranks up to and including the caller; that of an exscan covers the ranks before the
 * caller, so rank 0 has none. The vectors of a halo have the same number of elements for each
 * neighbour on the torus of ranks (on a ring, if the ranks form no torus or several are on one
 * node): down, then up, along each dimension longer than 1.
 *
 * Members that a collective does not use are 0: redop, root, counts (used by the collectives with
 * blocks), peer, scalar; in a barrier also type and count. The module ignores addresses and
 * regions of buffers without elements.
 *
 * In place, both buffers lie in one vector: the addresses are equal, except that for
 * reduce-scatter and scatter recv_addr, and for allgather and gather send_addr, is the address of
 * the own block in it. A reduce-scatter in place leaves the rest of the vector undefined. In all
 * other cases the op only reads the send buffer, and buffers that overlap give EINVAL.
 *
 * A buffer is an address inside a registered region, or any address with region 0; the module pins
 * the latter for the op, or copies it. The buffer belongs to the op until the process reaps the op
 * (TORCOLL_OP_WAIT, TORCOLL_IOC_WAIT). The result is valid from then on. If the result was copied,
 * the reaping call writes it to the buffer. The op's status is EFAULT if a thread of another
 * process than the submitting one reaps it, or if the memory no longer exists; the comm stays
 * usable.
 */
struct torcoll_submit {
	__u32 size;
	__u32 flags;			/* TORCOLL_OP_* */
	__u32 comm;
	__u16 collective;		/* enum torcoll_collective */
	__u16 algorithm;		/* enum torcoll_algorithm */
	__u16 type;			/* enum torcoll_type */
	__u16 redop;			/* enum torcoll_redop; NONE for ops that do not reduce */
	__u32 bits;			/* enum torcoll_bits */
	__u32 root;			/* rank; 0 for ops without a root */
	__u32 peer;			/* rank, for send and receive; else 0 */
	__u64 count;
	__u64 counts;			/* __u64[ranks] or 0 */
	__u32 send_region;
	__u32 recv_region;
	__u64 send_addr;
	__u64 recv_addr;
	__u64 scalar;			/* premulsum: __u64 pointer to one element, else 0 */
	__u32 param[TORCOLL_PARAM_COUNT];
	__u64 deadline_ns;
	__u64 user_data;		/* returned by TORCOLL_IOC_WAIT */
	__u64 op;			/* out: handle of the op on this comm, never 0 */
	__s32 status;			/* out, with TORCOLL_OP_WAIT: as in torcoll_wait */
	__u32 chosen;			/* out: enum torcoll_algorithm that executes the op */
	__u64 recv_counts;		/* alltoall: __u64[ranks], if @counts are given; else 0 */
	__u64 wait_ns;			/* TORCOLL_OP_WAIT: the wait for the result; 0: no limit */
};

/*
 * Return when the op is complete, with @status set. If it is not complete at @wait_ns, the call
 * returns ETIMEDOUT, and EINTR after a signal: with @op, the op goes on and is waited for with
 * TORCOLL_IOC_WAIT; without, it was not started. A wait for a slot ends at @deadline_ns only.
 */
#define TORCOLL_OP_WAIT		(1U << 0)
#define TORCOLL_OP_NOWAIT	(1U << 1)	/* EBUSY instead of waiting for a free op slot */
#define TORCOLL_OP_RING		(1U << 2)	/* complete to the ring; not with TORCOLL_OP_WAIT */
/*
 * EBUSY instead of waiting for a free op slot, as with TORCOLL_OP_NOWAIT, but waits while another
 * thread submits. A file polls writable (POLLOUT) at any time. To wait for a slot, wait for an edge
 * (EPOLLET): there is one whenever a slot becomes free, a result waits to be reaped, or a comm fails.
 */
#define TORCOLL_OP_TRY		(1U << 3)
/*
 * If the call is refused with EINVAL, EFAULT, ENOMEM, EDQUOT or EOPNOTSUPP, the comm fails
 * (ECONNABORTED), and the message of the other ranks names the call, its rank and the reason.
 * Without this flag a refused call can be repeated, and the other ranks wait.
 */
#define TORCOLL_OP_TELL		(1U << 4)
#define TORCOLL_OP_FLAGS	(TORCOLL_OP_WAIT | TORCOLL_OP_NOWAIT | TORCOLL_OP_RING | \
				 TORCOLL_OP_TRY | TORCOLL_OP_TELL)

/*
 * TORCOLL_IOC_WAIT: wait for one op, or (op 0) for any op of the comm, and reap it. Ops complete in
 * any order; if several are complete, the call returns the one that was submitted first. An op that
 * a thread waits for by its handle, or by TORCOLL_OP_WAIT, belongs to that thread; a wait for any
 * op does not return it.
 */
struct torcoll_wait {
	__u32 size;
	__u32 flags;			/* TORCOLL_WAIT_* */
	__u32 comm;
	__s32 status;			/* out: 0 or the op's negative errno */
	__u64 op;			/* in: handle or 0; out: the op that was reaped */
	__u64 deadline_ns;		/* in: ETIMEDOUT from the ioctl when it passes; the op goes on */
	__u64 user_data;		/* out; in, with TORCOLL_WAIT_RING */
	__u32 error_rank;		/* out: the rank that caused status, or ~0 */
	__u32 __reserved;
	__u64 spin_ns;			/* in: poll before sleeping, unless too many poll; at most 1 s */
};

#define TORCOLL_WAIT_NOHANG	(1U << 0)	/* EAGAIN instead of waiting */
/*
 * With TORCOLL_WAIT_NOHANG, for one op: if it is not complete (EAGAIN), it completes to the ring, with
 * the caller's @user_data, as one that was started with TORCOLL_OP_RING. Thus an op whose wait has
 * ended goes on as one that nobody waits for. EBUSY: the ring has no room for it; EINVAL: there is no
 * ring, the op completes to it already, or a thread waits for the op.
 */
#define TORCOLL_WAIT_RING	(1U << 1)
#define TORCOLL_WAIT_FLAGS	(TORCOLL_WAIT_NOHANG | TORCOLL_WAIT_RING)

/*
 * TORCOLL_IOC_RING_SETUP: create the completion ring of the file. The process finds completed ops
 * with TORCOLL_OP_RING in it without a system call. EBUSY: the file has a ring already. An op with
 * TORCOLL_OP_RING gets EBUSY if the ring has no room for it.
 *
 * Map @bytes of the file at offset TORCOLL_MMAP_RING, shared, for reading and writing. The mapping
 * begins with a struct torcoll_ring; entry i of the ring is @entries_offset + (i % @entries) *
 * @entry_size bytes from its start. Read the tail with acquire semantics, then the entries from
 * head to tail, then write the head with release semantics. A child of fork() does not inherit the
 * mapping. The file stays open as long as the mapping exists.
 */
struct torcoll_ring_setup {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 entries;			/* in: minimum, 1 to TORCOLL_RING_MAX; out: actual number */
	__s32 eventfd;			/* in: incremented for each entry; -1: none */
	__u64 bytes;			/* out */
	__u32 entries_offset;		/* out */
	__u32 entry_size;		/* out: size of the module's struct torcoll_completion */
};

#define TORCOLL_RING_MAX	32768
#define TORCOLL_MMAP_RING	0ULL

struct torcoll_ring {
	__u32 tail;			/* total entries written by the module */
	__u32 __reserved1[15];
	__u32 head;			/* total entries read by the process */
	__u32 __reserved2[15];
};

/*
 * A completed op. Unless TORCOLL_COMPLETION_REAP is set, the op is also reaped: its buffers belong
 * to the process again, the result is valid, and TORCOLL_IOC_WAIT does not find it any more.
 */
struct torcoll_completion {
	__u64 op;
	__u64 user_data;
	__u32 comm;
	__s32 status;			/* 0 or the op's negative errno */
	__u32 error_rank;		/* the rank that caused status, or ~0 */
	__u32 flags;			/* TORCOLL_COMPLETION_* */
};

/* Call TORCOLL_IOC_WAIT, which does not sleep, to unpin memory or copy the result. */
#define TORCOLL_COMPLETION_REAP	(1U << 0)

/*
 * TORCOLL_IOC_BATCH: start several ops in one call, in the order of the array. They may belong to
 * different comms of the file. The call stops at the first refused op and returns its error and
 * message; the ops before it run. Outputs are written to the array as by TORCOLL_IOC_SUBMIT.
 */
struct torcoll_batch {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 descs;			/* struct torcoll_submit[count], without TORCOLL_OP_WAIT */
	__u32 desc_size;		/* bytes of each, equal to the size member of all */
	__u32 count;			/* 1 to TORCOLL_BATCH_MAX */
	__u32 started;			/* out, also on errors: number of ops started */
	__u32 __reserved;
};

#define TORCOLL_BATCH_MAX	1024

/*
 * TORCOLL_IOC_ABORT: fail the comm. Its ops end with ECANCELED here and ECONNABORTED elsewhere.
 */

#define TORCOLL_IOC_MAGIC	0xCE
#define TORCOLL_IOC_INFO	_IO(TORCOLL_IOC_MAGIC, 0x00)	/* struct torcoll_info */
#define TORCOLL_IOC_ERROR	_IO(TORCOLL_IOC_MAGIC, 0x01)	/* struct torcoll_error */
#define TORCOLL_IOC_RING_SETUP	_IO(TORCOLL_IOC_MAGIC, 0x02)	/* struct torcoll_ring_setup */
#define TORCOLL_IOC_REGION_ADD	_IO(TORCOLL_IOC_MAGIC, 0x10)	/* struct torcoll_region_add */
#define TORCOLL_IOC_REGION_DEL	_IO(TORCOLL_IOC_MAGIC, 0x11)	/* struct torcoll_handle */
#define TORCOLL_IOC_REGION_ALLOC _IO(TORCOLL_IOC_MAGIC, 0x12)	/* struct torcoll_region_alloc */
#define TORCOLL_IOC_COMM_ADD	_IO(TORCOLL_IOC_MAGIC, 0x20)	/* struct torcoll_comm_add */
#define TORCOLL_IOC_COMM_DEL	_IO(TORCOLL_IOC_MAGIC, 0x21)	/* struct torcoll_handle */
#define TORCOLL_IOC_COMM_INFO	_IO(TORCOLL_IOC_MAGIC, 0x22)	/* struct torcoll_comm_info */
#define TORCOLL_IOC_COMM_SHRINK	_IO(TORCOLL_IOC_MAGIC, 0x23)	/* struct torcoll_comm_shrink */
#define TORCOLL_IOC_SUBMIT	_IO(TORCOLL_IOC_MAGIC, 0x30)	/* struct torcoll_submit */
#define TORCOLL_IOC_WAIT	_IO(TORCOLL_IOC_MAGIC, 0x31)	/* struct torcoll_wait */
#define TORCOLL_IOC_ABORT	_IO(TORCOLL_IOC_MAGIC, 0x32)	/* struct torcoll_handle */
#define TORCOLL_IOC_BATCH	_IO(TORCOLL_IOC_MAGIC, 0x34)	/* struct torcoll_batch */

#endif /* _UAPI_LINUX_TORCOLL_H */
