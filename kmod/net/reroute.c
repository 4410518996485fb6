// SPDX-License-Identifier: GPL-2.0
/*
 * Routes. See reroute.h.
 *
 * Views change in softirq, under fabric->lock; one work item per fabric
 * follows, immediately and in process context, since a search over many nodes
 * takes time and memory. Only this work writes fabric->routes: no lock is
 * needed. Meanwhile node->live keeps frames off local links that went down.
 *
 * Any node of the fabric can cause changes at any rate. Dampers therefore limit
 * searches, how often the frame size is looked at, and how often comms are checked
 * for nodes that restarted. Each is used up by its own news alone: by links that
 * flap no restart is noticed later. News that concerns no link, as every node's when
 * a fabric begins, causes no search. Nothing waits for readers of the old table: it
 * is freed when they are finished, and until then there is no search. A fabric has
 * two tables at most.
 */
#include "net/reroute.h"

#include "net/entry.h"
#include "op/group.h"
#include "trace.h"

/* Separate from queues that others fill with slow work. */
#define reroute_wq	system_highpri_wq

/* Pause before a retry without memory, or while the old table is in use. */
#define RETRY		(20 * NSEC_PER_MSEC)

static void reroute_schedule(struct tor_fabric *fabric)
{
	mod_delayed_work(reroute_wq, &fabric->route_work, 0);
}

void tor_reroute_check(struct tor_fabric *fabric)
{
	WRITE_ONCE(fabric->check, true);
	reroute_schedule(fabric);
}

void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *node)
{
	struct tor_fabric *fabric = tor_fabric_of(node);

	/* once is enough until it is evaluated */
	if (!xchg(&fabric->view_changed, true))
		reroute_schedule(fabric);
}

void tor_reroute_too_small(struct tor_fabric *fabric, u32 port, u32 len)
{
	WRITE_ONCE(fabric->needs[port], len);
	reroute_schedule(fabric);
}

bool tor_reroute_may_turn(const struct tor_fabric *fabric)
{
	u32 changes;

	if (!time_before64(get_jiffies_64(), READ_ONCE(fabric->turns)) ||
	    READ_ONCE(fabric->node.news))
		return false;
	/* of the table that frames go by, or earlier: pairs with reroute_renew() */
	changes = smp_load_acquire(&fabric->changes);
	return changes == READ_ONCE(fabric->node.view.changes);
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

/*
 * Build the table for the present view, after @downs and @changes, and the tree.
 * Return NULL if there is no memory.
 */
static struct tor_routes *reroute_build(struct tor_fabric *fabric, struct tor_tree *tree,
					u32 *downs, u32 *changes)
{
	const struct tor_torus *t = &fabric->node.torus;
	struct tor_routes *routes;
	u32 known, last, node;
	u16 *dead;

	dead = tor_env_table_alloc(t->nodes * sizeof(*dead));
	if (!dead)
		return NULL;
	known = READ_ONCE(fabric->node.view.downs);
	last = READ_ONCE(fabric->node.view.changes);
	/* a change after a portion was copied starts this work again */
	for (node = 0; node < t->nodes; node += TOR_BUDGET.steps) {
		spin_lock_bh(&fabric->lock);
		tor_link_copy_dead(&fabric->node, dead, node, TOR_BUDGET.steps);
		spin_unlock_bh(&fabric->lock);
		cond_resched();
	}
	routes = tor_routes_build(t, fabric->node.self, dead);
	if (routes && tor_tree_build(tree, t, fabric->node.self, routes, dead)) {
		tor_env_table_free(routes);
		routes = NULL;
	}
	tor_env_table_free(dead);
	if (!routes)
		return NULL;
	*downs = known;
	*changes = last;
	return routes;
}

/*
 * Free the old table if possible. Return whether only the present one is left.
 */
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

/*
 * Replace the table. False: no memory, frames use the old table for the moment.
 */
static bool reroute_renew(struct tor_fabric *fabric, u32 *downs)
{
	struct tor_routes *old = rcu_dereference_protected(fabric->routes, true);
	struct tor_node *node = &fabric->node;
	struct tor_routes *new;
	struct tor_tree tree;
	u32 changes;

	new = reroute_build(fabric, &tree, downs, &changes);
	if (!new)
		return false;
	/* a link far away can be in the tree and on no route from here */
	WRITE_ONCE(fabric->tree.ports, tree.ports);
	if (!memcmp(new, old, tor_routes_bytes(&node->torus))) {
		tor_env_table_free(new);
		/* the table is as good as the new one: as below */
		smp_store_release(&fabric->changes, changes);
		return true;
	}
	rcu_assign_pointer(fabric->routes, new);
	/* not before the table: pairs with tor_reroute_may_turn() */
	smp_store_release(&fabric->changes, changes);
	if (*downs != fabric->downs)
		WRITE_ONCE(fabric->turns, get_jiffies_64() + nsecs_to_jiffies64(TOR_ROUTES_TURN));
	tor_env_count(node, TOR_C_REROUTES, 1);
	trace_torcoll_reroute(node, new->reached);
	tor_fabric_notify(fabric);
	fabric->old_readers = start_poll_synchronize_rcu();
	fabric->old_routes = old;
	return true;
}

/*
 * Return whether links have changed since the table was built: other news is
 * taken note of.
 */
static bool reroute_is_due(struct tor_fabric *fabric)
{
	/* before the view is read: a later change starts this work again */
	if (xchg(&fabric->view_changed, false))
		fabric->unfollowed = true;
	return READ_ONCE(fabric->node.view.changes) != fabric->changes;
}

/*
 * The frame size of the fabric may be another. Return when to look at it, ns; 0:
 * that is done.
 */
static u64 follow_frame(struct tor_fabric *fabric)
{
	u64 now = ktime_get_ns();

	if (!fabric->unfollowed)
		return 0;
	if (!tor_damper_may(&fabric->follows, now))
		return tor_damper_due(&fabric->follows);
	fabric->unfollowed = false;
	tor_fabric_follow(fabric);
	return 0;
}

/*
 * Update the table if that is permitted now. Return when to try again, ns; 0:
 * it is up to date.
 */
static u64 follow_view(struct tor_fabric *fabric, u32 *downs)
{
	u64 now = ktime_get_ns();

	if (!reroute_is_due(fabric))
		return 0;
	if (!forget_old(fabric))
		return now + RETRY;
	if (!tor_damper_may(&fabric->searches, now))
		return tor_damper_due(&fabric->searches);
	return reroute_renew(fabric, downs) ? 0 : now + RETRY;
}

/*
 * Apply a portion of a change to a comm; unless routes are up to date (@fresh),
 * they are not used. Context: RCU. Return true if it was the last portion.
 */
static bool reroute_check_ranks(struct tor_fabric *fabric, struct tor_group *group, bool fresh)
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

/*
 * Handle the next portion for a group of @bucket that this walk has not
 * finished. False: there is none.
 */
static bool reroute_check_next(struct tor_fabric *fabric, u32 bucket, bool downs, bool fresh,
			      u64 *when)
{
	struct tor_group *group;
	bool found = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(group, &fabric->group[bucket], hash) {
		if (group->walked == fabric->walk)
			continue;
		found = true;
		if (group->walking != fabric->walk) {
			group->walking = fabric->walk;
			group->watch = (struct tor_watch){};
			group->lanes = (struct tor_lane_cursor){};
			group->rerouting = downs;
			if (downs)
				tor_group_tell_again(group);
		}
		if (group->rerouting) {
			group->rerouting = !tor_group_rerouted(group, &group->lanes);
		} else if (reroute_check_ranks(fabric, group, fresh)) {
			group->walked = fabric->walk;
			*when = min_not_zero(*when, group->watch.when);
		}
		break;
	}
	rcu_read_unlock();
	return found;
}

/*
 * Apply a change to all comms. Return when to repeat that, ns; 0: at the next
 * change.
 */
static u64 reroute_check_groups(struct tor_fabric *fabric, bool downs, bool fresh)
{
	u64 when = 0;
	u32 bucket;

	/* 0 is the value of new groups */
	fabric->walk = fabric->walk + 1 ?: 1;
	for (bucket = 0; bucket < HASH_SIZE(fabric->group); bucket++)
		while (reroute_check_next(fabric, bucket, downs, fresh, &when))
			cond_resched();
	return when;
}

/* Return whether nodes have restarted, or are new, since comms were checked. */
static bool has_births(const struct tor_fabric *fabric)
{
	return READ_ONCE(fabric->node.view.births) != fabric->births;
}

/*
 * Return whether to check comms now: a comm is new, routes have changed since, the
 * time has come that the last check asked for, or nodes have restarted and the
 * damper of that permits.
 */
static bool check_is_due(struct tor_fabric *fabric, bool downs)
{
	u64 now = ktime_get_ns();

	return xchg(&fabric->check, false) || downs || fabric->checked != fabric->changes ||
	       (fabric->check_at && now >= fabric->check_at) ||
	       (has_births(fabric) && tor_damper_may(&fabric->checks, now));
}

/*
 * Check comms, with routes unless these are not up to date (@again). Return when
 * to look at that again, ns; 0: at the next change.
 */
static u64 check_groups(struct tor_fabric *fabric, bool downs, u64 again)
{
	if (!check_is_due(fabric, downs))
		return min_not_zero(fabric->check_at, has_births(fabric) ?
				    tor_damper_due(&fabric->checks) : 0);
	/* before comms are checked: what comes meanwhile is for the next check */
	fabric->births = READ_ONCE(fabric->node.view.births);
	if (!again)
		fabric->checked = fabric->changes;
	fabric->check_at = reroute_check_groups(fabric, downs, !again);
	return fabric->check_at;
}

static void route_work(struct work_struct *work)
{
	struct tor_fabric *fabric = container_of(to_delayed_work(work), struct tor_fabric,
						 route_work);
	u32 downs = fabric->downs;
	u64 again, when, now;

	close_small(fabric);
	again = follow_view(fabric, &downs);
	when = check_groups(fabric, downs != fabric->downs, again);
	fabric->downs = downs;
	when = min_not_zero(when, again);
	when = min_not_zero(when, follow_frame(fabric));
	now = ktime_get_ns();
	if (!forget_old(fabric))
		when = min_not_zero(when, now + RETRY);
	if (!when)
		return;
	/* unless a change meanwhile has queued it earlier */
	queue_delayed_work(reroute_wq, &fabric->route_work,
			   when > now ? nsecs_to_jiffies(when - now) + 1 : 0);
}

int tor_reroute_init(struct tor_fabric *fabric)
{
	struct tor_routes *routes;

	INIT_DELAYED_WORK(&fabric->route_work, route_work);
	fabric->searches.first = tor_routes_pause(&fabric->node.torus);
	routes = reroute_build(fabric, &fabric->tree, &fabric->downs, &fabric->changes);
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
