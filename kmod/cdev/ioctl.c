// SPDX-License-Identifier: GPL-2.0
/* The ioctls of /dev/torcoll: one table, one struct each. See ioctl.h. */
#include "cdev/ioctl.h"

#include <linux/torcoll.h>
#include <linux/uaccess.h>

#include "cdev/region.h"
#include "cdev/ring.h"
#include "cdev/session.h"
#include "cdev/session_comm.h"
#include "core/version.h"
#include "op/op.h"
#include "op/result.h"

/*
 * Each call gets the caller's struct, extended or cut to the size that this
 * module knows.
 */

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
			 TORCOLL_FEATURE_ALLOC | TORCOLL_FEATURE_TRY | TORCOLL_FEATURE_TELL |
			 TORCOLL_FEATURE_WAIT_NS |
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

	tor_session_sentence(session, text);
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

/* Publish the ring, unless the session has one. */
static int set_ring(struct tor_session *session, struct tor_ring *ring)
{
	int err = 0;

	mutex_lock(&session->lock);
	if (session->ring)
		err = -EBUSY;
	else
		/* with its contents: pairs with smp_load_acquire() */
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
		return tor_refuse(session, -EINVAL, "%d is not an eventfd", setup->eventfd);
	ring = tor_ring_new(session->user, setup->entries, setup->eventfd);
	if (ring == ERR_PTR(-EDQUOT))
		return tor_refuse(session, -EDQUOT, "%s", tor_limit_sentence(TOR_LIMIT_KERNEL));
	if (ring == ERR_PTR(-ENOMEM))
		return tor_refuse(session, -ENOMEM, "no memory for %u entries", setup->entries);
	if (IS_ERR(ring))
		return tor_refuse(session, PTR_ERR(ring), "%d is not an eventfd", setup->eventfd);
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

static int call_comm_add(struct tor_session *session, union call *call)
{
	return tor_session_comm_add(session, &call->comm_add);
}

static int call_comm_shrink(struct tor_session *session, union call *call)
{
	return tor_session_comm_shrink(session, &call->comm_shrink);
}

static int call_comm_del(struct tor_session *session, union call *call)
{
	return tor_session_comm_del(session, call->handle.handle);
}

static int call_comm_info(struct tor_session *session, union call *call)
{
	return tor_session_comm_info(session, &call->comm_info);
}

static int ioctl_submit(struct tor_session *session, struct torcoll_submit *desc)
{
	struct tor_group *group = tor_session_group(session, desc->comm);
	int err;

	if (IS_ERR(group))
		return PTR_ERR(group);
	/*
	 * the calling process owns the session from now on: its death ends the
	 * comm
	 */
	tor_session_use(session);
	err = tor_op_submit(session, group, desc);
	tor_session_group_put(group);
	return err;
}

static int call_submit(struct tor_session *session, union call *call)
{
	return ioctl_submit(session, &call->submit);
}

/*
 * Submit one op of a batch. A started op cannot be undone, so the array is
 * written to first.
 */
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
		return tor_refuse(session, -EINVAL,
				  "a descriptor has %u bytes, but desc_size is %u",
				  desc.size, size);
	if (desc.flags & TORCOLL_OP_WAIT)
		return tor_refuse(session, -EINVAL, "an op of a batch cannot be waited for in it");
	err = ioctl_submit(session, &desc);
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
		return tor_refuse(session, -EINVAL, "desc_size %u is too small or too large",
				  batch->desc_size);
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

/* Undo a call whose handle cannot be returned to the caller. */
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
	tor_session_comm_del(session, call->comm_add.comm);
}

static void undo_comm_shrink(struct tor_session *session, union call *call)
{
	tor_session_comm_del(session, call->comm_shrink.shrunk);
}

struct call_type {
	u32 size;
	u32 min_size;		/* up to the last member of the first version */
	int (*call)(struct tor_session *session, union call *call);
	void (*undo)(struct tor_session *session, union call *call);
	bool probe;		/* cannot be undone: write to the struct first */
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
	CALL(TORCOLL_IOC_WAIT, torcoll_wait, __reserved, call_wait, .probe = true),
	CALL(TORCOLL_IOC_ABORT, torcoll_handle, handle, call_abort),
	CALL(TORCOLL_IOC_BATCH, torcoll_batch, __reserved, call_batch, .probe = true),
	CALL(TORCOLL_IOC_RING_SETUP, torcoll_ring_setup, entry_size, call_ring_setup, .probe = true),
};

long tor_session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tor_session *session = file->private_data;
	void __user *user = (void __user *)arg;
	/* copy_struct_from_user() fills all of it that the call has */
	union call call __uninitialized;
	const struct call_type *type;
	u32 size;
	int err;

	if (_IOC_TYPE(cmd) != TORCOLL_IOC_MAGIC || _IOC_DIR(cmd) != _IOC_NONE ||
	    _IOC_SIZE(cmd) || _IOC_NR(cmd) >= ARRAY_SIZE(calls) || !calls[_IOC_NR(cmd)].call)
		return -ENOTTY;
	type = &calls[_IOC_NR(cmd)];
	if (cmd != TORCOLL_IOC_ERROR)
		tor_refuse_nothing(session);
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
	/*
	 * with some errors, results are valid too: which rank is missing, which
	 * op was interrupted
	 */
	call.size = size;
	if (copy_to_user(user, &call, min(size, type->size)) && !err) {
		if (type->undo)
			type->undo(session, &call);
		err = -EFAULT;
	}
	return err;
}
