// SPDX-License-Identifier: GPL-2.0
/* The counters of this node, by netlink. */
#include <linux/torcoll_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>

#include "number.h"
#include "perf.h"

/* Take the counters used here from the kernel's answer. */
static int take_counters(struct nl_msg *msg, void *arg)
{
	struct nlattr *stats[TORCOLL_A_STATS_MAX + 1], *value[TORCOLL_A_COUNTER_MAX + 1];
	struct counters *c = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, stats, TORCOLL_A_STATS_MAX, NULL) ||
	    !stats[TORCOLL_A_STATS_COUNTERS] ||
	    nla_parse_nested(value, TORCOLL_A_COUNTER_MAX, stats[TORCOLL_A_STATS_COUNTERS], NULL))
		return NL_SKIP;
	if (value[TORCOLL_A_COUNTER_TX_FRAMES])
		c->frames = nla_get_u64(value[TORCOLL_A_COUNTER_TX_FRAMES]);
	if (value[TORCOLL_A_COUNTER_TX_RETRANSMITS])
		c->retransmits = nla_get_u64(value[TORCOLL_A_COUNTER_TX_RETRANSMITS]);
	if (value[TORCOLL_A_COUNTER_FORWARDED])
		c->forwarded = nla_get_u64(value[TORCOLL_A_COUNTER_FORWARDED]);
	return NL_OK;
}

static bool ask(struct nl_sock *sock, uint64_t fabric, struct counters *c)
{
	int family = genl_ctrl_resolve(sock, TORCOLL_GENL_NAME);
	struct nl_msg *msg = family < 0 ? NULL : nlmsg_alloc();
	bool sent;

	if (!msg)
		return false;
	sent = genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, TORCOLL_CMD_STATS_GET,
			   TORCOLL_GENL_VERSION) &&
	       !nla_put_u64(msg, TORCOLL_A_STATS_FABRIC, fabric) &&
	       nl_send_auto(sock, msg) >= 0;
	nlmsg_free(msg);
	return sent && nl_recvmsgs_default(sock) >= 0;
}

/* The key, which may be 0, of the fabric that torcoll_comm_from_env() joined. False: it is not known. */
static bool fabric_key(uint64_t *key)
{
	const char *text = getenv("TORCOLL_FABRIC"), *end;
	struct torcoll_fabric only;

	if (text && *text)
		return torcoll__parse_number(text, UINT64_MAX, key, &end) && !*end;
	if (torcoll_fabrics(&only, 1) != 1)
		return false;
	*key = only.key;
	return true;
}

/*
 * Read this node's counts since it joined the fabric. Return false if they are
 * not available; the columns are then omitted.
 */
bool counters_read(struct counters *c)
{
	struct nl_sock *sock;
	uint64_t fabric;
	bool ok = false;

	*c = (struct counters){ 0 };
	if (!fabric_key(&fabric))
		return false;
	sock = nl_socket_alloc();
	if (!sock)
		return false;
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_counters, c);
	if (!genl_connect(sock))
		ok = ask(sock, fabric, c);
	nl_socket_free(sock);
	return ok && c->frames;
}
