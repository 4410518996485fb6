// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of ops, while ops end and begin between one part of a dump and the next: the reader is told so, and what lasts is told
 * once. For ctl.sh: wants the namespaces of a 2x2 torus without comms, says KTAP.
 */
#include "bad_netlink.h"

#define OPS	64	/* a power of two: as many as their comm can have */

static int fd;
static uint32_t comm;
static uint64_t op[OPS];
/* as large as that of genl_open(): the kernel makes its parts fit the largest */
static char part[8192];

/* What a dump told: how often each op, by its number, and whether it was of one moment. */
static struct {
	unsigned int parts;
	unsigned int times[2 * OPS];
	bool interrupted;
	bool done;
} told;

/* An op that is over at once, and stays until somebody asks for its result. */
static void begin_op(unsigned int i)
{
	struct torcoll_submit submit = {
		.size = sizeof(submit), .comm = comm, .collective = TORCOLL_BARRIER,
	};
	int err = call(fd, TORCOLL_IOC_SUBMIT, &submit);

	need(!err, "no op: %s", sentence(fd));
	op[i] = submit.op;
}

static void end_op(unsigned int i)
{
	struct torcoll_wait wait = { .size = sizeof(wait), .comm = comm, .op = op[i] };

	need(!call(fd, TORCOLL_IOC_WAIT, &wait), "no result: %s", sentence(fd));
}

static void read_op(const struct nlmsghdr *nl)
{
	const char *end = (const char *)nl + nl->nlmsg_len;
	const char *p = (const char *)NLMSG_DATA(nl) + GENL_HDRLEN;

	for (; p < end; p += NLA_ALIGN(((struct nlattr *)p)->nla_len)) {
		uint32_t seq;

		if (((struct nlattr *)p)->nla_type != TORCOLL_A_OP_SEQ)
			continue;
		memcpy(&seq, p + NLA_HDRLEN, sizeof(seq));
		need(seq < ARRAY_SIZE(told.times), "op %u", seq);
		told.times[seq]++;
	}
}

/* The next part of a dump; the kernel makes the one behind it meanwhile. */
static void read_part(void)
{
	const struct nlmsghdr *nl = (void *)part;
	ssize_t len = recv(netlink, part, sizeof(part), 0);

	need(len > 0, "no part of a dump");
	told.parts++;
	for (; NLMSG_OK(nl, len); nl = NLMSG_NEXT(nl, len)) {
		need(nl->nlmsg_type != NLMSG_ERROR, "no dump");
		told.interrupted |= nl->nlmsg_flags & NLM_F_DUMP_INTR;
		if (nl->nlmsg_type == NLMSG_DONE)
			told.done = true;
		else
			read_op(nl);
	}
}

/* The first part is made when a dump is asked for. */
static void dump_begin(void)
{
	struct message msg;

	memset(&told, 0, sizeof(told));
	begin(&msg, family, TORCOLL_CMD_OP_GET);
	msg.nl.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	need(send(netlink, &msg, msg.nl.nlmsg_len, 0) >= 0, "netlink does not take a request");
}

static void dump_end(void)
{
	while (!told.done)
		read_part();
}

/* Was each of the ops told once, but for @gone? */
static bool each_once(unsigned int gone)
{
	unsigned int i;

	for (i = 0; i < OPS; i++)
		if (i != gone && told.times[(uint32_t)op[i]] != 1) {
			printf("# op %u was told %u times\n", i, told.times[(uint32_t)op[i]]);
			return false;
		}
	return true;
}

int main(void)
{
	static const uint32_t self;
	struct joiner j = { .name = "dumped", .members = &self, .ranks = 1, .depth = OPS };
	unsigned int i;

	open_netlink(0);
	fd = open_on(0);
	j.fd = fd;
	join(&j);
	need(!j.err, "no comm: %s", sentence(fd));
	comm = j.comm;
	for (i = 0; i < OPS; i++)
		begin_op(i);

	dump_begin();
	dump_end();
	result(told.parts > 2 && each_once(OPS), "quiet__all");
	result(!told.interrupted, "quiet__of_one_moment");

	dump_begin();
	end_op(0);
	dump_end();
	result(told.interrupted, "op_ends__is_said");
	result(each_once(0), "op_ends__others_once");

	dump_begin();
	begin_op(0);
	dump_end();
	result(told.interrupted, "op_begins__is_said");
	result(each_once(0), "op_begins__others_once");
	return finish();
}
