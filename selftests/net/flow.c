// SPDX-License-Identifier: GPL-2.0
/*
 * A flow of numbered datagrams over the network device, watched on every cable of
 * a torus of WIDTH x HEIGHT:
 *
 *	flow WIDTHxHEIGHT FROM TO ADDRESS PORT PER-SECOND
 *
 * from node FROM to node TO, whose address it is, until INT. First prints "by" and
 * the nodes that datagram AN_EARLY_ONE came to, in turn; at the end a line of
 * names and numbers:
 *
 *	sent		datagrams
 *	received	different ones
 *	duplicates	received again
 *	late		received after one with a higher number
 *	longest		the longest time without one, ms: between sending the first of some
 *			that did not arrive and the next that did
 *	loops		frames that crossed a cable in one direction again
 *	hops		the most cables that one crossed
 *	blind		frames that this program could not look at
 */
#include "cables.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>

#define NUMBERS_MAX	(1U << 20)
#define AN_EARLY_ONE	10
#define AFTER		(NS_PER_S / 2)
#define PATIENCE	(5 * NS_PER_S)

struct datagram {
	char magic[8];
	uint32_t number;
};

static const char magic[8] = "tor-flow";
static volatile sig_atomic_t stop;
static struct cables cables;
static uint64_t sent_at[NUMBERS_MAX];
static unsigned char came[NUMBERS_MAX], crossed[NUMBERS_MAX];
/* a bit for each port that one came to */
static uint64_t ports[NUMBERS_MAX][CABLES_NODES * CABLES_PORTS / 64];
static unsigned int loops;
/* 1 + the node that the early one came to, by the hops that it was allowed then */
static unsigned char way[256];

static void on_signal(int sig)
{
	stop = 1;
}

/*
 * Datagrams of this flow have a header of IPv4 without options, behind the MAC
 * header that the frame carries.
 */
static void saw(unsigned int node, unsigned int port, const struct torcoll_hdr *hdr, size_t len,
		void *arg)
{
	const size_t before = sizeof(*hdr) + ETH_HLEN + sizeof(struct iphdr) +
			      sizeof(struct udphdr);
	const struct datagram *d = (const void *)((const char *)hdr + before);
	unsigned int at = node * CABLES_PORTS + port, number;

	if (len < before + sizeof(*d) || memcmp(d->magic, magic, sizeof(magic)))
		return;
	number = ntohl(d->number);
	if (number >= NUMBERS_MAX)
		return;
	loops += ports[number][at / 64] >> at % 64 & 1;
	ports[number][at / 64] |= 1ULL << at % 64;
	crossed[number]++;
	if (number == AN_EARLY_ONE)
		way[hdr->hop_limit] = 1 + node;
}

static void print_way(void)
{
	printf("by");
	for (unsigned int limit = 256; limit--;)
		if (way[limit])
			printf(" %u", way[limit] - 1);
	putchar('\n');
	fflush(stdout);
}

static int open_receiver(unsigned int node, uint16_t port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	const int bytes = 8 << 20;
	int fd;

	enter_node(node);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && !bind(fd, (struct sockaddr *)&any, sizeof(any)), "no socket to receive by");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	return fd;
}

static int open_sender(unsigned int node, const char *address, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd;

	enter_node(node);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && inet_aton(address, &to.sin_addr), "no socket to send by");
	need(!connect(fd, (struct sockaddr *)&to, sizeof(to)), "no way to %s", address);
	return fd;
}

struct tally {
	unsigned int received, duplicates, late;
	uint32_t highest;
};

static void receive(int fd, struct tally *tally)
{
	struct datagram d;

	while (recv(fd, &d, sizeof(d), MSG_DONTWAIT) == sizeof(d)) {
		uint32_t number = ntohl(d.number);

		if (memcmp(d.magic, magic, sizeof(magic)) || number >= NUMBERS_MAX)
			continue;
		tally->duplicates += came[number];
		tally->received += !came[number];
		tally->late += !came[number] && tally->received > 1 && number < tally->highest;
		came[number] = 1;
		if (number > tally->highest)
			tally->highest = number;
	}
}

/* When nothing is sent, because this program does not run, nothing is silent. */
static uint64_t longest_ms(unsigned int sent)
{
	uint64_t longest = 0, since = 0;

	for (unsigned int i = 0; i < sent; i++) {
		if (!came[i]) {
			since = since ? since : sent_at[i];
			continue;
		}
		if (since && sent_at[i] - since > longest)
			longest = sent_at[i] - since;
		since = 0;
	}
	return longest / 1000000;
}

static unsigned int most_hops(unsigned int sent)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < sent; i++)
		if (crossed[i] > most)
			most = crossed[i];
	return most;
}

/* A datagram refused is one that did not arrive. */
static void send_one(int fd, unsigned int number)
{
	struct datagram d = { .number = htonl(number) };

	memcpy(d.magic, magic, sizeof(magic));
	sent_at[number] = now_ns();
	(void)!send(fd, &d, sizeof(d), 0);
}

int main(int argc, char **argv)
{
	unsigned int width, height, sent = 0, blind = 0;
	struct tally tally = { 0 };
	uint64_t period, next, end;
	int tx, rx;

	need(argc == 7 && sscanf(argv[1], "%ux%u", &width, &height) == 2 && strtoul(argv[6], NULL, 0),
	     "usage: flow WIDTHxHEIGHT FROM TO ADDRESS PORT PER-SECOND");
	signal(SIGINT, on_signal);
	period = NS_PER_S / strtoul(argv[6], NULL, 0);
	cables_open(&cables, width, height);
	rx = open_receiver(strtoul(argv[3], NULL, 0), strtoul(argv[5], NULL, 0));
	tx = open_sender(strtoul(argv[2], NULL, 0), argv[4], strtoul(argv[5], NULL, 0));
	for (next = now_ns(); !stop && sent < NUMBERS_MAX; next += period) {
		uint64_t now = now_ns();

		if (next > now)
			poll(NULL, 0, (next - now) / 1000000);
		send_one(tx, sent++);
		receive(rx, &tally);
		blind += cables_read(&cables, saw, NULL);
		if (sent == 2 * AN_EARLY_ONE)
			print_way();
	}
	/* the last ones, until all are there, and then those that come again */
	end = now_ns();
	for (uint64_t now = end; now < end + AFTER || (tally.received < sent && now < end + PATIENCE);
	     now = now_ns()) {
		poll(NULL, 0, 20);
		receive(rx, &tally);
		blind += cables_read(&cables, saw, NULL);
	}
	printf("sent %u received %u duplicates %u late %u longest %llu loops %u hops %u blind %u\n",
	       sent, tally.received, tally.duplicates, tally.late,
	       (unsigned long long)longest_ms(sent), loops, most_hops(sent), blind);
	return 0;
}
