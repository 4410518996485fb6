// SPDX-License-Identifier: MIT
/*
 * The fabrics of this host, or of its network namespace, by netlink: see sys.h.
 * Needs no privilege.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/torcoll.h>
#include <linux/torcoll_netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys.h"

#define ANSWER_MAX	32768	/* as much as the kernel puts into a message of a dump */

/* What one request wants, and finds. */
struct search {
	uint16_t family;		/* of the answers; 0: not known yet */
	struct torcoll_sys_fabric *fabric;
	uint32_t room;
	uint32_t count;
};

struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	struct nlattr attr;
	char name[NLA_ALIGN(sizeof(TORCOLL_GENL_NAME))];
};

static int send_request(int sock, struct request *r, uint16_t family, uint16_t flags, uint8_t cmd,
			uint8_t version)
{
	r->nlh.nlmsg_type = family;
	r->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	r->genl.cmd = cmd;
	r->genl.version = version;
	return send(sock, r, r->nlh.nlmsg_len, 0) < 0 ? -errno : 0;
}

static uint64_t attr_value(const struct nlattr *attr)
{
	uint32_t value32 = 0;
	uint64_t value = 0;

	if (attr->nla_len == NLA_HDRLEN + sizeof(value)) {
		memcpy(&value, attr + 1, sizeof(value));
		return value;
	}
	if (attr->nla_len == NLA_HDRLEN + sizeof(value32))
		memcpy(&value32, attr + 1, sizeof(value32));
	else if (attr->nla_len == NLA_HDRLEN + sizeof(uint16_t))
		return *(const uint16_t *)(attr + 1);
	return value32;
}

static void take_sides(struct torcoll_sys_fabric *fabric, const struct nlattr *attr)
{
	size_t bytes = attr->nla_len - NLA_HDRLEN;

	if (bytes > sizeof(fabric->side))
		bytes = sizeof(fabric->side);
	fabric->ndim = bytes / sizeof(*fabric->side);
	memcpy(fabric->side, attr + 1, fabric->ndim * sizeof(*fabric->side));
}

/* Chords, behind the other dimensions, are no sides: nodes have no coordinates there. */
static void take_kinds(struct torcoll_sys_fabric *fabric, const struct nlattr *attr)
{
	const uint32_t *kind = (const uint32_t *)(attr + 1);
	size_t n = (attr->nla_len - NLA_HDRLEN) / sizeof(*kind);

	while (fabric->ndim && fabric->ndim <= n &&
	       kind[fabric->ndim - 1] == TORCOLL_KIND_CHORD)
		fabric->side[--fabric->ndim] = 0;
}

static void take_attr(struct search *s, const struct nlattr *attr)
{
	struct torcoll_sys_fabric *fabric = &s->fabric[s->count];
	uint16_t type = attr->nla_type & NLA_TYPE_MASK;

	if (!s->family) {
		if (type == CTRL_ATTR_FAMILY_ID)
			s->family = attr_value(attr);
	} else if (s->count < s->room) {
		if (type == TORCOLL_A_FABRIC_KEY)
			fabric->key = attr_value(attr);
		else if (type == TORCOLL_A_FABRIC_NODE)
			fabric->node = attr_value(attr);
		else if (type == TORCOLL_A_FABRIC_NODES)
			fabric->nodes = attr_value(attr);
		else if (type == TORCOLL_A_FABRIC_SIDES)
			take_sides(fabric, attr);
		else if (type == TORCOLL_A_FABRIC_KINDS)
			take_kinds(fabric, attr);
	}
}

static void take_message(struct search *s, const struct nlmsghdr *nlh)
{
	const bool is_fabric = s->family;
	const char *p = (const char *)NLMSG_DATA(nlh) + GENL_HDRLEN;
	const char *end = (const char *)nlh + nlh->nlmsg_len;

	while (end - p >= NLA_HDRLEN) {
		const struct nlattr *attr = (const struct nlattr *)p;

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > end - p)
			break;
		take_attr(s, attr);
		p += NLA_ALIGN(attr->nla_len);
	}
	s->count += is_fabric;
}

/* Receive an answer up to its last message. Return 0 or a negative errno. */
static int receive(int sock, struct search *s)
{
	char buffer[ANSWER_MAX] __attribute__((aligned(8)));

	for (;;) {
		ssize_t n = recv(sock, buffer, sizeof(buffer), MSG_TRUNC);
		struct nlmsghdr *nlh = (struct nlmsghdr *)buffer;
		unsigned int left = n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if ((size_t)n > sizeof(buffer))
			return -EMSGSIZE;
		for (; NLMSG_OK(nlh, left); nlh = NLMSG_NEXT(nlh, left)) {
			/* both begin with an error, which may be 0 */
			if (nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR)
				return *(const int *)NLMSG_DATA(nlh);
			take_message(s, nlh);
		}
	}
}

static int find_family(int sock, struct search *s)
{
	struct request r = { .name = TORCOLL_GENL_NAME };
	int err;

	r.nlh.nlmsg_len = sizeof(r);
	r.attr.nla_type = CTRL_ATTR_FAMILY_NAME;
	r.attr.nla_len = NLA_HDRLEN + sizeof(TORCOLL_GENL_NAME);
	/* with an acknowledgement, which ends the answer */
	err = send_request(sock, &r, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	if (!err)
		err = receive(sock, s);
	return err || s->family ? err : -ENOENT;
}

static int list_fabrics(int sock, struct search *s)
{
	struct request r = { 0 };
	int err;

	r.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	err = send_request(sock, &r, s->family, NLM_F_DUMP, TORCOLL_CMD_FABRIC_GET,
			   TORCOLL_GENL_VERSION);
	return err ? err : receive(sock, s);
}

__attribute__((__weak__))
int torcoll_sys_fabrics(struct torcoll_sys_fabric *fabric, uint32_t room)
{
	struct search s = { .fabric = fabric, .room = room };
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	int err;

	if (sock < 0)
		return -errno;
	memset(fabric, 0, room * sizeof(*fabric));
	err = find_family(sock, &s);
	if (!err)
		err = list_fabrics(sock, &s);
	close(sock);
	return err ? err : (int)s.count;
}
