// SPDX-License-Identifier: GPL-2.0 OR MIT
/* torcoll-sim --engine model and --engine both: options. */
#include "model.h"
#include "sim.h"

#include "core/wire/wire.h"

#include <getopt.h>
#include <stdlib.h>

#define SIZES_MOST	64
#define BOTH_BYTES	(1ULL << 30)	/* of the vectors that are simulated at a time */

enum {
	OPT_ENGINE = 256, OPT_PROFILE, OPT_DIMS, OPT_SIZES, OPT_ALGORITHM, OPT_COLLECTIVE, OPT_FORMAT,
	OPT_TOPOLOGY, OPT_BOARD, OPT_RATE, OPT_DELAY, OPT_FRAME_SIZE, OPT_IN_ORDER,
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
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "frame-size", required_argument, NULL, OPT_FRAME_SIZE },
	{ "in-order", no_argument, NULL, OPT_IN_ORDER },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

void model_usage(FILE *to)
{
	fputs("usage: torcoll-sim --engine model|both [options]\n"
	      "       torcoll-sim plot NAME [DIRECTORY]\n"
	      "What collectives take on fabrics of any size, by the model that `auto` chooses by; both:\n"
	      "beside what simulated frames take on cables and hosts as the model assumes them.\n"
	      "\n"
	      "  --profile P        torcoll (default), swing, swing-boards, swing-hyperx, trivance, kolmakov: how\n"
	      "                     fast, as in those papers\n"
	      "  --dims 8x8,27x27   shapes (8x8)\n"
	      "  --sizes 32:512M:x4 bytes: from, to, factor (default; both: 1536,1200K); or a list 2K,1M\n"
	      "  --algorithm A,B    all (default) or some\n"
	      "  --collective C     allreduce (default), ...\n"
	      "  --topology T       torus (default), hammingmesh, hyperx, switch\n"
	      "  --board N          side of a HammingMesh's boards (2)\n"
	      "  --format F         table (default), csv, json\n"
	      "With --engine both, instead of a profile, on tori only:\n"
	      "  --rate MBPS        of cables (25000)\n"
	      "  --delay NS         of cables (5000)\n"
	      "  --frame-size N     bytes of a frame behind the MAC header (9000)\n"
	      "  --in-order         acknowledgements wait for the data ahead of them in a port\n"
	      "\n"
	      "Plots: torcoll-sim plot list\n"
	      "Exit status: 0 done, 1 a simulated op failed, 2 usage, 3 no algorithm can serve this.\n",
	      to);
}

static void refuse(const char *what, const char *value)
{
	fprintf(stderr, "torcoll-sim: bad %s: %s (--help says more)\n", what, value);
	exit(2);
}

struct question {
	struct model_run run;
	bool both;
	struct model_cable cable;
	bool cable_set;
	bool profile_set;
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

static u64 parse_number(const char *what, u64 least, u64 most)
{
	char *end;
	u64 n = strtoull(optarg, &end, 10);

	if (*optarg < '0' || *optarg > '9' || *end || n < least || n > most)
		refuse(what, optarg);
	return n;
}

static bool parse_cable(struct question *q, int c)
{
	switch (c) {
	case OPT_RATE:
		q->cable.rate = parse_number("rate", 1, 1000000);
		break;
	case OPT_DELAY:
		q->cable.delay = parse_number("delay", 0, NSEC_PER_SEC);
		break;
	case OPT_FRAME_SIZE:
		q->cable.frame_size = parse_number("frame size", TOR_WIRE_FRAME_MIN, 65535);
		break;
	case OPT_IN_ORDER:
		q->cable.in_order = true;
		break;
	default:
		return false;
	}
	q->cable_set = true;
	return true;
}

static void parse(struct question *q, int c)
{
	const struct model_profile *profile;
	int n;

	if (parse_cable(q, c))
		return;
	switch (c) {
	case OPT_ENGINE:
		q->both = !strcmp(optarg, "both");
		break;
	case OPT_PROFILE:
		profile = model_profile_find(optarg);
		if (!profile)
			refuse("profile", optarg);
		q->run.profile = *profile;
		q->profile_set = true;
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

/* Return whether frames took all plans to their end. */
static bool simulate(const struct question *q, const struct model_answer *answer)
{
	const struct model_row *r;
	bool good = true;
	u64 ns;

	for (r = answer->row; r < answer->row + answer->rows; r++) {
		if (r->is_auto)
			continue;
		ns = model_frames_run(&q->run, &q->cable, r);
		if (ns)
			model_print_frames(stdout, q->format, &q->run, r, ns);
		good &= ns > 0;
	}
	return good;
}

/* Refuse what takes more memory than a computer has, or has no links to simulate. */
static void check_memory(const struct question *q, const char *dims)
{
	const u64 nodes = q->run.fabric.torus.nodes;
	u32 i;

	if (nodes < 2 || nodes > SIM_NODES_MAX)
		refuse("dims for --engine both", dims);
	for (i = 0; i < q->run.nsizes; i++)
		if (nodes * q->run.sizes[i] > BOTH_BYTES)
			refuse("sizes for --engine both", "the vectors of all nodes are longer than 1 GiB");
}

/* Return an exit code. */
static int answer_one(struct question *q, const char *dims)
{
	struct model_answer answer;
	const char *why = NULL;
	int code = 0;

	if (!model_fabric_init(&q->run.fabric, dims, q->topology, q->board))
		refuse("dims", dims);
	if (q->both)
		check_memory(q, dims);
	model_ask(&q->run, &answer, &why);
	if (!answer.rows) {
		fprintf(stderr, "torcoll-sim: %s: %s\n", dims, why);
		code = 3;
	} else if (q->both) {
		code = simulate(q, &answer) ? 0 : 1;
	} else {
		model_print(stdout, q->format, &q->run, &answer);
	}
	model_answer_free(&answer);
	return code;
}

/* Refuse options that the engine does not have. */
static void check_engine(const struct question *q)
{
	if (!q->both && q->cable_set)
		refuse("engine", "cables are those of --engine both");
	if (q->both && q->profile_set)
		refuse("profile", "the rates of --engine both are those of its cables");
	if (q->both && q->topology != MODEL_TORUS)
		refuse("topology", "the hosts of --engine both are cabled to each other");
}

static bool engine_wanted(const char *name)
{
	return !strcmp(name, "model") || !strcmp(name, "both");
}

bool model_wanted(int argc, char **argv)
{
	int i;

	if (argc > 1 && !strcmp(argv[1], "plot"))
		return true;
	for (i = 1; i < argc; i++)
		if ((!strncmp(argv[i], "--engine=", 9) && engine_wanted(argv[i] + 9)) ||
		    (!strcmp(argv[i], "--engine") && i + 1 < argc && engine_wanted(argv[i + 1])))
			return true;
	return false;
}

int model_main(int argc, char **argv)
{
	struct question *q = model_alloc(1, sizeof(*q));
	char all[] = "all", square[] = "8x8", *dims;
	int c, code = 0;

	if (argc > 1 && !strcmp(argv[1], "plot")) {
		free(q);
		return model_plot(argc - 2, argv + 2);
	}
	q->dims = square;
	q->board = 2;
	q->run.collective = TORCOLL_ALLREDUCE;
	q->run.profile = *model_profile_find("torcoll");
	q->cable = (struct model_cable){ .rate = 25000, .delay = 5000, .frame_size = 9000 };
	q->run.sizes = q->size;
	parse_algorithms(q, all);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		parse(q, c);
	if (optind < argc)
		refuse("argument", argv[optind]);
	check_engine(q);
	if (!q->run.nsizes)
		parse_sizes(q, q->both ? "1536,1200K" : "32:512M:x4");
	if (q->both) {
		q->run.profile.rates = model_cable_rates(&q->cable);
		model_frames_begin();
		model_print_frames_head(stdout, q->format);
	} else {
		model_print_head(stdout, q->format, argc, argv);
	}
	while ((dims = strsep(&q->dims, ",")))
		code = max(code, answer_one(q, dims));
	free(q);
	return code;
}
