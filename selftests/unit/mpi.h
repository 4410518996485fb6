/* SPDX-License-Identifier: GPL-2.0 */
/* An MPI of which there is what describes calls, for mpi_call_test.c and mpi_reduction_test.c. */
#ifndef SELFTESTS_UNIT_MPI_H
#define SELFTESTS_UNIT_MPI_H

typedef struct fake_type *MPI_Datatype;
typedef int MPI_Op;

#define MPI_DATATYPE_NULL	((MPI_Datatype)0)
enum {
	MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND,
	MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC
};

#define MPI_IN_PLACE		((void *)1)

#endif
