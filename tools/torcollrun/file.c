// SPDX-License-Identifier: GPL-2.0
/* Files that name hosts: a host a line, and fabric files. */
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torcollctl/conf.h"

#define FABRIC_DIR	"/etc/torcoll"

/* Cut off white space at both ends, and a comment. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strcspn(s, "#\r\n");
	while (n && isblank(s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

static const char *place_of(const char *path, unsigned int line)
{
	static char place[4200];

	snprintf(place, sizeof(place), "%s:%u", path, line);
	return place;
}

int hostfile_read(struct hosts *hosts, const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	char *line = NULL, *host;
	size_t room = 0;
	int err = 0;

	if (!file)
		return complain("%s: %s", path, strerror(errno));
	while (!err && getline(&line, &room, file) >= 0) {
		host = trim(line);
		number++;
		if (*host)
			err = hosts_add(hosts, place_of(path, number), host, hosts->count);
	}
	if (!err && ferror(file))
		err = complain("%s: %s", path, strerror(errno));
	else if (!err && !hosts->count)
		err = complain("%s: no line names a host", path);
	fclose(file);
	free(line);
	return err;
}

/* --- fabric files --- */

static int take_nodes(struct run *run, const char *path, const struct conf *conf)
{
	size_t i;
	int err = 0;

	if (!conf->nodes)
		return complain("%s: no section [node NAME] names a host", path);
	snprintf(run->key, sizeof(run->key), "%llu", (unsigned long long)conf->fabric.key);
	for (i = 0; !err && i < conf->nodes; i++)
		err = hosts_add(&run->hosts, place_of(path, conf->node[i].line), conf->node[i].name,
				conf->node[i].index);
	return err;
}

/* The file is what "torcollctl apply" takes, or refused as it would refuse it. */
static int read_fabric_file(struct run *run, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL, error[512];
	struct conf conf;
	size_t room = 0;
	ssize_t len;
	int err;

	if (!file)
		return complain("%s: %s", path, strerror(errno));
	/* to its end: a NUL is not allowed in it */
	len = getdelim(&text, &room, '\0', file);
	err = ferror(file) ? complain("%s: %s", path, strerror(errno)) : 0;
	fclose(file);
	if (err) {
		free(text);
		return err;
	}
	if (conf_parse(&conf, path, text, len > 0 ? len : 0, error, sizeof(error)))
		err = complain("%s", error);
	else
		err = take_nodes(run, path, &conf);
	conf_free(&conf);
	free(text);
	return err;
}

static char *path_of(const char *name)
{
	char *path;

	if (asprintf(&path, FABRIC_DIR "/%s.conf", name) < 0)
		path = NULL;
	return need(path);
}

bool fabric_has_file(const char *name)
{
	char *path = path_of(name);
	bool has = !strchr(name, '/') && !access(path, F_OK);

	free(path);
	return has;
}

static int read_only_file(struct run *run)
{
	glob_t found;
	int err;

	if (glob(FABRIC_DIR "/*.conf", 0, NULL, &found))
		return complain("no fabric is described in " FABRIC_DIR ": name hosts by --host, or use --netns");
	if (found.gl_pathc > 1)
		err = complain(FABRIC_DIR " describes %zu fabrics: name one by --fabric",
			       found.gl_pathc);
	else
		err = read_fabric_file(run, found.gl_pathv[0]);
	globfree(&found);
	return err;
}

int fabric_read(struct run *run, const char *name)
{
	char *path;
	int err;

	if (!name)
		return read_only_file(run);
	if (strchr(name, '/'))
		return read_fabric_file(run, name);
	path = path_of(name);
	err = read_fabric_file(run, path);
	free(path);
	return err;
}
