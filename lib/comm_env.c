// SPDX-License-Identifier: MIT
/* The comm that a launcher describes in the environment. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "launcher.h"

#define MEMBERS_MAX	(1U << 20)
#define JOIN_SECONDS	120
#define FABRICS_MAX	64

struct members {
	uint32_t *node;
	uint32_t count;
};

int torcoll__env_number(const char *name, uint64_t max, uint64_t *value)
{
	const char *s = getenv(name), *end;

	if (!s || !*s)
		return 0;
	if (!torcoll__parse_number(s, max, value, &end) || *end)
		return torcoll__fail(-EINVAL, "%s=%s is not a number up to %llu", name, s,
				     (unsigned long long)max);
	return 0;
}

/* Append the nodes from @first to @last, @times each. */
static int members_append(struct members *m, uint64_t first, uint64_t last, uint64_t times)
{
	uint32_t *node;

	if (last < first || (last - first + 1) * times > MEMBERS_MAX - m->count)
		return -EINVAL;
	node = realloc(m->node, (m->count + (last - first + 1) * times) * sizeof(*node));
	if (!node)
		return -ENOMEM;
	m->node = node;
	for (; first <= last; first++)
		for (uint64_t i = 0; i < times; i++)
			m->node[m->count++] = first;
	return 0;
}

/* "5,1,8-11", or "8-11*2": two ranks on each */
static int members_parse(struct members *m, const char *s)
{
	uint64_t first, last, times;
	int err;

	for (;; s++) {
		if (!torcoll__parse_number(s, MEMBERS_MAX, &first, &s))
			return -EINVAL;
		last = first;
		if (*s == '-' && !torcoll__parse_number(s + 1, MEMBERS_MAX, &last, &s))
			return -EINVAL;
		times = 1;
		if (*s == '*' && (!torcoll__parse_number(s + 1, MEMBERS_MAX, &times, &s) || !times))
			return -EINVAL;
		err = members_append(m, first, last, times);
		if (err)
			return err;
		if (!*s)
			return 0;
		if (*s != ',')
			return -EINVAL;
	}
}

/**
 * struct env - what the environment says
 * @launcher: of others; its name is NULL if none has started the process
 * @fabric: as this host knows it; its nodes are 0 if it does not
 * @members: node of each rank, or none
 * @placed: variables of torcoll say where ranks are
 */
struct env {
	struct torcoll__launcher launcher;
	struct torcoll_sys_fabric fabric;
	struct members members;
	bool placed;
};

static bool env_has(const char *name)
{
	const char *s = getenv(name);

	return s && *s;
}

static int launcher_from_env(struct env *env)
{
	const char *wrong, *value;
	int ret;

	env->placed = env_has("TORCOLL_RANK") || env_has("TORCOLL_SIZE") ||
		      env_has("TORCOLL_MEMBERS");
	ret = torcoll__launcher_read(&env->launcher, &wrong);
	if (ret >= 0)
		return 0;
	value = getenv(wrong);
	return torcoll__fail(ret, "%s=%s is not what %s sets for the ranks of a job", wrong,
			     value ? value : "", env->launcher.name);
}

/* Find the fabric with the key TORCOLL_FABRIC, or the only one. */
static int fabric_from_env(struct env *env)
{
	struct torcoll_sys_fabric list[FABRICS_MAX];
	int n = torcoll_sys_fabrics(list, FABRICS_MAX);
	int err;

	if (env_has("TORCOLL_FABRIC")) {
		err = torcoll__env_number("TORCOLL_FABRIC", UINT64_MAX, &env->fabric.key);
		/* a fabric that is not found is for the module to refuse */
		for (int i = 0; !err && i < n && i < FABRICS_MAX; i++)
			if (list[i].key == env->fabric.key)
				env->fabric = list[i];
		return err;
	}
	if (n == 1) {
		env->fabric = list[0];
		return 0;
	}
	if (n > 1)
		return torcoll__fail(-EINVAL,
				     "TORCOLL_FABRIC is not set, and this host is in %d fabrics: it names the key of one",
				     n);
	/* without the module there is nobody to ask, and no fabric */
	if (n < 0 && n != -ENOENT)
		return torcoll__fail(n,
				     "TORCOLL_FABRIC is not set, and the fabrics of this host cannot be listed: %s",
				     torcoll_strerror(n));
	return torcoll__fail(-EINVAL,
			     "TORCOLL_FABRIC is not set, and this host is in no fabric: torcollctl apply makes it a node of one");
}

/* Of a fabric that is not known nodes are for the module to refuse, which does not know the variables. */
static int check_members(const struct env *env)
{
	const struct members *m = &env->members;

	for (uint32_t i = 0; env->fabric.nodes && i < m->count; i++)
		if (m->node[i] >= env->fabric.nodes)
			return torcoll__fail(-EINVAL, "%s: rank %u would be on node %u, and the fabric has %u nodes",
					     env_has("TORCOLL_MEMBERS") ? "TORCOLL_MEMBERS" :
									  "TORCOLL_SIZE",
					     i, m->node[i], env->fabric.nodes);
	return 0;
}

/* Without a list: so many nodes in order, or all. */
static int members_from_env(struct env *env)
{
	const char *list = getenv("TORCOLL_MEMBERS");
	struct members *m = &env->members;
	uint64_t size = 0;
	int err;

	err = torcoll__env_number("TORCOLL_SIZE", MEMBERS_MAX, &size);
	if (err)
		return err;
	if (list && *list) {
		err = members_parse(m, list);
		if (err == -EINVAL)
			return torcoll__fail(err, "TORCOLL_MEMBERS=%s is not a list of nodes", list);
		if (!err && size && size != m->count)
			return torcoll__fail(-EINVAL, "TORCOLL_MEMBERS has %u nodes, TORCOLL_SIZE is %u",
					     m->count, (unsigned int)size);
		if (!err && !size && env->launcher.name && env->launcher.size != m->count)
			return torcoll__fail(-EINVAL, "TORCOLL_MEMBERS has %u nodes, %s has started %u ranks",
					     m->count, env->launcher.name, env->launcher.size);
	} else if (size) {
		err = members_append(m, 0, size - 1, 1);
	}
	return err ? torcoll__fail(err, "members of the comm: %s", torcoll_strerror(err)) :
		     check_members(env);
}

/* Of all nodes, each has the rank of its number. */
static int check_rank_of_all(const struct env *env, uint32_t rank)
{
	if (!env_has("TORCOLL_RANK") || rank == env->fabric.node)
		return 0;
	return torcoll__fail(-EINVAL, "TORCOLL_RANK is %u, and this is node %u: without TORCOLL_SIZE or TORCOLL_MEMBERS ranks are the nodes' numbers",
			     rank, env->fabric.node);
}

/* A rank that is told to be on another node would wait for itself. */
static int check_rank(const struct env *env, uint32_t rank)
{
	const struct members *m = &env->members;

	if (rank == TORCOLL_RANK_SELF || !env->fabric.nodes)
		return 0;
	if (!m->count)
		return check_rank_of_all(env, rank);
	if (rank >= m->count)
		return torcoll__fail(-EINVAL, "this is rank %u, and there are %u ranks", rank,
				     m->count);
	if (m->node[rank] != env->fabric.node)
		return torcoll__fail(-EINVAL, "%s puts rank %u on node %u, and this is node %u",
				     env_has("TORCOLL_MEMBERS") ? "TORCOLL_MEMBERS" : "TORCOLL_SIZE",
				     rank, m->node[rank], env->fabric.node);
	return 0;
}

static int config_from_env(struct torcoll_comm_config *config, const struct env *env)
{
	uint64_t rank = TORCOLL_RANK_SELF, seconds = JOIN_SECONDS;
	const char *name = getenv("TORCOLL_COMM");
	int err;

	if (env->launcher.name)
		rank = env->launcher.rank;
	err = torcoll__env_number("TORCOLL_RANK", UINT32_MAX, &rank);
	if (!err)
		err = torcoll__env_number("TORCOLL_TIMEOUT", UINT32_MAX, &seconds);
	if (err)
		return err;
	config->fabric = env->fabric.key;
	config->name = env->launcher.name ? env->launcher.comm : "world";
	if (name && *name)
		config->name = name;
	config->secret = getenv("TORCOLL_SECRET");
	config->rank = rank;
	config->deadline_ns = seconds ? torcoll_deadline(1000 * seconds) : 0;
	config->members = env->members.node;
	config->size = env->members.count;
	return check_rank(env, rank);
}

static int read_env(struct env *env, struct torcoll_comm_config *config)
{
	int err = launcher_from_env(env);

	if (!err)
		err = fabric_from_env(env);
	if (!err)
		err = members_from_env(env);
	return err ? err : config_from_env(config, env);
}

int torcoll_comm_from_env(struct torcoll *t, struct torcoll_comm **comm)
{
	struct torcoll_comm_config config = { 0 };
	struct env env = { 0 };
	int err = read_env(&env, &config);

	if (!err && env.launcher.name && !env.placed) {
		if (env.fabric.nodes)
			err = torcoll__place(t, &config, &env.launcher, &env.fabric, comm);
		else
			err = torcoll__fail(-ENODEV, "this host is not in fabric %llu",
					    (unsigned long long)config.fabric);
	} else if (!err) {
		err = torcoll_comm_create(t, &config, comm);
	}
	free(env.members.node);
	return err;
}
