// SPDX-License-Identifier: GPL-2.0
/*
 * Comms of a session. See session_comm.h.
 */
#include "cdev/session_comm.h"

#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/torcoll.h>
#include <linux/uaccess.h>

#include "cdev/pending.h"
#include "cdev/session.h"
#include "net/net.h"
#include "netlink/netlink.h"

#define RANKS_MAX	(1U << 20)

struct tor_group *tor_session_group(struct tor_session *session, u32 handle)
{
	struct tor_group *group;

	mutex_lock(&session->lock);
	group = idr_find(&session->groups, handle);
	if (group) {
		refcount_inc(&group->refs);
		atomic_inc(&group->fabric->users);
	}
	mutex_unlock(&session->lock);
	if (!group)
		return ERR_PTR(tor_refuse(session, -ENOENT, "no comm has handle %u", handle));
	return group;
}

void tor_session_group_put(struct tor_group *group)
{
	/* the fabric stays with the group */
	atomic_dec(&group->fabric->users);
	tor_group_put(group);
}

/* --- joining --- */

static int read_members(struct tor_session *session, const struct torcoll_comm_add *add,
			u32 **member)
{
	*member = NULL;
	if (!add->members)
		return 0;
	if (!add->ranks || add->ranks > RANKS_MAX)
		return tor_refuse(session, -EINVAL, "%u ranks", add->ranks);
	*member = kvmalloc_array(add->ranks, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!*member)
		return -ENOMEM;
	if (copy_from_user(*member, u64_to_user_ptr(add->members), add->ranks * sizeof(u32))) {
		kvfree(*member);
		return tor_refuse(session, -EFAULT, "the list of members cannot be read");
	}
	return 0;
}

/* Find the fabric of a key, with a reference and one more user. */
static struct tor_fabric *get_fabric(struct tor_session *session, u64 key)
{
	struct tor_fabric *fabric;

	rcu_read_lock();
	fabric = tor_fabric_find(tor_net(session->net), key);
	if (fabric && !refcount_inc_not_zero(&fabric->refs))
		fabric = NULL;
	rcu_read_unlock();
	if (fabric)
		atomic_inc(&fabric->users);
	if (!fabric)
		return ERR_PTR(tor_refuse(session, -ENODEV,
					  "this namespace is no node of a fabric with key %llu", key));
	return fabric;
}

/*
 * Reserve a handle that finds nothing before publish_group(). It is allocated
 * first: if that fails, the other ranks must not have a comm that this rank is
 * refused.
 */
static int reserve_handle(struct tor_session *session)
{
	int id;

	mutex_lock(&session->lock);
	id = idr_alloc(&session->groups, NULL, 1, 0, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&session->lock);
	return id;
}

static void drop_handle(struct tor_session *session, int id)
{
	mutex_lock(&session->lock);
	idr_remove(&session->groups, id);
	mutex_unlock(&session->lock);
}

/*
 * Give the process the group, by its reserved handle. The group may be accessed
 * until tor_session_group_put(), which the caller must call: once it has a
 * handle, another thread may close it. Return -ECONNABORTED if the session's
 * owner has ended, which is then another process, and there is no new one.
 */
static int publish_group(struct tor_session *session, struct tor_group *group)
{
	bool ended;

	refcount_inc(&group->refs);
	atomic_inc(&group->fabric->users);
	mutex_lock(&session->lock);
	ended = session->ended;
	if (!ended) {
		WRITE_ONCE(group->session, session);
		idr_replace(&session->groups, group, group->handle);
	}
	mutex_unlock(&session->lock);
	if (ended) {
		tor_group_close(group);
		return -ECONNABORTED;
	}
	set_bit(TOR_GROUP_ANNOUNCED, &tor_group_carrier(group)->flags);
	/* pairs with fail_work(): see there */
	smp_mb__after_atomic();
	tor_netlink_notify_comm(tor_group_carrier(group), false);
	return 0;
}

static int no_group(struct tor_session *session, int err, u32 missing, bool vague, const char *why)
{
	if (missing != TOR_NO_RANK)
		return tor_refuse(session, err, "rank %u is missing%s", missing,
				  vague ? ", or another one on its node" : "");
	if (why)
		return tor_refuse(session, err, "%s", why);
	return err;
}

/*
 * Wait until a group is made. If a signal or @cfg->pause ends that, its making
 * goes on, as that of an heir may when the deadline passes, and the group is kept
 * for the next such @call. On error the process has neither the group nor its
 * handle.
 */
static int await_group(struct tor_session *session, struct tor_group *group, u64 call,
		       struct tor_group_config *cfg, u32 *missing)
{
	u32 id = group->handle;
	const char *why = NULL;
	int err = tor_group_await(group, cfg, missing, &why), lost = 0;

	if (!err)
		return 0;
	if (cfg->goes_on)
		lost = tor_pending_keep(session, group, call, cfg);
	else
		drop_handle(session, id);
	if (lost || err == -EINTR)
		return lost ?: err;
	return no_group(session, err, *missing, cfg->vague, why);
}

/* Begin to join, with a reserved handle. */
static struct tor_group *begin_join(struct tor_session *session, u64 key,
				    struct tor_group_config *cfg)
{
	struct tor_fabric *fabric = get_fabric(session, key);
	struct tor_group *group;
	const char *why = NULL;
	int id;

	if (IS_ERR(fabric))
		return ERR_CAST(fabric);
	id = reserve_handle(session);
	if (id < 0) {
		atomic_dec(&fabric->users);
		group = ERR_PTR(id);
	} else {
		group = tor_group_join(fabric, cfg, &why);
		if (!IS_ERR(group))
			group->handle = id;
		else
			drop_handle(session, id);
	}
	tor_fabric_put(fabric);
	if (IS_ERR(group) && why)
		tor_refuse(session, PTR_ERR(group), "%s", why);
	return group;
}

/* Give the process the comm that it has joined. */
static int end_join(struct tor_session *session, struct tor_group *group,
		    struct torcoll_comm_add *add)
{
	u32 id = group->handle;
	int err = publish_group(session, group);

	add->comm = err ? 0 : id;
	add->rank = group->comm.rank;
	add->depth = group->comm.depth;
	tor_session_group_put(group);
	if (err)
		drop_handle(session, id);
	return err;
}

static int create_group(struct tor_session *session, struct torcoll_comm_add *add,
			struct tor_group_config *cfg)
{
	u64 call = tor_pending_join(add, cfg);
	struct tor_group *group = tor_pending_take_join(session, call);
	int err;

	if (!group) {
		/* else its name would be in use */
		tor_pending_end_joins(session, add, cfg);
		group = begin_join(session, add->fabric, cfg);
	}
	if (IS_ERR(group))
		return PTR_ERR(group);
	err = await_group(session, group, call, cfg, &add->missing);
	return err ?: end_join(session, group, add);
}

int tor_session_comm_add(struct tor_session *session, struct torcoll_comm_add *add)
{
	char name[TORCOLL_NAME_MAX + 1] = "", secret[TORCOLL_NAME_MAX];
	struct tor_group_config cfg = {
		.user = session->user,
		.name = name,
		.name_len = add->name_len,
		.secret = secret,
		.secret_len = add->secret_len,
		.ranks = add->ranks,
		.rank = add->rank,
		.depth = add->depth,
		.bits = add->bits ? add->bits : TORCOLL_BITS_AGREE,
		.deadline = add->deadline_ns,
		.pause = add->wait_ns,
	};
	int err;

	add->missing = TOR_NO_RANK;
	if (add->flags)
		return tor_refuse(session, -EINVAL, "a reserved member is not zero");
	if (add->bits >= TORCOLL_BITS_COUNT)
		return tor_refuse(session, -EINVAL, "unknown bit level %u", add->bits);
	if (!add->name_len || add->name_len > TORCOLL_NAME_MAX)
		return tor_refuse(session, -EINVAL, "a comm's name has 1 to %u bytes",
				  TORCOLL_NAME_MAX);
	if (add->secret_len > TORCOLL_NAME_MAX)
		return tor_refuse(session, -EINVAL, "a secret has at most %u bytes",
				  TORCOLL_NAME_MAX);
	if (add->depth > TOR_DEPTH_MAX)
		return tor_refuse(session, -EINVAL, "at most %u ops can be in flight",
				  TOR_DEPTH_MAX);
	if (copy_from_user(name, u64_to_user_ptr(add->name), add->name_len) ||
	    copy_from_user(secret, u64_to_user_ptr(add->secret), add->secret_len))
		return tor_refuse(session, -EFAULT, "name or secret cannot be read");
	err = read_members(session, add, &cfg.member);
	if (!err) {
		tor_session_use(session);
		err = create_group(session, add, &cfg);
		kvfree(cfg.member);
	}
	memzero_explicit(secret, sizeof(secret));
	return err;
}

/* --- shrinking --- */

/* Write the node of each rank to the caller. */
static int write_members(const struct tor_comm *comm, const struct torcoll_comm_shrink *call)
{
	u32 __user *to = u64_to_user_ptr(call->members);
	u32 rank;

	if (!call->members)
		return 0;
	if (call->room < comm->ranks)
		return -EINVAL;
	for (rank = 0; rank < comm->ranks; rank++)
		if (put_user(tor_comm_node(comm, rank), to + rank))
			return -EFAULT;
	return 0;
}

/* Begin to shrink, with a reserved handle. */
static struct tor_group *begin_shrink(struct tor_session *session, struct tor_group *from, u32 depth)
{
	int id = reserve_handle(session);
	const char *why = NULL;
	struct tor_group *group;

	if (id < 0)
		return ERR_PTR(id);
	group = tor_group_shrink(from, depth, &why);
	if (!IS_ERR(group)) {
		group->handle = id;
		return group;
	}
	drop_handle(session, id);
	if (why)
		tor_refuse(session, PTR_ERR(group), "%s", why);
	return group;
}

/* Give the process the heir. */
static int end_shrink(struct tor_session *session, struct tor_group *group,
		      struct torcoll_comm_shrink *call)
{
	u32 id = group->handle;
	int err = write_members(&group->comm, call);

	if (err) {
		tor_group_close(group);
		drop_handle(session, id);
		return tor_refuse(session, err, "the members cannot be written to %u entries at %#llx",
				  call->room, call->members);
	}
	err = publish_group(session, group);
	call->shrunk = err ? 0 : id;
	call->rank = group->comm.rank;
	call->ranks = group->comm.ranks;
	call->depth = group->comm.depth;
	tor_session_group_put(group);
	if (err)
		drop_handle(session, id);
	return err;
}

static int shrink_group(struct tor_session *session, struct tor_group *from,
			struct torcoll_comm_shrink *call)
{
	struct tor_group_config cfg = { .deadline = call->deadline_ns, .pause = call->wait_ns };
	struct tor_group *group;
	int err;

	do {
		group = tor_pending_take_shrink(session, from);
		if (!group)
			group = begin_shrink(session, from, call->depth);
		if (IS_ERR(group))
			return PTR_ERR(group);
		err = await_group(session, group, 0, &cfg, &call->missing);
	} while (err == -EAGAIN);
	return err ?: end_shrink(session, group, call);
}

int tor_session_comm_shrink(struct tor_session *session, struct torcoll_comm_shrink *shrink)
{
	struct tor_group *from;
	int err;

	shrink->missing = TOR_NO_RANK;
	if (shrink->flags || shrink->__reserved || !shrink->members != !shrink->room)
		return tor_refuse(session, -EINVAL,
				  "unknown flags, or a reserved member, or no room for members");
	if (shrink->depth > TOR_DEPTH_MAX)
		return tor_refuse(session, -EINVAL, "at most %u ops can be in flight",
				  TOR_DEPTH_MAX);
	from = tor_session_group(session, shrink->comm);
	if (IS_ERR(from))
		return PTR_ERR(from);
	tor_session_use(session);
	err = shrink_group(session, from, shrink);
	tor_session_group_put(from);
	return err;
}

int tor_session_comm_del(struct tor_session *session, u32 handle)
{
	struct tor_group *group;

	mutex_lock(&session->lock);
	group = idr_find(&session->groups, handle);
	/* a reserved handle stays reserved */
	if (group)
		idr_remove(&session->groups, handle);
	mutex_unlock(&session->lock);
	if (!group)
		return tor_refuse(session, -ENOENT, "no comm has handle %u", handle);
	tor_pending_end_shrink(session, group);
	tor_group_close(group);
	return 0;
}

int tor_session_comm_info(struct tor_session *session, struct torcoll_comm_info *info)
{
	struct tor_group *group;
	const struct tor_comm *comm;

	if (info->__reserved)
		return tor_refuse(session, -EINVAL, "a reserved member is not zero");
	group = tor_session_group(session, info->comm);
	if (IS_ERR(group))
		return PTR_ERR(group);
	comm = &group->comm;
	info->rank = comm->rank;
	info->ranks = comm->ranks;
	info->node = comm->node->self;
	info->generation = comm->generation;
	info->ndim = comm->node->torus.axes;
	memset(info->side, 0, sizeof(info->side));
	memcpy(info->side, comm->node->torus.side, info->ndim * sizeof(u32));
	info->frame_bytes = comm->unit;
	info->error = tor_comm_failed(comm) ? comm->error : 0;
	info->error_rank = info->error ? comm->error_rank : TOR_NO_RANK;
	tor_session_group_put(group);
	return 0;
}
