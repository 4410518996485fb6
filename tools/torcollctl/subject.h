/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port under test: its cable is measured, compared with its siblings, judged,
 * and shown.
 */
#ifndef _CTL_SUBJECT_H
#define _CTL_SUBJECT_H

#include "cable.h"
#include "ctl.h"
#include "verdict.h"

/**
 * struct subject_plan - how to test
 * @seconds: duration under load
 * @window: frames under way then
 */
struct subject_plan {
	uint32_t seconds;
	uint32_t window;
};

/**
 * struct subject - a port under test
 * @port, @fabric: of the views; borrowed
 * @measured: @rest, @load and @errors are valid
 * @error: why a test broke off, a negative errno; 0: none did
 * @bytes: of frames under load, behind the MAC header
 * @rest, @load: results
 * @errors: counted by the device meanwhile
 * @link_bps: speed of the device, 0: not known
 * @verdict: on its cable
 */
struct subject {
	struct json_object *port, *fabric;
	bool measured;
	int error;
	uint32_t bytes;
	struct cable_result rest, load;
	struct json_object *errors;
	uint64_t link_bps;
	struct verdict verdict;
};

void subject_init(struct subject *s, struct json_object *fabric, struct json_object *port);
void subject_free(struct subject *s);

/* Return whether the port is up, so that its cable can be measured. */
bool subject_is_up(const struct subject *s);

/**
 * subject_measure - test the cable
 * @s: subject; what was measured before is kept, with the better times
 * @route: rtnetlink
 * @plan: how
 *
 * A test that breaks off is a fact about the cable: @s->error.
 *
 * Return: CTL_OK, or CTL_REFUSED after printing why no cable can be tested.
 */
int subject_measure(struct subject *s, struct conn *route, const struct subject_plan *plan);

/* Make the verdict on @s, one of the @n @subjects of this host. */
void subject_judge(struct subject *s, const struct subject *subjects, size_t n,
		   const struct subject_plan *plan);

void subject_print(const struct subject *s, const struct subject_plan *plan);
/* To be put. */
struct json_object *subject_json(const struct subject *s, const struct subject_plan *plan);

#endif
