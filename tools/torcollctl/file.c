// SPDX-License-Identifier: GPL-2.0
/* Files that commands write. See file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "lock.h"

#define READER_MS	10000	/* without progress, where a service must not be held up */

/*
 * FILE_NONE: nothing has that name; FILE_OTHER: a device, a pipe, a terminal;
 * FILE_FOREIGN: a link that another user made, who chooses what is written then
 */
enum file_kind { FILE_NONE, FILE_WHOLE, FILE_OTHER, FILE_FOREIGN };

static int name_itself(const char *name, char path[PATH_MAX])
{
	if (strlen(name) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(path, name);
	return 0;
}

/* Find what a link stands for: it is to stay. */
static int follow(const char *name, char path[PATH_MAX], struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid())
		return FILE_FOREIGN;
	if (stat(name, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return FILE_OTHER;
	return realpath(name, path) ? FILE_WHOLE : -errno;
}

/*
 * Find what a name stands for, and the name of that. What is no link is not
 * looked up as one: its folder's owner may put one there meanwhile. Return enum
 * file_kind or a negative errno, as for a link to nothing.
 */
static int find(const char *name, char path[PATH_MAX], struct stat *st)
{
	int err;

	if (lstat(name, st)) {
		err = errno == ENOENT ? name_itself(name, path) : -errno;
		return err ? err : FILE_NONE;
	}
	if (S_ISLNK(st->st_mode))
		return follow(name, path, st);
	if (!S_ISREG(st->st_mode))
		return FILE_OTHER;
	err = name_itself(name, path);
	return err ? err : FILE_WHOLE;
}

static int refuse(const char *name, int err)
{
	return other_error("%s: %s", name, strerror(err));
}

static int refuse_link(const char *name)
{
	return other_error("%s: this is another user's link, which is not followed", name);
}

/* Wait until a pipe's reader has made room. */
static bool wait_for_reader(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	int n = poll(&room, 1, READER_MS);

	if (!n)
		errno = ETIMEDOUT;
	return n > 0 || (n < 0 && errno == EINTR);
}

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR && (errno != EAGAIN || !wait_for_reader(fd)))
			return false;
		if (n > 0) {
			text += n;
			len -= n;
		}
	}
	return true;
}

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int drop(const char *fresh, int ret)
{
	unlink(fresh);
	return ret;
}

/*
 * Write the text beside the file, by a name that nobody knows, and rename that.
 * @old: the file whose owner the new one gets, and which must not be lost; or NULL
 */
static int put_in_place(const char *path, const struct stat *old, mode_t mode, const char *text,
			size_t len)
{
	char fresh[PATH_MAX + 8];
	bool good;
	int fd;

	if (strlen(path) >= PATH_MAX)
		return refuse(path, ENAMETOOLONG);
	snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path);
	fd = mkostemp(fresh, O_CLOEXEC);
	if (fd < 0)
		return refuse(path, errno);
	if (old && fchown(fd, old->st_uid, old->st_gid)) {
		close(fd);
		return drop(fresh, other_error("%s: its owner cannot be kept: %s", path, strerror(errno)));
	}
	good = write_all(fd, text, len) && !fchmod(fd, mode) && (!old || !fsync(fd));
	if (!close(fd) && good && !rename(fresh, path))
		return CTL_OK;
	return drop(fresh, refuse(path, errno));
}

int file_replace(const char *name, const char *text, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	int kind = find(name, path, &st);

	if (kind == FILE_NONE)
		kind = -ENOENT;
	if (kind < 0)
		return refuse(name, -kind);
	if (kind == FILE_FOREIGN)
		return refuse_link(name);
	if (kind == FILE_OTHER)
		return other_error("%s: this is no file, and cannot be changed", name);
	return put_in_place(path, &st, st.st_mode & 0777, text, len);
}

/*
 * @found: what was found by that name, which must still be it
 * @flags: O_NONBLOCK, so that no reader of a pipe is waited for without limit, or 0
 */
static int write_to(const char *name, const struct stat *found, int flags, const char *text,
		    size_t len)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	int ret = CTL_OK;
	struct stat st;

	if (fd < 0)
		return refuse(name, errno);
	if (fstat(fd, &st) || st.st_dev != found->st_dev || st.st_ino != found->st_ino) {
		close(fd);
		return other_error("%s: it has become another file", name);
	}
	if (!write_all(fd, text, len))
		ret = refuse(name, errno);
	if (close(fd) && !ret)
		ret = refuse(name, errno);
	return ret;
}

/* Not for what is no file: it may keep its writers waiting. */
static int write_locked(const char *path, enum file_kind kind, const char *text, size_t len)
{
	int lock, ret = lock_take(&lock);

	if (!ret)
		ret = kind == FILE_WHOLE ? file_replace(path, text, len) :
					   put_in_place(path, NULL, usual_mode(), text, len);
	lock_drop(lock);
	return ret;
}

/* Find what may be written. Return an exit code. */
static int find_writable(const char *name, char path[PATH_MAX], struct stat *st, enum file_kind *kind)
{
	int found = find(name, path, st);

	*kind = found < 0 ? FILE_NONE : found;
	if (found < 0)
		return refuse(name, -found);
	return found == FILE_FOREIGN ? refuse_link(name) : CTL_OK;
}

static int write_name(const char *name, const char *text, size_t len)
{
	char path[PATH_MAX];
	enum file_kind kind;
	struct stat st;
	int ret = find_writable(name, path, &st, &kind);

	if (ret)
		return ret;
	return kind == FILE_OTHER ? write_to(name, &st, 0, text, len) :
				    write_locked(path, kind, text, len);
}

int file_print(const char *name, void (*print)(FILE *out, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int ret;

	if (!out)
		return refuse(name, errno);
	print(out, arg);
	ret = fclose(out) ? refuse(name, errno) : write_name(name, text, len);
	free(text);
	return ret;
}

/* What is in the file's place is written beside it, and renamed. */
static int check_folder(const char *name, char path[PATH_MAX])
{
	return faccessat(AT_FDCWD, dirname(path), W_OK | X_OK, AT_EACCESS) ? refuse(name, errno) :
									     CTL_OK;
}

int file_check(const char *name)
{
	char path[PATH_MAX];
	enum file_kind kind;
	struct stat st;
	int ret = find_writable(name, path, &st, &kind);

	if (ret)
		return ret;
	if (kind != FILE_OTHER)
		return check_folder(name, path);
	if (S_ISDIR(st.st_mode))
		return refuse(name, EISDIR);
	return faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) ? refuse(name, errno) : CTL_OK;
}

int file_publish(const char *name, const char *text, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	int kind = find(name, path, &st);

	if (kind < 0)
		return refuse(name, -kind);
	if (kind == FILE_OTHER)
		return write_to(name, &st, O_NONBLOCK, text, len);
	return put_in_place(kind == FILE_FOREIGN ? name : path, NULL, 0644, text, len);
}
