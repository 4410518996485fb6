// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Netlink messages: of root in a namespace of its own, and of root of a user namespace. A message is made as it should be, from a
 * few keys, shapes and devices, then an attribute is left out, changed or added, or bytes of it are. In between devices go up and
 * down, and comms and ops come, so that dumps have something to tell. Behind b0 is the other one of two nodes of fabric 1, always
 * there.
 */
#include "../../net/genl.h"
#include "kfuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <linux/capability.h>
#include <linux/torcoll.h>

#define RECORD		32
#define KEYS		3
#define COMMS		4

/* A rank of a comm. */
struct rank {
	bool far;		/* at the other node */
	int fd;
	int err;
	struct torcoll_comm_add join;
};

static int netlink, control, far;
static u32 family;
static int comm_fd[COMMS][2];
static u32 memory[64];
/* What reset() has to put back. */
static bool has_fabrics, has_limits;

static void add_u32(struct message *msg, u32 type, u32 value)
{
	add(msg, type, &value, sizeof(value));
}

static void add_u64(struct message *msg, u32 type, u64 value)
{
	add(msg, type, &value, sizeof(value));
}

/* The errno of the answer, or 0; the first datagram of it stays in @answer. */
static int ask(const struct message *msg, u8 *answer, size_t size)
{
	const struct nlmsghdr *nl = (void *)answer;
	struct pollfd wait = { .fd = netlink, .events = POLLIN };
	static u8 rest[32768];
	bool first = true;
	ssize_t len;

	if (send(netlink, msg, msg->nl.nlmsg_len, 0) < 0)
		return errno;
	memset(answer, 0, size);
	/* who asks without NLM_F_ACK may get nothing */
	while (poll(&wait, 1, first ? 20 : 0) > 0) {
		len = recv(netlink, first ? answer : rest, first ? size : sizeof(rest), MSG_DONTWAIT);
		if (len < 0)
			return errno;
		first = false;
	}
	return nl->nlmsg_type == NLMSG_ERROR ? -((struct nlmsgerr *)NLMSG_DATA(nl))->error : 0;
}

static void open_netlink(void)
{
	const int on = 1;

	netlink = genl_open(&family);
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	kfuzz_need(netlink >= 0 && control >= 0, "sockets");
	setsockopt(netlink, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
}

static void set_privileged(bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	kfuzz_need(!syscall(SYS_capget, &header, data), "capget");
	data[0].effective = on ? data[0].permitted : 0;
	data[1].effective = on ? data[1].permitted : 0;
	kfuzz_need(!syscall(SYS_capset, &header, data), "capset");
}

/* --- requests as they should be --- */

static const char *const device[] = { "a0", "a1", "b0", "b1", "lo" };

static u32 ifindex_of(u8 which)
{
	struct ifreq request = {};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device[which % ARRAY_SIZE(device)]);
	return ioctl(control, SIOCGIFINDEX, &request) ? which : (u32)request.ifr_ifindex;
}

static void add_fabric(struct message *msg, u64 key, u8 shape, u8 node)
{
	static const u32 side[][TORCOLL_MAX_DIMS] = {
		{ 1 }, { 2 }, { 3 }, { 2, 2 }, { 3, 3 }, { 4, 3, 2 }, { 2, 2, 2, 2, 2, 2 }, { 255 }, { 512 }, { 16, 16, 16 },
	};
	const u32 *s = side[shape % ARRAY_SIZE(side)];
	const u32 zero[TORCOLL_MAX_DIMS] = {};
	u32 n = 0;

	while (n < TORCOLL_MAX_DIMS && s[n])
		n++;
	add_u64(msg, TORCOLL_A_FABRIC_KEY, key);
	add(msg, TORCOLL_A_FABRIC_SIDES, s, n * sizeof(*s));
	if (node & 0x80)
		add(msg, TORCOLL_A_FABRIC_COORD, zero, n * sizeof(*zero));
	else
		add_u32(msg, TORCOLL_A_FABRIC_NODE, node % 2 ? 1 : 0);
	if (node & 0x40)
		add_u32(msg, TORCOLL_A_FABRIC_HELLO_MS, 10);
}

static void add_port(struct message *msg, u64 key, u8 place, u8 which)
{
	add_u64(msg, TORCOLL_A_PORT_FABRIC, key);
	if (!(place & 0x80)) {
		add_u32(msg, TORCOLL_A_PORT_DIM, place / 2 % 2);
		add_u32(msg, TORCOLL_A_PORT_DIR, place % 2);
		if (place & 0x40)
			add_u32(msg, TORCOLL_A_PORT_CABLE, place / 4 % 4);
	}
	if (msg->genl.cmd == TORCOLL_CMD_PORT_NEW || place & 0x80)
		add_u32(msg, TORCOLL_A_PORT_IFINDEX, ifindex_of(which));
}

/* Of a comm, by the tag that a dump tells. */
static u32 some_tag(u64 key)
{
	static u8 answer[16384] __attribute__((aligned(8)));
	const struct nlmsghdr *nl = (void *)answer;
	const struct nlattr *tag;
	struct message msg;

	begin(&msg, family, TORCOLL_CMD_COMM_GET);
	msg.nl.nlmsg_flags |= NLM_F_DUMP;
	add_u64(&msg, TORCOLL_A_COMM_FABRIC, key);
	if (ask(&msg, answer, sizeof(answer)) || nl->nlmsg_type != family)
		return 1;
	tag = find_in(nl, TORCOLL_A_COMM_TAG);
	return tag ? number(tag, sizeof(u32)) : 1;
}

static void compose(struct message *msg, u8 cmd, u64 key, u8 a, u8 b, u64 value)
{
	u32 i;

	begin(msg, family, cmd);
	switch (cmd) {
	case TORCOLL_CMD_FABRIC_NEW:
		add_fabric(msg, key, a, b);
		break;
	case TORCOLL_CMD_PORT_NEW:
	case TORCOLL_CMD_PORT_DEL:
	case TORCOLL_CMD_PORT_GET:
		add_port(msg, key, a, b);
		break;
	case TORCOLL_CMD_COMM_GET:
		add_u64(msg, TORCOLL_A_COMM_FABRIC, key);
		if (a & 1)
			add_u32(msg, TORCOLL_A_COMM_TAG, some_tag(key));
		break;
	case TORCOLL_CMD_OP_GET:
		add_u64(msg, TORCOLL_A_OP_FABRIC, key);
		if (a & 1) {
			add_u32(msg, TORCOLL_A_OP_COMM, some_tag(key));
			add_u32(msg, TORCOLL_A_OP_SEQ, b % 4);
		}
		break;
	case TORCOLL_CMD_TUNE_SET:
		add_u64(msg, TORCOLL_A_TUNE_FABRIC, key);
		for (i = 0; i < 6; i++)
			if (a >> i & 1)
				add_u64(msg, TORCOLL_A_TUNE_ROUND_PS + i, value);
		break;
	case TORCOLL_CMD_OBSERVED_GET:
		add_u64(msg, TORCOLL_A_OBSERVED_FABRIC, key);
		if (a & 1) {
			add_u32(msg, TORCOLL_A_OBSERVED_COLLECTIVE, TORCOLL_ALLREDUCE);
			add_u32(msg, TORCOLL_A_OBSERVED_ALGORITHM, b % TORCOLL_ALGO_COUNT);
			add_u32(msg, TORCOLL_A_OBSERVED_SIZE_CLASS, value % 64);
		}
		break;
	case TORCOLL_CMD_LIMIT_SET:
		for (i = 0; i < 4; i++)
			if (a >> i & 1)
				add_u64(msg, TORCOLL_A_LIMIT_COMMS + i, value);
		break;
	case TORCOLL_CMD_LIMIT_GET:
		if (a & 1)
			add_u32(msg, TORCOLL_A_LIMIT_USER, b);
		if (a & 2)
			add_u32(msg, TORCOLL_A_LIMIT_UNLIMITED, b & 1);
		break;
	default:
		/* the fabric's key is the first attribute of every set */
		add_u64(msg, TORCOLL_A_FABRIC_KEY, key);
	}
}

/* Without attribute @type of a request that was composed. */
static void leave_out(struct message *msg, u32 type)
{
	u8 *p = msg->attrs, *end = (u8 *)msg + msg->nl.nlmsg_len;

	while (p < end) {
		u32 len = NLA_ALIGN(((struct nlattr *)p)->nla_len);

		if (((struct nlattr *)p)->nla_type == type) {
			memmove(p, p + len, end - p - len);
			end -= len;
			msg->nl.nlmsg_len -= len;
		} else {
			p += len;
		}
	}
}

static void deviate(struct fuzz_in *in, struct message *msg)
{
	u8 how = fuzz_u8(in), type = fuzz_u8(in), size = fuzz_u8(in) % 65, at = fuzz_u8(in);
	u64 value[9] = { fuzz_u64(in) };
	u32 i;

	for (i = 1; i < ARRAY_SIZE(value); i++)
		value[i] = value[0];
	switch (how % 8) {
	case 1:
		leave_out(msg, type % 24);
		break;
	case 2:
		leave_out(msg, type % 24);
		add(msg, type % 24, value, how & 0x80 ? size : at & 1 ? 8 : 4);
		break;
	case 3:
		add(msg, type | (how & 0x80 ? NLA_F_NESTED : 0), value, size);
		break;
	case 4:
		((u8 *)msg)[NLMSG_HDRLEN + at % (msg->nl.nlmsg_len - NLMSG_HDRLEN)] = size;
		break;
	case 5:
		msg->nl.nlmsg_len = how & 0x80 ? at : msg->nl.nlmsg_len - at % 16;
		break;
	case 6:
		msg->nl.nlmsg_flags = value[0];
		break;
	}
}

/* --- events --- */

static void send_request(int w, struct fuzz_in *in)
{
	static u8 answer[32768] __attribute__((aligned(8)));
	u8 cmd = fuzz_u8(in), flags = fuzz_u8(in), a = fuzz_u8(in), b = fuzz_u8(in);
	u64 key = 1 + fuzz_u8(in) % KEYS, value = fuzz_u32(in);
	struct message msg;
	int strict = !!(flags & 2);

	cmd = cmd < 0xf0 ? 1 + cmd % TORCOLL_CMD_MAX : cmd;
	/* few things are there before these */
	if (cmd == TORCOLL_CMD_FABRIC_DEL && flags & 0x40)
		cmd = TORCOLL_CMD_FABRIC_NEW;
	if (cmd == TORCOLL_CMD_PORT_DEL && flags & 0x40)
		cmd = TORCOLL_CMD_PORT_NEW;
	compose(&msg, cmd, key, a, b, value << (flags >> 4));
	if (flags & 1)
		msg.nl.nlmsg_flags |= NLM_F_DUMP;
	deviate(in, &msg);
	has_fabrics |= msg.genl.cmd == TORCOLL_CMD_FABRIC_NEW;
	has_limits |= msg.genl.cmd == TORCOLL_CMD_LIMIT_SET;
	/* of all users, and of the workers themselves: given back by reset() */
	if (cmd == TORCOLL_CMD_LIMIT_SET && w)
		flags |= 8;
	setsockopt(netlink, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &strict, sizeof(strict));
	if ((flags & 0xc) == 0xc)
		set_privileged(false);
	ask(&msg, answer, sizeof(answer));
	if ((flags & 0xc) == 0xc)
		set_privileged(true);
}

static void change_device(struct fuzz_in *in)
{
	struct ifreq request = {};
	u8 which = fuzz_u8(in) % 4, how = fuzz_u8(in);
	u16 mtu = fuzz_u16(in);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device[which]);
	if (how & 1) {
		request.ifr_mtu = how & 2 ? 9000 : mtu;
		ioctl(control, SIOCSIFMTU, &request);
	} else {
		request.ifr_flags = how & 2 ? IFF_UP : 0;
		ioctl(control, SIOCSIFFLAGS, &request);
	}
}

static void leave_comm(u8 which)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (comm_fd[which][i] >= 0)
			close(comm_fd[which][i]);
		comm_fd[which][i] = -1;
	}
}

/* In a thread of its own where another one is there. */
static void *join_comm(void *arg)
{
	struct rank *rank = arg;

	if (rank->far)
		kfuzz_need(!setns(far, CLONE_NEWNET), "setns");
	rank->fd = open(TORCOLL_DEVICE, O_RDWR | O_CLOEXEC);
	rank->err = kfuzz_ioctl(rank->fd, TORCOLL_IOC_COMM_ADD, &rank->join);
	return NULL;
}

/* What nobody answers runs, or waits for a rank of this node; the last bit: not what the others call. */
static void call(const struct rank *rank, u8 how)
{
	static const u16 collective[] = { TORCOLL_ALLREDUCE, TORCOLL_SEND, TORCOLL_RECV };
	struct torcoll_handle handle = { .size = sizeof(handle), .handle = rank->join.comm };
	struct torcoll_submit submit = {
		.size = sizeof(submit), .comm = rank->join.comm, .type = TORCOLL_I32, .count = 16 + (how >> 7),
		.send_addr = (uintptr_t)memory, .recv_addr = (uintptr_t)memory, .flags = TORCOLL_OP_NOWAIT,
	};
	u32 what = how >> 2 & 3, calls = how % 4;

	if (what == ARRAY_SIZE(collective)) {
		kfuzz_ioctl(rank->fd, TORCOLL_IOC_ABORT, &handle);
		return;
	}
	submit.collective = collective[what];
	if (what)
		submit.peer = !rank->join.rank;
	else
		submit.redop = TORCOLL_SUM;
	while (calls--)
		kfuzz_ioctl(rank->fd, TORCOLL_IOC_SUBMIT, &submit);
}

/* A comm of this node alone, one that waits for another rank, or one that has it, here or at the other node; and ops on it. */
static void use_comm(struct fuzz_in *in)
{
	u8 which = fuzz_u8(in) % COMMS, how = fuzz_u8(in), calls = fuzz_u8(in);
	u32 node = how & 1, ranks = 1 + (how >> 1 & 1), both = ranks == 2 && how & 8;
	u32 members[2] = { node, node ^ (how >> 2 & 1) };
	char name[] = { 'c', 'a' + which };
	struct rank rank[2] = { {
		.join = {
			.size = sizeof(rank->join), .fabric = 1 + fuzz_u8(in) % KEYS, .name = (uintptr_t)name, .name_len = 2,
			.members = (uintptr_t)members, .ranks = ranks, .rank = TORCOLL_RANK_SELF,
			.deadline_ns = kfuzz_now() + (both ? 60 : 3) * NSEC_PER_MSEC,
		},
	} };
	pthread_t thread;

	leave_comm(which);
	if (how & 0x80)
		return;
	rank[1] = rank[0];
	rank[1].far = members[0] != members[1];
	if (both)
		kfuzz_need(!pthread_create(&thread, NULL, join_comm, &rank[1]), "thread");
	join_comm(&rank[0]);
	comm_fd[which][0] = rank[0].fd;
	if (both) {
		pthread_join(thread, NULL);
		comm_fd[which][1] = rank[1].fd;
	}
	if (!rank[0].err)
		call(&rank[0], calls);
	if (both && !rank[1].err)
		call(&rank[1], fuzz_u8(in));
}

static bool netlink_event(int w, struct fuzz_in *in)
{
	u8 what = fuzz_u8(in);

	if (what < 0x18)
		change_device(in);
	else if (what < 0x3f)
		use_comm(in);
	else if (what == 0x3f)
		usleep(fuzz_u8(in) % 64 * 1000);
	else
		send_request(w, in);
	return true;
}

static void netlink_reset(int w)
{
	static const u64 limit[] = { 1024, 16384, 1ULL << 30, 1ULL << 30 };
	static u8 answer[8192] __attribute__((aligned(8)));
	struct message msg;
	u32 i, tries;

	if (w < 0)
		return;
	for (i = 0; i < COMMS; i++)
		leave_comm(i);
	/* a file is given up behind close() */
	for (i = 1; has_fabrics && i <= KEYS; i++) {
		for (tries = 0; tries < 500; tries++) {
			begin(&msg, family, TORCOLL_CMD_FABRIC_DEL);
			add_u64(&msg, TORCOLL_A_FABRIC_KEY, i);
			if (ask(&msg, answer, sizeof(answer)) != EBUSY)
				break;
			usleep(1000);
		}
		must(tries < 500);
	}
	has_fabrics = false;
	if (!has_limits)
		return;
	has_limits = false;
	begin(&msg, family, TORCOLL_CMD_LIMIT_SET);
	for (i = 0; i < ARRAY_SIZE(limit); i++)
		add_u64(&msg, TORCOLL_A_LIMIT_COMMS + i, limit[i]);
	ask(&msg, answer, sizeof(answer));
}

static int netlink_whose(const u8 *record)
{
	return record[RECORD - 1] < 0xc0 ? 0 : 1;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	kfuzz_need(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

/* The namespace we are in becomes the other node's, and the next one ours. */
static void make_devices(void)
{
	char command[512];
	int near;

	far = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	kfuzz_need(far >= 0 && !unshare(CLONE_NEWNET), "unshare");
	near = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(command, sizeof(command),
		 "ip link add a0 mtu 9000 type veth peer name a1 mtu 9000 &&"
		 "ip link add b0 type veth peer name b1 netns /proc/$PPID/fd/%d &&"
		 "for i in a0 a1 b0 lo; do ip link set $i up || exit; done", far);
	kfuzz_sh(command);
	kfuzz_need(near >= 0 && !setns(far, CLONE_NEWNET), "setns");
	kfuzz_sh("ip link set b1 up && build/static/torcollctl fabric add 1 dims 2 node 1 hello 10ms &&"
		 "build/static/torcollctl port add 1 dim 0 dir minus dev b1");
	kfuzz_need(!setns(near, CLONE_NEWNET), "setns");
	close(near);
}

static void netlink_setup(int w)
{
	u32 i;

	/* every wait is short, and an answer that is not waited for would be taken for the next one */
	signal(SIGUSR1, SIG_IGN);
	kfuzz_need(!unshare(w ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET), "unshare");
	if (w) {
		write_file("/proc/self/setgroups", "deny");
		write_file("/proc/self/uid_map", "0 0 1");
		write_file("/proc/self/gid_map", "0 0 1");
	}
	make_devices();
	for (i = 0; i < COMMS; i++)
		comm_fd[i][0] = comm_fd[i][1] = -1;
	open_netlink();
}

static void netlink_init(void)
{
}

const struct kfuzz_target kfuzz_target = {
	.record = RECORD,
	.workers = 2,
	.init = netlink_init,
	.setup = netlink_setup,
	.whose = netlink_whose,
	.event = netlink_event,
	.reset = netlink_reset,
};
