// SPDX-License-Identifier: MIT
/*
 * Watches: descriptors that poll readable after an event of the context. Those
 * of the device itself are about states: it polls readable as long as there is
 * any result, whoever is to fetch it. A watch is about events (EPOLLET): a
 * thread clears it, looks for what it wants, and sleeps until the next event. So
 * each thread has its own while it waits; some are kept for later waits.
 */
#include "internal.h"

int torcoll__watch_get(struct torcoll *t)
{
	int watch = -1;

	pthread_mutex_lock(&t->queue);
	if (t->nwatches)
		watch = t->watches[--t->nwatches];
	pthread_mutex_unlock(&t->queue);
	if (watch < 0)
		watch = torcoll_sys_watch(t->fd);
	return watch;
}

void torcoll__watch_put(struct torcoll *t, int watch)
{
	bool kept;

	pthread_mutex_lock(&t->queue);
	kept = t->nwatches < ARRAY_SIZE(t->watches);
	if (kept)
		t->watches[t->nwatches++] = watch;
	pthread_mutex_unlock(&t->queue);
	if (!kept)
		torcoll_sys_close(watch);
}

void torcoll__watch_close_all(struct torcoll *t)
{
	while (t->nwatches)
		torcoll_sys_close(t->watches[--t->nwatches]);
}
