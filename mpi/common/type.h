/* SPDX-License-Identifier: MIT */
/*
 * What an MPI knows of its datatypes. Each binding implements these functions,
 * and those at the end of describe.h; everything else in this folder is compiled
 * for each MPI from the same source.
 */
#ifndef TORCOLL_MPI_TYPE_H
#define TORCOLL_MPI_TYPE_H

#include <mpi.h>
#include <stddef.h>
#include <torcoll.h>

/* Bytes of data in an element; distance between two of them. */
size_t tmpi_type_size(MPI_Datatype type);
ptrdiff_t tmpi_type_extent(MPI_Datatype type);

/*
 * Return the first byte of @count elements at @addr if their data lies in one
 * piece and in order, else NULL.
 */
char *tmpi_type_flat(MPI_Datatype type, int count, char *addr);

/* Copy the data of @count elements at @addr to @flat, or from it. */
int tmpi_type_pack(MPI_Datatype type, int count, const char *addr, char *flat);
int tmpi_type_unpack(MPI_Datatype type, int count, char *addr, const char *flat);

/*
 * Keep a type until it is released, though the program frees it meanwhile. What
 * is kept may be another handle. Return 0, or -ENOMEM, and nothing is kept.
 */
int tmpi_type_hold(MPI_Datatype *type);
void tmpi_type_release(MPI_Datatype type);

/* What elements of a type are, for operators. */
enum tmpi_kind {
	TMPI_NONE,		/* nothing that is reduced in the kernel */
	TMPI_SIGNED,
	TMPI_UNSIGNED,
	TMPI_FLOAT,
	TMPI_COMPLEX,
	TMPI_BOOL,
	TMPI_PAIR,		/* a value and a place */
};

/* @pair: out: the type of a pair. */
enum tmpi_kind tmpi_type_kind(MPI_Datatype type, enum torcoll_type *pair);

#endif
