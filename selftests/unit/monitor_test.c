// SPDX-License-Identifier: GPL-2.0
/* torcollctl monitor: which notifications make a line. Objects are JSON as the kernel's become, over no connection. */
#include "host_env.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/monitor.c"
#include "../../tools/torcollctl/shape.c"

struct options opt;
const struct view fabric_view, port_view, comm_view;
static struct json_object *object;	/* what the next notification is about */

/* ---- instead of a connection ---- */

struct json_object *view_parse(const struct view *view, struct nlmsghdr *nlh)
{
	return json_object_get(object);
}

int view_dump(struct conn *c, const struct view *view, const uint64_t *key,
	      struct json_object **list)
{
	return -EIO;
}

int conn_open(struct conn *c)
{
	return -EIO;
}

int conn_need(struct conn *c)
{
	return CTL_USAGE;
}

void conn_close(struct conn *c) {}

int genl_ctrl_resolve_grp(struct nl_sock *sk, const char *family, const char *group)
{
	return -1;
}

int nl_socket_add_membership(struct nl_sock *sk, int group)
{
	return -1;
}

void nl_socket_disable_seq_check(struct nl_sock *sk) {}

int nl_socket_modify_cb(struct nl_sock *sk, enum nl_cb_type type, enum nl_cb_kind kind,
			nl_recvmsg_msg_cb_t func, void *arg)
{
	return -1;
}

int nl_recvmsgs_default(struct nl_sock *sk)
{
	return -1;
}

const char *nl_geterror(int error)
{
	return "";
}

struct nlmsghdr *nlmsg_hdr(struct nl_msg *msg)
{
	return NULL;
}

struct genlmsghdr *genlmsg_hdr(struct nlmsghdr *nlh)
{
	return NULL;
}

struct nlattr *nla_find(const struct nlattr *head, int len, int type)
{
	return NULL;
}

int nla_strcmp(const struct nlattr *attr, const char *text)
{
	return -1;
}

struct nlattr *genlmsg_attrdata(const struct genlmsghdr *hdr, int header)
{
	return NULL;
}

int genlmsg_attrlen(const struct genlmsghdr *hdr, int header)
{
	return 0;
}

/* ---- notifications ---- */

static const struct event *event_of(uint8_t cmd)
{
	const struct event *event = events;

	while (event->cmd != cmd)
		event++;
	return event;
}

/* Return what is printed behind the time, or "". */
static const char *told(struct json_object *said, uint8_t cmd, const char *json)
{
	static char *text;
	FILE *standard = stdout;
	size_t len;

	free(text);
	object = json_tokener_parse(json);
	assert_non_null(object);
	stdout = open_memstream(&text, &len);
	tell(event_of(cmd), said, NULL);
	fclose(stdout);
	stdout = standard;
	json_object_put(object);
	if (!len)
		return "";
	text[len - 1] = '\0';
	return strchr(text, ' ') + 1;
}

#define PORT(_cable, _dev, _state)								\
	"{\"fabric\": 1, \"dim\": 0, \"dir\": \"plus\", \"cable\": " #_cable _dev		\
	", \"state\": \"" _state "\"}"
#define D0P	", \"ifname\": \"d0p\""
#define D0P2	", \"ifname\": \"d0p2\""

static void tell__cables_of_a_link(void **state)
{
	struct json_object *said = json_object_new_object();
	const uint8_t changed = TORCOLL_CMD_PORT_NTF, deleted = TORCOLL_CMD_PORT_DEL_NTF;

	assert_string_equal(told(said, changed, PORT(0, D0P, "up")), "port changed 1 dim 0 plus dev d0p up");
	assert_string_equal(told(said, changed, PORT(1, D0P2, "up")), "port changed 1 dim 0 plus dev d0p2 up");
	/* nothing new of either */
	assert_string_equal(told(said, changed, PORT(0, D0P, "up")), "");
	assert_string_equal(told(said, changed, PORT(1, D0P2, "up")), "");
	assert_string_equal(told(said, changed, PORT(1, D0P2, "waiting")),
			    "port changed 1 dim 0 plus dev d0p2 waiting");
	assert_string_equal(told(said, changed, PORT(0, D0P, "up")), "");
	/* one of them is gone, whose device is not known any more */
	assert_string_equal(told(said, deleted, PORT(1, "", "absent")),
			    "port deleted 1 dim 0 plus cable 1 absent");
	assert_string_equal(told(said, changed, PORT(0, D0P, "up")), "");
	assert_string_equal(told(said, changed, PORT(1, D0P2, "up")), "port changed 1 dim 0 plus dev d0p2 up");
	json_object_put(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tell__cables_of_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
