/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The rules of torcollctl fabric check, on surveys made in memory. */
#ifndef _CHECK_FINDINGS_H
#define _CHECK_FINDINGS_H

#include "host_env.h"
#include "survey_torus.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/shape.c"
#include "../../tools/torcollctl/map.c"
#include "../../tools/torcollctl/check.c"
#include "../../tools/torcollctl/check_hosts.c"
#include "../../tools/torcollctl/check_settings.c"
#include "../../tools/torcollctl/check_wiring.c"
#include "../../tools/torcollctl/check_links.c"
#include "../../tools/torcollctl/check_cables.c"

struct options opt;

const char *link_state_name(uint32_t state)
{
	if (state == TORCOLL_LINK_STATE_NO_CARRIER)
		return "no-carrier";
	return state == TORCOLL_LINK_STATE_VERSION ? "version" : "?";
}

/* Check @s, and compare with "RULE: WHAT" of all that was found. */
static void finds_since(const struct survey *s, const struct survey *before, const char *expected)
{
	struct check *c = check_new(s, before, before, TORUS_KEY);
	char text[4096] = "";
	uint32_t i;

	assert_non_null(c);
	for (i = 0; i < c->nfindings; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s\n",
			 c->finding[i].rule, c->finding[i].what);
	assert_string_equal(text, expected);
	check_free(c);
}

static void finds(const struct survey *s, const char *expected)
{
	finds_since(s, NULL, expected);
}

/* The remedy of the only finding. */
static void advises(const struct survey *s, const char *expected)
{
	struct check *c = check_new(s, NULL, NULL, TORUS_KEY);

	assert_int_equal(c->nfindings, 1);
	assert_string_equal(c->finding[0].remedy, expected);
	check_free(c);
}

static void set_state(struct survey_port *p, uint8_t state)
{
	p->state = state;
	p->since_ms = 60000;
	p->downs++;
	p->flags &= ~TORCOLL_SURVEY_TESTED;
}

#endif
