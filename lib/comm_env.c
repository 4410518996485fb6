// SPDX-License-Identifier: MIT
/* The comm that a launcher describes in the environment. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MEMBERS_MAX	(1U << 20)
#define JOIN_SECONDS	120

struct members {
	uint32_t *node;
	uint32_t count;
};

/* Parse an unsigned number up to @max; *@end points behind it. */
static bool parse_number(const char *s, uint64_t max, uint64_t *value, const char **end)
{
	char *tail;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &tail, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	*end = tail;
	return !errno && *value <= max;
}

int torcoll__env_number(const char *name, uint64_t max, uint64_t *value)
{
	const char *s = getenv(name), *end;

	if (!s || !*s)
		return 0;
	if (!parse_number(s, max, value, &end) || *end)
		return torcoll__fail(-EINVAL, "%s=%s is not a number up to %llu", name, s,
				     (unsigned long long)max);
	return 0;
}

static int members_append(struct members *m, uint64_t first, uint64_t last)
{
	uint32_t *node;

	if (last < first || last - first >= MEMBERS_MAX - m->count)
		return -EINVAL;
	node = realloc(m->node, (m->count + last - first + 1) * sizeof(*node));
	if (!node)
		return -ENOMEM;
	m->node = node;
	while (first <= last)
		m->node[m->count++] = first++;
	return 0;
}

/* "5,1,8-11" */
static int members_parse(struct members *m, const char *s)
{
	uint64_t first, last;
	int err;

	for (;; s++) {
		if (!parse_number(s, MEMBERS_MAX, &first, &s))
			return -EINVAL;
		last = first;
		if (*s == '-' && !parse_number(s + 1, MEMBERS_MAX, &last, &s))
			return -EINVAL;
		err = members_append(m, first, last);
		if (err)
			return err;
		if (!*s)
			return 0;
		if (*s != ',')
			return -EINVAL;
	}
}

static int members_from_env(struct members *m)
{
	const char *list = getenv("TORCOLL_MEMBERS");
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
	} else if (size) {
		err = members_append(m, 0, size - 1);
	}
	return err ? torcoll__fail(err, "members of the comm: %s", torcoll_strerror(err)) : 0;
}

static int config_from_env(struct torcoll_comm_config *config)
{
	uint64_t rank = TORCOLL_RANK_SELF, seconds = JOIN_SECONDS;
	const char *fabric = getenv("TORCOLL_FABRIC");
	const char *name = getenv("TORCOLL_COMM");
	int err;

	if (!fabric || !*fabric)
		return torcoll__fail(-EINVAL,
				     "TORCOLL_FABRIC is not set: it names the fabric's key; torcollctl netns run sets it");
	err = torcoll__env_number("TORCOLL_FABRIC", UINT64_MAX, &config->fabric);
	if (!err)
		err = torcoll__env_number("TORCOLL_RANK", UINT32_MAX, &rank);
	if (!err)
		err = torcoll__env_number("TORCOLL_TIMEOUT", UINT32_MAX, &seconds);
	if (err)
		return err;
	config->name = name && *name ? name : "world";
	config->secret = getenv("TORCOLL_SECRET");
	config->rank = rank;
	config->deadline_ns = seconds ? torcoll_deadline(1000 * seconds) : 0;
	return 0;
}

int torcoll_comm_from_env(struct torcoll *t, struct torcoll_comm **comm)
{
	struct torcoll_comm_config config = { 0 };
	struct members members = { 0 };
	int err;

	err = config_from_env(&config);
	if (!err)
		err = members_from_env(&members);
	if (!err) {
		config.members = members.node;
		config.size = members.count;
		err = torcoll_comm_create(t, &config, comm);
	}
	free(members.node);
	return err;
}
