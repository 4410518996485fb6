/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verdicts on cables: what measurements say of a cable, in words, with reasons
 * and advice. Pure functions of the measurements.
 */
#ifndef _CTL_VERDICT_H
#define _CTL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERDICT_REASONS	8
#define VERDICT_TEXT	256

/**
 * struct verdict_way - one direction of a cable
 * @to: who receives, as sentences name it: "node 5", "b:enp2"
 * @sent: frames; 0: nothing was measured
 * @lost: of them, frames that did not arrive at all
 * @damaged: frames that arrived with a wrong checksum
 * @bps: rate, bits per second; 0: not known
 * @usual_bps: median of the siblings' rates; 0: not known
 */
struct verdict_way {
	const char *to;
	uint64_t sent, lost, damaged;
	uint64_t bps, usual_bps;
};

/**
 * struct verdict_cable - what was measured of a cable
 * @down: a sentence that says why it carries nothing; NULL: it does
 * @silent: frames were sent and none was answered: where they are lost is not
 *	known
 * @way: its two directions
 * @link_bps: speed of the devices, of the slower one; 0: not known
 * @most_bps: what the test reaches at most at this round trip, because it waits
 *	for answers; 0: no limit
 * @rtt_ns: median of the round trips of an idle cable; 0: not known
 * @usual_rtt_ns: median of the siblings'; 0: not known
 * @errors: other errors that the device counted meanwhile, or NULL
 */
struct verdict_cable {
	const char *down;
	bool silent;
	struct verdict_way way[2];
	uint64_t link_bps, most_bps;
	uint64_t rtt_ns, usual_rtt_ns;
	const char *errors;
};

enum verdict_word {
	VERDICT_GOOD,
	VERDICT_SLOW,
	VERDICT_BAD,
};

/**
 * struct verdict - the verdict on a cable
 * @word: the worst of all reasons
 * @share: for comparisons of cables with the same word: the share of what a
 *	good cable carries that this one does not, in millionths
 * @reason: @reasons sentences, without a full stop
 * @advice: what to do, or NULL
 * @slow: a reason is speed or round trips: a busy host can have caused it, so
 *	the cable should be measured again
 */
struct verdict {
	enum verdict_word word;
	uint32_t share;
	unsigned int reasons;
	char reason[VERDICT_REASONS][VERDICT_TEXT];
	const char *advice;
	bool slow;
};

/* "good", "slow", "BAD" */
extern const char *const verdict_words[3];

void verdict_judge(struct verdict *v, const struct verdict_cable *cable);

/* Compare verdicts for qsort(): the worst comes first. */
int verdict_compare(const struct verdict *a, const struct verdict *b);

/*
 * Return whether a cable can be the measure of its siblings: it is up, and what
 * it loses does not slow it down.
 */
bool verdict_is_measure(const struct verdict_cable *cable);

/*
 * The median of @values, which are sorted, without those that are 0; of an even
 * number the upper or the lower one. 0: there is none.
 */
uint64_t verdict_median(uint64_t *values, size_t n, bool upper);

/* Sort values. */
void verdict_sort(uint64_t *values, size_t n);

/* The same of values that are sorted, but for @own, which are some of them, and sorted too. */
uint64_t verdict_median_but(const uint64_t *values, size_t n, const uint64_t *own, size_t owns,
			    bool upper);

/* Write a rate into @text: "9.4 Gb/s". Return @text. */
const char *verdict_rate(char text[32], uint64_t bps);

/* Write @part of @whole into @text: "12 %", "0.02 %". Return @text. */
const char *verdict_share(char text[32], uint64_t part, uint64_t whole);

struct json_object;

/* Add a verdict to a JSON object. */
void verdict_add_json(struct json_object *o, const struct verdict *v);

/* Print reasons and advice, a line each. */
void verdict_print(const struct verdict *v);

#endif
