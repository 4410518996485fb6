// SPDX-License-Identifier: GPL-2.0
/* torcollctl survey: all hosts that cables reach, and their cables. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "survey.h"

static const char help[] =
	"Usage: torcollctl survey show [test] [from FILE]\n"
	"\n"
	"Asks all hosts with the module that cables reach, whether or not a fabric is\n"
	"configured.\n"
	"\n"
	"test   every host tests its cables first, which takes some seconds\n"
	"from   shows what \"torcollctl -j survey show\" has written\n";

static const char *word_up(const struct survey_port *port)
{
	if (!(port->flags & TORCOLL_SURVEY_UP))
		return "down";
	return port->flags & TORCOLL_SURVEY_CARRIER ? "up" : "no-carrier";
}

/* Return the name of a host, or its number if it has not answered. */
static const char *word_host(const struct survey *s, uint64_t id)
{
	const struct survey_host *host = survey_find(s, id);

	return host ? host->name : fmt_str("%016llx", (unsigned long long)id);
}

static const char *word_other(const struct survey *s, const struct survey_port *port)
{
	if (port->flags & TORCOLL_SURVEY_MANY)
		return "several hosts: a switch";
	if (port->peer.host)
		return fmt_str("%s:%s", word_host(s, port->peer.host), port->peer.device);
	/* the other end hears this one */
	if (port->other)
		return fmt_str("%s:%s, which is not heard", port->other->owner->name,
			       port->other->own.device);
	return "";
}

static const char *word_member(const struct survey_port *port)
{
	if (!(port->flags & TORCOLL_SURVEY_MEMBER))
		return "";
	return fmt_str("%llu dim %u %s %s", (unsigned long long)port->key, port->dim,
		       dir_name(port->dir), link_state_name(port->state));
}

static const char *word_test(const struct survey_port *port)
{
	if (!(port->flags & TORCOLL_SURVEY_TESTED))
		return "";
	return fmt_str("%u of %u in %s, %u Mbit/s%s", port->pongs, port->pings,
		       port->pongs ? fmt_ns(port->rtt_median_ns) : "-", port->rate,
		       port->bad ? fmt_str(", %u damaged", port->bad) : "");
}

static void print_survey(const struct survey *s)
{
	struct table t = { 0 };
	unsigned int i, k;

	TABLE_ROW(&t, "HOST", "DEVICE", "MAC", "MTU", "MBIT/S", "STATE", "OTHER END", "FABRIC",
		  "TEST");
	for (i = 0; i < s->nhosts; i++) {
		const struct survey_host *host = s->hosts[i];

		if (!host->nports)
			TABLE_ROW(&t, host->name, "", "", "", "", "", "", "", "");
		for (k = 0; k < host->nports; k++) {
			const struct survey_port *port = &host->ports[k];
			const uint8_t *m = port->own.mac;

			TABLE_ROW(&t, k ? "" : host->name, port->own.device,
				  fmt_str("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3],
					  m[4], m[5]),
				  fmt_str("%u", port->own.mtu),
				  port->speed ? fmt_str("%u", port->speed) : "", word_up(port),
				  word_other(s, port), word_member(port), word_test(port));
		}
	}
	table_print(&t);
}

static int survey_show(struct args *a)
{
	const char *file = NULL;
	struct json_object *o;
	bool test = false;
	struct survey *s;
	int ret;

	while (a->argc) {
		if (arg_is(a, "test")) {
			test = true;
			continue;
		}
		if (!arg_is(a, "from"))
			return arg_end(a);
		file = arg_need(a, "the survey's file");
		if (!file)
			return CTL_USAGE;
	}
	if (file && test)
		return usage_error("a file cannot be tested: \"test\" and \"from\" exclude each other");
	s = survey_new();
	ret = survey_get(s, file, test);
	if (!ret && opt.json) {
		o = survey_json(s);
		js_print(o);
		json_object_put(o);
	} else if (!ret) {
		print_survey(s);
	}
	survey_free(s);
	return ret;
}

int survey_main(struct args *a)
{
	static const struct command commands[] = { { "show", survey_show } };

	return command_run(a, commands, ARRAY_SIZE(commands), 0, help);
}
