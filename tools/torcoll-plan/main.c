// SPDX-License-Identifier: GPL-2.0
/*
 * torcoll-plan: prints, checks, costs and draws the plans that the module
 * executes.
 *
 * Exit codes: 0 done, 1 the plan is wrong, 2 usage, 3 the algorithm cannot
 * serve the request.
 */
#include "dump.h"

#include "core/host_shape.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>

const char *argp_program_version = "torcoll-plan " TORCOLL_VERSION;

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_UNSERVED = 3 };

enum key {
	KEY_DIMS = 256, KEY_CABLES, KEY_ROOT, KEY_COUNTS, KEY_NODES, KEY_CHECK, KEY_COST, KEY_DRAW,
	KEY_ANIMATE, KEY_LIST,
};

struct args {
	u32 side[TOR_MAX_DIMS];
	u32 ndim;
	u32 cables;
	u32 collective;
	u32 algorithm;
	bool has_algorithm;
	u32 root;
	u64 count;
	bool has_count;
	u64 *counts;
	u32 ncounts;
	u32 *nodes;
	u32 nnodes;
	u32 param[TORCOLL_PARAM_COUNT];
	bool check, cost, draw, animate, list, json, from_stdin;
};

static const struct argp_option options[] = {
	{ "dims", KEY_DIMS, "4x4", 0, "Sides of the fabric, 1 to 6 of them; :line, :mesh: no rings; 16+4: chords", 1 },
	{ "cables", KEY_CABLES, "1|2", 0, "Cables between the two nodes of a side of 2 (2; a fabric has 1 unless told)", 1 },
	{ "nodes", KEY_NODES, "5,1,9", 0, "The node of each rank (all nodes, in order)", 1 },
	{ "collective", 'c', "NAME", 0, "allreduce (default), reduce-scatter, ... see --list", 2 },
	{ "algorithm", 'a', "NAME", 0, "See --list; auto: as the module would choose", 2 },
	{ "count", 'n', "N", 0, "Elements of the whole vector (48 per rank)", 2 },
	{ "counts", KEY_COUNTS, "A,B,...", 0, "Elements of each rank's block", 2 },
	{ "root", KEY_ROOT, "R", 0, "Rank, for broadcast, reduce, gather, scatter (0)", 2 },
	{ "param", 'p', "NAME=N", 0, "channels, r, blocks, group (1 cyclic, 2 XOR), variant, chunks", 2 },
	{ "check", KEY_CHECK, NULL, 0, "Execute the plan symbolically and check its result", 3 },
	{ "cost", KEY_COST, NULL, 0, "Rounds, hops, bytes and messages on the torus", 3 },
	{ "draw", KEY_DRAW, NULL, 0, "An SVG with a picture for each round", 3 },
	{ "animate", KEY_ANIMATE, NULL, 0, "An SVG that shows one round after the other", 3 },
	{ "json", 'j', NULL, 0, "The cost (--cost) as JSON", 3 },
	{ "list", KEY_LIST, NULL, 0, "Algorithms and their collectives; with --algorithm what one is like; with --dims all on that torus", 3 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

static const char doc[] =
	"Prints the plan of a collective on a torus, all ranks, as JSON lines (torcoll-plan/1).\n"
	"With --check, --cost, --json, --draw: checks, costs, draws it instead; with - the plan is read from\n"
	"standard input, and nothing else is known.";

static u64 parse_number(struct argp_state *state, const char *what, const char *s, u64 most)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || v > most)
		argp_error(state, "%s: not a number up to %" PRIu64 ": %s", what, most, s);
	return v;
}

static void parse_dims(struct argp_state *state, struct args *a, const char *s)
{
	a->ndim = host_shape_parse(s, a->side);
	if (!a->ndim)
		argp_error(state, "dims: %s is not 1 to %u sides like 4x4 or 4:meshx3:line, or a ring with chords like 16+4", s,
			   TOR_MAX_DIMS);
}

static u32 parse_list(struct argp_state *state, const char *what, char *s, u64 **list, u64 most)
{
	char *part;
	u32 n = 0;

	*list = dump_alloc(strlen(s) + 1, sizeof(u64));
	while ((part = strsep(&s, ",")))
		(*list)[n++] = parse_number(state, what, part, most);
	return n;
}

static void parse_nodes(struct argp_state *state, struct args *a, char *s)
{
	u64 *list;
	u32 i;

	a->nnodes = parse_list(state, "nodes", s, &list, TOR_MAX_NODES);
	a->nodes = dump_alloc(a->nnodes, sizeof(u32));
	for (i = 0; i < a->nnodes; i++)
		a->nodes[i] = list[i];
	free(list);
}

static void parse_param(struct argp_state *state, struct args *a, char *s)
{
	char *name = strsep(&s, "=");
	u32 i;
	u64 v;

	if (!s)
		argp_error(state, "param: NAME=N: %s", name);
	v = parse_number(state, name, s, U32_MAX - 1);
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++) {
		if (!dump_param_name(i) || strcmp(dump_param_name(i), name))
			continue;
		/* 0 is the default; of r, 0 is a value */
		a->param[i] = v + (i == TORCOLL_PARAM_R);
		return;
	}
	argp_error(state, "no such parameter: %s", name);
}

static int parse_name(struct argp_state *state, const char *what, int v, const char *s)
{
	if (v < 0)
		argp_error(state, "no such %s: %s", what, s);
	return v;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case KEY_DIMS:
		parse_dims(state, a, arg);
		break;
	case KEY_CABLES:
		a->cables = parse_number(state, "cables", arg, 2);
		break;
	case KEY_NODES:
		parse_nodes(state, a, arg);
		break;
	case 'c':
		a->collective = parse_name(state, "collective", tor_collective_parse(arg), arg);
		break;
	case 'a':
		a->algorithm = parse_name(state, "algorithm", tor_algorithm_parse(arg), arg);
		a->has_algorithm = true;
		break;
	case 'n':
		a->count = parse_number(state, "count", arg, INT64_MAX);
		a->has_count = true;
		break;
	case KEY_COUNTS:
		a->ncounts = parse_list(state, "counts", arg, &a->counts, INT64_MAX);
		break;
	case KEY_ROOT:
		a->root = parse_number(state, "root", arg, U32_MAX);
		break;
	case 'p':
		parse_param(state, a, arg);
		break;
	case KEY_CHECK:
		a->check = true;
		break;
	case KEY_COST:
		a->cost = true;
		break;
	case KEY_DRAW:
		a->draw = true;
		break;
	case KEY_ANIMATE:
		a->draw = true;
		a->animate = true;
		break;
	case KEY_LIST:
		a->list = true;
		break;
	case 'j':
		a->json = true;
		a->cost = true;
		break;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case ARGP_KEY_ARG:
		if (strcmp(arg, "-"))
			return ARGP_ERR_UNKNOWN;
		a->from_stdin = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* --- output --- */

static void print_cost_json(const struct dump_cost *c)
{
	printf("{\"rounds\":%u,\"hops\":%u,", c->rounds, c->hops);
	printf("\"sent_max\":%.10g,\"sent_mean\":%.10g,", c->sent_max, c->sent_mean);
	printf("\"busiest_link\":%.10g,\"w\":%.10g,\"factor\":%.10g,", c->busiest, c->w, c->factor);
	printf("\"messages\":%" PRIu64 ",", c->messages);
	printf("\"handled_max\":%.10g,\"handled_mean\":%.10g}\n", c->handled_max, c->handled_mean);
}

/*
 * Print in elements. W: sum over rounds of the busiest link's, per element of
 * the vector.
 */
static void print_cost(const struct dump *d, bool json)
{
	struct dump_cost c;

	dump_cost(d, &c);
	if (json) {
		print_cost_json(&c);
		return;
	}
	printf("rounds                 %u\n", c.rounds);
	printf("hops                   %u\n", c.hops);
	printf("sent per node, most    %.10g\n", c.sent_max);
	printf("sent per node, mean    %.10g\n", c.sent_mean);
	printf("over the busiest link  %.10g\n", c.busiest);
	printf("W                      %.6g\n", c.w);
	printf("factor                 %.6g\n", c.factor);
	printf("messages               %" PRIu64 "\n", c.messages);
	printf("handled, most          %.10g\n", c.handled_max);
	printf("handled, mean          %.10g\n", c.handled_mean);
}

/* Make the request. False: the number of counts is not that of the ranks. */
static bool make_request(const struct args *a, const struct tor_torus *torus, struct tor_call *call)
{
	u32 i;

	*call = (struct tor_call){
		.torus = torus,
		.members = a->nodes,
		.ranks = a->nodes ? a->nnodes : torus->nodes,
		.collective = a->collective,
		.algorithm = a->algorithm,
		.root = a->root,
		.count = a->count,
		.counts = a->counts,
	};
	memcpy(call->param, a->param, sizeof(call->param));
	if (a->counts && a->ncounts != call->ranks)
		return false;
	if (!a->has_count)
		for (i = 0; i < call->ranks; i++)
			call->count += a->counts ? a->counts[i] : 48;
	return true;
}

/* Plan the request. Return an exit code. */
static int make(struct dump *d, const struct args *a, struct tor_torus *torus)
{
	const char *why = "counts are not one per rank";
	struct tor_call call;

	if (make_request(a, torus, &call) &&
	    (call.algorithm != TORCOLL_ALGO_AUTO || !dump_choose(&call, &why)) &&
	    !dump_make(d, &call, &why))
		return 0;
	fprintf(stderr, "torcoll-plan: %s\n", why);
	return EXIT_UNSERVED;
}

static int list(const struct args *a)
{
	struct tor_call call;
	struct tor_torus torus;

	if (a->algorithm)
		list_about(a->algorithm);
	else if (!a->ndim)
		list_algorithms();
	if (a->algorithm || !a->ndim)
		return 0;
	if (tor_torus_init(&torus, a->ndim, a->side, a->cables) || !make_request(a, &torus, &call)) {
		fprintf(stderr, "torcoll-plan: --dims of a fabric are needed, such as 4x4\n");
		return EXIT_USAGE;
	}
	list_plans(call);
	return 0;
}

static int use(const struct dump *d, const struct args *a)
{
	struct dump_error e;

	if (a->check && !dump_check(d, &e)) {
		fprintf(stderr, "torcoll-plan: wrong: %s\n", e.text);
		return EXIT_WRONG;
	}
	if (a->check && !a->cost && !a->draw)
		printf("right\n");
	if ((a->cost || a->draw) && !dump_valid(d, &e)) {
		fprintf(stderr, "torcoll-plan: wrong: %s\n", e.text);
		return EXIT_WRONG;
	}
	if (a->cost)
		print_cost(d, a->json);
	if (a->draw)
		dump_draw(d, a->animate, stdout);
	if (!a->check && !a->cost && !a->draw)
		dump_print(d, stdout);
	return 0;
}

static int run(const struct args *a)
{
	struct tor_torus torus;
	struct dump_error e;
	struct dump d = { 0 };
	int code = 0;

	if (a->from_stdin) {
		if (!dump_read(&d, stdin, a->cables, &e)) {
			fprintf(stderr, "torcoll-plan: wrong: %s\n", e.text);
			code = EXIT_WRONG;
		}
	} else if (!a->ndim || tor_torus_init(&torus, a->ndim, a->side, a->cables)) {
		fprintf(stderr, "torcoll-plan: --dims of a fabric are needed, such as 4x4\n");
		code = EXIT_USAGE;
	} else if (!a->has_algorithm) {
		fprintf(stderr, "torcoll-plan: --algorithm is needed, see --list\n");
		code = EXIT_USAGE;
	} else {
		code = make(&d, a, &torus);
	}
	if (!code)
		code = use(&d, a);
	dump_free(&d);
	return code;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "[-]", doc };
	struct args a = { .cables = 2, .collective = TORCOLL_ALLREDUCE };
	int code;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	code = a.list ? list(&a) : run(&a);
	free(a.counts);
	free(a.nodes);
	if (fflush(stdout) || ferror(stdout)) {
		perror("torcoll-plan");
		return EXIT_USAGE;
	}
	return code;
}
