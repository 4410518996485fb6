// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plots: the experiments of the papers, and this project's own, as CSV and, by
 * gnuplot, as SVG. A plot is a set of fabrics, the questions about them, and
 * the form in which the answers are drawn.
 */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define FABRICS_MOST	14
#define SIZES		PAPER_SIZES

#define A(name)		(1U << TORCOLL_##name)
#define SWING		(A(SWING_BW) | A(SWING_LAT))
#define TRIVANCE	(A(TRIVANCE_BW) | A(TRIVANCE_LAT))
#define RECDOUB		(A(RECDOUB_LAT) | A(RECDOUB_BW))
#define BRUCK		(A(BRUCK_LAT) | A(BRUCK_BW))
#define HX(side)	{ "64x64", MODEL_HAMMINGMESH, side, .profile = "swing-boards" }
#define HYPERX		{ "64x64", MODEL_HYPERX, .profile = "swing-hyperx" }
#define BASELINES	(A(RING) | A(BUCKET) | A(HAMILTONIAN) | RECDOUB)

/*
 * GOODPUT: a curve per algorithm. SLOWER: their times relative to that of auto.
 * GAIN: of @mine over @others, a curve per fabric; RANGE: a bar per fabric.
 * RELATIVE: times of other families relative to that of @mine. MAP: the best
 * over size and f/e. BESIDE: a paper's own curves, and those of the model.
 */
enum kind { GOODPUT, SLOWER, GAIN, RANGE, RELATIVE, MAP, BESIDE };

struct place {
	const char *dims;
	enum model_topology topology;
	u32 board;
	u32 gbps;			/* 0: the profile's */
	const char *profile;		/* NULL: the plot's */
};

struct plot {
	const char *name;
	const char *title;
	enum kind kind;
	const char *profile;
	u32 mine, others;
	struct place place[FABRICS_MOST];
	u32 figure;			/* BESIDE: of the paper */
};

static const struct plot plots[] = {
	{ "swing-6", "64x64 torus, 400 Gb/s (Swing, figure 6)", GOODPUT, "swing", 0,
	  SWING | BASELINES | A(BIBUCKET), { { "64x64" } } },
	{ "swing-7", "Gain of Swing on square tori (Swing, figure 7)", GAIN, "swing", SWING, BASELINES,
	  { { "8x8" }, { "16x16" }, { "32x32" }, { "64x64" }, { "128x128" } } },
	{ "swing-8", "Gain of Swing on 8x8, by bandwidth (Swing, figure 8)", GAIN, "swing", SWING,
	  BASELINES, { { "8x8", .gbps = 100 }, { "8x8", .gbps = 200 }, { "8x8", .gbps = 400 },
		       { "8x8", .gbps = 800 }, { "8x8", .gbps = 1600 }, { "8x8", .gbps = 3200 } } },
	{ "swing-10", "Gain of Swing on rectangular tori (Swing, figure 10)", GAIN, "swing", SWING,
	  BASELINES, { { "64x16" }, { "128x8" }, { "256x4" } } },
	{ "swing-11", "Gain of Swing on tori of 2, 3 and 4 dimensions (Swing, figure 11)", GAIN, "swing",
	  SWING, BASELINES, { { "8x8" }, { "8x8x8" }, { "8x8x8x8" } } },
	{ "swing-12", "Hx2Mesh, 64x64 nodes in boards of 2x2 (Swing, figure 12)", BESIDE, "swing", SWING,
	  BASELINES, { HX(2) }, 12 },
	{ "swing-13", "Hx4Mesh, 64x64 nodes in boards of 4x4 (Swing, figure 13)", BESIDE, "swing", SWING,
	  BASELINES, { HX(4) }, 13 },
	{ "swing-14", "HyperX, 64x64 nodes (Swing, figure 14)", BESIDE, "swing", SWING, BASELINES,
	  { HYPERX }, 14 },
	{ "swing-15", "Gain of Swing on all networks (Swing, section 5.4 and figure 15)", RANGE, "swing",
	  SWING, BASELINES,
	  { { "8x8" }, { "16x16" }, { "32x32" }, { "64x64" }, { "128x128" }, { "64x16" },
	    { "128x8" }, { "256x4" }, { "8x8x8" }, { "8x8x8x8" },
	    HX(2), HX(4), HYPERX } },
	{ "trivance-ring8", "Times on a ring of 8, to Trivance's", RELATIVE, "trivance", TRIVANCE,
	  SWING | RECDOUB | BRUCK | A(BUCKET) | A(BIBUCKET), { { "8" } } },
	{ "trivance-ring64", "Times on a ring of 64, to Trivance's", RELATIVE, "trivance", TRIVANCE,
	  SWING | RECDOUB | BRUCK | A(BUCKET) | A(BIBUCKET), { { "64" } } },
	{ "trivance-8x8", "Times on 8x8, to Trivance's", RELATIVE, "trivance", TRIVANCE,
	  SWING | RECDOUB | BRUCK | A(BUCKET) | A(BIBUCKET), { { "8x8" } } },
	{ "trivance-32x32", "Times on 32x32, to Trivance's", RELATIVE, "trivance", TRIVANCE,
	  SWING | RECDOUB | BRUCK | A(BUCKET) | A(BIBUCKET), { { "32x32" } } },
	{ "trivance-27x27", "Times on 27x27, to Trivance's", RELATIVE, "trivance", TRIVANCE,
	  SWING | RECDOUB | BRUCK | A(BUCKET) | A(BIBUCKET), { { "27x27" } } },
	{ "kolmakov-127", "127 hosts on a switch, one port of 10 Gb/s each (Kolmakov, P = 127)", GOODPUT,
	  "kolmakov", 0, A(GENERAL) | A(RING) | RECDOUB | A(CIRCULANT), { { "127", MODEL_SWITCH } } },
	{ "auto", "Times on 8x8, to auto's, at torcoll's default rates", SLOWER, "torcoll", 0, TOR_ALGO_MASK_ALL,
	  { { "8x8" } } },
	{ "map", "The best plan on 16x16, by size and by what a hop costs to a round", MAP, "torcoll",
	  0, TOR_ALGO_MASK_ALL, { { "16x16" } } },
};

struct canvas {
	FILE *csv;
	FILE *gnuplot;
	u64 size[SIZES];
	u32 curves;
};

static void set_run(struct model_run *run, const struct plot *p, const struct place *place,
		    const struct canvas *c)
{
	*run = (struct model_run){
		.profile = *model_profile_find(place->profile ? place->profile : p->profile),
		.collective = TORCOLL_ALLREDUCE,
		.algorithms = p->mine | p->others,
		.everything = true,
		.sizes = c->size,
		.nsizes = SIZES,
	};
	if (place->gbps)
		run->profile.rates.link = 8000000 / place->gbps;
	if (!model_fabric_init(&run->fabric, place->dims, place->topology, place->board))
		abort();
	if (place->gbps)
		snprintf(run->fabric.name + strlen(run->fabric.name),
			 sizeof(run->fabric.name) - strlen(run->fabric.name), "-%ug", place->gbps);
}

static void ask(const struct model_run *run, struct model_answer *answer, struct canvas *c)
{
	const char *why;

	model_ask(run, answer, &why);
	model_print(c->csv, MODEL_CSV, run, answer);
}

/* --- curves --- */

static void begin_curve(struct canvas *c, const char *name)
{
	fprintf(c->gnuplot, "array_title[%u] = '%s'\n$c%u << EOD\n", c->curves + 1, name, c->curves);
	c->curves++;
}

static void end_curve(struct canvas *c)
{
	fputs("EOD\n", c->gnuplot);
}

/* Return the other's time divided by mine. */
static double ratio_of(const struct model_row *mine, const struct model_row *other)
{
	return (double)other->time / mine->time;
}

static void draw_algorithms(const struct plot *p, struct canvas *c)
{
	const struct model_row *row;
	struct model_answer answer;
	struct model_run run;
	u32 i, a;

	set_run(&run, p, &p->place[0], c);
	ask(&run, &answer, c);
	for (a = 0; a < TORCOLL_ALGO_COUNT; a++) {
		if (!model_row_find(&answer, &run, 0, a))
			continue;
		begin_curve(c, a ? tor_algorithm_name(a) : "auto");
		for (i = 0; i < SIZES; i++) {
			row = model_row_find(&answer, &run, i, a);
			fprintf(c->gnuplot, "%" PRIu64 " %g\n", row->bytes, p->kind == GOODPUT ?
				row->bytes * 8e3 / row->time :
				ratio_of(model_row_find(&answer, &run, i, 0), row));
		}
		end_curve(c);
	}
	model_answer_free(&answer);
}

static void draw_gains(const struct plot *p, struct canvas *c)
{
	struct model_answer answer;
	struct model_run run;
	u32 i, k;

	for (k = 0; k < FABRICS_MOST && p->place[k].dims; k++) {
		set_run(&run, p, &p->place[k], c);
		ask(&run, &answer, c);
		begin_curve(c, run.fabric.name);
		for (i = 0; i < SIZES; i++)
			fprintf(c->gnuplot, "%" PRIu64 " %g\n", c->size[i], 100 *
				(ratio_of(model_row_best(&answer, &run, i, p->mine),
					  model_row_best(&answer, &run, i, p->others)) - 1));
		end_curve(c);
		model_answer_free(&answer);
	}
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Write place, minimum, quartiles and maximum over the sizes. */
static void draw_ranges(const struct plot *p, struct canvas *c)
{
	struct model_answer answer;
	struct model_run run;
	double gain[SIZES];
	u32 i, k;

	begin_curve(c, "");
	for (k = 0; k < FABRICS_MOST && p->place[k].dims; k++) {
		set_run(&run, p, &p->place[k], c);
		ask(&run, &answer, c);
		for (i = 0; i < SIZES; i++)
			gain[i] = 100 * (ratio_of(model_row_best(&answer, &run, i, p->mine),
						  model_row_best(&answer, &run, i, p->others)) - 1);
		qsort(gain, SIZES, sizeof(gain[0]), compare_double);
		fprintf(c->gnuplot, "%u %g %g %g %g %g %s\n", k, gain[0], gain[SIZES / 4],
			gain[SIZES / 2], gain[3 * SIZES / 4], gain[SIZES - 1], run.fabric.name);
		model_answer_free(&answer);
	}
	end_curve(c);
}

static void draw_relative(const struct plot *p, struct canvas *c)
{
	static const struct {
		const char *name;
		u32 set;
	} families[] = {
		{ "Trivance", TRIVANCE }, { "Bruck", BRUCK }, { "Swing", SWING },
		{ "recursive doubling", RECDOUB }, { "bucket", A(BUCKET) }, { "bibucket", A(BIBUCKET) },
	};
	struct model_answer answer;
	struct model_run run;
	u32 i, k;

	set_run(&run, p, &p->place[0], c);
	ask(&run, &answer, c);
	for (k = 0; k < ARRAY_SIZE(families); k++) {
		if (!model_row_best(&answer, &run, 0, families[k].set))
			continue;
		begin_curve(c, families[k].name);
		for (i = 0; i < SIZES; i++)
			fprintf(c->gnuplot, "%" PRIu64 " %g\n", c->size[i],
				ratio_of(model_row_best(&answer, &run, i, p->mine),
					 model_row_best(&answer, &run, i, families[k].set)));
		end_curve(c);
	}
	model_answer_free(&answer);
}

/* --- the map --- */

#define MAP_SIZES	25		/* 32 bytes to 512 MiB, times 2 */
#define MAP_RATIOS	17		/* f/e from 1/256 to 256^0 ... 16, in steps of 2^(3/4) */

/*
 * Return the colour of a family; families are numbered in order of appearance.
 */
static u32 colour_of(u32 algorithm, u32 *known, u32 *n)
{
	u32 i;

	for (i = 0; i < *n; i++)
		if (known[i] == algorithm)
			return i;
	known[(*n)++] = algorithm;
	return i;
}

static void draw_map(const struct plot *p, struct canvas *c)
{
	u32 known[TORCOLL_ALGO_COUNT], n = 0, i, k, best[MAP_RATIOS][MAP_SIZES];
	struct model_answer answer;
	u64 size[MAP_SIZES];
	const char *why;
	struct model_run run;
	double ratio = 1. / 256;

	for (i = 0; i < MAP_SIZES; i++)
		size[i] = 32ULL << i;
	for (k = 0; k < MAP_RATIOS; k++, ratio *= 1.6817928305) {
		set_run(&run, p, &p->place[0], c);
		run.sizes = size;
		run.nsizes = MAP_SIZES;
		run.profile.rates.f = run.profile.rates.e * ratio;
		snprintf(run.fabric.name, sizeof(run.fabric.name), "%s-f/e=%.4f", p->place[0].dims,
			 ratio);
		model_ask(&run, &answer, &why);
		model_print_auto(c->csv, &run, &answer);
		for (i = 0; i < MAP_SIZES; i++)
			best[k][i] = colour_of(model_row_find(&answer, &run, i, 0)->offer->algorithm,
					       known, &n);
		model_answer_free(&answer);
	}
	for (i = 0; i < n; i++) {
		begin_curve(c, tor_algorithm_name(known[i]));
		for (k = 0; k < MAP_RATIOS * MAP_SIZES; k++)
			if (best[k / MAP_SIZES][k % MAP_SIZES] == i)
				fprintf(c->gnuplot, "%u %g\n", k % MAP_SIZES,
					-8 + 0.75 * (k / MAP_SIZES));
		end_curve(c);
	}
}

/* --- gnuplot --- */

static void begin_script(const struct plot *p, struct canvas *c, const char *svg)
{
	fprintf(c->gnuplot,
		"set terminal svg size 860,520 font 'sans-serif,13' background '#ffffff'\n"
		"set output '%s'\nset title \"%s\"\nset grid\nset key outside right\n"
		"array array_title[40]\n", svg, p->title);
	if (p->kind != RANGE && p->kind != MAP)
		fputs("set logscale x 2\nset xlabel 'bytes of the vector'\n"
		      "set xtics ('32' 32, '512' 512, '8K' 8192, '128K' 131072, '2M' 2097152,"
		      " '32M' 33554432, '512M' 536870912)\n", c->gnuplot);
}

static void end_script(const struct plot *p, struct canvas *c)
{
	static const char *const axes[] = {
		[GOODPUT] = "set logscale y\nset format y '%g'\nset ylabel 'goodput (Gb/s)'\n",
		[SLOWER] = "set logscale y 2\nset yrange [0.9:16]\nset format y '%g'\n"
			   "set ylabel 'time, to that of auto'\n",
		[GAIN] = "set ylabel 'gain over the best of the others (%)'\nset xzeroaxis lt -1\n",
		[RANGE] = "set ylabel 'gain over the best of the others, all sizes (%)'\n"
			  "set xtics rotate by -40\nset xzeroaxis lt -1\nunset key\nset style fill solid 0.4\n"
			  "set boxwidth 0.5\n",
		[RELATIVE] = "set logscale y 2\nset format y '%g'\n"
			     "set ylabel 'time, to that of the best form of Trivance'\n",
		[MAP] = "set ylabel 'f/e: a hop to a round'\nset xlabel 'bytes of the vector'\n"
			"set xrange [-0.5:24.5]\nset yrange [-8.4:4.4]\nunset grid\n"
			"set xtics ('32' 0, '512' 4, '8K' 8, '128K' 12, '2M' 16, '32M' 20, '512M' 24)\n"
			"set ytics ('1/256' -8, '1/64' -6, '1/16' -4, '1/4' -2, '1' 0, '4' 2, '16' 4)\n",
	};
	u32 i;

	if (p->kind == BESIDE) {
		model_paper_plot(c->gnuplot);
		return;
	}
	fputs(axes[p->kind], c->gnuplot);
	if (p->kind == RANGE) {
		fputs("set xrange [-1:13]\nset bmargin 6\nplot $c0 using 1:3:2:6:5:xtic(7) with candlesticks whiskerbars lw 1.5,"
		      " $c0 using 1:4:4:4:4 with candlesticks lt -1 lw 2\n", c->gnuplot);
		return;
	}
	for (i = 0; i < c->curves; i++)
		fprintf(c->gnuplot, "%s$c%u using 1:2 with %s dt %u title array_title[%u]",
			i ? ", " : "plot ", i,
			p->kind == MAP ? "points pt 5 ps 2.1" : "linespoints lw 1.5 ps 0.6",
			i / 8 + 1, i + 1);
	fputs("\n", c->gnuplot);
}

static void draw(const struct plot *p, struct canvas *c)
{
	struct model_run run;

	switch (p->kind) {
	case GOODPUT:
	case SLOWER:
		draw_algorithms(p, c);
		break;
	case GAIN:
		draw_gains(p, c);
		break;
	case RANGE:
		draw_ranges(p, c);
		break;
	case RELATIVE:
		draw_relative(p, c);
		break;
	case MAP:
		draw_map(p, c);
		break;
	case BESIDE:
		set_run(&run, p, &p->place[0], c);
		model_paper_draw(&run, p->figure, c->csv, c->gnuplot);
		break;
	}
}

static bool make_plot(const struct plot *p, const char *dir)
{
	char name[32], path[4096];
	char *command[3] = { NULL, "plot", name };
	struct canvas c = { 0 };
	u32 i;

	for (i = 0; i < SIZES; i++)
		c.size[i] = 32ULL << 2 * i;
	snprintf(name, sizeof(name), "%s", p->name);
	snprintf(path, sizeof(path), "%s/%s.csv", dir, p->name);
	c.csv = fopen(path, "w");
	if (!c.csv) {
		perror(path);
		return false;
	}
	c.gnuplot = popen("gnuplot", "w");
	if (!c.gnuplot) {
		perror("gnuplot");
		fclose(c.csv);
		return false;
	}
	snprintf(path, sizeof(path), "%s/%s.svg", dir, p->name);
	begin_script(p, &c, path);
	if (p->kind != BESIDE)
		model_print_head(c.csv, MODEL_CSV, 3, command);
	draw(p, &c);
	end_script(p, &c);
	if (pclose(c.gnuplot)) {
		fprintf(stderr, "torcoll-sim: gnuplot failed on %s\n", p->name);
		fclose(c.csv);
		return false;
	}
	return !fclose(c.csv);
}

int model_plot(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "list", *dir = argc > 1 ? argv[1] : ".";
	bool list = !strcmp(name, "list"), any = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(plots); i++) {
		if (list)
			printf("%-16s %s\n", plots[i].name, plots[i].title);
		else if (strcmp(name, "all") && strcmp(name, plots[i].name))
			continue;
		else if (!make_plot(&plots[i], dir))
			return 1;
		any = true;
	}
	if (!any)
		fprintf(stderr, "torcoll-sim: no such plot: %s (try list)\n", name);
	return any ? 0 : 2;
}
