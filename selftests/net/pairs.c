// SPDX-License-Identifier: GPL-2.0
/*
 * Echoes between all pairs of nodes, in the namespaces of torcollctl netns up:
 *
 *	pairs SECONDS ADDRESS...
 *
 * The i-th address is that of node i; all are IPv4, or all IPv6. Every node
 * sends one request to every other. Prints how many were answered, and names
 * those that were not within SECONDS, or more than once.
 */
#include "bad.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#define NODES_MAX	64

struct echo {
	uint8_t type;
	uint8_t code;
	uint16_t sum;
	uint16_t id;
	uint16_t to;
	char text[56];
};

static struct sockaddr_storage address[NODES_MAX];
static unsigned int nodes;
static unsigned char answered[NODES_MAX][NODES_MAX];
static int fd[NODES_MAX];

static bool is_v6(void)
{
	return address[0].ss_family == AF_INET6;
}

static void parse(unsigned int node, const char *text)
{
	struct sockaddr_in *v4 = (void *)&address[node];
	struct sockaddr_in6 *v6 = (void *)&address[node];

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	need(address[node].ss_family && address[node].ss_family == address[0].ss_family,
	     "no address of node %u: %s", node, text);
}

static void open_echo(unsigned int node)
{
	enter_node(node);
	if (is_v6())
		fd[node] = socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
	else
		fd[node] = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	need(fd[node] >= 0, "no raw socket");
}

static uint16_t sum_of(const void *p, size_t bytes)
{
	const uint16_t *word = p;
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes / 2; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static void ask(unsigned int from, unsigned int to)
{
	struct echo echo = {
		.type = is_v6() ? ICMP6_ECHO_REQUEST : ICMP_ECHO,
		.id = htons(from + 1), .to = htons(to), .text = "torcoll",
	};

	/* the kernel sums for IPv6 */
	if (!is_v6())
		echo.sum = sum_of(&echo, sizeof(echo));
	if (sendto(fd[from], &echo, sizeof(echo), 0, (struct sockaddr *)&address[to],
		   sizeof(address[to])) < 0)
		printf("# node %u to %u: %s\n", from, to, strerror(errno));
}

/* Takes what came to node @at. Return: answers that were the first of theirs. */
static unsigned int hear(unsigned int at)
{
	unsigned char packet[2048];
	struct echo *echo;
	unsigned int n = 0;
	ssize_t len, skip;

	while ((len = recv(fd[at], packet, sizeof(packet), MSG_DONTWAIT)) > 0) {
		skip = is_v6() ? 0 : (packet[0] & 15) * 4;
		echo = (void *)(packet + skip);
		if (len < skip + (ssize_t)sizeof(*echo) || ntohs(echo->id) != at + 1 ||
		    echo->type != (is_v6() ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) || ntohs(echo->to) >= nodes)
			continue;
		n += !answered[at][ntohs(echo->to)]++;
	}
	return n;
}

int main(int argc, char **argv)
{
	unsigned int wanted, good = 0, twice = 0, a, b;
	uint64_t end;

	need(argc > 3 && argc - 2 <= NODES_MAX, "usage: pairs SECONDS ADDRESS...");
	nodes = argc - 2;
	wanted = nodes * (nodes - 1);
	for (a = 0; a < nodes; a++) {
		parse(a, argv[a + 2]);
		open_echo(a);
	}
	for (a = 0; a < nodes; a++)
		for (b = 0; b < nodes; b++)
			if (a != b)
				ask(a, b);
	end = now_ns() + strtoul(argv[1], NULL, 0) * NS_PER_S;
	while (good < wanted && now_ns() < end) {
		for (a = 0; a < nodes; a++)
			good += hear(a);
		poll(NULL, 0, 10);
	}
	for (a = 0; a < nodes; a++) {
		for (b = 0; b < nodes; b++) {
			twice += answered[a][b] > 1;
			if (a != b && answered[a][b] != 1)
				printf("# node %u to %u: %u answers\n", a, b, answered[a][b]);
		}
	}
	printf("%u of %u\n", good, wanted);
	return good < wanted || twice;
}
