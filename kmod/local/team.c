// SPDX-License-Identifier: GPL-2.0
/* Teams: how they are assembled. See team.h. */
#include "local/team.h"

#include <linux/slab.h>
#include <linux/torcoll.h>

#include "cdev/session.h"
#include "local/meet.h"
#include "op/slot.h"

static DEFINE_MUTEX(teams_lock);
static LIST_HEAD(teams);		/* that wait for ranks, of this node or others */
/*
 * Around changes of that list, and of what dumps see of its teams: they hold RTNL,
 * and must not wait for teams_lock, under which memory is allocated. A leaf.
 */
static DEFINE_SPINLOCK(waiting_lock);

/* --- memory --- */

/* Return the memory without ops, which are charged with the nodes' group. */
static u64 team_memory(u32 ranks, u32 seats)
{
	const struct tor_team *team;
	u64 seat = sizeof(*team->seat) + sizeof(*team->came) + sizeof(*team->called);

	return sizeof(*team) + (ranks + TOR_TEAM_MAP_WORDS((u64)ranks)) * sizeof(u32) + seats * seat;
}

static int team_charge(struct tor_team *team, u64 bytes, const char **why)
{
	int err = tor_user_charge(team->user, TOR_LIMIT_KERNEL, bytes);

	if (err)
		*why = tor_limit_sentence(TOR_LIMIT_KERNEL);
	else
		team->charged += bytes;
	return err;
}

static void team_free(struct tor_team *team)
{
	tor_team_op_free(team);
	kvfree(team->map_words);
	kvfree(team->member);
	kvfree(team->seat);
	kvfree(team->came);
	kvfree(team->called);
	tor_user_uncharge(team->user, TOR_LIMIT_KERNEL, team->charged);
	tor_user_put(team->user);
	kfree(team);
}

void tor_team_put(struct tor_team *team)
{
	if (refcount_dec_and_test(&team->refs))
		team_free(team);
}

/* Derive nodes and seats from a list of the ranks' nodes. */
static int derive_seats(struct tor_team *team, const struct tor_group_config *cfg, const char **why)
{
	const struct tor_node *node = &team->fabric->node;
	struct tor_team_map *map = &team->map;

	team->member = kvmalloc_array(cfg->ranks, sizeof(u32), GFP_KERNEL_ACCOUNT);
	team->map_words = kvmalloc_array(TOR_TEAM_MAP_WORDS((size_t)cfg->ranks), sizeof(u32),
					 GFP_KERNEL_ACCOUNT);
	if (!team->member || !team->map_words)
		return -ENOMEM;
	memcpy(team->member, cfg->member, cfg->ranks * sizeof(u32));
	tor_team_map_make(map, team->member, cfg->ranks, team->map_words);
	for (; team->node < map->nodes && team->member[team->node] != node->self; team->node++)
		tor_env_walked(team->node);
	if (team->node == map->nodes) {
		*why = "this node is not a member";
		return -EINVAL;
	}
	team->seats = tor_team_seats(map, team->node);
	return 0;
}

static struct tor_team *team_new(struct tor_fabric *fabric, const struct tor_group_config *cfg,
				 const char **why)
{
	struct tor_team *team = kzalloc(sizeof(*team), GFP_KERNEL_ACCOUNT);
	int err;

	if (!team)
		return ERR_PTR(-ENOMEM);
	refcount_set(&team->refs, 1);
	INIT_LIST_HEAD(&team->list);
	team->fabric = fabric;
	team->user = tor_user_get(cfg->user);
	team->missing = TOR_NO_RANK;
	team->name = tor_join_name(cfg->name, cfg->name_len);
	team->proof = tor_join_proof(cfg->secret, cfg->secret_len, team->name);
	init_waitqueue_head(&team->wait);
	mutex_init(&team->lock);
	mutex_init(&team->tables);
	init_rwsem(&team->starting);
	err = team_charge(team, team_memory(cfg->ranks, 0), why);
	if (!err)
		err = derive_seats(team, cfg, why);
	if (!err)
		err = team_charge(team, team_memory(cfg->ranks, team->seats) - team->charged, why);
	if (!err) {
		team->seat = kvcalloc(team->seats, sizeof(*team->seat), GFP_KERNEL_ACCOUNT);
		team->came = kvcalloc(team->seats, sizeof(*team->came), GFP_KERNEL_ACCOUNT);
		team->called = kvcalloc(team->seats, sizeof(*team->called), GFP_KERNEL_ACCOUNT);
		if (!team->seat || !team->came || !team->called)
			err = -ENOMEM;
	}
	if (!err)
		return team;
	tor_team_put(team);
	return ERR_PTR(err);
}

int tor_team_hold(struct tor_team *team, struct tor_group *nodes, const char **why)
{
	refcount_inc(&team->refs);
	nodes->team = team;
	nodes->comm.team = &team->map;
	nodes->comm.speaker = tor_team_rank(team, 0);
	return tor_group_charge(nodes, tor_team_op_memory(team), why);
}

/* --- assembly; all of it under teams_lock --- */

static struct tor_team *find_team(const struct tor_fabric *fabric, u64 name)
{
	struct tor_team *team;

	list_for_each_entry(team, &teams, list)
		if (team->fabric == fabric && team->name == name)
			return team;
	return NULL;
}

static void team_list(struct tor_team *team)
{
	spin_lock(&waiting_lock);
	list_add_tail(&team->list, &teams);
	spin_unlock(&waiting_lock);
	tor_fabric_touch(team->fabric);
}

static void team_unlist(struct tor_team *team)
{
	spin_lock(&waiting_lock);
	list_del_init(&team->list);
	spin_unlock(&waiting_lock);
	tor_fabric_touch(team->fabric);
}

static u32 free_seat(const struct tor_team *team)
{
	u32 seat;

	for (seat = 0; seat < team->seats && team->seat[seat]; seat++)
		tor_env_walked(seat);
	return seat;
}

/*
 * Return a seat whose rank never came, or else one whose rank came and gave up;
 * the number of seats if all are here.
 */
static u32 missing_seat(const struct tor_team *team)
{
	u32 seat;

	for (seat = 0; seat < team->seats && team->came[seat]; seat++)
		tor_env_walked(seat);
	return seat < team->seats ? seat : free_seat(team);
}

static struct tor_group *first_here(const struct tor_team *team)
{
	u32 seat;

	for (seat = 0; seat < team->seats && !team->seat[seat]; seat++)
		tor_env_walked(seat);
	return seat < team->seats ? team->seat[seat] : NULL;
}

/* Tell dumps for whom the team waits, since a seat was taken or is free. */
static void team_show(struct tor_team *team)
{
	struct tor_group *here = team->nodes ? NULL : first_here(team);
	u32 absent = here ? tor_team_rank(team, missing_seat(team)) : TOR_NO_RANK;

	lockdep_assert_held(&teams_lock);
	spin_lock(&waiting_lock);
	team->here = here;
	team->absent = absent;
	spin_unlock(&waiting_lock);
	tor_fabric_touch(team->fabric);
}

/*
 * Close a team to further ranks: it is complete, or has ended; @why: a sentence
 * about that, or NULL.
 */
static void team_close(struct tor_team *team, int error, u32 missing, const char *why)
{
	team_unlist(team);
	team->error = error;
	if (why)
		strscpy(team->text, why, sizeof(team->text));
	team->missing = missing;
	team->sealed = !error;
	WRITE_ONCE(team->over, true);
	wake_up_all(&team->wait);
}

/*
 * Return the team that waits for the caller, which has made @own in case there
 * is none.
 */
static struct tor_team *team_enter(struct tor_team *own, const char **why)
{
	struct tor_team *team = find_team(own->fabric, own->name);

	if (!team) {
		team_list(own);
		return own;
	}
	if (team->proof != own->proof)
		return ERR_PTR(-EACCES);
	if (!uid_eq(team->user->uid, own->user->uid)) {
		*why = "another user is creating a comm of that name on this node";
		return ERR_PTR(-EPERM);
	}
	if (team->map.ranks != own->map.ranks || team->map.nodes != own->map.nodes ||
	    memcmp(team->member, own->member, own->map.nodes * sizeof(u32)) ||
	    memcmp(team->map.node, own->map.node, own->map.ranks * sizeof(u32))) {
		*why = "the ranks of this node name different lists of members";
		if (!team->nodes)
			team_close(team, -EPROTO, TOR_NO_RANK, *why);
		return ERR_PTR(-EPROTO);
	}
	return team;
}

static int find_seat(const struct tor_team *team, u32 rank, u32 *seat, const char **why)
{
	const struct tor_team_map *map = &team->map;

	if (rank == TORCOLL_RANK_SELF) {
		*seat = free_seat(team);
	} else if (rank < map->ranks && map->node[rank] == team->node) {
		*seat = map->seat[rank];
	} else {
		*why = "the rank is not one of this node's";
		return -EINVAL;
	}
	if (*seat < team->seats && !team->seat[*seat])
		return 0;
	*why = rank == TORCOLL_RANK_SELF ? "all ranks of this node are being joined already" :
					   "that rank is being joined already";
	return -EEXIST;
}

/* Make the group of a seat, without lanes. */
static struct tor_group *seat_new(struct tor_team *team, struct tor_group_config *cfg, u32 seat,
				  const char **why)
{
	struct tor_group *group;
	int err;

	/* the same for all: the first one's */
	group = tor_group_new(team->fabric, &tor_seat_ops, cfg->user, cfg->name,
			      team->depth ? team->depth : cfg->depth);
	if (IS_ERR(group))
		return group;
	refcount_inc(&team->refs);
	group->team = team;
	group->seat = seat;
	group->bits = cfg->bits;
	group->comm.ranks = team->map.ranks;
	group->comm.rank = tor_team_rank(team, seat);
	group->comm.channels = 0;
	group->room = group->comm.ranks;
	group->member = cfg->member;
	group->comm.member = group->member;
	cfg->member = NULL;
	err = tor_group_count(group, why);
	if (!err)
		err = tor_group_charge(group, (u64)group->room * sizeof(*group->member), why);
	if (!err)
		err = tor_group_alloc(group, why);
	if (!err) {
		team->depth = group->comm.depth;
		return group;
	}
	tor_group_put(group);
	return ERR_PTR(err);
}

/* All seats are taken: start the join of the nodes' group. */
static int team_begin_nodes(struct tor_team *team, const struct tor_group_config *by,
			    const char **why)
{
	struct tor_group_config cfg = *by;
	struct tor_group *nodes;
	int err;

	cfg.ranks = team->map.nodes;
	cfg.rank = TORCOLL_RANK_SELF;
	cfg.depth = team->depth;
	cfg.team = team;
	cfg.member = kvmalloc_array(cfg.ranks, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!cfg.member)
		return -ENOMEM;
	memcpy(cfg.member, team->member, cfg.ranks * sizeof(u32));
	err = team->op ? 0 : tor_team_op_alloc(team);
	nodes = err ? ERR_PTR(err) : tor_group_begin(team->fabric, &tor_nodes_ops, &cfg, why);
	kvfree(cfg.member);
	if (IS_ERR(nodes))
		return PTR_ERR(nodes);
	tor_team_op_init(team, nodes);
	/* a user of the fabric, like the comms of processes */
	atomic_inc(&team->fabric->users);
	WRITE_ONCE(team->nodes, nodes);
	/*
	 * it may have been joined, and have failed, before that: its work sees
	 * the pointer, or this sees the failure
	 */
	smp_mb();
	if (tor_comm_failed(&nodes->comm))
		tor_team_failed(nodes);
	return 0;
}

/*
 * End a nodes' group that is not joined and will not be. Others are told, and a
 * grace period passes, without teams_lock: meanwhile all seats stay taken, and
 * their processes wait, see team_look(). The team is therefore unchanged when
 * the lock is held again.
 */
static void team_end_nodes(struct tor_team *team)
{
	struct tor_group *nodes = team->nodes;

	WRITE_ONCE(team->ending, true);
	mutex_unlock(&teams_lock);
	wait_event(nodes->wait, test_bit_acquire(TOR_GROUP_JOINED, &nodes->flags));
	tor_group_end(nodes);
	mutex_lock(&teams_lock);
	WRITE_ONCE(team->nodes, NULL);
	atomic_dec(&team->fabric->users);
	WRITE_ONCE(team->over, false);
	WRITE_ONCE(team->ending, false);
	wake_up_all(&team->wait);
}

static void leave_seat(struct tor_team *team, struct tor_group *group)
{
	team->seat[group->seat] = NULL;
	team_show(team);
	/* no rank waits there any more */
	if (!first_here(team))
		team_unlist(team);
	tor_group_end(group);
}

static struct tor_group *take_seat(struct tor_team *own, struct tor_group_config *cfg,
				   const char **why)
{
	struct tor_team *team;
	struct tor_group *group;
	u32 seat;
	int err;

	/* or the fabric has a user, and tor_team_fabric_down() finds the team */
	if (tor_fabric_is_dead(own->fabric))
		return ERR_PTR(-ENETDOWN);
	team = team_enter(own, why);
	if (IS_ERR(team))
		return ERR_CAST(team);
	err = find_seat(team, cfg->rank, &seat, why);
	group = err ? ERR_PTR(err) : seat_new(team, cfg, seat, why);
	if (IS_ERR(group)) {
		if (team == own)
			team_unlist(own);
		return group;
	}
	team->seat[seat] = group;
	team->came[seat] = true;
	err = free_seat(team) == team->seats ? team_begin_nodes(team, cfg, why) : 0;
	if (err) {
		leave_seat(team, group);
		return ERR_PTR(err);
	}
	team_show(team);
	return group;
}

/* The nodes' join came to @err, and so does that of all seats. */
static void team_end(struct tor_team *team, int err)
{
	struct tor_group *nodes = team->nodes;
	u32 missing = TOR_NO_RANK;
	char text[TOR_JOIN_TEXT];
	const char *why;

	if (err == -ETIMEDOUT)
		missing = tor_comm_first(&nodes->comm, nodes->join.a.missing);
	why = tor_join_explain(nodes, err, text);
	if (err)
		team_end_nodes(team);
	else
		tor_group_share_epochs(nodes);
	team_close(team, err, missing, why);
}

/*
 * Record the result of the nodes' join; the first to see that it is over does
 * it.
 */
static void team_settle(struct tor_team *team)
{
	struct tor_group *nodes = team->nodes;

	if (!list_empty(&team->list) && nodes && test_bit_acquire(TOR_GROUP_JOINED, &nodes->flags))
		team_end(team, nodes->join.a.error);
}

static void seat_joined(struct tor_team *team, struct tor_group *group)
{
	refcount_inc(&team->nodes->refs);
	group->nodes = team->nodes;
	/* the team's reference */
	refcount_inc(&group->refs);
}

/* The join failed for all seats: take the result. */
static int seat_failed(struct tor_team *team, struct tor_group *group, u32 *missing, char *text)
{
	*missing = team->missing;
	strscpy(text, team->text, TOR_JOIN_TEXT);
	leave_seat(team, group);
	return team->error;
}

/*
 * The caller no longer waits for other ranks. Return @err, 0 if the comm was
 * joined at this moment, or why it had failed before.
 */
static int team_give_up(struct tor_team *team, struct tor_group *group, int err, u32 *missing,
			char *text)
{
	u32 seat = missing_seat(team);
	bool had_failed = false;

	*missing = TOR_NO_RANK;
	if (team->nodes) {
		int nodes_err = tor_group_cancel(team->nodes, err, &had_failed);

		if (!nodes_err) {
			team_settle(team);
			seat_joined(team, group);
			return 0;
		}
		if (had_failed) {
			/* others are still told */
			team_end(team, nodes_err);
			return seat_failed(team, group, missing, text);
		}
		if (err == -ETIMEDOUT)
			*missing = tor_comm_first(&team->nodes->comm, team->nodes->join.a.missing);
		team_end_nodes(team);
		/*
		 * seats whose comms have failed cannot try again; on a dead
		 * fabric no seat can, see tor_team_fabric_down()
		 */
		if (team->failed)
			team_close(team, -ECONNABORTED, TOR_NO_RANK, NULL);
		else if (READ_ONCE(team->fabric->dead))
			team_close(team, -ENETDOWN, TOR_NO_RANK, NULL);
	} else if (err == -ETIMEDOUT && seat < team->seats) {
		*missing = tor_team_rank(team, seat);
	}
	leave_seat(team, group);
	return err;
}

/*
 * State of a seat's join. Separate from errors, which may come from other
 * nodes.
 */
enum seat_state {
	SEAT_WAITING,
	SEAT_JOINED,
	SEAT_GIVEN_UP,
};

/*
 * @err: in: why the caller stops waiting, or 0; out: the result. @text, of
 * TOR_JOIN_TEXT bytes: a sentence about it, unless it is that of the error.
 */
static enum seat_state team_look(struct tor_team *team, struct tor_group *group, int *err,
				 u32 *missing, char *text)
{
	enum seat_state state = SEAT_WAITING;

	mutex_lock(&teams_lock);
	while (team->ending) {
		mutex_unlock(&teams_lock);
		wait_event(team->wait, !READ_ONCE(team->ending));
		mutex_lock(&teams_lock);
	}
	team_settle(team);
	if (team->sealed) {
		seat_joined(team, group);
		*err = 0;
		state = SEAT_JOINED;
	} else if (list_empty(&team->list)) {
		/*
		 * not by @over: the nodes' join may have ended since it was
		 * settled
		 */
		*err = seat_failed(team, group, missing, text);
		state = SEAT_GIVEN_UP;
	} else if (*err) {
		*err = team_give_up(team, group, *err, missing, text);
		state = *err ? SEAT_GIVEN_UP : SEAT_JOINED;
	}
	mutex_unlock(&teams_lock);
	return state;
}

struct tor_group *tor_team_join(struct tor_fabric *fabric, struct tor_group_config *cfg,
				const char **why)
{
	struct tor_team *own = team_new(fabric, cfg, why);
	struct tor_group *group;

	if (IS_ERR(own))
		return ERR_CAST(own);
	mutex_lock(&teams_lock);
	group = take_seat(own, cfg, why);
	mutex_unlock(&teams_lock);
	tor_team_put(own);
	if (IS_ERR(group) && !*why)
		*why = tor_join_sentence(PTR_ERR(group));
	return group;
}

int tor_team_await(struct tor_group *group, struct tor_group_config *cfg, u32 *missing,
		   const char **why)
{
	struct tor_team *team = group->team;
	enum seat_state state;
	int err;

	/* it stays when the seat does not */
	refcount_inc(&team->refs);
	cfg->text[0] = '\0';
	do {
		err = cfg->give_up ?:
		      tor_wait_until_pause(&team->wait, READ_ONCE(team->over), cfg->deadline,
					   cfg->pause);
		cfg->goes_on = tor_wait_was_interrupted(err);
		if (cfg->goes_on) {
			tor_team_put(team);
			return err;
		}
		state = team_look(team, group, &err, missing, cfg->text);
	} while (state == SEAT_WAITING);
	cfg->vague = *missing != TOR_NO_RANK && tor_team_is_one_of_several(team, *missing);
	*why = *cfg->text ? cfg->text : tor_join_sentence(err);
	tor_team_put(team);
	return err;
}

void tor_team_fabric_down(struct tor_fabric *fabric)
{
	struct tor_team *team, *next;

	mutex_lock(&teams_lock);
	list_for_each_entry_safe(team, next, &teams, list)
		/*
		 * else its nodes' join is over, and the context that ends that
		 * reports it
		 */
		if (team->fabric == fabric && !team->nodes)
			team_close(team, -ENETDOWN, TOR_NO_RANK, NULL);
	mutex_unlock(&teams_lock);
}

int tor_team_each_waiting(const struct tor_fabric *fabric,
			  int (*fn)(void *arg, const struct tor_group *seat, u32 missing), void *arg)
{
	struct tor_team *team;
	int err = 0;

	spin_lock(&waiting_lock);
	list_for_each_entry(team, &teams, list) {
		if (team->fabric == fabric && team->here)
			err = fn(arg, team->here, team->absent);
		if (err)
			break;
	}
	spin_unlock(&waiting_lock);
	return err;
}

void tor_team_installed(struct tor_group *nodes)
{
	struct tor_team *team = nodes->team;
	u32 seat;

	lockdep_assert_held(&nodes->fabric->lock);
	for (seat = 0; seat < team->seats; seat++) {
		struct tor_comm *comm = &team->seat[seat]->comm;

		comm->nodes = &nodes->comm;
		comm->tag = nodes->comm.tag;
		comm->generation = nodes->comm.generation;
		comm->unit = nodes->comm.unit;
	}
}

void tor_team_joined(struct tor_team *team)
{
	WRITE_ONCE(team->over, true);
	wake_up_all(&team->wait);
}
