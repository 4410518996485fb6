// SPDX-License-Identifier: GPL-2.0 OR MIT
/* torcoll-sim --engine model: options. */
#include "model.h"

#include <getopt.h>
#include <stdlib.h>

#define SIZES_MOST	64

enum {
	OPT_ENGINE = 256, OPT_PROFILE, OPT_DIMS, OPT_SIZES, OPT_ALGORITHM, OPT_COLLECTIVE, OPT_FORMAT,
	OPT_TOPOLOGY, OPT_BOARD,
};

static const struct option options[] = {
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "dims", required_argument, NULL, OPT_DIMS },
	{ "sizes", required_argument, NULL, OPT_SIZES },
	{ "algorithm", required_argument, NULL, OPT_ALGORITHM },
	{ "collective", required_argument, NULL, OPT_COLLECTIVE },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "board", required_argument, NULL, OPT_BOARD },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

void model_usage(FILE *to)
{
	fputs("usage: torcoll-sim --engine model [options]\n"
	      "       torcoll-sim plot NAME [DIRECTORY]\n"
	      "What collectives take on fabrics of any size, by the model that `auto` chooses by.\n"
	      "\n"
	      "  --profile P        torcoll (default), swing, swing-boards, swing-hyperx, trivance, kolmakov: how\n"
	      "                     fast, as in those papers\n"
	      "  --dims 8x8,27x27   shapes (8x8)\n"
	      "  --sizes 32:512M:x4 bytes: from, to, factor (default); or a list 2K,1M\n"
	      "  --algorithm A,B    all (default) or some\n"
	      "  --collective C     allreduce (default), ...\n"
	      "  --topology T       torus (default), hammingmesh, hyperx, switch\n"
	      "  --board N          side of a HammingMesh's boards (2)\n"
	      "  --format F         table (default), csv, json\n"
	      "\n"
	      "Plots: torcoll-sim plot list\n"
	      "Exit status: 0 done, 2 usage, 3 no algorithm can serve this.\n", to);
}

static void refuse(const char *what, const char *value)
{
	fprintf(stderr, "torcoll-sim: bad %s: %s (--help says more)\n", what, value);
	exit(2);
}

struct question {
	struct model_run run;
	char *dims;
	enum model_topology topology;
	u32 board;
	enum model_format format;
	u64 size[SIZES_MOST];
};

/* Parse 32, 64K, 512M, 1G; @end points behind it. */
static u64 parse_size(const char *s, char **end)
{
	u64 n = strtoull(s, end, 10);
	u32 shift = 0;

	if (*s < '0' || *s > '9')
		refuse("size", s);
	switch (**end) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	*end += shift > 0;
	if (n > 1ULL << 40 >> shift)
		refuse("size", s);
	return n << shift;
}

static void add_size(struct question *q, u64 bytes)
{
	if (q->run.nsizes == SIZES_MOST)
		refuse("number of sizes", "more than 64");
	q->size[q->run.nsizes++] = bytes;
}

static void parse_sizes(struct question *q, const char *s)
{
	u64 from, to, factor = 4;
	char *end;

	q->run.nsizes = 0;
	from = parse_size(s, &end);
	add_size(q, from);
	if (*end == ':') {
		to = parse_size(end + 1, &end);
		if (*end == ':' && end[1] == 'x')
			factor = strtoul(end + 2, &end, 10);
		if (*end || factor < 2 || !from || to < from)
			refuse("sizes", s);
		for (from *= factor; from <= to; from *= factor)
			add_size(q, from);
		return;
	}
	while (*end == ',')
		add_size(q, parse_size(end + 1, &end));
	if (*end)
		refuse("sizes", s);
}

static void parse_algorithms(struct question *q, char *s)
{
	char *name;
	int a;

	q->run.everything = !strcmp(s, "all");
	q->run.algorithms = q->run.everything ? TOR_ALGO_MASK_ALL : 0;
	while (!q->run.everything && (name = strsep(&s, ","))) {
		a = tor_algorithm_parse(name);
		if (a <= 0 || !tor_algorithm_serves(a))
			refuse("algorithm", name);
		q->run.algorithms |= 1U << a;
	}
}

static void parse_topology(struct question *q, const char *s)
{
	if (!strcmp(s, "torus"))
		q->topology = MODEL_TORUS;
	else if (!strcmp(s, "switch"))
		q->topology = MODEL_SWITCH;
	else if (!strcmp(s, "hammingmesh"))
		q->topology = MODEL_HAMMINGMESH;
	else if (!strcmp(s, "hyperx"))
		q->topology = MODEL_HYPERX;
	else
		refuse("topology", s);
}

static void parse_format(struct question *q, const char *s)
{
	if (!strcmp(s, "table"))
		q->format = MODEL_TABLE;
	else if (!strcmp(s, "csv"))
		q->format = MODEL_CSV;
	else if (!strcmp(s, "json"))
		q->format = MODEL_JSON;
	else
		refuse("format", s);
}

static void parse(struct question *q, int c)
{
	const struct model_profile *profile;
	int n;

	switch (c) {
	case OPT_ENGINE:
		break;
	case OPT_PROFILE:
		profile = model_profile_find(optarg);
		if (!profile)
			refuse("profile", optarg);
		q->run.profile = *profile;
		break;
	case OPT_DIMS:
		q->dims = optarg;
		break;
	case OPT_SIZES:
		parse_sizes(q, optarg);
		break;
	case OPT_ALGORITHM:
		parse_algorithms(q, optarg);
		break;
	case OPT_COLLECTIVE:
		n = tor_collective_parse(optarg);
		if (n <= 0)
			refuse("collective", optarg);
		q->run.collective = n;
		break;
	case OPT_FORMAT:
		parse_format(q, optarg);
		break;
	case OPT_TOPOLOGY:
		parse_topology(q, optarg);
		break;
	case OPT_BOARD:
		q->board = atoi(optarg);
		break;
	case 'h':
		model_usage(stdout);
		exit(0);
	default:
		model_usage(stderr);
		exit(2);
	}
}

static bool answer_one(struct question *q, const char *dims)
{
	struct model_answer answer;
	const char *why = NULL;
	bool any;

	if (!model_fabric_init(&q->run.fabric, dims, q->topology, q->board))
		refuse("dims", dims);
	model_ask(&q->run, &answer, &why);
	any = answer.rows;
	if (any)
		model_print(stdout, q->format, &q->run, &answer);
	else
		fprintf(stderr, "torcoll-sim: %s: %s\n", dims, why);
	model_answer_free(&answer);
	return any;
}

bool model_wanted(int argc, char **argv)
{
	int i;

	if (argc > 1 && !strcmp(argv[1], "plot"))
		return true;
	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--engine=model") ||
		    (!strcmp(argv[i], "--engine") && i + 1 < argc && !strcmp(argv[i + 1], "model")))
			return true;
	return false;
}

int model_main(int argc, char **argv)
{
	struct question *q = model_alloc(1, sizeof(*q));
	char all[] = "all", square[] = "8x8", *dims;
	bool served = true;
	int c;

	if (argc > 1 && !strcmp(argv[1], "plot")) {
		free(q);
		return model_plot(argc - 2, argv + 2);
	}
	q->dims = square;
	q->board = 2;
	q->run.collective = TORCOLL_ALLREDUCE;
	q->run.profile = *model_profile_find("torcoll");
	q->run.sizes = q->size;
	parse_sizes(q, "32:512M:x4");
	parse_algorithms(q, all);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		parse(q, c);
	if (optind < argc)
		refuse("argument", argv[optind]);
	model_print_head(stdout, q->format, argc, argv);
	while ((dims = strsep(&q->dims, ",")))
		served &= answer_one(q, dims);
	free(q);
	return served ? 0 : 3;
}
