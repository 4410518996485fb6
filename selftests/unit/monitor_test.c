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
static struct json_object *ports;	/* what is there */
static int open_errors[2];		/* of connections, in order */
static int group = -1;			/* of the module's events */

/* ---- instead of a connection ---- */

struct json_object *view_parse(const struct view *view, struct nlmsghdr *nlh)
{
	return json_object_get(object);
}

int view_dump(struct conn *c, const struct view *view, const uint64_t *key,
	      struct json_object **list)
{
	if (view != &port_view)
		return -EIO;
	*list = json_object_get(ports);
	return 0;
}

int conn_open(struct conn *c)
{
	int err = open_errors[0];

	open_errors[0] = open_errors[1];
	open_errors[1] = 0;
	snprintf(c->text, sizeof(c->text), "%s", err ? "no descriptor" : "");
	return err;
}

int conn_need(struct conn *c)
{
	return CTL_USAGE;
}

void conn_close(struct conn *c) {}

int genl_ctrl_resolve_grp(struct nl_sock *sk, const char *family, const char *name)
{
	return group;
}

int nl_socket_add_membership(struct nl_sock *sk, int number)
{
	return number == group ? 0 : -1;
}

int nl_socket_get_fd(const struct nl_sock *sk)
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

/* What is printed from now on is kept. */
static FILE *standard;
static char *text;
static size_t len;

static void keep_output(void)
{
	free(text);
	standard = stdout;
	stdout = open_memstream(&text, &len);
}

/* Return what was printed behind the time, or "". */
static const char *kept_output(void)
{
	fclose(stdout);
	stdout = standard;
	if (!len)
		return "";
	text[len - 1] = '\0';
	return strchr(text, ' ') + 1;
}

static const char *told(struct json_object *said, uint8_t cmd, const char *json)
{
	object = json_tokener_parse(json);
	assert_non_null(object);
	keep_output();
	tell(event_of(cmd), said, NULL);
	json_object_put(object);
	return kept_output();
}

/* What is told of these ports, which are all that there are, after events were lost. */
static const char *told_of_present(struct wanted *w, const char *json)
{
	ports = json_tokener_parse(json);
	assert_non_null(ports);
	keep_output();
	take_present(w, true);
	json_object_put(ports);
	return kept_output();
}

/* The same, and what is said on standard error. */
static const char *told_after_lost_events(struct wanted *w, const char *json, char **said)
{
	FILE *terminal = stderr;
	const char *told;
	size_t n;

	ports = json_tokener_parse(json);
	assert_non_null(ports);
	stderr = open_memstream(said, &n);
	keep_output();
	after_lost_events(w);
	told = kept_output();
	fclose(stderr);
	stderr = terminal;
	json_object_put(ports);
	return told;
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

/* Of those that are gone nothing is known any more: the same ones are news when they come again. */
static void take_present__after_lost_events(void **state)
{
	struct wanted w = { .said = json_object_new_object() };

	assert_string_equal(told(w.said, TORCOLL_CMD_PORT_NTF, PORT(0, D0P, "up")),
			    "port changed 1 dim 0 plus dev d0p up");
	assert_string_equal(told_of_present(&w, "[" PORT(0, D0P, "up") ", " PORT(1, D0P2, "waiting") "]"),
			    "port changed 1 dim 0 plus dev d0p2 waiting");
	assert_string_equal(told_of_present(&w, "[" PORT(1, D0P2, "waiting") "]"), "");
	assert_string_equal(told(w.said, TORCOLL_CMD_PORT_NTF, PORT(0, D0P, "up")),
			    "port changed 1 dim 0 plus dev d0p up");
	json_object_put(w.said);
}

/* Only that there is no such group says that the module is gone. */
static void after_lost_events__short_of_descriptors(void **state)
{
	static const char up[] = "[" PORT(0, D0P, "up") "]";
	struct wanted w = { .said = json_object_new_object() };
	char *said;

	group = 5;
	assert_string_equal(told_after_lost_events(&w, up, &said), "port changed 1 dim 0 plus dev d0p up");
	assert_string_equal(said, "");
	free(said);
	open_errors[0] = -EIO;
	assert_string_equal(told_after_lost_events(&w, up, &said), "");
	assert_non_null(strstr(said, "no descriptor"));
	assert_null(strstr(said, "unloaded"));
	free(said);
	group = -NLE_NOMEM;
	assert_string_equal(told_after_lost_events(&w, up, &said), "");
	assert_null(strstr(said, "unloaded"));
	free(said);
	for (int gone = 0; gone < 2; gone++) {
		group = gone ? -NLE_OBJ_NOTFOUND : 5;
		open_errors[0] = gone ? 0 : -ENOENT;
		assert_string_equal(told_after_lost_events(&w, up, &said), "");
		assert_string_equal(said, "The module was unloaded.\n");
		free(said);
	}
	json_object_put(w.said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tell__cables_of_a_link),
		cmocka_unit_test(take_present__after_lost_events),
		cmocka_unit_test(after_lost_events__short_of_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
