// SPDX-License-Identifier: GPL-2.0
/*
 * torcollctl explain: the plan that `auto` chooses for an op, the alternatives,
 * the predicted times with their parts, and measured times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

static const char help[] =
	"Usage: torcollctl explain allreduce|reduce-scatter|allgather|broadcast|reduce\n"
	"                          BYTES [KEY] [bits agree|ordered|relaxed|exact]\n"
	"\n"
	"BYTES     as 512, 16K, 2M, 1G\n"
	"bits      of sums of floats on all ranks (agree); exact: of integers, where\n"
	"          every plan will do\n"
	"-a        all parameters of all algorithms, not the best ones alone\n";

static const struct field fields[] = {
	FIELD(TORCOLL_A_OBSERVED_FABRIC, FIELD_U64, "fabric"),
	FIELD(TORCOLL_A_OBSERVED_COLLECTIVE, FIELD_U32, "collective"),
	FIELD(TORCOLL_A_OBSERVED_ALGORITHM, FIELD_U32, "algorithm"),
	FIELD(TORCOLL_A_OBSERVED_SIZE_CLASS, FIELD_U32, "size_class"),
	FIELD(TORCOLL_A_OBSERVED_COUNT, FIELD_U64, "count"),
	FIELD(TORCOLL_A_OBSERVED_TOTAL_BYTES, FIELD_U64, "total_bytes"),
	FIELD(TORCOLL_A_OBSERVED_TOTAL_NS, FIELD_U64, "total_ns"),
	FIELD(TORCOLL_A_OBSERVED_BEST_NS, FIELD_U64, "best_ns"),
};

static const struct view observed_view = {
	TORCOLL_CMD_OBSERVED_GET, TORCOLL_A_OBSERVED_FABRIC, fields, ARRAY_SIZE(fields)
};

static const char *const param_names[TORCOLL_PARAM_COUNT] = {
	[TORCOLL_PARAM_CHANNELS] = "channels",
	[TORCOLL_PARAM_R] = "r",
	[TORCOLL_PARAM_BLOCKS] = "blocks",
	[TORCOLL_PARAM_GROUP] = "group",
	[TORCOLL_PARAM_VARIANT] = "variant",
	[TORCOLL_PARAM_CHUNKS] = "chunks",
};

struct question {
	u32 collective;
	u64 bytes;
	enum tor_level level;
	const char *key;
};

static int parse_level(struct args *a, enum tor_level *level)
{
	static const struct {
		const char *name;
		enum tor_level level;
	} names[] = {
		{ "agree", TOR_LEVEL_AGREES }, { "ordered", TOR_LEVEL_SEQUENTIAL },
		{ "relaxed", TOR_LEVEL_ANY }, { "exact", TOR_LEVEL_ANY },
	};
	const char *word = arg_need(a, "what bits must be");
	int i = word ? word_find(word, names, ARRAY_SIZE(names), sizeof(names[0]), "bits") : -1;

	if (i >= 0)
		*level = names[i].level;
	return i < 0 ? CTL_USAGE : CTL_OK;
}

static int parse(struct args *a, struct question *q)
{
	const char *word = arg_need(a, "the collective");
	int c = word ? tor_collective_parse(word) : 0;

	if (!word)
		return CTL_USAGE;
	if (c < TORCOLL_ALLREDUCE || c >= TOR_CHOSEN_COLLECTIVES)
		return usage_error("\"%s\" is none of allreduce, reduce-scatter, allgather, broadcast, reduce",
				   word);
	q->collective = c;
	q->level = TOR_LEVEL_AGREES;
	word = arg_need(a, "the number of bytes");
	if (!word)
		return CTL_USAGE;
	if (!parse_amount(word, &q->bytes))
		return usage_error("\"%s\" is no number of bytes: give one such as 512, 16K, 2M or 1G", word);
	if (a->argc && *a->argv[0] >= '0' && *a->argv[0] <= '9')
		q->key = arg_next(a);
	if (a->argc && arg_is(a, "bits") && parse_level(a, &q->level))
		return CTL_USAGE;
	return arg_end(a);
}

/* --- the answer --- */

static u64 time_of(const struct tor_offer *offer, const struct tor_rates *rates, u64 bytes)
{
	return tor_line_at(tor_cost_line(&offer->cost, rates), bytes);
}

static const struct tor_rates *sort_rates;
static u64 sort_bytes;

static int compare(const void *a, const void *b)
{
	return tor_offer_beats(b, a, sort_rates, sort_bytes) -
	       tor_offer_beats(a, b, sort_rates, sort_bytes);
}

static const char *params_of(const struct tor_offer *offer)
{
	const char *s = "";
	u32 i;

	for (i = 0; i < TORCOLL_PARAM_COUNT; i++)
		if (offer->param[i] && param_names[i])
			/* plans take r as r + 1, since 0 is the default */
			s = fmt_str("%s%s%s=%u", s, *s ? " " : "", param_names[i],
				    offer->param[i] - (i == TORCOLL_PARAM_R));
	return s;
}

static struct json_object *find_observed(struct json_object *list, const struct question *q,
					 u32 algorithm)
{
	u32 size_class = q->bytes > 1 ? fls64(q->bytes - 1) : 0;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (js_u64(o, "collective") == q->collective && js_u64(o, "algorithm") == algorithm &&
		    js_u64(o, "size_class") == size_class)
			return o;
	}
	return NULL;
}

static void add_u64(struct json_object *o, const char *name, u64 value)
{
	json_object_object_add(o, name, json_object_new_int64(value));
}

static struct json_object *describe(const struct tor_offer *offer, const struct tor_rates *rates,
				    const struct question *q, struct json_object *observed)
{
	struct json_object *o = json_object_new_object();
	struct json_object *seen = find_observed(observed, q, offer->algorithm);
	struct tor_time t;

	tor_cost_parts(&offer->cost, rates, q->bytes, &t);
	json_object_object_add(o, "algorithm",
			       json_object_new_string(tor_algorithm_name(offer->algorithm)));
	json_object_object_add(o, "params", json_object_new_string(params_of(offer)));
	add_u64(o, "predicted_ns", time_of(offer, rates, q->bytes) / 1000);
	add_u64(o, "op_ns", t.op / 1000);
	add_u64(o, "rounds_ns", t.rounds / 1000);
	add_u64(o, "hops_ns", t.hops / 1000);
	add_u64(o, "messages_ns", t.messages / 1000);
	add_u64(o, "link_ns", t.link / 1000);
	add_u64(o, "bytes_ns", t.bytes / 1000);
	add_u64(o, "rounds", offer->cost.rounds);
	add_u64(o, "hops", offer->cost.hops);
	if (seen) {
		add_u64(o, "observed_ns", js_u64(seen, "total_ns") / js_u64(seen, "count"));
		add_u64(o, "observed_ops", js_u64(seen, "count"));
	}
	return o;
}

/* List what auto takes first, then what it would take without; of each algorithm the best parameters, or all. */
static struct json_object *list_offers(struct tor_offers *o, const struct tor_rates *rates,
				       const struct question *q, struct json_object *observed)
{
	struct json_object *list = json_object_new_array();
	u32 i, seen = 0;

	sort_rates = rates;
	sort_bytes = q->bytes;
	qsort(o->offer, o->n, sizeof(*o->offer), compare);
	for (i = 0; i < o->n; i++) {
		if (!tor_offer_meets(&o->offer[i], q->level) ||
		    (!opt.all && seen & 1U << o->offer[i].algorithm))
			continue;
		seen |= 1U << o->offer[i].algorithm;
		json_object_array_add(list, describe(&o->offer[i], rates, q, observed));
	}
	return list;
}

static const char *cell_ns(struct json_object *o, const char *name)
{
	return js_has(o, name) ? fmt_ns(js_u64(o, name)) : "-";
}

static void print_text(struct json_object *list, const struct question *q)
{
	struct table t = { 0 };
	size_t i;

	printf("%s of %s: the first is what auto takes\n", tor_collective_name(q->collective),
	       fmt_bytes(q->bytes));
	TABLE_ROW(&t, "algorithm", "parameters", "predicted", "= op", "+ rounds", "+ hops", "+ messages",
		  "+ link", "+ bytes", "observed", "ops");
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		char *cell[9];
		static const char *const names[] = {
			"predicted_ns", "op_ns", "rounds_ns", "hops_ns", "messages_ns", "link_ns", "bytes_ns",
			"observed_ns",
		};
		size_t k;

		/* static buffers hold only some of them at a time */
		for (k = 0; k < ARRAY_SIZE(names); k++)
			cell[k] = strdup(cell_ns(o, names[k]));
		TABLE_ROW(&t, js_str(o, "algorithm"), js_str(o, "params"), cell[0], cell[1], cell[2],
			  cell[3], cell[4], cell[5], cell[6], cell[7],
			  js_has(o, "observed_ops") ? js_str(o, "observed_ops") : "");
		for (k = 0; k < ARRAY_SIZE(names); k++)
			free(cell[k]);
	}
	table_print(&t);
}

static int answer(struct conn *c, const struct question *q)
{
	struct tor_call call = { .collective = q->collective };
	struct json_object *observed, *list;
	struct tor_rates rates;
	struct tor_offers o;
	struct place place;
	int ret;

	ret = place_find(c, q->key, &place);
	if (!ret)
		ret = rates_get(c, place.key, &rates);
	if (ret)
		return ret;
	if (view_dump(c, &observed_view, &place.key, &observed))
		return conn_refused(c);
	call.torus = &place.torus;
	call.ranks = place.torus.nodes;
	if (tor_offers_make(&o, &call)) {
		json_object_put(observed);
		return other_error("out of memory");
	}
	list = list_offers(&o, &rates, q, observed);
	if (opt.json)
		js_print(list);
	else
		print_text(list, q);
	json_object_put(list);
	json_object_put(observed);
	tor_offers_free(&o);
	return CTL_OK;
}

int explain_main(struct args *a)
{
	struct question q = { 0 };
	struct conn c;
	int ret;

	if (!a->argc || !strcmp(a->argv[0], "help")) {
		fputs(help, a->argc ? stdout : stderr);
		return a->argc ? CTL_OK : CTL_USAGE;
	}
	if (!strcmp(a->argv[0], "-a")) {
		arg_next(a);
		opt.all = true;
	}
	if (parse(a, &q))
		return CTL_USAGE;
	ret = conn_need(&c);
	if (ret)
		return ret;
	ret = answer(&c, &q);
	conn_close(&c);
	return ret;
}
