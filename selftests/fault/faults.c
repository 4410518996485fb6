// SPDX-License-Identifier: GPL-2.0
/*
 * Lets allocations fail, see fail_nth.h, in
 *
 *	faults command UNDO COMMAND...	a command; UNDO by the shell behind each success
 *	faults load FILE		loading a module
 *	faults netns			a network namespace
 */
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fail_nth.h"

/* --- commands --- */

static int run_command(unsigned int n, char **argv, bool *failed)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		/* what they say when memory is short is not looked at */
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		set_fail_nth(n);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		die("waitid");
	*failed = has_failed(pid);
	waitpid(pid, NULL, 0);
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static int commands(const char *undo, char **argv)
{
	unsigned int n, refused = 0;
	bool failed;
	int code;

	for (n = 1; n < TRIES_MAX; n++) {
		code = run_command(n, argv, &failed);
		if (!code && system(undo)) {
			fprintf(stderr, "after allocation %u had failed, this did: %s\n", n, undo);
			return 1;
		}
		if (!code && !failed) {
			printf("%u allocations failed in turn, %u times it was refused\n", n - 1,
			       refused);
			return 0;
		}
		if (!failed || code > 2) {
			fprintf(stderr, "allocation %u %s, and the command's exit code was %d\n", n,
				failed ? "failed" : "was not reached", code);
			return 1;
		}
		refused += !!code;
	}
	fprintf(stderr, "no end of allocations\n");
	return 1;
}

/* --- modules and namespaces --- */

static int load_module(void *arg)
{
	return syscall(SYS_finit_module, *(int *)arg, "", 0) ? -errno : 0;
}

static void unload_module(void *arg)
{
	if (syscall(SYS_delete_module, "torcoll", O_NONBLOCK))
		die("delete_module");
}

static int new_netns(void *arg)
{
	return unshare(CLONE_NEWNET) ? -errno : 0;
}

int main(int argc, char **argv)
{
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3 && !strcmp(argv[1], "command"))
		return commands(argv[2], argv + 3);
	if (argc == 2 && !strcmp(argv[1], "netns")) {
		/* other protocols have words of their own: EEXIST, ENODEV */
		sweep_needed("network namespace",
			     sweep_words("network namespace", new_netns, NULL, NULL, true));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "load")) {
		fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(argv[2]);
		sweep("module load", load_module, unload_module, &fd);
		return 0;
	}
	fprintf(stderr, "usage: see the head of faults.c\n");
	return 2;
}
