// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches to a device a program that passes all frames on, to the driver or in front of the stack. The program
 * stays when this ends. For devices.sh: iproute2 takes such programs only from object files, which take a compiler for them.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct request {
	struct nlmsghdr n;
	struct ifinfomsg i;
	struct nlattr xdp;
	struct nlattr fd_head;
	__s32 fd;
	struct nlattr flags_head;
	__u32 flags;
};

struct answer {
	struct nlmsghdr n;
	struct nlmsgerr e;
	char more[512];
};

static int fail(const char *what)
{
	fprintf(stderr, "xdp: %s: %s\n", what, strerror(errno));
	return 1;
}

/* @flags: BPF_F_XDP_HAS_FRAGS: it takes frames of several pages. */
static int load(__u32 flags)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insn_cnt = sizeof(pass) / sizeof(*pass),
		.insns = (unsigned long)pass,
		.license = (unsigned long)"GPL",
		.prog_flags = flags,
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(const char *dev, int fd, __u32 flags)
{
	struct request r = {
		.n = { .nlmsg_len = sizeof(r), .nlmsg_type = RTM_SETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.i = { .ifi_index = if_nametoindex(dev) },
		.xdp = { sizeof(r) - offsetof(struct request, xdp), IFLA_XDP | NLA_F_NESTED },
		.fd_head = { sizeof(r.fd_head) + sizeof(r.fd), IFLA_XDP_FD },
		.fd = fd,
		.flags_head = { sizeof(r.flags_head) + sizeof(r.flags), IFLA_XDP_FLAGS },
		.flags = flags,
	};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct answer a = { 0 };

	if (s < 0 || send(s, &r, sizeof(r), 0) != sizeof(r) || recv(s, &a, sizeof(a), 0) < 0)
		return -1;
	close(s);
	errno = -a.e.error;
	return a.e.error ? -1 : 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";
	__u32 flags = strcmp(mode, "generic") ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	int fd = -1;

	if (argc != 3 || (strcmp(mode, "native") && strcmp(mode, "frags") && strcmp(mode, "generic"))) {
		fputs("usage: xdp DEV native|frags|generic\n", stderr);
		return 2;
	}
	fd = load(strcmp(mode, "frags") ? 0 : BPF_F_XDP_HAS_FRAGS);
	if (fd < 0)
		return fail("the program does not load");
	return attach(argv[1], fd, flags) ? fail(argv[1]) : 0;
}
