/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fabrics: one network namespace's view of a fabric, with its node, ports and
 * comms.
 *
 * Locking
 *
 * RTNL: configuration, that is the namespace's list of fabrics, fabric->port[],
 * the devices behind the ports. Taken by netlink handlers and the netdev
 * notifier. What waits for others is left to end_work: comms are not walked
 * under it. Three waits are short: a port that goes ends its backlog's work item,
 * which receives a batch at most then (tor_backlog_close()); the last one of a
 * fabric ends the hellos' timer, which may be sending; and the network
 * devices of fabrics that go are unregistered together, with the few expedited
 * grace periods that the kernel needs for any number of devices.
 *
 * fabric->lock (spinlock, bottom halves off): link states, views and joins:
 * core/link and core/agree, and tor_comm_watch(). Core's headers call it the
 * node's lock. Taken in softirq by hellos, comm messages and the two timers.
 *
 * fabric->groups_lock (spinlock, bottom halves off): the table of groups, for
 * writers.
 *
 * lane->lock (spinlock, bottom halves off; group.h): one channel of one op
 * slot: core/engine. Frames of different channels or ops are handled on
 * different CPUs at the same time.
 *
 * Order: RTNL, then fabric->lock or lane->lock, then fabric->groups_lock (a
 * join installs its group), then the leaves, which are documented at their
 * definition: of rings, users, spare memory, observations, meetings, packets,
 * teams that wait for ranks. No
 * transmit function is called with a spinlock held: frames are collected in
 * struct tor_entry and sent by tor_entry_end().
 *
 * RCU: list of fabrics, fabric->port[], fabric->routes, table of groups. The
 * receive path, the timers and every other entry into core hold rcu_read_lock()
 * until tor_entry_end() has returned, so that the objects they found stay. Link
 * states and neighbours' addresses are read by READ_ONCE().
 *
 * Shutdown: under RTNL a fabric leaves the list, its ports are detached, and
 * what still runs on it fails. end_work does everything that waits: groups that
 * only linger are taken apart, with one grace period for all of them. The
 * fabric's memory stays as long as there are references: of the list, of each
 * group and port, of calls that look for it. With the last one release_work ends
 * its timers and works, and the memory is freed a grace period later.
 */
#ifndef _TOR_FABRIC_H
#define _TOR_FABRIC_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "cdev/user.h"
#include "core/choose/cost.h"
#include "core/engine/engine.h"
#include "core/link/node.h"
#include "core/link/tree.h"
#include "core/packet/seen.h"
#include "op/observe.h"

struct tor_linklog;
struct tor_net;
struct tor_packet_dev;
struct tor_port;

struct tor_counters {
	u64 value[TOR_C_COUNT];
};

/**
 * struct tor_fabric - one node
 * @node: core's part
 * @ethertype: of its frames, host order
 * @user: pays for it
 * @refs: see "Shutdown"
 * @dead: it leaves, or has left, the list: no join or agreement begins any
 *	more; fabric->lock
 * @killer: the process that deleted it by force; set before any comm fails by
 *	that
 * @killer_pid: its number
 * @users: comms of open files; while there are any, the fabric stays
 * @port: by number of the cable, see tor_cable()
 * @sent: by cable: frames that former ones in its place have sent, as hellos say:
 *	neighbours do not hear that it was replaced, and take a count that starts
 *	again for one that went on; fabric->lock
 * @last: by link: the cable by which the last frame left, if it has several; a hint
 * @ports: number of them; RTNL. Without one there are no hellos
 * @linklog: changes of the links' states
 * @routes: RCU; replaced only by route_work, see reroute.c
 * @tree: of group packets, by the same view as @routes; written by route_work,
 *	@tree.ports read by READ_ONCE()
 * @seen: group packets, also of hosts without a network device, since they relay
 *	them; @seen_lock, a leaf
 * @packet: the network device, NULL: none; RTNL, RCU
 * @old_routes: the previous table, until @old_readers are finished; of
 *	route_work
 * @searches: limits how often routes are searched
 * @view_changed: since route_work last looked
 * @changes: value of node->view.changes that @routes knows of; of route_work
 * @turns: until when frames may turn round, in jiffies; see core/link/route.h
 * @follows: limits how often the frame size is looked at
 * @unfollowed: that is to be done; of route_work
 * @check: a comm is new
 * @checks: limits how often comms are checked for nodes that restarted
 * @births: value of node->view.births at the last check; of route_work
 * @checked: value of @changes at the last check by routes that were up to date; of
 *	route_work
 * @check_at: when the last check asked for the next, ns, or 0; of route_work
 * @walk: number of the present walk over all groups; of route_work
 * @downs: value of node->view.downs that all channels know of
 * @needs: by link: bytes of a frame that did not fit, 0: none
 * @notified: when notify_work last ran, jiffies
 * @changed: bit per cable that changed and was not notified yet, and
 *	TOR_FABRIC_CHANGED
 * @group: by tag
 * @rates: by which plans of new comms are chosen; written under RTNL and lock
 * @tables: groups that have tables of plans; @tables_lock, see op/tables.h
 * @epochs: lists that comms share; @epochs_lock, see op/epochs.h
 * @observed: durations of ops; has a lock of its own, the innermost
 */
struct tor_fabric {
	struct tor_node node;
	struct list_head list;
	struct tor_net *tn;
	struct tor_user *user;
	refcount_t refs;
	bool dead;
	char killer[TASK_COMM_LEN];
	pid_t killer_pid;
	u16 ethertype;
	u32 frame_size;
	struct tor_rates rates;
	struct mutex tables_lock;
	struct list_head tables;
	spinlock_t epochs_lock;
	struct list_head epochs;
	struct tor_observations observed;
	atomic_t users;
	struct tor_port __rcu *port[TOR_MAX_CABLES];
	u32 sent[TOR_MAX_CABLES];
	u8 last[TOR_MAX_PORTS];
	u32 ports;
	struct tor_counters __percpu *counters;
	spinlock_t lock;
	struct hrtimer hello_timer;
	struct hrtimer join_timer;
	DECLARE_BITMAP(changed, TOR_MAX_CABLES + 1);
	struct delayed_work notify_work;
	unsigned long notified;
	struct tor_linklog *linklog;
	struct tor_routes __rcu *routes;
	struct tor_tree tree;
	spinlock_t seen_lock;
	struct tor_seen *seen;
	struct tor_packet_dev __rcu *packet;
	struct tor_routes *old_routes;
	unsigned long old_readers;
	struct tor_damper searches;
	u32 view_changed;
	u32 changes;
	u64 turns;
	struct tor_damper follows;
	bool unfollowed;
	u32 check;
	struct tor_damper checks;
	u64 births;
	u32 checked;
	u64 check_at;
	u32 needs[TOR_MAX_PORTS];
	struct delayed_work route_work;
	u32 downs;
	u32 walk;
	spinlock_t groups_lock;
	DECLARE_HASHTABLE(group, 6);
	struct work_struct end_work;
	struct work_struct release_work;
	struct rcu_head rcu;
};

/* Bit of tor_fabric.changed for a change of routes. */
#define TOR_FABRIC_CHANGED	TOR_MAX_CABLES

static inline struct tor_fabric *tor_fabric_of(struct tor_node *node)
{
	return container_of(node, struct tor_fabric, node);
}

/**
 * struct tor_fabric_config - parameters of "fabric add"
 * @self: own index
 * @ethertype: 0: the default
 * @hello_ms: 0: the default
 * @frame_size: maximum bytes of a frame behind the MAC header, 0: that of the
 *	ports
 */
struct tor_fabric_config {
	u64 key;
	u32 ndim;
	u32 side[TOR_MAX_DIMS];		/* with their kinds */
	u32 cables;
	u32 self;
	u32 ethertype;
	u32 hello_ms;
	u32 frame_size;
	bool checksum_header_only;
};

/**
 * tor_fabric_add - become a node of a fabric
 * @tn: namespace
 * @cfg: checked here
 * @why: out: static sentence for a refusal
 * @attr: out: the netlink attribute at fault, if there is one
 *
 * Takes RTNL for the last step alone: tables of many nodes take a while.
 *
 * Context: process, without RTNL.
 * Return: 0 or a negative errno.
 */
int tor_fabric_add(struct tor_net *tn, const struct tor_fabric_config *cfg, const char **why,
		   u32 *attr);

/**
 * tor_fabric_del - leave a fabric
 * @fabric: in its namespace's list
 * @failed: tor_fabric_fail() has been called for that
 * @kill: gets its network device: see tor_packet_del()
 *
 * Its key and its ports' devices are free when this returns; the rest is
 * released later.
 *
 * Context: RTNL.
 * Return: 0, or -EBUSY: a process has a comm, or another caller is deleting it.
 */
int tor_fabric_del(struct tor_fabric *fabric, bool failed, struct list_head *kill);

/**
 * tor_fabric_fail - make everything on a fabric fail before it is deleted
 * @fabric: referenced by the caller
 *
 * Comms fail with -ENETDOWN and the name of the calling process; their other
 * ranks have been told once when this returns. Joins and agreements fail too,
 * and none begins any more.
 *
 * Context: process, no locks; waits for works.
 * Return: 0, or -EBUSY: it is being deleted already.
 */
int tor_fabric_fail(struct tor_fabric *fabric);

/* Context: RTNL or RCU. */
struct tor_fabric *tor_fabric_find(struct tor_net *tn, u64 key);

static inline void tor_fabric_get(struct tor_fabric *fabric)
{
	refcount_inc(&fabric->refs);
}

/* Context: any. */
void tor_fabric_put(struct tor_fabric *fabric);

/*
 * Return the kernel memory of a node of a fabric in bytes, without ports and
 * comms.
 */
u64 tor_fabric_memory(const struct tor_torus *torus);

/*
 * Charge the user for one more port. Return 0 or -EDQUOT, and a static sentence
 * in @why. Context: RTNL.
 */
int tor_fabric_port_added(struct tor_fabric *fabric, const char **why);
void tor_fabric_port_gone(struct tor_fabric *fabric);

/* Note that the objects that a dump walks over have changed. Context: any. */
void tor_fabric_touch(struct tor_fabric *fabric);

/*
 * Return whether the fabric is deleted. If not, it stays as long as the caller
 * is a user of it, from before the call on. Context: process.
 */
bool tor_fabric_is_dead(struct tor_fabric *fabric);

/*
 * Return the bytes behind the MAC header of a frame that every port and every
 * known node accepts; 0 if there is no port; in net/frame_size.c. Context: process.
 */
u32 tor_fabric_frame(struct tor_fabric *fabric);

/* The same in bytes of payload. Context: process. */
u32 tor_fabric_unit(struct tor_fabric *fabric);

/* Choose plans of new comms by @rates, and say so in hellos. Context: RTNL. */
void tor_fabric_set_rates(struct tor_fabric *fabric, const struct tor_rates *rates);

/* Tell those who listen, soon. Context: any. */
void tor_fabric_notify(struct tor_fabric *fabric);

/* Let the network device follow a change of frames' sizes, soon. Context: any. */
void tor_fabric_follow(struct tor_fabric *fabric);

void tor_fabric_counters(const struct tor_fabric *fabric, u64 *value);

/* tor_env_count() for those that have the fabric. Context: any. */
static inline void tor_fabric_count(struct tor_fabric *fabric, enum tor_counter what, u64 n)
{
	this_cpu_add(fabric->counters->value[what], n);
}

/*
 * Call core's tor_join_timer() and tor_shrink_timer() at @when (ns) or before.
 * Context: fabric->lock.
 */
void tor_fabric_join_timer(struct tor_fabric *fabric, u64 when);

#endif
