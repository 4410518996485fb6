# SPDX-License-Identifier: GPL-2.0
"""Collectives of mpi4py: of objects, which it pickles, and of buffers. Ends with 1 if a result is wrong."""

import array
import sys

import mpi4py

mpi4py.rc.threads = False  # Open MPI's need cmpxchg16b, which emulated processors do not have: qemu/machine.sh
from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
total = size * (size - 1) // 2

right = comm.allreduce(rank) == total
right &= comm.bcast({"of": rank}, root=size - 1) == {"of": size - 1}
right &= comm.allgather("x" * rank) == ["x" * i for i in range(size)]
data = array.array("d", [rank + i for i in range(100)])
comm.Allreduce(MPI.IN_PLACE, data, op=MPI.SUM)
right &= list(data) == [total + size * i for i in range(100)]
numbers = array.array("i", [0] * size)
request = comm.Iallgather(array.array("i", [rank]), numbers)
request.Wait()
right &= list(numbers) == list(range(size))
dup = comm.Dup()
right &= dup.allreduce(rank, op=MPI.MAX) == size - 1
dup.Free()
sys.exit(not comm.allreduce(right, op=MPI.LAND))
