// SPDX-License-Identifier: GPL-2.0
/*
 * Random frames, for the network device and for the cables that its frames cross:
 *
 *	garbage device NODE DEVICE COUNT SEED
 *		written to the network device: any addresses, EtherTypes and lengths
 *	garbage cable NODE DEVICE COUNT SEED
 *		sent by NODE into a cable with the EtherType and type of packets: half
 *		of them any bytes, half with a header as NODE would write it but for
 *		some members
 *
 * A queue that is full is no matter of this program.
 */
#include "badframes_wire.h"
#include "cables.h"

static uint64_t seed;

/* Numerical Recipes' generator of 64 bits, its upper half. */
static uint32_t draw(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 32;
}

static bool one_in(unsigned int n)
{
	return draw() % n == 0;
}

static void fill(void *p, size_t bytes)
{
	unsigned char *byte = p;

	while (bytes--)
		*byte++ = draw();
}

/*
 * An inner frame: addresses of nodes, of groups, of nobody; EtherTypes that the
 * kernel reads, and others.
 */
static size_t make_inner(unsigned char *frame, const unsigned char *own, size_t max)
{
	static const uint16_t types[] = {
		ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_8021Q, TORCOLL_ETHERTYPE, 46,
	};
	size_t len = one_in(3) ? 14 + draw() % 100 : 14 + draw() % (max - 13);
	struct ethhdr *eth = (void *)frame;

	fill(frame, len);
	if (one_in(2)) {
		memcpy(eth->h_dest, own, ETH_ALEN);
		eth->h_dest[ETH_ALEN - 1] = draw() % 20;
	} else if (one_in(2)) {
		memset(eth->h_dest, 0xff, ETH_ALEN);
	}
	if (one_in(2)) {
		memcpy(eth->h_source, own, ETH_ALEN);
		eth->h_source[ETH_ALEN - 1] = draw() % 20;
	}
	if (!one_in(5))
		eth->h_proto = htons(types[draw() % ARRAY_SIZE(types)]);
	/* a version and a length of a header, so that it is read on */
	if (len > ETH_HLEN && !one_in(5))
		frame[ETH_HLEN] = eth->h_proto == htons(ETH_P_IPV6) ? 0x60 : 0x45;
	return len;
}

/*
 * A packet as the own node would send it, but for what is changed. Whoever forges
 * the epoch of another node can keep its packets to all from arriving: those have
 * epochs that are not of any node.
 */
static size_t make_packet(unsigned char *frame, const struct torcoll_hdr *as,
			  const unsigned char *own, size_t max)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	size_t len = make_inner((void *)(hdr + 1), own, max - sizeof(*hdr));

	*hdr = *as;
	hdr->type = TORCOLL_FRAME_PACKET;
	hdr->hop_limit = one_in(3) ? draw() % 4 : 255;
	hdr->acks = one_in(10) ? draw() : 0;
	hdr->dst = htobe32(draw() % 20);
	hdr->digest = htobe32(draw());
	hdr->length = htobe32(len);
	hdr->comm = hdr->op = 0;
	hdr->dst_epoch = 0;
	if (one_in(3))
		hdr->src = htobe32(draw() % 40);
	if (one_in(3)) {
		hdr->dst = ~0U;
		hdr->src_epoch = htobe32(draw() | 1);
		hdr->op = htobe32(draw() % 100);
	}
	if (one_in(5))
		hdr->length = htobe32(one_in(2) ? draw() : draw() % 100);
	if (one_in(10))
		((unsigned char *)hdr)[draw() % sizeof(*hdr)] = draw();
	hdr->type = TORCOLL_FRAME_PACKET;
	set_header_crc(frame, 0);
	return ETH_HLEN + sizeof(*hdr) + (one_in(10) ? draw() % (len + 1) : len);
}

/* What any frame of ours begins with. */
static size_t make_noise(unsigned char *frame, size_t max)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	size_t len = ETH_HLEN + draw() % (max + 1);

	fill(hdr, max);
	hdr->version = TORCOLL_WIRE_VERSION;
	hdr->type = TORCOLL_FRAME_PACKET;
	return len;
}

static void send_all(int fd, const unsigned char *frame, size_t len)
{
	while (send(fd, frame, len, 0) < 0) {
		if (errno == ENOBUFS || errno == EAGAIN)
			continue;
		/* longer than the device takes, or not a frame at all */
		need(errno == EMSGSIZE || errno == EINVAL || errno == ENETDOWN, "cannot send %zu bytes", len);
		return;
	}
}

static void address_of(int fd, unsigned char *mac)
{
	struct sockaddr_ll at;
	socklen_t len = sizeof(at);

	need(!getsockname(fd, (struct sockaddr *)&at, &len), "no address");
	memcpy(mac, at.sll_addr, ETH_ALEN);
}

static void at_device(const char *dev, unsigned long count)
{
	unsigned char frame[CABLES_FRAME], own[ETH_ALEN];
	int fd = packet_socket(dev, 0);

	address_of(fd, own);
	while (count--)
		send_all(fd, frame, make_inner(frame, own, 1500));
}

/*
 * Of hellos on the cable: what the node's own frames look like, and the address at
 * the other end. @eth: of frames that are sent there
 */
static struct torcoll_hdr listen_to_hellos(int fd, unsigned int node, struct ethhdr *eth)
{
	unsigned char frame[CABLES_FRAME];
	const struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	const struct ethhdr *from = (void *)frame;
	bool own = false, other = false;
	struct torcoll_hdr as;
	ssize_t len;

	while (!own || !other) {
		len = recv(fd, frame, sizeof(frame), 0);
		need(len >= 0, "nothing to hear");
		if (len < (ssize_t)(ETH_HLEN + sizeof(*hdr)) || hdr->type != TORCOLL_FRAME_HELLO)
			continue;
		if (hdr->src == htobe32(node)) {
			as = *hdr;
			memcpy(eth->h_source, from->h_source, ETH_ALEN);
			own = true;
		} else {
			memcpy(eth->h_dest, from->h_source, ETH_ALEN);
			other = true;
		}
	}
	return as;
}

static void at_cable(const char *dev, unsigned int node, unsigned long count)
{
	struct ethhdr eth = { .h_proto = htons(TORCOLL_ETHERTYPE) };
	int fd = packet_socket(dev, ETH_P_ALL);
	struct torcoll_hdr as = listen_to_hellos(fd, node, &eth);
	/* as the network device of node 0 has it */
	const unsigned char mac[ETH_ALEN] = { 0x02, 0x74, be32toh(as.fabric) };
	unsigned char frame[CABLES_FRAME];

	while (count--) {
		size_t len = one_in(2) ? make_packet(frame, &as, mac, 1500) : make_noise(frame, 1500);

		memcpy(frame, &eth, sizeof(eth));
		send_all(fd, frame, len);
	}
}

int main(int argc, char **argv)
{
	unsigned int node;

	need(argc == 6, "usage: garbage device|cable NODE DEVICE COUNT SEED");
	node = strtoul(argv[2], NULL, 0);
	seed = strtoull(argv[5], NULL, 0);
	enter_node(node);
	if (!strcmp(argv[1], "device"))
		at_device(argv[3], strtoul(argv[4], NULL, 0));
	else
		at_cable(argv[3], node, strtoul(argv[4], NULL, 0));
	return 0;
}
