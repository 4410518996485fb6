! SPDX-License-Identifier: GPL-2.0
!
! Collectives of Fortran, with its types, its places and its MPI_IN_PLACE. Stops with 1 if a result is wrong.

program fortran
	use mpi
	implicit none
	integer :: rank, ranks, err, i, wrong, request
	integer :: number(4), pair(2), where(2)
	double precision :: x(100), y(100)
	real :: f(3)
	complex :: z
	logical :: all_true, one

	call MPI_Init(err)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
	wrong = 0
	x = [(dble(i + rank), i = 1, 100)]
	call MPI_Allreduce(x, y, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, err)
	if (any(y /= [(dble(i * ranks + ranks * (ranks - 1) / 2), i = 1, 100)])) wrong = wrong + 1
	call MPI_Allreduce(MPI_IN_PLACE, x, 100, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, err)
	if (any(x /= [(dble(i + ranks - 1), i = 1, 100)])) wrong = wrong + 1
	number = rank
	call MPI_Bcast(number, 4, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, err)
	if (any(number /= ranks - 1)) wrong = wrong + 1
	pair = [mod(rank + 1, ranks), rank]
	call MPI_Allreduce(pair, where, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, err)
	if (where(1) /= 0 .or. where(2) /= ranks - 1) wrong = wrong + 1
	one = rank /= 1
	call MPI_Allreduce(one, all_true, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, err)
	if (all_true .neqv. ranks < 2) wrong = wrong + 1
	z = cmplx(1.0, rank)
	call MPI_Allreduce(MPI_IN_PLACE, z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, err)
	if (z /= cmplx(ranks, ranks * (ranks - 1) / 2)) wrong = wrong + 1
	f = real(rank)
	call MPI_Iallreduce(MPI_IN_PLACE, f, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request, err)
	call MPI_Wait(request, MPI_STATUS_IGNORE, err)
	if (any(f /= ranks * (ranks - 1) / 2)) wrong = wrong + 1
	call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
	call MPI_Barrier(MPI_COMM_WORLD, err)
	if (rank == 0) print '(a,i0,a)', 'fortran, ', wrong, ' wrong'
	flush(6)
	call MPI_Finalize(err)
	if (wrong /= 0) stop 1
end program
