// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Frames of torcollctl top. */
#include "host_env.h"
#include "survey_torus.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/shape.c"
#include "../../tools/torcollctl/map.c"
#include "../../tools/torcollctl/canvas.c"
#include "../../tools/torcollctl/draw.c"
#include "../../tools/torcollctl/top_frame.c"

struct options opt;

const char *link_state_name(uint32_t state)
{
	return state == TORCOLL_LINK_STATE_WAITING ? "waiting" : "up";
}

/* Two surveys two seconds apart, and the frame of both. */
struct view_of {
	struct survey *now, *before;
	struct top top;
	char *text;
};

static void view_begin(struct view_of *v, const char *dims)
{
	memset(v, 0, sizeof(*v));
	v->now = torus_survey(dims);
	v->before = torus_survey(dims);
	v->top = (struct top){ .now = v->now, .before = v->before, .seconds = 2, .key = TORUS_KEY };
}

static void view_draw(struct view_of *v, int width, int height, bool colour)
{
	struct canvas *c = top_frame(&v->top, width, height);
	size_t size;
	FILE *file;

	assert_non_null(c);
	free(v->text);
	file = open_memstream(&v->text, &size);
	canvas_print(c, file, colour);
	fclose(file);
	canvas_free(c);
}

static void view_end(struct view_of *v)
{
	free(v->text);
	torus_free(v->now);
	torus_free(v->before);
}

static void shows(const struct view_of *v, const char *part)
{
	if (!strstr(v->text, part))
		fail_msg("\"%s\" is not in\n%s", part, v->text);
}

static void lacks(const struct view_of *v, const char *part)
{
	if (strstr(v->text, part))
		fail_msg("\"%s\" is in\n%s", part, v->text);
}

static void top__of_a_torus_at_rest(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	v.top.clock = "12:34:56";
	view_draw(&v, 80, 24, false);
	shows(&v, "fabric 1: 16 of 16 nodes, 32 of 32 links up, over 2.0 s                 12:34:56\n");
	shows(&v, "  ---[ 0]---  1 ---  2 ---  3 ---  16 of 16 answer\n");
	lacks(&v, "trouble");
	lacks(&v, "busiest links");
	view_end(&v);
}

static void top__all_planes(void **state)
{
	struct view_of v;

	view_begin(&v, "2x2x2");
	view_draw(&v, 80, 24, false);
	shows(&v, "  plane 0              plane 1");
	shows(&v, "     [0]/--- 1 /           4  --- 5");
	view_end(&v);
}

static void top__traffic(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	torus_port(v.now, 5, "d0p")->tx_frames += 6000;
	torus_port(v.now, 6, "d0m")->tx_frames += 4000;
	torus_port(v.now, 9, "d0p")->tx_frames += 1000;
	/* hellos */
	torus_port(v.now, 3, "d1p")->tx_frames += 10;
	view_draw(&v, 80, 24, false);
	shows(&v, "  ---  4 ---  5 ###  6 ---  7 ---");
	shows(&v, "  ---  8 ---  9 === 10 --- 11 ---");
	shows(&v, "5-6 dim 0          5000\n");
	shows(&v, "9-10 dim 0          500\n");
	view_draw(&v, 80, 24, true);
	shows(&v, "\033[0;1;34m###");
	shows(&v, "\033[0;36m===");
	view_end(&v);
}

/* A port that was made anew counts from 0. */
static void top__counters_that_fell(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	torus_port(v.now, 5, "d0p")->tx_frames = 5;
	view_draw(&v, 80, 24, false);
	lacks(&v, "busiest links");
	view_end(&v);
}

static void top__trouble(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	torus_port(v.now, 5, "d0p")->state = TORCOLL_LINK_STATE_WAITING;
	torus_port(v.now, 9, "d0p")->lost = 8;
	torus_port(v.now, 9, "d0p")->resent = 20;
	torus_port(v.now, 2, "d1p")->downs = 1;
	view_draw(&v, 80, 24, false);
	shows(&v, "31 of 32 links up");
	shows(&v, "  ---  4 ---  5 -x-  6 ---  7 ---");
	shows(&v, "5-6 dim 0 waiting/up\n");
	shows(&v, "  ---  8 ---  9 -!- 10 --- 11 ---");
	shows(&v, "9-10 dim 0, 4/s lost, 10/s resent\n");
	shows(&v, "2-6 dim 1, went down\n");
	view_end(&v);
}

static void top__host_that_is_gone(void **state)
{
	struct view_of v;
	unsigned int i;

	view_begin(&v, "4x4");
	for (i = 0; i < 4; i++)
		v.now->hosts[9]->ports[i].other->state = TORCOLL_LINK_STATE_WAITING;
	torus_kill(v.now, 9);
	view_draw(&v, 80, 24, false);
	shows(&v, "15 of 16 nodes, 28 of 32 links up");
	shows(&v, "9-10 dim 0 no answer/waiting");
	view_end(&v);
}

static void top__ops(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	v.now->hosts[5]->nodes[0].ops = 2;
	v.now->hosts[6]->nodes[0].ops = 1;
	v.now->hosts[6]->nodes[0].comms = 1;
	v.top.ops = json_tokener_parse("[{\"name\":\"b\\u001bx\",\"collective\":\"allreduce\",\"age_ns\":1500000,"
				       "\"channels\":[{\"waits_for\":[]},{\"waits_for\":[3,7]}]}]");
	view_draw(&v, 80, 24, true);
	shows(&v, "1 comms, 3 ops on 2 nodes");
	shows(&v, "allreduce 1.5 ms, waits for 3,7, b\\x1bx");
	shows(&v, "\033[0;1;34m5 ");
	json_object_put(v.top.ops);
	v.top.ops = NULL;
	v.top.comms = json_tokener_parse("[{\"name\":\"late\",\"missing\":3},{\"name\":\"other\"}]");
	view_draw(&v, 80, 24, false);
	shows(&v, "late waits for rank 3 to join\n");
	lacks(&v, "other");
	lacks(&v, "ops of this host");
	json_object_put(v.top.comms);
	view_end(&v);
}

/* Of one that is too large, a part, which follows the keys; its lists go below. */
static void top__part_of_a_large_one(void **state)
{
	struct view_of v;

	view_begin(&v, "20x20");
	view_draw(&v, 80, 24, false);
	shows(&v, "---[  0]---   1 ---");
	lacks(&v, " 399 ");
	shows(&v, "400 of 400 answer\n");
	v.top.x = v.top.y = 10000;
	view_draw(&v, 80, 24, false);
	shows(&v, " 399 ---");
	lacks(&v, "[  0]");
	assert_true(v.top.x < 200 && v.top.y < 50);
	v.top.x = v.top.y = -5;
	view_draw(&v, 80, 24, false);
	shows(&v, "---[  0]---   1 ---");
	assert_int_equal(v.top.x, 0);
	view_end(&v);
}

/* Whatever size a terminal has. */
static void top__any_size(void **state)
{
	static const char *const shapes[] = { "4x4", "2x2x2", "3x3x3", "7" };
	struct view_of v;
	int width, height;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		view_begin(&v, shapes[i]);
		for (width = 1; width < 100; width += 7)
			for (height = 1; height < 40; height += 3)
				view_draw(&v, width, height, true);
		view_end(&v);
	}
}

static void top__no_such_fabric(void **state)
{
	struct view_of v;

	view_begin(&v, "4x4");
	v.top.key = 9;
	assert_null(top_frame(&v.top, 80, 24));
	view_end(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top__of_a_torus_at_rest),
		cmocka_unit_test(top__all_planes),
		cmocka_unit_test(top__traffic),
		cmocka_unit_test(top__counters_that_fell),
		cmocka_unit_test(top__trouble),
		cmocka_unit_test(top__host_that_is_gone),
		cmocka_unit_test(top__ops),
		cmocka_unit_test(top__part_of_a_large_one),
		cmocka_unit_test(top__any_size),
		cmocka_unit_test(top__no_such_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
