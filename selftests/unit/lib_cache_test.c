// SPDX-License-Identifier: MIT
/*
 * libtorcoll's cache of registered memory: what is registered by itself, found again, replaced, given up.
 */
#include "lib_fake.h"

#define LARGE	(64U << 10)

static char memory[8 * LARGE];

/* An allreduce of bytes in place; what region it names. */
static uint32_t run(struct fixture *f, void *p, uint64_t bytes)
{
	assert_int_equal(torcoll_allreduce(f->comm, p, p, bytes, TORCOLL_I8, TORCOLL_SUM), 0);
	assert_int_equal(fake.submit.send_region, fake.submit.recv_region);
	return fake.submit.recv_region;
}

static void large__is_registered_once(void **state)
{
	struct fixture *f = *state;
	uint32_t region = run(f, memory, LARGE);

	assert_true(region);
	assert_int_equal(fake.region.flags, TORCOLL_REGION_WATCH);
	assert_int_equal(fake.region.length, LARGE);
	assert_int_equal(run(f, memory, LARGE), region);
	assert_int_equal(run(f, memory + 100, LARGE / 2), region);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
}

static void small__is_not(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, memory, LARGE - 1), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 0);
}

static void unwatched__is_not(void **state)
{
	struct fixture *f = *state;

	f->t->features = 0;
	assert_int_equal(run(f, memory, LARGE), 0);
	f->t->features = TORCOLL_FEATURE_WATCH;
	f->t->cache_bytes = 0;
	assert_int_equal(run(f, memory, LARGE), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 0);
}

static void longer__replaces(void **state)
{
	struct fixture *f = *state;
	uint32_t region = run(f, memory, LARGE);

	assert_int_not_equal(run(f, memory, 2 * LARGE), region);
	assert_int_equal(fake.handle.handle, region);
	assert_int_equal(f->t->nregions, 1);
	assert_int_equal(f->t->cached_bytes, 2 * LARGE);
}

/* In place, the block lies in the vector: one region, whichever is asked for first. */
static void in_place__is_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(torcoll_allgather(f->comm, memory + LARGE * FAKE_RANK, memory,
					   LARGE * FAKE_RANKS, TORCOLL_I8), 0);
	assert_int_equal(fake.submit.send_region, fake.submit.recv_region);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
}

/* The module says that the memory is another: the op goes without, the next one registers anew. */
static void stale__is_registered_anew(void **state)
{
	struct fixture *f = *state;
	uint32_t region = run(f, memory, LARGE);

	fake_errors(TORCOLL_IOC_SUBMIT, -ESTALE, 0);
	assert_int_equal(run(f, memory, LARGE), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 2);
	assert_int_equal(fake.handle.handle, region);
	assert_int_not_equal(run(f, memory, LARGE), region);
	assert_int_equal(f->t->nregions, 1);
}

static void stale__in_a_batch(void **state)
{
	struct fixture *f = *state;
	struct torcoll_op op = {
		.collective = TORCOLL_ALLREDUCE, .type = TORCOLL_I8, .redop = TORCOLL_SUM,
		.count = LARGE, .send = memory, .recv = memory,
	};
	struct torcoll_request req;

	run(f, memory, LARGE);
	fake_errors(TORCOLL_IOC_BATCH, -ESTALE, 0);
	fake.batch_room = 0;
	assert_int_equal(torcoll_submit_many(f->comm, &op, 1, &req, NULL), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_BATCH), 2);
	assert_int_equal(f->t->nregions, 0);
}

/* An op that found a slot is over. */
static void complete(const struct torcoll_submit *s)
{
	fake.ring.entry[fake.ring.head.tail % FAKE_RING] = (struct torcoll_completion){
		.user_data = s->user_data, .error_rank = ~0U,
	};
	fake.ring.head.tail++;
}

/* With a module whose ops wait in the library for a slot. */
static int setup_queue(void **state)
{
	int err;

	fake_features |= TORCOLL_FEATURE_RING | TORCOLL_FEATURE_TRY;
	err = setup(state);
	fake_features = TORCOLL_FEATURE_WATCH;
	fake.on_submit = complete;
	return err;
}

/* Queued with a cached region; that goes, and the program registers other memory, which gets its handle. */
static void stale__another_has_its_handle(void **state)
{
	static const struct {
		size_t from, to;
		int err;
	} program[] = {
		{ 4 * LARGE, 5 * LARGE, -EDQUOT },	/* evicts the cached region */
		{ LARGE / 2, 2 * LARGE, 0 },		/* overlaps it, contains its end */
		{ 0, LARGE / 2, 0 },			/* contains its beginning */
	};
	struct fixture *f = *state;
	struct torcoll_request req;
	uint32_t region;

	for (size_t i = 0; i < ARRAY_SIZE(program); i++) {
		fake.slots = 0;
		assert_int_equal(torcoll_iallreduce(f->comm, memory, memory, LARGE, TORCOLL_I8,
						    TORCOLL_SUM, &req), 0);
		assert_int_equal(f->t->nregions, 1);
		region = f->t->regions[0].handle;
		fake_errors(TORCOLL_IOC_REGION_ADD, program[i].err, 0);
		fake.next_handle = region;
		assert_int_equal(torcoll_register(f->t, memory + program[i].from,
						  program[i].to - program[i].from), 0);
		assert_int_equal(f->t->regions[0].handle, region);
		assert_false(f->t->regions[0].cached);
		fake.slots = 1;
		fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, 0);
		assert_int_equal(torcoll_wait(&req), 0);
		assert_int_equal(fake.submit.send_region, 0);
		assert_int_equal(fake.submit.recv_region, 0);
		assert_int_equal(torcoll_unregister(f->t, memory + program[i].from), 0);
	}
}

/* Nor is another cached region dropped for it. */
static void stale__another_cached_has_its_handle(void **state)
{
	struct fixture *f = *state;
	struct torcoll_request req;
	uint32_t region;

	f->t->cache_bytes = LARGE;
	fake.slots = 0;
	assert_int_equal(torcoll_iallreduce(f->comm, memory, memory, LARGE, TORCOLL_I8,
					    TORCOLL_SUM, &req), 0);
	region = f->t->regions[0].handle;
	fake.next_handle = region;
	assert_int_equal(torcoll__region_find(f->t, memory + 2 * LARGE, LARGE), region);
	fake.slots = 1;
	fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, 0);
	assert_int_equal(torcoll_wait(&req), 0);
	assert_int_equal(fake.submit.recv_region, 0);
	assert_int_equal(f->t->nregions, 1);
	assert_int_equal(f->t->cached_bytes, LARGE);
}

/* While an op uses it the module does not let go: later it does. */
static void stale__in_use_is_given_up_later(void **state)
{
	struct fixture *f = *state;

	run(f, memory, LARGE);
	fake_errors(TORCOLL_IOC_SUBMIT, -ESTALE, 0);
	fake_errors(TORCOLL_IOC_REGION_DEL, -EBUSY, 0);
	assert_int_equal(run(f, memory, LARGE), 0);
	assert_int_equal(f->t->leftovers, 1);
	f->t->cache_bytes = LARGE;
	run(f, memory, LARGE);
	run(f, memory + LARGE, LARGE);
	assert_int_equal(f->t->leftovers, 0);
	assert_int_equal(f->t->nregions, 1);
}

/* Each overlaps the one before, which an op still uses. None is forgotten, however many there are. */
static void overlapping__in_use_are_given_up_later(void **state)
{
	struct fixture *f = *state;

	fake.regions_used = true;
	for (unsigned int i = 0; i < 50; i++)
		assert_true(run(f, memory + 4096 * i, LARGE));
	assert_int_equal(f->t->nregions, 50 - f->t->leftovers);
	assert_int_equal(fake.regions, 50);
	fake.regions_used = false;
	run(f, memory + 7 * LARGE, LARGE);
	assert_int_equal(f->t->leftovers, 0);
	assert_int_equal(fake.regions, f->t->nregions);
}

/* Errors that have nothing to do with the cache are the caller's at once. */
static void refused__is_not_tried_again(void **state)
{
	static const int errors[] = { -EINVAL, -EBUSY, -ENOMEM, -ECONNABORTED };
	struct fixture *f = *state;

	run(f, memory, LARGE);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		fake_errors(TORCOLL_IOC_SUBMIT, errors[i], 0);
		assert_int_equal(torcoll_allreduce(f->comm, memory, memory, LARGE, TORCOLL_I8,
						   TORCOLL_SUM), errors[i]);
		assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
	}
	/* without a cached region */
	fake_errors(TORCOLL_IOC_SUBMIT, -EFAULT, -EFAULT);
	assert_int_equal(torcoll_allreduce(f->comm, memory + LARGE, memory + LARGE, 1, TORCOLL_I8,
					   TORCOLL_SUM), -EFAULT);
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), 1);
}

static void budget__oldest_goes(void **state)
{
	struct fixture *f = *state;
	uint32_t first, second;

	f->t->cache_bytes = 2 * LARGE;
	first = run(f, memory, LARGE);
	second = run(f, memory + 2 * LARGE, LARGE);
	assert_int_equal(run(f, memory, LARGE), first);
	run(f, memory + 4 * LARGE, LARGE);
	assert_int_equal(fake.handle.handle, second);
	assert_int_equal(run(f, memory, LARGE), first);
	assert_int_equal(f->t->cached_bytes, 2 * LARGE);
	/* what does not fit at all is pinned by the op */
	assert_int_equal(run(f, memory + 5 * LARGE, 2 * LARGE + 1), 0);
}

/* What is cached must not keep an op or a registration from what it may have. */
static void quota__cache_gives_way(void **state)
{
	struct fixture *f = *state;

	run(f, memory, LARGE);
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, 0);
	assert_int_equal(run(f, memory + 2 * LARGE, 1), 0);
	assert_int_equal(f->t->nregions, 0);
	run(f, memory, LARGE);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, 0);
	assert_int_equal(torcoll_register(f->t, memory + 2 * LARGE, 1), 0);
	assert_int_equal(f->t->nregions, 1);
	/* nothing left to give up */
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	assert_int_equal(torcoll_allreduce(f->comm, memory, memory, 1, TORCOLL_I8, TORCOLL_SUM),
			 -EDQUOT);
}

/* A limit of ops, or of kernel memory, is no lower without it. */
static void quota__of_something_else(void **state)
{
	struct fixture *f = *state;
	unsigned int regions;

	run(f, memory, LARGE);
	regions = fake.regions;
	/* it pins memory, and may; it pins none */
	fake.sentence = "too many ops";
	fake.forgets = true;
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	assert_int_equal(torcoll_allreduce(f->comm, memory + 2 * LARGE, memory + 3 * LARGE, LARGE / 2,
					   TORCOLL_I8, TORCOLL_SUM), -EDQUOT);
	assert_non_null(strstr(torcoll_last_error(), "too many ops"));
	assert_string_equal(fake.sentence, "");
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	assert_int_equal(torcoll_allreduce(f->comm, memory, memory, LARGE, TORCOLL_I8, TORCOLL_SUM),
			 -EDQUOT);
	assert_int_equal(f->t->nregions, 1);
	assert_int_equal(fake.regions, regions);
	/* one of its buffers may be pinned, both may not */
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	fake_errors(TORCOLL_IOC_REGION_ADD, 0, -EDQUOT);
	assert_int_equal(torcoll_allreduce(f->comm, memory + 2 * LARGE, memory + 3 * LARGE, LARGE / 2,
					   TORCOLL_I8, TORCOLL_SUM), 0);
	assert_int_equal(f->t->nregions, 0);
	assert_int_equal(fake.regions, 0);
}

/* What only waited for an op to end is as good as a cached region. */
static void quota__a_leftover_gives_way(void **state)
{
	struct fixture *f = *state;

	run(f, memory, LARGE);
	fake_errors(TORCOLL_IOC_SUBMIT, -ESTALE, 0);
	fake_errors(TORCOLL_IOC_REGION_DEL, -EBUSY, 0);
	run(f, memory, LARGE);
	assert_int_equal(f->t->leftovers, 1);
	assert_int_equal(f->t->nregions, 0);
	fake_errors(TORCOLL_IOC_SUBMIT, -EDQUOT, 0);
	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, 0);
	assert_int_equal(run(f, memory + 2 * LARGE, 1), 0);
	assert_int_equal(f->t->leftovers, 0);
}

static void program__comes_first(void **state)
{
	struct fixture *f = *state;

	run(f, memory, LARGE);
	assert_int_equal(torcoll_unregister(f->t, memory), -ENOENT);
	assert_int_equal(torcoll_register(f->t, memory + 1, LARGE), 0);
	assert_int_equal(f->t->nregions, 1);
	assert_int_equal(fake.region.flags, 0);
	/* partly registered is not registered, and nothing makes way for it */
	assert_int_equal(run(f, memory, LARGE), 0);
	assert_int_equal(torcoll_unregister(f->t, memory + 1), 0);
}

static void alloc__is_a_region(void **state)
{
	struct fixture *f = *state;
	void *p, *none;

	f->t->features = 0;
	assert_int_equal(torcoll_alloc(f->t, 100, &p), -EOPNOTSUPP);
	f->t->features = TORCOLL_FEATURE_ALLOC;
	fake_errors(TORCOLL_IOC_REGION_ALLOC, -EDQUOT, 0);
	assert_int_equal(torcoll_alloc(f->t, 100, &p), -EDQUOT);
	assert_int_equal(torcoll_alloc(f->t, 100, &p), 0);
	assert_ptr_equal(p, fake.memory);
	assert_true(run(f, p, 100));
	assert_int_equal(torcoll_unregister(f->t, p), -ENOENT);
	assert_int_equal(torcoll_free(f->t, (char *)p + 1), -ENOENT);
	fake_errors(TORCOLL_IOC_REGION_DEL, -EBUSY, 0);
	assert_int_equal(torcoll_free(f->t, p), -EBUSY);
	assert_true(fake.memory_mapped);
	assert_int_equal(torcoll_free(f->t, p), 0);
	assert_false(fake.memory_mapped);
	assert_int_equal(torcoll_free(f->t, NULL), 0);
	/* one that cannot be mapped is given back */
	fake.no_map = true;
	assert_int_equal(torcoll_alloc(f->t, 100, &none), -ENOMEM);
	assert_int_equal(f->t->nregions, 0);
	fake.no_map = false;
	/* and one that is not freed goes with the context: teardown looks */
	assert_int_equal(torcoll_alloc(f->t, 100, &p), 0);
}

static void cache__by_environment(void **state)
{
	struct torcoll *t;

	setenv("TORCOLL_CACHE", "3", 1);
	assert_int_equal(torcoll_open(&t), 0);
	assert_int_equal(t->cache_bytes, 3 << 20);
	torcoll_close(t);
	setenv("TORCOLL_CACHE", "much", 1);
	assert_int_equal(torcoll_open(&t), -EINVAL);
	unsetenv("TORCOLL_CACHE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_open(large__is_registered_once),
		test_open(small__is_not),
		test_open(unwatched__is_not),
		test_open(longer__replaces),
		test_open(in_place__is_one),
		test_open(stale__is_registered_anew),
		test_open(stale__in_a_batch),
		cmocka_unit_test_setup_teardown(stale__another_has_its_handle, setup_queue, teardown),
		cmocka_unit_test_setup_teardown(stale__another_cached_has_its_handle, setup_queue, teardown),
		test_open(stale__in_use_is_given_up_later),
		test_open(overlapping__in_use_are_given_up_later),
		test_open(refused__is_not_tried_again),
		test_open(budget__oldest_goes),
		test_open(quota__cache_gives_way),
		test_open(quota__of_something_else),
		test_open(quota__a_leftover_gives_way),
		test_open(program__comes_first),
		test_open(alloc__is_a_region),
		test_closed(cache__by_environment),
	};

	fake_features = TORCOLL_FEATURE_WATCH;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
