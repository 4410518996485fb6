// SPDX-License-Identifier: GPL-2.0
/*
 * Allreduces of COUNT elements, one after another, until one fails: until COUNT. Then prints when that was, in ms since
 * the boot, and the error's name. After SIGUSR1 it calls with one element less. For long/bounds.sh.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <torcoll.h>

static volatile sig_atomic_t less;

static void on_signal(int number)
{
	(void)number;
	less = 1;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct torcoll *t = NULL;
	struct torcoll_comm *comm;
	struct timespec now;
	size_t count;
	float *data;
	int err;

	count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	data = calloc(count, sizeof(*data));
	if (!count || !data)
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	if (torcoll_open(&t) || torcoll_comm_from_env(t, &comm)) {
		fprintf(stderr, "%s\n", torcoll_last_error());
		return 1;
	}
	do {
		err = torcoll_allreduce(comm, data, data, count - less, TORCOLL_F32, TORCOLL_SUM);
	} while (!err);
	clock_gettime(CLOCK_BOOTTIME, &now);
	printf("%lld %s\n", now.tv_sec * 1000LL + now.tv_nsec / 1000000, strerrorname_np(-err));
	return 0;
}
