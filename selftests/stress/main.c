// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes of comms, one after the other. See stress.h.
 *
 *	stress KEY NODES SECONDS SEED [shaky]		shaky: links come and go meanwhile
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

#define LANES		3
#define SEATS_MAX	3	/* ranks of a node */
#define CROWD		8	/* ranks of a comm with several on a node, at most */
#define STUCK		600	/* s, for one comm */

struct tally *tally;

static void shuffle(uint32_t *of, uint32_t n, uint64_t *state)
{
	uint32_t i, k, x;

	for (i = 0; i < n; i++) {
		k = rnd(state) % n;
		x = of[i];
		of[i] = of[k];
		of[k] = x;
	}
}

/* Some of the nodes, in any order; in a third of the comms with several ranks on some, which follow one another or not. */
static void draw_members(struct plot *plot, uint64_t *state, uint32_t nodes)
{
	uint32_t node[RANKS_MAX], used = 1 + rnd(state) % nodes, i, seats;
	bool shared = rnd(state) % 3 == 0;

	for (i = 0; i < nodes; i++)
		node[i] = i;
	shuffle(node, nodes, state);
	plot->ranks = 0;
	plot->shared = false;
	for (i = 0; i < used; i++) {
		seats = shared ? 1 + rnd(state) % SEATS_MAX : 1;
		if (shared && plot->ranks + seats > CROWD)
			break;
		plot->shared |= seats > 1;
		while (seats--)
			plot->member[plot->ranks++] = node[i];
	}
	if (rnd(state) & 1)
		shuffle(plot->member, plot->ranks, state);
}

static void draw(struct plot *plot, uint64_t *state, uint32_t nodes)
{
	plot->seed = rnd(state);
	snprintf(plot->name, sizeof(plot->name), "stress-%llx", (unsigned long long)plot->seed);
	draw_members(plot, state, nodes);
	plot->ops = 1 + rnd(state) % OPS_MAX;
	plot->misdeed = rnd(state) & 1 ? NONE : rnd(state) % MISDEEDS;
	plot->culprit = rnd(state) % plot->ranks;
	plot->shrinks = !plot->shared && rnd(state) & 1;
}

static bool run_comm(const struct plot *plot)
{
	uint64_t end = now_ns() + STUCK * 1000000000ULL;
	uint32_t i, left = plot->ranks;
	bool good = true;
	pid_t pid[RANKS_MAX];
	int status;

	for (i = 0; i < plot->ranks; i++) {
		pid[i] = fork();
		if (pid[i] < 0) {
			perror("fork");
			exit(1);
		}
		if (!pid[i])
			rank_main(plot, i);
	}
	while (left) {
		pid_t p = waitpid(-1, &status, WNOHANG);

		if (p <= 0) {
			if (now_ns() > end) {
				fprintf(stderr, "%s does not end: %u of %u ranks, misdeed %d\n",
					plot->name, left, plot->ranks, plot->misdeed);
				exit(1);
			}
			usleep(2000);
			continue;
		}
		left--;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
		    plot->misdeed == DIE && p == pid[plot->culprit])
			continue;
		if (status)
			good = false;
	}
	return good;
}

static int lane_main(uint64_t key, uint32_t nodes, uint64_t end, uint64_t seed, bool shaky)
{
	struct plot plot = { .key = key, .shaky = shaky };

	while (now_ns() < end && !__atomic_load_n(&tally->failed, __ATOMIC_RELAXED)) {
		draw(&plot, &seed, nodes);
		if (!run_comm(&plot)) {
			count(&tally->failed);
			return 1;
		}
		count(&tally->comms);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int lane, status, code = 0;
	uint64_t end;

	if (argc < 5 || atoi(argv[2]) < 1 || atoi(argv[2]) > RANKS_MAX) {
		fprintf(stderr, "usage: stress KEY NODES SECONDS SEED [shaky]\n");
		return 2;
	}
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	end = now_ns() + strtoull(argv[3], NULL, 0) * 1000000000ULL;
	for (lane = 0; lane < LANES; lane++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			exit(lane_main(strtoull(argv[1], NULL, 0), atoi(argv[2]), end,
				       strtoull(argv[4], NULL, 0) * 7919 + lane, argc > 5));
	}
	while (wait(&status) > 0)
		code |= status;
	printf("%llu comms, %llu of them shrunk, %llu ops of a rank\n", (unsigned long long)tally->comms,
	       (unsigned long long)tally->shrunk, (unsigned long long)tally->ops);
	return code || !tally->comms;
}
