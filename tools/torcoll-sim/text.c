// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Scenarios as text, to keep, to edit and to replay: a line per object, words
 * of name=value; zeros are omitted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/names.h"
#include "sim.h"

#define HEAD	"torcoll-sim/1"
#define BLANKS	" \t\r\n"

const char *const sim_class_names[SIM_CLASSES] = {
	[SIM_LOSS] = "loss",
	[SIM_DUPLICATION] = "duplication",
	[SIM_REORDERING] = "reordering",
	[SIM_HEADER_CORRUPTION] = "header-corruption",
	[SIM_PAYLOAD_CORRUPTION] = "payload-corruption",
	[SIM_DELAY] = "delay",
	[SIM_FULL_QUEUE] = "full-queue",
	[SIM_NO_MEMORY] = "no-memory",
	[SIM_NO_FPU] = "no-fpu",
	[SIM_LATE_PAYLOAD] = "late-payload",
	[SIM_CUT] = "cut",
	[SIM_ONE_WAY_CUT] = "one-way-cut",
	[SIM_FLAPPING] = "flapping",
	[SIM_CRASH] = "crash",
	[SIM_RETURN] = "return",
	[SIM_REROUTE] = "reroute",
	[SIM_SLOW_NODE] = "slow-node",
	[SIM_LATE_RANK] = "late-rank",
	[SIM_PROCESS_ABORT] = "process-abort",
	[SIM_CANCEL] = "cancel",
	[SIM_MISMATCH] = "mismatch",
	[SIM_DEADLINE] = "deadline",
	[SIM_OVERLAP] = "overlapping-comms",
	[SIM_SUB_TORUS] = "sub-torus",
	[SIM_LIST] = "list",
	[SIM_BUDGET] = "budget",
	[SIM_PACKET] = "packet",
	[SIM_PACKET_AGAIN] = "packet-again",
};

static const char *const incident_names[SIM_INCIDENT_KINDS] = {
	[SIM_INCIDENT_NONE] = "none",
	[SIM_INCIDENT_CUT] = "cut",
	[SIM_INCIDENT_FLAP] = "flap",
	[SIM_INCIDENT_CRASH] = "crash",
	[SIM_INCIDENT_PAUSE] = "pause",
	[SIM_INCIDENT_SLOW] = "slow",
	[SIM_INCIDENT_KILL] = "kill",
	[SIM_INCIDENT_CANCEL] = "cancel",
	[SIM_INCIDENT_MISMATCH] = "mismatch",
	[SIM_INCIDENT_ABSENT] = "absent",
	[SIM_INCIDENT_LATE] = "late",
};

static int parse_name(const char *const *names, u32 count, const char *name)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

int sim_type_parse(const char *name)
{
	return parse_name(tor_type_names, ARRAY_SIZE(tor_type_names), name);
}

int sim_redop_parse(const char *name)
{
	return parse_name(tor_redop_names, ARRAY_SIZE(tor_redop_names), name);
}

int sim_class_parse(const char *name)
{
	return parse_name(sim_class_names, SIM_CLASSES, name);
}

static int incident_parse(const char *name)
{
	return parse_name(incident_names, SIM_INCIDENT_KINDS, name);
}

static const char *type_name(u32 type)
{
	return tor_type_names[type];
}

static const char *redop_name(u32 redop)
{
	return tor_redop_names[redop];
}

static const char *incident_name(u32 kind)
{
	return incident_names[kind];
}

/* --- fields --- */

struct field {
	const char *name;
	size_t at;
	const char *(*print)(u32 value);	/* NULL: a number */
	int (*parse)(const char *name);
};

#define NUMBER(type, member)	{ #member, offsetof(struct type, member), NULL, NULL }

static const struct field scenario_fields[] = {
	NUMBER(sim_scenario, seed),
	NUMBER(sim_scenario, cables),
	NUMBER(sim_scenario, per_link),
	NUMBER(sim_scenario, frame_size),
	NUMBER(sim_scenario, delay),
	NUMBER(sim_scenario, rate),
	NUMBER(sim_scenario, queue),
	NUMBER(sim_scenario, acks_first),
	NUMBER(sim_scenario, swift),
	NUMBER(sim_scenario, hello),
	NUMBER(sim_scenario, skew),
	NUMBER(sim_scenario, timer_slack),
	NUMBER(sim_scenario, shatter),
	NUMBER(sim_scenario, no_checksum),
	NUMBER(sim_scenario, budget_bytes),
	NUMBER(sim_scenario, budget_frames),
	NUMBER(sim_scenario, lockstep),
	NUMBER(sim_scenario, loss),
	NUMBER(sim_scenario, duplicate),
	NUMBER(sim_scenario, reorder),
	NUMBER(sim_scenario, corrupt_header),
	NUMBER(sim_scenario, corrupt_payload),
	NUMBER(sim_scenario, spike),
	NUMBER(sim_scenario, no_memory),
	NUMBER(sim_scenario, no_fpu),
	NUMBER(sim_scenario, late_payload),
	NUMBER(sim_scenario, packets),
	NUMBER(sim_scenario, packet_gap),
	NUMBER(sim_scenario, epilogue),
	{ }
};

static const struct field group_fields[] = {
	NUMBER(sim_group_spec, ranks),
	NUMBER(sim_group_spec, whole),
	NUMBER(sim_group_spec, depth),
	NUMBER(sim_group_spec, pace),
	NUMBER(sim_group_spec, blocking),
	{ }
};

static const struct field call_fields[] = {
	{ "collective", offsetof(struct sim_call, collective), tor_collective_name,
	  tor_collective_parse },
	{ "algorithm", offsetof(struct sim_call, algorithm), tor_algorithm_name,
	  tor_algorithm_parse },
	{ "type", offsetof(struct sim_call, type), type_name, sim_type_parse },
	{ "redop", offsetof(struct sim_call, redop), redop_name, sim_redop_parse },
	NUMBER(sim_call, bits),
	NUMBER(sim_call, root),
	NUMBER(sim_call, peer),
	NUMBER(sim_call, channels),
	NUMBER(sim_call, r),
	NUMBER(sim_call, blocks),
	NUMBER(sim_call, variant),
	NUMBER(sim_call, chunks),
	NUMBER(sim_call, count),
	NUMBER(sim_call, uneven),
	NUMBER(sim_call, rounds),
	NUMBER(sim_call, input),
	{ }
};

static const struct field incident_fields[] = {
	{ "kind", offsetof(struct sim_incident, kind), incident_name, incident_parse },
	NUMBER(sim_incident, node),
	NUMBER(sim_incident, port),
	NUMBER(sim_incident, at),
	NUMBER(sim_incident, until),
	NUMBER(sim_incident, period),
	NUMBER(sim_incident, down),
	NUMBER(sim_incident, one_way),
	NUMBER(sim_incident, carrier),
	NUMBER(sim_incident, factor),
	NUMBER(sim_incident, group),
	NUMBER(sim_incident, rank),
	NUMBER(sim_incident, call),
	NUMBER(sim_incident, patience),
	{ }
};

/* --- writing --- */

static void write_fields(FILE *file, const char *what, const struct field *f, const void *base)
{
	fputs(what, file);
	for (; f->name; f++) {
		u64 value = *(const u64 *)((const char *)base + f->at);

		if (!value)
			continue;
		if (f->print)
			fprintf(file, " %s=%s", f->name, f->print(value));
		else
			fprintf(file, " %s=%llu", f->name, (unsigned long long)value);
	}
	fputc('\n', file);
}

static void write_group(FILE *file, const struct sim_group_spec *g)
{
	u32 i;

	write_fields(file, "comm", group_fields, g);
	if (!g->whole) {
		fputs("members", file);
		for (i = 0; i < g->ranks; i++)
			fprintf(file, " %u", g->member[i]);
		fputc('\n', file);
	}
	for (i = 0; i < g->calls; i++)
		write_fields(file, "call", call_fields, &g->call[i]);
}

void sim_scenario_write(const struct sim_scenario *s, void *file)
{
	u32 i;

	fprintf(file, HEAD " %s\n", s->dims);
	write_fields(file, "with", scenario_fields, s);
	for (i = 0; i < s->groups; i++)
		write_group(file, &s->group[i]);
	for (i = 0; i < s->incidents; i++)
		write_fields(file, "incident", incident_fields, &s->incident[i]);
}

/* --- reading --- */

static bool read_field(char *word, const struct field *f, void *base)
{
	char *value = strchr(word, '='), *end;
	u64 *to;
	int n;

	if (!value)
		return false;
	*value++ = '\0';
	for (; f->name && strcmp(f->name, word); f++)
		;
	if (!f->name)
		return false;
	to = (u64 *)((char *)base + f->at);
	if (f->parse) {
		n = f->parse(value);
		*to = n;
		return n >= 0;
	}
	*to = strtoull(value, &end, 10);
	return end != value && !*end;
}

static bool read_fields(const struct field *f, void *base)
{
	char *word;

	while ((word = strtok(NULL, BLANKS)))
		if (!read_field(word, f, base))
			return false;
	return true;
}

static bool read_members(struct sim_group_spec *g)
{
	u32 n = 0;
	char *word;

	for (; (word = strtok(NULL, BLANKS)); n++) {
		if (n == SIM_NODES_MAX)
			return false;
		g->member[n] = strtoul(word, NULL, 10);
	}
	return n == g->ranks;
}

static bool read_line(struct sim_scenario *s, char *line)
{
	struct sim_group_spec *g = s->groups ? &s->group[s->groups - 1] : NULL;
	const char *what = strtok(line, BLANKS);

	if (!what || *what == '#')
		return true;
	if (!strcmp(what, HEAD)) {
		what = strtok(NULL, BLANKS);
		snprintf(s->dims, sizeof(s->dims), "%s", what ? what : "");
		return true;
	}
	if (!strcmp(what, "with"))
		return read_fields(scenario_fields, s);
	if (!strcmp(what, "comm") && s->groups < SIM_GROUPS_MAX)
		return read_fields(group_fields, &s->group[s->groups++]);
	if (!strcmp(what, "members") && g)
		return read_members(g);
	if (!strcmp(what, "call") && g && g->calls < SIM_CALLS_MAX)
		return read_fields(call_fields, &g->call[g->calls++]);
	if (!strcmp(what, "incident") && s->incidents < SIM_INCIDENTS_MAX)
		return read_fields(incident_fields, &s->incident[s->incidents++]);
	return false;
}

static bool is_sound(const struct sim_scenario *s)
{
	u32 i, k;

	for (i = 0; i < s->groups; i++) {
		const struct sim_group_spec *g = &s->group[i];

		if (!g->ranks || !g->depth || (g->whole && g->ranks != s->torus.nodes))
			return false;
		for (k = 0; !g->whole && k < g->ranks; k++)
			if (g->member[k] >= s->torus.nodes)
				return false;
		for (k = 0; k < g->calls; k++)
			if (g->call[k].collective == TORCOLL_SEND &&
			    (s->lockstep || g->call[k].root == g->call[k].peer))
				return false;
	}
	for (i = 0; i < s->incidents; i++)
		if (s->incident[i].node >= s->torus.nodes || s->incident[i].group >= s->groups ||
		    tor_cable_link(s->incident[i].port) >= s->torus.ports ||
		    tor_cable_place(s->incident[i].port) >= s->per_link ||
		    s->incident[i].rank >= s->group[s->incident[i].group].ranks)
			return false;
	return s->groups && s->per_link <= TOR_LINK_CABLES && s->rate && s->queue && s->hello && s->frame_size;
}

bool sim_scenario_read(struct sim_scenario *s, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1 << 14];
	u32 n = 0;

	memset(s, 0, sizeof(*s));
	if (!file) {
		fprintf(stderr, "torcoll-sim: %s: %s\n", path, strerror(errno));
		return false;
	}
	while (fgets(line, sizeof(line), file)) {
		n++;
		if (read_line(s, line))
			continue;
		fprintf(stderr, "torcoll-sim: %s:%u cannot be read\n", path, n);
		fclose(file);
		return false;
	}
	fclose(file);
	/* files of before there were several */
	s->per_link = s->per_link ? s->per_link : 1;
	if (sim_scenario_shape(s) && is_sound(s))
		return true;
	fprintf(stderr, "torcoll-sim: %s makes no sense\n", path);
	return false;
}
