// SPDX-License-Identifier: GPL-2.0
/*
 * Who is waited for while a comm is joined. See awaited.h. The call blocks, so a
 * thread asks the module, once a second, as "comm show" does.
 */
#include "awaited.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"

#define NOBODY		UINT32_MAX
#define EVERY_MS	1000

/**
 * struct awaited - a join under way
 * @over: eventfd, readable when it is over
 * @conn: the thread's
 * @node: of whom was said that it is waited for, or NOBODY
 */
struct awaited {
	uint64_t key;
	struct shape shape;
	const char *name;
	pthread_t thread;
	int over;
	struct conn conn;
	uint32_t node;
	time_t begun;
};

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Return the first node that has not joined, as far as this one knows, or NOBODY. */
static uint32_t find_missing(struct awaited *a)
{
	struct json_object *list;
	uint32_t node = NOBODY;
	size_t i;

	if (view_dump(&a->conn, &comm_view, &a->key, &list))
		return NOBODY;
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *comm = json_object_array_get_idx(list, i);

		if (!strcmp(js_raw(comm, "name"), a->name) && js_has(comm, "missing"))
			node = js_u64(comm, "missing");
	}
	json_object_put(list);
	return node;
}

static void say(struct awaited *a, uint32_t node)
{
	bool screen = isatty(STDERR_FILENO);

	if (node == NOBODY || (!screen && node == a->node))
		return;
	a->node = node;
	/* in a line of 80 columns */
	fprintf(stderr, "%swaiting for node %u (%s): start this there; Ctrl-C ends it",
		screen ? "\r" : "", node, shape_place(&a->shape, node));
	if (screen)
		fprintf(stderr, "; %lld s\033[K", (long long)(now_s() - a->begun));
	else
		fputc('\n', stderr);
}

static void *watch(void *arg)
{
	struct awaited *a = arg;
	struct pollfd over = { .fd = a->over, .events = POLLIN };

	if (conn_open(&a->conn))
		return NULL;
	while (poll(&over, 1, EVERY_MS) <= 0)
		say(a, find_missing(a));
	conn_close(&a->conn);
	return NULL;
}

struct awaited *awaited_begin(uint64_t key, const struct tor_torus *torus, const char *name)
{
	struct awaited *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->key = key;
	shape_from_torus(&a->shape, torus);
	a->name = name;
	a->node = NOBODY;
	a->begun = now_s();
	a->over = eventfd(0, EFD_CLOEXEC);
	if (a->over >= 0 && !pthread_create(&a->thread, NULL, watch, a))
		return a;
	if (a->over >= 0)
		close(a->over);
	free(a);
	return NULL;
}

void awaited_end(struct awaited *a)
{
	if (!a)
		return;
	eventfd_write(a->over, 1);
	pthread_join(a->thread, NULL);
	close(a->over);
	if (a->node != NOBODY && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	free(a);
}
