// SPDX-License-Identifier: GPL-2.0
/*
 * One who takes as many comms as there are, and what others have left of a processor. For unprivileged.sh.
 *
 *	greedy comms N		tries to make N comms of one rank on the fabric that TORCOLL_FABRIC says, and keeps them until
 *				its standard input ends; says how many, and the sentence of the last refusal
 *	greedy lingering N	the same, but closes each at once
 *	greedy spin MS		how often it can look at the clock meanwhile
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <torcoll.h>

static int comms(int n, int closes)
{
	static const uint32_t self;
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.rank = TORCOLL_RANK_SELF,
		.members = &self,
		.size = 1,
	};
	char name[TORCOLL_NAME_MAX], why[256] = "";
	struct torcoll_comm *comm;
	struct torcoll *t;
	int i, got = 0;

	if (torcoll_open(&t))
		return 1;
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "greedy.%d", i);
		config.name = name;
		if (torcoll_comm_create(t, &config, &comm)) {
			snprintf(why, sizeof(why), "%s", torcoll_last_error());
			continue;
		}
		got++;
		if (closes)
			torcoll_comm_close(comm);
	}
	printf("%d %s\n", got, why);
	fflush(stdout);
	if (!closes)
		getchar();
	return 0;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int spin(int ms)
{
	double end = now_ms() + ms;
	long n = 0;

	while (now_ms() < end)
		n++;
	printf("%ld\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	int err = 1;

	if (argc == 3 && !strcmp(argv[1], "spin"))
		return spin(atoi(argv[2]));
	if (argc == 3 && (!strcmp(argv[1], "comms") || !strcmp(argv[1], "lingering")))
		err = comms(atoi(argv[2]), argv[1][0] == 'l');
	if (err)
		fprintf(stderr, "greedy: %s\n", torcoll_last_error());
	return err;
}
