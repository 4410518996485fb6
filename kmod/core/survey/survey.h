/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Surveys: which asks are new, where reports go, what is at the other end of
 * each cable, and when cables are tested. Frames: core/survey/frame.h.
 *
 * An ask floods all cables of all hosts, once per round: the host from which
 * the first ask of a round came is the parent, to which reports go. By a cable
 * that is deaf in one direction asks may come and no report gets back: so asks
 * say TORCOLL_SURVEY_SURE where that is not to be feared, from the host that
 * asks on. If the first ask of a round does not, the first that does makes
 * another parent, and is passed on as well. A host is sure of its parent since
 * one that was sure already, so reports never go in circles. Anyone can send
 * asks, so their rate is limited, and a survey that is younger than
 * TOR_SURVEY_STAY is not forgotten for another one: its asks would be new
 * again, and could go round for ever. Nor is the last one of a socket here as
 * long as it is open.
 *
 * Locking: the caller serialises all calls on a struct tor_surveys.
 */
#ifndef _TOR_CORE_SURVEY_H
#define _TOR_CORE_SURVEY_H

#include "core/survey/frame.h"
#include "core/survey/trial.h"

#define TOR_SURVEYS		16	/* remembered at a time */
#define TOR_SURVEY_LIFE		(10 * NSEC_PER_SEC)	/* of one after its last ask */
#define TOR_SURVEY_STAY		NSEC_PER_SEC

/*
 * Time between the first ask of a round and the own report. Neighbours hear the
 * same round within that, and their asks say what is at the cables.
 */
#define TOR_SURVEY_DELAY	(50 * NSEC_PER_MSEC)

/*
 * Rounds that are passed on: a burst, then one per interval. Each costs a frame
 * per device, and a report. A tool asks twice a second.
 */
#define TOR_SURVEY_ROUNDS	32
#define TOR_SURVEY_ROUND_EVERY	(NSEC_PER_SEC / 32)

/*
 * Reports that are passed on: those of a round in a fabric of 4096 nodes, then
 * 8192 a second, a tenth of what Ethernet of 1 Gbit/s carries.
 */
#define TOR_SURVEY_REPORTS	4096
#define TOR_SURVEY_REPORT_EVERY	(NSEC_PER_SEC / 8192)

#define TOR_SURVEY_CABLES	64	/* devices on which others are heard */
#define TOR_SURVEY_HEARD	(5 * NSEC_PER_SEC)	/* an end is known for so long */
#define TOR_SURVEY_CROWD	(2 * NSEC_PER_SEC)	/* two ends within it: a switch */

/**
 * struct tor_survey_known - a survey
 * @id: its number
 * @round: the last one
 * @parent: device by which its first ask came, 0: this host asked
 * @socket: to which reports go if this host asked; 0: it is closed
 * @asked: time of that ask, ns; 0: this entry is free
 * @due: time of the own report, ns; 0: none is due
 * @begun: time of the first ask, ns
 * @test: cables that have not been tested since then are to be
 * @sure: reports get back by the parent, see TORCOLL_SURVEY_SURE
 * @old: the socket has asked by another one since
 */
struct tor_survey_known {
	u64 id;
	u32 round;
	u32 parent;
	u32 socket;
	u64 asked;
	u64 due;
	u64 begun;
	bool test;
	bool sure;
	bool old;
};

/**
 * struct tor_survey_cable - a device on which another host was heard
 * @ifindex: of the device
 * @heard: time of the last ask, ns
 * @crowded: time when the last ask came from another end than the one before,
 *	soon after it; ns, 0: never
 * @peer: the end that sent it, big-endian
 * @trial: the test that is under way, or NULL
 * @tested: end of the last test, ns; 0: there was none with this peer
 * @pings: that it sent
 * @pongs: of these answered
 * @rtt_min: shortest round trip, ns
 * @rtt_median: median of the round trips, ns
 * @arrivals: what arrived of the other side's last test
 * @arrived: the same, when this side's last test ended
 */
struct tor_survey_cable {
	u32 ifindex;
	u64 heard;
	u64 crowded;
	struct torcoll_survey_end peer;
	struct tor_trial *trial;
	u64 tested;
	u32 pings;
	u32 pongs;
	u32 rtt_min;
	u32 rtt_median;
	struct tor_arrivals arrivals;
	struct tor_arrivals arrived;
};

enum tor_test_phase {
	TOR_TEST_IDLE,
	TOR_TEST_PINGS,
	TOR_TEST_TRAINS,
	TOR_TEST_ANSWERS,	/* what is under way is waited for */
};

/**
 * struct tor_surveys - the surveys of a network namespace
 * @host: random number of this host, not 0
 * @known: the surveys
 * @cable: by number, without gaps; NULL behind the last
 * @rounds: time up to which rounds are charged, ns
 * @reports: time up to which reports are charged, ns
 * @phase: of the test
 * @test: its number
 * @next: ping or cable of the next step
 * @begun: of the last test, ns
 * @steps: taken for its trains
 * @since: when the waiting for its last answers began, ns
 */
struct tor_surveys {
	u64 host;
	struct tor_survey_known known[TOR_SURVEYS];
	struct tor_survey_cable *cable[TOR_SURVEY_CABLES];
	u64 rounds;
	u64 reports;
	enum tor_test_phase phase;
	u64 test;
	u32 next;
	u64 begun;
	u32 steps;
	u64 since;
};

/* Set up the surveys of a host; @s is zeroed. */
void tor_surveys_init(struct tor_surveys *s, u64 host);
/* Release what they hold. */
void tor_surveys_destroy(struct tor_surveys *s);

/**
 * tor_survey_begin - this host asks
 * @s: surveys
 * @now: ns
 * @id: of the survey
 * @round: of the ask
 * @test: cables are to be tested
 * @socket: to which reports go
 *
 * Return: 0; -EEXIST: the survey is another socket's; -EINVAL: the round is not
 * higher than the one before; -EBUSY: there are too many.
 */
int tor_survey_begin(struct tor_surveys *s, u64 now, u64 id, u32 round, bool test, u32 socket);

/**
 * tor_survey_heard - an ask came in
 * @s: surveys
 * @now: ns
 * @ifindex: of the device
 * @f: the ask, as tor_survey_read() has read it
 *
 * Return: true if its round is new, or its way the first one that is sure: it is
 * passed on to all devices, and a report is due.
 */
bool tor_survey_heard(struct tor_surveys *s, u64 now, u32 ifindex,
		      const struct tor_survey_frame *f);

/*
 * Whether an ask by a device is to say TORCOLL_SURVEY_SURE. A neighbour that a
 * former round has reached has been heard since.
 */
bool tor_survey_sure(struct tor_surveys *s, u64 now, u64 id, u32 ifindex);

/*
 * The way of a report that came in by @ifindex: its survey, or NULL if it is to
 * be dropped.
 */
const struct tor_survey_known *tor_survey_way(struct tor_surveys *s, u64 now, u64 id, u32 ifindex);

/* The time when the next own report is due, ns; 0: none. */
u64 tor_survey_due(const struct tor_surveys *s);
/* Take a survey whose report is due; false: none. */
bool tor_survey_take_due(struct tor_surveys *s, u64 now, struct tor_survey_known *taken);

/* A socket was closed: nobody waits for its surveys. */
void tor_survey_closed(struct tor_surveys *s, u32 socket);
/* A device is gone. */
void tor_survey_gone(struct tor_surveys *s, u32 ifindex);

/* Return whether somebody is at the other end of a device. */
bool tor_survey_hears(const struct tor_surveys *s, u64 now, u32 ifindex);

/*
 * Fill in what surveys know of a device: the peer, the results of the last
 * test, and the flags about them.
 */
void tor_survey_describe(const struct tor_surveys *s, u64 now, u32 ifindex,
			 struct torcoll_survey_port *port);

/* Whether the entry is of a survey that goes on. */
bool tor_survey_lives(const struct tor_survey_known *known, u64 now);

/* The entry of a device, or NULL. */
struct tor_survey_cable *tor_survey_cable(const struct tor_surveys *s, u32 ifindex);

#endif
