// SPDX-License-Identifier: MIT
/* Environments of launchers: Open MPI's mpirun, Hydra (MPICH, Intel MPI), Slurm's srun. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "launcher.h"

#define PROCESSES_MAX	(1U << 20)

/* Slurm's steps that are no job of ranks: extern, batch and interactive ones. */
#define SLURM_STEP_SPECIAL	0xfffffff0

/**
 * struct source - the variables of a launcher
 * @sign: set for the processes of a job, and only for these
 * @job: its id; of several variables, the first that is set
 * @step: part of the job, or NULL
 */
struct source {
	const char *origin;
	const char *name;
	const char *sign;
	const char *rank;
	const char *size[2];
	const char *local_rank;
	const char *local_size[2];
	const char *job[3];
	const char *step;
};

/*
 * The launchers of MPI come first: within an allocation of Slurm they start
 * their daemons by srun, whose variables the ranks inherit. Hydra sets no id of
 * the job; that of the batch system serves.
 */
static const struct source sources[] = {
	{
		.origin = "openmpi",
		.name = "Open MPI",
		.sign = "OMPI_COMM_WORLD_RANK",
		.rank = "OMPI_COMM_WORLD_RANK",
		.size = { "OMPI_COMM_WORLD_SIZE" },
		.local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
		.local_size = { "OMPI_COMM_WORLD_LOCAL_SIZE" },
		.job = { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid" },
	}, {
		.origin = "mpich",
		.name = "MPICH",
		.sign = "MPI_LOCALNRANKS",
		.rank = "PMI_RANK",
		.size = { "PMI_SIZE" },
		.local_rank = "MPI_LOCALRANKID",
		.local_size = { "MPI_LOCALNRANKS" },
		.job = { "PMI_JOBID", "SLURM_JOB_ID", "PBS_JOBID" },
	}, {
		.origin = "slurm",
		.name = "Slurm",
		.sign = "SLURM_STEP_ID",
		.rank = "SLURM_PROCID",
		.size = { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" },
		.local_rank = "SLURM_LOCALID",
		.local_size = { "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE" },
		.job = { "SLURM_JOB_ID" },
		.step = "SLURM_STEP_ID",
	},
};

/* An empty value counts as not set. */
static const char *variable_value(const char *variable)
{
	const char *s = variable ? getenv(variable) : NULL;

	return s && *s ? s : NULL;
}

/* Return the first of two variables that is set; the first, if none is. */
static const char *either(const char *const variable[2])
{
	return !variable_value(variable[0]) && variable_value(variable[1]) ? variable[1] : variable[0];
}

static int variable_number(const char *variable, uint32_t *number, const char **wrong)
{
	const char *s = variable_value(variable), *end;
	uint64_t value;

	if (s && torcoll__parse_number(s, PROCESSES_MAX, &value, &end) && !*end) {
		*number = value;
		return 0;
	}
	*wrong = variable;
	return -EINVAL;
}

/*
 * Read the processes of each host: "2" or, by Slurm, "2(x4)"; "2(x3),1": they
 * differ.
 */
static int read_local_size(const char *variable, uint32_t *number, const char **wrong)
{
	const char *s = variable_value(variable), *end;
	uint64_t value, hosts;

	*wrong = variable;
	if (!s || !torcoll__parse_number(s, PROCESSES_MAX, &value, &end))
		return -EINVAL;
	*number = value;
	if (end[0] == '(' && end[1] == 'x') {
		if (!torcoll__parse_number(end + 2, PROCESSES_MAX, &hosts, &end) || *end++ != ')')
			return -EINVAL;
	}
	if (*end == ',')
		*number = 0;
	return *end && *end != ',' ? -EINVAL : 0;
}

/* The end of a long id says more than its beginning. */
static void set_comm(struct torcoll__launcher *launcher, const struct source *source)
{
	const char *job = NULL, *step = variable_value(source->step);
	size_t room = TORCOLL_NAME_MAX - strlen(source->origin) - 1, n;
	char id[512];

	for (size_t i = 0; !job && i < ARRAY_SIZE(source->job); i++)
		job = variable_value(source->job[i]);
	snprintf(id, sizeof(id), "%s%s%s", job ? job : "", step ? "." : "", step ? step : "");
	n = strlen(id);
	snprintf(launcher->comm, sizeof(launcher->comm), "%s%s%.*s", source->origin, n ? "-" : "",
		 (int)room, n > room ? id + n - room : id);
}

static bool is_present(const struct source *source)
{
	const char *sign = variable_value(source->sign), *end;
	uint64_t step;

	if (!sign)
		return false;
	return !source->step || (torcoll__parse_number(sign, UINT32_MAX, &step, &end) &&
				 step < SLURM_STEP_SPECIAL);
}

static int read_source(struct torcoll__launcher *launcher, const struct source *source,
		       const char **wrong)
{
	int err;

	launcher->origin = source->origin;
	launcher->name = source->name;
	set_comm(launcher, source);
	err = variable_number(source->rank, &launcher->rank, wrong);
	if (!err)
		err = variable_number(either(source->size), &launcher->size, wrong);
	if (!err)
		err = variable_number(source->local_rank, &launcher->local_rank, wrong);
	if (!err)
		err = read_local_size(either(source->local_size), &launcher->local_size, wrong);
	if (err)
		return err;
	*wrong = source->rank;
	if (launcher->rank >= launcher->size)
		return -EINVAL;
	*wrong = source->local_rank;
	return launcher->local_size && launcher->local_rank >= launcher->local_size ? -EINVAL : 1;
}

int torcoll__launcher_read(struct torcoll__launcher *launcher, const char **wrong)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (is_present(&sources[i]))
			return read_source(launcher, &sources[i], wrong);
	return 0;
}
