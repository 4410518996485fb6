// SPDX-License-Identifier: GPL-2.0
/* Files of fabrics on the disk: reading and changing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf_load.h"
#include "ctl.h"
#include "file.h"
#include "lock.h"

#define FILE_MOST	(64 << 20)	/* a million nodes with two ports */
#define READ_SIZE	65536

/* Read to the end. Return NULL with errno. */
static char *read_all(int fd, size_t *len)
{
	char *text = NULL, *more;
	ssize_t n = 1;

	for (*len = 0; n > 0; *len += n) {
		more = *len < FILE_MOST ? realloc(text, *len + READ_SIZE) : NULL;
		if (!more) {
			errno = *len < FILE_MOST ? ENOMEM : EFBIG;
			n = -1;
			break;
		}
		text = more;
		n = read(fd, text + *len, READ_SIZE);
		if (n < 0)
			break;
	}
	if (n >= 0)
		return text;
	free(text);
	return NULL;
}

char *conf_read(const char *name, size_t *len)
{
	bool standard = !strcmp(name, "-");
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : read_all(fd, len);

	if (!text)
		other_error("%s: %s", name, strerror(errno));
	if (!standard && fd >= 0)
		close(fd);
	return text;
}

int conf_load(struct conf *conf, const char *name)
{
	char error[512];
	size_t len;
	int err;
	char *text = conf_read(name, &len);

	if (!text)
		return CTL_USAGE;
	err = conf_parse(conf, name, text, len, error, sizeof(error));
	free(text);
	if (!err)
		return CTL_OK;
	conf_free(conf);
	return other_error("%s", error);
}

/*
 * Check the file as it is now, so that a broken one is not written again.
 * @rate: NULL: only that
 */
static int save_rates(const char *name, const char *text, size_t len,
		      const uint64_t rate[CONF_RATES])
{
	static const uint64_t some[CONF_RATES];
	char error[512], *fresh = NULL;
	struct conf conf;
	size_t size;
	FILE *out;
	int ret;

	out = open_memstream(&fresh, &size);
	if (!out)
		return other_error("%s: %s", name, strerror(errno));
	conf_with_rates(out, text, len, rate ? rate : some);
	fclose(out);
	if (conf_parse(&conf, name, fresh, size, error, sizeof(error)))
		ret = other_error("%s", error);
	else
		ret = rate ? file_replace(name, fresh, size) : CTL_OK;
	conf_free(&conf);
	free(fresh);
	return ret;
}

static int merge_rates(const char *name, const uint64_t rate[CONF_RATES])
{
	size_t len;
	char *text = conf_read(name, &len);
	int ret;

	if (!text)
		return CTL_USAGE;
	ret = conf_is_fabric(text, len) ? save_rates(name, text, len, rate) : -1;
	free(text);
	return ret;
}

static bool is_file(const char *name)
{
	struct stat st;

	return strcmp(name, "-") && !stat(name, &st) && S_ISREG(st.st_mode);
}

int conf_check_rates(const char *name)
{
	return is_file(name) ? merge_rates(name, NULL) : -1;
}

int conf_save_rates(const char *name, const uint64_t rate[CONF_RATES])
{
	int ret, lock;

	if (!is_file(name))
		return -1;
	ret = lock_take(&lock);
	if (ret)
		return ret;
	ret = merge_rates(name, rate);
	lock_drop(lock);
	return ret;
}
