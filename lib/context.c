// SPDX-License-Identifier: MIT
/* The context: the open device and the objects that depend on it. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SPIN_MAX_US	1000000
#define CACHE_MB	1024

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

/* Number of forks between this process and the one that loaded the library. */
static unsigned int forks;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
	forks++;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

bool torcoll__is_forked(const struct torcoll *t)
{
	return t->forks != forks;
}

int torcoll__check(const struct torcoll *t, const char *what)
{
	if (!torcoll__is_forked(t))
		return 0;
	return torcoll__fail(-EPERM, "%s: the context is that of a parent process: open one here", what);
}

static int open_failed(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return torcoll__fail(-ENOENT, "cannot open " TORCOLL_DEVICE
				     ": the torcoll module is not loaded");
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
	t->features = info.features;
	return 0;
}

/* TORCOLL_SPIN is microseconds, TORCOLL_CACHE MiB. */
static int read_variables(struct torcoll *t)
{
	uint64_t spin = 0, cache = CACHE_MB;
	int err;

	err = torcoll__env_number("TORCOLL_SPIN", SPIN_MAX_US, &spin);
	if (!err)
		err = torcoll__env_number("TORCOLL_CACHE", UINT32_MAX, &cache);
	t->spin_ns = spin * 1000;
	t->cache_bytes = cache << 20;
	return err;
}

int torcoll_open(struct torcoll **out)
{
	struct torcoll *t;
	int err;

	pthread_once(&fork_once, watch_forks);
	t = calloc(1, sizeof(*t));
	if (t)
		t->ring = torcoll__ring_alloc();
	if (!t || !t->ring) {
		free(t);
		return torcoll__fail(-ENOMEM, "cannot open " TORCOLL_DEVICE ": out of memory");
	}
	t->forks = forks;
	err = read_variables(t);
	if (err)
		goto free;
	t->fd = torcoll_sys_open(TORCOLL_DEVICE);
	if (t->fd < 0) {
		err = open_failed(t->fd);
		goto free;
	}
	pthread_rwlock_init(&t->lock, NULL);
	pthread_mutex_init(&t->queue, NULL);
	pthread_cond_init(&t->advanced, NULL);
	err = check_module(t);
	if (err)
		goto close;
	*out = t;
	return 0;

close:
	pthread_cond_destroy(&t->advanced);
	pthread_mutex_destroy(&t->queue);
	pthread_rwlock_destroy(&t->lock);
	torcoll_sys_close(t->fd);
free:
	torcoll__ring_free(t->ring, false);
	free(t);
	return err;
}

void torcoll_close(struct torcoll *t)
{
	if (!t)
		return;
	/* a child of fork() may keep the file open, with which all of it would go */
	while (t->comms)
		torcoll_comm_close(t->comms);
	if (!torcoll__is_forked(t))
		torcoll__region_del_all(t);
	/* the file is open while the ring is mapped */
	torcoll__ring_free(t->ring, torcoll__is_forked(t));
	torcoll__watch_close_all(t);
	torcoll_sys_close(t->fd);
	free(t->regions);
	free(t->leftover);
	/* it would wait for threads of the parent */
	if (!torcoll__is_forked(t))
		pthread_cond_destroy(&t->advanced);
	pthread_mutex_destroy(&t->queue);
	pthread_rwlock_destroy(&t->lock);
	free(t);
}

int torcoll_fd(const struct torcoll *t)
{
	return t->fd;
}

int torcoll_info(struct torcoll *t, struct torcoll_info *info)
{
	int err = torcoll__check(t, "query of the module");

	if (err)
		return err;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	err = torcoll__ioctl(t, TORCOLL_IOC_INFO, info);
	return err ? torcoll__refused(t, err, "query of the module") : 0;
}
