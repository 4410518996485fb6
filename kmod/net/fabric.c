// SPDX-License-Identifier: GPL-2.0
/* Nodes of fabrics: creation, timers, counters, removal. See fabric.h. */
#include "net/fabric.h"

#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/torcoll_netlink.h>
#include <linux/torcoll_survey.h>
#include <linux/wait_bit.h>
#include <tor/hrtimer.h>

#include "core/agree/join.h"
#include "core/agree/shrink.h"
#include "local/team.h"
#include "net/entry.h"
#include "net/linklog.h"
#include "net/net.h"
#include "net/port.h"
#include "net/reroute.h"
#include "netlink/netlink.h"
#include "op/group.h"
#include "packet/device.h"
#include "packet/segment.h"
#include "trace.h"

#define NOTIFY_PAUSE	(HZ / 20)	/* between notifications, jiffies */

void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n)
{
	tor_fabric_count(tor_fabric_of(node), what, n);
}

void tor_fabric_counters(const struct tor_fabric *fabric, u64 *value)
{
	int cpu, i;

	memset(value, 0, sizeof(u64) * TOR_C_COUNT);
	for_each_possible_cpu(cpu) {
		const struct tor_counters *c = per_cpu_ptr(fabric->counters, cpu);

		for (i = 0; i < TOR_C_COUNT; i++)
			value[i] += READ_ONCE(c->value[i]);
	}
}

/*
 * At once, or a pause after the last time: how often a link changes its state
 * is for the neighbour to decide, how often RTNL is taken is not.
 */
static void fabric_queue_notify(struct tor_fabric *fabric)
{
	unsigned long now = jiffies, next = READ_ONCE(fabric->notified) + NOTIFY_PAUSE;

	schedule_delayed_work(&fabric->notify_work, time_before(now, next) ? next - now : 0);
}

void tor_env_link_changed(struct tor_ctx *ctx, struct tor_node *node, u32 cable)
{
	struct tor_fabric *fabric = tor_fabric_of(node);
	struct tor_port *port = rcu_dereference(fabric->port[cable]);

	trace_torcoll_link(node, cable);
	if (port)
		tor_outq_link_changed(&port->outq);
	tor_linklog_add(fabric, cable);
	set_bit(cable, fabric->changed);
	fabric_queue_notify(fabric);
}

void tor_fabric_touch(struct tor_fabric *fabric)
{
	atomic_inc(&fabric->tn->sequence);
}

void tor_fabric_notify(struct tor_fabric *fabric)
{
	set_bit(TOR_FABRIC_CHANGED, fabric->changed);
	fabric_queue_notify(fabric);
}

void tor_fabric_follow(struct tor_fabric *fabric)
{
	if (rcu_access_pointer(fabric->packet))
		fabric_queue_notify(fabric);
}

static void fabric_notify_ports(struct tor_fabric *fabric)
{
	u32 cable;

	for (cable = 0; cable < TOR_MAX_CABLES; cable++)
		if (test_and_clear_bit(cable, fabric->changed))
			tor_netlink_notify_port(fabric, cable);
}

/*
 * Links change in softirq; notifications are sent, and the network device
 * follows, in process context.
 */
static void notify_work(struct work_struct *work)
{
	struct tor_fabric *fabric = container_of(to_delayed_work(work), struct tor_fabric,
						 notify_work);

	WRITE_ONCE(fabric->notified, jiffies);
	rtnl_lock();
	/* the last word about a fabric is that it was deleted; another may have its key */
	if (tor_fabric_find(fabric->tn, fabric->node.key) == fabric) {
		fabric_notify_ports(fabric);
		if (test_and_clear_bit(TOR_FABRIC_CHANGED, fabric->changed))
			tor_netlink_notify_fabric(fabric, true);
		tor_packet_follow(fabric);
	}
	rtnl_unlock();
}

static enum hrtimer_restart hello_timer(struct hrtimer *timer)
{
	struct tor_fabric *fabric = container_of(timer, struct tor_fabric, hello_timer);
	struct tor_entry entry;

	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	tor_link_tick(&entry.ctx, &fabric->node);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	hrtimer_forward_now(timer, ns_to_ktime(tor_link_tick_ns(&fabric->node)));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart join_timer(struct hrtimer *timer)
{
	struct tor_fabric *fabric = container_of(timer, struct tor_fabric, join_timer);
	struct tor_entry entry;
	u64 join, shrink;

	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	join = tor_join_timer(&entry.ctx, &fabric->node);
	shrink = tor_shrink_timer(&entry.ctx, &fabric->node, rcu_dereference(fabric->routes));
	if (join || shrink)
		tor_fabric_join_timer(fabric, min_not_zero(join, shrink));
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

void tor_fabric_join_timer(struct tor_fabric *fabric, u64 when)
{
	lockdep_assert_held(&fabric->lock);
	/*
	 * queued, not active: its own function sets it again, and may have seen
	 * no join just now
	 */
	if (!hrtimer_is_queued(&fabric->join_timer) ||
	    ktime_to_ns(hrtimer_get_expires(&fabric->join_timer)) > when)
		hrtimer_start(&fabric->join_timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

/* --- the end --- */

/* The part of tor_fabric_del() that waits. */
static void end_work(struct work_struct *work)
{
	struct tor_fabric *fabric = container_of(work, struct tor_fabric, end_work);

	tor_group_end_all(fabric);
	tor_fabric_put(fabric);
}

static void fabric_free(struct tor_fabric *fabric)
{
	tor_reroute_free(fabric);
	tor_env_table_free(fabric->seen);
	tor_node_destroy(&fabric->node);
	tor_linklog_free(fabric->linklog);
	free_percpu(fabric->counters);
	kfree(fabric);
}

static void fabric_free_rcu(struct rcu_head *rcu)
{
	fabric_free(container_of(rcu, struct tor_fabric, rcu));
}

u64 tor_fabric_memory(const struct tor_torus *torus)
{
	return sizeof(struct tor_fabric) + sizeof(struct tor_counters) * num_possible_cpus() +
	       tor_linklog_memory() + tor_routes_bytes(torus) + sizeof(struct tor_seen) +
	       TOR_EARLY_CALLS * sizeof(struct tor_early) +
	       tor_view_bytes(torus->nodes) + torus->nodes * sizeof(struct tor_seen_source);
}

/* Charge the user of a fabric. */
static int fabric_charge(struct tor_user *user, const struct tor_torus *torus, const char **why)
{
	if (tor_user_charge(user, TOR_LIMIT_FABRICS, 1)) {
		*why = tor_limit_sentence(TOR_LIMIT_FABRICS);
		return -EDQUOT;
	}
	if (tor_user_charge(user, TOR_LIMIT_TABLES, tor_fabric_memory(torus))) {
		*why = tor_limit_sentence(TOR_LIMIT_TABLES);
		tor_user_uncharge(user, TOR_LIMIT_FABRICS, 1);
		return -EDQUOT;
	}
	return 0;
}

/* Undo fabric_charge(). */
static void fabric_uncharge(struct tor_user *user, const struct tor_torus *torus)
{
	tor_user_uncharge(user, TOR_LIMIT_TABLES, tor_fabric_memory(torus));
	tor_user_uncharge(user, TOR_LIMIT_FABRICS, 1);
	tor_user_put(user);
}

/*
 * Release a fabric whose last reference is gone, and with it groups and calls.
 * These contexts may still use it, and are waited for as follows:
 * - the timer of joins, the works for routes, notifications and the log of
 *   links: cancelled; the hello timer went with the last port;
 * - readers of the list and senders that found a port: a grace period, after
 *   which memory is freed.
 */
static void release_work(struct work_struct *work)
{
	struct tor_fabric *fabric = container_of(work, struct tor_fabric, release_work);
	struct tor_net *tn = fabric->tn;

	hrtimer_cancel(&fabric->join_timer);
	tor_reroute_stop(fabric);
	cancel_delayed_work_sync(&fabric->notify_work);
	tor_linklog_stop(fabric->linklog);
	tor_segment_put(fabric->ethertype);
	fabric_uncharge(fabric->user, &fabric->node.torus);
	call_rcu(&fabric->rcu, fabric_free_rcu);
	/* the namespace may go from here on */
	if (atomic_dec_and_test(&tn->held))
		wake_up_var(&tn->held);
}

void tor_fabric_put(struct tor_fabric *fabric)
{
	if (refcount_dec_and_test(&fabric->refs))
		tor_group_queue_release(&fabric->release_work);
}

/* --- hellos --- */

/* Return the hellos per second of each port. */
static u64 hello_rate(const struct tor_fabric *fabric)
{
	return DIV_ROUND_UP_ULL(NSEC_PER_SEC, fabric->node.hello_ns);
}

int tor_fabric_port_added(struct tor_fabric *fabric, const char **why)
{
	int err;

	ASSERT_RTNL();
	err = tor_user_charge(fabric->user, TOR_LIMIT_HELLOS, hello_rate(fabric));
	if (err) {
		*why = tor_limit_sentence(TOR_LIMIT_HELLOS);
		return err;
	}
	if (!fabric->ports++)
		hrtimer_start(&fabric->hello_timer, ns_to_ktime(tor_link_tick_ns(&fabric->node)),
			      HRTIMER_MODE_REL_SOFT);
	return 0;
}

void tor_fabric_port_gone(struct tor_fabric *fabric)
{
	ASSERT_RTNL();
	tor_user_uncharge(fabric->user, TOR_LIMIT_HELLOS, hello_rate(fabric));
	if (!--fabric->ports)
		hrtimer_cancel(&fabric->hello_timer);
}

/* --- the beginning --- */

/* Why tor_torus_init() refuses a shape. */
static const char *config_bad_sides(const struct tor_fabric_config *cfg)
{
	u32 dim;

	for (dim = 0; dim < cfg->ndim; dim++)
		if (tor_side_kind(cfg->side[dim]) == TORCOLL_KIND_CHORD)
			return "chords are up to 3 steps behind a ring of 5 to 1024 nodes, ascending from 2 and below half of the nodes";
	return "sides must be 1 to 6 numbers from 1, with at most 1048576 nodes and 12 ports at a node, cables 1 or 2";
}

static int check_config(const struct tor_fabric_config *cfg, struct tor_torus *torus,
			const char **why, u32 *attr)
{
	*attr = TORCOLL_A_FABRIC_SIDES;
	if (tor_torus_init(torus, cfg->ndim, cfg->side, cfg->cables)) {
		*why = config_bad_sides(cfg);
		return -EINVAL;
	}
	if (tor_torus_diameter(torus) > TOR_HOP_LIMIT) {
		*why = "nodes are more than 255 links apart, the limit of a frame's path";
		return -EOPNOTSUPP;
	}
	*attr = TORCOLL_A_FABRIC_NODE;
	if (cfg->self >= torus->nodes) {
		*why = "the node index exceeds the size of the fabric";
		return -EINVAL;
	}
	*attr = TORCOLL_A_FABRIC_ETHERTYPE;
	switch (cfg->ethertype) {
	case 0:
		break;
	case ETH_P_IP:
	case ETH_P_IPV6:
	case ETH_P_ARP:
	case ETH_P_8021Q:
	case ETH_P_8021AD:
	case ETH_P_MACSEC:
	case TORCOLL_SURVEY_ETHERTYPE:
		*why = "that ethertype belongs to another protocol";
		return -EINVAL;
	default:
		if (cfg->ethertype < ETH_P_802_3_MIN || cfg->ethertype > 0xffff) {
			*why = "an ethertype lies between 0x0600 and 0xffff";
			return -EINVAL;
		}
	}
	*attr = TORCOLL_A_FABRIC_FRAME_SIZE;
	if (cfg->frame_size && (cfg->frame_size > U16_MAX || !tor_wire_unit(cfg->frame_size))) {
		*why = "frames have 384 to 65535 bytes";
		return -EINVAL;
	}
	*attr = TORCOLL_A_FABRIC_HELLO_MS;
	if (cfg->hello_ms && (cfg->hello_ms < 10 || cfg->hello_ms > 10000)) {
		*why = "the hello interval lies between 10 and 10000 ms";
		return -EINVAL;
	}
	*attr = 0;
	return 0;
}

void tor_fabric_set_rates(struct tor_fabric *fabric, const struct tor_rates *rates)
{
	ASSERT_RTNL();
	spin_lock_bh(&fabric->lock);
	fabric->rates = *rates;
	spin_unlock_bh(&fabric->lock);
	WRITE_ONCE(fabric->node.rates, tor_terms_hash(rates));
}

/* Initialize what cannot fail. */
static void fabric_setup(struct tor_fabric *fabric, struct tor_net *tn,
			 const struct tor_fabric_config *cfg)
{
	if (cfg->hello_ms)
		fabric->node.hello_ns = (u64)cfg->hello_ms * NSEC_PER_MSEC;
	fabric->node.checksum_payload = !cfg->checksum_header_only;
	fabric->tn = tn;
	fabric->frame_size = cfg->frame_size;
	fabric->rates = tor_rates_default;
	fabric->node.rates = tor_terms_hash(&fabric->rates);
	mutex_init(&fabric->tables_lock);
	INIT_LIST_HEAD(&fabric->tables);
	spin_lock_init(&fabric->epochs_lock);
	INIT_LIST_HEAD(&fabric->epochs);
	tor_observe_init(&fabric->observed);
	refcount_set(&fabric->refs, 1);
	INIT_WORK(&fabric->end_work, end_work);
	INIT_WORK(&fabric->release_work, release_work);
	spin_lock_init(&fabric->groups_lock);
	hash_init(fabric->group);
	fabric->notified = jiffies - NOTIFY_PAUSE;
	INIT_DELAYED_WORK(&fabric->notify_work, notify_work);
	hrtimer_setup(&fabric->join_timer, join_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&fabric->hello_timer, hello_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/* Make a fabric, or return NULL. With many nodes that takes a while. */
static struct tor_fabric *fabric_alloc(struct tor_net *tn, const struct tor_fabric_config *cfg,
				       const struct tor_torus *torus)
{
	struct tor_fabric *fabric = kzalloc(sizeof(*fabric), GFP_KERNEL_ACCOUNT);

	if (!fabric)
		return NULL;
	fabric->counters = alloc_percpu_gfp(struct tor_counters, GFP_KERNEL_ACCOUNT);
	if (!fabric->counters)
		goto err_free;
	fabric->linklog = tor_linklog_alloc(fabric);
	if (!fabric->linklog)
		goto err_counters;
	spin_lock_init(&fabric->lock);
	if (tor_node_init(&fabric->node, torus, cfg->key, cfg->self))
		goto err_linklog;
	fabric->seen = tor_seen_alloc(torus->nodes);
	if (!fabric->seen)
		goto err_node;
	spin_lock_init(&fabric->seen_lock);
	if (tor_reroute_init(fabric))
		goto err_seen;
	fabric->ethertype = cfg->ethertype ? cfg->ethertype : TORCOLL_ETHERTYPE;
	if (tor_segment_get(fabric->ethertype))
		goto err_reroute;
	fabric_setup(fabric, tn, cfg);
	return fabric;

err_reroute:
	tor_reroute_free(fabric);
err_seen:
	tor_env_table_free(fabric->seen);
err_node:
	tor_node_destroy(&fabric->node);
err_linklog:
	tor_linklog_free(fabric->linklog);
err_counters:
	free_percpu(fabric->counters);
err_free:
	kfree(fabric);
	return NULL;
}

/* From here on others see the fabric. Return -EEXIST if there is one of its key. */
static int fabric_publish(struct tor_fabric *fabric)
{
	struct tor_net *tn = fabric->tn;

	ASSERT_RTNL();
	if (tor_fabric_find(tn, fabric->node.key))
		return -EEXIST;
	atomic_inc(&tn->held);
	tor_fabric_touch(fabric);
	list_add_tail_rcu(&fabric->list, &tn->fabrics);
	tor_netlink_notify_fabric(fabric, true);
	return 0;
}

/* Make a fabric that is charged to @user, and publish it. Return 0 or -errno. */
static int fabric_add(struct tor_net *tn, const struct tor_fabric_config *cfg,
		      const struct tor_torus *torus, struct tor_user *user)
{
	struct tor_fabric *fabric = fabric_alloc(tn, cfg, torus);
	int err;

	if (!fabric)
		return -ENOMEM;
	fabric->user = user;
	rtnl_lock();
	err = fabric_publish(fabric);
	rtnl_unlock();
	if (!err)
		return 0;
	tor_segment_put(fabric->ethertype);
	fabric_free(fabric);
	return err;
}

int tor_fabric_add(struct tor_net *tn, const struct tor_fabric_config *cfg, const char **why,
		   u32 *attr)
{
	struct tor_torus torus;
	struct tor_user *user;
	int err;

	err = check_config(cfg, &torus, why, attr);
	if (err)
		return err;
	rcu_read_lock();
	err = tor_fabric_find(tn, cfg->key) ? -EEXIST : 0;
	rcu_read_unlock();
	if (err)
		goto out;
	user = tor_user_get_current();
	if (!user)
		return -ENOMEM;
	err = fabric_charge(user, &torus, why);
	if (err) {
		tor_user_put(user);
		return err;
	}
	err = fabric_add(tn, cfg, &torus, user);
	if (err)
		fabric_uncharge(user, &torus);
out:
	if (err == -EEXIST) {
		*why = "this namespace has a fabric of that key already";
		*attr = TORCOLL_A_FABRIC_KEY;
	}
	return err;
}

/*
 * Claim the deletion of a fabric, which only the first caller can; @unused: not
 * while it has users. Who becomes a user takes the lock before anything else:
 * either it is seen here, or it sees the fabric dead.
 */
static bool fabric_claim(struct tor_fabric *fabric, bool unused)
{
	bool claimed;

	spin_lock_bh(&fabric->lock);
	claimed = !fabric->dead && !(unused && atomic_read(&fabric->users));
	if (claimed)
		fabric->dead = true;
	spin_unlock_bh(&fabric->lock);
	return claimed;
}

bool tor_fabric_is_dead(struct tor_fabric *fabric)
{
	bool dead;

	spin_lock_bh(&fabric->lock);
	dead = fabric->dead;
	spin_unlock_bh(&fabric->lock);
	return dead;
}

/*
 * Cancel all joins. None begins any more: the fabric is dead. Joins of many
 * ranks need several runs of the timer to tell all of them.
 */
static void cancel_joins(struct tor_fabric *fabric)
{
	struct tor_node *node = &fabric->node;
	struct tor_entry entry;
	bool more;

	do {
		local_bh_disable();
		rcu_read_lock();
		tor_entry_begin(&entry);
		spin_lock(&fabric->lock);
		tor_shrink_cancel_all(&entry.ctx, node, -ENETDOWN);
		more = tor_join_cancel_all(&entry.ctx, node, -ENETDOWN);
		if (more)
			tor_fabric_join_timer(fabric, tor_join_due(node));
		spin_unlock(&fabric->lock);
		tor_entry_end(&entry);
		rcu_read_unlock();
		local_bh_enable();
		if (more)
			usleep_range(1000, 2000);
	} while (more);
}

int tor_fabric_fail(struct tor_fabric *fabric)
{
	if (!fabric_claim(fabric, false))
		return -EBUSY;
	get_task_comm(fabric->killer, current);
	fabric->killer_pid = task_tgid_vnr(current);
	tor_team_fabric_down(fabric);
	cancel_joins(fabric);
	tor_group_fail_all(fabric, -ENETDOWN);
	return 0;
}

int tor_fabric_del(struct tor_fabric *fabric, bool failed, struct list_head *kill)
{
	u32 cable;

	ASSERT_RTNL();
	if (!failed && !fabric_claim(fabric, true))
		return -EBUSY;
	tor_packet_del(fabric, kill);
	for (cable = 0; cable < TOR_MAX_CABLES; cable++)
		tor_port_del(fabric, cable);
	list_del_rcu(&fabric->list);
	tor_fabric_touch(fabric);
	/* notify_work may not run any more */
	fabric_notify_ports(fabric);
	tor_netlink_notify_fabric(fabric, false);
	tor_group_queue_ending(&fabric->end_work);
	return 0;
}

struct tor_fabric *tor_fabric_find(struct tor_net *tn, u64 key)
{
	struct tor_fabric *fabric;

	list_for_each_entry_rcu(fabric, &tn->fabrics, list, lockdep_rtnl_is_held())
		if (fabric->node.key == key)
			return fabric;
	return NULL;
}
