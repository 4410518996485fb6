// SPDX-License-Identifier: GPL-2.0
/* A port under test. See subject.h. */
#include "subject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"

#define REST_FRAMES	200		/* one after the other */
#define REST_BYTES	128
#define REST_NS		2000000000ULL
#define HEADER_BYTES	64
#define ETH_BYTES	14
#define SIBLINGS	64		/* that a cable is compared with */

void subject_init(struct subject *s, struct json_object *fabric, struct json_object *port)
{
	*s = (struct subject){
		.port = port,
		.fabric = fabric,
		.bytes = HEADER_BYTES + js_u64(port, "frame_bytes"),
		.link_bps = nic_speed(js_raw(port, "ifname")),
	};
}

void subject_free(struct subject *s)
{
	free(s->rest.rtt);
	free(s->load.rtt);
	json_object_put(s->errors);
}

bool subject_is_up(const struct subject *s)
{
	return !strcmp(js_str(s->port, "state"), "up");
}

/* --- measuring --- */

/* Return 0, or -EINVAL: the kernel reported none. */
static int parse_mac(const char *text, uint8_t *mac)
{
	return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
		      &mac[4], &mac[5]) == 6 ? 0 : -EINVAL;
}

static int failed(const struct subject *s, const char *why)
{
	fprintf(stderr, "Error: %s: %s\n", js_str(s->port, "ifname"), why);
	return CTL_REFUSED;
}

static uint64_t rtt_of(const struct cable_result *r, unsigned int percent)
{
	return r->rtts ? r->rtt[(r->rtts - 1) * percent / 100] : 0;
}

static uint64_t rate_of(const struct cable_result *r)
{
	return r->ns ? r->bytes * 8e9 / r->ns : 0;
}

/*
 * Replace a result by the next one of the same cable, with the counts of both,
 * and times of the better one.
 */
static void result_merge(struct cable_result *r, struct cable_result *next, bool better)
{
	struct cable_result *other = better ? r : next;
	struct cable_result sum = better ? *next : *r;

	sum.sent = r->sent + next->sent;
	sum.arrived = r->arrived + next->arrived;
	sum.answered = r->answered + next->answered;
	sum.late = r->late + next->late;
	sum.missed = r->missed + next->missed;
	sum.damaged_there = r->damaged_there + next->damaged_there;
	sum.damaged_back = r->damaged_back + next->damaged_back;
	sum.damage_known = r->damage_known && next->damage_known;
	free(other->rtt);
	*r = sum;
}

static void subject_merge(struct subject *s, struct subject *next)
{
	if (!s->measured) {
		s->rest = next->rest;
		s->load = next->load;
		s->errors = next->errors;
		s->measured = true;
		return;
	}
	result_merge(&s->rest, &next->rest, rtt_of(&next->rest, 50) < rtt_of(&s->rest, 50));
	result_merge(&s->load, &next->load, rate_of(&next->load) > rate_of(&s->load));
	json_object_object_foreach(next->errors, name, value)
		json_object_object_add(s->errors, name,
				       json_object_new_uint64(js_u64(s->errors, name) +
							      json_object_get_uint64(value)));
	json_object_put(next->errors);
}

/* Run both phases. Return 0 or a negative errno. */
static int run_phases(struct cable *cable, const struct subject_plan *plan, struct subject *s)
{
	int err = cable_test(cable, REST_BYTES, 1, REST_FRAMES, REST_NS, &s->rest);

	if (!err)
		err = cable_test(cable, s->bytes, plan->window, 0, plan->seconds * 1000000000ULL,
				 &s->load);
	return err;
}

static struct cable *open_cable(const struct subject *s)
{
	struct cable_spec spec = {
		.ifindex = js_u64(s->port, "ifindex"),
		.ethertype = js_u64(s->fabric, "ethertype"),
		.tag = js_u64(s->fabric, "tag"),
		.self = js_u64(s->fabric, "node"),
		.neighbour = js_u64(s->port, "neighbour"),
	};
	struct cable *cable;

	if (parse_mac(js_str(s->port, "mac"), spec.self_mac) ||
	    parse_mac(js_str(s->port, "heard_mac"), spec.neighbour_mac)) {
		failed(s, "the neighbour's address is not known: is its port up? See \"torcollctl port show\"");
		return NULL;
	}
	cable = cable_open(&spec);
	if (!cable)
		failed(s, errno == EPERM ? "not permitted: needs CAP_NET_RAW in this network namespace" :
					   strerror(errno));
	return cable;
}

int subject_measure(struct subject *s, struct conn *route, const struct subject_plan *plan)
{
	struct subject now = { .port = s->port, .fabric = s->fabric, .bytes = s->bytes };
	uint32_t ifindex = js_u64(s->port, "ifindex");
	struct rtnl_link_stats64 before, after;
	struct cable *cable = open_cable(s);

	if (!cable)
		return CTL_REFUSED;
	if (nic_stats(route, ifindex, &before)) {
		cable_close(cable);
		return conn_refused(route);
	}
	s->error = run_phases(cable, plan, &now);
	cable_close(cable);
	if (!s->error)
		s->error = nic_stats(route, ifindex, &after);
	if (s->error) {
		subject_free(&now);
		return CTL_OK;
	}
	now.errors = nic_errors(&before, &after);
	subject_merge(s, &now);
	return CTL_OK;
}

/* --- the verdict --- */

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t crc_errors(const struct subject *s)
{
	return js_u64(s->errors, "rx_crc_errors");
}

/*
 * What did not arrive is lost, unless it was counted as damaged: there by the
 * neighbour's module, on the way back here, or by this device, which drops it.
 */
static void fill_ways(const struct subject *s, struct verdict_way *there, struct verdict_way *back)
{
	const struct cable_result *rest = &s->rest, *load = &s->load;

	there->sent = rest->sent + load->sent;
	there->damaged = rest->damaged_there + load->damaged_there;
	back->sent = rest->arrived + load->arrived;
	back->damaged = rest->damaged_back + load->damaged_back + crc_errors(s);
	there->lost = less(there->sent, back->sent + there->damaged);
	back->lost = less(back->sent, rest->answered + load->answered + rest->missed + load->missed +
				      back->damaged);
	there->bps = rate_of(load);
}

/* Return the other bad counters of the device as text, or NULL. */
static const char *list_errors(const struct subject *s)
{
	const char *text = NULL;

	json_object_object_foreach(s->errors, name, value) {
		/* the CRC errors, which rx_errors includes, are damage already */
		uint64_t n = less(json_object_get_uint64(value),
				  strcmp(name, "rx_errors") ? 0 : crc_errors(s));

		if (n && nic_error_is_bad(name) && strcmp(name, "rx_crc_errors"))
			text = fmt_str("%s%s%llu %s", text ? text : "", text ? ", " : "",
				       (unsigned long long)n, name);
	}
	return text;
}

static const char *why_down(const struct subject *s)
{
	struct json_object *port = s->port;

	if (s->error)
		return fmt_str("the test broke off: %s", strerror(-s->error));
	return js_has(port, "reason") ? fmt_str("the link is %s: %s", js_str(port, "state"),
						js_str(port, "reason")) :
					fmt_str("the link is %s", js_str(port, "state"));
}

/* Fill in what was measured of a subject, or why nothing was. */
static void fill_cable(const struct subject *s, struct verdict_cable *c)
{
	*c = (struct verdict_cable){ .link_bps = s->link_bps };
	if (!s->measured || s->error) {
		c->down = why_down(s);
		return;
	}
	fill_ways(s, &c->way[0], &c->way[1]);
	c->silent = !s->rest.answered && !s->load.answered;
	c->rtt_ns = rtt_of(&s->rest, 50);
}

/* Fill in what the other subjects have in common. */
static void compare_with_siblings(const struct subject *s, const struct subject *subjects, size_t n,
				  struct verdict_cable *c)
{
	uint64_t rate[SIBLINGS], rtt[SIBLINGS];
	struct verdict_cable other;
	size_t i, k = 0;

	for (i = 0; i < n && k < SIBLINGS; i++) {
		if (&subjects[i] == s)
			continue;
		fill_cable(&subjects[i], &other);
		if (!verdict_is_measure(&other))
			continue;
		rate[k] = other.way[0].bps;
		rtt[k++] = other.rtt_ns;
	}
	c->way[0].usual_bps = verdict_median(rate, k, true);
	c->usual_rtt_ns = verdict_median(rtt, k, false);
}

void subject_judge(struct subject *s, const struct subject *subjects, size_t n,
		   const struct subject_plan *plan)
{
	struct verdict_cable c;

	fill_cable(s, &c);
	if (!c.down) {
		compare_with_siblings(s, subjects, n, &c);
		c.errors = list_errors(s);
		if (c.rtt_ns)
			c.most_bps = plan->window * (ETH_BYTES + s->bytes) * 8e9 / c.rtt_ns;
	}
	/* now: texts of fmt_str() do not last */
	c.way[0].to = fmt_str("node %s", js_str(s->port, "neighbour"));
	c.way[1].to = "this node";
	verdict_judge(&s->verdict, &c);
}

/* --- results --- */

static void add_u64(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *result_json(const struct cable_result *r)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "sent", r->sent);
	add_u64(o, "arrived", r->arrived);
	add_u64(o, "answered", r->answered);
	add_u64(o, "late", r->late);
	add_u64(o, "missed", r->missed);
	if (r->damage_known)
		add_u64(o, "damaged_there", r->damaged_there);
	add_u64(o, "damaged_back", r->damaged_back);
	add_u64(o, "ns", r->ns);
	add_u64(o, "bps", rate_of(r));
	if (r->rtts) {
		add_u64(o, "rtt_min_ns", rtt_of(r, 0));
		add_u64(o, "rtt_median_ns", rtt_of(r, 50));
		add_u64(o, "rtt_99_ns", rtt_of(r, 99));
		add_u64(o, "rtt_max_ns", rtt_of(r, 100));
	}
	return o;
}

struct json_object *subject_json(const struct subject *s, const struct subject_plan *plan)
{
	static const char *const same[] = { "fabric", "dim", "dir", "ifname", "neighbour", "state" };
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(same); i++)
		json_object_object_add(o, same[i], json_object_get(js_get(s->port, same[i])));
	if (s->measured) {
		add_u64(o, "frame_bytes", s->bytes);
		add_u64(o, "window", plan->window);
		if (s->link_bps)
			add_u64(o, "link_bps", s->link_bps);
		json_object_object_add(o, "rest", result_json(&s->rest));
		json_object_object_add(o, "load", result_json(&s->load));
		json_object_object_add(o, "errors", json_object_get(s->errors));
	}
	verdict_add_json(o, &s->verdict);
	return o;
}

static void print_times(const char *what, const struct cable_result *r)
{
	printf("    %-12s", what);
	if (r->rtts)
		printf("%s there and back (%s to %s, 99 %% within %s); ", fmt_ns(rtt_of(r, 50)),
		       fmt_ns(rtt_of(r, 0)), fmt_ns(rtt_of(r, 100)), fmt_ns(rtt_of(r, 99)));
	printf("%llu of %llu frames answered\n", (unsigned long long)r->answered,
	       (unsigned long long)r->sent);
}

/* "nothing", or the frames on the two ways. */
static void print_ways(const char *what, uint64_t there, uint64_t back, bool known)
{
	printf("    %-12s", what);
	if (!there && !back && known)
		printf("nothing\n");
	else if (known)
		printf("%llu frames on the way there, %llu answers on the way back\n",
		       (unsigned long long)there, (unsigned long long)back);
	else
		printf("%llu answers on the way back; the neighbour's module does not count the others, they are among the lost\n",
		       (unsigned long long)back);
}

static void print_counts(const struct subject *s)
{
	struct verdict_way there = { 0 }, back = { 0 };

	if (s->rest.answered || s->load.answered) {
		fill_ways(s, &there, &back);
		print_ways("lost", there.lost, back.lost, true);
		print_ways("damaged", there.damaged, back.damaged, s->load.damage_known);
	}
	printf("    %-12s", "errors");
	if (!json_object_object_length(s->errors))
		printf("none counted by the device");
	json_object_object_foreach(s->errors, name, value)
		printf("%s %s  ", fmt_plain(name), json_object_get_string(value));
	putchar('\n');
}

static void print_rate(const struct subject *s, const struct subject_plan *plan)
{
	char rate[32], speed[32];

	printf("    %-12s%s for %s, in frames of %u bytes, %u under way", "rate",
	       verdict_rate(rate, rate_of(&s->load)), fmt_ns(s->load.ns), s->bytes, plan->window);
	if (s->link_bps)
		printf("; the device's link speed is %s", verdict_rate(speed, s->link_bps));
	putchar('\n');
}

void subject_print(const struct subject *s, const struct subject_plan *plan)
{
	printf("%s: dim %s %s, to node %s: %s\n", js_str(s->port, "ifname"), js_str(s->port, "dim"),
	       js_str(s->port, "dir"), js_str(s->port, "neighbour"), verdict_words[s->verdict.word]);
	if (s->measured) {
		print_times("at rest", &s->rest);
		print_times("under load", &s->load);
		print_rate(s, plan);
		print_counts(s);
	}
	verdict_print(&s->verdict);
}
