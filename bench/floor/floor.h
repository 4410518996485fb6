/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What bench/floor/bare.c and its ranks say to each other. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <linux/if.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define FLOOR_PORTS	13		/* the parent, then children */
#define FLOOR_BYTES	8192		/* of a vector, one frame */

/* @port[0]: the device to the parent, empty at the root; further ones to children. */
struct floor_setup {
	char port[FLOOR_PORTS][IFNAMSIZ];
};

/* An allreduce of @bytes at @in, of unsigned integers of 32 bits, into @out. */
struct floor_run {
	__u64 in;
	__u64 out;
	__u32 bytes;
	__u32 pad;
};

#define FLOOR_SETUP	_IOW('f', 1, struct floor_setup)
#define FLOOR_RUN	_IOW('f', 2, struct floor_run)

#endif
