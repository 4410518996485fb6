// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/torcoll: open files, the table of calls, comms, death of processes. Regions are in region.c. See session.h and
 * linux/torcoll.h.
 */
#include "session.h"

#include <linux/fdtable.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/torcoll.h>
#include <linux/uaccess.h>

#include "main.h"
#include "netlink.h"
#include "op.h"
#include "region.h"
#include "ring.h"
#include "team.h"
#include "version.h"

#define RANKS_MAX	(1U << 20)

int tor_refuse(struct tor_session *session, int err, const char *fmt, ...)
{
	va_list args;

	mutex_lock(&session->lock);
	va_start(args, fmt);
	vsnprintf(session->text, sizeof(session->text), fmt, args);
	va_end(args);
	mutex_unlock(&session->lock);
	return err;
}

void tor_session_wake(struct tor_session *session, __poll_t what)
{
	if (session)
		wake_up_interruptible_poll(&session->poll, what);
}

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
	struct tor_fabric *fabric = group->fabric;

	tor_group_put(group);
	atomic_dec(&fabric->users);
}

/* --- calls; each gets the caller's struct, extended or cut to what this module knows --- */

union call {
	u32 size;
	struct torcoll_info info;
	struct torcoll_error error;
	struct torcoll_region_add region_add;
	struct torcoll_region_alloc region_alloc;
	struct torcoll_handle handle;
	struct torcoll_comm_add comm_add;
	struct torcoll_comm_shrink comm_shrink;
	struct torcoll_comm_info comm_info;
	struct torcoll_submit submit;
	struct torcoll_wait wait;
	struct torcoll_batch batch;
	struct torcoll_ring_setup ring_setup;
};

static int call_info(struct tor_session *session, union call *call)
{
	struct torcoll_info *info = &call->info;

	if (info->flags)
		return tor_refuse(session, -EINVAL, "unknown flags %#x", info->flags);
	info->abi_version = TORCOLL_ABI_VERSION;
	info->max_channels = TOR_MAX_CHANNELS;
	info->features = TORCOLL_FEATURE_PLAIN_POINTERS | TORCOLL_FEATURE_POLL |
			 TORCOLL_FEATURE_SHRINK | TORCOLL_FEATURE_RING | TORCOLL_FEATURE_SPIN |
			 TORCOLL_FEATURE_ALLOC |
			 (IS_ENABLED(CONFIG_MMU_NOTIFIER) ? TORCOLL_FEATURE_WATCH : 0);
	info->collectives = tor_op_collectives();
	info->types = tor_op_types();
	info->redops = tor_op_redops();
	info->algorithms = tor_op_algorithms();
	strscpy_pad(info->version, TOR_VERSION, sizeof(info->version));
	return 0;
}

static int call_error(struct tor_session *session, union call *call)
{
	struct torcoll_error *error = &call->error;
	char text[TOR_TEXT_MAX];
	u32 len, room = error->len;

	mutex_lock(&session->lock);
	strscpy(text, session->text, sizeof(text));
	mutex_unlock(&session->lock);
	len = strlen(text) + 1;
	error->len = len;
	if (!room)
		return 0;
	if (len > room) {
		len = room;
		text[len - 1] = '\0';
	}
	return copy_to_user(u64_to_user_ptr(error->text), text, len) ? -EFAULT : 0;
}

/* Publish it, unless there is one. */
static int set_ring(struct tor_session *session, struct tor_ring *ring)
{
	int err = 0;

	mutex_lock(&session->lock);
	if (session->ring)
		err = -EBUSY;
	else
		/* with all that is in it: pairs with smp_load_acquire() */
		smp_store_release(&session->ring, ring);
	mutex_unlock(&session->lock);
	return err;
}

static int call_ring_setup(struct tor_session *session, union call *call)
{
	struct torcoll_ring_setup *setup = &call->ring_setup;
	struct tor_ring *ring;

	if (setup->flags)
		return tor_refuse(session, -EINVAL, "unknown flags %#x", setup->flags);
	if (!setup->entries || setup->entries > TORCOLL_RING_MAX)
		return tor_refuse(session, -EINVAL, "a ring of %u entries, which has 1 to %u",
				  setup->entries, TORCOLL_RING_MAX);
	if (setup->eventfd < -1)
		return tor_refuse(session, -EINVAL, "%d is no eventfd", setup->eventfd);
	ring = tor_ring_new(session->user, setup->entries, setup->eventfd);
	if (ring == ERR_PTR(-EDQUOT))
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_KERNEL));
	if (ring == ERR_PTR(-ENOMEM))
		return tor_refuse(session, -ENOMEM, "no memory for %u entries", setup->entries);
	if (IS_ERR(ring))
		return tor_refuse(session, PTR_ERR(ring), "%d is no eventfd", setup->eventfd);
	setup->entries = ring->entries;
	setup->bytes = ring->bytes;
	setup->entries_offset = sizeof(struct torcoll_ring);
	setup->entry_size = sizeof(struct torcoll_completion);
	if (!set_ring(session, ring))
		return 0;
	tor_ring_free(ring);
	return tor_refuse(session, -EBUSY, "the file has a completion ring");
}

static int call_region_add(struct tor_session *session, union call *call)
{
	return tor_region_add(session, &call->region_add);
}

static int call_region_alloc(struct tor_session *session, union call *call)
{
	return tor_region_alloc(session, &call->region_alloc);
}

static int call_region_del(struct tor_session *session, union call *call)
{
	return tor_region_del(session, call->handle.handle);
}

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

/* The fabric of a key, with one more user. */
static struct tor_fabric *get_fabric(struct tor_session *session, u64 key)
{
	struct tor_fabric *fabric;

	rtnl_lock();
	fabric = tor_fabric_find(tor_net(session->net), key);
	if (fabric)
		atomic_inc(&fabric->users);
	rtnl_unlock();
	if (!fabric)
		return ERR_PTR(tor_refuse(session, -ENODEV,
					  "this namespace is no node of a fabric with key %llu", key));
	return fabric;
}

/*
 * Give the process a handle. The group may be read until tor_session_group_put(), which the caller owes: once it has
 * a handle, another thread may close it.
 */
static int publish_group(struct tor_session *session, struct tor_group *group, u32 *handle)
{
	int id;

	refcount_inc(&group->refs);
	atomic_inc(&group->fabric->users);
	mutex_lock(&session->lock);
	if (session->ended) {
		id = -ECONNABORTED;
	} else {
		id = idr_alloc(&session->groups, group, 1, 0, GFP_KERNEL_ACCOUNT);
		group->handle = id;
		WRITE_ONCE(group->session, session);
	}
	mutex_unlock(&session->lock);
	if (id < 0) {
		tor_group_close(group);
	} else {
		tor_netlink_notify_comm(group->team ? group->team->nodes : group, false);
		*handle = id;
	}
	return min(id, 0);
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

static int create_group(struct tor_session *session, struct torcoll_comm_add *add,
			struct tor_group_config *cfg)
{
	struct tor_fabric *fabric = get_fabric(session, add->fabric);
	struct tor_group *group;
	const char *why = NULL;
	int err;

	if (IS_ERR(fabric))
		return PTR_ERR(fabric);
	group = tor_group_create(fabric, cfg, &add->missing, &why);
	if (IS_ERR(group))
		return no_group(session, PTR_ERR(group), add->missing, cfg->vague, why);
	err = publish_group(session, group, &add->comm);
	add->rank = group->comm.rank;
	add->depth = group->comm.depth;
	tor_session_group_put(group);
	return err;
}

static int call_comm_add(struct tor_session *session, union call *call)
{
	struct torcoll_comm_add *add = &call->comm_add;
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
		WRITE_ONCE(session->owner, current->files);
		err = create_group(session, add, &cfg);
		kvfree(cfg.member);
	}
	memzero_explicit(secret, sizeof(secret));
	return err;
}

/* The node of each rank, for the caller. */
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

static int shrink_group(struct tor_session *session, struct tor_group *from,
			struct torcoll_comm_shrink *call)
{
	struct tor_group *group;
	const char *why = NULL;
	int err;

	group = tor_group_shrink(from, call->depth, call->deadline_ns, &call->missing, &why);
	if (IS_ERR(group))
		return no_group(session, PTR_ERR(group), call->missing, false, why);
	err = write_members(&group->comm, call);
	if (err) {
		tor_group_close(group);
		return tor_refuse(session, err, "the members cannot be written to %u entries at %#llx",
				  call->room, call->members);
	}
	err = publish_group(session, group, &call->shrunk);
	call->rank = group->comm.rank;
	call->ranks = group->comm.ranks;
	call->depth = group->comm.depth;
	tor_session_group_put(group);
	return err;
}

static int call_comm_shrink(struct tor_session *session, union call *call)
{
	struct torcoll_comm_shrink *shrink = &call->comm_shrink;
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
	WRITE_ONCE(session->owner, current->files);
	err = shrink_group(session, from, shrink);
	tor_session_group_put(from);
	return err;
}

static int call_comm_del(struct tor_session *session, union call *call)
{
	struct tor_group *group;

	mutex_lock(&session->lock);
	group = idr_remove(&session->groups, call->handle.handle);
	mutex_unlock(&session->lock);
	if (!group)
		return tor_refuse(session, -ENOENT, "no comm has handle %u", call->handle.handle);
	tor_group_close(group);
	return 0;
}

static int call_comm_info(struct tor_session *session, union call *call)
{
	struct torcoll_comm_info *info = &call->comm_info;
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
	info->ndim = comm->node->torus.ndim;
	memset(info->side, 0, sizeof(info->side));
	memcpy(info->side, comm->node->torus.side, info->ndim * sizeof(u32));
	info->frame_bytes = comm->unit;
	info->error = tor_comm_failed(comm) ? comm->error : 0;
	info->error_rank = info->error ? comm->error_rank : TOR_NO_RANK;
	tor_session_group_put(group);
	return 0;
}

static int submit(struct tor_session *session, struct torcoll_submit *desc)
{
	struct tor_group *group = tor_session_group(session, desc->comm);
	int err;

	if (IS_ERR(group))
		return PTR_ERR(group);
	/* whose death ends the comm: the one that calls */
	WRITE_ONCE(session->owner, current->files);
	err = tor_op_submit(session, group, desc);
	tor_session_group_put(group);
	return err;
}

static int call_submit(struct tor_session *session, union call *call)
{
	return submit(session, &call->submit);
}

/* One of a batch; what it starts cannot be undone, so the array is written to before. */
static int submit_of_batch(struct tor_session *session, void __user *user, u32 size)
{
	struct torcoll_submit desc;
	u32 known = min_t(u32, size, sizeof(desc));
	int err;

	err = copy_struct_from_user(&desc, sizeof(desc), user, size);
	if (err == -E2BIG)
		return tor_refuse(session, err, "a descriptor has members that this module does not know");
	if (err || copy_to_user(user, &desc, known))
		return tor_refuse(session, -EFAULT, "a descriptor cannot be read and written");
	if (desc.size != size)
		return tor_refuse(session, -EINVAL, "a descriptor of %u bytes among those of %u",
				  desc.size, size);
	if (desc.flags & TORCOLL_OP_WAIT)
		return tor_refuse(session, -EINVAL, "an op of a batch cannot be waited for in it");
	err = submit(session, &desc);
	if (copy_to_user(user, &desc, known) && !err)
		err = -EFAULT;
	return err;
}

static int call_batch(struct tor_session *session, union call *call)
{
	struct torcoll_batch *batch = &call->batch;
	int err = 0;
	u32 i;

	batch->started = 0;
	if (batch->flags || batch->__reserved)
		return tor_refuse(session, -EINVAL, "a reserved member is not zero");
	if (!batch->count || batch->count > TORCOLL_BATCH_MAX)
		return tor_refuse(session, -EINVAL, "%u ops in a batch, which takes 1 to %u",
				  batch->count, TORCOLL_BATCH_MAX);
	if (batch->desc_size < offsetofend(struct torcoll_submit, chosen) ||
	    batch->desc_size > PAGE_SIZE)
		return tor_refuse(session, -EINVAL, "descriptors of %u bytes", batch->desc_size);
	for (i = 0; i < batch->count && !err; i++) {
		err = submit_of_batch(session, u64_to_user_ptr(batch->descs + (u64)i * batch->desc_size),
				      batch->desc_size);
		batch->started += !err;
	}
	return err;
}

static int call_wait(struct tor_session *session, union call *call)
{
	struct tor_group *group;
	int err;

	if (call->wait.flags & ~TORCOLL_WAIT_FLAGS || call->wait.__reserved)
		return tor_refuse(session, -EINVAL, "unknown flags, or a reserved member");
	group = tor_session_group(session, call->wait.comm);
	if (IS_ERR(group))
		return PTR_ERR(group);
	err = tor_op_wait(session, group, &call->wait);
	tor_session_group_put(group);
	return err;
}

static int call_abort(struct tor_session *session, union call *call)
{
	struct tor_group *group = tor_session_group(session, call->handle.handle);

	if (IS_ERR(group))
		return PTR_ERR(group);
	tor_group_abort(group, -ECANCELED);
	tor_session_group_put(group);
	return 0;
}

/* The caller cannot learn its handle. */
static void undo_region_add(struct tor_session *session, union call *call)
{
	tor_region_del(session, call->region_add.region);
}

static void undo_region_alloc(struct tor_session *session, union call *call)
{
	tor_region_del(session, call->region_alloc.region);
}

static void undo_comm_add(struct tor_session *session, union call *call)
{
	union call del = { .handle.handle = call->comm_add.comm };

	call_comm_del(session, &del);
}

static void undo_comm_shrink(struct tor_session *session, union call *call)
{
	union call del = { .handle.handle = call->comm_shrink.shrunk };

	call_comm_del(session, &del);
}

struct call_type {
	u32 size;
	u32 min_size;		/* up to the last member of the first version */
	int (*call)(struct tor_session *session, union call *call);
	void (*undo)(struct tor_session *session, union call *call);
	bool probe;		/* what it starts cannot be undone: write to the struct first */
};

#define CALL(_cmd, _struct, _last, _call, ...)					\
	[_IOC_NR(_cmd)] = {							\
		.size = sizeof(struct _struct),					\
		.min_size = offsetofend(struct _struct, _last),			\
		.call = _call,							\
		__VA_ARGS__							\
	}

static const struct call_type calls[] = {
	CALL(TORCOLL_IOC_INFO, torcoll_info, version, call_info),
	CALL(TORCOLL_IOC_ERROR, torcoll_error, text, call_error),
	CALL(TORCOLL_IOC_REGION_ADD, torcoll_region_add, __reserved, call_region_add,
	     .undo = undo_region_add),
	CALL(TORCOLL_IOC_REGION_ALLOC, torcoll_region_alloc, offset, call_region_alloc,
	     .undo = undo_region_alloc),
	CALL(TORCOLL_IOC_REGION_DEL, torcoll_handle, handle, call_region_del),
	CALL(TORCOLL_IOC_COMM_ADD, torcoll_comm_add, bits, call_comm_add,
	     .undo = undo_comm_add),
	CALL(TORCOLL_IOC_COMM_DEL, torcoll_handle, handle, call_comm_del),
	CALL(TORCOLL_IOC_COMM_SHRINK, torcoll_comm_shrink, __reserved, call_comm_shrink,
	     .undo = undo_comm_shrink),
	CALL(TORCOLL_IOC_COMM_INFO, torcoll_comm_info, __reserved, call_comm_info),
	CALL(TORCOLL_IOC_SUBMIT, torcoll_submit, chosen, call_submit, .probe = true),
	CALL(TORCOLL_IOC_WAIT, torcoll_wait, __reserved, call_wait),
	CALL(TORCOLL_IOC_ABORT, torcoll_handle, handle, call_abort),
	CALL(TORCOLL_IOC_BATCH, torcoll_batch, __reserved, call_batch, .probe = true),
	CALL(TORCOLL_IOC_RING_SETUP, torcoll_ring_setup, entry_size, call_ring_setup, .probe = true),
};

static long session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tor_session *session = file->private_data;
	void __user *user = (void __user *)arg;
	const struct call_type *type;
	union call call = {};
	u32 size;
	int err;

	if (_IOC_TYPE(cmd) != TORCOLL_IOC_MAGIC || _IOC_DIR(cmd) != _IOC_NONE ||
	    _IOC_SIZE(cmd) || _IOC_NR(cmd) >= ARRAY_SIZE(calls) || !calls[_IOC_NR(cmd)].call)
		return -ENOTTY;
	type = &calls[_IOC_NR(cmd)];
	/* no sentence outlives the call that it belongs to */
	if (cmd != TORCOLL_IOC_ERROR)
		tor_refuse(session, 0, "%s", "");
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < type->min_size)
		return tor_refuse(session, -EINVAL, "the struct has %u bytes, at least %u are needed",
				  size, type->min_size);
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&call, type->size, user, size);
	if (err)
		return err;
	if (type->probe && copy_to_user(user, &call, min(size, type->size)))
		return -EFAULT;
	err = type->call(session, &call);
	/* results are valid with some errors, too: who is missing, which op was interrupted */
	call.size = size;
	if (copy_to_user(user, &call, min(size, type->size)) && !err) {
		if (type->undo)
			type->undo(session, &call);
		err = -EFAULT;
	}
	return err;
}

static __poll_t session_poll(struct file *file, poll_table *wait)
{
	struct tor_session *session = file->private_data;
	struct tor_group *group;
	__poll_t mask = 0;
	int id;

	poll_wait(file, &session->poll, wait);
	mutex_lock(&session->lock);
	idr_for_each_entry(&session->groups, group, id) {
		if (tor_group_has_results(group))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (tor_comm_failed(&group->comm))
			mask |= EPOLLERR;
	}
	if (session->ring && tor_ring_readable(session->ring))
		mask |= EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&session->lock);
	return mask;
}

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tor_session *session = file->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	struct tor_ring *ring;

	if (offset != TORCOLL_MMAP_RING)
		return tor_region_mmap(session, offset, vma);
	/* pairs with set_ring() */
	ring = smp_load_acquire(&session->ring);
	return ring ? tor_ring_mmap(ring, vma) : -EINVAL;
}

static int session_open(struct inode *inode, struct file *file)
{
	struct tor_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return -ENOMEM;
	session->user = tor_user_get_current();
	if (!session->user) {
		kfree(session);
		return -ENOMEM;
	}
	session->net = get_net(current->nsproxy->net_ns);
	mutex_init(&session->lock);
	idr_init(&session->regions);
	idr_init(&session->groups);
	init_waitqueue_head(&session->poll);
	session->owner = current->files;
	file->private_data = session;
	return nonseekable_open(inode, file);
}

/*
 * Leave all comms, or @fail them, then unpin all memory. Context: nobody else works on the session, or nobody will
 * because its process has @ended.
 */
static void release_all(struct tor_session *session, bool ended, bool fail)
{
	struct tor_group *group;
	struct tor_pages *pages;
	int id;

	mutex_lock(&session->lock);
	session->ended |= ended;
	idr_for_each_entry(&session->groups, group, id) {
		idr_remove(&session->groups, id);
		mutex_unlock(&session->lock);
		if (fail)
			tor_group_abort(group, -ECONNABORTED);
		tor_group_close(group);
		mutex_lock(&session->lock);
	}
	idr_for_each_entry(&session->regions, pages, id) {
		idr_remove(&session->regions, id);
		mutex_unlock(&session->lock);
		/* takes the lock of the process's mappings, which is held when one of them is made */
		tor_pages_put(pages);
		mutex_lock(&session->lock);
	}
	mutex_unlock(&session->lock);
}

/*
 * A process that submitted is gone, though a child may keep the file: its memory is unpinned. If it was killed, or exited
 * with an error, its peers hear of that now; one that exits in peace only leaves, as by closing. Any other close
 * changes nothing before release().
 */
static int session_flush(struct file *file, fl_owner_t id)
{
	struct tor_session *session = file->private_data;

	if (current->flags & PF_EXITING && READ_ONCE(session->owner) == id)
		release_all(session, true, current->exit_code);
	return 0;
}

static int session_release(struct inode *inode, struct file *file)
{
	struct tor_session *session = file->private_data;

	release_all(session, false, false);
	idr_destroy(&session->groups);
	idr_destroy(&session->regions);
	if (session->ring)
		tor_ring_free(session->ring);
	put_net(session->net);
	tor_user_put(session->user);
	kfree_rcu(session, rcu);
	return 0;
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.open = session_open,
	.flush = session_flush,
	.release = session_release,
	.unlocked_ioctl = session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = session_poll,
	.mmap = session_mmap,
};

static struct miscdevice session_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "torcoll",
	.fops = &session_fops,
	.mode = 0660,
};

int tor_session_init(void)
{
	return misc_register(&session_device);
}

void tor_session_exit(void)
{
	misc_deregister(&session_device);
}
