/* SPDX-License-Identifier: MIT */
/*
 * What the launchers of others tell a process by its environment. Part of
 * torcollctl too, which shows it.
 */
#ifndef TORCOLL_LAUNCHER_H
#define TORCOLL_LAUNCHER_H

#include <stdint.h>

#include "torcoll.h"

/**
 * struct torcoll__launcher - the process's place in a job
 * @origin: word for the launcher: "slurm", "openmpi", "mpich"
 * @name: the launcher in a sentence
 * @comm: name for the job's comm, from the job's id
 * @rank: of the process
 * @size: number of processes
 * @local_rank: rank among the processes of this host
 * @local_size: number of processes of each host; 0: not the same on all
 */
struct torcoll__launcher {
	const char *origin;
	const char *name;
	char comm[TORCOLL_NAME_MAX + 1];
	uint32_t rank;
	uint32_t size;
	uint32_t local_rank;
	uint32_t local_size;
};

/**
 * torcoll__launcher_read - read what a launcher has set
 * @launcher: out
 * @wrong: out: variable whose value is invalid or that is missing
 *
 * Return: 1: a launcher has started this process; 0: none has; -EINVAL.
 */
int torcoll__launcher_read(struct torcoll__launcher *launcher, const char **wrong);

#endif
