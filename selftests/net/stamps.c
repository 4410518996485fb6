// SPDX-License-Identifier: GPL-2.0
/*
 * Leaves a process with a socket that wants the times of what it receives: the
 * kernel takes them for all packets then. ping(8) switches that on and off
 * again, which changes code that other processors run: an emulated machine may
 * do that wrongly (on_one_cpu in lib.sh).
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof(yes))) {
		perror("stamps");
		return 1;
	}
	if (daemon(0, 0)) {
		perror("stamps");
		return 1;
	}
	pause();
	return 0;
}
