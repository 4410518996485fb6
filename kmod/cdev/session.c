// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/torcoll: open files, and the death of processes. See session.h.
 */
#include "cdev/session.h"

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/torcoll.h>

#include "cdev/ioctl.h"
#include "cdev/pending.h"
#include "cdev/region.h"
#include "cdev/ring.h"
#include "main.h"
#include "op/slot.h"

/* --- sentences --- */

/*
 * Find the place of the calling thread's sentence; TOR_SENTENCES if it has none.
 * Without session->lock as well: only the thread itself writes its own pid, and
 * a pid that is written there is referenced, so an equal pointer is not a reused
 * struct. Another thread may take the place at any time without the lock.
 */
static u32 own_sentence(const struct tor_sentences *said)
{
	const struct pid *self = task_pid(current);
	u32 i;

	for (i = 0; i < TOR_SENTENCES; i++)
		if (READ_ONCE(said->thread[i]) == self)
			break;
	return i;
}

/* Return a place for the calling thread's: its own, a free or the oldest one. */
static u32 place_sentence(const struct tor_sentences *said)
{
	u32 i, place = own_sentence(said);

	if (place < TOR_SENTENCES)
		return place;
	for (i = 0, place = 0; i < TOR_SENTENCES; i++) {
		if (!said->thread[i])
			return i;
		if (said->order[i] < said->order[place])
			place = i;
	}
	return place;
}

/* Context: session->lock held, or nobody else has the session. */
static void forget_sentence(struct tor_sentences *said, u32 i)
{
	struct pid *thread = said->thread[i];

	if (!thread)
		return;
	WRITE_ONCE(said->thread[i], NULL);
	WRITE_ONCE(said->threads, said->threads - 1);
	put_pid(thread);
}

int tor_refuse(struct tor_session *session, int err, const char *fmt, ...)
{
	struct tor_sentences *said = &session->said;
	va_list args;
	u32 i;

	mutex_lock(&session->lock);
	i = place_sentence(said);
	forget_sentence(said, i);
	va_start(args, fmt);
	vsnprintf(said->text[i], TOR_TEXT_MAX, fmt, args);
	va_end(args);
	said->order[i] = ++said->last;
	WRITE_ONCE(said->threads, said->threads + 1);
	WRITE_ONCE(said->thread[i], get_pid(task_pid(current)));
	mutex_unlock(&session->lock);
	return err;
}

void tor_refuse_nothing(struct tor_session *session)
{
	u32 i;

	/* most calls come here without one, and take no lock */
	if (!READ_ONCE(session->said.threads) ||
	    own_sentence(&session->said) == TOR_SENTENCES)
		return;
	mutex_lock(&session->lock);
	i = own_sentence(&session->said);
	if (i < TOR_SENTENCES)
		forget_sentence(&session->said, i);
	mutex_unlock(&session->lock);
}

void tor_session_sentence(struct tor_session *session, char text[TOR_TEXT_MAX])
{
	u32 i;

	mutex_lock(&session->lock);
	i = own_sentence(&session->said);
	strscpy(text, i < TOR_SENTENCES ? session->said.text[i] : "", TOR_TEXT_MAX);
	mutex_unlock(&session->lock);
}

/* --- owners --- */

void tor_session_use(struct tor_session *session)
{
	/*
	 * an owner of this process is referenced, so an equal pointer is not a
	 * reused struct
	 */
	struct pid *self = task_tgid(current), *old;

	if (READ_ONCE(session->owner) == self)
		return;
	/*
	 * not while session_flush() releases what the previous owner had: it
	 * would take what this one makes for that. Nor does a thread of an
	 * owner that has ended come here, so that @ended is of another process
	 */
	mutex_lock(&session->owning);
	mutex_lock(&session->lock);
	old = session->owner;
	WRITE_ONCE(session->owner, get_pid(self));
	session->ended = false;
	mutex_unlock(&session->lock);
	mutex_unlock(&session->owning);
	put_pid(old);
}

void tor_session_wake(struct tor_session *session, __poll_t what)
{
	/*
	 * has a barrier: it sees a poller, or session_poll() sees the writes
	 * before it
	 */
	if (session && wq_has_sleeper(&session->poll))
		wake_up_interruptible_poll(&session->poll, what);
}

static __poll_t session_poll(struct file *file, poll_table *wait)
{
	struct tor_session *session = file->private_data;
	/* ops can be tried at any time; the edge tells when: see TORCOLL_OP_TRY */
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;
	struct tor_group *group;
	int id;

	poll_wait(file, &session->poll, wait);
	/* pairs with tor_session_wake() */
	smp_mb();
	mutex_lock(&session->lock);
	/* no EPOLLERR for failed comms: nothing but closing these would end it */
	idr_for_each_entry(&session->groups, group, id)
		if (tor_group_has_results(group))
			mask |= EPOLLIN | EPOLLRDNORM;
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
	/* pairs with set_ring() in ioctl.c */
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
	mutex_init(&session->owning);
	mutex_init(&session->lock);
	idr_init(&session->regions);
	idr_init(&session->groups);
	INIT_LIST_HEAD(&session->pending);
	init_waitqueue_head(&session->poll);
	session->owner = get_pid(task_tgid(current));
	file->private_data = session;
	return nonseekable_open(inode, file);
}

/*
 * Leave all comms, or @fail them, then unpin all memory. Context: no other
 * thread works on the session, or none will because its process has @ended.
 */
static void session_release_all(struct tor_session *session, bool ended, bool fail)
{
	struct tor_group *group;
	struct tor_pages *pages;
	int id;

	mutex_lock(&session->lock);
	session->ended |= ended;
	mutex_unlock(&session->lock);
	tor_pending_end_all(session, fail);
	mutex_lock(&session->lock);
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
		/*
		 * takes mmap_lock, under which session_mmap() takes
		 * session->lock
		 */
		tor_pages_put(pages);
		mutex_lock(&session->lock);
	}
	mutex_unlock(&session->lock);
}

/*
 * A process that submitted has ended, though a child may keep the file: unpin
 * its memory. If it was killed, or exited with an error, its peers are told
 * now. After exit(0) it leaves, as if it had closed the file: only a comm with a
 * running op fails. Any other close changes nothing before release().
 */
static int session_flush(struct file *file, fl_owner_t id)
{
	struct tor_session *session = file->private_data;

	/* a thread with files of its own may end before its process does */
	if (!(current->flags & PF_EXITING) || atomic_read(&current->signal->live))
		return 0;
	mutex_lock(&session->owning);
	if (session->owner == task_tgid(current))
		session_release_all(session, true, current->exit_code != 0);
	mutex_unlock(&session->owning);
	return 0;
}

static int session_release(struct inode *inode, struct file *file)
{
	struct tor_session *session = file->private_data;
	u32 i;

	session_release_all(session, false, false);
	for (i = 0; i < TOR_SENTENCES; i++)
		forget_sentence(&session->said, i);
	idr_destroy(&session->groups);
	idr_destroy(&session->regions);
	if (session->ring)
		tor_ring_free(session->ring);
	put_pid(session->owner);
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
	.unlocked_ioctl = tor_session_ioctl,
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
