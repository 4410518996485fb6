// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that must be dropped, each counted for what is wrong with it. For bad.sh: wants the
 * namespaces of a 2x2 torus, says KTAP. Node 1 is the evil neighbour: what leaves its end of the cable
 * comes to node 0, whose counters are looked at.
 *
 * All goes on while an allreduce is running that only rank 0 has begun; in the end the others come, and
 * the result must be right. What is needed to be taken for a member (tags, epochs, digest) is heard on
 * the cable and asked of netlink.
 *
 *	badframes		the test
 *	badframes hold		opens a packet socket, says so, and waits to be killed
 *	badframes big-endian	says of node 1, until it is killed, that its payloads are
 */
#include "badframes_rows.h"
#include "badframes_wire.h"
#include "bad_netlink.h"

#define COUNT		65536		/* elements of the running op: several frames per transfer */
#define RANDOM_FRAMES	100000
#define REPLAYS		100

static unsigned char node0[ETH_ALEN];
static const unsigned char hello_group[ETH_ALEN] = TORCOLL_HELLO_GROUP;

/* --- counters of node 0, and epochs --- */

/* What a node says of the fabric, until the next question. @type: of the key */
static const struct nlmsghdr *get(unsigned int cmd, unsigned int type)
{
	static char answer[16384] __attribute__((aligned(8)));
	const uint64_t key = FABRIC;
	struct message msg;

	begin(&msg, family, cmd);
	add(&msg, type, &key, sizeof(key));
	need(!ask(&msg, answer, sizeof(answer)), "netlink does not answer");
	return (void *)answer;
}

static bool is_drop(unsigned int counter)
{
	return (counter >= TORCOLL_A_COUNTER_DROP_SHORT && counter <= TORCOLL_A_COUNTER_DROP_LINK) ||
	       counter == TORCOLL_A_COUNTER_DROP_AGAIN;
}

static uint64_t counter(unsigned int which, uint64_t *drops)
{
	const struct nlattr *counters = find_in(get(TORCOLL_CMD_STATS_GET, TORCOLL_A_STATS_FABRIC),
						TORCOLL_A_STATS_COUNTERS);
	unsigned int i;

	need(counters, "no counters");
	*drops = 0;
	for (i = TORCOLL_A_COUNTER_DROP_SHORT; i <= TORCOLL_A_COUNTER_DROP_AGAIN; i++)
		if (is_drop(i))
			*drops += number(find_nested(counters, i), sizeof(*drops));
	return number(find_nested(counters, which), sizeof(*drops));
}

static void learn_epochs(void)
{
	unsigned int i;

	/* node 0 last: its counters are asked for from then on */
	for (i = NODES; i-- > 0;) {
		open_netlink(i);
		epoch[i] = number(find_in(get(TORCOLL_CMD_NODE_GET, TORCOLL_A_NODE_FABRIC),
					  TORCOLL_A_NODE_EPOCH), 4);
		need(epoch[i], "no epoch of node %u", i);
	}
}

/* --- one row --- */

static void set_member(void *p, const struct member *m)
{
	uint64_t value = htobe64((m->from ? *m->from : m->value) << (64 - 8 * m->size));

	memcpy((char *)p + m->at, &value, m->size);
}

static void set_members(void *p, const struct member *m, unsigned int n)
{
	while (n--) {
		if (m->size)
			set_member(p, m);
		m++;
	}
}

static void fill_mac(unsigned char *frame)
{
	memcpy(frame, node0, ETH_ALEN);
	memcpy(frame + ETH_ALEN, node1, ETH_ALEN);
	frame[2 * ETH_ALEN] = TORCOLL_ETHERTYPE >> 8;
	frame[2 * ETH_ALEN + 1] = TORCOLL_ETHERTYPE & 0xff;
}

/* A header as node 1, a member of the comm, would send it to node 0. */
static void fill_header(struct torcoll_hdr *hdr, unsigned int type)
{
	*hdr = (struct torcoll_hdr){
		.version = TORCOLL_WIRE_VERSION,
		.type = type,
		.hop_limit = 255,
		.fabric = htobe32(fabric),
		.src = htobe32(1),
		.src_epoch = htobe32(epoch[1]),
		.dst_epoch = htobe32(epoch[0]),
		.comm = htobe32(comm),
		.op = htobe32(op),
		.digest = htobe32(digest),
		.channel = channel,
		.round = htobe16(round_no),
	};
}

/* Return: bytes of the frame at @frame. */
static size_t make(unsigned char *frame, const struct row *row)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned char *body = frame + ETH_HLEN + sizeof(*hdr);
	unsigned int length = row->payload + (row->wrong & UNIT ? unit : 0);
	unsigned int acks = row->acks * sizeof(struct torcoll_ack);

	memset(frame, 0, FRAME_MAX);
	fill_mac(frame);
	if (row->wrong & OTHER_MAC)
		frame[ETH_ALEN - 1] ^= 1;
	if (row->wrong & TO_ALL)
		memset(frame, 0xff, ETH_ALEN);
	if (row->wrong & TO_HELLOS)
		memcpy(frame, hello_group, ETH_ALEN);
	if (row->wrong & TO_GROUP)
		frame[0] = 3;
	fill_header(hdr, row->type);
	hdr->acks = row->acks;
	hdr->length = htobe32(length);
	set_members(body, row->body, ARRAY_SIZE(row->body));
	hdr->payload_crc = htobe32(~crc32c(~0U, body + acks, length));
	if (row->wrong & PAYLOAD_CRC)
		hdr->payload_crc ^= htobe32(1);
	set_members(hdr, row->hdr, ARRAY_SIZE(row->hdr));
	set_header_crc(frame, row->acks);
	if (row->wrong & HEADER_CRC)
		hdr->header_crc ^= htobe32(1);
	return ETH_HLEN + sizeof(*hdr) + acks + length + row->more;
}

static void try_row(const struct row *row)
{
	uint64_t end = now_ns() + 20 * NS_PER_S, before, after, drops, drops_after;
	bool drop = is_drop(row->counter);
	unsigned int by = row->by ? row->by : 1;
	unsigned char frame[FRAME_MAX];
	bool good = false;

	before = counter(row->counter, &drops);
	if (!throw(frame, make(frame, row))) {
		printf("# cannot be sent: %s\n", strerror(errno));
		result(false, "%s", row->name);
		return;
	}
	do {
		after = counter(row->counter, &drops_after);
		good = after >= before + by;
	} while (!good && now_ns() < end);
	/* counted once, and for nothing else */
	if (drop)
		good &= after == before + by;
	good &= drops_after == drops + (drop ? by : 0);
	if (!good)
		printf("# counter %u: %llu, then %llu, wanted %u more; drops: %llu, then %llu\n",
		       row->counter, (unsigned long long)before, (unsigned long long)after, by,
		       (unsigned long long)drops, (unsigned long long)drops_after);
	result(good, "%s", row->name);
}

/* --- hellos that are believed until the next one --- */

static const struct lie {
	const char *name;
	bool fatal;		/* such a link goes down */
	struct member hdr, body;
} lies[] = {
	{ .name = "another_node", .fatal = true, .hdr = HDR(src, 3) },
	{ .name = "no_node", .fatal = true, .hdr = HDR(src, ~0U) },
	{ .name = "this_node_itself", .fatal = true, .hdr = HDR(src, 0) },
	{ .name = "another_port", .fatal = true, .body = SET(torcoll_hello, dim, 1) },
	{ .name = "the_wrong_direction", .fatal = true, .body = SET(torcoll_hello, way, 0) },
	{ .name = "another_shape", .fatal = true, .body = SET(torcoll_hello, side[0], 4) },
	{ .name = "does_not_hear", .body = SET(torcoll_hello, hears, 0) },
	{ .name = "hears_another", .body = SET(torcoll_hello, heard_node, 2) },
	{ .name = "hears_an_old_epoch", .body = SET(torcoll_hello, heard_epoch, 1) },
	{ .name = "a_new_epoch", .hdr = HDR(src_epoch, 77) },
	{ .name = "no_frame_size", .body = SET(torcoll_hello, frame_size, 0) },
};

/* What becomes of a frame of no comm: is it @which that counts it, at once? */
static bool counts(unsigned int which)
{
	static const struct row row = {
		.type = TORCOLL_FRAME_DATA, .payload = 64, .hdr = { HDR(comm, 0x12345678) },
	};
	uint64_t end = now_ns() + NS_PER_S / 20, before, drops, drops_before;
	unsigned char frame[FRAME_MAX];

	before = counter(which, &drops_before);
	need(throw(frame, make(frame, &row)), "cannot send");
	do {
		if (counter(which, &drops) > before)
			return true;
	} while (drops == drops_before && now_ns() < end);
	return false;
}

/* Does the link go down? Not for long: the true neighbour is asked at once, and answers. */
static bool link_goes_down(uint64_t downs_before)
{
	uint64_t end = now_ns() + NS_PER_S / 20, drops;

	do {
		if (counter(TORCOLL_A_COUNTER_LINK_DOWNS, &drops) > downs_before)
			return true;
	} while (now_ns() < end);
	return false;
}

static void try_lie(const struct lie *lie)
{
	uint64_t downs, drops;
	unsigned char frame[FRAME_MAX];
	struct torcoll_hdr *hdr;
	bool good = false;
	unsigned int i;
	uint64_t end;
	size_t len;

	/* the truth may come in between */
	for (i = 0; i < 10 && !good; i++) {
		forget_heard();
		hear(TORCOLL_FRAME_HELLO, 1, ~0U, frame);
		hdr = (void *)(frame + ETH_HLEN);
		len = be32toh(hdr->length);
		set_members(hdr, &lie->hdr, 1);
		set_members(hdr + 1, &lie->body, 1);
		hdr->payload_crc = htobe32(~crc32c(~0U, hdr + 1, len));
		set_header_crc(frame, 0);
		downs = counter(TORCOLL_A_COUNTER_LINK_DOWNS, &drops);
		need(throw(frame, ETH_HLEN + sizeof(*hdr) + len), "cannot send");
		good = lie->fatal ? link_goes_down(downs) : counts(TORCOLL_A_COUNTER_DROP_COMM);
	}
	result(good, "hello__of_%s", lie->name);
	good = false;
	for (end = now_ns() + 30 * NS_PER_S; !good && now_ns() < end;)
		good = counts(TORCOLL_A_COUNTER_DROP_COMM);
	result(good, "hello__of_%s_is_forgotten", lie->name);
}

/* The truth comes in between, but is not what was said last. */
static void say_big_endian(void)
{
	unsigned char frame[FRAME_MAX];
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);

	for (;;) {
		hear(TORCOLL_FRAME_HELLO, 1, ~0U, frame);
		if (hdr->flags & TORCOLL_FLAG_BIG_ENDIAN)
			continue;
		hdr->flags |= TORCOLL_FLAG_BIG_ENDIAN;
		set_header_crc(frame, 0);
		need(throw(frame, ETH_HLEN + sizeof(*hdr) + be32toh(hdr->length)), "cannot send");
	}
}

/* --- at random, but always in the same way --- */

static uint64_t chance(uint64_t below)
{
	static uint64_t state = 0x746f72636f6c6c;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 8) % below;
}

static void fill_random(unsigned char *p, size_t n)
{
	while (n--)
		*p++ = chance(256);
}

/*
 * A frame whose header is right as far as CRC and tags go, and whose other members are anything that does
 * not happen to be what a member of the comm may say: no op that is running, no payload whose CRC is right
 * but that of messages that create comms.
 */
static size_t make_likely(unsigned char *frame)
{
	struct torcoll_hdr *hdr = (void *)(frame + ETH_HLEN);
	unsigned int acks = chance(4) ? chance(4) : chance(40);
	unsigned int length = chance(3) ? chance(200) : chance(1400 - 32 * acks);
	unsigned char *body = frame + ETH_HLEN + sizeof(*hdr);
	unsigned int i;

	fill_random(frame, ETH_HLEN + sizeof(*hdr) + 32 * acks + length);
	fill_mac(frame);
	hdr->version = chance(20) ? TORCOLL_WIRE_VERSION : chance(256);
	hdr->type = chance(7);
	hdr->hop_limit = chance(4);
	hdr->acks = acks;
	hdr->fabric = htobe32(chance(20) ? fabric : chance(1UL << 32));
	i = chance(NODES + 1);
	hdr->src = htobe32(i);
	hdr->src_epoch = htobe32(chance(8) ? epoch[i % NODES] : chance(1UL << 32));
	i = chance(3) ? 0 : chance(NODES + 1);
	hdr->dst = htobe32(i);
	hdr->dst_epoch = htobe32(chance(8) ? epoch[i % NODES] : 0);
	hdr->comm = htobe32(chance(4) ? comm : chance(1UL << 32));
	/* far from the one that is running, before it or after */
	hdr->op = htobe32(1000 + chance(~0U - 2000));
	hdr->channel = chance(10);
	hdr->length = htobe32(chance(8) ? length : chance(1UL << 32));
	for (i = 0; i < acks; i++) {
		struct torcoll_ack *ack = (void *)(body + 32 * i);

		ack->comm = htobe32(chance(2) ? comm : chance(1UL << 32));
		ack->op = hdr->op;
		ack->channel = chance(10);
		ack->state = chance(5);
	}
	if (hdr->type == TORCOLL_FRAME_COMM) {
		body[32 * acks] = chance(9);
		hdr->payload_crc = htobe32(~crc32c(~0U, body + 32 * acks, length));
	}
	set_header_crc(frame, acks);
	return ETH_HLEN + sizeof(*hdr) + 32 * acks + length;
}

/* A good frame of no comm with some bytes changed. */
static size_t make_damaged(unsigned char *frame)
{
	static const struct row good = {
		.type = TORCOLL_FRAME_DATA, .payload = 500, .hdr = { HDR(comm, 0x12345678) },
	};
	size_t len = make(frame, &good);
	unsigned int i, n = 1 + chance(3);

	for (i = 0; i < n; i++)
		frame[ETH_HLEN + chance(len - ETH_HLEN)] ^= 1 << chance(8);
	return chance(2) ? len : ETH_HLEN + chance(len - ETH_HLEN);
}

/* Kernels that check what they do take a minute for all of them. */
static unsigned int random_frames(void)
{
	const char *slow = getenv("TORCOLL_SLOW");

	return slow && atoi(slow) > 1 ? RANDOM_FRAMES / 4 : RANDOM_FRAMES;
}

static void try_random(void)
{
	unsigned int i, frames = random_frames(), sent = 0;
	unsigned char frame[FRAME_MAX];
	uint64_t drops, drops_after, end;
	size_t len;

	counter(TORCOLL_A_COUNTER_DROP_SHORT, &drops);
	for (i = 0; i < frames; i++) {
		switch (chance(4)) {
		case 0:
			len = ETH_HLEN + chance(1500);
			fill_random(frame, len);
			fill_mac(frame);
			break;
		case 1:
			len = make_damaged(frame);
			break;
		default:
			len = make_likely(frame);
			break;
		}
		sent += throw(frame, len);
	}
	result(sent == frames, "random__%u_frames", frames);
	end = now_ns() + 20 * NS_PER_S;
	do {
		counter(TORCOLL_A_COUNTER_DROP_SHORT, &drops_after);
	} while (drops_after - drops <= frames / 3 && now_ns() < end);
	printf("# of %u frames, %llu were counted as dropped\n", sent,
	       (unsigned long long)(drops_after - drops));
	result(drops_after - drops > frames / 3, "random__many_are_dropped");
}

/* A frame that node 1 really sent comes again and again, when its op is over. */
static void try_replay(struct rank *rank)
{
	const struct torcoll_hdr *hdr;
	unsigned char frame[FRAME_MAX];
	uint64_t drops, before, after, end;
	unsigned int i, sent = 0;
	size_t len;

	forget_heard();
	result(sum_is_right(rank, 0, NODES, COUNT), "replay__right_before");
	hdr = hear(TORCOLL_FRAME_DATA, 1, 0, frame);
	len = ETH_HLEN + sizeof(*hdr) + hdr->acks * sizeof(struct torcoll_ack) + be32toh(hdr->length);
	before = counter(TORCOLL_A_COUNTER_RX_DUPLICATES, &drops);
	for (i = 0; i < REPLAYS; i++)
		sent += throw(frame, len);
	end = now_ns() + 20 * NS_PER_S;
	/* a busy softirq leaves frames to a work item */
	do {
		after = counter(TORCOLL_A_COUNTER_RX_DUPLICATES, &drops);
	} while (after - before < REPLAYS && now_ns() < end);
	result(sent == REPLAYS && after - before >= REPLAYS, "replay__counted_as_duplicates");
	result(sum_is_right(rank, 0, NODES, COUNT), "replay__right_after");
}

/* --- the whole --- */

static void learn(struct rank *rank)
{
	struct torcoll_comm_info info = { .size = sizeof(info), .comm = rank[0].comm };
	const struct torcoll_hdr *hdr;
	unsigned char frame[FRAME_MAX];

	learn_epochs();
	need(!call(rank[0].fd, TORCOLL_IOC_COMM_INFO, &info), "no info");
	unit = info.frame_bytes;
	hdr = hear(TORCOLL_FRAME_HELLO, 0, ~0U, frame);
	fabric = be32toh(hdr->fabric);
	memcpy(node0, frame + ETH_ALEN, ETH_ALEN);

	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	hdr = hear(TORCOLL_FRAME_DATA, 0, 1, frame);
	comm = be32toh(hdr->comm);
	op = be32toh(hdr->op);
	op_before = op - 1;
	op_after = op + 8;
	digest = be32toh(hdr->digest);
	channel = hdr->channel;
	round_no = be16toh(hdr->round);
}

/* One that is believed: the ranks seem to disagree, the comm fails, and only that comm. */
static void try_digest(struct rank *rank)
{
	static const struct row row = {
		.type = TORCOLL_FRAME_DATA, .wrong = UNIT, .hdr = { HDR(digest, 1) },
	};
	struct torcoll_wait wait = { .size = sizeof(wait) };
	unsigned char frame[FRAME_MAX];

	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	op = be32toh(hear(TORCOLL_FRAME_DATA, 0, 1, frame)->op);
	need(throw(frame, make(frame, &row)), "cannot send");
	wait.comm = rank[0].comm;
	wait.op = rank[0].op;
	wait.deadline_ns = now_ns() + 20 * NS_PER_S;
	result(!call(rank[0].fd, TORCOLL_IOC_WAIT, &wait) && wait.status == -EPROTO &&
	       wait.error_rank == 1, "digest__ranks_disagree");
	make_comm(rank, NODES, 8, "new");
	result(sum_is_right(rank, 0, NODES, COUNT), "digest__new_comm_is_right");
}

/* A frame that is small but for what lies behind it goes on by a cable that would not take all of that. */
static void try_padded(void)
{
	static const struct row row = {
		.name = "padded__goes_on_without", .type = TORCOLL_FRAME_DATA, .more = 5000,
		.counter = TORCOLL_A_COUNTER_FORWARDED, .hdr = { HDR(dst, 2), HDR(comm, 0x12345678) },
	};
	struct ifreq req = { .ifr_name = "d1p", .ifr_mtu = 1500 };
	int fd;

	enter_node(0);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && !ioctl(fd, SIOCSIFMTU, &req), "no smaller MTU: %s", strerror(errno));
	try_row(&row);
	req.ifr_mtu = 9000;
	need(!ioctl(fd, SIOCSIFMTU, &req), "no MTU as before");
	close(fd);
}

/* The more often a link went down, the longer it waits before it is used again: meanwhile data goes another way. */
static bool goes_straight_again(struct rank *rank)
{
	uint64_t end = now_ns() + 60 * NS_PER_S;
	bool straight = false;

	while (!straight && now_ns() < end) {
		forget_heard();
		need(sum_is_right(rank, 0, NODES, COUNT), "wrong sum");
		straight = was_heard(TORCOLL_FRAME_DATA, 0, 1);
	}
	return straight;
}

int main(int argc, char **argv)
{
	static int32_t memory[NODES][COUNT];
	unsigned char frame[FRAME_MAX];
	struct rank rank[NODES] = {};
	unsigned int i;

	open_packet();
	if (argc > 1 && !strcmp(argv[1], "big-endian"))
		say_big_endian();
	if (argc > 1) {
		puts("holds");
		fflush(stdout);
		pause();
		return 0;
	}
	for (i = 0; i < NODES; i++) {
		rank[i].fd = open_on(i);
		rank[i].memory = memory[i];
		/* of which each node sends to each neighbour at once */
		rank[i].algorithm = TORCOLL_BIBUCKET;
	}
	make_comm(rank, NODES, 8, "live");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_before");
	learn(rank);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		try_row(&rows[i]);
	for (i = 0; i < ARRAY_SIZE(lies); i++)
		try_lie(&lies[i]);
	result(sum_is_right(rank, 1, NODES, COUNT), "live__running_op_is_right");
	result(goes_straight_again(rank), "live__goes_straight_again");
	forget_heard();
	need(!begin_sum(rank, 0, COUNT), "cannot begin: %s", sentence(rank[0].fd));
	op = be32toh(hear(TORCOLL_FRAME_DATA, 0, 1, frame)->op);
	try_random();
	result(sum_is_right(rank, 1, NODES, COUNT), "live__right_after_random_frames");
	result(sum_is_right(rank, 0, NODES, COUNT), "live__right_again");
	try_replay(rank);
	try_digest(rank);
	try_padded();
	return finish();
}
