// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Work for several processes. What they find is counted in memory that they share. See jobs.h. */
#include "jobs.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_JOBS	64
#define SHOW_EVERY	10		/* s */

static struct shared {
	atomic_ulong next;		/* item to begin */
	atomic_ulong passed;
	atomic_ulong failed;
} *shared;

void jobs_passed(unsigned long cases)
{
	atomic_fetch_add(&shared->passed, cases);
}

void jobs_failed(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	atomic_fetch_add(&shared->failed, 1);
	printf("FAIL %s\n", text);
	fflush(stdout);
}

static void work(size_t items, void (*item)(size_t i))
{
	size_t i;

	while ((i = atomic_fetch_add(&shared->next, 1)) < items)
		item(i);
	fflush(stdout);
	_exit(0);
}

static void show(time_t begin, size_t items, const char *what)
{
	unsigned long next = atomic_load(&shared->next);

	printf("%4ld s: %lu of %zu %s begun, %lu cases passed, %lu failed\n",
	       (long)(time(NULL) - begin), next < items ? next : items, items, what,
	       atomic_load(&shared->passed), atomic_load(&shared->failed));
	fflush(stdout);
}

/* Until all have ended. Who dies has failed. */
static void watch(unsigned int running, size_t items, const char *what)
{
	time_t begin = time(NULL), shown = begin;
	int status;
	pid_t p;

	while (running) {
		p = waitpid(-1, &status, WNOHANG);
		if (p > 0) {
			running--;
			if (status)
				jobs_failed("a process died, status %#x", status);
		} else {
			usleep(20000);
		}
		if (time(NULL) - shown >= SHOW_EVERY) {
			shown = time(NULL);
			show(begin, items, what);
		}
	}
	show(begin, items, what);
}

int jobs_run(size_t items, const char *what, void (*item)(size_t i))
{
	long jobs = sysconf(_SC_NPROCESSORS_ONLN), i;
	unsigned long passed, failed;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	jobs = jobs < 1 ? 1 : jobs > MOST_JOBS ? MOST_JOBS : jobs;
	fflush(stdout);
	for (i = 0; i < jobs; i++) {
		pid_t p = fork();

		if (!p)
			work(items, item);
		if (p < 0)
			break;
	}
	if (!i) {
		perror("fork");
		return 2;
	}
	watch(i, items, what);
	passed = atomic_load(&shared->passed);
	failed = atomic_load(&shared->failed);
	munmap(shared, sizeof(*shared));
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed || !passed;
}
