/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the library, one function each. They are weak, so that a
 * test can replace the device; the shared library does not export them.
 *
 * All return a negative errno on failure.
 */
#ifndef TORCOLL_SYS_H
#define TORCOLL_SYS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int torcoll_sys_open(const char *path);
int torcoll_sys_ioctl(int fd, unsigned long request, void *arg);
void torcoll_sys_close(int fd);
/* Map shared, for reading and writing; NULL on failure. */
void *torcoll_sys_mmap(int fd, size_t bytes, uint64_t offset);
void torcoll_sys_munmap(void *p, size_t bytes);
uint64_t torcoll_sys_now_ns(void);

/* Return how long this thread has kept a processor busy. */
uint64_t torcoll_sys_busy_ns(void);

/* Return whether the process has no other thread; false if that is not known. */
bool torcoll_sys_is_alone(void);

/*
 * Make a descriptor that polls readable after an event of the device, from one
 * clear to the next; and once before the first.
 */
int torcoll_sys_watch(int fd);
void torcoll_sys_watch_clear(int watch);

/* As ppoll(). Timeout UINT64_MAX: none. */
int torcoll_sys_poll(struct pollfd *fds, uint32_t n, uint64_t timeout_ns);

/* A fabric of this host: its key, this node's index, number of nodes, shape. */
struct torcoll_sys_fabric {
	uint64_t key;
	uint32_t node;
	uint32_t nodes;
	uint32_t ndim;
	uint32_t side[6];
};

/*
 * List the fabrics of this host, up to @room. Return their number, which may be
 * larger. -ENOENT: the module is not loaded.
 */
int torcoll_sys_fabrics(struct torcoll_sys_fabric *fabric, uint32_t room);

#endif
