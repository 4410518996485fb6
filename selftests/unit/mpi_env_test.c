// SPDX-License-Identifier: GPL-2.0
/* What users set for MPI: numbers, a fabric, a timeout; and how many comms a process asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>

/* What the process has none of any more. */
static bool no_descriptor, no_thread;

static int eventfd_if_any(unsigned int value, int flags)
{
	if (!no_descriptor)
		return eventfd(value, flags);
	errno = EMFILE;
	return -1;
}

static int thread_if_any(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
			 void *arg)
{
	return no_thread ? EAGAIN : pthread_create(thread, attr, run, arg);
}

#define eventfd(value, flags)			eventfd_if_any(value, flags)
#define pthread_create(thread, attr, run, arg)	thread_if_any(thread, attr, run, arg)
#include "../../mpi/common/comms.c"
#include "../../mpi/common/fabric.c"
#include "../../mpi/common/wait.c"
#include "../../mpi/mpich/env.c"

/* ---- the library, as far as joins call it ---- */

/* The clock is at 1. */
static uint64_t now_ms;

uint64_t torcoll_deadline(uint64_t ms)
{
	return ms == UINT64_MAX ? UINT64_MAX : now_ms + ms + 1;
}

static struct torcoll some_context;
static uint64_t asked_ns;
static struct torcoll_comm some_comm;
static int refused;
static unsigned int asked;
static const char *sentence = "";
static void (*meanwhile)(void);		/* what another thread does while one joins */

int torcoll_comm_create(struct torcoll *t, const struct torcoll_comm_config *config,
			struct torcoll_comm **comm)
{
	assert_ptr_equal(t, &some_context);
	asked++;
	asked_ns = config->deadline_ns;
	*comm = refused ? NULL : &some_comm;
	if (meanwhile)
		meanwhile();
	return refused;
}

void torcoll_comm_close(struct torcoll_comm *comm)
{
	assert_ptr_equal(comm, &some_comm);
}

const char *torcoll_last_error(void)
{
	return sentence;
}

int torcoll_test(struct torcoll_request *req)
{
	return req->status;
}

int torcoll_submit(struct torcoll_comm *comm, const struct torcoll_op *op,
		   struct torcoll_request *req)
{
	(void)comm;
	(void)op;
	req->status = 0;
	return 0;
}

int torcoll_run_until(struct torcoll_comm *comm, const struct torcoll_op *op,
		      struct torcoll_request *req, uint64_t deadline_ns)
{
	(void)deadline_ns;
	return torcoll_submit(comm, op, req);
}

int torcoll_wait_until(struct torcoll_request *req, uint64_t deadline_ns)
{
	(void)deadline_ns;
	return req->status;
}

void tmpi_progress(bool polling)
{
	(void)polling;
}

/* ---- numbers ---- */

static bool reads(const char *text, uint64_t expected)
{
	struct tmpi_fabric fabric = { .key = 7 };
	uint64_t number = 7;
	bool good;

	setenv("TORCOLL_FABRIC", text, 1);
	good = preload_env_number("TORCOLL_FABRIC", &number);
	assert_true(number == (good ? expected : 7));
	assert_int_equal(tmpi_fabric_parse(text, &fabric), good);
	assert_true(fabric.key == (good ? expected : 7));
	assert_int_equal(fabric.named, good && *text);
	return good;
}

static void env__numbers_are_those_of_the_library(void **state)
{
	static const char *const others[] = {
		"x", "-1", "+1", " 1", "1 ", "1x", "0x", "18446744073709551616", "0x1.8",
	};

	(void)state;
	assert_true(reads("10", 10));
	assert_true(reads("010", 10));
	assert_true(reads("0x10", 16));
	assert_true(reads("0", 0));
	assert_true(reads("18446744073709551615", UINT64_MAX));
	/* as if it were not set */
	assert_true(reads("", 7));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(reads(others[i], 0));
	unsetenv("TORCOLL_FABRIC");
	assert_true(preload_env_number("TORCOLL_FABRIC", &(uint64_t){ 0 }));
	assert_true(tmpi_fabric_parse(NULL, &(struct tmpi_fabric){ 0 }));
}

/* ---- fabrics ---- */

static int64_t picks(const char *text, int n)
{
	static const struct torcoll_fabric list[2] = { { .key = 5 }, { .key = 0 } };
	struct tmpi_fabric wanted = { 0 };
	const struct torcoll_fabric *f;

	assert_true(tmpi_fabric_parse(text, &wanted));
	f = tmpi_fabric_pick(&wanted, list, 2, n);
	return f ? (int64_t)f->key : -1;
}

static void fabric__0_is_a_key(void **state)
{
	(void)state;
	assert_int_equal(picks("0", 2), 0);
	assert_int_equal(picks("0", 1), -1);
	assert_int_equal(picks("5", 1), 5);
	assert_int_equal(picks("6", 2), -1);
}

static void fabric__not_named_is_the_only_one(void **state)
{
	(void)state;
	assert_int_equal(picks(NULL, 1), 5);
	assert_int_equal(picks("", 1), 5);
	assert_int_equal(picks(NULL, 2), -1);
	assert_int_equal(picks(NULL, 0), -1);
	assert_int_equal(picks(NULL, -ENODEV), -1);
	/* more than there was room for */
	assert_int_equal(picks("0", 3), 0);
	assert_int_equal(picks("6", 3), -1);
}

/* ---- joins ---- */

#define RANKS	4

static struct torcoll_comm *join_of(uint32_t ranks, uint64_t timeout)
{
	static const uint64_t drawn[2] = { 1, 2 };
	struct tmpi_join join = { .config.size = ranks };

	assert_true(tmpi_join_prepare(&join));
	tmpi_join(&join, &some_context, "mpi", drawn, timeout);
	/* of callers, whatever has come before */
	tmpi_join_drop(&join);
	return join.comm;
}

static struct torcoll_comm *join(uint64_t timeout)
{
	return join_of(RANKS, timeout);
}

static enum tmpi_able may_ask_for(uint32_t ranks)
{
	struct tmpi_join join = { 0 };
	enum tmpi_able able = tmpi_may_ask(ranks, &join);

	assert_int_equal(tmpi_able(join.err), able);
	assert_int_equal(!join.why[0], able == TMPI_ABLE);
	return able;
}

static enum tmpi_able may_ask(void)
{
	return may_ask_for(RANKS);
}

static uint64_t join_within(uint64_t timeout)
{
	tmpi_close(join(timeout));
	return asked_ns;
}

static void join__any_timeout(void **state)
{
	(void)state;
	/* none, and not one that has passed */
	assert_true(join_within(0) == 0);
	assert_true(join_within(30) == 30001);
	assert_true(join_within(UINT64_MAX / 1000) == UINT64_MAX / 1000 * 1000 + 1);
	/* 18446744073709552 s are 384 ms, cut */
	assert_true(join_within(UINT64_MAX / 1000 + 1) == UINT64_MAX);
	assert_true(join_within(UINT64_MAX) == UINT64_MAX);
}

/* What is not there is known before the ranks agree, and what is stays: no rank waits for one that cannot join. */
static void join__prepared_before_ranks_agree(void **state)
{
	static const uint64_t drawn[2] = { 1, 2 };
	struct tmpi_join join = { 0 }, none = { 0 };
	unsigned int before = asked;

	(void)state;
	assert_true(tmpi_join_prepare(&join));
	no_descriptor = true;
	assert_false(tmpi_join_prepare(&none));
	assert_int_equal(none.err, -EMFILE);
	assert_non_null(strstr(none.why, "eventfd"));
	tmpi_join_drop(&none);
	no_descriptor = false;
	no_thread = true;
	assert_false(tmpi_join_prepare(&none));
	assert_int_equal(none.err, -EAGAIN);
	assert_non_null(strstr(none.why, "thread"));
	tmpi_join_drop(&none);
	no_descriptor = true;
	tmpi_join(&join, &some_context, "mpi", drawn, 1);
	assert_int_equal(join.err, 0);
	assert_int_equal(asked, before + 1);
	tmpi_close(join.comm);
	no_descriptor = false;
	no_thread = false;
}

/* What was prepared, and not joined, leaves nothing behind. */
static void join__dropped(void **state)
{
	unsigned int before = asked;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct tmpi_join join = { 0 };

		assert_true(tmpi_join_prepare(&join));
		tmpi_join_drop(&join);
		assert_true(join.done < 100);
	}
	assert_int_equal(asked, before);
}

/* As many comms as when one was refused are too many, until there are fewer. */
static void room__is_not_asked_for_again(void **state)
{
	struct torcoll_comm *comm[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		comm[i] = join(1);
	refused = -ETIMEDOUT;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_ABLE);
	refused = -EDQUOT;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	tmpi_close(NULL);
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	for (int i = 0; i < 4; i++) {
		tmpi_close(comm[2]);
		assert_int_equal(may_ask(), TMPI_ABLE);
		refused = 0;
		comm[2] = join(1);
		assert_non_null(comm[2]);
		assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	}
	/* it had more when it was refused the last time */
	tmpi_close(comm[2]);
	refused = -EDQUOT;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	tmpi_close(comm[1]);
	assert_int_equal(may_ask(), TMPI_ABLE);
	tmpi_close(comm[0]);
	refused = 0;
}

/* A comm of many ranks takes much: that it is refused says nothing of smaller ones, nor a smaller one of it. */
static void room__of_a_large_comm(void **state)
{
	struct torcoll_comm *pair;

	(void)state;
	refused = -EDQUOT;
	assert_null(join_of(1024, 1));
	assert_int_equal(may_ask_for(1024), TMPI_HAS_NO_ROOM);
	assert_int_equal(may_ask_for(4096), TMPI_HAS_NO_ROOM);
	assert_int_equal(may_ask_for(1023), TMPI_ABLE);
	refused = 0;
	pair = join_of(2, 1);
	assert_int_equal(may_ask_for(2), TMPI_ABLE);
	assert_int_equal(may_ask_for(1024), TMPI_HAS_NO_ROOM);
	/* at the limit of comms the smaller one is refused, too */
	refused = -EDQUOT;
	assert_null(join_of(2, 1));
	assert_int_equal(may_ask_for(2), TMPI_HAS_NO_ROOM);
	assert_int_equal(may_ask_for(1024), TMPI_HAS_NO_ROOM);
	tmpi_close(pair);
	assert_int_equal(may_ask_for(2), TMPI_ABLE);
	/* which says nothing of memory */
	assert_int_equal(may_ask_for(1024), TMPI_HAS_NO_ROOM);
	/* what is given to as many shows that there is room */
	assert_null(join_of(1024, 1));
	now_ms += 300000;
	refused = 0;
	tmpi_close(join_of(1024, 1));
	assert_int_equal(may_ask_for(1024), TMPI_ABLE);
}

/* Others of the user may have closed theirs: also a process that was refused its first one asks again. */
static void room__is_asked_for_much_later(void **state)
{
	struct torcoll_comm *comm[2];

	(void)state;
	refused = -EDQUOT;
	assert_null(join(30));
	now_ms += 599999;
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	now_ms++;
	assert_int_equal(may_ask(), TMPI_ABLE);
	/* refused again, by a process that waits for ever, or for less */
	assert_null(join(0));
	now_ms += 299999;
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	now_ms++;
	assert_int_equal(may_ask(), TMPI_ABLE);
	assert_null(join(UINT64_MAX));
	now_ms += UINT32_MAX;
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	refused = 0;
	/* what is given shows that there is room */
	for (int i = 0; i < 2; i++)
		comm[i] = join(1);
	assert_int_equal(may_ask(), TMPI_ABLE);
	for (int i = 0; i < 2; i++)
		tmpi_close(comm[i]);
}

/* Whatever this rank is refused the others wait for; what they have a part in it can try again. */
static void room__other_refusals(void **state)
{
	static const int own[] = {
		-ENODEV, -EINVAL, -ENETDOWN, -EPERM, -EFAULT, -EHOSTUNREACH,
	};
	static const int others[] = { -ETIMEDOUT, -EPROTO, -EACCES, -ECONNABORTED };
	struct torcoll_comm *comm = join(1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		refused = others[i];
		assert_null(join(1));
		assert_int_equal(may_ask(), TMPI_ABLE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		refused = own[i];
		assert_null(join(1));
		/* no limit of the user's, nor one that leaves room for a smaller comm */
		assert_int_equal(may_ask(), TMPI_UNABLE);
		assert_int_equal(may_ask_for(2), TMPI_UNABLE);
		now_ms += 299999;
		assert_int_equal(may_ask(), TMPI_UNABLE);
		now_ms++;
		assert_int_equal(may_ask(), TMPI_ABLE);
	}
	/* there may be memory for fewer ranks */
	refused = -ENOMEM;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_UNABLE);
	assert_int_equal(may_ask_for(RANKS - 1), TMPI_ABLE);
	now_ms += 300000;
	refused = -EDQUOT;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	tmpi_close(comm);
	assert_int_equal(may_ask(), TMPI_ABLE);
	refused = 0;
}

/* Of several that cover a comm, it is the worst. */
static void room__says_what_it_was_refused(void **state)
{
	static const char before[] = "this rank was refused a comm before, and would be again: ";
	char why[TORCOLL__SENTENCE_MAX + sizeof(before)], *longest;
	struct tmpi_join join = { 0 };

	(void)state;
	refused = -EHOSTUNREACH;
	sentence = "mpi-1: this node has no port (EHOSTUNREACH)";
	assert_null(join_of(1024, 1));
	sentence = "";
	assert_int_equal(tmpi_may_ask(2, &join), TMPI_UNABLE);
	assert_int_equal(join.err, -EHOSTUNREACH);
	assert_memory_equal(join.why, before, strlen(before));
	assert_string_equal(join.why + strlen(before), "mpi-1: this node has no port (EHOSTUNREACH)");
	/* as long as there are */
	longest = calloc(1, TORCOLL__SENTENCE_MAX);
	assert_non_null(longest);
	memset(longest, 'x', TORCOLL__SENTENCE_MAX - 1);
	refused = -EDQUOT;
	sentence = longest;
	assert_null(join_of(1024, 1));
	assert_int_equal(tmpi_may_ask(1024, &join), TMPI_HAS_NO_ROOM);
	snprintf(why, sizeof(why), "%s%s", before, longest);
	why[TORCOLL__SENTENCE_MAX - 1] = '\0';
	assert_string_equal(join.why, why);
	sentence = "";
	free(longest);
	refused = 0;
	now_ms += 300000;
	assert_int_equal(may_ask(), TMPI_ABLE);
}

/* A node without ports can be that of all ranks, where it is known that it is. */
static void room__within_a_node(void **state)
{
	static const uint32_t here[RANKS] = { 3, 3, 3, 3 }, there[RANKS] = { 3, 3, 3, 4 };
	struct tmpi_join inside = { .config = { .size = RANKS, .members = here } };
	struct tmpi_join across = { .config = { .size = RANKS, .members = there } };
	static const uint64_t drawn[2] = { 1, 2 };

	(void)state;
	refused = -EHOSTUNREACH;
	assert_null(join(1));
	assert_int_equal(may_ask(), TMPI_UNABLE);
	assert_int_equal(tmpi_may_ask(RANKS, &across), TMPI_UNABLE);
	assert_int_equal(tmpi_may_ask(RANKS, &inside), TMPI_ABLE);
	assert_int_equal(inside.err, 0);
	/* that one is given says nothing of others */
	refused = 0;
	assert_true(tmpi_join_prepare(&inside));
	tmpi_join(&inside, &some_context, "mpi", drawn, 1);
	assert_int_equal(inside.err, 0);
	assert_int_equal(may_ask(), TMPI_UNABLE);
	tmpi_close(inside.comm);
	/* nor does what has other reasons, or is noted before it, give way to it */
	now_ms += 300000;
	refused = -ENODEV;
	assert_null(join(1));
	refused = -EHOSTUNREACH;
	assert_null(join(1));
	assert_int_equal(tmpi_may_ask(RANKS, &inside), TMPI_UNABLE);
	now_ms += 300000;
	refused = 0;
	assert_int_equal(may_ask(), TMPI_ABLE);
}

static void close_one(void)
{
	tmpi_close(&some_comm);
}

static void make_one(void)
{
	pthread_mutex_lock(&lock);
	open_comms++;
	pthread_mutex_unlock(&lock);
}

/* A comm that another thread closes during a join was there when it was refused; one that it makes may have been. */
static void room__of_several_threads(void **state)
{
	struct torcoll_comm *comm[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		comm[i] = join(1);
	refused = -EDQUOT;
	meanwhile = close_one;
	assert_null(join(1));
	meanwhile = NULL;
	/* two were too many, of one nothing is known */
	assert_int_equal(may_ask(), TMPI_ABLE);
	refused = 0;
	comm[1] = join(1);
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	now_ms += 300000;
	refused = -EDQUOT;
	meanwhile = make_one;
	assert_null(join(1));
	meanwhile = NULL;
	assert_int_equal(may_ask(), TMPI_HAS_NO_ROOM);
	close_one();
	assert_int_equal(may_ask(), TMPI_ABLE);
	refused = 0;
	for (int i = 0; i < 2; i++)
		tmpi_close(comm[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(env__numbers_are_those_of_the_library),
		cmocka_unit_test(fabric__0_is_a_key),
		cmocka_unit_test(fabric__not_named_is_the_only_one),
		cmocka_unit_test(join__any_timeout),
		cmocka_unit_test(join__prepared_before_ranks_agree),
		cmocka_unit_test(join__dropped),
		cmocka_unit_test(room__is_not_asked_for_again),
		cmocka_unit_test(room__of_a_large_comm),
		cmocka_unit_test(room__is_asked_for_much_later),
		cmocka_unit_test(room__other_refusals),
		cmocka_unit_test(room__says_what_it_was_refused),
		cmocka_unit_test(room__within_a_node),
		cmocka_unit_test(room__of_several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
