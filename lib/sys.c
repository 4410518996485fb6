// SPDX-License-Identifier: MIT
/*
 * System calls: see sys.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#if __has_include("sys/single_threaded.h")
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded	false
#endif
#include <time.h>
#include <unistd.h>

#include "sys.h"

#define __weak	__attribute__((__weak__))

/* The module's memory is mapped at offsets beyond 32 bits. */
_Static_assert(sizeof(off_t) == sizeof(uint64_t), "compile with -D_FILE_OFFSET_BITS=64");

__weak int torcoll_sys_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

__weak int torcoll_sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

__weak void torcoll_sys_close(int fd)
{
	close(fd);
}

__weak void *torcoll_sys_mmap(int fd, size_t bytes, uint64_t offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

__weak void torcoll_sys_munmap(void *p, size_t bytes)
{
	munmap(p, bytes);
}

__weak uint64_t torcoll_sys_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

__weak uint64_t torcoll_sys_busy_ns(void)
{
	struct timespec busy;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
	return busy.tv_sec * 1000000000ULL + busy.tv_nsec;
}

__weak bool torcoll_sys_is_alone(void)
{
	return __libc_single_threaded;
}

__weak int torcoll_sys_watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int watch = epoll_create1(EPOLL_CLOEXEC), err;

	if (watch < 0)
		return -errno;
	if (!epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event))
		return watch;
	err = -errno;
	close(watch);
	return err;
}

__weak void torcoll_sys_watch_clear(int watch)
{
	struct epoll_event event;

	epoll_wait(watch, &event, 1, 0);
}

__weak int torcoll_sys_poll(struct pollfd *fds, uint32_t n, uint64_t timeout_ns)
{
	const struct timespec timeout = {
		.tv_sec = timeout_ns / 1000000000,
		.tv_nsec = timeout_ns % 1000000000,
	};
	int ready = ppoll(fds, n, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL);

	return ready < 0 ? -errno : ready;
}
