// SPDX-License-Identifier: GPL-2.0
/* Verdicts on cables. See verdict.h. */
#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Frames lost, in millionths, that make a cable bad. Below, it is the hosts: a
 * ring that is full for a moment. From here on the resending shows in the time
 * of large operations, each of which sends more than ten thousand frames.
 *
 * Damage has no such limit: a cable that meets the standard's bit error rate of
 * 10^-12 damages one of ten million frames, more than a test sends.
 */
#define LOST_PPM	100

/*
 * Percents of the usual rate below which a cable is slow, or bad. Measurements
 * of the same cable on a busy host differ by less than the first. The second is
 * less than what the next lower speed of Ethernet leaves (2.5 of 5 Gb/s, 10 of
 * 25): the cable is broken, or something limits it.
 */
#define SLOW_PERCENT	70
#define BAD_PERCENT	30

/*
 * Percent of the devices' link speed below which a cable is bad. With a fast
 * device the host limits the rate of a test, and the cable is no worse than
 * slow; but every host sends 1 Gb/s, a hundredth of the fastest.
 */
#define BAD_SPEED_PERCENT	1

/*
 * A round trip is bad if it is so many times the usual one, and so much longer:
 * moderated interrupts and idle states delay single frames by some 100 us.
 */
#define RTT_TIMES	5
#define RTT_MORE_NS	1000000

#define MILLION		1000000

static const char advice_down[] =
	"check that both devices are up and the cable is plugged in at both ends; \"torcollctl port show\" at each end says what it hears";
static const char advice_cable[] =
	"replace the cable or the port: swap the cable with a sibling's to see which; a fault that moves with the cable is the cable's";
static const char advice_lost[] =
	"look at both ends for rings that are too small (ethtool -g) and for qdiscs that drop (tc -s qdisc show), then replace the cable or the port: swap the cable with a sibling's to see which";
static const char advice_rate[] =
	"compare both ends' link speed (ethtool) and qdiscs (tc qdisc show) with the siblings', then swap the cable with a sibling's to see whether it is the cable or the port";
static const char advice_rtt[] =
	"look at both ends for what delays frames (tc qdisc show, ethtool -c), and for a device between the hosts";

const char *const verdict_words[3] = {
	[VERDICT_GOOD] = "good",
	[VERDICT_SLOW] = "slow",
	[VERDICT_BAD] = "BAD",
};

const char *verdict_rate(char text[32], uint64_t bps)
{
	if (bps < 1000000)
		snprintf(text, 32, "%.1f kb/s", bps / 1e3);
	else if (bps < 1000000000)
		snprintf(text, 32, "%.1f Mb/s", bps / 1e6);
	else
		snprintf(text, 32, "%.2f Gb/s", bps / 1e9);
	return text;
}

const char *verdict_share(char text[32], uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * part / whole : 0;

	snprintf(text, 32, percent >= 10 ? "%.0f %%" : percent >= 0.1 || !part ? "%.1f %%" : "%.4f %%",
		 percent);
	return text;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t verdict_median(uint64_t *values, size_t n, bool upper)
{
	verdict_sort(values, n);
	return verdict_median_but(values, n, NULL, 0, upper);
}

void verdict_sort(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
}

/* Return how many of sorted values are smaller than that one. */
static size_t count_smaller(const uint64_t *values, size_t n, uint64_t than)
{
	size_t from = 0;

	while (from < n) {
		size_t at = from + (n - from) / 2;

		if (values[at] < than)
			from = at + 1;
		else
			n = at;
	}
	return from;
}

uint64_t verdict_median_but(const uint64_t *values, size_t n, const uint64_t *own, size_t owns,
			    bool upper)
{
	size_t zeros = count_smaller(values, n, 1), i, at, same = 0;

	while (owns && !*own) {
		own++;
		owns--;
	}
	if (zeros + owns >= n)
		return 0;
	at = zeros + (n - zeros - owns - !upper) / 2;
	/* the place of a value among the others, step by step among all */
	for (i = 0; i < owns; i++) {
		same = i && own[i] == own[i - 1] ? same + 1 : 0;
		at += at >= count_smaller(values, n, own[i]) + same;
	}
	return values[at];
}

int verdict_compare(const struct verdict *a, const struct verdict *b)
{
	if (a->word != b->word)
		return a->word < b->word ? 1 : -1;
	return (a->share < b->share) - (a->share > b->share);
}

/* Add a reason; the advice is that of the worst. */
static void __attribute__((format(printf, 5, 6)))
add_reason(struct verdict *v, enum verdict_word word, double share, const char *advice,
	   const char *fmt, ...)
{
	uint32_t millionths = (share < 0 ? 0 : share > 1 ? 1 : share) * MILLION;
	va_list ap;

	if (!v->advice || word > v->word || (word == v->word && millionths > v->share))
		v->advice = advice;
	if (word > v->word)
		v->share = 0;
	if (word >= v->word) {
		v->word = word;
		v->share = millionths > v->share ? millionths : v->share;
	}
	if (v->reasons == VERDICT_REASONS)
		return;
	va_start(ap, fmt);
	vsnprintf(v->reason[v->reasons++], VERDICT_TEXT, fmt, ap);
	va_end(ap);
}

static bool loses(const struct verdict_way *way)
{
	return way->lost * MILLION > way->sent * LOST_PPM;
}

bool verdict_is_measure(const struct verdict_cable *c)
{
	return !c->down && !c->silent && !c->way[0].damaged && !c->way[1].damaged &&
	       !loses(&c->way[0]) && !loses(&c->way[1]);
}

static void judge_loss(struct verdict *v, const struct verdict_way *way)
{
	char share[32];

	/* other traffic is damaged too */
	if (way->damaged > way->sent)
		add_reason(v, VERDICT_BAD, 1, advice_cable, "%llu frames to %s arrived damaged",
			   (unsigned long long)way->damaged, way->to);
	else if (way->damaged)
		add_reason(v, VERDICT_BAD, (double)way->damaged / way->sent, advice_cable,
			   "%llu of %llu frames to %s arrived damaged (%s)",
			   (unsigned long long)way->damaged, (unsigned long long)way->sent, way->to,
			   verdict_share(share, way->damaged, way->sent));
	if (loses(way))
		add_reason(v, VERDICT_BAD, (double)way->lost / way->sent,
			   way->damaged ? advice_cable : advice_lost,
			   "%llu of %llu frames to %s were lost (%s)",
			   (unsigned long long)way->lost, (unsigned long long)way->sent, way->to,
			   verdict_share(share, way->lost, way->sent));
}

static bool is_below(uint64_t bps, uint64_t than, unsigned int percent)
{
	return (double)bps * 100 < (double)than * percent;
}

/*
 * A link that was negotiated to be slow carries what it can, and may be meant
 * to be slow: it is not bad, but for a link a hundred times slower.
 */
static void judge_siblings(struct verdict *v, const struct verdict_way *way, uint64_t siblings,
			   uint64_t link)
{
	bool full = link && !is_below(way->bps, link, SLOW_PERCENT);
	unsigned int bad = full ? BAD_SPEED_PERCENT : BAD_PERCENT;
	char rate[32], usual[32], share[32], speed[32];

	v->slow = true;
	add_reason(v, is_below(way->bps, siblings, bad) ? VERDICT_BAD : VERDICT_SLOW,
		   1 - (double)way->bps / siblings, advice_rate,
		   "%s to %s, %s of its siblings' %s (median)%s%s", verdict_rate(rate, way->bps), way->to,
		   verdict_share(share, way->bps, siblings), verdict_rate(usual, siblings),
		   full ? ": all that its link speed allows, " : "",
		   full ? verdict_rate(speed, link) : "");
}

static void judge_rate(struct verdict *v, const struct verdict_cable *c,
		       const struct verdict_way *way)
{
	uint64_t siblings = way->usual_bps, link = c->link_bps;
	char rate[32], speed[32], share[32];
	bool slow;

	if (!way->bps)
		return;
	/* a long round trip explains the rate, and is judged itself */
	if (c->most_bps && siblings > c->most_bps)
		siblings = c->most_bps;
	if (c->most_bps && link > c->most_bps)
		link = 0;
	slow = is_below(way->bps, siblings, SLOW_PERCENT);
	if (slow)
		judge_siblings(v, way, siblings, link);
	if (link && is_below(way->bps, link, SLOW_PERCENT))
		add_reason(v, is_below(way->bps, link, BAD_SPEED_PERCENT) ? VERDICT_BAD : VERDICT_SLOW,
			   1 - (double)way->bps / link, advice_rate,
			   "%s to %s, %s of the device's link speed, %s%s",
			   verdict_rate(rate, way->bps), way->to, verdict_share(share, way->bps, link),
			   verdict_rate(speed, link), siblings && !slow ?
			   "; its siblings are as slow, so the host may be the limit" : "");
}

static void judge_rtt(struct verdict *v, const struct verdict_cable *c)
{
	if (!c->usual_rtt_ns || c->rtt_ns <= c->usual_rtt_ns * RTT_TIMES ||
	    c->rtt_ns < c->usual_rtt_ns + RTT_MORE_NS)
		return;
	v->slow = true;
	add_reason(v, VERDICT_BAD, 1 - (double)c->usual_rtt_ns / c->rtt_ns, advice_rtt,
		   "a round trip takes %.1f ms, %.0f times its siblings' %.3f ms (median)",
		   c->rtt_ns / 1e6, (double)c->rtt_ns / c->usual_rtt_ns, c->usual_rtt_ns / 1e6);
}

void verdict_judge(struct verdict *v, const struct verdict_cable *c)
{
	size_t i;

	memset(v, 0, sizeof(*v));
	if (c->down) {
		add_reason(v, VERDICT_BAD, 1, advice_down, "%s", c->down);
		return;
	}
	if (c->silent) {
		add_reason(v, VERDICT_BAD, 1, advice_cable,
			   "no test frame to %s was answered: one direction of the cable loses everything",
			   c->way[0].to);
		return;
	}
	for (i = 0; i < 2; i++)
		judge_loss(v, &c->way[i]);
	if (c->errors)
		add_reason(v, VERDICT_BAD, 0, advice_cable, "the device counted %s", c->errors);
	for (i = 0; i < 2; i++)
		judge_rate(v, c, &c->way[i]);
	judge_rtt(v, c);
}
