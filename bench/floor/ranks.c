// SPDX-License-Identifier: MIT
/*
 * A rank of bench/floor/bare.c: ranks DIMS BYTES CALLS, started by torcollctl netns run. Its parent and children are those
 * of torcoll's `tree` (kmod/core/plan/neighbour/tree.c); each is behind a port of torcollctl's names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../profile/mark.h"
#include "core/host_shape.h"
#include "core/torus.h"
#include "floor.h"

static void port_name(char *to, unsigned int dim, char side)
{
	snprintf(to, IFNAMSIZ, "d%u%c", dim, side);
}

/*
 * A node's parent is a step closer to coordinate 0 in the first dimension in which it is elsewhere. Its children are those
 * for which that is this node.
 */
static void find_ports(const struct tor_torus *g, unsigned int self, struct floor_setup *setup)
{
	unsigned int d, n, at, children = 0;

	for (d = 0; d < g->ndim; d++) {
		n = g->side[d];
		at = tor_torus_coord(g, self, d);
		if (at < n / 2)
			port_name(setup->port[++children], d, 'p');
		if ((at ? at : n) - 1 > n / 2)
			port_name(setup->port[++children], d, 'm');
		if (!at)
			continue;
		port_name(setup->port[0], d, at <= n / 2 ? 'm' : 'p');
		return;
	}
}

static void must(const char *what, int ret)
{
	if (ret >= 0)
		return;
	perror(what);
	exit(1);
}

static void call(int fd, struct floor_run *run, unsigned int calls)
{
	while (calls--)
		must("ranks: allreduce", ioctl(fd, FLOOR_RUN, run));
}

int main(int argc, char **argv)
{
	const char *env = getenv("TORCOLL_RANK");
	unsigned int self = env ? atoi(env) : 0, i;
	static __u32 in[FLOOR_BYTES / 4], out[FLOOR_BYTES / 4];
	struct floor_run run = { (unsigned long)in, (unsigned long)out };
	struct floor_setup setup = { 0 };
	u32 side[TOR_MAX_DIMS], dims;
	struct tor_torus torus;
	int fd;

	dims = argc == 4 ? host_shape_parse(argv[1], side) : 0;
	if (!dims || !env || tor_torus_init(&torus, dims, side, 1)) {
		fputs("usage: ranks DIMS BYTES CALLS, with TORCOLL_RANK\n", stderr);
		return 2;
	}
	run.bytes = atoi(argv[2]);
	find_ports(&torus, self, &setup);
	fd = open("/dev/torcoll-floor", O_RDWR);
	must("ranks: /dev/torcoll-floor", fd);
	must("ranks: ports", ioctl(fd, FLOOR_SETUP, &setup));
	for (i = 0; i < run.bytes / 4; i++)
		in[i] = self + i;
	/* what comes before a rank has its ports is lost, and nobody sends it again */
	sleep(2);
	call(fd, &run, 3);
	if (!self)
		profile_begin();
	call(fd, &run, atoi(argv[3]));
	if (!self)
		profile_end();
	for (i = 0; i < run.bytes / 4; i++)
		if (out[i] != torus.nodes * (torus.nodes - 1) / 2 + torus.nodes * i) {
			fprintf(stderr, "ranks: element %u is wrong\n", i);
			return 1;
		}
	/* the others may still wait for this one's frames */
	sleep(1);
	return 0;
}
