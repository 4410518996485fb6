/* SPDX-License-Identifier: GPL-2.0 */
/* An MPI of which there are types alone, for mpi_call_test.c. */
#ifndef SELFTESTS_UNIT_MPI_H
#define SELFTESTS_UNIT_MPI_H

typedef struct fake_type *MPI_Datatype;

#endif
