// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about what all hosts of a fabric must agree on: who differs from most.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/**
 * struct setting - something that a host states
 * @rule: its name
 * @value: what the host states
 * @text: the same in words
 * @remedy: what to do on the host that differs; the value of the others is in
 *	the place of a %s
 * @remedy_default: the same if the value of the others is 0, if that differs
 * @hint: it may differ
 */
struct setting {
	const char *rule;
	uint64_t (*value)(const struct survey_host *host, const struct survey_node *node);
	const char *(*text)(const struct survey_host *host, const struct survey_node *node);
	const char *remedy;
	const char *remedy_default;
	bool hint;
};

static uint64_t value_checksum(const struct survey_host *host, const struct survey_node *node)
{
	return node->checksum;
}

static const char *text_checksum(const struct survey_host *host, const struct survey_node *node)
{
	return node->checksum ? "checksum header" : "checksum full";
}

static uint64_t value_order(const struct survey_host *host, const struct survey_node *node)
{
	return node->byte_order;
}

static const char *text_order(const struct survey_host *host, const struct survey_node *node)
{
	return node->byte_order ? "the byte order big-endian" : "the byte order little-endian";
}

static uint64_t value_rates(const struct survey_host *host, const struct survey_node *node)
{
	return node->rates;
}

static const char *text_rates(const struct survey_host *host, const struct survey_node *node)
{
	return node->rates ? fmt_str("rates %08x", node->rates) : "the default rates";
}

static uint64_t value_ethertype(const struct survey_host *host, const struct survey_node *node)
{
	return node->ethertype;
}

static const char *text_ethertype(const struct survey_host *host, const struct survey_node *node)
{
	return fmt_str("ethertype 0x%04x", node->ethertype);
}

/* Versions are compared as text; any function that tells them apart will do. */
static uint64_t value_version(const struct survey_host *host, const struct survey_node *node)
{
	uint64_t hash = 0;
	const char *s;

	for (s = host->version; *s; s++)
		hash = hash * 131 + (unsigned char)*s;
	return hash;
}

static const char *text_version(const struct survey_host *host, const struct survey_node *node)
{
	return fmt_str("module %s", fmt_plain(host->version));
}

static const struct setting settings[] = {
	{ "ethertype", value_ethertype, text_ethertype,
	  "there: torcollctl apply FILE, the others' (by hand: fabric del, then fabric add with %s)" },
	{ "checksum", value_checksum, text_checksum,
	  "there: torcollctl apply FILE, the others' (by hand: fabric del, then fabric add with %s)" },
	{ "order", value_order, text_order,
	  "put them in different communicators: a sum needs one byte order" },
	{ "rates", value_rates, text_rates,
	  "there: torcollctl apply FILE, the others', which has %s", "there: torcollctl tune default" },
	{ "version", value_version, text_version,
	  "install the same module everywhere", NULL, true },
};

static bool is_part(const struct check *c, uint32_t i)
{
	const struct survey_node *node = survey_node(c->now->hosts[i], c->m->key);

	return node && map_has_shape(node, &c->m->shape);
}

static uint64_t value_at(const struct check *c, const struct setting *s, uint32_t i)
{
	const struct survey_host *host = c->now->hosts[i];

	return s->value(host, survey_node(host, c->m->key));
}

static const char *text_at(const struct check *c, const struct setting *s, uint32_t i)
{
	const struct survey_host *host = c->now->hosts[i];

	return s->text(host, survey_node(host, c->m->key));
}

/* What a host states. */
struct stated {
	uint64_t value;
	uint32_t host;
};

static int compare_stated(const void *a, const void *b)
{
	const struct stated *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

/* What most hosts state: how many, and of equals the first. */
struct usual {
	uint32_t host, same;
};

static struct usual find_most(struct stated *list, uint32_t n)
{
	struct usual most = { 0 };
	uint32_t i, first = 0;

	qsort(list, n, sizeof(*list), compare_stated);
	for (i = 1; i <= n; i++) {
		if (i < n && list[i].value == list[first].value)
			continue;
		if (i - first > most.same || (i - first == most.same && list[first].host < most.host))
			most = (struct usual){ list[first].host, i - first };
		first = i;
	}
	return most;
}

static struct usual find_usual(const struct check *c, const struct setting *s)
{
	struct stated *list = calloc(c->now->nhosts + 1, sizeof(*list));
	struct usual usual;
	uint32_t i, n = 0;

	if (!list)
		err(CTL_REFUSED, "no memory to check the fabric");
	for (i = 0; i < c->now->nhosts; i++)
		if (is_part(c, i))
			list[n++] = (struct stated){ value_at(c, s, i), i };
	usual = find_most(list, n);
	free(list);
	return usual;
}

static void say_differs(struct check *c, const struct setting *s, uint32_t i, struct usual most)
{
	const struct survey_host *host = c->now->hosts[i];
	uint32_t same = most.same, usual = most.host;
	const char *others = same > 1 ? fmt_str("%u others", same) :
					check_host(c, c->now->hosts[usual]);
	const char *value = text_at(c, s, usual), *remedy = s->remedy;
	struct finding *f;

	if (s->remedy_default && !value_at(c, s, usual))
		remedy = s->remedy_default;
	if (strstr(remedy, "%s"))
		remedy = fmt_str("%.*s%s%s", (int)(strstr(remedy, "%s") - remedy), remedy, value,
				 strstr(remedy, "%s") + 2);
	f = check_say(c, s->rule, fmt_str("%s has %s, %s %s %s", check_host(c, host),
					  text_at(c, s, i), others, same > 1 ? "have" : "has",
					  value), remedy);
	f->host = host;
	f->node = c->m->index[i];
	f->hint = s->hint;
	if (!s->hint)
		check_explain_host(c, host, EXPLAINED_STATE);
}

static void rule_setting(struct check *c, const struct setting *s)
{
	struct usual usual = find_usual(c, s);
	uint64_t value;
	uint32_t i;

	if (!usual.same)
		return;
	value = value_at(c, s, usual.host);
	for (i = 0; i < c->now->nhosts; i++)
		if (is_part(c, i) && value_at(c, s, i) != value)
			say_differs(c, s, i, usual);
}

void check_settings(struct check *c)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		rule_setting(c, &settings[i]);
}
