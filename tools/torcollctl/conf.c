// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a fabric: lines and sections. Every byte is checked before it is
 * used: the file may be anything.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf.h"

#define LINE_SIZE	256

static const char *const section_names[] = {
	[CONF_FABRIC] = "fabric",
	[CONF_NODE] = "node",
	[CONF_RATE] = "rates",
	[CONF_LIMIT] = "limits",
};

static const char sections_known[] = "[fabric], [node NAME], [rates] or [limits]";

int conf_fail(const struct conf_parse *p, unsigned int line, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (line)
		n = snprintf(p->error, p->size, "%s:%u: ", p->name, line);
	else
		n = snprintf(p->error, p->size, "%s: ", p->name);
	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < p->size)
		vsnprintf(p->error + n, p->size - n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int add_node(struct conf_parse *p, const char *name)
{
	struct conf *conf = p->conf;
	struct conf_node *node;

	if (!conf_is_host_name(name))
		return conf_fail(p, p->line, "\"%s\" is no host name: 1 to %d letters, digits, dots, hyphens and underscores, as in [node lab1]",
				 name, CONF_NAME_SIZE - 1);
	/* the number doubles, so that a file of many lines takes no square of time */
	if (!(conf->nodes & (conf->nodes - 1))) {
		node = realloc(conf->node, (conf->nodes ? 2 * conf->nodes : 1) * sizeof(*node));
		if (!node) {
			conf_fail(p, p->line, "out of memory");
			return -ENOMEM;
		}
		conf->node = node;
	}
	node = &conf->node[conf->nodes++];
	memset(node, 0, sizeof(*node));
	node->line = p->line;
	memcpy(node->name, name, strlen(name));
	return 0;
}

static int parse_header(struct conf_parse *p, char *line)
{
	size_t len = strlen(line);
	char *word = line + 1, *rest;
	unsigned int i;

	if (line[len - 1] != ']')
		return conf_fail(p, p->line, "\"%s\" does not end with ]: %s is expected", line,
				 sections_known);
	line[len - 1] = '\0';
	word += strspn(word, " \t");
	rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	for (len = strlen(rest); len && is_space(rest[len - 1]); len--)
		rest[len - 1] = '\0';
	for (i = CONF_FABRIC; i <= CONF_LIMIT; i++)
		if (!strcmp(word, section_names[i]))
			break;
	if (i > CONF_LIMIT || (i != CONF_NODE && *rest))
		return conf_fail(p, p->line, "[%s%s%s] is no section: %s is expected", word,
				 *rest ? " " : "", rest, sections_known);
	if (i != CONF_NODE && p->header[i])
		return conf_fail(p, p->line, "[%s] is here for the second time: line %u has the first one",
				 word, p->header[i]);
	if (!p->header[i])
		p->header[i] = p->line;
	p->section = i;
	p->seen = 0;
	return i == CONF_NODE ? add_node(p, rest) : 0;
}

static int unknown(const struct conf_parse *p, const char *word)
{
	const struct conf_setting *s;
	char list[160] = "";
	size_t i, n, at = 0;

	s = conf_settings(p->section, &n);
	for (i = 0; i < n; i++)
		at += snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", s[i].name);
	return conf_fail(p, p->line, "[%s] has no setting \"%s\": it may have %s%s",
			 section_names[p->section], word, list,
			 p->section == CONF_NODE ? ", and ports such as \"port 0+\"" : "");
}

static int parse_setting(struct conf_parse *p, const char *word, const char *value)
{
	const struct conf_setting *s;
	size_t i, n;

	if (!*value)
		return conf_fail(p, p->line, "%s has no value", word);
	if (p->section == CONF_NODE && !strncmp(word, "port", 4) && strcspn(word, " \t") == 4)
		return conf_set_port(p, word, value);
	s = conf_settings(p->section, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(word, s[i].name))
			break;
	if (i == n)
		return unknown(p, word);
	if (p->seen & 1U << i)
		return conf_fail(p, p->line, "%s is here for the second time in this section", word);
	p->seen |= 1U << i;
	p->given[p->section] |= 1U << i;
	return s[i].set(p, &s[i], value);
}

static int parse_line(struct conf_parse *p, char *line)
{
	char *value = strchr(line, '='), *end;

	if (line[0] == '[')
		return parse_header(p, line);
	if (p->section == CONF_NONE)
		return conf_fail(p, p->line, "\"%s\" stands before any section: %s is expected. A file of commands is run by \"torcollctl -b FILE\", after which \"torcollctl showconf\" prints what runs in the form of this file",
				 line, sections_known);
	if (!value)
		return conf_fail(p, p->line, "\"%s\" is neither a section nor a setting, such as \"index = 5\"",
				 line);
	for (end = value; end > line && is_space(end[-1]); end--)
		;
	*end = '\0';
	value++;
	value += strspn(value, " \t");
	if (!*line)
		return conf_fail(p, p->line, "nothing stands before the =");
	return parse_setting(p, line, value);
}

/* Return the length of a line without its comment. */
static size_t without_comment(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (line[i] == '#' && (!i || is_space(line[i - 1])))
			return i;
	return len;
}

/* Take the line out of the file, if there is anything on it. */
static int take_line(struct conf_parse *p, const char *line, size_t len)
{
	char copy[LINE_SIZE];
	size_t i;

	len = without_comment(line, len);
	while (len && is_space(line[len - 1]))
		len--;
	while (len && is_space(*line)) {
		line++;
		len--;
	}
	if (!len)
		return 0;
	if (len >= sizeof(copy))
		return conf_fail(p, p->line, "the line has %zu characters: %zu are allowed", len,
				 sizeof(copy) - 1);
	for (i = 0; i < len; i++)
		if ((line[i] < ' ' || line[i] > '~') && line[i] != '\t')
			return conf_fail(p, p->line, "byte 0x%02x is not printable ASCII, and only a comment may have others",
					 (unsigned char)line[i]);
	memcpy(copy, line, len);
	copy[len] = '\0';
	return parse_line(p, copy);
}

int conf_parse(struct conf *conf, const char *name, const char *text, size_t len, char *error,
	       size_t size)
{
	struct conf_parse p = {
		.conf = conf, .name = name, .error = error, .size = size, .cables = 1,
	};
	int err = 0;

	memset(conf, 0, sizeof(*conf));
	conf->fabric.ethertype = CONF_ETHERTYPE;
	conf->fabric.hello_ms = CONF_HELLO_MS;
	while (len && !err) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		p.line++;
		err = take_line(&p, text, line);
		line += !!end;
		text += line;
		len -= line;
	}
	return err ? err : conf_check(&p);
}

void conf_free(struct conf *conf)
{
	free(conf->node);
	free(conf->port);
	memset(conf, 0, sizeof(*conf));
}

long conf_node_of(const struct conf *conf, const char *host)
{
	size_t shortened = strcspn(host, ".");
	long found = -1;
	size_t i;

	for (i = 0; i < conf->nodes; i++) {
		const char *name = conf->node[i].name;

		if (!strcasecmp(name, host))
			return i;
		if (strlen(name) == shortened && !strncasecmp(name, host, shortened))
			found = i;
	}
	return found;
}

long conf_node_at(const struct conf *conf, uint32_t index)
{
	size_t i;

	for (i = 0; i < conf->nodes; i++)
		if (conf->node[i].index == index)
			return i;
	return -1;
}

uint32_t conf_mtu(const struct conf *conf, size_t node)
{
	return conf->node[node].mtu ? conf->node[node].mtu : conf->mtu;
}
