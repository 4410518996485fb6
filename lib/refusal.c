// SPDX-License-Identifier: MIT
/*
 * Refused calls of which the other ranks are told: all of a comm that says so
 * (TORCOLL_COMM_TELL), and those of ops whose submission has succeeded, and whose
 * turn the other ranks count. The module does it, with the reason, if the call
 * says so. A call is first made without that, because it may be repeated with
 * other regions.
 */
#include "internal.h"

static bool can_tell(const struct torcoll_comm *comm)
{
	return comm->t->features & TORCOLL_FEATURE_TELL;
}

static bool tells(const struct torcoll_comm *comm)
{
	return comm->flags & TORCOLL_COMM_TELL && can_tell(comm);
}

/* Return whether the module tells of it: see TORCOLL_OP_TELL. */
static bool is_final(int err)
{
	return err == -EINVAL || err == -EFAULT || err == -ENOMEM || err == -EDQUOT ||
	       err == -EOPNOTSUPP;
}

bool torcoll__refusal_told(const struct torcoll_comm *comm, int err, struct torcoll_submit *s)
{
	if (!is_final(err) || s->flags & TORCOLL_OP_TELL || !can_tell(comm))
		return false;
	s->flags |= TORCOLL_OP_TELL;
	return true;
}

bool torcoll__refusal_retry(const struct torcoll_comm *comm, int err, struct torcoll_submit *s)
{
	return tells(comm) && torcoll__refusal_told(comm, err, s);
}

void torcoll__refusal_fail(struct torcoll_comm *comm, const struct torcoll_op *op, int err)
{
	/* a call that the module refuses, too */
	struct torcoll_submit s = {
		.size = sizeof(s),
		.flags = TORCOLL_OP_TELL | ~TORCOLL_OP_FLAGS,
		.comm = comm->handle,
		.collective = op->collective,
		.type = op->type,
		.redop = op->redop,
		.count = op->count,
	};

	if (err == -EINVAL && can_tell(comm))
		torcoll__ioctl(comm->t, TORCOLL_IOC_SUBMIT, &s);
	else
		torcoll__ioctl(comm->t, TORCOLL_IOC_ABORT, &(struct torcoll_handle){
			.size = sizeof(struct torcoll_handle), .handle = comm->handle });
}

void torcoll__refusal_tell(struct torcoll_comm *comm, const struct torcoll_op *op, int err)
{
	if (is_final(err) && tells(comm))
		torcoll__refusal_fail(comm, op, err);
}
