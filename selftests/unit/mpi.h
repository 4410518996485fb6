/* SPDX-License-Identifier: GPL-2.0 */
/* An MPI of which there is what describes calls, for mpi_call_test.c. */
#ifndef SELFTESTS_UNIT_MPI_H
#define SELFTESTS_UNIT_MPI_H

typedef struct fake_type *MPI_Datatype;
typedef int MPI_Op;

#define MPI_DATATYPE_NULL	((MPI_Datatype)0)
#define MPI_IN_PLACE		((void *)1)

#endif
