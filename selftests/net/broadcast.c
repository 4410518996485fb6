// SPDX-License-Identifier: GPL-2.0
/*
 * A broadcast from every node of a torus of WIDTH x HEIGHT, watched on every cable:
 *
 *	broadcast WIDTHxHEIGHT DEVICE SECONDS
 *
 * DEVICE is the network device. Prints a line of names and numbers:
 *
 *	arrived		at how many nodes, of all broadcasts together
 *	again		how many arrived where they had been, or came back
 *	most		the most frames that one cost a cable, both directions together
 *	least		the fewest: 0 on cables that are not in the tree
 *	frames		on all cables
 *	blind		frames that this program could not look at
 */
#include "cables.h"

#include <poll.h>

#define ETHERTYPE	0x88b6		/* IEEE 802: local experimental 2 */
#define BYTES		100

static struct cables cables;
static unsigned char cost[CABLES_NODES][CABLES_NODES * 2];
static unsigned char came[CABLES_NODES][CABLES_NODES];

/* The frame of a broadcast: its payload says whose. */
static size_t make(unsigned char *frame, unsigned int node)
{
	const struct ethhdr eth = {
		.h_dest = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		.h_source = { 2, 'b', 'c', 'a', 's', node },
		.h_proto = htons(ETHERTYPE),
	};

	memset(frame, 0, BYTES);
	memcpy(frame, &eth, sizeof(eth));
	frame[ETH_HLEN] = node;
	return BYTES;
}

static bool is_ours(const struct ethhdr *eth)
{
	return eth->h_proto == htons(ETHERTYPE);
}

static void saw(unsigned int node, unsigned int port, const struct torcoll_hdr *hdr, size_t len,
		void *arg)
{
	const unsigned char *inner = (const unsigned char *)(hdr + 1);

	if (len < sizeof(*hdr) + BYTES || !is_ours((const void *)inner) || inner[ETH_HLEN] >= cables.nodes)
		return;
	cost[inner[ETH_HLEN]][cables_number(&cables, node, port)]++;
}

static unsigned int receive(int fd, unsigned int node)
{
	unsigned char frame[2048];
	unsigned int n = 0;

	while (recv(fd, frame, sizeof(frame), MSG_DONTWAIT) >= BYTES)
		if (is_ours((const void *)frame) && frame[ETH_HLEN] < cables.nodes)
			n += !came[frame[ETH_HLEN]][node]++;
	return n;
}

static void report(unsigned int arrived, unsigned int blind)
{
	unsigned int again = 0, most = 0, least = ~0U, frames = 0;

	for (unsigned int i = 0; i < cables.nodes; i++) {
		for (unsigned int n = 0; n < cables.nodes; n++)
			again += came[i][n] > (i != n);
		for (unsigned int c = 0; c < cables.nodes * 2; c++) {
			frames += cost[i][c];
			most = cost[i][c] > most ? cost[i][c] : most;
			least = cost[i][c] < least ? cost[i][c] : least;
		}
	}
	printf("arrived %u again %u most %u least %u frames %u blind %u\n", arrived, again, most,
	       least, frames, blind);
}

int main(int argc, char **argv)
{
	unsigned int width, height, arrived = 0, blind = 0, wanted, n;
	int fd[CABLES_NODES];
	uint64_t end, quiet;

	need(argc == 4 && sscanf(argv[1], "%ux%u", &width, &height) == 2,
	     "usage: broadcast WIDTHxHEIGHT DEVICE SECONDS");
	cables_open(&cables, width, height);
	for (n = 0; n < cables.nodes; n++) {
		enter_node(n);
		fd[n] = packet_socket(argv[2], ETHERTYPE);
	}
	for (n = 0; n < cables.nodes; n++) {
		unsigned char frame[BYTES];

		need(send(fd[n], frame, make(frame, n), 0) == BYTES, "node %u cannot send", n);
	}
	wanted = cables.nodes * (cables.nodes - 1);
	end = now_ns() + strtoul(argv[3], NULL, 0) * NS_PER_S;
	/* what is too much comes after what is enough */
	for (quiet = 0; now_ns() < end && (!quiet || now_ns() < quiet); poll(NULL, 0, 10)) {
		for (n = 0; n < cables.nodes; n++)
			arrived += receive(fd[n], n);
		blind += cables_read(&cables, saw, NULL);
		if (!quiet && arrived >= wanted)
			quiet = now_ns() + NS_PER_S / 2;
	}
	report(arrived, blind);
	return 0;
}
