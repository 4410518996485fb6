// SPDX-License-Identifier: MIT
/*
 * Comms that the environment describes, by torcoll's variables or by those of launchers, in front
 * of a fake device.
 */
#include "lib_fake.h"

static void set_all(const char *const pairs[][2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		setenv(pairs[i][0], pairs[i][1], 1);
}

#define SET(...)								\
	do {									\
		static const char *const pairs[][2] = { __VA_ARGS__ };		\
										\
		set_all(pairs, ARRAY_SIZE(pairs));				\
	} while (0)

/* This host is a node of so many in fabric 7. */
static void fake_node(uint32_t node, uint32_t nodes)
{
	fake.fabric[0] = (struct torcoll_sys_fabric){ 7, node, nodes };
	fake.fabrics = 1;
}

static void says(const char *part)
{
	if (!strstr(torcoll_last_error(), part))
		fail_msg("not so: %s: %s", part, torcoll_last_error());
}

/* ---- torcoll's variables ---- */

static void torcoll_comm_from_env__defaults(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	assert_string_equal(torcoll_last_error(),
			    "TORCOLL_FABRIC is not set, and this host is in no fabric: torcollctl apply makes it a node of one (EINVAL)");
	setenv("TORCOLL_FABRIC", "0xfeedface12345678", 1);
	fake.now = 1000;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_true(fake.comm.fabric == 0xfeedface12345678);
	assert_string_equal(fake.name, "world");
	assert_int_equal(fake.comm.secret_len, 0);
	assert_int_equal(fake.comm.members, 0);
	assert_int_equal(fake.comm.ranks, 0);
	assert_true(fake.comm.rank == TORCOLL_RANK_SELF);
	assert_true(fake.comm.deadline_ns == 120000001000);
}

static void torcoll_comm_from_env__all_set(void **state)
{
	static const uint32_t members[] = { 5, 1, 8, 9, 10, 11 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	setenv("TORCOLL_FABRIC", "7", 1);
	setenv("TORCOLL_COMM", "a job", 1);
	setenv("TORCOLL_SECRET", "s3cret", 1);
	setenv("TORCOLL_RANK", "4", 1);
	setenv("TORCOLL_SIZE", "6", 1);
	setenv("TORCOLL_MEMBERS", "5,1,8-11", 1);
	setenv("TORCOLL_TIMEOUT", "0", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.comm.fabric, 7);
	assert_string_equal(fake.name, "a job");
	assert_string_equal(fake.secret, "s3cret");
	assert_int_equal(fake.comm.rank, 4);
	assert_int_equal(fake.comm.ranks, 6);
	assert_memory_equal(fake.members, members, sizeof(members));
	assert_int_equal(fake.comm.deadline_ns, 0);
}

static void torcoll_comm_from_env__nodes_of_several_ranks(void **state)
{
	static const uint32_t members[] = { 5, 5, 5, 1, 8, 8, 9, 9, 2 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	setenv("TORCOLL_FABRIC", "7", 1);
	setenv("TORCOLL_MEMBERS", "5*3,1*1,8-9*2,2", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.comm.ranks, ARRAY_SIZE(members));
	assert_memory_equal(fake.members, members, sizeof(members));
}

static void torcoll_comm_from_env__size_alone(void **state)
{
	static const uint32_t members[] = { 0, 1, 2 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	setenv("TORCOLL_FABRIC", "7", 1);
	setenv("TORCOLL_SIZE", "3", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.comm.ranks, 3);
	assert_memory_equal(fake.members, members, sizeof(members));
}

static void torcoll_comm_from_env__refuses(void **state)
{
	static const char *const wrong[][2] = {
		{ "TORCOLL_FABRIC", "seven" }, { "TORCOLL_FABRIC", "-7" },
		{ "TORCOLL_FABRIC", "7x" }, { "TORCOLL_FABRIC", "99999999999999999999" },
		{ "TORCOLL_RANK", "1 " }, { "TORCOLL_RANK", "4294967296" },
		{ "TORCOLL_SIZE", "1048577" }, { "TORCOLL_SIZE", "2" },
		{ "TORCOLL_MEMBERS", "," }, { "TORCOLL_MEMBERS", "1,,2" },
		{ "TORCOLL_MEMBERS", "1," }, { "TORCOLL_MEMBERS", "3-1" },
		{ "TORCOLL_MEMBERS", "1-" }, { "TORCOLL_MEMBERS", "0-1048576" },
		{ "TORCOLL_MEMBERS", "0-1000000,0-1000000" }, { "TORCOLL_TIMEOUT", "soon" },
		{ "TORCOLL_MEMBERS", "1*" }, { "TORCOLL_MEMBERS", "1*0" },
		{ "TORCOLL_MEMBERS", "*2" }, { "TORCOLL_MEMBERS", "1*2*2" },
		{ "TORCOLL_MEMBERS", "1*2-3" }, { "TORCOLL_MEMBERS", "0-1*524289" },
		{ "TORCOLL_MEMBERS", "0-1048575*1048576" }, { "TORCOLL_MEMBERS", "1*4294967297" },
	};
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	unsigned int before = fake_calls(TORCOLL_IOC_COMM_ADD);

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		setenv("TORCOLL_FABRIC", "7", 1);
		setenv("TORCOLL_MEMBERS", "1,2,3", 1);
		setenv(wrong[i][0], wrong[i][1], 1);
		assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
		assert_non_null(strstr(torcoll_last_error(), wrong[i][0]));
		unsetenv(wrong[i][0]);
	}
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), before);
}

static void torcoll_comm_from_env__the_only_fabric(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	fake_node(1, 4);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.comm.fabric, 7);
	fake.fabric[1].key = 8;
	fake.fabrics = 2;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("this host is in 2 fabrics");
}

static void torcoll_comm_from_env__rank_of_another_node(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	fake_node(1, 4);
	SET({ "TORCOLL_MEMBERS", "2,1" }, { "TORCOLL_RANK", "0" });
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_MEMBERS puts rank 0 on node 2, and this is node 1");
	setenv("TORCOLL_RANK", "2", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("this is rank 2, and there are 2 ranks");
	setenv("TORCOLL_RANK", "1", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	unsetenv("TORCOLL_MEMBERS");
	SET({ "TORCOLL_SIZE", "4" }, { "TORCOLL_RANK", "3" });
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_SIZE puts rank 3 on node 3, and this is node 1");
	unsetenv("TORCOLL_SIZE");
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_RANK is 3, and this is node 1: without TORCOLL_SIZE");
	setenv("TORCOLL_RANK", "1", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
}

static void torcoll_comm_from_env__no_such_node(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	fake_node(1, 4);
	SET({ "TORCOLL_SIZE", "5" });
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_SIZE: rank 4 would be on node 4, and the fabric has 4 nodes");
	unsetenv("TORCOLL_SIZE");
	SET({ "TORCOLL_MEMBERS", "1,9" });
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_MEMBERS: rank 1 would be on node 9, and the fabric has 4 nodes");
	setenv("TORCOLL_MEMBERS", "1,3", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
}

/* ---- launchers ---- */

static void set_openmpi(void)
{
	SET({ "OMPI_COMM_WORLD_RANK", "2" }, { "OMPI_COMM_WORLD_SIZE", "4" },
	    { "OMPI_COMM_WORLD_LOCAL_RANK", "0" }, { "OMPI_COMM_WORLD_LOCAL_SIZE", "1" },
	    { "PMIX_NAMESPACE", "1317076993" });
}

static void set_mpich(void)
{
	SET({ "PMI_RANK", "2" }, { "PMI_SIZE", "4" }, { "MPI_LOCALRANKID", "0" },
	    { "MPI_LOCALNRANKS", "2" });
}

static void set_slurm(void)
{
	SET({ "SLURM_PROCID", "2" }, { "SLURM_NTASKS", "4" }, { "SLURM_LOCALID", "0" },
	    { "SLURM_TASKS_PER_NODE", "2(x2)" }, { "SLURM_JOB_ID", "81" }, { "SLURM_STEP_ID", "3" });
}

static void launcher_read__none(void **state)
{
	struct torcoll__launcher l = { 0 };
	const char *wrong;

	assert_int_equal(torcoll__launcher_read(&l, &wrong), 0);
	/* a shell in an allocation, and a batch script, are no rank */
	set_slurm();
	setenv("SLURM_STEP_ID", "4294967290", 1);
	assert_int_equal(torcoll__launcher_read(&l, &wrong), 0);
	unsetenv("SLURM_STEP_ID");
	assert_int_equal(torcoll__launcher_read(&l, &wrong), 0);
}

static void check_launcher(const char *origin, const char *comm, uint32_t local_size)
{
	struct torcoll__launcher l = { 0 };
	const char *wrong = NULL;

	if (torcoll__launcher_read(&l, &wrong) != 1)
		fail_msg("%s: wrong: %s", origin, wrong);
	assert_string_equal(l.origin, origin);
	assert_string_equal(l.comm, comm);
	assert_int_equal(l.rank, 2);
	assert_int_equal(l.size, 4);
	assert_int_equal(l.local_rank, 0);
	assert_int_equal(l.local_size, local_size);
}

static void launcher_read__each(void **state)
{
	set_slurm();
	check_launcher("slurm", "slurm-81.3", 2);
	/* the step's own numbers, not the job's */
	SET({ "SLURM_NTASKS", "64" }, { "SLURM_STEP_NUM_TASKS", "4" },
	    { "SLURM_STEP_TASKS_PER_NODE", "1(x4)" });
	check_launcher("slurm", "slurm-81.3", 1);
	setenv("SLURM_STEP_TASKS_PER_NODE", "2(x1),1(x2)", 1);
	check_launcher("slurm", "slurm-81.3", 0);
	/* mpirun within Slurm's allocation */
	set_mpich();
	check_launcher("mpich", "mpich-81", 2);
	unsetenv("SLURM_JOB_ID");
	check_launcher("mpich", "mpich", 2);
	set_openmpi();
	check_launcher("openmpi", "openmpi-1317076993", 1);
}

/* A long id is cut at its beginning, so that jobs still differ. */
static void launcher_read__long_id(void **state)
{
	struct torcoll__launcher l;
	const char *wrong;
	char id[100];

	set_openmpi();
	memset(id, 'h', sizeof(id));
	strcpy(id + 90, "-4711@1");
	setenv("PMIX_NAMESPACE", id, 1);
	assert_int_equal(torcoll__launcher_read(&l, &wrong), 1);
	assert_int_equal(strlen(l.comm), TORCOLL_NAME_MAX);
	assert_memory_equal(l.comm, "openmpi-hh", 10);
	assert_string_equal(l.comm + TORCOLL_NAME_MAX - 7, "-4711@1");
}

static void launcher_read__refuses(void **state)
{
	static const char *const bad[][2] = {
		{ "SLURM_PROCID", "4" }, { "SLURM_PROCID", "-1" }, { "SLURM_PROCID", "" },
		{ "SLURM_NTASKS", "4x" }, { "SLURM_NTASKS", "99999999" },
		{ "SLURM_LOCALID", "2" }, { "SLURM_TASKS_PER_NODE", "2(x" },
		{ "SLURM_TASKS_PER_NODE", "2(x2" }, { "SLURM_TASKS_PER_NODE", "two" },
		{ "SLURM_TASKS_PER_NODE", "2(x2)2" },
	};
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	fake_node(1, 2);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		set_slurm();
		setenv(bad[i][0], bad[i][1], 1);
		assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
		says(bad[i][0]);
	}
}

/* Ranks in the order of the nodes: the comm in which they meet is the one. */
static void place__in_order(void **state)
{
	static const uint32_t order[] = { 0, 1, 2, 3 }, members[] = { 0, 0, 1, 1 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	unsigned int joins = fake_calls(TORCOLL_IOC_COMM_ADD);

	set_slurm();
	fake_node(1, 2);
	fake.gathered = order;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_string_equal(fake.name, "slurm-81.3");
	assert_int_equal(fake.comm.fabric, 7);
	assert_int_equal(fake.comm.ranks, 4);
	assert_int_equal(fake.comm.rank, 2);
	assert_memory_equal(fake.members, members, sizeof(members));
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), joins + 1);
}

/* Another order: the first comm is left, and one of the right order joined. */
static void place__another_order(void **state)
{
	/* ranks 1 and 3 are on node 0, rank 2 is the second of node 1 */
	static const uint32_t order[] = { 3, 1, 0, 2 }, members[] = { 1, 0, 1, 0 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	unsigned int joins = fake_calls(TORCOLL_IOC_COMM_ADD);

	set_slurm();
	setenv("SLURM_LOCALID", "1", 1);
	fake_node(1, 2);
	fake.gathered = order;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), joins + 2);
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
	assert_int_equal(fake.comm.rank, 2);
	assert_memory_equal(fake.members, members, sizeof(members));
}

static void place__ranks_of_two_jobs(void **state)
{
	static const uint32_t twice[] = { 0, 1, 2, 1 }, outside[] = { 0, 1, 2, 4 };
	const uint32_t *const orders[] = { twice, outside };
	struct fixture *f = *state;
	struct torcoll_comm *comm = f->comm;

	set_openmpi();
	fake_node(2, 4);
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		fake.gathered = orders[i];
		assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EPROTO);
		/* that of the first join is gone */
		assert_ptr_equal(comm, f->comm);
		says("comm openmpi-1317076993 has ranks of two jobs: set TORCOLL_COMM");
		assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), i + 1);
	}
}

/* The launcher's ranks are told within the time for joining. */
static void place__has_a_deadline(void **state)
{
	static const uint32_t order[] = { 0, 1, 2, 3 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	set_openmpi();
	setenv("TORCOLL_TIMEOUT", "3", 1);
	fake_node(2, 4);
	fake.now = 50;
	fake.gathered = order;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.submit.collective, TORCOLL_ALLGATHER);
	assert_int_equal(fake.submit.deadline_ns, 3000000050);
	assert_int_equal(fake.comm.deadline_ns, 3000000050);
	fake.status = -ETIMEDOUT;
	fake.sentence = "rank 1 has not called";
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -ETIMEDOUT);
	says("rank 1 has not called");
}

/* All on one host, whichever node that is. */
static void place__one_host(void **state)
{
	static const uint32_t order[] = { 0, 1, 2, 3 }, members[] = { 5, 5, 5, 5 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	set_openmpi();
	SET({ "OMPI_COMM_WORLD_LOCAL_SIZE", "4" }, { "OMPI_COMM_WORLD_LOCAL_RANK", "2" });
	fake_node(5, 16);
	fake.gathered = order;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_memory_equal(fake.members, members, sizeof(members));
	assert_int_equal(fake.comm.rank, 2);
}

static void place__refuses(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	unsigned int joins = fake_calls(TORCOLL_IOC_COMM_ADD);

	set_openmpi();
	fake_node(2, 3);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("Open MPI has started ranks on 4 hosts, and the fabric has 3 nodes");
	fake_node(4, 16);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("as this is node 4: list the node of each rank in TORCOLL_MEMBERS");
	fake_node(2, 16);
	setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("not started the same number of ranks on each host");
	setenv("TORCOLL_FABRIC", "9", 1);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -ENODEV);
	says("this host is not in fabric 9");
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_ADD), joins);
}

/* What fails on the way leaves nothing behind. */
static void place__module_refuses(void **state)
{
	struct fixture *f = *state;
	struct torcoll_comm *comm;

	set_openmpi();
	fake_node(2, 4);
	fake.sentence = "this node is not a member";
	fake_errors(TORCOLL_IOC_COMM_ADD, -EINVAL, 0);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("this node is not a member");
	fake.sentence = "caused by rank 1";
	fake.status = -ECONNABORTED;
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -ECONNABORTED);
	says("allgather: caused by rank 1");
	assert_int_equal(fake_calls(TORCOLL_IOC_COMM_DEL), 1);
}

/* torcoll's variables are stronger: no exchange, and ranks by them. */
static void place__torcolls_variables_first(void **state)
{
	static const uint32_t members[] = { 8, 9, 10, 11 };
	struct fixture *f = *state;
	struct torcoll_comm *comm;
	unsigned int ops = fake_calls(TORCOLL_IOC_SUBMIT);

	set_openmpi();
	SET({ "TORCOLL_MEMBERS", "8-11" }, { "TORCOLL_COMM", "mine" });
	fake_node(10, 16);
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_string_equal(fake.name, "mine");
	assert_int_equal(fake.comm.rank, 2);
	assert_memory_equal(fake.members, members, sizeof(members));
	SET({ "TORCOLL_MEMBERS", "10,8" }, { "TORCOLL_RANK", "0" }, { "TORCOLL_SIZE", "2" });
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), 0);
	assert_int_equal(fake.comm.rank, 0);
	unsetenv("TORCOLL_SIZE");
	assert_int_equal(torcoll_comm_from_env(f->t, &comm), -EINVAL);
	says("TORCOLL_MEMBERS has 2 nodes, Open MPI has started 4 ranks");
	assert_int_equal(fake_calls(TORCOLL_IOC_SUBMIT), ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_open(torcoll_comm_from_env__defaults),
		test_open(torcoll_comm_from_env__all_set),
		test_open(torcoll_comm_from_env__nodes_of_several_ranks),
		test_open(torcoll_comm_from_env__size_alone),
		test_open(torcoll_comm_from_env__refuses),
		test_open(torcoll_comm_from_env__the_only_fabric),
		test_open(torcoll_comm_from_env__rank_of_another_node),
		test_open(torcoll_comm_from_env__no_such_node),
		test_closed(launcher_read__none),
		test_closed(launcher_read__each),
		test_closed(launcher_read__long_id),
		test_open(launcher_read__refuses),
		test_open(place__in_order),
		test_open(place__another_order),
		test_open(place__ranks_of_two_jobs),
		test_open(place__has_a_deadline),
		test_open(place__one_host),
		test_open(place__refuses),
		test_open(place__module_refuses),
		test_open(place__torcolls_variables_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
