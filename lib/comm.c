// SPDX-License-Identifier: MIT
/* Communicators: join, query, abort, leave. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

static int config_check(const struct torcoll_comm_config *c)
{
	if (!c->name || !c->name[0] || strlen(c->name) > TORCOLL_NAME_MAX)
		return torcoll__fail(-EINVAL, "a comm's name has 1 to %d bytes", TORCOLL_NAME_MAX);
	if (c->secret && strlen(c->secret) > TORCOLL_NAME_MAX)
		return torcoll__fail(-EINVAL, "a comm's secret has at most %d bytes",
				     TORCOLL_NAME_MAX);
	if (!c->members != !c->size)
		return torcoll__fail(-EINVAL, "a comm's members and their number go together");
	if (c->flags & ~(uint64_t)TORCOLL_COMM_TELL)
		return torcoll__fail(-EINVAL, "unknown flags 0x%llx of a comm",
				     (unsigned long long)c->flags);
	for (size_t i = 0; i < ARRAY_SIZE(c->reserved); i++)
		if (c->reserved[i])
			return torcoll__fail(-EINVAL,
					     "a reserved member of the comm's config is not 0");
	return 0;
}

/* Make a comm by a call. Of a large one it reads and compares a long list of members. */
static int join_call(struct torcoll *t, unsigned long request, void *arg, uint64_t *busy_ns)
{
	uint64_t began_ns = torcoll_sys_busy_ns();
	int err = torcoll_sys_ioctl(t->fd, request, arg);

	*busy_ns = torcoll_sys_busy_ns() - began_ns;
	return err;
}

/*
 * A comm is made by several calls, between which this thread starts ops that wait
 * for slots. Its making goes on meanwhile, as after a signal. Return whether such a
 * call ended early, and the next one is to wait on.
 */
static bool join_goes_on(struct torcoll *t, int err)
{
	if (err != -EINTR)
		return false;
	torcoll__push(t, true);
	return true;
}

/*
 * Join. Each call has the caller's values, since the struct's output members may
 * have changed.
 */
static int comm_add(struct torcoll *t, const struct torcoll_comm_config *c, uint32_t *handle)
{
	struct torcoll_comm_add add;
	char what[TORCOLL_NAME_MAX + 16] = "comm ";
	uint64_t busy_ns = 0;
	int err;

	do {
		add = (struct torcoll_comm_add){
			.size = sizeof(add),
			.fabric = c->fabric,
			.name = torcoll__u64(c->name),
			.secret = torcoll__u64(c->secret),
			.name_len = strlen(c->name),
			.secret_len = c->secret ? strlen(c->secret) : 0,
			.members = torcoll__u64(c->members),
			.ranks = c->size,
			.rank = c->rank,
			.deadline_ns = c->deadline_ns,
			.depth = c->depth,
			.bits = c->bits,
			.wait_ns = torcoll__join_end(t, busy_ns),
		};
		err = join_call(t, TORCOLL_IOC_COMM_ADD, &add, &busy_ns);
	} while (join_goes_on(t, err));
	if (err)
		return torcoll__refused(t, err, strcat(what, c->name));
	*handle = add.comm;
	return 0;
}

static void comm_del(struct torcoll *t, uint32_t handle)
{
	struct torcoll_handle del = { .size = sizeof(del), .handle = handle };

	torcoll__ioctl(t, TORCOLL_IOC_COMM_DEL, &del);
}

void torcoll__comm_free(struct torcoll_comm *comm)
{
	free(comm->members);
	free(comm->secret);
	free(comm->name);
	free(comm);
}

/* The strings of the caller's config are copied. */
static struct torcoll_comm *comm_alloc(struct torcoll *t, const struct torcoll_comm_config *c)
{
	struct torcoll_comm *comm = calloc(1, sizeof(*comm));

	if (!comm)
		return NULL;
	comm->t = t;
	comm->fabric = c->fabric;
	comm->depth = c->depth;
	comm->bits = c->bits;
	comm->flags = c->flags;
	comm->name = strdup(c->name);
	comm->secret = c->secret ? strdup(c->secret) : NULL;
	if (comm->name && !comm->secret == !c->secret)
		return comm;
	torcoll__comm_free(comm);
	return NULL;
}

/* Store the node of each rank, once their number is known. */
static int members_keep(struct torcoll_comm *comm, const uint32_t *members)
{
	comm->room = comm->size;
	comm->members = calloc(comm->room, sizeof(*comm->members));
	if (!comm->members)
		return torcoll__fail(-ENOMEM, "comm %s: out of memory", comm->name);
	for (uint32_t i = 0; i < comm->size; i++)
		comm->members[i] = members ? members[i] : i;
	return 0;
}

static void comm_keep(struct torcoll_comm *comm)
{
	struct torcoll *t = comm->t;

	pthread_rwlock_wrlock(&t->lock);
	comm->next = t->comms;
	t->comms = comm;
	pthread_rwlock_unlock(&t->lock);
}

int torcoll_comm_create(struct torcoll *t, const struct torcoll_comm_config *config,
			struct torcoll_comm **out)
{
	const char *algorithms = getenv("TORCOLL_ALGO");
	struct torcoll_comm_info info;
	struct torcoll_comm *comm;
	int err;

	err = torcoll__check(t, "joining a comm");
	if (!err)
		err = config_check(config);
	if (err)
		return err;
	comm = comm_alloc(t, config);
	if (!comm)
		return torcoll__fail(-ENOMEM, "comm %s: out of memory", config->name);
	if (algorithms)
		err = torcoll__algo_parse(comm->exclude, "TORCOLL_ALGO", algorithms);
	if (err)
		goto free;
	err = comm_add(t, config, &comm->handle);
	if (err)
		goto free;
	err = torcoll_comm_info(comm, &info);
	if (err)
		goto del;
	comm->rank = info.rank;
	comm->size = info.ranks;
	err = members_keep(comm, config->members);
	if (err)
		goto del;
	comm_keep(comm);
	torcoll__debug(TORCOLL__INFO, "comm %s: rank %u of %u, on node %u, generation %u, %u payload bytes per frame",
		       comm->name, comm->rank, comm->size, info.node, info.generation,
		       info.frame_bytes);
	*out = comm;
	return 0;

del:
	comm_del(t, comm->handle);
free:
	torcoll__comm_free(comm);
	return err;
}

/*
 * Allocate a comm like @comm for the surviving ranks; its members are not known
 * yet. There can be more than @comm has: others shrink the comm that failed
 * first, of which it is an heir.
 */
static struct torcoll_comm *heir_alloc(const struct torcoll_comm *comm)
{
	const struct torcoll_comm_config config = {
		.fabric = comm->fabric,
		.name = comm->name,
		.secret = comm->secret,
		.depth = comm->depth,
		.bits = comm->bits,
		.flags = comm->flags,
	};
	struct torcoll_comm *heir = comm_alloc(comm->t, &config);

	if (!heir)
		return NULL;
	memcpy(heir->exclude, comm->exclude, sizeof(heir->exclude));
	heir->room = comm->room;
	heir->members = calloc(heir->room, sizeof(*heir->members));
	if (heir->members)
		return heir;
	torcoll__comm_free(heir);
	return NULL;
}

int torcoll_comm_shrink(struct torcoll_comm *comm, uint64_t deadline_ns, struct torcoll_comm **out)
{
	struct torcoll_comm_shrink call;
	struct torcoll_comm *heir;
	uint64_t busy_ns = 0;
	int err;

	err = torcoll__check(comm->t, "shrink");
	if (err)
		return err;
	heir = heir_alloc(comm);
	if (!heir)
		return torcoll__fail(-ENOMEM, "shrink: out of memory");
	do {
		call = (struct torcoll_comm_shrink){
			.size = sizeof(call),
			.comm = comm->handle,
			.depth = comm->depth,
			.deadline_ns = deadline_ns,
			.members = torcoll__u64(heir->members),
			.room = heir->room,
			.wait_ns = torcoll__join_end(comm->t, busy_ns),
		};
		err = join_call(comm->t, TORCOLL_IOC_COMM_SHRINK, &call, &busy_ns);
	} while (join_goes_on(comm->t, err));
	if (err) {
		torcoll__comm_free(heir);
		return torcoll__refused(comm->t, err, "shrink");
	}
	heir->handle = call.shrunk;
	heir->rank = call.rank;
	heir->size = call.ranks;
	comm_keep(heir);
	torcoll__debug(TORCOLL__INFO, "comm %s: shrunk from %u ranks to %u, rank %u is now %u", comm->name,
		       comm->size, heir->size, comm->rank, heir->rank);
	*out = heir;
	return 0;
}

static void comm_unlink(struct torcoll_comm *comm)
{
	struct torcoll_comm **p = &comm->t->comms;

	while (*p != comm)
		p = &(*p)->next;
	*p = comm->next;
}

/* Return the jobs that are to be freed with the comm. */
static struct torcoll__job *comm_leave(struct torcoll_comm *comm)
{
	struct torcoll *t = comm->t;
	struct torcoll__job *jobs;

	pthread_rwlock_wrlock(&t->lock);
	comm_unlink(comm);
	pthread_rwlock_unlock(&t->lock);
	pthread_mutex_lock(&t->queue);
	torcoll__jobs_settle(comm);
	jobs = torcoll__jobs_take(t, comm);
	pthread_mutex_unlock(&t->queue);
	/* another thread that reaps must not take the handle for that of a later comm */
	torcoll__ring_forget_comm(comm);
	comm_del(t, comm->handle);
	torcoll__ring_pass(t);
	torcoll__debug(TORCOLL__INFO, "comm %s: closed", comm->name);
	return jobs;
}

void torcoll_comm_close(struct torcoll_comm *comm)
{
	struct torcoll__job *jobs;

	if (!comm)
		return;
	if (torcoll__is_forked(comm->t)) {
		/* the module's comm, and its ops, are the parent's */
		comm_unlink(comm);
		jobs = torcoll__jobs_take(comm->t, comm);
	} else {
		jobs = comm_leave(comm);
	}
	torcoll__jobs_free(jobs);
	torcoll__comm_free(comm);
}

uint32_t torcoll_comm_rank(const struct torcoll_comm *comm)
{
	return comm->rank;
}

uint32_t torcoll_comm_size(const struct torcoll_comm *comm)
{
	return comm->size;
}

uint32_t torcoll_comm_node(const struct torcoll_comm *comm, uint32_t rank)
{
	return rank < comm->size ? comm->members[rank] : UINT32_MAX;
}

int torcoll_comm_info(struct torcoll_comm *comm, struct torcoll_comm_info *info)
{
	int err = torcoll__check(comm->t, "query of a comm");

	if (err)
		return err;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->comm = comm->handle;
	err = torcoll__ioctl(comm->t, TORCOLL_IOC_COMM_INFO, info);
	return err ? torcoll__refused(comm->t, err, "query of a comm") : 0;
}

int torcoll_abort(struct torcoll_comm *comm)
{
	struct torcoll_handle h = { .size = sizeof(h), .handle = comm->handle };
	int err = torcoll__check(comm->t, "abort");

	if (err)
		return err;
	err = torcoll__ioctl(comm->t, TORCOLL_IOC_ABORT, &h);
	return err ? torcoll__refused(comm->t, err, "abort") : 0;
}
