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

#define FABRIC_DIR	"/etc/torcoll"
#define NODES_MAX	(1U << 20)

/* Cut off white space at both ends, and a comment. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strcspn(s, "#;\r\n");
	while (n && isblank(s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

/**
 * struct reader - a file being read
 * @number: of the line
 * @node: name of the section [node NAME] that the line is in, or empty
 * @fabric: the line is in the section [fabric]
 */
struct reader {
	FILE *file;
	const char *path;
	char *line;
	size_t room;
	unsigned int number;
	char *node;
	bool fabric;
};

static int reader_open(struct reader *r, const char *path)
{
	*r = (struct reader){ .file = fopen(path, "re"), .path = path };
	return r->file ? 0 : complain("%s: %s", path, strerror(errno));
}

static void reader_close(struct reader *r)
{
	fclose(r->file);
	free(r->line);
	free(r->node);
}

/* Return the next line that is not empty, or NULL. */
static char *reader_next(struct reader *r)
{
	while (getline(&r->line, &r->room, r->file) >= 0) {
		char *s = trim(r->line);

		r->number++;
		if (*s)
			return s;
	}
	return NULL;
}

static const char *place_of(const struct reader *r)
{
	static char place[4200];

	snprintf(place, sizeof(place), "%s:%u", r->path, r->number);
	return place;
}

int hostfile_read(struct hosts *hosts, const char *path)
{
	struct reader r;
	char *line;
	int err = reader_open(&r, path);

	if (err)
		return err;
	while (!err && (line = reader_next(&r)))
		err = hosts_add(hosts, place_of(&r), line, hosts->count);
	reader_close(&r);
	return err;
}

/* --- fabric files --- */

/* "[node NAME]" */
static int read_section(struct reader *r, char *s)
{
	size_t n = strlen(s);
	char *name;

	if (s[n - 1] != ']')
		return complain("%s: a section ends with ]", place_of(r));
	s[n - 1] = '\0';
	name = trim(s + 1);
	free(r->node);
	r->node = NULL;
	r->fabric = !strcmp(name, "fabric");
	if (!strncmp(name, "node", 4) && isblank(name[4]))
		r->node = need(strdup(trim(name + 4)));
	return 0;
}

static int read_index(struct reader *r, struct run *run, const char *value)
{
	uint64_t node;

	if (!parse_number(value, NODES_MAX, &node))
		return complain("%s: index: \"%s\" is not the number of a node", place_of(r), value);
	return hosts_add(&run->hosts, place_of(r), r->node, node);
}

static int read_key(struct reader *r, struct run *run, const char *value)
{
	uint64_t key;

	if (!parse_number(value, UINT64_MAX, &key))
		return complain("%s: key: \"%s\" is not a whole number", place_of(r), value);
	snprintf(run->key, sizeof(run->key), "%llu", (unsigned long long)key);
	return 0;
}

/*
 * Read a line. Only what matters here is read: "torcollctl apply" reads the
 * rest.
 */
static int read_line(struct reader *r, struct run *run, char *s)
{
	char *value;

	if (*s == '[')
		return read_section(r, s);
	value = strchr(s, '=');
	if (!value)
		return 0;
	*value++ = '\0';
	s = trim(s);
	value = trim(value);
	if (r->node && !strcmp(s, "index"))
		return read_index(r, run, value);
	if (r->fabric && !strcmp(s, "key"))
		return read_key(r, run, value);
	return 0;
}

static int read_fabric_file(struct run *run, const char *path)
{
	struct reader r;
	char *line;
	int err = reader_open(&r, path);

	if (err)
		return err;
	while (!err && (line = reader_next(&r)))
		err = read_line(&r, run, line);
	reader_close(&r);
	if (!err && !*run->key)
		err = complain("%s: the section [fabric] has no key", path);
	if (!err && !run->hosts.count)
		err = complain("%s: no section [node NAME] has an index", path);
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
