// SPDX-License-Identifier: GPL-2.0
/*
 * A cable under test. See cable.h.
 */
#include "cable.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/accept.h"

#define FRAME_MAX	(1 << 16)
#define PATTERNS	4
#define GIVE_UP_NS	(250 * 1000000ULL)
#define BATCH		32
#define OVERTAKEN	16			/* later frames whose answers may come first */
#define SYNCS		8			/* tries to learn the neighbour's count */
#define RING		(4 * CABLE_WINDOW)	/* frames whose time of sending is remembered */
#define ANSWER_BYTES	(ETH_HLEN + sizeof(struct torcoll_hdr))

/* A test frame that was sent; @number is 0 once it is answered. */
struct sent {
	uint32_t number;
	uint64_t at;
};

struct cable {
	struct cable_spec spec;
	int fd;
	uint32_t bytes;			/* behind the MAC header, of the frames below */
	uint8_t *pattern[PATTERNS];	/* whole frames */
	uint32_t crc[PATTERNS];		/* of their payloads */

	uint32_t next;			/* number of the next frame, from 1 */
	uint32_t oldest;		/* the first that is neither answered nor given up */
	bool known;			/* an answer has come */
	int64_t before, counted;	/* the neighbour's count before this test, and at last */
	uint32_t heard;			/* the highest number in an answer */
	uint64_t damaged;		/* 1 + the neighbour's count of damaged frames; 0: unknown */
	uint64_t last;			/* time of the last answer */
	struct sent ring[RING];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/*
 * Accept answers, also damaged ones, and not the module's own traffic: no other
 * frame is a header alone but an empty test, which is_answer() sorts out.
 */
static int filter_answers(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ANSWER_BYTES, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ANSWER_BYTES),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int open_socket(const struct cable_spec *spec)
{
	const struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(spec->ethertype),
		.sll_ifindex = spec->ifindex,
	};
	/*
	 * without a protocol at first, or frames before the filter would be
	 * received
	 */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (!filter_answers(fd) && !bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}

static void fill(uint8_t *payload, uint32_t bytes, unsigned int pattern)
{
	static const uint8_t value[PATTERNS] = { 0x00, 0xff, 0x55 };
	uint64_t noise = 0x9e3779b97f4a7c15;
	uint32_t i;

	memset(payload, value[pattern], bytes);
	if (pattern < PATTERNS - 1)
		return;
	for (i = 0; i < bytes; i++) {
		noise ^= noise << 13;
		noise ^= noise >> 7;
		noise ^= noise << 17;
		payload[i] = noise;
	}
}

static void prepare(struct cable *c, uint32_t bytes)
{
	const uint32_t payload = bytes - sizeof(struct torcoll_hdr);
	unsigned int i;

	c->bytes = bytes;
	for (i = 0; i < PATTERNS; i++) {
		struct ethhdr *eth = (struct ethhdr *)c->pattern[i];
		uint8_t *at = c->pattern[i] + ANSWER_BYTES;

		memcpy(eth->h_dest, c->spec.neighbour_mac, ETH_ALEN);
		memcpy(eth->h_source, c->spec.self_mac, ETH_ALEN);
		eth->h_proto = htons(c->spec.ethertype);
		fill(at, payload, i);
		c->crc[i] = tor_wire_crc(at, payload);
	}
}

struct cable *cable_open(const struct cable_spec *spec)
{
	struct cable *c = calloc(1, sizeof(*c));
	unsigned int i;

	if (!c)
		return NULL;
	c->spec = *spec;
	/* another process may still get answers to an earlier test */
	if (getrandom(&c->next, sizeof(c->next), 0) < 0)
		c->next = now_ns();
	c->next = (c->next & INT32_MAX) + 2;
	c->fd = open_socket(spec);
	for (i = 0; i < PATTERNS && c->fd >= 0; i++) {
		c->pattern[i] = malloc(FRAME_MAX);
		if (!c->pattern[i])
			break;
	}
	if (i == PATTERNS)
		return c;
	cable_close(c);
	return NULL;
}

void cable_close(struct cable *c)
{
	int saved = errno;
	unsigned int i;

	for (i = 0; i < PATTERNS; i++)
		free(c->pattern[i]);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
	errno = saved;
}

static uint32_t under_way(const struct cable *c)
{
	return c->next - c->oldest;
}

/*
 * Return whether the answer to the oldest frame may still come. A cable keeps
 * the order, but for what several queues change: if many later frames were
 * answered, this one is lost, and does not hold up the others; if none was, and
 * answers do come, the cable is slow.
 */
static bool may_come(const struct cable *c, uint64_t now)
{
	const struct sent *s = &c->ring[c->oldest % RING];
	int32_t later = c->heard - c->oldest;

	if (s->number != c->oldest || later >= OVERTAKEN)
		return false;
	return now < s->at + GIVE_UP_NS || (now < c->last + GIVE_UP_NS && later < 0);
}

/* Drop frames that are answered, or given up. */
static void cable_settle(struct cable *c, uint64_t now)
{
	while (c->oldest != c->next && !may_come(c, now))
		c->oldest++;
}

/*
 * Send one frame. Return 0, -EAGAIN if the device has no room, or another
 * negative errno.
 */
static int send_one(struct cable *c)
{
	unsigned int pattern = c->next % PATTERNS;
	const struct tor_hdr h = {
		.version = TORCOLL_WIRE_VERSION,
		.type = TORCOLL_FRAME_ECHO,
		.hop_limit = 1,
		.fabric = c->spec.tag,
		.src = c->spec.self,
		.dst = c->spec.neighbour,
		.op = c->next,
		.length = c->bytes - sizeof(struct torcoll_hdr),
		.payload_crc = c->crc[pattern],
	};
	struct sent *s = &c->ring[c->next % RING];

	tor_wire_build(c->pattern[pattern] + ETH_HLEN, &h, NULL);
	s->number = c->next;
	s->at = now_ns();
	if (send(c->fd, c->pattern[pattern], ETH_HLEN + c->bytes, MSG_DONTWAIT) < 0)
		return errno == ENOBUFS ? -EAGAIN : -errno;
	c->next++;
	return 0;
}

/* The neighbour's count of damaged frames. */
static void count_damaged(struct cable *c, uint64_t count, struct cable_result *result)
{
	if (c->damaged && count > c->damaged)
		result->damaged_there += count - c->damaged;
	c->damaged = count;
	result->damage_known = count;
}

/* The neighbour's count has 32 bits, and is less where its port is a new one. */
static void count_arrived(struct cable *c, uint32_t count)
{
	if (!c->known)
		c->counted = count;
	else
		c->counted += (int32_t)(count - (uint32_t)c->counted);
}

/* Take the neighbour's counts; an answer that was overtaken brings older ones. */
static void take_counts(struct cable *c, const struct tor_hdr *h, struct cable_result *result)
{
	if (c->known && (int32_t)(h->op - c->heard) < 0)
		return;
	count_arrived(c, h->digest);
	count_damaged(c, h->offset, result);
	c->known = true;
	c->heard = h->op;
}

static void answered(struct cable *c, const struct tor_hdr *h, uint64_t now,
		     struct cable_result *result)
{
	struct sent *s = &c->ring[h->op % RING];

	if (!h->op || s->number != h->op)
		return;
	s->number = 0;
	take_counts(c, h, result);
	c->last = now;
	result->late += (int32_t)(h->op - c->oldest) < 0;
	result->rtt[result->answered++ % CABLE_SAMPLES] = now - s->at > UINT32_MAX ? UINT32_MAX :
							  now - s->at;
}

static bool is_answer(const struct cable *c, const struct tor_hdr *h)
{
	return h->type == TORCOLL_FRAME_ECHO && h->flags & TORCOLL_FLAG_REPLY &&
	       h->src == c->spec.neighbour && h->dst == c->spec.self;
}

static void take_frame(struct cable *c, const uint8_t *frame, struct cable_result *result)
{
	enum tor_counter why;
	struct tor_hdr h;

	if (tor_wire_parse(frame + ETH_HLEN, sizeof(struct torcoll_hdr), sizeof(struct torcoll_hdr),
			   &h, &why))
		result->damaged_back++;
	else if (is_answer(c, &h))
		answered(c, &h, now_ns(), result);
}

/* Receive available answers. */
static void cable_take(struct cable *c, struct cable_result *result)
{
	uint8_t frame[BATCH][ANSWER_BYTES];
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH];
	int i, n;

	do {
		memset(msg, 0, sizeof(msg));
		for (i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec){ frame[i], sizeof(frame[i]) };
			msg[i].msg_hdr.msg_iov = &iov[i];
			msg[i].msg_hdr.msg_iovlen = 1;
		}
		n = recvmmsg(c->fd, msg, BATCH, MSG_DONTWAIT, NULL);
		for (i = 0; i < n; i++)
			if (msg[i].msg_len == ANSWER_BYTES)
				take_frame(c, frame[i], result);
	} while (n == BATCH);
}

/* Wait for an answer, or until the oldest frame is given up. */
static void wait_answer(struct cable *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	poll(&p, 1, GIVE_UP_NS / 1000000 / 4);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Return the answers that this process was too slow to take, since the last
 * call.
 */
static uint64_t missed(const struct cable *c)
{
	struct tpacket_stats stats = { 0 };
	socklen_t len = sizeof(stats);

	getsockopt(c->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len);
	return stats.tp_drops;
}

/* Return whether the neighbour's count is known as of the last frame. */
static bool count_is_known(const struct cable *c)
{
	return c->known && c->heard == c->next - 1;
}

/*
 * Send frames, as the parameters of cable_test() say. Return 0 or a negative
 * errno.
 */
static int cable_run(struct cable *c, uint32_t window, uint64_t frames, uint64_t ns,
		     struct cable_result *result)
{
	uint64_t begin = now_ns(), now = begin, sent = 0;
	bool more;
	int err = 0;

	do {
		more = now - begin < ns && (!frames || sent < frames);
		while (more && under_way(c) < window && (!frames || sent < frames)) {
			err = send_one(c);
			if (err)
				break;
			sent++;
		}
		if (err && err != -EAGAIN)
			break;
		if (more || c->oldest != c->next)
			wait_answer(c);
		cable_take(c, result);
		now = now_ns();
		cable_settle(c, now);
	} while (more || c->oldest != c->next);
	result->sent += sent;
	return err == -EAGAIN ? 0 : err;
}

/*
 * Send single frames until one is answered: then the neighbour's count is known.
 * Else it is assumed that what did not come back was lost there.
 */
static int cable_sync(struct cable *c, struct cable_result *result)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < SYNCS && !err && !count_is_known(c); i++)
		err = cable_run(c, 1, 1, GIVE_UP_NS, result);
	return err;
}

/*
 * Forget the frames by which the count was made known, and those of earlier
 * tests: an answer that comes now is not one of this test.
 */
static void forget_earlier(struct cable *c, struct cable_result *result)
{
	for (unsigned int i = 0; i < RING; i++)
		c->ring[i].number = 0;
	*result = (struct cable_result){ .rtt = result->rtt };
}

/*
 * Return how many frames of this test arrived: by the neighbour's count, if what
 * it was before is known. It may include earlier frames that are late.
 */
static uint64_t arrived(const struct cable *c, bool before_known, const struct cable_result *result)
{
	int64_t more = before_known ? c->counted - c->before : 0;
	uint64_t n = more > 0 ? more : 0;

	n = n < result->sent ? n : result->sent;
	return n > result->answered ? n : result->answered;
}

int cable_test(struct cable *c, uint32_t bytes, uint32_t window, uint64_t frames, uint64_t ns,
	       struct cable_result *result)
{
	bool before_known;
	uint64_t begin;
	int err;

	*result = (struct cable_result){ .rtt = calloc(CABLE_SAMPLES, sizeof(*result->rtt)) };
	if (!result->rtt)
		return -ENOMEM;
	prepare(c, bytes);
	c->oldest = c->next;
	err = cable_sync(c, result);
	if (err)
		return err;
	forget_earlier(c, result);
	before_known = count_is_known(c);
	c->before = c->counted;
	missed(c);
	begin = c->last = now_ns();
	err = cable_run(c, window, frames, ns, result);
	result->ns = c->last - begin;
	result->bytes = result->answered * (ETH_HLEN + bytes);
	if (!err && result->answered)
		err = cable_sync(c, result);
	result->missed = missed(c);
	result->arrived = arrived(c, before_known, result);
	result->rtts = result->answered < CABLE_SAMPLES ? result->answered : CABLE_SAMPLES;
	qsort(result->rtt, result->rtts, sizeof(*result->rtt), compare);
	return err;
}
