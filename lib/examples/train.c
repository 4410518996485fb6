// SPDX-License-Identifier: MIT
/*
 * Data-parallel training: a softmax regression learns handwritten digits.
 *
 *	torcollctl netns run train --data digits.csv.gz
 *
 * Every process works on its share of the rows, with a copy of the weights that
 * starts as 0. A step computes the gradient over the process's rows and sums it
 * over all processes by one allreduce; then all processes take the same step.
 * Since all ranks get the same bits, the copies always stay equal: at the end
 * each rank prints a checksum of its own.
 *
 * With --survive, the ranks that are left continue when processes or hosts
 * fail. They share all the rows anew, so the model learns what it would have
 * learned without the failure.
 *
 * Rows with i % 5 == 4 are held out; accuracy is measured on them.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torcoll.h>
#include <unistd.h>
#include <zlib.h>

#define PIXELS		64
#define INPUTS		(PIXELS + 1)	/* and a constant 1, for the bias */
#define DIGITS		10
#define WEIGHTS		(DIGITS * INPUTS)
#define SUMS		(WEIGHTS + 1)	/* the gradient, and the loss */

#define LEARNING_RATE	1.0
#define MOMENTUM	0.8

struct row {
	double x[INPUTS];
	int digit;
};

struct rows {
	struct row *row;
	size_t count;
};

/* A rank of a comm, or (comm NULL) one process in place of @size workers. */
struct workers {
	struct torcoll_comm *comm;
	uint32_t rank;
	uint32_t size;
};

struct model {
	double weight[WEIGHTS];
	double speed[WEIGHTS];
};

/* @before: the model one step ago; @told: the last step that was printed. */
struct training {
	struct model model;
	struct model before;
	int64_t step;
	int64_t told;
};

struct options {
	const char *data;
	int steps;
	uint32_t pause;
	bool single;
	bool survive;
	uint32_t emulate;
};

static bool parse_row(char *line, struct row *row)
{
	char *p = line;

	for (int i = 0; i < PIXELS; i++) {
		long v = strtol(p, &p, 10);

		if (v < 0 || v > 16 || *p++ != ',')
			return false;
		row->x[i] = v / 16.0;
	}
	row->x[PIXELS] = 1;
	row->digit = strtol(p, NULL, 10);
	return row->digit >= 0 && row->digit < DIGITS;
}

static void rows_add(struct rows *rows, const struct row *row)
{
	if (!(rows->count & (rows->count + 1))) {
		rows->row = realloc(rows->row, 2 * (rows->count + 1) * sizeof(*row));
		if (!rows->row)
			abort();
	}
	rows->row[rows->count++] = *row;
}

static int load(const char *path, struct rows *train, struct rows *held_out)
{
	gzFile f = gzopen(path, "r");
	char line[1024];
	struct row row;
	int i = 0;

	if (!f) {
		fprintf(stderr, "train: %s: %s\n", path, strerror(errno));
		return -1;
	}
	for (; gzgets(f, line, sizeof(line)); i++) {
		if (!parse_row(line, &row)) {
			fprintf(stderr, "train: %s:%d: not 64 pixels and a digit\n", path, i + 1);
			break;
		}
		rows_add(i % 5 == 4 ? held_out : train, &row);
	}
	if (!gzeof(f) || !held_out->count) {
		fprintf(stderr, "train: %s: cannot be read to its end\n", path);
		gzclose(f);
		return -1;
	}
	gzclose(f);
	return 0;
}

/* Compute the model's probability of each digit. */
static void predict(const struct model *m, const struct row *row, double p[DIGITS])
{
	double max = -INFINITY, sum = 0;

	for (int d = 0; d < DIGITS; d++) {
		p[d] = 0;
		for (int i = 0; i < INPUTS; i++)
			p[d] += m->weight[d * INPUTS + i] * row->x[i];
		if (p[d] > max)
			max = p[d];
	}
	for (int d = 0; d < DIGITS; d++)
		sum += p[d] = exp(p[d] - max);
	for (int d = 0; d < DIGITS; d++)
		p[d] /= sum;
}

/* Compute gradient and loss over the rows of one worker: every size-th. */
static void gradient(const struct model *m, const struct rows *rows, uint32_t rank, uint32_t size,
		     float sums[SUMS])
{
	double g[SUMS] = { 0 }, p[DIGITS];

	for (size_t r = rank; r < rows->count; r += size) {
		const struct row *row = &rows->row[r];

		predict(m, row, p);
		g[WEIGHTS] -= log(p[row->digit]);
		p[row->digit] -= 1;
		for (int d = 0; d < DIGITS; d++)
			for (int i = 0; i < INPUTS; i++)
				g[d * INPUTS + i] += p[d] * row->x[i];
	}
	for (int i = 0; i < SUMS; i++)
		sums[i] = g[i] / rows->count;
}

/* Do in one process what an allreduce does. */
static void gradient_of_all(const struct model *m, const struct rows *rows, uint32_t size,
			    float sums[SUMS])
{
	float one[SUMS];

	memset(sums, 0, SUMS * sizeof(*sums));
	for (uint32_t rank = 0; rank < size; rank++) {
		gradient(m, rows, rank, size, one);
		for (int i = 0; i < SUMS; i++)
			sums[i] += one[i];
	}
}

static void step(struct training *t, const float sums[SUMS])
{
	struct model *m = &t->model;

	t->before = *m;
	t->step++;
	for (int i = 0; i < WEIGHTS; i++) {
		m->speed[i] = MOMENTUM * m->speed[i] - LEARNING_RATE * sums[i];
		m->weight[i] += m->speed[i];
	}
}

static double accuracy(const struct model *m, const struct rows *rows)
{
	size_t right = 0;
	double p[DIGITS];

	for (size_t r = 0; r < rows->count; r++) {
		int best = 0;

		predict(m, &rows->row[r], p);
		for (int d = 1; d < DIGITS; d++)
			if (p[d] > p[best])
				best = d;
		right += best == rows->row[r].digit;
	}
	return (double)right / rows->count;
}

/* FNV-1a over the bytes of the weights. */
static uint64_t checksum(const struct model *m)
{
	const unsigned char *byte = (const unsigned char *)m->weight;
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < sizeof(m->weight); i++)
		sum = (sum ^ byte[i]) * 0x100000001b3ULL;
	return sum;
}

/* Print the loss and accuracy before this step, once. */
static void tell(struct training *t, int steps, double loss, const struct rows *held_out)
{
	int64_t k = t->step;

	if (k <= t->told || (k != 1 && k != steps && k % 10))
		return;
	t->told = k;
	printf("step %lld loss %.6f accuracy %.4f\n", (long long)k, loss,
	       accuracy(&t->model, held_out));
	fflush(stdout);
}

static int sum_gradients(const struct workers *w, const struct model *m, const struct rows *rows,
			 float sums[SUMS])
{
	if (!w->comm) {
		gradient_of_all(m, rows, w->size, sums);
		return 0;
	}
	gradient(m, rows, w->rank, w->size, sums);
	return torcoll_allreduce(w->comm, sums, sums, SUMS, TORCOLL_F32, TORCOLL_SUM);
}

static void workers_of(struct workers *w, struct torcoll_comm *comm)
{
	w->comm = comm;
	w->rank = torcoll_comm_rank(comm);
	w->size = torcoll_comm_size(comm);
}

/*
 * Continue with the ranks that are left. A rank may have taken the step that
 * failed on others, never more than one: it takes it back.
 */
static int go_on(struct workers *w, struct training *t)
{
	struct torcoll_comm *heir;
	int64_t agreed;
	int err;

	do {
		fprintf(stderr, "train: step %lld: %s\n", (long long)t->step, torcoll_last_error());
		err = torcoll_comm_shrink(w->comm, torcoll_deadline(60000), &heir);
		if (err)
			return err;
		torcoll_comm_close(w->comm);
		workers_of(w, heir);
		agreed = t->step;
	} while (torcoll_allreduce(heir, &agreed, &agreed, 1, TORCOLL_I64, TORCOLL_MIN));
	if (agreed < t->step)
		t->model = t->before;
	t->step = agreed;
	fprintf(stderr, "train: %u ranks go on with step %lld\n", w->size, (long long)agreed);
	return 0;
}

/* Train. Loss and accuracy of a step are those before it. */
static int train(struct workers *w, const struct rows *rows, const struct rows *held_out,
		 const struct options *o)
{
	struct training t = { .step = 1 };
	float sums[SUMS];
	int err;

	while (t.step <= o->steps) {
		err = sum_gradients(w, &t.model, rows, sums);
		if (!err && !w->rank)
			tell(&t, o->steps, sums[WEIGHTS], held_out);
		if (!err)
			step(&t, sums);
		else if (o->survive)
			err = go_on(w, &t);
		if (err)
			return err;
		if (o->pause)
			usleep(1000 * o->pause);
	}
	printf("rank %u weights %016llx\n", w->rank, (unsigned long long)checksum(&t.model));
	return 0;
}

static int train_together(const struct rows *rows, const struct rows *held_out,
			  const struct options *o)
{
	struct torcoll_comm *comm;
	struct workers w = { 0 };
	struct torcoll *t = NULL;
	int err;

	err = torcoll_open(&t);
	if (!err)
		err = torcoll_comm_from_env(t, &comm);
	if (!err) {
		workers_of(&w, comm);
		err = train(&w, rows, held_out, o);
		torcoll_comm_close(w.comm);
	}
	if (err)
		fprintf(stderr, "train: %s\n", torcoll_last_error());
	torcoll_close(t);
	return err;
}

static const char usage[] =
	"Usage: train [--data FILE] [--steps N] [--pause MS] [--survive | --single | --emulate R]\n"
	"  --data FILE   rows of 64 pixels and a digit, gzip or plain (digits.csv.gz)\n"
	"  --steps N     how long to train (150)\n"
	"  --pause MS    between steps, to look at what happens meanwhile (0)\n"
	"  --survive     go on without ranks that fail\n"
	"  --single      one process, all rows, no torcoll\n"
	"  --emulate R   the same, but summed up like R workers\n";

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "data", required_argument, NULL, 'd' },
		{ "steps", required_argument, NULL, 's' },
		{ "pause", required_argument, NULL, 'p' },
		{ "survive", no_argument, NULL, 'v' },
		{ "single", no_argument, NULL, '1' },
		{ "emulate", required_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->data = optarg;
			break;
		case 's':
			o->steps = atoi(optarg);
			break;
		case 'p':
			o->pause = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			o->survive = true;
			break;
		case '1':
			o->single = true;
			break;
		case 'e':
			o->single = true;
			o->emulate = strtoul(optarg, NULL, 10);
			break;
		default:
			fputs(usage, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind < argc || o->steps < 1 || !o->emulate) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .data = "digits.csv.gz", .steps = 150, .emulate = 1 };
	struct rows rows = { 0 }, held_out = { 0 };
	int err;

	parse_options(argc, argv, &o);
	err = load(o.data, &rows, &held_out);
	if (!err && o.single)
		err = train(&(struct workers){ .size = o.emulate }, &rows, &held_out, &o);
	else if (!err)
		err = train_together(&rows, &held_out, &o);
	free(rows.row);
	free(held_out.row);
	return err ? 1 : 0;
}
