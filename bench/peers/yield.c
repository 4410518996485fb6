// SPDX-License-Identifier: MIT
/*
 * Preloaded into MPICH's ranks: UCX polls without ever giving up the processor, so that on a machine with fewer
 * processors than ranks whoever has work waits for whoever has none. A poll that found nothing yields.
 */
#include <dlfcn.h>
#include <sched.h>
#include <sys/epoll.h>

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int, struct epoll_event *, int, int);
	int n;

	if (!real)
		real = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	n = real(fd, events, max, timeout);
	if (!n && !timeout)
		sched_yield();
	return n;
}
