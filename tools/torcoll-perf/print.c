// SPDX-License-Identifier: GPL-2.0
/*
 * Output of results in common formats: nccl-tests' table, the list of the OSU
 * benchmarks, CSV, JSON Lines.
 */
#include "perf.h"

const char *place_name(enum place where)
{
	return where == IN_PLACE ? "in-place" : "out-of-place";
}

const char *redop_name(enum torcoll_redop redop)
{
	return redop ? torcoll_redop_name(redop) : "none";
}

/* Return bytes over time, GB/s. */
static double algbw(const struct result *r, const struct timing *t)
{
	return t->max_us > 0 ? r->bytes / t->max_us / 1000 : 0;
}

/*
 * Return the rate of the busiest wire of an ideal machine, as nccl-tests does.
 */
double result_busbw(const struct perf *p, const struct result *r, const struct timing *t)
{
	double others = (p->size - 1.0) / p->size;

	switch (p->o->collective) {
	case TORCOLL_ALLREDUCE:
		return algbw(r, t) * 2 * others;
	case TORCOLL_REDUCE_SCATTER:
	case TORCOLL_ALLGATHER:
	case TORCOLL_GATHER:
	case TORCOLL_SCATTER:
		return algbw(r, t) * others;
	default:
		return algbw(r, t);
	}
}

/* ---- table ---- */

static void table_begin(const struct perf *p)
{
	const struct options *o = p->o;

	printf("# torcoll-perf %s: %s, %u ranks, %u iterations, %u warm-up, %u checks\n",
	       torcoll_version(), torcoll_collective_name(o->collective), p->size, o->iters,
	       o->warmup, o->checks);
	if (has_root(o->collective))
		printf("# root %u\n", o->root);
	if (o->uneven)
		printf("# blocks of 0, 1, 2, 3, 0, ... parts\n");
	printf("# time of the slowest rank, #wrong over all ranks%s\n",
	       o->stats ? ", csw: voluntary context switches per op of any rank" : "");
	printf("#\n#%48s", "");
	for (int place = 0; place < PLACES; place++)
		if (o->place[place])
			printf("  %*s", o->stats ? 39 : 33, place_name(place));
	printf("\n#%11s %10s %5s %5s %12s", "size", "count", "type", "redop", "algorithm");
	for (int place = 0; place < PLACES; place++)
		if (o->place[place])
			printf("  %9s %7s %7s %7s%s", "time", "algbw", "busbw", "#wrong",
			       o->stats ? "   csw" : "");
	printf("\n#%11s %10s %5s %5s %12s", "(B)", "(elements)", "", "", "");
	for (int place = 0; place < PLACES; place++)
		if (o->place[place])
			printf("  %9s %7s %7s %7s%s", "(us)", "(GB/s)", "(GB/s)", "",
			       o->stats ? "      " : "");
	printf("\n");
}

static void table_timing(const struct perf *p, const struct result *r, const struct timing *t)
{
	printf("  %9.2f %7.3f %7.3f %7llu", t->max_us, algbw(r, t), result_busbw(p, r, t),
	       (unsigned long long)t->wrong);
	if (p->o->stats)
		printf(" %5.2f", t->switches);
}

/* Print --stats on a line of its own: it would make the table too wide. */
static void table_counters(const struct timing *t, enum place where)
{
	printf("#   %s, per op over all nodes: %llu frames, %llu retransmits, %llu forwarded\n",
	       place_name(where), (unsigned long long)t->counters.frames,
	       (unsigned long long)t->counters.retransmits,
	       (unsigned long long)t->counters.forwarded);
}

static void table_result(const struct perf *p, const struct result *r)
{
	printf(" %11llu %10llu %5s %5s %12s", (unsigned long long)r->bytes,
	       (unsigned long long)r->count, torcoll_type_name(r->type),
	       redop_name(r->redop), torcoll_algorithm_name(r->chosen));
	for (int place = 0; place < PLACES; place++)
		if (p->o->place[place])
			table_timing(p, r, &r->timing[place]);
	printf("\n");
	for (int place = 0; place < PLACES; place++)
		if (p->o->stats && p->o->place[place] && r->timing[place].counted)
			table_counters(&r->timing[place], place);
}

static void table_end(const struct perf *p)
{
	printf("# wrong values: %llu %s\n", (unsigned long long)p->wrong,
	       p->wrong ? "FAILED" : "OK");
	printf("# average bus bandwidth: %.4g GB/s\n",
	       p->busbw_count ? p->busbw_sum / p->busbw_count : 0);
}

/* ---- OSU ---- */

static void osu_begin(const struct perf *p)
{
	printf("\n# torcoll %s latency test, %u ranks\n", torcoll_collective_name(p->o->collective),
	       p->size);
	printf("# %-10s%20s%20s%20s%12s\n", "Size", "Avg Latency(us)", "Min Latency(us)",
	       "Max Latency(us)", "Iterations");
}

static void osu_result(const struct perf *p, const struct result *r)
{
	const struct timing *t = &r->timing[p->o->place[OUT_OF_PLACE] ? OUT_OF_PLACE : IN_PLACE];

	printf("%-12llu%20.2f%20.2f%20.2f%12u\n", (unsigned long long)r->bytes, t->avg_us, t->min_us,
	       t->max_us, p->o->iters);
}

/* ---- CSV and JSON: a row for each way of calling ---- */

static void csv_begin(void)
{
	printf("collective,ranks,bytes,count,type,redop,algorithm,place,time_us,time_min_us,time_avg_us,algbw,busbw,wrong,switches,frames,retransmits,forwarded\n");
}

static void csv_timing(const struct perf *p, const struct result *r, enum place where)
{
	const struct timing *t = &r->timing[where];

	printf("%s,%u,%llu,%llu,%s,%s,%s,%s,%.3f,%.3f,%.3f,%.6f,%.6f,%llu,%.3f,",
	       torcoll_collective_name(p->o->collective), p->size, (unsigned long long)r->bytes,
	       (unsigned long long)r->count, torcoll_type_name(r->type),
	       redop_name(r->redop), torcoll_algorithm_name(r->chosen),
	       place_name(where), t->max_us, t->min_us, t->avg_us, algbw(r, t), result_busbw(p, r, t),
	       (unsigned long long)t->wrong, t->switches);
	if (t->counted)
		printf("%llu,%llu,%llu\n", (unsigned long long)t->counters.frames,
		       (unsigned long long)t->counters.retransmits,
		       (unsigned long long)t->counters.forwarded);
	else
		printf(",,\n");
}

static void json_timing(const struct perf *p, const struct result *r, enum place where)
{
	const struct timing *t = &r->timing[where];

	printf("{\"collective\":\"%s\",\"ranks\":%u,\"bytes\":%llu,\"count\":%llu,\"type\":\"%s\",",
	       torcoll_collective_name(p->o->collective), p->size, (unsigned long long)r->bytes,
	       (unsigned long long)r->count, torcoll_type_name(r->type));
	printf("\"redop\":\"%s\",\"algorithm\":\"%s\",\"place\":\"%s\",\"time_us\":%.3f,",
	       redop_name(r->redop), torcoll_algorithm_name(r->chosen),
	       place_name(where), t->max_us);
	printf("\"time_min_us\":%.3f,\"time_avg_us\":%.3f,\"algbw\":%.6f,\"busbw\":%.6f,",
	       t->min_us, t->avg_us, algbw(r, t), result_busbw(p, r, t));
	printf("\"wrong\":%llu,\"switches\":%.3f", (unsigned long long)t->wrong, t->switches);
	if (t->counted)
		printf(",\"frames\":%llu,\"retransmits\":%llu,\"forwarded\":%llu",
		       (unsigned long long)t->counters.frames,
		       (unsigned long long)t->counters.retransmits,
		       (unsigned long long)t->counters.forwarded);
	printf("}\n");
}

void print_begin(const struct perf *p)
{
	switch (p->o->format) {
	case FORMAT_TABLE:
		table_begin(p);
		break;
	case FORMAT_OSU:
		osu_begin(p);
		break;
	case FORMAT_CSV:
		csv_begin();
		break;
	case FORMAT_JSON:
		break;
	}
	fflush(stdout);
}

void print_result(const struct perf *p, const struct result *r)
{
	switch (p->o->format) {
	case FORMAT_TABLE:
		table_result(p, r);
		break;
	case FORMAT_OSU:
		osu_result(p, r);
		break;
	case FORMAT_CSV:
	case FORMAT_JSON:
		for (int place = 0; place < PLACES; place++) {
			if (!p->o->place[place])
				continue;
			if (p->o->format == FORMAT_CSV)
				csv_timing(p, r, place);
			else
				json_timing(p, r, place);
		}
		break;
	}
	fflush(stdout);
}

void print_end(const struct perf *p)
{
	if (p->o->format == FORMAT_TABLE)
		table_end(p);
	fflush(stdout);
}
