// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The two nodes and their cables. See ring.h.
 */
#include "ring.h"

#include <fcntl.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <linux/torcoll_wire.h>

#include "kfuzz.h"

int ring_packet[RING_PORTS];

static int space[RING_NODES], control[RING_NODES];

void ring_enter(int node)
{
	kfuzz_need(!setns(space[node], CLONE_NEWNET), "setns");
}

void ring_set_device(int port, bool up, int mtu)
{
	struct ifreq request = { .ifr_flags = up ? IFF_UP : 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "p%d", port);
	ioctl(control[ring_node(port)], SIOCSIFFLAGS, &request);
	request.ifr_mtu = mtu;
	ioctl(control[ring_node(port)], SIOCSIFMTU, &request);
}

static void set_feature(int socket, u32 cmd, const char *name, u32 on)
{
	struct ethtool_value value = { .cmd = cmd, .data = on };
	struct ifreq request = { .ifr_data = (void *)&value };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	kfuzz_need(!ioctl(socket, SIOCETHTOOL, &request), "offloads");
}

/*
 * A device of this node that receives batches, and merges what comes within a millisecond. The settings of a namespace's devices
 * show in a sysfs of its own.
 */
static void set_gro(int socket, const char *name)
{
	char command[256];

	set_feature(socket, ETHTOOL_SGRO, name, 1);
	snprintf(command, sizeof(command),
		 "unshare -m sh -c 'mount -t sysfs none /sys && echo 1000000 >/sys/class/net/%s/gro_flush_timeout'", name);
	kfuzz_sh(command);
}

/* A node with its two ports, whose cables end at the fuzzer: the second one is slow enough for its queue to overflow. */
static void make_node(int node)
{
	char command[1024];
	int a = 2 * node, b = a + 1;

	kfuzz_need(!unshare(CLONE_NEWNET), "unshare");
	space[node] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	control[node] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	kfuzz_need(space[node] >= 0 && control[node] >= 0, "namespace");
	snprintf(command, sizeof(command),
		 "sysctl -q net.ipv6.conf.default.disable_ipv6=1;"
		 "for i in %d %d; do ip link add p$i address 02:00:00:00:00:1$i mtu %d type veth peer name q$i mtu %d &&"
		 "ip link set q$i netns 1 && ip link set p$i up || exit; done;"
		 "tc qdisc add dev p%d root tbf rate 400mbit burst 20kb limit 20kb;"
		 "build/static/torcollctl fabric add 1 dims %d node %d hello 1s &&"
		 "build/static/torcollctl port add 1 dim 0 dir plus dev p%d &&"
		 "build/static/torcollctl port add 1 dim 0 dir minus dev p%d &&"
		 "build/static/torcollctl fabric 1 ip on prefix 10.7.0.0/24", a, b, RING_MTU, RING_MTU, b, RING_SIDE, 2 * node, a, b);
	kfuzz_sh(command);
	set_gro(control[node], node ? "p2" : "p0");
}

/* @home: a socket of the initial namespace */
static void open_port(int port, int home)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = cpu_to_be16(TORCOLL_ETHERTYPE) };
	char command[64], name[8];

	snprintf(name, sizeof(name), "q%d", port);
	snprintf(command, sizeof(command), "ip link set %s up", name);
	kfuzz_sh(command);
	/* veth polls only for what its other end cannot send in one piece */
	set_feature(home, ETHTOOL_STSO, name, 0);
	at.sll_ifindex = if_nametoindex(name);
	ring_packet[port] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, at.sll_protocol);
	kfuzz_need(ring_packet[port] >= 0 && !bind(ring_packet[port], (struct sockaddr *)&at, sizeof(at)), name);
}

void ring_make(void)
{
	int home = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);
	int i, home_control;

	for (i = 0; i < RING_NODES; i++)
		make_node(i);
	kfuzz_need(!setns(home, CLONE_NEWNET), "setns");
	close(home);
	home_control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	kfuzz_need(home_control >= 0, "socket");
	for (i = 0; i < RING_PORTS; i++)
		open_port(i, home_control);
	close(home_control);
}
