/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Bare messages of torcoll's netlink family: to make requests that no library would let through, and to find attributes in answers.
 */
#ifndef SELFTESTS_GENL_H
#define SELFTESTS_GENL_H

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/torcoll_netlink.h>

#define MESSAGE_MAX	1024

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	uint8_t attrs[MESSAGE_MAX];
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

/* Nothing, where there is no room. */
static inline void add(struct message *msg, unsigned int type, const void *value, size_t size)
{
	struct nlattr *attr = (void *)((uint8_t *)msg + msg->nl.nlmsg_len);

	if (msg->nl.nlmsg_len + NLA_HDRLEN + size > sizeof(*msg))
		return;
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + size;
	memcpy(attr + 1, value, size);
	msg->nl.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

/* One attribute out of a run of them, or NULL. */
static inline const struct nlattr *find(const void *p, size_t len, unsigned int type)
{
	const struct nlattr *attr = p;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= len) {
		size_t step = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (step >= len)
			break;
		len -= step;
		attr = (const void *)((const uint8_t *)attr + step);
	}
	return NULL;
}

/* The same of an answer, or of what another attribute holds. */
static inline const struct nlattr *find_in(const struct nlmsghdr *nl, unsigned int type)
{
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;

	return nl->nlmsg_len < head ? NULL :
	       find((const uint8_t *)nl + head, nl->nlmsg_len - head, type);
}

static inline const struct nlattr *find_nested(const struct nlattr *attr, unsigned int type)
{
	return find(attr + 1, attr->nla_len - NLA_HDRLEN, type);
}

/* 0 if there is none of that size. */
static inline uint64_t number(const struct nlattr *attr, size_t size)
{
	uint64_t value = 0;

	if (attr && attr->nla_len == NLA_HDRLEN + size)
		memcpy(&value, attr + 1, size);
	return value;
}

/* Return: a socket, with the number of the family, or -1. */
static inline int genl_open(unsigned int *family)
{
	static uint8_t answer[8192] __attribute__((aligned(8)));
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	const struct nlmsghdr *nl = (void *)answer;
	const int on = 1;
	struct message msg;

	*family = 0;
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	begin(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	msg.nl.nlmsg_flags = NLM_F_REQUEST;
	add(&msg, CTRL_ATTR_FAMILY_NAME, TORCOLL_GENL_NAME, sizeof(TORCOLL_GENL_NAME));
	if (send(fd, &msg, msg.nl.nlmsg_len, 0) >= 0 && recv(fd, answer, sizeof(answer), 0) >= NLMSG_HDRLEN &&
	    nl->nlmsg_type == GENL_ID_CTRL)
		*family = number(find_in(nl, CTRL_ATTR_FAMILY_ID), sizeof(uint16_t));
	if (*family)
		return fd;
	close(fd);
	return -1;
}

#endif
