// SPDX-License-Identifier: GPL-2.0
/*
 * Comms of the same ranks share what is the same in each. One rank, of four but for the last case; for churn.sh
 * and shrink.sh.
 *
 *	alike	makes two on the fabric that TORCOLL_FABRIC says, compares what the first and the second add to
 *		the memory of rank 0's node, and uses the second after the first is closed
 *	alike order
 *		compares what the heir of a comm and one of the same ranks add to that memory, when the one and
 *		when the other is made first
 *	alike heir
 *		makes one of node 0 alone, and shrinks it: frames are the same
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <torcoll.h>

/* @members: NULL: all. */
static int make_of(struct torcoll *t, const char *name, const uint32_t *members, uint32_t size,
		   struct torcoll_comm **comm)
{
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.rank = TORCOLL_RANK_SELF,
		.name = name, .members = members, .size = size,
		.deadline_ns = torcoll_deadline(60000),
	};

	return torcoll_comm_create(t, &config, comm);
}

static int make(struct torcoll *t, const char *name, struct torcoll_comm **comm)
{
	return make_of(t, name, NULL, 0, comm);
}

/* As "node show" says it, or -1. */
static long node_bytes(void)
{
	FILE *f = popen("torcollctl -j node show | jq '.[0].memory'", "r");
	long bytes = -1;

	if (!f || fscanf(f, "%ld", &bytes) != 1)
		fprintf(stderr, "node show: no memory\n");
	if (f)
		pclose(f);
	return bytes;
}

static int use(struct torcoll_comm *comm)
{
	int32_t size = torcoll_comm_size(comm), x = torcoll_comm_rank(comm);
	int err = torcoll_allreduce(comm, &x, &x, 1, TORCOLL_I32, TORCOLL_SUM);

	return err || x == size * (size - 1) / 2 ? err : -EBADMSG;
}

/* Make both; only the first has the memory of what is equal in both. */
static int compare(struct torcoll *t, struct torcoll_comm **first, struct torcoll_comm **second)
{
	long before = node_bytes(), one, both;
	int err;

	err = make(t, "alike.first", first);
	one = node_bytes();
	if (!err)
		err = make(t, "alike.second", second);
	both = node_bytes();
	if (err || torcoll_comm_rank(*first))
		return err;
	printf("the first comm takes %ld bytes, the second %ld\n", one - before,
	       both - one);
	return before >= 0 && both > one && both - one < one - before ? 0 : -ERANGE;
}

/* Ranks wait for rank 0, and send it nothing meanwhile: an op's frames that come early are memory, too. */
static int wait_for_first(struct torcoll_comm *all)
{
	int32_t go = 1;

	return torcoll_broadcast(all, &go, 1, TORCOLL_I32, 0);
}

/* What rank 0's node has while no rank does anything; at the others 0. */
static int bytes_at_rest(struct torcoll_comm *all, long *bytes)
{
	int err = use(all);

	*bytes = torcoll_comm_rank(all) ? 0 : node_bytes();
	return err ? err : wait_for_first(all);
}

/* Each slot of @all has its memory, and both ops have their plans. */
static int warm_up(struct torcoll_comm *all)
{
	int err = 0, i;

	for (i = 0; i < 8 && !err; i++) {
		err = use(all);
		if (!err)
			err = wait_for_first(all);
	}
	return err;
}

/*
 * The first of @members leaves, the others make an heir and a comm of theirs: the bytes of both, in
 * *@bytes. All ranks are in @all.
 */
static int shrink_beside(struct torcoll *t, struct torcoll_comm *all, const uint32_t *members,
			 bool heir_first, long *bytes)
{
	struct torcoll_comm *from = NULL, *heir = NULL, *same = NULL;
	bool leaves = torcoll_comm_rank(all) == members[0];
	int err = make_of(t, "alike.from", members, 4, &from);
	long before, after;

	if (!err && leaves)
		torcoll_comm_close(from);
	if (!err)
		err = bytes_at_rest(all, &before);
	if (!err && !leaves && heir_first)
		err = torcoll_comm_shrink(from, torcoll_deadline(60000), &heir);
	if (!err && !leaves)
		err = make_of(t, "alike.same", members + 1, 3, &same);
	if (!err && !leaves && !heir_first)
		err = torcoll_comm_shrink(from, torcoll_deadline(60000), &heir);
	if (!err)
		err = bytes_at_rest(all, &after);
	if (!err)
		*bytes = after - before;
	return err;
}

static int compare_orders(struct torcoll *t)
{
	/* lists that nothing else has: what is closed lingers */
	static const uint32_t one[] = { 3, 0, 1, 2 }, other[] = { 3, 0, 2, 1 };
	struct torcoll_comm *all = NULL;
	long heir_first, heir_last;
	int err = make(t, "alike.all", &all);

	if (!err)
		err = warm_up(all);
	if (!err)
		err = shrink_beside(t, all, one, true, &heir_first);
	if (!err)
		err = shrink_beside(t, all, other, false, &heir_last);
	if (err || torcoll_comm_rank(all))
		return err;
	printf("with the heir made first both take %ld bytes, made last %ld\n", heir_first, heir_last);
	return heir_first > 0 && heir_first == heir_last ? 0 : -ERANGE;
}

/* The payload bytes of a frame, 0: an error. */
static uint32_t frame_bytes(struct torcoll_comm *comm)
{
	struct torcoll_comm_info info;

	return torcoll_comm_info(comm, &info) ? 0 : info.frame_bytes;
}

static int compare_heir(struct torcoll *t)
{
	static const uint32_t members[] = { 0 };
	struct torcoll_comm_config config = {
		.fabric = strtoull(getenv("TORCOLL_FABRIC"), NULL, 0),
		.name = "alike.heir", .members = members, .size = 1,
		.deadline_ns = torcoll_deadline(60000),
	};
	struct torcoll_comm *comm = NULL, *heir = NULL;
	int err = torcoll_comm_create(t, &config, &comm);

	if (!err)
		err = torcoll_comm_shrink(comm, torcoll_deadline(60000), &heir);
	if (!err) {
		printf("frames of %u bytes, of the heir %u\n", frame_bytes(comm), frame_bytes(heir));
		err = frame_bytes(comm) && frame_bytes(heir) == frame_bytes(comm) ? 0 : -ERANGE;
	}
	return err;
}

static int run(struct torcoll *t)
{
	struct torcoll_comm *first = NULL, *second = NULL;
	int err = compare(t, &first, &second);

	if (!err)
		err = use(first);
	torcoll_comm_close(first);
	if (!err)
		err = use(second);
	return err;
}

int main(int argc, char **argv)
{
	struct torcoll *t;
	int err = torcoll_open(&t);

	if (!err && argc == 2 && !strcmp(argv[1], "order"))
		err = compare_orders(t);
	else if (!err)
		err = argc == 2 ? compare_heir(t) : run(t);
	if (err) {
		fprintf(stderr, "alike: %s: %s\n", torcoll_strerror(err), torcoll_last_error());
		return 1;
	}
	torcoll_close(t);
	return 0;
}
