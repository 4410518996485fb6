/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink of a node, bare, for what tools would check first, or not show.
 */
#ifndef SELFTESTS_BAD_NETLINK_H
#define SELFTESTS_BAD_NETLINK_H

#include "bad.h"
#include "genl.h"

static int netlink;
static unsigned int family;

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

static inline void open_netlink(unsigned int node)
{
	const int on = 1;

	if (netlink)
		close(netlink);
	enter_node(node);
	netlink = genl_open(&family);
	need(netlink >= 0, "no family");
	/* the kernel checks dumps strictly only when asked to */
	setsockopt(netlink, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
}

#endif
