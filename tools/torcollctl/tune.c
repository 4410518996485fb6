// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl tune: the speed of the fabric, by which plans are chosen: measure,
 * show, set, save, load.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_load.h"
#include "file.h"
#include "tune.h"

static const char help[] =
	"Usage: torcollctl tune run [KEY] [save FILE]\n"
	"       torcollctl tune show [KEY]\n"
	"       torcollctl tune set KEY [op TIME] [round TIME] [hop TIME] [message TIME]\n"
	"                           [link TIME] [byte TIME]\n"
	"       torcollctl tune default [KEY]\n"
	"       torcollctl tune save FILE [KEY]\n"
	"       torcollctl tune load FILE [KEY]\n"
	"\n"
	"run       measures; start it on all nodes: torcollrun torcollctl tune run; waits\n"
	"          up to 60 s, or TORCOLL_TIMEOUT, until all have; Ctrl-C ends it;\n"
	"          with save node 0 writes its file: copy that to the other hosts\n"
	"save      into the fabric's file, as its section [rates], see torcoll.conf(5);\n"
	"          or into a file of its own\n"
	"TIME      with a unit, as 12us, 350ns, 60ps or 80fs; per byte for link and byte\n"
	"default   forget what was measured\n";

const struct rate rates_table[RATES] = {
	{ "op-ps", offsetof(struct tor_rates, op), TORCOLL_A_TUNE_OP_PS },
	{ "round-ps", offsetof(struct tor_rates, e), TORCOLL_A_TUNE_ROUND_PS },
	{ "hop-ps", offsetof(struct tor_rates, f), TORCOLL_A_TUNE_HOP_PS },
	{ "message-ps", offsetof(struct tor_rates, message), TORCOLL_A_TUNE_MESSAGE_PS },
	{ "link-fs", offsetof(struct tor_rates, link), TORCOLL_A_TUNE_LINK_FS },
	{ "byte-fs", offsetof(struct tor_rates, byte), TORCOLL_A_TUNE_BYTE_FS },
};

static const struct field fields[] = {
	FIELD(TORCOLL_A_TUNE_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_TUNE_OP_PS, FIELD_U64, "op_ps"),
	FIELD(TORCOLL_A_TUNE_ROUND_PS, FIELD_U64, "round_ps"),
	FIELD(TORCOLL_A_TUNE_HOP_PS, FIELD_U64, "hop_ps"),
	FIELD(TORCOLL_A_TUNE_MESSAGE_PS, FIELD_U64, "message_ps"),
	FIELD(TORCOLL_A_TUNE_LINK_FS, FIELD_U64, "link_fs"),
	FIELD(TORCOLL_A_TUNE_BYTE_FS, FIELD_U64, "byte_fs"),
};

static const struct view tune_view = {
	TORCOLL_CMD_TUNE_GET, TORCOLL_A_TUNE_FABRIC, fields, ARRAY_SIZE(fields)
};

static const char *const units[RATES] = {
	"for an op whatever its plan",
	"for a message to a neighbour, from its submission until it is reduced",
	"for each further hop",
	"for a node to handle a message",
	"for a byte on a link",
	"for a node to handle a byte",
};

/* --- rates in the kernel --- */

int place_find(struct conn *c, const char *word, struct place *place)
{
	struct json_object *list, *fabric = NULL;
	uint32_t side[MAX_DIMS];
	struct shape shape;
	uint64_t key = 0;
	size_t i;

	if (word && parse_u64(word, "key", UINT64_MAX, &key))
		return CTL_USAGE;
	if (view_dump(c, &fabric_view, NULL, &list))
		return conn_refused(c);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!word || js_u64(o, "key") == key)
			fabric = o;
	}
	if (!fabric || (!word && i > 1) || !shape_from_json(fabric, &shape)) {
		json_object_put(list);
		return usage_error(word ? "this namespace has no fabric %s" :
				   i > 1 ? "which fabric? Give its key" :
					   "this network namespace belongs to no fabric", word);
	}
	place->key = js_u64(fabric, "key");
	place->node = js_u64(fabric, "node");
	json_object_put(list);
	shape_sides(&shape, side);
	if (tor_torus_init(&place->torus, shape.ndim, side, shape.cables))
		return usage_error("the fabric has a shape that this program does not know");
	return CTL_OK;
}

int rates_get(struct conn *c, uint64_t key, struct tor_rates *rates)
{
	struct json_object *list, *o = NULL;
	size_t i;

	if (view_dump(c, &tune_view, &key, &list))
		return conn_refused(c);
	for (i = 0; i < json_object_array_length(list); i++)
		if (js_u64(json_object_array_get_idx(list, i), "fabric") == key)
			o = json_object_array_get_idx(list, i);
	if (o)
		*rates = (struct tor_rates){
			.op = js_u64(o, "op_ps"),
			.e = js_u64(o, "round_ps"),
			.f = js_u64(o, "hop_ps"),
			.message = js_u64(o, "message_ps"),
			.link = js_u64(o, "link_fs"),
			.byte = js_u64(o, "byte_fs"),
		};
	json_object_put(list);
	return o ? CTL_OK : usage_error("the fabric is gone");
}

int rates_send(struct conn *c, uint64_t key, const struct tor_rates *rates)
{
	struct nl_msg *msg = conn_request(c, TORCOLL_CMD_TUNE_SET, 0);
	struct tor_rates copy;
	size_t i;

	if (msg)
		nla_put_u64(msg, TORCOLL_A_TUNE_FABRIC, key);
	for (i = 0; msg && rates && i < RATES; i++) {
		copy = *rates;
		nla_put_u64(msg, rates_table[i].attr, *rate_at(&copy, i));
	}
	return conn_call(c, msg, NULL, NULL);
}

int rates_set(struct conn *c, uint64_t key, const struct tor_rates *rates)
{
	return rates_send(c, key, rates) ? conn_refused(c) : CTL_OK;
}

/* --- files: a name and a number on each line --- */

void rates_print(FILE *out, const struct tor_rates *rates)
{
	struct tor_rates copy = *rates;
	size_t i;

	for (i = 0; i < RATES; i++)
		fprintf(out, "%s %llu\n", rates_table[i].name,
			(unsigned long long)*rate_at(&copy, i));
}

static int rate_find(const char *name)
{
	size_t i;

	for (i = 0; i < RATES; i++)
		if (!strcmp(rates_table[i].name, name))
			return i;
	return -1;
}

/* --- times --- */

static const struct {
	const char *name;
	double fs;
} time_units[] = {
	{ "fs", 1 }, { "ps", 1e3 }, { "ns", 1e6 }, { "us", 1e9 }, { "ms", 1e12 }, { "s", 1e15 },
};

/* The unit that the name of a rate ends with, in femtoseconds. */
static double rate_unit(const char *name)
{
	return !strcmp(strchr(name, '-') + 1, "fs") ? 1 : 1e3;
}

/*
 * Parse "12us" for a rate: a number of its unit. One without a unit would be
 * taken for whatever the reader is used to.
 */
static int parse_rate(const struct rate *rate, const char *word, uint64_t *value)
{
	double fs, number;
	char *end;
	size_t i;

	number = strtod(word, &end);
	if (end == word || !isfinite(number) || number < 0)
		return usage_error("%s: \"%s\" is no time: as 12us, 350ns, 60ps", rate->name, word);
	if (!*end)
		return usage_error("%s: \"%s\" of what? Give a unit: %sfs, %sps, %sns, %sus", rate->name,
				   word, word, word, word, word);
	for (i = 0; i < ARRAY_SIZE(time_units); i++)
		if (!strcmp(end, time_units[i].name))
			break;
	if (i == ARRAY_SIZE(time_units))
		return usage_error("%s: \"%s\" is no unit: fs, ps, ns, us, ms or s", rate->name, end);
	fs = number * time_units[i].fs / rate_unit(rate->name);
	if (fs > 1e15)
		return usage_error("%s: %s is far too long", rate->name, word);
	*value = fs + 0.5;
	return 0;
}

/*
 * Take "round TIME", or "round-ps N" as files have it, whose name says the unit.
 */
static int arg_rate(struct args *a, struct tor_rates *rates)
{
	const char *name = arg_next(a), *word;
	const struct rate *rate;
	uint64_t value;
	int i, ret;

	i = word_find(name, rates_table, RATES, sizeof(rates_table[0]), "a rate");
	if (i < 0)
		return CTL_USAGE;
	rate = &rates_table[i];
	if (!arg_once(rate->name))
		return arg_end(a);
	if (!strcmp(name, rate->name)) {
		ret = arg_u64(a, rate->name, &value);
	} else {
		word = arg_need(a, name);
		ret = word ? parse_rate(rate, word, &value) : CTL_USAGE;
	}
	if (!ret)
		*rate_at(rates, i) = value;
	return ret;
}

/* Parse "hop-ps 5000000" and nothing else. Return the rate's place, or -1. */
static int parse_line(char *line, uint64_t *value)
{
	char *name = strtok(line, " \t\r\n"), *number = strtok(NULL, " \t\r\n"), *end;

	if (!name || !number || strtok(NULL, " \t\r\n") || *number < '0' || *number > '9')
		return -1;
	errno = 0;
	*value = strtoull(number, &end, 10);
	return *end || errno ? -1 : rate_find(name);
}

static int load_line(char *line, struct tor_rates *rates, unsigned int *seen)
{
	uint64_t value;
	int i;

	if (line[strspn(line, " \t")] == '#' || line[strspn(line, " \t\r\n")] == '\0')
		return 0;
	i = parse_line(line, &value);
	if (i < 0)
		return -1;
	*rate_at(rates, i) = value;
	*seen |= 1U << i;
	return 0;
}

static int load_lines(FILE *file, const char *name, struct tor_rates *rates)
{
	unsigned int seen = 0, number = 0;
	int i, ret = CTL_OK;
	char *line = NULL;
	size_t room = 0;

	while (!ret && getline(&line, &room, file) >= 0) {
		number++;
		if (load_line(line, rates, &seen))
			ret = usage_error("%s:%u: a rate and a number are expected, such as \"hop-ps 5000000\"",
					  name, number);
	}
	if (!ret && ferror(file))
		ret = usage_error("%s: %s", name, strerror(errno));
	free(line);
	for (i = 0; !ret && i < RATES; i++)
		if (!(seen & 1U << i))
			ret = usage_error("%s: %s is missing", name, rates_table[i].name);
	return ret;
}

static int load(const char *name, struct tor_rates *rates)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	int ret;

	if (!file)
		return usage_error("%s: %s", name, strerror(errno));
	ret = load_lines(file, name, rates);
	if (file != stdin)
		fclose(file);
	return ret;
}

/* A file of a fabric is not overwritten: its section [rates] is. */
static int save_in_fabric(const char *name, const struct tor_rates *rates)
{
	struct tor_rates copy = *rates;
	uint64_t rate[RATES];
	size_t i;

	for (i = 0; i < RATES; i++)
		rate[i] = *rate_at(&copy, i);
	return conf_save_rates(name, rate);
}

static void save_lines(FILE *out, const void *rates)
{
	fputs("# rates of a fabric, for torcollctl tune load: the same on all its nodes\n", out);
	rates_print(out, rates);
}

static int save(const char *name, const struct tor_rates *rates)
{
	int ret;

	/* main() looks whether it could be written */
	if (!strcmp(name, "-")) {
		save_lines(stdout, rates);
		return CTL_OK;
	}
	ret = save_in_fabric(name, rates);
	return ret < 0 ? file_print(name, save_lines, rates) : ret;
}

/* Return an exit code: could save() write the file? */
static int check_save(const char *name)
{
	int ret;

	if (!strcmp(name, "-"))
		return CTL_OK;
	ret = conf_check_rates(name);
	return ret > 0 ? ret : file_check(name);
}

/* --- commands --- */

/*
 * Open a connection, and find the fabric that the next word names, or the only
 * one.
 */
static int begin(struct args *a, struct conn *c, struct place *place)
{
	const char *word = arg_next(a);
	int ret;

	if (arg_end(a))
		return CTL_USAGE;
	ret = conn_need(c);
	if (ret)
		return ret;
	ret = place_find(c, word, place);
	if (ret)
		conn_close(c);
	return ret;
}

static void print_tunes(struct json_object *list)
{
	size_t i, k, n = json_object_array_length(list);

	if (!n)
		fputs("This network namespace belongs to no fabric.\n", stderr);
	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		printf("fabric %s\n", js_str(o, "fabric"));
		for (k = 0; k < RATES; k++) {
			double v = js_u64(o, fields[k + 1].name);

			printf("    %-10s %14.0f   %.4g %s %s\n", rates_table[k].name, v,
			       v / 1e6, k < 4 ? "us" : "ns", units[k]);
		}
	}
}

static int tune_show(struct args *a)
{
	return view_show(a, &tune_view, print_tunes);
}

static int tune_set(struct args *a)
{
	struct tor_rates rates;
	struct args key = { 1, a->argv };
	struct place place;
	struct conn c;
	int ret;

	if (!arg_need(a, "key"))
		return CTL_USAGE;
	ret = begin(&key, &c, &place);
	if (ret)
		return ret;
	ret = rates_get(&c, place.key, &rates);
	if (!ret && !a->argc)
		ret = usage_error("which rate? As in \"tune set %s round 12us\"", key.argv[0]);
	while (!ret && a->argc)
		ret = arg_rate(a, &rates);
	if (!ret)
		ret = rates_set(&c, place.key, &rates);
	conn_close(&c);
	return ret;
}

static int tune_default(struct args *a)
{
	struct place place;
	struct conn c;
	int ret = begin(a, &c, &place);

	if (ret)
		return ret;
	ret = rates_set(&c, place.key, NULL);
	conn_close(&c);
	return ret;
}

static int tune_load(struct args *a)
{
	const char *name = arg_need(a, "the file");
	struct tor_rates rates;
	struct place place;
	struct conn c;
	int ret;

	if (!name || load(name, &rates))
		return CTL_USAGE;
	ret = begin(a, &c, &place);
	if (ret)
		return ret;
	ret = rates_set(&c, place.key, &rates);
	conn_close(&c);
	return ret;
}

static int tune_save(struct args *a)
{
	const char *name = arg_need(a, "the file");
	struct tor_rates rates;
	struct place place;
	struct conn c;
	int ret;

	if (!name)
		return CTL_USAGE;
	ret = begin(a, &c, &place);
	if (ret)
		return ret;
	ret = rates_get(&c, place.key, &rates);
	if (!ret)
		ret = save(name, &rates);
	conn_close(&c);
	return ret;
}

static int tune_run(struct args *a)
{
	const char *word = NULL, *name = NULL;
	struct args key;
	struct place place;
	struct conn c;
	int ret;

	if (a->argc && *a->argv[0] >= '0' && *a->argv[0] <= '9')
		word = arg_next(a);
	if (a->argc && !strcmp(a->argv[0], "save")) {
		arg_next(a);
		name = arg_need(a, "the file");
		if (!name)
			return CTL_USAGE;
	}
	if (arg_end(a))
		return CTL_USAGE;
	key = (struct args){ !!word, (char **)&word };
	ret = begin(&key, &c, &place);
	if (ret)
		return ret;
	if (place.node)
		name = NULL;
	ret = name ? check_save(name) : CTL_OK;
	if (!ret)
		ret = tune_measure(&c, &place);
	if (!ret && name) {
		struct tor_rates rates;

		ret = rates_get(&c, place.key, &rates);
		if (!ret)
			ret = save(name, &rates);
	}
	conn_close(&c);
	return ret;
}

int tune_main(struct args *a)
{
	static const struct command commands[] = {
		{ "run", tune_run },
		{ "show", tune_show },
		{ "set", tune_set },
		{ "default", tune_default },
		{ "save", tune_save },
		{ "load", tune_load },
	};

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
