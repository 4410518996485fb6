// SPDX-License-Identifier: GPL-2.0
/* The log of links. See linklog.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "net/linklog.h"

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "net/fabric.h"
#include "net/net.h"
#include "net/port.h"

/* As many as a node has ports: all of them may come up at once. */
#define LINKLOG_LINES	TOR_MAX_PORTS
#define LINKLOG_PAUSE	(4 * HZ)

/**
 * struct tor_linklog - changes of the links of a fabric
 * @fabric: whose log it is
 * @next: number of changes so far
 * @said: changes before this one were printed, or left out
 * @left_out: of them, those that were due to be printed, since it was reported
 * @pause: when the present pause began, jiffies; of say_work
 * @lines: printed since then; of say_work
 * @say_work: prints what is due
 * @change: change n is at n % TOR_LINKLOG
 *
 * All but what belongs to say_work: fabric->lock.
 */
struct tor_linklog {
	struct tor_fabric *fabric;
	u64 next;
	u64 said;
	u32 left_out;
	unsigned long pause;
	u32 lines;
	struct delayed_work say_work;
	struct tor_change change[TOR_LINKLOG];
};

/* --- lines in the kernel's log --- */

/* Return whether a change concerns a link in use, or needs a remedy. */
static bool change_is_news(const struct tor_change *change)
{
	if (change->from == TOR_CABLE_UP)
		return true;
	switch (change->to) {
	case TOR_CABLE_ABSENT:
	case TOR_CABLE_NO_CARRIER:
	case TOR_CABLE_WAITING:
	case TOR_CABLE_ONE_WAY:
		return false;
	default:
		return true;
	}
}

#define PORT_NAME	8

/* "0+", "0-", and in meshes "0+1", "0+2" */
static const char *port_name(char name[PORT_NAME], u8 dim, u8 dir)
{
	if (dir <= TOR_MINUS)
		snprintf(name, PORT_NAME, "%u%c", dim, "+-"[dir]);
	else
		snprintf(name, PORT_NAME, "%u+%u", dim, dir - TOR_DIR_STEPS);
	return name;
}

static void change_say(const struct tor_node *node, const struct tor_change *change)
{
	char heard[40] = "", name[PORT_NAME];

	if (change->heard_node != ~0U && change->to != TOR_CABLE_UP)
		snprintf(heard, sizeof(heard), "; heard: node %u port %s", change->heard_node,
			 port_name(name, change->heard_dim, change->heard_dir));
	pr_info("fabric %llu node %u port %s (%s): %s -> %s%s%s%s\n", node->key, node->self,
		port_name(name, change->dim, change->dir), change->dev,
		tor_cable_state_name(change->from), tor_cable_state_name(change->to),
		*change->reason ? ": " : "", change->reason, heard);
}

/* Count the changes that are still to be printed. Context: fabric->lock. */
static u32 linklog_due(const struct tor_linklog *log)
{
	u32 due = 0;
	u64 i;

	for (i = log->said; i < log->next; i++)
		due += change_is_news(&log->change[i % TOR_LINKLOG]);
	return due;
}

/* Take the next change to be printed, which there is. Context: fabric->lock. */
static void linklog_take(struct tor_linklog *log, struct tor_change *change)
{
	do
		*change = log->change[log->said++ % TOR_LINKLOG];
	while (!change_is_news(change));
}

/*
 * Print the next line, behind the number of those left out. Return false if
 * none is due, or, with @wait set, if the log must pause first.
 */
static bool linklog_say(struct tor_linklog *log, bool *wait)
{
	struct tor_fabric *fabric = log->fabric;
	struct tor_change change;
	u32 due, left_out = 0;

	spin_lock_bh(&fabric->lock);
	due = linklog_due(log);
	/* a pause begins: more than it may print is too much */
	for (; !log->lines && due > LINKLOG_LINES; due--, log->left_out++)
		linklog_take(log, &change);
	*wait = due && log->lines == LINKLOG_LINES;
	if (due && !*wait) {
		linklog_take(log, &change);
		swap(left_out, log->left_out);
	}
	spin_unlock_bh(&fabric->lock);
	if (!due || *wait)
		return false;
	if (left_out)
		pr_info("fabric %llu node %u: %u changes of links were left out: \"torcollctl log\" has the last %u\n",
			fabric->node.key, fabric->node.self, left_out, TOR_LINKLOG);
	change_say(&fabric->node, &change);
	log->lines++;
	return true;
}

static void say_work(struct work_struct *work)
{
	struct tor_linklog *log = container_of(to_delayed_work(work), struct tor_linklog, say_work);
	unsigned long now, end;
	bool wait;

	if (!log->lines || time_after_eq(jiffies, log->pause + LINKLOG_PAUSE)) {
		log->pause = jiffies;
		log->lines = 0;
	}
	while (linklog_say(log, &wait))
		;
	if (!wait)
		return;
	/* a slow console may have taken longer than the pause */
	now = jiffies;
	end = log->pause + LINKLOG_PAUSE;
	schedule_delayed_work(&log->say_work, time_before(now, end) ? end - now : 0);
}

/* --- the log --- */

size_t tor_linklog_memory(void)
{
	return sizeof(struct tor_linklog);
}

struct tor_linklog *tor_linklog_alloc(struct tor_fabric *fabric)
{
	struct tor_linklog *log = kvzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);

	if (!log)
		return NULL;
	log->fabric = fabric;
	INIT_DELAYED_WORK(&log->say_work, say_work);
	return log;
}

void tor_linklog_stop(struct tor_linklog *log)
{
	cancel_delayed_work_sync(&log->say_work);
}

void tor_linklog_free(struct tor_linklog *log)
{
	kvfree(log);
}

static void change_explain(struct tor_change *change, const struct tor_node *node,
			   const struct tor_port *port)
{
	const char *reason = tor_port_reason(port);

	if (change->to == TOR_CABLE_WAITING && change->from > TOR_CABLE_WAITING)
		snprintf(change->reason, sizeof(change->reason), "nothing heard for %llu ms",
			 tor_div64(tor_cable_patience(node, port->cable), NSEC_PER_MSEC));
	else if (reason && change->to != TOR_CABLE_WAITING)
		strscpy(change->reason, reason, sizeof(change->reason));
}

void tor_linklog_add(struct tor_fabric *fabric, u32 cable)
{
	const struct tor_port *port = rcu_dereference_check(fabric->port[cable],
							    lockdep_is_held(&fabric->lock));
	const struct tor_cable *c = &fabric->node.cable[cable];
	struct tor_linklog *log = fabric->linklog;
	struct tor_change *change;

	lockdep_assert_held(&fabric->lock);
	/* the oldest was not printed yet */
	if (log->next - log->said == TOR_LINKLOG)
		log->left_out += change_is_news(&log->change[log->said++ % TOR_LINKLOG]);
	change = &log->change[log->next++ % TOR_LINKLOG];
	*change = (struct tor_change){
		.when = ktime_get_boottime_ns(),
		.heard_node = c->heard ? c->peer_node : ~0U,
		.heard_dim = c->peer_dim,
		.heard_dir = c->peer_dir,
		.dim = tor_port_dim(&fabric->node.torus, tor_cable_link(cable)),
		.dir = tor_port_dir(&fabric->node.torus, tor_cable_link(cable)),
		.from = c->was,
		.to = c->state,
	};
	if (port) {
		strscpy(change->dev, port->dev->name, sizeof(change->dev));
		change_explain(change, &fabric->node, port);
	}
	if (fabric->tn->net->user_ns == &init_user_ns)
		schedule_delayed_work(&log->say_work, 0);
}

u64 tor_linklog_range(struct tor_fabric *fabric, u64 *first)
{
	struct tor_linklog *log = fabric->linklog;
	u64 next;

	spin_lock_bh(&fabric->lock);
	next = log->next;
	spin_unlock_bh(&fabric->lock);
	*first = next > TOR_LINKLOG ? next - TOR_LINKLOG : 0;
	return next;
}

bool tor_linklog_get(struct tor_fabric *fabric, u64 seq, struct tor_change *change)
{
	struct tor_linklog *log = fabric->linklog;
	bool kept;

	spin_lock_bh(&fabric->lock);
	kept = seq < log->next && log->next - seq <= TOR_LINKLOG;
	if (kept)
		*change = log->change[seq % TOR_LINKLOG];
	spin_unlock_bh(&fabric->lock);
	return kept;
}
