// SPDX-License-Identifier: MIT
/*
 * What the wires between namespaces can do, measured without torcoll:
 *
 *	raw pingpong NETNS DEV NETNS DEV BYTES SECONDS	AF_PACKET, one way: "min median", us
 *	raw flood NETNS DEV NETNS DEV BYTES SECONDS	AF_PACKET: processor time per frame, us
 *	raw udp NETNS NETNS ADDRESS BYTES SECONDS	UDP: processor time per datagram, us
 *
 * A flood keeps at most WINDOW frames under way, or the backlog of the machine would drop them. Processor time is
 * all that /proc/stat calls busy: the figures want an otherwise idle machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ETHERTYPE	0x88b6		/* the local experimental one that torcoll does not use */
#define UDP_PORT	9999
#define WINDOW		8		/* batches under way */
#define BATCH		32		/* frames that one byte of credit stands for */
#define SAMPLES_MAX	200000
#define BYTES_MAX	65536

/* One direction between two sockets. */
struct path {
	int tx, rx;
	struct sockaddr_storage to;
	socklen_t to_len;
	size_t bytes;
};

static void die(const char *what)
{
	fprintf(stderr, "raw: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Seconds for which processors were busy since boot. */
static double busy(void)
{
	unsigned long user, nice, system, idle, wait, irq, soft;
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu", &user, &nice, &system, &idle, &wait,
			 &irq, &soft) != 7)
		die("/proc/stat");
	fclose(f);
	return (double)(user + nice + system + irq + soft) / sysconf(_SC_CLK_TCK);
}

static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	close(fd);
}

/* A packet socket on that device; its neighbour takes whatever comes: the address is broadcast. */
static int packet_socket(const char *netns, const char *dev, struct sockaddr_ll *ll)
{
	int fd;

	enter(netns);
	memset(ll, 0, sizeof(*ll));
	ll->sll_family = AF_PACKET;
	ll->sll_protocol = htons(ETHERTYPE);
	ll->sll_ifindex = if_nametoindex(dev);
	ll->sll_halen = ETH_ALEN;
	memset(ll->sll_addr, 0xff, ETH_ALEN);
	if (!ll->sll_ifindex)
		die(dev);
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETHERTYPE));
	if (fd < 0 || bind(fd, (struct sockaddr *)ll, sizeof(*ll)))
		die("packet socket");
	return fd;
}

static void packet_paths(char **arg, struct path *there, struct path *back)
{
	there->tx = packet_socket(arg[0], arg[1], (struct sockaddr_ll *)&there->to);
	back->tx = packet_socket(arg[2], arg[3], (struct sockaddr_ll *)&back->to);
	there->rx = back->tx;
	back->rx = there->tx;
	there->to_len = sizeof(struct sockaddr_ll);
	back->to_len = sizeof(struct sockaddr_ll);
	there->bytes = strtoul(arg[4], NULL, 0);
	back->bytes = there->bytes;
	if (!there->bytes || there->bytes > BYTES_MAX)
		die("bytes");
}

static void udp_path(char **arg, struct path *p)
{
	struct sockaddr_in *to = (struct sockaddr_in *)&p->to;
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(UDP_PORT) };

	enter(arg[0]);
	p->tx = socket(AF_INET, SOCK_DGRAM, 0);
	enter(arg[1]);
	p->rx = socket(AF_INET, SOCK_DGRAM, 0);
	if (p->tx < 0 || p->rx < 0 || bind(p->rx, (struct sockaddr *)&any, sizeof(any)))
		die("udp socket");
	*to = any;
	if (!inet_aton(arg[2], &to->sin_addr))
		die(arg[2]);
	p->to_len = sizeof(*to);
	p->bytes = strtoul(arg[3], NULL, 0);
	if (!p->bytes || p->bytes > BYTES_MAX)
		die("bytes");
}

/* False if the device would not take it. */
static int send_one(const struct path *p)
{
	static const char data[BYTES_MAX];

	if (sendto(p->tx, data, p->bytes, 0, (const struct sockaddr *)&p->to, p->to_len) >= 0)
		return 1;
	if (errno != ENOBUFS)
		die("send");
	return 0;
}

static void receive_one(const struct path *p)
{
	static __thread char data[BYTES_MAX];

	if (recv(p->rx, data, sizeof(data), 0) < 0)
		die("receive");
}

/* ---- ping-pong ---- */

static void *echo(void *arg)
{
	const struct path *paths = arg;

	for (;;) {
		receive_one(&paths[0]);
		send_one(&paths[1]);
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void pingpong(struct path *paths, double seconds)
{
	double *sample = malloc(SAMPLES_MAX * sizeof(*sample)), end = now() + seconds;
	pthread_t thread;
	size_t n;

	if (!sample || pthread_create(&thread, NULL, echo, paths))
		die("thread");
	for (n = 0; n < SAMPLES_MAX && now() < end; n++) {
		double start = now();

		send_one(&paths[0]);
		receive_one(&paths[1]);
		sample[n] = (now() - start) / 2 * 1e6;
	}
	qsort(sample, n, sizeof(*sample), compare);
	printf("%.1f %.1f\n", sample[0], sample[n / 2]);
	exit(0);
}

/* ---- flood ---- */

struct sink {
	const struct path *path;
	int credit;			/* a byte is written per batch */
};

static void *sink(void *arg)
{
	const struct sink *s = arg;

	for (;;) {
		for (int i = 0; i < BATCH; i++)
			receive_one(s->path);
		if (write(s->credit, "", 1) != 1)
			die("credit");
	}
	return NULL;
}

static void flood(const struct path *path, double seconds)
{
	double end = now() + seconds, work;
	unsigned long frames = 0;
	int credit[2], size = 8 << 20;
	pthread_t thread;
	struct sink s = { .path = path };
	char c;

	setsockopt(path->rx, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (pipe(credit))
		die("pipe");
	s.credit = credit[1];
	for (int i = 0; i < WINDOW; i++)
		if (write(credit[1], "", 1) != 1)
			die("credit");
	if (pthread_create(&thread, NULL, sink, &s))
		die("thread");
	work = busy();
	while (now() < end) {
		if (read(credit[0], &c, 1) != 1)
			die("credit");
		for (int i = 0; i < BATCH; i++)
			while (!send_one(path))
				;
		frames += BATCH;
	}
	printf("%.2f\n", (busy() - work) / frames * 1e6);
	exit(0);
}

int main(int argc, char **argv)
{
	struct path paths[2];

	memset(paths, 0, sizeof(paths));
	if (argc == 8 && !strcmp(argv[1], "pingpong")) {
		packet_paths(argv + 2, &paths[0], &paths[1]);
		pingpong(paths, atof(argv[7]));
	} else if (argc == 8 && !strcmp(argv[1], "flood")) {
		packet_paths(argv + 2, &paths[0], &paths[1]);
		flood(&paths[0], atof(argv[7]));
	} else if (argc == 7 && !strcmp(argv[1], "udp")) {
		udp_path(argv + 2, &paths[0]);
		flood(&paths[0], atof(argv[6]));
	}
	fprintf(stderr, "usage: raw pingpong|flood NETNS DEV NETNS DEV BYTES SECONDS\n"
			"       raw udp NETNS NETNS ADDRESS BYTES SECONDS\n");
	return 2;
}
