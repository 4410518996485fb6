/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bare messages of netlink to node 0, for what tools would check first, or not show.
 */
#ifndef SELFTESTS_BAD_NETLINK_H
#define SELFTESTS_BAD_NETLINK_H

#include "bad.h"

#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/torcoll_netlink.h>

#define MESSAGE_MAX	512

static int netlink;
static unsigned int family;

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char attrs[MESSAGE_MAX];
};

static inline void begin(struct message *msg, unsigned int type, unsigned int cmd)
{
	memset(msg, 0, sizeof(*msg));
	msg->nl.nlmsg_type = type;
	msg->nl.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg->nl.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	msg->genl.cmd = cmd;
	msg->genl.version = TORCOLL_GENL_VERSION;
}

static inline void add(struct message *msg, unsigned int type, const void *value, size_t size)
{
	struct nlattr *attr = (void *)((char *)msg + msg->nl.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + size;
	memcpy(attr + 1, value, size);
	msg->nl.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

/* The errno of the first answer, positive; 0 for an answer that is none. */
static inline int ask(struct message *msg, void *answer, size_t size)
{
	const struct nlmsghdr *nl = answer;
	const struct nlmsgerr *err = NLMSG_DATA(nl);
	ssize_t len;

	need(send(netlink, msg, msg->nl.nlmsg_len, 0) >= 0, "netlink does not take a request");
	len = recv(netlink, answer, size, 0);
	need(len >= NLMSG_HDRLEN, "netlink does not answer");
	if (nl->nlmsg_type == NLMSG_ERROR)
		return -err->error;
	/* what was asked for; its acknowledgement, or the end of a dump, follows */
	while (recv(netlink, (char *)answer + len, size - len, MSG_DONTWAIT) > 0)
		;
	return 0;
}

static inline void open_netlink(void)
{
	static char answer[8192];
	const int on = 1;
	const char *end, *p;
	struct message msg;

	enter_node(0);
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	need(netlink >= 0, "no netlink socket");
	setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	/* the kernel checks dumps strictly only when asked to */
	setsockopt(netlink, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	begin(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	add(&msg, CTRL_ATTR_FAMILY_NAME, TORCOLL_GENL_NAME, sizeof(TORCOLL_GENL_NAME));
	need(!ask(&msg, answer, sizeof(answer)), "no family");
	end = answer + ((struct nlmsghdr *)answer)->nlmsg_len;
	for (p = answer + NLMSG_HDRLEN + GENL_HDRLEN; p < end;
	     p += NLA_ALIGN(((struct nlattr *)p)->nla_len))
		if (((struct nlattr *)p)->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(const uint16_t *)(p + NLA_HDRLEN);
	need(family, "no family");
}

#endif
