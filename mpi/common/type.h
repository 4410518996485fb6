/* SPDX-License-Identifier: MIT */
/*
 * What an MPI knows of its datatypes. Each binding implements these functions;
 * everything else in this folder is independent of the MPI.
 */
#ifndef TORCOLL_MPI_TYPE_H
#define TORCOLL_MPI_TYPE_H

#include <stddef.h>

/* Bytes of data in an element; distance between two of them. */
size_t tmpi_type_size(const void *type);
ptrdiff_t tmpi_type_extent(const void *type);

/*
 * Return the first byte of @count elements at @addr if their data lies in one
 * piece and in order, else NULL.
 */
char *tmpi_type_flat(const void *type, int count, char *addr);

/* Copy the data of @count elements at @addr to @flat, or from it. */
int tmpi_type_pack(const void *type, int count, const char *addr, char *flat);
int tmpi_type_unpack(const void *type, int count, char *addr, const char *flat);

/* Keep a type until it is released, though the program frees it meanwhile. */
void tmpi_type_hold(const void *type);
void tmpi_type_release(const void *type);

#endif
