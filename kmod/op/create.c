// SPDX-License-Identifier: GPL-2.0
/*
 * Creation of groups: all members join, or the living members of a failed group
 * shrink it. Core makes the agreement with the other nodes (join.h, shrink.h).
 * Here a process waits for it; the receive path learns of the group while it
 * waits. See group.h.
 */
#include <linux/slab.h>

#include "cdev/session.h"
#include "core/order.h"
#include "local/team.h"
#include "net/reroute.h"
#include "op/endpoint.h"
#include "op/epochs.h"
#include "op/op.h"
#include "op/tables.h"

/* bytes of a frame, where there is no port that would say how many */
#define USUAL_FRAME	9000

/* Make the group known by the agreed tag. Context: fabric->lock. */
static int group_install(struct tor_group *group)
{
	struct tor_fabric *fabric = group->fabric;
	struct tor_comm *comm = &group->comm;
	int err = 0;

	spin_lock(&fabric->groups_lock);
	if (tor_group_find(fabric, comm->tag)) {
		err = -EEXIST;
	} else {
		hash_add_rcu(fabric->group, &group->hash, comm->tag);
		set_bit(TOR_GROUP_HASHED, &group->flags);
	}
	spin_unlock(&fabric->groups_lock);
	if (err)
		return err;
	tor_fabric_touch(fabric);
	tor_reroute_check(fabric);
	return 0;
}

/* Context: fabric->lock. */
static void group_done(struct tor_group *group)
{
	group->comm.joined = true;
	tor_reroute_check(group->fabric);
	/* the results before the bit that the caller waits for */
	smp_mb__before_atomic();
	set_bit(TOR_GROUP_JOINED, &group->flags);
	wake_up_all(&group->wait);
	group->kind->joined(group);
}

/* If true, the error can be read: pairs with group_done(). */
static bool is_done(const struct tor_group *group)
{
	return test_bit_acquire(TOR_GROUP_JOINED, &group->flags);
}

/* --- joining --- */

int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join)
{
	struct tor_group *group = container_of(join, struct tor_group, join);

	group->comm.tag = join->a.tag;
	group->comm.generation = join->a.generation;
	group->comm.lineage = tor_join_lineage(join);
	group->comm.unit = join->a.unit;
	tor_chooser_set_rates(group->chooser, &join->rates);
	group->kind->installed(group);
	return group_install(group);
}

bool tor_env_join_failed(const struct tor_join *join)
{
	return tor_comm_failed(&container_of(join, struct tor_group, join)->comm);
}

void tor_env_join_done(struct tor_ctx *ctx, struct tor_join *join)
{
	group_done(container_of(join, struct tor_group, join));
}

/*
 * Return whether the ranks are all nodes of the fabric, in order. Plans for the
 * torus then apply, and no rank is searched in a list.
 */
static bool is_whole(const struct tor_node *node, const u32 *member, u32 ranks)
{
	u32 i;

	if (ranks != node->torus.nodes)
		return false;
	for (i = 0; i < ranks; i++) {
		tor_env_walked(i);
		if (member[i] != i)
			return false;
	}
	return true;
}

/*
 * Check that the caller is a member at its rank, and that no node is repeated.
 */
static int check_members(struct tor_group *group, struct tor_group_config *cfg, const char **why)
{
	const struct tor_node *node = &group->fabric->node;
	struct tor_comm *comm = &group->comm;

	if (!cfg->member && cfg->ranks && cfg->ranks != node->torus.nodes) {
		*why = "the number of ranks is not that of the fabric's nodes: give a list of members";
		return -EINVAL;
	}
	comm->ranks = cfg->member ? cfg->ranks : node->torus.nodes;
	group->room = comm->ranks;
	if (cfg->member && !is_whole(node, cfg->member, comm->ranks)) {
		group->member = cfg->member;
		cfg->member = NULL;
		group->order = kvmalloc_array(comm->ranks, sizeof(u32), GFP_KERNEL_ACCOUNT);
		if (!group->order)
			return -ENOMEM;
		tor_order_sort(group->order, group->member, comm->ranks);
		comm->member = group->member;
		comm->order = group->order;
	}
	comm->rank = tor_comm_rank(comm, node->self);
	if (comm->rank == TOR_NO_RANK) {
		*why = "this node is not a member";
		return -EINVAL;
	}
	if (cfg->rank != TORCOLL_RANK_SELF && cfg->rank != comm->rank) {
		*why = "the rank is not that of this node";
		return -EINVAL;
	}
	return 0;
}

/* Rank 0 chooses by its present rates, and so do the others; they never change. */
static int tune(struct tor_group *group, const char **why)
{
	struct tor_rates *rates = &group->join.rates;
	int err = tor_tables_alloc(group, why);

	if (err)
		return err;
	spin_lock_bh(&group->fabric->lock);
	*rates = group->fabric->rates;
	spin_unlock_bh(&group->fabric->lock);
	tor_tables_init(group, rates);
	return 0;
}

static struct tor_group *new_joiner(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				    struct tor_group_config *cfg, const char **why)
{
	struct tor_group *group = tor_group_new(fabric, kind, cfg->user, cfg->name, cfg->depth);
	struct tor_join *join;
	int err;

	if (IS_ERR(group))
		return group;
	group->bits = cfg->bits;
	join = &group->join;
	err = kind->enlist(group, cfg, why);
	if (!err)
		err = check_members(group, cfg, why);
	if (!err)
		err = tor_group_alloc(group, why);
	if (!err)
		err = tune(group, why);
	if (!err && !group->comm.rank) {
		join->seen = kvcalloc(group->room, sizeof(*join->seen), GFP_KERNEL_ACCOUNT);
		join->seen_nonce = kvcalloc(group->room, sizeof(*join->seen_nonce),
					    GFP_KERNEL_ACCOUNT);
		if (!join->seen || !join->seen_nonce)
			err = -ENOMEM;
	}
	if (err) {
		tor_group_put(group);
		return ERR_PTR(err);
	}
	return group;
}

int tor_group_cancel(struct tor_group *group, int error, bool *had_failed)
{
	struct tor_fabric *fabric = group->fabric;
	struct tor_entry entry;
	int err;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	*had_failed = group->join.a.error != 0;
	tor_join_cancel(&entry.ctx, &group->join, error);
	err = group->join.a.error;
	if (!is_done(group))
		tor_fabric_join_timer(fabric, group->join.a.repeat);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

/*
 * Wait until a join that failed or was given up has ended: other ranks may
 * still have to be told. A killed process does not wait. Any other does, since
 * it may call by that name again as soon as this returns.
 */
static void end_join(struct tor_group *group)
{
	if (wait_event_killable(group->wait, is_done(group)))
		tor_group_end_later(group);
	else
		tor_group_end(group);
}

const char *tor_join_sentence(int err)
{
	switch (err) {
	case -EACCES:
		return "wrong secret";
	case -EPROTO:
		return "the ranks name different lists of members, or their nodes differ in byte order or checksum";
	case -ETIMEDOUT:
		return "a rank did not come in time";
	case -ECONNABORTED:
		return "a rank gave up, or its node restarted, while the comm was being created";
	case -EEXIST:
		return "a comm of that name is being joined from this node already";
	case -ENETDOWN:
		return "the fabric was deleted meanwhile";
	default:
		return NULL;
	}
}

/* Return the difference that @fault names, or NULL; what rank 0 has is the opposite. */
static const char *differs_in(const struct tor_comm_terms *fault)
{
	switch (fault->cause) {
	case TORCOLL_CAUSE_MEMBERS:
		return "names another list of members than rank 0";
	case TORCOLL_CAUSE_CHECKSUM:
		return fault->flags & TORCOLL_FLAG_UNSUMMED ?
		       "has checksum header, rank 0 has full: they must be the same" :
		       "has checksum full, rank 0 has header: they must be the same";
	case TORCOLL_CAUSE_ORDER:
		return fault->flags & TORCOLL_FLAG_BIG_ENDIAN ?
		       "is big-endian, rank 0 is little-endian: payloads are not converted" :
		       "is little-endian, rank 0 is big-endian: payloads are not converted";
	case TORCOLL_CAUSE_NO_TERMS:
		return "runs a module that cannot take the rates of rank 0: install the same version on all nodes";
	default:
		return NULL;
	}
}

const char *tor_join_explain(const struct tor_group *group, int err, char *text)
{
	const struct tor_comm_terms *fault = &group->join.fault;
	const char *what = err == -EPROTO ? differs_in(fault) : NULL;

	if (!what || fault->node == ~0U)
		return tor_join_sentence(err);
	/* with another list, it counts ranks by its own */
	if (fault->rank >= group->comm.ranks || fault->cause == TORCOLL_CAUSE_MEMBERS)
		scnprintf(text, TOR_JOIN_TEXT, "node %u (%s) %s", fault->node, fault->name, what);
	else
		scnprintf(text, TOR_JOIN_TEXT, "rank %u on node %u (%s) %s",
			  tor_comm_first(&group->comm, fault->rank), fault->node, fault->name, what);
	return text;
}

static int start_join(struct tor_group *group)
{
	struct tor_fabric *fabric = group->fabric;
	struct tor_join *join = &group->join;
	struct tor_entry entry;
	int err;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	tor_comm_note_births(&group->comm);
	err = fabric->dead ? -ENETDOWN : tor_join_start(&entry.ctx, join);
	if (!err)
		tor_fabric_join_timer(fabric, join->a.repeat);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

struct tor_group *tor_group_begin(struct tor_fabric *fabric, const struct tor_endpoint_ops *kind,
				  struct tor_group_config *cfg, const char **why)
{
	struct tor_group *group = new_joiner(fabric, kind, cfg, why);
	struct tor_join *join;
	int err;

	if (IS_ERR(group))
		return group;
	join = &group->join;
	join->a.node = &fabric->node;
	join->rank = group->comm.rank;
	join->a.ranks = group->comm.ranks;
	join->member = group->comm.member;
	join->team = group->comm.team;
	join->a.epoch = group->epochs->epoch;
	join->a.unit = tor_fabric_unit(fabric);
	if (!join->a.unit && group->comm.ranks > 1) {
		*why = "this node has no port";
		tor_group_put(group);
		return ERR_PTR(-EHOSTUNREACH);
	}
	/* no frame has it then, but up to so much of a message within the node is held */
	if (!join->a.unit)
		join->a.unit = tor_wire_unit(USUAL_FRAME);
	join->a.unit = max_t(u32, join->a.unit, TOR_WIRE_UNIT_MIN);
	tor_join_prepare(join, cfg->name, cfg->name_len, cfg->secret, cfg->secret_len);
	err = start_join(group);
	if (!err)
		return group;
	*why = tor_join_sentence(err);
	/* no other context knows the group */
	tor_group_put(group);
	return ERR_PTR(err);
}

/* A join is over or, if @err, given up. Return its error. */
static int take_join(struct tor_group *group, struct tor_group_config *cfg, int err, u32 *missing,
		     const char **why)
{
	bool had_failed;

	err = err ? tor_group_cancel(group, err, &had_failed) : group->join.a.error;
	if (!err) {
		tor_group_share_epochs(group);
		return 0;
	}
	*why = tor_join_explain(group, err, cfg->text);
	*missing = err == -ETIMEDOUT ? group->join.a.missing : TOR_NO_RANK;
	end_join(group);
	return err;
}

/* Check that members are nodes. @shared: a node is named twice. */
static int look_at_members(const struct tor_fabric *fabric, const struct tor_group_config *cfg,
			   bool *shared, const char **why)
{
	u32 i, nodes = fabric->node.torus.nodes;
	unsigned long *seen;

	*shared = false;
	if (!cfg->member)
		return 0;
	seen = kvcalloc(BITS_TO_LONGS(nodes), sizeof(*seen), GFP_KERNEL_ACCOUNT);
	if (!seen)
		return -ENOMEM;
	for (i = 0; i < cfg->ranks && cfg->member[i] < nodes; i++) {
		tor_env_walked(i);
		*shared |= __test_and_set_bit(cfg->member[i], seen);
	}
	kvfree(seen);
	if (i == cfg->ranks)
		return 0;
	*why = "a member is not a node of the fabric";
	return -EINVAL;
}

struct tor_group *tor_group_join(struct tor_fabric *fabric, struct tor_group_config *cfg,
				 const char **why)
{
	struct tor_group *group;
	bool shared;
	int err;

	err = look_at_members(fabric, cfg, &shared, why);
	if (err)
		group = ERR_PTR(err);
	else if (shared)
		group = tor_team_join(fabric, cfg, why);
	else
		group = tor_group_begin(fabric, &tor_lone_ops, cfg, why);
	if (IS_ERR(group))
		atomic_dec(&fabric->users);
	return group;
}

/* --- shrinking --- */

/*
 * A join counts from when it has accepted: others may have the comm before word of
 * that is here, and shrink it. In it, @asking is a member like any other.
 */
int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch)
{
	struct tor_fabric *fabric = tor_fabric_of(node);
	struct tor_group *group;
	u32 bucket, rank;

	hash_for_each_rcu(fabric->group, bucket, group, hash) {
		if (group->comm.lineage != lineage ||
		    group->join.a.error || group->shrink.a.error ||
		    test_bit(TOR_GROUP_CLOSED, &group->flags) ||
		    test_bit(TOR_GROUP_SHRUNK, &group->flags))
			continue;
		rank = tor_comm_rank(&group->comm, asking);
		return rank != TOR_NO_RANK && tor_comm_agreed(&group->comm, rank) == epoch ?
		       TOR_HERITAGE_COMMON : TOR_HERITAGE_WITHOUT;
	}
	return TOR_HERITAGE_NONE;
}

int tor_env_shrink_install(struct tor_ctx *ctx, struct tor_shrink *shrink)
{
	struct tor_group *group = container_of(shrink, struct tor_group, shrink);
	struct tor_comm *comm = &group->comm;

	comm->tag = shrink->a.tag;
	comm->generation = shrink->a.generation;
	comm->unit = shrink->a.unit;
	comm->ranks = shrink->a.ranks;
	comm->rank = shrink->rank;
	/* plans for the torus apply if it is whole */
	comm->member = shrink->whole ? NULL : group->member;
	comm->order = comm->member ? group->order : NULL;
	return group_install(group);
}

void tor_env_shrink_done(struct tor_ctx *ctx, struct tor_shrink *shrink)
{
	struct tor_group *from = container_of(shrink->from, struct tor_group, comm);

	if (!shrink->a.error)
		set_bit(TOR_GROUP_SHRUNK, &from->flags);
	group_done(container_of(shrink, struct tor_group, shrink));
}

/*
 * Return the payload bytes of a frame that this node offers. Without a port they
 * stay: no frame has them, but up to so much of a message within the node is held.
 */
static u32 unit_of_heir(const struct tor_group *from)
{
	u32 unit = tor_fabric_unit(from->fabric);

	return max_t(u32, unit ? unit : from->comm.unit, TOR_WIRE_UNIT_MIN);
}

static struct tor_group *new_heir(const struct tor_group *from, u32 depth, const char **why)
{
	struct tor_group *group = tor_group_new(from->fabric, from->kind, from->user, from->name,
						depth ? depth : from->comm.depth);
	struct tor_shrink *shrink;
	int err;

	if (IS_ERR(group))
		return group;
	err = tor_group_count(group, why);
	if (err) {
		tor_group_put(group);
		return ERR_PTR(err);
	}
	/*
	 * the chief may know of ranks that this rank has been without for a
	 * while
	 */
	group->room = from->room;
	group->comm.ranks = from->room;
	group->bits = from->bits;
	group->comm.lineage = from->comm.lineage;
	shrink = &group->shrink;
	shrink->of = kvcalloc(from->comm.ranks, sizeof(*shrink->of), GFP_KERNEL_ACCOUNT);
	group->member = kvcalloc(group->room, sizeof(u32), GFP_KERNEL_ACCOUNT);
	group->order = kvcalloc(group->room, sizeof(u32), GFP_KERNEL_ACCOUNT);
	err = shrink->of && group->member && group->order ? tor_group_alloc(group, why) : -ENOMEM;
	if (!err)
		err = tor_tables_alloc(group, why);
	if (err) {
		tor_group_put(group);
		return ERR_PTR(err);
	}
	shrink->a.node = &group->fabric->node;
	shrink->from = &from->comm;
	shrink->a.room = group->room;
	shrink->member = group->member;
	shrink->order = group->order;
	shrink->a.epoch = group->epochs->epoch;
	shrink->a.unit = unit_of_heir(from);
	return group;
}

static int start_shrink(struct tor_group *group)
{
	const struct tor_group *from = container_of(group->shrink.from, struct tor_group, comm);
	struct tor_fabric *fabric = group->fabric;
	struct tor_entry entry;
	int err;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	tor_comm_note_births(&group->comm);
	/* another thread may have shrunk it after that was checked */
	err = fabric->dead ? -ENETDOWN : -EINVAL;
	if (!fabric->dead && !test_bit(TOR_GROUP_SHRUNK, &from->flags))
		err = tor_shrink_start(&entry.ctx, &group->shrink,
				       rcu_dereference(fabric->routes));
	if (!err)
		tor_fabric_join_timer(fabric, group->shrink.a.repeat);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

/*
 * Give up an agreement for @error, unless it is over or, if that is a deadline,
 * must go on. Return its error.
 */
static int cancel_shrink(struct tor_group *group, struct tor_group_config *cfg, int error)
{
	struct tor_fabric *fabric = group->fabric;
	struct tor_entry entry;

	local_bh_disable();
	rcu_read_lock();
	tor_entry_begin(&entry);
	spin_lock(&fabric->lock);
	if (error == -ETIMEDOUT)
		cfg->goes_on = !tor_shrink_expire(&entry.ctx, &group->shrink);
	else
		tor_shrink_cancel(&entry.ctx, &group->shrink, error);
	spin_unlock(&fabric->lock);
	tor_entry_end(&entry);
	rcu_read_unlock();
	local_bh_enable();
	return cfg->goes_on ? error : group->shrink.a.error;
}

static const char shrunk_before[] = "the comm was shrunk before: its heir can be shrunk";

static const char *shrink_sentence(int err)
{
	switch (err) {
	case -EEXIST:
		return "another thread shrinks the comm";
	case -EINVAL:
		return shrunk_before;
	case -EHOSTUNREACH:
		return "the other ranks continued without this one";
	case -ENETDOWN:
		return tor_join_sentence(err);
	default:
		return NULL;
	}
}

/* An agreement to shrink is over or, if @err, given up. Return its error. */
static int take_heir(struct tor_group *group, struct tor_group_config *cfg, int err, u32 *missing,
		     const char **why)
{
	const struct tor_group *from = container_of(group->shrink.from, struct tor_group, comm);

	err = err ? cancel_shrink(group, cfg, err) : group->shrink.a.error;
	if (!err) {
		/*
		 * rates agreed when the lineage began; ops need them, frames do
		 * not
		 */
		tor_tables_init(group, &from->chooser->rates);
		tor_group_share_epochs(group);
		return 0;
	}
	if (cfg->goes_on) {
		*why = "the others may continue with this rank: call again";
		return err;
	}
	*missing = err == -ETIMEDOUT ? group->shrink.a.missing : TOR_NO_RANK;
	if (group->shrink.again)
		err = -EAGAIN;
	else
		*why = shrink_sentence(err);
	tor_group_end(group);
	return err;
}

struct tor_group *tor_group_shrink(struct tor_group *from, u32 depth, const char **why)
{
	struct tor_group *group;
	int err;

	if (from->kind->unshrinkable) {
		*why = from->kind->unshrinkable;
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (test_bit(TOR_GROUP_SHRUNK, &from->flags)) {
		*why = shrunk_before;
		return ERR_PTR(-EINVAL);
	}
	tor_group_abort(from, -ECANCELED);
	group = new_heir(from, depth, why);
	if (IS_ERR(group))
		return group;
	atomic_inc(&from->fabric->users);
	err = start_shrink(group);
	if (!err)
		return group;
	atomic_dec(&from->fabric->users);
	*why = shrink_sentence(err);
	tor_group_end(group);
	return ERR_PTR(err);
}

/* --- waiting --- */

int tor_lone_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		   const char **why)
{
	int err = cfg->give_up ?: tor_wait_until_pause(&group->wait, is_done(group), cfg->deadline,
						       cfg->pause);

	cfg->goes_on = tor_wait_was_interrupted(err);
	if (cfg->goes_on)
		return err;
	return group->shrink.from ? take_heir(group, cfg, err, missing, why) :
				    take_join(group, cfg, err, missing, why);
}

int tor_group_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		    const char **why)
{
	struct tor_fabric *fabric = group->fabric;
	int err;

	*missing = TOR_NO_RANK;
	/* after what may be the last reference of the group */
	tor_fabric_get(fabric);
	err = group->kind->await(group, cfg, missing, why);
	if (err && !cfg->goes_on)
		atomic_dec(&fabric->users);
	tor_fabric_put(fabric);
	return err;
}
