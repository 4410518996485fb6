// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Many seeds on several processors. Child processes do the runs, so that a
 * failed assertion or a finding of a sanitizer counts as one failed seed, and
 * the others continue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define POLL_US		20000
#define SEED_SECONDS	600		/* a run that computes longer counts as stuck in a loop */

/*
 * Memory shared by parent and children; each child writes only its own entry,
 * and not the first.
 */
struct worker {
	pid_t pid;
	u64 seed;			/* the current one */
	u64 passed, failed;
	struct sim_totals totals;
};

struct shared {
	_Atomic u64 next;
	bool refused;			/* options exclude each other */
	bool stop;
	struct worker worker[];
};

static struct shared *shared;
static u64 first_seed, last_seed;

static void *share(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void say_failed(u64 seed, const char *why)
{
	shared->stop = sim_options.stop;
	printf("seed %llu FAILED %s\n", (unsigned long long)seed, why);
	fflush(stdout);
}

/* Run a seed. False: the options permit no run. */
static bool run_seed(struct worker *w, u64 seed)
{
	if (!sim_scenario_draw(&sim.scenario, seed))
		return false;
	if (sim_options.trace)
		sim_scenario_write(&sim.scenario, stdout);
	if (sim_run()) {
		w->passed++;
	} else {
		w->failed++;
		say_failed(seed, sim.why);
	}
	sim_totals_add(&w->totals, &sim.totals);
	return true;
}

/* 0: no limit. Of the processor's time: others may need it as well. */
static void limit_time(time_t seconds)
{
	const struct itimerval timer = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &timer, NULL);
}

static void work(struct worker *w)
{
	for (;;) {
		w->seed = first_seed + shared->next++;
		if (w->seed > last_seed || shared->refused || shared->stop)
			return;
		limit_time(w->pid ? SEED_SECONDS : 0);
		if (!run_seed(w, w->seed))
			shared->refused = true;
	}
}

static void start(struct worker *w)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid) {
		w->pid = pid;
		return;
	}
	work(w);
	limit_time(0);
	fflush(NULL);
	_exit(0);
}

/*
 * Handle the end of a child: regular, or by the seed that it ran. False:
 * nothing is left for it.
 */
static bool restart(struct worker *w, int status)
{
	char why[64];

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return false;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "died: %s", strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "died: exit code %d", WEXITSTATUS(status));
	say_failed(w->seed, why);
	w->failed++;
	start(w);
	return true;
}

/* Print progress, about every second. */
static void progress(u32 jobs, u64 seeds)
{
	static time_t last;
	time_t now = time(NULL);
	u64 run = 0, failed = 0;
	u32 i;

	if (!last)
		last = now;
	if (now - last < (isatty(2) ? 1 : 10) || sim_options.trace)
		return;
	last = now;
	for (i = 0; i < jobs; i++) {
		run += shared->worker[i].passed + shared->worker[i].failed;
		failed += shared->worker[i].failed;
	}
	fprintf(stderr, isatty(2) ? "\r%llu of %llu seeds, %llu failed " :
				    "%llu of %llu seeds, %llu failed\n",
		(unsigned long long)run, (unsigned long long)seeds, (unsigned long long)failed);
}

static void watch(u32 jobs, u64 seeds)
{
	u32 i, left = jobs;
	int status;

	while (left) {
		for (i = 0; i < jobs; i++) {
			struct worker *w = &shared->worker[i];

			if (!w->pid || waitpid(w->pid, &status, WNOHANG) != w->pid)
				continue;
			if (!restart(w, status)) {
				w->pid = 0;
				left--;
			}
		}
		progress(jobs, seeds);
		usleep(POLL_US);
	}
	if (isatty(2))
		fputs("\r\033[K", stderr);
}

s64 sim_workers_run(u64 first, u64 seeds, u32 jobs, struct sim_totals *totals)
{
	u64 failed = 0;
	u32 i;

	first_seed = first;
	last_seed = first + seeds - 1;
	shared = share(sizeof(*shared) + jobs * sizeof(struct worker));
	if (jobs == 1) {
		/* for debuggers */
		work(&shared->worker[0]);
	} else {
		for (i = 0; i < jobs; i++)
			start(&shared->worker[i]);
		watch(jobs, seeds);
	}
	for (i = 0; i < jobs; i++) {
		failed += shared->worker[i].failed;
		sim_totals_add(totals, &shared->worker[i].totals);
	}
	return shared->refused ? -1 : (s64)failed;
}

bool sim_worker_try(const struct sim_scenario *s, char *why)
{
	static char *said;
	int status;
	pid_t pid;

	if (!said)
		said = share(sizeof(sim.why));
	snprintf(said, sizeof(sim.why), "died");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* messages of a sanitizer about each attempt are not shown */
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		sim.scenario = *s;
		if (sim_run())
			_exit(0);
		memcpy(said, sim.why, sizeof(sim.why));
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	memcpy(why, said, sizeof(sim.why));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}
