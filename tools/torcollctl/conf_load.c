// SPDX-License-Identifier: GPL-2.0
/* Files of fabrics on the disk: reading, under a lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "conf_load.h"
#include "ctl.h"

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

char *conf_read(const char *name, size_t *len, int *fd)
{
	bool standard = !strcmp(name, "-");
	char *text = NULL;

	*fd = standard ? -1 : open(name, O_RDONLY | O_CLOEXEC);
	if (standard || (*fd >= 0 && !flock(*fd, LOCK_EX)))
		text = read_all(standard ? STDIN_FILENO : *fd, len);
	if (text)
		return text;
	usage_error("%s: %s", name, strerror(errno));
	if (*fd >= 0)
		close(*fd);
	return NULL;
}

int conf_load(struct conf *conf, const char *name, int *fd)
{
	char error[512];
	size_t len;
	int err;
	char *text = conf_read(name, &len, fd);

	if (!text)
		return CTL_USAGE;
	err = conf_parse(conf, name, text, len, error, sizeof(error));
	free(text);
	if (!err)
		return CTL_OK;
	conf_free(conf);
	if (*fd >= 0)
		close(*fd);
	return usage_error("%s", error);
}
