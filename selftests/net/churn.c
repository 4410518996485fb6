// SPDX-License-Identifier: GPL-2.0
/*
 * Comms come and go, with as many ops in flight as they take: one process of several. For churn.sh.
 *
 *	churn COMMS	makes, fills, empties and closes so many, a few at a time, on the fabric and with the
 *			names that TORCOLL_FABRIC and TORCOLL_COMM say
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <torcoll.h>

#define AT_A_TIME	4
#define DEPTH		64
#define COUNT		16

static int32_t x[AT_A_TIME][DEPTH][COUNT];
static struct torcoll_request req[AT_A_TIME][DEPTH];

static int make(struct torcoll *t, unsigned int number, struct torcoll_comm **comm)
{
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.rank = TORCOLL_RANK_SELF,
		.depth = DEPTH,
		.deadline_ns = torcoll_deadline(60000),
	};
	char name[TORCOLL_NAME_MAX];

	snprintf(name, sizeof(name), "%s.%u", getenv("TORCOLL_COMM"), number);
	config.name = name;
	return torcoll_comm_create(t, &config, comm);
}

static int start(struct torcoll_comm *comm, unsigned int c)
{
	unsigned int op, i;
	int err = 0;

	for (op = 0; op < DEPTH && !err; op++) {
		for (i = 0; i < COUNT; i++)
			x[c][op][i] = i + op;
		err = torcoll_iallreduce(comm, x[c][op], x[c][op], COUNT, TORCOLL_I32, TORCOLL_SUM,
					 &req[c][op]);
	}
	return err;
}

static int end(struct torcoll_comm *comm, unsigned int c)
{
	int32_t size = torcoll_comm_size(comm);
	unsigned int op, i;
	int err = 0;

	for (op = 0; op < DEPTH && !err; op++) {
		err = torcoll_wait(&req[c][op]);
		for (i = 0; i < COUNT && !err; i++)
			if (x[c][op][i] != size * (int32_t)(i + op))
				err = -EBADMSG;
	}
	return err;
}

static int run(struct torcoll *t, unsigned int first, unsigned int n)
{
	struct torcoll_comm *comm[AT_A_TIME] = {};
	unsigned int c;
	int err = 0;

	for (c = 0; c < n && !err; c++)
		err = make(t, first + c, &comm[c]);
	for (c = 0; c < n && !err; c++)
		err = start(comm[c], c);
	for (c = 0; c < n && !err; c++)
		err = end(comm[c], c);
	for (c = 0; c < n; c++)
		torcoll_comm_close(comm[c]);
	return err;
}

int main(int argc, char **argv)
{
	unsigned int comms = argc == 2 ? atoi(argv[1]) : 0, made;
	struct torcoll *t;
	int err;

	err = torcoll_open(&t);
	if (!err)
		err = torcoll_register(t, x, sizeof(x));
	for (made = 0; made < comms && !err; made += AT_A_TIME)
		err = run(t, made, comms - made < AT_A_TIME ? comms - made : AT_A_TIME);
	if (err) {
		fprintf(stderr, "comm %u or behind: %s\n", made - AT_A_TIME,
			err == -EBADMSG ? "wrong" : torcoll_last_error());
		return 1;
	}
	torcoll_close(t);
	return 0;
}
