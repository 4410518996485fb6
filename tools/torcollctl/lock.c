// SPDX-License-Identifier: GPL-2.0
/* The lock of commands that change this host and files on it. See lock.h. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"

#define LOCK_FILE	"/run/torcollctl.lock"

/* Commands take less than a second. udev ends its own after three minutes. */
#define WAIT_S		30
#define LOOKS_PER_S	20

static int lock_wait(int fd)
{
	const struct timespec pause = { .tv_nsec = 1000000000 / LOOKS_PER_S };
	unsigned int looks;

	for (looks = 0; flock(fd, LOCK_EX | LOCK_NB); looks++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return other_error("%s: %s", LOCK_FILE, strerror(errno));
		if (looks == WAIT_S * LOOKS_PER_S)
			return other_error("%s: another torcollctl has had this lock for %u s: see which one with \"fuser -v %s\"",
					   LOCK_FILE, WAIT_S, LOCK_FILE);
		nanosleep(&pause, NULL);
	}
	return CTL_OK;
}

/* Not root's, or without /run, as in a container or while an image is built. */
static bool has_no_lock(int error)
{
	return error == EACCES || error == EROFS || error == ENOENT;
}

int lock_take(int *fd)
{
	int ret;

	*fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return has_no_lock(errno) ? CTL_OK :
					    other_error("%s: %s", LOCK_FILE, strerror(errno));
	ret = lock_wait(*fd);
	if (ret) {
		close(*fd);
		*fd = -1;
	}
	return ret;
}

void lock_drop(int fd)
{
	if (fd >= 0)
		close(fd);
}
