/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Surveys: who is at the other ends of the cables, and how are they. Version 1.
 *
 * Any host asks; every host with the module that an ask reaches passes it on to
 * all its cables and answers with reports, which return the way that the ask
 * came. Neither needs a fabric to be configured. Frames have an EtherType of
 * their own and go to a group address that bridges do not forward.
 *
 *	Ethernet header | struct torcoll_survey | records, survey.length bytes
 *
 * All fields are big-endian; no struct has holes. survey.crc is CRC32C of the
 * struct, with hop_limit and crc as 0, and the records. A host that passes an
 * ask on writes a frame of its own; one that passes a report on decreases
 * hop_limit only.
 */
#ifndef _UAPI_LINUX_TORCOLL_SURVEY_H
#define _UAPI_LINUX_TORCOLL_SURVEY_H

#include <linux/types.h>

#define TORCOLL_SURVEY_VERSION		1
#define TORCOLL_SURVEY_ETHERTYPE	0x88B6	/* IEEE 802: local experimental 2 */
/* nearest bridge (IEEE 802.1AB): bridges do not pass it on */
#define TORCOLL_SURVEY_GROUP		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e }
#define TORCOLL_SURVEY_NAME		64

enum torcoll_survey_type {
	TORCOLL_SURVEY_ASK = 1,	/* one hop; record: SURVEY_END of the sending port */
	TORCOLL_SURVEY_REPORT,	/* back to the asker; records of one host */
	TORCOLL_SURVEY_TRAIN,	/* one hop: test frame, padded, back to back: rate */
	TORCOLL_SURVEY_PING,	/* one hop: test frame, to be answered */
	TORCOLL_SURVEY_PONG,	/* one hop: the answer, with the ping's stamp */
	TORCOLL_SURVEY_MARK,	/* one hop: behind a train, to be answered */
	TORCOLL_SURVEY_MARKED,	/* one hop: the answer */
};

/* Asks: every host tests its cables first, and reports what it found. */
#define TORCOLL_SURVEY_TEST	0x01
/* Marks, and their answers: no train follows, and no ping. */
#define TORCOLL_SURVEY_LAST	0x02
/*
 * Asks: reports get back by this way, as far as the sender knows. It asks for
 * itself, or was asked by such a way; and it hears somebody by this cable, or has
 * not asked there before.
 */
#define TORCOLL_SURVEY_SURE	0x04

struct torcoll_survey {
	__u8	version;
	__u8	type;
	__u8	hop_limit;	/* starts at 255 */
	__u8	flags;
	__be32	crc;
	__be64	survey;		/* random number of this survey; tests: of the test */
	__be32	round;		/* of an ask: rises with each repetition; tests: number of the frame */
	__be32	length;		/* of the records, bytes; tests: of what is behind the header */
	__be64	host;		/* that made this frame */
	__be64	stamp;		/* pings, pongs, first frames of trains: the sender's clock, ns; else 0 */
};

/* Behind the header in trains, before the padding, and in marks. */
struct torcoll_survey_train {
	__be32	train;		/* its number, from 1; marks: how many have been sent */
	__be32	frames;		/* of each */
};

enum torcoll_survey_kind {
	TORCOLL_SURVEY_END = 1,	/* torcoll_survey_end: the port that sent an ask */
	TORCOLL_SURVEY_HOST,	/* torcoll_survey_host: the first record of each report */
	TORCOLL_SURVEY_NODE,	/* torcoll_survey_node: a fabric on this host */
	TORCOLL_SURVEY_PORT,	/* torcoll_survey_port: a network device */
	TORCOLL_SURVEY_REST,	/* torcoll_survey_rest: what the report has no room for */
};

/*
 * In front of each record. Unknown kinds are skipped; known ones may grow at
 * their end.
 */
struct torcoll_survey_record {
	__be16	kind;
	__be16	length;		/* of the record behind, bytes; a multiple of 4 */
};

/* One end of a cable. */
struct torcoll_survey_end {
	__be64	host;		/* 0: not known */
	__u8	mac[6];
	__be16	__reserved;
	__u8	device[16];	/* name of the device, zero-padded */
	__be32	mtu;
	__be32	fabric;		/* tag of the fabric that the port belongs to, 0: none */
};

struct torcoll_survey_host {
	__be64	host;		/* random, new each time the module is loaded */
	__u8	name[TORCOLL_SURVEY_NAME];	/* zero-padded */
	__u8	version[16];	/* of the module */
	__be32	round;		/* of the ask that is answered */
	__be16	part;		/* of the reports of this round, from 0 */
	__be16	parts;
};

/* A fabric that the host is a node of. */
struct torcoll_survey_node {
	__be64	key;
	__be32	tag;
	__be32	node;
	__be32	epoch;
	__be32	side[6];	/* TORCOLL_SIDE() of linux/torcoll.h, 0 beyond the dimensions */
	__be32	cables;		/* between the nodes of a ring of 2 */
	__be32	hello_ms;
	__be32	rates;		/* hash of its rates, 0: those of the default */
	__be32	comms;
	__be32	ops;		/* without a result */
	__be32	reached;	/* nodes, this one included */
	__be32	dead_links;	/* that it knows of */
	__be32	view;		/* digest of these */
	__be16	ethertype;
	__u8	checksum;	/* 0: header and payload, 1: header only */
	__u8	byte_order;	/* 0: little, 1: big */
	__be64	retransmits;	/* frames sent again */
};

#define TORCOLL_SURVEY_UP	0x01	/* the device is up */
#define TORCOLL_SURVEY_CARRIER	0x02	/* it has a carrier */
#define TORCOLL_SURVEY_MANY	0x04	/* several hosts are heard: a switch, not a cable */
#define TORCOLL_SURVEY_MEMBER	0x08	/* a port of the fabric below */
#define TORCOLL_SURVEY_TESTED	0x10	/* the results of a test below are valid */

/* A network device, and its cable. */
struct torcoll_survey_port {
	struct torcoll_survey_end own;
	struct torcoll_survey_end peer;	/* heard there by surveys; host 0: nobody */
	__be16	flags;
	__u8	state;		/* of a member: enum link-state of netlink */
	__u8	dim;
	__u8	dir;		/* as enum torcoll_dir of linux/torcoll_netlink.h */
	__u8	__reserved[3];
	__be64	key;		/* of a member: the fabric */
	__be32	speed;		/* of the device, Mbit/s, 0: not known */
	__be32	expected;	/* node that belongs at the other end */
	__be32	heard;		/* node that is heard there by hellos, ~0: none */
	__be32	heard_tag;	/* fabric tag heard, if it is another one; 0: none */
	__be32	since_ms;	/* time in this state */
	__be32	downs;		/* times the link went down */
	__be64	rx_frames;
	__be64	tx_frames;
	__be64	lost;		/* frames that the neighbour sent and that did not arrive */
	__be64	damaged;	/* frames with a wrong checksum */
	__be64	resent;		/* own frames sent again by this port */
	/* the last test of the cable: */
	__be32	pings;		/* sent */
	__be32	pongs;		/* returned */
	__be32	pinged;		/* pings of the other side that arrived */
	__be32	rtt_min_ns;
	__be32	rtt_median_ns;
	__be32	rate;		/* at which the other side's trains arrived, Mbit/s, 0: not known */
	__be32	train;		/* frames of them that arrived */
	__be32	trains;		/* frames of them that the other side sent */
	__be32	bad;		/* test frames that arrived damaged */
	__be32	tested_ms;	/* time since then */
};

/* In the last frame of a report that does not have all: how much more there is. */
struct torcoll_survey_rest {
	__be32	nodes;		/* fabrics */
	__be32	ports;		/* network devices */
};

#endif /* _UAPI_LINUX_TORCOLL_SURVEY_H */
