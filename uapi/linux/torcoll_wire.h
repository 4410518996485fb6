/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * torcoll wire format, version 2. All fields are big-endian; no struct has holes.
 *
 *	Ethernet header | struct torcoll_hdr | torcoll_ack x hdr.acks | payload, hdr.length bytes
 *
 * Two CRC32C (Castagnoli, reflected, initial value and final xor ~0) protect a frame:
 * hdr.header_crc covers the header, with hop_limit and header_crc as 0, and the acks;
 * hdr.payload_crc covers the payload. A forwarder checks the first and changes only hop_limit.
 */
#ifndef _UAPI_LINUX_TORCOLL_WIRE_H
#define _UAPI_LINUX_TORCOLL_WIRE_H

#include <linux/types.h>

#define TORCOLL_WIRE_VERSION	2
#define TORCOLL_ETHERTYPE	0x88B5			/* IEEE 802: local experimental 1 */
#define TORCOLL_HELLO_GROUP	{ 0x03, 0x74, 0x6f, 0x72, 0x63, 0x6f }	/* local, group */
#define TORCOLL_WIRE_ACKS_MAX	32			/* per frame */
#define TORCOLL_WIRE_PIGGYBACK	2			/* acks in a data frame, if there is room */
#define TORCOLL_NODE_ALL	(~0U)			/* dst of hellos and of packets to all nodes */
#define TORCOLL_PACKET_MIN	14			/* bytes of an inner MAC header */

enum torcoll_frame_type {
	TORCOLL_FRAME_HELLO = 1,	/* one hop, to the group address; payload torcoll_hello */
	TORCOLL_FRAME_DATA,		/* a piece of a transfer */
	TORCOLL_FRAME_ACK,		/* acks only */
	TORCOLL_FRAME_ABORT,		/* the comm failed; payload torcoll_abort */
	TORCOLL_FRAME_COMM,		/* a comm is being created; payload torcoll_comm_msg */
	TORCOLL_FRAME_ECHO,		/* one hop: test of the cable, request and reply */
	/*
	 * a packet of the network device: payload is an inner Ethernet frame, MAC header included.
	 * digest: hash of its flow; op: number of a packet to TORCOLL_NODE_ALL, else 0
	 */
	TORCOLL_FRAME_PACKET,
};

#define TORCOLL_FLAG_ACK	0x01	/* data: acknowledge now */
#define TORCOLL_FLAG_RETRANSMIT	0x02	/* data: sent before; informational */
#define TORCOLL_FLAG_PROBE	0x04	/* data: probes a receiver that was not ready */
#define TORCOLL_FLAG_WHOLE	0x08	/* data: the complete transfer; its ack may be delayed */
#define TORCOLL_FLAG_REPLY	0x10	/* echo: the reply */
#define TORCOLL_FLAG_BIG_ENDIAN	0x20	/* hello: payloads are big-endian; else little or unknown */
#define TORCOLL_FLAG_UNSUMMED	0x40	/* hello: data frames carry no checksum of their payloads */

/*
 * Channels of messages between two ranks: SEND if the message leaves the source node of the frame,
 * RECV if it goes to it. The round names the ranks of the two nodes: 256 * sender + receiver, each
 * an index among the ranks of its node.
 */
#define TORCOLL_CHANNEL_SEND	0xfe
#define TORCOLL_CHANNEL_RECV	0xff

struct torcoll_hdr {
	__u8	version;
	__u8	type;
	__u8	hop_limit;
	__u8	acks;		/* number of struct torcoll_ack behind the header */
	__be32	fabric;		/* the fabric's tag */
	__be32	src;		/* node that sent the frame, not the forwarder */
	__be32	dst;		/* node; TORCOLL_NODE_ALL in hellos, and packets to all nodes */
	__be32	src_epoch;
	__be32	dst_epoch;	/* 0 if the sender cannot know it */
	__be32	comm;		/* the comm's tag, 0 in hellos and comm messages */
	__be32	op;		/* the op's number in its comm, from 1 */
	__be32	digest;		/* of the op's descriptor */
	__u8	channel;
	__u8	flags;
	__be16	round;
	/*
	 * index of the frame times the agreed payload. Echo replies: 1 + damaged frames,
	 * 0: not counted
	 */
	__be64	offset;
	__be32	length;		/* of the payload, bytes */
	__be32	stamp;		/* sender's clock, us; echoed in acks */
	__be32	payload_crc;
	__be32	header_crc;
};

/* The state of one transfer at its receiver. */
struct torcoll_ack {
	__be32	comm;
	__be32	op;
	__u8	channel;
	__u8	state;		/* enum torcoll_ack_state */
	__be16	round;
	__be32	base;		/* all frames below this index have arrived */
	__be64	mask;		/* bit i: frame base + i has arrived */
	__be32	stamp;		/* of the frame that caused this ack, 0: none */
	__be32	digest;		/* of the op that waits for more of the transfer; 0: not given */
};

enum torcoll_ack_state {
	TORCOLL_ACK_OK,
	TORCOLL_ACK_NOT_READY,	/* stop the timer, wait for OK, probe: after 20 ms, doubled up to 1 s */
	TORCOLL_ACK_DONE,	/* the whole transfer has arrived; base and mask are unused */
	TORCOLL_ACK_ABSENT,	/* the op was not called here: reply to an ack with a digest */
	TORCOLL_ACK_PAST,	/* it is over here, and all that it sent arrived: likewise */
};

#define TORCOLL_HELLO_RECORDS_MAX	64
#define TORCOLL_HELLO_VERSION	16
#define TORCOLL_HOST_NAME	64

/*
 * Sent on every port every hello interval, and at once when a link changes. The link states that
 * the sender knows follow: struct torcoll_link_record x records; and behind them struct
 * torcoll_hello_more, if there is room and the module is not older than that.
 */
struct torcoll_hello {
	char	version[TORCOLL_HELLO_VERSION];	/* of the module, zero-padded */
	__u8	dim;		/* of the sending port */
	__u8	way;		/* 0: towards higher coordinates, 1: lower; mesh: steps upwards - 1 */
	__u8	ndim;
	__u8	hears;		/* 1: the port hears the neighbour named below */
	__be32	side[6];	/* TORCOLL_SIDE() of linux/torcoll.h */
	__be32	frame_size;	/* largest frame of this port, bytes above the MAC header */
	__be32	fabric_frame;	/* the smallest frame size known in the fabric */
	__be32	heard_node;	/* node heard on this port */
	__be32	heard_epoch;
	__be32	interval_ms;
	__be32	view;		/* digest of the dead links that the sender knows of */
	__be32	records;
};

/* The links of @node, as it reported them. The higher @seq (serial arithmetic) is the later. */
struct torcoll_link_record {
	__be32	node;
	__be32	epoch;		/* of the node */
	__be32	seq;		/* not 0 */
	__be16	dead;		/* bit per port: the link is dead, or was never seen alive */
	__be16	frame;		/* largest frame of all its links, above the MAC header; 0: not known */
};

/* What has been added to hellos since. */
struct torcoll_hello_more {
	__u8	name[TORCOLL_HOST_NAME];	/* of the host, text, zero-padded */
	__be32	rates;		/* hash of the node's rates, 0: those of the default */
	__be32	sent;		/* frames that this port has sent, this hello included, modulo 2^32 */
	__u8	cables;		/* between the nodes of a ring of 2 */
	__u8	__reserved[3];
};

/* The call of a rank. */
struct torcoll_call {
	__be64	count;
	__be32	rank;
	__be32	root;
	__u8	collective;	/* enum torcoll_collective; 0: only rank is known */
	__u8	type;
	__u8	redop;
	__u8	bits;
	__be16	algorithm;
	__be16	__reserved;
};

/* The comm failed. */
struct torcoll_abort {
	/* positive errno: EPROTO, ECONNABORTED, EHOSTUNREACH, EHOSTDOWN; others to 4095: EPROTO */
	__be32	error;
	__be32	rank;		/* that caused it, ~0: not known */
	__be32	node;		/* that caused it, ~0: not known */
	__be32	op;		/* the op that failed, 0: none */
	/*
	 * with EPROTO: of the calls of the two sides. With ECONNABORTED, the first: positive errno with
	 * which the cause's node refused call[0]: EINVAL, EFAULT, ENOMEM, EDQUOT or EOPNOTSUPP; 0: none
	 */
	__be32	digest[2];
	struct torcoll_call call[2];	/* with EPROTO: the known parts of these calls */
};

enum torcoll_comm_step {
	TORCOLL_COMM_JOIN = 1,	/* member to rank 0: this rank has called */
	TORCOLL_COMM_WAIT,	/* rank 0 to member: JOIN received, rank @missing has not called */
	TORCOLL_COMM_READY,	/* rank 0 to member: all have called, @tag is the tag */
	TORCOLL_COMM_ACCEPT,	/* member to rank 0: tag installed */
	TORCOLL_COMM_GO,	/* rank 0 to member: all have installed it */
	TORCOLL_COMM_REFUSE,	/* rank 0 to member: error */
	TORCOLL_COMM_LEAVE,	/* member to rank 0: stopped waiting */
	TORCOLL_COMM_SHRINK_CALL,	/* this node has called shrink; request the receiver's state */
	TORCOLL_COMM_SHRINK_LEFT,	/* no process here belongs to the comm any more */
	TORCOLL_COMM_SHRINK_WAIT,	/* CALL received, node @missing has not called */
	TORCOLL_COMM_SHRINK_READY,	/* all survivors have called, this is the new comm */
	TORCOLL_COMM_SHRINK_ACCEPT,	/* tag installed */
	TORCOLL_COMM_SHRINK_GO,		/* all have installed it */
	TORCOLL_COMM_SHRINK_OUT,	/* the other ranks continued without the receiver */
	TORCOLL_COMM_STEP_END
};

struct torcoll_comm_msg {
	__u8	step;
	__u8	__reserved[3];
	__be32	error;		/* REFUSE: positive errno: EPROTO, EACCES, ETIMEDOUT or ECONNABORTED */
	__be64	name;		/* hash of the name; SHRINK: the lineage */
	__be64	proof;		/* hash of name and secret */
	__be64	members;	/* hash of the list of members and its size */
	__be32	nonce;		/* of the member's call */
	__be32	rank;		/* of the member */
	__be32	ranks;
	__be32	missing;	/* WAIT: the first missing rank; READY: rank of the first epoch below */
	__be32	tag;		/* READY, ACCEPT, GO */
	__be32	generation;	/* READY, GO */
	__be32	frame_bytes;	/* as payload below, but a multiple of 64: for older modules */
	/* number of __be32 that follow. READY: epochs by rank; SHRINK_READY: nodes and epochs */
	__be32	epochs;
};

/* Why rank 0 refuses with EPROTO. */
enum torcoll_comm_cause {
	TORCOLL_CAUSE_UNKNOWN,
	TORCOLL_CAUSE_MEMBERS,	/* a rank names another list of members */
	TORCOLL_CAUSE_CHECKSUM,	/* TORCOLL_FLAG_UNSUMMED differs */
	TORCOLL_CAUSE_ORDER,	/* TORCOLL_FLAG_BIG_ENDIAN differs */
	TORCOLL_CAUSE_NO_TERMS,	/* a rank's JOIN has no torcoll_comm_terms, and rank 0 has rates */
	TORCOLL_CAUSE_END
};

#define TORCOLL_WIRE_RATES	6
#define TORCOLL_WIRE_PS_MAX	10000000000000ULL	/* 10 s */
#define TORCOLL_WIRE_FS_MAX	10000000000ULL		/* 10 us a byte */

/* What members must have in common: behind the epochs of JOIN, READY and REFUSE. */
struct torcoll_comm_terms {
	__u8	flags;		/* JOIN: TORCOLL_FLAG_BIG_ENDIAN, _UNSUMMED; REFUSE: those of @rank */
	__u8	cause;		/* REFUSE: enum torcoll_comm_cause */
	__be16	payload;	/* JOIN: bytes per frame offered; READY: agreed; 0: frame_bytes */
	__be32	refusal;	/* REFUSE: its number; JOIN: of the last one of this name that was heard */
	__be32	rank;		/* REFUSE: the one at fault, ~0: not known */
	__be32	node;		/* REFUSE: its node, ~0: not known */
	/* READY: ps per op, round, hop and message, fs per byte on a link and at a node */
	__be64	rates[TORCOLL_WIRE_RATES];
	__u8	name[TORCOLL_HOST_NAME];	/* JOIN: of the host; REFUSE: of that of @rank */
};

#endif /* _UAPI_LINUX_TORCOLL_WIRE_H */
