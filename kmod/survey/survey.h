/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Surveys in a network namespace: core/survey decides, this room carries it out.
 * Nothing needs to be configured. Hosts are namespaces: each has a number of
 * its own, and devices of two of them that are connected are a cable.
 *
 * Locking: survey->lock (spinlock, bottom halves off) is a leaf: core's tables.
 * Frames are sent after it is dropped. Devices are found under RCU or RTNL.
 *
 * Shutdown: no frame comes in when the packet_type is removed, or the last
 * device of the namespace is gone; works are cancelled after that.
 */
#ifndef _TOR_SURVEY_H
#define _TOR_SURVEY_H

#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "core/survey/survey.h"

#define TOR_SURVEY_RECORDS	(11 << 10)	/* bytes of a report, without those of the host */

/* Devices that it has room for. */
#define TOR_SURVEY_PORTS	(TOR_SURVEY_RECORDS / (sizeof(struct torcoll_survey_record) + \
						       sizeof(struct torcoll_survey_port)))

/* How long the speeds of devices are taken for what they were. */
#define TOR_SURVEY_SPEEDS_STAY	NSEC_PER_SEC

/* The speed of a device, Mbit/s; 0: it does not say. */
struct tor_survey_speed {
	u32 ifindex;
	u32 mbit;
};

/**
 * struct tor_survey - the surveys of a namespace
 * @net: the namespace
 * @lock: see above
 * @surveys: core's part
 * @report_work: sends the reports that are due
 * @test_work: takes the steps of a test
 * @speed: of the devices that reports have room for; of @report_work
 * @speeds: number of these
 * @speeds_at: when they were asked for, ns; of @report_work
 * @speeds_old: a device has changed since; written under RTNL
 */
struct tor_survey {
	struct net *net;
	spinlock_t lock;
	struct tor_surveys surveys;
	struct delayed_work report_work;
	struct delayed_work test_work;
	struct tor_survey_speed speed[TOR_SURVEY_PORTS];
	u32 speeds;
	u64 speeds_at;
	bool speeds_old;
};

/**
 * tor_survey_start - ask all hosts that cables reach
 * @net: namespace that asks
 * @id: of the survey
 * @round: of the ask
 * @test: they are to test their cables first
 * @socket: netlink port to which reports go
 *
 * Context: process.
 * Return: as tor_survey_begin().
 */
int tor_survey_start(struct net *net, u64 id, u32 round, bool test, u32 socket);

/* Whether surveys use a device now. Context: any, of who has the device. */
bool tor_survey_usable(struct net_device *dev);

/*
 * Whether surveys report a device, usable or not: one that is the end of a cable
 * to a port. Devices on top of each other are on the same cable, so of those of a
 * namespace only one is, or several ports, or all would be found as cables of
 * their own.
 * Context: as above.
 */
bool tor_survey_shows(const struct net_device *dev);

/*
 * Whether surveys ask by a device that they report: not by one below a port, which
 * is reported only if it hears. It was forgotten here then, but not at its other
 * end. Context: as above.
 */
bool tor_survey_asks(struct net_device *dev);

/**
 * tor_survey_each - call a function for every device that is reported
 * @survey: of the namespace
 * @fn: function; false: no more
 * @arg: its argument
 *
 * Ports of fabrics come first: there may be more than is room for. Context: RCU.
 */
void tor_survey_each(const struct tor_survey *survey,
		     bool (*fn)(struct net_device *dev, void *arg), void *arg);

/**
 * tor_survey_skb - make a frame
 * @dev: by which it is to leave
 * @f: header; @f->length bytes follow it
 * @records: these bytes; NULL: zeros
 * @gfp: flags
 *
 * Return: the frame with its MAC header, or NULL.
 */
struct sk_buff *tor_survey_skb(struct net_device *dev, const struct tor_survey_frame *f,
			       const void *records, gfp_t gfp);

/* Make a frame and send it. Context: any; bottom halves may be off. */
void tor_survey_send(struct net_device *dev, const struct tor_survey_frame *f,
		     const void *records);

/*
 * A frame of the smallest size has room for two fabrics or one device, and what
 * says how many are left out: even then a report is not in too many parts.
 */
static_assert(TOR_SURVEY_RECORDS / 2 / (sizeof(struct torcoll_survey_record) +
					sizeof(struct torcoll_survey_node)) + 2 <= TOR_SURVEY_PARTS);
static_assert(TOR_SURVEY_PORTS + 2 <= TOR_SURVEY_PARTS);

/* Works of the namespace. */
void tor_survey_report_work(struct work_struct *work);
void tor_survey_test_work(struct work_struct *work);

int tor_survey_init(void);
void tor_survey_exit(void);

#endif
