// SPDX-License-Identifier: GPL-2.0
/*
 * The report of this host: its fabrics, its devices and their cables, in as
 * many frames as it takes. See survey.h.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "core/version.h"
#include "net/net.h"
#include "net/port.h"
#include "netlink/fill.h"
#include "netlink/netlink.h"
#include "survey/survey.h"

/* --- records --- */

static void fill_node(struct torcoll_survey_node *to, struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	u64 counters[TOR_C_COUNT];
	struct tor_totals t;
	u32 dim;

	tor_totals(fabric, &t);
	tor_fabric_counters(fabric, counters);
	*to = (struct torcoll_survey_node){
		.key = cpu_to_be64(node->key),
		.tag = cpu_to_be32(node->tag),
		.node = cpu_to_be32(node->self),
		.epoch = cpu_to_be32(node->epoch),
		.cables = cpu_to_be32(node->torus.cables),
		.hello_ms = cpu_to_be32(node->hello_ns / NSEC_PER_MSEC),
		.rates = cpu_to_be32(READ_ONCE(node->rates)),
		.comms = cpu_to_be32(t.comms),
		.ops = cpu_to_be32(t.ops),
		.reached = cpu_to_be32(t.reached),
		.dead_links = cpu_to_be32(tor_link_count_dead(node)),
		.view = cpu_to_be32(READ_ONCE(node->view.digest)),
		.ethertype = cpu_to_be16(fabric->ethertype),
		.checksum = !node->checksum_payload,
		.byte_order = node->big_endian,
		.retransmits = cpu_to_be64(counters[TOR_C_TX_RETRANSMITS]),
	};
	for (dim = 0; dim < node->torus.ndim; dim++)
		to->side[dim] = cpu_to_be32(tor_torus_side(&node->torus, dim));
}

/* What a port has counted. Context: fabric->lock. */
static void fill_counters(struct torcoll_survey_port *to, const struct tor_port *port,
			  const struct tor_cable *cable)
{
	to->since_ms = cpu_to_be32(min_t(u64, div_u64(ktime_get_ns() - cable->since, NSEC_PER_MSEC),
					 U32_MAX));
	to->downs = cpu_to_be32(cable->downs);
	to->lost = cpu_to_be64(port->loss.lost);
	to->damaged = cpu_to_be64(atomic64_read(&cable->damaged));
	to->resent = cpu_to_be64(atomic64_read(&port->resent));
	to->rx_frames = cpu_to_be64(atomic64_read(&port->rx_frames));
	to->tx_frames = cpu_to_be64(atomic64_read(&port->tx_frames));
}

static void fill_member(struct torcoll_survey_port *to, struct tor_port *port)
{
	struct tor_fabric *fabric = port->fabric;
	const struct tor_node *node = &fabric->node;
	const struct tor_cable *cable = &node->cable[port->cable];

	spin_lock_bh(&fabric->lock);
	to->state = cable->state;
	to->heard = cpu_to_be32(cable->heard ? cable->peer_node : ~0U);
	to->heard_tag = cpu_to_be32(cable->peer_tag);
	fill_counters(to, port, cable);
	spin_unlock_bh(&fabric->lock);
	to->flags |= cpu_to_be16(TORCOLL_SURVEY_MEMBER);
	to->own.fabric = cpu_to_be32(node->tag);
	to->dim = tor_port_dim(&node->torus, port->link);
	to->dir = tor_port_dir(&node->torus, port->link);
	to->key = cpu_to_be64(node->key);
	to->expected = cpu_to_be32(tor_torus_neighbour(&node->torus, node->self, port->link));
}

/* The speed of a device in Mbit/s; 0: it does not say. */
static u32 device_speed(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (!netif_running(dev) || __ethtool_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed;
}

/*
 * Return whether a device that surveys show is reported: one by which they do not
 * ask is only if it hears. Context: RCU.
 */
static bool is_reported(struct tor_survey *survey, struct net_device *dev)
{
	bool hears;

	if (tor_survey_asks(dev))
		return true;
	spin_lock_bh(&survey->lock);
	hears = tor_survey_hears(&survey->surveys, ktime_get_ns(), dev->ifindex);
	spin_unlock_bh(&survey->lock);
	return hears;
}

/* The speed of a device when it was asked last, or NULL. */
static const struct tor_survey_speed *find_speed(const struct tor_survey *survey,
						 const struct net_device *dev)
{
	u32 i;

	for (i = 0; i < survey->speeds; i++)
		if (survey->speed[i].ifindex == dev->ifindex)
			return &survey->speed[i];
	return NULL;
}

/* Devices of which the speed is asked for: the first ones that are reported. */
struct listed {
	struct tor_survey *survey;
	struct net_device *dev[TOR_SURVEY_PORTS];
	u32 n;
	bool new;		/* one of them was not asked before */
};

static bool list_device(struct net_device *dev, void *arg)
{
	struct listed *list = arg;

	if (!is_reported(list->survey, dev))
		return true;
	if (list->n == ARRAY_SIZE(list->dev))
		return false;
	list->new |= !find_speed(list->survey, dev);
	list->dev[list->n++] = dev;
	return true;
}

static void list_devices(struct listed *list)
{
	list->n = 0;
	rcu_read_lock();
	tor_survey_each(list->survey, list_device, list);
	rcu_read_unlock();
}

/*
 * Ask the devices for their speeds, unless that was done just now: anyone can
 * have this host report, and what drivers do under RTNL may take long. A device
 * that was not among the first ones then, before one became a port, is asked.
 * Context: process.
 */
static void update_speeds(struct tor_survey *survey)
{
	struct listed list = { .survey = survey };
	u64 now = ktime_get_ns();
	u32 i;

	list_devices(&list);
	if (!list.new && !READ_ONCE(survey->speeds_old) &&
	    now - survey->speeds_at < TOR_SURVEY_SPEEDS_STAY)
		return;
	rtnl_lock();
	WRITE_ONCE(survey->speeds_old, false);
	list_devices(&list);
	/* they stay as long as RTNL is held */
	for (i = 0; i < list.n; i++)
		survey->speed[i] = (struct tor_survey_speed){
			.ifindex = list.dev[i]->ifindex,
			.mbit = device_speed(list.dev[i]),
		};
	rtnl_unlock();
	survey->speeds = list.n;
	survey->speeds_at = now;
}

static u32 known_speed(const struct tor_survey *survey, const struct net_device *dev)
{
	const struct tor_survey_speed *speed = find_speed(survey, dev);

	return speed ? speed->mbit : 0;
}

static void fill_port(struct torcoll_survey_port *to, struct tor_survey *survey,
		      struct net_device *dev)
{
	struct tor_port *port = tor_port_of_dev(dev);
	u16 flags = 0;

	if (netif_running(dev))
		flags |= TORCOLL_SURVEY_UP;
	if (netif_running(dev) && netif_carrier_ok(dev))
		flags |= TORCOLL_SURVEY_CARRIER;
	*to = (struct torcoll_survey_port){
		.own = {
			.host = cpu_to_be64(survey->surveys.host),
			.mtu = cpu_to_be32(dev->mtu),
		},
		.flags = cpu_to_be16(flags),
		.speed = cpu_to_be32(known_speed(survey, dev)),
		.heard = cpu_to_be32(~0U),
	};
	memcpy(to->own.mac, dev->dev_addr, ETH_ALEN);
	strscpy_pad(to->own.device, dev->name, sizeof(to->own.device));
	if (port)
		fill_member(to, port);
	spin_lock_bh(&survey->lock);
	tor_survey_describe(&survey->surveys, ktime_get_ns(), dev->ifindex, to);
	spin_unlock_bh(&survey->lock);
}

/**
 * struct writing - records that are being written
 * @survey: of the namespace
 * @buf: room for TOR_SURVEY_RECORDS bytes
 * @len: bytes written
 * @nodes: fabrics that there was no room for
 * @ports: devices that there was no room for
 */
struct writing {
	struct tor_survey *survey;
	u8 *buf;
	u32 len;
	u32 nodes;
	u32 ports;
};

/* Return whether there was room for the record, and @last bytes that may have to follow. */
static bool write_record(struct writing *w, u16 kind, const void *body, u16 length, u32 last)
{
	if (w->len + sizeof(struct torcoll_survey_record) + length + last > TOR_SURVEY_RECORDS)
		return false;
	w->len += tor_survey_put(w->buf + w->len, kind, body, length);
	return true;
}

#define REST_BYTES	(sizeof(struct torcoll_survey_record) + sizeof(struct torcoll_survey_rest))

static void write_node(struct writing *w, struct tor_fabric *fabric)
{
	struct torcoll_survey_node node;

	/* another one would not fit either */
	if (w->nodes) {
		w->nodes++;
		return;
	}
	fill_node(&node, fabric);
	if (!write_record(w, TORCOLL_SURVEY_NODE, &node, sizeof(node), REST_BYTES))
		w->nodes++;
}

static bool write_port(struct net_device *dev, void *arg)
{
	struct torcoll_survey_port port;
	struct writing *w = arg;

	if (!is_reported(w->survey, dev))
		return true;
	/* another one would not fit either */
	if (w->ports) {
		w->ports++;
		return true;
	}
	fill_port(&port, w->survey, dev);
	if (!write_record(w, TORCOLL_SURVEY_PORT, &port, sizeof(port), REST_BYTES))
		w->ports++;
	return true;
}

/*
 * Write what this host reports, without that of the host. Return the bytes of
 * the records. Context: RCU.
 */
static u32 write_records(struct tor_survey *survey, u8 *buf)
{
	struct writing w = { .survey = survey, .buf = buf };
	struct torcoll_survey_rest rest;
	struct tor_fabric *fabric;

	list_for_each_entry_rcu(fabric, &tor_net(survey->net)->fabrics, list)
		write_node(&w, fabric);
	tor_survey_each(survey, write_port, &w);
	rest.nodes = cpu_to_be32(w.nodes);
	rest.ports = cpu_to_be32(w.ports);
	if (w.nodes || w.ports)
		write_record(&w, TORCOLL_SURVEY_REST, &rest, sizeof(rest), 0);
	return w.len;
}

/* --- frames --- */

/**
 * struct report - a report that is being sent
 * @survey: of the namespace
 * @known: the survey that it answers
 * @dev: by which it leaves, NULL: to the socket
 * @host: the first record of each frame
 * @frame: records of the present one
 */
struct report {
	struct tor_survey *survey;
	const struct tor_survey_known *known;
	struct net_device *dev;
	struct torcoll_survey_host host;
	u8 frame[TOR_SURVEY_REPORT];
};

/*
 * Bytes of records in a frame besides that of the host. The MTU may just have
 * become less than that of a usable device.
 */
static u32 report_room(const struct net_device *dev)
{
	u32 frame = dev ? READ_ONCE(dev->mtu) : TOR_SURVEY_REPORT;

	frame = clamp_t(u32, frame, TOR_SURVEY_FRAME_MIN, TOR_SURVEY_REPORT);
	return frame - sizeof(struct torcoll_survey) - sizeof(struct torcoll_survey_record) -
	       sizeof(struct torcoll_survey_host);
}

static void report_part(struct report *r, const u8 *records, u32 len)
{
	struct tor_survey_frame f = {
		.type = TORCOLL_SURVEY_REPORT,
		.hop_limit = TOR_SURVEY_HOP_LIMIT,
		.survey = r->known->id,
		.round = r->known->round,
		.host = r->survey->surveys.host,
	};

	f.length = tor_survey_put(r->frame, TORCOLL_SURVEY_HOST, &r->host, sizeof(r->host));
	memcpy(r->frame + f.length, records, len);
	f.length += len;
	if (r->dev)
		tor_survey_send(r->dev, &f, r->frame);
	else
		tor_netlink_survey_report(r->survey->net, r->known->socket, f.survey, r->frame,
					  f.length, true, GFP_KERNEL);
}

/* Cut the records into frames and send them. */
static void report_send(struct report *r, const u8 *records, u32 len)
{
	u32 room = report_room(r->dev);
	u32 parts = 0, part, at;

	for (at = 0; at < len || !parts; parts++)
		at += tor_survey_fit(records + at, len - at, room);
	r->host.parts = cpu_to_be16(parts);
	for (at = 0, part = 0; part < parts; part++) {
		u32 bytes = tor_survey_fit(records + at, len - at, room);

		r->host.part = cpu_to_be16(part);
		report_part(r, records + at, bytes);
		at += bytes;
	}
}

static void report_describe_host(struct report *r)
{
	char name[TORCOLL_HOST_NAME + 1] = "";

	static_assert(TORCOLL_HOST_NAME == TORCOLL_SURVEY_NAME);
	tor_net_name(tor_net(r->survey->net), name);
	r->host.host = cpu_to_be64(r->survey->surveys.host);
	r->host.round = cpu_to_be32(r->known->round);
	memcpy(r->host.name, name, strnlen(name, sizeof(r->host.name)));
	memcpy(r->host.version, TOR_VERSION, min(strlen(TOR_VERSION), sizeof(r->host.version)));
}

/* Report to the host that asked, or to the socket here. Context: process. */
static void report_answer(struct tor_survey *survey, const struct tor_survey_known *known,
			  const u8 *records, u32 len)
{
	struct report *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return;
	r->survey = survey;
	r->known = known;
	if (known->parent)
		r->dev = dev_get_by_index(survey->net, known->parent);
	if (known->socket || (r->dev && tor_survey_usable(r->dev))) {
		report_describe_host(r);
		report_send(r, records, len);
	}
	dev_put(r->dev);
	kfree(r);
}

/*
 * Send the reports that are due. The asker repeats what fails for lack of
 * memory.
 */
void tor_survey_report_work(struct work_struct *work)
{
	struct tor_survey *survey = container_of(to_delayed_work(work), struct tor_survey,
						 report_work);
	struct tor_survey_known known;
	u8 *records;
	u64 now, due;
	u32 len = 0;

	records = kmalloc(TOR_SURVEY_RECORDS, GFP_KERNEL);
	if (records) {
		update_speeds(survey);
		rcu_read_lock();
		len = write_records(survey, records);
		rcu_read_unlock();
	}
	for (;;) {
		bool is_due;

		now = ktime_get_ns();
		spin_lock_bh(&survey->lock);
		is_due = tor_survey_take_due(&survey->surveys, now, &known);
		due = tor_survey_due(&survey->surveys);
		spin_unlock_bh(&survey->lock);
		if (!is_due)
			break;
		if (records)
			report_answer(survey, &known, records, len);
	}
	if (due)
		schedule_delayed_work(&survey->report_work, nsecs_to_jiffies(due - now) + 1);
	kfree(records);
}
