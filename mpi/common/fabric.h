/* SPDX-License-Identifier: MIT */
/* Which fabric a process uses: the one that its user names, or the only one of its host. */
#ifndef TORCOLL_MPI_FABRIC_H
#define TORCOLL_MPI_FABRIC_H

#include <stdbool.h>
#include <stdint.h>
#include <torcoll.h>

/* The key of a fabric, of which any number is one, if the user has @named one. */
struct tmpi_fabric {
	bool named;
	uint64_t key;
};

/* Read a setting; NULL and an empty one name none. Return false if it is neither that nor a key. */
bool tmpi_fabric_parse(const char *text, struct tmpi_fabric *wanted);

/*
 * Return which of a host's fabrics is wanted, or NULL. @n: as torcoll_fabrics(), of a
 * @list with @room for so many.
 */
const struct torcoll_fabric *tmpi_fabric_pick(const struct tmpi_fabric *wanted,
					      const struct torcoll_fabric *list, int room, int n);

#endif
