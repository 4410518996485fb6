// SPDX-License-Identifier: GPL-2.0
/*
 * Surveys: rounds of asking, until all that answers has been heard.
 *
 * A host learns what is at its cables by the asks that come in by them. Its
 * first report may be too early for that, so there are two rounds at least, and
 * another one as long as a round brings something new.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "survey.h"

#define LONGEST_MS	10000
#define QUIET_MS	500	/* a round is over when nothing comes for so long, */
#define SETTLED_MS	100	/* or for so long if all have answered */
#define PATIENCE	4	/* rounds in which hosts that are named may answer */
#define TEST_MS		700	/* between rounds while cables are tested */
#define BUFFER		(16 << 20)

/**
 * struct taking - a survey under way
 * @id: random
 * @round: the last one
 * @begun: its time, ms
 * @known: hosts at the end of the previous round
 * @ends: ends of cables heard at the end of the previous round
 */
struct taking {
	struct survey *s;
	struct conn *c;
	uint64_t id;
	uint32_t round;
	bool test;
	uint64_t begun;
	unsigned int known, ends;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static void on_report(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[TORCOLL_A_SURVEY_MAX + 1];
	struct survey_host *host;
	struct taking *t = arg;

	if (genlmsg_hdr(nlh)->cmd != TORCOLL_CMD_SURVEY_REPORT ||
	    nla_parse(tb, TORCOLL_A_SURVEY_MAX, genlmsg_attrdata(nlmsg_data(nlh), 0),
		      genlmsg_attrlen(nlmsg_data(nlh), 0), NULL) ||
	    !tb[TORCOLL_A_SURVEY_ID] || nla_get_u64(tb[TORCOLL_A_SURVEY_ID]) != t->id ||
	    !tb[TORCOLL_A_SURVEY_REPORT])
		return;
	host = survey_add_report(t->s, nla_data(tb[TORCOLL_A_SURVEY_REPORT]),
				 nla_len(tb[TORCOLL_A_SURVEY_REPORT]));
	if (host && tb[TORCOLL_A_SURVEY_SELF])
		t->s->self = host;
}

static int ask(struct taking *t)
{
	struct nl_msg *msg = conn_request(t->c, TORCOLL_CMD_SURVEY, NLM_F_ACK);

	if (msg) {
		nla_put_u64(msg, TORCOLL_A_SURVEY_ID, t->id);
		nla_put_u32(msg, TORCOLL_A_SURVEY_ROUND, ++t->round);
		if (t->test)
			nla_put_flag(msg, TORCOLL_A_SURVEY_TEST);
	}
	return conn_call(t->c, msg, on_report, t);
}

/* Return whether every host has answered this round that is known or named. */
static bool all_answered(const struct taking *t)
{
	unsigned int i, k;

	if (!t->known || survey_complete(t->s, t->round) < t->s->nhosts)
		return false;
	for (i = 0; i < t->s->nhosts; i++)
		for (k = 0; k < t->s->hosts[i]->nports; k++) {
			uint64_t peer = t->s->hosts[i]->ports[k].peer.host;

			if (peer && !survey_find(t->s, peer))
				return false;
		}
	return true;
}

static bool is_late(const struct taking *t)
{
	return now_ms() - t->begun > LONGEST_MS;
}

/* Receive reports until the round is over. */
static int listen_round(struct taking *t, bool progress)
{
	int err;

	do {
		/* all hosts are looked at for each moment in which nothing comes, not for each report */
		err = conn_listen(t->c, 0, on_report, t);
		if (!err)
			err = conn_listen(t->c, all_answered(t) ? SETTLED_MS : QUIET_MS, on_report,
					  t);
		if (progress)
			fprintf(stderr, "\r%u hosts have answered ", t->s->nhosts);
	} while (err > 0 && !is_late(t));
	return err < 0 ? err : 0;
}

static bool is_heard(const struct survey_port *port)
{
	return port->peer.host && port->flags & TORCOLL_SURVEY_CARRIER &&
	       !(port->flags & TORCOLL_SURVEY_MANY);
}

/* Return whether the cable was tested since the survey began. */
static bool is_tested(const struct taking *t, const struct survey_port *port)
{
	return port->flags & TORCOLL_SURVEY_TESTED && port->tested_ms <= now_ms() - t->begun;
}

/* Return whether this round brought nothing that the one before had not. */
static bool is_settled(struct taking *t)
{
	unsigned int known = t->known, ends = t->ends, untested = 0, i, k;

	t->known = t->s->nhosts;
	t->ends = 0;
	for (i = 0; i < t->s->nhosts; i++)
		for (k = 0; k < t->s->hosts[i]->nports; k++) {
			const struct survey_port *port = &t->s->hosts[i]->ports[k];

			t->ends += is_heard(port);
			untested += is_heard(port) && !is_tested(t, port);
		}
	/* reports may be lost */
	if (!all_answered(t) && t->round < PATIENCE)
		return false;
	return known == t->known && ends == t->ends && (!t->test || !untested);
}

static void test_goes_on(const struct taking *t, uint64_t asked)
{
	uint64_t passed = now_ms() - asked;

	if (t->test && passed < TEST_MS)
		usleep((TEST_MS - passed) * 1000);
}

int survey_take(struct survey *s, struct conn *c, bool test, bool progress)
{
	struct taking t = { .s = s, .c = c, .test = test, .begun = now_ms() };
	int size = BUFFER;
	uint64_t asked;
	int err;

	if (getrandom(&t.id, sizeof(t.id), 0) != sizeof(t.id))
		return -errno;
	/* where that is allowed: many hosts answer at once */
	setsockopt(nl_socket_get_fd(c->sk), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	progress = progress && isatty(STDERR_FILENO);
	for (;;) {
		asked = now_ms();
		err = ask(&t);
		if (!err)
			err = listen_round(&t, progress);
		if (err || is_settled(&t) || is_late(&t))
			break;
		test_goes_on(&t, asked);
	}
	if (progress)
		fputs("\r\033[K", stderr);
	survey_link(s);
	return err;
}

int survey_get(struct survey *s, const char *file, bool test)
{
	struct conn c;
	int ret = CTL_OK;

	if (file) {
		ret = survey_load(s, file);
	} else {
		if (conn_need(&c))
			return CTL_USAGE;
		if (survey_take(s, &c, test, true))
			ret = conn_refused(&c);
		conn_close(&c);
	}
	if (!ret)
		survey_say_rest(s);
	return ret;
}
