/* SPDX-License-Identifier: MIT */
/*
 * Open MPI's op.h includes this header, which Debian's libopenmpi-dev has not.
 * Fortran's integers are C's there. It is looked for after all others.
 */
#ifndef TORCOLL_MISSING_FINT_2_INT_H
#define TORCOLL_MISSING_FINT_2_INT_H

#include "ompi_config.h"

#if OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#error Fortran's integers are not those of C: take this header from Open MPI's source
#endif

#define OMPI_INT_2_FINT(i)	(i)
#define OMPI_FINT_2_INT(i)	(i)

#endif
