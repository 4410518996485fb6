// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Pictures of tori, by torcollctl. */
#include "host_env.h"

#include "../../tools/torcollctl/args.c"
#include "../../tools/torcollctl/fmt.c"
#include "../../tools/torcollctl/shape.c"
#include "../../tools/torcollctl/canvas.c"
#include "../../tools/torcollctl/draw.c"

struct options opt;

/* Return what the canvas prints; to be freed. */
static char *printed(const struct canvas *c, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	canvas_print(c, file, colour);
	fclose(file);
	return text;
}

static enum link_look all_good(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	return LINK_GOOD;
}

/* As seen by node 0: good is its link along dimension @arg, and unknown what it has no end of. */
static enum link_look seen_by_0(void *arg, uint32_t node, uint32_t dim, uint32_t dir)
{
	if (node)
		return LINK_UNSEEN;
	return dim == *(uint32_t *)arg ? LINK_GOOD : LINK_BAD;
}

static void draws(struct drawing *d, int width, const char *expected)
{
	struct canvas *c = draw_all(d, width);
	char *text = printed(c, false);

	assert_string_equal(text, expected);
	free(text);
	canvas_free(c);
}

static void draw__ring(void **state)
{
	struct shape shape = { .ndim = 1, .cables = 1, .nodes = 3, .side = { 3 } };
	struct drawing d = { &shape, 1, all_good, NULL, NULL };

	draws(&d, 80, "  --- 0 ---[1]--- 2 ---\n");
}

/* Rows as long as a chord; the last one is short. */
static void draw__ring_with_chords(void **state)
{
	static const uint32_t side[MAX_DIMS] = { 8, TORCOLL_SIDE(3, TORCOLL_KIND_CHORD) };
	struct shape shape;
	struct drawing d = { &shape, 1, all_good, NULL, NULL };

	(void)state;
	assert_true(shape_from_sides(side, 1, &shape));
	assert_int_equal(draw_planes(&shape), 1);
	draws(&d, 80,
	      "      |     |     |\n"
	      "  --- 0 ---[1]--- 2 ---\n"
	      "      |     |     |\n"
	      "  --- 3 --- 4 --- 5 ---\n"
	      "      |     |     |\n"
	      "  --- 6 --- 7 ---\n"
	      "      |     |\n");
	assert_string_equal(draw_note(&shape), "each row goes on in the next; 3 further is below");
}

static void draw__torus_with_the_worse_of_two_ends(void **state)
{
	struct shape shape = { .ndim = 2, .cables = 1, .nodes = 9, .side = { 3, 3 } };
	uint32_t dim = 0;
	struct drawing d = { &shape, 0, seen_by_0, NULL, &dim };

	draws(&d, 80,
	      "      x     :     :\n"
	      "  ---[0]--- 1 ... 2 ---\n"
	      "      x     :     :\n"
	      "  ... 3 ... 4 ... 5 ...\n"
	      "      :     :     :\n"
	      "  ... 6 ... 7 ... 8 ...\n"
	      "      x     :     :\n");
}

static void draw__all_planes(void **state)
{
	struct shape shape = { .ndim = 3, .cables = 1, .nodes = 8, .side = { 2, 2, 2 } };
	struct drawing d = { &shape, ~0U, all_good, NULL, NULL };

	draws(&d, 80,
	      "  plane 0              plane 1\n"
	      "      0 /--- 1 /           4  --- 5\n"
	      "      |      |             |      |\n"
	      "      2 /--- 3 /           6  --- 7\n");
	draws(&d, 30,
	      "  plane 0\n"
	      "      0 /--- 1 /\n"
	      "      |      |\n"
	      "      2 /--- 3 /\n"
	      "\n"
	      "  plane 1\n"
	      "      4  --- 5\n"
	      "      |      |\n"
	      "      6  --- 7\n");
}

static void draw__marks_of_four_dimensions(void **state)
{
	struct shape shape = { .ndim = 4, .cables = 1, .nodes = 36, .side = { 2, 2, 3, 3 } };
	uint32_t dim = 3;
	struct drawing d = { &shape, 0, seen_by_0, NULL, &dim };
	struct canvas *c = draw_all(&d, 80);
	char *text = printed(c, false);

	assert_int_equal(draw_planes(&shape), 9);
	assert_non_null(strstr(text, "[ 0]x/-x-  1 .."));
	/* its minus neighbours along dimensions 2 and 3 */
	assert_non_null(strstr(text, "   8 x."));
	assert_non_null(strstr(text, "  24 ./"));
	assert_non_null(strstr(text, "plane 2,2"));
	free(text);
	canvas_free(c);
}

static void canvas__colours(void **state)
{
	struct canvas *c = canvas_new(6, 1);
	char *text;

	canvas_put(c, 0, 0, STYLE_BAD, "ab");
	canvas_put(c, 2, 0, STYLE_GOOD, "c");
	text = printed(c, true);
	assert_string_equal(text, "\033[0;1;31mab\033[0;32mc\033[0m\n");
	free(text);
	canvas_free(c);
}

static void canvas__cuts_what_does_not_fit(void **state)
{
	struct canvas *c = canvas_new(3, 1), *small = canvas_new(2, 2);
	char *text;

	assert_int_equal(canvas_put(c, -1, 0, STYLE_PLAIN, "abcdef"), 5);
	canvas_put(c, 0, 1, STYLE_PLAIN, "below");
	canvas_copy(small, 1, 1, 9, 9, c, 1, 0);
	text = printed(c, false);
	assert_string_equal(text, "bcd\n");
	free(text);
	text = printed(small, false);
	assert_string_equal(text, "\n c\n");
	free(text);
	canvas_free(c);
	canvas_free(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draw__ring),
		cmocka_unit_test(draw__ring_with_chords),
		cmocka_unit_test(draw__torus_with_the_worse_of_two_ends),
		cmocka_unit_test(draw__all_planes),
		cmocka_unit_test(draw__marks_of_four_dimensions),
		cmocka_unit_test(canvas__colours),
		cmocka_unit_test(canvas__cuts_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
