// SPDX-License-Identifier: GPL-2.0
/* torcollctl top: a live picture of a fabric, on a terminal. */
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top.h"
#include "whole.h"

#define INTERVAL_MAX	3600

static const char help[] =
	"Usage: torcollctl top [once] [colour] [KEY] [from FILE] [interval SECONDS]\n"
	"\n"
	"A picture of all planes of the fabric; links are coloured by their traffic, or\n"
	"by errors.\n"
	"\n"
	"once      prints one picture, of one interval\n"
	"colour    with colours, though it is not printed on a terminal\n"
	"from      a survey of \"torcollctl -j survey show\", which is read again each\n"
	"          time\n"
	"interval  between surveys (2)\n";

static const char *const keys[] = {
	"q                quit",
	"arrows, h j k l  move over a picture that is larger than the screen",
	"space            ask all hosts now",
	"+ -              ask more often, less often",
	"",
	"links            --- idle      === busy      ### more than half of the busiest",
	"                 -!- frames lost, damaged or sent again, or it went down",
	"                 -x- not up    ... neither end answers",
	"/ or # ! x       behind a node: its link to the next plane",
	"[ ]              this host; a node in colour has ops under way",
	"",
	"Any key leaves this page.",
};

struct session {
	struct whole w;
	struct top top;
	struct survey *now, *before;
	struct timespec taken;
	double interval;
	bool once, colour;
	char clock[16];
};

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return to->tv_sec - from->tv_sec + (to->tv_nsec - from->tv_nsec) / 1e9;
}

static void session_clock(struct session *s)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(s->clock, sizeof(s->clock), "%H:%M:%S", &tm);
	s->top.clock = s->clock;
}

/* Of this host, which need not be in the fabric: then there is nothing. */
static void take_own(struct session *s, const struct view *view, struct json_object **list)
{
	json_object_put(*list);
	*list = NULL;
	if (!s->w.file && view_dump(&s->w.conn, view, &s->w.key, list))
		*list = NULL;
}

/* Take a survey; the one before it remains, to compare with. */
static int session_take(struct session *s)
{
	struct survey *next = survey_new();
	struct timespec now;
	int ret = whole_take(&s->w, next, false);

	if (ret) {
		survey_free(next);
		return ret;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	survey_free(s->before);
	s->before = s->now;
	s->now = next;
	s->top.now = next;
	s->top.before = s->before;
	s->top.key = s->w.key;
	s->top.seconds = seconds_between(&s->taken, &now);
	s->taken = now;
	take_own(s, &op_view, &s->top.ops);
	take_own(s, &comm_view, &s->top.comms);
	session_clock(s);
	return CTL_OK;
}

/* --- on a terminal --- */

static const struct {
	short colour;
	attr_t attr;
} styles[STYLES] = {
	[STYLE_PLAIN] = { -1, A_NORMAL },
	[STYLE_TITLE] = { -1, A_BOLD },
	[STYLE_FAINT] = { -1, A_DIM },
	[STYLE_GOOD] = { COLOR_GREEN, A_NORMAL },
	[STYLE_BUSY] = { COLOR_CYAN, A_NORMAL },
	[STYLE_BUSIEST] = { COLOR_BLUE, A_BOLD },
	[STYLE_WARN] = { COLOR_YELLOW, A_BOLD },
	[STYLE_BAD] = { COLOR_RED, A_BOLD },
};

static void screen_begin(void)
{
	short i;

	initscr();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	for (i = 1; i < STYLES; i++)
		init_pair(i, styles[i].colour, -1);
}

static void screen_show(const struct canvas *c)
{
	int x, y;

	erase();
	for (y = 0; y < c->height; y++) {
		for (x = 0; x < c->width; x++) {
			const struct canvas_cell *cell = &c->cell[y * c->width + x];

			mvaddch(y, x, (chtype)(unsigned char)cell->c | styles[cell->style].attr |
				COLOR_PAIR(cell->style));
		}
	}
	refresh();
}

static void screen_frame(struct session *s)
{
	struct canvas *c = top_frame(&s->top, COLS, LINES);

	if (!c) {
		/* all of its hosts have left it */
		c = canvas_new(COLS, LINES);
		canvas_put(c, 0, 0, STYLE_BAD, "No host that answers is in fabric %llu.",
			   (unsigned long long)s->w.key);
	}
	screen_show(c);
	canvas_free(c);
}

static void screen_help(void)
{
	struct canvas *c = canvas_new(COLS, LINES);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		canvas_put(c, 1, 1 + i, STYLE_PLAIN, "%s", keys[i]);
	screen_show(c);
	canvas_free(c);
	timeout(-1);
	getch();
}

/* Wait for a key until the interval is over. Return ERR if it is. */
static int wait_key(const struct session *s)
{
	struct timespec now;
	int key = ERR;
	double left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = s->interval - seconds_between(&s->taken, &now);
	if (left > 0) {
		timeout(left * 1000 + 1);
		key = getch();
	}
	return key;
}

/* Do what a key says. Return whether it asks for a survey. */
static bool press(struct session *s, int key)
{
	switch (key) {
	case KEY_LEFT:
	case 'h':
		s->top.x -= 4;
		break;
	case KEY_RIGHT:
	case 'l':
		s->top.x += 4;
		break;
	case KEY_UP:
	case 'k':
		s->top.y -= 2;
		break;
	case KEY_DOWN:
	case 'j':
		s->top.y += 2;
		break;
	case '+':
		s->interval = s->interval > 1 ? s->interval / 2 : s->interval;
		break;
	case '-':
		s->interval = s->interval < INTERVAL_MAX / 2 ? s->interval * 2 : s->interval;
		break;
	case '?':
		screen_help();
		break;
	case ' ':
		return true;
	}
	return false;
}

/* Handle keys until it is time for a survey. Return whether to go on. */
static bool handle_keys(struct session *s)
{
	int key;

	while ((key = wait_key(s)) != ERR) {
		if (key == 'q')
			return false;
		if (press(s, key))
			break;
		screen_frame(s);
	}
	return true;
}

static int run_live(struct session *s)
{
	int ret = session_take(s);

	if (ret)
		return ret;
	screen_begin();
	for (;;) {
		screen_frame(s);
		if (!handle_keys(s))
			break;
		if (!session_take(s))
			continue;
		/* once more, where the reason can be read */
		endwin();
		ret = session_take(s);
		if (ret)
			return ret;
	}
	endwin();
	return CTL_OK;
}

static int run_once(struct session *s)
{
	struct canvas *c;
	int ret = session_take(s);

	if (!ret && !s->w.file) {
		usleep(s->interval * 1e6);
		ret = session_take(s);
	}
	if (ret)
		return ret;
	c = top_frame(&s->top, TOP_WIDTH, TOP_HEIGHT);
	if (!c)
		return whole_nobody(&s->w);
	canvas_print(c, stdout, s->colour || isatty(STDOUT_FILENO));
	canvas_free(c);
	return CTL_OK;
}

static int parse_words(struct args *a, struct session *s)
{
	uint32_t interval;
	int ret;

	while (a->argc) {
		if (arg_is(a, "once")) {
			s->once = true;
			continue;
		}
		if (arg_is(a, "colour")) {
			s->colour = true;
			continue;
		}
		if (!arg_is(a, "interval")) {
			ret = whole_word(a, &s->w);
			if (ret)
				return ret < 0 ? arg_end(a) : ret;
			continue;
		}
		if (arg_u32(a, "interval", &interval))
			return CTL_USAGE;
		if (!interval || interval > INTERVAL_MAX)
			return usage_error("interval: %u is not 1 to %u seconds", interval,
					   INTERVAL_MAX);
		s->interval = interval;
	}
	return CTL_OK;
}

int top_main(struct args *a)
{
	struct session s = { .interval = 2, .w.quiet = true };
	int ret;

	if (a->argc && !strcmp(a->argv[0], "help")) {
		fputs(help, stdout);
		return CTL_OK;
	}
	if (parse_words(a, &s))
		return CTL_USAGE;
	if (opt.json)
		return usage_error("top is a picture: \"torcollctl -j fabric show --all\" has its numbers");
	if (!s.once && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return usage_error("top needs a terminal; \"torcollctl top once\" prints one picture");
	if (whole_open(&s.w))
		return CTL_USAGE;
	ret = s.once ? run_once(&s) : run_live(&s);
	json_object_put(s.top.ops);
	json_object_put(s.top.comms);
	survey_free(s.now);
	survey_free(s.before);
	whole_close(&s.w);
	return ret;
}
