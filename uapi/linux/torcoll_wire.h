/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * torcoll on the wire, version 2. All fields big-endian; every struct is free of holes.
 *
 *	Ethernet header | struct torcoll_hdr | torcoll_ack x hdr.acks | payload, hdr.length bytes
 *
 * Two CRC32C (Castagnoli, reflected, initial value and final xor ~0): hdr.header_crc over the
 * header with hop_limit and header_crc as 0, and the acks; hdr.payload_crc over the payload. A
 * forwarder checks the first, changes hop_limit and nothing else.
 */
#ifndef _UAPI_LINUX_TORCOLL_WIRE_H
#define _UAPI_LINUX_TORCOLL_WIRE_H

#include <linux/types.h>

#define TORCOLL_WIRE_VERSION	2
#define TORCOLL_ETHERTYPE	0x88B5			/* IEEE 802: local experimental 1 */
#define TORCOLL_HELLO_GROUP	{ 0x03, 0x74, 0x6f, 0x72, 0x63, 0x6f }	/* local, group */
#define TORCOLL_WIRE_ACKS_MAX	32			/* per frame */
#define TORCOLL_WIRE_PIGGYBACK	2			/* room for acks kept in a data frame */

enum torcoll_frame_type {
	TORCOLL_FRAME_HELLO = 1,	/* one hop, to the group address; payload torcoll_hello */
	TORCOLL_FRAME_DATA,		/* a piece of a transfer */
	TORCOLL_FRAME_ACK,		/* acks alone */
	TORCOLL_FRAME_ABORT,		/* the comm failed; payload torcoll_abort */
	TORCOLL_FRAME_COMM,		/* a comm is being created; payload torcoll_comm_msg */
	TORCOLL_FRAME_ECHO,		/* one hop: a test of the cable, and the answer to it */
};

#define TORCOLL_FLAG_ACK	0x01	/* data: acknowledge now */
#define TORCOLL_FLAG_RETRANSMIT	0x02	/* data: sent before; for eyes and counters only */
#define TORCOLL_FLAG_PROBE	0x04	/* data: asks a receiver that was not ready */
#define TORCOLL_FLAG_WHOLE	0x08	/* data: all of the transfer; its ack may wait for company */
#define TORCOLL_FLAG_REPLY	0x10	/* echo: the answer */
#define TORCOLL_FLAG_BIG_ENDIAN	0x20	/* hello: the sender's payloads are; else not, or it does not say */

/*
 * Channels of messages between two ranks, by what the message is to the node that the frame is from. The round says which ranks of
 * the two nodes: 256 * sender + receiver, each counted among those of its node.
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
	__be32	dst;		/* node; ~0 in hellos */
	__be32	src_epoch;
	__be32	dst_epoch;	/* 0 where the sender cannot know it */
	__be32	comm;		/* the comm's tag, 0 in hellos and comm messages */
	__be32	op;		/* the op's number in its comm, from 1 */
	__be32	digest;		/* of the op's descriptor */
	__u8	channel;
	__u8	flags;
	__be16	round;
	__be64	offset;		/* of the payload in the transfer, bytes */
	__be32	length;		/* of the payload, bytes */
	__be32	stamp;		/* sender's clock, us; echoed in acks */
	__be32	payload_crc;
	__be32	header_crc;
};

/* What a receiver says of one transfer. */
struct torcoll_ack {
	__be32	comm;
	__be32	op;
	__u8	channel;
	__u8	state;		/* enum torcoll_ack_state */
	__be16	round;
	__be32	base;		/* all frames below this index have arrived */
	__be64	mask;		/* bit i: frame base + i has arrived */
	__be32	stamp;		/* of the frame that caused this, 0: none */
	__be32	digest;		/* of the op that waits for more of the transfer; 0: not said */
};

enum torcoll_ack_state {
	TORCOLL_ACK_OK,
	TORCOLL_ACK_NOT_READY,	/* stop the timer, wait for OK or probe once a second */
	TORCOLL_ACK_DONE,	/* the whole transfer has arrived; base and mask say nothing */
	TORCOLL_ACK_ABSENT,	/* the op was not called here: an answer to who asked with a digest */
};

#define TORCOLL_HELLO_RECORDS_MAX	64
#define TORCOLL_HELLO_VERSION	16

/*
 * Said on every port every hello interval, and at once when a link changes. What its sender knows of links
 * follows: struct torcoll_link_record x records.
 */
struct torcoll_hello {
	char	version[TORCOLL_HELLO_VERSION];	/* of the module, zero-padded */
	__u8	dim;		/* of the port that says this */
	__u8	dir;		/* 0: towards higher coordinates, 1: lower */
	__u8	ndim;
	__u8	hears;		/* 1: the port hears the neighbour named below */
	__be32	side[6];
	__be32	frame_size;	/* bytes above the MAC header that this port takes */
	__be32	fabric_frame;	/* the smallest frame size known in the fabric */
	__be32	heard_node;	/* who is heard on this port */
	__be32	heard_epoch;
	__be32	interval_ms;
	__be32	view;		/* digest of the dead links that the sender knows of */
	__be32	records;
};

/* What @node said of its links; the higher number (serial) is the later. */
struct torcoll_link_record {
	__be32	node;
	__be32	epoch;		/* of the node */
	__be32	seq;		/* not 0 */
	__be16	dead;		/* bit 2 * dim + dir: the cable there is dead, or was never seen alive */
	__be16	frame;		/* bytes above the MAC header that all its links take, 0: not known */
};

/* What a rank called. */
struct torcoll_call {
	__be64	count;
	__be32	rank;
	__be32	root;
	__u8	collective;	/* enum torcoll_collective; 0: not known, nor is the rest but rank */
	__u8	type;
	__u8	redop;
	__u8	bits;
	__be16	algorithm;
	__be16	__reserved;
};

/* The comm failed. */
struct torcoll_abort {
	__be32	error;		/* positive errno: EPROTO, ECONNABORTED, EHOSTUNREACH or EHOSTDOWN; any other up to 4095 means EPROTO */
	__be32	rank;		/* that caused it, ~0: not known */
	__be32	node;		/* that caused it, ~0: not known */
	__be32	op;		/* at which op, 0: none */
	__be32	digest[2];	/* with EPROTO: of what the two sides called */
	struct torcoll_call call[2];	/* with EPROTO: of these, what is known */
};

enum torcoll_comm_step {
	TORCOLL_COMM_JOIN = 1,	/* member to rank 0: I called */
	TORCOLL_COMM_WAIT,	/* rank 0 to member: heard you, @missing has not come */
	TORCOLL_COMM_READY,	/* rank 0 to member: all are here, this is the tag */
	TORCOLL_COMM_ACCEPT,	/* member to rank 0: tag installed */
	TORCOLL_COMM_GO,	/* rank 0 to member: all have installed it */
	TORCOLL_COMM_REFUSE,	/* rank 0 to member: error */
	TORCOLL_COMM_LEAVE,	/* member to rank 0: gave up waiting */
	TORCOLL_COMM_SHRINK_CALL,	/* I shrink, do you? */
	TORCOLL_COMM_SHRINK_LEFT,	/* no process here belongs to it any more */
	TORCOLL_COMM_SHRINK_WAIT,	/* heard you, node @missing has not called */
	TORCOLL_COMM_SHRINK_READY,	/* all who live have called, this is the heir */
	TORCOLL_COMM_SHRINK_ACCEPT,	/* tag installed */
	TORCOLL_COMM_SHRINK_GO,		/* all have installed it */
	TORCOLL_COMM_SHRINK_OUT,	/* the others have gone on without you */
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
	__be32	missing;	/* WAIT: the first rank that has not come; READY: what is the first below */
	__be32	tag;		/* READY, ACCEPT, GO */
	__be32	generation;	/* READY, GO */
	__be32	frame_bytes;	/* JOIN: payload bytes offered; READY, GO: agreed */
	__be32	epochs;		/* READY: number of __be32 epochs, by rank, that follow; SHRINK_READY: of nodes and epochs */
};

#endif /* _UAPI_LINUX_TORCOLL_WIRE_H */
