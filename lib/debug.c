// SPDX-License-Identifier: MIT
/* Messages on stderr that TORCOLL_DEBUG requests. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static const char *const names[] = {
	[TORCOLL__QUIET] = "quiet",
	[TORCOLL__WARN] = "warn",
	[TORCOLL__INFO] = "info",
	[TORCOLL__TRACE] = "trace",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum torcoll__level level;

static void read_level(void)
{
	const char *s = getenv("TORCOLL_DEBUG");

	if (!s || !*s)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(s, names[i])) {
			level = i;
			return;
		}
	}
	fprintf(stderr, "torcoll[%d]: TORCOLL_DEBUG=%s is none of quiet, warn, info, trace\n",
		(int)getpid(), s);
}

bool torcoll__debugs(enum torcoll__level at)
{
	pthread_once(&once, read_level);
	return at <= level;
}

void torcoll__debug(enum torcoll__level at, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (!torcoll__debugs(at))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* one call, so that lines of many ranks stay whole */
	fprintf(stderr, "torcoll[%d]: %s\n", (int)getpid(), text);
}
