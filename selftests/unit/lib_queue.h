/* SPDX-License-Identifier: MIT */
/* Ops in flight, which the fake device completes when a test says so. */
#ifndef _LIB_QUEUE_H
#define _LIB_QUEUE_H

#include "lib_fake.h"

static int32_t x, y;
static uint64_t posted[64];	/* ids of ops in the order in which the module got them */
static uint32_t nposted;

static void note(const struct torcoll_submit *s)
{
	assert_true(nposted < ARRAY_SIZE(posted));
	posted[nposted++] = s->user_data;
}

static int setup_queue(void **state)
{
	int err = setup(state);

	nposted = 0;
	fake.on_submit = note;
	return err;
}

#define test_queue(f)	cmocka_unit_test_setup_teardown(f, setup_queue, teardown)

/* As the module does it: the entry, then the tail. */
static inline void post(uint64_t id, int32_t status, uint32_t flags)
{
	fake.ring.entry[fake.ring.head.tail % FAKE_RING] = (struct torcoll_completion){
		.user_data = id, .status = status, .error_rank = status ? 3 : ~0U, .flags = flags,
	};
	fake.ring.head.tail++;
}

static void start(struct fixture *f, struct torcoll_request *req)
{
	assert_int_equal(torcoll_iallreduce(f->comm, &x, &y, 1, TORCOLL_I32, TORCOLL_SUM, req), 0);
}

#endif
