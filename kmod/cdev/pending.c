// SPDX-License-Identifier: GPL-2.0
/* Calls to create or to shrink a comm that go on without a caller. See pending.h. */
#include "cdev/pending.h"

#include <linux/torcoll.h>

#define CALL_HASH_KEY	0x63616c6c00000000ULL

u64 tor_pending_join(const struct torcoll_comm_add *add, const struct tor_group_config *cfg)
{
	u64 word[] = { add->fabric, (u64)cfg->ranks << 32 | cfg->rank,
		       (u64)cfg->depth << 32 | cfg->bits };
	u64 call = tor_env_hash(word, sizeof(word), CALL_HASH_KEY);

	call = tor_env_hash(cfg->name, cfg->name_len, call);
	call = tor_env_hash(cfg->secret, cfg->secret_len, call);
	if (cfg->member)
		call = tor_env_hash(cfg->member, cfg->ranks * sizeof(u32), call);
	return call;
}

/*
 * Compared by address, as a handle may be of another comm by now: who names
 * @from holds a reference to it.
 */
static bool is_of(const struct tor_group *group, u64 call, const struct tor_group *from)
{
	return from ? group->shrink.from == &from->comm :
		      !group->shrink.from && group->call == call;
}

static struct tor_group *pending_take(struct tor_session *session, u64 call,
				      const struct tor_group *from)
{
	struct tor_group *group, *found = NULL;

	mutex_lock(&session->lock);
	list_for_each_entry(group, &session->pending, pending)
		if (is_of(group, call, from)) {
			found = group;
			list_del_init(&group->pending);
			break;
		}
	mutex_unlock(&session->lock);
	return found;
}

struct tor_group *tor_pending_take_join(struct tor_session *session, u64 call)
{
	return pending_take(session, call, NULL);
}

struct tor_group *tor_pending_take_shrink(struct tor_session *session,
					  const struct tor_group *from)
{
	return pending_take(session, 0, from);
}

/* @fail: if it was made, the comm fails; else it is left. */
static void give_up(struct tor_session *session, struct tor_group *group, bool fail)
{
	struct tor_group_config cfg = { .give_up = -ECONNABORTED };
	u32 missing, handle = group->handle;
	const char *why;

	if (!tor_group_await(group, &cfg, &missing, &why)) {
		if (fail)
			tor_group_abort(group, -ECONNABORTED);
		tor_group_close(group);
	}
	mutex_lock(&session->lock);
	idr_remove(&session->groups, handle);
	mutex_unlock(&session->lock);
}

/* Return whether the comm that @heir shrinks is closed. Context: session->lock. */
static bool is_disowned(const struct tor_session *session, const struct tor_group *heir)
{
	const struct tor_comm *from = heir->shrink.from;
	const struct tor_group *group;

	if (!from)
		return false;
	group = container_of(from, struct tor_group, comm);
	return idr_find(&session->groups, group->handle) != group;
}

int tor_pending_keep(struct tor_session *session, struct tor_group *group, u64 call,
		     const struct tor_group_config *cfg)
{
	int err = 0;

	group->call = call;
	group->asked = cfg->rank;
	group->asked_name = tor_join_name(cfg->name, cfg->name_len);
	mutex_lock(&session->lock);
	if (session->ended)
		err = -ECONNABORTED;
	else if (is_disowned(session, group))
		err = -ENOENT;
	else
		list_add(&group->pending, &session->pending);
	mutex_unlock(&session->lock);
	if (!err)
		return 0;
	give_up(session, group, err == -ECONNABORTED);
	return err == -ENOENT ? tor_refuse(session, err, "the comm was closed meanwhile") : err;
}

/**
 * struct newcomer - a call to create a comm that continues no other
 * @cfg: its values
 * @fabric: key
 * @name: by its hash, as other nodes compare it: it may contain any byte
 * @here: its ranks on this node, of which two stand for more; 0: not counted yet
 */
struct newcomer {
	const struct tor_group_config *cfg;
	u64 fabric;
	u64 name;
	u32 here;
};

/* Return whether @cfg names @node as that of @rank. */
static bool is_there(const struct tor_group_config *cfg, u32 rank, u32 node)
{
	if (!cfg->member)
		return rank == node;
	return rank < cfg->ranks && cfg->member[rank] == node;
}

/*
 * Return whether several ranks of a call are on @node, the same in each. Counted
 * once, however many groups are pending: the list may have a million.
 */
static bool is_shared(struct newcomer *by, u32 node)
{
	const struct tor_group_config *cfg = by->cfg;
	u32 rank;

	if (by->here || !cfg->member)
		return by->here > 1;
	for (rank = 0; by->here < 2 && rank < cfg->ranks; rank++) {
		tor_env_walked(rank);
		by->here += cfg->member[rank] == node;
	}
	return by->here > 1;
}

/*
 * Return whether a call wants the rank that a group has. Of several ranks on the
 * node TORCOLL_RANK_SELF is a free one: then such a call meets only another one.
 */
static bool wants_rank_of(struct newcomer *by, const struct tor_group *group)
{
	const struct tor_group_config *cfg = by->cfg;
	u32 node = group->fabric->node.self;

	if (cfg->rank != TORCOLL_RANK_SELF)
		return cfg->rank == group->comm.rank;
	return is_there(cfg, group->comm.rank, node) &&
	       (group->asked == TORCOLL_RANK_SELF || !is_shared(by, node));
}

static bool meets(const struct tor_group *group, struct newcomer *by)
{
	return !group->shrink.from && group->fabric->node.key == by->fabric &&
	       group->asked_name == by->name && wants_rank_of(by, group);
}

/* Take the first group that a call meets, or any for NULL; or return NULL. */
static struct tor_group *take_first(struct tor_session *session, struct newcomer *by)
{
	struct tor_group *group, *found = NULL;

	mutex_lock(&session->lock);
	list_for_each_entry(group, &session->pending, pending)
		if (!by || meets(group, by)) {
			found = group;
			list_del_init(&group->pending);
			break;
		}
	mutex_unlock(&session->lock);
	return found;
}

void tor_pending_end_joins(struct tor_session *session, const struct torcoll_comm_add *add,
			   const struct tor_group_config *cfg)
{
	struct newcomer by = {
		.cfg = cfg,
		.fabric = add->fabric,
		.name = tor_join_name(cfg->name, cfg->name_len),
	};
	struct tor_group *group;

	while ((group = take_first(session, &by)))
		give_up(session, group, false);
}

void tor_pending_end_shrink(struct tor_session *session, const struct tor_group *from)
{
	struct tor_group *group = tor_pending_take_shrink(session, from);

	if (group)
		give_up(session, group, false);
}

void tor_pending_end_all(struct tor_session *session, bool fail)
{
	struct tor_group *group;

	while ((group = take_first(session, NULL)))
		give_up(session, group, fail);
}
