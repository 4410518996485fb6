// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Virtual time: a heap of events, and random numbers. Events of the same time
 * run in the order of their requests.
 */
#include <stdlib.h>

#include "sim.h"

struct event {
	u64 when;
	u64 number;
	sim_event_fn fn;
	void *arg;
	struct sim_node *owner;
	u32 life;
};

static struct event *heap;
static u32 events, room;
static u64 numbers;
static u64 random_state;

static bool before(const struct event *a, const struct event *b)
{
	return a->when < b->when || (a->when == b->when && a->number < b->number);
}

static void push(struct event e)
{
	u32 i, parent;

	if (events == room) {
		room = room ? 2 * room : 1024;
		heap = realloc(heap, room * sizeof(*heap));
		if (!heap)
			abort();
	}
	for (i = events++; i; i = parent) {
		parent = (i - 1) / 2;
		if (!before(&e, &heap[parent]))
			break;
		heap[i] = heap[parent];
	}
	heap[i] = e;
}

static struct event pop(void)
{
	struct event first = heap[0], last = heap[--events];
	u32 i, child;

	for (i = 0; (child = 2 * i + 1) < events; i = child) {
		if (child + 1 < events && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return first;
}

void sim_at(u64 when, struct sim_node *owner, sim_event_fn fn, void *arg)
{
	push((struct event){ max(when, sim.now), numbers++, fn, arg, owner,
			     owner ? owner->life : 0 });
}

bool sim_step(void)
{
	struct event e;

	if (!events)
		return false;
	e = pop();
	sim.now = e.when;
	/* a crash cancels the node's events */
	if (e.owner && e.owner->life != e.life)
		return true;
	if (e.owner && e.owner->paused_until > sim.now) {
		e.when = e.owner->paused_until;
		push(e);
		return true;
	}
	e.fn(e.arg);
	return true;
}

void sim_clock_reset(u64 seed)
{
	events = 0;
	numbers = 0;
	random_state = seed;
	/* not 0, which means "never" in some fields */
	sim.now = NSEC_PER_SEC;
}

/* splitmix64 */
u64 sim_random(void)
{
	u64 x = random_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

u64 sim_below(u64 n)
{
	return n ? sim_random() % n : 0;
}

bool sim_chance(u64 millionths)
{
	return millionths && sim_random() % SIM_MILLION < millionths;
}
