// SPDX-License-Identifier: GPL-2.0
/* The command line: the letters of nccl-tests where it has the option. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

static const char doc[] =
	"Measure a collective over all ranks of a comm, and check its results.\n"
	"\vStart one process per rank with a launcher:\n"
	"  torcollctl netns run torcoll-perf allreduce\n"
	"The comm comes from the environment: TORCOLL_FABRIC and so on, see\n"
	"torcoll_comm_from_env(3). Rank 0 prints the results, every rank its errors.\n"
	"Sizes are bytes and may end in K, M or G. Times are those of the slowest rank.\n"
	"\n"
	"Exit status: 0 all right; 1 something failed or a result was wrong; 2 usage.";

/* Collectives that can be measured. */
#define SERVED	"allreduce, reduce-scatter, allgather, broadcast, reduce, barrier, gather, " \
		"scatter, alltoall, scan, exscan, halo"

static const uint64_t served = 1 << TORCOLL_ALLREDUCE | 1 << TORCOLL_REDUCE_SCATTER |
	1 << TORCOLL_ALLGATHER | 1 << TORCOLL_BROADCAST | 1 << TORCOLL_REDUCE |
	1 << TORCOLL_BARRIER | 1 << TORCOLL_GATHER | 1 << TORCOLL_SCATTER |
	1 << TORCOLL_ALLTOALL | 1 << TORCOLL_SCAN | 1 << TORCOLL_EXSCAN | 1 << TORCOLL_HALO;

enum {
	KEY_COUNTS = 256,
	KEY_IN_PLACE,
	KEY_OUT_OF_PLACE,
	KEY_BOTH,
	KEY_ALGORITHM,
	KEY_ROOT,
	KEY_UNEVEN,
	KEY_PARAM,
	KEY_FORMAT,
	KEY_STATS,
	KEY_CHECKSUM,
	KEY_PLAIN,
	KEY_OFFSET,
	KEY_TIMEOUT,
};

static const struct argp_option argp_options[] = {
	{ 0, 0, 0, 0, "Sizes:", 1 },
	{ "minbytes", 'b', "SIZE", 0, "smallest size (8)", 0 },
	{ "maxbytes", 'e', "SIZE", 0, "largest size (4M); always run", 0 },
	{ "stepfactor", 'f', "N", 0, "next size: multiplied by this (2)", 0 },
	{ "stepbytes", 'i', "SIZE", 0, "next size: this added", 0 },
	{ "counts", KEY_COUNTS, "N,...", 0, "these numbers of elements instead", 0 },
	{ 0, 0, 0, 0, "What is run:", 2 },
	{ "datatype", 'd', "TYPE,...", 0, "f32 (default), i32, i64, f64, or all", 0 },
	{ "op", 'o', "OP,...", 0, "sum (default), min, max, or all", 0 },
	{ "in-place", KEY_IN_PLACE, 0, 0, "only with the result over the input", 0 },
	{ "out-of-place", KEY_OUT_OF_PLACE, 0, 0, "only with a buffer for the result", 0 },
	{ "both", KEY_BOTH, 0, 0, "one after the other (default)", 0 },
	{ "root", KEY_ROOT, "RANK", 0, "root of broadcast, reduce, gather or scatter (0)", 0 },
	{ "uneven", KEY_UNEVEN, 0, 0, "with blocks of 0, 1, 2, 3, 0, ... parts, where there are blocks", 0 },
	{ "algorithm", KEY_ALGORITHM, "NAME", 0, "auto (default), swing-bw, bibucket, ...", 0 },
	{ "param", KEY_PARAM, "NAME=N", 0,
	  "parameter of the algorithm: channels, r, blocks, group, variant, chunks", 0 },
	{ "plain", KEY_PLAIN, 0, 0, "do not register the buffers", 0 },
	{ "offset", KEY_OFFSET, "BYTES", 0, "start buffers that far behind a page's start (0)", 0 },
	{ "timeout", KEY_TIMEOUT, "MS", 0, "deadline of each op (none)", 0 },
	{ 0, 0, 0, 0, "How often:", 3 },
	{ "iters", 'n', "N", 0, "timed runs (20)", 0 },
	{ "warmup_iters", 'w', "N", 0, "untimed runs before them (5)", 0 },
	{ "check", 'c', "N", 0, "checked runs before these (1); the last timed one is checked, too", 0 },
	{ 0, 0, 0, 0, "What is printed:", 4 },
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (default), osu, csv, json (a line each)", 0 },
	{ "stats", KEY_STATS, 0, 0, "voluntary context switches and frames per op", 0 },
	{ "checksum", KEY_CHECKSUM, 0, 0,
	  "one run more, of numbers that round; every rank prints the checksum of its result", 0 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

/* Parse an integer, with @units also sizes such as 4K. */
static bool parse_number(const char *s, bool units, uint64_t *value, char **end)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	int shift = 0;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, end, 10);
	suffix = **end ? strchr(suffixes, toupper((unsigned char)**end)) : NULL;
	if (units && suffix) {
		shift = 10 * (suffix - suffixes + 1);
		(*end)++;
	}
	if (errno || *value > UINT64_MAX >> 1 >> shift)
		return false;
	*value <<= shift;
	return true;
}

static uint64_t limited(struct argp_state *state, const char *option, const char *s, uint64_t min,
		       uint64_t max)
{
	uint64_t value;
	char *end;

	if (!parse_number(s, false, &value, &end) || *end || value < min || value > max)
		argp_error(state, "%s: \"%s\" is not a number from %llu to %llu", option, s,
			   (unsigned long long)min, (unsigned long long)max);
	return value;
}

static uint64_t size(struct argp_state *state, const char *option, const char *s, uint64_t min)
{
	uint64_t value;
	char *end;

	if (!parse_number(s, true, &value, &end) || *end || value < min ||
	    value > UINT64_MAX >> 8)
		argp_error(state, "%s: \"%s\" is not a number of bytes, such as 512, 16K, 2M or 1G",
			   option, s);
	return value;
}

static void parse_counts(struct argp_state *state, struct options *o, const char *list)
{
	const char *s = list;
	char *end;

	free(o->counts);
	o->counts = calloc(strlen(s) / 2 + 1, sizeof(*o->counts));
	if (!o->counts)
		argp_failure(state, 1, ENOMEM, "%s", list);
	for (o->ncounts = 0; ; s = end + 1) {
		if (!parse_number(s, true, &o->counts[o->ncounts++], &end) ||
		    (*end && *end != ','))
			argp_error(state, "--counts: \"%s\" is not a list of numbers of elements", list);
		if (!*end)
			return;
	}
}

/* Return the type with a name of nccl-tests. */
static const char *type_alias(const char *name)
{
	static const char *const aliases[][2] = {
		{ "int8", "i8" }, { "uint8", "u8" }, { "int32", "i32" }, { "uint32", "u32" },
		{ "int64", "i64" }, { "uint64", "u64" }, { "half", "f16" },
		{ "bfloat16", "bf16" }, { "float", "f32" }, { "double", "f64" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(name, aliases[i][0]))
			return aliases[i][1];
	return name;
}

/* Parse a list of names, or "all" for those with known results. */
static size_t parse_names(struct argp_state *state, const char *list, bool types, int *values)
{
	char *copy = strdup(list), *rest = copy, *name;
	size_t n = 0;

	if (!strcmp(list, "all")) {
		for (int i = 0; i < (types ? (int)TORCOLL_TYPE_COUNT : (int)TORCOLL_REDOP_COUNT); i++)
			if (types ? data_knows(i, TORCOLL_SUM) : data_knows(TORCOLL_I32, i))
				values[n++] = i;
		free(copy);
		return n;
	}
	while ((name = strsep(&rest, ","))) {
		int value = types ? torcoll_type_by_name(type_alias(name)) :
				    torcoll_redop_by_name(name);

		if (n == MAX_LIST || value < 0 ||
		    !(types ? data_knows(value, TORCOLL_SUM) : data_knows(TORCOLL_I32, value)))
			argp_error(state, "%s: not served; %s are", name,
				   types ? "i32, i64, f32, f64" : "sum, min, max");
		values[n++] = value;
	}
	free(copy);
	return n;
}

static void parse_param(struct argp_state *state, struct options *o, const char *arg)
{
	static const char *const names[] = {
		[TORCOLL_PARAM_CHANNELS] = "channels",
		[TORCOLL_PARAM_R] = "r",
		[TORCOLL_PARAM_BLOCKS] = "blocks",
		[TORCOLL_PARAM_GROUP] = "group",
		[TORCOLL_PARAM_VARIANT] = "variant",
		[TORCOLL_PARAM_CHUNKS] = "chunks",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = names[i] ? strlen(names[i]) : 0;

		if (len && !strncmp(arg, names[i], len) && arg[len] == '=') {
			/* 0 is the default; of r, 0 is a value */
			o->param[i] = limited(state, names[i], arg + len + 1, 0, UINT32_MAX - 1) +
				      (i == TORCOLL_PARAM_R);
			return;
		}
	}
	argp_error(state, "%s: not a parameter, as channels=2: they are channels, r, blocks, group, variant, chunks",
		   arg);
}

static void parse_algorithm(struct argp_state *state, struct options *o, const char *arg)
{
	int algorithm = torcoll_algorithm_by_name(arg);

	if (algorithm < 0)
		argp_error(state, "%s: not an algorithm: torcoll-plan --list prints all", arg);
	o->algorithm = algorithm;
}

static void parse_format(struct argp_state *state, struct options *o, const char *arg)
{
	static const char *const names[] = {
		[FORMAT_TABLE] = "table",
		[FORMAT_OSU] = "osu",
		[FORMAT_CSV] = "csv",
		[FORMAT_JSON] = "json",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(arg, names[i])) {
			o->format = i;
			return;
		}
	}
	argp_error(state, "%s: not a format: table, osu, csv or json", arg);
}

static void parse_collective(struct argp_state *state, struct options *o, const char *arg)
{
	char *name = strdup(arg);
	int collective;

	if (!name)
		argp_failure(state, 1, ENOMEM, "%s", arg);
	if (o->collective)
		argp_error(state, "%s: one collective at a time", arg);
	/* nccl-tests' spelling */
	for (char *s = name; *s; s++)
		if (*s == '_')
			*s = '-';
	collective = torcoll_collective_by_name(name);
	free(name);
	if (collective < 0 || !(served >> collective & 1))
		argp_error(state, "%s: not served; " SERVED " are", arg);
	o->collective = collective;
}

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_FORMAT:
		parse_format(state, o, arg);
		break;
	case KEY_STATS:
		o->stats = true;
		break;
	case KEY_CHECKSUM:
		o->checksum = true;
		break;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case ARGP_KEY_ARG:
		parse_collective(state, o, arg);
		break;
	case ARGP_KEY_END:
		if (!o->collective)
			argp_error(state, "which collective? " SERVED);
		if (o->root && !has_root(o->collective))
			argp_error(state, "--root is for broadcast, reduce, gather and scatter");
		if (o->uneven && !has_blocks(o->collective))
			argp_error(state, "--uneven is for reduce-scatter, allgather, gather and scatter");
		if (o->min_bytes > o->max_bytes)
			argp_error(state, "-b is larger than -e, which is %llu bytes",
				   (unsigned long long)o->max_bytes);
		if (o->collective == TORCOLL_BARRIER)
			parse_counts(state, o, "0");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_op(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'd':
		o->ntypes = parse_names(state, arg, true, o->types);
		break;
	case 'o':
		o->nredops = parse_names(state, arg, false, o->redops);
		break;
	case KEY_IN_PLACE:
	case KEY_OUT_OF_PLACE:
	case KEY_BOTH:
		o->place[IN_PLACE] = key != KEY_OUT_OF_PLACE;
		o->place[OUT_OF_PLACE] = key != KEY_IN_PLACE;
		break;
	case KEY_ALGORITHM:
		parse_algorithm(state, o, arg);
		break;
	case KEY_ROOT:
		o->root = limited(state, "--root", arg, 0, UINT32_MAX);
		break;
	case KEY_UNEVEN:
		o->uneven = true;
		break;
	case KEY_PARAM:
		parse_param(state, o, arg);
		break;
	case KEY_PLAIN:
		o->plain = true;
		break;
	case KEY_OFFSET:
		o->offset = limited(state, "--offset", arg, 0, 4095);
		break;
	case KEY_TIMEOUT:
		o->timeout_ms = limited(state, "--timeout", arg, 0, UINT32_MAX);
		break;
	default:
		return parse_output(key, arg, state);
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'b':
		o->min_bytes = size(state, "-b", arg, 0);
		break;
	case 'e':
		o->max_bytes = size(state, "-e", arg, 0);
		break;
	case 'f':
		o->factor = limited(state, "-f", arg, 2, 1 << 20);
		break;
	case 'i':
		o->step_bytes = size(state, "-i", arg, 1);
		break;
	case KEY_COUNTS:
		parse_counts(state, o, arg);
		break;
	case 'n':
		o->iters = limited(state, "-n", arg, 1, 1000000000);
		break;
	case 'w':
		o->warmup = limited(state, "-w", arg, 0, 1000000000);
		break;
	case 'c':
		o->checks = limited(state, "-c", arg, 1, 1000000000);
		break;
	default:
		return parse_op(key, arg, state);
	}
	return 0;
}

static void print_version(FILE *f, struct argp_state *state)
{
	fprintf(f, "torcoll-perf %s\n", torcoll_version());
}

void options_parse(struct options *o, int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse, "COLLECTIVE", doc, NULL, NULL, NULL };

	*o = (struct options){
		.min_bytes = 8,
		.max_bytes = 4 << 20,
		.factor = 2,
		.types = { TORCOLL_F32 },
		.ntypes = 1,
		.redops = { TORCOLL_SUM },
		.nredops = 1,
		.iters = 20,
		.warmup = 5,
		.checks = 1,
		.place = { true, true },
	};
	argp_program_version_hook = print_version;
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, o))
		exit(1);
}
