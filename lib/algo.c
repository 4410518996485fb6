// SPDX-License-Identifier: MIT
/*
 * Lists of algorithms that `auto` may choose, as text:
 * "allreduce:bibucket,ring;broadcast:^ring". A later entry for a collective
 * replaces an earlier one; an entry without a collective applies to all.
 */
#include <stdbool.h>
#include <string.h>

#include "internal.h"

/*
 * Return the length of the text up to one of @ends, or of all; @s moves behind
 * it, and behind the end.
 */
static size_t word(const char **s, const char *ends, const char **begin)
{
	size_t n = strcspn(*s, ends);

	*begin = *s;
	*s += n + !!(*s)[n];
	return n;
}

static int by_name(int (*find)(const char *name), const char *name, size_t n)
{
	char copy[32];

	if (!n || n >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, name, n);
	copy[n] = '\0';
	return find(copy);
}

/* The text being parsed, and what it is the value of; "": nothing with a name. */
struct choice {
	const char *what;
	const char *text;
};

static int refuse(const struct choice *c, const char *name, size_t n, const char *why)
{
	return torcoll__fail(-EINVAL, "%s%s%s: \"%.*s\" %s, as in allreduce:bibucket,ring;broadcast:^ring",
			     c->what, *c->what ? "=" : "", c->text, (int)n, name, why);
}

/* Parse "bibucket,ring" or "^ring" into the excluded algorithms. */
static int parse_set(const struct choice *c, const char *s, const char *end, uint32_t *exclude)
{
	bool except = s < end && *s == '^';
	uint32_t named = 0;
	const char *name;
	int a;

	s += except;
	do {
		size_t n = word(&s, ",;", &name);

		a = by_name(torcoll_algorithm_by_name, name, n);
		if (a < 0)
			return refuse(c, name, n, "is no algorithm");
		if (a == TORCOLL_ALGO_AUTO && except)
			return refuse(c, name, n, "cannot be excluded");
		named |= 1U << a;
	} while (s < end);
	if (end[-1] == ',')
		return refuse(c, end, 0, "is no algorithm");
	if (named & 1U << TORCOLL_ALGO_AUTO)
		*exclude = 0;
	else
		*exclude = except ? named : ~named & (((1U << TORCOLL_ALGO_COUNT) - 1) & ~1U);
	return 0;
}

int torcoll__algo_parse(uint32_t *exclude, const char *what, const char *text)
{
	const struct choice choice = { what, text };
	const char *s = text, *begin, *set;
	uint32_t mask = 0;

	while (*s) {
		size_t n = word(&s, ";", &begin);
		const char *colon = memchr(begin, ':', n);
		int c = 0;

		set = colon ? colon + 1 : begin;
		if (colon)
			c = by_name(torcoll_collective_by_name, begin, colon - begin);
		if (c < 0 || (colon && c == TORCOLL_COLL_NONE))
			return refuse(&choice, begin, colon - begin, "is no collective");
		if (set == begin + n)
			return refuse(&choice, set, 0, "is no algorithm");
		if (parse_set(&choice, set, begin + n, &mask))
			return -EINVAL;
		for (int i = 0; i < TORCOLL_COLL_COUNT; i++)
			if (!colon || i == c)
				exclude[i] = mask;
	}
	return 0;
}

int torcoll_comm_set_algorithm(struct torcoll_comm *comm, const char *text)
{
	uint32_t exclude[TORCOLL_COLL_COUNT];

	memcpy(exclude, comm->exclude, sizeof(exclude));
	if (torcoll__algo_parse(exclude, "", text))
		return -EINVAL;
	memcpy(comm->exclude, exclude, sizeof(exclude));
	return 0;
}
