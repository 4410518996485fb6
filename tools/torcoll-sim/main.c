// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * torcoll-sim: seeds in, what failed out.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "model.h"
#include "sim.h"
#include "version.h"

#define QUIET	(3 * (u64)NSEC_PER_SEC)	/* in which nothing but hellos may be sent at the end */

struct sim sim;

struct sim_options sim_options = {
	.first = 1,
	.seeds = 1,
	.count = -1,
	.loss = -1,
	.duplicate = -1,
	.reorder = -1,
	.corrupt = -1,
	.no_fpu = -1,
	.no_memory = -1,
	.late_payload = -1,
	.misdeed = -1,
	.faults = true,
	.limit = 600 * (u64)NSEC_PER_SEC,
};

void sim_trace(const struct sim_node *node, const char *format, ...)
{
	va_list args;

	if (!sim_options.trace)
		return;
	printf("%12.3f us  node %-3u ", (sim.now - NSEC_PER_SEC) / 1e3, node->core.self);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(const char *format, ...)
{
	va_list args;

	if (!sim.failed) {
		sim_scenario_print(&sim.scenario);
		printf("  FAILED at %.3f us: ", (sim.now - NSEC_PER_SEC) / 1e3);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		putchar('\n');
	}
	sim.failed = true;
}

static void run_until_done(void)
{
	u64 start = sim.now;

	while (!sim.failed && !sim_ranks_finished()) {
		if (!sim_step() || sim.now - start > sim_options.limit) {
			sim_fail("stuck");
			sim_ranks_describe();
		}
	}
	sim.totals.virtual_time += sim.now - start;
}

/* What is under way arrives, and then there is silence. */
static void run_quietly(void)
{
	u64 end = sim.now + QUIET;
	u64 frames = 0;

	while (!sim.failed && sim.now < end && sim_step())
		if (sim.now < end - QUIET / 3)
			frames = sim.frames;
	if (sim.frames != frames)
		sim_fail("%llu frames after the end", (unsigned long long)(sim.frames - frames));
}

static u64 counted(enum tor_counter what)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < sim.scenario.torus.nodes; i++)
		n += sim.node[i].counters[what];
	return n;
}

/* Where cables and hosts do nothing wrong, nothing is lost, and nothing sent twice. */
static void check_calm(void)
{
	static const enum tor_counter never[] = {
		TOR_C_TX_TIMEOUTS, TOR_C_TX_LOCAL_DROP, TOR_C_DROP_HEADER_CRC,
		TOR_C_DROP_PAYLOAD_CRC, TOR_C_DROP_RANGE,
	};
	u32 i;

	if (!sim_scenario_is_calm(&sim.scenario))
		return;
	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (counted(never[i]))
			sim_fail("%s although nothing went wrong", tor_counter_name(never[i]));
	/* a link may still be down when the first op starts, a rank may be too late to keep frames for */
	if (counted(TOR_C_RX_NOT_READY) || counted(TOR_C_TX_NO_ROUTE) ||
	    counted(TOR_C_DROP_NO_ROUTE) || counted(TOR_C_DROP_LINK))
		return;
	if (counted(TOR_C_TX_RETRANSMITS) || counted(TOR_C_RX_DUPLICATES))
		sim_fail("frames are sent twice although nothing went wrong");
}

/* Return: 0 passed, 1 failed, -1 impossible. */
static int run_seed(u64 seed)
{
	sim_clock_reset(seed);
	sim.failed = false;
	sim.frames = 0;
	sim.allocated = 0;
	if (!sim_scenario_draw(&sim.scenario, seed))
		return -1;
	if (sim_options.trace)
		sim_scenario_print(&sim.scenario);
	sim_fabric_start();
	sim_ranks_start();
	run_until_done();
	if (!sim.failed)
		run_quietly();
	if (!sim.failed)
		sim_ranks_check_idle();
	if (!sim.failed)
		check_calm();
	sim_ranks_free();
	if (!sim.failed && sim.allocated)
		sim_fail("%llu allocations are left", (unsigned long long)sim.allocated);
	sim_fabric_free();
	return sim.failed;
}

static void report(void)
{
	const struct sim_totals *t = &sim.totals;
	u32 i;

	printf("%-24s %14llu\n", "ops", (unsigned long long)t->ops);
	for (i = 0; i < TOR_C_COUNT; i++)
		if (t->counters[i])
			printf("%-24s %14llu\n", tor_counter_name(i),
			       (unsigned long long)t->counters[i]);
	printf("%-24s %14llu\n", "lost by cables", (unsigned long long)t->lost);
	printf("%-24s %14.3f s\n", "virtual time", t->virtual_time / 1e9);
	printf("%-24s %14.3f ms (seed %llu)\n", "slowest op", t->slowest / 1e6,
	       (unsigned long long)t->slowest_seed);
	if (t->slowest_failure)
		printf("%-24s %14.3f ms (seed %llu)\n", "slowest failure", t->slowest_failure / 1e6,
		       (unsigned long long)t->slowest_failure_seed);
}

static void print_usage(FILE *to)
{
	fputs("usage: torcoll-sim [--engine core] [options]\n"
	      "Simulates whole fabrics of torcoll cores on a virtual clock and checks what they do.\n"
	      "What is not given is drawn from the seed.\n"
	      "\n"
	      "  --seeds N        run N seeds (1)\n"
	      "  --first S        from seed S on (1)\n"
	      "  --dims 4x4       shape\n"
	      "  --cables 1|2     between the nodes of a side of 2\n"
	      "  --algorithm A    swing-bw, bibucket, ...\n"
	      "  --type T         i8 ... u64, f32, f64\n"
	      "  --redop O        sum, min, max\n"
	      "  --count N        elements of a vector\n"
	      "  --ops N          ops per rank\n"
	      "  --depth N        ops in flight per rank\n"
	      "  --frame-size N   bytes of a frame behind the MAC header\n"
	      "  --loss P, --duplicate P, --reorder P, --corrupt P\n"
	      "                   what a cable does to a frame, with probability P\n"
	      "  --no-fpu P, --no-memory P, --late-payload P\n"
	      "                   FPU not usable, no memory, payload read on arrival\n"
	      "  --misdeed none|cancel|mismatch|absent\n"
	      "                   what one rank does, so that the comm fails\n"
	      "  --no-faults      draw no faults\n"
	      "  --limit S        virtual seconds until a run counts as stuck (600)\n"
	      "  --trace          print what happens\n"
	      "  -V, --version; -h, --help\n"
	      "\n"
	      "Exit status: 0 all passed, 1 some failed, 2 usage.\n", to);
}

enum {
	OPT_ENGINE = 256, OPT_SEEDS, OPT_FIRST, OPT_DIMS, OPT_CABLES, OPT_ALGORITHM, OPT_TYPE,
	OPT_REDOP, OPT_COUNT, OPT_OPS, OPT_DEPTH, OPT_FRAME_SIZE, OPT_LOSS, OPT_DUPLICATE,
	OPT_REORDER, OPT_CORRUPT, OPT_NO_FPU, OPT_NO_MEMORY, OPT_LATE_PAYLOAD, OPT_MISDEED,
	OPT_NO_FAULTS, OPT_LIMIT, OPT_TRACE,
};

static const struct option options[] = {
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "dims", required_argument, NULL, OPT_DIMS },
	{ "cables", required_argument, NULL, OPT_CABLES },
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
	{ "misdeed", required_argument, NULL, OPT_MISDEED },
	{ "no-faults", no_argument, NULL, OPT_NO_FAULTS },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "trace", no_argument, NULL, OPT_TRACE },
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

static double probability(const char *what)
{
	char *end;
	double p = strtod(optarg, &end);

	/* certain faults never end */
	if (end == optarg || *end || !(p >= 0 && p <= 1))
		refuse(what);
	return p;
}

static int known(const char *what, int value)
{
	if (value <= 0)
		refuse(what);
	return value;
}

static void parse(int c)
{
	struct sim_options *o = &sim_options;

	switch (c) {
	case OPT_ENGINE:
		if (strcmp(optarg, "core"))
			refuse("engine");
		break;
	case OPT_SEEDS:
		o->seeds = number("number of seeds", 1, LLONG_MAX);
		break;
	case OPT_FIRST:
		o->first = number("seed", 0, LLONG_MAX);
		break;
	case OPT_DIMS:
		o->dims = optarg;
		break;
	case OPT_CABLES:
		o->cables = number("number of cables", 1, 2);
		break;
	case OPT_ALGORITHM:
		o->algorithm = known("algorithm", tor_algorithm_parse(optarg));
		break;
	case OPT_TYPE:
		o->type = known("type", sim_type_parse(optarg));
		break;
	case OPT_REDOP:
		o->redop = known("operator", sim_redop_parse(optarg));
		break;
	case OPT_COUNT:
		o->count = number("count", 0, 1LL << 32);
		break;
	case OPT_OPS:
		o->ops = number("number of ops", 1, 1 << 20);
		break;
	case OPT_DEPTH:
		o->depth = number("depth", 1, 1024);
		break;
	case OPT_FRAME_SIZE:
		o->frame_size = number("frame size", 384, 65535);
		break;
	case OPT_LOSS:
		o->loss = probability("probability of loss");
		break;
	case OPT_DUPLICATE:
		o->duplicate = probability("probability of duplication");
		break;
	case OPT_REORDER:
		o->reorder = probability("probability of reordering");
		break;
	case OPT_CORRUPT:
		o->corrupt = probability("probability of corruption");
		break;
	case OPT_NO_FPU:
		o->no_fpu = probability("probability of no FPU");
		break;
	case OPT_NO_MEMORY:
		o->no_memory = probability("probability of no memory");
		break;
	case OPT_LATE_PAYLOAD:
		o->late_payload = probability("probability of a late payload");
		break;
	case OPT_MISDEED:
		o->misdeed = sim_misdeed_parse(optarg);
		if (o->misdeed < 0)
			refuse("misdeed");
		break;
	case OPT_NO_FAULTS:
		o->faults = false;
		break;
	case OPT_LIMIT:
		o->limit = number("limit", 1, 1 << 30) * NSEC_PER_SEC;
		break;
	case OPT_TRACE:
		o->trace = true;
		break;
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

/* Every second or so. */
static void progress(u64 run, u64 failed)
{
	static time_t last;
	time_t now = time(NULL);

	if (!last)
		last = now;
	if (now == last || sim_options.trace)
		return;
	last = now;
	fprintf(stderr, isatty(2) ? "\r%llu of %llu seeds, %llu failed " :
				    "%llu of %llu seeds, %llu failed\n",
		(unsigned long long)run, (unsigned long long)sim_options.seeds,
		(unsigned long long)failed);
}

int main(int argc, char **argv)
{
	u64 i, failed = 0;
	int c, result;

	if (model_wanted(argc, argv))
		return model_main(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt_long(argc, argv, "Vh", options, NULL)) != -1)
		parse(c);
	if (optind < argc) {
		fprintf(stderr, "torcoll-sim: what is \"%s\"? (--help says more)\n", argv[optind]);
		return 2;
	}
#ifdef __x86_64__
	tor_reduce_init(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ?
			TOR_ISA_AVX2 : TOR_ISA_SSE2);
#endif
	for (i = 0; i < sim_options.seeds; i++) {
		result = run_seed(sim_options.first + i);
		if (result < 0)
			return 2;
		failed += result;
		progress(i + 1, failed);
	}
	if (isatty(2))
		fputs("\r\033[K", stderr);
	report();
	printf("%llu passed, %llu failed\n", (unsigned long long)(sim_options.seeds - failed),
	       (unsigned long long)failed);
	return failed ? 1 : 0;
}
