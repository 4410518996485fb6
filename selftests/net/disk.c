// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is shared with a file on a disk cannot be pinned: what is written there by an op, at any time, the file system
 * would not know of. For memory.sh: wants a file on such a file system, says KTAP.
 */
#include "bad.h"

#include <sys/mman.h>

#define BYTES	65536

static int add_region(int fd, void *p)
{
	struct torcoll_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)p, .length = BYTES,
	};

	return call(fd, TORCOLL_IOC_REGION_ADD, &add);
}

int main(int argc, char **argv)
{
	int fd = open_on(0), file;
	void *p;

	need(argc == 2, "usage: disk FILE");
	file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	need(file >= 0 && !ftruncate(file, BYTES), "%s", argv[1]);
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	need(p != MAP_FAILED, "mmap");
	memset(p, 1, BYTES);
	result(add_region(fd, p) == EFAULT && strstr(sentence(fd), "cannot pin it for writing"),
	       "shared__is_refused");
	munmap(p, BYTES);
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	need(p != MAP_FAILED, "mmap");
	result(!add_region(fd, p), "private__is_the_processs_own");
	return finish();
}
