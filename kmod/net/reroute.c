// SPDX-License-Identifier: GPL-2.0
/*
 * Routes. See reroute.h.
 *
 * Views change in softirq, under fabric->lock; one work item per fabric follows, at once and in process
 * context, since a search over many nodes takes its time and memory. It alone writes fabric->routes: no
 * lock is needed. Meanwhile frames avoid links that went down here by node->live.
 *
 * Anyone in the fabric can change what is known as often as it likes. So a damper says when to search anew, and
 * nobody waits for readers of the old table: it goes when they are through, and until then there is no search. A fabric has
 * two tables at most.
 */
#include "net/reroute.h"

#include "net/frame.h"
#include "op/group.h"
#include "trace.h"

/* Beyond a queue that others fill with slow work. */
#define reroute_wq	system_highpri_wq

/* How soon to try again what there was no memory for, or what the old table was in the way of. */
#define RETRY		(20 * NSEC_PER_MSEC)

void tor_reroute_look(struct tor_fabric *fabric)
{
	mod_delayed_work(reroute_wq, &fabric->route_work, 0);
}

void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *node)
{
	struct tor_fabric *fabric = tor_fabric_of(node);

	/* once is enough until it is looked at */
	if (!xchg(&fabric->view_changed, true))
		tor_reroute_look(fabric);
}

void tor_reroute_too_small(struct tor_fabric *fabric, u32 port, u32 len)
{
	WRITE_ONCE(fabric->needs[port], len);
	tor_reroute_look(fabric);
}

static void close_small(struct tor_fabric *fabric)
{
	struct tor_entry entry;
	u32 port;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	for (port = 0; port < TOR_MAX_PORTS; port++) {
		u32 len = xchg(&fabric->needs[port], 0);

		if (len)
			tor_link_too_small(&entry.ctx, &fabric->node, port, len);
	}
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
}

/* The table by what is known now, and after how many @downs. Return: NULL for want of memory. */
static struct tor_routes *build(struct tor_fabric *fabric, u32 *downs)
{
	const struct tor_torus *t = &fabric->node.torus;
	struct tor_routes *routes;
	u32 known, node;
	u16 *dead;

	dead = tor_env_table_alloc(t->nodes * sizeof(*dead));
	if (!dead)
		return NULL;
	known = READ_ONCE(fabric->node.view.downs);
	/* what changes behind a portion comes back here */
	for (node = 0; node < t->nodes; node += TOR_BUDGET.steps) {
		spin_lock_bh(&fabric->lock);
		tor_view_copy_dead(&fabric->node.view, dead, node, TOR_BUDGET.steps);
		spin_unlock_bh(&fabric->lock);
		cond_resched();
	}
	routes = tor_routes_build(t, fabric->node.self, dead);
	tor_env_table_free(dead);
	if (routes)
		*downs = known;
	return routes;
}

/* Return: is there none but the present table? */
static bool forget_old(struct tor_fabric *fabric)
{
	if (!fabric->old_routes)
		return true;
	if (!poll_state_synchronize_rcu(fabric->old_readers))
		return false;
	tor_env_table_free(fabric->old_routes);
	fabric->old_routes = NULL;
	return true;
}

/* False: for want of memory, frames go by the old table for the moment. */
static bool renew(struct tor_fabric *fabric, u32 *downs)
{
	struct tor_routes *old = rcu_dereference_protected(fabric->routes, true);
	struct tor_node *node = &fabric->node;
	struct tor_routes *new;

	WRITE_ONCE(fabric->view_changed, false);
	/* before the view is read: a change behind it comes back here */
	smp_mb();
	new = build(fabric, downs);
	if (!new) {
		WRITE_ONCE(fabric->view_changed, true);
		return false;
	}
	if (!memcmp(new, old, tor_routes_bytes(&node->torus))) {
		tor_env_table_free(new);
		return true;
	}
	rcu_assign_pointer(fabric->routes, new);
	tor_env_count(node, TOR_C_REROUTES, 1);
	trace_torcoll_reroute(node, new->reached);
	tor_fabric_notify(fabric);
	fabric->old_readers = start_poll_synchronize_rcu();
	fabric->old_routes = old;
	return true;
}

/* Bring the table up to date if that may be done now. Return: when to try again, ns; 0: it is up to date. */
static u64 follow_view(struct tor_fabric *fabric, u32 *downs)
{
	u64 now = ktime_get_ns();

	if (!READ_ONCE(fabric->view_changed))
		return 0;
	if (!forget_old(fabric))
		return now + RETRY;
	if (!tor_damper_may(&fabric->searches, now))
		return tor_damper_due(&fabric->searches);
	return renew(fabric, downs) ? 0 : now + RETRY;
}

/*
 * A portion of what the change means for a comm; unless routes are up to date (@fresh), nothing is said by them.
 * Context: RCU. Return: is that all?
 */
static bool look_after(struct tor_fabric *fabric, struct tor_group *group, bool fresh)
{
	struct tor_entry entry;
	bool all;

	local_bh_disable();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	all = tor_comm_watch(&entry.ctx, &group->comm,
			     fresh ? rcu_dereference(fabric->routes) : NULL, &group->watch);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	local_bh_enable();
	return all;
}

/* The next portion for one of @bucket that this look has not come to the end of. False: there is none. */
static bool look_into(struct tor_fabric *fabric, u32 bucket, bool downs, bool fresh, u64 *when)
{
	struct tor_group *group;
	bool found = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(group, &fabric->group[bucket], hash) {
		if (group->looked == fabric->looks)
			continue;
		found = true;
		if (group->looking != fabric->looks) {
			group->looking = fabric->looks;
			group->watch = (struct tor_watch){};
			group->lanes = (struct tor_lane_cursor){};
			group->rerouting = downs;
		}
		if (group->rerouting) {
			group->rerouting = !tor_group_rerouted(group, &group->lanes);
		} else if (look_after(fabric, group, fresh)) {
			group->looked = fabric->looks;
			*when = min_not_zero(*when, group->watch.when);
		}
		break;
	}
	rcu_read_unlock();
	return found;
}

/* What the change means for comms. Return: when to look again, ns; 0: at the next change. */
static u64 look_after_groups(struct tor_fabric *fabric, bool downs, bool fresh)
{
	u64 when = 0;
	u32 bucket;

	/* 0 is what new groups have */
	fabric->looks = fabric->looks + 1 ?: 1;
	for (bucket = 0; bucket < HASH_SIZE(fabric->group); bucket++)
		while (look_into(fabric, bucket, downs, fresh, &when))
			cond_resched();
	return when;
}

static void route_work(struct work_struct *work)
{
	struct tor_fabric *fabric = container_of(to_delayed_work(work), struct tor_fabric,
						 route_work);
	u32 downs = fabric->downs;
	u64 again, when, now;

	close_small(fabric);
	again = follow_view(fabric, &downs);
	when = look_after_groups(fabric, downs != fabric->downs, !again);
	fabric->downs = downs;
	when = min_not_zero(when, again);
	now = ktime_get_ns();
	if (!forget_old(fabric))
		when = min_not_zero(when, now + RETRY);
	if (!when)
		return;
	/* unless something has happened meanwhile: that is sooner */
	queue_delayed_work(reroute_wq, &fabric->route_work,
			   when > now ? nsecs_to_jiffies(when - now) + 1 : 0);
}

int tor_reroute_init(struct tor_fabric *fabric)
{
	struct tor_routes *routes;

	INIT_DELAYED_WORK(&fabric->route_work, route_work);
	fabric->searches.first = tor_routes_pause(&fabric->node.torus);
	routes = build(fabric, &fabric->downs);
	if (!routes)
		return -ENOMEM;
	RCU_INIT_POINTER(fabric->routes, routes);
	return 0;
}

void tor_reroute_stop(struct tor_fabric *fabric)
{
	cancel_delayed_work_sync(&fabric->route_work);
}

void tor_reroute_free(struct tor_fabric *fabric)
{
	tor_env_table_free(rcu_dereference_protected(fabric->routes, true));
	tor_env_table_free(fabric->old_routes);
}
