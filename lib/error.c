// SPDX-License-Identifier: MIT
/* Errors: names and meanings of the numbers, and the thread's last sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SENTENCE_MAX	TORCOLL__SENTENCE_MAX

static _Thread_local char sentence[SENTENCE_MAX];

static const struct {
	int err;
	const char *name;
	const char *meaning;
} errors[] = {
#define E(e, meaning)	{ e, #e, meaning }
	E(EINVAL, "an argument is out of its range"),
	E(E2BIG, "the module is older than the library and does not know what was asked"),
	E(EFAULT, "memory cannot be read or written"),
	E(ENOTTY, "the module does not know this call"),
	E(ENOENT, "no such object"),
	E(ENODEV, "no such fabric in this network namespace"),
	E(EBUSY, "in use"),
	E(EEXIST, "exists already"),
	E(EOPNOTSUPP, "not served by this module or algorithm"),
	E(EDQUOT, "a limit was reached"),
	E(ENOMEM, "out of memory"),
	E(EACCES, "wrong secret, or access denied"),
	E(EPERM, "not permitted"),
	E(ETIMEDOUT, "the deadline passed"),
	E(EINTR, "interrupted by a signal"),
	E(EAGAIN, "not complete yet"),
	E(EPROTO, "ranks disagree about the op or the comm"),
	E(ECONNABORTED, "another rank left, aborted or was killed"),
	E(ECANCELED, "aborted by this rank"),
	E(EHOSTUNREACH, "no path to a rank"),
	E(EHOSTDOWN, "a rank's host died or restarted"),
	E(ENETDOWN, "the fabric was deleted"),
#undef E
};

static int errors_find(int err)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].err == err)
			return i;
	return -1;
}

const char *torcoll_strerror(int err)
{
	int i;

	err = abs(err);
	i = errors_find(err);
	if (!err)
		return "success";
	return i < 0 ? strerror(err) : errors[i].meaning;
}

const char *torcoll_last_error(void)
{
	return sentence;
}

/* Return what is behind the text of a sentence; "" if the error has no name. */
static const char *suffix_of(int err, char *to, size_t room)
{
	int i = errors_find(abs(err));

	snprintf(to, room, i < 0 ? "" : " (%s)", i < 0 ? "" : errors[i].name);
	return to;
}

static void append_name(int err)
{
	char suffix[sizeof(" (ECONNABORTED)")];
	size_t len;

	if (!suffix_of(err, suffix, sizeof(suffix))[0])
		return;
	/*
	 * The name of the error is more important than the end of a long text.
	 */
	len = strnlen(sentence, sizeof(sentence) - sizeof(suffix));
	snprintf(sentence + len, sizeof(sentence) - len, "%s", suffix);
}

int torcoll__fail(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	append_name(err);
	torcoll__debug(TORCOLL__WARN, "%s", sentence);
	return err;
}

/* Return whether the sentence is about @what, and ends with this error. */
static bool sentence_is_of(int err, const char *what)
{
	char suffix[sizeof(" (ECONNABORTED)")];
	size_t len = strlen(sentence), head = strlen(what), tail;

	tail = strlen(suffix_of(err, suffix, sizeof(suffix)));
	return tail && len > head + tail && !strncmp(sentence, what, head) && sentence[head] == ':' &&
	       !strcmp(sentence + len - tail, suffix);
}

int torcoll__fail_again(int err, const char *what)
{
	if (sentence_is_of(err, what))
		return err;
	return torcoll__fail(err, "%s: %s", what, torcoll_strerror(err));
}

#define REASON_MAX	(SENTENCE_MAX - 64)

/* The module's, of a refusal that other calls have followed since. */
static _Thread_local char reason[REASON_MAX];

/* It was given, and goes before what the module says. */
static _Thread_local bool given;

static void reason_read(struct torcoll *t, char *why)
{
	struct torcoll_error e = {
		.size = sizeof(e),
		.len = REASON_MAX,
		.text = torcoll__u64(why),
	};

	if (torcoll__ioctl(t, TORCOLL_IOC_ERROR, &e))
		why[0] = '\0';
	why[REASON_MAX - 1] = '\0';
}

void torcoll__reason_keep(struct torcoll *t)
{
	reason_read(t, reason);
}

char *torcoll__reason_copy(struct torcoll *t)
{
	char why[REASON_MAX] = "";

	reason_read(t, why);
	return strdup(why);
}

void torcoll__reason_give(const char *why)
{
	snprintf(reason, sizeof(reason), "%s", why);
	given = true;
}

void torcoll__reason_drop(void)
{
	reason[0] = '\0';
	given = false;
}

int torcoll__refused(struct torcoll *t, int err, const char *what)
{
	char why[REASON_MAX] = "";

	if (!given)
		reason_read(t, why);
	if (!why[0])
		strcpy(why, reason);
	torcoll__reason_drop();
	return torcoll__fail(err, "%s: %s", what, why[0] ? why : torcoll_strerror(err));
}

void torcoll__sentence_keep(char *kept)
{
	strcpy(kept, sentence);
}

char *torcoll__sentence_swap(const char *kept)
{
	char *copy = strdup(sentence);

	strcpy(sentence, kept);
	return copy;
}

void torcoll__sentence_say(const char *text)
{
	snprintf(sentence, sizeof(sentence), "%s", text);
}
