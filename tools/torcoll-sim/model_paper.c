// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What figures 12 to 14 of the Swing paper (De Sensi et al., NSDI 2024) print,
 * read from the coordinates of their curves, which are drawn as vectors.
 */
#include "model.h"

#include <inttypes.h>

#define A(name)		(1U << TORCOLL_##name)
#define SWING		(A(SWING_BW) | A(SWING_LAT))
#define RECDOUB		(A(RECDOUB_LAT) | A(RECDOUB_BW))

#define FIGURE_FIRST	12
#define CURVES		4		/* Swing first */

/* A curve of a figure: goodput, Gb/s; 0 where it is too small to be read. */
struct curve {
	const char *name;
	u32 algorithms;			/* a set as in struct model_run: the best of them */
	double goodput[PAPER_SIZES];
};

static const struct curve figures[][CURVES] = {
	{ { "swing", SWING,
	    { 0, 0.11, 0.49, 1.86, 7.23, 21.3, 55.8, 176.8, 412.2, 623.1, 715.5, 743.3, 750.7 } },
	  { "recdoub", RECDOUB,
	    { 0, 0.14, 0.49, 1.92, 6.2, 15.9, 47.3, 110.7, 166.5, 190.4, 197.5, 199.4, 199.9 } },
	  { "bucket", A(BUCKET),
	    { 0, 0, 0, 0.14, 0.51, 2.01, 8.0, 32.0, 110.5, 311.4, 561.0, 694.7, 736.8 } },
	  { "hamiltonian", A(HAMILTONIAN),
	    { 0, 0, 0, 0, 0, 0, 0.3, 1.0, 4.0, 15.9, 63.5, 192.1, 443.6 } } },
	{ { "swing", SWING,
	    { 0, 0.11, 0.43, 1.6, 6.31, 16.8, 47.7, 156.5, 374.9, 575.0, 665.3, 692.2, 699.5 } },
	  { "recdoub", RECDOUB,
	    { 0, 0.11, 0.4, 1.57, 5.25, 13.1, 40.3, 97.9, 146.9, 166.4, 172.3, 173.5, 173.4 } },
	  { "bucket", A(BUCKET),
	    { 0, 0, 0, 0.17, 0.63, 2.49, 9.98, 39.8, 133.1, 354.1, 597.8, 717.6, 750.2 } },
	  { "hamiltonian", A(HAMILTONIAN),
	    { 0, 0, 0, 0, 0, 0, 0.3, 1.2, 5.0, 19.8, 79.0, 224.3, 483.1 } } },
	{ { "swing", SWING,
	    { 0, 0.12, 0.38, 1.5, 5.89, 19.2, 49.7, 147.9, 373.4, 618.2, 743.7, 784.8, 796.2 } },
	  { "recdoub", RECDOUB,
	    { 0, 0.12, 0.38, 1.5, 5.08, 13.9, 39.1, 98.5, 159.1, 187.9, 196.9, 199.2, 199.8 } },
	  { "bucket", A(BUCKET),
	    { 0, 0, 0, 0.09, 0.29, 1.15, 4.57, 18.2, 66.8, 214.3, 477.3, 679.7, 763.0 } },
	  { "hamiltonian", A(HAMILTONIAN),
	    { 0, 0, 0, 0, 0, 0, 0.1, 0.6, 2.2, 9.0, 35.9, 121.8, 334.5 } } },
};

/* How much faster the first curve is than the best of the others, in %. */
static double paper_gain(const double *goodput)
{
	double best = goodput[1];
	u32 k;

	for (k = 2; k < CURVES; k++)
		if (goodput[k] > best)
			best = goodput[k];
	return 100 * (goodput[0] / best - 1);
}

static void paper_write(const struct model_run *run, const struct curve *curve,
			double ours[][CURVES], FILE *csv)
{
	double paper[CURVES];
	u32 i, k;

	fputs("bytes", csv);
	for (k = 0; k < CURVES; k++)
		fprintf(csv, ",%s_gbps,paper_gbps", curve[k].name);
	fputs(",gain_percent,paper_percent\n", csv);
	for (i = 0; i < PAPER_SIZES; i++) {
		fprintf(csv, "%" PRIu64, run->sizes[i]);
		for (k = 0; k < CURVES; k++) {
			paper[k] = curve[k].goodput[i];
			fprintf(csv, ",%.3g,", ours[i][k]);
			if (paper[k])
				fprintf(csv, "%.4g", paper[k]);
		}
		fprintf(csv, ",%.0f,", paper_gain(ours[i]));
		/* below a Gb/s its curves cannot be told apart */
		if (paper[0] >= 1)
			fprintf(csv, "%.0f", paper_gain(paper));
		fputc('\n', csv);
	}
}

void model_paper_draw(const struct model_run *run, u32 figure, FILE *csv, FILE *gnuplot)
{
	const struct curve *curve = figures[figure - FIGURE_FIRST];
	double ours[PAPER_SIZES][CURVES];
	struct model_answer answer;
	const struct model_row *row;
	const char *why;
	u32 i, k;

	model_ask(run, &answer, &why);
	for (k = 0; k < CURVES; k++) {
		fprintf(gnuplot, "array_title[%u] = '%s'\n$c%u << EOD\n", k + 1, curve[k].name, k);
		for (i = 0; i < PAPER_SIZES; i++) {
			row = model_row_best(&answer, run, i, curve[k].algorithms);
			ours[i][k] = row->bytes * 8e3 / row->time;
			fprintf(gnuplot, "%" PRIu64 " %g %g\n", row->bytes, ours[i][k],
				curve[k].goodput[i]);
		}
		fputs("EOD\n", gnuplot);
	}
	paper_write(run, curve, ours, csv);
	model_answer_free(&answer);
}

void model_paper_plot(FILE *gnuplot)
{
	u32 k;

	fputs("set logscale y\nset format y '%g'\nset xrange [1024:*]\nset yrange [0.5:1000]\n"
	      "set ylabel 'goodput (Gb/s); circles: what the paper prints'\n", gnuplot);
	for (k = 0; k < CURVES; k++)
		fprintf(gnuplot, "%s$c%u using 1:2 with lines lw 1.5 lc %u title array_title[%u],"
			" $c%u using 1:3 with points pt 6 ps 0.7 lc %u notitle", k ? ", " : "plot ", k,
			k + 1, k + 1, k, k + 1);
	fputs("\n", gnuplot);
}
