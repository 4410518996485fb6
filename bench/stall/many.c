// SPDX-License-Identifier: MIT
/*
 * How long a processor does nothing else meanwhile, where there are very many nodes or ranks: many FABRIC SELF NEIGHBOUR CALL...
 * on node SELF of a fabric, which is alone. For bench/stall/guest.sh.
 *
 * A thread watches (watch.h). A line for each CALL: CALL RANKS MICROSECONDS. The first are comms of 2^20 ranks that nobody else
 * joins, until a deadline passes:
 *
 *	join		members in no order; this node is not rank 0
 *	join-first	this node is rank 0
 *	join-pairs	two ranks on each node but the first
 *	join-here	all ranks on this node
 *	flap		at the other end, the device NEIGHBOUR, is one that says each millisecond that it hears this node, or that
 *			it does not, and something new of 64 nodes: the fabric has 65,536 nodes then, and this one is the first
 */
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/torcoll_wire.h>
#include <torcoll.h>

#include "watch.h"

#define RANKS		(1U << 20)
#define NO_ORDER	2654435761U	/* odd: times this, all numbers below a power of two are those again */
#define DEADLINE_MS	500
#define NODES		65536U
#define RECORDS		64
#define HELLOS		2000
#define FRAME_MAX	9014

static struct torcoll *lib;
static uint64_t fabric;
static uint32_t self;

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "many: %s (%s; %s)\n", what, strerror(errno), torcoll_last_error());
	exit(1);
}

/* --- comms --- */

static uint32_t node_of(const char *call, uint32_t rank)
{
	if (!strcmp(call, "join"))
		return rank * NO_ORDER % RANKS;
	if (!strcmp(call, "join-first"))
		return (rank * NO_ORDER + self) % RANKS;
	if (!strcmp(call, "join-pairs"))
		return (rank * NO_ORDER % RANKS + 1) / 2;
	return self;
}

static void join(const char *call)
{
	uint32_t *members = malloc(RANKS * sizeof(*members)), rank;
	struct torcoll_comm_config config = {
		.fabric = fabric, .name = call, .members = members, .size = RANKS,
		.rank = TORCOLL_RANK_SELF, .depth = 1,
	};
	struct torcoll_comm *comm;
	int err;

	need(members, "no memory");
	for (rank = 0; rank < RANKS; rank++)
		members[rank] = node_of(call, rank);
	watch_on();
	config.deadline_ns = torcoll_deadline(DEADLINE_MS);
	err = torcoll_comm_create(lib, &config, &comm);
	printf("%s %u %.0f %s\n", call, RANKS, watch_worst(), err == -ETIMEDOUT ? "" : torcoll_last_error());
	watch_off();
	free(members);
}

/* --- a neighbour --- */

static uint32_t crc32c(const void *p, size_t n)
{
	const unsigned char *byte = p;
	uint32_t crc = ~0U;
	int i;

	while (n--)
		for (crc ^= *byte++, i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	return ~crc;
}

static int open_cable(const char *device)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htobe16(ETH_P_ALL),
				  .sll_ifindex = if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htobe16(ETH_P_ALL));

	need(fd >= 0 && at.sll_ifindex && !bind(fd, (struct sockaddr *)&at, sizeof(at)), device);
	return fd;
}

/* What this node says of itself, from which the neighbour's answer is made. */
static void hear_hello(int fd, unsigned char *frame)
{
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);

	do
		need(recv(fd, frame, FRAME_MAX, 0) > 0, "nothing to hear");
	while (hdr->version != TORCOLL_WIRE_VERSION || hdr->type != TORCOLL_FRAME_HELLO);
}

static size_t answer(unsigned char *frame, uint32_t i, uint32_t epoch)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	struct torcoll_hello *hello = (void *)(hdr + 1);
	struct torcoll_link_record *record = (void *)(hello + 1);
	size_t len = sizeof(*hello) + RECORDS * sizeof(*record);
	unsigned char limit = hdr->hop_limit;
	uint32_t k;

	hello->dir = 1;
	hello->hears = i & 1;
	hello->heard_node = htobe32(0);
	hello->heard_epoch = htobe32(epoch);
	hello->records = htobe32(RECORDS);
	for (k = 0; k < RECORDS; k++)
		record[k] = (struct torcoll_link_record){
			.node = htobe32(2 + (i * RECORDS + k) % (NODES - 2)), .epoch = htobe32(9),
			.seq = htobe32(i + 2), .dead = htobe16(i & 4), .frame = htobe16(1500),
		};
	hdr->src = htobe32(1);
	hdr->src_epoch = htobe32(9);
	hdr->length = htobe32(len);
	hdr->payload_crc = htobe32(crc32c(hello, len));
	hdr->hop_limit = 0;
	hdr->header_crc = 0;
	hdr->header_crc = htobe32(crc32c(hdr, sizeof(*hdr)));
	hdr->hop_limit = limit;
	return ETH_HLEN + sizeof(*hdr) + len;
}

static void flap_at(const char *device)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned char frame[FRAME_MAX];
	int fd = open_cable(device);
	uint32_t i, epoch;
	size_t len;

	hear_hello(fd, frame);
	epoch = be32toh(((struct torcoll_hdr *)(frame + ETH_HLEN))->src_epoch);
	frame[ETH_ALEN] ^= 2;
	watch_on();
	for (i = 0; i < HELLOS; i++) {
		len = answer(frame, i, epoch);
		need(send(fd, frame, len, 0) == (ssize_t)len || errno == ENOBUFS, "cannot send");
		nanosleep(&pause, NULL);
	}
	printf("flap %u %.0f\n", NODES, watch_worst());
	watch_off();
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: many FABRIC SELF NEIGHBOUR CALL...\n");
		return 2;
	}
	need(!torcoll_open(&lib), "no torcoll");
	fabric = strtoull(argv[1], NULL, 0);
	self = strtoul(argv[2], NULL, 0);
	begin_to_watch();
	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "flap"))
			flap_at(argv[3]);
		else
			join(argv[i]);
		fflush(stdout);
	}
	torcoll_close(lib);
	return 0;
}
