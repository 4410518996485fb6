// SPDX-License-Identifier: GPL-2.0 OR MIT
/* torcoll-sim: runs seeds, and prints the failures. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "sim.h"
#include "core/reduce/host_isa.h"
#include "core/version.h"

struct sim_options sim_options = {
	.count = -1,
	.loss = -1,
	.duplicate = -1,
	.reorder = -1,
	.corrupt = -1,
	.no_fpu = -1,
	.no_memory = -1,
	.late_payload = -1,
	.packets = -1,
	.limit = 120 * (u64)NSEC_PER_SEC,
};

/* The task for the seeds. */
static u64 first = 1, seeds = 1;
static u32 jobs = 1;
static bool cover, show, minimise;
static const char *scenario_file;

static void print_usage(FILE *to)
{
	fputs("usage: torcoll-sim [--engine core] [options]\n"
	      "Simulates whole fabrics of torcoll cores on a virtual clock and checks what they do.\n"
	      "What is not given is drawn from the seed.\n"
	      "\n"
	      "  --seeds N        run N seeds (1)\n"
	      "  --first S        from seed S on (1)\n"
	      "  --jobs N         on N processors (1)\n"
	      "  --stop           at the first seed that fails\n"
	      "  --cover          demand that every fault class was met by enough seeds\n"
	      "  --trace          print what happens\n"
	      "  --show           print the scenario of the first seed, and run nothing\n"
	      "  --scenario FILE  run this scenario instead of seeds\n"
	      "  --minimise       make a smaller scenario that fails like the first seed, and print it\n"
	      "  --check-all      look at all nodes after every event, not only at the one concerned\n"
	      "  --limit S        virtual seconds until a run counts as stuck (120)\n"
	      "  --clean          nothing goes wrong: nothing may be sent twice\n"
	      "  --without C,...  without these fault classes\n"
	      "  --dims 4x4       shape\n"
	      "  --cables 1|2     between the nodes of a side of 2\n"
	      "  --per-link 1..4  cables of each link\n"
	      "  --collective C   allreduce, reduce-scatter, ...\n"
	      "  --algorithm A    swing-bw, bibucket, ...\n"
	      "  --type T         i8 ... u64, f16, bf16, f32, f64\n"
	      "  --redop O        sum, prod, min, max, band, ...\n"
	      "  --count N        elements of a vector\n"
	      "  --ops N          ops per rank\n"
	      "  --depth N        ops in flight per rank\n"
	      "  --frame-size N   bytes of a frame behind the MAC header\n"
	      "  --packets N      of network devices, sent by all nodes together\n"
	      "  --loss P, --duplicate P, --reorder P, --corrupt P\n"
	      "                   what a cable does to a frame, with probability P\n"
	      "  --no-fpu P, --no-memory P, --late-payload P\n"
	      "                   FPU not usable, no memory, payload read on arrival\n"
	      "  -V, --version; -h, --help\n"
	      "\n"
	      "Exit status: 0 all passed, 1 some failed, 2 usage.\n", to);
}

enum {
	OPT_ENGINE = 256, OPT_SEEDS, OPT_FIRST, OPT_JOBS, OPT_STOP, OPT_COVER, OPT_TRACE, OPT_SHOW,
	OPT_SCENARIO, OPT_MINIMISE, OPT_CHECK_ALL, OPT_LIMIT, OPT_CLEAN, OPT_WITHOUT, OPT_DIMS,
	OPT_CABLES, OPT_PER_LINK, OPT_COLLECTIVE, OPT_ALGORITHM, OPT_TYPE, OPT_REDOP, OPT_COUNT, OPT_OPS,
	OPT_DEPTH, OPT_FRAME_SIZE, OPT_LOSS, OPT_DUPLICATE, OPT_REORDER, OPT_CORRUPT, OPT_NO_FPU,
	OPT_NO_MEMORY, OPT_LATE_PAYLOAD, OPT_PACKETS,
};

static const struct option options[] = {
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "stop", no_argument, NULL, OPT_STOP },
	{ "cover", no_argument, NULL, OPT_COVER },
	{ "trace", no_argument, NULL, OPT_TRACE },
	{ "show", no_argument, NULL, OPT_SHOW },
	{ "scenario", required_argument, NULL, OPT_SCENARIO },
	{ "minimise", no_argument, NULL, OPT_MINIMISE },
	{ "check-all", no_argument, NULL, OPT_CHECK_ALL },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "clean", no_argument, NULL, OPT_CLEAN },
	{ "without", required_argument, NULL, OPT_WITHOUT },
	{ "dims", required_argument, NULL, OPT_DIMS },
	{ "cables", required_argument, NULL, OPT_CABLES },
	{ "per-link", required_argument, NULL, OPT_PER_LINK },
	{ "collective", required_argument, NULL, OPT_COLLECTIVE },
	{ "algorithm", required_argument, NULL, OPT_ALGORITHM },
	{ "type", required_argument, NULL, OPT_TYPE },
	{ "redop", required_argument, NULL, OPT_REDOP },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "ops", required_argument, NULL, OPT_OPS },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "frame-size", required_argument, NULL, OPT_FRAME_SIZE },
	{ "loss", required_argument, NULL, OPT_LOSS },
	{ "duplicate", required_argument, NULL, OPT_DUPLICATE },
	{ "reorder", required_argument, NULL, OPT_REORDER },
	{ "corrupt", required_argument, NULL, OPT_CORRUPT },
	{ "no-fpu", required_argument, NULL, OPT_NO_FPU },
	{ "no-memory", required_argument, NULL, OPT_NO_MEMORY },
	{ "late-payload", required_argument, NULL, OPT_LATE_PAYLOAD },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void refuse(const char *what)
{
	fprintf(stderr, "torcoll-sim: bad %s: %s (--help says more)\n", what, optarg);
	exit(2);
}

static s64 number(const char *what, s64 least, s64 most)
{
	char *end;
	s64 n;

	errno = 0;
	n = strtoll(optarg, &end, 0);
	if (errno || end == optarg || *end || n < least || n > most)
		refuse(what);
	return n;
}

/* Parse a probability, in millionths. */
static s64 probability(const char *what)
{
	char *end;
	double p = strtod(optarg, &end);

	/* less than a millionth would be none */
	if (end == optarg || *end || !(p >= 0 && p <= 1) || (p > 0 && p * SIM_MILLION < 1))
		refuse(what);
	return p * SIM_MILLION;
}

static int known(const char *what, int value)
{
	if (value <= 0)
		refuse(what);
	return value;
}

static void parse_classes(void)
{
	char *name;
	int class;

	for (name = strtok(optarg, ","); name; name = strtok(NULL, ",")) {
		class = sim_class_parse(name);
		if (class < 0) {
			optarg = name;
			refuse("fault class");
		}
		sim_options.without |= 1U << class;
	}
}

/* Parse options that select the task. */
static bool parse_task(int c)
{
	switch (c) {
	case OPT_ENGINE:
		if (strcmp(optarg, "core"))
			refuse("engine");
		return true;
	case OPT_SEEDS:
		seeds = number("number of seeds", 1, LLONG_MAX);
		return true;
	case OPT_FIRST:
		first = number("seed", 0, LLONG_MAX);
		return true;
	case OPT_JOBS:
		jobs = number("number of jobs", 1, 1024);
		return true;
	case OPT_STOP:
		sim_options.stop = true;
		return true;
	case OPT_COVER:
		cover = true;
		return true;
	case OPT_TRACE:
		sim_options.trace = true;
		return true;
	case OPT_SHOW:
		show = true;
		return true;
	case OPT_SCENARIO:
		scenario_file = optarg;
		return true;
	case OPT_MINIMISE:
		minimise = true;
		return true;
	case OPT_CHECK_ALL:
		sim_options.check_all = true;
		return true;
	case OPT_LIMIT:
		sim_options.limit = number("limit", 1, 1 << 30) * NSEC_PER_SEC;
		return true;
	default:
		return false;
	}
}

static bool parse_fault(int c)
{
	struct sim_options *o = &sim_options;

	switch (c) {
	case OPT_CLEAN:
		o->clean = true;
		return true;
	case OPT_WITHOUT:
		parse_classes();
		return true;
	case OPT_LOSS:
		o->loss = probability("probability of loss");
		return true;
	case OPT_DUPLICATE:
		o->duplicate = probability("probability of duplication");
		return true;
	case OPT_REORDER:
		o->reorder = probability("probability of reordering");
		return true;
	case OPT_CORRUPT:
		o->corrupt = probability("probability of corruption");
		return true;
	case OPT_NO_FPU:
		o->no_fpu = probability("probability of no FPU");
		return true;
	case OPT_NO_MEMORY:
		o->no_memory = probability("probability of no memory");
		return true;
	case OPT_LATE_PAYLOAD:
		o->late_payload = probability("probability of a late payload");
		return true;
	default:
		return false;
	}
}

static bool parse_call(int c)
{
	struct sim_options *o = &sim_options;

	switch (c) {
	case OPT_DIMS:
		o->dims = optarg;
		return true;
	case OPT_CABLES:
		o->cables = number("number of cables", 1, 2);
		return true;
	case OPT_PER_LINK:
		o->per_link = number("number of cables per link", 1, TOR_LINK_CABLES);
		return true;
	case OPT_COLLECTIVE:
		o->collective = known("collective", tor_collective_parse(optarg));
		if (!sim_value_knows(o->collective))
			refuse("collective (its results are not checked here)");
		return true;
	case OPT_ALGORITHM:
		o->algorithm = known("algorithm", tor_algorithm_parse(optarg));
		return true;
	case OPT_TYPE:
		o->type = known("type", sim_type_parse(optarg));
		return true;
	case OPT_REDOP:
		o->redop = known("operator", sim_redop_parse(optarg));
		return true;
	case OPT_COUNT:
		o->count = number("count", 0, 1LL << 32);
		return true;
	case OPT_OPS:
		o->calls = number("number of ops", 1, SIM_CALLS_MAX);
		return true;
	case OPT_DEPTH:
		o->depth = number("depth", 1, 1024);
		return true;
	case OPT_FRAME_SIZE:
		o->frame_size = number("frame size", 384, 65535);
		return true;
	case OPT_PACKETS:
		o->packets = number("number of packets", 0, 1 << 24);
		return true;
	default:
		return false;
	}
}

static void parse(int c)
{
	if (parse_task(c) || parse_fault(c) || parse_call(c))
		return;
	switch (c) {
	case 'V':
		puts("torcoll-sim " TOR_VERSION);
		exit(0);
	case 'h':
		print_usage(stdout);
		putchar('\n');
		model_usage(stdout);
		exit(0);
	default:
		print_usage(stderr);
		exit(2);
	}
}

/* Print, minimise or run one scenario. */
static int run_one(struct sim_scenario *s)
{
	if (show) {
		sim_scenario_write(s, stdout);
		return 0;
	}
	if (minimise) {
		if (!sim_minimise(s)) {
			puts("it passes");
			return 0;
		}
		sim_scenario_write(s, stdout);
		return 1;
	}
	sim.scenario = *s;
	sim_run();
	sim_report(&sim.totals);
	if (sim.failed)
		printf("FAILED %s\n", sim.why);
	else
		puts("passed");
	return sim.failed;
}

static int run_seeds(void)
{
	static struct sim_totals totals;
	s64 failed = sim_workers_run(first, seeds, jobs, &totals);
	u32 missing;

	if (failed < 0)
		return 2;
	sim_report(&totals);
	missing = sim_report_asked(&totals);
	if (cover)
		missing += sim_report_cover(&totals);
	printf("%llu passed, %lld failed\n", (unsigned long long)totals.passed,
	       (long long)failed + missing);
	return failed + missing ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct sim_scenario s;
	enum tor_isa isa;
	int c;

	if (model_wanted(argc, argv))
		return model_main(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt_long(argc, argv, "Vh", options, NULL)) != -1)
		parse(c);
	if (optind < argc) {
		fprintf(stderr, "torcoll-sim: what is \"%s\"? (--help says more)\n", argv[optind]);
		return 2;
	}
	for (isa = TOR_ISA_COUNT - 1; isa && !host_has_isa(isa); isa--)
		;
	tor_reduce_init(isa);
	if (!scenario_file && !show && !minimise)
		return run_seeds();
	if (scenario_file ? !sim_scenario_read(&s, scenario_file) : !sim_scenario_draw(&s, first))
		return 2;
	return run_one(&s);
}
