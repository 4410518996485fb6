/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the library, one function each. They are weak, so that a
 * test can replace the device; the shared library does not export them.
 *
 * All return a negative errno on failure.
 */
#ifndef TORCOLL_SYS_H
#define TORCOLL_SYS_H

#include <stdint.h>

int torcoll_sys_open(const char *path);
int torcoll_sys_ioctl(int fd, unsigned long request, void *arg);
void torcoll_sys_close(int fd);
/* Map shared, for reading and writing; NULL on failure. */
void *torcoll_sys_mmap(int fd, size_t bytes, uint64_t offset);
void torcoll_sys_munmap(void *p, size_t bytes);
uint64_t torcoll_sys_now_ns(void);

#endif
