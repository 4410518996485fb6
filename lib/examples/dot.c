// SPDX-License-Identifier: MIT
/*
 * The dot product of two long vectors that lie distributed over the ranks, in
 * parts: while the sum of one part is under way, the rank computes the next.
 *
 *	cc dot.c $(pkg-config --cflags --libs libtorcoll) -o dot
 *	torcollctl netns run ./dot
 *
 * Here x is 1, 2, 3, ..., each rank having PARTS * LENGTH elements of it, and y
 * is 2 everywhere, so that the result is known.
 */
#include <stdio.h>
#include <torcoll.h>

#define PARTS	8	/* any number: those beyond the comm's depth wait in the library */
#define LENGTH	1000

/* This rank's share of the product of a part. */
static double dot_part(uint32_t rank, int part)
{
	double first = ((double)rank * PARTS + part) * LENGTH + 1, sum = 0;
	int i;

	for (i = 0; i < LENGTH; i++)
		sum += (first + i) * 2;
	return sum;
}

/* Wait for the sums that were started, all of them even if one fails. */
static int dot_wait(struct torcoll_request *reqs, int started)
{
	int i, err = 0, status;

	for (i = 0; i < started; i++) {
		status = torcoll_wait(&reqs[i]);
		err = err ? err : status;
	}
	return err;
}

static int dot(struct torcoll_comm *comm, double *product)
{
	struct torcoll_request reqs[PARTS];
	double sum[PARTS];
	int i, err = 0, waited, started;

	for (started = 0; started < PARTS; started++) {
		sum[started] = dot_part(torcoll_comm_rank(comm), started);
		/* returns at once: until it is waited for, sum[started] belongs to the call */
		err = torcoll_iallreduce(comm, &sum[started], &sum[started], 1, TORCOLL_F64,
					 TORCOLL_SUM, &reqs[started]);
		if (err)
			break;
	}
	waited = dot_wait(reqs, started);
	for (i = 0, *product = 0; i < PARTS; i++)
		*product += sum[i];
	return err ? err : waited;
}

int main(void)
{
	struct torcoll *t = NULL;
	struct torcoll_comm *comm;
	double product;
	int err;

	err = torcoll_open(&t);
	if (!err)
		err = torcoll_comm_from_env(t, &comm);
	if (!err)
		err = dot(comm, &product);
	if (err)
		fprintf(stderr, "%s\n", torcoll_last_error());
	else
		printf("rank %u of %u: x * y = %.0f\n", torcoll_comm_rank(comm),
		       torcoll_comm_size(comm), product);
	torcoll_close(t);	/* and the comm */
	return err ? 1 : 0;
}
