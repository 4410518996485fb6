! SPDX-License-Identifier: GPL-2.0
!
! Collectives of Fortran by the module mpi_f08, whose procedures are others than those of the module mpi: also of arrays with
! gaps, and what completes requests. Stops with 1 if a result is wrong.

program fortran08
	use mpi_f08
	implicit none
	integer :: rank, ranks, i, wrong, total, level, err, token, received(2), indices(2), outcount, length
	character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
	integer :: number(4), gaps(8)
	double precision :: x(100), y(100)
	real :: f(3)
	logical :: done
	type(MPI_Comm) :: dup
	type(MPI_Request) :: request, requests(2)
	type(MPI_Status) :: status, statuses(2)

	call MPI_Init_thread(MPI_THREAD_SINGLE, level)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks)
	total = ranks * (ranks - 1) / 2
	wrong = 0
	call MPI_Barrier(MPI_COMM_WORLD)
	x = [(dble(i + rank), i = 1, 100)]
	call MPI_Allreduce(x, y, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
	if (any(y /= [(dble(i * ranks + total), i = 1, 100)])) wrong = wrong + 1
	call MPI_Allreduce(MPI_IN_PLACE, x, 100, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, err)
	if (err /= MPI_SUCCESS .or. any(x /= [(dble(i + ranks - 1), i = 1, 100)])) wrong = wrong + 1
	gaps = rank
	call MPI_Bcast(gaps(1:8:2), 4, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
	if (any(gaps(1:8:2) /= ranks - 1) .or. any(gaps(2:8:2) /= rank)) wrong = wrong + 1

	! what does not block, and each of what completes it
	f = real(rank)
	call MPI_Iallreduce(MPI_IN_PLACE, f, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request)
	call MPI_Wait(request, status, err)
	if (err /= MPI_SUCCESS .or. request /= MPI_REQUEST_NULL .or. any(f /= total)) wrong = wrong + 1
	number = rank
	call MPI_Ibcast(number, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, request)
	done = .false.
	do while (.not. done)
		call MPI_Test(request, done, MPI_STATUS_IGNORE)
	end do
	if (any(number /= 1)) wrong = wrong + 1
	call MPI_Ibarrier(MPI_COMM_WORLD, requests(1))
	call MPI_Irecv(received, 1, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, requests(2))
	call MPI_Send(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD)
	call MPI_Waitall(2, requests, statuses)
	if (received(1) /= modulo(rank - 1, ranks) .or. statuses(2)%MPI_TAG /= 1) wrong = wrong + 1
	call MPI_Iallreduce(rank, token, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
	call MPI_Get_library_version(version, length)
	! by this module, Open MPI 4.1 never says that a request is complete
	done = index(version, 'Open MPI') > 0
	do while (.not. done)
		call MPI_Request_get_status(requests(1), done, MPI_STATUS_IGNORE)
		if (done .and. token /= total) wrong = wrong + 1
	end do
	call MPI_Ibarrier(MPI_COMM_WORLD, requests(2))
	call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE)
	! MPICH 4.0 counts these from 0
	call MPI_Waitsome(2, requests, outcount, indices, MPI_STATUSES_IGNORE)
	if (outcount /= 1 .or. any(requests /= MPI_REQUEST_NULL) .or. token /= total) wrong = wrong + 1

	! a communicator of its own
	call MPI_Comm_dup(MPI_COMM_WORLD, dup)
	do i = 1, 4
		call MPI_Allreduce(rank, token, 1, MPI_INTEGER, MPI_SUM, dup)
		if (token /= total) wrong = wrong + 1
		call MPI_Barrier(dup)
	end do
	call MPI_Comm_free(dup)
	call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
	call MPI_Barrier(MPI_COMM_WORLD)
	if (rank == 0) print '(a,i0,a)', 'fortran08, ', wrong, ' wrong'
	flush(6)
	call MPI_Finalize()
	if (wrong /= 0) stop 1
end program
