// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Trains of frames, and the rate at which they arrive. See train.h. */
#include "core/survey/train.h"

/*
 * The frames that are timed, by how many have arrived before: the first
 * quarter uses up what shapers and queues let pass at once, and without the last
 * eighth a train is measured though frames of it were lost.
 */
static u32 trains_start(const struct tor_trains *t)
{
	return t->frames / 4;
}

static u32 trains_end(const struct tor_trains *t)
{
	return t->frames - t->frames / 8;
}

static bool is_less(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* A frame has arrived. A train counts when it has come up to the timed end. */
static void trains_time(struct tor_trains *t, u64 delay, u32 len)
{
	if (t->came == trains_start(t))
		t->start = delay;
	if (t->came != trains_end(t))
		return;
	if (!t->timed || is_less(t->start, t->least_start))
		t->least_start = t->start;
	if (!t->timed || is_less(delay, t->least_end))
		t->least_end = delay;
	t->len = len + TOR_TRAIN_OVERHEAD;
	t->timed++;
}

/* Return whether such trains are believed: no others than the first that were. */
static bool trains_follow(struct tor_trains *t, u32 trains, u32 frames)
{
	if (trains > TOR_TRAINS_MAX || frames < 8 || frames > TOR_TRAIN_FRAMES_MAX)
		return false;
	if (!t->frames)
		t->frames = frames;
	return t->frames == frames;
}

void tor_trains_frame(struct tor_trains *t, const struct tor_train *frame)
{
	if (!trains_follow(t, frame->train, frame->frames) || frame->number >= frame->frames ||
	    frame->train < max_t(u32, t->train, 1))
		return;
	if (frame->train > t->train) {
		t->train = frame->train;
		t->sent = max(t->sent, frame->train);
		t->came = 0;
		t->has_begun = false;
	}
	if (t->came == t->frames)
		return;
	if (!t->came && !frame->number) {
		t->began = frame->sent;
		t->has_begun = true;
	}
	t->came++;
	t->arrived++;
	if (t->has_begun)
		trains_time(t, frame->now - t->began, frame->len);
}

void tor_trains_mark(struct tor_trains *t, u32 sent, u32 frames)
{
	if (trains_follow(t, sent, frames))
		t->sent = max(t->sent, sent);
}

u32 tor_trains_rate(const struct tor_trains *t)
{
	u64 bits = 8ULL * t->len * (trains_end(t) - trains_start(t));
	u64 ns = t->least_end - t->least_start;

	if (!t->timed || !is_less(t->least_start, t->least_end))
		return 0;
	return min_t(u64, tor_div64(bits * 1000, ns), U32_MAX);
}
