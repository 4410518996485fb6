// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the kernel, and its refusals: sentence and attribute of the
 * extended ack, in the words of the command line.
 */
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl.h"
#include "dump.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

/* The user's word for an attribute. */
struct word {
	uint16_t attr;
	const char *word;
};

static const struct word fabric_words[] = {
	{ TORCOLL_A_FABRIC_KEY, "key" },
	{ TORCOLL_A_FABRIC_SIDES, "dims" },
	{ TORCOLL_A_FABRIC_CABLES, "cables" },
	{ TORCOLL_A_FABRIC_NODE, "node" },
	{ TORCOLL_A_FABRIC_COORD, "coord" },
	{ TORCOLL_A_FABRIC_ETHERTYPE, "ethertype" },
	{ TORCOLL_A_FABRIC_HELLO_MS, "hello" },
	{ TORCOLL_A_FABRIC_CHECKSUM, "checksum" },
	{ TORCOLL_A_FABRIC_FRAME_SIZE, "frame" },
};

static const struct word port_words[] = {
	{ TORCOLL_A_PORT_FABRIC, "key" },
	{ TORCOLL_A_PORT_DIM, "dim" },
	{ TORCOLL_A_PORT_DIR, "dir" },
	{ TORCOLL_A_PORT_IFINDEX, "dev" },
};

static const struct word host_words[] = {
	{ TORCOLL_A_HOST_NAME, "name" },
};

static const struct word survey_words[] = {
	{ TORCOLL_A_SURVEY_ID, "survey" },
	{ TORCOLL_A_SURVEY_ROUND, "round" },
};

static const struct word key_words[] = {
	{ TORCOLL_A_NODE_FABRIC, "key" },
};

#define SAME(_attr)	((int)(_attr) == (int)TORCOLL_A_NODE_FABRIC)

_Static_assert(SAME(TORCOLL_A_COMM_FABRIC) && SAME(TORCOLL_A_OP_FABRIC) &&
	       SAME(TORCOLL_A_STATS_FABRIC), "key_words serves them all");

struct call {
	struct conn *c;
	struct nl_msg *msg;
	void (*on_msg)(struct nlmsghdr *nlh, void *arg);
	void *arg;
	bool done;
	int err;
};

static const char *word_of_attr(const struct call *call, uint16_t attr)
{
	const struct word *words = key_words;
	size_t n = ARRAY_SIZE(key_words);
	size_t i;

	if (!call->c->family)
		return NULL;
	switch (genlmsg_hdr(nlmsg_hdr(call->msg))->cmd) {
	case TORCOLL_CMD_FABRIC_NEW:
	case TORCOLL_CMD_FABRIC_DEL:
	case TORCOLL_CMD_FABRIC_GET:
		words = fabric_words;
		n = ARRAY_SIZE(fabric_words);
		break;
	case TORCOLL_CMD_NAME_SET:
		words = host_words;
		n = ARRAY_SIZE(host_words);
		break;
	case TORCOLL_CMD_PORT_NEW:
	case TORCOLL_CMD_PORT_DEL:
	case TORCOLL_CMD_PORT_GET:
		words = port_words;
		n = ARRAY_SIZE(port_words);
		break;
	case TORCOLL_CMD_SURVEY:
		words = survey_words;
		n = ARRAY_SIZE(survey_words);
		break;
	}
	for (i = 0; i < n; i++)
		if (words[i].attr == attr)
			return words[i].word;
	return NULL;
}

/* Return the attribute of the request at @offset. */
static const char *word_at(const struct call *call, uint32_t offset)
{
	struct nlmsghdr *nlh = nlmsg_hdr(call->msg);
	struct nlattr *attr;
	int rest;

	if (!call->c->family)
		return NULL;
	nla_for_each_attr(attr, genlmsg_attrdata(genlmsg_hdr(nlh), 0),
			  genlmsg_attrlen(genlmsg_hdr(nlh), 0), rest) {
		uint32_t at = (const char *)attr - (const char *)nlh;

		if (offset >= at && offset < at + nla_total_size(nla_len(attr)))
			return word_of_attr(call, nla_type(attr));
	}
	return NULL;
}

/* Return " (10 to 10000)" if the kernel reports the range of valid values. */
static const char *range_of(struct nlattr *policy)
{
	struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];
	struct nlattr *min, *max;

	if (!policy || nla_parse_nested(tb, NL_POLICY_TYPE_ATTR_MAX, policy, NULL) < 0)
		return "";
	min = tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U];
	max = tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U];
	if (!min || !max || nla_len(min) != 8 || nla_len(max) != 8)
		return "";
	if (nla_get_u64(max) >= UINT32_MAX)
		return fmt_str(" (from %llu)", (unsigned long long)nla_get_u64(min));
	return fmt_str(" (%llu to %llu)", (unsigned long long)nla_get_u64(min),
		       (unsigned long long)nla_get_u64(max));
}

static const char *plain_reason(const struct call *call, int err)
{
	if (err == -EPERM && genlmsg_hdr(nlmsg_hdr(call->msg))->cmd == TORCOLL_CMD_LIMIT_SET)
		return "not permitted: needs CAP_NET_ADMIN in the initial user namespace";
	if (err == -EPERM)
		return "not permitted: needs CAP_NET_ADMIN in this network namespace";
	return strerror(-err);
}

static void explain(struct call *call, int err, struct nlattr *tlvs, int len)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { 0 };
	const char *word = NULL, *why = NULL;

	call->err = err;
	call->done = true;
	if (len > 0)
		nla_parse(tb, NLMSGERR_ATTR_MAX, tlvs, len, NULL);
	if (tb[NLMSGERR_ATTR_MSG])
		why = nla_get_string(tb[NLMSGERR_ATTR_MSG]);
	if (tb[NLMSGERR_ATTR_OFFS])
		word = word_at(call, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
	if (tb[NLMSGERR_ATTR_MISS_TYPE]) {
		word = word_of_attr(call, nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]));
		if (!why)
			why = "is missing";
	}
	snprintf(call->c->text, sizeof(call->c->text), "%s%s%s%s", word ? word : "",
		 word ? ": " : "", why && *why ? why : plain_reason(call, err),
		 range_of(tb[NLMSGERR_ATTR_POLICY]));
}

/* libnl passes the part after the netlink header */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)error - 1;
	size_t at = sizeof(*nlh) + sizeof(*error);
	struct nlattr *tlvs = NULL;
	int len = 0;

	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS) {
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			at += error->msg.nlmsg_len - sizeof(error->msg);
		if (at < nlh->nlmsg_len) {
			tlvs = (struct nlattr *)((char *)nlh + at);
			len = nlh->nlmsg_len - at;
		}
	}
	explain(arg, error->error, tlvs, len);
	return NL_STOP;
}

/* The end of a dump carries an error too. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct call *call = arg;
	int err = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	if (err < 0)
		explain(call, err, (struct nlattr *)((char *)nlmsg_data(nlh) + sizeof(err)),
			nlh->nlmsg_flags & NLM_F_ACK_TLVS ?
			nlmsg_datalen(nlh) - (int)sizeof(err) : 0);
	call->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	((struct call *)arg)->done = true;
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	if (call->on_msg)
		call->on_msg(nlmsg_hdr(msg), call->arg);
	return NL_OK;
}

/*
 * Accept messages that answer no request: their number is 0. Others are of this
 * call, which is the only one.
 */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	uint32_t seq = nlmsg_hdr(msg)->nlmsg_seq;
	struct call *call = arg;

	return !seq || (call->msg && seq == nlmsg_hdr(call->msg)->nlmsg_seq) ? NL_OK : NL_SKIP;
}

static int fail(struct conn *c, int err, const char *why)
{
	snprintf(c->text, sizeof(c->text), "%s", why);
	return err;
}

static int open_socket(struct conn *c, int protocol)
{
	int on = 1;
	int err;

	memset(c, 0, sizeof(*c));
	c->sk = nl_socket_alloc();
	if (!c->sk)
		return fail(c, -ENOMEM, "out of memory");
	err = nl_connect(c->sk, protocol);
	if (err) {
		conn_close(c);
		return fail(c, -EIO, nl_geterror(err));
	}
	setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(c->sk), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return 0;
}

int conn_open_route(struct conn *c)
{
	return open_socket(c, NETLINK_ROUTE);
}

void conn_close(struct conn *c)
{
	nl_socket_free(c->sk);
	c->sk = NULL;
}

struct nl_msg *conn_request(struct conn *c, uint8_t cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, c->family, 0, flags, cmd,
				TORCOLL_GENL_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

int conn_call(struct conn *c, struct nl_msg *msg, void (*on_msg)(struct nlmsghdr *nlh, void *arg),
	      void *arg)
{
	struct call call = { .c = c, .msg = msg, .on_msg = on_msg, .arg = arg };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err = 0;

	c->text[0] = '\0';
	if (!cb || !msg) {
		err = fail(c, -ENOMEM, "out of memory");
		goto out;
	}
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &call);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &call);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, &call);
	err = nl_send_auto(c->sk, msg);
	while (err >= 0 && !call.done)
		err = nl_recvmsgs(c->sk, cb);
	if (call.err)
		err = call.err;
	else if (err == -NLE_DUMP_INTR)
		err = fail(c, -EAGAIN, "things change too fast for a view of one moment");
	else if (err < 0)
		err = fail(c, -EIO, nl_geterror(err));
	else
		err = 0;
out:
	nl_cb_put(cb);
	nlmsg_free(msg);
	return err;
}

static void note_family(struct nlmsghdr *nlh, void *arg)
{
	const struct genlmsghdr *hdr = genlmsg_hdr(nlh);
	const struct nlattr *id = nla_find(genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0),
					   CTRL_ATTR_FAMILY_ID);

	if (id && nla_len(id) >= (int)sizeof(uint16_t))
		*(int *)arg = nla_get_u16(id);
}

static struct nl_msg *family_request(void)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, GENL_ID_CTRL, 0, 0,
			       CTRL_CMD_GETFAMILY, 1) &&
	    !nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, TORCOLL_GENL_NAME))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Of whatever fails, genl_ctrl_resolve() says that there is no such family. */
static int family_find(struct conn *c)
{
	int family = 0;
	int err = conn_call(c, family_request(), note_family, &family);

	c->family = family;
	return err || family ? err : -ENOENT;
}

int conn_open(struct conn *c)
{
	int err = open_socket(c, NETLINK_GENERIC);

	if (err)
		return err;
	err = family_find(c);
	if (!err)
		return 0;
	conn_close(c);
	if (err == -ENOENT)
		return fail(c, err, "the kernel does not know torcoll: load the module (modprobe torcoll)");
	return fail(c, err, fmt_str("the kernel cannot be asked for torcoll: %s", c->text));
}

int conn_need(struct conn *c)
{
	return conn_open(c) ? other_error("%s", c->text) : CTL_OK;
}

int conn_listen(struct conn *c, int ms, void (*on_msg)(struct nlmsghdr *nlh, void *arg), void *arg)
{
	struct pollfd fd = { .fd = nl_socket_get_fd(c->sk), .events = POLLIN };
	struct call call = { .c = c, .on_msg = on_msg, .arg = arg };
	struct nl_cb *cb;
	int err;

	if (poll(&fd, 1, ms) <= 0)
		return 0;
	cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!cb)
		return fail(c, -ENOMEM, "out of memory");
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &call);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, &call);
	err = nl_recvmsgs(c->sk, cb);
	nl_cb_put(cb);
	/* the socket was full */
	if (err == -NLE_NOMEM)
		return 1;
	return err < 0 ? fail(c, -EIO, nl_geterror(err)) : 1;
}

int conn_refused(const struct conn *c)
{
	other_error("%s", c->text);
	return CTL_REFUSED;
}

/* The objects of a view, of all fabrics or of one. */
struct view_list {
	const struct view *view;
	const uint64_t *key;
	struct json_object *list;
};

static struct nl_msg *view_request(struct conn *c, void *arg)
{
	const struct view_list *v = arg;
	struct nl_msg *msg = conn_request(c, v->view->cmd, NLM_F_DUMP);

	if (msg && v->key)
		nla_put_u64(msg, v->view->key, *v->key);
	return msg;
}

static void view_begin(void *arg)
{
	struct view_list *v = arg;

	json_object_put(v->list);
	v->list = json_object_new_array();
}

static void view_collect(struct nlmsghdr *nlh, void *arg)
{
	struct view_list *v = arg;

	json_object_array_add(v->list, view_parse(v->view, nlh));
}

int view_dump(struct conn *c, const struct view *view, const uint64_t *key,
	      struct json_object **list)
{
	static const struct dump dump = { view_request, view_begin, view_collect };
	struct view_list v = { view, key };
	int err = conn_dump(c, &dump, &v);

	/* ops come and go during a dump: those that last are in it */
	if (err == -EAGAIN && view == &op_view)
		err = 0;
	if (err) {
		json_object_put(v.list);
		v.list = NULL;
	}
	*list = v.list;
	return err;
}
