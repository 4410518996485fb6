// SPDX-License-Identifier: MIT
/*
 * The smallest torcoll program: every rank contributes its number and gets the
 * sum.
 *
 *	cc hello.c $(pkg-config --cflags --libs libtorcoll) -o hello
 *	torcollctl netns run ./hello
 */
#include <stdio.h>
#include <torcoll.h>

static int add_ranks(struct torcoll *t)
{
	struct torcoll_comm *comm;
	int x, sum, err;

	err = torcoll_comm_from_env(t, &comm);
	if (err)
		return err;

	x = torcoll_comm_rank(comm);
	err = torcoll_allreduce(comm, &x, &sum, 1, TORCOLL_I32, TORCOLL_SUM);
	if (!err)
		printf("Hello from rank %u of %u: the ranks sum up to %d\n",
		       torcoll_comm_rank(comm), torcoll_comm_size(comm), sum);

	torcoll_comm_close(comm);
	return err;
}

int main(void)
{
	struct torcoll *t = NULL;
	int err;

	err = torcoll_open(&t);
	if (!err)
		err = add_ranks(t);
	if (err)
		fprintf(stderr, "%s\n", torcoll_last_error());

	torcoll_close(t);
	return err ? 1 : 0;
}
