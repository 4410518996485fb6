// SPDX-License-Identifier: GPL-2.0
/* Output: values from JSON, readable numbers, tables. */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define KEPT		32	/* more than the cells of a table's row */
#define LIST_SIZE	512

struct json_object *js_get(struct json_object *o, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(o, name, &value);
	return value;
}

bool js_has(struct json_object *o, const char *name)
{
	return js_get(o, name);
}

uint64_t js_u64(struct json_object *o, const char *name)
{
	return json_object_get_uint64(js_get(o, name));
}

const char *js_raw(struct json_object *o, const char *name)
{
	struct json_object *value = js_get(o, name);

	return value ? json_object_get_string(value) : "";
}

const char *js_str(struct json_object *o, const char *name)
{
	return fmt_plain(js_raw(o, name));
}

size_t js_length(struct json_object *o, const char *name)
{
	struct json_object *list = js_get(o, name);

	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/*
 * Return the length of the character of UTF-8 that begins here; 0: there is none.
 * Longer forms of shorter characters are none, nor are surrogates.
 */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t i, n;

	if (*s < 0x80)
		return 1;
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	n = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	if (*s == 0xe0)
		low = 0xa0;
	else if (*s == 0xed)
		high = 0x9f;
	else if (*s == 0xf0)
		low = 0x90;
	else if (*s == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static bool is_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 1;

	while (*s && n) {
		n = utf8_length(s);
		s += n;
	}
	return n;
}

/* Names may have any bytes, but JSON is UTF-8: other text becomes what tables have. */
static void make_utf8(struct json_object *o)
{
	size_t i;

	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, name, value) {
			(void)name;
			make_utf8(value);
		}
	} else if (json_object_is_type(o, json_type_array)) {
		for (i = 0; i < json_object_array_length(o); i++)
			make_utf8(json_object_array_get_idx(o, i));
	} else if (json_object_is_type(o, json_type_string) &&
		   !is_utf8(json_object_get_string(o))) {
		json_object_set_string(o, fmt_plain(json_object_get_string(o)));
	}
}

void js_print(struct json_object *o)
{
	int flags = opt.pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED :
				 JSON_C_TO_STRING_PLAIN;

	make_utf8(o);
	puts(json_object_to_json_string_ext(o, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
}

/* Take over @s, and keep it until the next few texts are made. */
static const char *keep(char *s)
{
	static char *kept[KEPT];
	static unsigned int next;
	char **slot = &kept[next++ % KEPT];

	if (!s)
		err(CTL_REFUSED, "no memory for a line of text");
	free(*slot);
	*slot = s;
	return s;
}

const char *fmt_vstr(const char *fmt, va_list ap)
{
	char *s;

	return keep(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

const char *fmt_str(const char *fmt, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	s = fmt_vstr(fmt, ap);
	va_end(ap);
	return s;
}

/*
 * Return whether a byte of text can be printed as it is. Bytes beyond ASCII can
 * be control sequences of a terminal too.
 */
static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '\\';
}

const char *fmt_plain(const char *text)
{
	size_t at = 0;
	char *s;

	while (is_plain(text[at]))
		at++;
	if (!text[at])
		return text;
	s = malloc(strlen(text) * strlen("\\xff") + 1);
	for (at = 0; s && *text; text++) {
		if (is_plain(*text))
			s[at++] = *text;
		else
			at += sprintf(s + at, "\\x%02x", (unsigned char)*text);
	}
	if (s)
		s[at] = '\0';
	return keep(s);
}

const char *fmt_list(struct json_object *array)
{
	size_t i, n = array ? json_object_array_length(array) : 0;
	char s[LIST_SIZE] = "";
	size_t at = 0;

	for (i = 0; i < n && at < sizeof(s) - 16; i++)
		at += snprintf(s + at, sizeof(s) - at, "%s%s", i ? "," : "",
			       json_object_get_string(json_object_array_get_idx(array, i)));
	return fmt_str("%s%s", s, i < n ? "..." : "");
}

const char *fmt_ns(uint64_t ns)
{
	if (ns < 1000)
		return fmt_str("%u ns", (unsigned int)ns);
	if (ns < 1000000)
		return fmt_str("%.1f us", ns / 1e3);
	if (ns < 1000000000)
		return fmt_str("%.1f ms", ns / 1e6);
	return fmt_str("%.1f s", ns / 1e9);
}

const char *fmt_age(uint64_t ns)
{
	unsigned long long s = ns / 1000000000;

	if (s < 120)
		return fmt_str("%llu s", s);
	if (s < 2 * 3600)
		return fmt_str("%llu min", s / 60);
	if (s < 2 * 86400)
		return fmt_str("%llu h", s / 3600);
	return fmt_str("%llu days", s / 86400);
}

const char *fmt_bytes(uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		i++;
	}
	return fmt_str(value == (uint64_t)value ? "%.0f %s" : "%.1f %s", value, units[i]);
}

void table_row(struct table *t, size_t columns, const char *const *cells)
{
	size_t i;

	if (!t->columns)
		t->columns = columns;
	t->cell = realloc(t->cell, (t->rows + 1) * t->columns * sizeof(*t->cell));
	for (i = 0; t->cell && i < t->columns; i++)
		t->cell[t->rows * t->columns + i] = strdup(i < columns && cells[i] ? cells[i] : "");
	if (t->cell)
		t->rows++;
}

static const char *table_cell(const struct table *t, size_t row, size_t column)
{
	const char *cell = t->cell[row * t->columns + column];

	return cell ? cell : "";
}

/* Return whether the column has only numbers below its heading. */
static bool column_is_number(const struct table *t, size_t column)
{
	size_t i;

	for (i = 1; i < t->rows; i++) {
		const char *cell = table_cell(t, i, column);

		if (cell[strspn(cell, "0123456789")])
			return false;
	}
	return true;
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t width = 0;
	size_t i;

	for (i = 0; i < t->rows; i++)
		if (strlen(table_cell(t, i, column)) > width)
			width = strlen(table_cell(t, i, column));
	return width;
}

void table_print(struct table *t)
{
	/* of each column what printf() takes: negative, to the left */
	int *width = calloc(t->columns + 1, sizeof(*width));
	size_t i, j;

	if (!width)
		err(CTL_REFUSED, "no memory for a table");
	for (j = 0; j < t->columns; j++) {
		if (column_is_number(t, j))
			width[j] = column_width(t, j);
		else if (j + 1 < t->columns)
			width[j] = -(int)column_width(t, j);
	}
	for (i = 0; i < t->rows; i++)
		for (j = 0; j < t->columns; j++)
			printf("%*s%s", width[j], table_cell(t, i, j),
			       j + 1 < t->columns ? "  " : "\n");
	free(width);
	for (i = 0; i < t->rows * t->columns; i++)
		free(t->cell[i]);
	free(t->cell);
	memset(t, 0, sizeof(*t));
}
