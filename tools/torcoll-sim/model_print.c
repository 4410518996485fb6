// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Output of the model's answers as a table, CSV or JSON lines. */
#include "model.h"

#include <inttypes.h>

static const char *const param_names[TORCOLL_PARAM_COUNT] = {
	[TORCOLL_PARAM_CHANNELS] = "channels",
	[TORCOLL_PARAM_R] = "r",
	[TORCOLL_PARAM_BLOCKS] = "blocks",
	[TORCOLL_PARAM_GROUP] = "group",
	[TORCOLL_PARAM_VARIANT] = "variant",
	[TORCOLL_PARAM_CHUNKS] = "chunks",
};

static const char *algorithm_of(const struct model_row *r)
{
	return r->is_auto ? "auto" : tor_algorithm_name(r->offer->algorithm);
}

/* Print auto's choice, and parameters other than the default. */
static const char *params_of(const struct model_row *r, char *text, size_t room)
{
	size_t n = 0;
	u32 i, v;

	text[0] = '\0';
	if (r->is_auto)
		n += snprintf(text, room, "%s", tor_algorithm_name(r->offer->algorithm));
	for (i = 0; i < TORCOLL_PARAM_COUNT; i++) {
		v = r->offer->param[i];
		if (!v || !param_names[i])
			continue;
		/* plans take r as r + 1, since 0 is the default */
		n += snprintf(text + n, room - n, "%s%s=%u", n ? " " : "", param_names[i],
			      v - (i == TORCOLL_PARAM_R));
	}
	return text;
}

static double factor_of(const struct model_run *run, const struct model_row *r)
{
	return r->offer->cost.w / (double)TOR_COST_ONE * model_ports(&run->fabric) / 2;
}

static double goodput_of(const struct model_row *r)
{
	return r->time ? r->bytes * 8e12 / r->time : 0;
}

/*
 * Return the share of the rate that ports would allow if nothing else took
 * time.
 */
static double peak_of(const struct model_run *run, const struct model_row *r)
{
	double bits = 8e15 / run->profile.rates.link;

	return goodput_of(r) / (bits * model_ports(&run->fabric) / 2);
}

void model_print_head(FILE *out, enum model_format format, int argc, char **argv)
{
	int i;

	if (format != MODEL_CSV)
		return;
	fputs("# torcoll-sim", out);
	for (i = 1; i < argc; i++)
		fprintf(out, " %s", argv[i]);
	fputs("\ndims,nodes,collective,algorithm,params,bytes,rounds,hops,factor,time_ns,goodput_bps,"
	      "peak_fraction,msgs_per_node,best_other,gain\n", out);
}

static void print_csv(FILE *out, const struct model_run *run, const struct model_row *r)
{
	char params[96];

	fprintf(out, "%s,%u,%s,%s,%s,%" PRIu64 ",%u,%u,%.6g,%.10g,%.6g,%.4f,%.6g,%s,%.4f\n",
		run->fabric.name, run->fabric.torus.nodes, tor_collective_name(run->collective),
		algorithm_of(r), params_of(r, params, sizeof(params)), r->bytes,
		r->offer->cost.rounds, r->offer->cost.hops, factor_of(run, r), r->time / 1e3,
		goodput_of(r), peak_of(run, r), r->offer->cost.messages / (double)TOR_COST_ONE,
		r->other ? tor_algorithm_name(r->other) : "", r->gain);
}

static void print_json(FILE *out, const struct model_run *run, const struct model_row *r)
{
	char params[96];

	fprintf(out, "{\"dims\":\"%s\",\"nodes\":%u,\"collective\":\"%s\",\"algorithm\":\"%s\",",
		run->fabric.name, run->fabric.torus.nodes, tor_collective_name(run->collective),
		algorithm_of(r));
	fprintf(out, "\"params\":\"%s\",\"bytes\":%" PRIu64 ",\"rounds\":%u,\"hops\":%u,",
		params_of(r, params, sizeof(params)), r->bytes, r->offer->cost.rounds,
		r->offer->cost.hops);
	fprintf(out, "\"factor\":%.6g,\"time_ns\":%.10g,\"goodput_bps\":%.6g,", factor_of(run, r),
		r->time / 1e3, goodput_of(r));
	fprintf(out, "\"peak_fraction\":%.4f,\"msgs_per_node\":%.6g,", peak_of(run, r),
		r->offer->cost.messages / (double)TOR_COST_ONE);
	fprintf(out, "\"best_other\":\"%s\",\"gain\":%.4f}\n",
		r->other ? tor_algorithm_name(r->other) : "", r->gain);
}

static void print_table(FILE *out, const struct model_run *run, const struct model_row *r)
{
	char params[96];

	fprintf(out, "%12" PRIu64 "  %-20s %-24s %7u %7u %9.4f %14.2f %9.2f %6.1f %10.1f  %-20s %+7.1f\n",
		r->bytes, algorithm_of(r), params_of(r, params, sizeof(params)),
		r->offer->cost.rounds, r->offer->cost.hops, factor_of(run, r), r->time / 1e6,
		goodput_of(r) / 1e9, 100 * peak_of(run, r),
		r->offer->cost.messages / (double)TOR_COST_ONE,
		r->other ? tor_algorithm_name(r->other) : "-", 100 * r->gain);
}

void model_print_frames_head(FILE *out, enum model_format format)
{
	if (format == MODEL_TABLE)
		fprintf(out, "%-16s %-14s %10s  %-20s %-10s %6s %5s %7s %13s %13s %7s\n", "shape",
			"collective", "bytes", "algorithm", "parameters", "rounds", "hops", "W",
			"predicted, us", "simulated, us", "%");
	else if (format == MODEL_CSV)
		fputs("dims,collective,bytes,algorithm,params,rounds,hops,w,predicted_ns,simulated_ns,difference\n",
		      out);
}

void model_print_frames(FILE *out, enum model_format format, const struct model_run *run,
			const struct model_row *r, u64 ns)
{
	static const char *const formats[] = {
		[MODEL_TABLE] = "%-16s %-14s %10" PRIu64 "  %-20s %-10s %6u %5u %7.4f",
		[MODEL_CSV] = "%s,%s,%" PRIu64 ",%s,%s,%u,%u,%.6g",
		[MODEL_JSON] = "{\"dims\":\"%s\",\"collective\":\"%s\",\"bytes\":%" PRIu64 ",\"algorithm\":\"%s\",\"params\":\"%s\",\"rounds\":%u,\"hops\":%u,\"w\":%.6g",
	};
	double differs = 1000.0 * ns / r->time - 1;
	char params[96];

	fprintf(out, formats[format], run->fabric.name, tor_collective_name(run->collective),
		r->bytes, algorithm_of(r), params_of(r, params, sizeof(params)),
		r->offer->cost.rounds, r->offer->cost.hops,
		r->offer->cost.w / (double)TOR_COST_ONE);
	if (format == MODEL_TABLE)
		fprintf(out, " %13.2f %13.2f %+7.1f\n", r->time / 1e6, ns / 1e3, 100 * differs);
	else if (format == MODEL_CSV)
		fprintf(out, ",%.10g,%" PRIu64 ",%.4f\n", r->time / 1e3, ns, differs);
	else
		fprintf(out, ",\"predicted_ns\":%.10g,\"simulated_ns\":%" PRIu64 ",\"difference\":%.4f}\n",
			r->time / 1e3, ns, differs);
}

void model_print(FILE *out, enum model_format format, const struct model_run *run,
		 const struct model_answer *answer)
{
	const struct model_row *r;

	if (format == MODEL_TABLE)
		fprintf(out, "%s on %s, %u nodes, profile %s\n%12s  %-20s %-24s %7s %7s %9s %14s %9s %6s %10s  %-20s %7s\n",
			tor_collective_name(run->collective), run->fabric.name,
			run->fabric.torus.nodes, run->profile.name, "bytes", "algorithm", "parameters",
			"rounds", "hops", "factor", "time (us)", "Gb/s", "peak %", "msgs/node",
			"best other", "gain %");
	for (r = answer->row; r < answer->row + answer->rows; r++) {
		if (format == MODEL_TABLE)
			print_table(out, run, r);
		else if (format == MODEL_CSV)
			print_csv(out, run, r);
		else
			print_json(out, run, r);
	}
}

void model_print_auto(FILE *out, const struct model_run *run, const struct model_answer *answer)
{
	const struct model_row *r;

	for (r = answer->row; r < answer->row + answer->rows; r++)
		if (r->is_auto)
			print_csv(out, run, r);
}
