// SPDX-License-Identifier: GPL-2.0
/*
 * Hears all frames of a device, as a packet socket without a ring does: by clones, so that whoever changes a frame
 * needs memory for a header of its own. Never reads them, so none goes away before that. Until it is killed:
 * tap DEVICE. For memory.sh.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM	(128 << 20)

int main(int argc, char **argv)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = argc > 1 ? if_nametoindex(argv[1]) : 0,
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	const int room = ROOM;

	if (!at.sll_ifindex || fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		perror("tap");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	for (;;)
		pause();
}
