// SPDX-License-Identifier: GPL-2.0
/* torcollctl hosts: names of a fabric's nodes, printed or kept in a file such as /etc/hosts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf_load.h"
#include "ctl.h"
#include "file.h"
#include "hosts.h"
#include "lock.h"

static const char help[] =
	"Usage: torcollctl hosts FILE [write PATH | remove PATH]\n"
	"\n"
	"Prints the nodes' addresses and names, in the form of hosts(5).\n"
	"\n"
	"FILE    of the fabric, torcoll.conf(5), with ip or ip6\n"
	"write   them into PATH, such as /etc/hosts, in place of former ones; all other\n"
	"        lines of it stay as they are\n"
	"remove  them from there\n"
	"\n"
	"\"torcollctl apply\" does that, too, if FILE has \"hosts = PATH\".\n";

/* Write the new text. Return 1: it differs and was written, unless @dry; 0; or -1. */
static int update(const struct conf *conf, const char *path, bool remove, bool dry,
		  const char *text, size_t len)
{
	char *fresh = NULL;
	size_t size;
	FILE *out = open_memstream(&fresh, &size);
	int ret;

	if (!out) {
		other_error("%s: %s", path, strerror(errno));
		return -1;
	}
	hosts_merge(out, conf, text, len, remove);
	if (fclose(out)) {
		other_error("%s: %s", path, strerror(errno));
		free(fresh);
		return -1;
	}
	ret = size != len || memcmp(fresh, text, len);
	if (ret && !dry && file_replace(path, fresh, size))
		ret = -1;
	free(fresh);
	return ret;
}

/* A missing file is made, to be replaced; not where a link of somebody else's leads. */
static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0) {
		other_error("%s: %s", path, strerror(errno));
		return -1;
	}
	close(fd);
	return 0;
}

/* Return whether a link has that name. */
static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

int hosts_update(const struct conf *conf, const char *path, bool remove, bool dry)
{
	struct stat st;
	char *text;
	size_t len;
	int ret;

	if (access(path, F_OK) && errno == ENOENT) {
		if (remove)
			return 0;
		if (is_link(path)) {
			other_error("%s: this is a link to nothing, which is not followed", path);
			return -1;
		}
		if (dry)
			return 1;
		if (create(path))
			return -1;
	}
	/* reading a pipe would not end */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		other_error("%s: this is no file, and cannot be changed", path);
		return -1;
	}
	text = conf_read(path, &len);
	if (!text)
		return -1;
	ret = update(conf, path, remove, dry, text, len);
	free(text);
	return ret;
}

static int hosts_change(const struct conf *conf, const char *path, bool remove)
{
	int lock, ret = lock_take(&lock);

	if (ret)
		return ret;
	if (hosts_update(conf, path, remove, false) < 0)
		ret = CTL_REFUSED;
	lock_drop(lock);
	return ret;
}

static int hosts_run(const struct conf *conf, const char *file, const char *path, bool remove)
{
	if (!conf->ip.prefix[IP_4].len && !conf->ip.prefix[IP_6].len)
		return other_error("%s: [fabric] has neither ip nor ip6, from which the nodes' addresses follow: add a line such as \"ip = 10.7.0.0/24\"",
				   file);
	if (path)
		return hosts_change(conf, path, remove);
	hosts_print(stdout, conf);
	return CTL_OK;
}

static int parse_words(struct args *a, const char **path, bool *remove)
{
	*remove = arg_is(a, "remove");
	if (*remove || arg_is(a, "write")) {
		*path = arg_need(a, "the file to change");
		if (!*path)
			return CTL_USAGE;
	}
	if (arg_end(a))
		return CTL_USAGE;
	if (opt.json)
		return usage_error("hosts prints the form of hosts(5) only");
	return CTL_OK;
}

int hosts_main(struct args *a)
{
	const char *file = arg_next(a), *path = NULL;
	struct conf conf;
	bool remove;
	int ret;

	if (!file || !strcmp(file, "help") || !strcmp(file, "--help") || !strcmp(file, "-h")) {
		fputs(help, file ? stdout : stderr);
		return file ? CTL_OK : CTL_USAGE;
	}
	if (parse_words(a, &path, &remove))
		return CTL_USAGE;
	ret = conf_load(&conf, file);
	if (ret)
		return ret;
	ret = hosts_run(&conf, file, path, remove);
	conf_free(&conf);
	return ret;
}
