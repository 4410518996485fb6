// SPDX-License-Identifier: MIT
/*
 * The context: the open device and what hangs on it.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define STR_(x)		#x
#define STR(x)		STR_(x)

const char *torcoll_version(void)
{
	return STR(TORCOLL_VERSION_MAJOR) "." STR(TORCOLL_VERSION_MINOR) "."
	       STR(TORCOLL_VERSION_PATCH);
}

int torcoll__ioctl(struct torcoll *t, unsigned long request, void *arg)
{
	int err;

	do
		err = torcoll_sys_ioctl(t->fd, request, arg);
	while (err == -EINTR);
	return err;
}

static int open_failed(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return torcoll__fail(-ENOENT, "cannot open " TORCOLL_DEVICE
				     ": is the torcoll module loaded?");
	case -EACCES:
	case -EPERM:
		return torcoll__fail(-EACCES, "cannot open " TORCOLL_DEVICE
				     ": not permitted; members of the group torcoll are");
	default:
		return torcoll__fail(err, "cannot open " TORCOLL_DEVICE ": %s", strerror(-err));
	}
}

static int check_module(struct torcoll *t)
{
	struct torcoll_info info;
	int err = torcoll_info(t, &info);

	if (err)
		return err;
	if (info.abi_version != TORCOLL_ABI_VERSION)
		return torcoll__fail(-EOPNOTSUPP,
				     "module %.*s speaks version %u of the interface, library %s version %u",
				     (int)sizeof(info.version), info.version, info.abi_version,
				     torcoll_version(), TORCOLL_ABI_VERSION);
	return 0;
}

int torcoll_open(struct torcoll **out)
{
	struct torcoll *t;
	int err;

	t = calloc(1, sizeof(*t));
	if (!t)
		return torcoll__fail(-ENOMEM, "cannot open " TORCOLL_DEVICE ": out of memory");
	t->fd = torcoll_sys_open(TORCOLL_DEVICE);
	if (t->fd < 0) {
		err = open_failed(t->fd);
		goto free;
	}
	pthread_rwlock_init(&t->lock, NULL);
	err = check_module(t);
	if (err)
		goto close;
	*out = t;
	return 0;

close:
	pthread_rwlock_destroy(&t->lock);
	torcoll_sys_close(t->fd);
free:
	free(t);
	return err;
}

void torcoll_close(struct torcoll *t)
{
	struct torcoll_comm *comm, *next;

	if (!t)
		return;
	/* The module takes down comms and regions with the file. */
	torcoll_sys_close(t->fd);
	for (comm = t->comms; comm; comm = next) {
		next = comm->next;
		torcoll__comm_free(comm);
	}
	free(t->regions);
	pthread_rwlock_destroy(&t->lock);
	free(t);
}

int torcoll_fd(const struct torcoll *t)
{
	return t->fd;
}

int torcoll_info(struct torcoll *t, struct torcoll_info *info)
{
	int err;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	err = torcoll__ioctl(t, TORCOLL_IOC_INFO, info);
	return err ? torcoll__refused(t, err, "query of the module") : 0;
}
