// SPDX-License-Identifier: GPL-2.0
/*
 * One frame of torcollctl top: a picture of all planes, and beside or below it
 * lists: links in trouble, the busiest ones, how many ops there are, and this host's
 * ops with the ranks that they wait for.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "top.h"

#define LIST_WIDTH	32	/* columns that lists need beside a picture */
#define LIST_HEIGHT	5	/* lines that they need below it */
#define BUSY_FRAMES	100	/* per second that are more than hellos and tests */
#define BUSIEST_SHARE	0.5	/* of the busiest link's: among the busiest */

/* What a link did between two surveys, in both directions together. */
struct flow {
	const struct map_link *link;
	uint64_t frames, lost, damaged, resent;
	uint32_t downs;
};

struct frame {
	struct top *top;
	struct map *m;
	struct flow *flow;	/* of each link */
	uint64_t most;		/* frames of the busiest */
	struct canvas *c;
};

/* A part of the canvas that is filled line by line. */
struct list {
	struct canvas *c;
	int x, y, end;
};

static const struct survey_port *port_before(const struct top *top, const struct survey_port *port)
{
	const struct survey_host *host = top->before ? survey_find(top->before, port->owner->id) : NULL;

	return host ? survey_device(host, port->own.device) : NULL;
}

/* Counters start anew with the port. */
static uint64_t risen(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void flow_add(const struct frame *f, struct flow *flow, const struct survey_port *now)
{
	const struct survey_port *before = now ? port_before(f->top, now) : NULL;

	if (!before)
		return;
	flow->frames += risen(now->tx_frames, before->tx_frames);
	flow->lost += risen(now->lost, before->lost);
	flow->damaged += risen(now->damaged, before->damaged);
	flow->resent += risen(now->resent, before->resent);
	flow->downs += risen(now->downs, before->downs);
}

static void find_flows(struct frame *f)
{
	uint32_t i;

	f->flow = calloc(f->m->nlinks + 1, sizeof(*f->flow));
	if (!f->flow)
		err(CTL_REFUSED, "no memory for a picture");
	for (i = 0; i < f->m->nlinks; i++) {
		struct flow *flow = &f->flow[i];

		flow->link = &f->m->link[i];
		flow_add(f, flow, flow->link->port[0]);
		flow_add(f, flow, flow->link->port[1]);
		if (flow->frames > f->most)
			f->most = flow->frames;
	}
}

static bool has_errors(const struct flow *flow)
{
	return flow->lost || flow->damaged || flow->resent || flow->downs;
}

static double per_second(const struct frame *f, uint64_t n)
{
	return f->top->seconds > 0 ? n / f->top->seconds : 0;
}

static bool is_busy(const struct frame *f, const struct flow *flow)
{
	return per_second(f, flow->frames) > BUSY_FRAMES;
}

static bool is_up(const struct flow *flow, int end)
{
	const struct survey_port *port = flow->link->port[end];

	return port && port->state == TORCOLL_LINK_STATE_UP;
}

/* Return whether a cable says more of its link than another: what works, then what is wrong, then what is busy. */
static bool tells_more(const struct flow *a, const struct flow *b, int end)
{
	if (is_up(a, end) != is_up(b, end))
		return is_up(a, end);
	if (has_errors(a) != has_errors(b))
		return has_errors(a);
	return a->frames > b->frames;
}

/* The first link of a port or of what comes behind it: links lie by port, then by node. */
static uint32_t flow_of_port(const struct frame *f, uint32_t node, uint32_t dim, uint32_t dir)
{
	const struct shape *shape = &f->m->shape;
	uint32_t port = shape_find_port(shape, dim, dir), low = 0, high = f->m->nlinks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct map_link *link = f->flow[middle].link;
		uint32_t at = shape_find_port(shape, link->dim, link->dir);

		if (at < port || (at == port && link->node[0] < node))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool begins_at(const struct map_link *link, uint32_t node, uint32_t dim, uint32_t dir)
{
	return link->node[0] == node && link->dim == dim && link->dir == dir;
}

/* The link that begins or, @end 1, ends at a port of a node: of several cables, the one that says most. */
static const struct flow *flow_at(const struct frame *f, uint32_t node, uint32_t dim, uint32_t dir,
				  int *end)
{
	const struct shape *shape = &f->m->shape;
	const struct flow *found = NULL;
	uint32_t i;

	*end = !shape_leads(shape, node, dim, dir);
	if (*end) {
		node = shape_neighbour(shape, node, dim, dir);
		dir = shape_back(shape, dim, dir);
	}
	for (i = flow_of_port(f, node, dim, dir);
	     i < f->m->nlinks && begins_at(f->flow[i].link, node, dim, dir); i++)
		if (!found || tells_more(&f->flow[i], found, *end))
			found = &f->flow[i];
	return found;
}

static enum link_look look_of_flow(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	const struct frame *f = arg;
	int end;
	const struct flow *flow = flow_at(f, node, dim, dir, &end);

	if (!f->m->host[node])
		return LINK_UNSEEN;
	if (!flow || !is_up(flow, end))
		return LINK_BAD;
	if (has_errors(flow))
		return LINK_WARN;
	if (!is_busy(f, flow))
		return LINK_GOOD;
	return flow->frames > BUSIEST_SHARE * f->most ? LINK_BUSIEST : LINK_BUSY;
}

static enum style node_style(void *arg, uint32_t node)
{
	const struct frame *f = arg;
	const struct survey_host *host = f->m->host[node];

	if (!host)
		return STYLE_BAD;
	return survey_node(host, f->m->key)->ops ? STYLE_BUSIEST : STYLE_PLAIN;
}

static void list_line(struct list *l, enum style how, const char *text)
{
	if (l->y < l->end)
		canvas_put(l->c, l->x, l->y, how, "%.*s", l->c->width - l->x, text);
	l->y++;
}

/* A heading, after a blank line if it is not the first. */
static void list_title(struct list *l, const char *text)
{
	if (l->y > 2)
		l->y++;
	list_line(l, STYLE_TITLE, text);
}

static const char *fmt_link(const struct frame *f, const struct map_link *link)
{
	return fmt_str("%u-%u dim %u", link->node[0], link->node[1], link->dim);
}

/* What has been counted, per second; with a digit more where that would be none. */
static const char *fmt_rate(const struct frame *f, uint64_t count)
{
	double rate = per_second(f, count);

	return fmt_str("%.*f/s", rate < 1 ? 1 : 0, rate);
}

static const char *fmt_trouble(const struct frame *f, const struct flow *flow)
{
	const char *text = fmt_link(f, flow->link);

	if (!map_link_up(flow->link)) {
		const struct survey_port *const *port =
			(const struct survey_port *const *)flow->link->port;

		return fmt_str("%s %s/%s", text,
			       port[0] ? link_state_name(port[0]->state) : "no answer",
			       port[1] ? link_state_name(port[1]->state) : "no answer");
	}
	if (flow->lost)
		text = fmt_str("%s, %s lost", text, fmt_rate(f, flow->lost));
	if (flow->damaged)
		text = fmt_str("%s, %s damaged", text, fmt_rate(f, flow->damaged));
	if (flow->resent)
		text = fmt_str("%s, %s resent", text, fmt_rate(f, flow->resent));
	if (flow->downs)
		text = fmt_str("%s, went down", text);
	return text;
}

static void list_trouble(const struct frame *f, struct list *l)
{
	bool first = true;
	uint32_t i;

	for (i = 0; i < f->m->nlinks; i++) {
		const struct flow *flow = &f->flow[i];
		bool up = map_link_up(flow->link);

		if (up && !has_errors(flow))
			continue;
		if (first)
			list_title(l, "links in trouble");
		first = false;
		list_line(l, up ? STYLE_WARN : STYLE_BAD, fmt_trouble(f, flow));
	}
}

static int by_frames(const void *a, const void *b)
{
	const struct flow *x = *(const struct flow *const *)a, *y = *(const struct flow *const *)b;

	if (x->frames != y->frames)
		return x->frames < y->frames ? 1 : -1;
	return (x > y) - (x < y);
}

static void list_busiest(const struct frame *f, struct list *l)
{
	const struct flow **order = calloc(f->m->nlinks + 1, sizeof(struct flow *));
	uint32_t i;

	if (!order)
		err(CTL_REFUSED, "no memory for a list");
	for (i = 0; i < f->m->nlinks; i++)
		order[i] = &f->flow[i];
	qsort(order, f->m->nlinks, sizeof(struct flow *), by_frames);
	for (i = 0; i < f->m->nlinks && i < 4 && is_busy(f, order[i]); i++) {
		if (!i)
			list_title(l, "busiest links, frames/s");
		list_line(l, STYLE_BUSY, fmt_str("%-14s %8.0f", fmt_link(f, order[i]->link),
						 per_second(f, order[i]->frames)));
	}
	free(order);
}

static void list_nodes(const struct frame *f, struct list *l)
{
	uint32_t node, comms = 0, ops = 0, busy = 0;

	for (node = 0; node < f->m->shape.nodes; node++) {
		const struct survey_host *host = f->m->host[node];

		if (!host)
			continue;
		comms += survey_node(host, f->m->key)->comms;
		ops += survey_node(host, f->m->key)->ops;
		busy += !!survey_node(host, f->m->key)->ops;
	}
	list_title(l, "nodes");
	list_line(l, STYLE_PLAIN, fmt_str("%u of %u answer", f->m->answered, f->m->shape.nodes));
	list_line(l, STYLE_PLAIN, fmt_str("%u comms, %u ops on %u nodes", comms, ops, busy));
}

/* The ranks that the channels of an op wait for, as far as they fit. */
static const char *fmt_waits(struct json_object *op)
{
	struct json_object *channels = js_get(op, "channels");
	size_t i, n = channels ? json_object_array_length(channels) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *ranks = js_get(json_object_array_get_idx(channels, i),
						   "waits_for");

		if (ranks && json_object_array_length(ranks))
			return fmt_str(", waits for %s", fmt_list(ranks));
	}
	return "";
}

/* Of this host: others tell only how many they have. */
static void list_ops(const struct frame *f, struct list *l)
{
	size_t i, n = f->top->ops ? json_object_array_length(f->top->ops) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *op = json_object_array_get_idx(f->top->ops, i);

		if (!i)
			list_title(l, "ops of this host");
		list_line(l, STYLE_PLAIN,
			  fmt_str("%s %s%s, %s", js_str(op, "collective"),
				  fmt_ns(js_u64(op, "age_ns")), fmt_waits(op),
				  js_str(op, "name")));
	}
}

/* Comms of this host that wait for ranks to join. */
static void list_joins(const struct frame *f, struct list *l)
{
	size_t i, n = f->top->comms ? json_object_array_length(f->top->comms) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *comm = json_object_array_get_idx(f->top->comms, i);

		if (js_has(comm, "missing"))
			list_line(l, STYLE_WARN, fmt_str("%s waits for rank %s to join",
							 js_str(comm, "name"),
							 js_str(comm, "missing")));
	}
}

static void frame_title(const struct frame *f)
{
	uint32_t i, up = 0;
	int x;

	for (i = 0; i < f->m->nlinks; i++)
		up += map_link_up(&f->m->link[i]);
	x = canvas_put(f->c, 0, 0, STYLE_TITLE, "fabric %llu: ", (unsigned long long)f->m->key);
	x = canvas_put(f->c, x, 0, f->m->answered == f->m->shape.nodes ? STYLE_GOOD : STYLE_BAD,
		       "%u of %u nodes, ", f->m->answered, f->m->shape.nodes);
	x = canvas_put(f->c, x, 0, up == f->m->nlinks ? STYLE_GOOD : STYLE_BAD,
		       "%u of %u links up", up, f->m->nlinks);
	if (f->top->before)
		x = canvas_put(f->c, x, 0, STYLE_PLAIN, ", over %.1f s", f->top->seconds);
	if (f->top->clock && x + (int)strlen(f->top->clock) < f->c->width)
		canvas_put(f->c, f->c->width - strlen(f->top->clock), 0, STYLE_FAINT, "%s",
			   f->top->clock);
}

static void frame_legend(const struct frame *f)
{
	static const struct {
		enum style style;
		const char *text;
	} legend[] = {
		{ STYLE_GOOD, "--- idle" }, { STYLE_BUSY, "=== busy" },
		{ STYLE_BUSIEST, "### busiest" }, { STYLE_WARN, "-!- errors" },
		{ STYLE_BAD, "-x- not up" },
	};
	int x = 0, y = f->c->height - 1;
	size_t i;

	if (f->top->note) {
		canvas_put(f->c, 0, y, STYLE_WARN, "%s", f->top->note);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(legend); i++)
		x = canvas_put(f->c, x, y, legend[i].style, "%s", legend[i].text) + 2;
	canvas_put(f->c, x, y, STYLE_FAINT, "q quit  ? help");
}

static void clamp(int *at, int size, int room)
{
	if (*at > size - room)
		*at = size - room;
	if (*at < 0)
		*at = 0;
}

/* The picture's part that fits. Return where the lists go: right of it, or below. */
static struct list frame_picture(struct frame *f)
{
	uint32_t self = f->m->s->self ? map_index(f->m, f->m->s->self) : MAP_NOBODY;
	struct drawing d = { &f->m->shape, self, look_of_flow, node_style, f };
	int room = f->c->height - 3, width = f->c->width;
	struct list l = { .c = f->c, .y = 2, .end = f->c->height - 1 };
	struct canvas *picture = draw_all(&d, width - LIST_WIDTH);

	if (picture->width + LIST_WIDTH <= width) {
		/* all of the height is the picture's */
		width = picture->width;
		l.x = picture->width;
	} else {
		canvas_free(picture);
		picture = draw_all(&d, width);
		room -= LIST_HEIGHT;
		if (picture->height < room)
			room = picture->height;
		l.y = 2 + room;
	}
	clamp(&f->top->x, picture->width, width);
	clamp(&f->top->y, picture->height, room);
	canvas_copy(f->c, 0, 2, width, room, picture, f->top->x, f->top->y);
	canvas_free(picture);
	return l;
}

struct canvas *top_frame(struct top *top, int width, int height)
{
	struct frame f = { .top = top, .m = map_new(top->now, top->key, NULL) };
	struct list l;

	if (!f.m)
		return NULL;
	find_flows(&f);
	f.c = canvas_new(width, height);
	frame_title(&f);
	l = frame_picture(&f);
	list_trouble(&f, &l);
	list_nodes(&f, &l);
	list_joins(&f, &l);
	list_busiest(&f, &l);
	list_ops(&f, &l);
	frame_legend(&f);
	free(f.flow);
	map_free(f.m);
	return f.c;
}
