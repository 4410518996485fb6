// SPDX-License-Identifier: MIT
/*
 * The library's contexts, errors, registered memory and comms, in front of a fake device.
 */
#include "lib_fake.h"

/* ---- context ---- */

static void torcoll_open__no_module(void **state)
{
	struct torcoll *t;

	fake.open_error = -ENOENT;
	assert_int_equal(torcoll_open(&t), -ENOENT);
	assert_string_equal(torcoll_last_error(),
			    "cannot open /dev/torcoll: the torcoll module is not loaded (ENOENT)");
	fake.open_error = -EACCES;
	assert_int_equal(torcoll_open(&t), -EACCES);
	fake.open_error = -EMFILE;
	assert_int_equal(torcoll_open(&t), -EMFILE);
	assert_string_equal(torcoll_last_error(), "cannot open /dev/torcoll: Too many open files");
}

static void torcoll_open__other_abi(void **state)
{
	struct torcoll *t;

	fake.abi_version = TORCOLL_ABI_VERSION + 1;
	assert_int_equal(torcoll_open(&t), -EOPNOTSUPP);
	assert_non_null(strstr(torcoll_last_error(), "module 0.1.0 speaks version 2"));
	assert_int_equal(fake.opened, 0);
}

static void torcoll_close__null(void **state)
{
	torcoll_close(NULL);
	torcoll_comm_close(NULL);
}

static void torcoll_version__is_the_builds(void **state)
{
#ifdef TORCOLL_VERSION
	assert_string_equal(torcoll_version(), TORCOLL_VERSION);
#else
	skip();
#endif
}

/* ---- errors ---- */

static void last_error__module_explains(void **state)
{
	struct fixture *f = *state;
	float x = 0;

	fake.sentence = "rank 1 called broadcast, rank 2 allreduce";
	fake.status = -EPROTO;
	assert_int_equal(torcoll_allreduce(f->comm, &x, &x, 1, TORCOLL_F32, TORCOLL_SUM), -EPROTO);
	assert_string_equal(torcoll_last_error(),
			    "allreduce: rank 1 called broadcast, rank 2 allreduce (EPROTO)");
}

static void last_error__module_is_silent(void **state)
{
	struct fixture *f = *state;

	fake_errors(TORCOLL_IOC_ABORT, -ENOENT, 0);
	assert_int_equal(torcoll_abort(f->comm), -ENOENT);
	assert_string_equal(torcoll_last_error(), "abort: no such object (ENOENT)");
}

static void last_error__long_sentence_keeps_name(void **state)
{
	struct fixture *f = *state;
	char text[4096];
	const char *last;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fake.sentence = text;
	fake_errors(TORCOLL_IOC_ABORT, -ECONNABORTED, 0);
	assert_int_equal(torcoll_abort(f->comm), -ECONNABORTED);
	last = torcoll_last_error();
	assert_string_equal(last + strlen(last) - 15, " (ECONNABORTED)");

	memset(text, 'y', sizeof(text) - 1);
	assert_int_equal(torcoll__fail(-ECONNABORTED, "%s", text), -ECONNABORTED);
	last = torcoll_last_error();
	assert_string_equal(last + strlen(last) - 16, "y (ECONNABORTED)");
}

static void *fail_in_thread(void *arg)
{
	char *seen = arg;

	memcpy(seen, torcoll_last_error(), 16);
	torcoll__fail(-EINVAL, "of the other thread");
	return NULL;
}

static void last_error__per_thread(void **state)
{
	char seen[64] = "?";
	pthread_t thread;

	torcoll__fail(-EINVAL, "of this thread");
	assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, seen), 0);
	pthread_join(thread, NULL);
	assert_string_equal(seen, "");
	assert_string_equal(torcoll_last_error(), "of this thread (EINVAL)");
}

static void torcoll_strerror__either_sign(void **state)
{
	assert_string_equal(torcoll_strerror(0), "success");
	assert_string_equal(torcoll_strerror(-EHOSTDOWN), "a rank's host died or restarted");
	assert_string_equal(torcoll_strerror(EHOSTDOWN), "a rank's host died or restarted");
	assert_string_equal(torcoll_strerror(-EXDEV), strerror(EXDEV));
}

/* ---- memory ---- */

static void torcoll_register__refuses_overlap(void **state)
{
	struct fixture *f = *state;
	char m[100];

	assert_int_equal(torcoll_register(f->t, m + 20, 20), 0);
	assert_int_equal(fake.region.addr, (uintptr_t)m + 20);
	assert_int_equal(fake.region.length, 20);
	assert_int_equal(torcoll_register(f->t, m + 20, 20), -EEXIST);
	assert_int_equal(torcoll_register(f->t, m + 39, 1), -EEXIST);
	assert_int_equal(torcoll_register(f->t, m, 21), -EEXIST);
	assert_int_equal(torcoll_register(f->t, m, 100), -EEXIST);
	assert_int_equal(torcoll_register(f->t, m, 0), -EINVAL);
	assert_int_equal(torcoll_register(f->t, m, SIZE_MAX), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_REGION_ADD), 1);
	assert_int_equal(torcoll_register(f->t, m, 20), 0);
	assert_int_equal(torcoll_register(f->t, m + 40, 1), 0);
}

static void torcoll_register__module_refuses(void **state)
{
	struct fixture *f = *state;
	char m[4];

	fake_errors(TORCOLL_IOC_REGION_ADD, -EDQUOT, 0);
	assert_int_equal(torcoll_register(f->t, m, 4), -EDQUOT);
	assert_int_equal(torcoll__region_find(f->t, m, 4), 0);
	assert_int_equal(torcoll_unregister(f->t, m), -ENOENT);
	assert_int_equal(torcoll_register(f->t, m, 4), 0);
}

static void torcoll_unregister__busy_stays(void **state)
{
	struct fixture *f = *state;
	char m[8];

	assert_int_equal(torcoll_register(f->t, m, 8), 0);
	assert_int_equal(torcoll_unregister(f->t, m + 1), -ENOENT);
	fake_errors(TORCOLL_IOC_REGION_DEL, -EBUSY, 0);
	assert_int_equal(torcoll_unregister(f->t, m), -EBUSY);
	assert_int_not_equal(torcoll__region_find(f->t, m, 8), 0);
	assert_int_equal(torcoll_unregister(f->t, m), 0);
	assert_int_equal(torcoll__region_find(f->t, m, 8), 0);
}

/* Regions of 10 bytes, every 20, registered in a scattered order; then against the definition. */
static void region_find__all_ranges(void **state)
{
	struct fixture *f = *state;
	uint32_t handle[20];
	char m[400];

	for (unsigned int i = 0; i < 20; i++) {
		unsigned int k = i * 7 % 20;

		handle[k] = fake.next_handle;
		assert_int_equal(torcoll_register(f->t, m + 20 * k, 10), 0);
	}
	for (unsigned int at = 0; at < 400; at++)
		for (unsigned int len = 0; len <= 12; len++) {
			bool inside = len && at % 20 + len <= 10;

			assert_int_equal(torcoll__region_find(f->t, m + at, len),
					 inside ? handle[at / 20] : 0);
		}
	assert_int_equal(torcoll__region_find(f->t, m, UINT64_MAX), 0);
	for (unsigned int k = 0; k < 20; k += 2)
		assert_int_equal(torcoll_unregister(f->t, m + 20 * k), 0);
	for (unsigned int k = 0; k < 20; k++)
		assert_int_equal(torcoll__region_find(f->t, m + 20 * k, 10), k % 2 ? handle[k] : 0);
}

/* ---- communicators ---- */

static void torcoll_comm_create__marshals(void **state)
{
	struct fixture *f = *state;
	const uint32_t members[] = { 5, 1, 9 };
	struct torcoll_comm_config config = {
		.fabric = 0x1122334455667788,
		.name = "job 2",
		.secret = "xyzzy",
		.members = members,
		.size = 3,
		.rank = 1,
		.depth = 4,
		.deadline_ns = 99,
	};
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	assert_true(fake.comm.fabric == config.fabric);
	assert_string_equal(fake.name, "job 2");
	assert_int_equal(fake.comm.name_len, 5);
	assert_string_equal(fake.secret, "xyzzy");
	assert_int_equal(fake.comm.secret_len, 5);
	assert_int_equal(fake.comm.ranks, 3);
	assert_memory_equal(fake.members, members, sizeof(members));
	assert_int_equal(fake.comm.rank, 1);
	assert_int_equal(fake.comm.depth, 4);
	assert_int_equal(fake.comm.deadline_ns, 99);
	assert_int_equal(fake.comm.flags, 0);
	assert_int_equal(torcoll_comm_rank(comm), FAKE_RANK);
	assert_int_equal(torcoll_comm_size(comm), 3);
	assert_int_equal(torcoll_comm_node(comm, 2), 9);
	assert_int_equal(torcoll_comm_node(comm, 3), UINT32_MAX);
	torcoll_comm_close(comm);
	assert_int_equal(fake.handle.handle, 2);
}

static void torcoll_comm_create__checks(void **state)
{
	struct fixture *f = *state;
	char longest[TORCOLL_NAME_MAX + 2];
	const uint32_t members[] = { 0 };
	struct torcoll_comm_config config = { 0 };
	struct torcoll_comm *comm;
	unsigned int before = fake_calls(TORCOLL_IOC_COMM_ADD);

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	config.name = "";
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	memset(longest, 'n', sizeof(longest));
	longest[TORCOLL_NAME_MAX + 1] = '\0';
	config.name = longest;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	config.name = longest + 1;
	config.secret = longest;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	config.secret = NULL;
	config.members = members;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	config.size = 1;
	config.reserved[2] = 1;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	config.reserved[2] = 0;
	config.flags = 1ULL << 32;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), before);
	config.flags = TORCOLL_COMM_TELL;
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	assert_int_equal(fake.comm.name_len, TORCOLL_NAME_MAX);
}

static void torcoll_comm_create__refused(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm_config config = { .name = "job" };
	struct torcoll_comm *comm;

	fake.sentence = "rank 3 (node 3) did not join";
	fake_errors(TORCOLL_IOC_COMM_ADD, -EINTR, -ETIMEDOUT);
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -ETIMEDOUT);
	assert_string_equal(torcoll_last_error(),
			    "comm job: rank 3 (node 3) did not join (ETIMEDOUT)");
}

static void torcoll_comm_create__no_info(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm_config config = { .name = "job" };
	struct torcoll_comm *comm;

	fake_errors(TORCOLL_IOC_COMM_INFO, -ENOENT, 0);
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -ENOENT);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
}

static void torcoll_comm_shrink__makes_another(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *heir;

	/* interrupted, it is asked for anew */
	fake.call[_IOC_NR(TORCOLL_IOC_COMM_SHRINK)].errors[0] = -EINTR;
	assert_int_equal(torcoll_comm_shrink(f->comm, 77, &heir), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_SHRINK), 2);
	assert_int_equal(fake.shrink.comm, 1);
	assert_int_equal(fake.shrink.flags, 0);
	assert_true(fake.shrink.deadline_ns == 77);
	assert_int_equal(torcoll_comm_rank(heir), FAKE_RANK - 1);
	assert_int_equal(torcoll_comm_size(heir), FAKE_RANKS - 1);
	assert_int_equal(torcoll_comm_node(heir, FAKE_RANK - 1), 10 + FAKE_RANK - 1);
	/* the old one is there still */
	assert_int_equal(torcoll_comm_size(f->comm), FAKE_RANKS);
	assert_int_equal(torcoll_abort(f->comm), 0);
	torcoll_comm_close(heir);
	assert_int_equal(fake.handle.handle, 2);
}

/* Of an heir's heir the list can be as long as of the first comm: the fake looks at its room. */
static void torcoll_comm_shrink__of_an_heir(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *heir[2];

	assert_int_equal(torcoll_comm_shrink(f->comm, 0, &heir[0]), 0);
	assert_int_equal(torcoll_comm_shrink(heir[0], 0, &heir[1]), 0);
	assert_int_equal(fake.shrink.comm, heir[0]->handle);
	assert_int_equal(torcoll_comm_size(heir[1]), FAKE_RANKS - 1);
}

static void torcoll_comm_shrink__says_who_is_missing(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *heir;

	fake.call[_IOC_NR(TORCOLL_IOC_COMM_SHRINK)].errors[0] = -ETIMEDOUT;
	fake.sentence = "rank 3 is missing";
	assert_int_equal(torcoll_comm_shrink(f->comm, 77, &heir), -ETIMEDOUT);
	assert_string_equal(torcoll_last_error(), "shrink: rank 3 is missing (ETIMEDOUT)");
}

static void torcoll_comm_close__frees_in_any_order(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm_config config = { .name = "job" };
	struct torcoll_comm *comm[3];

	for (int i = 0; i < 3; i++)
		assert_int_equal(torcoll_comm_create(f->t, &config, &comm[i]), 0);
	torcoll_comm_close(comm[1]);
	torcoll_comm_close(comm[2]);
	/* The others are torcoll_close()'s. */
}

#define ALL_BUT(...) (((1U << TORCOLL_ALGO_COUNT) - 2) & ~(__VA_ARGS__))

static uint32_t excluded(struct torcoll_comm *comm, enum torcoll_collective collective,
			 enum torcoll_algorithm algorithm)
{
	struct torcoll_op op = {
		.collective = collective, .algorithm = algorithm, .type = TORCOLL_F32,
		.redop = TORCOLL_SUM,
	};

	assert_int_equal(torcoll_run(comm, &op), 0);
	return fake.submit.param[TORCOLL_PARAM_EXCLUDE];
}

static void comm_set_algorithm__by_collective(void **state)
{
	struct torcoll_comm_config config = { .name = "job" };
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	uint32_t ring = 1U << TORCOLL_RING, tree = 1U << TORCOLL_TREE;

	setenv("TORCOLL_ALGO", "allreduce:bibucket;broadcast:^ring", 1);
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	unsetenv("TORCOLL_ALGO");
	assert_int_equal(excluded(comm, TORCOLL_ALLREDUCE, 0), ALL_BUT(1U << TORCOLL_BIBUCKET));
	assert_int_equal(excluded(comm, TORCOLL_BROADCAST, 0), ring);
	assert_int_equal(excluded(comm, TORCOLL_ALLGATHER, 0), 0);
	/* who names an algorithm gets it */
	assert_int_equal(excluded(comm, TORCOLL_BROADCAST, TORCOLL_RING), 0);
	assert_int_equal(torcoll_comm_set_algorithm(comm, "allreduce:ring,tree;reduce:^ring,tree"), 0);
	assert_int_equal(excluded(comm, TORCOLL_ALLREDUCE, 0), ALL_BUT(ring | tree));
	assert_int_equal(excluded(comm, TORCOLL_REDUCE, 0), ring | tree);
	assert_int_equal(excluded(comm, TORCOLL_BROADCAST, 0), ring);
	assert_int_equal(torcoll_comm_set_algorithm(comm, "^tree;allreduce:auto"), 0);
	assert_int_equal(excluded(comm, TORCOLL_BROADCAST, 0), tree);
	assert_int_equal(excluded(comm, TORCOLL_ALLREDUCE, 0), 0);
}

static void comm_set_algorithm__refuses(void **state)
{
	static const char *const bad[] = {
		"rings", "allreduce:", ":ring", "allreduce:ring,", "allreduce:,ring", "allreduce:^",
		"everything:ring", "none:ring", "^auto", "allreduce:ring:tree", ";", "ring;;tree",
	};
	struct torcoll_comm_config config = { .name = "job" };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	assert_int_equal(torcoll_comm_set_algorithm(comm, "allreduce:ring"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (torcoll_comm_set_algorithm(comm, bad[i]) != -EINVAL)
			fail_msg("accepted: %s", bad[i]);
		assert_non_null(strstr(torcoll_last_error(), bad[i]));
	}
	/* and it changed nothing */
	assert_int_equal(excluded(comm, TORCOLL_ALLREDUCE, 0), ALL_BUT(1U << TORCOLL_RING));
	setenv("TORCOLL_ALGO", "tree,fast;reduce:ring", 1);
	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), -EINVAL);
	unsetenv("TORCOLL_ALGO");
	assert_string_equal(torcoll_last_error(),
			    "TORCOLL_ALGO=tree,fast;reduce:ring: \"fast\" is no algorithm, as in allreduce:bibucket,ring;broadcast:^ring (EINVAL)");
}

/* The sentence names the word, and what is wrong with it. */
static void comm_set_algorithm__names_the_word(void **state)
{
	static const char *const bad[][2] = {
		{ "allreduce:ring,rings", "\"rings\" is no algorithm" },
		{ "allreduce:ring;everything:ring", "\"everything\" is no collective" },
		{ "^ring,auto", "\"auto\" cannot be excluded" },
		{ "allreduce:", "\"\" is no algorithm" },
		{ "allreduce:ring,", "\"\" is no algorithm" },
	};
	struct torcoll_comm_config config = { .name = "job" };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_create(f->t, &config, &comm), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(torcoll_comm_set_algorithm(comm, bad[i][0]), -EINVAL);
		if (!strstr(torcoll_last_error(), bad[i][1]))
			fail_msg("%s: %s", bad[i][0], torcoll_last_error());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_closed(torcoll_open__no_module),
		test_closed(torcoll_open__other_abi),
		test_closed(torcoll_close__null),
		test_closed(torcoll_version__is_the_builds),
		test_open(last_error__module_explains),
		test_open(last_error__module_is_silent),
		test_open(last_error__long_sentence_keeps_name),
		test_closed(last_error__per_thread),
		test_closed(torcoll_strerror__either_sign),
		test_open(torcoll_register__refuses_overlap),
		test_open(torcoll_register__module_refuses),
		test_open(torcoll_unregister__busy_stays),
		test_open(region_find__all_ranges),
		test_open(torcoll_comm_create__marshals),
		test_open(torcoll_comm_create__checks),
		test_open(torcoll_comm_create__refused),
		test_open(torcoll_comm_create__no_info),
		test_open(comm_set_algorithm__by_collective),
		test_open(comm_set_algorithm__refuses),
		test_open(comm_set_algorithm__names_the_word),
		test_open(torcoll_comm_shrink__makes_another),
		test_open(torcoll_comm_shrink__of_an_heir),
		test_open(torcoll_comm_shrink__says_who_is_missing),
		test_open(torcoll_comm_close__frees_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
