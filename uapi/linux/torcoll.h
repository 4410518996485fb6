/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * torcoll: collectives over directly cabled tori, the ioctl interface of /dev/torcoll
 *
 * Every call takes a pointer to one struct whose first member is the struct's size in bytes as
 * the caller was compiled. A smaller (older) struct is zero-extended, a larger one is accepted
 * while its unknown tail is zero. Reserved members and undefined flag bits must be zero. Pointers
 * travel as __u64, times are absolute CLOCK_MONOTONIC nanoseconds, 0 means none.
 *
 * An open file is bound to the network namespace of the process that opened it. Every call may be
 * restarted after a signal.
 *
 * Errors, one meaning each; torcoll's sentence for the last refusal on a file: TORCOLL_IOC_ERROR.
 *
 *	EINVAL		a member is out of its documented range, or a reserved one is not zero
 *	E2BIG		the struct's unknown tail is not zero
 *	EFAULT		a pointer, or memory behind it, cannot be read or written
 *	ENOTTY		the ioctl number is unknown
 *	ENOENT		a comm, region or op handle names nothing on this file
 *	ESTALE		the memory of a watched region was unmapped or replaced: register it anew
 *	ENODEV		this namespace has no fabric of that key
 *	EBUSY		the object is in use; with TORCOLL_OP_NOWAIT: no op slot is free; without: nor will be one, since
 *			results are not reaped: at once in a process of one thread, else a second after the op was over
 *	EEXIST		a comm of that name is already being joined from this node
 *	EOPNOTSUPP	a valid request that this module or the algorithm cannot serve
 *	EDQUOT		a limit was reached: RLIMIT_MEMLOCK, or what the user who opened the file may have
 *			of comms, ops in flight, pinned and kernel memory (torcollctl limit)
 *	ENOMEM		the kernel is out of memory
 *	EACCES, EPERM	wrong secret; not permitted
 *	ETIMEDOUT	the deadline passed; the sentence names who is missing
 *	EINTR		a signal interrupted a wait; the op goes on, wait again
 *
 * and, as the result of an op (its status, not the ioctl's):
 *
 *	EPROTO		ranks disagree about the op or the comm
 *	ECONNABORTED	another rank left, aborted or was killed
 *	ECANCELED	this rank aborted
 *	EHOSTUNREACH	no path to a rank
 *	EHOSTDOWN	a rank's host died or restarted
 *	ENETDOWN	the fabric was deleted, by force
 *
 * Of these, other hosts are believed EPROTO, ECONNABORTED, EHOSTUNREACH and EHOSTDOWN as a comm's failure; EPROTO, EACCES,
 * ETIMEDOUT and ECONNABORTED as that of its creation. Any other error that a frame names is EPROTO.
 */
#ifndef _UAPI_LINUX_TORCOLL_H
#define _UAPI_LINUX_TORCOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TORCOLL_ABI_VERSION	1
#define TORCOLL_DEVICE		"/dev/torcoll"
#define TORCOLL_NAME_MAX	64	/* bytes of a comm's name or secret, no terminator */
#define TORCOLL_MAX_DIMS	6

/* What is called. Values are also on the wire (in the descriptor's digest). */
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
	TORCOLL_I8,
	TORCOLL_I16,
	TORCOLL_I32,
	TORCOLL_I64,
	TORCOLL_U8,
	TORCOLL_U16,
	TORCOLL_U32,
	TORCOLL_U64,
	TORCOLL_F16,
	TORCOLL_BF16,
	TORCOLL_F32,
	TORCOLL_F64,
	/*
	 * MPI's pair types, for minloc and maxloc: value, then int index, C layout. That of double and int, and of long and
	 * int, is another in programs of 32 bits: EOPNOTSUPP
	 */
	TORCOLL_FLOAT_INT,
	TORCOLL_DOUBLE_INT,
	TORCOLL_LONG_INT,
	TORCOLL_2INT,
	TORCOLL_SHORT_INT,
	TORCOLL_TYPE_COUNT
};

enum torcoll_redop {
	TORCOLL_REDOP_NONE,
	TORCOLL_SUM,
	TORCOLL_PROD,
	TORCOLL_MIN,
	TORCOLL_MAX,
	TORCOLL_AVG,
	TORCOLL_BAND,
	TORCOLL_BOR,
	TORCOLL_BXOR,
	TORCOLL_LAND,
	TORCOLL_LOR,
	TORCOLL_LXOR,
	TORCOLL_MINLOC,
	TORCOLL_MAXLOC,
	TORCOLL_PREMULSUM,
	TORCOLL_REDOP_COUNT
};

/* Promises about the bits of floating-point results. */
enum torcoll_bits {
	TORCOLL_BITS_DEFAULT,	/* the comm's; agree unless set */
	TORCOLL_BITS_AGREE,	/* the same bits on every rank */
	TORCOLL_BITS_ORDERED,	/* the sequential result in rank order */
	TORCOLL_BITS_RELAXED,	/* whatever is fastest */
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
	TORCOLL_ALGO_COUNT
};

/* Parameters of an algorithm, by index into torcoll_submit.param; 0: the module chooses. */
enum torcoll_param {
	TORCOLL_PARAM_CHANNELS,	/* concurrent sub-collectives */
	TORCOLL_PARAM_R,	/* general: distribution rounds saved, plus 1 */
	TORCOLL_PARAM_BLOCKS,	/* circulant: blocks */
	TORCOLL_PARAM_GROUP,	/* general: 1 cyclic, 2 XOR */
	TORCOLL_PARAM_VARIANT,	/* which of several schedules of the family */
	TORCOLL_PARAM_EXCLUDE,	/* auto: algorithms that it must not take, bits 1 << enum torcoll_algorithm */
	TORCOLL_PARAM_CHUNKS,	/* parts of the vector, each with channels of its own, so that rounds of one fill the pauses of others */
	TORCOLL_PARAM_COUNT = 8
};

/*
 * TORCOLL_IOC_INFO: what this module is.
 */
struct torcoll_info {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 abi_version;		/* out */
	__u32 max_channels;		/* out: per op */
	__u64 features;			/* out: TORCOLL_FEATURE_* */
	__u64 collectives;		/* out: bit 1 << enum torcoll_collective: served */
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

/*
 * TORCOLL_IOC_ERROR: the sentence for the last refused call or failed op on this file, terminated
 * and cut to @len bytes; empty if nothing was refused yet.
 */
struct torcoll_error {
	__u32 size;
	__u32 len;			/* in: bytes at @text; out: bytes of the whole sentence */
	__u64 text;			/* in: char * */
};

/*
 * TORCOLL_IOC_REGION_ADD: register memory for zero-copy use. The pages stay pinned and are charged
 * to RLIMIT_MEMLOCK until the region is deleted or the file is closed.
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
 * For memory that others manage: when the process unmaps, discards or replaces a page of it, the region becomes useless, and
 * ops with it are refused with ESTALE. Not what a fork does, or mprotect().
 */
#define TORCOLL_REGION_WATCH	(1U << 0)
#define TORCOLL_REGION_FLAGS	TORCOLL_REGION_WATCH

/*
 * TORCOLL_IOC_REGION_ALLOC: memory of the module's, filled with zeros, for use without copies. Map @bytes of the file
 * at @offset, shared, once: ops then name it by these addresses. It is charged to the user's kernel memory until the
 * region is deleted; what is mapped stays until it is unmapped. A child of fork() does not have the mapping.
 */
struct torcoll_region_alloc {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 length;			/* in: bytes, not 0 */
	__u32 region;			/* out: handle, never 0 */
	__u32 __reserved;
	__u64 bytes;			/* out: what it is mapped as: whole pages */
	__u64 offset;			/* out: for mmap() */
};

/*
 * TORCOLL_IOC_REGION_DEL, TORCOLL_IOC_COMM_DEL: give up a handle. EBUSY while an op uses a region;
 * a comm's running ops are aborted (ECONNABORTED at the other ranks). An exit with status 0 gives up all of them; any
 * other end of the process fails its comms first.
 */
struct torcoll_handle {
	__u32 size;
	__u32 handle;
};

/*
 * TORCOLL_IOC_COMM_ADD: join a communicator. Blocks until every member has called with the same
 * name, secret and list of members, or the deadline passes.
 *
 * A node may be named several times: so many processes of one user join there, each with a rank of its own.
 * EOPNOTSUPP: TORCOLL_IOC_COMM_SHRINK in such a comm, and messages of ranks beyond the 256th of a node to other nodes.
 */
struct torcoll_comm_add {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 fabric;			/* in: the fabric's key */
	__u64 name;			/* in: bytes, @name_len of them, 1 to TORCOLL_NAME_MAX */
	__u64 secret;			/* in: bytes, @secret_len of them, 0 to TORCOLL_NAME_MAX */
	__u32 name_len;
	__u32 secret_len;
	__u64 members;			/* in: __u32[ranks], the node of each rank; 0: all nodes, in order */
	__u32 ranks;			/* in: number of ranks; 0 with members 0 */
	__u32 rank;			/* in: the caller's; out: the same */
	__u64 deadline_ns;		/* in */
	__u32 depth;			/* in: ops in flight, 0: 8; out: what was granted */
	__u32 comm;			/* out: handle, never 0 */
	__u32 missing;			/* out, with ETIMEDOUT: a rank that did not come, or ~0 */
	__u32 bits;			/* in: enum torcoll_bits of ops that name none */
};

#define TORCOLL_RANK_SELF	(~0U)	/* torcoll_comm_add.rank: the one that is on this node, or the next of several */

/*
 * TORCOLL_IOC_COMM_SHRINK: a new comm of the living ranks of one that failed, in the same order. Blocks until
 * all of them have called, or the deadline passes; a rank is not waited for if its host is down, cut off or was
 * restarted, or if no process there has the comm open any more. A comm that has not failed yet is failed by
 * this, as by TORCOLL_IOC_ABORT. The old comm stays failed, and open; it can be shrunk once.
 *
 * EHOSTUNREACH: the others took this rank for dead and have gone on without it.
 */
struct torcoll_comm_shrink {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 comm;			/* in */
	__u32 depth;			/* in: ops in flight, 0: as before; out: what was granted */
	__u64 deadline_ns;		/* in */
	__u32 shrunk;			/* out: handle of the new comm, never 0 */
	__u32 rank;			/* out: the caller's in it */
	__u32 ranks;			/* out: how many live */
	__u32 missing;			/* out, with ETIMEDOUT: a rank of comm that did not call, or ~0 */
	__u64 members;			/* in: __u32[room]: the node of each rank goes there; 0: not wanted */
	__u32 room;			/* in: EINVAL if ranks are more, with the new comm given up */
	__u32 __reserved;
};

/*
 * TORCOLL_IOC_COMM_INFO: what a comm is and how it does.
 */
struct torcoll_comm_info {
	__u32 size;
	__u32 comm;			/* in */
	__u32 rank;			/* out, and all below */
	__u32 ranks;
	__u32 node;
	__u32 generation;
	__u32 ndim;			/* of the fabric */
	__u32 side[TORCOLL_MAX_DIMS];
	__u32 frame_bytes;		/* payload bytes per frame */
	__s32 error;			/* negative errno of the first failure, or 0 */
	__u32 error_rank;		/* who caused it, or ~0 */
	__u32 __reserved;
};

/*
 * TORCOLL_IOC_SUBMIT: start an op. All ranks of a comm call the same collectives in the same order. Messages that a
 * rank sends to @peer are received there in the order in which they were sent, which is independent of that of
 * collectives, of messages to others, and of those that come back; @count and @type are the same at both ends.
 *
 * @count is the number of elements of the whole vector for every op. Rank i's block of an
 * even split has count / ranks (+ 1 if i < count % ranks) elements; other splits are given by
 * @counts, which sum up to @count, are the same on every rank, may contain zeros, and are read
 * before the call returns.
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
 *	scan, exscan	count			count			redop
 *	halo		count			count
 *	send		count			none			peer
 *	recv		none			count			peer
 *
 * An alltoall's vectors have as many elements for each rank, and from each, in the order of ranks. With
 * @counts and @recv_counts, which then are this rank's own: @counts[i] go to rank i, recv_counts[i] come from
 * there, and @count is the sum of the latter. A scan's result is that of ranks up to the caller's, in an
 * exclusive one of those before; what rank 0 then receives is undefined. A halo's vectors have as many elements for
 * each neighbour on the torus of ranks (a ring, if they form none, or several are on a node): down, then up, along
 * each dimension longer than 1.
 *
 * Members that a collective has no use for are 0: redop, root, counts (collectives by blocks have
 * them), peer, scalar; in a barrier type and count as well. Addresses and regions of buffers without
 * elements are not looked at.
 *
 * In place: what is sent and what is received lie at one place of one vector: equal addresses,
 * but for reduce-scatter and scatter recv_addr, and for allgather and gather send_addr, is where the own
 * block lies in it. A reduce-scatter in place leaves the rest of the vector undefined. Otherwise a
 * send buffer is only read, and buffers that overlap give EINVAL.
 *
 * A buffer is an address inside a registered region, or any address with region 0: that is pinned for the op,
 * or copied. It belongs to the op until that is reaped (TORCOLL_OP_WAIT, TORCOLL_IOC_WAIT), which is when the
 * result is there. A result that was copied is written then, by a thread of the process that submitted the op: to any other, and
 * where the memory is not there any more, the op's status is EFAULT; the comm goes on.
 */
struct torcoll_submit {
	__u32 size;
	__u32 flags;			/* TORCOLL_OP_* */
	__u32 comm;
	__u16 collective;		/* enum torcoll_collective */
	__u16 algorithm;		/* enum torcoll_algorithm */
	__u16 type;			/* enum torcoll_type */
	__u16 redop;			/* enum torcoll_redop; NONE where nothing is reduced */
	__u32 bits;			/* enum torcoll_bits */
	__u32 root;			/* rank; 0 where there is no root */
	__u32 peer;			/* rank, for send and receive; 0 elsewhere */
	__u64 count;
	__u64 counts;			/* __u64[ranks] or 0 */
	__u32 send_region;
	__u32 recv_region;
	__u64 send_addr;
	__u64 recv_addr;
	__u64 scalar;			/* premulsum: __u64 pointer to one element, else 0 */
	__u32 param[TORCOLL_PARAM_COUNT];
	__u64 deadline_ns;
	__u64 user_data;		/* handed back by TORCOLL_IOC_WAIT */
	__u64 op;			/* out: handle of the op on this comm, never 0 */
	__s32 status;			/* out, with TORCOLL_OP_WAIT: as in torcoll_wait */
	__u32 chosen;			/* out: enum torcoll_algorithm: what carries it out */
	__u64 recv_counts;		/* alltoall: __u64[ranks], if @counts are given; else 0 */
};

#define TORCOLL_OP_WAIT		(1U << 0)	/* return when complete, with status set */
#define TORCOLL_OP_NOWAIT	(1U << 1)	/* EBUSY instead of waiting for a free op slot */
#define TORCOLL_OP_RING		(1U << 2)	/* the result comes into the ring; not with TORCOLL_OP_WAIT */
#define TORCOLL_OP_FLAGS	(TORCOLL_OP_WAIT | TORCOLL_OP_NOWAIT | TORCOLL_OP_RING)

/*
 * TORCOLL_IOC_WAIT: wait for one op, or (op 0) for any op of the comm: ops complete in any order, and of several that
 * are complete the first one called is handed out. Reaps it. An op that a thread waits for by its handle, or by
 * TORCOLL_OP_WAIT, is that thread's: it is not any.
 */
struct torcoll_wait {
	__u32 size;
	__u32 flags;			/* TORCOLL_WAIT_* */
	__u32 comm;
	__s32 status;			/* out: 0 or the op's negative errno */
	__u64 op;			/* in: handle or 0; out: the op that was reaped */
	__u64 deadline_ns;		/* in: ETIMEDOUT from the ioctl when it passes; the op goes on */
	__u64 user_data;		/* out */
	__u32 error_rank;		/* out: the rank that caused status, or ~0 */
	__u32 __reserved;
	__u64 spin_ns;			/* in: look so long before sleeping, unless pollers are many; at most 1 s */
};

#define TORCOLL_WAIT_NOHANG	(1U << 0)	/* EAGAIN instead of waiting */
#define TORCOLL_WAIT_FLAGS	TORCOLL_WAIT_NOHANG

/*
 * TORCOLL_IOC_RING_SETUP: make the file's completion ring, in which ops with TORCOLL_OP_RING are found when they
 * are done, without a system call. EBUSY: there is one; with TORCOLL_OP_RING: it has no room for one more op.
 *
 * Map @bytes of the file at offset TORCOLL_MMAP_RING, shared, for reading and writing. It begins with a struct
 * torcoll_ring; entry i of the ring lies @entries_offset + (i % @entries) * @entry_size bytes from there. Read
 * the tail with acquire semantics, then the entries from head to tail, then write the head with release semantics.
 * A child of fork() does not have the mapping. While it exists the file is open.
 */
struct torcoll_ring_setup {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u32 entries;			/* in: at least so many, 1 to TORCOLL_RING_MAX; out: how many */
	__s32 eventfd;			/* in: raised by one with each entry; -1: none */
	__u64 bytes;			/* out */
	__u32 entries_offset;		/* out */
	__u32 entry_size;		/* out: of struct torcoll_completion as the module knows it */
};

#define TORCOLL_RING_MAX	32768
#define TORCOLL_MMAP_RING	0ULL

struct torcoll_ring {
	__u32 tail;			/* entries ever written, by the module */
	__u32 __reserved1[15];
	__u32 head;			/* entries ever read, by the process */
	__u32 __reserved2[15];
};

/*
 * An op that is done. Unless TORCOLL_COMPLETION_REAP is set it is reaped as well: buffers are the process's, the
 * result is there, TORCOLL_IOC_WAIT knows it no more.
 */
struct torcoll_completion {
	__u64 op;
	__u64 user_data;
	__u32 comm;
	__s32 status;			/* 0 or the op's negative errno */
	__u32 error_rank;		/* the rank that caused status, or ~0 */
	__u32 flags;			/* TORCOLL_COMPLETION_* */
};

/* Memory is to be unpinned, or the result to be copied: TORCOLL_IOC_WAIT does that, and does not sleep. */
#define TORCOLL_COMPLETION_REAP	(1U << 0)

/*
 * TORCOLL_IOC_BATCH: start several ops in one call, in the order of the array. They may belong to
 * different comms of the file. The call ends at the first that is refused, with its error and
 * sentence; those before it run. Outputs are written to the array as by TORCOLL_IOC_SUBMIT.
 */
struct torcoll_batch {
	__u32 size;
	__u32 flags;			/* must be 0 */
	__u64 descs;			/* struct torcoll_submit[count], without TORCOLL_OP_WAIT */
	__u32 desc_size;		/* bytes of each, which is what all say in their size */
	__u32 count;			/* 1 to TORCOLL_BATCH_MAX */
	__u32 started;			/* out: how many run, with errors as well */
	__u32 __reserved;
};

#define TORCOLL_BATCH_MAX	1024

/*
 * TORCOLL_IOC_ABORT: fail the comm: its ops end with ECANCELED here, ECONNABORTED elsewhere.
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
